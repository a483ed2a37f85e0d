"""How sure votes may be. In: votes on rows that were not trained on, and their classes. Out: a temperature, or curves.

Every class counts the same here, however rare it is: the shares of the classes are put on afterwards.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp
from sklearn.isotonic import IsotonicRegression

from comboost._engine.forest import typed_array
from comboost._types import Floats

TEMPERATURES = (2.0**-6, 2.0**14)
PRECISION = 1e-6  # of a temperature's logarithm
SUMS_AT_ONCE = 2**17  # votes whose exponentials are held at a time
LEAST_SHARE = 2.0**-40  # of a class of which nothing was learned, where the votes leave it nothing


@dataclass(frozen=True)
class HeldVotes:
    """Votes on rows that were not trained on.

    Attributes
    ----------
    votes : ndarray of shape (n_samples, n_classes)
        The votes for every class that is voted for.
    labels : ndarray of int
        The classes of the rows, as indices of these.
    weights : ndarray of float64
        What the rows weigh, all of it positive.
    """

    votes: Floats
    labels: NDArray[np.intp]
    weights: Floats

    @property
    def n_classes(self) -> int:
        """Classes that are voted for."""
        return int(self.votes.shape[1])

    @property
    def balanced_weights(self) -> Floats:
        """The weights, scaled so that every class that has rows weighs the same, and all of them together 1."""
        sums = np.bincount(self.labels, self.weights, minlength=self.n_classes)
        return np.asarray(self.weights / (sums[self.labels] * np.count_nonzero(sums)))


def doubt_of(weights: Floats) -> float:
    """The chance, 1/(n + 2), that is left to the contrary after n rows; as by Platt.

    Without it, rows without a mistake would ask for endless certainty. With weights, n is how many rows of equal weight
    would tell as much.
    """
    return 1.0 / (float(weights.sum()) ** 2 / float((weights**2).sum()) + 2.0)


def learn_temperature(held: HeldVotes, scale: float, learned: Floats | None) -> float:
    """The T for which softmax(scale·f/T − learned) has the smallest balanced log-loss, with some doubt.

    Parameters
    ----------
    held : HeldVotes
        Votes f, and the truth.
    scale : float
        What votes are multiplied by to be log odds.
    learned : ndarray of shape (n_classes,) or None
        Logarithms of the shares of the classes for which the votes were learned; None if they are all the same.

    Returns
    -------
    float
        T. The loss is convex in 1/T, so that there is one minimum.
    """
    weights = held.balanced_weights
    doubt = doubt_of(weights)
    own = held.votes[np.arange(len(held.labels)), held.labels]
    others = (held.votes.sum(axis=1) - own) / (held.n_classes - 1)
    pull = scale * float(weights @ ((1.0 - doubt) * own + doubt * others))

    def loss(log_temperature: float) -> float:
        sharpness = math.exp(-log_temperature)
        return float(weights @ log_sums(held.votes, scale * sharpness, learned)) - pull * sharpness

    bounds = tuple(map(math.log, TEMPERATURES))
    found = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": PRECISION})
    return math.exp(float(found.x))


def log_sums(votes: Floats, scale: float, learned: Floats | None) -> Floats:
    """The logarithms of Σ exp(scale·f − learned), of every row."""
    sums, step = np.empty(len(votes)), max(1, SUMS_AT_ONCE // votes.shape[1])
    for begin in range(0, len(votes), step):
        scaled = scale * votes[begin : begin + step]
        sums[begin : begin + step] = logsumexp(scaled if learned is None else scaled - learned, axis=1)
    return sums


@dataclass(frozen=True)
class IsotonicCurves:
    """What the probability of every class becomes: lines through points, which never fall.

    However they are made, they are checked, and ValueError says what is wrong.

    Attributes
    ----------
    offsets : ndarray of int64
        Class k owns the points ``offsets[k]`` to ``offsets[k + 1]``.
    inputs : ndarray of float64
        Probabilities, ascending within a class.
    outputs : ndarray of float64
        What becomes of them, above 0.
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
            raise ValueError("the inputs of its calibration are no ascending probabilities")
        if not ((outputs > 0) & (outputs <= 1)).all() or not (np.diff(outputs)[within] >= 0).all():
            raise ValueError("the outputs of its calibration are no positive probabilities that never fall")

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.offsets) - 1

    @classmethod
    def learn(cls, held: HeldVotes, shares: Floats) -> "IsotonicCurves":
        """One curve per class, against all others together.

        Parameters
        ----------
        held : HeldVotes
            The truth.
        shares : ndarray of shape (n_samples, n_classes)
            The probabilities of equally frequent classes on these rows, as they are without calibration.
        """
        weights, curves = held.balanced_weights, []
        for k in range(held.n_classes):
            is_own = held.labels == k
            if not is_own.any() or is_own.all():  # nothing to learn from: the probability stays what it is
                curves.append((np.array([0.0, 1.0]), np.array([LEAST_SHARE, 1.0])))
                continue
            target = np.where(is_own, 1.0 - doubt_of(weights[is_own]), doubt_of(weights[~is_own]))
            fitted = IsotonicRegression().fit(shares[:, k], target, sample_weight=weights)
            curves.append((fitted.X_thresholds_, fitted.y_thresholds_))
        offsets = np.cumsum([0, *(len(inputs) for inputs, _ in curves)], dtype=np.int64)
        inputs, outputs = (np.concatenate(parts) for parts in zip(*curves, strict=True))
        return cls(offsets, inputs, outputs)

    def apply(self, shares: Floats) -> None:
        """Replace probabilities, (n_samples, n_classes), by what becomes of them; they no longer add up to 1."""
        for k, (begin, end) in enumerate(pairwise(self.offsets.tolist())):
            shares[:, k] = np.interp(shares[:, k], self.inputs[begin:end], self.outputs[begin:end])
