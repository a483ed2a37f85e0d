"""What ``fit`` and ``predict`` are given, checked. In: X, y, weights. Out: a table, class indices, integer weights.

X is kept as it came, in whatever container; rows without weight are dropped.
"""

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import column_or_1d, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, validate_data

from comboost._dtypes import LABEL, MAX_CLASSES, MAX_ROWS, Labels, Sums, Weights
from comboost._table.categories import read_features
from comboost._table.frames import ArrowSource, PandasSource, PolarsSource
from comboost._table.table import ArraySource, RawTable, Source, SparseSource
from comboost._table.weights import count_exponents, read_weights, scale_weights, weight_shift

COUNTABLE = 2**20  # integer labels in a range of no more than this are counted instead of sorted

FRAMES: tuple[tuple[str, str, type[Source]], ...] = (
    ("pandas", "DataFrame", PandasSource),
    ("polars", "DataFrame", PolarsSource),
    ("pyarrow", "Table", ArrowSource),
)


ANY_ARRAY: dict[str, Any] = {"dtype": None, "ensure_all_finite": False, "accept_sparse": ["csr", "csc"]}


def read_table(estimator: Any, X: Any, *, reset: bool) -> RawTable:
    """Check X as scikit-learn does, and keep it as it came: its values are not looked at.

    Parameters
    ----------
    estimator : estimator
        Gets the names and the number of the features, or has them checked.
    X : array-like, sparse matrix or data frame
        The table: at least one row and one feature.
    reset : bool
        True in ``fit``; False if X must have the features of training.
    """
    X = as_frame(X)
    frame = frame_source(X)
    if frame is not None:
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        # scikit-learn's own errors about empty tables, by way of an array of this shape that takes no memory.
        check_array(np.broadcast_to(0.0, X.shape), estimator=estimator, input_name="X", ensure_all_finite=False)
        return RawTable(frame)
    return RawTable(array_source(validate_data(estimator, X, reset=reset, **ANY_ARRAY)))


def read_part(X: Any) -> RawTable:
    """A part of a table whose names and features were checked before; it may have no rows."""
    X = as_frame(X)
    return RawTable(frame_source(X) or array_source(check_array(X, ensure_min_samples=0, **ANY_ARRAY)))


def read_matrix(estimator: Any, X: Any, weak: Any, *, reset: bool) -> Any:
    """X as a weak learner takes it: a matrix of floats, sparse or with NaN if it says that it can do with them."""
    tags = get_tags(weak).input_tags
    # The check for finite values adds them all up, and values near 1e308 may add up to inf - inf.
    with np.errstate(invalid="ignore"):
        return validate_data(
            estimator,
            X,
            reset=reset,
            dtype=[np.float64, np.float32],
            accept_sparse=["csr"] if tags.sparse else False,
            ensure_all_finite="allow-nan" if tags.allow_nan else True,
        )


def frame_source(X: Any) -> Source | None:
    """The source that a data frame is; None if X is no such frame."""
    for package, name, source in FRAMES:
        frame_type = getattr(sys.modules.get(package), name, None)
        if frame_type is not None and isinstance(X, frame_type):
            return source(X)
    return None


def array_source(array: Any) -> Source:
    """The source that a checked array is."""
    return SparseSource(array) if issparse(array) else ArraySource(array)


def as_frame(X: Any) -> Any:
    """Containers that are next to one that is read: as that one, or with a word on how to get it."""
    if isinstance(X, np.ma.MaskedArray) and X.dtype.kind in "biuf":
        return np.ma.filled(X.astype(np.float64), np.nan)
    if isinstance(X, getattr(sys.modules.get("pyarrow"), "RecordBatch", ())):
        return sys.modules["pyarrow"].Table.from_batches([X])
    if isinstance(X, getattr(sys.modules.get("polars"), "LazyFrame", ())):
        raise ValueError("X is a LazyFrame, whose values are not there yet; give X.collect().")
    return X


def find_categorical(raw: RawTable, categorical_features: Any) -> list[int]:
    """Indices of the features that hold categories: by their dtype, none, or as listed, by index, mask or name."""
    if categorical_features is None:
        return []
    if isinstance(categorical_features, str) and categorical_features == "from_dtype":
        return raw.source.dtype_categories()
    return read_features(categorical_features, raw.names, raw.shape[1])


@dataclass(frozen=True)
class TrainingSet:
    """Rows of positive weight.

    Attributes
    ----------
    rows : ndarray of intp or None
        Which of the rows given these are, ascending; None if they are all.
    labels : ndarray of uint16
        The class index of every row.
    weights : ndarray of uint32 or None
        Integer weights; None if every row weighs 1.
    classes : ndarray
        The classes, sorted.
    masses : ndarray of int64
        The summed weight of every class.
    weight_shift : int
        k: a row of sample weight 1 weighs 2^k.
    """

    rows: NDArray[np.intp] | None
    labels: Labels
    weights: Weights | None
    classes: NDArray[Any]
    masses: Sums
    weight_shift: int = 0

    @classmethod
    def read(cls, y: Any, sample_weight: Any, n_rows: int) -> "TrainingSet":
        """Check what ``fit`` is given beside X, which has ``n_rows`` rows, and drop the rows without weight."""
        check_n_rows(n_rows)
        classes, labels = read_classes(read_labels(y, n_rows, "y"))
        if sample_weight is None:
            return cls(None, labels, None, classes, class_masses(labels, None, len(classes)))
        given = read_weights(sample_weight, n_rows, "sample_weight")
        shift = weight_shift(count_exponents(given))
        weights = scale_weights(given, shift)
        masses = class_masses(labels, weights, len(classes))
        check_masses(masses, classes)
        kept = np.flatnonzero(weights)
        if len(kept) == n_rows:
            return cls(None, labels, weights, classes, masses, shift)
        return cls(kept, labels[kept], weights[kept], classes, masses, shift)

    def take(self, places: NDArray[np.intp]) -> "TrainingSet":
        """Some of the rows, by their place among these."""
        rows = places if self.rows is None else self.rows[places]
        labels = self.labels[places]
        weights = None if self.weights is None else self.weights[places]
        masses = class_masses(labels, weights, len(self.classes))
        return TrainingSet(rows, labels, weights, self.classes, masses, self.weight_shift)


def class_masses(labels: NDArray[np.integer[Any]], weights: Weights | None, n_classes: int) -> Sums:
    """M_l = Σ n_i over class l."""
    if weights is None:
        return np.bincount(labels, minlength=n_classes).astype(np.int64)
    masses = np.zeros(n_classes, dtype=np.int64)
    np.add.at(masses, labels, weights)
    return masses


def check_n_rows(n_rows: int) -> None:
    """Raise if there are more rows than can be added up exactly."""
    if n_rows > MAX_ROWS:
        raise ValueError(f"X has {n_rows} rows; at most {MAX_ROWS} are supported. Train on a sample of them.")


def check_masses(masses: Sums, classes: NDArray[Any]) -> None:
    """Raise if a class has no weight."""
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
    """As `read_distinct`, for integers: by counting them if they lie close together."""
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
