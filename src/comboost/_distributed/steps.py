"""Steps of a distributed fit. Each runs on every shard and returns sums, which add up over the shards.

The state of a shard is a pure function of its samples and of the steps that it has run. A lost shard is therefore
rebuilt by running the same steps again.
"""

import pickle
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from comboost._distributed.packing import PackedIntegers
from comboost._engine.forest import Forest, Tree
from comboost._engine.rows import HISTOGRAM_BUDGET, LeafFactors, ShardRows
from comboost._types import Floats, Sums

ROOT = np.zeros(1, dtype=np.int32)


class UpdateResult(NamedTuple):
    """Result of `UpdateStep`; see `Costs`."""

    loss: int
    largest: float  # loss of a sample per unit of weight
    root: Sums | None  # histogram of all samples
    log_loss: int = 0  # in units of its own; 0 if it is not the loss
    covers: Sums | None = None  # weight sums of the leaves of the added tree


class AddResult(NamedTuple):
    """Result of `AddStep`; see `LossSums`."""

    sums: Sums
    largest: float
    covers: Sums | None


StepResult = UpdateResult | AddResult | Sums | None
ResultT = TypeVar("ResultT", bound=StepResult, covariant=True)


@dataclass
class ShardState:
    """The samples of a shard, and the state of the tree that is being grown on them."""

    rows: ShardRows
    best_first: bool = False  # if so, leaves may be split later than the others of their level
    histograms: dict[int, Sums] = field(default_factory=dict)  # of nodes that may be split, as far as they are kept
    n_nodes: int = 1

    def pop_histograms(self, parents: list[int]) -> list[Sums] | None:
        """Remove and return the histograms of nodes that are split; None if not all of them were kept."""
        found = [self.histograms.pop(parent, None) for parent in parents]
        if not self.best_first:
            self.histograms = {}  # the others of their level stay leaves
        known = [histogram for histogram in found if histogram is not None]
        return known if len(known) == len(found) else None

    def add_children(self, n_splits: int, histograms: list[Sums]) -> None:
        """Add the children of split nodes. Keep their histograms if they are known and memory suffices.

        The client keeps those of all samples by the same rule, but nothing depends on that.
        """
        first = self.n_nodes
        self.n_nodes += 2 * n_splits
        if sum(histogram.nbytes for histogram in (*self.histograms.values(), *histograms)) <= HISTOGRAM_BUDGET:
            self.histograms.update(enumerate(histograms, start=first))


class Step(Protocol[ResultT]):
    """A step that all shards run."""

    changes: ClassVar[bool]  # whether it changes the shards, so that a rebuilt shard must run it, too

    def run(self, shard: ShardState) -> ResultT:
        """Run the step on one shard."""


@dataclass(frozen=True)
class UpdateStep:
    """Begin a round: add the tree of the last one, quantise the costs, and start a new tree.

    A rebuilt shard needs only these steps of earlier rounds.
    """

    changes: ClassVar[bool] = True
    tree: Tree | None
    factors: LeafFactors | None
    exponent: int
    with_root: bool
    prices: Floats | None = None

    def run(self, shard: ShardState) -> UpdateResult:
        """Run the step on one shard."""
        loss, largest, log_loss, covers = shard.rows.quantise(self.tree, self.factors, self.exponent, self.prices)
        shard.rows.start_tree()
        root = shard.rows.count(ROOT) if self.with_root else None
        shard.histograms = {} if root is None else {0: root[0]}
        shard.n_nodes = 1
        return UpdateResult(loss, largest, root, log_loss, covers)


@dataclass(frozen=True)
class AddStep:
    """Add the tree of the last round, and sum up the losses; an `UpdateStep` without a tree follows.

    A rebuilt shard needs only these steps of earlier rounds.
    """

    changes: ClassVar[bool] = True
    tree: Tree | None
    factors: LeafFactors | None
    exponent: int

    def run(self, shard: ShardState) -> AddResult:
        """Run the step on one shard."""
        return AddResult(*shard.rows.add_to(self.tree, self.factors, self.exponent))


@dataclass(frozen=True)
class SplitStep:
    """Apply splits and return the histograms of the left children."""

    changes: ClassVar[bool] = True
    splits: NDArray[np.int32]

    def run(self, shard: ShardState) -> Sums:
        """Count the smaller child of each split, which may differ between workers.

        The histogram of its sibling is the difference to that of the parent on this shard. If the latter was not kept,
        the left child itself is counted.
        """
        parents, first = shard.pop_histograms(self.splits[:, 0].tolist()), shard.n_nodes
        smaller = shard.rows.split(self.splits)
        children: list[Sums] = []
        if parents is None:
            shard.add_children(len(self.splits), children)
            return shard.rows.count(np.arange(first, shard.n_nodes, 2, dtype=np.int32))
        for parent, child, counted in zip(parents, smaller - first, shard.rows.count(smaller), strict=True):
            # A new array: that of the parent may be part of the last result, which may be requested again.
            sibling = parent - counted
            children += [counted, sibling] if child % 2 == 0 else [sibling, counted]
        shard.add_children(len(self.splits), children)
        return np.stack(children[::2])


@dataclass(frozen=True)
class DivideStep:
    """Apply splits and count nothing."""

    changes: ClassVar[bool] = True
    splits: NDArray[np.int32]

    def run(self, shard: ShardState) -> None:
        """Run the step on one shard."""
        shard.pop_histograms(self.splits[:, 0].tolist())
        shard.rows.split(self.splits)
        shard.add_children(len(self.splits), [])


@dataclass(frozen=True)
class CountStep:
    """Return the histograms of nodes."""

    changes: ClassVar[bool] = False
    nodes: NDArray[np.int32]

    def run(self, shard: ShardState) -> Sums:
        """Run the step on one shard."""
        return shard.rows.count(self.nodes)


@dataclass(frozen=True)
class SumLeavesStep:
    """Sum up the costs of every leaf by (true class, class), or its losses by true class."""

    changes: ClassVar[bool] = False
    tree: Tree
    pairs: bool

    def run(self, shard: ShardState) -> Sums:
        """Run the step on one shard."""
        return shard.rows.sum_leaves(self.tree) if self.pairs else shard.rows.sum_losses(self.tree)


@dataclass(frozen=True)
class SumPairsStep:
    """Sum up the costs, without prices, of every leaf by (true class, class)."""

    changes: ClassVar[bool] = False
    tree: Tree
    exponent: int

    def run(self, shard: ShardState) -> Sums:
        """Run the step on one shard."""
        return shard.rows.sum_pairs(self.tree, self.exponent)


@dataclass(frozen=True)
class ConfusionStep:
    """Sum up the weights by (true class, predicted class)."""

    changes: ClassVar[bool] = False
    predictor: Forest | Tree

    def run(self, shard: ShardState) -> Sums:
        """Run the step on one shard."""
        return shard.rows.confusion(self.predictor)


def pack(step: Step[StepResult]) -> bytes:
    """Pickle a step.

    Dask would send arrays apart from the pickle, and they would not be aligned in memory as the core requires. Arrays
    inside of a pickle are copied to memory that NumPy allocates.
    """
    return pickle.dumps(step, protocol=4)  # from 5 on, arrays are views of the received bytes


def unpack(packed: bytes) -> Step[StepResult]:
    """Unpickle a step."""
    step: Step[StepResult] = pickle.loads(packed)
    return step


def add(one: Any, other: Any) -> Any:
    """Add the results of one step on different samples."""
    if isinstance(one, UpdateResult):
        return UpdateResult(
            one.loss + other.loss,
            max(one.largest, other.largest),
            add(one.root, other.root),
            one.log_loss + other.log_loss,
            add(one.covers, other.covers),
        )
    if isinstance(one, AddResult):
        return AddResult(one.sums + other.sums, max(one.largest, other.largest), add(one.covers, other.covers))
    return None if one is None else one + other


class PackedResult(NamedTuple):
    """A result as it is sent: its sums in few bytes, apart from the rest."""

    rest: UpdateResult | AddResult | None
    sums: PackedIntegers | None


def pack_result(result: StepResult) -> PackedResult:
    """Encode a result."""
    if isinstance(result, AddResult):  # a few sums
        return PackedResult(result, None)
    rest, sums = (result._replace(root=None), result.root) if isinstance(result, UpdateResult) else (None, result)
    return PackedResult(rest, None if sums is None else PackedIntegers.of(sums))


def unpack_result(packed: PackedResult) -> Any:
    """Decode a result."""
    if isinstance(packed.rest, AddResult):
        return packed.rest
    sums = None if packed.sums is None else packed.sums.unpack()
    return sums if packed.rest is None else packed.rest._replace(root=sums)
