"""Running. In: problems and settings. Out: results in the store, as they come, from one process or several."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed

from benchmarks._lib.machine import comboost_folder, digest_of
from benchmarks.defaults.fits import Task, run_task
from benchmarks.defaults.problems import Problem
from benchmarks.defaults.settings import PEER_NAMES, Setting
from benchmarks.defaults.store import Entry, Store
from comboost.study._running import worker_pool

SECONDS_BETWEEN_LINES = 30


def list_tasks(problems: Iterable[Problem], settings: Mapping[str, Setting]) -> list[Task]:
    """All folds of all problems, the smallest problem first, for all peers and settings."""
    methods: dict[str, Setting | None] = {**dict.fromkeys(PEER_NAMES), **settings}
    return [
        Task(problem.name, name, fold, setting)
        for problem in problems
        for name, setting in methods.items()
        for fold in range(problem.n_folds)
    ]


def list_open_tasks(tasks: Iterable[Task], store: Store, *, again: bool = False) -> list[Task]:
    """Those that have no result yet, or with ``again`` none of the comboost that is installed."""
    build = current_build()
    done = {
        (result["problem"], result["method"], result["fold"])
        for result in store.read_folds()
        if not again or result["build"] == build
    }
    return [task for task in tasks if task[:3] not in done]


def current_build() -> str:
    """A digest of the comboost that is installed: results of different ones are told apart."""
    return digest_of(comboost_folder())[:6]


def run_tasks(tasks: Sequence[Task], store: Store, n_jobs: int) -> bool:
    """Run tasks and store each as soon as it is done; whether all could be run."""
    build = current_build()
    progress = Progress(tasks)
    sound = True
    for task, outcome in outcomes_of(tasks, n_jobs):
        if isinstance(outcome, str):
            sound = False
            print(f"  ERROR {task.problem}, {task.method}, fold {task.fold}: {outcome}", flush=True)
        else:
            store.add({**outcome, "build": build})
        progress.advance(task)
    return sound


def outcomes_of(tasks: Sequence[Task], n_jobs: int) -> Iterator[tuple[Task, Entry | str]]:
    """Tasks with their results, or with what they raised, as they are done."""
    if n_jobs == 1:
        yield from ((task, try_task(task)) for task in tasks)
        return
    with worker_pool(n_jobs) as pool:
        futures = {pool.submit(try_task, task): task for task in tasks}
        yield from ((futures[future], future.result()) for future in as_completed(futures))


def try_task(task: Task) -> Entry | str:
    """The result of a task, or in words what it raised: the other tasks can still be run."""
    try:
        return run_task(task)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


class Progress:
    """Says now and then how far a run is."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._n_tasks = len(tasks)
        self._n_done = 0
        self._work_left = self._work = sum(task.work for task in tasks)
        self._started = self._printed = time.monotonic()
        print(f"{self._n_tasks} fits to do", flush=True)

    def advance(self, task: Task) -> None:
        """A task is done."""
        self._n_done += 1
        self._work_left -= task.work
        now = time.monotonic()
        if now - self._printed > SECONDS_BETWEEN_LINES or self._n_done == self._n_tasks:
            self._printed, seconds = now, now - self._started
            left = seconds * max(0.0, self._work_left) / (self._work - self._work_left)
            print(
                f"  {self._n_done} of {self._n_tasks} fits, at {task.problem}: {seconds / 60:.1f} min, about "
                f"{left / 60:.0f} min left",
                flush=True,
            )
