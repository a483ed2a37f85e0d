"""Questions to all shards. In: the rows of one shard. Out: sums over them, which add up over the shards.

A step does its work itself: what a shard holds is a pure function of its rows and of the steps that it has taken.
"""

import pickle
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from comboost._dtypes import Floats, Sums
from comboost._engine.forest import Forest
from comboost._engine.rows import Ballot, BinnedRows, Vote


class AdvanceAnswer(NamedTuple):
    """What a pass over the rows found: the loss, the largest row, the histogram of all rows; see `Costs`."""

    loss: int
    largest: float
    root: Sums | None


Answer = AdvanceAnswer | Sums | None
AnswerT = TypeVar("AnswerT", bound=Answer, covariant=True)


@dataclass
class ShardState:
    """The rows of a shard, and how far the tree has come that is grown on them.

    Attributes
    ----------
    rows : BinnedRows
        The rows.
    frontier : list of ndarray
        Histograms of the nodes to be split, of these rows alone.
    begin : int
        The number of the first of these nodes.
    n_nodes : int
        Nodes of the tree so far.
    """

    rows: BinnedRows
    frontier: list[Sums] = field(default_factory=list)
    begin: int = 0
    n_nodes: int = 1

    def add_level(self, n_splits: int, frontier: list[Sums]) -> None:
        """Go on with the children of as many nodes, whose histograms may be unknown."""
        self.begin = self.n_nodes
        self.n_nodes += 2 * n_splits
        self.frontier = frontier


class Step(Protocol[AnswerT]):
    """A question to all shards. If it changes them, it is part of the history that makes a lost one anew."""

    changes: ClassVar[bool]

    def take(self, shard: ShardState) -> AnswerT:
        """Take the step in one shard."""


@dataclass(frozen=True)
class AdvanceStep:
    """Add the votes of the last round, quantise the costs, and start a new tree."""

    changes: ClassVar[bool] = True
    vote: Vote | None
    unit: Floats
    exponent: int
    with_root: bool

    def take(self, shard: ShardState) -> AdvanceAnswer:
        """Take the step in one shard."""
        loss, largest = shard.rows.quantise(self.unit, self.vote, self.exponent)
        root = shard.rows.start_tree(count=self.with_root)
        shard.frontier = [] if root is None else list(root)
        shard.begin, shard.n_nodes = 0, 1
        return AdvanceAnswer(loss, largest, root)


@dataclass(frozen=True)
class SplitStep:
    """Apply splits: the histograms of the left children."""

    changes: ClassVar[bool] = True
    splits: NDArray[np.int32]

    def take(self, shard: ShardState) -> Sums:
        """Count the smaller child of each split, which may be another one on another worker.

        Its sibling is what then is left of the parent's histogram of these rows alone.
        """
        smaller = shard.rows.divide(self.splits)
        frontier: list[Sums] = []
        for parent, child, counted in zip(
            self.splits[:, 0] - shard.begin, smaller - shard.n_nodes, shard.rows.count(smaller), strict=True
        ):
            # Not in place: with workers in the client's process, the client holds this very array of the parent.
            sibling = shard.frontier[parent] - counted
            frontier += [counted, sibling] if child % 2 == 0 else [sibling, counted]
        shard.add_level(len(self.splits), frontier)
        return np.stack(frontier[::2])


@dataclass(frozen=True)
class DivideStep:
    """Apply splits and count nothing."""

    changes: ClassVar[bool] = True
    splits: NDArray[np.int32]

    def take(self, shard: ShardState) -> None:
        """Take the step in one shard."""
        shard.rows.divide(self.splits)
        shard.add_level(len(self.splits), [])


@dataclass(frozen=True)
class CountStep:
    """Count nodes: their histograms."""

    changes: ClassVar[bool] = False
    nodes: NDArray[np.int32]

    def take(self, shard: ShardState) -> Sums:
        """Take the step in one shard."""
        return shard.rows.count(self.nodes)


@dataclass(frozen=True)
class MeasureStep:
    """Measure a vote: the cost sums by (truth, class) that it would shrink, grow and leave."""

    changes: ClassVar[bool] = False
    ballot: Ballot

    def take(self, shard: ShardState) -> Sums:
        """Take the step in one shard."""
        return shard.rows.measure(self.ballot)


@dataclass(frozen=True)
class ConfusionStep:
    """Count what the whole vote takes for what: the weights by (truth, prediction)."""

    changes: ClassVar[bool] = False
    forest: Forest

    def take(self, shard: ShardState) -> Sums:
        """Take the step in one shard."""
        return shard.rows.confusion(self.forest)


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


def add(one: Answer, other: Answer) -> Answer:
    """The answers of different rows as one."""
    if isinstance(one, AdvanceAnswer) and isinstance(other, AdvanceAnswer):
        root = None if one.root is None or other.root is None else one.root + other.root
        return AdvanceAnswer(one.loss + other.loss, max(one.largest, other.largest), root)
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one + other
    assert one is None
    assert other is None
    return None


def align_sums(answer: Any) -> Any:
    """An answer that may have arrived at any address, with its sums aligned, as the core wants them."""
    if isinstance(answer, AdvanceAnswer):
        return answer if answer.root is None else answer._replace(root=np.require(answer.root, requirements="A"))
    return None if answer is None else np.require(answer, requirements="A")
