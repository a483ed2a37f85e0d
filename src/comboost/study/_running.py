"""Run tasks in one process or several."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.connection import wait
from typing import Any, NamedTuple

from comboost.study._experiment import Study
from comboost.study._folds import Task, estimate_seconds, run_task


class ProcessLostError(Exception):
    """The system killed a worker process."""


class Failure(NamedTuple):
    """Why a task has no result."""

    reason: str


TaskOutcome = dict[str, Any] | Failure


def run_tasks(tasks: Sequence[Task], study: Study, *, n_jobs: int) -> Generator[tuple[Task, TaskOutcome], None, None]:
    """Run tasks, the longest first, and yield results as they complete.

    Parameters
    ----------
    tasks : sequence of Task
        The tasks.
    study : Study
        Numbers of the experiment.
    n_jobs : int
        Number of processes, each with one thread. Results do not depend on it.

    Yields
    ------
    task : Task
        In the order of completion.
    outcome : dict or Failure
        The result of `run_task`, or its error.

    Raises
    ------
    ProcessLostError
        If the system kills a process, for example for lack of memory.
    """
    ordered = sorted(tasks, key=lambda task: -estimate_seconds(task, study))
    if n_jobs == 1 or len(ordered) < 2:
        for task in ordered:
            yield task, try_task(task, study)
        return
    with worker_pool(min(n_jobs, len(ordered))) as pool:
        with interrupts_blocked():  # processes start as tasks are submitted
            futures: dict[Future[TaskOutcome], Task] = {pool.submit(try_task, task, study): task for task in ordered}
        for future in as_completed(futures):
            try:
                yield futures.pop(future), future.result()
            except BrokenProcessPool as error:
                raise ProcessLostError(
                    "A worker process was killed, perhaps for lack of memory. Results so far are kept: start the same "
                    "command again, with fewer --jobs."
                ) from error


def try_task(task: Task, study: Study) -> TaskOutcome:
    """Run one task, and describe its error."""
    try:
        return run_task(task, study)
    except Exception as error:  # as text, since not every exception can be pickled
        return Failure(f"{type(error).__name__}: {error}")


@contextmanager
def worker_pool(n_jobs: int) -> Iterator[ProcessPoolExecutor]:
    """A pool of processes that end with this one, however it ends."""
    # OpenMP does not survive a fork.
    context = multiprocessing.get_context("spawn")
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(n_jobs, mp_context=context, initializer=start_worker)
    try:
        yield pool
    except BaseException:  # do not wait for running tasks
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Block SIGINT; processes that start meanwhile inherit that, so only the parent handles Ctrl-C."""
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def start_worker() -> None:
    """Make a process ignore SIGINT and exit with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # for Windows, where it is not blocked
    threading.Thread(target=exit_with_parent, daemon=True).start()


def exit_with_parent() -> None:
    """Exit as soon as the parent is gone, even if it was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
