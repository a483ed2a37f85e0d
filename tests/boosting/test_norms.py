"""Fits that minimise a norm of the losses: certificates, steps, leaf values, the same bits, bad norms, class prices."""

import dataclasses
import io
import math
import pickle
from itertools import pairwise

import numpy as np
import pytest
from boosters import (
    SELF_ENDING,
    StopAfter,
    all_bits,
    as_validation,
    learned_bits,
    make_booster,
    make_rows,
    needs_callbacks,
    unchanged,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from models import booster_for, everything, fit, model_bytes
from norm_kinds import (
    BAD,
    FEW,
    KINDS,
    NO_NORM,
    NORMS,
    OWN,
    SMOOTH,
    Own,
    for_kinds,
    make,
    make_mixed_rows,
    norm_problems,
)
from onnxruntime import InferenceSession
from reference import norm_reference as reference
from scipy.optimize import minimize_scalar
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier
from strategies import problems, property_test

from comboost import AdaBoostMMClassifier, CoMBoClassifier, _core, load_model
from comboost._boosting.monitor import NoCallback
from comboost._types import LEAF, MAX_PAIRED
from comboost.metrics import soft_confusion_matrix

FLOAT_ERROR = 1e-11  # of a few dozen float operations in a row


def full(scores):
    """Scores of all classes; those of two classes are one number per sample."""
    return scores if scores.ndim == 2 else np.column_stack([np.zeros(len(scores)), scores])


def stages_of(model, X):
    """The scores before the first round, and after every round."""
    return [np.zeros((len(X), len(model.classes_))), *map(full, model.staged_decision_function(X))]


# Certificates


def exact_settings(n_features, *, max_rounds):
    """Draw settings of CoMBo whose steps are exact."""
    return st.fixed_dictionaries(
        {
            "n_estimators": st.integers(1, max_rounds),
            "step": st.just("exact"),
            "max_depth": st.sampled_from([3, 1, None]),
        }
    )


@dataclasses.dataclass
class Checked:
    """A round of a model without rounding.

    Attributes
    ----------
    loss, smooth : float
        Φ of the losses after the round, and the norm that the rounds minimise.
    errors : float
        Φ of c∘C after the round.
    loss_slack, bound_slack : float
        What rounding may change of the loss, and of the bound: Φ of what it may change of the losses.
    """

    loss: float
    smooth: float
    errors: float
    loss_slack: float
    bound_slack: float


def checked_rounds(kind, problem, model):
    """The rounds of a model by the reference."""
    _, loss, name = kind
    y, n_classes = problem.y, problem.n_classes
    costs = 1.0 - np.eye(n_classes) if problem.cost_matrix is None else problem.cost_matrix
    counts = np.ones(len(y)) if problem.sample_weight is None else problem.sample_weight
    weight = reference.base_weights(y, counts, n_classes, problem.settings.get("balance", 1.0))
    of_class = np.bincount(y, counts)[:, np.newaxis] * (costs > 0)

    def norm_of(pairs):
        summed = pairs if loss != "log" else pairs.max(axis=1)
        return reference.value(NORMS[name], summed)

    for before, after in pairwise(stages_of(model, problem.X)):
        losses = reference.losses_of(after, y, weight, costs, loss)
        # Costs are rounded to units of 2^-30 of the largest, losses to units of 2^-51 of what the largest may become.
        largest = reference.costs_of(before, y, weight / counts, costs, loss).sum(axis=1).max()
        grown = reference.excess(after - before, y).max()
        if loss == "exponential":
            unit = math.ldexp(largest * np.exp(np.ptp(after - before, axis=1)).max(), -50)
        else:
            unit = math.ldexp(((weight / counts)[:, np.newaxis] * costs[y]).sum(axis=1).max(), -40)
        confusion = costs * reference.error_confusion(after, y, counts, n_classes)
        value = reference.value(NORMS[name], losses)
        yield Checked(
            value,
            reference.value(SMOOTH[name], losses),
            reference.value(NORMS[name], confusion if losses.ndim == 2 else confusion.sum(axis=1)),
            norm_of(of_class * unit) + FLOAT_ERROR * value,
            norm_of(of_class * math.ldexp(largest * (1.0 + grown), -27)),
        )


@settings(max_examples=200)
@given(drawn=norm_problems())
def test_curves_are_the_norm_of_the_losses_its_bound_and_that_of_the_errors(drawn):
    kind, problem = drawn
    model, before = fit(problem), math.inf
    for t, checked in enumerate(checked_rounds(kind, problem, model)):
        loss, bound = model.loss_curve_[t], model.bound_curve_[t]
        slack = checked.loss_slack + checked.bound_slack
        assert abs(loss - checked.loss) <= checked.loss_slack
        assert loss <= bound + slack
        if kind[1] == "exponential":
            assert bound <= loss + slack
        if problem.settings.get("balance", 1.0) == 1.0:
            assert checked.errors <= loss + checked.loss_slack
        assert checked.smooth <= before * (1.0 + 1e-9) + slack  # no round increases the norm that rounds minimise
        before = checked.smooth


@for_kinds([kind for kind in KINDS if kind[1] != "log"])
def test_loss_of_pairs_is_the_norm_of_the_soft_confusion_matrix(kind):
    for n_classes in (2, 4):
        X, y = make_mixed_rows(90, n_classes)
        model = make(kind).fit(X, y)
        for loss, scores in zip(model.loss_curve_, model.staged_decision_function(X), strict=True):
            A = soft_confusion_matrix(y, scores, loss=kind[1])
            assert loss == pytest.approx(reference.value(NORMS[kind[2]], A), rel=1e-9)


# Steps and leaf values


def leaves_of(model, X, t):
    """The leaf of every sample in a tree: its place among all nodes of the tree."""
    forest = model._forest
    nodes = forest.nodes[forest.offsets[t] : forest.offsets[t + 1]]
    places = np.zeros(len(X), dtype=int)
    while (inner := nodes["feature"][places] != LEAF).any():
        at = nodes[places[inner]]
        places[inner] = at["left"] + (X[inner, at["feature"]] > at["threshold"])
    return places, nodes


STEPPED = {
    "plain": {},
    "costs": {"cost_matrix": [[0, 1, 2, 0.5], [4, 0, 1, 0], [1, 1, 0, 3], [0.2, 2, 1, 0]]},
    "shrunk": {"learning_rate": 0.3},
}


def played_rounds(kind, X, y, model, costs):
    """Losses before every round, the costs of its leaves, S_q(l,j), and its nodes."""
    weight = reference.base_weights(y, np.ones(len(y)), 4)
    for t, before in enumerate(stages_of(model, X)[:-1]):
        given_round = before, y, weight, costs, kind[1]
        places, nodes = leaves_of(model, X, t)
        pairs = reference.leaf_pairs(reference.costs_of(*given_round), y, places, len(nodes))
        is_leaf = nodes["feature"] == LEAF
        yield reference.losses_of(*given_round), pairs[is_leaf], nodes[is_leaf]


def is_the_best(curve, step, high):
    """Whether no step up to another leaves less; up to rounding."""
    found = minimize_scalar(curve, bounds=(0.0, high), method="bounded", options={"xatol": 1e-10})
    return curve(step) <= min(found.fun, curve(high)) * (1.0 + 1e-7)


@pytest.mark.parametrize("given_parameters", STEPPED)
@for_kinds([kind for kind in KINDS if kind[0] == "combo"])
def test_round_weight_minimises_the_norm_along_the_hypothesis(kind, given_parameters):
    X, y = make_mixed_rows(150, 4)
    model = make(kind, **STEPPED[given_parameters]).fit(X, y)
    costs = np.array(STEPPED[given_parameters].get("cost_matrix", 1.0 - np.eye(4)))
    assert model.stop_reason_ == "n_estimators"
    rounds = played_rounds(kind, X, y, model, costs)
    for (losses, pairs, leaves), alpha, bound in zip(rounds, model.estimator_weights_, model.bound_curve_, strict=True):
        votes = np.eye(4)[leaves["label"]]

        def curve(step, norm=SMOOTH[kind[2]], losses=losses, pairs=pairs, votes=votes):
            return reference.value(norm, reference.forecast(losses, pairs, step * votes, "exponential"))

        assert is_the_best(curve, alpha / model.learning_rate, reference.CAPPED_STEP)
        assert bound == pytest.approx(curve(alpha, NORMS[kind[2]]), rel=1e-6)


@pytest.mark.parametrize("given_parameters", STEPPED)
@for_kinds([kind for kind in KINDS if kind[0] == "confusion"])
def test_leaf_values_balance_the_costs_at_their_prices(kind, given_parameters):
    X, y = make_mixed_rows(150, 4)
    parameters = {"learning_rate": 1.0, "smoothing": 0.5} | STEPPED[given_parameters]
    model = make(kind, **parameters).fit(X, y)
    costs = np.array(STEPPED[given_parameters].get("cost_matrix", 1.0 - np.eye(4)))
    of_class = np.bincount(y)
    first = reference.costs_of(np.zeros((4, 4)), np.arange(4), 1.0 / of_class, costs, kind[1])  # of a sample
    rounds = played_rounds(kind, X, y, model, costs)
    for (losses, pairs, leaves), bound in zip(rounds, model.bound_curve_, strict=True):
        G = reference.prices(SMOOTH[kind[2]], losses, of_class[:, np.newaxis] * first)
        values = reference.balanced_values(pairs, G, 0.5 * first)
        kept = model._forest.leaf_values[leaves["left"]].astype(float)
        step = np.vdot(kept, values) / np.vdot(values, values)
        np.testing.assert_allclose(kept, step * values, atol=1e-5 * np.abs(values).max())

        def curve(step, norm=SMOOTH[kind[2]], losses=losses, pairs=pairs, values=values):
            return reference.value(norm, reference.forecast(losses, pairs, step * values, kind[1]))

        assert is_the_best(curve, step, parameters["learning_rate"])
        assert bound == pytest.approx(curve(step, NORMS[kind[2]]), rel=1e-6)


SAME = {
    "frobenius": reference.EntryNorm(2),
    "worst-class": reference.EntryNorm(8, "classes"),
    "schatten-4": reference.SchattenNorm(4),
}


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("algorithm", ["combo", "confusion"])
def test_own_norm_gives_the_model_of_the_named_norm_that_it_equals(algorithm, name):
    X, y = make_mixed_rows(150, 4)
    loss = {"loss": "exponential"} if algorithm == "confusion" else {}
    one, other = (make_booster(algorithm, norm=norm, n_estimators=5, **loss).fit(X, y) for norm in (name, SAME[name]))
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(one.loss_curve_, other.loss_curve_, rtol=1e-9)


# The sum of the losses


@pytest.mark.parametrize("loss", ["exponential", "logistic", "log"])
def test_entrywise_is_the_default_to_the_bit(loss):
    X, y = make_mixed_rows(90, 3)
    for algorithm in ("combo", "confusion"):
        given_loss = {"loss": loss} if algorithm == "confusion" else {}
        models = [make_booster(algorithm, n_estimators=3, **given_loss, **norm) for norm in ({}, {"norm": "entrywise"})]
        assert len({model_bytes(model.fit(X, y)) for model in models}) == 1


@property_test(problem=problems(max_rounds=1, weighted=False, draw_settings=exact_settings))
def test_own_sum_gives_the_exact_step(problem):
    exact, summed = fit(problem), fit(problem, step="auto", norm=reference.EntryNorm(1))
    np.testing.assert_allclose(summed.estimator_weights_, exact.estimator_weights_, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(summed.loss_curve_, exact.loss_curve_, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("learning_rate", [1.0, 0.3])
def test_own_sum_gives_combo_with_exact_steps(learning_rate):
    X, y = make_mixed_rows(200, 4)
    exact = CoMBoClassifier(n_estimators=5, step="exact", learning_rate=learning_rate)
    own = clone(exact).set_params(norm=reference.EntryNorm(1)).fit(X, y)
    np.testing.assert_allclose(own.decision_function(X), exact.fit(X, y).decision_function(X), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(own.loss_curve_, exact.loss_curve_, rtol=1e-5)


@pytest.mark.parametrize("loss", ["exponential", "log"])
@pytest.mark.parametrize("balance", [1.0, 0.5])
def test_own_sum_gives_confusion_boosting_of_the_sum(loss, balance):
    X, y = make_mixed_rows(200, 4)
    model = make_booster("confusion", loss=loss, n_estimators=5, balance=balance)
    own = clone(model).set_params(norm=reference.EntryNorm(1, "both")).fit(X, y)
    np.testing.assert_allclose(own.decision_function(X), model.fit(X, y).decision_function(X), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(own.loss_curve_, model.loss_curve_, rtol=1e-5)


# The same bits


@for_kinds(KINDS)
def test_threads_change_no_bit(kind):
    for n_classes in (2, 5):
        X, y = make_mixed_rows(6000, n_classes)
        weights = np.random.default_rng(1).uniform(size=len(y))
        models = {model_bytes(make(kind, n_estimators=2, n_jobs=n_jobs).fit(X, y, weights)) for n_jobs in (1, 2, 7)}
        assert len(models) == 1


@given(drawn=norm_problems(missing=True, categories=True), data=st.data())
def test_order_of_the_samples_changes_no_bit(drawn, data):
    _, problem = drawn
    order = np.array(data.draw(st.permutations(range(len(problem.y)))))
    weights = None if problem.sample_weight is None else problem.sample_weight[order]
    permuted = dataclasses.replace(problem, X=problem.X[order], y=problem.y[order], sample_weight=weights)
    assert model_bytes(fit(permuted)) == model_bytes(fit(problem))


@given(drawn=norm_problems(missing=True, categories=True), data=st.data())
def test_weight_two_is_the_sample_twice_and_weight_zero_no_sample(drawn, data):
    _, problem = drawn
    times = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(problem.y), max_size=len(problem.y))))
    times[: problem.n_classes] += 1  # the strategy puts one sample of every class first
    booster = booster_for(problem)
    repeated = model_bytes(booster.fit(np.repeat(problem.X, times, axis=0), np.repeat(problem.y, times)))
    assert model_bytes(booster.fit(problem.X, problem.y, sample_weight=times)) == repeated


@given(drawn=norm_problems(), exponent=st.integers(-800, 990))
def test_weights_scaled_by_a_power_of_two_change_no_bit(drawn, exponent):
    _, problem = drawn
    weights = np.ones(len(problem.y)) if problem.sample_weight is None else problem.sample_weight
    plain, scaled = (
        dataclasses.replace(problem, sample_weight=each) for each in (weights, np.ldexp(weights, exponent))
    )
    changed = {} if "smoothing" not in problem.settings else {"smoothing": 0.0}  # it counts samples of weight 1
    assert model_bytes(fit(scaled, **changed)) == model_bytes(fit(plain, **changed))


@for_kinds(KINDS)
def test_sparse_tables_give_the_bits_of_dense_ones(kind):
    X, y = make_mixed_rows(200, 4)
    X = X * (np.random.default_rng(2).random(X.shape) < 0.2)
    X[::17, 1] = np.nan
    sparse = csr_array(X)
    sparse.eliminate_zeros()
    assert model_bytes(make(kind).fit(sparse, y)) == model_bytes(make(kind).fit(X, y))


@for_kinds(KINDS)
def test_relabelling_permutes_the_scores_where_nothing_ties(kind):
    X, y = make_mixed_rows(150, 4)
    weights = np.random.default_rng(3).uniform(0.5, 2.0, size=len(y))
    costs = np.random.default_rng(4).uniform(0.5, 2.0, size=(4, 4)) * (1.0 - np.eye(4))
    new_name = np.array([2, 0, 3, 1])
    renamed = np.empty_like(costs)
    renamed[np.ix_(new_name, new_name)] = costs
    drawn = {} if kind[0] == "combo" else {"noise": 0.0, "max_thresholds": None}
    scores = make(kind, cost_matrix=costs, **drawn).fit(X, y, weights).decision_function(X)
    again = make(kind, cost_matrix=renamed, **drawn).fit(X, new_name[y], weights).decision_function(X)
    np.testing.assert_allclose(again[:, new_name], scores, rtol=1e-4, atol=1e-6)


@given(drawn=norm_problems())
def test_narrow_and_wide_vectors_give_the_same_bits(drawn):
    _, problem = drawn
    wide = model_bytes(fit(problem))
    _core.allow_wide_vectors(False)
    try:
        assert model_bytes(fit(problem)) == wide
    finally:
        _core.allow_wide_vectors(True)


# Warm starts, early stopping, callbacks


@given(drawn=norm_problems(missing=True, categories=True), n_first=st.integers(1, 6), pickled=st.booleans())
def test_rounds_in_steps_are_the_model_of_all_at_once(drawn, n_first, pickled):
    _, problem = drawn
    rows = problem.X, problem.y, problem.sample_weight
    whole = booster_for(problem).fit(*rows)
    n_rounds = problem.settings["n_estimators"]
    model = booster_for(problem, warm_start=True, n_estimators=min(n_first, n_rounds)).fit(*rows)
    model = pickle.loads(pickle.dumps(model)) if pickled else model
    assert all_bits(model.set_params(n_estimators=n_rounds).fit(*rows), problem.X) == all_bits(whole, problem.X)


@for_kinds(KINDS)
def test_rounds_in_steps_are_validated_as_all_at_once(kind):
    rows, validation = make_mixed_rows(90, 3), as_validation(make_mixed_rows(60, 3, seed=1))
    scoring = "neg_soft_confusion_norm"
    early = {"early_stopping": True, "scoring": scoring, "n_iter_no_change": 3, "learning_rate": 1.0}
    model = make(kind, n_estimators=3, warm_start=True, **early).fit(*rows, **validation)
    model.set_params(n_estimators=12).fit(*rows, **validation)
    expected = make(kind, n_estimators=12, **early).fit(*rows, **validation)
    assert all_bits(model) == all_bits(expected)
    assert model.n_iter_ == 1 + np.argmax(model.validation_curve_)


@for_kinds(FEW)
def test_validation_follows_the_soft_confusion_matrix_of_the_loss(kind):
    rows, (X_val, y_val) = make_mixed_rows(90, 3), make_mixed_rows(60, 3, seed=1)
    early = {"early_stopping": True, "scoring": "neg_soft_confusion_norm", "n_iter_no_change": 5}
    model = make(kind, n_estimators=5, **early).fit(*rows, **as_validation((X_val, y_val)))
    loss = "logistic" if kind[1] == "log" else kind[1]
    stages = make(kind, n_estimators=5).fit(*rows).staged_decision_function(X_val)
    expected = [-np.linalg.norm(soft_confusion_matrix(y_val, scores, loss=loss), 2) for scores in stages]
    np.testing.assert_allclose(model.validation_curve_, expected, rtol=1e-12)


class SoftConfusions(NoCallback):
    """Keeps the soft confusion matrix and the model of every round."""

    def __init__(self):
        self.kept = []

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        if context.parent is not None:
            self.kept.append((fitted_estimator.validation_soft_confusion_, fitted_estimator))


@needs_callbacks
@for_kinds(FEW)
def test_callbacks_get_the_soft_confusion_matrix_of_the_loss(kind):
    rows, (X_val, y_val) = make_mixed_rows(90, 3), make_mixed_rows(60, 3, seed=1)
    callback = SoftConfusions()
    make(kind, early_stopping=True).set_callbacks(callback).fit(*rows, **as_validation((X_val, y_val)))
    loss = "logistic" if kind[1] == "log" else kind[1]
    for matrix, model in callback.kept:
        expected = soft_confusion_matrix(y_val, model.decision_function(X_val), loss=loss)
        assert matrix.tobytes() == expected.tobytes()
    assert len(callback.kept) == 4


@for_kinds(FEW)
def test_refit_is_the_fit_of_the_best_number_of_rounds_on_all_samples(kind):
    rows = make_mixed_rows(120, 3)
    model = make(kind, n_estimators=20, early_stopping=True, refit=True, n_iter_no_change=3).fit(*rows)
    assert model.n_iter_ < 20
    assert learned_bits(model) == learned_bits(make(kind, n_estimators=model.n_iter_).fit(*rows))


@for_kinds(FEW)
def test_fit_continues_where_a_callback_ended_it(kind):
    rows = make_mixed_rows(90, 3)
    model = make(kind, n_estimators=6, warm_start=True).set_callbacks(StopAfter(2)).fit(*rows)
    assert (model.stop_reason_, model.n_iter_) == ("callback", 2)
    assert all_bits(model.set_callbacks().fit(*rows)) == all_bits(make(kind, n_estimators=6).fit(*rows))


def test_warm_start_with_another_norm_is_refused():
    rows = make_mixed_rows(90, 3)
    for old, new in [
        ("frobenius", "spectral"),
        (reference.EntryNorm(3), reference.EntryNorm(4)),
        (reference.EntryNorm(2), "frobenius"),
    ]:
        model = CoMBoClassifier(norm=old, n_estimators=2, warm_start=True).fit(*rows).set_params(norm=new)
        model.set_params(n_estimators=3)
        with unchanged(model), pytest.raises(ValueError, match="norm changed since the earlier fit"):
            model.fit(*rows)


def test_warm_start_with_an_equal_norm_of_ones_own_continues():
    rows = make_mixed_rows(90, 3)
    model = CoMBoClassifier(norm=reference.EntryNorm(3), n_estimators=2, warm_start=True).fit(*rows)
    model.set_params(norm=reference.EntryNorm(3), n_estimators=4).fit(*rows)
    expected = CoMBoClassifier(norm=reference.EntryNorm(3), n_estimators=4).fit(*rows)
    assert all_bits(model) == all_bits(expected)


@pytest.mark.parametrize("norm", ["frobenius", "worst-class", "own of pairs"])
def test_other_weak_learners_minimise_norms_too(norm):
    X, y = make_mixed_rows(150, 3)
    weak = DecisionTreeClassifier(max_depth=2, random_state=0)
    model = CoMBoClassifier(estimator=weak, norm=OWN.get(norm, norm), n_estimators=6, random_state=0).fit(X, y)
    weight = reference.base_weights(y, np.ones(len(y)), 3)
    for loss, scores in zip(model.loss_curve_, model.staged_decision_function(X), strict=True):
        losses = reference.losses_of(scores, y, weight, 1.0 - np.eye(3), "exponential")
        assert loss == pytest.approx(reference.value(NORMS[norm], losses), rel=1e-9)
    assert (np.diff(model.loss_curve_) < 0).all()
    assert (model.loss_curve_ <= model.bound_curve_ * (1.0 + 1e-6)).all()
    model.set_params(warm_start=True, n_estimators=9).fit(X, y)
    again = clone(model).set_params(warm_start=False).fit(X, y)
    assert all_bits(model, X) == all_bits(again, X)


# Copies, searches, files


@for_kinds(FEW)
def test_copies_pickles_and_clones_are_the_same_model(kind):
    X, y = make_mixed_rows(90, 3)
    model = make(kind).fit(X, y)
    assert all_bits(clone(model).fit(X, y)) == all_bits(model)
    loaded = pickle.loads(pickle.dumps(model))
    assert all_bits(loaded) == all_bits(model)
    assert loaded.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()


@for_kinds(FEW)
def test_model_files_hold_named_norms_and_refuse_own_ones(kind):
    X, y = make_mixed_rows(90, 3)
    model, stream = make(kind).fit(X, y), io.BytesIO()
    if kind[2] in OWN:
        with pytest.raises(ValueError, match=r"cannot be saved to a model file: parameters/norm .* pickle it"):
            model.save_model(stream)
        return
    model.save_model(stream)
    stream.seek(0)
    loaded = load_model(stream)
    assert everything(loaded) == everything(model)
    more = [each.set_params(warm_start=True, n_estimators=6).fit(X, y) for each in (loaded, model)]
    assert all_bits(more[0]) == all_bits(more[1])


@for_kinds(FEW)
def test_exported_trees_are_those_of_the_same_rounds(kind):
    X, y = make_mixed_rows(90, 3)
    model = make(kind, n_estimators=2).fit(X, y)
    session = InferenceSession(model.to_onnx().SerializeToString())
    label, probabilities, scores = session.run(None, {"X": X})
    assert label.tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(scores, model.decision_function(X), rtol=0, atol=1e-6)
    np.testing.assert_allclose(probabilities, model.predict_proba(X), rtol=0, atol=1e-6)
    assert "double" in model.to_c()


def test_grid_search_tries_norms():
    X, y = make_mixed_rows(120, 3)
    norms = ["entrywise", "frobenius", "worst-class", reference.EntryNorm(3)]
    tried = GridSearchCV(CoMBoClassifier(n_estimators=3), {"norm": norms}, cv=2, error_score="raise").fit(X, y)
    assert [setting["norm"] for setting in tried.cv_results_["params"]] == norms
    norm = tried.best_params_["norm"]
    assert all_bits(tried.best_estimator_) == all_bits(CoMBoClassifier(n_estimators=3, norm=norm).fit(X, y))


# Bad norms


def fail(answer):
    raise ArithmeticError("no norm today")


SORTS = [("combo", {}, "pairs"), ("combo", {}, "classes"), ("confusion", {"loss": "log"}, "classes")]
SORTS += [("confusion", {"loss": "logistic"}, "pairs")]


@pytest.fixture(params=["new", "fitted"])
def make_model(request):
    """Makes boosters that are new, or that have a model."""

    def make(algorithm, **parameters):
        booster = make_booster(algorithm, n_estimators=3, **parameters)
        return booster if request.param == "new" else booster.fit(*make_rows(60, 0))

    return make


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize(("algorithm", "parameters", "of"), SORTS)
def test_bad_norm_is_refused_by_name_and_leaves_the_estimator(make_model, algorithm, parameters, of, name):
    returned, message = BAD[name]
    model = make_model(algorithm, **parameters)
    for after in (0, 3):
        model.set_params(norm=Own(of, after, **returned))
        with unchanged(model), pytest.raises(ValueError, match=f"^norm Own: {message}"):
            model.fit(*make_rows(60, 0))


@pytest.mark.parametrize("method", ["value", "gradient"])
@pytest.mark.parametrize("algorithm", ["combo", "confusion"])
def test_norm_that_fails_leaves_the_estimator(make_model, algorithm, method):
    loss = {} if algorithm == "combo" else {"loss": "logistic"}
    for after in (0, 3):
        model = make_model(algorithm, **loss).set_params(norm=Own(after=after, **{method: fail}))
        with unchanged(model), pytest.raises(ArithmeticError, match="no norm today"):
            model.fit(*make_rows(60, 0))


PAIRS = r'is a norm of pairs of classes, and loss="log" has one loss per true class; give loss="logistic" or '
PAIRS += r'"exponential", or norm="entrywise" or "worst-class" or "l2-class"\.'


@pytest.mark.parametrize("algorithm", ["combo", "confusion"])
def test_what_is_no_norm_is_refused(make_model, algorithm):
    model = make_model(algorithm)
    for norm, error, message in NO_NORM.values():
        model.set_params(norm=norm)
        with unchanged(model), pytest.raises(error, match=f"^{message}"):
            model.fit(*make_rows(60, 0))


@pytest.mark.parametrize("norm", [name for name in NORMS if NORMS[name].of == "pairs"])
def test_norm_of_pairs_is_refused_with_the_log_loss(make_model, norm):
    model = make_model("confusion").set_params(norm=OWN.get(norm, norm))
    with unchanged(model), pytest.raises(ValueError, match=f"^norm=.* {PAIRS}"):
        model.fit(*make_rows(60, 0))


def test_steps_of_the_edge_are_refused_with_a_norm():
    message = (
        r"step=\"edge\" does not decrease norm='spectral'; give step=\"exact\" or \"auto\", or norm=\"entrywise\"\."
    )
    with unchanged(model := CoMBoClassifier(norm="spectral", step="edge")), pytest.raises(ValueError, match=message):
        model.fit(*make_rows(60, 0))


def test_adaboost_mm_has_no_norm():
    with pytest.raises(TypeError, match="unexpected keyword argument 'norm'"):
        AdaBoostMMClassifier(norm="frobenius")


def make_many_classes(n_classes):
    y = np.arange(2 * n_classes) % n_classes
    return np.column_stack([y, np.random.default_rng(0).normal(size=len(y))]), y


@pytest.mark.parametrize(
    ("algorithm", "parameters"),
    [
        ("combo", {"norm": "frobenius"}),
        ("combo", {"norm": reference.EntryNorm(2, "classes")}),
        ("confusion", {"norm": "worst-class"}),
        ("confusion", {"loss": "logistic"}),
    ],
)
def test_norms_sum_pairs_of_up_to_128_classes(algorithm, parameters):
    model = make_booster(algorithm, n_estimators=1, **parameters)
    with (
        unchanged(model),
        pytest.raises(ValueError, match=r"at most 128 classes, but there are 129; give norm=\"entrywise\""),
    ):
        model.fit(*make_many_classes(MAX_PAIRED + 1))
    model.fit(*make_many_classes(MAX_PAIRED))
    assert 0 < model.loss_curve_[-1] <= model.bound_curve_[-1] * (1 + 1e-6)


# Special data


@for_kinds(KINDS)
def test_two_classes_without_costs_have_a_single_norm(kind):
    # With two classes all norms of pairs are functions of the same two losses.
    X, y = make_mixed_rows(60, 2)
    model = make(kind).fit(X, y)
    assert model.decision_function(X).shape == (60,)
    assert model.train_confusion_.shape == (2, 2)
    assert (np.diff(model.loss_curve_) < 0).all()


@for_kinds(KINDS)
def test_class_without_weight_is_as_if_it_were_not_there(kind):
    X, y = make_mixed_rows(90, 4)
    weights = np.where(y == 2, 0.0, 1.0 + np.arange(90) % 3)
    model, fewer = make(kind).fit(X, y, weights), make(kind).fit(X[y != 2], y[y != 2], weights[y != 2])
    assert model.loss_curve_.tobytes() == fewer.loss_curve_.tobytes()
    assert model.bound_curve_.tobytes() == fewer.bound_curve_.tobytes()
    assert model.predict(X).tolist() == fewer.predict(X).tolist()
    assert not model.train_confusion_[2].any()


ZERO_COSTS = {
    "row": np.array([[0, 1, 2, 1], [0, 0, 0, 0], [1, 2, 0, 1], [1, 1, 1, 0.0]]),
    "column": np.array([[0, 1, 0, 1], [1, 0, 0, 1], [1, 2, 0, 1], [1, 1, 0, 0.0]]),
    "single cost": np.array([[0, 0, 0, 0], [0, 0, 0, 3], [0, 0, 0, 0], [0, 0, 0, 0.0]]),
}


@for_kinds(KINDS)
def test_errors_that_cost_nothing_change_nothing(kind):
    X, y = make_mixed_rows(90, 4)
    for costs in ZERO_COSTS.values():
        model = make(kind, cost_matrix=costs).fit(X, y)
        idle = ~costs.any(axis=1)[y]  # samples of classes whose errors all cost nothing
        moved = X.copy()
        moved[idle] = np.random.default_rng(0).permuted(X[idle], axis=0)
        assert clone(model).fit(moved, y).loss_curve_.tobytes() == model.loss_curve_.tobytes()
        assert np.isfinite(model.decision_function(X)).all()


@for_kinds(KINDS)
def test_fits_end_by_themselves_with_finite_curves(kind):
    by_itself = {"perfect_learner": {"loss_vanished", "rounding", "n_estimators"}, "no_edge": {"no_edge"}}
    for reason, reasons in by_itself.items():
        X, y, weights, parameters = SELF_ENDING[reason]
        if kind[0] == "confusion":
            parameters = {"smoothing": 0.0, "learning_rate": 1.0, "n_estimators": 50}
        model = make(kind, **{"n_estimators": 300} | parameters).fit(X, y, weights)
        assert model.stop_reason_ in ({reason} if kind[0] == "combo" else reasons)
        assert np.isfinite(model.bound_curve_).all()
        assert (model.loss_curve_ <= model.bound_curve_ * (1 + 1e-3) + 1e-9).all()
        assert model.train_confusion_.any() == (reason == "no_edge")


@for_kinds(KINDS)
def test_table_without_anything_to_learn_gives_a_model(kind):
    model = make(kind, n_estimators=5).fit(np.zeros((12, 2)), np.repeat([0, 1, 2], 4))
    assert (model.stop_reason_, model.n_iter_) == ("no_edge", 1)
    assert model.loss_curve_[0] == pytest.approx(model.bound_curve_[0])


class Naive:
    """The Frobenius norm as users may write it."""

    def value(self, A):
        return np.sqrt((A**2).sum())

    def gradient(self, A):
        return A / np.sqrt((A**2).sum())


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_own_norms_may_be_simple_whatever_vanishes(loss):
    X = np.repeat(np.arange(3.0), 20)[:, np.newaxis]
    parameters = {"loss": loss, "smoothing": 0.0, "learning_rate": 1.0, "n_estimators": 100}
    model = make_booster("confusion", norm=Naive(), **parameters).fit(X, X[:, 0])
    assert model.stop_reason_ == make_booster("confusion", norm="frobenius", **parameters).fit(X, X[:, 0]).stop_reason_


@pytest.mark.parametrize("norm", ["frobenius", "worst-class"])
def test_losses_are_precise_if_class_sizes_differ_by_a_million(norm):
    X, y, weights = np.arange(3.0)[:, np.newaxis], np.arange(3), np.array([1.0, 1e6, 1.0])
    model = CoMBoClassifier(norm=norm).fit(X, y, weights)
    (scores,) = model.staged_decision_function(X)
    losses = reference.losses_of(scores, y, np.ones(3), 1.0 - np.eye(3), "exponential")
    assert model.stop_reason_ == "perfect_learner"
    assert model.loss_curve_[0] == pytest.approx(reference.value(NORMS[norm], losses), rel=1e-3)


# Kinks


class LargestRow:
    """The largest class loss, as a norm of classes."""

    of = "classes"

    def value(self, A):
        return A.max()

    def gradient(self, A):
        return (A.max() == A).astype(float) / (A.max() == A).sum()


class SmoothedRow(LargestRow):
    """The same, with a smooth norm that is never smaller."""

    smooth = reference.EntryNorm(8, "classes")


@pytest.mark.parametrize(
    "kind", [("combo", "exponential", "own"), ("confusion", "log", "own")], ids=lambda kind: kind[0]
)
def test_rounds_minimise_the_smooth_norm_of_a_norm_with_kinks(kind):
    X, y = make_mixed_rows(300, 4)
    kinked = make(kind, norm=SmoothedRow(), n_estimators=20).fit(X, y)
    smooth = make(kind, norm=SmoothedRow.smooth, n_estimators=20).fit(X, y)
    assert kinked.decision_function(X).tobytes() == smooth.decision_function(X).tobytes()
    assert (kinked.loss_curve_ <= smooth.loss_curve_).all()
    assert kinked.train_confusion_.sum(axis=1).max() <= kinked.loss_curve_[-1]


def test_fit_ends_where_a_kink_leaves_no_step():
    X, y = make_mixed_rows(300, 4)
    model = make(("combo", "exponential", "own"), norm=LargestRow(), n_estimators=50).fit(X, y)
    assert model.stop_reason_ == "no_edge"
    assert (model.estimator_weights_[1:] > 0).all()


def test_smooth_norm_of_something_else_is_refused():
    norm = LargestRow()
    norm.smooth = "frobenius"
    with pytest.raises(ValueError, match="norm LargestRow: its attribute smooth is a norm of pairs"):
        make(("combo", "exponential", "own"), norm=norm).fit(*make_mixed_rows(30, 3))


def test_gradient_may_have_any_order_in_memory():
    X, y = make_mixed_rows(100, 3)
    kind = ("combo", "exponential", "own")
    norms = [reference.EntryNorm(3) for _ in range(2)]
    norms[1].gradient = lambda A: np.asfortranarray(reference.EntryNorm(3).gradient(A))
    scores = [make(kind, norm=norm).fit(X, y).decision_function(X).tobytes() for norm in norms]
    assert scores[0] == scores[1]
