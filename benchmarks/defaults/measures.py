"""Measures. In: true classes and probabilities. Out: five figures."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import balanced_accuracy_score, log_loss
from sklearn.utils.class_weight import compute_sample_weight

from comboost.metrics import confusion_norm_loss, geometric_mean_score, mauc_score

Measure = Callable[[NDArray[Any], NDArray[Any], NDArray[Any]], float]


def balanced_log_loss(y: NDArray[Any], _predicted: NDArray[Any], proba: NDArray[Any]) -> float:
    """Mean over the classes of the mean log-loss of their rows, in nats."""
    weights = compute_sample_weight("balanced", y)
    return float(log_loss(y, proba, sample_weight=weights, labels=np.arange(proba.shape[1])))


def confusion_norm(y: NDArray[Any], predicted: NDArray[Any], _proba: NDArray[Any]) -> float:
    """Norm of the confusion matrix."""
    return confusion_norm_loss(y, predicted)


def g_mean(y: NDArray[Any], predicted: NDArray[Any], _proba: NDArray[Any]) -> float:
    """Geometric mean of the recalls."""
    return geometric_mean_score(y, predicted)


def balanced_accuracy(y: NDArray[Any], predicted: NDArray[Any], _proba: NDArray[Any]) -> float:
    """Mean of the recalls."""
    return float(balanced_accuracy_score(y, predicted))


def mauc(y: NDArray[Any], _predicted: NDArray[Any], proba: NDArray[Any]) -> float:
    """Area under the ROC curves of all pairs of classes."""
    return mauc_score(y, proba, labels=np.arange(proba.shape[1]))


MEASURES: dict[str, Measure] = {
    "norm": confusion_norm,
    "accuracy": balanced_accuracy,
    "g_mean": g_mean,
    "log_loss": balanced_log_loss,
    "mauc": mauc,
}
TITLES = {
    "norm": "‖C‖",
    "accuracy": "balanced accuracy",
    "g_mean": "G-mean",
    "log_loss": "class-balanced log-loss (nats)",
    "mauc": "MAUC",
}
LOWER_IS_BETTER = {"norm", "log_loss"}
DECIDING = ("norm", "accuracy", "g_mean", "log_loss")
DECIMALS = 4


def measure(y: NDArray[Any], proba: NDArray[Any]) -> dict[str, float]:
    """All measures, in a few digits."""
    predicted = proba.argmax(axis=1)
    return {name: round(compute(y, predicted, proba), DECIMALS) for name, compute in MEASURES.items()}
