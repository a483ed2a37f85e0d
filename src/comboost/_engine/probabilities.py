"""What votes mean. In: votes. Out: probabilities: scaled, calibrated, moved to other shares of the classes."""

from typing import NamedTuple

import numpy as np
from scipy.special import log_softmax

from comboost import _core
from comboost._engine.calibration import IsotonicCurves
from comboost._types import Floats

LOGS_AT_ONCE = 2**17  # votes that become logarithms at a time, by way of several arrays


class ProbabilityMap(NamedTuple):
    """The way from votes f to probabilities: all that is to be known of it.

    - softmax(scale/temperature · f + shift), or
    - with ``curves``: softmax(scale · f − learned), every class by its curve, times exp(wanted), divided by the sum, or
    - ``by_share``: the shares of the votes times exp(shift), divided by their sum.

    Attributes
    ----------
    scale : float
        What votes are multiplied by to be log odds.
    learned, wanted : ndarray of shape (n_classes,) or None
        Logarithms of the shares of the classes for which the votes were learned, and of those that are asked for; None
        if they are all the same.
    temperature : float
        What the log odds are divided by.
    curves : IsotonicCurves or None
        What becomes of the probabilities of equally frequent classes.
    by_share : bool
        Whether probabilities are the shares of the votes.
    """

    scale: float
    learned: Floats | None = None
    wanted: Floats | None = None
    temperature: float = 1.0
    curves: IsotonicCurves | None = None
    by_share: bool = False

    @property
    def shift(self) -> Floats | None:
        """What is added to the log odds of every class; None is nothing."""
        if self.learned is self.wanted:
            return None
        zero = np.zeros(1)
        shift = (zero if self.wanted is None else self.wanted) - (zero if self.learned is None else self.learned)
        return shift if shift.any() else None

    def probabilities(self, votes: Floats, out: Floats) -> Floats:
        """The probabilities, (n_samples, n_classes); ``out`` may be the votes."""
        if self.curves is not None:
            softmax(votes, self.scale, None if self.learned is None else -self.learned, out)
            self.curves.apply(out)
            return normalised(out if self.wanted is None else np.multiply(out, np.exp(self.wanted), out=out), out)
        shift = self.shift
        if not self.by_share:
            return softmax(votes, self.scale / self.temperature, shift, out)
        return normalised(votes if shift is None else np.multiply(votes, np.exp(shift), out=out), out)

    def log_probabilities(self, votes: Floats, out: Floats) -> Floats:
        """Their logarithms, −inf for a class without votes if they are shares; ``out`` may be the votes."""
        if self.curves is not None or self.by_share:
            with np.errstate(divide="ignore"):
                return np.log(self.probabilities(votes, out), out=out)
        scale, shift = self.scale / self.temperature, self.shift
        step = max(1, LOGS_AT_ONCE // votes.shape[1])
        for begin in range(0, len(votes), step):
            scaled = scale * votes[begin : begin + step]
            out[begin : begin + step] = log_softmax(scaled if shift is None else scaled + shift, axis=1)
        return out


def softmax(votes: Floats, scale: float, shift: Floats | None, out: Floats) -> Floats:
    """The softmax of scaled votes plus a shift of every class. ``out`` may be the votes."""
    _core.softmax(votes, scale, shift, 1, out)
    return out


def normalised(shares: Floats, out: Floats) -> Floats:
    """Shares divided by their sum in every row."""
    divided: Floats = np.divide(shares, shares.sum(axis=1, keepdims=True), out=out)
    return divided
