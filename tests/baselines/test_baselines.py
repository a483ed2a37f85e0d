"""Baselines of the paper, against reference implementations after their own papers, and their properties."""

import ast
import inspect
import math
import pickle
import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from imblearn.metrics.pairwise import ValueDifferenceMetric
from imblearn.over_sampling import SMOTE
from memory import peak_of
from reference import baselines_reference, float_reference
from sklearn.metrics.pairwise import nan_euclidean_distances
from sklearn.utils.estimator_checks import parametrize_with_checks
from strategies import problems

from comboost import AdaBoostMMClassifier
from comboost._boosting.learners import TreeLearner
from comboost._boosting.loop import N_ESTIMATORS, NO_EDGE, PERFECT_LEARNER, boost
from comboost._engine.leaf_values import ClassValues
from comboost._engine.scores import TableScorer
from comboost._types import MIN_EDGE
from comboost.baselines import AdaBoostNCClassifier, SMOTEBoostClassifier
from comboost.baselines._adaboost_nc import Margin, next_distribution
from comboost.baselines._augmented import AugmentedRows
from comboost.baselines._smote import (
    CATEGORY_UNITS,
    Metric,
    Synthesis,
    Synthesiser,
    most_frequent,
    nearest,
    value_differences,
)
from comboost.baselines._weighted import TreeGrower, oversample
from comboost.datasets import load_car, load_ecoli, load_glass, make_imbalanced

BOOSTERS = [AdaBoostNCClassifier, SMOTEBoostClassifier]
ROUNDING = 1e-6  # of the costs, which trees and pseudo-losses see as integers

boosters = pytest.mark.parametrize("booster", BOOSTERS)


@parametrize_with_checks(
    [
        AdaBoostNCClassifier(n_estimators=10),
        AdaBoostNCClassifier(
            n_estimators=10, max_depth=None, min_samples_leaf=2, penalty_strength=9.0, proba="vote_fraction"
        ),
        SMOTEBoostClassifier(n_estimators=10),
        SMOTEBoostClassifier(
            n_estimators=10, max_depth=None, min_samples_leaf=2, criterion="cost", proba="vote_fraction"
        ),
    ]
)
def test_baselines_keep_the_conventions_of_scikit_learn(estimator, check):
    check(estimator)


# Random problems


def small_problems(*, missing=False, categories=False):
    """Problems whose squared distances are finite."""
    drawn = problems(
        max_rows=25,
        max_classes=4,
        weighted=False,
        costed=False,
        missing=missing,
        categories=categories,
        max_rounds=6,
    )
    return drawn.filter(lambda problem: np.nanmax(np.abs(problem.X.astype(np.float64)), initial=0.0) < 1e100)


def booster_for(booster, problem, **changed):
    kept = {"n_estimators", "max_depth", "criterion", "min_samples_leaf", "max_bins"} & problem.settings.keys()
    parameters = {name: problem.settings[name] for name in kept} | {"random_state": problem.settings.get("seed", 0)}
    if problem.categorical:
        parameters["categorical_features"] = list(problem.categorical)
    return booster(**(parameters | changed))


def read(model, X, y):
    """The problem as ``fit`` of the model reads it."""
    return model._read_problem(model._table.of(model), X, y)


def votes_per_round(model, X):
    """What every tree alone votes on some rows, as class indices."""
    table_scorer = TableScorer(model._read(X), 1)
    votes = []
    for t in range(model.n_iter_):
        scores = np.zeros((len(X), len(model.classes_)))
        table_scorer.add_scores(model._forest.tree(t), 1.0, scores)
        votes.append(scores.argmax(axis=1).tolist())
    return votes


def root_split(model, t, X):
    """Which rows the root of a round's tree sends left: all if it is a leaf."""
    node = model._forest.nodes[model._forest.offsets[t]]
    return X[:, node["feature"]] <= node["threshold"] if node["feature"] >= 0 else np.ones(len(X), dtype=bool)


# AdaBoost.NC


def oversampled(model, problem):
    read_problem = read(model, problem.X, problem.y)
    return oversample(read_problem)


@given(
    problem=small_problems() | small_problems(missing=True, categories=True),
    strength=st.sampled_from([2.0, 0.0, 9.0, 0.5]),
)
def test_nc_weighs_its_rounds_as_the_paper_does(problem, strength):
    model = booster_for(AdaBoostNCClassifier, problem, penalty_strength=strength).fit(problem.X, problem.y)
    rows = oversampled(model, problem)
    votes = votes_per_round(model, problem.X[rows])
    rounds = baselines_reference.replay_nc(votes, problem.y[rows].tolist(), strength, model.estimator_weights_)

    for alpha, reference in zip(model.estimator_weights_, rounds, strict=True):
        if reference.right <= reference.wrong * (1 + 1e-12):
            assert model.n_iter_ == 1
            assert model.stop_reason_ == NO_EDGE
        else:
            assert alpha == pytest.approx(min(reference.alpha, baselines_reference.LARGEST_ALPHA), rel=1e-9, abs=1e-12)
    assert (model.stop_reason_ == PERFECT_LEARNER) == (rounds[-1].wrong == 0)


@settings(max_examples=30)
@given(problem=small_problems(), strength=st.sampled_from([2.0, 9.0]))
def test_nc_grows_the_best_stump_for_the_papers_distribution(problem, strength):
    model = booster_for(AdaBoostNCClassifier, problem, penalty_strength=strength, max_depth=1, min_samples_leaf=1)
    model.fit(problem.X, problem.y)
    rows = oversampled(model, problem)
    X, y = problem.X[rows].astype(np.float64), problem.y[rows]
    edges = read(model, problem.X, problem.y).bins.edges
    rounds = baselines_reference.replay_nc(votes_per_round(model, X), y.tolist(), strength, model.estimator_weights_)
    for t, reference in enumerate(rounds):
        costs = baselines_reference.weighted_costs(reference.distribution, y, problem.n_classes)
        best = baselines_reference.best_score(X, costs, edges, model.criterion)
        reached = float_reference.split_score(root_split(model, t, X), costs, model.criterion)
        assert reached == pytest.approx(best, rel=ROUNDING, abs=ROUNDING)


@settings(max_examples=25)
@given(problem=small_problems())
def test_nc_oversamples_every_class_to_the_size_of_the_largest(problem):
    rows = oversampled(AdaBoostNCClassifier(random_state=0), problem)
    counts = np.bincount(problem.y)
    assert np.bincount(problem.y[rows]).tolist() == [counts.max()] * problem.n_classes
    assert rows[: len(problem.y)].tolist() == list(range(len(problem.y)))


def test_nc_without_a_penalty_is_adaboost():
    X, y = load_ecoli(return_X_y=True)
    model = AdaBoostNCClassifier(penalty_strength=0.0, n_estimators=10, random_state=0).fit(X, y)
    labels = np.searchsorted(model.classes_, y)
    rows = oversample(read(model, X, y))
    weights = np.full(len(rows), 1 / len(rows))
    for alpha, votes in zip(model.estimator_weights_, votes_per_round(model, X[rows]), strict=True):
        is_wrong = np.array(votes) != labels[rows]
        error = weights[is_wrong].sum()
        assert alpha == pytest.approx(0.5 * math.log((1 - error) / error), rel=1e-9)
        weights = np.where(is_wrong, weights, weights * math.exp(-alpha))
        weights /= weights.sum()


@given(
    penalised=st.lists(st.floats(1e-9, 1.0), min_size=2, max_size=20),
    alpha=st.floats(0.0, 10.0),
    seed=st.integers(0, 100),
)
def test_nc_distributions_sum_to_one_and_favour_mistakes(penalised, alpha, seed):
    is_right = np.random.RandomState(seed).rand(len(penalised)) < 0.5
    weights = next_distribution(np.array(penalised), is_right, alpha)
    assert weights.sum() == pytest.approx(1.0)
    growth = weights / np.array(penalised)
    assert growth[~is_right].min(initial=np.inf) >= growth[is_right].max(initial=0.0) * (1 - 1e-12)


@given(right=st.floats(2.0**-1000, 1.0), wrong=st.floats(0.0, 1.0) | st.floats(0.0, 2.0**-30))
def test_nc_weights_are_half_the_log_of_right_to_wrong_up_to_the_largest_weight(right, wrong):
    margin = Margin(right, wrong)
    alpha = baselines_reference.NCRound([], [], right, wrong).alpha if wrong < right else 0.0
    smallest = 0.5 * math.log((1 + MIN_EDGE) / (1 - MIN_EDGE))
    assert margin.alpha == pytest.approx(min(max(alpha, smallest), baselines_reference.LARGEST_ALPHA), rel=1e-9)


def test_weighted_tree_does_not_see_how_weight_is_spread_over_copies():
    X, y = load_glass(return_X_y=True)
    problem = read(AdaBoostNCClassifier(), X, y)
    everything = np.arange(len(y))
    twice, weights = np.concatenate([everything, everything[:50]]), np.ones(len(y))
    weights[:50] = 2.0
    once, _ = TreeGrower(problem, everything).grow(weights, 0)
    copied, _ = TreeGrower(problem, twice).grow(np.ones(len(twice)), 0)
    assert once.nodes.tobytes() == copied.nodes.tobytes()


# SMOTEBoost


@given(problem=small_problems() | small_problems(missing=True, categories=True))
def test_smoteboost_weighs_its_rounds_as_adaboost_m2_does(problem):
    model = booster_for(SMOTEBoostClassifier, problem).fit(problem.X, problem.y)
    votes = votes_per_round(model, problem.X)
    rounds = baselines_reference.replay_m2(votes, problem.y.tolist(), model.estimator_weights_)
    for weight, reference in zip(model.estimator_weights_, rounds, strict=True):
        assert reference.distribution.sum() == pytest.approx(1.0)
        if reference.pseudo_loss < 1e-6:  # next to perfect: the weight hangs on the rounding of the costs
            assert weight > math.log(1e5)
        else:
            assert weight == pytest.approx(reference.weight, rel=1e-5, abs=1e-5)
    if model.stop_reason_ == PERFECT_LEARNER:
        assert rounds[-1].pseudo_loss == 0


@settings(max_examples=30)
@given(problem=small_problems())
def test_smoteboost_grows_the_best_stump_for_the_distribution_of_adaboost_m2(problem):
    model = booster_for(SMOTEBoostClassifier, problem, max_depth=1, min_samples_leaf=1).fit(problem.X, problem.y)
    synthesis = Synthesis.of(read(model, problem.X, problem.y), model.k_neighbors)
    edges = synthesis.problem.bins.edges
    votes = votes_per_round(model, problem.X)
    rounds = baselines_reference.replay_m2(votes, problem.y.tolist(), model.estimator_weights_)
    for t, reference in enumerate(rounds):
        X = np.concatenate([problem.X.astype(np.float64), synthesis.draw(t)])
        costs = baselines_reference.augmented_costs(reference.distribution, problem.y, synthesis.labels)
        best = baselines_reference.best_score(X, costs, edges, model.criterion)
        reached = float_reference.split_score(root_split(model, t, X), costs, model.criterion)
        assert reached == pytest.approx(best, rel=ROUNDING, abs=ROUNDING)


@pytest.mark.parametrize("criterion", ["gini", "cost"])
def test_smoteboost_on_balanced_classes_is_adaboost_mm_to_the_bit(criterion):
    X, y = make_imbalanced(class_sizes=[60, 60, 60, 60], random_state=0)
    parameters = {"n_estimators": 51, "criterion": criterion, "max_depth": 2}
    model = SMOTEBoostClassifier(**parameters).fit(X, y)
    mm = AdaBoostMMClassifier(**parameters).fit(X, y)
    assert model._forest.nodes.tobytes() == mm._forest.nodes.tobytes()
    assert model.estimator_weights_.tolist() == (2 * mm.estimator_weights_).tolist()
    np.testing.assert_array_equal(model.predict_proba(X), mm.predict_proba(X))


class RowWatch:
    """Notes the losses of all rows at the beginning of every round."""

    def __init__(self, rows):
        self.rows = rows
        self.losses = []

    def begin(self):
        self.losses.append(self.rows._native.row_losses())

    def end(self, history):
        return None


def test_synthetic_rows_weigh_as_much_as_the_mean_original_row_in_every_round():
    X, y = load_glass(return_X_y=True)
    problem = read(SMOTEBoostClassifier(random_state=0, max_depth=4), X, y)
    synthesis = Synthesis.of(problem, 5)
    learner = TreeLearner(problem.bins.kinds, problem.n_classes, 0.0)
    rows = AugmentedRows(problem, synthesis.labels, synthesis.draw_codes)
    watch = RowWatch(rows)
    boost(rows, learner, ClassValues(problem.objective, 1.0, "edge"), 20, watch)
    assert len(watch.losses) == 20
    for losses in watch.losses:
        original, synthetic = losses[: len(y)], losses[len(y) :]
        assert synthetic.min() == synthetic.max()
        assert synthetic[0] == pytest.approx(original.mean(), rel=ROUNDING)


# SMOTE


def synthesis_of(problem, k):
    model = SMOTEBoostClassifier(categorical_features=list(problem.categorical) or None, random_state=0)
    return Synthesis.of(read(model, problem.X, problem.y), k)


@given(problem=small_problems() | small_problems(missing=True, categories=True), k=st.sampled_from([5, 1, 2, 30]))
def test_neighbours_and_draws_are_those_of_the_reference(problem, k):
    X, y = as_codes(problem), problem.y.tolist()
    for label, synthesiser in synthesis_of(problem, k).synthesisers.items():
        rows = [row for row, c in zip(X, y, strict=True) if c == label]
        near = synthesiser.neighbours.tolist()
        distances = [[distance(rows, i, j, problem, X, y) for j in found] for i, found in enumerate(near)]
        reference = baselines_reference.neighbours(X, y, label, k, problem.categorical)
        reference_distances = [
            [distance(rows, i, j, problem, X, y) for j in found] for i, found in enumerate(reference)
        ]
        np.testing.assert_allclose(distances, reference_distances, rtol=1e-6, atol=1e-6)

        random = np.random.RandomState(3)
        picks, steps = random.randint(0, synthesiser.neighbours.size, size=20), random.uniform(size=20)
        drawn = synthesiser.draw(20, np.random.RandomState(3))
        expected = [
            baselines_reference.synthetic_row(rows, near, pick, step, problem.categorical)
            for pick, step in zip(picks, steps, strict=True)
        ]
        np.testing.assert_allclose(drawn, expected, rtol=1e-9, atol=1e-9 * np.nanmax(np.abs(X), initial=1))


@pytest.mark.parametrize("n_samples", [2, 512, 513, 1300])
def test_neighbours_are_the_nearest_other_rows_the_first_of_equally_near_ones(n_samples):
    rows = np.random.RandomState(0).randint(0, 30, size=(n_samples, 2)).astype(float)
    squares = ((rows[:, np.newaxis] - rows) ** 2).sum(axis=2)
    np.fill_diagonal(squares, np.inf)
    expected = np.argsort(squares, axis=1, kind="stable")[:, : min(5, n_samples - 1)]
    np.testing.assert_array_equal(nearest(Metric.of(rows, {}), 5), expected)


def as_codes(problem):
    """X with categories as codes, as the package numbers them: 1, 2, ... in sorted order."""
    X = problem.X.astype(np.float64)
    for f in problem.categorical:
        known = ~np.isnan(X[:, f])
        X[known, f] = np.unique(X[known, f], return_inverse=True)[1] + 1.0
    return X.tolist()


def distance(rows, i, j, problem, X, y):
    return baselines_reference.squared_distance(rows[i], rows[j], problem.categorical, X, y)


@settings(max_examples=25)
@given(
    counts=st.lists(st.integers(6, 25), min_size=2, max_size=4).filter(lambda counts: min(counts) < max(counts)),
    seed=st.integers(0, 1000),
)
def test_drawn_rows_are_those_of_imbalanced_learns_smote(counts, seed):
    X = np.random.RandomState(seed).normal(size=(sum(counts), 3))
    y = np.repeat(np.arange(len(counts)), counts)
    synthesis = Synthesis.of(read(SMOTEBoostClassifier(random_state=seed), X, y), 5)
    keyed = np.random.MT19937(np.random.SeedSequence([synthesis.problem.rules.seed, 7]))
    theirs, labels = SMOTE(k_neighbors=5, random_state=np.random.RandomState(keyed)).fit_resample(X, y)
    np.testing.assert_allclose(synthesis.draw(7), theirs[len(X) :], rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(synthesis.labels, labels[len(X) :])


@given(problem=small_problems(), round_idx=st.integers(0, 50))
def test_synthetic_rows_lie_on_segments_between_a_row_and_one_of_its_neighbours(problem, round_idx):
    synthesis = synthesis_of(problem, 5)
    drawn, X = synthesis.draw(round_idx), problem.X.astype(np.float64)
    for row, label in zip(drawn, synthesis.labels, strict=True):
        rows, near = X[problem.y == label], synthesis.synthesisers[int(label)].neighbours
        assert any(is_between(row, rows[i], rows[j]) for i in range(len(rows)) for j in near[i])


@given(value=st.floats(allow_nan=False, allow_infinity=False), seed=st.integers(0, 100))
def test_number_that_a_row_and_its_neighbour_share_is_drawn_exactly(value, seed):
    rows = np.column_stack([np.full(3, value), np.arange(3.0)])
    synthesiser = Synthesiser.of(rows, np.array([[1, 2], [0, 2], [1, 0]]), [])
    assert (synthesiser.draw(200, np.random.RandomState(seed))[:, 0] == value).all()


def is_between(row, a, b):
    """Whether a row is (1 − step)·a + step·b for one step in [0, 1], each number rounded as a double is.

    Every number allows the steps of an interval, and these must have one in common. In fractions, since a number that
    differs by a few of its last bits only says next to nothing about the step, and differences may be denormal.
    """
    if not ((np.minimum(a, b) <= row) & (row <= np.maximum(a, b))).all():
        return False
    low, high = Fraction(0), Fraction(1)
    for value, v, w in zip(*(map(Fraction, numbers.tolist()) for numbers in (row, a, b)), strict=True):
        if v != w:
            slack = max(abs(v), abs(w)) / 2**51 + Fraction(1, 2**1073)
            bounds = sorted([(value - slack - v) / (w - v), (value + slack - v) / (w - v)])
            low, high = max(low, bounds[0]), min(high, bounds[1])
    return low <= high


@settings(max_examples=25)
@given(problem=small_problems(missing=True, categories=True))
def test_original_and_synthetic_rows_together_are_as_many_in_every_class(problem):
    synthesis = synthesis_of(problem, 5)
    counts = np.bincount(problem.y)
    total = counts + np.bincount(synthesis.labels, minlength=len(counts))
    assert total.tolist() == [counts.max()] * len(counts)
    assert len(synthesis.draw(0)) == len(synthesis.labels)


def test_class_of_one_row_is_duplicated():
    X = np.array([[0.1, 1.0], [0.2, 2.0], [0.3, 1.0], [0.4, np.nan], [77.7, 3.0]])
    model = SMOTEBoostClassifier(categorical_features=[1])
    synthesis = Synthesis.of(read(model, X, [0, 0, 0, 0, 1]), 5)
    assert synthesis.draw(0).tolist() == [[77.7, 3.0]] * 3


def test_class_of_few_rows_uses_the_neighbours_it_has():
    X, y = np.arange(20.0).reshape(-1, 1), [0] * 17 + [1] * 3
    synthesis = Synthesis.of(read(SMOTEBoostClassifier(), X, y), 5)
    assert synthesis.synthesisers[1].neighbours.tolist() == [[1, 2], [0, 2], [1, 0]]


def test_categories_of_synthetic_rows_are_the_most_frequent_of_the_neighbours():
    # The neighbours of the first row of class 1, by column 0, are the next three: b, c, c.
    frame = pd.DataFrame({"n": [0.0, 1.0, 2.0, 3.0, *np.linspace(50, 60, 8)], "c": [*"abcc", *"aaaabbbb"]})
    frame["c"] = frame["c"].astype("category")
    synthesis = Synthesis.of(read(SMOTEBoostClassifier(), frame, [1] * 4 + [0] * 8), 3)
    assert synthesis.synthesisers[1].modes[:, 0].tolist() == [3.0, 3.0, 3.0, 3.0]
    assert set(synthesis.draw(0)[:, 1]) == {3.0}


def test_tied_categories_are_those_of_the_nearest_neighbour():
    X = np.array([[0.0, 1.0], [1.0, 3.0], [2.5, 2.0], *[[50.0 + i, 1.0 + i % 3] for i in range(6)]])
    model = SMOTEBoostClassifier(categorical_features=[1])
    synthesis = Synthesis.of(read(model, X, [1] * 3 + [0] * 6), 2)
    assert synthesis.synthesisers[1].modes[0].tolist() == [3.0]


def test_most_frequent_category_of_many_neighbours_takes_no_memory_of_their_pairs():
    codes = np.random.RandomState(0).randint(1, 5, size=(100, 3000)).astype(float)
    codes[:, ::7] = np.nan
    assert peak_of(lambda: most_frequent(codes)) < 10 * codes.nbytes
    assert most_frequent(codes).tolist() == [np.bincount(row[~np.isnan(row)].astype(int)).argmax() for row in codes]


@given(problem=problems(max_rows=30, max_features=3, weighted=False, costed=False, categories=True))
def test_value_differences_are_those_of_imbalanced_learn(problem):
    codes = np.array([np.unique(column, return_inverse=True)[1] for column in problem.X.T]).T
    theirs = ValueDifferenceMetric().fit(codes, problem.y).pairwise(codes)
    ours = np.zeros_like(theirs)
    for column in codes.T:
        table = value_differences(column.astype(np.uint8), problem.y.astype(np.uint16), problem.n_classes)
        ours += table[column][:, column] / CATEGORY_UNITS
    np.testing.assert_allclose(ours, theirs, atol=1e-6)


@given(problem=small_problems(missing=True))
def test_distances_between_rows_with_missing_numbers_are_those_of_scikit_learn(problem):
    X = np.round(np.clip(problem.X.astype(np.float64), -100, 100), 3)  # theirs cancel
    theirs = nan_euclidean_distances(X, squared=True)
    ours = Metric.of(X, {}).squares(0, len(X))
    np.testing.assert_allclose(ours, np.where(np.isnan(theirs), np.inf, theirs), rtol=1e-6, atol=1e-6)


def test_numbers_and_categories_add_up_to_the_distances_of_the_reference():
    random = np.random.RandomState(0)
    X, y = np.column_stack([random.normal(size=(30, 2)), random.randint(1, 5, size=(30, 2))]), random.randint(0, 3, 30)
    X[random.rand(30, 4) < 0.2] = np.nan
    codes = np.nan_to_num(X).astype(np.uint8)
    differences = {f: value_differences(codes[:, f], y.astype(np.uint16), 3) for f in (2, 3)}
    rows, labels = X.tolist(), y.tolist()
    reference = [[baselines_reference.squared_distance(a, b, (2, 3), rows, labels) for b in rows] for a in rows]
    np.testing.assert_allclose(Metric.of(X, differences).squares(0, 30), reference, rtol=1e-7, atol=1e-8)


def test_number_that_a_neighbour_lacks_is_missing_between_them():
    X = np.array([[0.0, 5.0], [1.0, np.nan], *[[50.0 + i, 0.0] for i in range(8)]])
    synthesis = Synthesis.of(read(SMOTEBoostClassifier(), X, [1] * 2 + [0] * 8), 5)
    drawn = synthesis.draw(0)
    assert np.isnan(drawn[:, 1]).all()
    assert ((drawn[:, 0] >= 0) & (drawn[:, 0] <= 1)).all()


def test_rows_of_a_round_are_drawn_anew():
    X, y = load_glass(return_X_y=True)
    synthesis = Synthesis.of(read(SMOTEBoostClassifier(random_state=0), X, y), 5)
    assert not np.array_equal(synthesis.draw(0), synthesis.draw(1))
    np.testing.assert_array_equal(synthesis.draw(1), synthesis.draw(1))


# Both


def model_bytes(model):
    forest = model._forest
    arrays = (forest.nodes, forest.sets, forest.offsets, forest.weights, model.estimator_weights_)
    return (*(np.ascontiguousarray(array).tobytes() for array in arrays), model.stop_reason_)


@boosters
@pytest.mark.parametrize("load", [load_glass, load_car])
def test_model_is_bit_identical_for_any_number_of_threads(booster, load):
    X, y = load(return_X_y=True, as_frame=True)
    parameters = {"n_estimators": 5, "max_depth": 5}
    models = [booster(**parameters, random_state=3, n_jobs=n_jobs).fit(X, y) for n_jobs in (None, 2, 3)]
    assert len({model_bytes(model) for model in models}) == 1
    other = booster(**parameters, random_state=4).fit(X, y)
    assert model_bytes(other) != model_bytes(models[0])


def odd_tables():
    """Tables of 40 rows with little or strange things in them, by name."""
    random = np.random.RandomState(0)
    numbers = random.normal(size=(40, 2))
    gappy = np.where(random.rand(40, 2) < 0.5, np.nan, numbers)
    categories = pd.DataFrame({name: pd.Categorical(random.choice([*"xyz"], 40)) for name in "ab"})
    return {
        "constant": np.zeros((40, 2)),
        "all missing": np.full((40, 2), np.nan),
        "one column missing": np.column_stack([numbers, np.full(40, np.nan)]),
        "gaps": gappy,
        "huge": np.clip(numbers, -1.7, 1.7) * 1e308,
        "denormal": numbers * 1e-320,
        "categories": categories,
        "categories with gaps": categories.where(random.rand(40, 2) < 0.5),
        "both with gaps": categories.where(random.rand(40, 2) < 0.5).assign(n=gappy[:, 0]),
    }


@boosters
@pytest.mark.parametrize("name", odd_tables())
def test_odd_tables_and_tiny_classes_are_learned_from(booster, name):
    X, y = odd_tables()[name], np.array([*"a" * 25, *"b" * 10, *"c" * 4, "d"])
    models = [booster(random_state=0, n_estimators=5, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2)]
    assert model_bytes(models[0]) == model_bytes(models[1])
    assert models[0].classes_.tolist() == ["a", "b", "c", "d"]
    np.testing.assert_allclose(models[0].predict_proba(X).sum(axis=1), 1.0)


@boosters
def test_many_classes_of_few_rows_are_learned_without_a_warning(booster):
    y = np.arange(30) % 20
    model = booster(max_depth=None).fit(np.arange(30.0).reshape(-1, 1), y)
    assert model.score(np.arange(30.0).reshape(-1, 1), y) == 1.0


@boosters
def test_model_is_the_same_for_any_container(booster):
    X, y = load_car(return_X_y=True, as_frame=True)
    X = X.astype("category")
    X["safety"] = X["safety"].where(np.arange(len(X)) % 7 > 0)
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({name: X[name].astype("object").where(X[name].notna(), None).tolist() for name in X})
    frame = frame.with_columns(polars.all().cast(polars.Categorical))
    first = booster(random_state=0, n_estimators=5).fit(X, y)
    second = booster(random_state=0, n_estimators=5).fit(frame, y)
    assert model_bytes(first) == model_bytes(second)
    np.testing.assert_array_equal(first.predict(X), second.predict(frame))


@boosters
@given(problem=small_problems(missing=True, categories=True))
def test_training_ends_with_a_reason_and_at_least_one_vote(booster, problem):
    model = booster_for(booster, problem).fit(problem.X, problem.y)
    assert 1 <= model.n_iter_ <= model.n_estimators
    assert len(model.estimator_weights_) == model.n_iter_
    assert (model.estimator_weights_ > 0).all()
    assert model.stop_reason_ in {N_ESTIMATORS, NO_EDGE, PERFECT_LEARNER, "rounding", "loss_vanished"}
    if model.stop_reason_ == N_ESTIMATORS:
        assert model.n_iter_ == model.n_estimators


@boosters
def test_round_no_better_than_guessing_ends_the_fit_but_leaves_a_vote(booster):
    model = booster().fit(np.zeros((6, 2)), [0, 1, 2, 0, 1, 2])
    assert model.stop_reason_ == NO_EDGE
    assert model.n_iter_ == 1


@boosters
def test_perfect_tree_ends_the_fit(booster):
    model = booster().fit([[0.0], [0.1], [0.2], [1.0]], ["a", "a", "a", "b"])
    assert model.stop_reason_ == PERFECT_LEARNER
    assert model.predict([[0.0], [1.0]]).tolist() == ["a", "b"]


@boosters
@pytest.mark.parametrize("proba", ["softmax", "vote_fraction"])
def test_probabilities_sum_to_one_and_agree_with_predictions(booster, proba):
    X, y = load_ecoli(return_X_y=True)
    model = booster(random_state=0, proba=proba).fit(X, y)
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[shares.argmax(axis=1)], model.predict(X))


@boosters
def test_last_stage_is_the_prediction_and_pickles_keep_it(booster):
    X, y = load_glass(return_X_y=True)
    model = booster(random_state=0).fit(X, y)
    stages = list(model.staged_predict(X))
    assert list(model.staged_score(X, y)) == [float(np.mean(stage == y)) for stage in stages]
    assert model.n_classes_ == len(model.classes_)
    assert len(stages) == model.n_iter_
    np.testing.assert_array_equal(stages[-1], model.predict(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).decision_function(X), model.decision_function(X))


@boosters
def test_sample_weight_is_not_taken(booster):
    assert list(inspect.signature(booster.fit).parameters) == ["self", "X", "y"]
    with pytest.raises(TypeError, match="sample_weight"):
        booster().fit([[0.0], [1.0]], [0, 1], sample_weight=[1, 1])


@boosters
def test_constructor_takes_keywords_only(booster):
    parameters = inspect.signature(booster).parameters.values()
    assert {parameter.kind for parameter in parameters} == {inspect.Parameter.KEYWORD_ONLY}


@boosters
@pytest.mark.parametrize(
    ("parameter", "value"),
    [("n_estimators", 0), ("max_depth", 0), ("criterion", "entropy"), ("max_bins", 256), ("proba", "sigmoid")],
)
def test_parameter_out_of_range_is_refused(booster, parameter, value):
    with pytest.raises(ValueError, match=parameter):
        booster(**{parameter: value}).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(
    "model",
    [
        AdaBoostNCClassifier(penalty_strength=-1.0),
        AdaBoostNCClassifier(penalty_strength=math.inf),
        SMOTEBoostClassifier(k_neighbors=0),
        SMOTEBoostClassifier(k_neighbors=2.0),
        SMOTEBoostClassifier(k_neighbors=True),
        SMOTEBoostClassifier(k_neighbors=None),
    ],
)
def test_parameter_of_one_booster_out_of_range_is_refused(model):
    with pytest.raises(ValueError, match=r"penalty_strength|k_neighbors"):
        model.fit([[0.0], [1.0]], [0, 1])


@boosters
def test_failed_fit_leaves_the_model_as_it_was(booster):
    X, y = load_glass(return_X_y=True)
    model = booster(random_state=0, n_estimators=3).fit(X, y)
    before = model_bytes(model)
    with pytest.raises(ValueError, match="infinity"):
        model.fit(np.array([[np.inf], [1.0]]), [0, 1])
    assert model_bytes(model) == before
    assert model.n_features_in_ == X.shape[1]


@boosters
def test_documented_defaults_are_the_defaults(booster):
    documented = dict(re.findall(r"^(\w+) : .*?default=([^,\n]+)$", inspect.getdoc(booster), flags=re.MULTILINE))
    actual = {name: parameter.default for name, parameter in inspect.signature(booster).parameters.items()}
    assert {name: ast.literal_eval(text) for name, text in documented.items()} == actual


@boosters
def test_fitted_attributes_are_documented(booster):
    model = booster(n_estimators=1).fit(pd.DataFrame({"a": [0.0, 1.0]}), [0, 1])
    public = {name for name in dir(model) if name.endswith("_") and not name.startswith("_")}
    assert public == set(re.findall(r"^(\w+_) : ", inspect.getdoc(booster), flags=re.MULTILINE))


@pytest.mark.parametrize("booster", [AdaBoostNCClassifier, SMOTEBoostClassifier])
def test_sample_weights_are_refused_with_the_reason(booster):
    with pytest.raises(TypeError, match=rf"^{booster.__name__}\.fit got .*'sample_weight'; .* the rows are resampled"):
        booster().fit([[0.0], [1.0]], [0, 1], sample_weight=[1.0, 1.0])
