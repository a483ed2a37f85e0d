"""Metrics of the whole model, by class, and of its probabilities, with confidence intervals."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from comboost._stats.bootstrap import BootstrapDraws, draw_metrics
from comboost._stats.formatting import is_significant
from comboost._stats.intervals import bonferroni, exact_interval, newcombe_interval, wilson_interval
from comboost._types import Floats
from comboost.metrics import balanced_log_loss, mauc_score
from comboost.metrics._measures import confusion_of, geometric_mean_of, mean_recall_of, min_recall_of, norm_of
from comboost.metrics._outcomes import sums_by
from comboost.model_selection._confusion_folds import recalls as recalls_of
from comboost.report._collect.evaluation import Evaluation, Probabilities
from comboost.report._collect.table import Table

MAX_SVD_LABELS = 100  # beyond, computing all singular values takes too long
N_BINS = 10  # of confidences
MAX_PAIRS, MAX_EXAMPLES, MAX_FEATURES = 10, 3, 8


# The whole model


class Metric(NamedTuple):
    """Description of a metric."""

    key: str
    name: str
    description: str
    higher_is_better: bool = True

    def entry(self, value: float, interval: list[float] | None = None) -> dict[str, Any]:
        """The metric in a summary."""
        return {**self._asdict(), "value": value, "interval": interval}


def spectral_norm(counts: Floats) -> float:
    """‖C‖; for many classes from the largest eigenvalue of CCᵀ alone, which takes a twentieth of the time."""
    if len(counts) <= MAX_SVD_LABELS:
        return norm_of(counts)
    confusion, last = confusion_of(counts), len(counts) - 1
    (largest,) = eigh(confusion @ confusion.T, eigvals_only=True, subset_by_index=[last, last])
    return float(np.sqrt(max(largest, 0.0)))


METRICS: dict[Metric, Callable[[Floats], float]] = {  # as functions of the confusion matrix
    Metric(
        "norm",
        "‖C‖",
        "Spectral norm of the error confusion matrix; 0 if there are no errors. It does not depend on class sizes.",
        higher_is_better=False,
    ): spectral_norm,
    Metric("g_mean", "G-mean", "Geometric mean of the recalls; 0 if the recall of any class is 0."): geometric_mean_of,
    Metric("mean_recall", "Mean recall", "Mean of the recalls; also called balanced accuracy."): mean_recall_of,
    Metric(
        "worst_recall", "Worst recall", "Lowest recall of any class. Its interval holds for all classes simultaneously."
    ): min_recall_of,
    Metric(
        "accuracy", "Accuracy", "Fraction of samples predicted correctly; dominated by the largest classes."
    ): lambda counts: float(np.trace(counts) / counts.sum()),
}
MAUC = Metric("mauc", "MAUC", "Area under the ROC curve, averaged over all pairs of classes; 0.5 is chance.")
BOOTSTRAPPED = ("norm", "g_mean", "mean_recall", "accuracy")


def compare_models(
    evaluation: Evaluation, probabilities: list[Probabilities | None], confidence: float, random_state: int
) -> dict[str, Any]:
    """The entries models, differences and classes of a summary."""
    draws = draw_metrics(*evaluation.sorted_codes(), len(evaluation.predicted_labels), random_state)
    n_classes = len(evaluation.classes)
    models = [
        {
            "name": model.name,
            "estimator": model.kind,
            "metrics": model_metrics(counts, idx, draws, confidence) + probability_metrics(evaluation, given),
            "confusion_matrix": counts[:n_classes].astype(np.int64).tolist(),
            "error_confusion_matrix": confusion_of(counts)[:n_classes].tolist(),
        }
        for idx, (model, counts, given) in enumerate(
            zip(evaluation.models, evaluation.counts, probabilities, strict=True)
        )
    ]
    classes = describe_classes(evaluation, confidence)
    differences = None
    if len(models) > 1:
        differences = metric_differences(models, draws, len(evaluation.predicted_labels), confidence)
        tested = [each for each in classes if each["n_samples"]]
        if len(tested) == 1:  # all metrics but the norm are then the recall of this class
            recall = tested[0]["difference"]
            differences = [each if each["key"] == "norm" else each | recall for each in differences]
    return {"models": models, "differences": differences, "classes": classes}


def model_metrics(counts: Floats, idx: int, draws: BootstrapDraws, confidence: float) -> list[dict[str, Any]]:
    """The metrics of a confusion matrix, with intervals."""
    entries = []
    for metric, of_counts in METRICS.items():
        value = of_counts(counts)
        if metric.key in BOOTSTRAPPED:
            half = draws.half_width(draws.standard_error(metric.key, idx), confidence)
            interval = [max(value - half, 0.0), min(value + half, maximum_of(metric.key, len(counts)))]
        else:
            interval = worst_recall_interval(counts, confidence)
        entries.append(metric.entry(value, interval))
    return entries


def maximum_of(key: str, n_labels: int) -> float:
    """The largest value that a metric can have."""
    return float(np.sqrt(max(n_labels - 1, 1))) if key == "norm" else 1.0


def worst_recall_interval(counts: Floats, confidence: float) -> list[float]:
    """Interval of the lowest recall: the lowest bounds of simultaneous intervals."""
    sizes = counts.sum(axis=1)
    present = sizes > 0
    each = bonferroni(confidence, int(present.sum()))
    low, high = exact_interval(np.diag(counts)[present], sizes[present], each)
    return [float(low.min()), float(high.min())]


def probability_metrics(evaluation: Evaluation, given: Probabilities | None) -> list[dict[str, Any]]:
    """Metrics of predicted probabilities, which have no intervals."""
    if given is None:
        return []
    labels = np.arange(len(evaluation.classes))
    description = (
        "Negative log-likelihood of the true class, averaged with equal weight per class; "
        f"{np.log(len(labels)):.2f} is chance."
    )
    log_loss = Metric("log_loss", "Log-loss", description, higher_is_better=False)
    entries = [log_loss.entry(balanced_log_loss(given.truth, given.values, labels=labels))]
    if np.unique(evaluation.truth).size > 1:
        entries.insert(0, MAUC.entry(mauc_score(given.truth, given.values, labels=labels)))
    return entries


def metric_differences(
    models: list[dict[str, Any]], draws: BootstrapDraws, n_labels: int, confidence: float
) -> list[dict[str, Any]]:
    """Metrics of the model minus those of the baseline."""
    ours, theirs = (model["metrics"][: len(METRICS)] for model in models)
    entries = []
    for one, other in zip(ours, theirs, strict=True):
        key = one["key"]
        if key in BOOTSTRAPPED:
            value, maximum = one["value"] - other["value"], maximum_of(key, n_labels)
            half = draws.half_width_of_difference(key, value, confidence)
            interval = [max(value - half, -maximum), min(value + half, maximum)]
            entries.append({"key": key, "name": one["name"]} | difference_entry(value, interval))
    return entries


def difference_entry(value: float, interval: list[float]) -> dict[str, Any]:
    """A difference in a summary."""
    return {"value": value, "interval": interval, "significant": is_significant(interval)}


# By class


def describe_classes(evaluation: Evaluation, confidence: float) -> list[dict[str, Any]]:
    """Recall, precision, most frequent error and difference of recalls for every class."""
    own = set(evaluation.models[0].known.tolist())
    by_model = [class_metrics(evaluation, counts, confidence) for counts in evaluation.counts]
    differences = recall_differences(evaluation, confidence)
    return [
        {
            "name": name,
            "n_samples": int(size),
            "known": k in own,
            "models": [entries[k] for entries in by_model],
            "difference": differences[k],
        }
        for k, (name, size) in enumerate(zip(evaluation.names, evaluation.class_sizes, strict=True))
    ]


def class_metrics(evaluation: Evaluation, counts: Floats, confidence: float) -> list[dict[str, Any]]:
    """Recall, precision and most frequent error of a model for every class."""
    n_classes, sizes = len(evaluation.classes), evaluation.class_sizes
    recalls, n_predicted = recalls_of(counts)[:n_classes], counts.sum(axis=0)
    low, high = wilson_interval(recalls, sizes, confidence=confidence)
    confusion = confusion_of(counts)
    mistaken = confusion.argmax(axis=1)
    entries = []
    for k in range(n_classes):
        fraction = float(confusion[k, mistaken[k]])
        entries.append(
            {
                "recall": float(recalls[k]) if sizes[k] else None,
                "interval": [float(low[k]), float(high[k])] if sizes[k] else None,
                "precision": float(counts[k, k] / n_predicted[k]) if n_predicted[k] else None,
                "predicted_as": evaluation.predicted_labels[mistaken[k]] if fraction else None,
                "predicted_as_fraction": fraction if fraction else None,
            }
        )
    return entries


def recall_differences(evaluation: Evaluation, confidence: float) -> list[dict[str, Any] | None]:
    """Recalls of the model minus those of the baseline, with simultaneous intervals."""
    n_classes = len(evaluation.classes)
    if len(evaluation.models) == 1:
        return [None] * n_classes
    ours, theirs = (model.predicted == evaluation.truth for model in evaluation.models)
    cases = (ours & theirs, ours & ~theirs, ~ours & theirs, ~ours & ~theirs)
    both, first, second, neither = (sums_by(evaluation.truth, case.astype(np.float64), n_classes) for case in cases)
    each = bonferroni(confidence, int(np.count_nonzero(evaluation.class_sizes)))
    values, low, high = newcombe_interval(both, first, second, neither, each)
    return [
        difference_entry(float(values[k]), [float(low[k]), float(high[k])]) if evaluation.class_sizes[k] else None
        for k in range(n_classes)
    ]


def describe_pairs(
    evaluation: Evaluation, table: Table, features: list[int], confidence: float
) -> list[dict[str, Any]]:
    """The most confused pairs of classes, with example samples that show the first of ``features``."""
    shown, names = features[:MAX_FEATURES], evaluation.names
    entries = []
    for true, predicted in most_confused(evaluation, confidence):
        samples = np.flatnonzero((evaluation.truth == true) & (evaluation.models[0].predicted == predicted))
        first = samples[:MAX_EXAMPLES].tolist()
        fraction, *others = (float(counts[true, predicted] / counts[true].sum()) for counts in evaluation.counts)
        entries.append(
            {
                "true_class": names[true],
                "predicted_as": names[predicted],
                "n_samples": len(samples),
                "fraction": fraction,
                "baseline_fraction": others[0] if others else None,
                "examples": {
                    "features": [table.feature_names[f] for f in shown],
                    "samples": [
                        {"index": table.index_of(i), "values": values}
                        for i, values in zip(first, table.cells(first, shown), strict=True)
                    ],
                },
            }
        )
    return entries


def most_confused(evaluation: Evaluation, confidence: float) -> list[tuple[int, int]]:
    """Pairs of true and predicted class by the lower bounds of their fractions, so that tiny classes do not lead."""
    n_classes, sizes = len(evaluation.classes), evaluation.class_sizes
    counts = evaluation.counts[0][:n_classes, :n_classes]
    pairs: NDArray[np.intp] = np.argwhere((counts > 0) & ~np.eye(n_classes, dtype=bool))
    fractions = counts[pairs[:, 0], pairs[:, 1]] / sizes[pairs[:, 0]]
    low, _ = wilson_interval(fractions, sizes[pairs[:, 0]], confidence=confidence)
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -fractions, -low))[:MAX_PAIRS]
    return [(int(true), int(predicted)) for true, predicted in pairs[order].tolist()]


# Probabilities


def describe_calibration(name: str, given: Probabilities, confidence: float) -> dict[str, Any]:
    """Accuracy by confidence, the highest probability of a sample; all classes have the same total weight."""
    sizes = np.bincount(given.truth)
    weights = 1.0 / sizes[given.truth] / np.count_nonzero(sizes)
    confidences = given.values[np.arange(len(given.truth)), given.top]
    correct = (given.top == given.truth).astype(np.float64)
    order = np.lexsort((correct, weights, confidences))  # makes sums independent of the order of the samples
    confidences, correct, weights = confidences[order], correct[order], weights[order]
    bins = np.minimum((confidences * N_BINS).astype(np.intp), N_BINS - 1)
    totals = sums_by(bins, weights, N_BINS)
    predicted = divide(sums_by(bins, weights * confidences, N_BINS), totals)
    accuracy = np.clip(divide(sums_by(bins, weights * correct, N_BINS), totals), 0.0, 1.0)
    effective_sizes = divide(totals**2, sums_by(bins, weights**2, N_BINS))
    low, high = wilson_interval(accuracy, effective_sizes, confidence=confidence)
    n_samples = np.bincount(bins, minlength=N_BINS)
    return {
        "model": name,
        "bins": [
            {
                "lower": b / N_BINS,
                "upper": (b + 1) / N_BINS,
                "n_samples": int(n_samples[b]),
                "confidence": float(predicted[b]),
                "accuracy": float(accuracy[b]),
                "interval": [float(low[b]), float(high[b])],
            }
            for b in np.flatnonzero(n_samples).tolist()
        ],
        "calibration_error": float((totals * np.abs(predicted - accuracy)).sum() / totals.sum()),
    }


def divide(sums: Floats, totals: Floats) -> Floats:
    """Quotients; 0 where the total is 0."""
    return np.asarray(np.divide(sums, totals, out=np.zeros_like(sums), where=totals > 0))
