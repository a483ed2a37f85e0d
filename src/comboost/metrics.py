"""Metrics for many classes of unequal size, and scorers made of them.

In come true labels and predicted labels (or scores), out comes one number, or the error confusion matrix C that
CoMBo makes small: truth in rows, prediction in columns, zero diagonal. Every class counts the same here, however rare
it is; `expected_cost_loss` alone is a mean over rows.

One law for all functions. The classes are ``labels``, by default every label that is seen, sorted. A class is
*absent* if its rows in ``y_true`` are none or weigh nothing; each function says what it does then, and none crashes.
A label outside of ``labels`` is an error: to leave such a row out would hide a mistake.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from numbers import Real
from reprlib import repr as short_repr
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import get_scorer as sklearn_get_scorer
from sklearn.metrics import make_scorer
from sklearn.utils.metadata_routing import MetadataRequest

from comboost._costs import cost_array, named_classes
from comboost._dtypes import Floats

__all__ = [
    "confusion_norm_bound",
    "confusion_norm_loss",
    "error_confusion_matrix",
    "expected_cost_loss",
    "geometric_mean_score",
    "get_scorer",
    "mauc_score",
    "min_recall_score",
]

CostMatrix = ArrayLike | Mapping[Any, float] | None
Scorer = Callable[..., float]


def error_confusion_matrix(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Floats:
    """Share of each class that is taken for each other class.

    C(l, j) is the weighted share of the rows of class l that are predicted as j, for j ≠ l, and C(l, l) = 0. So row l
    sums to 1 minus the recall of class l, and a perfect classifier has C = 0.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels.
    labels : array-like of shape (n_classes,), default=None
        The classes in the order of the rows and columns. By default the sorted labels seen in `y_true` or `y_pred`. A
        label outside of them is an error.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows, at least 0.

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
    return _error_confusion(_read_outcome(y_true, y_pred, labels, sample_weight))


def confusion_norm_loss(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Spectral norm of the error confusion matrix; what CoMBo minimises.

    The norm ‖C‖ is at most √(K−1) for K classes, and the error rate is at most √K·‖C‖, whatever the shares of the
    classes are.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels.
    labels : array-like of shape (n_classes,), default=None
        The classes, in any order. By default the labels seen in `y_true` or `y_pred`. A label outside of them is an
        error.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows, at least 0.

    Returns
    -------
    float
        0 for a perfect classifier; smaller is better. A class absent from `y_true` has a zero row in C, so its errors
        are not seen.

    Examples
    --------
    >>> from comboost.metrics import confusion_norm_loss
    >>> confusion_norm_loss(["a", "a", "b", "c"], ["a", "b", "b", "a"])
    1.0
    """
    return _norm(_read_outcome(y_true, y_pred, labels, sample_weight))


def confusion_norm_bound(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    eta: float = 0.05,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Upper bound on the true confusion norm that holds with probability 1 − eta.

    The corollary of the CoMBo paper, ‖C‖ ≤ ‖C_S‖ + √(2K·Σ_k (1/m_k)·ln(K/eta)), where m_k is the number of rows of
    class k. It holds only for rows that the classifier has not seen.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels of rows that were not used for training.
    eta : float, default=0.05
        Probability with which the bound may fail, in (0, 1].
    labels : array-like of shape (n_classes,), default=None
        All classes of the problem, in any order. By default the labels seen in `y_true` or `y_pred`. A label outside
        of them is an error.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows, at least 0. With weights n_i, m_k = (Σ n_i)²/Σ n_i² over class k: a weight is an
        importance and no number of copies, so weight 2 is less evidence than the row twice.

    Returns
    -------
    float
        The bound; infinite if a class of `labels` is absent from `y_true`, since nothing is known about it.

    Examples
    --------
    >>> from comboost.metrics import confusion_norm_bound
    >>> y_true, y_pred = [0] * 500 + [1] * 500, [0] * 500 + [1] * 400 + [0] * 100
    >>> round(confusion_norm_bound(y_true, y_pred), 3)
    0.443
    >>> confusion_norm_bound(y_true, y_pred, labels=[0, 1, 2])
    inf
    """
    if not 0 < eta <= 1:
        raise ValueError(f"eta={eta!r} must lie in (0, 1]: it is the probability with which the bound may fail.")
    outcome = _read_outcome(y_true, y_pred, labels, sample_weight)
    class_weights = outcome.class_weights()
    if not class_weights.all():
        return float("inf")
    n_classes = outcome.classes.size
    # Σ_k 1/m_k, since the rows of class k have Σ (n_i/M_k)² = 1/m_k.
    inverse_sizes = np.sum((outcome.weight / class_weights[outcome.true_idx]) ** 2)
    return _norm(outcome) + float(np.sqrt(2 * n_classes * inverse_sizes * np.log(n_classes / eta)))


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
        Weights of the rows, at least 0.

    Returns
    -------
    float
        Between 0 and 1; greater is better, and 0 if some class is never recognised. The mean is over the classes
        present in `y_true`: an absent class has no recall, and is left out rather than counted as 0.

    Examples
    --------
    >>> from comboost.metrics import geometric_mean_score
    >>> geometric_mean_score([0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 1, 0])  # recalls 1 and 1/2
    0.7071067811865476
    """
    recalls = _recalls(_read_outcome(y_true, y_pred, labels, sample_weight))
    return float(np.exp(np.mean(np.log(recalls)))) if recalls.all() else 0.0


def min_recall_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Recall of the class that is recognised worst.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels.
    labels : array-like of shape (n_classes,), default=None
        The classes, in any order. By default the labels seen in `y_true` or `y_pred`. A label outside of them is an
        error.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows, at least 0.

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
    return float(_recalls(_read_outcome(y_true, y_pred, labels, sample_weight)).min())


def expected_cost_loss(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    cost_matrix: CostMatrix = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean cost per row of what was predicted.

    The weighted mean over the rows of c(y_true, y_pred), where a right prediction costs nothing. Unlike the other
    metrics here it weighs a class by its share of the rows; what a class is worth is said by its costs.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels.
    cost_matrix : array-like of shape (n_classes, n_classes) or (n_classes,), DataFrame or dict, default=None
        Cost c(l, j) of taking class l for class j: **truth in rows, prediction in columns**. An array follows the
        order of `labels`; a DataFrame is labelled with the classes, in any order; a dict or 1-D array has one cost
        per true class. By default every mistake costs 1, which gives the error rate.
    labels : array-like of shape (n_classes,), default=None
        The classes in the order of `cost_matrix`. By default the sorted labels seen in `y_true`, in `y_pred` or as
        names in `cost_matrix`. A label outside of them is an error. An unnamed array needs `labels` when a class of
        it occurs in neither `y_true` nor `y_pred`.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows, at least 0.

    Returns
    -------
    float
        0 for a perfect classifier; smaller is better. A class absent from `y_true` adds no cost.

    Examples
    --------
    >>> from comboost.metrics import expected_cost_loss
    >>> cost_matrix = [[0, 1], [10, 0]]  # to miss a "sick" costs 10, a false alarm 1
    >>> expected_cost_loss(["ok", "ok", "sick", "ok"], ["ok", "sick", "ok", "ok"], cost_matrix=cost_matrix)
    2.75
    """
    outcome = _read_outcome(y_true, y_pred, labels, sample_weight, more_classes=named_classes(cost_matrix))
    # A single class has no cost at all, which cost_array refuses.
    costs = np.zeros((1, 1)) if outcome.classes.size == 1 else cost_array(cost_matrix, outcome.classes)
    return float(np.average(costs[outcome.true_idx, outcome.pred_idx], weights=outcome.weight))


def mauc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Area under the ROC curve for many classes, after Hand and Till (MAUC).

    A(j|k) is the chance that a random row of class j has a higher score for j than a random row of class k, ties
    counting one half. MAUC is the mean of A(j|k) over all ordered pairs of classes. It equals scikit-learn's
    ``roc_auc_score(multi_class="ovo", average="macro")`` wherever that is defined, and also takes weights, scores that
    are no probabilities, and classes that are absent.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    y_score : array-like of shape (n_samples, n_classes) or (n_samples,)
        A score per class, as from `predict_proba` or `decision_function`; only its order within a column counts. With
        two classes also one score per row, higher for the second class.
    labels : array-like of shape (n_classes,), default=None
        The classes in the order of the columns, as in ``estimator.classes_``. By default the sorted labels of
        `y_true`; needed when a class is absent from `y_true`. A label outside of them is an error.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows, at least 0: every row counts in its class in proportion to its weight.

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
    y = _as_labels(y_true, "y_true")
    scores = _as_scores(y_score, y.size)
    weight = _as_weights(sample_weight, y.size)
    classes = _read_classes(labels, y_true=y)
    true_idx = _encode(y, classes, "y_true")
    class_weights = _sums_by(true_idx, weight, classes.size)
    present = np.flatnonzero(class_weights)
    if present.size < 2:
        message = f"MAUC needs two classes and y_true has only {classes[present].tolist()}; the score is nan."
        warnings.warn(message, UndefinedMetricWarning, stacklevel=2)
        return float("nan")
    if scores.shape[1] != classes.size:
        raise ValueError(
            f"y_score has {scores.shape[1]} columns (shape (n_samples,) counts as two) for the {classes.size} classes "
            f"{short_repr(classes.tolist())}; pass labels= with one class per column, in their order, as in "
            "estimator.classes_. This is needed when a class is absent from y_true."
        )
    wins = np.empty((present.size, present.size))  # A(j|k)
    for row, j in zip(wins, present, strict=True):
        beaten = weight * _share_above(scores[:, j], true_idx == j, weight)
        row[:] = _sums_by(true_idx, beaten, classes.size)[present] / class_weights[present]
    return float(np.mean(wins[~np.eye(present.size, dtype=bool)]))


def get_scorer(name: str | Scorer, *, cost_matrix: CostMatrix = None) -> Scorer:
    """Return a scorer for `cross_validate`, `GridSearchCV` and the like.

    Parameters
    ----------
    name : str or callable
        "g_mean", "mauc", "neg_confusion_norm", "min_recall", "neg_expected_cost", or what
        `sklearn.metrics.get_scorer` takes.
    cost_matrix : array-like of shape (n_classes, n_classes) or (n_classes,), DataFrame or dict, default=None
        Costs for "neg_expected_cost", truth in rows; by default 1 for every mistake. An unnamed array follows the
        sorted classes of the training and the test rows together; if a class can be missing from both, as in nested
        cross-validation, name the classes with a DataFrame or a dict.

    Returns
    -------
    callable
        Called as ``scorer(estimator, X, y, sample_weight=None)``; greater is better. A class absent from the test
        rows is treated as by the metric. A class absent from the training rows counts as never recognised, and for
        "mauc" as a class of probability 0.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from comboost.metrics import get_scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> cross_val_score(GaussianNB(), X, y, cv=3, scoring=get_scorer("min_recall"))
    array([0.82352941, 0.875     , 0.88235294])
    """
    if cost_matrix is not None and name != "neg_expected_cost":
        raise ValueError(f'cost_matrix is for "neg_expected_cost" only and {name!r} would ignore it; leave it out.')
    scorer: Scorer
    if name == "g_mean":
        scorer = make_scorer(geometric_mean_score)
    elif name == "min_recall":
        scorer = make_scorer(min_recall_score)
    elif name == "neg_confusion_norm":
        scorer = make_scorer(confusion_norm_loss, greater_is_better=False)
    elif name == "mauc":
        scorer = _ClassesScorer(name, _score_mauc)
    elif name == "neg_expected_cost" and (cost_matrix is None or named_classes(cost_matrix)):
        scorer = make_scorer(expected_cost_loss, greater_is_better=False, cost_matrix=cost_matrix)
    elif name == "neg_expected_cost":
        scorer = _ClassesScorer(name, partial(_score_neg_expected_cost, cost_matrix=cost_matrix))
    else:
        scorer = _get_sklearn_scorer(name)
    return scorer


def _get_sklearn_scorer(name: str | Scorer) -> Any:
    try:
        return sklearn_get_scorer(name)
    except ValueError as error:
        raise ValueError(
            f'{name!r} is no scorer. Use "g_mean", "mauc", "neg_confusion_norm", "min_recall", "neg_expected_cost", or '
            "a name of scikit-learn's (sklearn.metrics.get_scorer_names() lists them)."
        ) from error


class _ClassesScorer:
    """A scorer that looks at the classes the estimator was trained on, which a scorer of `make_scorer` cannot."""

    def __init__(self, name: str, score: Scorer) -> None:
        self._name = name
        self._score = score
        self.set_score_request(sample_weight=None)

    def __call__(self, estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        return self._score(estimator, X, y, sample_weight)

    def __repr__(self) -> str:
        return f"get_scorer({self._name!r})"

    def set_score_request(self, *, sample_weight: bool | str | None) -> Self:
        self._metadata_request = MetadataRequest(owner=self)
        self._metadata_request.score.add_request(param="sample_weight", alias=sample_weight)
        return self

    def get_metadata_routing(self) -> MetadataRequest:
        return self._metadata_request

    def _accept_sample_weight(self) -> bool:
        # scikit-learn 1.9 asks this of every scorer in a dict when weights come without metadata routing.
        return True


def _score_mauc(estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> float:
    if not hasattr(estimator, "predict_proba"):
        raise AttributeError(
            f'The scorer "mauc" needs predict_proba, which {type(estimator).__name__} lacks; wrap it in '
            "CalibratedClassifierCV or choose another scorer."
        )
    known = _as_labels(estimator.classes_, "estimator.classes_")
    probabilities = np.asarray(estimator.predict_proba(X))
    classes = _read_classes(None, **{"y": _as_labels(y, "y"), "estimator.classes_": known})
    scores = np.zeros((probabilities.shape[0], classes.size))
    scores[:, _encode(known, classes, "estimator.classes_")] = probabilities
    return mauc_score(y, scores, labels=classes, sample_weight=sample_weight)


def _score_neg_expected_cost(
    estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, *, cost_matrix: CostMatrix
) -> float:
    known = _as_labels(estimator.classes_, "estimator.classes_")
    classes = _read_classes(None, **{"y": _as_labels(y, "y"), "estimator.classes_": known})
    y_pred = estimator.predict(X)
    return -expected_cost_loss(y, y_pred, cost_matrix=cost_matrix, labels=classes, sample_weight=sample_weight)


class _Outcome(NamedTuple):
    """Checked labels as indices into `classes`, and their weights."""

    classes: NDArray[Any]
    true_idx: NDArray[np.intp]
    pred_idx: NDArray[np.intp]
    weight: Floats

    def class_weights(self) -> Floats:
        return _sums_by(self.true_idx, self.weight, self.classes.size)


def _sums_by(idx: NDArray[np.intp], values: Floats, n_groups: int) -> Floats:
    return np.asarray(np.bincount(idx, values, minlength=n_groups), dtype=np.float64)


def _error_confusion(outcome: _Outcome) -> Floats:
    n_classes = outcome.classes.size
    cells = outcome.true_idx * n_classes + outcome.pred_idx
    shares = _sums_by(cells, outcome.weight, n_classes**2).reshape(n_classes, n_classes)
    totals = shares.sum(axis=1, keepdims=True)
    np.divide(shares, totals, out=shares, where=totals > 0)
    np.fill_diagonal(shares, 0.0)
    return shares


def _norm(outcome: _Outcome) -> float:
    return float(np.linalg.norm(_error_confusion(outcome), ord=2))


def _recalls(outcome: _Outcome) -> Floats:
    """Return the recalls of the classes that are present."""
    totals = outcome.class_weights()
    right = outcome.weight * (outcome.true_idx == outcome.pred_idx)
    present = totals > 0
    return _sums_by(outcome.true_idx, right, totals.size)[present] / totals[present]


def _share_above(score: Floats, own: NDArray[np.bool_], weight: Floats) -> Floats:
    """Return for every row the weighted share of the `own` rows that score higher than it, ties counting half."""
    order = np.argsort(score[own])
    ranked = score[own][order]
    cumulated: Floats = np.concatenate([[0.0], np.cumsum(weight[own][order])])
    total = float(cumulated[-1])
    below = cumulated[np.searchsorted(ranked, score, side="left")]
    up_to = cumulated[np.searchsorted(ranked, score, side="right")]
    return (total - (below + up_to) / 2) / total


def _read_outcome(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    labels: ArrayLike | None,
    sample_weight: ArrayLike | None,
    more_classes: Sequence[Any] = (),
) -> _Outcome:
    """Check and encode; `more_classes` join the seen labels when `labels` is None."""
    true, pred = _as_labels(y_true, "y_true"), _as_labels(y_pred, "y_pred")
    if true.size != pred.size:
        raise ValueError(f"y_true has {true.size} rows and y_pred {pred.size}; pass one prediction per true label.")
    weight = _as_weights(sample_weight, true.size)
    named = {"cost_matrix": _as_labels(more_classes, "cost_matrix")} if more_classes and labels is None else {}
    classes = _read_classes(labels, y_true=true, y_pred=pred, **named)
    return _Outcome(classes, _encode(true, classes, "y_true"), _encode(pred, classes, "y_pred"), weight)


def _read_classes(labels: ArrayLike | None, **seen: NDArray[Any]) -> NDArray[Any]:
    """Return `labels`, checked against the kind of what was seen, or else all that was seen, sorted."""
    named = seen if labels is None else {"labels": _as_labels(labels, "labels"), **seen}
    kinds = {name: "text" if array.dtype.kind == "U" else "numbers" for name, array in named.items()}
    if len(set(kinds.values())) > 1:
        raise ValueError(f"Labels must be all text or all numbers, got {kinds}; convert one to the other.")
    if labels is None:
        return np.unique(np.concatenate(list(seen.values())))
    if np.unique(named["labels"]).size < named["labels"].size:
        raise ValueError(f"labels={short_repr(named['labels'].tolist())} must name every class once; drop the copies.")
    return named["labels"]


def _encode(y: NDArray[Any], classes: NDArray[Any], name: str) -> NDArray[np.intp]:
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


def _as_labels(y: ArrayLike, name: str) -> NDArray[Any]:
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


def _as_weights(sample_weight: ArrayLike | None, n_samples: int) -> Floats:
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


def _as_scores(y_score: ArrayLike, n_samples: int) -> Floats:
    scores = np.asarray(y_score, dtype=np.float64)
    if scores.ndim not in (1, 2) or scores.shape[0] != n_samples:
        raise ValueError(
            f"y_score has shape {scores.shape} for {n_samples} rows; pass one row of scores per true label, with one "
            "column per class."
        )
    if np.isnan(scores).any():
        raise ValueError("y_score has NaN; pass a number for every row and class.")
    return np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
