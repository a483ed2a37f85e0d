"""Memory that a fit takes, before any of it is taken. In: the shape of a problem. Out: bytes, by use.

A fit goes through phases, each of which holds other things; what it takes is what the largest of them holds. Trees are
planned as large as their limits let them grow.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from comboost import _core
from comboost._data.tables import RawTable
from comboost._engine import memory
from comboost._engine.binning import columns_at_once
from comboost._engine.memory import check_room
from comboost._engine.rows import HISTOGRAM_BUDGET
from comboost._engine.scores import BLOCK_BYTES, KEPT_BYTES
from comboost._types import MAX_PAIRED, NODE_DTYPE

#: Bytes, by what they are for.
Uses = dict[str, int]

NUMBER = _core.SUM_BYTES  # bytes of a float, and of a sum
ROW_STATE = 3 * _core.ROW_INDEX_BYTES + 2 * _core.LABEL_BYTES + _core.WEIGHT_BYTES  # of rows, leaf; label, prediction
SORTING_LEAVES = 2**25  # bytes that the C library may not give back at once
OBJECTIVE_SQUARES = 5  # K×K matrices while the costs of the classes are prepared
ROUND_SQUARES = 4  # K×K matrices that rounds hold: the costs, the smoothing of leaf values, both scaled
CLASS_SUMS = 6  # numbers per leaf and class while leaves are balanced, if there are too many pairs to sum up
CANDIDATE = 128  # bytes of a feature that is tried for a node, measured
GROWING_NODE = 170  # bytes of a node that grows, beside two sums for every class, measured
MAX_DEPTH = 32  # levels of splits of a tree that has no other limit
SPARSE_FEATURE = 2 * 4 + 8 + 1 + 3 * 8 + 1  # bytes of a feature of a sparse table: rank, entries, zeros, bins, kind
COPIED_ENTRY = 8 + 4  # bytes of an entry while it is binned: its value and its row
SORTED_ENTRY = 2 * _core.SORTED_ENTRY_BYTES  # bytes of an entry that is sorted, and of the memory it is sorted into
SEARCHED_ROW = _core.SEARCHED_ROW_BYTES + _core.ROW_INDEX_BYTES  # bytes of a row that is searched, and of its slot
GROWN_FEATURE = 2 * 8 + 1 + 3 * 8  # bytes of a feature that trees grow by: bins, kind, importances
SCORER_ARRAYS = 3  # of rows × classes, while a scorer runs: a copy of the scores, what it requests, a temporary
CANDIDATES_HELD = 2  # of a search: the best one, and the one that is tried
COUNT_SQUARES = 5  # K×K matrices while a score of counts is computed, beside one for every thread


def largest(phases: Iterable[Uses]) -> Uses:
    """The uses of the phase that holds most."""
    most: Uses = {}
    for uses in phases:
        if not most or sum(uses.values()) > sum(most.values()):
            most = uses
    return most


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
    value_per_class : bool
        Whether leaves have one value per class.
    sums_pairs : bool
        Whether leaves that predict one class have sums by pairs of classes.
    """

    max_depth: int | None = 3
    max_leaf_nodes: int | None = None
    min_samples_leaf: int = 1
    n_trees: int = 0
    value_per_class: bool = False
    sums_pairs: bool = False

    def n_leaves(self, n_samples: int) -> int:
        """Leaves of a tree at most."""
        by_samples = max(1, n_samples // int(self.min_samples_leaf))
        depth = min(int(self.max_depth or MAX_DEPTH), MAX_DEPTH)
        return min(by_samples, 1 << depth, int(self.max_leaf_nodes or 1 << MAX_DEPTH))


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


@dataclass(frozen=True)
class HeldShape:
    """Rows to validate on.

    Attributes
    ----------
    copies : TableCopies
        What is copied of them as trees predict them.
    given : int
        Bytes of those held out, as a scorer gets them; 0 if they were given.
    by_scorer : bool
        Whether a scorer is given a model, and not only scores or counts.
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
            "scores of the validation rows": NUMBER * self.copies.n_samples * n_classes,
            "validation rows": self.given + copied,
        }

    def scored(self, n_classes: int, n_leaves: int, n_threads: int) -> Uses:
        """What it takes to score a round."""
        scores = NUMBER * self.copies.n_samples * n_classes
        counts = (COUNT_SQUARES + n_threads) * NUMBER * n_classes**2 if self.by_counts else 0
        columns = 0
        if self.copies.n_bytes > KEPT_BYTES and not self.copies.is_view:
            columns = max(BLOCK_BYTES, NUMBER * self.copies.n_samples * (1 + min(self.copies.n_features, n_leaves)))
        return {"scoring of the validation rows": SCORER_ARRAYS * scores * self.by_scorer + counts + columns}


@dataclass(frozen=True)
class SearchShape:
    """Samples of a search for settings, and the trees of its candidates.

    Attributes
    ----------
    n_parts : int
        Parts of the samples; every candidate is trained on each.
    n_samples : int
        Samples of all parts, those that are held out included.
    n_copied : int
        Those whose codes are copied.
    limits : TreeLimits
        How large the trees of a candidate may become.
    """

    n_parts: int
    n_samples: int
    n_copied: int
    limits: TreeLimits


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
    n_predictors : int
        Rounds whose predicted classes are kept, if the weak learner is not a tree.
    searched : SearchShape, optional
        The samples of the search for settings, before the fit.
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
    n_predictors: int = 0
    searched: SearchShape | None = None

    def phases(self) -> dict[str, Uses]:
        """What every phase holds."""
        parts = self.parts()
        copy = {} if self.table is None else {"the table by columns": self.table.by_column}
        held = {} if self.held is None else self.held.kept(self.n_classes)
        if self.held is not None and self.held.shared:
            held |= copy
        square = NUMBER * self.n_classes**2
        rounds = parts["samples"] | parts["codes by row"] | held | {"matrices of classes": ROUND_SQUARES * square}
        return {
            "objective": {"matrices of classes": OBJECTIVE_SQUARES * square},
            "binning": parts["binning"] | copy,
            "coding": parts["codes"] | parts["columns"] | copy,
            "search": {} if self.searched is None else self.search(self.searched) | held | copy,
            "opening": parts["samples"] | copy,
            "growing": rounds | parts["trees"] | parts["growing"],
            "leaf values": rounds | parts["trees"] | parts["leaf values"],
            "validating": rounds | parts["trees"] | parts["validating"],
            "finishing": rounds | parts["joined trees"] | parts["predicting"],
        }

    def search(self, searched: SearchShape) -> Uses:
        """What the search for settings holds: the codes of the table and of the parts, and candidates on every part."""
        n_parts, n_copied = searched.n_parts, searched.n_copied
        whole = self.parts()
        of_part = replace(self, n_samples=-(-searched.n_samples // n_parts), held=None, searched=None)
        deep = replace(of_part, limits=searched.limits).parts()
        codes = whole["codes"]
        once = {"room that sorting leaves": whole["samples"]["room that sorting leaves"]}
        kept = deep["samples"] | deep["codes by row"] | deep["trees"]
        # Samples keep the histograms of a round for the next one. Small nodes of deeper trees need none.
        kept["histograms kept"] = of_part.parts()["predicting"]["histograms"]
        candidates = {
            use: CANDIDATES_HELD * n_parts * n_bytes for use, n_bytes in kept.items() if use not in codes | once
        }
        copied = {"codes of the parts of a search": codes["codes"] * n_copied // max(1, self.n_samples)}
        return codes | once | copied | candidates | largest((deep["growing"], deep["leaf values"]))

    def parts(self) -> dict[str, Uses]:
        """What a fit holds of every sort of thing."""
        n_samples, n_features, n_classes = self.n_samples, self.n_features, self.n_classes
        n_entries = None if self.table is None else self.table.n_entries
        limits, n_leaves = self.limits, self.limits.n_leaves(self.n_samples)
        n_channels = (
            -(-(n_classes + (int(limits.min_samples_leaf) > 1)) // _core.CHANNELS_PER_VECTOR)
            * _core.CHANNELS_PER_VECTOR
        )
        edges = NUMBER * self.n_bins  # next to nothing, unless a table has more features than samples
        nodes = 2 * n_leaves * (2 * NUMBER * n_classes + GROWING_NODE) if n_features else 0
        if n_entries is not None:
            one = histograms = columns_by_row = 0
            columns = COPIED_ENTRY * n_entries
            sorted_bytes = min(self.n_threads * n_samples, n_entries) * SORTED_ENTRY
            codes = {"codes": _core.ENTRY_BYTES * n_entries, "bins": SPARSE_FEATURE * n_features + edges}
            searched = SEARCHED_ROW * n_samples + GROWN_FEATURE * n_features + edges
            growing = {"rows that are searched": searched, "nodes that grow": nodes + n_leaves * CANDIDATE}
        else:
            one = self.n_bins * n_channels * NUMBER
            histograms = self._histograms(one, n_leaves)
            many_leaves = min(int(limits.max_depth or MAX_DEPTH), MAX_DEPTH) >= _core.MANY_LEVELS
            many_leaves &= int(limits.max_leaf_nodes or _core.MANY_LEAVES) >= _core.MANY_LEAVES
            columns_by_row = -(-n_features // _core.ROW_PADDING) * _core.ROW_PADDING if many_leaves else 0
            columns = sorted_bytes = 0
            if self.table is not None:
                at_once = min(n_features, columns_at_once(n_samples))
                columns = 0 if self.table.is_view else 2 * at_once * NUMBER * n_samples
                column = NUMBER * (1 + self.weighted) * n_samples
                at_once = min(_core.MAX_SORTED_COLUMNS, max(1, _core.MAX_SORTED_BYTES // max(1, column)), n_features)
                sorted_bytes = min(self.n_threads, -(-n_features // at_once)) * (at_once + 1) * column
            codes = {"codes": n_samples * n_features}
            candidates = CANDIDATE * min(_core.MAX_CANDIDATES, (n_leaves if n_features else 0) * n_features)
            growing = {"histograms": histograms, "nodes that grow": nodes + candidates}
        leaf_sums, kept_leaves = n_classes * limits.sums_pairs, 0
        if limits.value_per_class:
            kept_leaves = n_leaves * limits.n_trees
            leaf_sums = CLASS_SUMS if n_classes > MAX_PAIRED else n_classes + n_channels
        leaf_values = kept_leaves * n_classes * _core.UNIT_BYTES
        tree_nodes = kept_leaves * (2 * NODE_DTYPE.itemsize + NUMBER)  # and what leaves weigh
        validating = {}
        if self.held is not None:
            validating = {"histograms": one + histograms} | self.held.scored(n_classes, n_leaves, self.n_threads)
        scores = NUMBER * n_samples * n_classes if self.n_predictors or n_entries is not None else 0
        return {
            "codes": codes,
            "codes by row": {} if n_entries is not None else {"codes by row": n_samples * columns_by_row},
            "columns": {"columns that are read": columns},
            "binning": {
                "columns that are read": columns,
                "values that are sorted": sorted_bytes,
                "bins": 0 if n_entries is None else 2 * edges,
            },
            "samples": codes
            | {
                "codes that features share": n_samples * self.n_shared_codes,
                "room that sorting leaves": min(SORTING_LEAVES, sorted_bytes),
                "costs": n_samples * (NUMBER * n_classes + _core.UNIT_BYTES * n_channels),
                "row indices, labels and leaves": n_samples * (ROW_STATE + _core.LABEL_BYTES * self.n_predictors),
            },
            "growing": growing,
            "leaf values": {
                "histograms": histograms,
                "sums of the leaves": n_leaves * n_classes * leaf_sums * NUMBER,
            },
            "validating": validating,
            "trees": {"leaf values": leaf_values, "nodes of the trees": tree_nodes},
            "joined trees": {"leaf values": 2 * leaf_values, "nodes of the trees": 2 * tree_nodes},
            "predicting": {"scores that are added up": scores, "histograms": histograms},
        }

    def _histograms(self, one: int, n_leaves: int) -> int:
        """Bytes of the histograms that are held at once: the root's, parents', those counted and all children's."""
        if self.limits.max_leaf_nodes is not None:
            # Those of open leaves, and of some that were divided: a child's lies beside that of its sibling.
            return max(4 * one, one + 3 * min(HISTOGRAM_BUDGET, n_leaves * one) // 2)
        most = 2 * one  # of the last round and of the next
        for level in range(1, min(int(self.limits.max_depth or MAX_DEPTH), MAX_DEPTH)):
            n_nodes = min(1 << level, n_leaves)
            if self.n_samples * self.n_features < n_nodes * self.n_bins:
                break  # samples that are scattered over so many nodes are searched without histograms
            if n_nodes * one > HISTOGRAM_BUDGET:
                return max(most, 2 * one + min(n_nodes * one, max(one, HISTOGRAM_BUDGET)))
            most = max(most, one + (2 * n_nodes if level > 1 else 3) * one)
            if n_nodes == n_leaves:
                break
        return most

    @property
    def n_shared_codes(self) -> int:
        """Codes that features share, at most."""
        if self.n_bins == 0 or (self.table is not None and self.table.n_entries is not None):
            return 0
        # A code has two features of few bins, if the others have all that there are; two codes do not fit into one.
        n_few = (_core.MAX_BUNDLED_CODES * self.n_features - self.n_bins) // (_core.MAX_BUNDLED_CODES - _core.FEW_BINS)
        most_bits = self.n_features * math.log2(max(1.0, self.n_bins / self.n_features))
        return min(self.n_features // 2, n_few // 2, 1 + int(2 * most_bits / math.log2(_core.MAX_BUNDLED_CODES)))

    def peak(self) -> Uses:
        """What the largest phase holds."""
        return largest(self.phases().values())

    def check(self, n_bins: int | None = None) -> None:
        """Raise MemoryError if the fit, with that many bins, would need more memory than is available."""
        phases = (self if n_bins is None else replace(self, n_bins=n_bins)).phases()
        needed = largest(phases.values())
        if sum(needed.values()) <= memory.NOT_WORTH_ASKING:
            return
        remedy = "G"
        if needed is phases.get("search"):
            remedy = "Give smoothing and max_depth, so that nothing is searched, or g"
        validated = "" if self.held is None else f", validated on {self.held.copies.n_samples} rows,"
        check_room(
            f"A fit of {self.n_samples} rows, {self.n_features} features and {self.n_classes} classes{validated}",
            needed,
            f"{remedy}ive fewer rows, features, classes or bins (max_bins), smaller trees (max_depth, max_leaf_nodes), "
            "fewer of them (n_estimators), or a machine with more memory.",
        )
