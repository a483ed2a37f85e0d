"""How good probabilities are. In: those of test rows, and the truth. Out: log-losses, calibration errors, ‖C‖."""

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import log_loss

from comboost.metrics import balanced_log_loss, confusion_norm_loss

N_BINS = 15

Floats = NDArray[np.float64]
Classes = NDArray[np.intp]


def calibration_error(probabilities: Floats, y: Classes, weights: Floats) -> float:
    """Expected calibration error of the likeliest class: the mean of |right − confidence| over bins of equal weight."""
    top = probabilities.argmax(axis=1)
    confidence, right = probabilities.max(axis=1), top == y
    order = np.argsort(confidence, kind="stable")
    up_to = np.cumsum(weights[order])
    bins = np.minimum((N_BINS * (up_to - weights[order] / 2) / up_to[-1]).astype(np.intp), N_BINS - 1)
    gaps = np.bincount(bins, (weights * (right - confidence))[order], minlength=N_BINS)
    return float(np.abs(gaps).sum() / weights.sum())


def measure(uniform: Floats, training: Floats, predicted: Classes, y: Classes) -> dict[str, float]:
    """All measures of probabilities for equally frequent classes and for those of training, and of decisions."""
    labels = np.arange(uniform.shape[1])
    return {
        "log-loss, uniform": balanced_log_loss(y, uniform, labels=labels),
        "log-loss, training": float(log_loss(y, training, labels=labels)),
        "error, uniform": calibration_error(uniform, y, 1.0 / np.bincount(y)[y]),
        "error, training": calibration_error(training, y, np.ones(len(y))),
        "norm": confusion_norm_loss(y, predicted, labels=labels),
    }
