"""What the user gives to ``fit``, checked.

In: X, y, sample weights. Out: rows of positive weight, class indices, integer weights.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array

from comboost._costs import class_masses, integer_weights
from comboost._dtypes import LABEL, MAX_CLASSES, MAX_ROWS, Floats, Labels, Sums, Weights

COUNTABLE = 2**20  # integer labels in a range of no more than this are counted instead of sorted


class Census(Protocol):
    """What is known of the rows to train on, wherever they are."""

    @property
    def classes(self) -> NDArray[Any]:
        """The classes, sorted."""

    @property
    def masses(self) -> Sums:
        """The summed weight of every class."""


@dataclass(frozen=True)
class TrainingSet:
    """Rows of positive weight.

    Attributes
    ----------
    rows : ndarray of intp or None
        Which of the rows given these are, ascending; None where they are all.
    labels : ndarray of uint16
        The class index of every row.
    weights : ndarray of uint32 or None
        Integer weights; None where every row weighs 1.
    classes : ndarray
        The classes, sorted.
    masses : ndarray of int64
        The summed weight of every class.
    """

    rows: NDArray[np.intp] | None
    labels: Labels
    weights: Weights | None
    classes: NDArray[Any]
    masses: Sums

    @classmethod
    def read(cls, y: Any, sample_weight: Any, n_rows: int) -> "TrainingSet":
        """Check what ``fit`` is given beside X, which has so many rows, and drop the rows without weight."""
        check_n_rows(n_rows)
        classes, labels = read_classes(read_labels(y, n_rows, "y"))
        if sample_weight is None:
            return cls(None, labels, None, classes, class_masses(labels, None, len(classes)))
        weights = integer_weights(read_weights(sample_weight, n_rows, "sample_weight"))
        masses = class_masses(labels, weights, len(classes))
        check_masses(masses, classes)
        kept = np.flatnonzero(weights)
        if len(kept) == n_rows:
            return cls(None, labels, weights, classes, masses)
        return cls(kept, labels[kept], weights[kept], classes, masses)

    def take(self, places: NDArray[np.intp]) -> "TrainingSet":
        """Some of the rows, by their place among these; every class must keep one."""
        rows = places if self.rows is None else self.rows[places]
        labels = self.labels[places]
        weights = None if self.weights is None else self.weights[places]
        return TrainingSet(rows, labels, weights, self.classes, class_masses(labels, weights, len(self.classes)))


@dataclass(frozen=True)
class ValidationSet:
    """Rows to validate on: indices into the classes of training, and integer weights, as in `TrainingSet`."""

    labels: Labels
    weights: Weights | None

    @classmethod
    def read(cls, y: Any, sample_weight: Any, n_rows: int, classes: NDArray[Any]) -> "ValidationSet":
        """Check what ``fit`` is given beside X_val, which has so many rows."""
        seen, places = read_distinct(read_labels(y, n_rows, "y_val"), "y_val")
        unknown = [label for label in seen.tolist() if label not in set(classes.tolist())]
        if unknown:
            raise ValueError(
                f"y_val holds the class(es) {unknown}, but the classes of y are {classes.tolist()}; validate on "
                "classes that are trained on."
            )
        labels = np.searchsorted(classes, seen)[places].astype(LABEL)
        if sample_weight is None:
            return cls(labels, None)
        given = read_weights(sample_weight, n_rows, "sample_weight_val")
        weights = integer_weights(given)
        lost = np.setdiff1d(labels[given > 0], labels[weights > 0])
        if len(lost) > 0:
            raise ValueError(
                f"sample_weight_val gives next to no weight to the class(es) {classes[lost].tolist()} beside the "
                "others; raise these weights, or make them zero."
            )
        return cls(labels, weights)


def check_n_rows(n_rows: int) -> None:
    """Raise where there are more rows than can be added up exactly."""
    if n_rows > MAX_ROWS:
        raise ValueError(f"X has {n_rows} rows; at most {MAX_ROWS} are supported. Train on a sample of them.")


def check_masses(masses: Sums, classes: NDArray[Any]) -> None:
    """Raise where a class has no weight."""
    if (masses == 0).any():
        raise ValueError(
            f"sample_weight gives no weight to the class(es) {classes[masses == 0].tolist()}, zero or next to it "
            "beside the others; every class needs a row that counts. Drop the rows of these classes, or raise their "
            "weights."
        )


def read_labels(y: Any, n_rows: int, name: str) -> NDArray[Any]:
    """Labels as an array, one per row."""
    if y is None:
        raise ValueError(
            f"fit requires y to be passed, but the target y is None. Give the class of every row as {name}."
        )
    try:
        labels = check_array(without_masks(y, name), ensure_2d=False, dtype=None, input_name=name, ensure_min_samples=0)
        labels = column_or_1d(labels, warn=True)
    except TypeError as error:
        if "NA is ambiguous" not in str(error):
            raise
        raise ValueError(f"{name} holds pandas.NA; drop the rows without a label.") from error
    if len(labels) != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: {name.replace('y', 'X')} has {n_rows} rows, "
            f"{name} has {len(labels)}; give one label per row."
        )
    return np.asarray(labels)


def without_masks(y: Any, name: str) -> Any:
    """Labels of a nullable dtype of pandas as integers or booleans, which scikit-learn would turn into floats."""
    plain = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    if not isinstance(plain, np.dtype) or plain.kind not in "biu":
        return y
    if y.isna().any():
        raise ValueError(f"{name} holds pandas.NA; drop the rows without a label.")
    return y.to_numpy(dtype=plain)


def read_classes(y: NDArray[Any]) -> tuple[NDArray[Any], Labels]:
    """Sorted classes and the class index of every row."""
    classes, labels = read_distinct(y, "y")
    if len(classes) < 2:
        raise ValueError(
            f"y holds only one class, {classes.tolist()}; a classifier needs rows of at least two classes."
        )
    if len(classes) > MAX_CLASSES:
        raise ValueError(
            f"y holds {len(classes)} classes; at most {MAX_CLASSES} are supported. Is y a continuous target?"
        )
    return classes, labels.astype(LABEL)


def read_distinct(y: NDArray[Any], name: str) -> tuple[NDArray[Any], NDArray[np.integer[Any]]]:
    """Sorted distinct labels, and the place of every row's among them."""
    try:
        # Only floats may turn out to be no classes, and to find that out takes long.
        check_classification_targets(y if y.dtype.kind == "f" else y[:1])
        if y.dtype.kind in "iub" and len(y) > 0:
            return count_distinct(y)
        if y.dtype.kind == "O":
            return hash_distinct(y)
        return sort_distinct(y)
    except TypeError as error:
        raise ValueError(
            f"{name} cannot be used as labels: {error}. Give numbers, text or booleans, of one type and with none "
            "missing."
        ) from error


def sort_distinct(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.integer[Any]]]:
    """As `read_distinct`, for whatever can be sorted."""
    classes, places = np.unique(y, return_inverse=True)
    return classes, places


def count_distinct(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.integer[Any]]]:
    """As `read_distinct`, for integers: by counting them where they lie close together."""
    lowest, highest = int(y.min()), int(y.max())
    if highest - lowest >= COUNTABLE:
        return sort_distinct(y)
    shifted = y.astype(np.int64) - lowest if y.dtype.kind != "u" else (y - y.dtype.type(lowest)).astype(np.int64)
    seen = np.flatnonzero(np.bincount(shifted))
    narrow = LABEL if len(seen) <= MAX_CLASSES else np.int64
    place_of: NDArray[np.integer[Any]] = np.zeros(highest - lowest + 1, dtype=narrow)
    place_of[seen] = np.arange(len(seen))
    return np.array([lowest + place for place in seen.tolist()], dtype=y.dtype), place_of[shifted]


def hash_distinct(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.integer[Any]]]:
    """As `read_distinct`, for Python objects: only the distinct ones are sorted."""
    found: dict[Any, int] = {}
    numbers = np.fromiter((found.setdefault(label, len(found)) for label in y.tolist()), dtype=np.intp, count=len(y))
    distinct = np.empty(len(found), dtype=object)
    distinct[:] = list(found)
    classes, place_of = sort_distinct(distinct)
    return classes, place_of[numbers]


def read_weights(sample_weight: ArrayLike, n_rows: int, name: str) -> Floats:
    """Sample weights as float64: finite, none negative, not all zero."""
    weights = read_weights_of_part(sample_weight, n_rows, name)
    if not weights.any():
        raise no_weight_error(name)
    return weights


def no_weight_error(name: str) -> ValueError:
    """What to do where no row counts."""
    return ValueError(
        f"every sample weight is zero in {name}, so no row counts; give at least one row of every class a positive "
        "weight."
    )


def read_weights_of_part(sample_weight: ArrayLike, n_rows: int, name: str) -> Floats:
    """Sample weights as float64: finite, none negative."""
    weights: Floats = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name=name)
    if weights.ndim != 1:
        raise ValueError(f"{name} has the shape {weights.shape}; give one weight per row, ({n_rows},).")
    if len(weights) != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: {name} has {len(weights)} entries for "
            f"{n_rows} rows; give one weight per row."
        )
    if (weights < 0).any():
        raise ValueError(f"{name} holds the negative weight {weights.min():g}; weights must be zero or more.")
    return weights
