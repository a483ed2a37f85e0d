"""Shards: the samples of one worker each.

A shard is a Dask actor: an object that stays on one worker. Shards form a tree. Parents send steps to their children
and add up the results, so every connection carries the same few histograms, whatever the number of workers.

A lost shard is rebuilt from its samples and the steps so far. Steps are numbered: if a step is requested again, because
another shard was lost meanwhile, the shard returns its last result and does not run the step again. Trees of shards are
numbered, too: requests of an older tree, for example of a worker that was stopped and resumed, raise an error.
"""

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from distributed import get_client, get_worker

from comboost._boosting.warm_start import RowDigest, digest_rows
from comboost._data.sample_weights import class_sums
from comboost._distributed.coding import CodedSamples
from comboost._distributed.memory import worker_uses
from comboost._distributed.steps import PackedResult, ShardState, StepResult, add, pack_result, unpack, unpack_result
from comboost._engine.binning import BinMapper
from comboost._engine.losses import Loss
from comboost._engine.memory_plan import FitShape
from comboost._engine.rows import ShardRows, TreeRules, make_grower
from comboost._estimators.threads import n_processors
from comboost._types import SUM, Sums
from comboost.dask._cluster import POLL_INTERVAL, check_worker_memory

ADVICE = (
    "use more workers, or workers with more memory, or fewer features, classes or bins (max_bins), or smaller trees "
    "(max_depth, max_leaf_nodes)"
)


@dataclass(frozen=True)
class ShardSettings:
    """Settings that all shards of a fit share."""

    shape: FitShape  # determines the memory of the fit
    bins: BinMapper
    rules: TreeRules
    loss: Loss
    n_jobs: int | None  # threads as in joblib; None is as many as the worker has


class ShardFacts(NamedTuple):
    """Worker of a shard, and checksums of its samples."""

    worker: str
    weight_sums: Sums  # of the classes
    code_sums: Sums  # of every feature; other samples would hardly have the same
    digest: RowDigest


class ChildShard(NamedTuple):
    """Child of a shard in the tree: the address of its worker, and the actor."""

    worker: str
    actor: Any


class Shard:
    """The samples of one worker."""

    def __init__(self, coded: list[CodedSamples], settings: ShardSettings) -> None:
        settings = pickle.loads(pickle.dumps(settings, protocol=4))  # aligns its arrays; see `pack`
        worker, n_classes = get_worker(), settings.shape.n_classes
        n_samples = sum(len(samples.labels) for samples in coded)
        check_worker_memory(f"The {n_samples} rows", worker_uses(settings.shape, n_samples), ADVICE)
        samples = CodedSamples.join(coded)
        self._facts = ShardFacts(
            worker.address,
            class_sums(samples.labels, samples.weights, n_classes),
            samples.codes.sum(axis=1, dtype=SUM),
            digest_rows(samples.codes, samples.labels, samples.weights),
        )
        binned = ShardRows(
            samples.labels,
            samples.weights,
            settings.loss,
            samples.codes,
            make_grower(settings.bins, n_classes, settings.rules),
            threads_of(worker, settings.n_jobs),
        )
        self._state = ShardState(binned, best_first=settings.shape.limits.max_leaf_nodes is not None)
        self._children: list[ChildShard] = []
        self._tree_number = 0
        self._abandoned = 0  # number of the last tree of shards that the client has abandoned
        self._last_number = 0  # of a step that changes shards
        self._last_result: StepResult = None

    def facts(self) -> ShardFacts:
        """Return the worker and the checksums; also shows that the shard still exists."""
        return self._facts

    def set_children(self, tree_number: int, children: list[ChildShard]) -> None:
        """Set the shards to which this one sends the steps of a new tree."""
        if tree_number > self._tree_number:
            self._tree_number, self._children = tree_number, children

    async def abandon(self, tree_number: int) -> None:
        """Stop waiting for shards of this tree. Dask runs coroutines at once, even while a step is running."""
        self._abandoned = max(self._abandoned, tree_number)

    def replay(self, steps: list[bytes], number: int) -> None:
        """Run the steps that the other shards have run already; ``number`` is that of the last one."""
        for packed in steps:
            self._last_result = unpack(packed).run(self._state)
        self._last_number = number

    def run(self, tree_number: int, number: int, packed: bytes) -> PackedResult:
        """Run a step on this shard and those below it, and add up the results."""
        self._check_current(tree_number)
        # Calls of other workers come first: they start at once, while a call on this worker has ended when it returns.
        futures = [call(child.actor, "run", tree_number, number, packed) for child in self._children]
        step = unpack(packed)
        if not step.changes:
            result = step.run(self._state)
        elif number < self._last_number:
            raise RuntimeError(f"Step {number} came after step {self._last_number}; its caller is out of date.")
        else:
            if number > self._last_number:
                self._last_result = step.run(self._state)
                self._last_number = number
            result = self._last_result
        for child, future in zip(self._children, futures, strict=True):
            result = add(result, unpack_result(self._wait_for_child(tree_number, child, future)))
        return pack_result(result)

    def _check_current(self, tree_number: int) -> None:
        if tree_number < self._tree_number or tree_number <= self._abandoned:
            raise RuntimeError(f"The results of tree {tree_number} of the shards are no longer needed.")

    def _wait_for_child(self, tree_number: int, child: ChildShard, future: Any) -> Any:
        """Wait for a child. Raise if its worker is gone, even if the connection is still open, or if abandoned."""
        probe: Any = None

        def check() -> None:
            nonlocal probe
            self._check_current(tree_number)
            if child.worker not in get_client().nthreads():
                raise OSError(f"The worker at {child.worker} is gone.")
            # A new worker may have the same address. The call then fails, since it does not have the shard.
            if probe is not None and probe.done():
                probe.result()
                probe = None
            probe = probe or call(child.actor, "facts")

        return wait_for_result(future, check)


def call(actor: Any, method: str, *args: Any) -> Any:
    """Call an actor without waiting for the result; raise an OSError if Dask knows that its worker is gone."""
    try:
        begin = getattr(actor, method)
    except ValueError as error:  # older versions of Dask; newer ones raise RuntimeError
        raise ConnectionError(str(error)) from error
    return begin(*args)


def wait_for_result(future: Any, check: Callable[[], None]) -> Any:
    """Wait for the result of a call of an actor. Meanwhile, call ``check`` regularly, which may raise."""
    while not future.done():
        try:
            return future.result(timeout=POLL_INTERVAL)
        except TimeoutError:
            if not future.done():
                check()
    return future.result()


def threads_of(worker: Any, n_jobs: int | None) -> int:
    """Number of threads of a worker's kernels."""
    n_most = n_processors()
    if n_jobs is None:
        return max(1, min(int(worker.state.nthreads), n_most))
    return min(n_jobs, n_most) if n_jobs > 0 else max(1, n_most + 1 + n_jobs)
