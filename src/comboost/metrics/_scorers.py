"""Scorers made of the measures. In: a name. Out: an object that cross-validation and searches take."""

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
)
from comboost.metrics._outcomes import class_indices, label_array, resolve_classes

Scorer = Callable[..., float]

# What the scorers of these names give, as functions of the counts N(l, j) of `_measures`.
SCORES_OF_COUNTS: dict[str, Callable[[Floats], float]] = {
    "neg_confusion_norm": lambda counts: -norm_of(counts),
    "g_mean": geometric_mean_of,
    "min_recall": min_recall_of,
    "neg_expected_cost": lambda counts: -_core.error_rate(counts),
    "accuracy": _core.accuracy,
    "balanced_accuracy": mean_recall_of,
}


def get_scorer(
    name: str | Scorer,
    *,
    cost_matrix: CostMatrix = None,
    reject_cost: float | None = None,
    reject_label: Any = None,
) -> Scorer:
    """Return a scorer for `cross_validate`, `GridSearchCV` and the like.

    Parameters
    ----------
    name : str or callable
        "g_mean", "mauc", "neg_balanced_log_loss", "neg_confusion_norm", "min_recall", "neg_expected_cost", or what
        `sklearn.metrics.get_scorer` takes.
    cost_matrix : array-like of shape (n_classes, n_classes) or (n_classes,), DataFrame or dict, default=None
        Costs for "neg_expected_cost", truth in rows; by default 1 for every mistake. An unnamed array follows the
        sorted classes of the training and the test rows together; if a class can be missing from both, as in nested
        cross-validation, name the classes with a DataFrame or a dict.
    reject_cost, reject_label : float and label, default=None
        What a row costs that is predicted as `reject_label`, for "neg_expected_cost". For other scorers that look at
        predictions, a rejected row is one that is not recognised.

    Returns
    -------
    callable
        Called as ``scorer(estimator, X, y, sample_weight=None)``; greater is better. A class absent from the test
        rows is treated as by the metric. A class absent from the training rows counts as never recognised, and for
        "mauc" and "neg_balanced_log_loss" as a class of probability 0.

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
    ignored = [option for option, value in options.items() if value is not None and name != "neg_expected_cost"]
    if ignored:
        raise ValueError(f'{ignored[0]} is for "neg_expected_cost" only and {name!r} would ignore it; leave it out.')
    scorer: Scorer
    if name == "g_mean":
        scorer = make_scorer(geometric_mean_score)
    elif name == "min_recall":
        scorer = make_scorer(min_recall_score)
    elif name == "neg_confusion_norm":
        scorer = make_scorer(confusion_norm_loss, greater_is_better=False)
    elif name == "mauc":
        scorer = ClassesScorer(name, score_mauc)
    elif name == "neg_balanced_log_loss":
        scorer = ClassesScorer(name, score_neg_balanced_log_loss)
    elif name == "neg_expected_cost" and (cost_matrix is None or named_classes(cost_matrix)):
        scorer = make_scorer(expected_cost_loss, greater_is_better=False, **options)
    elif name == "neg_expected_cost":
        scorer = ClassesScorer(name, partial(score_neg_expected_cost, **options))
    else:
        scorer = find_sklearn_scorer(name)
    return scorer


def find_sklearn_scorer(name: str | Scorer) -> Any:
    """Find a scorer of scikit-learn, or name all that are known here."""
    try:
        return sklearn_get_scorer(name)
    except ValueError as error:
        raise ValueError(
            f'{name!r} is no scorer. Use "g_mean", "mauc", "neg_balanced_log_loss", "neg_confusion_norm", '
            '"min_recall", "neg_expected_cost", or a name of scikit-learn\'s (sklearn.metrics.get_scorer_names() lists '
            "them)."
        ) from error


class ClassesScorer:
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
        """Ask for weights, as any scorer of scikit-learn does."""
        self._metadata_request = MetadataRequest(owner=self)
        self._metadata_request.score.add_request(param="sample_weight", alias=sample_weight)
        return self

    def get_metadata_routing(self) -> MetadataRequest:
        """Say what was asked for."""
        return self._metadata_request

    def _accept_sample_weight(self) -> bool:
        # scikit-learn 1.9 asks this of every scorer in a dict when weights come without metadata routing.
        return True


def score_mauc(estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> float:
    """MAUC of the probabilities; a class that is new to the estimator has none."""
    classes, probabilities = probabilities_of(estimator, X, y, "mauc")
    return mauc_score(y, probabilities, labels=classes, sample_weight=sample_weight)


def score_neg_balanced_log_loss(estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> float:
    """Minus the balanced log-loss of the probabilities; a class that is new to the estimator has none."""
    classes, probabilities = probabilities_of(estimator, X, y, "neg_balanced_log_loss")
    return -balanced_log_loss(y, probabilities, labels=classes, sample_weight=sample_weight)


def probabilities_of(estimator: Any, X: Any, y: ArrayLike, name: str) -> tuple[NDArray[Any], Floats]:
    """The classes of training and test rows together, sorted, and a column of probabilities for each."""
    if not hasattr(estimator, "predict_proba"):
        raise AttributeError(
            f'The scorer "{name}" needs predict_proba, which {type(estimator).__name__} lacks; wrap it in '
            "CalibratedClassifierCV or choose another scorer."
        )
    known = label_array(estimator.classes_, "estimator.classes_")
    probabilities = np.asarray(estimator.predict_proba(X))
    classes = resolve_classes(None, **{"y": label_array(y, "y"), "estimator.classes_": known})
    columns = np.zeros((probabilities.shape[0], classes.size), dtype=probabilities.dtype)
    columns[:, class_indices(known, classes, "estimator.classes_")] = probabilities
    return classes, columns


def score_neg_expected_cost(
    estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, **options: Any
) -> float:
    """Minus the expected cost; the costs are those of the classes of training and test rows together, sorted."""
    known = label_array(estimator.classes_, "estimator.classes_")
    classes = resolve_classes(None, **{"y": label_array(y, "y"), "estimator.classes_": known})
    y_pred = estimator.predict(X)
    return -expected_cost_loss(y, y_pred, labels=classes, sample_weight=sample_weight, **options)
