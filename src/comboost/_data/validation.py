"""Validation of the input of ``fit`` and ``predict``: X to a table, y to class indices, weights to integers.

X stays in its container and is not copied. Samples without weight are dropped.
"""

import numbers
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import get_tags
from sklearn.utils.validation import check_array, validate_data

from comboost._data.categories import Categories, Column
from comboost._data.checks import InvalidColumns, as_rectangle, fill_mask, numbers_in_errors, shown
from comboost._data.frames import ArrowSource, FrameSource, PandasSource, PolarsSource
from comboost._data.labels import Candidates, read_classes, read_labels
from comboost._data.sample_weights import ClassWeights, ClassWeightSums, class_sums, find_scale, read_weights
from comboost._data.sparse import read_sparse
from comboost._data.tables import EVERY_ROW, ArraySource, RawTable, Source, SparseSource
from comboost._data.text import NUMBERS, ColumnContent
from comboost._types import MAX_ROWS, Codes, Labels, Weights

FRAMES: tuple[tuple[str, str, type[FrameSource]], ...] = (
    ("pandas", "DataFrame", PandasSource),
    ("polars", "DataFrame", PolarsSource),
    ("pyarrow", "Table", ArrowSource),
)
ANY_ARRAY: dict[str, Any] = {"dtype": None, "ensure_all_finite": False, "accept_sparse": ["csr", "csc"]}
BY_DTYPE = "from_dtype"
DECIDED_BY_VALUES = ("text", "objects")  # dtypes of columns that may hold numbers or categories


def read_table(estimator: Any, X: Any, *, reset: bool) -> RawTable:
    """Check the shape and the feature names of X as scikit-learn does; values are checked when they are read.

    Parameters
    ----------
    estimator : estimator
        Its ``n_features_in_`` and ``feature_names_in_`` are set, or compared with X.
    X : array-like, sparse matrix or data frame
        The table: at least one sample and one feature.
    reset : bool
        True in ``fit``; False if X must have the features of training.
    """
    if type(X) is not np.ndarray:  # arrays take the short path: predicting a single sample must be fast
        X = as_supported(X)
        frame = frame_source(X)
        if frame is not None:
            check_header(frame.header)
            validate_data(estimator, X, reset=reset, skip_check_array=True)
            # An array of this shape, which takes no memory, raises scikit-learn's own errors about empty tables.
            check_array(np.broadcast_to(0.0, X.shape), estimator=estimator, input_name="X", ensure_all_finite=False)
            return RawTable(frame)
    array = validate_data(estimator, X, reset=reset, **ANY_ARRAY)
    return RawTable(SparseSource(array) if issparse(array) else ArraySource(array))


def read_part(X: Any) -> RawTable:
    """Read a part of a table whose features were checked before; it may be empty."""
    X = as_supported(X)
    frame = frame_source(X)
    if frame is not None:
        return RawTable(frame)
    array = check_array(X, ensure_min_samples=0, **ANY_ARRAY)
    return RawTable(SparseSource(array) if issparse(array) else ArraySource(array))


def read_matrix(estimator: Any, X: Any, weak: Any, *, reset: bool) -> Any:
    """Convert X to a float matrix for a weak learner; sparse matrices and NaN pass if its tags allow them."""
    tags = get_tags(weak).input_tags
    X = read_sparse(fill_mask(X))
    frame = frame_source(X)
    if frame is not None:
        check_header(frame.header)
        for f in range(frame.shape[1]):
            if frame.kind(f) in ("other", "times"):
                raise ValueError(
                    f"X holds no numbers in {frame.label(f)}; a weak learner given as estimator accepts only numbers. "
                    "Convert the column, drop it, or leave estimator=None: trees handle categories."
                )
    # scikit-learn's check for finite values adds them all up, and values near 1e308 may add up to inf - inf.
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
    """Return the source of a data frame; None if X is not a supported data frame."""
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


def as_supported(X: Any) -> Any:
    """Convert containers that are close to a supported one, such as lists and record batches."""
    X = read_sparse(fill_mask(X))
    if isinstance(X, (list, tuple)):
        # NumPy would convert numbers and NaN to text if some values are text.
        array = as_rectangle(X, "X")
        return np.array(X, dtype=object) if array.dtype.kind in "SU" else array
    if isinstance(X, getattr(sys.modules.get("pyarrow"), "RecordBatch", ())):
        return sys.modules["pyarrow"].Table.from_batches([X])
    if isinstance(X, getattr(sys.modules.get("polars"), "LazyFrame", ())):
        raise ValueError("X is a LazyFrame, whose values are not computed yet; give X.collect().")
    return X


def fit_categories(
    raw: RawTable, categorical_features: Any, weights: Weights | None
) -> tuple[Categories, dict[int, Codes]]:
    """Find the categories of a table and code its samples, 0 for missing values; all invalid columns in one error."""
    text_allowed = accepts_text(categorical_features)
    non_numeric = raw.source.non_numeric()
    if not non_numeric and (text_allowed or categorical_features is None):
        return Categories(), {}
    known = find_categorical(raw, categorical_features)
    categories, codes, invalid = Categories(), {}, InvalidColumns()
    for f in sorted({*known, *non_numeric}):
        part = raw.part(EVERY_ROW, f, f + 1)
        with invalid:
            column = part.column(0) if f in known else find_text(part, weights, text_allowed=text_allowed)
            if column is not None:
                codes[f] = categories.learn(f, column, weights)
    invalid.raise_any()
    return categories, codes


def accepts_text(categorical_features: Any) -> bool:
    """Whether text features are categorical without being listed."""
    return isinstance(categorical_features, str) and categorical_features == BY_DTYPE


def find_categorical(raw: RawTable, categorical_features: Any) -> list[int]:
    """Indices of the features that are categorical by their dtype or because they are listed."""
    if categorical_features is None:
        return []
    source = raw.source
    if accepts_text(categorical_features):
        return [f for f in source.non_numeric() if source.kind(f) == "category"]
    return read_features(categorical_features, source.names, source.shape[1])


def find_undecided(source: Source, known: Iterable[int]) -> list[int]:
    """Features whose content depends on their values, known ones aside; raise if a feature cannot be used."""
    invalid, certain, undecided = InvalidColumns(), set(known), []
    for f in source.non_numeric():
        if f in certain:
            continue
        if source.kind(f) in DECIDED_BY_VALUES:
            undecided.append(f)
        elif source.kind(f) in ("nested", "other"):
            with invalid:
                source.numbers(f)
    invalid.raise_any()
    return undecided


def find_text(part: Source, weights: Weights | None, *, text_allowed: bool) -> Column | None:
    """Return the only column of a source if its values are categories; None if they are numbers or times."""
    kind = part.kind(0)
    if kind in DECIDED_BY_VALUES:
        content, column = content_of_column(part, weights)
        is_category = content.is_category(text_allowed=text_allowed, if_empty=text_allowed and kind == "text")
        return column if is_category else None
    if kind != "times":
        part.numbers(0)  # raises
    return None


def content_of_column(part: Source, weights: Weights | None) -> tuple[ColumnContent, Column | None]:
    """Content of the only column of a source, and the column itself if its distinct values had to be found."""
    kind, label = part.kind(0), part.label(0)
    if kind == "numbers":
        values = part.numbers(0)
        present = values[~np.isnan(values)]
        return ColumnContent(label, len(values), {NUMBERS: present[0].item()} if len(present) else {}), None
    if kind == "objects":
        return ColumnContent.of_objects(label, part.objects(0), weights, lambda: part.column(0))
    column = part.column(0)
    return ColumnContent.of_column(column, weights), column


def read_features(given: Any, names: list[str] | None, n_features: int) -> list[int]:
    """Indices of the features that a list of indices, a mask or a list of names selects, in order."""
    is_list = np.iterable(given) and not isinstance(given, (str, bytes))
    items = list(given) if is_list else []
    if is_list and not items:
        return []
    if is_list and all(isinstance(item, (bool, np.bool_)) for item in items):
        if len(items) != n_features:
            raise ValueError(
                f"categorical_features is a mask of length {len(items)}, but X has {n_features} features; give a "
                "boolean for every feature."
            )
        return np.flatnonzero(items).tolist()
    if is_list and all(isinstance(item, numbers.Integral) and not isinstance(item, bool) for item in items):
        items = indices = [int(item) for item in items]
        outside = sorted({index for index in indices if not 0 <= index < n_features})
        if outside:
            raise ValueError(
                f"categorical_features holds {outside}, but X has {n_features} features; give indices from 0 to "
                f"{n_features - 1}."
            )
    elif is_list and all(isinstance(item, str) for item in items):
        if names is None:
            raise ValueError(
                f"categorical_features gives names, {items}, but the columns of X have no names that are text; give "
                "indices or a mask, or a data frame with column names."
            )
        unknown = [name for name in items if name not in names]
        if unknown:
            raise ValueError(
                f"categorical_features holds {unknown}, but X has no such columns; its columns are {names}."
            )
        indices = [names.index(name) for name in items]
    else:
        raise ValueError(
            f'categorical_features={shown(given)}; give "from_dtype", None, or a list: indices of columns, their '
            "names, or a boolean for every column."
        )
    repeated = sorted(item for item, count in Counter(items).items() if count > 1)
    if repeated:  # one of them may be a slip for another feature
        raise ValueError(f"categorical_features holds {repeated} more than once; give every feature once.")
    return sorted(indices)


@dataclass(frozen=True)
class TrainingSet:
    """Samples of positive weight."""

    rows: NDArray[np.intp] | None  # their indices in X, ascending; None if these are all samples
    labels: Labels  # the class index of every sample, among the classes with weight
    weights: Weights | None  # integer weights; None if every sample weighs 1
    candidates: Candidates  # the classes of y, and which of them have weight
    weight_sums: ClassWeightSums  # the summed weight of every class with weight
    by_class: bool = False  # whether weights are equal within every class and differ between classes

    @classmethod
    def read(cls, y: Any, sample_weight: Any, n_samples: int) -> "TrainingSet":
        """Check y and the weights for an X of ``n_samples`` samples, and drop samples without weight."""
        if n_samples > MAX_ROWS:
            raise n_samples_error(n_samples)
        classes, labels = read_classes(read_labels(y, n_samples, "y"))
        n_classes = len(classes)
        if sample_weight is None:
            return cls(None, labels, None, Candidates(classes), ClassWeightSums(class_sums(labels, None, n_classes)))
        given = read_weights(sample_weight, n_samples, "sample_weight")
        class_weights = ClassWeights.of(given, labels, n_classes)
        scale = find_scale(class_weights.exponents)
        weights = scale.apply(given, labels)
        sums = class_sums(labels, weights, n_classes)
        class_weights.check_none_lost(sums, classes, "sample_weight")
        candidates = Candidates.of(classes, sums)
        weight_sums = ClassWeightSums(candidates.select(sums), scale.of_classes(candidates.indices))
        kept = np.flatnonzero(weights)
        if len(kept) == n_samples:
            return cls(None, labels, weights, candidates, weight_sums, class_weights.by_class)
        labels = candidates.to_trained(labels[kept])
        return cls(kept, labels, weights[kept], candidates, weight_sums, class_weights.by_class)

    def take(self, indices: NDArray[np.intp]) -> "TrainingSet":
        """Select samples by their index among these."""
        rows = indices if self.rows is None else self.rows[indices]
        labels = self.labels[indices]
        weights = None if self.weights is None else self.weights[indices]
        weight_sums = replace(self.weight_sums, sums=class_sums(labels, weights, len(self.candidates.classes)))
        return replace(self, rows=rows, labels=labels, weights=weights, weight_sums=weight_sums)


def n_samples_error(n_samples: int) -> ValueError:
    """Error about more samples than exact sums allow."""
    return ValueError(f"X has {n_samples} rows; at most {MAX_ROWS} are supported. Train on a sample of them.")
