"""Confusion matrices of cross-validation. In: an estimator and rows. Out: matrices, recalls and norms, as data."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.model_selection import cross_validate

from comboost._data.labels import find_distinct, read_classes
from comboost._extras import confusion_frame, import_pandas
from comboost._stats.intervals import check_confidence, wilson_interval
from comboost._types import Floats
from comboost.metrics._measures import NORM_SQUARES, confusion_of, norm_of, norm_slack
from comboost.metrics._outcomes import check_squares, find_indices, label_array, read_outcomes, sums_by


@dataclass(frozen=True)
class ConfusionFolds:
    """What cross-validation found about the confusion of classes: truth in rows, prediction in columns.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        All classes of y, sorted: the order of all rows and columns, whatever classes a fold has.
    fold_counts : ndarray of shape (n_folds, n_classes, n_classes)
        Rows by truth and prediction, fold by fold.
    sizes : ndarray of shape (n_classes,)
        Rows of every class that were tested; a row that repeated cross-validation tests several times counts once.
    confidence : float
        Of the intervals and the bounds.
    """

    classes: NDArray[Any]
    fold_counts: Floats
    sizes: Floats
    confidence: float

    @property
    def counts(self) -> Floats:
        """Rows by truth and prediction, of all folds together."""
        return np.asarray(self.fold_counts.sum(axis=0))

    @property
    def fold_confusions(self) -> Floats:
        """The error confusion matrix of every fold; the row of a class that a fold does not test is zero."""
        return np.array([confusion_of(counts) for counts in self.fold_counts])

    @property
    def confusion(self) -> Floats:
        """The error confusion matrix of all folds together."""
        return confusion_of(self.counts)

    @property
    def fold_recalls(self) -> Floats:
        """Recall by fold and class; NaN for a class that a fold does not test."""
        return recalls(self.fold_counts)

    @property
    def recalls(self) -> Floats:
        """Recall of every class in all folds together; NaN for a class that is never tested."""
        return recalls(self.counts)

    @property
    def recall_intervals(self) -> tuple[Floats, Floats]:
        """Wilson's limits of the recalls: lower ones and upper ones."""
        return wilson_interval(self.recalls, self.sizes, confidence=self.confidence)

    @property
    def fold_norms(self) -> Floats:
        """‖C‖ of every fold."""
        return np.array([norm_of(counts) for counts in self.fold_counts])

    @property
    def norm(self) -> float:
        """‖C‖ of all folds together."""
        return norm_of(self.counts)

    @property
    def fold_norm_bounds(self) -> Floats:
        """What ‖C‖ of each fold's classifier is at most on other rows; infinite if a class is not tested."""
        slacks = [self._slack(counts.sum(axis=1)) for counts in self.fold_counts]
        return np.asarray(self.fold_norms + np.array(slacks))

    @property
    def norm_bound(self) -> float:
        """The same of all folds together, taking their classifiers for one: no theorem, but what one would expect."""
        return self.norm + self._slack(self.sizes)

    def _slack(self, sizes: Floats) -> float:
        if not sizes.all():
            return float("inf")
        return norm_slack(len(sizes), float(np.sum(1.0 / sizes)), 1.0 - self.confidence)

    def to_frame(self) -> Any:
        """A pandas DataFrame with a row per class: its size, its recall with limits, and what it is taken for most."""
        low, high = self.recall_intervals
        confusion = self.confusion
        mistaken = confusion.argmax(axis=1)
        pandas = import_pandas()
        return pandas.DataFrame(
            {
                "rows": self.sizes.astype(np.int64),
                "recall": self.recalls,
                "recall_low": low,
                "recall_high": high,
                "taken_for": [self.classes[j] if confusion[k, j] > 0 else None for k, j in enumerate(mistaken)],
                "taken_for_share": confusion.max(axis=1),
            },
            index=pandas.Index(self.classes, name="class"),
        )

    def confusion_frame(self) -> Any:
        """The error confusion matrix of all folds together as a pandas DataFrame with named rows and columns."""
        return confusion_frame(self.confusion, self.classes)


def cross_validate_confusion(
    estimator: ClassifierMixin,
    X: Any,
    y: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    cv: Any = None,
    n_jobs: int | None = None,
    params: Mapping[str, Any] | None = None,
    confidence: float = 0.95,
) -> ConfusionFolds:
    """Cross-validate a classifier, and keep who was taken for whom.

    Parameters
    ----------
    estimator : classifier
        Any scikit-learn classifier.
    X : array-like of shape (n_samples, n_features)
        The table.
    y : array-like of shape (n_samples,)
        The classes.
    groups : array-like of shape (n_samples,), default=None
        Groups of rows that stay together, for a `cv` that takes them.
    cv : int, splitter or iterable, default=None
        As in `sklearn.model_selection.cross_validate`: 5 folds, stratified, by default. A class may be absent from the
        training or the test rows of a fold.
    n_jobs : int, default=None
        Processes.
    params : dict, default=None
        Arguments of the estimator's ``fit``, such as ``sample_weight``; the test rows are counted one by one.
    confidence : float, default=0.95
        Of the intervals and the bounds, in (0, 1).

    Returns
    -------
    ConfusionFolds
        Confusion matrices by fold and together, recalls with intervals, norms with bounds; `to_frame` and
        `confusion_frame` give pandas DataFrames.

    Examples
    --------
    >>> from comboost import ConfusionBoostingClassifier
    >>> from comboost.datasets import load_new_thyroid
    >>> from comboost.model_selection import cross_validate_confusion
    >>> X, y = load_new_thyroid(return_X_y=True)
    >>> found = cross_validate_confusion(ConfusionBoostingClassifier(n_estimators=50, random_state=0), X, y)
    >>> found.counts.sum(), found.fold_counts.shape
    (np.float64(215.0), (5, 3, 3))
    >>> found.to_frame()["rows"].to_dict()
    {'hyper': 35, 'hypo': 30, 'normal': 150}
    """
    check_confidence(confidence)
    classes, labels = read_classes(label_array(y, "y"))
    check_squares(len(classes), NORM_SQUARES)
    results = cross_validate(
        estimator,
        X,
        y,
        groups=groups,
        scoring=PairCounter(classes),
        cv=cv,
        n_jobs=n_jobs,
        params=dict(params or {}),
        return_indices=True,
        error_score="raise",
    )
    pairs = [results[f"test_{name}"] for name in pair_names(len(classes))]
    counts = np.stack(pairs, axis=1).reshape(-1, len(classes), len(classes))
    tested = np.unique(np.concatenate(results["indices"]["test"]))
    sizes = sums_by(labels[tested].astype(np.intp), np.ones(len(tested)), len(classes))
    return ConfusionFolds(classes, counts, sizes, float(confidence))


@dataclass(frozen=True)
class PairCounter:
    """A scorer that counts every pair of truth and prediction: `cross_validate` carries numbers alone."""

    classes: NDArray[Any]

    def __call__(self, estimator: ClassifierMixin, X: Any, y: ArrayLike) -> dict[str, float]:
        """Count the pairs of a fold."""
        predicted = label_array(estimator.predict(X), "predict(X)")
        others = find_distinct(predicted[find_indices(predicted, self.classes, "predict(X)") < 0], "predict(X)")[0]
        if others.size:
            raise ValueError(
                f"The classifier predicts {others.tolist()}, but the classes of y are {self.classes.tolist()}. "
                "Rejected rows are taken for no class, so that no confusion matrix tells of them; set reject_cost=None."
            )
        counts = read_outcomes(y, predicted, self.classes, None).counts()
        return dict(zip(pair_names(len(self.classes)), counts.ravel().tolist(), strict=True))


def pair_names(n_classes: int) -> list[str]:
    """A name for every pair of classes, row by row."""
    return [f"{truth}→{taken}" for truth in range(n_classes) for taken in range(n_classes)]


def recalls(counts: Floats) -> Floats:
    """Shares of rows that were right, by class; NaN where there are none."""
    right, totals = np.diagonal(counts, axis1=-2, axis2=-1), counts.sum(axis=-1)
    return np.asarray(np.divide(right, totals, out=np.full(totals.shape, np.nan), where=totals > 0))
