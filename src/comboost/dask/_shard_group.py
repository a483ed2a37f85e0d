"""The shards of a fit, on their workers. In: steps. Out: answers for all rows, whichever workers are lost meanwhile."""

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
from comboost._distributed.steps import Answer, AnswerT, Step, UpdateStep, pack, unpack_answer
from comboost._distributed.survey import PartLocation
from comboost._types import Sums
from comboost.dask._cluster import Cluster, ClusterError, Placement, SilentWorkerError
from comboost.dask._shard import ChildShard, Shard, ShardFacts, ShardSettings, call, wait_for_answer

FAN_OUT = 4  # children of a shard: more would queue at its wire, fewer make the tree deep
SLACK = 1.1  # a worker keeps parts that it has read up to this much more than its share
TRIES = 5  # of one step
FAREWELL = 1.0  # seconds that shards have to hear that a fit is over in the midst of a step
DASK_LOST = "Worker holding Actor was lost"  # what Dask says of a shard whose worker died


class LostShardError(ConnectionError):
    """A shard does not answer, or not well."""


#: What a call of an actor raises if its worker is gone, or was replaced by one that does not know it.
CONNECTION_ERRORS = (OSError, RuntimeError, KeyError, CancelledError)


@dataclass(frozen=True, eq=False)
class ShardHandle:
    """One shard: the parts that it holds, and how to reach it."""

    parts: list[PartLocation]
    future: Future
    actor: Any
    facts: ShardFacts

    @property
    def worker(self) -> str:
        """The address of its worker."""
        return self.facts.worker

    @property
    def n_samples(self) -> int:
        """How many rows it holds."""
        return sum(part.n_samples for part in self.parts)


class ShardGroup:
    """The shards of a fit.

    Parameters
    ----------
    cluster : Cluster
        The cluster.
    code : callable
        Makes tasks, new ones with every call, that code the parts of these numbers; returns them by these numbers.
    locations : list of PartLocation
        Where these parts were read.
    settings : ShardSettings
        What every shard must know.
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
        self._tree_number = 0  # of the shards, in which they pass on steps
        self._step_number = 0
        self._is_asking = False
        self._n_losses = 0  # since the step was asked for
        self._rounds: list[UpdateStep] = []
        self._tree_steps: list[Step[Answer]] = []  # of the tree that is being grown
        try:
            self._complete()
        except BaseException:
            self.close()
            raise

    @property
    def weight_sums(self) -> Sums:
        """The summed weight of every class."""
        weight_sums: Sums = np.sum([handle.facts.weight_sums for handle in self._handles], axis=0)
        return weight_sums

    @property
    def digest(self) -> RowDigest:
        """A digest of all rows."""
        digest = RowDigest(0, 0)
        for handle in self._handles:
            digest = digest.joined(handle.facts.digest)
        return digest

    def ask(self, step: Step[AnswerT]) -> AnswerT:
        """Take a step in all shards, again if some are lost meanwhile: their answers, added up."""
        self._step_number += 1
        self._n_losses = 0
        packed = pack(step)
        while True:
            self._complete()
            try:
                check_alive([handle.future for handle in self._handles])
                self._is_asking = True
                begun = call(self._handles[0].actor, "ask", self._tree_number, self._step_number, packed)
                answer: AnswerT = unpack_answer(wait_for_answer(begun, lambda: self._check(self._handles)))
            except CONNECTION_ERRORS as error:
                self._note_loss(error)
            else:
                self._is_asking = False
                self._remember(step)
                return answer

    def close(self) -> None:
        """Let go of the shards, so that their workers have their memory back."""
        if self._is_asking:
            until = time.monotonic() + FAREWELL
            for begun in self._give_up():
                with suppress(TimeoutError, *CONNECTION_ERRORS):
                    begun.result(timeout=max(0.0, until - time.monotonic()))
        futures = [*self._new_shards, *(handle.future for handle in self._handles)]
        self._handles, self._new_shards = [], []
        self._cluster.cancel(futures)

    def _remember(self, step: Step[Answer]) -> None:
        """Keep a step that a lost shard would have to take again."""
        if isinstance(step, UpdateStep):
            self._rounds.append(step)
            self._tree_steps = []
        elif step.changes:
            self._tree_steps.append(step)

    def _note_loss(self, error: BaseException) -> None:
        """Have lost shards replaced before the next try of the step; give up if it was the last one."""
        self._is_complete = False
        self._n_losses += 1
        if self._n_losses == TRIES:
            raise ClusterError(
                f"The fit was given up after {TRIES} tries of one step, each of which lost a worker or failed on one, "
                f"the last with: {error}. Look into the workers' logs; often it is memory."
            ) from error

    def _complete(self) -> None:
        """See to it that there is a shard for every part."""
        while not self._is_complete:
            try:
                self._replace_lost()
            except (LostShardError, SilentWorkerError) as error:
                self._note_loss(error)

    def _replace_lost(self) -> None:
        """Make lost shards anew, with their rows and all steps so far, and put all into a tree."""
        self._give_up()
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

    def _give_up(self) -> list[Any]:
        """Tell the shards not to wait for each other any longer; the calls, which those that are lost never answer."""
        begun = []
        for handle in self._handles:
            with suppress(*CONNECTION_ERRORS):
                begun.append(call(handle.actor, "give_up", self._tree_number))
        return begun

    def _check(self, handles: Sequence[ShardHandle]) -> None:
        """Raise if one of these shards is lost."""
        check_alive([handle.future for handle in handles])
        self._cluster.check_alive(handle.worker for handle in handles)

    def _is_alive(self, handle: ShardHandle) -> bool:
        """Whether a shard answers."""
        try:
            self._check([handle])
            wait_for_answer(call(handle.actor, "facts"), lambda: self._check([handle]))
        except CONNECTION_ERRORS:
            return False
        return True

    def _create(self, parts_of: Mapping[str, list[PartLocation]], placement: Placement) -> list[ShardHandle]:
        """Make shards of parts, each on a worker if that lives, and on another one otherwise."""
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
                future.release()  # at once, whoever still refers to them: the shards have the rows now, or will not
        actors = [self._actor_of(future, placement) for future in self._new_shards]
        facts = self._answers_to((call(actor, "facts") for actor in actors), self._new_shards, placement.workers)
        steps = [pack(step) for step in (*without_roots(self._rounds), *self._tree_steps)]
        replayed = (call(actor, "replay", steps, self._step_number - 1) for actor in actors)
        self._answers_to(replayed, self._new_shards, placement.workers)
        handles = [ShardHandle(*each) for each in zip(parts_of.values(), self._new_shards, actors, facts, strict=True)]
        self._new_shards = []
        return handles

    def _actor_of(self, future: Future, placement: Placement) -> Any:
        """How to call a shard that was created."""
        try:
            return self._cluster.fetch(future, placement)
        except (CancelledError, RuntimeError, ValueError) as error:
            if not isinstance(error, CancelledError) and DASK_LOST not in str(error):
                raise
            raise LostShardError("a shard was lost while it was made") from error

    def _answers_to(self, calls: Iterable[Any], needed: Sequence[Future], workers: Collection[str]) -> list[Any]:
        """Begin all calls of actors, then wait for their answers; an error if a shard or worker is lost meanwhile."""

        def check() -> None:
            check_alive(needed)
            self._cluster.check_alive(workers)

        try:
            check()
            return [wait_for_answer(begun, check) for begun in list(calls)]
        except CONNECTION_ERRORS as error:
            raise LostShardError(str(error)) from error

    def _check_same_rows(self) -> None:
        """Raise if rows that were read again are other ones."""
        sums = np.concatenate([self.weight_sums, np.sum([handle.facts.code_sums for handle in self._handles], axis=0)])
        if self._first_sums is None:
            self._first_sums = sums
        elif not np.array_equal(sums, self._first_sums):
            raise changed_data_error("a worker was lost and its rows were read again")

    def _link(self) -> None:
        """Tell every shard which ones are below it."""
        children = children_of(self._handles)
        self._handles = list(children)
        self._tree_number += 1
        calls = (
            call(handle.actor, "set_children", self._tree_number, [ChildShard(c.worker, c.actor) for c in below])
            for handle, below in children.items()
        )
        needed, workers = zip(*((handle.future, handle.worker) for handle in self._handles), strict=True)
        self._answers_to(calls, needed, workers)


def check_alive(shards: Sequence[Future]) -> None:
    """Raise if Dask has noticed that the worker of a shard is gone."""
    if any(future.status != "finished" for future in shards):
        raise LostShardError("a worker with a shard is gone")


def children_of(handles: Iterable[ShardHandle]) -> dict[ShardHandle, list[ShardHandle]]:
    """The shards to which each one passes steps on; the first one is above all others.

    A worker runs its actors in one thread, those of other fits too. So shards wait only for those on workers with
    larger addresses, or on their own, which they run themselves: no worker waits for another that waits for it.
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
    """What to do about rows that change."""
    return ClusterError(
        f"The collection gives other rows each time it is computed, as was seen when {when}; give X.persist() and "
        "y.persist(), or a source that does not change."
    )


def without_roots(rounds: Sequence[UpdateStep]) -> list[UpdateStep]:
    """Rounds to take again: only the last needs its histogram."""
    return [*(replace(step, with_root=False) for step in rounds[:-1]), *rounds[-1:]]


def assign_parts(
    parts: Sequence[PartLocation], workers: Mapping[str, int], loads: Mapping[str, int] | None = None
) -> dict[str, list[PartLocation]]:
    """Which worker holds which parts: the one that read them, unless it would have much more than its share.

    Parameters
    ----------
    parts : list of PartLocation
        The parts.
    workers : dict of str to int
        The threads of every worker; shares go by them.
    loads : dict of str to int, optional
        The rows that workers hold already.

    Returns
    -------
    dict of str to list of PartLocation
        The parts by worker, for those that have any.
    """
    n_samples = {worker: (loads or {}).get(worker, 0) for worker in workers}
    share = SLACK * (sum(n_samples.values()) + sum(part.n_samples for part in parts)) / sum(workers.values())
    assigned: dict[str, list[PartLocation]] = defaultdict(list)
    for part in sorted(parts, key=lambda part: (-part.n_samples, part.number)):
        after = {worker: (n_samples[worker] + part.n_samples) / threads for worker, threads in workers.items()}
        least = min(after, key=lambda worker: after[worker])
        stays = part.worker in after and after[part.worker] <= max(share, after[least])
        worker = part.worker if stays else least
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
