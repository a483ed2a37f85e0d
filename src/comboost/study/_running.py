"""Running: tasks in, results out as they come, from one process or several."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple

from comboost.study._folds import Task, estimate_seconds, run_task
from comboost.study._study import Study

__all__ = ["Failure", "ProcessLostError", "run_tasks"]


class ProcessLostError(Exception):
    """The system ended a process that was at work."""


class Failure(NamedTuple):
    """Why a task has no result."""

    reason: str


Outcome = dict[str, Any] | Failure


def run_tasks(tasks: Sequence[Task], study: Study, *, n_jobs: int) -> Generator[tuple[Task, Outcome], None, None]:
    """Run tasks, the longest first, and give each with its result as soon as it is there.

    Parameters
    ----------
    tasks : sequence of Task
        What has to be done.
    study : Study
        The numbers of the experiment.
    n_jobs : int
        Processes; each works on one task at a time, on one thread. The results do not depend on it.

    Yields
    ------
    task : Task
        In the order in which they end.
    outcome : dict or Failure
        The result of `run_task`, or what it raised; the other tasks go on.

    Raises
    ------
    ProcessLostError
        If the system ended a process, as it does when memory runs out.
    """
    ordered = sorted(tasks, key=lambda task: -estimate_seconds(task, study))
    if n_jobs == 1 or len(ordered) < 2:
        for task in ordered:
            yield task, _try_task(task, study)
        return
    with _pool(min(n_jobs, len(ordered))) as pool:
        futures: dict[Future[Outcome], Task] = {pool.submit(_try_task, task, study): task for task in ordered}
        for future in as_completed(futures):
            try:
                yield futures.pop(future), future.result()
            except BrokenProcessPool as error:
                raise ProcessLostError(
                    "A process was ended from outside, perhaps since memory ran out. What was done is kept: start the "
                    "same command again, with fewer --jobs."
                ) from error


def _try_task(task: Task, study: Study) -> Outcome:
    try:
        return run_task(task, study)
    except Exception as error:
        # in words, since not every exception can be sent from process to process
        return Failure(f"{type(error).__name__}: {error}")


@contextmanager
def _pool(n_jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that end with this one, however it ends."""
    # fresh processes, not copies: OpenMP does not survive a fork
    context = multiprocessing.get_context("spawn")
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(n_jobs, mp_context=context, initializer=_start_worker)
    try:
        yield pool
    except BaseException:
        # nobody waits for what they are at
        _end(set(multiprocessing.active_children()) - others)
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _end(processes: set[BaseProcess]) -> None:
    for process in processes:
        process.terminate()


def _start_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Wait for the parent to be gone, even killed, and go too: an orphan would compute what nobody stores."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
