"""Significance. In: the figures of two methods on the same folds. Out: whether their difference is more than chance."""

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student
from scipy.stats import ttest_rel

LEVEL = 0.05


class Comparison(NamedTuple):
    """How much better the first is than the second, and the probabilities of such a difference by chance."""

    gain: float
    p: float
    p_corrected: float

    def is_better(self, *, corrected: bool = False) -> bool:
        """Whether the first is significantly better, at 95 %."""
        return self.gain > 0 and (self.p_corrected if corrected else self.p) < LEVEL


def compare(
    first: Sequence[float], second: Sequence[float], *, lower_is_better: bool = False, test_share: float = 0.25
) -> Comparison:
    """Compare two methods on the same folds by paired t-tests, two-sided.

    Parameters
    ----------
    first, second : sequence of float
        A measure of the two methods on the same folds, in the same order.
    lower_is_better : bool, default=False
        Whether a small figure is a good one.
    test_share : float, default=0.25
        Test rows per training row, 1/4 for five folds. The corrected resampled t-test of Nadeau and Bengio needs it:
        folds of several runs share training rows, and the plain test, which takes them as independent, is too sure.

    Returns
    -------
    Comparison
        With p = 1 if the two never differ, or if there are fewer than two folds.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning 52 (2003).

    Examples
    --------
    >>> from comboost._stats.significance import compare
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
    if variance <= (1e-12 * gain) ** 2:  # always the same gain, but for rounding
        return Comparison(gain, 0.0, 0.0)
    corrected = gain / sqrt((1 / n + test_share) * variance)
    return Comparison(gain, float(ttest_rel(first, second).pvalue), float(2 * student.sf(abs(corrected), n - 1)))
