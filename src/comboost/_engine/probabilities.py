"""Scores to probabilities, their calibration, and probabilities to decisions."""

import math
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import log_softmax
from sklearn.isotonic import IsotonicRegression

from comboost import _core
from comboost._engine.forest import typed_array
from comboost._types import Floats

TEMPERATURES = (2.0**-6, 2.0**14)
PRECISION = 1e-10  # of a temperature's logarithm
BLOCK_SCORES = 2**17  # scores whose exponentials or logarithms are in memory at a time
MIN_PROBABILITY = 2.0**-40  # of a class without held-out samples, where its uncalibrated probability is 0
REJECTED = -1  # decision to reject a sample


# Calibration. It weighs all classes equally, however rare they are; priors are applied afterwards. Sums over samples
# are rounded once (math.fsum), are sums of integers, or are added in an order that depends on the samples only.


@dataclass(frozen=True)
class OutOfSampleScores:
    """Out-of-sample scores, with the true classes.

    Attributes
    ----------
    scores : ndarray of shape (n_samples, n_classes)
        Scores of every class that has any.
    labels : ndarray of int
        Indices of the true classes.
    weights : ndarray of float64
        Positive sample weights; whole numbers have exact sums.
    """

    scores: Floats
    labels: NDArray[np.intp]
    weights: Floats

    @property
    def n_classes(self) -> int:
        """Number of classes that have scores."""
        return int(self.scores.shape[1])

    @property
    def balanced_weights(self) -> Floats:
        """Weights scaled so that all classes with samples have the same weight sum, 1 in total."""
        order = np.lexsort((self.weights, self.labels))
        sums = np.bincount(self.labels[order], self.weights[order], minlength=self.n_classes)
        return np.asarray(self.weights / (sums[self.labels] * np.count_nonzero(sums)))


def platt_smoothing(weights: Floats) -> float:
    """Return Platt's probability 1/(n + 2) that a class is wrong although n samples agree.

    Without it, samples without a mistake would need infinite scores. With weights, n is the effective sample size.
    """
    return 1.0 / (math.fsum(weights.tolist()) ** 2 / math.fsum((weights**2).tolist()) + 2.0)


def learn_temperature(held: OutOfSampleScores, scale: float, log_priors: Floats | None) -> float:
    """Find the T for which softmax(scale·f/T − log_priors) has the smallest class-balanced log-loss.

    Parameters
    ----------
    held : OutOfSampleScores
        Out-of-sample scores f.
    scale : float
        Factor from scores to log odds.
    log_priors : ndarray of shape (n_classes,) or None
        Logarithms of the class priors of the scores; None if they are uniform.

    Returns
    -------
    float
        T. The loss is convex in 1/T, so its minimum is unique.
    """
    weights, n_classes = held.balanced_weights, held.n_classes
    smoothing = platt_smoothing(weights) / (n_classes - 1)  # target probability of a wrong class
    shift = None if log_priors is None else -log_priors
    step = max(1, BLOCK_SCORES // n_classes)

    def slopes(samples: slice, sharpness: float) -> list[float]:
        """Derivatives of the losses of some samples by the sharpness 1/T, divided by the scale."""
        scores, labels = held.scores[samples], held.labels[samples]
        margins = scores - scores[np.arange(len(labels)), labels][:, np.newaxis]
        probabilities = np.empty_like(scores)
        _core.softmax(scores, scale * sharpness, shift, 1, probabilities)
        sums = np.cumsum((probabilities - smoothing) * margins, axis=1)[:, -1]  # in class order
        derivatives: list[float] = (weights[samples] * sums).tolist()
        return derivatives

    def slope(log_temperature: float) -> float:
        """Derivative of the loss by the sharpness, which increases with the sharpness."""
        sharpness = math.exp(-log_temperature)
        blocks = (slice(begin, begin + step) for begin in range(0, len(weights), step))
        return math.fsum(chain.from_iterable(slopes(samples, sharpness) for samples in blocks))

    lowest, highest = map(math.log, TEMPERATURES)
    if slope(highest) >= 0.0:
        return TEMPERATURES[1]
    if slope(lowest) <= 0.0:
        return TEMPERATURES[0]
    return math.exp(brentq(slope, lowest, highest, xtol=PRECISION))


@dataclass(frozen=True)
class IsotonicCurves:
    """Piecewise linear, non-decreasing maps from probabilities to calibrated ones, one per class.

    The constructor checks them; a ValueError says what is wrong.

    Attributes
    ----------
    offsets : ndarray of int64
        Class k owns the points ``offsets[k]`` to ``offsets[k + 1]``.
    inputs : ndarray of float64
        Probabilities, ascending within a class.
    outputs : ndarray of float64
        Calibrated probabilities, positive.
    """

    offsets: NDArray[np.int64]
    inputs: Floats
    outputs: Floats

    def __post_init__(self) -> None:
        offsets = typed_array(self.offsets, "offsets", np.dtype(np.int64), (None,))
        inputs, outputs = (
            typed_array(getattr(self, name), name, np.dtype(np.float64), (None,)) for name in ("inputs", "outputs")
        )
        sizes = np.diff(offsets)
        if len(sizes) < 2 or offsets[0] != 0 or (sizes < 1).any() or not offsets[-1] == len(inputs) == len(outputs):
            raise ValueError("the points of its calibration are not those of two classes or more")
        within = np.ones(max(len(inputs) - 1, 0), dtype=bool)
        within[offsets[1:-1] - 1] = False
        if not ((inputs >= 0) & (inputs <= 1)).all() or not (np.diff(inputs)[within] > 0).all():
            raise ValueError("the inputs of its calibration are not ascending probabilities")
        if not ((outputs > 0) & (outputs <= 1)).all() or not (np.diff(outputs)[within] >= 0).all():
            raise ValueError("the outputs of its calibration are not positive, non-decreasing probabilities")

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.offsets) - 1

    @classmethod
    def learn(cls, held: OutOfSampleScores, probabilities: Floats) -> "IsotonicCurves":
        """Fit one curve per class, one versus rest.

        Parameters
        ----------
        held : OutOfSampleScores
            The true classes.
        probabilities : ndarray of shape (n_samples, n_classes)
            Uncalibrated probabilities of these samples under uniform priors.
        """
        weights, curves = held.balanced_weights, []
        by_label = np.lexsort((weights, held.labels))  # samples that tie in all of these are the same
        for k in range(held.n_classes):
            is_own = held.labels == k
            if not is_own.any() or is_own.all():  # nothing to learn: the probability stays as it is
                curves.append((np.array([0.0, 1.0]), np.array([MIN_PROBABILITY, 1.0])))
                continue
            target = np.where(is_own, 1.0 - platt_smoothing(weights[is_own]), platt_smoothing(weights[~is_own]))
            order = by_label[np.argsort(probabilities[by_label, k], kind="stable")]
            fitted = IsotonicRegression().fit(probabilities[order, k], target[order], sample_weight=weights[order])
            curves.append((fitted.X_thresholds_, fitted.y_thresholds_))
        offsets = np.cumsum([0, *(len(inputs) for inputs, _ in curves)], dtype=np.int64)
        inputs, outputs = (np.concatenate(parts) for parts in zip(*curves, strict=True))
        return cls(offsets, inputs, outputs)

    def apply(self, probabilities: Floats) -> None:
        """Calibrate probabilities, (n_samples, n_classes), in place; they no longer sum to 1."""
        for k, (begin, end) in enumerate(pairwise(self.offsets.tolist())):
            probabilities[:, k] = np.interp(probabilities[:, k], self.inputs[begin:end], self.outputs[begin:end])


# Probabilities


class ProbabilityMap(NamedTuple):
    """Map from scores f to probabilities.

    - softmax(scale/temperature · f + shift), or
    - with ``curves``: softmax(scale · f − training_log_priors), mapped by the curve of each class, times
      exp(log_priors), or
    - ``vote_fraction``: the fractions of the weighted vote times exp(shift).

    The last two are divided by their sums.

    Attributes
    ----------
    scale : float
        Factor from scores to log odds.
    training_log_priors, log_priors : ndarray of shape (n_classes,) or None
        Logarithms of the class priors of the scores, and of the requested ones; None if they are uniform.
    temperature : float
        Divides the log odds.
    curves : IsotonicCurves or None
        Calibrates the probabilities under uniform priors.
    vote_fraction : bool
        Whether probabilities are the fractions of the weighted vote.
    """

    scale: float
    training_log_priors: Floats | None = None
    log_priors: Floats | None = None
    temperature: float = 1.0
    curves: IsotonicCurves | None = None
    vote_fraction: bool = False

    @property
    def shift(self) -> Floats | None:
        """Number to add to the log odds of every class; None is 0."""
        if self.training_log_priors is self.log_priors:
            return None
        before, after = (
            np.zeros(1) if priors is None else priors for priors in (self.training_log_priors, self.log_priors)
        )
        shift = after - before
        return shift if shift.any() else None

    def probabilities(self, scores: Floats, out: Floats) -> Floats:
        """Return the probabilities, (n_samples, n_classes); ``out`` may be the scores."""
        curves, shift = self.curves, self.shift
        if curves is None and not self.vote_fraction:
            _core.softmax(scores, self.scale / self.temperature, shift, 1, out)
            return out
        if curves is None:
            factor, unnormalised = shift, scores
        else:
            factor, unnormalised = self.log_priors, out
            before = self.training_log_priors
            _core.softmax(scores, self.scale, None if before is None else -before, 1, out)
            curves.apply(out)
        if factor is not None:
            unnormalised = np.multiply(unnormalised, np.exp(factor), out=out)
        np.divide(unnormalised, unnormalised.sum(axis=1, keepdims=True), out=out)
        return out

    def log_probabilities(self, scores: Floats, out: Floats) -> Floats:
        """Return the logarithms of the probabilities, −inf for 0; ``out`` may be the scores."""
        if self.curves is not None or self.vote_fraction:
            with np.errstate(divide="ignore"):
                return np.log(self.probabilities(scores, out), out=out)
        scale, shift = self.scale / self.temperature, self.shift
        step = max(1, BLOCK_SCORES // scores.shape[1])
        for begin in range(0, len(scores), step):
            scaled = scale * scores[begin : begin + step]
            out[begin : begin + step] = log_softmax(scaled if shift is None else scaled + shift, axis=1)
        return out


# Decisions


def cheapest_decisions(
    probabilities: Floats, costs: Floats | None = None, reject_cost: float | None = None
) -> NDArray[np.intp]:
    """Return argmin_j Σ_l p_l·c(l,j) of every sample, the first of ties, or `REJECTED` if rejecting costs less.

    Parameters
    ----------
    probabilities : ndarray of shape (n_samples, n_classes)
        p_l.
    costs : ndarray of shape (n_classes, n_classes), optional
        c(l,j), true classes in rows; None is 1 for every mistake.
    reject_cost : float, optional
        Cost of rejecting a sample; None never rejects.

    Returns
    -------
    ndarray of shape (n_samples,)
        Indices of classes.
    """
    decided: NDArray[np.intp]
    if costs is None:  # Σ_l p_l − p_j
        decided = probabilities.argmax(axis=1)
        least = 1.0 - probabilities[np.arange(len(decided)), decided]
    else:
        expected = np.zeros(probabilities.shape)
        for own, cost in zip(probabilities.T, costs, strict=True):  # in class order: samples do not affect each other
            expected += own[:, np.newaxis] * cost
        decided = expected.argmin(axis=1)
        least = expected[np.arange(len(decided)), decided]
    if reject_cost is not None:
        decided[least > reject_cost] = REJECTED
    return decided
