"""What ``fit`` and ``predict`` are given, checked. In: X, y, weights. Out: a table, class indices, integer weights.

X is kept as it came, in whatever container; rows without weight are dropped.
"""

import sys
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import get_tags
from sklearn.utils.validation import check_array, validate_data

from comboost._data.candidates import Candidates
from comboost._data.floats import as_rectangle, numbers_in_errors
from comboost._data.frames import ArrowSource, FrameSource, PandasSource, PolarsSource
from comboost._data.labels import read_classes, read_labels
from comboost._data.masks import without_mask
from comboost._data.sample_weights import ClassWeights, ClassWeightSums, class_sums, find_scale, read_weights
from comboost._data.tables import ArraySource, RawTable, Source, SparseSource
from comboost._types import MAX_ROWS, Labels, Weights

FRAMES: tuple[tuple[str, str, type[FrameSource]], ...] = (
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
        check_header(frame.header)
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
    X = without_mask(X)
    frame = frame_source(X)
    if frame is not None:
        check_header(frame.header)
        check_numbers(frame)
    # The check for finite values adds them all up, and values near 1e308 may add up to inf - inf.
    with np.errstate(invalid="ignore"), numbers_in_errors(X, "X", types_too=True):
        return validate_data(
            estimator,
            X,
            reset=reset,
            dtype=[np.float64, np.float32],
            accept_sparse=["csr"] if tags.sparse else False,
            ensure_all_finite="allow-nan" if tags.allow_nan else True,
        )


def frame_source(X: Any) -> FrameSource | None:
    """The source that a data frame is; None if X is no such frame."""
    for package, name, source in FRAMES:
        frame_type = getattr(sys.modules.get(package), name, None)
        if frame_type is not None and isinstance(X, frame_type):
            return source(X)
    return None


def check_header(names: list[Any]) -> None:
    """Raise if columns share a name."""
    shared = [name for name, count in Counter(names).items() if count > 1]
    if shared:
        raise ValueError(
            f"X has several columns of the name(s) {', '.join(map(repr, shared))}; give every column a name of its own."
        )


def check_numbers(frame: FrameSource) -> None:
    """Raise if a column holds what other learners do not take for numbers, such as dates."""
    for f in range(frame.shape[1]):
        if frame.kind(f) in ("other", "times"):
            raise ValueError(
                f"X holds no numbers in {frame.label(f)}; a weak learner that is given as estimator takes numbers "
                "alone. Convert the column, drop it, or leave estimator=None: trees take categories."
            )


def array_source(array: Any) -> Source:
    """The source that a checked array is."""
    return SparseSource(array) if issparse(array) else ArraySource(array)


def as_frame(X: Any) -> Any:
    """Containers that are next to one that is read: as that one, or with a word on how to get it."""
    if type(X) is np.ndarray:  # the common case, and a single row is to be predicted in no time
        return X
    X = unlisted(without_mask(X))
    if isinstance(X, getattr(sys.modules.get("pyarrow"), "RecordBatch", ())):
        return sys.modules["pyarrow"].Table.from_batches([X])
    if isinstance(X, getattr(sys.modules.get("polars"), "LazyFrame", ())):
        raise ValueError("X is a LazyFrame, whose values are not there yet; give X.collect().")
    return X


def unlisted(X: Any) -> Any:
    """A list of rows as an array. NumPy would make text of all its values if some are, of NaN and of numbers, too."""
    if not isinstance(X, (list, tuple)):
        return X
    array = as_rectangle(X, "X")
    return np.array(X, dtype=object) if array.dtype.kind in "SU" else array


@dataclass(frozen=True)
class TrainingSet:
    """Rows of positive weight.

    Attributes
    ----------
    rows : ndarray of intp or None
        Which of the rows given these are, ascending; None if they are all.
    labels : ndarray of uint16
        The class index of every row, counted among the candidates.
    weights : ndarray of uint32 or None
        Integer weights; None if every row weighs 1.
    candidates : Candidates
        The classes of y, and which of them have weight.
    weight_sums : ClassWeightSums
        The summed weight of every candidate.
    by_class : bool
        Whether rows of a class all have the same weight, and those of another class another one.
    """

    rows: NDArray[np.intp] | None
    labels: Labels
    weights: Weights | None
    candidates: Candidates
    weight_sums: ClassWeightSums
    by_class: bool = False

    @classmethod
    def read(cls, y: Any, sample_weight: Any, n_samples: int) -> "TrainingSet":
        """Check what ``fit`` is given beside X, which has ``n_samples`` rows, and drop the rows without weight."""
        check_n_rows(n_samples)
        classes, labels = read_classes(read_labels(y, n_samples, "y"))
        n_classes = len(classes)
        if sample_weight is None:
            return cls(None, labels, None, Candidates(classes), ClassWeightSums(class_sums(labels, None, n_classes)))
        given = read_weights(sample_weight, n_samples, "sample_weight")
        found = ClassWeights.of(given, labels, n_classes)
        scale = find_scale(found.exponents)
        weights = scale.apply(given, labels)
        sums = class_sums(labels, weights, n_classes)
        found.check_none_lost(sums, classes, "sample_weight")
        candidates = Candidates.of(classes, sums)
        weight_sums = ClassWeightSums(candidates.chosen(sums), scale.of_classes(candidates.places))
        kept = np.flatnonzero(weights)
        if len(kept) == n_samples:
            return cls(None, labels, weights, candidates, weight_sums, found.by_class)
        return cls(kept, candidates.numbered(labels[kept]), weights[kept], candidates, weight_sums, found.by_class)

    @property
    def classes(self) -> NDArray[Any]:
        """The candidates."""
        return self.candidates.classes

    def take(self, places: NDArray[np.intp]) -> "TrainingSet":
        """Some of the rows, by their place among these."""
        rows = places if self.rows is None else self.rows[places]
        labels = self.labels[places]
        weights = None if self.weights is None else self.weights[places]
        weight_sums = replace(self.weight_sums, sums=class_sums(labels, weights, len(self.classes)))
        return replace(self, rows=rows, labels=labels, weights=weights, weight_sums=weight_sums)


def check_n_rows(n_samples: int) -> None:
    """Raise if there are more rows than can be added up exactly."""
    if n_samples > MAX_ROWS:
        raise ValueError(f"X has {n_samples} rows; at most {MAX_ROWS} are supported. Train on a sample of them.")
