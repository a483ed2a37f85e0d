"""Kernels go through classes a few at a time: whatever is left over, a fit is that of the reference implementation."""

import numpy as np
import pytest
from models import fit, fit_reference, leaf_votes, trees_of, trees_of_reference
from strategies import PLAIN_VOTES, Problem

# Sums of a node are the costs of its classes, the loss and, with min_samples_leaf, the count; 32 fit on the stack.
AROUND = [29, 30, 31, 32, 33, 63, 64, 65, 96]
ALGORITHMS = {"combo": {"algorithm": "combo"}, "mm": {"algorithm": "mm"}, "confusion": PLAIN_VOTES}


def problem_of(n_classes, algorithm, counted):
    """Few rows of many classes, which some columns, one of them of categories, tell apart."""
    random = np.random.default_rng(n_classes)
    y = np.concatenate([np.arange(n_classes), random.integers(n_classes, size=n_classes)])
    X = np.column_stack([y + random.normal(size=len(y)), y % 7, random.normal(size=len(y)).round(1)])
    few = {"n_estimators": 2, "max_bins": 12, "max_depth": 2, "min_samples_leaf": 3 if counted else 1}
    return Problem(X, y, settings=ALGORITHMS[algorithm] | few, categorical=(1,))


@pytest.mark.parametrize("n_classes", AROUND)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("counted", [False, True])
def test_models_around_multiples_of_32_classes_equal_the_reference(algorithm, n_classes, counted):
    problem = problem_of(n_classes, algorithm, counted)
    model, twin = fit(problem), fit_reference(problem)
    assert trees_of(model) == trees_of_reference([kept.nodes for kept in twin.rounds])
    assert model.edges_.tolist() == [kept.edge for kept in twin.rounds]
    assert model.loss_curve_.tolist() == [kept.loss for kept in twin.rounds]
    np.testing.assert_allclose(model.train_confusion_, twin.train_confusion, rtol=1e-12)
    if algorithm == "confusion":
        assert [votes.tolist() for votes in leaf_votes(model)] == [kept.votes for kept in twin.rounds]
