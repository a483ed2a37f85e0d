"""The user's cluster, as a fit uses it. In: a client and delayed parts. Out: one merged answer per pass over the parts.

Dask runs the tasks, moves them from lost workers to others and computes lost inputs anew. What is added here is that
nobody waits for ever: without a worker for a while, a pass ends with an error.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from dask import is_dask_collection
from dask.delayed import Delayed, delayed
from distributed import CancelledError, Client, Future, get_client, wait

PartAnswer = TypeVar("PartAnswer")

FAN_IN = 8  # answers that are merged at once: few enough to lie on one worker together
LOOK_AFTER = 2.0  # seconds without news after which to look whether the workers are still there
LONGEST_TRANSFER = 600.0  # seconds that a result, such as validation rows, may take to come here
MOST_LOSSES = 15  # times that a result may be lost again
PATIENCE = 45.0  # seconds that a cluster may be without working workers, for example while they start again


class Cluster:
    """A running cluster.

    Parameters
    ----------
    client : Client or None
        The user's client; None is the one that Dask uses by default.
    """

    def __init__(self, client: Client | None) -> None:
        self.client = check_client(default_client() if client is None else client)
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
        """The address of every worker, and its threads."""
        workers: dict[str, int] = self.client.nthreads()
        return workers

    def wait_for_workers(self) -> dict[str, int]:
        """The workers, as soon as one works; an error if none does for a while."""
        give_up = time.monotonic() + PATIENCE
        while not ((workers := self.workers()) and self._is_working()):
            if time.monotonic() > give_up:
                state = "only paused workers, near their memory limits," if workers else "no worker"
                raise ClusterError(
                    f"The Dask cluster at {self.address} has had {state} for {PATIENCE:.0f} s, so the fit was given "
                    "up; look into the workers' logs, give the cluster more workers or more memory, or X smaller "
                    "partitions, and fit again."
                )
            time.sleep(0.1)
        return workers

    def _is_working(self) -> bool:
        workers = self.client.scheduler_info()["workers"].values()
        return any(worker.get("status", "running") == "running" for worker in workers)

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
        common = [delayed(value, traverse=False) for value in shared]
        asked = delayed(ask, pure=False, traverse=False)
        joined = delayed(join, pure=False)
        answers = [asked(part, *common) for part in parts]
        while len(answers) > 1:
            answers = [joined(answers[i : i + FAN_IN]) for i in range(0, len(answers), FAN_IN)]
        answer: PartAnswer = self._compute(answers[0])
        return answer

    def bring_here(self, given: Any) -> Any:
        """A collection as it is in memory; what is no collection stays as it is."""
        return self._compute(given) if is_dask_collection(given) else given

    def _compute(self, collection: Any) -> Any:
        future = self.client.compute(collection)
        try:
            self.finish([future])
            return future.result(timeout=LONGEST_TRANSFER)
        except TimeoutError as error:
            raise ClusterError(
                f"An answer was computed, but could not be brought here within {LONGEST_TRANSFER:.0f} s; look into the "
                "workers' logs: those that hold it may end again and again, for example at their memory limits."
            ) from error
        finally:
            future.release()  # not cancelled: the user may hold a future of the same key

    def cancel(self, futures: list[Future]) -> None:
        """End what nobody else can want, such as shards."""
        if futures and self.client.status == "running":
            self.client.cancel(futures, force=True)

    def finish(self, futures: list[Future]) -> None:
        """Wait for tasks on rows: an error if one failed, or can never end."""
        for _ in range(MOST_LOSSES):
            if self._are_finished(futures):
                return
            time.sleep(LOOK_AFTER)  # one was done, and then lost: Dask computes it again, or takes note that it cannot
        raise lost_rows_error()

    def _are_finished(self, futures: list[Future]) -> bool:
        self.wait(futures)
        statuses = {future.status: future for future in futures}
        if "error" in statuses:
            statuses["error"].result()
        if "cancelled" in statuses:
            raise lost_rows_error()
        return set(statuses) <= {"finished"}

    def wait(self, futures: list[Future]) -> None:
        """Wait for tasks, however they end; an error if they cannot."""
        while not self._are_done(futures):
            self.wait_for_workers()

    def _are_done(self, futures: list[Future]) -> bool:
        try:
            wait(futures, timeout=LOOK_AFTER)
        except TimeoutError:
            return False
        except CancelledError:
            return True
        return True


class ClusterError(RuntimeError):
    """A fit that cannot go on, whatever is tried again."""


def lost_rows_error() -> ClusterError:
    """What to do if rows are gone for good."""
    return ClusterError(
        "A worker was lost together with rows that Dask cannot compute again, since they were scattered to it, or "
        "their futures were cancelled; give a collection that Dask can rebuild (read from files, or computed from "
        "such), and fit again."
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
