"""Tables of floats, read from arrays, sparse matrices and data frames a block of samples or features at a time.

A container is read through its ``Source``, which can select a part of itself and convert it to floats. A ``RawTable``
is a source and a selection of its samples; with ``Categories`` it becomes a ``Table``. Only the blocks that are read
are copied. Every missing-value marker becomes NaN.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from comboost._cached import cached_property
from comboost._data.categories import Categories, Column
from comboost._data.checks import InvalidColumns
from comboost._data.dates import seconds_of_array
from comboost._data.text import dtype_error, object_floats
from comboost._types import Floats

Matrix = NDArray[np.floating[Any]]
RowChoice = slice | NDArray[np.intp]
EVERY_ROW = slice(None)
KIND_OF_ARRAY = dict.fromkeys("biuf", "numbers") | dict.fromkeys("mM", "times") | dict.fromkeys("OUST", "objects")
DENSE_FRACTION = 10  # a table with less than one entry in 10 values is faster to read sparse, in half the memory


@dataclass(frozen=True)
class Source(ABC):
    """A container of columns; ``offset`` is the index of its first column in the table it was cut from."""

    data: Any
    offset: int = 0

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples and features."""
        n_samples, n_features = self.data.shape
        return n_samples, n_features

    @property
    def names(self) -> list[str] | None:
        """Column names; None unless all of them are strings."""
        return None

    def label(self, f: int) -> str:
        """Name of a column in error messages."""
        return f"column {f + self.offset}" if self.names is None else f"column {self.names[f]!r}"

    def non_numeric(self) -> list[int]:
        """Columns whose dtype is not numeric."""
        return [f for f in range(self.shape[1]) if self.kind(f) != "numbers"]

    def cut(self, rows: RowChoice, first: int, last: int) -> Self:
        """Select some columns of some rows: a view, or a copy of this part only."""
        return replace(self, data=self._cut(rows, first, last), offset=self.offset + first)

    def view(self) -> Matrix | None:
        """All values as one float matrix that the core can read; None if this needs a copy."""
        return None

    def floats(self, skip: Collection[int] = ()) -> Matrix:
        """Convert to a new matrix in Fortran order. The columns to skip may hold anything."""
        matrix = np.empty(self.shape, order="F")
        invalid = InvalidColumns()
        for f in range(self.shape[1]):
            if f not in skip:
                with invalid:
                    matrix[:, f] = self.numbers(f)
        invalid.raise_any()
        return matrix

    @property
    def n_bytes(self) -> int:
        """Approximate size in bytes."""
        n_samples, n_features = self.shape
        return 8 * n_samples * n_features

    def copy_bytes(self) -> int:
        """Bytes of the copy that is made, and kept, before columns can be selected."""
        return 0

    @property
    def n_entries(self) -> int | None:
        """Number of stored entries of a table that is sparse enough to be read by entry; otherwise None."""
        return None

    @abstractmethod
    def _cut(self, rows: RowChoice, first: int, last: int) -> Any: ...

    @abstractmethod
    def kind(self, f: int) -> str:
        """Content of a column by its dtype.

        This is "numbers", "times", "category", "text", "objects" (which may be anything), "nested" (lists and the
        like) or "other".
        """

    @abstractmethod
    def objects(self, f: int) -> NDArray[Any]:
        """A column of objects, (n_samples,)."""

    @abstractmethod
    def column(self, f: int) -> Column:
        """A column as its distinct values and their index in every sample."""

    @abstractmethod
    def numbers(self, f: int) -> Matrix:
        """A column as floats, (n_samples,)."""


class ArraySource(Source):
    """A 2-D NumPy array."""

    @property
    def n_bytes(self) -> int:
        return int(self.data.nbytes)

    def _cut(self, rows: RowChoice, first: int, last: int) -> Any:
        block = self.data[:, first:last]
        return block[rows] if isinstance(rows, slice) else np.asfortranarray(block[rows])

    def view(self) -> Matrix | None:
        array: NDArray[Any] = self.data
        if array.dtype not in (np.float64, np.float32) or not array.flags.aligned:
            return None
        is_readable = array.strides[0] % array.itemsize == array.strides[1] % array.itemsize == 0
        return array if is_readable else None

    def floats(self, skip: Collection[int] = ()) -> Matrix:
        return numeric_floats(self.data) if self.data.dtype.kind in "biuf" else super().floats(skip)

    def non_numeric(self) -> list[int]:
        return [] if self.data.dtype.kind in "biuf" else list(range(self.shape[1]))

    def kind(self, f: int) -> str:
        return KIND_OF_ARRAY.get(self.data.dtype.kind, "other")

    def objects(self, f: int) -> NDArray[Any]:
        return np.asarray(self.data[:, f])

    def column(self, f: int) -> Column:
        return Column.of_array(self.label(f), self.data[:, f])

    def numbers(self, f: int) -> Matrix:
        return array_floats(self.data[:, f], self.label(f))


class SparseSource(Source):
    """A SciPy matrix or array, CSR or CSC. The other of the two formats is computed once, when it is needed."""

    @cached_property
    def by_row(self) -> Any:
        """CSR format without duplicate entries."""
        return sum_duplicates(self.data.tocsr())

    @cached_property
    def by_column(self) -> Any:
        """CSC format without duplicate entries."""
        return sum_duplicates(self.data.tocsc())

    @property
    def n_bytes(self) -> int:
        return int(self.data.data.nbytes + self.data.indices.nbytes)

    def copy_bytes(self) -> int:
        return 0 if self.data.format == "csc" else self.n_bytes

    @property
    def n_entries(self) -> int | None:
        n_samples, n_features = self.shape
        n_entries = int(self.data.nnz)
        return n_entries if DENSE_FRACTION * n_entries < n_samples * n_features else None

    def _cut(self, rows: RowChoice, first: int, last: int) -> Any:
        is_whole = last - first == self.shape[1]
        if rows is EVERY_ROW:
            return self.by_column if is_whole else self.by_column[:, first:last]
        return self.by_row[rows] if is_whole else self.by_column[:, first:last][rows]

    def floats(self, skip: Collection[int] = ()) -> Matrix:
        with np.errstate(invalid="ignore"):
            matrix: Floats = self.data.astype(np.float64).toarray(order="F")
        return matrix

    def non_numeric(self) -> list[int]:
        return []

    def kind(self, f: int) -> str:
        return "numbers"

    def objects(self, f: int) -> NDArray[Any]:
        return self.numbers(f)

    def column(self, f: int) -> Column:
        return Column.of_array(self.label(f), self.by_column[:, [f]].toarray()[:, 0])

    def numbers(self, f: int) -> Matrix:
        return self.cut(EVERY_ROW, f, f + 1).floats()[:, 0]


def sum_duplicates(matrix: Any) -> Any:
    """Add up entries of a sparse matrix with the same row and column, in the order in which they are stored."""
    if matrix.has_canonical_format:
        return matrix
    # Converting to the other format and back sorts the entries stably.
    matrix = matrix.tocsc().tocsr() if matrix.format == "csr" else matrix.tocsr().tocsc()
    matrix.sum_duplicates()
    return matrix


class Entries(NamedTuple):
    """The entries of a sparse table, column after column."""

    starts: NDArray[np.int64]  # index of the first entry of every column, and the number of entries
    rows: NDArray[np.uint32]  # the sample of every entry
    values: Floats  # the value of every entry; of a category, its code
    n_samples: int
    zeros: Floats  # the value, or the code, of zeros in every column


def numeric_floats(array: NDArray[Any]) -> Matrix:
    """Copy numbers to floats."""
    # Overflow is reported later, with the infinite values; "invalid" is a signalling NaN.
    with np.errstate(over="ignore", invalid="ignore"):
        return array.astype(np.float32 if array.dtype.kind == "f" and array.itemsize == 2 else np.float64, order="F")


def array_floats(array: NDArray[Any], label: str) -> Matrix:
    """Convert a 1-D array of numbers, times, objects or numeric text to floats."""
    if array.dtype.kind in "biuf":
        return numeric_floats(array)
    if array.dtype.kind in "mM":
        with label_in_errors(label):
            return seconds_of_array(array)
    if array.dtype.kind not in "OUST":
        raise dtype_error(label, array.dtype)
    return object_floats(array, label)


@contextmanager
def label_in_errors(label: str) -> Iterator[None]:
    """Name the column in errors about time units."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{label} of X cannot be read as numbers: {error}") from error


@dataclass(frozen=True)
class RawTable:
    """A source and the indices of the selected samples (None: all), before the categories are known."""

    source: Source
    chosen: NDArray[np.intp] | None = None
    shape: tuple[int, int] = field(init=False, compare=False)  # number of samples and features

    def __post_init__(self) -> None:
        n_samples, n_features = self.source.shape
        shape = n_samples if self.chosen is None else len(self.chosen), n_features
        object.__setattr__(self, "shape", shape)

    def take(self, rows: NDArray[np.intp]) -> "RawTable":
        """Select samples by index, without copying them yet."""
        return replace(self, chosen=rows if self.chosen is None else self.chosen[rows])

    def part(self, rows: slice, first: int, last: int) -> Source:
        """Some features of some of the selected samples."""
        return self.source.cut(rows if self.chosen is None else self.chosen[rows], first, last)

    def to_container(self) -> Any:
        """Convert to the type of container that the table was given in."""
        return self.part(EVERY_ROW, 0, self.shape[1]).data

    def column_values(self, feature: int) -> Column:
        """A column as its distinct values and their index in every sample."""
        return self.part(EVERY_ROW, feature, feature + 1).column(0)

    def encode(self, categories: Categories) -> "Table":
        """Combine with categories to a table of floats."""
        return Table(self, categories)


@dataclass(frozen=True)
class Table:
    """A table of floats that is read in blocks: a raw table and the categories of training."""

    raw: RawTable
    categories: Categories
    features: NDArray[np.integer[Any]] | None = None  # their indices in training, if not all are here
    shape: tuple[int, int] = field(init=False, compare=False)  # number of samples and features
    matrix: Matrix | None = field(init=False, compare=False)  # the whole table, if this takes no copy

    def __post_init__(self) -> None:
        is_whole = not self.categories.values and self.raw.chosen is None
        object.__setattr__(self, "shape", self.raw.shape)
        object.__setattr__(self, "matrix", self.raw.source.view() if is_whole else None)

    def columns(self, first: int, last: int) -> Matrix:
        """Some features of all samples, (n_samples, last - first): a view, or a copy in Fortran order."""
        return self._read(EVERY_ROW, first, last) if self.matrix is None else self.matrix[:, first:last]

    def rows(self, first: int, last: int) -> Matrix:
        """Some samples, (last - first, n_features): a view or a copy."""
        return self._read(slice(first, last), 0, self.shape[1]) if self.matrix is None else self.matrix[first:last]

    def take(self, rows: NDArray[np.intp]) -> "Table":
        """Select samples by index, without copying them yet."""
        return replace(self, raw=self.raw.take(rows))

    def label(self, feature: int) -> str:
        """Name of a feature in error messages."""
        return self.raw.source.label(feature)

    def narrowed(self, features: NDArray[np.integer[Any]]) -> "Table":
        """Select features of a sparse table; their names and categories stay those of training."""
        source = self.raw.source
        assert isinstance(source, SparseSource)
        matrix = source.by_column if source.data.format == "csc" else source.by_row
        return Table(replace(self.raw, source=SparseSource(matrix[:, features])), self.categories, features)

    def entries(self) -> Entries:
        """Entries of a sparse table."""
        part = self.raw.part(EVERY_ROW, 0, self.shape[1])
        assert isinstance(part, SparseSource)
        matrix, zero = part.by_column, np.zeros(1, dtype=part.data.dtype)
        with np.errstate(invalid="ignore"):
            values, zeros = matrix.data.astype(np.float64), np.zeros(self.shape[1])
        for f in self.categories.values:
            of_feature = slice(*matrix.indptr[f : f + 2])
            label = self.label(f)
            values[of_feature] = self.categories.codes(f, Column.of_array(label, matrix.data[of_feature]))
            zeros[f] = self.categories.codes(f, Column.of_array(label, zero))[0]
        return Entries(matrix.indptr.astype(np.int64), matrix.indices.astype(np.uint32), values, self.shape[0], zeros)

    def _read(self, rows: slice, first: int, last: int) -> Matrix:
        part = self.raw.part(rows, first, last)
        known = self.categories.values
        features = range(first, last) if self.features is None else self.features[first:last].tolist()
        coded = {idx: f for idx, f in enumerate(features) if f in known} if known else {}
        if not coded and (view := part.view()) is not None:
            return view
        matrix = part.floats(skip=list(coded))
        invalid = InvalidColumns()
        for idx, f in coded.items():
            with invalid:
                matrix[:, idx] = self.categories.codes(f, part.column(idx))
        invalid.raise_any()
        return matrix


def has_nan(matrix: Matrix) -> bool:
    """Return whether a matrix contains NaN; raise if it contains infinite values."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(matrix.sum()):
            return False
        # A mask of the values would take a byte for each. Large finite values may also add up to infinity.
        extremes = np.fmin.reduce(matrix, axis=None), np.fmax.reduce(matrix, axis=None)
        contains_nan = bool(np.isnan(matrix.max()))
    if np.isinf(extremes).any():
        raise ValueError(
            f"Input X contains infinity or a value too large for {matrix.dtype!r}. Replace such values by finite ones, "
            "or by NaN where they stand for missing values."
        )
    return contains_nan
