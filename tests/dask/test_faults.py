"""Workers die, clients leave, fits are cancelled: the same model or a clear error, and nothing stays behind."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster
from models import everything

from comboost import CoMBoClassifier
from comboost.dask import DaskCoMBoClassifier
from comboost.dask._cluster import ClusterError
from comboost.dask._crew import Crew
from comboost.dask._shard import Divide, Shard
from comboost.datasets import load_yeast

N_ROUNDS = 6


@pytest.fixture
def breakable():
    """A cluster of two workers of its own, since its workers will be killed."""
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=0) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def rows():
    return load_yeast(return_X_y=True)


@pytest.fixture(scope="module")
def local(rows):
    """The bytes of the local model."""
    return everything(CoMBoClassifier(random_state=0, n_estimators=N_ROUNDS).fit(*rows))


def kill(client, addresses):
    """Kill the processes of some workers, as the system does when memory runs out; nannies start them again."""
    for pid in client.run(os.getpid, workers=addresses).values():
        os.kill(pid, signal.SIGKILL)


class Striking:
    """Strikes while the n-th answer of shards is awaited: in the midst of a step."""

    def __init__(self, monkeypatch, n_answers, strike):
        self.left = n_answers
        awaited = Crew._finish

        def finish(crew, future, needed):
            self.left -= 1
            if self.left == 0:
                strike([hand.worker for hand in crew._hands] or sorted(crew._cluster.workers()))
            return awaited(crew, future, needed)

        monkeypatch.setattr(Crew, "_finish", finish)

    @property
    def has_struck(self):
        return self.left <= 0


@pytest.mark.parametrize("choose", [lambda w: w[:1], lambda w: w[1:], lambda w: w], ids=["root", "child", "all"])
@pytest.mark.parametrize("n_answers", [3, 14], ids=["while shards are made", "in a round"])
def test_fit_with_killed_workers_gives_the_same_bits(breakable, rows, local, monkeypatch, n_answers, choose):
    X, y = rows
    strike = Striking(monkeypatch, n_answers, lambda workers: kill(breakable, choose(workers)))
    model = DaskCoMBoClassifier(random_state=0, n_estimators=N_ROUNDS, client=breakable)
    model.fit(da.from_array(X, chunks=(300, -1)), da.from_array(y, chunks=300))
    assert strike.has_struck
    assert everything(model.to_local()) == local


def test_fit_goes_on_where_the_cluster_becomes_smaller(breakable, rows, local, monkeypatch):
    X, y = rows
    strike = Striking(monkeypatch, 12, lambda workers: breakable.cluster.scale(1))
    model = DaskCoMBoClassifier(random_state=0, n_estimators=N_ROUNDS, client=breakable)
    model.fit(da.from_array(X, chunks=(300, -1)), da.from_array(y, chunks=300))
    assert strike.has_struck
    assert everything(model.to_local()) == local


def test_fit_that_loses_all_workers_for_good_ends_with_a_clear_error(breakable, rows, monkeypatch):
    X, y = rows
    monkeypatch.setattr("comboost.dask._cluster.PATIENCE", 1.0)
    Striking(monkeypatch, 12, lambda workers: breakable.cluster.scale(0))
    with pytest.raises(ClusterError, match="has had no worker for"):
        DaskCoMBoClassifier(n_estimators=N_ROUNDS, client=breakable).fit(
            da.from_array(X, chunks=(300, -1)), da.from_array(y, chunks=300)
        )


def test_persisted_rows_of_a_killed_worker_are_computed_again(breakable, rows, local, monkeypatch):
    X, y = breakable.persist([da.from_array(rows[0], chunks=(300, -1)), da.from_array(rows[1], chunks=300)])
    Striking(monkeypatch, 12, lambda workers: kill(breakable, workers[:1]))
    model = DaskCoMBoClassifier(random_state=0, n_estimators=N_ROUNDS, client=breakable).fit(X, y)
    assert everything(model.to_local()) == local


def test_rows_that_cannot_be_computed_again_are_named_in_a_clear_error(breakable, rows, monkeypatch):
    X, y = rows
    halves = breakable.scatter([X[:700], X[700:]], broadcast=False)
    pieces = [da.from_delayed(half, (n, X.shape[1]), X.dtype) for half, n in zip(halves, [700, 784], strict=True)]
    Striking(monkeypatch, 12, lambda workers: kill(breakable, workers))
    model = DaskCoMBoClassifier(random_state=0, n_estimators=N_ROUNDS, client=breakable)
    with pytest.raises(ClusterError, match="cannot compute again"):
        model.fit(da.concatenate(pieces), da.from_array(y, chunks=((700, 784),)))
    assert not hasattr(model, "classes_")


def count_held(client):
    """What the workers keep: shards and results of tasks."""
    # Not a function of this file, which workers cannot import.
    return sum(client.run(lambda dask_worker: len(dask_worker.state.actors) + len(dask_worker.data)).values())


def wait_until_free(client):
    """Ask the workers again and again what they keep: they let go of it a moment after they are told."""
    return any(count_held(client) == 0 for _ in range(500))


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_cancelled_fit_leaves_nothing_on_the_workers(client, rows, monkeypatch, error):
    X, y = rows
    steps = Crew.ask

    def cancelled(crew, step):
        if crew._number == 5:
            assert count_held(client) >= 2
            raise error
        return steps(crew, step)

    monkeypatch.setattr(Crew, "ask", cancelled)
    model = DaskCoMBoClassifier(random_state=0, n_estimators=N_ROUNDS, client=client)
    with pytest.raises(error):
        model.fit(da.from_array(X, chunks=(300, -1)), da.from_array(y, chunks=300))
    assert wait_until_free(client)
    assert not hasattr(model, "classes_")


def test_finished_fit_leaves_nothing_on_the_workers(client, rows):
    X, y = rows
    DaskCoMBoClassifier(random_state=0, n_estimators=2, client=client).fit(
        da.from_array(X, chunks=(300, -1)), da.from_array(y, chunks=300)
    )
    assert wait_until_free(client)


def test_two_fits_at_once_do_not_wait_for_each_other(client, rows, local):
    X, y = da.from_array(rows[0], chunks=(300, -1)), da.from_array(rows[1], chunks=300)

    def fit(order):
        return DaskCoMBoClassifier(random_state=0, n_estimators=N_ROUNDS, client=client).fit(X[order], y[order])

    with ThreadPoolExecutor(2) as threads:
        models = list(threads.map(fit, [slice(None), slice(None, None, -1)]))
    assert [everything(model.to_local()) for model in models] == [local, local]


def test_shards_wait_only_for_workers_with_larger_addresses(clients, rows, monkeypatch):
    linked = []
    link_all = Crew._link_all

    def linking(crew):
        crew._hands.reverse()
        link_all(crew)
        linked.append([hand.worker for hand in crew._hands])

    monkeypatch.setattr(Crew, "_link_all", linking)
    DaskCoMBoClassifier(n_estimators=1, client=clients(4)).fit(
        da.from_array(rows[0], chunks=(300, -1)), da.from_array(rows[1], chunks=300)
    )
    assert linked == [sorted(clients(4).nthreads())]


def test_rows_that_change_when_a_lost_worker_reads_them_again_are_refused(breakable, rows, monkeypatch, tmp_path):
    X, y = rows
    tampered = tmp_path / "tampered"

    def tamper(values):
        return values + 1 if tampered.exists() else values

    def strike(workers):
        tampered.touch()
        kill(breakable, workers[:1])

    Striking(monkeypatch, 14, strike)
    lazy = da.from_array(X, chunks=(300, -1)).map_blocks(tamper, dtype=X.dtype)
    with pytest.raises(ClusterError, match="other rows each time"):
        DaskCoMBoClassifier(n_estimators=N_ROUNDS, client=breakable).fit(lazy, da.from_array(y, chunks=300))


def test_step_that_comes_late_is_not_taken():
    shard = object.__new__(Shard)
    shard._number = 5
    with pytest.raises(RuntimeError, match="Step 4 came after step 5"):
        shard._answer_to(4, Divide(np.zeros((0, 3), dtype=np.int32)))


def test_rows_that_change_when_they_are_read_again_are_refused(client, rows):
    X, y = rows

    def changing(labels):
        return np.random.default_rng().permutation(np.where(np.random.default_rng().random(len(labels)) < 0.5, 0, 1))

    lazy = da.from_array(y, chunks=742).map_blocks(changing, dtype=int)
    with pytest.raises(ClusterError, match="other rows each time"):
        DaskCoMBoClassifier(random_state=0, n_estimators=2, client=client).fit(da.from_array(X, chunks=(742, -1)), lazy)
