"""The user's cluster, as a fit uses it. In: a client and delayed parts. Out: one merged answer per pass over the parts.

Dask runs the tasks, moves them from lost workers to others and computes lost inputs anew. What is added here is that
nobody waits for ever: the tasks of a worker that has fallen silent are given to others, and without a worker for a
while a pass ends with an error.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

from dask import is_dask_collection
from dask.delayed import Delayed, delayed
from distributed import CancelledError, Client, Future, get_client, get_worker, wait

from comboost._distributed.heartbeats import Heartbeats
from comboost._engine.memory import in_gib

PartAnswer = TypeVar("PartAnswer")

FAN_IN = 8  # answers that are merged at once: few enough to lie on one worker together
LOOK_AFTER = 2.0  # seconds without news after which to look whether the workers are still there
LONGEST_TRANSFER = 600.0  # seconds that a result, such as validation rows, may take to come here
MOST_LOSSES = 15  # times that a result may be lost again
MOST_SILENCES = 15  # times that workers may fall silent in one pass
PATIENCE = 45.0  # seconds that a cluster may be without working workers, for example while they start again
RESTART_AFTER = 2.0  # times the allowed silence after which Dask restarts a worker that holds what may be waited for
RESTART_ANY_AFTER = 6.0  # the same of a worker that holds nothing: others may be in the midst of fetching from it
RESTART_WITHIN = 10.0  # seconds that a worker has to end, or else it is removed


class Placement(NamedTuple):
    """Where tasks run.

    Attributes
    ----------
    workers : dict of str to int
        The addresses of the workers that may run them, and their threads.
    strict : bool
        Whether no other ones may, as long as some are silent: Dask lets idle workers take over tasks of others.
    """

    workers: dict[str, int]
    strict: bool

    def options(self, worker: str | None = None) -> dict[str, Any]:
        """What to tell Dask, if one of the workers is preferred or none is."""
        if worker is None and not self.strict:
            return {}
        return {"workers": list(self.workers) if worker is None else [worker], "allow_other_workers": not self.strict}


class Cluster:
    """A running cluster.

    Parameters
    ----------
    client : Client or None
        The user's client; None is the one that Dask uses by default.
    timeout : float or None
        Seconds of silence after which a worker counts as lost; None is what follows from earlier silences.
    """

    def __init__(self, client: Client | None, timeout: float | None = None) -> None:
        self.client = check_client(default_client() if client is None else client)
        self._heartbeats = Heartbeats(timeout)
        self._found: Mapping[str, Any] = {}  # what the scheduler knew of every worker at the last look
        if not self.workers():
            raise ClusterError(
                f"The Dask cluster at {self.address} has no workers; start some, or wait for them with "
                "client.wait_for_workers(1)."
            )

    @property
    def address(self) -> str:
        """Where the scheduler is."""
        scheduler = self.client.scheduler
        return "an unknown address" if scheduler is None else str(scheduler.address)

    def workers(self) -> dict[str, int]:
        """The address of every worker that has not fallen silent, and its threads."""
        silent = self.silent_workers()
        return {address: worker["nthreads"] for address, worker in self._found.items() if address not in silent}

    def silent_workers(self) -> set[str]:
        """The addresses of workers that have fallen silent. They are used again once they are heard of."""
        self._found = self._ask_for_workers()
        heard = {address: worker["last_seen"] for address, worker in self._found.items()}
        self._heartbeats.update(heard, time.monotonic())
        return self._heartbeats.silent()

    def _ask_for_workers(self) -> Mapping[str, Any]:
        """What the scheduler knows of every worker."""
        while True:
            found: Mapping[str, Any] = self.client.scheduler_info(n_workers=-1)["workers"]
            # The client also asks by itself now and then, for no workers at all, and keeps the last answer.
            if found or not self.client.nthreads():
                return found

    def check_heard(self, workers: Iterable[str]) -> None:
        """Raise if one of these workers has fallen silent."""
        if silent := self.silent_workers().intersection(workers):
            raise SilentWorkerError(
                f"nothing was heard for {self._heartbeats.limit:.0f} s of the worker at {', '.join(sorted(silent))}"
            )

    def wait_for_workers(self) -> dict[str, int]:
        """The workers, as soon as one works; an error if none does for a while."""
        give_up = time.monotonic() + PATIENCE
        while not any(map(self._is_running, workers := self.workers())):
            if time.monotonic() > give_up:
                state = "only paused workers, near their memory limits," if workers else "no worker"
                raise ClusterError(
                    f"The Dask cluster at {self.address} has had {state} for {PATIENCE:.0f} s, so the fit was given "
                    "up; look into the workers' logs, give the cluster more workers or more memory, or X smaller "
                    "partitions, and fit again."
                )
            time.sleep(0.1)
        return workers

    def placement(self) -> Placement:
        """Where tasks are to run now."""
        workers = self.wait_for_workers()
        return Placement(workers, strict=bool(self._heartbeats.silent()))

    def _is_running(self, worker: str) -> bool:
        return bool(self._found[worker].get("status", "running") == "running")

    @staticmethod
    def worker_address() -> str:
        """Return the address of the worker that calls this."""
        return str(get_worker().address)

    def merge(
        self,
        ask: Callable[..., PartAnswer],
        parts: Sequence[Delayed],
        join: Callable[[list[PartAnswer]], PartAnswer],
        *shared: Any,
    ) -> PartAnswer:
        """Ask every part, and join the answers a few at a time, on the workers.

        Parameters
        ----------
        ask : callable
            Called as ``ask(part, *shared)``.
        parts : list of Delayed
            The parts.
        join : callable
            Makes one answer of a list of them.
        *shared
            What all parts are asked with.

        Returns
        -------
        answer
            That of all parts.
        """

        def merged() -> Delayed:
            common = [delayed(value, traverse=False) for value in shared]
            asked = delayed(ask, pure=False, traverse=False)
            joined = delayed(join, pure=False)
            answers = [asked(part, *common) for part in parts]
            while len(answers) > 1:
                answers = [joined(answers[i : i + FAN_IN]) for i in range(0, len(answers), FAN_IN)]
            return answers[0]

        answer: PartAnswer = self._compute(merged)
        return answer

    def gather(self, given: Any) -> Any:
        """A collection as it is in memory; what is no collection stays as it is."""
        return self._compute(lambda: given) if is_dask_collection(given) else given

    def _compute(self, make: Callable[[], Any]) -> Any:
        """What a collection computes to. It is made anew, with other keys, if a worker falls silent meanwhile.

        Tasks that the others wait for, or fetch, from a silent worker would hang; under other keys they do not.
        """
        for _ in range(MOST_SILENCES):
            placement = self.placement()
            future = self.client.compute(make(), **placement.options())
            try:
                self.finish([future], placement)
                return self.fetch(future, placement)
            except SilentWorkerError as error:
                silence = error
            finally:
                future.release()  # not cancelled: the user may hold a future of the same key
        raise ClusterError(
            f"The fit was given up after {MOST_SILENCES} tries of one pass over the rows, in each of which a worker "
            f"fell silent, the last with: {silence}. Look into the workers' logs, or give a longer timeout=."
        ) from silence

    def fetch(self, future: Future, placement: Placement) -> Any:
        """The result of a task that is done."""
        loop = self.client.loop.asyncio_loop
        begun = asyncio.run_coroutine_threadsafe(self.client.gather(future, asynchronous=True), loop)
        give_up = time.monotonic() + LONGEST_TRANSFER
        try:
            while time.monotonic() < give_up:
                try:
                    return begun.result(timeout=LOOK_AFTER)
                except TimeoutError:
                    if begun.done():
                        raise
                    self._check_tasks(placement)
        finally:
            begun.cancel()
        raise ClusterError(
            f"An answer was computed, but could not be brought here within {LONGEST_TRANSFER:.0f} s; look into the "
            "workers' logs: those that hold it may end again and again, for example at their memory limits."
        )

    def cancel(self, futures: list[Future]) -> None:
        """End what nobody else can want, such as shards."""
        if futures and self.client.status == "running":
            self.client.cancel(futures, force=True)

    def finish(self, futures: list[Future], placement: Placement) -> None:
        """Wait for tasks on rows: an error if one failed, or can never end."""
        for _ in range(MOST_LOSSES):
            if self._are_finished(futures, placement):
                return
            time.sleep(LOOK_AFTER)  # one was done, and then lost: Dask computes it again, or takes note that it cannot
        raise lost_data_error()

    def _are_finished(self, futures: list[Future], placement: Placement) -> bool:
        self.wait(futures, placement)
        statuses = {future.status: future for future in futures}
        if "error" in statuses:
            statuses["error"].result()
        if "cancelled" in statuses:
            raise lost_data_error()
        return set(statuses) <= {"finished"}

    def wait(self, futures: list[Future], placement: Placement) -> None:
        """Wait for tasks, however they end; an error if they cannot."""
        give_up = None
        while not self._are_done(futures):
            self._check_tasks(placement)
            bound_to = find_missing_workers(self.client, [future.key for future in futures])
            if bound_to is None:
                give_up = None
            else:
                give_up = give_up or time.monotonic() + PATIENCE
                if time.monotonic() > give_up:
                    raise missing_workers_error(bound_to)

    def _are_done(self, futures: list[Future]) -> bool:
        try:
            wait(futures, timeout=LOOK_AFTER)
        except TimeoutError:
            return False
        except CancelledError:
            return True
        return True

    def _check_tasks(self, placement: Placement) -> None:
        """Raise if tasks cannot end where they are; have Dask restart silent workers that they may wait for."""
        self.wait_for_workers()
        self.check_heard(placement.workers)
        gone = placement.workers.keys() - self._found.keys()
        # Dask finds no worker for tasks that preferred one if all were gone when it looked, even if others come.
        if gone and (placement.strict or gone == placement.workers.keys()):
            raise SilentWorkerError(f"the worker at {', '.join(sorted(gone))} is gone")
        hopeless = self._heartbeats.silent(RESTART_ANY_AFTER)
        if holding := self._heartbeats.silent(RESTART_AFTER) - hopeless:
            held, begun = self.client.has_what(list(holding)), self.client.processing(list(holding))
            hopeless |= {worker for worker in holding if held.get(worker) or begun.get(worker)}
        if hopeless:
            self._restart(hopeless)

    def _restart(self, workers: set[str]) -> None:
        """Do what the scheduler itself would do some minutes later: only then it computes anew what they hold."""
        assert self.client.scheduler is not None
        self.client.sync(
            self.client.scheduler.restart_workers,
            workers=sorted(workers),
            timeout=RESTART_WITHIN,
            wait_for_workers=False,
            on_error="return",
            stimulus_id=f"comboost-silent-workers-{time.time()}",
        )


class ClusterError(RuntimeError):
    """A fit that cannot go on, whatever is tried again."""


class SilentWorkerError(ConnectionError):
    """A worker has not been heard of for too long; others must do its work."""


def lost_data_error() -> ClusterError:
    """What to do if rows are gone for good."""
    return ClusterError(
        "A worker was lost together with rows that Dask cannot compute again, since they were scattered to it, or "
        "their futures were cancelled; give a collection that Dask can rebuild (read from files, or computed from "
        "such), and fit again."
    )


def find_missing_workers(client: Client, keys: list[Any]) -> str | None:
    """Which workers tasks, or what they depend on, may run on, if there is none of them; None if there is."""

    # Within a function it travels as it is: the scheduler may have no comboost to import it from.
    def find(dask_scheduler: Any) -> str | None:
        tasks = [dask_scheduler.tasks[key] for key in keys if key in dask_scheduler.tasks]
        seen = set(tasks)
        while tasks:
            task = tasks.pop()
            if task.state == "no-worker":
                allowed = task.worker_restrictions or task.host_restrictions or task.resource_restrictions or ()
                return ", ".join(sorted(allowed))
            missing = {needed for needed in task.dependencies if needed.state != "memory"} - seen
            seen |= missing
            tasks += missing
        return None

    with suppress(ValueError):  # of a scheduler that runs nobody's functions
        absent: str | None = client.run_on_scheduler(find)
        return absent
    return None


def missing_workers_error(workers: str) -> ClusterError:
    """What to do if rows may be computed only where nobody is."""
    return ClusterError(
        f"Rows, or what they are computed from, are bound to workers that have been absent for {PATIENCE:.0f} s: "
        f"{workers or 'any at all'}; start them again, or give a collection that may be computed anywhere (persisted "
        "without workers=, resources= or dask.annotate), and fit again."
    )


def default_client() -> Client:
    """The client that Dask uses by default."""
    try:
        return get_client()
    except ValueError as error:
        raise ClusterError(
            "There is no Dask client; make one, for example client = distributed.Client(), or give one as client=."
        ) from error


def check_client(client: Client) -> Client:
    """The client; an error if a fit cannot use it."""
    if not isinstance(client, Client):
        raise TypeError(f"client is a {type(client).__name__}; give a distributed.Client, or None for the current one.")
    if client.status != "running":
        raise ClusterError(
            f"The Dask client is {client.status}; give a running one as client=, or make a new distributed.Client."
        )
    if client.asynchronous:
        raise ClusterError(
            "The Dask client is asynchronous, and fit waits for its answers; give a client made without "
            "asynchronous=True."
        )
    return client


def check_worker_memory(task: str, needed: Mapping[str, int], advice: str) -> None:
    """Raise if a task would take more memory than the worker may that does it; elsewhere, nothing is known."""
    try:
        worker: Any = get_worker()
    except ValueError:  # a thread of this process computes
        return
    limit = worker.memory_manager.memory_limit
    if limit and sum(needed.values()) > limit:
        most = max(needed, key=lambda use: needed[use])
        raise MemoryError(
            f"{task} on the worker at {worker.address} need about {in_gib(sum(needed.values()))} GiB, "
            f"{in_gib(needed[most])} of them for {most}, and its memory limit is {in_gib(limit)}; {advice}."
        )
