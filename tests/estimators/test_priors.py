"""Priors: what probabilities take the shares of the classes to be. They move probabilities, and no vote."""

import numpy as np
import pandas as pd
import pytest
from boosters import for_all, make_booster, make_named_rows, make_rows, unchanged
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.special import softmax
from sklearn.base import clone
from strategies import property_test

from comboost import AdaBoostMMClassifier
from comboost._engine.probabilities import ProbabilityMap

X, Y = make_named_rows(200, seed=0)
X_NEW, _ = make_rows(60, seed=1)
SHARES = np.array([0.5, 0.2, 0.3])
UNIFORM = {"combo": None, "mm": "uniform", "confusion": "uniform"}


def make(algorithm, **parameters):
    return make_booster(algorithm, **({"n_estimators": 5} | parameters))


@pytest.fixture(scope="module", params=["combo", "mm", "confusion"])
def model(request):
    return make(request.param).fit(X, Y)


def moved(shares, factors):
    return shares * factors / (shares * factors).sum(axis=1, keepdims=True)


@property_test(
    votes=hnp.arrays(np.float64, (4, 3), elements=st.floats(0.01, 30)),
    learned=hnp.arrays(np.float64, 3, elements=st.floats(-5, 0)),
    wanted=hnp.arrays(np.float64, 3, elements=st.floats(-5, 0)),
    temperature=st.floats(0.1, 10),
    vote_fraction=st.booleans(),
)
def test_map_is_its_formula(votes, learned, wanted, temperature, vote_fraction):
    temperature = 1.0 if vote_fraction else temperature
    meaning = ProbabilityMap(2.0, learned, wanted, temperature, vote_fraction=vote_fraction)
    plain = votes / votes.sum(axis=1, keepdims=True) if vote_fraction else softmax(2.0 * votes / temperature, axis=1)
    expected = moved(plain, np.exp(wanted - learned))
    found = meaning.probabilities(votes, np.empty_like(votes))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(
        meaning.log_probabilities(votes, np.empty_like(votes)), np.log(found), rtol=1e-9, atol=1e-9
    )
    in_place = votes.copy()
    assert meaning.probabilities(in_place, in_place).tobytes() == found.tobytes()


@pytest.mark.parametrize("proba", ["softmax", "vote_fraction"])
def test_probabilities_move_by_the_shares(model, proba):
    if proba == "vote_fraction" and not hasattr(model, "estimator_weights_"):
        pytest.skip("votes for every class have no shares")
    model = clone(model).set_params(**({"proba": proba} if proba == "vote_fraction" else {})).fit(X, Y)
    uniform = model.set_params(priors="uniform").predict_proba(X_NEW)
    training = model.set_params(priors="training").predict_proba(X_NEW)
    given = model.set_params(priors=SHARES).predict_proba(X_NEW)
    np.testing.assert_allclose(model.class_prior_, np.unique(Y, return_counts=True)[1] / len(Y))
    np.testing.assert_allclose(training, moved(uniform, model.class_prior_), rtol=1e-9)
    np.testing.assert_allclose(given, moved(uniform, SHARES), rtol=1e-9)


def test_default_is_what_the_votes_were_learned_for(model):
    default = clone(model).fit(X, Y).predict_proba(X_NEW)
    name = "training" if isinstance(model, AdaBoostMMClassifier) else "uniform"
    np.testing.assert_array_equal(model.set_params(priors=name).predict_proba(X_NEW), default)
    np.testing.assert_array_equal(model.set_params(priors=None).predict_proba(X_NEW), default)


def test_votes_for_rows_are_learned_for_the_training_rows():
    model = make("confusion", balance=0.0).fit(X, Y)
    training = model.set_params(priors="training").predict_proba(X_NEW)
    np.testing.assert_allclose(model.set_params(priors=None).predict_proba(X_NEW), training, rtol=1e-12)


@pytest.mark.parametrize(
    "given",
    [
        [0.5, 0.2, 0.3],
        {"fir": 0.3, "ash": 0.5, "elm": 0.2},
        pd.Series({"elm": 0.2, "fir": 0.3, "ash": 0.5}),
        SHARES.astype(np.float32),
    ],
    ids=["list", "dict", "series", "float32"],
)
def test_shares_are_given_in_any_container(model, given):
    expected = model.set_params(priors=SHARES).predict_proba(X_NEW)
    np.testing.assert_allclose(model.set_params(priors=given).predict_proba(X_NEW), expected, rtol=1e-6)


WRONG = {
    "too few": ([0.5, 0.5], "has the shape .2,., but there are 3 classes"),
    "no shares": ([], "has the shape .0,."),
    "a matrix": (np.full((3, 3), 1 / 3), "has the shape"),
    "zero": ([0.5, 0.5, 0.0], "give every class a positive prior"),
    "negative": ([0.7, 0.7, -0.4], "give every class a positive prior"),
    "NaN": ([0.5, np.nan, 0.5], "give every class a positive prior"),
    "another sum": ([0.5, 0.5, 0.5], "adds up to 1.5"),
    "other names": ({"ash": 0.5, "elm": 0.2, "oak": 0.3}, "priors names the classes"),
    "fewer names": ({"ash": 0.5, "elm": 0.5}, "priors names the classes"),
    "nobody": ({}, "has the shape .0,."),
    "text": (["a", "b", "c"], "priors"),
    "masked": (np.ma.array([0.5, 0.2, 0.3], mask=[0, 1, 0]), "priors"),
    "a word": ("balanced", "got priors='balanced'; give 'uniform' or 'training', or class probabilities"),
    "a number": (3, "got priors=3; give 'uniform' or 'training'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_share_of_every_class_is_refused_in_fit_and_after_it(model, name):
    given, words = WRONG[name]
    with unchanged(fresh := clone(model).set_params(priors=given)), pytest.raises(ValueError, match=words):
        fresh.fit(X, Y)
    with pytest.raises(ValueError, match=words):
        model.set_params(priors=given).predict_proba(X_NEW)
    model.set_params(priors=None)


@for_all
def test_priors_do_not_move_decisions_by_votes(algorithm):
    model = make(algorithm).fit(X, Y)
    before = model.predict(X_NEW)
    for priors in ("uniform", "training", [0.98, 0.01, 0.01]):
        np.testing.assert_array_equal(model.set_params(priors=priors).predict(X_NEW), before)


@for_all
def test_class_without_weight_has_no_share(algorithm):
    model = make(algorithm, priors=SHARES).fit(X, Y, sample_weight=(Y != "elm").astype(float))
    shares = model.predict_proba(X_NEW)
    assert not shares[:, 1].any()
    both = model.set_params(priors="uniform").predict_proba(X_NEW)
    np.testing.assert_allclose(shares, moved(both, [0.625, 0.0, 0.375]), rtol=1e-9)


def test_warm_start_lets_priors_change():
    model = make("combo", n_estimators=2, warm_start=True).fit(X, Y)
    model.set_params(n_estimators=5, priors=SHARES).fit(X, Y)
    expected = make("combo", priors=SHARES).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X_NEW), expected.predict_proba(X_NEW))


def test_model_without_the_shares_of_training_says_so():
    model = make("combo").fit(X, Y)
    del model.class_prior_
    model.predict_proba(X_NEW)
    with pytest.raises(ValueError, match="an earlier version has not stored"):
        model.set_params(priors="training").predict_proba(X_NEW)
