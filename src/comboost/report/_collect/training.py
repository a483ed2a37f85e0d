"""What a fitted booster reveals about itself: certified bounds, training curves, feature importances."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from comboost._cached import cached_property
from comboost._data.labels import objects_of
from comboost._estimators.base import Booster
from comboost._estimators.certificates import certify, loss_name, why_not_certified
from comboost._stats.bootstrap import MAX_DENSE_LABELS, largest_singular_value
from comboost._stats.formatting import format_confidence, join_names, text_of
from comboost._types import Floats
from comboost.metrics._confidence import (
    ClassSamples,
    geometric_mean_lower,
    largest_error_upper,
    mean_error_upper,
    norm_upper,
)
from comboost.metrics._measures import confusion_of, norm_of
from comboost.metrics._outcomes import label_array, sums_by
from comboost.report._collect.evaluation import MAX_PROBABILITIES, EvaluatedModel, Evaluation, predicted_indices
from comboost.report._collect.request import inner_estimator, inner_input
from comboost.report._collect.table import Table

MAX_POINTS, MIN_POINTS = 300, 30
MAX_SAMPLES_TIMES_POINTS = 10_000_000
MAX_FEATURES = 12
NAMES_IN_SENTENCE = {
    "norm": "‖C‖",
    "g_mean": "G-mean",
    "mean_recall": "mean recall",
    "worst_recall": "worst recall",
    "accuracy": "accuracy",
}
IMPORTANCE_DESCRIPTION = (
    "Fraction of the variance of the class scores that is explained by splits on a feature, on the training data."
)


@dataclass(frozen=True)
class InnerEstimator:
    """The estimator inside pipelines and searches, and its input."""

    estimator: Any
    X: Any

    @classmethod
    def of(cls, model: EvaluatedModel) -> "InnerEstimator":
        """Unwrap a model; a distributed one is copied to this process."""
        estimator = inner_estimator(model.model)
        local = estimator.to_local() if hasattr(estimator, "to_local") else estimator
        return cls(local, inner_input(model.model, model.X))

    @property
    def booster(self) -> Any:
        """The estimator if it is a comboost booster, else None."""
        return self.estimator if isinstance(self.estimator, Booster) else None

    @property
    def refusal(self) -> str:
        """Start of a sentence that explains why something is unavailable."""
        return f"{type(self.estimator).__name__} is not a comboost booster"

    @cached_property
    def table(self) -> Table:
        """The input of the estimator."""
        return Table.of(self.X)

    def features_by_importance(self) -> list[int]:
        """All features, the most important first; in their order if importances are unknown."""
        importances = getattr(self.estimator, "feature_importances_", None)
        if importances is None or np.shape(importances) != (self.table.n_features,):
            return list(range(self.table.n_features))
        order: list[int] = np.argsort(-np.asarray(importances, dtype=np.float64), kind="stable").tolist()
        return order


# Bounds


def describe_bounds(
    evaluation: Evaluation, inner: InnerEstimator, metrics: Sequence[Mapping[str, Any]], confidence: float
) -> dict[str, Any]:
    """Confidence bounds for new data, and what the loss guarantees on the training data."""
    reason = why_no_bound(inner)
    generalization, of_new_data = bound_new_data(evaluation, metrics, confidence)
    bounds = {
        "available": reason is None,
        "reason": reason,
        "measure": None,
        "training_norm": None,
        "loss": None,
        "certified": None,
        "generalization": generalization,
        "sentences": of_new_data,
    }
    certificate = certify(inner.booster) if reason is None else None
    if certificate is None:
        return bounds
    measure, value, loss, certified = certificate
    sentences = [
        *of_new_data,
        f"On the training data {measure} is {value:.3g}. The loss guarantees that it is at most {loss:.3g}; the "
        f"certified bound on the loss guarantees {certified:.3g}.",
        certificate.meaning(len(inner.booster.classes_)),
    ]
    return bounds | {
        "measure": measure,
        "training_norm": value,
        "loss": loss,
        "certified": certified,
        "sentences": [each for each in sentences if each is not None],
    }


def why_no_bound(inner: InnerEstimator) -> str | None:
    """Why the loss of a model bounds no norm of the confusion matrix; None if it does."""
    if not has_curves(inner):
        return f"{inner.refusal}, so there is no certified bound."
    return why_not_certified(inner.booster)


def has_curves(inner: InnerEstimator) -> bool:
    """Whether it is a booster that keeps its losses and their bounds."""
    return inner.booster is not None and hasattr(inner.booster, "bound_curve_")


def bound_new_data(
    evaluation: Evaluation, metrics: Sequence[Mapping[str, Any]], confidence: float
) -> tuple[dict[str, Any] | None, list[str]]:
    """Bound the metrics on new data, and say what follows."""
    sizes, n_classes = evaluation.class_sizes, len(evaluation.classes)
    if len(evaluation.predicted_labels) > n_classes:
        return None, ["Some samples are rejected, so the metrics on new data cannot be bounded."]
    if not sizes.all() or n_classes < 2:
        return None, ["A class has no samples, so the metrics on new data cannot be bounded."]
    tested, eta, maximum = ClassSamples.of_counts(evaluation.counts[0]), 1.0 - confidence, float(np.sqrt(n_classes - 1))
    bounds = {
        "norm": float(norm_upper(tested, eta)),
        "g_mean": float(geometric_mean_lower(tested, eta)),
        "mean_recall": 1.0 - float(mean_error_upper(tested, np.full(n_classes, 1.0 / n_classes), eta)),
        "worst_recall": 1.0 - float(largest_error_upper(tested, eta)),
        "accuracy": 1.0 - float(mean_error_upper(tested, sizes / sizes.sum(), eta)),
    }
    of_metrics = [
        {
            "key": metric["key"],
            "name": metric["name"],
            "value": metric["value"],
            "bound": bounds[metric["key"]],
            "is_upper": not metric["higher_is_better"],
            "vacuous": bounds[metric["key"]] == (0.0 if metric["higher_is_better"] else maximum),
        }
        for metric in metrics
        if metric["key"] in bounds
    ]
    generalization = {"confidence": confidence, "maximum": maximum, "metrics": of_metrics}
    return generalization, interpret_new_data(of_metrics, maximum, confidence)


def interpret_new_data(metrics: Sequence[Mapping[str, Any]], maximum: float, confidence: float) -> list[str]:
    """Say which metrics are bounded by what, under which assumptions; the first sentence has the numbers."""
    told = [
        f"{NAMES_IN_SENTENCE[each['key']]} at {'most' if each['is_upper'] else 'least'} {each['bound']:.3g}"
        f"{f' (it never exceeds {maximum:.3g})' if each['key'] == 'norm' else ''}"
        for each in metrics
        if not each["vacuous"]
    ]
    untold = [each["key"] for each in metrics if each["vacuous"]]
    names = join_names([NAMES_IN_SENTENCE[key] for key in untold])
    too_few = [f"There are too few samples of some classes to bound {names} on new data."] if untold else []
    if not told:
        return ["No metric is bounded on new data.", *too_few]
    otherwise = "" if "worst_recall" in untold else "; if they are not, it is at least the bound of the worst recall"
    return [
        f"Bounds on new data, each with {format_confidence(confidence)} confidence: {join_names(told)}.",
        "These bounds assume that the model was not trained on these samples, and that new samples of a class are like "
        f"these. The bound of the accuracy assumes that the classes are as frequent as here{otherwise}.",
        *too_few,
    ]


# Training curves


def describe_curves(evaluation: Evaluation, inner: InnerEstimator) -> tuple[dict[str, Any] | None, str | None]:
    """Loss, certified bound and ‖C‖ on the samples after every round; or why there are none."""
    if not has_curves(inner):
        return None, f"{inner.refusal}, so there are no training curves."
    booster, name = inner.booster, loss_name(inner.booster)
    n_rounds = len(booster.loss_curve_)
    n_points = min(n_rounds, int(np.clip(MAX_SAMPLES_TIMES_POINTS // len(evaluation.truth), MIN_POINTS, MAX_POINTS)))
    # The first round, the last, and evenly spaced ones between them.
    rounds = np.unique(np.linspace(0, n_rounds - 1, n_points).round().astype(np.intp))
    series = [
        {"key": "loss", "name": f"L{name[1:]}", "values": booster.loss_curve_[rounds].tolist()},
        {"key": "bound", "name": f"Certified bound on the {name}", "values": booster.bound_curve_[rounds].tolist()},
    ]
    if len(evaluation.truth) * len(evaluation.classes) <= MAX_PROBABILITIES:
        norms = staged_norms(evaluation, inner, rounds).tolist()
        series.append({"key": "norm_test", "name": "‖C‖ on the test samples", "values": norms})
    return {
        "rounds": (rounds + 1).tolist(),
        "series": series,
        "stop_reason": str(booster.stop_reason_),
        "best_round": n_rounds if booster.early_stopping else None,
        "subsampled": len(rounds) < n_rounds,
    }, None


def staged_norms(evaluation: Evaluation, inner: InnerEstimator, rounds: NDArray[np.intp]) -> Floats:
    """‖C‖ after some rounds."""
    booster, n_labels, wanted = inner.booster, len(evaluation.classes) + 1, set(rounds.tolist())
    norms = []
    for number, labels in enumerate(booster.staged_predict(inner.X)):
        if number in wanted:
            predicted, _ = predicted_indices(
                label_array(labels, "staged_predict"), booster.classes_, evaluation.classes
            )
            counts = sums_by(evaluation.truth * n_labels + predicted, np.ones(len(predicted)), n_labels**2)
            norms.append(approximate_norm(counts.reshape(n_labels, n_labels)))
    return np.array(norms)


def approximate_norm(counts: Floats) -> float:
    """‖C‖; for many classes with a precision of 1e-4, which is enough for a chart."""
    if len(counts) <= MAX_DENSE_LABELS:
        return norm_of(counts)
    confusion = csr_array(confusion_of(counts))
    return largest_singular_value(confusion, confusion.data)


# Feature importances


def describe_importances(inner: InnerEstimator) -> tuple[dict[str, Any] | None, str | None]:
    """Importances of the most important features by class, or why there are none."""
    booster = inner.booster
    if booster is None:
        return None, f"{inner.refusal}, so there are no importances by class."
    by_class = getattr(booster, "class_importances_", None)
    if by_class is None:
        return None, "Importances by class need the built-in trees."
    overall = booster.feature_importances_
    names = [text_of(name) for name in getattr(booster, "feature_names_in_", inner.table.feature_names)]
    chosen = inner.features_by_importance()[:MAX_FEATURES]
    return {
        "features": [names[f] for f in chosen],
        "classes": [text_of(label) for label in objects_of(booster.classes_)],
        "values": by_class[:, chosen].tolist(),
        "overall": overall[chosen].tolist(),
        "n_features": len(overall),
        "description": IMPORTANCE_DESCRIPTION,
    }, None
