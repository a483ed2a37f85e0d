"""The laws of the paper and of the exact arithmetic, on random problems."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models import ALGORITHMS, booster_for, fit, fit_reference, model_bytes, spectral_norm
from reference import float_reference
from strategies import balanced_problems, problems, property_test

from comboost import AdaBoostMMClassifier, CoMBoClassifier

ROUNDING = 1e-5  # of the loss, by the quantisation of the costs of a few rows that all weigh about the same
FLOAT_ERROR = 1e-9  # of a few dozen float operations in a row


def votes_of(model, X):
    """h_t on the rows, from what each round adds to the scores."""
    before = np.zeros((len(X), len(model.classes_)))
    votes = []
    for t in range(model.n_iter_):
        after = before.copy()
        model._forest.add_scores(np.asarray(X), True, after, t, t + 1, 1)
        votes.append((after - before).argmax(axis=1))
    return votes


def replay(model, problem, twin):
    return float_reference.replay(
        votes_of(model, problem.X[twin.kept]),
        problem.y[twin.kept],
        algorithm=problem.settings.get("algorithm", "combo"),
        cost_matrix=problem.cost_matrix,
        sample_weight=np.array(twin.plain_weights),
        alphas=model.estimator_weights_,
    )


def with_algorithm(problem, algorithm):
    return dataclasses.replace(problem, settings=problem.settings | {"algorithm": algorithm})


def upper_loss(model, twin):
    """The last loss, and what rounding may have taken from it."""
    return model.loss_curve_[-1] * (1 + twin.rounds[-1].loss_rounding + FLOAT_ERROR)


@property_test(problem=problems())
def test_loss_falls_each_round_by_the_factor_that_its_edge_promises(problem):
    model, twin = fit(problem), fit_reference(problem)
    rate = problem.settings.get("learning_rate", 1.0)
    before, rounding_before = twin.initial_loss, 0.0
    for t, kept in enumerate(twin.rounds):
        factor = 1 - rate * (1 - np.sqrt(1 - model.edges_[t] ** 2))
        # An edge that rounding may have moved by ε makes the loss fall by ε·sinh(α) less.
        slack = kept.edge_rounding * np.sinh(model.estimator_weights_[t] / rate) + rounding_before + FLOAT_ERROR
        loss = model.loss_curve_[t]
        assert loss * (1 - kept.loss_rounding) <= (factor + slack) * before
        before, rounding_before = loss, kept.loss_rounding


@property_test(problem=problems(weighted=False, costed=False))
def test_loss_stays_below_the_product_bound(problem):
    model = fit(problem)
    assert (model.loss_curve_ <= model.bound_curve_ * (1 + ROUNDING)).all()


@property_test(problem=problems(costed=False))
def test_squared_confusion_norm_is_below_the_loss(problem):
    problem = with_algorithm(problem, "combo")
    model, twin = fit(problem), fit_reference(problem)
    assert spectral_norm(model.train_confusion_) ** 2 <= upper_loss(model, twin)


@property_test(problem=problems())
def test_costed_confusion_is_below_the_soft_confusion_entry_by_entry(problem):
    problem = with_algorithm(problem, "combo")
    model, twin = fit(problem), fit_reference(problem)
    costs = np.ones(model.train_confusion_.shape) if problem.cost_matrix is None else problem.cost_matrix
    soft = replay(model, problem, twin).soft_confusion
    assert (costs * model.train_confusion_ <= soft * (1 + FLOAT_ERROR)).all()
    assert spectral_norm(costs * model.train_confusion_) ** 2 <= costs.max() * upper_loss(model, twin)


@property_test(problem=problems(costed=False))
def test_weighted_error_of_adaboost_mm_is_below_its_loss(problem):
    problem = with_algorithm(problem, "mm")
    model, twin = fit(problem), fit_reference(problem)
    wrong = model.predict(problem.X[twin.kept]) != problem.y[twin.kept]
    assert np.average(wrong, weights=twin.plain_weights) <= upper_loss(model, twin) / problem.n_classes


@property_test(problem=problems(weighted=False, costed=False), shift=st.floats(-0.5, 0.5))
def test_exact_step_has_the_smallest_loss_along_the_vote(problem, shift):
    problem = dataclasses.replace(problem, settings=problem.settings | {"step": "exact", "n_estimators": 1})
    model = fit(problem, learning_rate=1.0)
    played = replay(model, problem, fit_reference(problem))
    right, wrong = played.right[0], played.wrong[0]

    def loss(alpha):
        return played.initial_loss + (np.exp(-alpha) - 1) * right + (np.exp(alpha) - 1) * wrong

    alpha = model.estimator_weights_[0]
    capped = min(alpha + shift, 0.5 * np.log(2.0**31))
    if model.stop_reason_ != "no_edge":
        assert loss(alpha) <= loss(capped) + ROUNDING * played.initial_loss


@property_test(
    problem=problems(weighted=False) | problems(weighted=False, missing=True, categories=True), data=st.data()
)
def test_weight_two_is_the_row_twice_and_weight_zero_is_no_row(problem, data):
    times = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(problem.y), max_size=len(problem.y))))
    times[: problem.n_classes] += 1  # the strategy puts one row of every class first
    booster = booster_for(problem, min_samples_leaf=1)
    repeated = model_bytes(booster.fit(np.repeat(problem.X, times, axis=0), np.repeat(problem.y, times)))
    weighted = model_bytes(booster.fit(problem.X, problem.y, sample_weight=times))
    assert weighted == repeated


@property_test(problem=problems(), exponent=st.integers(-40, 40))
def test_weights_scaled_by_a_power_of_two_change_no_bit(problem, exponent):
    weights = np.ones(len(problem.y)) if problem.sample_weight is None else problem.sample_weight
    scaled = dataclasses.replace(problem, sample_weight=np.ldexp(weights, exponent))
    assert model_bytes(fit(scaled)) == model_bytes(fit(problem))


@property_test(problem=problems() | problems(missing=True, categories=True), data=st.data())
def test_permuted_rows_change_no_bit(problem, data):
    order = np.array(data.draw(st.permutations(range(len(problem.y)))))
    weights = None if problem.sample_weight is None else problem.sample_weight[order]
    permuted = dataclasses.replace(problem, X=problem.X[order], y=problem.y[order], sample_weight=weights)
    assert model_bytes(fit(permuted)) == model_bytes(fit(problem))


@property_test(problem=problems())
def test_copies_of_other_width_and_memory_order_change_no_bit(problem):
    whole = np.clip(problem.X, -1e38, 1e38).astype(np.float32).astype(np.float64)
    models = {
        model_bytes(fit(dataclasses.replace(problem, X=copy)))
        for copy in (whole, whole.astype(np.float32), np.asfortranarray(whole), np.repeat(whole, 2, axis=1)[:, ::2])
    }
    assert len(models) == 1


@property_test(problem=problems())
def test_relabelling_that_keeps_the_order_changes_no_bit(problem):
    names = np.array([f"class {label}" for label in range(problem.n_classes)])
    assert model_bytes(booster_for(problem).fit(problem.X, names[problem.y], problem.sample_weight)) == model_bytes(
        fit(problem)
    )


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("criterion", ["gini", "cost"])
@given(seed=st.integers(0, 2**32 - 1), data=st.data())
@settings(max_examples=15)
def test_any_relabelling_permutes_the_votes_where_nothing_ties(algorithm, criterion, seed, data):
    random = np.random.default_rng(seed)
    X = random.normal(size=(120, 3))
    y = np.concatenate([np.arange(4), random.choice(4, size=116, p=[0.6, 0.2, 0.15, 0.05])])
    weights = random.uniform(0.5, 2.0, size=120)
    new_name = np.array(data.draw(st.permutations(range(4))))
    booster = ALGORITHMS[algorithm](criterion=criterion, n_estimators=8)
    scores = booster.fit(X, y, weights).decision_function(X)
    np.testing.assert_allclose(
        booster.fit(X, new_name[y], weights).decision_function(X)[:, new_name], scores, rtol=1e-6
    )


@property_test(problem=problems(costed=False), data=st.data())
def test_one_cost_per_class_is_the_matrix_with_these_rows(problem, data):
    n_classes = problem.n_classes
    costs = np.array(data.draw(st.lists(st.floats(0.1, 10), min_size=n_classes, max_size=n_classes)))
    matrix = np.repeat(costs[:, None], n_classes, axis=1) * (1 - np.eye(n_classes))
    as_dict = dict(enumerate(costs.tolist()))
    models = {model_bytes(fit(problem, cost_matrix=given_costs)) for given_costs in (costs, matrix, as_dict)}
    assert len(models) == 1


@property_test(problem=balanced_problems())
def test_both_algorithms_agree_to_the_bit_on_balanced_data(problem):
    parameters = booster_for(problem).get_params()
    parameters.pop("norm", None)  # AdaBoost.MM always minimises the sum
    models = {
        model_bytes(cls(**parameters).fit(problem.X, problem.y)) for cls in (CoMBoClassifier, AdaBoostMMClassifier)
    }
    assert len(models) == 1


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("weighted", [False, True])
def test_model_is_bit_identical_for_any_number_of_threads(algorithm, weighted):
    random = np.random.default_rng(0)
    X = random.normal(size=(9_000, 7))
    y = (X[:, :3] + random.normal(size=(9_000, 3))).argmax(axis=1)
    weights = random.uniform(size=9_000) if weighted else None
    models = {
        model_bytes(ALGORITHMS[algorithm](n_estimators=4, step="exact", n_jobs=n_jobs).fit(X, y, weights))
        for n_jobs in (1, 2, 7)
    }
    assert len(models) == 1


@property_test(problem=problems())
def test_stages_end_in_the_whole_model(problem):
    model = fit(problem)
    *_, scores = model.staged_decision_function(problem.X)
    *_, share = model.staged_score(problem.X, problem.y, problem.sample_weight)
    assert share == model.score(problem.X, problem.y, problem.sample_weight)
    assert model.n_classes_ == len(model.classes_)
    *_, classes = model.staged_predict(problem.X)
    *_, shares = model.staged_predict_proba(problem.X)
    assert len(list(model.staged_predict(problem.X))) == model.n_iter_
    np.testing.assert_array_equal(scores, model.decision_function(problem.X))
    np.testing.assert_array_equal(classes, model.predict(problem.X))
    np.testing.assert_array_equal(shares, model.predict_proba(problem.X))


@property_test(problem=problems(), proba=st.sampled_from(["softmax", "vote_fraction"]))
def test_probabilities_add_up_to_one_and_rank_as_the_votes(problem, proba):
    model = fit(problem, proba=proba)
    shares = model.predict_proba(problem.X)
    assert shares.shape == (len(problem.X), problem.n_classes)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(model.predict_log_proba(problem.X), np.log(shares), rtol=1e-9, atol=1e-12)
    picked = shares[np.arange(len(shares)), np.searchsorted(model.classes_, model.predict(problem.X))]
    np.testing.assert_allclose(picked, shares.max(axis=1))


@property_test(problem=problems(max_classes=2))
def test_two_classes_have_one_margin_whose_sign_is_the_prediction(problem):
    model = fit(problem)
    margin = model.decision_function(problem.X)
    assert margin.shape == (len(problem.X),)
    np.testing.assert_array_equal(model.predict(problem.X), (margin > 0).astype(int))


@property_test(problem=problems(weighted=False) | problems(weighted=False, missing=True, categories=True))
def test_train_confusion_is_that_of_the_predictions_on_the_training_rows(problem):
    model = fit(problem)
    counts = np.zeros(model.train_confusion_.shape)
    np.add.at(counts, (problem.y, model.predict(problem.X)), 1)
    expected = counts / counts.sum(axis=1, keepdims=True) * (1 - np.eye(len(counts)))
    np.testing.assert_allclose(model.train_confusion_, expected)
