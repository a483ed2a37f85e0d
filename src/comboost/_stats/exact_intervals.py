"""Limits of a share that hold however few rows there are. In: rows that are right, rows in all. Out: limits."""

import numpy as np
from scipy.special import betaincinv

from comboost._types import Floats


def exact_interval(right: Floats, sizes: Floats, confidence: float) -> tuple[Floats, Floats]:
    """The interval of Clopper and Pearson: it holds the truth at least as often as it says, even of a single row.

    Wilson's holds it as often on average alone: of one row that is right it says "more than 20 %", which is wrong
    once in five times.

    Parameters
    ----------
    right, sizes : ndarray
        Rows that are right, and rows in all; where there are none, limits are 0 and 1.
    confidence : float
        Of every interval by itself.

    Returns
    -------
    low, high : ndarray
        The limits.

    Examples
    --------
    >>> import numpy as np
    >>> from comboost._stats.exact_intervals import exact_interval
    >>> low, high = exact_interval(np.array([1.0, 5.0]), np.array([1.0, 10.0]), 0.95)
    >>> low.round(3), high.round(3)
    (array([0.025, 0.187]), array([1.   , 0.813]))
    """
    return lower_limit(right, sizes, confidence), 1.0 - lower_limit(sizes - right, sizes, confidence)


def lower_limit(right: Floats, sizes: Floats, confidence: float) -> Floats:
    """The share from which on so many right rows, or more, are not too unlikely."""
    found = betaincinv(np.maximum(right, 1.0), sizes - right + 1.0, 0.5 - 0.5 * confidence)
    return np.where(right > 0, found, 0.0)
