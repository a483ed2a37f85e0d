"""Confidence intervals of proportions, and of differences of paired proportions."""

from numbers import Real

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from comboost._types import Floats
from comboost.metrics._confidence import clopper_pearson_lower


def check_confidence(confidence: float) -> None:
    """Raise if the confidence level is not in (0, 1)."""
    if not isinstance(confidence, Real) or not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence!r} must lie between 0 and 1, such as 0.95.")


def bonferroni(confidence: float, n_intervals: int) -> float:
    """Confidence level of each interval if all of them should hold at once."""
    return 1.0 - (1.0 - confidence) / max(n_intervals, 1)


def wilson_interval(proportions: ArrayLike, n_samples: ArrayLike, *, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """Wilson score interval of a proportion.

    Unlike proportion ± standard error, it stays within [0, 1] and is informative for few samples and for proportions
    of 0 and 1.

    Parameters
    ----------
    proportions : array-like
        Observed proportions in [0, 1], such as recalls.
    n_samples : array-like
        Number of samples behind each proportion. The interval for 0 samples is [0, 1].
    confidence : float, default=0.95
        Confidence level in (0, 1).

    Returns
    -------
    low, high : ndarray
        Confidence bounds, in the shape of the proportions.

    Examples
    --------
    >>> from comboost.model_selection import wilson_interval
    >>> low, high = wilson_interval([1.0, 0.5], [5, 50])
    >>> low.round(2), high.round(2)
    (array([0.57, 0.37]), array([1.  , 0.63]))
    """
    check_confidence(confidence)
    p, n = np.broadcast_arrays(np.asarray(proportions, dtype=np.float64), np.asarray(n_samples, dtype=np.float64))
    known = n > 0
    if not ((n >= 0) & (~known | ((p >= 0) & (p <= 1)))).all():
        raise ValueError("Proportions must lie between 0 and 1, and n_samples must be 0 or more.")
    p, n = np.where(known, p, 0.5), np.where(known, n, 1.0)
    z = float(ndtri(0.5 + 0.5 * float(confidence)))
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * np.sqrt(p * (1 - p) / n + (z / (2 * n)) ** 2) / (1 + z**2 / n)
    # Rounding must not move a bound past 0, 1 or the proportion itself.
    low = np.clip(np.where(p == 0, 0.0, centre - half), 0.0, p)
    high = np.clip(np.where(p == 1, 1.0, centre + half), p, 1.0)
    return np.where(known, low, 0.0), np.where(known, high, 1.0)


def exact_interval(successes: Floats, n_samples: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Clopper-Pearson interval of a proportion.

    Its coverage is at least the confidence level, even for one sample. Wilson's interval only has that coverage on
    average: for one success in one sample it excludes proportions below 20 %, which is wrong one time in five. The
    interval for 0 samples is [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> from comboost._stats.intervals import exact_interval
    >>> low, high = exact_interval(np.array([1.0, 5.0]), np.array([1.0, 10.0]), 0.95)
    >>> low.round(3), high.round(3)
    (array([0.025, 0.187]), array([1.   , 0.813]))
    """
    low = exact_lower_bound(successes, n_samples, confidence)
    return low, 1.0 - exact_lower_bound(n_samples - successes, n_samples, confidence)


def exact_lower_bound(successes: Floats, n_samples: Floats, confidence: float) -> Floats:
    """Lower bound of the Clopper-Pearson interval."""
    return clopper_pearson_lower(successes, n_samples, 0.5 - 0.5 * confidence)


def newcombe_interval(
    both: Floats, first: Floats, second: Floats, neither: Floats, confidence: float
) -> tuple[Floats, Floats, Floats]:
    """Newcombe score interval of the difference of two paired proportions.

    The arguments are the numbers of samples for which both models, only the first, only the second and neither of them
    is correct. The results are the first proportion minus the second, and its confidence bounds; 0, -1 and 1 without
    samples.

    The interval combines the Wilson intervals of both proportions by their correlation. It is too narrow for very few
    samples. So it is widened to include 0 where the exact test of McNemar does not reject equality. Exchanging the
    models only changes signs.

    References
    ----------
    .. [1] R. G. Newcombe, "Improved confidence intervals for the difference between binomial proportions based on
       paired data", Statistics in Medicine 17 (1998), method 10.

    Examples
    --------
    >>> import numpy as np
    >>> from comboost._stats.intervals import newcombe_interval
    >>> bounds = newcombe_interval(*np.array([[20.0], [12.0], [2.0], [16.0]]), 0.95)
    >>> [round(float(each[0]), 3) for each in bounds]
    [0.2, 0.056, 0.329]
    """
    total = both + first + second + neither
    known = total > 0
    n = np.where(known, total, 1.0)
    p1, p2 = (both + first) / n, (both + second) / n
    low1, high1 = wilson_interval(p1, n, confidence=confidence)
    low2, high2 = wilson_interval(p2, n, confidence=confidence)
    correlation = corrected_correlation(both, first, second, neither)
    below = joint_distance(p1 - low1, high2 - p2, correlation)
    above = joint_distance(high1 - p1, p2 - low2, correlation)
    difference = np.where(known, (first - second) / n, 0.0)
    low = include_zero(difference - below, exact_gain(first, second, confidence) / n)
    high = -include_zero(-(difference + above), exact_gain(second, first, confidence) / n)
    return difference, np.where(known, np.maximum(low, -1.0), -1.0), np.where(known, np.minimum(high, 1.0), 1.0)


def include_zero(low: Floats, exact: Floats) -> Floats:
    """Lower bound, reduced to the exact one where that is not above 0."""
    return np.where(exact > 0, low, np.minimum(low, exact))


def exact_gain(first: Floats, second: Floats, confidence: float) -> Floats:
    """Lower bound of (first only) - (second only), given their sum; above 0 iff McNemar's exact test is significant."""
    discordant = first + second
    return np.asarray(discordant * (2.0 * exact_lower_bound(first, discordant, confidence) - 1.0))


def corrected_correlation(both: Floats, first: Floats, second: Floats, neither: Floats) -> Floats:
    """Correlation of the two outcomes with Newcombe's continuity correction; 0 if one of them is constant."""
    product = both * neither - first * second
    total = both + first + second + neither
    corrected = np.where(product > 0, np.maximum(product - total / 2, 0.0), product)
    margins = (both + first) * (second + neither) * ((both + second) * (first + neither))
    return np.asarray(np.divide(corrected, np.sqrt(margins), out=np.zeros_like(product), where=margins > 0))


def joint_distance(one: Floats, other: Floats, correlation: Floats) -> Floats:
    """Half-width of a difference from the half-widths of its parts; symmetric to the bit."""
    return np.asarray(np.sqrt(np.maximum(one**2 + other**2 - 2.0 * correlation * (one * other), 0.0)))
