"""How good predictions are. In: true classes and predictions. Out: a figure for every measure."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, f1_score

from comboost.metrics import confusion_norm_loss, geometric_mean_score, mauc_score

LEAST_PROBABILITY = 1e-15

Floats = NDArray[np.floating[Any]]
Classes = NDArray[np.intp]
Figures = dict[str, float]


@dataclass(frozen=True)
class Measure:
    """What a figure means."""

    key: str
    title: str
    lower_is_better: bool

    @property
    def direction(self) -> str:
        """Which way is better, in words."""
        return f"{'lower' if self.lower_is_better else 'higher'} is better"

    def as_good(self, value: float, goal: float) -> bool:
        """Whether a value is at least as good as another."""
        return value <= goal if self.lower_is_better else value >= goal

    def best(self, values: list[float]) -> float:
        """The best of some values."""
        return min(values) if self.lower_is_better else max(values)


NORM = Measure("norm", "norm of the confusion matrix", True)
G_MEAN = Measure("g_mean", "G-mean", False)
ACCURACY = Measure("balanced_accuracy", "balanced accuracy", False)
MAUC = Measure("mauc", "MAUC", False)
MACRO_F1 = Measure("macro_f1", "macro-F1", False)
AUPRC = Measure("auprc", "mean average precision (AUPRC)", False)
LOG_LOSS = Measure("balanced_log_loss", "class-balanced log-loss", True)
PLAIN_LOG_LOSS = Measure("log_loss", "log-loss under the training prior", True)
SMALLEST_RECALL = Measure("smallest_recall", "recall of the smallest class", False)
FIT_SECONDS = Measure("fit_seconds", "seconds of a fit", True)

#: Those of every comparison.
MEASURES = (LOG_LOSS, NORM, ACCURACY, G_MEAN, MAUC, MACRO_F1, AUPRC)


def measure(y: Classes, predicted: Classes, probabilities: Floats) -> Figures:
    """Every one of `MEASURES`; average precision is one-vs-rest, averaged over the classes."""
    classes = np.arange(probabilities.shape[1])
    return {
        NORM.key: confusion_norm_loss(y, predicted, labels=classes),
        G_MEAN.key: geometric_mean_score(y, predicted, labels=classes),
        ACCURACY.key: float(np.mean(recalls(y, predicted, len(classes)))),
        MAUC.key: mauc_score(y, probabilities, labels=classes),
        MACRO_F1.key: float(f1_score(y, predicted, labels=classes, average="macro", zero_division=0)),
        AUPRC.key: float(np.mean([average_precision_score(y == k, probabilities[:, k]) for k in classes])),
        LOG_LOSS.key: float(np.mean(class_means(y, row_losses(y, probabilities), len(classes)))),
    }


def row_losses(y: Classes, probabilities: Floats) -> Floats:
    """−log p of every row's class."""
    return -np.log(np.clip(probabilities[np.arange(len(y)), y], LEAST_PROBABILITY, 1.0))


def recalls(y: Classes, predicted: Classes, n_classes: int) -> Floats:
    """Share of every class that is recognised."""
    return class_means(y, (predicted == y).astype(float), n_classes)


def class_means(y: Classes, values: Floats, n_classes: int) -> Floats:
    """Mean over the rows of every class; every class has rows."""
    return np.bincount(y, values, n_classes) / np.bincount(y, minlength=n_classes)
