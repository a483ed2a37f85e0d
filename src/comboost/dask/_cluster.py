"""The Dask cluster of a fit: run a function on all parts and merge the results.

Dask runs the tasks, moves them from lost workers to others and recomputes lost inputs. This module adds timeouts: the
tasks of a worker without heartbeats are sent to others, and a pass fails if there is no worker for a while.
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

Result = TypeVar("Result")

FAN_IN = 8  # results that are merged at once: few enough for the memory of one worker
POLL_INTERVAL = 2.0  # seconds after which to check that the workers are still there
LONGEST_TRANSFER = 600.0  # seconds that gathering a result, such as the validation set, may take
MOST_LOSSES = 15  # times that a result may be lost
MOST_SILENCES = 15  # times that workers may stop sending heartbeats in one pass
PATIENCE = 45.0  # seconds that a cluster may be without running workers, for example while they restart
RESTART_AFTER = 2.0  # times the tolerated silence after which a worker that holds results or tasks is restarted
RESTART_ANY_AFTER = 6.0  # the same for a worker without any: others may still be fetching from it
RESTART_WITHIN = 10.0  # seconds that a worker has to stop before it is removed


class Placement(NamedTuple):
    """Where tasks run."""

    workers: dict[str, int]  # addresses of the workers that may run them, and their numbers of threads
    #: Whether no other worker may run them. Set while workers are silent, since Dask lets idle workers steal tasks.
    strict: bool

    def options(self, worker: str | None = None) -> dict[str, Any]:
        """Options of ``Client.compute``; ``worker`` is preferred if given."""
        if worker is None and not self.strict:
            return {}
        return {"workers": list(self.workers) if worker is None else [worker], "allow_other_workers": not self.strict}


class Cluster:
    """A running Dask cluster. Without a client, the current one is used; see `Heartbeats` for the timeout."""

    def __init__(self, client: Client | None, timeout: float | None = None) -> None:
        self.client = find_client(client)
        self._heartbeats = Heartbeats(timeout)
        self._workers_info: Mapping[str, Any] = {}  # the scheduler's last information on every worker
        if not self.workers():
            raise ClusterError(
                f"The Dask cluster at {self.address} has no workers; start some, or wait for them with "
                "client.wait_for_workers(1)."
            )

    @property
    def address(self) -> str:
        """Address of the scheduler."""
        scheduler = self.client.scheduler
        return "an unknown address" if scheduler is None else str(scheduler.address)

    def workers(self) -> dict[str, int]:
        """Addresses of the workers that send heartbeats, and their numbers of threads."""
        silent = self.silent_workers()
        return {address: worker["nthreads"] for address, worker in self._workers_info.items() if address not in silent}

    def silent_workers(self) -> set[str]:
        """Addresses of workers without heartbeats. They are used again once these arrive."""
        self._workers_info = self._query_workers()
        received = {address: worker["last_seen"] for address, worker in self._workers_info.items()}
        self._heartbeats.update(received, time.monotonic())
        return self._heartbeats.silent()

    def _query_workers(self) -> Mapping[str, Any]:
        """Query the scheduler for information on every worker."""
        while True:
            found: Mapping[str, Any] = self.client.scheduler_info(n_workers=-1)["workers"]
            # The client's own periodic query, for no workers at all, may have replaced the result.
            if found or not self.client.nthreads():
                return found

    def check_alive(self, workers: Iterable[str]) -> None:
        """Raise if one of these workers no longer sends heartbeats."""
        if silent := self.silent_workers().intersection(workers):
            raise SilentWorkerError(
                f"no heartbeat for {self._heartbeats.limit:.0f} s from the worker at {', '.join(sorted(silent))}"
            )

    def wait_for_workers(self) -> dict[str, int]:
        """Wait until a worker is running and return all workers; raise if none is for a while."""
        deadline = time.monotonic() + PATIENCE
        while not any(map(self._is_running, workers := self.workers())):
            if time.monotonic() > deadline:
                state = "only paused workers, near their memory limits," if workers else "no worker"
                raise ClusterError(
                    f"The Dask cluster at {self.address} has had {state} for {PATIENCE:.0f} s, so the fit was "
                    "stopped; check the workers' logs, add workers or memory, or use smaller partitions of X, and "
                    "fit again."
                )
            time.sleep(0.1)
        return workers

    def placement(self) -> Placement:
        """Choose the workers for new tasks."""
        workers = self.wait_for_workers()
        return Placement(workers, strict=bool(self._heartbeats.silent()))

    def _is_running(self, worker: str) -> bool:
        return bool(self._workers_info[worker].get("status", "running") == "running")

    @staticmethod
    def worker_address() -> str:
        """Return the address of the worker that calls this."""
        return str(get_worker().address)

    def merge(
        self,
        call: Callable[..., Result],
        parts: Sequence[Delayed],
        join: Callable[[list[Result]], Result],
        *args: Any,
    ) -> Result:
        """Call ``call(part, *args)`` for every part, and join the results a few at a time, on the workers."""

        def merged() -> Delayed:
            common = [delayed(value, traverse=False) for value in args]
            called = delayed(call, pure=False, traverse=False)
            joined = delayed(join, pure=False)
            results = [called(part, *common) for part in parts]
            while len(results) > 1:
                results = [joined(results[i : i + FAN_IN]) for i in range(0, len(results), FAN_IN)]
            return results[0]

        result: Result = self._compute(merged)
        return result

    def gather(self, given: Any) -> Any:
        """Compute a collection and return it; return other objects as they are."""
        return self._compute(lambda: given) if is_dask_collection(given) else given

    def _compute(self, make: Callable[[], Any]) -> Any:
        """Compute a collection. If a worker falls silent meanwhile, the tasks are submitted again with new keys.

        Tasks that others wait for, or fetch, from a silent worker would hang; tasks with new keys do not.
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
                future.release()  # not cancelled: the user may hold a future with the same key
        raise ClusterError(
            f"The fit was stopped after {MOST_SILENCES} attempts at one pass over the data, in each of which a worker "
            f"stopped responding, the last with: {silence}. Check the workers' logs, or set a longer timeout."
        ) from silence

    def fetch(self, future: Future, placement: Placement) -> Any:
        """Fetch the result of a finished task."""
        loop = self.client.loop.asyncio_loop
        transfer = asyncio.run_coroutine_threadsafe(self.client.gather(future, asynchronous=True), loop)
        deadline = time.monotonic() + LONGEST_TRANSFER
        try:
            while time.monotonic() < deadline:
                try:
                    return transfer.result(timeout=POLL_INTERVAL)
                except TimeoutError:
                    if transfer.done():
                        raise
                    self._check_tasks(placement)
        finally:
            transfer.cancel()
        raise ClusterError(
            f"A result was computed, but could not be fetched within {LONGEST_TRANSFER:.0f} s; check the logs: "
            "workers that hold it may restart again and again, for example at their memory limits."
        )

    def cancel(self, futures: list[Future]) -> None:
        """Cancel futures that are private to the fit, such as shards."""
        if futures and self.client.status == "running":
            self.client.cancel(futures, force=True)

    def finish(self, futures: list[Future], placement: Placement) -> None:
        """Wait for tasks; raise if one failed or can never finish."""
        for _ in range(MOST_LOSSES):
            if self._are_finished(futures, placement):
                return
            time.sleep(POLL_INTERVAL)  # one was finished and then lost: Dask recomputes it, or finds that it cannot
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
        """Wait until tasks have ended in any way; raise if they cannot."""
        deadline = None
        while not self._are_done(futures):
            self._check_tasks(placement)
            missing = find_missing_workers(self.client, [future.key for future in futures])
            if missing is None:
                deadline = None
                continue
            deadline = deadline or time.monotonic() + PATIENCE
            if time.monotonic() > deadline:
                raise ClusterError(
                    f"The data are restricted to workers that have been missing for {PATIENCE:.0f} s: "
                    f"{missing or 'all workers'}; start them again, or use a collection that may be computed anywhere "
                    "(persisted without workers=, resources= or dask.annotate), and fit again."
                )

    def _are_done(self, futures: list[Future]) -> bool:
        try:
            wait(futures, timeout=POLL_INTERVAL)
        except TimeoutError:
            return False
        except CancelledError:
            pass
        return True

    def _check_tasks(self, placement: Placement) -> None:
        """Raise if tasks cannot finish where they are; let Dask restart silent workers that they may wait for."""
        self.wait_for_workers()
        self.check_alive(placement.workers)
        gone = placement.workers.keys() - self._workers_info.keys()
        # Dask assigns no worker to tasks whose preferred ones were all gone at the time, even if others join.
        if gone and (placement.strict or gone == placement.workers.keys()):
            raise SilentWorkerError(f"the worker at {', '.join(sorted(gone))} is gone")
        hopeless = self._heartbeats.silent(RESTART_ANY_AFTER)
        if holding := self._heartbeats.silent(RESTART_AFTER) - hopeless:
            held, running = self.client.has_what(list(holding)), self.client.processing(list(holding))
            hopeless |= {worker for worker in holding if held.get(worker) or running.get(worker)}
        if hopeless:
            self._restart(hopeless)

    def _restart(self, workers: set[str]) -> None:
        """Restart workers, as the scheduler would minutes later: only then does it recompute what they hold."""
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
    """A fit that cannot continue."""


class SilentWorkerError(ConnectionError):
    """A worker sent no heartbeat for too long; others must take over its work."""


def lost_data_error() -> ClusterError:
    """Error for data that cannot be recomputed."""
    return ClusterError(
        "A worker was lost together with data that Dask cannot recompute, since it was scattered or its futures were "
        "cancelled; use a collection that Dask can rebuild (read from files, or computed from such), and fit again."
    )


def find_missing_workers(client: Client, keys: list[Any]) -> str | None:
    """Find the workers that tasks or their dependencies are restricted to, if none of these exists; else None."""

    # A nested function is pickled by value: comboost may not be installed on the scheduler.
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

    with suppress(ValueError):  # the scheduler does not allow to run functions
        missing: str | None = client.run_on_scheduler(find)
        return missing
    return None


def find_client(client: Client | None) -> Client:
    """Return the client, by default the current one; raise if a fit cannot use it."""
    if client is None:
        try:
            client = get_client()
        except ValueError as error:
            raise ClusterError(
                "There is no Dask client; create one, for example client = distributed.Client(), or set client=."
            ) from error
    if not isinstance(client, Client):
        raise TypeError(f"client is a {type(client).__name__}; give a distributed.Client, or None for the current one.")
    if client.status != "running":
        raise ClusterError(
            f"The Dask client is {client.status}; give a running one as client=, or make a new distributed.Client."
        )
    if client.asynchronous:
        raise ClusterError(
            "The Dask client is asynchronous, but fit waits for results; use a client without asynchronous=True."
        )
    return client


def check_worker_memory(task: str, needed: Mapping[str, int], advice: str) -> None:
    """Raise if a task needs more memory than its worker may use. Outside of workers, no limit is known."""
    try:
        worker: Any = get_worker()
    except ValueError:  # computed by a thread of this process
        return
    limit = worker.memory_manager.memory_limit
    if limit and sum(needed.values()) > limit:
        most = max(needed, key=lambda use: needed[use])
        raise MemoryError(
            f"{task} on the worker at {worker.address} need about {in_gib(sum(needed.values()))} GiB, "
            f"{in_gib(needed[most])} of them for {most}, and its memory limit is {in_gib(limit)}; {advice}."
        )
