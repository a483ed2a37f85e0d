"""The package against its twins: bit for bit with the quantised one, within the rounding with the one in floats."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models import fit, fit_reference, trees_of, trees_of_reference
from reference import float_reference
from strategies import light_mistake, problems

from comboost._types import MAX_EDGE, MIN_EDGE

FLOAT_ERROR = 1e-9  # of a few dozen float operations in a row


def assert_same(model, twin):
    """Every bit of a model, and why its rounds ended."""
    assert trees_of(model) == trees_of_reference([kept.nodes for kept in twin.rounds])
    assert model.edges_.tolist() == [kept.edge for kept in twin.rounds]
    assert model.estimator_weights_.tolist() == [kept.alpha for kept in twin.rounds]
    assert model.loss_curve_.tolist() == [kept.loss for kept in twin.rounds]
    assert model.stop_reason_ == twin.stop_reason
    np.testing.assert_allclose(model.bound_curve_, [kept.bound for kept in twin.rounds], rtol=1e-12)
    np.testing.assert_allclose(model.train_confusion_, twin.train_confusion, rtol=1e-12)
    importances = np.sum([kept.importances for kept in twin.rounds], axis=0)
    shares = importances / (importances.sum() or 1.0)
    np.testing.assert_allclose(model.feature_importances_, shares, rtol=1e-9, atol=1e-15)


@settings(max_examples=4 * settings.default.max_examples)
@given(problem=problems() | problems(missing=True, categories=True))
def test_model_equals_the_quantised_twin_to_the_bit(problem):
    assert_same(fit(problem), fit_reference(problem))


@given(problem=problems() | problems(missing=True, categories=True), data=st.data())
def test_rows_that_cost_nothing_count_in_leaves_as_the_twin_counts_them(problem, data):
    n_classes = problem.n_classes
    free = data.draw(st.integers(0, n_classes - 1))
    costs = np.ones((n_classes, n_classes)) * (np.arange(n_classes) != free)[:, np.newaxis] * (1 - np.eye(n_classes))
    counted = problem.settings | {"min_samples_leaf": data.draw(st.integers(2, 6))}
    problem = dataclasses.replace(problem, cost_matrix=costs, settings=counted)
    assert_same(fit(problem), fit_reference(problem))


@pytest.mark.parametrize("n_classes", [2, 3, 4, 6])
def test_fit_ends_by_rounding_at_the_same_ratio_of_weights_as_the_twin(n_classes):
    reasons = set()
    for heavy in 2.0 ** np.arange(20, 29, 0.5):
        problem = light_mistake(n_classes, heavy, {"n_estimators": 3, "max_depth": None})
        model, twin = fit(problem), fit_reference(problem)
        assert (model.stop_reason_, model.n_iter_) == (twin.stop_reason, len(twin.rounds))
        reasons.add(model.stop_reason_)
    assert reasons >= {"n_estimators", "rounding"}


@given(problem=problems() | problems(missing=True, categories=True))
def test_edges_and_losses_are_the_papers_within_the_rounding(problem):
    model, twin = fit(problem), fit_reference(problem)
    replayed = float_reference.replay(
        np.array([kept.votes for kept in twin.rounds])[:, twin.kept],
        problem.y[twin.kept],
        algorithm=problem.settings.get("algorithm", "combo"),
        cost_matrix=problem.cost_matrix,
        sample_weight=np.array(twin.plain_weights),
        alphas=model.estimator_weights_,
    )
    for t, kept in enumerate(twin.rounds):
        if MIN_EDGE < kept.edge < MAX_EDGE:
            assert abs(model.edges_[t] - replayed.edges[t]) <= kept.edge_rounding + FLOAT_ERROR
        assert abs(model.loss_curve_[t] / replayed.losses[t] - 1) <= kept.loss_rounding + FLOAT_ERROR


@given(problem=problems(weighted=False, costed=False))
def test_first_split_scores_as_high_as_the_best_of_all_stumps(problem):
    kept = {"algorithm", "criterion"} & problem.settings.keys()
    problem.settings = {name: problem.settings[name] for name in kept} | {"n_estimators": 1, "max_depth": 1}
    criterion = problem.settings.get("criterion", "gini")
    costs = float_reference.first_costs(problem.y, problem.settings.get("algorithm", "combo"))

    root = fit(problem)._forest.nodes[0]
    goes_left = (
        problem.X[:, root["feature"]] <= root["threshold"]
        if root["feature"] >= 0
        else np.ones(len(problem.y), dtype=bool)
    )
    best = float_reference.best_stump(problem.X, costs, criterion)
    assert float_reference.split_score(goes_left, costs, criterion) == pytest.approx(best.score, rel=1e-6)
