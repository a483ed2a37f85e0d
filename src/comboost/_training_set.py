"""What the user gives to ``fit``, checked.

In: X, y, sample weights. Out: rows of positive weight, class indices, integer weights.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_consistent_length, validate_data

from comboost._costs import class_masses, integer_weights
from comboost._dtypes import LABEL, MAX_CLASSES, MAX_ROWS, Floats, Labels, Sums, Weights

FEW_ROWS = 32


@dataclass(frozen=True)
class TrainingSet:
    """Rows of positive weight.

    Attributes
    ----------
    X : ndarray of float32 or float64, (n_samples, n_features)
        The values.
    labels : ndarray of uint16
        The class index of every row.
    weights : ndarray of uint32 or None
        Integer weights; None where every row weighs 1.
    classes : ndarray
        The classes, sorted.
    masses : ndarray of int64
        The summed weight of every class.
    """

    X: NDArray[np.floating[Any]]
    labels: Labels
    weights: Weights | None
    classes: NDArray[Any]
    masses: Sums

    @classmethod
    def read(cls, estimator: Any, X: Any, y: Any, sample_weight: Any) -> "TrainingSet":
        """Check the input of ``estimator.fit`` and drop the rows without weight."""
        X, y = read_table(estimator, X=X, y=y)
        X = as_readable(X)
        if len(X) > MAX_ROWS:
            raise ValueError(f"X has {len(X)} rows; at most {MAX_ROWS} are supported. Train on a sample of them.")
        classes, labels = read_classes(y)
        if sample_weight is None:
            return cls(X, labels, None, classes, class_masses(labels, None, len(classes)))
        weights = integer_weights(read_weights(sample_weight, X))
        masses = class_masses(labels, weights, len(classes))
        if (masses == 0).any():
            empty = classes[masses == 0].tolist()
            raise ValueError(
                f"sample_weight gives no weight to the class(es) {empty}, zero or next to it beside the others; every "
                "class needs a row that counts. Drop the rows of these classes, or raise their weights."
            )
        kept = weights > 0
        if kept.all():
            return cls(X, labels, weights, classes, masses)
        return cls(X[kept], labels[kept], weights[kept], classes, masses)


def read_table(estimator: Any, **checks: Any) -> Any:
    """scikit-learn's ``validate_data`` for our tables: finite floats of either width, in any memory order."""
    # Its check for finite values adds them all up, and values near 1e308 may add up to inf - inf.
    with np.errstate(invalid="ignore"):
        try:
            return validate_data(estimator, dtype=[np.float64, np.float32], **checks)
        except TypeError as error:
            if "NA is ambiguous" not in str(error):
                raise
            raise ValueError("X or y holds pandas.NA; drop or fill what is missing.") from error


def is_plain(X: Any, estimator: Any) -> bool:
    """Whether X is a small array that needs no more checks: for a row or two they take longer than the prediction."""
    return (
        type(X) is np.ndarray
        and X.dtype in (np.float64, np.float32)
        and X.ndim == 2
        and 0 < len(X) <= FEW_ROWS
        and X.shape[1] == estimator.n_features_in_
        and not hasattr(estimator, "feature_names_in_")
        and X.flags.c_contiguous
        and X.flags.aligned
        and bool(np.isfinite(X).all())
    )


def as_readable(X: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    """X as the core can read it: a copy where its numbers lie across their natural borders in memory."""
    if X.flags.aligned and all(stride % X.itemsize == 0 for stride in X.strides):
        return X
    return X.copy()


def read_classes(y: NDArray[Any]) -> tuple[NDArray[Any], Labels]:
    """Sorted classes and the class index of every row."""
    try:
        check_classification_targets(y)
        classes, labels = np.unique(y, return_inverse=True)
    except TypeError as error:
        raise ValueError(
            f"y cannot be used as labels: {error}. Give numbers, text or booleans, of one type and with none missing."
        ) from error
    if len(classes) < 2:
        raise ValueError(
            f"y holds only one class, {classes.tolist()}; a classifier needs rows of at least two classes."
        )
    if len(classes) > MAX_CLASSES:
        raise ValueError(
            f"y holds {len(classes)} classes; at most {MAX_CLASSES} are supported. Is y a continuous target?"
        )
    return classes, labels.astype(LABEL)


def read_weights(sample_weight: ArrayLike, X: NDArray[np.floating[Any]]) -> Floats:
    """Sample weights as float64: finite, none negative, not all zero."""
    weights: Floats = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    if weights.ndim != 1:
        raise ValueError(f"sample_weight has the shape {weights.shape}; give one weight per row, ({len(X)},).")
    check_consistent_length(X, weights)
    if (weights < 0).any():
        raise ValueError(f"sample_weight holds the negative weight {weights.min():g}; weights must be zero or more.")
    if not weights.any():
        raise ValueError(
            "every sample weight is zero, so no row counts; give at least one row of every class a positive weight."
        )
    return weights
