"""Threads: who may use how many, and that nothing is left behind. The bits of models are in test_exactness."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from comboost import CoMBoClassifier, ConfusionBoostingClassifier, _core
from comboost._estimators import parameters, threads
from comboost._estimators.parameters import n_threads_of
from comboost.dask._shard import threads_of

#: Runs programs, each in a process of its own, which is forked from one that has imported everything and has started
#: none of our threads. After what a program prints stands its exit code.
RUNNER = """
import os, signal, sys, threading
import numpy as np
from comboost import CoMBoClassifier, ConfusionBoostingClassifier, _core

random = np.random.default_rng(0)
X = random.normal(size=(20_000, 8)).astype(np.float32)
y = (X[:, :3] + random.normal(size=(20_000, 3))).argmax(axis=1)

def fit(n_jobs=2, n_estimators=3):
    return CoMBoClassifier(n_estimators=n_estimators, max_depth=4, n_jobs=n_jobs).fit(X, y)

def digest(model):
    return model._forest.nodes.tobytes() + model.loss_curve_.tobytes()

def n_running():
    return len(os.listdir("/proc/self/task"))

for program in sys.argv[1:]:
    child = os.fork()
    if child == 0:
        exec(program)
        sys.exit()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), end=";", flush=True)
"""

PROGRAMS = {
    "forks": """
before = digest(fit())
child = os.fork()
if child == 0:
    alone = n_running()
    same = digest(fit()) == before == digest(fit(n_jobs=1))
    os._exit(0 if same and n_running() == alone + 1 else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), digest(fit()) == before)
""",
    "forks meanwhile": """
is_over = threading.Event()
def go_on():
    while not is_over.is_set():
        fit()
other = threading.Thread(target=go_on)
other.start()
codes = []
for _ in range(5):
    child = os.fork()
    if child == 0:
        os._exit(0 if digest(fit()) == digest(fit(n_jobs=1)) else 1)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
is_over.set()
other.join()
print(*codes)
""",
    "interrupted": """
from comboost._boosting.monitor import RoundCounter

before = digest(fit())
n_before = n_running()
model = CoMBoClassifier(n_estimators=10**6, n_jobs=2)
model.set_callbacks(RoundCounter(lambda n: n == 3 and os.kill(os.getpid(), signal.SIGINT)))
try:
    model.fit(X, y)
except KeyboardInterrupt:
    print(digest(fit()) == before, n_running() == n_before)
""",
    "first loop": "n = n_running(); fit(n_jobs=1); print(n_running() - n); fit(); print(n_running() - n)",
    "small fits": "n = n_running(); X, y = X[:215, :5], y[:215]; fit(); print(n_running() - n)",
}

ENDS_MEANWHILE = """
begun = threading.Event()
def go_on():
    begun.set()
    {}(n_estimators=10**6, n_jobs=2).fit(X, y)
threading.Thread(target=go_on, daemon=True).start()
begun.wait()
fit()
print("the end")
"""
KINDS = ["CoMBoClassifier", "ConfusionBoostingClassifier"]
PROGRAMS |= {kind: ENDS_MEANWHILE.format(kind) for kind in KINDS}


@pytest.fixture(scope="module")
def words():
    """What every program says on two cores, or on what there are: the words that it prints, and its exit code."""
    command = [sys.executable, "-c", RUNNER, *PROGRAMS.values()]
    inherited = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}  # clusters leave it
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=inherited, check=False)
    assert done.returncode == 0, done.stderr
    sys.stderr.write(done.stderr)  # of a program that fails, beside what its test says
    *said, _ = done.stdout.split(";")
    return {name: each.split() for name, each in zip(PROGRAMS, said, strict=True)}


@pytest.fixture
def of_four_processors(monkeypatch):
    """Let joblib find four threads, whatever there are, and no trace of a cluster."""
    monkeypatch.setattr(joblib, "cpu_count", lambda: 4)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    parameters.processors_of.cache_clear()
    yield
    parameters.processors_of.cache_clear()


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(0)
    X = random.normal(size=(20_000, 8)).astype(np.float32)
    return X, (X[:, :3] + random.normal(size=(20_000, 3))).argmax(axis=1)


needs_two_cores = pytest.mark.skipif(joblib.cpu_count() < 2, reason="one processor gets one thread")


@needs_two_cores
def test_forked_child_uses_threads_and_gives_the_same_bytes(words):
    assert words["forks"] == ["0", "True", "0"]


def test_fork_during_a_fit_of_another_thread_leaves_a_child_that_can_fit(words):
    assert words["forks meanwhile"] == ["0", "0", "0", "0", "0", "0"]


@pytest.mark.parametrize("kind", KINDS)
def test_process_ends_while_a_daemon_thread_fits(words, kind):
    assert words[kind] == ["the", "end", "0"]


def test_after_an_interrupt_the_next_fit_gives_the_same_bytes_with_the_same_threads(words):
    assert words["interrupted"] == ["True", "True", "0"]


@needs_two_cores
def test_threads_begin_with_the_first_loop_that_needs_them(words):
    assert words["first loop"] == ["0", "1", "0"]


def test_small_fits_stay_on_one_thread(words):
    assert words["small fits"] == ["0", "0"]


def test_fits_of_several_threads_at_once_give_the_same_bytes(rows):
    def bytes_of(cls):
        model = cls(n_estimators=3, n_jobs=2).fit(*rows)
        return model._forest.nodes.tobytes() + model.loss_curve_.tobytes()

    classes = [CoMBoClassifier, ConfusionBoostingClassifier]
    with ThreadPoolExecutor(6) as pool:
        at_once = list(pool.map(bytes_of, 4 * classes))
    assert at_once == 4 * [bytes_of(cls) for cls in classes]


def test_limits_of_threadpoolctl_hold(of_four_processors):
    with threadpool_limits(limits=1, user_api="openmp"):
        assert (threads.allowed_threads(4), n_threads_of(2)) == (1, 1)
    with threadpool_limits(limits=3, user_api="openmp"):
        assert (n_threads_of(2), n_threads_of(4)) == (2, 3)


def test_limits_of_threadpoolctl_hold_for_a_core_without_openmp(of_four_processors, monkeypatch):
    monkeypatch.setattr(_core, "HAS_OPENMP", False)
    monkeypatch.setattr(_core, "available_threads", lambda _: 1)  # what the environment said at first, say
    with threadpool_limits(limits=1, user_api="openmp"):
        assert n_threads_of(2) == 1
    with threadpool_limits(limits=3, user_api="openmp"):
        assert (n_threads_of(2), n_threads_of(4)) == (2, 3)


def test_limit_of_the_environment_holds():
    program = "from comboost import _core; print(_core.available_threads(8))"
    for n_threads in ("1", "3"):
        command = [sys.executable, "-c", program]
        environment = os.environ | {"OMP_NUM_THREADS": n_threads}
        said = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, check=True).stdout
        assert said.split() == [n_threads]


GROUP_FILES = {
    "service": ("0::/system/job", {"system/cpu.max": "max 100000", "system/job/cpu.max": "150000 100000"}),
    "group above": ("0::/system/job", {"system/cpu.max": "200000 100000", "system/job/cpu.max": "max 100000"}),
    "first version": (
        "3:memory:/a\n2:cpu,cpuacct:/job",
        {"cpu,cpuacct/job/cpu.cfs_quota_us": "110000", "cpu,cpuacct/job/cpu.cfs_period_us": "100000"},
    ),
}


@pytest.mark.parametrize("kind", GROUP_FILES)
def test_quota_of_any_control_group_holds(kind, of_four_processors, monkeypatch, tmp_path):
    of_process, files = GROUP_FILES[kind]
    for name, content in {**files, "own": of_process}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{content}\n")
    monkeypatch.setattr(threads, "GROUPS", tmp_path)
    monkeypatch.setattr(threads, "GROUPS_OF_PROCESS", tmp_path / "own")
    assert (n_threads_of(1), n_threads_of(2), n_threads_of(3)) == (1, 2, 2)


@pytest.mark.parametrize(
    ("time", "expected"), [("-1", 4), ("max", 4), ("5000", 1), ("100000", 1), ("what", 4), ("", 4)]
)
def test_quota_is_rounded_up_and_nonsense_is_none(time, expected, of_four_processors, monkeypatch, tmp_path):
    (tmp_path / "own").write_text("0::/\n")
    (tmp_path / "cpu.max").write_text(f"{time} 100000\n")
    monkeypatch.setattr(threads, "GROUPS", tmp_path)
    monkeypatch.setattr(threads, "GROUPS_OF_PROCESS", tmp_path / "own")
    assert threads.n_processors() == expected


def test_nobody_gets_more_threads_than_processors(of_four_processors):
    with threadpool_limits(limits=100, user_api="openmp"):
        assert (n_threads_of(None), n_threads_of(3), n_threads_of(50)) == (1, 3, 4)


@pytest.mark.parametrize(("n_jobs", "n_threads"), [(None, 4), (2, 2), (7, 4), (-1, 4), (-2, 3), (-9, 1)])
def test_shards_get_no_more_threads_than_processors(of_four_processors, n_jobs, n_threads):
    class Worker:
        class state:  # noqa: N801
            nthreads = 16

    assert threads_of(Worker, n_jobs) == n_threads


def test_cluster_that_limits_the_threads_of_its_own_process_is_named(of_four_processors, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", sys)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    with threadpool_limits(limits=1, user_api="openmp"):
        with pytest.warns(UserWarning, match="OMP_NUM_THREADS is 1"):
            assert n_threads_of(2) == 1
        assert n_threads_of(1) == n_threads_of(None) == 1  # nothing was lost, and nothing is said


def test_after_a_failed_call_the_next_works(rows):
    model = CoMBoClassifier(n_estimators=3, n_jobs=2).fit(*rows)
    votes = model.decision_function(rows[0])
    for _ in range(3):
        with pytest.raises(ValueError, match="infinity"):
            model.decision_function(np.where(rows[0] > 3, np.inf, rows[0]))
        assert model.decision_function(rows[0]).tobytes() == votes.tobytes()
