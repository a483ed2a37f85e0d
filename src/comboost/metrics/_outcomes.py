"""Labels, predictions, scores and weights, checked. In: what the user has. Out: indices into the classes, floats."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from reprlib import repr as short_repr
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from comboost._dtypes import Floats


class Outcome(NamedTuple):
    """Checked labels as indices into `classes`, and their weights."""

    classes: NDArray[Any]
    true_idx: NDArray[np.intp]
    pred_idx: NDArray[np.intp]
    weight: Floats

    def class_weights(self) -> Floats:
        return sums_by(self.true_idx, self.weight, self.classes.size)


def sums_by(idx: NDArray[np.intp], values: Floats, n_groups: int) -> Floats:
    return np.asarray(np.bincount(idx, values, minlength=n_groups), dtype=np.float64)


def read_outcome(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    labels: ArrayLike | None,
    sample_weight: ArrayLike | None,
    more_classes: Sequence[Any] = (),
) -> Outcome:
    """Check and encode; `more_classes` join the seen labels when `labels` is None."""
    true, pred = as_labels(y_true, "y_true"), as_labels(y_pred, "y_pred")
    if true.size != pred.size:
        raise ValueError(f"y_true has {true.size} rows and y_pred {pred.size}; pass one prediction per true label.")
    weight = as_weights(sample_weight, true.size)
    named = {"cost_matrix": as_labels(more_classes, "cost_matrix")} if more_classes and labels is None else {}
    classes = read_classes(labels, y_true=true, y_pred=pred, **named)
    return Outcome(classes, encode(true, classes, "y_true"), encode(pred, classes, "y_pred"), weight)


def read_classes(labels: ArrayLike | None, **seen: NDArray[Any]) -> NDArray[Any]:
    """Return `labels`, checked against the kind of what was seen, or else all that was seen, sorted."""
    named = seen if labels is None else {"labels": as_labels(labels, "labels"), **seen}
    kinds = {name: "text" if array.dtype.kind == "U" else "numbers" for name, array in named.items()}
    if len(set(kinds.values())) > 1:
        raise ValueError(f"Labels must be all text or all numbers, got {kinds}; convert one to the other.")
    if labels is None:
        return np.unique(np.concatenate(list(seen.values())))
    if np.unique(named["labels"]).size < named["labels"].size:
        raise ValueError(f"labels={short_repr(named['labels'].tolist())} must name every class once; drop the copies.")
    return named["labels"]


def encode(y: NDArray[Any], classes: NDArray[Any], name: str) -> NDArray[np.intp]:
    order = np.argsort(classes)
    place = np.searchsorted(classes, y, sorter=order)
    idx = order[np.minimum(place, classes.size - 1)]
    unknown = classes[idx] != y
    if unknown.any():
        raise ValueError(
            f"{name} holds {short_repr(np.unique(y[unknown]).tolist())}, which is not in "
            f"labels={short_repr(classes.tolist())}; add it to labels, or leave these rows out."
        )
    return idx


def as_labels(y: ArrayLike, name: str) -> NDArray[Any]:
    """Return one label per row, as numbers or as text."""
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels.ravel()
    if labels.ndim != 1 or labels.size == 0:
        raise ValueError(f"{name} must hold one class label per row, at least one, got shape {labels.shape}.")
    # NumPy turns a list of text and numbers, or text and NaN, into text without a word.
    if labels.dtype.kind not in "biuf" and not (labels.dtype.kind == "U" and isinstance(y, np.ndarray)):
        values = np.asarray(y, dtype=object).ravel().tolist()
        is_text = all(isinstance(value, str) for value in values)
        if not is_text and not all(isinstance(value, Real | np.bool_) for value in values):
            kinds = sorted({type(value).__name__ for value in values})
            raise ValueError(
                f"{name} must be all text, all integers or all booleans, got values of type {', '.join(kinds)}; "
                "convert the labels to one type and leave out the rows without a label."
            )
        labels = np.array(values, dtype=str if is_text else None)
    if labels.dtype.kind == "f" and not (np.isfinite(labels) & (labels == np.rint(labels))).all():
        raise ValueError(
            f"{name} must hold class labels, got NaN, inf or a fraction; pass labels as predict returns them, not "
            "scores, and leave out the rows without a label."
        )
    return labels


def as_weights(sample_weight: ArrayLike | None, n_samples: int) -> Floats:
    """Return the weights over a power of two, so that sums neither overflow nor round in another way."""
    if sample_weight is None:
        return np.ones(n_samples)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n_samples,):
        raise ValueError(f"sample_weight has shape {weight.shape} for {n_samples} rows; pass one weight per row.")
    if not (np.isfinite(weight) & (weight >= 0)).all():
        raise ValueError("sample_weight has a negative, NaN or infinite value; every weight must be 0 or more.")
    if not weight.any():
        raise ValueError("sample_weight is zero for every row; at least one row needs a positive weight.")
    scaled: Floats = np.ldexp(weight, -np.frexp(weight.max())[1])
    return scaled


def as_scores(y_score: ArrayLike, n_samples: int) -> Floats:
    scores = np.asarray(y_score, dtype=np.float64)
    if scores.ndim not in (1, 2) or scores.shape[0] != n_samples:
        raise ValueError(
            f"y_score has shape {scores.shape} for {n_samples} rows; pass one row of scores per true label, with one "
            "column per class."
        )
    if np.isnan(scores).any():
        raise ValueError("y_score has NaN; pass a number for every row and class.")
    return np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
