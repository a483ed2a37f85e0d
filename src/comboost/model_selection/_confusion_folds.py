"""Cross-validated confusion matrices, recalls and norms."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.model_selection import cross_validate

from comboost._data.labels import find_distinct, read_classes
from comboost._data.sparse import read_sparse
from comboost._extras import confusion_frame, import_pandas
from comboost._stats.intervals import check_confidence, wilson_interval
from comboost._types import Floats
from comboost.metrics._confidence import (
    ClassSamples,
    geometric_mean_lower,
    mean_error_upper,
    norm_upper,
    simultaneous_error_upper,
)
from comboost.metrics._measures import NORM_SQUARES, confusion_of, norm_of
from comboost.metrics._outcomes import check_squares, find_indices, label_array, read_outcomes, sums_by


@dataclass(frozen=True)
class ConfusionFolds:
    """Cross-validated confusion matrices: true classes in rows, predictions in columns.

    The bounds are confidence bounds for new data, at any number of samples. They assume that samples are independent,
    so they do not hold for folds of groups or of a time series. `fold_norm_bounds` holds for the classifier of each
    fold. The others hold for the classifiers of all folds on average, and also for a classifier that predicts with a
    random one of them. They rest on the test samples of single folds, so they are wider than the bounds of
    `comboost.metrics` would be for as many test samples of one classifier. None of them holds for a classifier that is
    fitted on all samples.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        All classes of y, sorted; the order of rows and columns, whether a fold has the class or not.
    fold_counts : ndarray of shape (n_folds, n_classes, n_classes)
        Confusion counts of every fold.
    sizes : ndarray of shape (n_classes,)
        Number of test samples of every class; samples that are tested several times count once.
    confidence : float
        Confidence level of intervals and bounds.
    """

    classes: NDArray[Any]
    fold_counts: Floats
    sizes: Floats
    confidence: float

    @property
    def counts(self) -> Floats:
        """Confusion counts of all folds together."""
        return np.asarray(self.fold_counts.sum(axis=0))

    @property
    def fold_confusions(self) -> Floats:
        """Error confusion matrix of every fold; rows of classes without test samples are zero."""
        return np.array([confusion_of(counts) for counts in self.fold_counts])

    @property
    def confusion(self) -> Floats:
        """Error confusion matrix of all folds together."""
        return confusion_of(self.counts)

    @property
    def fold_recalls(self) -> Floats:
        """Recall by fold and class; NaN without test samples."""
        return recalls(self.fold_counts)

    @property
    def recalls(self) -> Floats:
        """Recall of every class in all folds together; NaN without test samples."""
        return recalls(self.counts)

    @property
    def recall_intervals(self) -> tuple[Floats, Floats]:
        """Lower and upper bounds of the Wilson intervals of the recalls."""
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
        """Upper confidence bound of ‖C‖ on new data for the classifier of each fold, at the confidence level each.

        A class without test samples in a fold may be always wrong.
        """
        return np.array([norm_upper(tested, 1.0 - self.confidence) for tested in self._tested])

    @property
    def norm_bound(self) -> float:
        """Upper confidence bound of ‖C‖ on new data for the classifiers of the folds, on average.

        The mean of bounds that hold for all folds at once.
        """
        return self._mean_bound(norm_upper)

    @property
    def recall_bounds(self) -> Floats:
        """Lower confidence bounds of the recalls on new data, for the classifiers of the folds, on average.

        They hold for all classes at once.
        """
        eta = self._eta
        return np.asarray(1.0 - np.mean([simultaneous_error_upper(tested, eta) for tested in self._tested], axis=0))

    @property
    def mean_recall_bound(self) -> float:
        """Lower confidence bound of the mean recall on new data, for the classifiers of the folds, on average."""
        n_classes = len(self.classes)
        priors = np.full(n_classes, 1.0 / n_classes)
        return 1.0 - self._mean_bound(lambda tested, eta: mean_error_upper(tested, priors, eta))

    @property
    def geometric_mean_bound(self) -> float:
        """Lower confidence bound of the G-mean on new data, for the classifiers of the folds, on average."""
        return self._mean_bound(geometric_mean_lower)

    @property
    def _tested(self) -> list[ClassSamples]:
        return [ClassSamples.of_counts(counts) for counts in self.fold_counts]

    @property
    def _eta(self) -> float:
        """Probability with which the bound of a fold may fail if the bounds of all folds should hold at once."""
        return (1.0 - self.confidence) / len(self.fold_counts)

    def _mean_bound(self, bound: Callable[[ClassSamples, float], Floats]) -> float:
        return float(np.mean([bound(tested, self._eta) for tested in self._tested]))

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with size, recall, interval and most frequent error of every class."""
        low, high = self.recall_intervals
        confusion = self.confusion
        mistaken = confusion.argmax(axis=1)
        pandas = import_pandas()
        return pandas.DataFrame(
            {
                "n_samples": self.sizes.astype(np.int64),
                "recall": self.recalls,
                "recall_low": low,
                "recall_high": high,
                "predicted_as": [self.classes[j] if confusion[k, j] > 0 else None for k, j in enumerate(mistaken)],
                "predicted_as_fraction": confusion.max(axis=1),
            },
            index=pandas.Index(self.classes, name="class"),
        )

    def confusion_frame(self) -> Any:
        """Return the error confusion matrix of all folds together as a pandas DataFrame."""
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
    """Cross-validate a classifier, and keep its confusion matrices.

    Parameters
    ----------
    estimator : classifier
        Any scikit-learn classifier.
    X : array-like of shape (n_samples, n_features)
        Samples.
    y : array-like of shape (n_samples,)
        Classes.
    groups : array-like of shape (n_samples,), default=None
        Groups of samples, for a `cv` that uses them.
    cv : int, splitter or iterable, default=None
        As in `sklearn.model_selection.cross_validate`: 5 folds, stratified, by default. A class may be absent from the
        training or the test samples of a fold.
    n_jobs : int, default=None
        Number of processes.
    params : dict, default=None
        Arguments of the estimator's ``fit``, such as ``sample_weight``; test samples have no weights.
    confidence : float, default=0.95
        Confidence level of intervals and bounds, in (0, 1).

    Returns
    -------
    ConfusionFolds
        Confusion matrices by fold and together, recalls with intervals, norms, and bounds for new data; `to_frame` and
        `confusion_frame` give pandas DataFrames.

    Examples
    --------
    >>> from comboost import ConfusionBoostingClassifier
    >>> from comboost.datasets import load_new_thyroid
    >>> from comboost.model_selection import cross_validate_confusion
    >>> X, y = load_new_thyroid(return_X_y=True)
    >>> folds = cross_validate_confusion(ConfusionBoostingClassifier(n_estimators=50, random_state=0), X, y)
    >>> folds.counts.sum(), folds.fold_counts.shape
    (np.float64(215.0), (5, 3, 3))
    >>> folds.to_frame()["n_samples"].to_dict()
    {'hyper': 35, 'hypo': 30, 'normal': 150}
    """
    check_confidence(confidence)
    classes, labels = read_classes(label_array(y, "y"))
    check_squares(len(classes), NORM_SQUARES)
    results = cross_validate(
        estimator,
        read_sparse(X),
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
    """A scorer that returns all confusion counts as separate numbers, since `cross_validate` only keeps numbers."""

    classes: NDArray[Any]

    def __call__(self, estimator: ClassifierMixin, X: Any, y: ArrayLike) -> dict[str, float]:
        """Count the pairs of a fold."""
        predicted = label_array(estimator.predict(X), "predict(X)")
        others = find_distinct(predicted[find_indices(predicted, self.classes, "predict(X)") < 0], "predict(X)")[0]
        if others.size:
            raise ValueError(
                f"The classifier predicts {others.tolist()}, but the classes of y are {self.classes.tolist()}. "
                "Rejected samples have no place in a confusion matrix; set reject_cost=None."
            )
        counts = read_outcomes(y, predicted, self.classes, None).counts()
        return dict(zip(pair_names(len(self.classes)), counts.ravel().tolist(), strict=True))


def pair_names(n_classes: int) -> list[str]:
    """Names of all pairs of classes, row by row."""
    return [f"{true}→{predicted}" for true in range(n_classes) for predicted in range(n_classes)]


def recalls(counts: Floats) -> Floats:
    """Recalls by class; NaN without samples."""
    correct, totals = np.diagonal(counts, axis1=-2, axis2=-1), counts.sum(axis=-1)
    return np.asarray(np.divide(correct, totals, out=np.full(totals.shape, np.nan), where=totals > 0))
