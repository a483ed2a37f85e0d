"""The rows of one worker. In: steps of the fit. Out: sums over the rows of this worker and of those below it.

A shard is an actor of Dask: an object that lives on one worker. Shards form a tree. A step goes from parents to
children, and the answers come back added up, so each wire carries one histogram per node of the tree that is grown,
however many workers there are.

The state of a shard is a pure function of its rows and of the steps taken, so a lost one is made anew from both. Steps
are numbered, and a step that is asked for again, because another shard was lost meanwhile, is answered but not taken
again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import joblib
import numpy as np
from distributed import get_client, get_worker
from numpy.typing import NDArray

from comboost._costs import class_masses
from comboost._dtypes import SUM, Floats, Sums
from comboost._memory import footprint, in_gib
from comboost._origin import RowDigest, digest_rows
from comboost._rows import Ballot, BinnedRows, Vote
from comboost._tree import Forest
from comboost.dask._cluster import LOOK_AFTER
from comboost.dask._coding import CodedRows


class Pass(NamedTuple):
    """What a pass over the rows found: the loss, the largest row, the histogram of all rows; see `Costs`."""

    loss: int
    largest: float
    root: Sums | None


Answer = Pass | Sums | None


def add(one: Answer, other: Answer) -> Answer:
    """The answers of different rows as one."""
    if isinstance(one, Pass) and isinstance(other, Pass):
        root = None if one.root is None or other.root is None else one.root + other.root
        return Pass(one.loss + other.loss, max(one.largest, other.largest), root)
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one + other
    assert one is None
    assert other is None
    return None


@dataclass(frozen=True)
class ShardSettings:
    """What a shard must know beside its rows.

    Attributes
    ----------
    n_classes : int
        K.
    bin_offsets : ndarray of int64
        Where the bins of every feature start in a histogram.
    counted : bool
        Whether histograms count rows, too.
    max_depth : int or None
        Depth of the trees, which says how much memory histograms will take.
    n_jobs : int or None
        Threads of every kernel, in the meaning of joblib; None is as many as the worker has.
    digested : bool
        Whether a digest of the rows is asked for.
    """

    n_classes: int
    bin_offsets: NDArray[np.int64]
    counted: bool
    max_depth: int | None
    n_jobs: int | None
    digested: bool


class Found(NamedTuple):
    """What a shard says of itself once it is there."""

    worker: str
    masses: Sums  # of the classes
    code_sums: Sums  # of every feature: other rows would hardly have the same
    digest: RowDigest


class Shard:
    """The rows of one worker.

    Parameters
    ----------
    coded : list of CodedRows
        The rows.
    settings : ShardSettings
        What to know beside them.
    """

    def __init__(self, coded: list[CodedRows], settings: ShardSettings) -> None:
        worker = get_worker()
        check_worker_memory(worker, sum(len(rows.labels) for rows in coded), settings)
        rows = CodedRows.join(coded)
        n_classes = settings.n_classes
        self._rows = BinnedRows(
            rows.labels,
            rows.weights,
            n_classes,
            threads_of(worker, settings.n_jobs),
            codes=rows.codes,
            bin_offsets=settings.bin_offsets,
            counted=settings.counted,
        )
        digest = digest_rows(rows.codes, rows.labels, rows.weights) if settings.digested else RowDigest(0, 0)
        masses = class_masses(rows.labels, rows.weights, n_classes)
        self._found = Found(worker.address, masses, rows.codes.sum(axis=1, dtype=SUM), digest)
        self._children: list[tuple[str, Any]] = []
        self._number = 0
        self._answer: Answer = None
        self._frontier: list[Sums] = []  # histograms of the nodes to be split, of these rows alone
        self._begin = 0  # the number of the first of them
        self._n_nodes = 1

    def found(self) -> Found:
        """What there is to say of this shard; also a sign that it lives."""
        return self._found

    def adopt(self, children: list[tuple[str, Any]]) -> None:
        """Pass steps on to these shards, each with its worker's address."""
        self._children = children

    def catch_up(self, steps: "list[Step]", number: int) -> None:
        """Take steps that others have taken already, up to a number."""
        for step in steps:
            self._answer = step.take(self)
        self._number = number

    def ask(self, number: int, step: "Step") -> Answer:
        """Take a step, here and in the shards below, and add up the answers."""
        # Those on other workers come first: they start at once, while one on this worker is done when called.
        asked = [child.ask(number, step) for _, child in self._children]
        answer = self._answer_to(number, step)
        for (address, child), future in zip(self._children, asked, strict=True):
            answer = add(answer, wait_for(future, child, address))
        return answer

    def _answer_to(self, number: int, step: "Step") -> Answer:
        if not step.changes:
            return step.take(self)
        if number < self._number:
            raise RuntimeError(
                f"Step {number} came after step {self._number}; it was asked for by one who has given up."
            )
        if number > self._number:
            self._answer = step.take(self)
            self._number = number
        return self._answer

    def advance(self, vote: Vote | None, unit: Floats, exponent: int, with_root: bool) -> Pass:
        """Add votes, quantise the costs, and start a new tree."""
        loss, largest = self._rows.quantise(unit, vote, exponent)
        root = self._rows.start_tree(count=with_root)
        self._frontier = [] if root is None else list(root)
        self._begin, self._n_nodes = 0, 1
        return Pass(loss, largest, root)

    def split(self, splits: NDArray[np.int32]) -> Sums:
        """Apply splits: the histograms of the left children.

        The smaller child of each is counted, which may be another one on another worker; its sibling is what then is
        left of the parent's histogram of these rows alone.
        """
        smaller = self._rows.divide(splits)
        frontier: list[Sums] = []
        for parent, place, counted in zip(
            splits[:, 0] - self._begin, smaller - self._n_nodes, self._rows.count(smaller), strict=True
        ):
            # Not in place: with workers in the client's process, the client holds this very array of the parent.
            sibling = self._frontier[parent] - counted
            frontier += [counted, sibling] if place % 2 == 0 else [sibling, counted]
        self._grow(splits, frontier)
        return np.stack(frontier[::2])

    def divide(self, splits: NDArray[np.int32]) -> None:
        """Apply splits and count nothing."""
        self._rows.divide(splits)
        self._grow(splits, [])

    def _grow(self, splits: NDArray[np.int32], frontier: list[Sums]) -> None:
        self._begin = self._n_nodes
        self._n_nodes += 2 * len(splits)
        self._frontier = frontier

    def count(self, nodes: NDArray[np.int32]) -> Sums:
        """Histograms of these nodes."""
        return self._rows.count(nodes)

    def measure(self, ballot: Ballot) -> Sums:
        """Cost sums by (truth, class) that a vote would shrink, grow and leave."""
        return self._rows.measure(ballot)

    def confusion(self, forest: Forest) -> Sums:
        """Weights by (truth, prediction of the whole vote)."""
        return self._rows.confusion(forest)


class Step(Protocol):
    """A question to all shards. Where it changes them, it is part of the history that makes a lost one anew."""

    changes: ClassVar[bool]

    def take(self, shard: Shard) -> Answer:
        """Take the step in one shard."""


@dataclass(frozen=True)
class Advance:
    """Add the votes of the last round and start a new tree."""

    changes: ClassVar[bool] = True
    vote: Vote | None
    unit: Floats
    exponent: int
    with_root: bool

    def take(self, shard: Shard) -> Pass:
        """Take the step in one shard."""
        return shard.advance(self.vote, self.unit, self.exponent, self.with_root)


@dataclass(frozen=True)
class Split:
    """Apply splits and count the left children."""

    changes: ClassVar[bool] = True
    splits: NDArray[np.int32]

    def take(self, shard: Shard) -> Sums:
        """Take the step in one shard."""
        return shard.split(self.splits)


@dataclass(frozen=True)
class Divide:
    """Apply splits and count nothing."""

    changes: ClassVar[bool] = True
    splits: NDArray[np.int32]

    def take(self, shard: Shard) -> None:
        """Take the step in one shard."""
        shard.divide(self.splits)


@dataclass(frozen=True)
class Count:
    """Count nodes."""

    changes: ClassVar[bool] = False
    nodes: NDArray[np.int32]

    def take(self, shard: Shard) -> Sums:
        """Take the step in one shard."""
        return shard.count(self.nodes)


@dataclass(frozen=True)
class Measure:
    """Measure a vote."""

    changes: ClassVar[bool] = False
    ballot: Ballot

    def take(self, shard: Shard) -> Sums:
        """Take the step in one shard."""
        return shard.measure(self.ballot)


@dataclass(frozen=True)
class Confusion:
    """Count what the whole vote takes for what."""

    changes: ClassVar[bool] = False
    forest: Forest

    def take(self, shard: Shard) -> Sums:
        """Take the step in one shard."""
        return shard.confusion(self.forest)


def wait_for(future: Any, child: Any, address: str) -> Any:
    """The answer of another shard; an error where its worker is gone, even if nobody hung up."""
    sign: Any = None

    def look() -> None:
        nonlocal sign
        if address not in get_client().nthreads():
            raise OSError(f"The worker at {address} is gone.")
        # Another worker may be at this address by now. It would say that it knows no such shard.
        if sign is not None and sign.done():
            sign.result()
            sign = None
        sign = sign or child.found()

    return answer_of(future, look)


def answer_of(future: Any, look: Callable[[], None]) -> Any:
    """What a call of an actor gave; while there is no answer, look around from time to time, which may raise."""
    while not future.done():
        try:
            return future.result(timeout=LOOK_AFTER)
        except TimeoutError:
            if not future.done():
                look()
    return future.result()


def threads_of(worker: Any, n_jobs: int | None) -> int:
    """Threads that a worker's kernels run."""
    if n_jobs is None:
        n_threads: int = worker.state.nthreads
        return n_threads
    return n_jobs if n_jobs > 0 else max(1, int(joblib.cpu_count()) + 1 + n_jobs)


def check_worker_memory(worker: Any, n_rows: int, settings: ShardSettings) -> None:
    """Raise where the rows of a worker would need more memory than it may take."""
    limit = worker.memory_manager.memory_limit
    n_bins, n_features = int(settings.bin_offsets[-1]), len(settings.bin_offsets) - 1
    needed = sum(footprint(n_rows, n_features, settings.n_classes, n_bins, settings.max_depth).values())
    if limit and needed > limit:
        raise MemoryError(
            f"The {n_rows} rows of the worker at {worker.address} need about {in_gib(needed)} GiB, and its memory "
            f"limit is {in_gib(limit)}; use more workers, or workers with more memory, or fewer features, classes or "
            "bins (max_bins)."
        )
