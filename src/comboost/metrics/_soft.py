"""Confusion matrices of losses: smooth upper bounds on the error confusion matrix."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from comboost._types import Floats, Labels, Sums, Weights
from comboost.metrics._outcomes import (
    check_class_columns,
    check_squares,
    class_indices,
    float_array,
    label_array,
    resolve_classes,
    score_array,
    weight_array,
)

PAIR_LOSSES = ("exponential", "logistic")
LARGEST_MARGIN = 709.0  # exp of it is just below the largest double
LN2 = float(np.log1p(1.0))  # so that a tie costs exactly 1
SQUARES = 2  # K×K matrices in memory at a time: the result and its singular values
SUM_BITS = 62  # of a sum in an int64
PRECISION = 80  # bits below the largest loss that count
LARGEST_EXPONENT = 1000  # 2**1000 is a double; losses that it does not scale up far enough are negligible


def soft_confusion_matrix(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    loss: str = "logistic",
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Floats:
    """Mean loss of each class towards each other class.

    A(l, j) is the weighted mean over the samples i of class l of a loss ℓ(i, j) of the scores f of the true class l and
    of another class j, and A(l, l) = 0. The loss is at least 1 if i is predicted as j, the class with the highest
    score. So no entry is below that of the error confusion matrix, and the norm of A is at least ‖C‖. Unlike C, it is
    a smooth function of the scores: it also shows which classes are nearly confused.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    y_score : array-like of shape (n_samples, n_classes) or (n_samples,)
        A score per class, as from `decision_function`; only differences between the columns matter. With two classes
        also one number per sample, the score of the second class minus that of the first.
    loss : {"logistic", "exponential"}, default="logistic"
        ``"exponential"`` is exp(f_j − f_l), which gives the soft confusion matrix of the CoMBo paper.
        ``"logistic"`` is log₂(1 + exp(f_j − f_l)), on which single samples that are far off have less influence.
        Differences above 709 count as 709, so that all entries are finite.
    labels : array-like of shape (n_classes,), default=None
        The classes in the order of the columns, as in ``estimator.classes_``. By default the sorted labels of
        `y_true`; needed when a class is absent from `y_true`. A label outside of them is an error.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights, at least 0.

    Returns
    -------
    ndarray of shape (n_classes, n_classes)
        Truth in rows, prediction in columns. The row of a class absent from `y_true` is zero.

    See Also
    --------
    error_confusion_matrix : The fraction of each class that is predicted as each other class.
    comboost.displays.SoftConfusionDisplay : Plot the matrix after every round of a fit.

    Examples
    --------
    >>> from comboost.metrics import error_confusion_matrix, soft_confusion_matrix
    >>> y_true = ["a", "a", "b", "c"]
    >>> y_score = [[2, 1, 0], [1, 1.5, 0], [0, 1, 0], [0.1, 0, 0.2]]
    >>> soft_confusion_matrix(y_true, y_score).round(2)
    array([[0.  , 0.93, 0.32],
           [0.45, 0.  , 0.45],
           [0.93, 0.86, 0.  ]])
    >>> error_confusion_matrix(y_true, ["a", "b", "b", "c"])
    array([[0. , 0.5, 0. ],
           [0. , 0. , 0. ],
           [0. , 0. , 0. ]])
    """
    check_pair_loss(loss)
    y = label_array(y_true, "y_true")
    scores = score_array(as_columns(float_array(y_score, "y_score")), y.size)
    weight = None if sample_weight is None else weight_array(sample_weight, y.size)
    classes = resolve_classes(labels, y_true=y)
    true_idx = class_indices(y, classes, "y_true")
    check_class_columns(scores, classes, "y_score")
    check_squares(classes.size, SQUARES)
    return soft_confusion_of(scores, true_idx, weight, loss)


def check_pair_loss(loss: str) -> None:
    """Raise if a loss is not one of pairs of classes."""
    if loss == "log":
        raise ValueError(
            "loss='log' is a loss of classes, not of pairs of classes, so it has no matrix; give 'exponential' or "
            "'logistic'."
        )
    if loss not in PAIR_LOSSES:
        raise ValueError(f"loss={loss!r} is not a loss of pairs of classes; give 'exponential' or 'logistic'.")


def as_columns(scores: Floats) -> Floats:
    """One column of scores per class; a single number per sample is the second score minus the first."""
    return np.column_stack([np.zeros_like(scores), scores]) if scores.ndim == 1 else scores


def soft_confusion_of(
    scores: Floats, labels: Labels | NDArray[np.intp], weights: Floats | Weights | None, loss: str
) -> Floats:
    """A(l, j) of class indices: the same bits for any order of the samples.

    Weights that are integers are exact: weight n has the same bits as the sample n times.
    """
    n_classes = scores.shape[1]
    matrix = np.zeros((n_classes, n_classes))
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels, minlength=n_classes))
    for label, end in enumerate(ends.tolist()):
        samples = order[ends[label - 1] if label else 0 : end]
        if weights is not None:
            samples = samples[weights[samples] > 0]
        if samples.size:
            losses = pair_losses(scores[samples].T, label, loss)
            matrix[label] = exact_means(losses, None if weights is None else weights[samples])
            matrix[label, label] = 0.0
    return matrix


def pair_losses(scores: Floats, label: int, loss: str) -> Floats:
    """ℓ(i, j) of samples of one class, (n_classes, n_samples)."""
    with np.errstate(over="ignore", invalid="ignore"):
        margins = np.subtract(scores, scores[label], order="C")
    margins[np.isnan(margins)] = 0.0  # two equal infinite scores are a tie
    losses: Floats = np.exp(np.minimum(margins, LARGEST_MARGIN, out=margins), out=margins)
    if loss == "logistic":
        np.log1p(losses, out=losses)
        losses /= LN2
    return losses


def exact_means(values: Floats, weights: Floats | Weights | None) -> Floats:
    """Weighted means over the last axis, with the same bits for any order; overwrites the values.

    Values are non-negative. They are split into integers of a few bits, which are added without rounding.
    """
    n_added = values.shape[-1]
    total: float = n_added
    counts: Sums | None = None
    if weights is not None and weights.dtype.kind == "f":
        values *= weights  # rounds every product by itself
        total = math.fsum(weights)
    elif weights is not None:
        counts = weights.astype(np.int64)
        total = n_added = int(counts.sum())
    bits = SUM_BITS - n_added.bit_length()
    exponents = np.minimum(bits - np.frexp(values.max(axis=-1))[1], LARGEST_EXPONENT)
    values *= np.ldexp(1.0, exponents)[:, np.newaxis]  # below 2**bits
    sums = []
    for _ in range(math.ceil(PRECISION / bits)):
        whole = np.floor(values)
        values -= whole
        values *= 2.0**bits
        digits = whole.astype(np.int64)
        if counts is not None:
            digits *= counts
        sums.append(digits.sum(axis=-1))
    mean = np.zeros(len(values))
    for digit in reversed(sums):
        mean = digit + mean * 2.0**-bits
    return np.asarray(np.ldexp(mean / total, -exponents))
