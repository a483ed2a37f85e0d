import multiprocessing
import os
import signal
import sys
import time
from concurrent.futures import as_completed
from dataclasses import replace

import pytest

from comboost.study import METHODS, Study, Task, run_tasks
from comboost.study import _running as running
from comboost.study._folds import estimate_seconds
from comboost.study._running import Failure, ProcessLostError, interrupts_blocked, worker_pool

STUDY = Study(n_rounds=5)
TASKS = [
    Task(dataset, method, 0, fold)
    for dataset in ("new-thyroid", "glass")
    for method in ("CoMBo depth 2 gini", "AdaBoost.MM")
    for fold in range(2)
]


def results_of(outcomes):
    return {task: {name: value for name, value in result.items() if name != "seconds"} for task, result in outcomes}


def children_since(before):
    """Processes that this one has started since; other tests may have left clusters behind."""
    return [child for child in multiprocessing.active_children() if child not in before]


def test_results_are_the_same_for_any_number_of_processes():
    before = multiprocessing.active_children()
    alone = results_of(run_tasks(TASKS, STUDY, n_jobs=1))
    assert set(alone) == set(TASKS)
    assert results_of(run_tasks(TASKS[::-1], STUDY, n_jobs=2)) == alone
    assert not children_since(before)


@pytest.mark.skipif(sys.platform == "win32", reason="exit codes differ")
def test_processes_are_ended_and_not_waited_for_when_the_run_is_interrupted():
    before, children = multiprocessing.active_children(), []

    def be_interrupted():
        with worker_pool(1) as pool:
            pool.submit(time.sleep, 5)
            children.extend(children_since(before))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        be_interrupted()
    (child,) = children
    assert child.exitcode == -signal.SIGTERM


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal")
def test_a_process_killed_from_outside_ends_the_run_with_advice(monkeypatch):
    before = multiprocessing.active_children()

    def kill_all(futures):
        for child in children_since(before):
            os.kill(child.pid, signal.SIGKILL)
        return as_completed(futures)

    monkeypatch.setattr(running, "as_completed", kill_all)
    with pytest.raises(ProcessLostError, match=r"start the same command again, with fewer --jobs"):
        list(run_tasks(TASKS, STUDY, n_jobs=2))


def test_longest_tasks_come_first():
    seconds = [estimate_seconds(task, STUDY) for task, _ in run_tasks(TASKS, STUDY, n_jobs=1)]
    assert seconds == sorted(seconds, reverse=True)


def test_a_task_that_fails_does_not_stop_the_others(monkeypatch):
    def fail(*arguments):
        raise ValueError("it broke")

    monkeypatch.setitem(METHODS, "AdaBoost.MM", replace(METHODS["AdaBoost.MM"], make=fail))
    outcomes = dict(run_tasks(TASKS, STUDY, n_jobs=1))
    assert set(outcomes) == set(TASKS)
    for task, outcome in outcomes.items():
        if task.method == "AdaBoost.MM":
            assert outcome == Failure("ValueError: it broke")
        else:
            assert outcome["fold"] == task.fold


def test_no_tasks_no_results():
    assert list(run_tasks([], STUDY, n_jobs=2)) == []


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_single_task_needs_no_other_process(n_jobs, monkeypatch):
    monkeypatch.setattr(running, "worker_pool", None)
    outcomes = list(run_tasks(TASKS[:1], STUDY, n_jobs=n_jobs))
    assert [task for task, _ in outcomes] == TASKS[:1]


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals cannot be blocked here")
def test_only_the_parent_process_is_interrupted():
    with worker_pool(1) as pool:
        with interrupts_blocked():
            asked = pool.submit(signal.pthread_sigmask, signal.SIG_BLOCK, [])
        assert signal.SIGINT in asked.result()
    with pytest.raises(KeyboardInterrupt), interrupts_blocked():
        signal.raise_signal(signal.SIGINT)  # it comes afterwards
