"""All shards of a fit. Steps run on all of them; lost shards are rebuilt on other workers."""

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from dask.delayed import Delayed, delayed
from distributed import CancelledError, Future

from comboost._boosting.warm_start import RowDigest
from comboost._distributed.coding import Coding
from comboost._distributed.preparation import PreparedTable
from comboost._distributed.steps import AddStep, ResultT, Step, StepResult, UpdateStep, pack, unpack_result
from comboost._distributed.survey import PartLocation
from comboost._types import Sums
from comboost.dask._cluster import Cluster, ClusterError, Placement, SilentWorkerError
from comboost.dask._shard import ChildShard, Shard, ShardFacts, ShardSettings, call, wait_for_result

FAN_OUT = 4  # children of a shard: more would wait for its connection, fewer make the tree deep
SLACK = 1.1  # a worker keeps the parts that it has read up to this multiple of its balanced load
TRIES = 5  # of one step
FAREWELL = 1.0  # seconds to wait until shards know that a fit has ended during a step
DASK_LOST = "Worker holding Actor was lost"  # Dask's message for a shard whose worker died


class LostShardError(ConnectionError):
    """A shard is lost, or cannot be reached."""


#: Raised by calls of an actor whose worker is gone, or was replaced by one without the actor.
CONNECTION_ERRORS = (OSError, RuntimeError, KeyError, CancelledError)


@dataclass(frozen=True, eq=False)
class ShardHandle:
    """A shard as the client knows it: its parts and its actor."""

    parts: list[PartLocation]
    future: Future
    actor: Any
    facts: ShardFacts

    @property
    def worker(self) -> str:
        """Address of its worker."""
        return self.facts.worker

    @property
    def n_samples(self) -> int:
        """Number of its samples."""
        return sum(part.n_samples for part in self.parts)


class ShardGroup:
    """The shards of a fit.

    ``code`` makes new tasks, with every call, that code the parts with these numbers.
    """

    def __init__(
        self,
        cluster: Cluster,
        code: Callable[[Iterable[int]], Mapping[int, Delayed]],
        locations: Sequence[PartLocation],
        settings: ShardSettings,
    ) -> None:
        self._cluster = cluster
        self._code = code
        self._locations = locations
        self._settings = settings
        self._handles: list[ShardHandle] = []
        self._new_shards: list[Future] = []  # those that are being created
        self._is_complete = False
        self._first_sums: Sums | None = None  # of classes and codes
        self._tree_number = 0  # of the tree of shards
        self._step_number = 0
        self._is_running_step = False
        self._n_losses = 0  # during this step
        self._rounds: list[UpdateStep | AddStep] = []  # which rebuilt shards must run again
        self._tree_steps: list[Step[StepResult]] = []  # steps of the decision tree that is being grown
        try:
            self._complete()
        except BaseException:
            self.close()
            raise

    @property
    def weight_sums(self) -> Sums:
        """Weight sums of the classes."""
        weight_sums: Sums = np.sum([handle.facts.weight_sums for handle in self._handles], axis=0)
        return weight_sums

    @property
    def digest(self) -> RowDigest:
        """Digest of all samples."""
        digest = RowDigest(0, 0)
        for handle in self._handles:
            digest = digest.joined(handle.facts.digest)
        return digest

    def run(self, step: Step[ResultT]) -> ResultT:
        """Run a step on all shards and add up the results; try again if shards are lost meanwhile."""
        self._step_number += 1
        self._n_losses = 0
        packed = pack(step)
        while True:
            self._complete()
            try:
                check_alive([handle.future for handle in self._handles])
                self._is_running_step = True
                future = call(self._handles[0].actor, "run", self._tree_number, self._step_number, packed)
                result: ResultT = unpack_result(wait_for_result(future, lambda: self._check(self._handles)))
            except CONNECTION_ERRORS as error:
                self._note_loss(error)
            else:
                self._is_running_step = False
                if isinstance(step, UpdateStep | AddStep):
                    self._rounds.append(step)
                    self._tree_steps = []
                elif step.changes:
                    self._tree_steps.append(step)
                return result

    def close(self) -> None:
        """Release the shards and their memory."""
        if self._is_running_step:
            until = time.monotonic() + FAREWELL
            for future in self._abandon():
                with suppress(TimeoutError, *CONNECTION_ERRORS):
                    future.result(timeout=max(0.0, until - time.monotonic()))
        futures = [*self._new_shards, *(handle.future for handle in self._handles)]
        self._handles, self._new_shards = [], []
        self._cluster.cancel(futures)

    def _note_loss(self, error: BaseException) -> None:
        """Replace lost shards before the next try of the step; raise if this was the last one."""
        self._is_complete = False
        self._n_losses += 1
        if self._n_losses == TRIES:
            raise ClusterError(
                f"The fit was stopped after {TRIES} tries of one step, each of which lost a worker or failed on one, "
                f"the last with: {error}. Check the workers' logs; a frequent cause is memory."
            ) from error

    def _complete(self) -> None:
        """Create shards until every part has one."""
        while not self._is_complete:
            try:
                self._replace_lost()
            except (LostShardError, SilentWorkerError) as error:
                self._note_loss(error)

    def _replace_lost(self) -> None:
        """Rebuild lost shards on running workers, and link all shards to a new tree."""
        self._abandon()
        alive = [handle for handle in self._handles if self._is_alive(handle)]
        self._cluster.cancel([*self._new_shards, *(handle.future for handle in self._handles if handle not in alive)])
        self._handles, self._new_shards = alive, []
        placement = self._cluster.placement()
        workers = placement.workers
        held = {part for handle in alive for part in handle.parts}
        loads = {worker: sum(handle.n_samples for handle in alive if handle.worker == worker) for worker in workers}
        missing = [part for part in self._locations if part not in held]
        self._handles += self._create(assign_parts(missing, workers, loads), placement)
        self._check_same_rows()
        self._link()
        self._is_complete = True

    def _abandon(self) -> list[Any]:
        """Notify shards that the current tree is abandoned; the returned calls of lost shards never finish."""
        futures = []
        for handle in self._handles:
            with suppress(*CONNECTION_ERRORS):
                futures.append(call(handle.actor, "abandon", self._tree_number))
        return futures

    def _check(self, handles: Sequence[ShardHandle]) -> None:
        """Raise if one of these shards is lost."""
        check_alive([handle.future for handle in handles])
        self._cluster.check_alive(handle.worker for handle in handles)

    def _is_alive(self, handle: ShardHandle) -> bool:
        """Whether a shard can be called."""
        try:
            self._check([handle])
            wait_for_result(call(handle.actor, "facts"), lambda: self._check([handle]))
        except CONNECTION_ERRORS:
            return False
        return True

    def _create(self, parts_of: Mapping[str, list[PartLocation]], placement: Placement) -> list[ShardHandle]:
        """Create a shard for the parts of every worker, on another worker if that one is lost."""
        client = self._cluster.client
        tasks = self._code(part.number for parts in parts_of.values() for part in parts)
        coded = {
            worker: client.compute([tasks[part.number] for part in parts], **placement.options(worker))
            for worker, parts in parts_of.items()
        }
        all_coded = [future for futures in coded.values() for future in futures]
        try:
            self._cluster.finish(all_coded, placement)
            self._new_shards = [
                client.submit(Shard, futures, self._settings, actor=True, pure=False, **placement.options(worker))
                for worker, futures in coded.items()
            ]
            self._cluster.wait(self._new_shards, placement)
        finally:
            for future in all_coded:
                future.release()  # at once, even if still referenced: the shards hold the samples, or were not created
        actors = [self._actor_of(future, placement) for future in self._new_shards]
        facts = self._results_of((call(actor, "facts") for actor in actors), self._new_shards, placement.workers)
        steps = [pack(step) for step in (*steps_to_repeat(self._rounds), *self._tree_steps)]
        replayed = (call(actor, "replay", steps, self._step_number - 1) for actor in actors)
        self._results_of(replayed, self._new_shards, placement.workers)
        handles = [ShardHandle(*each) for each in zip(parts_of.values(), self._new_shards, actors, facts, strict=True)]
        self._new_shards = []
        return handles

    def _actor_of(self, future: Future, placement: Placement) -> Any:
        """Return the actor of a shard that was created."""
        try:
            return self._cluster.fetch(future, placement)
        except (CancelledError, RuntimeError, ValueError) as error:
            if not isinstance(error, CancelledError) and DASK_LOST not in str(error):
                raise
            raise LostShardError("a shard was lost while it was created") from error

    def _results_of(self, calls: Iterable[Any], needed: Sequence[Future], workers: Collection[str]) -> list[Any]:
        """Start all calls of actors, then wait for the results; raise if a shard or worker is lost meanwhile."""

        def check() -> None:
            check_alive(needed)
            self._cluster.check_alive(workers)

        try:
            check()
            return [wait_for_result(future, check) for future in list(calls)]
        except CONNECTION_ERRORS as error:
            raise LostShardError(str(error)) from error

    def _check_same_rows(self) -> None:
        """Raise if samples that were read again have changed."""
        sums = np.concatenate([self.weight_sums, np.sum([handle.facts.code_sums for handle in self._handles], axis=0)])
        if self._first_sums is None:
            self._first_sums = sums
        elif not np.array_equal(sums, self._first_sums):
            raise changed_data_error("a worker was lost and its rows were read again")

    def _link(self) -> None:
        """Link all shards to a new tree."""
        children = children_of(self._handles)
        self._handles = list(children)
        self._tree_number += 1
        calls = (
            call(handle.actor, "set_children", self._tree_number, [ChildShard(c.worker, c.actor) for c in below])
            for handle, below in children.items()
        )
        needed, workers = zip(*((handle.future, handle.worker) for handle in self._handles), strict=True)
        self._results_of(calls, needed, workers)


def check_alive(shards: Sequence[Future]) -> None:
    """Raise if Dask knows that the worker of a shard is gone."""
    if any(future.status != "finished" for future in shards):
        raise LostShardError("a worker with a shard is gone")


def children_of(handles: Iterable[ShardHandle]) -> dict[ShardHandle, list[ShardHandle]]:
    """Arrange shards in a tree: the children of each; the first one is the root.

    A worker runs all its actors in one thread, even those of other fits. To avoid deadlocks, shards wait only for
    shards on workers with larger addresses, or on their own worker, where the call runs in the same thread.
    """
    by_worker: dict[str, list[ShardHandle]] = defaultdict(list)
    for handle in sorted(handles, key=lambda handle: handle.worker):
        by_worker[handle.worker].append(handle)
    firsts = [first for first, *_ in by_worker.values()]
    children: dict[ShardHandle, list[ShardHandle]] = {}
    for i, (first, *others) in enumerate(by_worker.values()):
        children[first] = [*firsts[FAN_OUT * i + 1 : FAN_OUT * (i + 1) + 1], *others]
        children.update({other: [] for other in others})
    return children


def changed_data_error(when: str) -> ClusterError:
    """Error for collections that change between computations."""
    return ClusterError(
        f"The collection gives other rows each time it is computed, as was seen when {when}; give X.persist() and "
        "y.persist(), or a source that does not change."
    )


def steps_to_repeat(rounds: Sequence[UpdateStep | AddStep]) -> list[UpdateStep | AddStep]:
    """Steps of the rounds that a rebuilt shard runs: those that add a tree, and the last, with its histogram."""
    added = [step for step in rounds[:-1] if step.tree is not None]
    return [
        *(replace(step, with_root=False) if isinstance(step, UpdateStep) else step for step in added),
        *rounds[-1:],
    ]


def assign_parts(
    parts: Sequence[PartLocation], workers: Mapping[str, int], loads: Mapping[str, int] | None = None
) -> dict[str, list[PartLocation]]:
    """Assign every part to the worker that read it, unless that worker would have many more samples than others.

    ``workers`` are the numbers of threads, to which loads are proportional; ``loads`` are the samples that workers hold
    already. Workers without parts are left out of the result.
    """
    n_samples = {worker: (loads or {}).get(worker, 0) for worker in workers}
    limit = SLACK * (sum(n_samples.values()) + sum(part.n_samples for part in parts)) / sum(workers.values())
    assigned: dict[str, list[PartLocation]] = defaultdict(list)
    for part in sorted(parts, key=lambda part: (-part.n_samples, part.number)):
        after = {worker: (n_samples[worker] + part.n_samples) / threads for worker, threads in workers.items()}
        least = min(after, key=lambda worker: after[worker])
        can_stay = part.worker in after and after[part.worker] <= max(limit, after[least])
        worker = part.worker if can_stay else least
        assigned[worker].append(part)
        n_samples[worker] += part.n_samples
    return assigned


def make_shards(prepared: PreparedTable, coding: Coding, weight_sums: Sums, settings: ShardSettings) -> ShardGroup:
    """Code the samples of all parts and distribute them over shards; classes must have these weight sums."""
    cluster, parts = prepared.cluster, prepared.collection.parts
    assert isinstance(cluster, Cluster)

    def code(numbers: Iterable[int]) -> dict[int, Delayed]:
        coding_key, code_part = delayed(coding, traverse=False), delayed(Coding.code, pure=False)
        return {number: code_part(coding_key, parts[number]) for number in numbers}

    shards = ShardGroup(cluster, code, prepared.survey.locations, settings)
    if not np.array_equal(shards.weight_sums, weight_sums):
        shards.close()
        raise changed_data_error("the classes were counted again")
    return shards
