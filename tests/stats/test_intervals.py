"""Intervals hold the truth as often as they say."""

from itertools import product
from math import comb

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from comboost._stats.intervals import bonferroni, exact_interval, newcombe_interval, wilson_interval


def all_tables(n_samples):
    """All counts of four cases, and in how many orders each arises."""
    tables = [cells for cells in product(range(n_samples + 1), repeat=4) if sum(cells) == n_samples]
    orders = [comb(n_samples, a) * comb(n_samples - a, b) * comb(n_samples - a - b, c) for a, b, c, _ in tables]
    return np.array(tables, dtype=float), np.array(orders, dtype=float)


PROBABILITIES = [(0.4, 0.2, 0.2, 0.2), (0.6, 0.25, 0.05, 0.1), (0.25, 0.25, 0.25, 0.25), (0.5, 0.4, 0.05, 0.05)]


@pytest.mark.parametrize("probabilities", PROBABILITIES)
@pytest.mark.parametrize("n_samples", [8, 15])
def test_newcombe_intervals_hold_the_truth_about_as_often_as_they_say(probabilities, n_samples):
    tables, orders = all_tables(n_samples)
    chances = orders * np.prod(np.array(probabilities) ** tables, axis=1)
    _, low, high = newcombe_interval(*tables.T, 0.95)
    truth = probabilities[1] - probabilities[2]
    held = chances[(low <= truth) & (truth <= high)].sum()
    assert chances.sum() == pytest.approx(1.0)
    assert 0.92 <= held <= 1.0


def test_newcombe_intervals_are_those_of_the_paper():
    difference, low, high = newcombe_interval(*np.array([[36.0, 14.0], [12.0, 0.0], [2.0, 0.0], [0.0, 0.0]]), 0.95)
    assert difference.tolist() == [0.2, 0.0]
    assert (round(low[0], 4), round(high[0], 4)) == (0.0569, 0.3404)


def test_without_samples_the_interval_is_everything():
    nothing = np.zeros(1)
    assert [each[0] for each in newcombe_interval(nothing, nothing, nothing, nothing, 0.95)] == [0.0, -1.0, 1.0]


def test_simultaneous_intervals_divide_the_error():
    assert bonferroni(0.95, 10) == pytest.approx(0.995)
    assert bonferroni(0.95, 1) == pytest.approx(0.95)


def test_no_difference_is_significant_that_mcnemar_does_not_see():
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


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
def test_wilson_intervals_are_those_of_scipy_at_any_confidence(confidence):
    cases = [(right, size) for size in (1, 2, 5, 40) for right in range(0, size + 1, max(1, size // 5))]
    right, sizes = np.array(cases, dtype=float).T
    low, high = wilson_interval(right / sizes, sizes, confidence=confidence)
    for (n_right, size), below, above in zip(cases, low, high, strict=True):
        expected = binomtest(n_right, size).proportion_ci(confidence, method="wilson")
        assert (below, above) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99])
def test_exact_intervals_leave_half_of_the_error_on_either_side(confidence):
    low, high = exact_interval(np.array([3.0, 7.0]), np.array([10.0, 10.0]), confidence)
    for n_right, below, above in zip((3, 7), low, high, strict=True):
        half = (1 - confidence) / 2
        assert binom.sf(n_right - 1, 10, below) == pytest.approx(half)
        assert binom.cdf(n_right, 10, above) == pytest.approx(half)
