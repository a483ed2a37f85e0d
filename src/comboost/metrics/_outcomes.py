"""Validation of the input of metrics: labels to class indices, scores and weights to floats."""

from collections.abc import Sequence
from reprlib import repr as short_repr
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import accuracy_score

from comboost._data.checks import check_unmasked, numbers_in_errors
from comboost._data.labels import (
    as_objects,
    exact_labels,
    find_distinct,
    join_labels,
    kind_of_labels,
    locate_labels,
    objects_of,
    unpack_labels,
)
from comboost._engine.memory import check_large
from comboost._types import Floats

EXACT_KINDS = "biufU"  # of dtypes; NumPy compares any two of the same kind exactly
NO_NUMBER = "pass a number in its place, or leave the row out."


class SampleOutcomes(NamedTuple):
    """True and predicted classes of every sample, as indices into `classes`, and its weight."""

    classes: NDArray[Any]
    true_idx: NDArray[np.intp]
    pred_idx: NDArray[np.intp]
    weight: Floats

    def class_weights(self) -> Floats:
        """Summed weight of every true class."""
        return sums_by(self.true_idx, self.weight, self.classes.size)

    def counts(self, n_squares: int = 1) -> Floats:
        """N(l, j): the weight of the samples of class l that are predicted as j.

        ``n_squares`` is the number of matrices of this size that the caller needs at a time.
        """
        n_classes = self.classes.size
        check_squares(n_classes, n_squares)
        pairs = self.true_idx * n_classes + self.pred_idx
        return sums_by(pairs, self.weight, n_classes**2).reshape(n_classes, n_classes)


def check_squares(n_classes: int, n_squares: int) -> None:
    """Raise if the K×K matrices would need more memory than is available."""
    check_large(
        f"A metric of {n_classes} classes",
        {f"matrices of {n_classes} × {n_classes} classes": n_squares * n_classes**2 * 8},
        "Are these classes? Give labels as predict returns them, or a metric that needs no confusion matrix, such as "
        "balanced_log_loss.",
    )


def sums_by(idx: NDArray[np.intp], values: Floats, n_groups: int) -> Floats:
    """Sum the values of every group."""
    return np.asarray(np.bincount(idx, values, minlength=n_groups), dtype=np.float64)


def read_outcomes(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    labels: ArrayLike | None,
    sample_weight: ArrayLike | None,
    **more_classes: Sequence[Any],
) -> SampleOutcomes:
    """Check labels and weights; classes that parameters name are added to those that occur if `labels` is None."""
    true, pred = label_array(y_true, "y_true"), label_array(y_pred, "y_pred")
    if true.size != pred.size:
        raise ValueError(f"y_true has {true.size} rows and y_pred {pred.size}; pass one prediction per true label.")
    weight = weight_array(sample_weight, true.size)
    named = {name: label_array(given, name) for name, given in more_classes.items() if given and labels is None}
    classes = resolve_classes(labels, y_true=true, y_pred=pred, **named)
    return SampleOutcomes(
        classes, class_indices(true, classes, "y_true"), class_indices(pred, classes, "y_pred"), weight
    )


def without_rejected(y_true: ArrayLike, y_pred: ArrayLike, reject_label: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Replace rejected predictions by the true labels; also return which samples are rejected."""
    if reject_label is None:
        raise ValueError("reject_cost is the cost of rows that are predicted as reject_label; give reject_label, too.")
    true, pred = label_array(y_true, "y_true"), label_array(y_pred, "y_pred")
    label = label_array(as_objects([reject_label]), "reject_label")
    if (find_indices(true, label, "y_true") >= 0).any():
        raise ValueError(f"reject_label={reject_label!r} is a class of y_true; give the label of rejected rows alone.")
    rejected = find_indices(pred, label, "y_pred") >= 0
    if true.size != pred.size:
        return pred, rejected  # `read_outcomes` raises
    pairs = zip(objects_of(true), objects_of(pred), rejected.tolist(), strict=True)
    return as_objects([truth if is_rejected else predicted for truth, predicted, is_rejected in pairs]), rejected


def label_accuracy(y_true: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None) -> float:
    """Accuracy by scikit-learn, from class indices: it does not accept labels such as dates."""
    outcomes = read_outcomes(y_true, y_pred, None, None)
    return float(accuracy_score(outcomes.true_idx, outcomes.pred_idx, sample_weight=sample_weight))


def resolve_classes(labels: ArrayLike | None, **seen: NDArray[Any]) -> NDArray[Any]:
    """Return `labels`, which must be of the kind of the labels that occur, or else all labels that occur, sorted."""
    named = seen if labels is None else {"labels": label_array(labels, "labels"), **seen}
    kinds = {name: kind_of_labels(array) for name, array in named.items()}
    if len(set(kinds.values())) > 1:
        raise ValueError(f"Labels must be of one kind, all text or all numbers, got {kinds}; convert one to the other.")
    if labels is None:
        if len({array.dtype.kind for array in seen.values()}) > 1:  # then labels are joined one by one
            seen = {name: find_distinct(array, name)[0] for name, array in seen.items()}
        together = join_labels(list(seen.values()), "labels")
        return np.unique(together) if together.dtype.kind in EXACT_KINDS else find_distinct(together, "labels")[0]
    if find_distinct(named["labels"], "labels")[0].size < named["labels"].size:
        raise ValueError(f"labels={short_repr(named['labels'].tolist())} must name every class once; drop the copies.")
    return named["labels"]


def class_indices(y: NDArray[Any], classes: NDArray[Any], name: str) -> NDArray[np.intp]:
    """Index of every label in `classes`; raise if a label is not there."""
    idx = find_indices(y, classes, name)
    if (idx < 0).any():
        raise ValueError(
            f"{name} holds {short_repr(find_distinct(y[idx < 0], name)[0].tolist())}, which is not in "
            f"labels={short_repr(classes.tolist())}; add it to labels, or leave these rows out."
        )
    return idx


def find_indices(y: NDArray[Any], classes: NDArray[Any], name: str) -> NDArray[np.intp]:
    """As `class_indices`, -1 for a label that is not there."""
    if y.dtype.kind != classes.dtype.kind or y.dtype.kind not in EXACT_KINDS:
        distinct, indices = find_distinct(y, name)
        located: NDArray[np.intp] = locate_labels(distinct, classes)[indices]
        return located
    # NumPy compares labels of one kind exactly, and does not have to sort them all.
    order = np.argsort(classes)
    idx: NDArray[np.intp] = order[np.minimum(np.searchsorted(classes, y, sorter=order), classes.size - 1)]
    idx[classes[idx] != y] = -1
    return idx


def label_array(y: ArrayLike, name: str) -> NDArray[Any]:
    """Return one label per sample, as numbers, text or objects."""
    labels = unpack_labels(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels.ravel()
    if labels.ndim != 1 or labels.size == 0:
        raise ValueError(f"{name} must hold one class label per row, at least one, got shape {labels.shape}.")
    return exact_labels(labels, name)


def weight_array(sample_weight: ArrayLike | None, n_samples: int) -> Floats:
    """Return the weights divided by a power of two, which prevents overflow and does not change rounding."""
    if sample_weight is None:
        return np.ones(n_samples)
    weight = float_array(sample_weight, "sample_weight")
    if weight.shape != (n_samples,):
        raise ValueError(f"sample_weight has shape {weight.shape} for {n_samples} rows; pass one weight per row.")
    if not (np.isfinite(weight) & (weight >= 0)).all():
        raise ValueError("sample_weight has a negative, NaN or infinite value; every weight must be 0 or more.")
    if not weight.any():
        raise ValueError("sample_weight is zero for every row; at least one row needs a positive weight.")
    scaled: Floats = np.ldexp(weight, -np.frexp(weight.max())[1])
    return scaled


def float_array(values: ArrayLike, name: str) -> Floats:
    """Return numbers as floats; none of them may be masked."""
    check_unmasked(values, name, NO_NUMBER)
    with numbers_in_errors(values, name):
        return np.asarray(values, dtype=np.float64)


def score_array(y_score: ArrayLike, n_samples: int) -> Floats:
    """Return one column of scores per class; a single column is that of the second of two classes."""
    scores = float_array(y_score, "y_score")
    if scores.ndim not in (1, 2) or scores.shape[0] != n_samples:
        raise ValueError(
            f"y_score has shape {scores.shape} for {n_samples} rows; pass one row of scores per true label, with one "
            "column per class."
        )
    if np.isnan(scores).any():
        raise ValueError("y_score has NaN; pass a number for every row and class.")
    return np.column_stack([-scores, scores]) if scores.ndim == 1 else scores


def probability_array(y_proba: ArrayLike, n_samples: int) -> Floats:
    """Return one column of probabilities per class, of the dtype given; a single one is that of the second class."""
    check_unmasked(y_proba, "y_proba", NO_NUMBER)
    given = np.asarray(y_proba)
    probabilities: Floats = given if given.dtype == np.float32 else float_array(given, "y_proba")
    if probabilities.ndim not in (1, 2) or probabilities.shape[0] != n_samples:
        raise ValueError(
            f"y_proba has shape {probabilities.shape} for {n_samples} rows; pass one row of probabilities per true "
            "label, with one column per class."
        )
    if not ((probabilities >= 0) & (probabilities <= 1)).all():
        raise ValueError("y_proba has a value outside of 0 to 1, or NaN; pass probabilities, as predict_proba gives.")
    if probabilities.ndim == 1:
        return np.column_stack([1 - probabilities, probabilities])
    sums = probabilities.sum(axis=1, dtype=np.float64)
    wrong = np.abs(sums - 1) > np.sqrt(np.finfo(probabilities.dtype).eps)
    if wrong.any():
        raise ValueError(
            f"y_proba has a row that sums to {sums[wrong][0]:g}, not to 1; pass the probabilities of all classes, as "
            "predict_proba gives."
        )
    return probabilities


def check_class_columns(scores: Floats, classes: NDArray[Any], name: str) -> None:
    """Raise if there is not one column per class."""
    if scores.shape[1] != classes.size:
        raise ValueError(
            f"{name} has {scores.shape[1]} columns (shape (n_samples,) counts as two) for the {classes.size} classes "
            f"{short_repr(classes.tolist())}; pass labels= with one class per column, in their order, as in "
            "estimator.classes_. This is needed when a class is absent from y_true."
        )
