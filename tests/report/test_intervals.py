"""Intervals hold the truth as often as they say; draws have the spread of the rows."""

from itertools import product
from math import comb

import numpy as np
import pytest
from report.oracles import Oracle, table_of
from scipy.sparse import csr_array
from scipy.stats import binomtest

from comboost._stats.exact_intervals import exact_interval
from comboost._stats.paired_intervals import newcombe_interval
from comboost.metrics._measures import norm_of
from comboost.report._figures import at_once, norm_of_many
from comboost.report._inquiry import Inquiry
from comboost.report._resampling import (
    dense_norms,
    draw_anew,
    exchange_answers,
    joint_table,
    largest_singular_value,
    with_rows_added,
)
from comboost.report._trial import try_models


def all_tables(n_rows):
    """All ways to share rows among four cases, and in how many orders each comes."""
    tables = [cells for cells in product(range(n_rows + 1), repeat=4) if sum(cells) == n_rows]
    orders = [comb(n_rows, a) * comb(n_rows - a, b) * comb(n_rows - a - b, c) for a, b, c, _ in tables]
    return np.array(tables, dtype=float), np.array(orders, dtype=float)


SHARES = [(0.4, 0.2, 0.2, 0.2), (0.6, 0.25, 0.05, 0.1), (0.25, 0.25, 0.25, 0.25), (0.5, 0.4, 0.05, 0.05)]


@pytest.mark.parametrize("shares", SHARES)
@pytest.mark.parametrize("n_rows", [8, 15])
def test_newcombe_intervals_hold_the_truth_about_as_often_as_they_say(shares, n_rows):
    tables, orders = all_tables(n_rows)
    chances = orders * np.prod(np.array(shares) ** tables, axis=1)
    _, low, high = newcombe_interval(*tables.T, 0.95)
    truth = shares[1] - shares[2]
    held = chances[(low <= truth) & (truth <= high)].sum()
    assert chances.sum() == pytest.approx(1.0)
    assert 0.92 <= held <= 1.0


def test_newcombe_intervals_are_those_of_the_paper():
    difference, low, high = newcombe_interval(*np.array([[36.0, 14.0], [12.0, 0.0], [2.0, 0.0], [0.0, 0.0]]), 0.95)
    assert difference.tolist() == [0.2, 0.0]
    assert (round(low[0], 4), round(high[0], 4)) == (0.0569, 0.3404)


def test_no_rows_are_no_evidence():
    nothing = np.zeros(1)
    assert [each[0] for each in newcombe_interval(nothing, nothing, nothing, nothing, 0.95)] == [0.0, -1.0, 1.0]


def test_simultaneous_limits_share_the_chance_to_fail():
    assert at_once(0.95, 10) == pytest.approx(0.995)
    assert at_once(0.95, 1) == pytest.approx(0.95)


def trial_of(truth, *answers):
    classes = np.unique(truth)
    oracles = [Oracle(each, classes) for each in answers]
    return try_models(Inquiry(oracles[0], table_of(len(truth)), truth, oracles[1] if len(oracles) > 1 else None))


def said_with(random, truth, recalls):
    """Answers that are right with the chance of their class, else the next class."""
    right = random.random(len(truth)) < np.asarray(recalls)[truth]
    return np.where(right, truth, (truth + 1) % len(recalls))


def test_draws_have_the_spread_of_binomial_rows():
    random = np.random.default_rng(0)
    truth = np.repeat(np.arange(3), [400, 900, 2000])
    said = said_with(random, truth, [0.5, 0.7, 0.9])
    draws = draw_anew(trial_of(truth, said), 0, n_draws=4000)
    recalls = np.array([(said[truth == k] == k).mean() for k in range(3)])
    variances = recalls * (1 - recalls) / [400, 900, 2000]
    assert draws.error_of("mean_recall", 0) == pytest.approx(np.sqrt(variances.sum()) / 3, rel=0.05)
    weights = np.array([400, 900, 2000]) / 3300
    assert draws.error_of("accuracy", 0) == pytest.approx(np.sqrt((weights**2 * variances).sum()), rel=0.05)


def test_pairing_narrows_the_difference_of_models_that_agree():
    random = np.random.default_rng(0)
    truth = np.repeat(np.arange(2), 500)
    ours = said_with(random, truth, [0.7, 0.7])
    theirs = np.where(np.arange(1000) % 50 == 0, truth, ours)  # nearly the same
    draws = draw_anew(trial_of(truth, ours, theirs), 0)
    assert draws.error_of_difference("mean_recall") < 0.5 * draws.error_of("mean_recall", 0)


def test_mean_recall_of_few_rows_is_held_about_as_often_as_it_is_said():
    random, recalls = np.random.default_rng(0), np.array([0.9, 0.6])
    truth, n_held, n_trials = np.repeat(np.arange(2), [6, 25]), 0, 300
    for _ in range(n_trials):
        said = said_with(random, truth, recalls)
        draws = draw_anew(trial_of(truth, said), 0, n_draws=100)
        value = np.mean([(said[truth == k] == k).mean() for k in range(2)])
        n_held += abs(value - recalls.mean()) <= draws.half_width(draws.error_of("mean_recall", 0), 0.95)
    assert n_held / n_trials >= 0.91


def test_a_class_that_is_always_found_is_not_taken_for_certain():
    truth = np.repeat(np.arange(2), [2, 50])
    draws = draw_anew(trial_of(truth, truth), 0)
    assert all(draws.error_of(key, 0) > 0 for key in ("norm", "g_mean", "mean_recall", "accuracy"))


def test_joint_table_keeps_all_rows_and_adds_two_to_every_class():
    truth = np.array([0, 0, 1, 1, 1])
    observed, _ = joint_table(trial_of(truth, np.array([0, 1, 1, 1, 0]), np.array([0, 0, 1, 1, 0])))
    assert np.bincount(observed.truth, observed.rows).tolist() == [2.0, 3.0]
    table = with_rows_added(observed, 2)
    assert np.bincount(table.truth, table.rows).tolist() == [4.0, 5.0]
    for answers in table.answers:
        assert np.bincount(table.truth, table.rows * (answers == table.truth)).min() >= 1.0


def test_norms_of_many_classes_are_those_of_few():
    random = np.random.default_rng(0)
    matrices = random.random((20, 12, 12)) * (random.random((12, 12)) < 0.4)
    pairs = np.flatnonzero(matrices.any(axis=0))
    shares = matrices.reshape(20, -1)[:, pairs]
    structure = csr_array((np.ones(len(pairs)), (pairs // 12, pairs % 12)), shape=(12, 12))
    exact = [np.linalg.norm(matrix, ord=2) for matrix in matrices]
    assert dense_norms(shares, pairs, 12) == pytest.approx(exact)
    assert [largest_singular_value(structure, values) for values in shares] == pytest.approx(exact, rel=2e-3)


def test_a_thousand_classes_are_drawn_in_few_steps():
    random = np.random.default_rng(0)
    truth = np.arange(20_000) % 1000
    ours, theirs = (said_with(random, truth, np.full(1000, good)) for good in (0.7, 0.6))
    draws = draw_anew(trial_of(truth, ours, theirs), 0, n_draws=20)
    assert draws.measures["norm"].shape == (2, 20)
    assert (draws.measures["mean_recall"][0] > draws.measures["mean_recall"][1]).all()


def test_norm_of_many_classes_is_the_norm():
    counts = np.random.default_rng(0).integers(0, 5, (130, 130)).astype(float)
    assert norm_of_many(counts) == pytest.approx(norm_of(counts), rel=1e-12)


def test_no_difference_is_sure_that_the_exact_test_of_mcnemar_does_not_see():
    tables, _ = all_tables(12)
    _, low, high = newcombe_interval(*tables.T, 0.95)
    for (_, first, second, _), below, above in zip(tables.astype(int).tolist(), low, high, strict=True):
        chance = binomtest(first, first + second).pvalue if first + second else 1.0
        assert chance <= 0.05 or below <= 0 <= above


def test_exact_intervals_are_those_of_scipy():
    cases = [(right, size) for size in range(1, 12) for right in range(size + 1)]
    low, high = exact_interval(*np.array(cases, dtype=float).T, 0.9)
    for (right, size), below, above in zip(cases, low, high, strict=True):
        expected = binomtest(right, size).proportion_ci(0.9, method="exact")
        assert (below, above) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert [each.tolist() for each in exact_interval(np.zeros(1), np.zeros(1), 0.9)] == [[0.0], [1.0]]


def rare_and_common(n_rare):
    """Two classes, of the first of which the model finds all and the baseline nothing; the second both find."""
    truth = np.repeat([0, 1], [n_rare, 300])
    return trial_of(truth, truth, np.ones_like(truth))


@pytest.mark.parametrize("n_rare", [1, 2, 3, 4, 5, 7, 10])
def test_no_mean_is_sure_by_rows_that_the_exact_test_does_not_tell_apart(n_rare):
    draws = draw_anew(rare_and_common(n_rare), 0)
    chance = binomtest(n_rare, n_rare).pvalue
    for key, value in (("mean_recall", 0.5), ("norm", -1.0), ("accuracy", n_rare / (n_rare + 300))):
        half = draws.half_width_of_difference(key, value, 0.95)
        assert chance <= 0.05 or half >= abs(value)
        assert chance >= 0.02 or key == "norm" or half < abs(value)


def test_exchanged_answers_keep_rows_and_favour_nobody():
    random = np.random.default_rng(0)
    truth = np.repeat(np.arange(3), [20, 30, 200])
    ours, theirs = (said_with(random, truth, recalls) for recalls in ([0.9, 0.8, 0.7], [0.2, 0.5, 0.6]))
    observed, _ = joint_table(trial_of(truth, ours, theirs))
    drawn, table = exchange_answers(observed, 500, random)
    by_class = np.stack([drawn[:, table.truth == place].sum(axis=1) for place in range(3)], axis=1)
    assert (by_class == [20, 30, 200]).all()
    right = [drawn[:, answers == table.truth].sum(axis=1).astype(int) for answers in table.answers]
    assert ((right[0] + right[1]) == (ours == truth).sum() + (theirs == truth).sum()).all()
    n_disagreed = int(((ours == truth) != (theirs == truth)).sum())
    assert (right[0] - right[1]).std() == pytest.approx(np.sqrt(n_disagreed), rel=0.15)
