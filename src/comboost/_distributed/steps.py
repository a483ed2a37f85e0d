"""Questions to all shards. In: the samples of one shard. Out: sums over them, which add up over the shards.

A step does its work itself: what a shard holds is a pure function of its samples and of the steps that it has taken.
"""

import pickle
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from comboost._distributed.packing import PackedIntegers
from comboost._engine.forest import Forest, Tree
from comboost._engine.rows import HISTOGRAM_BUDGET, LeafFactors, ShardRows
from comboost._types import Sums

ROOT = np.zeros(1, dtype=np.int32)


class UpdateAnswer(NamedTuple):
    """What a pass over the samples found: the loss, the largest sample, the histogram of all samples; see `Costs`.

    The log-loss in units of its own, 0 if it is not the loss. And what the samples weigh in every leaf of the tree that
    was added.
    """

    loss: int
    largest: float
    root: Sums | None
    log_loss: int = 0
    covers: Sums | None = None


Answer = UpdateAnswer | Sums | None
AnswerT = TypeVar("AnswerT", bound=Answer, covariant=True)


@dataclass
class ShardState:
    """The samples of a shard, and how far the tree has come that is grown on them.

    Attributes
    ----------
    rows : ShardRows
        The samples.
    best_first : bool
        Whether leaves that are not split with the others of their level may be split later.
    histograms : dict of int to ndarray
        Those of nodes that may be split, of these samples alone, as far as they are kept.
    n_nodes : int
        Nodes of the tree so far.
    """

    rows: ShardRows
    best_first: bool = False
    histograms: dict[int, Sums] = field(default_factory=dict)
    n_nodes: int = 1

    def take_histograms(self, parents: list[int]) -> list[Sums] | None:
        """The histograms of nodes that were split, which are not needed again; None if not all of them were kept."""
        found = [self.histograms.pop(parent, None) for parent in parents]
        if not self.best_first:
            self.histograms = {}  # the others of their level stay leaves
        known = [histogram for histogram in found if histogram is not None]
        return known if len(known) == len(found) else None

    def add_children(self, n_splits: int, histograms: list[Sums]) -> None:
        """Go on with the children of that many nodes, and keep their histograms, if they are known and there is room.

        The client keeps those of all rows by the same rule, but nothing depends on that.
        """
        first = self.n_nodes
        self.n_nodes += 2 * n_splits
        if sum(histogram.nbytes for histogram in (*self.histograms.values(), *histograms)) <= HISTOGRAM_BUDGET:
            self.histograms.update(enumerate(histograms, start=first))


class Step(Protocol[AnswerT]):
    """A question to all shards. If it changes them, it is part of the history that makes a lost one anew."""

    changes: ClassVar[bool]

    def take(self, shard: ShardState) -> AnswerT:
        """Take the step in one shard."""


@dataclass(frozen=True)
class UpdateStep:
    """Add the last round, quantise the costs, and start a new tree. It begins a round.

    Of earlier rounds nothing else is needed to make a lost shard anew.
    """

    changes: ClassVar[bool] = True
    tree: Tree | None
    factors: LeafFactors | None
    exponent: int
    with_root: bool

    def take(self, shard: ShardState) -> UpdateAnswer:
        """Take the step in one shard."""
        loss, largest, log_loss, covers = shard.rows.quantise(self.tree, self.factors, self.exponent)
        shard.rows.start_tree()
        root = shard.rows.count(ROOT) if self.with_root else None
        shard.histograms = {} if root is None else {0: root[0]}
        shard.n_nodes = 1
        return UpdateAnswer(loss, largest, root, log_loss, covers)


@dataclass(frozen=True)
class SplitStep:
    """Apply splits: the histograms of the left children."""

    changes: ClassVar[bool] = True
    splits: NDArray[np.int32]

    def take(self, shard: ShardState) -> Sums:
        """Count the smaller child of each split, which may be another one on another worker.

        Its sibling is what then is left of the parent's histogram of these rows alone. If that was not kept, the left
        child itself is counted.
        """
        parents, first = shard.take_histograms(self.splits[:, 0].tolist()), shard.n_nodes
        smaller = shard.rows.split(self.splits)
        children: list[Sums] = []
        if parents is None:
            shard.add_children(len(self.splits), children)
            return shard.rows.count(np.arange(first, shard.n_nodes, 2, dtype=np.int32))
        for parent, child, counted in zip(parents, smaller - first, shard.rows.count(smaller), strict=True):
            # Not in place: the last answer, which may be asked for again, may hold this very array of the parent.
            sibling = parent - counted
            children += [counted, sibling] if child % 2 == 0 else [sibling, counted]
        shard.add_children(len(self.splits), children)
        return np.stack(children[::2])


@dataclass(frozen=True)
class DivideStep:
    """Apply splits and count nothing."""

    changes: ClassVar[bool] = True
    splits: NDArray[np.int32]

    def take(self, shard: ShardState) -> None:
        """Take the step in one shard."""
        shard.take_histograms(self.splits[:, 0].tolist())
        shard.rows.split(self.splits)
        shard.add_children(len(self.splits), [])


@dataclass(frozen=True)
class CountStep:
    """Count nodes: their histograms."""

    changes: ClassVar[bool] = False
    nodes: NDArray[np.int32]

    def take(self, shard: ShardState) -> Sums:
        """Take the step in one shard."""
        return shard.rows.count(self.nodes)


@dataclass(frozen=True)
class SumLeavesStep:
    """Sum up the costs of every leaf by (true class, class), or its losses by true class."""

    changes: ClassVar[bool] = False
    tree: Tree
    pairs: bool

    def take(self, shard: ShardState) -> Sums:
        """Take the step in one shard."""
        return shard.rows.sum_pairs(self.tree) if self.pairs else shard.rows.sum_losses(self.tree)


@dataclass(frozen=True)
class ConfusionStep:
    """Sum up the weights by (true class, predicted class)."""

    changes: ClassVar[bool] = False
    predictor: Forest | Tree

    def take(self, shard: ShardState) -> Sums:
        """Take the step in one shard."""
        return shard.rows.confusion(self.predictor)


def pack(step: Step[Answer]) -> bytes:
    """A step as it travels: one pickle.

    Dask would send the arrays beside their pickle, and they would arrive at any address. The core wants them aligned,
    as they are in memory that NumPy allocates for what it finds inside of a pickle.
    """
    return pickle.dumps(step, protocol=4)  # from 5 on, arrays are views of the bytes that came


def unpack(packed: bytes) -> Step[Answer]:
    """A step that has travelled."""
    step: Step[Answer] = pickle.loads(packed)
    return step


def added(one: Sums | None, other: Sums | None) -> Sums | None:
    """Sums that were asked for of all rows, or of none."""
    return None if one is None or other is None else one + other


def add(one: Answer, other: Answer) -> Answer:
    """The answers of different rows as one."""
    if isinstance(one, UpdateAnswer) and isinstance(other, UpdateAnswer):
        largest, log_loss = max(one.largest, other.largest), one.log_loss + other.log_loss
        root, covers = added(one.root, other.root), added(one.covers, other.covers)
        return UpdateAnswer(one.loss + other.loss, largest, root, log_loss, covers)
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one + other
    assert one is None
    assert other is None
    return None


class PackedAnswer(NamedTuple):
    """An answer as it travels: its sums in few bytes, apart from what else there is."""

    rest: UpdateAnswer | None
    sums: PackedIntegers | None


def pack_answer(answer: Answer) -> PackedAnswer:
    """An answer that is to travel."""
    rest, sums = (answer._replace(root=None), answer.root) if isinstance(answer, UpdateAnswer) else (None, answer)
    return PackedAnswer(rest, None if sums is None else PackedIntegers.of(sums))


def unpack_answer(packed: PackedAnswer) -> Any:
    """An answer that has travelled."""
    sums = None if packed.sums is None else packed.sums.unpack()
    return sums if packed.rest is None else packed.rest._replace(root=sums)
