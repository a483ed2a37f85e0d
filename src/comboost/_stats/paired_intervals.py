"""Differences of two shares of the same rows. In: how often both, one and none of two models are right. Out: limits."""

import numpy as np

from comboost._stats.exact_intervals import lower_limit
from comboost._stats.intervals import wilson_interval
from comboost._types import Floats


def newcombe_interval(
    both: Floats, first: Floats, second: Floats, neither: Floats, confidence: float
) -> tuple[Floats, Floats, Floats]:
    """The first share minus the second, with limits, by Newcombe's score interval for pairs.

    It joins Wilson's intervals of both shares by their correlation, so that it says something for few rows and for
    shares of 0 and 1. Of very few rows it is too sure: where the exact test of McNemar does not tell the two
    apart, limits are widened until they hold 0. Exchanging the models changes the signs, and nothing else.

    Parameters
    ----------
    both, first, second, neither : ndarray
        Rows that both models, the first alone, the second alone and none of them have right.
    confidence : float
        Of every interval by itself.

    Returns
    -------
    difference, low, high : ndarray
        0, -1 and 1 where there are no rows.

    References
    ----------
    .. [1] R. G. Newcombe, "Improved confidence intervals for the difference between binomial proportions based on
       paired data", Statistics in Medicine 17 (1998), method 10.

    Examples
    --------
    >>> import numpy as np
    >>> from comboost._stats.paired_intervals import newcombe_interval
    >>> limits = newcombe_interval(*np.array([[20.0], [12.0], [2.0], [16.0]]), 0.95)
    >>> [round(float(each[0]), 3) for each in limits]
    [0.2, 0.056, 0.329]
    """
    sizes = both + first + second + neither
    known = sizes > 0
    rows = np.where(known, sizes, 1.0)
    p1, p2 = (both + first) / rows, (both + second) / rows
    low1, high1 = wilson_interval(p1, rows, confidence=confidence)
    low2, high2 = wilson_interval(p2, rows, confidence=confidence)
    correlation = corrected_correlation(both, first, second, neither)
    below = joint_distance(p1 - low1, high2 - p2, correlation)
    above = joint_distance(high1 - p1, p2 - low2, correlation)
    difference = np.where(known, (first - second) / rows, 0.0)
    low = widened(difference - below, surplus_at_least(first, second, confidence) / rows)
    high = -widened(-(difference + above), surplus_at_least(second, first, confidence) / rows)
    return difference, np.where(known, np.maximum(low, -1.0), -1.0), np.where(known, np.minimum(high, 1.0), 1.0)


def widened(low: Floats, surplus: Floats) -> Floats:
    """A lower limit, but no higher than the exact one where that is not above 0."""
    return np.where(surplus > 0, low, np.minimum(low, surplus))


def surplus_at_least(first: Floats, second: Floats, confidence: float) -> Floats:
    """How many more rows the first alone has right than the second, at least, given how many they disagree on.

    By the exact limits of Clopper and Pearson: above 0 only if McNemar's exact test tells the two apart.
    """
    disagreements = first + second
    return np.asarray(disagreements * (2.0 * lower_limit(first, disagreements, confidence) - 1.0))


def corrected_correlation(both: Floats, first: Floats, second: Floats, neither: Floats) -> Floats:
    """The correlation of being right, corrected for few rows if it is positive; 0 where a model is always the same."""
    product = both * neither - first * second
    sizes = both + first + second + neither
    corrected = np.where(product > 0, np.maximum(product - sizes / 2, 0.0), product)
    margins = (both + first) * (second + neither) * ((both + second) * (first + neither))
    return np.asarray(np.divide(corrected, np.sqrt(margins), out=np.zeros_like(product), where=margins > 0))


def joint_distance(one: Floats, other: Floats, correlation: Floats) -> Floats:
    """How far a difference may be off if its parts may be off by this; the same for both orders, to the bit."""
    return np.asarray(np.sqrt(np.maximum(one**2 + other**2 - 2.0 * correlation * (one * other), 0.0)))
