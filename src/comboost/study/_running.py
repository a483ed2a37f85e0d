"""Running. In: tasks. Out: results as they come, from one process or several."""

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


class ProcessLostError(Exception):
    """The system ended a process that was at work."""


class Failure(NamedTuple):
    """Why a task has no result."""

    reason: str


TaskOutcome = dict[str, Any] | Failure


def run_tasks(tasks: Sequence[Task], study: Study, *, n_jobs: int) -> Generator[tuple[Task, TaskOutcome], None, None]:
    """Run tasks, the longest first, and yield each with its result as soon as it is done.

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
            yield task, try_task(task, study)
        return
    with worker_pool(min(n_jobs, len(ordered))) as pool:
        with interrupts_blocked():  # processes start as tasks are handed in
            futures: dict[Future[TaskOutcome], Task] = {pool.submit(try_task, task, study): task for task in ordered}
        for future in as_completed(futures):
            try:
                yield futures.pop(future), future.result()
            except BrokenProcessPool as error:
                raise ProcessLostError(
                    "A process was ended from outside, perhaps since memory ran out. What was done is kept: start the "
                    "same command again, with fewer --jobs."
                ) from error


def try_task(task: Task, study: Study) -> TaskOutcome:
    """Run one task, and say in words what it raised."""
    try:
        return run_task(task, study)
    except Exception as error:
        # In words, since not every exception can be sent from process to process.
        return Failure(f"{type(error).__name__}: {error}")


@contextmanager
def worker_pool(n_jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that end with this one, however it ends."""
    # Fresh processes, not copies: OpenMP does not survive a fork.
    context = multiprocessing.get_context("spawn")
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(n_jobs, mp_context=context, initializer=start_worker)
    try:
        yield pool
    except BaseException:
        # Nobody waits for what they are working on.
        end_processes(set(multiprocessing.active_children()) - others)
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Hold Ctrl-C back; a process that is started meanwhile never hears of it: it is the parent's to handle."""
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_processes(processes: set[BaseProcess]) -> None:
    """End processes, whatever they are doing."""
    for process in processes:
        process.terminate()


def start_worker() -> None:
    """Prepare a process to be ended by its parent, and with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is blocked but on Windows
    threading.Thread(target=exit_with_parent, daemon=True).start()


def exit_with_parent() -> None:
    """Exit as soon as the parent is gone, even if it was killed: an orphan would compute what nobody stores."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
