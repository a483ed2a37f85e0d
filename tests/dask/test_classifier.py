"""The estimators on a cluster as a user meets them: parameters, words of errors, predictions."""

import importlib
import io
import pickle
import sys

import dask
import dask.array as da
import dask.dataframe as dd
import joblib
import numpy as np
import pandas as pd
import pytest
from clusters import ON_DASK, cut, same_bytes
from distributed import Client, LocalCluster, Status
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from comboost import CoMBoClassifier
from comboost.dask import DaskCoMBoClassifier, DaskConfusionBoostingClassifier
from comboost.dask._shard import threads_of
from comboost.datasets import load_yeast

ROWS = np.array([[0.0], [1.0], [2.0], [3.0]])


def lazy(rows, chunks=2):
    return da.from_array(np.asarray(rows), chunks=chunks)


@pytest.fixture(scope="module", params=[DaskCoMBoClassifier, DaskConfusionBoostingClassifier])
def fitted(clients, request):
    """A model of the yeast data, and the data as Dask arrays."""
    X, y = load_yeast(return_X_y=True)
    X, y = cut(X, 400), cut(y, 400)
    return request.param(n_estimators=5, client=clients(2)).fit(X, y), X, y


@pytest.mark.parametrize(("local", "on_dask"), ON_DASK.items())
def test_constructor_is_the_local_one_but_for_what_has_no_meaning_a_client_and_a_timeout(local, on_dask):
    expected = local().get_params()
    for meaningless in {"estimator", "validation_fraction", "refit", "calibration_folds"} & expected.keys():
        del expected[meaningless]
    assert on_dask().get_params() == {**expected, "client": None, "timeout": None}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("estimator", "only the built-in trees"),
        ("validation_fraction", "give X_val"),
        ("refit", "no rows are held out"),
        ("calibration_folds", "give X_val"),
        ("n_trees", "'n_trees'"),
    ],
)
@pytest.mark.parametrize("classifier", [DaskCoMBoClassifier, DaskConfusionBoostingClassifier])
def test_constructor_says_what_it_does_not_take(classifier, name, words):
    with pytest.raises(TypeError, match=f"{classifier.__name__} got .*'{name}'.*") as caught:
        classifier(**{name: 3})
    assert words in str(caught.value)


def test_weak_learner_that_is_set_past_the_constructor_is_refused(client):
    model = DaskCoMBoClassifier(client=client)
    model.estimator = LogisticRegression()
    with pytest.raises(ValueError, match=r"estimator=LogisticRegression\(\) cannot be boosted on a cluster"):
        model.fit(lazy(ROWS), lazy([0, 0, 1, 1]))


@pytest.mark.parametrize("classifier", [DaskCoMBoClassifier, DaskConfusionBoostingClassifier])
def test_clone_shares_the_client_and_pickle_drops_it(client, classifier):
    model = classifier(n_estimators=3, client=client)
    assert clone(model).client is client
    assert clone(model).get_params() == model.get_params()
    again = pickle.loads(pickle.dumps(model))
    assert again.client is None
    assert again.n_estimators == 3


def test_current_client_is_used_if_none_is_given(client):
    with client.as_current():
        model = DaskCoMBoClassifier(n_estimators=1).fit(lazy(ROWS), lazy([0, 0, 1, 1]))
    assert model.predict(ROWS).tolist() == [0, 0, 1, 1]


def test_client_that_is_not_the_current_one_is_used_if_it_is_given(client):
    with Client(client.scheduler.address, set_as_default=False) as other:
        model = DaskCoMBoClassifier(n_estimators=1, client=other).fit(lazy(ROWS), lazy([0, 0, 1, 1]))
    assert model.predict(ROWS).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba", "decision_function"])
def test_predictions_are_lazy_on_collections_and_eager_on_local_rows(fitted, method):
    model, X, _ = fitted
    found, here = getattr(model, method)(X), X.compute()
    assert isinstance(found, da.Array)
    expected = getattr(model.to_local(), method)(here)
    assert np.array_equal(found.compute(), expected)
    assert np.array_equal(getattr(model, method)(here), expected)


def test_score_is_that_of_the_local_model(fitted):
    model, X, y = fitted
    assert model.score(X, y) == model.to_local().score(X.compute(), y.compute())
    assert model.score(X.compute(), y.compute()) == model.score(X, y)


@pytest.mark.parametrize(
    ("n_jobs", "expected"), [(None, 1), (1, 1), (2**31, joblib.cpu_count()), (-1, joblib.cpu_count())]
)
def test_n_jobs_are_threads_of_the_worker(client, n_jobs, expected):
    assert set(client.run(lambda dask_worker: threads_of(dask_worker, n_jobs)).values()) == {expected}


def test_staged_votes_on_collections_are_refused(fitted):
    model, X, _ = fitted
    with pytest.raises(TypeError, match="rows in memory only"):
        next(model.staged_predict(X))
    here = X[:5].compute()
    assert len(list(model.staged_predict(here))) == 5
    assert [*model.staged_score(here, model.predict(here))][-1] == 1.0
    assert model.n_classes_ == len(model.classes_)


def test_fitted_model_survives_pickling_without_its_client(fitted):
    model, X, _ = fitted
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict_proba(X[:9].compute()), model.predict_proba(X[:9].compute()))


class ModulesOf(pickle.Unpickler):
    """Unpickles, and notes the modules that are needed for it."""

    def __init__(self, pickled):
        super().__init__(io.BytesIO(pickled))
        self.names = set()
        self.load()

    def find_class(self, module, name):
        self.names.add(module)
        return super().find_class(module, name)


def test_local_model_knows_nothing_of_dask(fitted):
    local, on_dask = (ModulesOf(pickle.dumps(model)).names for model in (fitted[0].to_local(), fitted[0]))
    assert any(name.startswith("comboost.dask") for name in on_dask)
    assert not any("dask" in name or "distributed" in name for name in local)


@pytest.mark.parametrize("calibration", ["temperature", "isotonic"])
@pytest.mark.parametrize(("local", "on_dask"), ON_DASK.items())
def test_calibration_and_decisions_are_those_of_the_local_model(client, local, on_dask, calibration):
    X, y = load_yeast(return_X_y=True)
    validation = {"X_val": X[::4], "y_val": y[::4]}
    shared = {"n_estimators": 4, "early_stopping": True, "calibration": calibration, "priors": "training"}
    shared |= {"decision": "expected_cost", "reject_cost": 0.5, "cost_matrix": None, "random_state": 0}
    expected = local(**shared).fit(X, y, **validation)
    model = on_dask(**shared, client=client).fit(cut(X, 400), cut(y, 400), **validation)
    found = model.predict(cut(X, 400))
    assert found.dtype == expected.predict(X).dtype
    np.testing.assert_array_equal(found.compute(), expected.predict(X))
    np.testing.assert_array_equal(model.predict_proba(cut(X, 400)).compute(), expected.predict_proba(X))
    assert same_bytes(model, expected)
    with pytest.raises(
        ValueError, match=f"calibration='{calibration}' needs out-of-sample scores.* give X_val and y_val"
    ):
        on_dask(calibration=calibration, client=client).fit(cut(X, 400), cut(y, 400))


@pytest.mark.parametrize(("local", "on_dask"), ON_DASK.items())
def test_to_local_before_fit_gives_the_unfitted_twin(local, on_dask):
    twin = on_dask(n_estimators=7, cost_matrix=[1, 2], timeout=5).to_local()
    assert type(twin) is local
    assert twin.get_params() == local(n_estimators=7, cost_matrix=[1, 2]).get_params()
    assert not hasattr(twin, "classes_")


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function"])
def test_prediction_before_fit_says_that_there_is_no_model(method):
    with pytest.raises(NotFittedError):
        getattr(DaskCoMBoClassifier(), method)(lazy(ROWS))


@pytest.mark.parametrize("timeout", [0, 0.5, -1, float("inf"), float("nan"), "10", True])
@pytest.mark.parametrize("classifier", [DaskCoMBoClassifier, DaskConfusionBoostingClassifier])
def test_timeout_that_is_no_number_of_seconds_is_refused(client, classifier, timeout):
    with pytest.raises(ValueError, match=r"timeout=.*; give a number in \[1, inf\), or None"):
        classifier(client=client, timeout=timeout).fit(lazy(ROWS), lazy([0, 0, 1, 1]))


def test_fit_and_score_use_the_given_client_while_another_cluster_is_the_default(client):
    X, y = client.persist([lazy(ROWS), lazy([0, 0, 1, 1])])
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
        Client(cluster) as default,
        dask.config.set(scheduler=None),
    ):
        model = DaskCoMBoClassifier(n_estimators=1, client=client).fit(X, y)
        assert model.score(X, y) == 1
        assert client.compute(model.predict(X)).result().tolist() == [0, 0, 1, 1]
        told = default.run_on_scheduler(lambda dask_scheduler: [each[1:3] for each in dask_scheduler.transition_log])
        assert {tuple(states) for states in told} <= {("released", "forgotten")}  # names of results, in older versions


@pytest.mark.parametrize("missing", ["dask.array", "distributed"])
def test_missing_extra_is_named(monkeypatch, missing):
    monkeypatch.delitem(sys.modules, "comboost.dask")
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError, match=r"pip install 'comboost\[dask\]'"):
        importlib.import_module("comboost.dask")


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"early_stopping": True}, "give X_val and y_val"),
        ({"max_depth": 0}, "max_depth"),
        ({"max_features": 2}, "X has 1 features"),
        ({"cost_matrix": [[0, 1, 1], [1, 0, 1], [1, 1, 0]]}, "cost_matrix"),
        ({"categorical_features": [4]}, "categorical_features"),
    ],
)
def test_parameters_that_are_no_use_are_refused(client, parameters, words):
    with pytest.raises(ValueError, match=words):
        DaskCoMBoClassifier(client=client, **parameters).fit(lazy(ROWS), lazy([0, 0, 1, 1]))


@pytest.mark.parametrize(
    ("X", "y", "weights", "words"),
    [
        (lazy(ROWS), lazy([1, 1, 1, 1]), None, "only one class"),
        (lazy(ROWS), lazy([0.5, 1.5, 2.0, 0.1]), None, "Unknown label type"),
        (lazy(ROWS), lazy([0.0, 1.0, np.nan, 1.0]), None, "In partition 1: Input y contains NaN"),
        (lazy(np.where(ROWS == 2, np.inf, ROWS)), lazy([0, 0, 1, 1]), None, "infinity .* in column 0"),
        (lazy(ROWS), lazy([0, 0, 1, 1]), lazy([1.0, 1, 1, -1]), "In partition 1: .*negative weight -1"),
        (lazy(ROWS), lazy([0, 0, 1, 1]), lazy([0.0, 0, 0, 0]), "every sample weight is zero"),
        (lazy(ROWS), lazy([0, 0, 1, 1]), lazy([1.0, 1, 0, 0]), r"no weight to the class\(es\) \[1\]"),
        (lazy(ROWS), lazy([0, 0, 1, 1]), lazy([1.0, 1, np.nan, 0]), "In partition 1: .*NaN"),
        (lazy(ROWS), lazy([0, 0, 1]), None, "inconsistent numbers of samples"),
        (lazy(ROWS)[:0], lazy([0])[:0], None, "0 sample"),
    ],
)
def test_rows_that_are_no_use_are_refused_as_the_local_estimator_does(client, X, y, weights, words):
    with pytest.raises(ValueError, match=words):
        DaskCoMBoClassifier(client=client).fit(X, y, weights)


@pytest.mark.parametrize(
    "labels",
    [[2**63 + 1, 2**63, -1, 5], ["a", "b", "a\0", "b"], [1, 2.0, True, 3], [2**80, 1, 2**80 + 1, 1]],
    ids=["large integers", "text with zero characters", "numbers of several types", "larger integers"],
)
def test_labels_that_partitions_hold_as_other_dtypes_stay_apart(client, labels):
    y = np.array(labels, dtype=object)
    expected = CoMBoClassifier(n_estimators=2, random_state=0).fit(ROWS, y)
    model = DaskCoMBoClassifier(n_estimators=2, random_state=0, client=client).fit(lazy(ROWS), lazy(y))
    assert expected.classes_.tolist() == sorted(set(labels))
    assert same_bytes(model, expected)


@pytest.mark.parametrize(
    ("masked", "words"),
    [
        ("y", r"In partition 1: .*y holds 1 missing label \(the first in row 0"),
        ("sample_weight", "holds 1 masked value"),
    ],
)
def test_masks_of_labels_and_weights_are_refused(client, masked, words):
    given = {"y": lazy([0, 0, 1, 1]), "sample_weight": lazy([1.0, 1, 1, 1])}
    given[masked] = da.ma.masked_array(given[masked], mask=lazy([False, False, True, False]))
    with pytest.raises(ValueError, match=words):
        DaskCoMBoClassifier(client=client).fit(lazy(ROWS), **given)


def test_masked_values_are_missing_ones(client):
    X = da.ma.masked_array(lazy(ROWS), mask=lazy([[False], [True], [False], [False]]))
    expected = CoMBoClassifier(n_estimators=2, random_state=0).fit(np.where(ROWS == 1, np.nan, ROWS), [0, 1, 1, 0])
    model = DaskCoMBoClassifier(n_estimators=2, random_state=0, client=client).fit(X, lazy([0, 1, 1, 0]))
    assert same_bytes(model, expected)


def test_labels_of_several_kinds_are_refused(client):
    labels = [pd.Series(["a", "b"]), pd.Series([1, 2])]
    y = dd.from_map(lambda piece: piece, labels, meta=("y", object), enforce_metadata=False)
    X = dd.from_map(lambda k: pd.DataFrame({"a": [0.0, 1.0]}), [0, 1])
    with pytest.raises(ValueError, match=r"y holds labels of several kinds .* numbers \(.*1.*\), text \('a'\)"):
        DaskCoMBoClassifier(client=client).fit(X, y)


def test_categories_of_several_kinds_are_refused(client):
    pieces = [pd.DataFrame({"c": pd.Series(values).astype("category")}) for values in (["x", "y"], [1, 2])]
    X = dd.from_map(lambda piece: piece, pieces, meta=pieces[0], enforce_metadata=False)
    y = dd.from_map(lambda k: pd.Series([0, 1]), [0, 1])
    with pytest.raises(ValueError, match="mixes categories of several kinds"):
        DaskCoMBoClassifier(client=client).fit(X, y)


def test_local_tables_are_referred_to_the_local_estimator(client):
    with pytest.raises(TypeError, match="use CoMBoClassifier"):
        DaskCoMBoClassifier(client=client).fit(ROWS, [0, 0, 1, 1])


def test_closed_client_is_refused():
    cluster = LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0")
    client = Client(cluster)
    client.close()
    cluster.close()
    with pytest.raises(RuntimeError, match="The Dask client is closed; give a running one"):
        DaskCoMBoClassifier(client=client).fit(lazy(ROWS), lazy([0, 0, 1, 1]))


def test_cluster_without_workers_is_refused():
    with (
        LocalCluster(n_workers=0, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
        Client(cluster) as client,
        pytest.raises(RuntimeError, match="has no workers; start some"),
    ):
        DaskCoMBoClassifier(client=client).fit(lazy(ROWS), lazy([0, 0, 1, 1]))


def test_no_client_at_all_is_said():
    with pytest.raises(RuntimeError, match="There is no Dask client; create one"):
        DaskCoMBoClassifier().fit(lazy(ROWS), lazy([0, 0, 1, 1]))


def test_what_is_no_client_is_refused():
    with pytest.raises(TypeError, match=r"client is a str; give a distributed\.Client"):
        DaskCoMBoClassifier(client="tcp://127.0.0.1").fit(lazy(ROWS), lazy([0, 0, 1, 1]))


@pytest.fixture
def limited(client):
    """Workers that may take only 20 MiB each."""

    def limit_memory(dask_worker, limit):
        dask_worker.memory_manager.memory_limit = limit

    client.run(limit_memory, limit=20 * 2**20)
    yield client
    client.run(limit_memory, limit=None)


@pytest.mark.parametrize(
    ("model", "n_samples", "n_classes"),
    [(DaskCoMBoClassifier(), 10**6, 2), (DaskConfusionBoostingClassifier(max_depth=None, smoothing=1), 2000, 50)],
    ids=["rows", "leaves"],
)
def test_fit_too_large_for_a_worker_is_refused_before_memory_runs_out(limited, model, n_samples, n_classes):
    X = da.random.random((n_samples, 1), chunks=(n_samples // 2, 1))
    with pytest.raises(MemoryError, match=r"its memory limit is 0\.0; use more workers"):
        model.set_params(client=limited).fit(X, (X[:, 0] * n_classes).astype(int))


def test_trees_too_large_for_this_process_are_refused_before_memory_runs_out(client, monkeypatch):
    monkeypatch.setattr("comboost._engine.memory.available_memory", lambda: 2**20)
    model = DaskConfusionBoostingClassifier(client=client, max_depth=None, smoothing=1)
    y = np.arange(1000) % 3
    with pytest.raises(MemoryError, match=r"In this process, a fit of 1000 rows and 3 classes needs .*smaller trees"):
        model.fit(lazy(y[:, np.newaxis], chunks=(500, 1)), lazy(y, chunks=500))
    assert not hasattr(model, "classes_")


def test_workers_that_are_paused_for_good_end_the_fit(monkeypatch):
    def pause(dask_worker):
        dask_worker.status = Status.paused

    monkeypatch.setattr("comboost.dask._cluster.PATIENCE", 0.1)
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", memory_limit=0
        ) as cluster,
        Client(cluster) as client,
    ):
        client.run(pause)
        with pytest.raises(RuntimeError, match="has had only paused workers"):
            DaskCoMBoClassifier(client=client).fit(lazy(ROWS), lazy([0, 0, 1, 1]))
