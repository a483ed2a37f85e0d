"""Tables as they come. In: X in any container. Out: float matrices, a block of columns or rows at a time.

A container is read through its ``Source``, which can cut out a part of itself and turn it into floats. A ``RawTable``
is a source and a choice of its rows; with ``Categories`` it becomes a ``Table``. Nothing is copied before a block is
asked for, and then no more than the block. Whatever stands for "missing" becomes NaN.
"""

import sys
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import check_array, validate_data

from comboost._categories import Categories, Column, read_features
from comboost._sources import (
    EVERY_ROW,
    ArraySource,
    ArrowSource,
    Matrix,
    PandasSource,
    PolarsSource,
    Source,
    SparseSource,
)


class Table(Protocol):
    """A table of floats that is read in blocks."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""

    def matrix(self) -> Matrix | None:
        """The whole table, where that takes no copy."""

    def columns(self, first: int, last: int) -> Matrix:
        """Some features of all rows, (n_samples, last - first): a view, or a copy in Fortran order."""

    def rows(self, first: int, last: int) -> Matrix:
        """Some rows, (last - first, n_features): a view or a copy."""

    def take(self, rows: NDArray[np.intp]) -> "Table":
        """A table of these rows, in this order. Nothing is copied yet."""

    def label(self, feature: int) -> str:
        """What errors call a feature."""


@dataclass(frozen=True)
class RawTable:
    """A source and a choice of its rows (None: all), before categories are known."""

    source: Source
    chosen: NDArray[np.intp] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        n_samples, n_features = self.source.shape
        return n_samples if self.chosen is None else len(self.chosen), n_features

    @property
    def names(self) -> list[str] | None:
        """Names of the features, where they have names that are text."""
        return self.source.names

    def dtype_categories(self) -> list[int]:
        """Features whose dtype says that they hold categories."""
        return self.source.dtype_categories()

    def take(self, rows: NDArray[np.intp]) -> "RawTable":
        """A table of these rows, in this order. Nothing is copied yet."""
        return replace(self, chosen=rows if self.chosen is None else self.chosen[rows])

    def part(self, rows: slice, first: int, last: int) -> Source:
        """Some features of some of the chosen rows."""
        return self.source.cut(rows if self.chosen is None else self.chosen[rows], first, last)

    def column_values(self, feature: int) -> Column:
        """A column as its values and each row's place among them."""
        return self.part(EVERY_ROW, feature, feature + 1).column(0)

    def encode(self, categories: Categories) -> Table:
        """The table of floats that these categories make of it."""
        return EncodedTable(self, categories)


@dataclass(frozen=True)
class EncodedTable:
    """A ``Table``: a raw one, read with the categories of training."""

    raw: RawTable
    categories: Categories

    @property
    def shape(self) -> tuple[int, int]:
        return self.raw.shape

    def matrix(self) -> Matrix | None:
        return None if self.categories.values or self.raw.chosen is not None else self.raw.source.view()

    def columns(self, first: int, last: int) -> Matrix:
        return self._read(EVERY_ROW, first, last)

    def rows(self, first: int, last: int) -> Matrix:
        return self._read(slice(first, last), 0, self.shape[1])

    def take(self, rows: NDArray[np.intp]) -> Table:
        return replace(self, raw=self.raw.take(rows))

    def label(self, feature: int) -> str:
        return self.raw.source.label(feature)

    def _read(self, rows: slice, first: int, last: int) -> Matrix:
        part = self.raw.part(rows, first, last)
        coded = [f for f in self.categories.values if first <= f < last]
        if not coded and (view := part.view()) is not None:
            return view
        matrix = part.floats(skip=[f - first for f in coded])
        for f in coded:
            matrix[:, f - first] = self.categories.codes(f, part.column(f - first))
        return matrix


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
        True in ``fit``; False where X must have the features of training.
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


def frame_source(X: Any) -> Source | None:
    """The source that a data frame is; None where X is no such frame."""
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


def survey(matrix: Matrix) -> bool:
    """Whether a matrix holds NaN; an error where it holds infinite values."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(matrix.sum()):
            return False
        # Not by a mask of the values, which would take a byte for each. Large values alone may add up to infinity, too.
        extremes = np.fmin.reduce(matrix, axis=None), np.fmax.reduce(matrix, axis=None)
        has_nan = bool(np.isnan(matrix.max()))
    if np.isinf(extremes).any():
        raise ValueError(
            f"Input X contains infinity or a value too large for {matrix.dtype!r}. Replace such values by finite ones, "
            "or by NaN where they stand for missing ones."
        )
    return has_nan


def find_categorical(raw: RawTable, categorical_features: Any) -> list[int]:
    """Indices of the features that hold categories: by their dtype, none, or as listed, by index, mask or name."""
    if categorical_features is None:
        return []
    if isinstance(categorical_features, str) and categorical_features == "from_dtype":
        return raw.dtype_categories()
    return read_features(categorical_features, raw.names, raw.shape[1])
