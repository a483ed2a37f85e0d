"""Predictions and probabilities of the model and the baseline on the same samples."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comboost._cached import cached_property
from comboost._data.labels import find_distinct, join_labels, objects_of
from comboost._stats.formatting import readable, text_of
from comboost._types import Floats
from comboost.metrics._measures import NORM_SQUARES
from comboost.metrics._outcomes import check_squares, class_indices, find_indices, label_array, resolve_classes, sums_by
from comboost.report._collect.request import EvaluationRequest

REJECTED_SUFFIX = " (rejected)"  # of a rejection label that is also a class
MAX_PROBABILITIES = 25_000_000  # 200 MB


@dataclass(frozen=True)
class EvaluatedModel:
    """A model, its input and its predictions."""

    name: str
    kind: str  # name of its Python class
    model: Any
    X: Any
    known: NDArray[np.intp]  # indices of its own classes, in its order, among all classes
    predicted: NDArray[np.intp]  # index of the predicted class; n_classes for rejected samples
    reject_labels: tuple[str, ...]  # predicted labels that are not classes of the model


@dataclass(frozen=True)
class Evaluation:
    """The samples, and the predictions of one model or two."""

    classes: NDArray[Any]  # the model's own in its order, then all others of the samples or the baseline, sorted
    truth: NDArray[np.intp]  # index of the true class
    models: tuple[EvaluatedModel, ...]  # the model, and the baseline if there is one

    @cached_property
    def names(self) -> list[str]:
        """The classes as text."""
        return [text_of(label) for label in objects_of(self.classes)]

    @cached_property
    def class_sizes(self) -> Floats:
        """Number of samples of every class."""
        return sums_by(self.truth, np.ones(len(self.truth)), len(self.classes))

    @cached_property
    def predicted_labels(self) -> list[str]:
        """Names of the columns of a confusion matrix: the classes, then the label of rejected samples, if any."""
        rejects = sorted({label for model in self.models for label in model.reject_labels})
        if not rejects:
            return self.names
        name = " / ".join(rejects)
        return [*self.names, name + REJECTED_SUFFIX if name in self.names else name]

    @cached_property
    def counts(self) -> tuple[Floats, ...]:
        """Square confusion matrices of all models; the row of rejected samples is empty."""
        n_labels, each = len(self.predicted_labels), np.ones(len(self.truth))
        check_squares(n_labels, NORM_SQUARES * len(self.models))
        codes = [self.truth * n_labels + model.predicted for model in self.models]
        return tuple(sums_by(pairs, each, n_labels**2).reshape(n_labels, n_labels) for pairs in codes)

    def sorted_codes(self) -> tuple[NDArray[np.intp], list[NDArray[np.intp]]]:
        """True and predicted labels as indices of sorted classes, which do not depend on the roles of the models."""
        codes = np.arange(len(self.predicted_labels))
        codes[: len(self.classes)] = find_distinct(self.classes, "classes")[1]
        return codes[self.truth], [codes[model.predicted] for model in self.models]


def evaluate(request: EvaluationRequest) -> Evaluation:
    """Predict with all models; raise ValueError if predictions and samples do not fit together."""
    truth = label_array(request.y, "y")
    predicted_by = [
        (model, X, *predict_with(model, X, truth.size, role))
        for (role, model), X in zip(request.models.items(), request.tables, strict=True)
    ]
    classes = joint_classes(truth, [own for _, _, own, _ in predicted_by])
    models = []
    for name, (model, X, own, labels) in zip(request.names, predicted_by, strict=True):
        predicted, rejects = predicted_indices(labels, own, classes)
        known = class_indices(own, classes, "classes_")
        models.append(EvaluatedModel(name, type(model).__name__, model, X, known, predicted, rejects))
    return Evaluation(classes, class_indices(truth, classes, "y"), tuple(models))


def predict_with(model: Any, X: Any, n_samples: int, role: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """The classes of a model, and its predictions."""
    labels = label_array(model.predict(X), f"the predictions of the {role}")
    if labels.size != n_samples:
        raise ValueError(f"X has {labels.size} rows, as the {role} sees it, and y {n_samples}; give one class per row.")
    if not hasattr(model, "classes_"):
        return find_distinct(labels, "predictions")[0], labels
    return label_array(model.classes_, f"classes_ of the {role}"), labels


def joint_classes(truth: NDArray[Any], owned: list[NDArray[Any]]) -> NDArray[Any]:
    """The classes of the first model in its order, then all others, sorted."""
    first = owned[0]
    seen = {"y": truth, **{f"classes_ of model {number}": own for number, own in enumerate(owned, start=1)}}
    everything = resolve_classes(None, **seen)
    others = everything[find_indices(everything, first, "classes") < 0]
    return join_labels([first, others], "classes") if others.size else first


def predicted_indices(
    labels: NDArray[Any], own: NDArray[Any], classes: NDArray[Any]
) -> tuple[NDArray[np.intp], tuple[str, ...]]:
    """Index of every predicted class, and the labels of rejected samples: those that are not classes of the model."""
    own_idx = find_indices(labels, own, "predictions")
    rejected = own_idx < 0
    predicted = np.where(rejected, len(classes), class_indices(own, classes, "classes_")[own_idx])
    if not rejected.any():
        return predicted, ()
    reject_labels = find_distinct(labels[rejected], "predictions")[0]
    return predicted, tuple(text_of(label) for label in objects_of(reject_labels))


@dataclass(frozen=True)
class Probabilities:
    """Predicted probabilities of all classes, in an order of the samples that does not depend on the given one."""

    values: Floats  # (n_samples, n_classes); 0 for classes that the model does not know
    truth: NDArray[np.intp]  # index of the true class
    top: NDArray[np.intp]  # index of the most probable class; ties go to the first in the order of the model


def predict_probabilities(evaluation: Evaluation, model: EvaluatedModel) -> tuple[Probabilities | None, str | None]:
    """The probabilities of a model, or the reason why there are none."""
    n_samples, n_classes = len(evaluation.truth), len(evaluation.classes)
    if not hasattr(model.model, "predict_proba"):
        return None, f"{model.name} does not predict probabilities."
    if n_samples * n_classes > MAX_PROBABILITIES:
        return None, f"Probabilities of {n_samples:,} samples and {n_classes:,} classes would take too much memory."
    try:
        own = np.asarray(model.model.predict_proba(model.X), dtype=np.float64)
    except (AttributeError, NotImplementedError, ValueError) as error:  # although predict works
        return None, f"{model.name} does not predict probabilities: {readable(error).rstrip('.')}."
    if own.shape != (n_samples, len(model.known)):
        return None, f"{model.name} predicts probabilities of shape {own.shape}, not one per sample and class."
    if not ((own >= 0) & (own <= 1)).all() or (np.abs(own.sum(axis=1) - 1) > 1e-6).any():
        return None, f"{model.name} predicts invalid probabilities: some rows do not add up to 1."
    values = np.zeros((n_samples, n_classes))
    values[:, model.known] = own
    top = model.known[own.argmax(axis=1)]
    of_truth, of_top = (values[np.arange(n_samples), idx] for idx in (evaluation.truth, top))
    order = np.lexsort((top, of_top, of_truth, evaluation.truth))
    return Probabilities(values[order], evaluation.truth[order], top[order]), None
