"""Intervals of shares. In: shares and numbers of rows. Out: lower and upper limits."""

from numbers import Real

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from comboost._types import Floats


def wilson_interval(shares: ArrayLike, sizes: ArrayLike, *, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """Wilson's interval for a share that was seen among some rows.

    It stays inside 0 to 1, and says something for few rows and for shares of 0 and 1, where the usual
    share ± standard error does not.

    Parameters
    ----------
    shares : array-like
        Shares that were seen, 0 to 1, such as recalls.
    sizes : array-like
        Rows that each was seen among; 0 is no evidence, and the interval is all of 0 to 1.
    confidence : float, default=0.95
        The share of such intervals that hold the truth, in (0, 1).

    Returns
    -------
    low, high : ndarray
        The limits, in the shape of the shares.

    Examples
    --------
    >>> from comboost.model_selection import wilson_interval
    >>> low, high = wilson_interval([1.0, 0.5], [5, 50])
    >>> low.round(2), high.round(2)
    (array([0.57, 0.37]), array([1.  , 0.63]))
    """
    check_confidence(confidence)
    share, size = np.broadcast_arrays(np.asarray(shares, dtype=np.float64), np.asarray(sizes, dtype=np.float64))
    known = size > 0
    if not ((size >= 0) & (~known | ((share >= 0) & (share <= 1)))).all():
        raise ValueError("Shares must lie in 0 to 1, and sizes must be 0 or more.")
    share, size = np.where(known, share, 0.5), np.where(known, size, 1.0)
    z = float(ndtri(0.5 + 0.5 * float(confidence)))
    centre = (share + z**2 / (2 * size)) / (1 + z**2 / size)
    half = z * np.sqrt(share * (1 - share) / size + (z / (2 * size)) ** 2) / (1 + z**2 / size)
    # Where a limit is 0 or 1, or the share itself, rounding must not take it past that.
    low = np.clip(np.where(share == 0, 0.0, centre - half), 0.0, share)
    high = np.clip(np.where(share == 1, 1.0, centre + half), share, 1.0)
    return np.where(known, low, 0.0), np.where(known, high, 1.0)


def check_confidence(confidence: float) -> None:
    """Raise if it is no share of intervals that may hold the truth."""
    if not isinstance(confidence, Real) or not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence!r} must lie between 0 and 1, such as 0.95.")
