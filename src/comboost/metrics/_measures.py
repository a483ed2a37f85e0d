"""The metrics.

All but MAUC and the log-loss are functions of the counts N(l, j), the weight of the samples of class l that
are predicted as j. These functions are at the end of the module; early stopping and reports call them, too.
"""

import warnings
from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg.lapack import dgesvd
from sklearn.exceptions import UndefinedMetricWarning

from comboost import _core
from comboost._data.cost_matrices import cost_array, named_classes
from comboost._types import LABEL, MAX_CLASSES, Floats
from comboost.metrics._outcomes import (
    check_class_columns,
    check_squares,
    class_indices,
    label_array,
    probability_array,
    read_outcomes,
    resolve_classes,
    score_array,
    sums_by,
    weight_array,
    without_rejected,
)

CostMatrix = ArrayLike | Mapping[Any, float] | None

#: Number of K×K matrices of doubles in memory at a time.
NORM_SQUARES = 2  # the counts and the confusion matrix, which is overwritten
COST_SQUARES = 3  # the counts, the costs and their products
MAUC_SQUARES = 2  # A(j|k) of all pairs, and of different classes


def error_confusion_matrix(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Floats:
    """Fraction of each class that is predicted as each other class.

    C(l, j) is the weighted fraction of the samples of class l that are predicted as j, for j ≠ l, and C(l, l) = 0. So
    row l sums to 1 minus the recall of class l, and a perfect classifier has C = 0.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels.
    labels : array-like of shape (n_classes,), default=None
        The classes in the order of the rows and columns. By default the sorted labels seen in `y_true` or `y_pred`. A
        label outside of them is an error.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights, at least 0.

    Returns
    -------
    ndarray of shape (n_classes, n_classes)
        Truth in rows, prediction in columns. The row of a class absent from `y_true` is zero.

    Examples
    --------
    >>> from comboost.metrics import error_confusion_matrix
    >>> error_confusion_matrix(["a", "a", "b", "c"], ["a", "b", "b", "a"])
    array([[0. , 0.5, 0. ],
           [0. , 0. , 0. ],
           [1. , 0. , 0. ]])
    """
    return confusion_of(read_outcomes(y_true, y_pred, labels, sample_weight).counts(NORM_SQUARES))


def confusion_norm_loss(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Spectral norm of the error confusion matrix, which CoMBo minimises.

    The norm ‖C‖ is at most √(K−1) for K classes, and the error rate is at most √K·‖C‖ for any class proportions.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels.
    labels : array-like of shape (n_classes,), default=None
        The classes, in any order. By default the labels seen in `y_true` or `y_pred`. A label outside of them is an
        error.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights, at least 0.

    Returns
    -------
    float
        0 for a perfect classifier; smaller is better. A class absent from `y_true` has a zero row in C, so its errors
        do not count.

    Examples
    --------
    >>> from comboost.metrics import confusion_norm_loss
    >>> confusion_norm_loss(["a", "a", "b", "c"], ["a", "b", "b", "a"])
    1.0
    """
    return norm_of(read_outcomes(y_true, y_pred, labels, sample_weight).counts(NORM_SQUARES))


def geometric_mean_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Geometric mean of the recalls of all classes (G-mean).

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels.
    labels : array-like of shape (n_classes,), default=None
        The classes, in any order. By default the labels seen in `y_true` or `y_pred`. A label outside of them is an
        error.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights, at least 0.

    Returns
    -------
    float
        Between 0 and 1; greater is better, and 0 if a class is never recognised. The mean is over the classes present
        in `y_true`: absent classes have no recall and are skipped.

    Examples
    --------
    >>> from comboost.metrics import geometric_mean_score
    >>> geometric_mean_score([0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 1, 0])  # recalls 1 and 1/2
    0.7071067811865476
    """
    return geometric_mean_of(read_outcomes(y_true, y_pred, labels, sample_weight).counts())


def min_recall_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Smallest recall of all classes.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels.
    labels : array-like of shape (n_classes,), default=None
        The classes, in any order. By default the labels seen in `y_true` or `y_pred`. A label outside of them is an
        error.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights, at least 0.

    Returns
    -------
    float
        Between 0 and 1; greater is better. The minimum is over the classes present in `y_true`.

    Examples
    --------
    >>> from comboost.metrics import min_recall_score
    >>> min_recall_score([0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 1, 0])
    0.5
    """
    return min_recall_of(read_outcomes(y_true, y_pred, labels, sample_weight).counts())


def expected_cost_loss(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    cost_matrix: CostMatrix = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    reject_cost: float | None = None,
    reject_label: Any = None,
) -> float:
    """Mean cost of the predictions.

    The weighted mean over the samples of c(y_true, y_pred), where a correct prediction costs nothing. Unlike the other
    metrics, it weighs a class by its proportion of the samples; the costs express the importance of a class.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels.
    cost_matrix : array-like of shape (n_classes, n_classes) or (n_classes,), DataFrame or dict, default=None
        Cost c(l, j) of predicting class l as class j: **truth in rows, prediction in columns**. An array follows the
        order of `labels`; a DataFrame is labelled with the classes, in any order; a dict or 1-D array has one cost
        per true class. By default every mistake costs 1, which gives the error rate.
    labels : array-like of shape (n_classes,), default=None
        The classes in the order of `cost_matrix`. By default the sorted labels seen in `y_true`, in `y_pred` or as
        names in `cost_matrix`. A label outside of them is an error. An unnamed array needs `labels` when a class of
        it occurs in neither `y_true` nor `y_pred`.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights, at least 0.
    reject_cost : float, default=None
        Cost of a rejected sample, at least 0; requires `reject_label`.
    reject_label : label, default=None
        Label of rejected samples in `y_pred`, which is not a class; the classifiers' ``reject_label``. By default no
        sample is rejected.

    Returns
    -------
    float
        0 for a perfect classifier; smaller is better. A class absent from `y_true` adds no cost.

    Examples
    --------
    >>> from comboost.metrics import expected_cost_loss
    >>> cost_matrix = [[0, 1], [10, 0]]  # missing a "sick" costs 10, a false alarm 1
    >>> expected_cost_loss(["ok", "ok", "sick", "ok"], ["ok", "sick", "ok", "ok"], cost_matrix=cost_matrix)
    2.75
    >>> y_pred = ["ok", "reject", "reject", "ok"]  # a rejected sample costs 2
    >>> y_true = ["ok", "ok", "sick", "ok"]
    >>> expected_cost_loss(y_true, y_pred, cost_matrix=cost_matrix, reject_cost=2, reject_label="reject")
    1.0
    """
    rejection = 0.0
    if reject_label is not None or reject_cost is not None:
        y_pred, rejected = without_rejected(y_true, y_pred, reject_label)
        if not isinstance(reject_cost, Real) or not 0 <= reject_cost < np.inf:
            raise ValueError(f"reject_cost={reject_cost!r} must be a number of at least 0, beside reject_label.")
        weight = weight_array(sample_weight, rejected.size)
        rejection = float(reject_cost) * float(weight[rejected].sum() / weight.sum())
    outcomes = read_outcomes(y_true, y_pred, labels, sample_weight, cost_matrix=named_classes(cost_matrix))
    check_squares(outcomes.classes.size, COST_SQUARES)
    # A single class has no cost at all, which cost_array would not accept.
    costs = np.zeros((1, 1)) if outcomes.classes.size == 1 else cost_array(cost_matrix, outcomes.classes)
    counts = outcomes.counts()
    return float((counts * costs).sum() / counts.sum()) + rejection


def mauc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Area under the ROC curve for many classes, after Hand and Till (MAUC).

    A(j|k) is the probability that a random sample of class j has a higher score for j than a random sample of class k,
    ties counting one half. MAUC is the mean of A(j|k) over all ordered pairs of classes. It equals scikit-learn's
    ``roc_auc_score(multi_class="ovo", average="macro")`` wherever that is defined, and also supports weights, scores
    that are not probabilities, and absent classes.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    y_score : array-like of shape (n_samples, n_classes) or (n_samples,)
        A score per class, as from `predict_proba` or `decision_function`; only its order within a column matters.
        With two classes also one score per sample, higher for the second class.
    labels : array-like of shape (n_classes,), default=None
        The classes in the order of the columns, as in ``estimator.classes_``. By default the sorted labels of
        `y_true`; needed when a class is absent from `y_true`. A label outside of them is an error.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights, at least 0; a sample counts in its class in proportion to its weight.

    Returns
    -------
    float
        Between 0 and 1; greater is better, 0.5 is guessing. The mean is over the pairs of classes present in
        `y_true`. With fewer than two of them there is no pair: the score is nan, with an `UndefinedMetricWarning`.

    References
    ----------
    .. [1] D. J. Hand and R. J. Till, "A simple generalisation of the area under the ROC curve for multiple class
       classification problems", Machine Learning 45 (2001).

    Examples
    --------
    >>> from comboost.metrics import mauc_score
    >>> y_score = [[0.8, 0.1, 0.1], [0.4, 0.4, 0.2], [0.5, 0.3, 0.2], [0.1, 0.2, 0.7]]
    >>> mauc_score([0, 0, 1, 2], y_score)
    0.8333333333333334
    >>> mauc_score([0, 0, 1], y_score[:3], labels=[0, 1, 2])
    0.5
    """
    y = label_array(y_true, "y_true")
    scores = score_array(y_score, y.size)
    weight = weight_array(sample_weight, y.size)
    classes = resolve_classes(labels, y_true=y)
    true_idx = class_indices(y, classes, "y_true")
    class_weights = sums_by(true_idx, weight, classes.size)
    present = np.flatnonzero(class_weights)
    if present.size < 2:
        message = f"MAUC needs two classes and y_true has only {classes[present].tolist()}; the score is nan."
        warnings.warn(message, UndefinedMetricWarning, stacklevel=2)
        return float("nan")
    check_class_columns(scores, classes, "y_score")
    if sample_weight is None and classes.size <= MAX_CLASSES:
        return _core.mean_chance_above(scores, true_idx.astype(LABEL), 1)
    check_squares(present.size, MAUC_SQUARES)
    wins = np.empty((present.size, present.size))  # A(j|k)
    for row, j in enumerate(present.tolist()):
        wins[row] = probabilities_above(scores[:, j], j, true_idx, weight, classes.size)[present]
    return float(np.mean(wins[~np.eye(present.size, dtype=bool)]))


def balanced_log_loss(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
) -> float:
    """Log-loss in which every class has the same weight, however rare it is.

    The mean over the classes of the weighted mean of −ln p(i, y_i) over the samples i of a class, where p(i, y_i) is
    the predicted probability of the true class. Unlike the norm of the confusion matrix, it is smooth. As in
    scikit-learn's ``log_loss``, p is clipped to [ε, 1 − ε], where ε is the machine epsilon of its dtype (2.2e-16 for
    float64): a certain mistake costs 36, not infinity.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    y_proba : array-like of shape (n_samples, n_classes) or (n_samples,)
        A probability per class, as from `predict_proba`; every row sums to 1. With two classes also one probability per
        sample, that of the second class.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights, at least 0; a sample counts in its class in proportion to its weight.
    labels : array-like of shape (n_classes,), default=None
        The classes in the order of the columns, as in ``estimator.classes_``. By default the sorted labels of
        `y_true`; needed when a class is absent from `y_true`. A label outside of them is an error.

    Returns
    -------
    float
        0 for a perfect classifier, ln K for one that gives each of K classes the same probability; smaller is better.
        The mean is over the classes present in `y_true`.

    Examples
    --------
    >>> from comboost.metrics import balanced_log_loss
    >>> y_proba = [[0.9, 0.1], [0.8, 0.2], [0.9, 0.1], [0.5, 0.5]]
    >>> round(balanced_log_loss(["common", "common", "common", "rare"], y_proba), 3)
    0.419
    """
    y = label_array(y_true, "y_true")
    probabilities = probability_array(y_proba, y.size)
    weight = weight_array(sample_weight, y.size)
    classes = resolve_classes(labels, y_true=y)
    true_idx = class_indices(y, classes, "y_true")
    check_class_columns(probabilities, classes, "y_proba")
    given = probabilities[np.arange(y.size), true_idx]
    epsilon = np.finfo(given.dtype).eps
    losses = -np.log(np.clip(given, epsilon, 1 - epsilon), dtype=np.float64)
    totals = sums_by(true_idx, weight, classes.size)
    present = totals > 0
    return float(np.mean(sums_by(true_idx, weight * losses, classes.size)[present] / totals[present]))


def probabilities_above(score: Floats, j: int, true_idx: NDArray[np.intp], weight: Floats, n_classes: int) -> Floats:
    """A(j|k) for every class k, from the score for j; 0 for a class without weight."""
    order = np.argsort(score)
    score, true_idx, weight = score[order], true_idx[order], weight[order]
    ties = np.zeros(score.size, dtype=np.intp)  # samples of equal score have the same number
    np.cumsum(score[1:] != score[:-1], out=ties[1:])
    own = sums_by(ties, np.where(true_idx == j, weight, 0.0), 1)
    up_to = np.cumsum(own)
    fraction_above = (up_to[-1] - (up_to - own / 2)) / up_to[-1]
    below = sums_by(true_idx, weight * fraction_above[ties], n_classes)
    # Summed in the same order, so that a class that is always below has exactly 1.
    totals = sums_by(true_idx, weight, n_classes)
    return np.divide(below, totals, out=np.zeros(n_classes), where=totals > 0)


def confusion_of(counts: Floats) -> Floats:
    """C(l, j) = N(l, j)/Σ_j N(l, j), zero diagonal; zero rows for absent classes."""
    confusion = np.empty_like(counts)
    _core.find_confusion(counts, confusion)
    return confusion


def norm_of(counts: Floats) -> float:
    """‖C‖, the largest singular value."""
    return spectral_norm(confusion_of(counts))


def spectral_norm(matrix: Floats) -> float:
    """Largest singular value; overwrites the matrix."""
    # The same as np.linalg.norm(ord=2), in a fifth of its time for few classes. Transposed, it is in LAPACK's order.
    _, singular_values, _, _ = dgesvd(matrix.T, compute_uv=0, overwrite_a=1)
    return float(singular_values[0])


#: Functions of the counts that the core computes.
geometric_mean_of = _core.geometric_mean_recall
mean_recall_of = _core.mean_recall
min_recall_of = _core.min_recall
