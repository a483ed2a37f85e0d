import numpy as np
import pytest
from scipy.stats import t as student
from scipy.stats import ttest_rel

from comboost._stats.tests import compare, corrected_interval

RNG = np.random.default_rng(0)
FIRST, SECOND = RNG.random(20) + 0.3, RNG.random(20)


def test_plain_p_is_that_of_scipy():
    assert compare(FIRST, SECOND).p == pytest.approx(ttest_rel(FIRST, SECOND).pvalue)


def test_corrected_p_grows_from_the_plain_one_with_the_test_ratio():
    assert compare(FIRST, SECOND, test_ratio=0.0).p_corrected == pytest.approx(compare(FIRST, SECOND).p)
    p = [compare(FIRST, SECOND, test_ratio=share).p_corrected for share in (0.0, 0.1, 0.25, 1.0)]
    assert p == sorted(p)
    assert p[0] < p[-1]


def test_corrected_t_of_fifty_folds_is_the_plain_one_over_the_root_of_thirteen_and_a_half():
    # sqrt((1/50 + 1/4)/(1/50))
    first, second = np.tile(FIRST[:10], 5), np.tile(SECOND[:10], 5)
    gains = first - second
    t = gains.mean() / (gains.std(ddof=1) / np.sqrt(50))
    assert compare(first, second).p_corrected == pytest.approx(2 * student.sf(abs(t) / np.sqrt(13.5), 49))


def test_better_depends_on_the_direction():
    assert compare(FIRST, SECOND).is_better()
    assert not compare(SECOND, FIRST).is_better()
    assert compare(SECOND, FIRST, lower_is_better=True).is_better()


@pytest.mark.parametrize("values", [[0.5] * 4, [0.1, 0.2, 0.3], [0.7], []])
def test_equal_values_are_no_difference(values):
    comparison = compare(values, values)
    assert comparison == (0.0, 1.0, 1.0)
    assert not comparison.is_better()


def test_a_constant_gain_is_certain_without_a_warning():
    comparison = compare([0.3 + 0.1 * k for k in range(5)], [0.2 + 0.1 * k for k in range(5)])
    assert comparison.gain == pytest.approx(0.1)
    assert comparison.is_better(corrected=True)


def test_one_fold_proves_nothing():
    assert not compare([0.9], [0.1]).is_better()


def test_corrected_interval_is_wider_than_that_of_independent_folds():
    differences = np.random.default_rng(0).normal(size=10)
    mean, low, high = corrected_interval(differences, 1 / 9)
    plain = corrected_interval(differences, 0.0)
    assert mean == plain[0] == pytest.approx(differences.mean())
    assert (high - low) / (plain[2] - plain[1]) == pytest.approx(np.sqrt(1 + 10 / 9))
    assert plain[2] - plain[0] == pytest.approx(2.262157 * differences.std(ddof=1) / np.sqrt(10))


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("n", [2, 3, 10, 50])
def test_corrected_intervals_are_two_sided_as_those_of_scipy(confidence, n):
    differences = np.random.default_rng(n).normal(size=n)
    scale = np.sqrt(1 / n + 0.25) * differences.std(ddof=1)
    expected = student.interval(confidence, n - 1, loc=differences.mean(), scale=scale)
    assert corrected_interval(differences, 0.25, confidence)[1:] == pytest.approx(expected)
