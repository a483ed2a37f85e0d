"""Scorers for cross-validation and parameter search."""

from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import get_scorer as sklearn_get_scorer
from sklearn.metrics import make_scorer
from sklearn.utils.metadata_routing import MetadataRequest

from comboost import _core
from comboost._data.cost_matrices import named_classes
from comboost._types import Floats
from comboost.metrics._measures import (
    CostMatrix,
    balanced_log_loss,
    confusion_norm_loss,
    expected_cost_loss,
    geometric_mean_of,
    geometric_mean_score,
    mauc_score,
    mean_recall_of,
    min_recall_of,
    min_recall_score,
    norm_of,
    spectral_norm,
)
from comboost.metrics._outcomes import class_indices, label_array, resolve_classes
from comboost.metrics._soft import as_columns, check_pair_loss, soft_confusion_matrix

Scorer = Callable[..., float]

# Scorers that are functions of the counts N(l, j) of `_measures`.
SCORES_OF_COUNTS: dict[str, Callable[[Floats], float]] = {
    "neg_confusion_norm": lambda counts: -norm_of(counts),
    "g_mean": geometric_mean_of,
    "min_recall": min_recall_of,
    "neg_expected_cost": lambda counts: -_core.error_rate(counts),
    "accuracy": _core.accuracy,
    "balanced_accuracy": mean_recall_of,
}
SOFT_NORM = "neg_soft_confusion_norm"


def get_scorer(
    name: str | Scorer,
    *,
    cost_matrix: CostMatrix = None,
    reject_cost: float | None = None,
    reject_label: Any = None,
    loss: str | None = None,
) -> Scorer:
    """Return a scorer for `cross_validate`, `GridSearchCV` and the like.

    Parameters
    ----------
    name : str or callable
        "g_mean", "mauc", "neg_balanced_log_loss", "neg_confusion_norm", "neg_soft_confusion_norm", "min_recall",
        "neg_expected_cost", or any argument of `sklearn.metrics.get_scorer`.
    cost_matrix : array-like of shape (n_classes, n_classes) or (n_classes,), DataFrame or dict, default=None
        Costs for "neg_expected_cost", truth in rows; by default 1 for every mistake. An unnamed array follows the
        sorted classes of training and test set together; if a class can be missing from both, as in nested
        cross-validation, name the classes with a DataFrame or a dict.
    reject_cost, reject_label : float and label, default=None
        Cost of a sample that is predicted as `reject_label`, for "neg_expected_cost". For other scorers of predictions,
        a rejected sample is a mistake.
    loss : {"logistic", "exponential"}, default=None
        Loss of `soft_confusion_matrix` for "neg_soft_confusion_norm", which is minus the spectral norm of that matrix;
        by default "logistic", whatever loss an estimator minimises, so that estimators can be compared.

    Returns
    -------
    callable
        Called as ``scorer(estimator, X, y, sample_weight=None)``; greater is better. A class absent from the test
        set is treated as by the metric. A class absent from the training set is never predicted; its probability is 0
        and its score −inf.

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
    options = {"cost_matrix": cost_matrix, "reject_cost": reject_cost, "reject_label": reject_label}
    users = {**dict.fromkeys(options, "neg_expected_cost"), "loss": SOFT_NORM}
    given = [option for option, value in {**options, "loss": loss}.items() if value is not None]
    ignored = [option for option in given if name != users[option]]
    if ignored:
        raise ValueError(f'{ignored[0]} is for "{users[ignored[0]]}" only and {name!r} would ignore it; leave it out.')
    if name == "g_mean":
        scorer: Scorer = make_scorer(geometric_mean_score)
    elif name == "min_recall":
        scorer = make_scorer(min_recall_score)
    elif name == "neg_confusion_norm":
        scorer = make_scorer(confusion_norm_loss, greater_is_better=False)
    elif name == "mauc":
        scorer = ClassesScorer(name, partial(score_probabilities, name=name, metric=mauc_score, sign=1.0))
    elif name == "neg_balanced_log_loss":
        scorer = ClassesScorer(name, partial(score_probabilities, name=name, metric=balanced_log_loss, sign=-1.0))
    elif name == SOFT_NORM:
        loss = "logistic" if loss is None else loss
        check_pair_loss(loss)
        scorer = ClassesScorer(name, partial(score_neg_soft_norm, loss=loss))
    elif name == "neg_expected_cost" and (cost_matrix is None or named_classes(cost_matrix)):
        scorer = make_scorer(expected_cost_loss, greater_is_better=False, **options)
    elif name == "neg_expected_cost":
        scorer = ClassesScorer(name, partial(score_neg_expected_cost, **options))
    else:
        try:
            scorer = sklearn_get_scorer(name)
        except ValueError as error:
            raise ValueError(
                f'{name!r} is not a scorer. Use "g_mean", "mauc", "neg_balanced_log_loss", "neg_confusion_norm", '
                '"neg_soft_confusion_norm", "min_recall", "neg_expected_cost", or a name of scikit-learn '
                "(sklearn.metrics.get_scorer_names() lists them)."
            ) from error
    return scorer


class ClassesScorer:
    """A scorer that uses the classes of the estimator, which scorers of `make_scorer` cannot."""

    def __init__(self, name: str, score: Scorer) -> None:
        self._name = name
        self._score = score
        self.set_score_request(sample_weight=None)

    def __call__(self, estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        return self._score(estimator, X, y, sample_weight)

    def __repr__(self) -> str:
        return f"get_scorer({self._name!r})"

    def set_score_request(self, *, sample_weight: bool | str | None) -> Self:
        """Request weights, as any scorer of scikit-learn."""
        self._metadata_request = MetadataRequest(owner=self)
        self._metadata_request.score.add_request(param="sample_weight", alias=sample_weight)
        return self

    def get_metadata_routing(self) -> MetadataRequest:
        """Return the request."""
        return self._metadata_request

    def _accept_sample_weight(self) -> bool:
        # scikit-learn 1.9 calls this for every scorer in a dict when weights are passed without metadata routing.
        return True


def score_probabilities(
    estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, *, name: str, metric: Scorer, sign: float
) -> float:
    """Score the probabilities of the classes of training and test set; classes absent from training have 0."""
    if not hasattr(estimator, "predict_proba"):
        raise AttributeError(
            f'The scorer "{name}" needs predict_proba, which {type(estimator).__name__} lacks; wrap it in '
            "CalibratedClassifierCV or choose another scorer."
        )
    classes, columns = columns_of_all(estimator, estimator.predict_proba(X), y, 0.0)
    return sign * metric(y, columns, labels=classes, sample_weight=sample_weight)


def score_neg_soft_norm(estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, *, loss: str) -> float:
    """Negative norm of the soft confusion matrix; classes absent from training have the score −inf."""
    if not hasattr(estimator, "decision_function"):
        raise AttributeError(
            f'The scorer "{SOFT_NORM}" needs decision_function, which {type(estimator).__name__} lacks; choose another '
            "scorer."
        )
    scores = as_columns(np.asarray(estimator.decision_function(X)))
    if scores.shape[1] != len(estimator.classes_):
        raise ValueError(
            f"{type(estimator).__name__}.decision_function has {scores.shape[1]} columns for "
            f"{len(estimator.classes_)} classes; give an estimator with one score per class."
        )
    classes, columns = columns_of_all(estimator, scores, y, -np.inf)
    return -spectral_norm(soft_confusion_matrix(y, columns, loss=loss, labels=classes, sample_weight=sample_weight))


def columns_of_all(estimator: Any, values: ArrayLike, y: ArrayLike, fill: float) -> tuple[NDArray[Any], Floats]:
    """The classes of training and test set, and a column of values for each; ``fill`` if absent from training."""
    known = label_array(estimator.classes_, "estimator.classes_")
    given = np.asarray(values)
    classes = resolve_classes(None, **{"y": label_array(y, "y"), "estimator.classes_": known})
    columns = np.full((given.shape[0], classes.size), fill, dtype=given.dtype)
    columns[:, class_indices(known, classes, "estimator.classes_")] = given
    return classes, columns


def score_neg_expected_cost(
    estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, **options: Any
) -> float:
    """Negative expected cost; costs are in the order of the sorted classes of training and test set together."""
    known = label_array(estimator.classes_, "estimator.classes_")
    classes = resolve_classes(None, **{"y": label_array(y, "y"), "estimator.classes_": known})
    y_pred = estimator.predict(X)
    return -expected_cost_loss(y, y_pred, labels=classes, sample_weight=sample_weight, **options)
