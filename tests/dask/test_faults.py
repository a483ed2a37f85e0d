"""Workers die or are stopped, fits are cancelled: the same model or a clear error, and nothing stays behind."""

import multiprocessing
import os
import signal
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress

import dask.array as da
import numpy as np
import pytest
from clusters import cut, fit_at, on_dask, same_bytes
from distributed import Client, LocalCluster
from hypothesis import given
from hypothesis import strategies as st
from models import everything
from sklearn.base import clone

from comboost import CoMBoClassifier, ConfusionBoostingClassifier
from comboost._distributed.preparation import PreparedTable
from comboost._distributed.steps import DivideStep, pack
from comboost.dask import DaskCoMBoClassifier, _cluster, _shard, _shard_group
from comboost.dask._cluster import Cluster, ClusterError
from comboost.dask._shard import Shard, ShardFacts, call, wait_for_result
from comboost.dask._shard_group import CONNECTION_ERRORS, FAN_OUT, ShardGroup, ShardHandle, children_of
from comboost.datasets import load_yeast

N_ROUNDS = 4
COMBO = CoMBoClassifier(random_state=0, n_estimators=N_ROUNDS)
BY_LEVEL = ConfusionBoostingClassifier(random_state=0, n_estimators=N_ROUNDS, max_depth=4, smoothing=10)
BEST_FIRST = ConfusionBoostingClassifier(random_state=0, n_estimators=N_ROUNDS, max_leaf_nodes=6, smoothing=10)
OF_A_NORM = CoMBoClassifier(random_state=0, n_estimators=N_ROUNDS, norm="spectral")
OF_CLASSES = clone(BY_LEVEL).set_params(norm="worst-class")
MAKING_SHARDS, MIDST_OF_A_TREE = 3, 14  # results of shards
TIMEOUT = 2  # seconds: a few heartbeats, even if the machine is busy
DEADLINE = 60  # seconds, far more than needed
ROOT, CHILD, ALL = slice(1), slice(1, None), slice(None)  # of two workers, by address


@pytest.fixture
def breakable(monkeypatch):
    """A cluster of two workers of its own, since its workers will be killed; all look for lost shards all the time."""

    def look_often():
        _shard.POLL_INTERVAL = 0.05

    monkeypatch.setattr(_shard, "POLL_INTERVAL", 0.05)
    monkeypatch.setattr(_cluster, "POLL_INTERVAL", 0.05)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=0) as cluster,
        Client(cluster) as client,
    ):
        client.run(look_often)
        yield client


@pytest.fixture(scope="module")
def rows():
    return load_yeast(return_X_y=True)


@pytest.fixture(scope="module")
def local(rows):
    """The bytes of the local model."""
    return everything(clone(COMBO).fit(*rows))


def kill(client, addresses):
    """Kill the processes of some workers, as the system does when memory runs out; nannies start them again."""
    for pid in client.run(os.getpid, workers=addresses).values():
        os.kill(pid, signal.SIGKILL)


@pytest.fixture
def stop(breakable):
    """Stops the processes of some workers; at the end all go on, so that they can be ended."""
    stopped = []

    def stop_workers(addresses):
        pids = breakable.run(os.getpid, workers=addresses).values()
        stopped.extend(pids)
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)

    yield stop_workers
    for pid in stopped:
        go_on(pid)


def go_on(pid):
    """Let a stopped process go on, unless Dask has ended it."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


class Striking:
    """Strikes while waiting for the n-th result of shards: in the midst of a step."""

    def __init__(self, monkeypatch, client, n_results, strike):
        self.left = n_results

        def wait(future, check):
            self.left -= 1
            if self.left == 0:
                strike(sorted(client.nthreads()))  # the worker with the smallest address has the root
            return wait_for_result(future, check)

        monkeypatch.setattr(_shard_group, "wait_for_result", wait)

    @property
    def has_struck(self):
        return self.left <= 0


@pytest.mark.parametrize(
    ("local", "n_results", "lost"),
    [(COMBO, n_results, lost) for n_results in (MAKING_SHARDS, MIDST_OF_A_TREE) for lost in (ROOT, CHILD, ALL)]
    + [(BY_LEVEL, MIDST_OF_A_TREE, ROOT), (BEST_FIRST, MIDST_OF_A_TREE, ALL)]
    + [(OF_A_NORM, MIDST_OF_A_TREE + 3, ROOT), (OF_A_NORM, MIDST_OF_A_TREE, ALL), (OF_CLASSES, MIDST_OF_A_TREE, CHILD)],
)
def test_fit_with_killed_workers_gives_the_same_bits(breakable, rows, monkeypatch, local, n_results, lost):
    strike = Striking(monkeypatch, breakable, n_results, lambda workers: kill(breakable, workers[lost]))
    model = on_dask(local, breakable).fit(*(cut(each, 300) for each in rows))
    assert strike.has_struck
    assert same_bytes(model, clone(local).fit(*rows))


@pytest.mark.parametrize(
    ("local", "n_results", "stopped"),
    [(COMBO, MAKING_SHARDS, CHILD), (COMBO, MIDST_OF_A_TREE, ROOT), (BEST_FIRST, MIDST_OF_A_TREE, CHILD)],
)
def test_fit_with_a_stopped_worker_gives_the_same_bits(breakable, rows, monkeypatch, stop, local, n_results, stopped):
    strike = Striking(monkeypatch, breakable, n_results, lambda workers: stop(workers[stopped]))
    model = on_dask(local, breakable).set_params(timeout=TIMEOUT).fit(*(cut(each, 300) for each in rows))
    assert strike.has_struck
    assert same_bytes(model, clone(local).fit(*rows))


def test_fit_whose_worker_is_stopped_before_the_rounds_gives_the_same_bits(breakable, rows, local, monkeypatch, stop):
    finish = Cluster.finish

    def stopping_finish(cluster, futures, placement):
        monkeypatch.setattr(Cluster, "finish", finish)
        stop(sorted(placement.workers)[:1])
        finish(cluster, futures, placement)

    monkeypatch.setattr(Cluster, "finish", stopping_finish)
    model = DaskCoMBoClassifier(random_state=0, n_estimators=N_ROUNDS, client=breakable, timeout=TIMEOUT)
    model.fit(*(cut(each, 100) for each in rows))
    assert everything(model.to_local()) == local


def test_persisted_rows_of_a_stopped_worker_are_computed_again(breakable, rows, local, monkeypatch, stop):
    X, y = breakable.persist([cut(each, 300) for each in rows])
    strike = Striking(monkeypatch, breakable, 12, lambda workers: stop(workers[:1]))
    model = DaskCoMBoClassifier(random_state=0, n_estimators=N_ROUNDS, client=breakable, timeout=TIMEOUT).fit(X, y)
    assert strike.has_struck
    assert everything(model.to_local()) == local


@pytest.mark.parametrize("loss", ["killed", "stopped"])
def test_search_whose_worker_is_lost_while_it_gathers_rows_gives_the_same_bits(
    breakable, rows, monkeypatch, stop, loss
):
    gather, finish, struck = PreparedTable.gather_for_search, Cluster.finish, []

    def striking_finish(cluster, futures, placement):
        monkeypatch.setattr(Cluster, "finish", finish)
        struck.append(sorted(placement.workers)[0])
        stop(struck) if loss == "stopped" else kill(breakable, struck)
        finish(cluster, futures, placement)

    def striking_gather(*args):
        monkeypatch.setattr(Cluster, "finish", striking_finish)
        return gather(*args)

    monkeypatch.setattr(PreparedTable, "gather_for_search", striking_gather)
    local = ConfusionBoostingClassifier(random_state=0, n_estimators=N_ROUNDS)
    model = on_dask(local, breakable).set_params(timeout=TIMEOUT).fit(*(cut(each, 100) for each in rows))
    assert struck
    assert same_bytes(model, local.fit(*rows))


@pytest.mark.parametrize("stopped", [ROOT, CHILD])
def test_late_results_of_a_resumed_worker_are_ignored(breakable, rows, local, monkeypatch, stop, stopped):
    complete, pids = ShardGroup._replace_lost, breakable.run(os.getpid)

    def complete_then_go_on(shards):
        complete(shards)
        for pid in pids.values():  # during the step that did not finish
            go_on(pid)

    strike = Striking(monkeypatch, breakable, MIDST_OF_A_TREE, lambda workers: stop(workers[stopped]))
    monkeypatch.setattr(ShardGroup, "_replace_lost", complete_then_go_on)
    model = DaskCoMBoClassifier(random_state=0, n_estimators=N_ROUNDS, client=breakable, timeout=TIMEOUT)
    model.fit(*(cut(each, 300) for each in rows))
    assert strike.has_struck
    assert everything(model.to_local()) == local
    assert breakable.run(os.getpid) == pids  # nobody was restarted
    assert will_hold(breakable, 0)


def test_fit_that_is_cancelled_while_a_worker_is_stopped_blocks_nobody(breakable, rows, local, monkeypatch, stop):
    X, y = (cut(each, 300) for each in rows)
    model = DaskCoMBoClassifier(random_state=0, n_estimators=N_ROUNDS, client=breakable, timeout=TIMEOUT)

    def strike(workers):
        stop(workers[CHILD])
        monkeypatch.setattr(_shard, "POLL_INTERVAL", 0.5)  # the steps are on their way by then
        monkeypatch.setattr(Cluster, "check_alive", interrupt)

    def interrupt(*ignored):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        monkeypatch = patched
        Striking(patched, breakable, MIDST_OF_A_TREE, strike)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    assert everything(model.fit(X, y).to_local()) == local  # the worker is stopped still


def test_fit_goes_on_if_the_cluster_becomes_smaller(breakable, rows, local, monkeypatch):
    X, y = rows
    strike = Striking(monkeypatch, breakable, 12, lambda workers: breakable.cluster.scale(1))
    model = DaskCoMBoClassifier(random_state=0, n_estimators=N_ROUNDS, client=breakable)
    model.fit(da.from_array(X, chunks=(300, -1)), da.from_array(y, chunks=300))
    assert strike.has_struck
    assert everything(model.to_local()) == local


def test_fit_goes_on_if_the_cluster_becomes_larger(breakable, rows, local, monkeypatch):
    def strike(workers):
        breakable.cluster.scale(3)
        breakable.wait_for_workers(3)

    strike = Striking(monkeypatch, breakable, 12, strike)
    model = DaskCoMBoClassifier(random_state=0, n_estimators=N_ROUNDS, client=breakable)
    assert everything(model.fit(*(cut(each, 300) for each in rows)).to_local()) == local
    assert strike.has_struck


def test_fit_on_a_cluster_that_adapts_itself_gives_the_same_bits(breakable, rows, local):
    breakable.cluster.adapt(minimum=1, maximum=3, interval="20 ms", wait_count=1)
    model = DaskCoMBoClassifier(random_state=0, n_estimators=N_ROUNDS, client=breakable)
    assert everything(model.fit(*(cut(each, 100) for each in rows)).to_local()) == local


def test_fit_that_loses_all_workers_for_good_ends_with_a_clear_error(breakable, rows, monkeypatch):
    X, y = rows

    def strike(workers):
        breakable.cluster.scale(0)
        assert comes_true(lambda: not breakable.nthreads())  # they leave one after the other

    monkeypatch.setattr("comboost.dask._cluster.PATIENCE", 0.1)
    Striking(monkeypatch, breakable, 12, strike)
    with pytest.raises(ClusterError, match="has had no worker for"):
        DaskCoMBoClassifier(n_estimators=N_ROUNDS, client=breakable).fit(
            da.from_array(X, chunks=(300, -1)), da.from_array(y, chunks=300)
        )


def test_persisted_rows_of_a_killed_worker_are_computed_again(breakable, rows, local, monkeypatch):
    X, y = breakable.persist([da.from_array(rows[0], chunks=(300, -1)), da.from_array(rows[1], chunks=300)])
    Striking(monkeypatch, breakable, 12, lambda workers: kill(breakable, workers[:1]))
    model = DaskCoMBoClassifier(random_state=0, n_estimators=N_ROUNDS, client=breakable).fit(X, y)
    assert everything(model.to_local()) == local


def test_rows_that_cannot_be_computed_again_are_named_in_a_clear_error(breakable, rows, monkeypatch):
    X, y = rows
    halves = breakable.scatter([X[:700], X[700:]], broadcast=False)
    pieces = [da.from_delayed(half, (n, X.shape[1]), X.dtype) for half, n in zip(halves, [700, 784], strict=True)]
    Striking(monkeypatch, breakable, 12, lambda workers: kill(breakable, workers))
    model = DaskCoMBoClassifier(random_state=0, n_estimators=N_ROUNDS, client=breakable)
    with pytest.raises(ClusterError, match="cannot recompute"):
        model.fit(da.concatenate(pieces), da.from_array(y, chunks=((700, 784),)))
    assert not hasattr(model, "classes_")


def test_rows_bound_to_a_worker_that_is_gone_are_named_in_a_clear_error(client, rows, monkeypatch):
    monkeypatch.setattr(_cluster, "POLL_INTERVAL", 0.05)
    monkeypatch.setattr(_cluster, "PATIENCE", 0.1)
    gone = "tcp://127.0.0.1:9"
    # Under a name of its own: the scheduler would bind the rows of other tests, too.
    X = client.persist(da.from_array(rows[0], chunks=(300, -1), name=False), workers=[gone])
    with pytest.raises(ClusterError, match=f"missing for 0 s: {gone}"):
        DaskCoMBoClassifier(n_estimators=N_ROUNDS, client=client).fit(X, cut(rows[1], 300))


def count_held(client):
    """What the workers keep: shards and results of tasks."""
    # Not a function of this file, which workers cannot import.
    return sum(client.run(lambda dask_worker: len(dask_worker.state.actors) + len(dask_worker.data)).values())


def will_hold(client, n_held):
    """Ask the workers again and again what they keep: they let go of things a moment after they are told."""
    return comes_true(lambda: count_held(client) == n_held)


def comes_true(condition):
    """Whether something holds sooner or later; how soon depends on what else the machine does."""
    end = time.monotonic() + DEADLINE
    while not (holds := condition()) and time.monotonic() < end:
        pass
    return holds


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_fit_keeps_only_its_shards_on_the_workers_and_nothing_once_it_is_cancelled(client, rows, monkeypatch, error):
    X, y = rows
    steps = ShardGroup.run

    def cancelled(shards, step):
        if shards._step_number == 5:
            assert will_hold(client, 2)  # the shards, and no other copy of the rows
            raise error
        return steps(shards, step)

    monkeypatch.setattr(ShardGroup, "run", cancelled)
    model = DaskCoMBoClassifier(random_state=0, n_estimators=N_ROUNDS, client=client)
    with pytest.raises(error):
        model.fit(da.from_array(X, chunks=(300, -1)), da.from_array(y, chunks=300))
    assert will_hold(client, 0)
    assert not hasattr(model, "classes_")


def test_finished_fit_leaves_nothing_on_the_workers(client, rows):
    X, y = rows
    DaskCoMBoClassifier(random_state=0, n_estimators=2, client=client).fit(
        da.from_array(X, chunks=(300, -1)), da.from_array(y, chunks=300)
    )
    assert will_hold(client, 0)


def test_two_fits_at_once_do_not_wait_for_each_other(client, rows, local):
    X, y = da.from_array(rows[0], chunks=(300, -1)), da.from_array(rows[1], chunks=300)

    def fit(order):
        return DaskCoMBoClassifier(random_state=0, n_estimators=N_ROUNDS, client=client).fit(X[order], y[order])

    with ThreadPoolExecutor(2) as threads:
        models = list(threads.map(fit, [slice(None), slice(None, None, -1)]))
    assert [everything(model.to_local()) for model in models] == [local, local]


@pytest.mark.parametrize("strike", ["kill", "stop"])
def test_fits_of_two_processes_at_once_survive_the_same_lost_worker(breakable, rows, local, monkeypatch, stop, strike):
    losing = {"kill": lambda workers: kill(breakable, workers[:1]), "stop": lambda workers: stop(workers[:1])}[strike]
    Striking(monkeypatch, breakable, MIDST_OF_A_TREE, losing)
    settings = {"random_state": 0, "n_estimators": N_ROUNDS, "timeout": TIMEOUT}
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("forkserver")) as other_process:
        other = other_process.submit(fit_at, breakable.scheduler.address, rows, settings)
        model = DaskCoMBoClassifier(client=breakable, **settings).fit(*(cut(each, 300) for each in rows))
        models = [model.to_local(), other.result()]
    assert [everything(each) for each in models] == [local, local]


@given(st.lists(st.sampled_from("abcdefghijklmnopqrst"), min_size=1, max_size=40))
def test_shards_form_a_tree_in_which_they_wait_only_for_larger_addresses_or_run_on_their_own_worker(workers):
    handles = [ShardHandle([], None, None, ShardFacts(worker, None, None, None)) for worker in workers]
    children = children_of(handles)
    root = next(iter(children))
    assert set(children) == set(handles)
    assert Counter(child for below in children.values() for child in below) == Counter(set(handles) - {root})
    for handle, below in children.items():
        elsewhere = [child.worker for child in below if child.worker != handle.worker]
        assert len(elsewhere) <= FAN_OUT
        assert all(worker > handle.worker for worker in elsewhere)
        assert all(not children[child] for child in below if child.worker == handle.worker)


def test_rows_that_change_when_a_lost_worker_reads_them_again_are_refused(breakable, rows, monkeypatch, tmp_path):
    X, y = rows
    tampered = tmp_path / "tampered"

    def tamper(values):
        return values + 1 if tampered.exists() else values

    def strike(workers):
        tampered.touch()
        kill(breakable, workers[:1])

    Striking(monkeypatch, breakable, 14, strike)
    lazy = da.from_array(X, chunks=(300, -1)).map_blocks(tamper, dtype=X.dtype)
    with pytest.raises(ClusterError, match="other rows each time"):
        DaskCoMBoClassifier(n_estimators=N_ROUNDS, client=breakable).fit(lazy, da.from_array(y, chunks=300))


@pytest.mark.parametrize("error", [ValueError, RuntimeError])
def test_shard_that_dask_has_lost_is_told_from_a_step_that_failed(error):
    class Lost:
        def __getattr__(self, name):
            raise error("Worker holding Actor was lost")

    with pytest.raises(CONNECTION_ERRORS, match="was lost"):
        call(Lost(), "facts")


def test_step_that_comes_late_is_not_run():
    shard = object.__new__(Shard)
    shard._children, shard._tree_number, shard._abandoned, shard._last_number = [], 2, 1, 5
    step = pack(DivideStep(np.zeros((0, 3), dtype=np.int32)))
    with pytest.raises(RuntimeError, match="Step 4 came after step 5"):
        shard.run(2, 4, step)
    with pytest.raises(RuntimeError, match="tree 1 of the shards"):
        shard.run(1, 6, step)


def test_rows_that_change_when_they_are_read_again_are_refused(client, rows, tmp_path):
    X, y = rows

    def changing(labels):
        """Every reading finds more rows of class 1 than all before."""
        tempfile.mkstemp(dir=tmp_path)
        return np.where(np.arange(len(labels)) < 300 + len(list(tmp_path.iterdir())), 1, 0)

    lazy = da.from_array(y, chunks=742).map_blocks(changing, dtype=int, meta=np.empty(0, dtype=int))
    with pytest.raises(ClusterError, match="other rows each time"):
        DaskCoMBoClassifier(random_state=0, n_estimators=2, client=client).fit(da.from_array(X, chunks=(742, -1)), lazy)


def test_workers_are_found_although_the_client_has_just_asked_for_none(client, monkeypatch):
    full = client.scheduler_info(n_workers=-1)
    answers = iter([{"workers": {}}, full, {"workers": {}}, full])
    monkeypatch.setattr(client, "scheduler_info", lambda n_workers: next(answers))
    assert Cluster(client).workers() == client.nthreads()
