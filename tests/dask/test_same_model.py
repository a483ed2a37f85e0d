"""The law: a model fitted on a cluster is the local one, bit for bit, however rows are cut and wherever they are."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from boosters import StopAfter
from clusters import cut, on_dask, same_bytes
from distributed import Client, LocalCluster
from hypothesis import given, settings
from hypothesis import strategies as st
from models import booster_for, fit
from strategies import problems, vote_settings

from comboost import AdaBoostMMClassifier, CoMBoClassifier, ConfusionBoostingClassifier
from comboost._types import MAX_PAIRED
from comboost.dask import DaskCoMBoClassifier
from comboost.datasets import load_car, load_yeast


def draw_sizes(data, n_samples, n_parts):
    """Sizes of that many parts, of which some may be empty."""
    cuts = sorted(data.draw(st.lists(st.integers(0, n_samples), min_size=n_parts - 1, max_size=n_parts - 1)))
    return np.diff([0, *cuts, n_samples]).tolist()


def any_problems(**kinds):
    """Draw problems of all classifiers."""
    return problems(max_rounds=3, **kinds) | problems(draw_settings=vote_settings, max_rounds=3, **kinds)


WEIGHTS = {
    "idle": lambda y: np.where(np.isin(y, ["CYT", "VAC"]), 0.0, 1.0),
    "light": lambda y: np.where(np.isin(y, ["CYT", "VAC"]), 1e-9, 1.0) * np.linspace(1, 2, len(y)),
    "idle and light": lambda y: np.where(y == "CYT", 0.0, np.where(y == "VAC", 1e-20, 1.0)),
    "a number": lambda y: 3.0,
}


@settings(max_examples=30)
@given(
    problem=any_problems() | any_problems(missing=True, categories=True),
    n_workers=st.sampled_from([1, 2, 4]),
    n_parts=st.sampled_from([1, 2, 3, 8]),
    data=st.data(),
)
def test_model_is_bit_identical_for_any_cut_and_order_of_rows(clients, problem, n_workers, n_parts, data):
    order = np.array(data.draw(st.permutations(range(len(problem.y)))))
    sizes = draw_sizes(data, len(problem.y), n_parts)
    weights = problem.sample_weight
    model = on_dask(booster_for(problem), clients(n_workers)).fit(
        cut(problem.X[order], sizes),
        cut(problem.y[order], sizes),
        None if weights is None else cut(weights[order], sizes),
    )
    assert same_bytes(model, fit(problem))


@pytest.mark.parametrize(
    ("local", "n_workers"),
    [
        (CoMBoClassifier(random_state=0, n_estimators=4, max_depth=3), 1),
        (CoMBoClassifier(random_state=0, n_estimators=4, max_depth=3), 2),
        (ConfusionBoostingClassifier(random_state=0, n_estimators=3), 2),
        (ConfusionBoostingClassifier(random_state=0, n_estimators=3, max_leaf_nodes=6, smoothing=10), 2),
    ],
)
def test_workers_inside_this_process_give_the_local_model(local, n_workers):
    X, y = load_yeast(return_X_y=True)
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        model = on_dask(local, client).fit(cut(X, [700, 784]), cut(y, [700, 784]))
    assert same_bytes(model, local.fit(X, y))


@pytest.mark.parametrize("n_workers", [1, 2, 4])
def test_class_that_lives_in_one_partition_only_counts_as_everywhere(clients, n_workers):
    X, y = load_yeast(return_X_y=True)
    by_class = np.argsort(y, kind="stable")
    sizes = np.unique(y, return_counts=True)[1].tolist()
    local = CoMBoClassifier(random_state=0, n_estimators=4)
    model = on_dask(local, clients(n_workers)).fit(cut(X[by_class], sizes), cut(y[by_class], sizes))
    assert same_bytes(model, local.fit(X, y))


@pytest.mark.parametrize(
    ("local", "weigh"),
    [
        (CoMBoClassifier(random_state=0, n_estimators=3), "idle"),
        (CoMBoClassifier(random_state=0, n_estimators=3), "a number"),
        (AdaBoostMMClassifier(random_state=0, n_estimators=3), "idle and light"),
        (ConfusionBoostingClassifier(random_state=0, n_estimators=3, balance=0.5), "light"),
    ],
)
def test_classes_without_weight_or_next_to_none_give_the_local_model(client, local, weigh):
    X, y = load_yeast(return_X_y=True)
    weights = WEIGHTS[weigh](y)
    sizes = [500, 0, 984]
    model = on_dask(local, client).fit(
        cut(X, sizes), cut(y, sizes), cut(weights, sizes) if np.ndim(weights) else weights
    )
    assert same_bytes(model, local.fit(X, y, weights))
    lazily = model.decision_function(cut(X, sizes)).compute()
    np.testing.assert_array_equal(lazily, local.decision_function(X))


@pytest.fixture(scope="module")
def car():
    """Categories with missing values among them."""
    X, y = load_car(return_X_y=True, as_frame=True)
    X.loc[::7, "safety"] = None
    return X, pd.Series(y, index=X.index, name="label")


@pytest.mark.parametrize(
    "local",
    [
        CoMBoClassifier(random_state=0, n_estimators=3),
        CoMBoClassifier(random_state=0, n_estimators=3, max_depth=None),
        CoMBoClassifier(random_state=0, n_estimators=3, step="exact", learning_rate=0.5),
        ConfusionBoostingClassifier(random_state=0, n_estimators=3),
        ConfusionBoostingClassifier(random_state=0, n_estimators=3, loss="exponential", max_leaf_nodes=5),
    ],
)
def test_frame_of_categories_gives_the_local_model(client, car, local):
    X, y = car
    frame = dd.from_pandas(X.assign(label=y), npartitions=5, sort=False)
    model = on_dask(local, client).fit(frame.drop(columns="label"), frame["label"])
    here = frame.compute()
    assert same_bytes(model, local.fit(here.drop(columns="label"), here["label"]))


def test_rows_of_several_dtypes_give_the_model_of_their_common_one(client):
    X, y = load_yeast(return_X_y=True)
    half = len(y) // 2
    single = X.astype(np.float32)
    parts = [da.from_array(single[:half], chunks=200), da.from_array(single[half:].astype(np.float64), chunks=300)]
    local = CoMBoClassifier(random_state=0, n_estimators=5)
    model = on_dask(local, client).fit(da.concatenate(parts).rechunk({1: -1}), da.from_array(y, chunks=400))
    assert same_bytes(model, local.fit(single.astype(np.float64), y))


@pytest.mark.parametrize(
    "local",
    [
        CoMBoClassifier(random_state=0, n_estimators=3, max_depth=None),
        ConfusionBoostingClassifier(random_state=0, n_estimators=2, max_depth=None, max_leaf_nodes=30, smoothing=10),
    ],
)
def test_deep_trees_whose_histograms_are_counted_in_pieces_give_the_local_model(client, monkeypatch, local):
    X, y = load_yeast(return_X_y=True)
    local.fit(X, y)
    monkeypatch.setattr("comboost._distributed.rows.HISTOGRAM_BUDGET", 2**20)
    assert same_bytes(on_dask(local, client).fit(cut(X, [500, 984]), cut(y, [500, 984])), local)


@pytest.mark.parametrize("loss", ["log", "exponential"])
def test_more_classes_than_leaves_sum_up_in_pairs_give_the_local_model(client, loss):
    random = np.random.default_rng(0)
    y = random.permutation(np.arange(600) % (MAX_PAIRED + 12))
    X, weights = random.normal(size=(600, 3)) + y[:, np.newaxis] / 20, random.integers(1, 4, size=600).astype(float)
    limits = {"n_estimators": 3, "max_depth": 4, "smoothing": 10.0}
    local = ConfusionBoostingClassifier(random_state=0, loss=loss, balance=0.5, **limits)
    model = on_dask(local, client).fit(cut(X, [250, 350]), cut(y, [250, 350]), cut(weights, [250, 350]))
    assert same_bytes(model, local.fit(X, y, weights))


@pytest.mark.parametrize(
    ("classifier", "where", "scoring"),
    [
        (CoMBoClassifier, "here", None),
        (CoMBoClassifier, "on the cluster", "neg_soft_confusion_norm"),
        (ConfusionBoostingClassifier, "on the cluster", None),
        (ConfusionBoostingClassifier, "here", "neg_soft_confusion_norm"),
    ],
)
def test_early_stopping_with_validation_rows_gives_the_local_model(client, classifier, where, scoring):
    X, y = load_yeast(return_X_y=True)
    X_val, y_val = X[::10], y[::10]
    X, y = np.delete(X, np.s_[::10], axis=0), np.delete(y, np.s_[::10])
    soon = {"max_depth": 4, "learning_rate": 1.0, "n_iter_no_change": 3, "tol": 0.05}
    local = classifier(random_state=0, n_estimators=200, early_stopping=True, scoring=scoring, **soon)
    model = on_dask(local, client)
    local.fit(X, y, X_val=X_val, y_val=y_val)
    if where == "on the cluster":
        X_val, y_val = da.from_array(X_val, chunks=100), da.from_array(y_val, chunks=100)
    model.fit(cut(X, [700, 635]), cut(y, [700, 635]), X_val=X_val, y_val=y_val)
    assert model.stop_reason_ == "early_stopping"
    assert same_bytes(model, local)


@pytest.mark.parametrize("local", [CoMBoClassifier(), ConfusionBoostingClassifier(smoothing=10.0)])
def test_warm_start_on_a_cluster_is_one_fit(client, local):
    X, y = load_yeast(return_X_y=True)
    local.set_params(random_state=0, n_estimators=7, max_depth=np.uint8(3), n_jobs=2**31, warm_start=True)
    model = on_dask(local, client).set_params(n_estimators=4, warm_start=False)
    model.fit(cut(X, [700, 784]), cut(y, [700, 784]))
    model.set_params(n_estimators=7, warm_start=True).fit(cut(X, [300, 1184]), cut(y, [300, 1184]))
    assert same_bytes(model, local.fit(X, y))


@pytest.mark.parametrize("classifier", [CoMBoClassifier, ConfusionBoostingClassifier])
def test_callback_that_ends_a_fit_ends_it_on_a_cluster(client, classifier):
    X, y = load_yeast(return_X_y=True)
    local = classifier(random_state=0, n_estimators=6, max_depth=3)
    model = on_dask(local, client).set_callbacks(StopAfter(2)).fit(cut(X, [700, 784]), cut(y, [700, 784]))
    assert model.stop_reason_ == "callback"
    assert same_bytes(model.set_callbacks(), local.set_callbacks(StopAfter(2)).fit(X, y).set_callbacks())


def test_warm_start_refuses_other_rows(client):
    X, y = load_yeast(return_X_y=True)
    model = on_dask(CoMBoClassifier(random_state=0, n_estimators=2, warm_start=True), client)
    model.fit(cut(X, [700, 784]), cut(y, [700, 784]))
    with pytest.raises(ValueError, match="rows have other values"):
        model.set_params(n_estimators=3).fit(cut(X * 2, [700, 784]), cut(y, [700, 784]))


@pytest.mark.parametrize("labels", ["text", "integers", "booleans", "floats", "categories", "nullable"])
def test_labels_of_any_type_give_the_classes_of_the_local_model(client, labels):
    random = np.random.default_rng(1)
    frame = pd.DataFrame(random.normal(size=(60, 2)), columns=["a", "b"])
    truth = pd.Series((frame["a"] > 0).to_numpy())
    made = {
        "text": truth.map({True: "yes", False: "no"}),
        "integers": truth * 3 + 1,
        "booleans": truth,
        "floats": truth * 2.0,
        "categories": truth.map({True: "yes", False: "no"}).astype("category"),
        "nullable": truth.astype("Int64"),
    }
    frame["label"] = made[labels]
    lazy = dd.from_pandas(frame, npartitions=3)
    here = lazy.compute()
    model = DaskCoMBoClassifier(random_state=0, n_estimators=2, client=client).fit(lazy[["a", "b"]], lazy["label"])
    local = CoMBoClassifier(random_state=0, n_estimators=2).fit(here[["a", "b"]], here["label"])
    assert model.classes_.dtype == local.classes_.dtype
    assert same_bytes(model, local)
