"""Memory that a fit takes, before any of it is taken. In: the shape of a problem. Out: bytes, by use.

A fit goes through phases, each of which holds other things; what it takes is what the largest of them holds. Trees are
planned as large as their limits let them grow.
"""

import math
from dataclasses import dataclass

from comboost import _core
from comboost._data.tables import RawTable
from comboost._engine.binning import columns_at_once
from comboost._engine.leaf_values import sums_pairs
from comboost._engine.memory import check_room
from comboost._engine.rows import HISTOGRAM_BUDGET
from comboost._engine.scores import BLOCK_BYTES, KEPT_BYTES
from comboost._types import NODE_DTYPE

#: Bytes, by what they are for.
Uses = dict[str, int]

NUMBER = _core.SUM_BYTES  # bytes of a float, and of a sum
ROW_STATE = 3 * _core.ROW_INDEX_BYTES + 2 * _core.LABEL_BYTES + _core.WEIGHT_BYTES  # of rows, leaf; label, prediction
SORTING_LEAVES = 2**25  # bytes that the C library may not give back at once
OBJECTIVE_SQUARES = 5  # K×K matrices while the costs of the classes are prepared
ROUND_SQUARES = 4  # K×K matrices that rounds hold: the costs, the smoothing of leaf values, both scaled
EXACT_SQUARES = 3  # K×K sums that an exact step measures, and as many for every thread
CLASS_SUMS = 6  # numbers per leaf and class while leaves are balanced, if there are too many pairs to sum up
CANDIDATE = 128  # bytes of a feature that is tried for a node, measured
GROWING_NODE = 170  # bytes of a node that grows, beside two sums for every class, measured
SPARSE_FEATURE = 2 * 4 + 8 + 1 + 3 * 8 + 1  # bytes of a feature of a sparse table: rank, entries, zeros, bins, kind
COPIED_ENTRY = 8 + 4  # bytes of an entry while it is binned: its value and its row
SORTED_ENTRY = 2 * _core.SORTED_ENTRY_BYTES  # bytes of an entry that is sorted, and of the memory it is sorted into
SEARCHED_ROW = _core.SEARCHED_ROW_BYTES + _core.ROW_INDEX_BYTES  # bytes of a row that is searched, and of its slot
GROWN_FEATURE = 2 * 8 + 1 + 3 * 8  # bytes of a feature that trees grow by: bins, kind, importances
SCORER_ARRAYS = 3  # of rows × classes, while a scorer runs: a copy of the scores, what it requests, a temporary
COUNT_SQUARES = 5  # K×K matrices while a score of counts is computed, beside one for every thread


def largest(*phases: Uses) -> Uses:
    """What the phase holds that holds most."""
    return max(phases, key=lambda uses: sum(uses.values()))


@dataclass(frozen=True)
class TreeLimits:
    """How large trees may become, and how many of them are kept.

    Attributes
    ----------
    max_depth, max_leaf_nodes : int or None
        As the estimators' parameters.
    min_samples_leaf : int
        As the estimators' parameter.
    n_trees : int
        Trees at most.
    for_every_class : bool
        Whether leaves vote for every class.
    """

    max_depth: int | None = 3
    max_leaf_nodes: int | None = None
    min_samples_leaf: int = 1
    n_trees: int = 0
    for_every_class: bool = False

    def n_leaves(self, n_samples: int) -> int:
        """Leaves of a tree at most."""
        by_rows = max(1, n_samples // int(self.min_samples_leaf))
        return min(by_rows, 1 << self.depth, int(self.max_leaf_nodes or 1 << 32))

    @property
    def depth(self) -> int:
        """Levels of splits at most."""
        return min(int(self.max_depth or 32), 32)


@dataclass(frozen=True)
class TableCopies:
    """What is copied of a table as it is read.

    Attributes
    ----------
    n_samples, n_features : int
        Its shape.
    is_view : bool
        Whether its floats can be read where they are.
    by_column : int
        Bytes of the copy that is made before columns can be cut out, and stays: of a CSR matrix, it as CSC.
    n_entries : int or None
        Entries of a table that stays sparse.
    """

    n_samples: int
    n_features: int
    is_view: bool = True
    by_column: int = 0
    n_entries: int | None = None

    @classmethod
    def of(cls, table: RawTable) -> "TableCopies":
        """Of a table that is about to be read."""
        is_view = table.chosen is None and table.source.view() is not None
        return cls(*table.shape, is_view, table.source.copy_bytes(), table.source.n_entries)

    @property
    def n_bytes(self) -> int:
        """All of it as floats."""
        return NUMBER * self.n_samples * self.n_features

    @property
    def columns(self) -> int:
        """Columns that are converted at a time, and what they are cut out as."""
        if self.n_entries is not None:
            return COPIED_ENTRY * self.n_entries
        at_once = min(self.n_features, columns_at_once(self.n_samples))
        return 0 if self.is_view else 2 * at_once * NUMBER * self.n_samples


@dataclass(frozen=True)
class HeldShape:
    """Rows to validate on.

    Attributes
    ----------
    copies : TableCopies
        What is copied of them as trees vote on them.
    given : int
        Bytes of those held out, as a scorer gets them; 0 if they were given.
    by_scorer : bool
        Whether a scorer looks at a model, and not only at votes or counts.
    by_counts : bool
        Whether the score is one of counts.
    shared : bool
        Whether they are rows of the table that is trained on.
    """

    copies: TableCopies
    given: int = 0
    by_scorer: bool = False
    by_counts: bool = False
    shared: bool = False

    def kept(self, n_classes: int) -> Uses:
        """What stays from the first round to the last."""
        is_small = self.copies.n_bytes <= KEPT_BYTES
        copied = self.copies.n_bytes if is_small else self.copies.by_column
        return {
            "votes on the validation rows": NUMBER * self.copies.n_samples * n_classes,
            "validation rows": self.given + copied,
        }

    def looked_at(self, n_classes: int, n_leaves: int, n_threads: int) -> Uses:
        """What a look at the votes of a round takes."""
        votes = NUMBER * self.copies.n_samples * n_classes
        counts = (COUNT_SQUARES + n_threads) * NUMBER * n_classes**2 if self.by_counts else 0
        columns = 0
        if self.copies.n_bytes > KEPT_BYTES and not self.copies.is_view:
            columns = max(BLOCK_BYTES, NUMBER * self.copies.n_samples * (1 + min(self.copies.n_features, n_leaves)))
        return {"scores of the validation rows": SCORER_ARRAYS * votes * self.by_scorer + counts + columns}


@dataclass(frozen=True)
class FitShape:
    """The shape of a fit of trees.

    Attributes
    ----------
    n_samples, n_features, n_classes : int
        The shape of the problem.
    n_bins : int
        Bins of all features; 0 before they are known.
    limits : TreeLimits
        How large trees may become.
    n_threads : int
        Threads.
    table : TableCopies, optional
        What is copied of the table as it is read; None if that was done elsewhere.
    held : HeldShape, optional
        Rows to validate on.
    weighted : bool
        Whether rows have weights.
    exact_step : bool
        Whether the weight of a round is measured.
    n_ballots : int
        Rounds that vote row by row, if the weak learner is no tree.
    """

    n_samples: int
    n_features: int
    n_classes: int
    n_bins: int = 0
    limits: TreeLimits = TreeLimits()
    n_threads: int = 1
    table: TableCopies | None = None
    held: HeldShape | None = None
    weighted: bool = False
    exact_step: bool = False
    n_ballots: int = 0

    def phases(self) -> dict[str, Uses]:
        """What every phase holds."""
        copy = {} if self.table is None else {"the table by columns": self.table.by_column}
        shared = copy if self.held is not None and self.held.shared else {}
        held = {} if self.held is None else self.held.kept(self.n_classes)
        rows = self.rows() | self.codes_by_row() | shared | held
        return {
            "objective": self.squares(OBJECTIVE_SQUARES),
            "binning": self.binning() | copy,
            "coding": self.codes() | self.columns() | copy,
            "opening": self.rows() | copy,
            "growing": rows | self.squares(ROUND_SQUARES) | self.kept_trees(1) | self.growing(),
            "casting": rows | self.squares(ROUND_SQUARES) | self.kept_trees(1) | self.casting(),
            "looking": rows | self.squares(ROUND_SQUARES) | self.kept_trees(1) | self.looking(),
            "finishing": rows
            | self.squares(ROUND_SQUARES)
            | self.kept_trees(2)
            | self.electing()
            | {"histograms": self.histograms()},
        }

    def peak(self) -> Uses:
        """What the largest phase holds."""
        return largest(*self.phases().values())

    @property
    def n_entries(self) -> int | None:
        """Entries of a table that stays sparse."""
        return None if self.table is None else self.table.n_entries

    def codes(self) -> Uses:
        """The table in bins."""
        if self.n_entries is not None:
            return {"codes": _core.ENTRY_BYTES * self.n_entries, "bins": SPARSE_FEATURE * self.n_features + self.edges}
        return {"codes": self.n_samples * self.n_features}

    @property
    def edges(self) -> int:
        """Bytes of the edges between bins: next to nothing, unless a table has more features than it has rows."""
        return NUMBER * self.n_bins

    def codes_by_row(self) -> Uses:
        """A second copy of the codes, if trees may have many leaves; see cpp/comboost/row_growing.hpp."""
        if self.n_entries is not None:
            return {}
        many_leaves = (
            self.limits.depth >= _core.MANY_LEVELS
            and int(self.limits.max_leaf_nodes or _core.MANY_LEAVES) >= _core.MANY_LEAVES
        )
        stride = -(-self.n_features // _core.ROW_PADDING) * _core.ROW_PADDING
        return {"codes by row": self.n_samples * stride if many_leaves else 0}

    def rows(self) -> Uses:
        """What rounds need of the rows."""
        return self.codes() | {
            "codes that features share": self.n_samples * self.n_shared_codes,
            "room that sorting leaves": min(SORTING_LEAVES, self.sorted_bytes),
            "costs": self.n_samples * (NUMBER * self.n_classes + _core.UNIT_BYTES * self.n_channels),
            "row indices, labels and votes": self.n_samples * (ROW_STATE + _core.LABEL_BYTES * self.n_ballots),
        }

    def columns(self) -> Uses:
        """Columns that are converted."""
        return {"columns that are read": 0 if self.table is None else self.table.columns}

    def binning(self) -> Uses:
        """What it takes to find the bins."""
        found = 0 if self.n_entries is None else 2 * self.edges
        return self.columns() | {"values that are sorted": self.sorted_bytes, "bins": found}

    @property
    def sorted_bytes(self) -> int:
        """Bytes of the columns that threads sort, each some of them after the other."""
        if self.table is None:
            return 0
        if self.n_entries is not None:
            return min(self.n_threads * self.n_samples, self.n_entries) * SORTED_ENTRY
        column = NUMBER * (1 + self.weighted) * self.n_samples
        at_once = min(_core.MAX_SORTED_COLUMNS, max(1, _core.MAX_SORTED_BYTES // max(1, column)), self.n_features)
        n_groups = -(-self.n_features // at_once)
        return min(self.n_threads, n_groups) * (at_once + 1) * column

    def growing(self) -> Uses:
        """What a tree takes while it grows."""
        n_leaves = self.limits.n_leaves(self.n_samples) if self.n_features else 0
        nodes = 2 * n_leaves * (2 * NUMBER * self.n_classes + GROWING_NODE)
        if self.n_entries is not None:
            searched = SEARCHED_ROW * self.n_samples + GROWN_FEATURE * self.n_features + self.edges
            return {"rows that are searched": searched, "nodes that grow": nodes + n_leaves * CANDIDATE}
        candidates = CANDIDATE * min(_core.MAX_CANDIDATES, n_leaves * self.n_features)
        return {"histograms": self.histograms(), "nodes that grow": nodes + candidates}

    def histograms(self) -> int:
        """Bytes of the histograms that are held at once: the root's, parents', those counted and all children's."""
        n_leaves, one = self.limits.n_leaves(self.n_samples), self.histogram
        if self.limits.max_leaf_nodes is not None:
            # Those of open leaves, and of some that were divided: a child's lies beside that of its sibling.
            return max(4 * one, one + 3 * min(HISTOGRAM_BUDGET, n_leaves * one) // 2)
        most = 2 * one  # of the last round and of the next
        for level in range(1, self.limits.depth):
            n_nodes = min(1 << level, n_leaves)
            if self.n_samples * self.n_features < n_nodes * self.n_bins:
                break  # rows that are scattered over so many nodes are searched without histograms
            if n_nodes * one > HISTOGRAM_BUDGET:
                return max(most, 2 * one + min(n_nodes * one, max(one, HISTOGRAM_BUDGET)))
            most = max(most, one + (2 * n_nodes if level > 1 else 3) * one)
            if n_nodes == n_leaves:
                break
        return most

    def casting(self) -> Uses:
        """What the votes of a tree take while they are found."""
        n_leaves = self.limits.n_leaves(self.n_samples)
        sums = 0
        if self.limits.for_every_class and sums_pairs(self.n_classes):
            sums = n_leaves * self.n_classes * (self.n_classes + self.n_channels) * NUMBER
        elif self.limits.for_every_class:
            sums = n_leaves * self.n_classes * CLASS_SUMS * NUMBER
        squares = (1 + self.n_threads) * EXACT_SQUARES * self.n_classes**2 * NUMBER if self.exact_step else 0
        return {"histograms": self.histograms(), "sums of the leaves": sums, "sums of the rows": squares}

    def looking(self) -> Uses:
        """What a look at the rounds takes."""
        if self.held is None:
            return {}
        n_leaves = self.limits.n_leaves(self.n_samples)
        return {"histograms": self.histogram + self.histograms()} | self.held.looked_at(
            self.n_classes, n_leaves, self.n_threads
        )

    def kept_trees(self, n_copies: int) -> Uses:
        """All trees, one by one and then joined, if their leaves vote for every class; see `TreeLearner` for others."""
        n_leaves = self.limits.n_leaves(self.n_samples) * self.limits.n_trees if self.limits.for_every_class else 0
        return {
            "votes of the leaves": n_copies * n_leaves * self.n_classes * _core.UNIT_BYTES,
            "nodes of the trees": n_copies * n_leaves * (2 * NODE_DTYPE.itemsize + NUMBER),  # and what leaves weigh
        }

    def electing(self) -> Uses:
        """What the votes add up to, of weak learners that are no trees, or on rows of a sparse table."""
        votes = NUMBER * self.n_samples * self.n_classes
        return {"votes that are added up": votes if self.n_ballots or self.n_entries is not None else 0}

    def squares(self, n_squares: int) -> Uses:
        """K×K matrices."""
        return {"matrices of classes": n_squares * self.n_classes**2 * NUMBER}

    @property
    def n_shared_codes(self) -> int:
        """Codes that features share, at most."""
        if self.n_bins == 0 or self.n_entries is not None:
            return 0
        # A code has two features of few bins, if the others have all that there are; two codes do not fit into one.
        n_few = (_core.MAX_BUNDLED_CODES * self.n_features - self.n_bins) // (_core.MAX_BUNDLED_CODES - _core.FEW_BINS)
        most_bits = self.n_features * math.log2(max(1.0, self.n_bins / self.n_features))
        return min(self.n_features // 2, n_few // 2, 1 + int(2 * most_bits / math.log2(_core.MAX_BUNDLED_CODES)))

    @property
    def histogram(self) -> int:
        """Bytes of one histogram, if there are any."""
        return 0 if self.n_entries is not None else self.n_bins * self.n_channels * NUMBER

    @property
    def n_channels(self) -> int:
        """Channels of a record: the classes, and the rows if they are counted."""
        n_used = self.n_classes + (int(self.limits.min_samples_leaf) > 1)
        return -(-n_used // _core.CHANNELS_PER_VECTOR) * _core.CHANNELS_PER_VECTOR

    def check(self) -> None:
        """Raise if the fit would need more memory than there is."""
        validated = "" if self.held is None else f", validated on {self.held.copies.n_samples} rows,"
        check_room(
            f"A fit of {self.n_samples} rows, {self.n_features} features and {self.n_classes} classes{validated}",
            self.peak(),
            "Give fewer rows, features, classes or bins (max_bins), smaller trees (max_depth, max_leaf_nodes), fewer "
            "of them (n_estimators), or a machine with more memory.",
        )
