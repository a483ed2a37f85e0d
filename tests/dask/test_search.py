"""Settings that are selected on a cluster are those of the local fit, and so is the model, bit for bit."""

import pickle

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from clusters import cut, on_dask, same_bytes
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from comboost import ConfusionBoostingClassifier
from comboost._boosting import search_samples
from comboost._distributed.coding import code_for_search
from comboost._distributed.preparation import PreparedTable
from comboost.dask import DaskConfusionBoostingClassifier
from comboost.dask._cluster import Cluster, ClusterError
from comboost.datasets import load_car, load_yeast

FEW_ROUNDS = ConfusionBoostingClassifier(random_state=0, n_estimators=8)


@pytest.fixture(scope="module")
def yeast():
    return load_yeast(return_X_y=True)


def noisy_table(n_samples, n_classes, seed):
    """Samples of classes of different sizes; some samples are equal, and some values are missing."""
    random = np.random.default_rng(seed)
    y = np.minimum(random.geometric(0.5, n_samples), n_classes)
    X = np.round(random.normal(size=(n_samples, 3)) + y[:, np.newaxis], 1)
    X[random.random(X.shape) < 0.1] = np.nan
    X[: n_samples // 4], y[: n_samples // 4] = X[0], y[0]
    return X, y


def test_defaults_select_what_a_local_fit_selects(client):
    X, y = noisy_table(150, 3, seed=0)
    local = ConfusionBoostingClassifier(random_state=0).fit(X, y)
    model = DaskConfusionBoostingClassifier(random_state=0, client=client).fit(cut(X, [40, 110]), cut(y, [40, 110]))
    assert len(local.search_results_) > 3
    assert same_bytes(model, local)


@settings(max_examples=12)
@given(
    n_samples=st.integers(50, 150),
    n_classes=st.integers(2, 4),
    weighted=st.booleans(),
    seed=st.integers(0, 100),
    n_workers=st.sampled_from([1, 2, 4]),
    n_parts=st.integers(1, 5),
    max_samples=st.sampled_from([search_samples.MAX_SAMPLES, 45]),
)
def test_selection_is_the_same_for_any_cut_and_order_of_rows(
    clients, n_samples, n_classes, weighted, seed, n_workers, n_parts, max_samples
):
    X, y = noisy_table(n_samples, n_classes, seed)
    random = np.random.default_rng(seed)
    weights = random.choice([0.0, 0.5, 1.0, 3.0], n_samples) if weighted else None
    order, sizes = random.permutation(n_samples), random.multinomial(n_samples, np.ones(n_parts) / n_parts).tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_samples, "MAX_SAMPLES", max_samples)
        patch.setattr(search_samples, "KEPT_OF_CLASS", 6)
        local = clone(FEW_ROUNDS).set_params(n_estimators=3).fit(X, y, weights)
        model = on_dask(local, clients(n_workers)).fit(
            cut(X[order], sizes), cut(y[order], sizes), None if weights is None else cut(weights[order], sizes)
        )
    assert local.search_results_
    assert same_bytes(model, local)


@pytest.mark.parametrize("max_samples", [search_samples.MAX_SAMPLES, 600])
def test_selection_on_categories_is_that_of_the_local_fit(client, monkeypatch, max_samples):
    monkeypatch.setattr(search_samples, "MAX_SAMPLES", max_samples)
    X, y = load_car(return_X_y=True, as_frame=True)
    X.loc[::7, "safety"] = None
    frame = dd.from_pandas(X.assign(label=y), npartitions=5, sort=False)
    here = frame.compute()
    local = clone(FEW_ROUNDS).fit(here.drop(columns="label"), here["label"])
    assert same_bytes(on_dask(local, client).fit(frame.drop(columns="label"), frame["label"]), local)


@pytest.mark.parametrize("max_samples", [search_samples.MAX_SAMPLES, 600])
@pytest.mark.parametrize("weighted", [False, True])
def test_selection_by_validation_rows_is_that_of_the_local_fit(client, yeast, monkeypatch, max_samples, weighted):
    monkeypatch.setattr(search_samples, "MAX_SAMPLES", max_samples)
    X, y = yeast
    weights = np.arange(len(y)) % 3.0 if weighted else None
    held = {"X_val": X[::10], "y_val": y[::10], "sample_weight_val": None if weights is None else weights[::10]}
    local = clone(FEW_ROUNDS).set_params(early_stopping=True).fit(X, y, weights, **held)
    model = on_dask(local, client)
    model.fit(cut(X, 500), cut(y, 500), None if weights is None else cut(weights, 500), **held)
    assert "selected" in [record["outcome"] for record in local.search_results_]
    assert same_bytes(model, local)


@pytest.mark.parametrize("given", [{"smoothing": 2.0}, {"max_depth": 3}, {"max_leaf_nodes": 5}, {"learning_rate": 0.2}])
def test_selection_beside_given_settings_is_that_of_the_local_fit(client, yeast, given):
    X, y = yeast[0][::3], yeast[1][::3]
    local = clone(FEW_ROUNDS).set_params(**given).fit(X, y)
    model = on_dask(local, client).fit(cut(X, 200), cut(y, 200))
    assert given.items() <= {**model.best_params_, "max_leaf_nodes": model.max_leaf_nodes}.items()
    assert same_bytes(model, local)


def test_few_rows_are_not_searched_on_a_cluster_either(client):
    X, y = noisy_table(20, 2, seed=1)
    local = clone(FEW_ROUNDS).fit(X, y)
    model = on_dask(local, client).fit(cut(X, 10), cut(y, 10))
    assert model.search_results_ == [{"outcome": "not searched: 20 samples are fewer than 30"}]
    assert same_bytes(model, local)


def test_samples_without_weight_do_not_count_for_a_search(client):
    X, y = noisy_table(60, 2, seed=1)
    weights = np.where(np.arange(60) < 40, 0.0, 1.0)
    local = clone(FEW_ROUNDS).fit(X, y, weights)
    model = on_dask(local, client).fit(cut(X, 30), cut(y, 30), cut(weights, 30))
    assert model.search_results_ == [{"outcome": "not searched: 20 samples are fewer than 30"}]
    assert same_bytes(model, local)


def test_warm_start_continues_with_the_selected_settings(client, yeast):
    X, y = yeast[0][::3], yeast[1][::3]
    local = ConfusionBoostingClassifier(random_state=0, n_estimators=4, warm_start=True)
    model = on_dask(local, client)
    for n_estimators in (4, 7):
        local.set_params(n_estimators=n_estimators).fit(X, y)
        model.set_params(n_estimators=n_estimators).fit(cut(X, 200), cut(y, 200))
        assert same_bytes(model, local)
    assert model.n_iter_ == 7


def test_selected_settings_survive_pickling(client):
    X, y = noisy_table(60, 2, seed=0)
    model = on_dask(FEW_ROUNDS, client).fit(cut(X, 30), cut(y, 30))
    again = pickle.loads(pickle.dumps(model))
    assert again.best_params_ == model.best_params_
    assert again.search_results_ == model.search_results_


@pytest.fixture
def passes(monkeypatch):
    """The functions that were called for all parts, each with its result."""
    called = []
    merge = Cluster.merge

    def recording(cluster, call, *args):
        result = merge(cluster, call, *args)
        called.append((call, result))
        return result

    monkeypatch.setattr(Cluster, "merge", recording)
    return called


def test_search_takes_one_pass_more(client, yeast, passes):
    X, y = (cut(each, 500) for each in yeast)
    on_dask(FEW_ROUNDS, client).set_params(smoothing=1.0, max_depth=3).fit(X, y)
    given, passes[:] = [call for call, _ in passes], []
    on_dask(FEW_ROUNDS, client).fit(X, y)
    assert [call for call, _ in passes] == [*given, code_for_search]


def test_only_the_samples_of_the_search_are_gathered(client, yeast, passes, monkeypatch):
    monkeypatch.setattr(search_samples, "MAX_SAMPLES", 300)
    monkeypatch.setattr(search_samples, "KEPT_OF_CLASS", 10)
    X, y = yeast
    on_dask(FEW_ROUNDS, client).fit(cut(X, 100), cut(y, 100))
    ((_, gathered),) = [each for each in passes if each[0] is code_for_search]
    sizes = np.unique(y, return_counts=True)[1]
    expected = np.minimum(sizes, np.maximum(np.ceil(sizes * (300 / len(y))), 10))
    assert np.bincount(gathered.labels).tolist() == expected.tolist()
    assert gathered.codes.shape == (X.shape[1], expected.sum())


def test_rows_that_change_before_they_are_gathered_are_refused(client, yeast, monkeypatch, tmp_path):
    X, y = yeast
    tampered, gather = tmp_path / "tampered", PreparedTable.gather_for_search

    def gather_later(*args):
        tampered.touch()
        return gather(*args)

    monkeypatch.setattr(PreparedTable, "gather_for_search", gather_later)
    lazy = da.from_array(y, chunks=len(y)).map_blocks(
        lambda labels: np.where(tampered.exists(), y[0], labels), dtype=y.dtype
    )
    with pytest.raises(ClusterError, match=r"other rows each time .* rows were gathered"):
        on_dask(FEW_ROUNDS, client).fit(cut(X, len(y)), lazy)


def test_search_too_large_for_this_process_is_refused_before_memory_runs_out(client, monkeypatch):
    monkeypatch.setattr("comboost._engine.memory.available_memory", lambda: 2**18)
    X, y = noisy_table(1000, 3, seed=0)
    model = on_dask(FEW_ROUNDS, client)
    with pytest.raises(MemoryError, match=r"the search for settings on 1000 rows .*Give smoothing and max_depth"):
        model.fit(cut(X, 500), cut(y, 500))
    assert not hasattr(model, "classes_")


def test_search_reads_a_series_of_labels(client):
    X, y = noisy_table(80, 3, seed=2)
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abc")).assign(label=y), npartitions=3)
    here = frame.compute()
    local = clone(FEW_ROUNDS).fit(here[list("abc")], here["label"])
    assert same_bytes(on_dask(local, client).fit(frame[list("abc")], frame["label"]), local)
