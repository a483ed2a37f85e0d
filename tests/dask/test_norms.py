"""Norms on a cluster: the local model, bit for bit, and the local refusals, word for word."""

import numpy as np
import pytest
from boosters import as_validation, unchanged
from clusters import cut, on_dask, same_bytes
from hypothesis import given, settings
from hypothesis import strategies as st
from models import booster_for, fit
from norm_kinds import BAD, FEW, NO_NORM, Own, for_kinds, make, make_mixed_rows, norm_problems
from sklearn.base import clone

from comboost import CoMBoClassifier, ConfusionBoostingClassifier
from comboost._types import MAX_PAIRED
from comboost.dask import DaskAdaBoostMMClassifier

SIZES = [40, 0, 50, 30]


def fit_both(local, client, rows, **validation):
    """The models of a cluster and of this process."""
    model = on_dask(local, client).fit(*(cut(each, SIZES) for each in rows), **validation)
    return model, clone(local).fit(*rows, **validation)


@settings(max_examples=6)
@given(
    drawn=norm_problems(max_rounds=3, missing=True, categories=True),
    n_workers=st.sampled_from([1, 2]),
    n_parts=st.sampled_from([1, 2, 5]),
    data=st.data(),
)
def test_model_is_bit_identical_for_any_cut_and_order_of_rows(clients, drawn, n_workers, n_parts, data):
    _, problem = drawn
    n_samples = len(problem.y)
    order = np.array(data.draw(st.permutations(range(n_samples))))
    cuts = sorted(data.draw(st.lists(st.integers(0, n_samples), min_size=n_parts - 1, max_size=n_parts - 1)))
    sizes = np.diff([0, *cuts, n_samples]).tolist()
    weights = problem.sample_weight
    model = on_dask(booster_for(problem), clients(n_workers)).fit(
        cut(problem.X[order], sizes),
        cut(problem.y[order], sizes),
        None if weights is None else cut(weights[order], sizes),
    )
    assert same_bytes(model, fit(problem))


@for_kinds(FEW)
def test_early_stopping_by_the_soft_norm_gives_the_local_model(client, kind):
    early = {"early_stopping": True, "scoring": "neg_soft_confusion_norm", "n_iter_no_change": 1, "learning_rate": 1.0}
    rows, validation = make_mixed_rows(120, 3), as_validation(make_mixed_rows(60, 3, seed=1))
    assert same_bytes(*fit_both(make(kind, **early), client, rows, **validation))


@pytest.mark.parametrize(("norm", "loss"), [("worst-class", "log"), ("frobenius", "logistic")])
def test_search_gives_the_local_settings_and_prices(client, norm, loss):
    local = ConfusionBoostingClassifier(n_estimators=4, norm=norm, loss=loss)
    model, local = fit_both(local, client, make_mixed_rows(120, 3))
    assert same_bytes(model, local)
    assert hasattr(model, "class_prices_") == (norm == "worst-class")


@for_kinds(FEW[::2])
def test_warm_start_on_a_cluster_is_one_fit(client, kind):
    rows = make_mixed_rows(120, 3)
    model = on_dask(make(kind, n_estimators=2), client).fit(*(cut(each, SIZES) for each in rows))
    model.set_params(n_estimators=4, warm_start=True).fit(*(cut(each, [60, 60]) for each in rows))
    assert same_bytes(model, make(kind, n_estimators=4, warm_start=True).fit(*rows))


def refusal_of(model, rows):
    """The error of a fit, which leaves the estimator as it was."""
    with unchanged(model), pytest.raises((ValueError, TypeError)) as raised:
        model.fit(*rows)
    return raised.type, str(raised.value)


@pytest.mark.parametrize(
    "local",
    [
        *(CoMBoClassifier(norm=norm) for norm, _, _ in NO_NORM.values()),
        CoMBoClassifier(norm="frobenius", step="edge"),
        ConfusionBoostingClassifier(norm="nuclear"),
        ConfusionBoostingClassifier(norm="spectral"),
        ConfusionBoostingClassifier(norm=Own()),
    ],
    ids=repr,
)
def test_what_is_refused_here_is_refused_there_in_the_same_words(client, local):
    rows = make_mixed_rows(120, 3)
    assert refusal_of(on_dask(local, client), [cut(each, SIZES) for each in rows]) == refusal_of(local, rows)


@pytest.mark.parametrize("name", ["negative gradient", "NaN value"])
@pytest.mark.parametrize("after", [0, 3])
def test_bad_norm_is_refused_by_name_and_leaves_the_estimator(client, name, after):
    returned, message = BAD[name]
    rows = [cut(each, SIZES) for each in make_mixed_rows(120, 3)]
    model = on_dask(CoMBoClassifier(n_estimators=3, norm=Own(after=after, **returned)), client)
    with unchanged(model), pytest.raises(ValueError, match=f"^norm Own: {message}"):
        model.fit(*rows)
    fitted = model.set_params(norm="frobenius").fit(*rows).set_params(norm=Own(after=after, **returned))
    with unchanged(fitted), pytest.raises(ValueError, match=f"^norm Own: {message}"):
        fitted.fit(*rows)


def test_many_classes_are_refused_in_the_same_words(client):
    y = np.arange(2 * MAX_PAIRED + 2) % (MAX_PAIRED + 1)
    rows, local = (y[:, np.newaxis].astype(float), y), CoMBoClassifier(norm="frobenius")
    assert refusal_of(on_dask(local, client), [cut(each, 100) for each in rows]) == refusal_of(local, rows)


def test_adaboost_mm_has_no_norm():
    with pytest.raises(TypeError, match="unexpected keyword argument 'norm'"):
        DaskAdaBoostMMClassifier(norm="frobenius")
