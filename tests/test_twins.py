"""The package against its twins: bit for bit with the quantised one, within the rounding with the one in floats."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from models import fit, fit_twin
from reference import float_twin
from strategies import problems

from comboost._dtypes import CATEGORICAL, LEAF, MAX_EDGE, MIN_EDGE, MISSING_LEFT

FLOAT_ERROR = 1e-9  # of a few dozen float operations in a row


def describe(node, forest):
    """A node of a model in the words of the twin, which gives leaves and sets of categories no bin."""
    is_leaf, by_set = node["feature"] == LEAF, bool(node["flags"] & CATEGORICAL)
    left_codes = None
    if by_set:
        bits = np.unpackbits(forest.sets[node["set"]], bitorder="little")
        left_codes = frozenset(np.flatnonzero(bits).tolist())
    bin_of = -1 if is_leaf or by_set else node["bin"]
    missing_left = bool(node["flags"] & MISSING_LEFT)
    return node["feature"], bin_of, node["threshold"], node["left"], node["label"], missing_left, left_codes


def trees_of(model):
    trees = (model._forest.nodes[begin:end] for begin, end in pairwise(model._forest.offsets))
    return [[describe(node, model._forest) for node in tree] for tree in trees]


@settings(max_examples=300)
@given(problem=problems() | problems(missing=True, categories=True))
def test_model_equals_the_quantised_twin_to_the_bit(problem):
    model, twin = fit(problem), fit_twin(problem)

    assert trees_of(model) == [
        [(n.feature, n.bin, n.threshold, n.left, n.label, n.missing_left, n.left_codes) for n in kept.nodes]
        for kept in twin.rounds
    ]
    assert model.edges_.tolist() == [kept.edge for kept in twin.rounds]
    assert model.estimator_weights_.tolist() == [kept.alpha for kept in twin.rounds]
    assert model.loss_curve_.tolist() == [kept.loss for kept in twin.rounds]
    assert model.stop_reason_ == twin.stop_reason
    np.testing.assert_allclose(model.bound_curve_, [kept.bound for kept in twin.rounds], rtol=1e-12)
    np.testing.assert_allclose(model.train_confusion_, twin.train_confusion, rtol=1e-12)


@settings(max_examples=100)
@given(problem=problems() | problems(missing=True, categories=True))
def test_edges_and_losses_are_the_papers_within_the_rounding(problem):
    model, twin = fit(problem), fit_twin(problem)
    replayed = float_twin.replay(
        np.array([kept.votes for kept in twin.rounds])[:, twin.kept],
        problem.y[twin.kept],
        algorithm=problem.settings.get("algorithm", "combo"),
        cost_matrix=problem.cost_matrix,
        sample_weight=np.array(twin.weights),
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
    costs = float_twin.first_costs(problem.y, problem.settings.get("algorithm", "combo"))

    root = fit(problem)._forest.nodes[0]
    goes_left = (
        problem.X[:, root["feature"]] <= root["threshold"]
        if root["feature"] >= 0
        else np.ones(len(problem.y), dtype=bool)
    )
    best = float_twin.best_stump(problem.X, costs, criterion)
    assert float_twin.split_score(goes_left, costs, criterion) == pytest.approx(best.score, rel=1e-6)
