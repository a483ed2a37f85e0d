"""Confidence bounds for new data: norm of the confusion matrix, error rate, recalls, G-mean.

All of them assume that the samples of a class are independent, were not used for training, and are distributed like new
samples of that class. The proportions of the classes may differ.
"""

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from comboost._data.cost_matrices import named_classes, read_priors
from comboost._types import Floats
from comboost.metrics._confidence import (
    ClassSamples,
    geometric_mean_lower,
    largest_error_upper,
    mean_error_upper,
    norm_upper,
    simultaneous_error_upper,
)
from comboost.metrics._measures import NORM_SQUARES, confusion_of, norm_of
from comboost.metrics._outcomes import SampleOutcomes, read_outcomes


def confusion_norm_bound(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    eta: float = 0.05,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    method: Literal["exact", "corollary"] = "exact",
) -> float:
    """Upper bound on the confusion norm on new data that holds with probability 1 − eta.

    It holds for any number of samples and classes, if the samples of a class are independent, were not used for
    training, and are distributed like new samples of that class. New data may have other class proportions: C has one
    row per class.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels of samples that were not used for training.
    eta : float, default=0.05
        Probability with which the bound may fail, in (0, 1].
    labels : array-like of shape (n_classes,), default=None
        All classes of the problem, at least two, in any order. By default the labels seen in `y_true` or `y_pred`;
        give them if these may lack a class. A label outside of them is an error.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights, at least 0. They may depend on the class. Within a class they must be independent of the
        predictions, so weights computed from features are not allowed. With weights n_i, class k counts as
        m_k = (Σ n_i)²/Σ n_i² samples: a weight is an importance, not a number of copies, so weight 2 is less evidence
        than two samples. The bound is tightest if all samples of a class have the same weight.
    method : {"exact", "corollary"}, default="exact"
        How to bound the norm. "exact" uses Chernoff's inequality for the norm itself, or, with two classes, the
        Clopper-Pearson bounds of their error rates. "corollary" is the corollary of the CoMBo paper,
        ‖C‖ ≤ ‖C_S‖ + √(2K·Σ_k (1/m_k)·ln(K/eta)), which often exceeds √(K−1), the largest norm that there is.

    Returns
    -------
    float
        The bound. With ``method="exact"`` it is at most √(K−1), a bound that says nothing. A class of `labels` that is
        absent from `y_true`, or only has samples of weight 0, may be always wrong: the bound is then at least 1, or
        infinite with ``method="corollary"``.

    See Also
    --------
    confusion_norm_loss : The norm on the samples.

    Examples
    --------
    >>> from comboost.metrics import confusion_norm_bound
    >>> y_true, y_pred = [0] * 500 + [1] * 500, [0] * 500 + [1] * 400 + [0] * 100
    >>> round(confusion_norm_bound(y_true, y_pred), 3)
    0.232
    >>> round(confusion_norm_bound(y_true, y_pred, method="corollary"), 3)
    0.443
    >>> round(confusion_norm_bound(y_true, y_pred, labels=[0, 1, 2]), 3)  # class 2 was not tested
    1.03
    """
    outcomes = read_tested(y_true, y_pred, labels, sample_weight, eta)
    if method not in ("exact", "corollary"):
        raise ValueError(f"method={method!r} is not a bound; give 'exact' or 'corollary'.")
    if method == "exact":
        return float(norm_upper(class_samples(outcomes), float(eta)))
    class_weights = outcomes.class_weights()
    if not class_weights.all():
        return float("inf")
    n_classes = outcomes.classes.size
    # Σ_k 1/m_k, since Σ (n_i/M_k)² = 1/m_k over class k.
    inverse_sizes = np.sum((outcomes.weight / class_weights[outcomes.true_idx]) ** 2)
    slack = np.sqrt(2 * n_classes * inverse_sizes * np.log(n_classes / float(eta)))
    return norm_of(outcomes.counts(NORM_SQUARES)) + float(slack)


def error_rate_bound(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    priors: ArrayLike | Mapping[Any, float] | None = None,
    eta: float = 0.05,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Upper bound on the error rate on new data that holds with probability 1 − eta.

    Without priors the bound holds for any class proportions of the new data, also if all samples are of the class
    with the lowest recall. With priors it holds for new data with these class proportions, which may differ from
    those of the samples. With few samples the bound with priors may be the larger one; both are valid.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels of samples that were not used for training.
    priors : array-like of shape (n_classes,), Series or dict, default=None
        Class proportions of the new data. An array follows the order of `labels`. They are positive and sum to 1. By
        default any proportions.
    eta : float, default=0.05
        Probability with which the bound may fail, in (0, 1].
    labels : array-like of shape (n_classes,), default=None
        All classes of the problem, at least two. By default the sorted labels seen in `y_true`, in `y_pred` or as names
        in `priors`; give them if these may lack a class. A label outside of them is an error.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights, at least 0; within a class, they must be independent of the predictions, as in
        `confusion_norm_bound`.

    Returns
    -------
    float
        The bound, at most 1. A class of `labels` that is absent from `y_true` may be always wrong.

    Examples
    --------
    >>> from comboost.metrics import error_rate_bound
    >>> y_true, y_pred = [0] * 900 + [1] * 100, [0] * 900 + [1] * 60 + [0] * 40
    >>> round(error_rate_bound(y_true, y_pred), 3)  # if all samples are of class 1
    0.487
    >>> round(error_rate_bound(y_true, y_pred, priors=[0.9, 0.1]), 3)
    0.057
    """
    outcomes = read_tested(y_true, y_pred, labels, sample_weight, eta, priors=named_classes(priors))
    samples = class_samples(outcomes)
    if priors is None:
        return float(largest_error_upper(samples, float(eta)))
    return float(mean_error_upper(samples, read_priors(priors, outcomes.classes), float(eta)))


def recall_bounds(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    eta: float = 0.05,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Floats:
    """Lower bounds on the recalls of all classes on new data that hold at once with probability 1 − eta.

    Clopper-Pearson bounds at level 1 − (1 − eta)^(1/K) each, since the classes are independent.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels of samples that were not used for training.
    eta : float, default=0.05
        Probability with which any of the bounds may fail, in (0, 1].
    labels : array-like of shape (n_classes,), default=None
        All classes of the problem, at least two, in the order of the bounds. By default the sorted labels seen in
        `y_true` or `y_pred`; give them if these may lack a class. A label outside of them is an error.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights, at least 0; within a class, they must be independent of the predictions, as in
        `confusion_norm_bound`. If they differ within a class, its bound follows from Chernoff's inequality and is
        wider.

    Returns
    -------
    ndarray of shape (n_classes,)
        The bounds; 0 for a class absent from `y_true`.

    Examples
    --------
    >>> from comboost.metrics import recall_bounds
    >>> y_true, y_pred = [0] * 900 + [1] * 100, [0] * 900 + [1] * 60 + [0] * 40
    >>> recall_bounds(y_true, y_pred).round(3)
    array([0.996, 0.497])
    """
    samples = class_samples(read_tested(y_true, y_pred, labels, sample_weight, eta))
    return 1.0 - simultaneous_error_upper(samples, float(eta))


def min_recall_bound(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    eta: float = 0.05,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Lower bound on the smallest recall on new data that holds with probability 1 − eta.

    The smallest of the Clopper-Pearson bounds of all classes, each at level eta: only the bound of the class that
    truly has the smallest recall needs to hold. So it is above the smallest of the `recall_bounds`.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels of samples that were not used for training.
    eta : float, default=0.05
        Probability with which the bound may fail, in (0, 1].
    labels : array-like of shape (n_classes,), default=None
        All classes of the problem, at least two, in any order. By default the labels seen in `y_true` or `y_pred`;
        give them if these may lack a class. A label outside of them is an error.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights, at least 0; within a class, they must be independent of the predictions, as in `recall_bounds`.

    Returns
    -------
    float
        The bound; 0 if a class of `labels` is absent from `y_true`.

    Examples
    --------
    >>> from comboost.metrics import min_recall_bound
    >>> y_true, y_pred = [0] * 900 + [1] * 100, [0] * 900 + [1] * 60 + [0] * 40
    >>> round(min_recall_bound(y_true, y_pred), 3)
    0.513
    """
    samples = class_samples(read_tested(y_true, y_pred, labels, sample_weight, eta))
    return 1.0 - float(largest_error_upper(samples, float(eta)))


def geometric_mean_bound(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    eta: float = 0.05,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Lower bound on the geometric mean of the recalls (G-mean) on new data that holds with probability 1 − eta.

    It follows from the factorial moments of the numbers of correct predictions. With three classes or more it is
    usually far above the geometric mean of the `recall_bounds`, since no bounds need to hold for all classes at once.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels of samples that were not used for training.
    eta : float, default=0.05
        Probability with which the bound may fail, in (0, 1].
    labels : array-like of shape (n_classes,), default=None
        All classes of the problem, at least two, in any order. By default the labels seen in `y_true` or `y_pred`;
        give them if these may lack a class. A label outside of them is an error.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights, at least 0; within a class, they must be independent of the predictions, as in `recall_bounds`.
        If they differ within a class, the bound is the geometric mean of the `recall_bounds`.

    Returns
    -------
    float
        The bound; 0 if a class of `labels` is absent from `y_true`.

    Examples
    --------
    >>> import numpy as np
    >>> from comboost.metrics import geometric_mean_bound, recall_bounds
    >>> y_true = np.repeat([0, 1, 2, 3], 100)
    >>> y_pred = np.where(np.arange(400) % 10 > 0, y_true, 3 - y_true)  # all recalls are 0.9
    >>> round(geometric_mean_bound(y_true, y_pred), 3)
    0.86
    >>> recall_bounds(y_true, y_pred).round(3)
    array([0.813, 0.813, 0.813, 0.813])
    """
    samples = class_samples(read_tested(y_true, y_pred, labels, sample_weight, eta))
    return float(geometric_mean_lower(samples, float(eta)))


def read_tested(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    labels: ArrayLike | None,
    sample_weight: ArrayLike | None,
    eta: float,
    **more_classes: Sequence[Any],
) -> SampleOutcomes:
    """Check the input of a bound; as `read_outcomes`."""
    if not isinstance(eta, Real) or not 0 < eta <= 1:
        raise ValueError(f"eta={eta!r} must lie in (0, 1]: it is the probability with which the bound may fail.")
    outcomes = read_outcomes(y_true, y_pred, labels, sample_weight, **more_classes)
    if outcomes.classes.size < 2:
        source = "y_true and y_pred have" if labels is None else "labels has"
        raise ValueError(
            f"{source} a single class, {outcomes.classes.tolist()}, whose errors cannot be bounded; give all classes "
            "of the problem as labels."
        )
    return outcomes


def class_samples(outcomes: SampleOutcomes) -> ClassSamples:
    """Confusion matrix and effective class sizes."""
    return ClassSamples.of_outcomes(outcomes, confusion_of(outcomes.counts(NORM_SQUARES)))
