"""The seam: who owns the rows answers a few questions about them, and the boosting loop need not know where they are.

In: codes, labels, weights. Out: sums over rows, all of them integers.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from comboost import _core
from comboost._engine.forest import Forest, Tree
from comboost._engine.formulas import BalancedObjective, exponent_below
from comboost._engine.leaf_values import LeafFactors
from comboost._types import COARSE_BITS, LABEL, LEAF_INDEX, SUM, Codes, Floats, Labels, NodeBytes, Sums, Weights

HISTOGRAM_BUDGET = 2**28  # bytes for the histograms of a level; a wider level is searched in parts
SMALL_SHARE = 1.0  # a node with fewer rows than this times the bins of a feature is searched by its rows
PACKED_BYTES = 2**19  # of a node's records that a thread copies together; larger nodes are counted by all threads
CACHE_LINE = 8  # sums of 8 bytes
WORTH_ALIGNING = 2**16  # sums; for fewer, asking where they start takes longer than it saves
ROOT = np.zeros(1, dtype=np.int32)
VoteT = TypeVar("VoteT")

#: What a round votes: its tree, or, for other weak learners, the class of every row.
Ballot = Tree | Labels


def empty_histograms(n_nodes: int, n_bins: int, n_channels: int) -> Sums:
    """Uninitialised histograms; large ones start on a cache line, so that no vector of sums lies across two of them."""
    size = n_nodes * n_bins * n_channels
    if size < WORTH_ALIGNING:
        return np.empty((n_nodes, n_bins, n_channels), dtype=SUM)
    room = np.empty(size + CACHE_LINE, dtype=SUM)
    start = -(room.ctypes.data // room.itemsize) % CACHE_LINE
    return room[start : start + size].reshape(n_nodes, n_bins, n_channels)


def n_leaves_of(tree: Tree) -> int:
    """The leaves of a tree: one of n splits has 2n + 1 nodes."""
    return len(tree.nodes) // 2 + 1


def empty_covers(tree: Tree) -> Sums:
    """Room for what the rows of every leaf weigh."""
    return np.empty(n_leaves_of(tree), dtype=SUM)


class Vote(NamedTuple):
    """A finished round: its ballot and e^α, e^-α."""

    ballot: Ballot
    up: float
    down: float


class LeafVote(NamedTuple):
    """A finished round whose leaves vote for every class: its tree, and what the votes multiply the excess by."""

    ballot: Tree
    factors: LeafFactors


def no_votes(n_classes: int) -> LeafFactors:
    """The factors of no leaf at all."""
    nothing = np.empty((0, n_classes))
    return LeafFactors(nothing, nothing)


class Costs(NamedTuple):
    """What a pass over the rows found: the costs D of the next round, as far as the loop sees them.

    Attributes
    ----------
    exponent : int
        Sums are in units of 2^-exponent.
    loss : int
        Λ, the summed loss.
    largest : float
        r, the largest loss of a row per unit of weight, not scaled.
    root : ndarray of shape (1, n_bins, n_channels) or None
        The histogram of all rows, if it was asked for and rows are counted in histograms.
    log_loss : float or None
        L, if it is the log-loss: it is no multiple of Λ.
    totals : ndarray of shape (n_channels,) or None
        The sums of all rows, if they were asked for and there is no histogram.
    covers : ndarray of shape (n_leaves,) or None
        What the rows in every leaf of the tree weigh whose votes were added.
    """

    exponent: int
    loss: int
    largest: float
    root: Sums | None
    log_loss: float | None = None
    totals: Sums | None = None
    covers: Sums | None = None

    @property
    def real_loss(self) -> float:
        """L, as a number."""
        return self.cost_sum if self.log_loss is None else self.log_loss

    @property
    def cost_sum(self) -> float:
        """Λ, as a number."""
        return math.ldexp(float(self.loss), -self.exponent)


class Counted(NamedTuple):
    """Nodes, one child of every split, and their histograms."""

    nodes: NDArray[np.int32]
    histograms: Sums


class Rows(Protocol):
    """The questions that a vote needs answered."""

    def advance(self, vote: Vote | None, unit: Floats, bound: float, *, with_root: bool) -> Costs:
        """Add the last round's votes, quantise the costs, and start a new tree.

        Parameters
        ----------
        vote : Vote or None
            The last round; None before the first.
        unit : ndarray of shape (K, K)
            c(l,j)/M_l.
        bound : float
            No row's loss per unit of weight is above this.
        with_root : bool
            Whether to sum up all rows, in a histogram if there are any.
        """

    def measure(self, ballot: Ballot) -> Sums:
        """Cost sums by (truth, class) that a vote would shrink, grow and leave, (3, K, K)."""

    def tally(self, ballot: Ballot) -> Sums:
        """Weights by (truth, vote), (K, K)."""


class TreeRows(Rows, Protocol):
    """The questions that a tree needs answered, too."""

    def grow(
        self, grower: _core.Grower, root: Sums | None, max_depth: int | None, max_leaf_nodes: int | None
    ) -> "SteppedRows | None":
        """Grow the tree that was planted, from its root on; or return the rows that must be told its splits."""

    def advance_leaves(
        self, vote: LeafVote | None, objective: BalancedObjective, bound: float, *, with_root: bool
    ) -> Costs:
        """As `advance`, after a round whose leaves voted for every class.

        Parameters
        ----------
        vote : LeafVote or None
            The last round; None before the first.
        objective : BalancedObjective
            What to make small.
        bound : float
            No row's loss per unit of weight is above this.
        with_root : bool
            Whether to count the histogram of all rows.
        """

    def sum_leaves(self, tree: Tree, *, pairs: bool) -> Sums:
        """Cost sums of the leaves by (truth, class), (n_leaves, K, K), or their losses by truth, (n_leaves, K)."""

    def confusion(self, forest: Forest) -> Sums:
        """Weights by (truth, prediction of the whole vote), (K, K)."""


class SteppedRows(TreeRows, Protocol):
    """Rows that are told the splits of a tree.

    Nodes are numbered as the tree's: the children of a level's k-th split are the level's new nodes 2k and 2k + 1.
    """

    def search(self, grower: _core.Grower) -> bool:
        """Search the grower's frontier without histograms; False, and nothing done, if these must be counted."""

    def split(self, splits: NDArray[np.int32], *, count: bool) -> Counted | None:
        """Apply splits and count one child of each, if that is asked for and there are histograms."""

    def count(self, nodes: NDArray[np.int32]) -> Sums:
        """Histograms of these nodes."""


class LeafPass(NamedTuple):
    """What a pass after votes for every class found, in units of 2^-exponent: the loss, the largest row, the log-loss.

    The log-loss is in units of its own, and 0 if it is not the loss.
    """

    loss: int
    largest: float
    log_loss: int


def price_leaves(
    bound: float,
    n_classes: int,
    vote: LeafVote | None,
    objective: BalancedObjective,
    quantise: Callable[[LeafVote | None, int], LeafPass],
) -> Costs:
    """The costs after votes for every class, without the histogram; ``quantise`` does a pass over all rows."""
    log_loss = 0

    def quantise_costs(vote: LeafVote | None, exponent: int) -> tuple[int, float]:
        nonlocal log_loss
        loss, largest, log_loss = quantise(vote, exponent)
        return loss, largest

    if objective.log is None:
        return Costs(*quantise_below(bound, n_classes, vote, quantise_costs), None)
    bound = min(bound, objective.largest_row)
    exponent, loss, largest = quantise_below(bound, n_classes, vote, quantise_costs)
    return Costs(exponent, loss, largest, None, math.ldexp(float(log_loss), -objective.log.exponent))


def quantise_below(
    bound: float, n_classes: int, vote: VoteT | None, quantise: Callable[[VoteT | None, int], tuple[int, float]]
) -> tuple[int, int, float]:
    """Quantise with the exponent that a bound allows, and once more if the bound was too wide.

    Parameters
    ----------
    bound : float
        No row's loss per unit of weight is above this.
    n_classes : int
        K.
    vote : Vote, LeafVote or None
        The votes to add.
    quantise : callable
        Does a pass over all rows: (vote, exponent) to the summed loss and the largest row, in units of 2^-exponent.

    Returns
    -------
    exponent, loss, largest
        As in `Costs`.
    """
    exponent = exponent_below(bound, n_classes)
    loss, largest = quantise(vote, exponent)
    if largest < 2**COARSE_BITS:
        # Nearly every row was right, so the costs are too coarse.
        exponent = exponent_below(math.ldexp(largest, -exponent), n_classes)
        loss, largest = quantise(None, exponent)
    return exponent, loss, math.ldexp(largest, -exponent)


class MemoryRows:
    """Rows in this process's memory, voted on row by row.

    Parameters
    ----------
    labels : ndarray of uint16
        The class index of every row.
    weights : ndarray of uint32 or None
        Integer weights; None if every row weighs 1.
    n_classes : int
        K.
    n_threads : int
        Threads of every kernel.
    counted : bool
        Whether histograms count rows, too.

    Attributes
    ----------
    covers : ndarray of shape (n_leaves,) or None
        What the rows in every leaf of the last tree weigh.
    """

    covers: Sums | None = None

    def __init__(
        self, labels: Labels, weights: Weights | None, n_classes: int, n_threads: int, *, counted: bool = False
    ) -> None:
        self._table = _core.CostTable(labels, weights, n_classes, counted)
        self._n_rows = len(labels)
        self._n_classes = n_classes
        self._n_threads = n_threads

    def advance(self, vote: Vote | None, unit: Floats, bound: float, *, with_root: bool) -> Costs:
        """Add the last round's votes, quantise the costs, and start a new tree."""
        exponent, loss, largest = quantise_below(bound, self._n_classes, vote, partial(self.quantise, unit))
        covers = None if vote is None else self.covers
        return Costs(exponent, loss, largest, self.start_tree(count=with_root), covers=covers)

    def quantise(self, unit: Floats, vote: Vote | None, exponent: int) -> tuple[int, float]:
        """Add votes and quantise the costs to units of 2^-exponent: the loss, and the largest row, in these units."""
        votes, up, down = (None, 1.0, 1.0) if vote is None else (self.votes_of(vote.ballot), vote.up, vote.down)
        return self._table.advance(votes, up, down, np.ldexp(unit, exponent), self._n_threads)

    def measure(self, ballot: Ballot) -> Sums:
        """Cost sums by (truth, class) that a vote would shrink, grow and leave, (3, K, K)."""
        sums = np.empty((3, self._n_classes, self._n_classes), dtype=SUM)
        self._table.measure(self.votes_of(ballot), self._n_threads, sums)
        return sums

    def tally(self, ballot: Ballot) -> Sums:
        """Weights by (truth, vote), (K, K)."""
        return self.count_elected(self.votes_of(ballot))

    def row_losses(self) -> Floats:
        """−D(i,y_i) of every row, in units of the pass: the sample weights of a weak learner that is not a tree."""
        losses = np.empty(self._n_rows)
        self._table.row_losses(losses)
        return losses

    def count_elected(self, elected: Labels) -> Sums:
        """Weights by (truth, prediction), (K, K)."""
        counts = np.empty((self._n_classes, self._n_classes), dtype=SUM)
        self._table.confusion(elected, counts)
        return counts

    def votes_of(self, ballot: Ballot) -> Labels:
        """The vote of every row."""
        assert not isinstance(ballot, Tree)
        return ballot

    def start_tree(self, *, count: bool) -> Sums | None:
        """The histogram of all rows, if it is asked for; none without bins."""
        return None


class GrownRows(MemoryRows, ABC):
    """Rows in this process's memory, voted on by trees that grow on them; however their codes are kept."""

    def __init__(
        self, labels: Labels, weights: Weights | None, n_classes: int, n_threads: int, *, counted: bool
    ) -> None:
        super().__init__(labels, weights, n_classes, n_threads, counted=counted)
        self._n_channels = self._table.n_channels
        self._votes = np.empty(len(labels), dtype=LABEL)
        self._settled: Ballot | None = None  # whose votes these are
        self._leaves: NDArray[np.uint32] | None = None  # of every row
        self._numbered: NodeBytes | None = None  # whose leaves these are

    @abstractmethod
    def settle(self, tree: Tree, votes: Labels, covers: Sums) -> None:
        """Write the vote of a tree for every row, and what the rows of its leaves weigh."""

    @abstractmethod
    def settle_leaves(self, tree: Tree, leaves: NDArray[np.uint32], covers: Sums) -> None:
        """Write the leaf of a tree for every row, and what the rows of its leaves weigh."""

    def votes_of(self, ballot: Ballot) -> Labels:
        """The vote of every row; overwritten by that of the next tree."""
        assert isinstance(ballot, Tree)
        if self._settled is not ballot:
            self.covers = empty_covers(ballot)
            self.settle(ballot, self._votes, self.covers)
            self._settled = ballot
        return self._votes

    def advance_leaves(
        self, vote: LeafVote | None, objective: BalancedObjective, bound: float, *, with_root: bool
    ) -> Costs:
        """Add the last round's votes for every class, quantise the costs, and start a new tree."""
        quantise = partial(self.quantise_leaves, objective)
        costs = price_leaves(bound, self._n_classes, vote, objective, quantise)
        covers = None if vote is None else self.covers
        return costs._replace(root=self.start_tree(count=with_root), covers=covers)

    def quantise_leaves(self, objective: BalancedObjective, vote: LeafVote | None, exponent: int) -> LeafPass:
        """Add votes for every class and quantise the costs to units of 2^-exponent."""
        leaves, (growth, shrink) = None, no_votes(self._n_classes)
        if vote is not None:
            leaves, (growth, shrink) = self._leaves_of(vote.ballot), vote.factors
        if objective.log is None:
            factors, tops, bits = np.ldexp(objective.unit, exponent), None, None
        else:
            factors, tops = objective.unit, np.ldexp(objective.log.tops, exponent)
            bits = np.ldexp(objective.log.tops, objective.log.exponent)
        return LeafPass(*self._table.advance_leaves(leaves, growth, shrink, factors, tops, bits, self._n_threads))

    def sum_leaves(self, tree: Tree, *, pairs: bool) -> Sums:
        """Cost sums of the leaves by (truth, class), (n_leaves, K, K), or their losses by truth, (n_leaves, K)."""
        leaves = self._leaves_of(tree)
        shape = (n_leaves_of(tree), self._n_classes)
        sums = np.empty((*shape, self._n_classes) if pairs else shape, dtype=SUM)
        (self._table.sum_leaves if pairs else self._table.sum_leaf_losses)(leaves, self._n_threads, sums)
        return sums

    def _leaves_of(self, tree: Tree) -> NDArray[np.uint32]:
        """The leaf of every row; overwritten by that of the next tree."""
        if self._leaves is None:
            self._leaves = np.empty(self._n_rows, dtype=LEAF_INDEX)
        if self._numbered is not tree.nodes:
            self.covers = empty_covers(tree)
            self.settle_leaves(tree, self._leaves, self.covers)
            self._numbered = tree.nodes
        return self._leaves

    def start_tree(self, *, count: bool) -> Sums | None:
        """Forget the last tree."""
        self._settled = None
        self._numbered = None
        return None


class BinnedRows(GrownRows):
    """Rows in this process's memory that trees grow on, with the code of every value.

    Parameters
    ----------
    labels, weights, n_classes, n_threads, counted
        As for `MemoryRows`.
    codes : ndarray of uint8, (n_features, n_samples)
        The binned values.
    bin_offsets : ndarray of int64
        Where the bins of every feature start in a histogram.
    """

    def __init__(
        self,
        labels: Labels,
        weights: Weights | None,
        n_classes: int,
        n_threads: int,
        *,
        codes: Codes,
        bin_offsets: NDArray[np.int64],
        counted: bool,
    ) -> None:
        super().__init__(labels, weights, n_classes, n_threads, counted=counted)
        self._partition = _core.Partition(len(labels))
        self._packer = _core.RecordPacker()
        self._row_grower = _core.RowGrower(HISTOGRAM_BUDGET, SMALL_SHARE, PACKED_BYTES)
        self._codes = codes
        self._bin_offsets = bin_offsets
        self._n_bins = int(bin_offsets[-1])
        self.arrange_codes()

    def arrange_codes(self) -> None:
        """Arrange codes as it is quick to count them; to be done again when they have changed."""
        self._bundles = _core.Bundles(self._codes, self._bin_offsets, self._n_threads)
        self._row_grower.forget_codes()

    def divide(self, splits: NDArray[np.int32]) -> NDArray[np.int32]:
        """Apply splits: the smaller child of each."""
        smaller = np.empty(len(splits), dtype=np.int32)
        self._partition.split(self._codes, splits, self._n_threads, smaller)
        return smaller

    def grow(self, grower: _core.Grower, root: Sums | None, max_depth: int | None, max_leaf_nodes: int | None) -> None:
        """Grow the tree that was planted, every node by its histogram or by its rows."""
        assert root is not None
        self._row_grower.grow(
            grower,
            self._codes,
            self._bundles,
            self._table,
            self._partition,
            self._packer,
            root,
            None if max_depth is None else min(max_depth, self._n_rows),
            None if max_leaf_nodes is None else min(max_leaf_nodes, self._n_rows + 1),
            self._n_threads,
        )

    def count(self, nodes: NDArray[np.int32]) -> Sums:
        """Histograms of these nodes."""
        histograms = empty_histograms(len(nodes), self._n_bins, self._n_channels)
        _core.count_histograms(
            self._codes,
            self._bundles,
            self._table,
            self._partition,
            self._bin_offsets,
            nodes,
            self._n_threads,
            self._packer,
            histograms,
        )
        return histograms

    def confusion(self, forest: Forest) -> Sums:
        """Weights by (truth, prediction of the whole vote), (K, K)."""
        forest.elect(self._codes, self._n_threads, self._votes)
        self._settled = None
        return self.count_elected(self._votes)

    def settle(self, tree: Tree, votes: Labels, covers: Sums) -> None:
        """Write the vote of a tree for every row, and what the rows of its leaves weigh."""
        nodes, sets = tree.node_bytes, tree.sets
        self._partition.settle(self._codes, nodes, sets, self._n_threads, votes, self._table, covers)

    def settle_leaves(self, tree: Tree, leaves: NDArray[np.uint32], covers: Sums) -> None:
        """Write the leaf of a tree for every row, and what the rows of its leaves weigh."""
        nodes, sets = tree.node_bytes, tree.sets
        self._partition.settle_leaves(self._codes, nodes, sets, self._n_threads, leaves, self._table, covers)

    def start_tree(self, *, count: bool) -> Sums | None:
        """Put all rows into the root again, and count them if that is asked for."""
        super().start_tree(count=count)
        self._partition.reset()
        return self.count(ROOT) if count else None
