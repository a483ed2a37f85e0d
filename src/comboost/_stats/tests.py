"""Significance tests of two methods on the same cross-validation folds."""

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit
from scipy.stats import t as student
from scipy.stats import ttest_rel

LEVEL = 0.05


class Comparison(NamedTuple):
    """Mean gain of the first method over the second, and p-values of the plain and the corrected t-test."""

    gain: float
    p: float
    p_corrected: float

    def is_better(self, *, corrected: bool = False) -> bool:
        """Whether the first method is significantly better at the 5 % level."""
        return self.gain > 0 and (self.p_corrected if corrected else self.p) < LEVEL


def compare(
    first: Sequence[float], second: Sequence[float], *, lower_is_better: bool = False, test_ratio: float = 0.25
) -> Comparison:
    """Compare a metric of two methods on the same folds by two-sided paired t-tests.

    ``test_ratio`` is the number of test samples per training sample, 1/4 for five folds. The corrected resampled t-test
    of Nadeau and Bengio needs it: folds of several runs have training samples in common, so the plain test is
    overconfident. p = 1 if the two never differ, or if there are fewer than two folds.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning 52 (2003).

    Examples
    --------
    >>> from comboost._stats.tests import compare
    >>> comparison = compare([0.9, 0.8, 0.9, 0.9], [0.7, 0.7, 0.8, 0.6])
    >>> round(comparison.p, 3), round(comparison.p_corrected, 3)
    (0.035, 0.081)
    >>> comparison.is_better(), comparison.is_better(corrected=True)
    (True, False)
    """
    gains = np.subtract(second, first) if lower_is_better else np.subtract(first, second)
    n = gains.size
    if n < 2 or not gains.any():
        return Comparison(float(gains.mean()) if n else 0.0, 1.0, 1.0)
    gain, variance = float(gains.mean()), float(gains.var(ddof=1))
    if variance <= (1e-12 * gain) ** 2:  # constant gain, apart from rounding
        return Comparison(gain, 0.0, 0.0)
    corrected = gain / sqrt((1 / n + test_ratio) * variance)
    return Comparison(gain, float(ttest_rel(first, second).pvalue), float(2 * student.sf(abs(corrected), n - 1)))


def corrected_interval(
    differences: ArrayLike, test_ratio: float, confidence: float = 0.95
) -> tuple[float, float, float]:
    """Mean of differences over folds with the lower and upper confidence bound of the corrected resampled t-test.

    ``test_ratio`` is the number of test samples per training sample.

    Examples
    --------
    >>> from comboost._stats.tests import corrected_interval
    >>> [round(value, 3) for value in corrected_interval([0.01, 0.03, 0.02, 0.02, 0.02], 0.25)]
    [0.02, 0.007, 0.033]
    """
    values = np.asarray(differences, dtype=np.float64)
    n, mean = len(values), float(np.mean(values))
    error = float(np.sqrt((1 / n + test_ratio) * values.var(ddof=1)))
    half = float(stdtrit(n - 1, 0.5 + 0.5 * confidence)) * error
    return mean, mean - half, mean + half
