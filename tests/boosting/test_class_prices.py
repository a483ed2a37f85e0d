"""Class prices: the search finds them by held-out losses, and the fit minimises what they weight."""

import io
import math
import pickle

import numpy as np
import pytest
from boosters import StopAfter, all_bits, learned_bits
from models import model_bytes
from norm_kinds import KINDS, LOSSES, NORMS, OWN, for_kinds, make_mixed_rows, parameters_of
from reference import norm_reference as reference
from scipy.sparse import csr_array
from sklearn.base import clone

from comboost import ConfusionBoostingClassifier, load_model
from comboost._boosting import search

PRICED = [(loss, norm) for loss in LOSSES for norm in ("worst-class", "l2-class", "own of classes")]
for_priced = pytest.mark.parametrize("priced", PRICED, ids="-".join)


def make_priced(priced, **parameters):
    """A model that selects its settings, and so its class prices."""
    loss, norm = priced
    return ConfusionBoostingClassifier(**({"loss": loss, "norm": OWN.get(norm, norm), "n_estimators": 6} | parameters))


def searched_bits(model):
    return *model_bytes(model), model.class_prices_.tobytes(), model.best_params_


@pytest.fixture
def parts(monkeypatch):
    """Indices of the samples that searches train on and hold out."""
    found, run = [], search.search

    def recording(given, *args, **options):
        found[:] = [(part.train.rows, part.held.rows) for part in given]
        return run(given, *args, **options)

    monkeypatch.setattr(search, "search", recording)
    return found


def make_grid_rows(n_samples, seed=0):
    """Samples of few distinct values, so that all parts of them have the same bins; the last class is the hardest."""
    random = np.random.default_rng(seed)
    y = random.permutation(np.arange(n_samples) % 5 % 3)
    X = np.column_stack([np.where(y == 2, random.integers(0, 3, n_samples), y), random.integers(0, 4, (n_samples, 2))])
    return X.astype(float), y


def held_losses_of(parts, X, y, loss, settings, n_rounds, **parameters):
    """The losses of the held-out samples of all parts, by models of the parts."""
    held_y = np.concatenate([y[held] for _, held in parts])
    losses = 0.0
    for train, held in parts:
        model = ConfusionBoostingClassifier(
            loss=loss, **settings | parameters, n_estimators=n_rounds, learning_rate=1.0
        )
        scores = list(model.fit(X[train], y[train]).staged_decision_function(X[held]))[-1]
        weight = 1.0 / np.bincount(held_y)[y[held]]
        losses = losses + reference.losses_of(scores, y[held], weight, 1.0 - np.eye(3), loss)
    return losses


def selected_of(model):
    """The record of the selected candidate, and its settings."""
    record = next(record for record in model.search_results_ if record["outcome"] == "selected")
    return record, {name: record[name] for name in ("smoothing", "max_depth")}


@pytest.mark.parametrize(
    ("loss", "norm"), [("logistic", "spectral"), ("exponential", "frobenius"), ("logistic", "entrywise")]
)
def test_searches_compare_the_norm_of_held_out_losses(parts, loss, norm):
    X, y = make_grid_rows(150)
    model = ConfusionBoostingClassifier(loss=loss, norm=norm, n_estimators=20).fit(X, y)
    record, given_settings = selected_of(model)
    unit = (1.0 if loss == "exponential" else math.log(2.0)) / 3
    for t in (1, record["n_rounds"]):
        losses = held_losses_of(parts, X, y, loss, given_settings, t, norm=norm)
        assert record["losses"][t - 1] == pytest.approx(unit * reference.value(NORMS[norm], losses), rel=1e-5)


@for_priced
def test_class_prices_follow_the_losses_of_held_out_samples(parts, priced):
    X, y = make_grid_rows(150)
    (loss, norm), model = priced, make_priced(priced).fit(X, y)
    record, given_settings = selected_of(model)
    n_held = np.bincount(np.concatenate([y[held] for _, held in parts]))

    def follow(losses):
        return losses ** min(NORMS[norm].p - 1, 1.5)

    prices = np.ones(3)
    for _ in range(2):
        costs = dict(enumerate(prices.tolist()))  # constant prices are costs
        losses = held_losses_of(parts, X, y, loss, given_settings, record["best_round"], cost_matrix=costs)
        prices = reference.next_prices(prices, losses if losses.ndim == 1 else losses.sum(axis=1), n_held, follow)
    np.testing.assert_allclose(model.class_prices_, prices, rtol=1e-4)
    assert prices.argmax() == 2


@for_priced
def test_priced_fit_is_the_fit_with_its_prices_as_costs(priced):
    X, y = make_mixed_rows(150, 3)
    model = make_priced(priced).fit(X, y)
    costs = dict(enumerate(model.class_prices_.tolist()))
    plain = ConfusionBoostingClassifier(loss=priced[0], cost_matrix=costs, **model.best_params_).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X), rtol=1e-4, atol=1e-6)


@for_priced
def test_threads_order_and_copies_keep_class_prices(priced):
    X, y = make_mixed_rows(120, 3)
    model = make_priced(priced).fit(X, y)
    order = np.random.default_rng(0).permutation(len(y))
    same = [clone(model).set_params(n_jobs=2).fit(X, y), clone(model).fit(X[order], y[order])]
    same += [clone(model).fit(csr_array(X), y), pickle.loads(pickle.dumps(model))]
    assert {searched_bits(each)[:-1] for each in same} == {searched_bits(model)[:-1]}
    assert all(each.best_params_ == model.best_params_ for each in same)


@for_priced
def test_warm_start_and_refit_keep_class_prices(priced):
    X, y = make_mixed_rows(120, 3)
    model = make_priced(priced, n_estimators=30).fit(X, y)
    stream = io.BytesIO()
    if priced[1] not in OWN:
        model.save_model(stream)
        assert load_model(io.BytesIO(stream.getvalue())).class_prices_.tobytes() == model.class_prices_.tobytes()
    stopped = clone(model).set_params(warm_start=True).set_callbacks(StopAfter(2)).fit(X, y)
    assert stopped.class_prices_.tobytes() == model.class_prices_.tobytes()
    assert all_bits(stopped.set_callbacks().set_params(n_estimators=model.n_iter_).fit(X, y)) == all_bits(model)
    early = make_priced(priced, n_estimators=8, early_stopping=True, n_iter_no_change=3).fit(X, y)
    refitted = clone(early).set_params(refit=True).fit(X, y)
    assert refitted.class_prices_.tobytes() == early.class_prices_.tobytes()
    assert refitted.n_iter_ == early.n_iter_


@for_priced
@pytest.mark.parametrize("balance", [1.0, 0.5])
def test_curves_of_a_priced_fit_are_those_of_the_norm(priced, balance):
    loss, norm = priced
    X, y = make_mixed_rows(150, 3)
    costs = np.array([[0, 1, 2], [0.5, 0, 1], [1, 3, 0.0]])
    model = make_priced(priced, cost_matrix=costs, balance=balance).fit(X, y)
    weight = reference.base_weights(y, np.ones(len(y)), 3, balance)
    for t, scores in enumerate(model.staged_decision_function(X)):
        losses = reference.losses_of(scores, y, weight, costs, loss)
        assert model.loss_curve_[t] == pytest.approx(reference.value(NORMS[norm], losses), rel=1e-9)
        assert model.loss_curve_[t] <= model.bound_curve_[t] * (1.0 + 1e-6)


def test_only_searches_with_a_norm_of_classes_find_class_prices():
    X, y = make_mixed_rows(120, 3)
    given_all = {"norm": "worst-class", "smoothing": 1.0, "max_depth": 3}
    for parameters in ({}, {"norm": "spectral", "loss": "logistic"}, {"loss": "logistic"}, given_all):
        assert not hasattr(ConfusionBoostingClassifier(n_estimators=3, **parameters).fit(X, y), "class_prices_")
    assert not hasattr(
        ConfusionBoostingClassifier(n_estimators=3, norm="worst-class").fit(X[:20], y[:20]), "class_prices_"
    )
    model = ConfusionBoostingClassifier(n_estimators=3, norm="worst-class", smoothing=1.0).fit(X, y)
    assert hasattr(model, "class_prices_")
    assert not hasattr(model.set_params(**given_all).fit(X, y), "class_prices_")


def test_classes_without_weight_have_no_price():
    X, y = make_mixed_rows(120, 4)
    model = ConfusionBoostingClassifier(n_estimators=3, norm="worst-class").fit(X, y, np.where(y == 1, 0.0, 1.0))
    assert model.class_prices_.shape == (3,)
    assert len(model.classes_) == 4
    assert pickle.loads(pickle.dumps(model)).class_prices_.tobytes() == model.class_prices_.tobytes()


@for_kinds([kind for kind in KINDS if kind[0] == "confusion" and NORMS[kind[2]].of != "classes"])
def test_fit_with_other_norms_is_that_of_its_selected_settings(kind):
    X, y = make_mixed_rows(120, 3)
    model = ConfusionBoostingClassifier(n_estimators=5, **parameters_of(kind)).fit(X, y)
    assert len(model.search_results_) > 1
    assert learned_bits(clone(model).set_params(**model.best_params_).fit(X, y)) == learned_bits(model)
