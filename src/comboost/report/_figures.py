"""Measures of a whole model. In: a `Trial`, its draws. Out: measures with limits, and differences of two models."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh

from comboost._stats.exact_intervals import exact_interval
from comboost._types import Floats
from comboost.metrics import balanced_log_loss, mauc_score
from comboost.metrics._measures import confusion_of, geometric_mean_of, mean_recall_of, min_recall_of, norm_of
from comboost.report._probabilities import Shares
from comboost.report._resampling import Draws
from comboost.report._trial import Trial

MANY_COLUMNS = 100  # from which all singular values take too long


@dataclass(frozen=True)
class Yardstick:
    """A measure that follows from counts, and what it means."""

    key: str
    name: str
    meaning: str
    best: str
    of_counts: Callable[[Floats], float]


def norm_of_many(counts: Floats) -> float:
    """‖C‖; of many classes by the largest eigenvalue of CCᵀ alone, which takes a twentieth of the time."""
    if len(counts) <= MANY_COLUMNS:
        return norm_of(counts)
    confusion, last = confusion_of(counts), len(counts) - 1
    (largest,) = eigh(confusion @ confusion.T, eigvals_only=True, subset_by_index=[last, last])
    return float(np.sqrt(max(largest, 0.0)))


def accuracy_of(counts: Floats) -> float:
    """The share of rows that are right."""
    return float(np.trace(counts) / counts.sum())


YARDSTICKS = [
    Yardstick(
        "norm",
        "‖C‖",
        "How large the confusion matrix is: 0 if nothing is confused, whatever the sizes of the classes are.",
        "low",
        norm_of_many,
    ),
    Yardstick(
        "g_mean",
        "G-mean",
        "The geometric mean of the recalls: 0 as soon as one class is never found.",
        "high",
        geometric_mean_of,
    ),
    Yardstick(
        "mean_recall",
        "Mean recall",
        "The share of a class that is found, on average over the classes, each counting the same.",
        "high",
        mean_recall_of,
    ),
    Yardstick(
        "worst_recall",
        "Worst recall",
        "The share that is found of the class that is found least; its limits hold for all classes at once.",
        "high",
        min_recall_of,
    ),
    Yardstick(
        "accuracy",
        "Accuracy",
        "The share of rows that are right: large classes count most, and rare ones hardly at all.",
        "high",
        accuracy_of,
    ),
]
OF_DRAWS = ("norm", "g_mean", "mean_recall", "accuracy")  # those whose limits are found by drawing rows anew


def measure_model(trial: Trial, model: int, draws: Draws, shares: Shares | None, confidence: float) -> list[Any]:
    """All measures of one of the models, with limits."""
    counts = trial.counts[model]
    entries = []
    for each in YARDSTICKS:
        value = each.of_counts(counts)
        if each.key in OF_DRAWS:
            half = draws.half_width(draws.error_of(each.key, model), confidence)
            low, high = max(value - half, 0.0), min(value + half, most_of(each.key, len(counts)))
        else:
            low, high = limits_of_worst(counts, confidence)
        entries.append(entry_of(each, value, low, high))
    return entries if shares is None else [*entries, *measure_shares(trial, shares)]


def entry_of(yardstick: Yardstick, value: float, low: float, high: float) -> dict[str, Any]:
    """A measure as the summary has it."""
    return {
        "key": yardstick.key,
        "name": yardstick.name,
        "meaning": yardstick.meaning,
        "value": value,
        "low": low,
        "high": high,
        "best": yardstick.best,
    }


def most_of(key: str, n_columns: int) -> float:
    """The largest value that a measure can have."""
    return float(np.sqrt(max(n_columns - 1, 1))) if key == "norm" else 1.0


def limits_of_worst(counts: Floats, confidence: float) -> tuple[float, float]:
    """Limits of the smallest recall: the smallest ones of intervals that hold for all classes at once."""
    sizes = counts.sum(axis=1)
    present = sizes > 0
    each = at_once(confidence, int(present.sum()))
    low, high = exact_interval(np.diag(counts)[present], sizes[present], each)
    return float(low.min()), float(high.min())


def at_once(confidence: float, n_intervals: int) -> float:
    """The confidence of each interval if all of them are to hold at once, after Bonferroni."""
    return 1.0 - (1.0 - confidence) / max(n_intervals, 1)


def measure_shares(trial: Trial, shares: Shares) -> list[dict[str, Any]]:
    """Measures of probabilities, which have no limits."""
    places = np.arange(len(trial.classes))
    entries = [
        {
            "key": "log_loss",
            "name": "Log-loss",
            "meaning": "How much probability the true class gets, each class counting the same; 0 is best, and "
            f"{np.log(len(places)):.2f} is guessing.",
            "value": balanced_log_loss(shares.truth, shares.values, labels=places),
            "best": "low",
        }
    ]
    if np.unique(trial.truth).size > 1:
        mauc = {
            "key": "mauc",
            "name": "MAUC",
            "meaning": "The chance that a row of a class has a higher probability of it than a row of another class; "
            "0.5 is guessing.",
            "value": mauc_score(shares.truth, shares.values, labels=places),
            "best": "high",
        }
        entries = [mauc, *entries]
    return [each | {"low": None, "high": None} for each in entries]


def measure_differences(
    ours: list[dict[str, Any]], theirs: list[dict[str, Any]], draws: Draws, n_columns: int, confidence: float
) -> list[dict[str, Any]]:
    """The model's measures minus those of the baseline, with limits, each for itself."""
    entries = []
    for one, other in zip(ours, theirs, strict=False):  # the first ones are of both
        key = one["key"]
        if key not in OF_DRAWS:
            continue
        value, most = one["value"] - other["value"], most_of(key, n_columns)
        half = draws.half_width_of_difference(key, value, confidence)
        low, high = max(value - half, -most), min(value + half, most)
        sure = low > 0 or high < 0
        entries.append({"key": key, "name": one["name"], "value": value, "low": low, "high": high, "sure": sure})
    return entries


def of_one_class(differences: list[dict[str, Any]], recall: dict[str, Any]) -> list[dict[str, Any]]:
    """The differences if all rows are of one class: all measures but the norm are then its recall."""
    return [each if each["key"] == "norm" else each | recall for each in differences]
