"""Leaves that vote for every class against their twin, bit for bit: small problems of all kinds, endings, many rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models import fit, fit_reference, leaf_votes, trees_of, trees_of_reference
from strategies import LOSSES, PLAIN_VOTES, Problem, light_mistake, many_class_problems, vote_problems


def assert_same(model, twin, X):
    """Every bit of a model, and why its rounds ended."""
    assert trees_of(model) == trees_of_reference([kept.nodes for kept in twin.rounds])
    assert [votes.tolist() for votes in leaf_votes(model)] == [kept.votes for kept in twin.rounds]
    assert model.edges_.tolist() == [kept.edge for kept in twin.rounds]
    assert model.loss_curve_.tolist() == [kept.loss for kept in twin.rounds]
    assert model.stop_reason_ == twin.stop_reason
    scores = np.array(twin.scores())
    expected = scores if twin.n_classes > 2 else scores[:, 1] - scores[:, 0]
    np.testing.assert_array_equal(model.decision_function(X), expected)
    bounds = [kept.bound for kept in twin.rounds]
    np.testing.assert_allclose(model.bound_curve_, bounds, rtol=1e-12, atol=1e-12 * twin.initial_loss)
    np.testing.assert_allclose(model.train_confusion_, twin.train_confusion, rtol=1e-12)
    importances = np.sum([kept.importances for kept in twin.rounds], axis=0)
    shares = importances / (importances.sum() or 1.0)
    np.testing.assert_allclose(model.feature_importances_, shares, rtol=1e-9, atol=1e-15)


def assert_fits_as_the_twin(problem):
    model, twin = fit(problem), fit_reference(problem)
    assert_same(model, twin, problem.X)
    return twin


@settings(max_examples=2 * settings.default.max_examples)
@given(problem=vote_problems() | vote_problems(missing=True, categories=True))
def test_model_equals_the_twin_to_the_bit(problem):
    assert_fits_as_the_twin(problem)


@pytest.mark.parametrize("n_classes", [128, 129])
@settings(max_examples=4)
@given(data=st.data())
def test_model_of_many_classes_equals_the_twin_to_the_bit(n_classes, data):
    assert_fits_as_the_twin(data.draw(many_class_problems(n_classes)))


# Kernels are compiled for up to 8 classes and up to 8 vectors of 4 channels, and once for any number of them.
@pytest.mark.parametrize("n_classes", [2, 5, 8, 9, 33])
@pytest.mark.parametrize("loss", LOSSES)
def test_rows_of_several_blocks_give_the_model_of_the_twin_for_any_number_of_classes(n_classes, loss):
    random = np.random.default_rng(n_classes)
    n_samples = 4100 + 512 + 33  # more than any block, and a rest
    y = np.concatenate([np.arange(n_classes), random.integers(n_classes, size=n_samples - n_classes)])
    X = random.normal(size=(n_samples, 2)).round(2) + np.column_stack([y % 3, y // 3])
    weights = random.integers(1, 6, n_samples) if n_classes % 2 else None
    few = {"n_estimators": 2, "loss": loss, "max_bins": 8, "max_depth": 2, "min_samples_leaf": 1 + n_classes % 2}
    assert_fits_as_the_twin(Problem(X, y, weights, settings=PLAIN_VOTES | few))


# Endings


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("smoothing", "reason"), [(0.0, "loss_vanished"), (1.0, "n_estimators")])
def test_fit_that_separates_all_rows_ends_as_the_twin(loss, smoothing, reason):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(12, 2)), np.arange(12) % 3
    separating = {"max_depth": None, "loss": loss, "smoothing": smoothing, "n_estimators": 100}
    assert assert_fits_as_the_twin(Problem(X, y, settings=PLAIN_VOTES | separating)).stop_reason == reason


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_classes", [2, 3, 4, 6])
def test_fit_ends_by_rounding_at_the_same_ratio_of_weights_as_the_twin(n_classes, loss):
    reasons = set()
    for heavy in 2.0 ** np.arange(20, 29.5, 0.5):
        problem = light_mistake(n_classes, heavy, PLAIN_VOTES | {"max_depth": None, "loss": loss, "smoothing": 0.0})
        model, twin = fit(problem), fit_reference(problem)
        assert (model.stop_reason_, model.n_iter_) == (twin.stop_reason, len(twin.rounds))
        reasons.add(model.stop_reason_)
    assert reasons >= {"n_estimators", "rounding"}
