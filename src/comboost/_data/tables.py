"""Tables of floats. In: a container of columns. Out: float matrices, a block of columns or rows at a time.

A container is read through its ``Source``, which can cut out a part of itself and turn it into floats. A ``RawTable``
is a source and a choice of its rows; with ``Categories`` it becomes a ``Table``. Nothing is copied before a block is
asked for, and then no more than the block. Whatever stands for "missing" becomes NaN.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from comboost._cached import cached_property
from comboost._data.categories import Categories, Column
from comboost._data.dates import seconds_of_array
from comboost._data.floats import Offences
from comboost._data.text import dtype_error, object_floats
from comboost._types import Floats

Matrix = NDArray[np.floating[Any]]
RowChoice = slice | NDArray[np.intp]
EVERY_ROW = slice(None)
KIND_OF_ARRAY = dict.fromkeys("biuf", "numbers") | dict.fromkeys("mM", "times") | dict.fromkeys("OUST", "objects")
DENSE_SHARE = 10  # one value in so many; with fewer entries it is quicker to look at these, and takes half the memory


@dataclass(frozen=True)
class Source(ABC):
    """A container of columns; ``offset`` says how many were cut off on the left."""

    data: Any
    offset: int = 0

    @cached_property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        n_samples, n_features = self.data.shape
        return n_samples, n_features

    @cached_property
    def names(self) -> list[str] | None:
        """Names of the columns, if they have names that are text."""
        return None

    def label(self, f: int) -> str:
        """What errors call a column."""
        return f"column {f + self.offset}" if self.names is None else f"column {self.names[f]!r}"

    def odd_columns(self) -> list[int]:
        """Columns whose dtype is not one of numbers."""
        return [f for f in range(self.shape[1]) if self.kind(f) != "numbers"]

    def dtype_categories(self) -> list[int]:
        """Columns whose dtype says that they hold categories."""
        return [f for f in self.odd_columns() if self.kind(f) == "category"]

    def cut(self, rows: RowChoice, first: int, last: int) -> Self:
        """Some columns of some rows: a view, or a copy of no more than that."""
        return replace(self, data=self._cut(rows, first, last), offset=self.offset + first)

    def view(self) -> Matrix | None:
        """All of it as one matrix that the core can read, if that takes no copy."""
        return None

    def floats(self, skip: Collection[int] = ()) -> Matrix:
        """All of it as a new matrix in Fortran order. The columns to skip may hold anything."""
        matrix = np.empty(self.shape, order="F")
        offences = Offences()
        for f in range(self.shape[1]):
            if f not in skip:
                with offences:
                    matrix[:, f] = self.numbers(f)
        offences.raise_any()
        return matrix

    @property
    def n_bytes(self) -> int:
        """Bytes that it takes, about."""
        n_samples, n_features = self.shape
        return 8 * n_samples * n_features

    def copy_bytes(self) -> int:
        """Bytes of the copy that is made, and kept, before columns can be cut out."""
        return 0

    @property
    def n_entries(self) -> int | None:
        """Entries, if it is so sparse that it is quicker to look at these than at every value; None if not."""
        return None

    @abstractmethod
    def _cut(self, rows: RowChoice, first: int, last: int) -> Any: ...

    @abstractmethod
    def kind(self, f: int) -> str:
        """What a column holds by its dtype.

        This is "numbers", "times", "category", "text", "objects" (which may be anything), "nested" (lists and the
        like) or "other".
        """

    @abstractmethod
    def objects(self, f: int) -> NDArray[Any]:
        """A column of objects, (n_samples,)."""

    @abstractmethod
    def column(self, f: int) -> Column:
        """A column as its values and each row's place among them."""

    @abstractmethod
    def numbers(self, f: int) -> Matrix:
        """A column as floats, (n_samples,)."""


class ArraySource(Source):
    """A NumPy array."""

    @property
    def n_bytes(self) -> int:
        return int(self.data.nbytes)

    def _cut(self, rows: RowChoice, first: int, last: int) -> Any:
        block = self.data[:, first:last]
        return block[rows] if isinstance(rows, slice) else np.asfortranarray(block[rows])

    def view(self) -> Matrix | None:
        return as_view(self.data)

    def floats(self, skip: Collection[int] = ()) -> Matrix:
        return numeric_floats(self.data) if self.data.dtype.kind in "biuf" else super().floats(skip)

    def odd_columns(self) -> list[int]:
        return [] if self.kind(0) == "numbers" else list(range(self.shape[1]))

    def kind(self, f: int) -> str:
        return KIND_OF_ARRAY.get(self.data.dtype.kind, "other")

    def objects(self, f: int) -> NDArray[Any]:
        return np.asarray(self.data[:, f])

    def column(self, f: int) -> Column:
        return Column.of_array(self.label(f), self.data[:, f])

    def numbers(self, f: int) -> Matrix:
        return array_floats(self.data[:, f], self.label(f))


class SparseSource(Source):
    """A SciPy matrix or array, CSR or CSC. The other of the two is made once, if it is asked for."""

    @cached_property
    def by_row(self) -> Any:
        """It as CSR, without entries that share a place."""
        return without_duplicates(self.data.tocsr())

    @cached_property
    def by_column(self) -> Any:
        """It as CSC, without entries that share a place."""
        return without_duplicates(self.data.tocsc())

    @property
    def n_bytes(self) -> int:
        return int(self.data.data.nbytes + self.data.indices.nbytes)

    def copy_bytes(self) -> int:
        return 0 if self.data.format == "csc" else self.n_bytes

    @property
    def n_entries(self) -> int | None:
        n_samples, n_features = self.shape
        n_entries = int(self.data.nnz)
        return n_entries if DENSE_SHARE * n_entries < n_samples * n_features else None

    def pick(self, features: NDArray[np.integer[Any]]) -> "SparseSource":
        """These columns alone."""
        matrix = self.by_column if self.data.format == "csc" else self.by_row
        return SparseSource(matrix[:, features])

    def _cut(self, rows: RowChoice, first: int, last: int) -> Any:
        is_whole = last - first == self.shape[1]
        if rows is EVERY_ROW:
            return self.by_column if is_whole else self.by_column[:, first:last]
        return self.by_row[rows] if is_whole else self.by_column[:, first:last][rows]

    def floats(self, skip: Collection[int] = ()) -> Matrix:
        with np.errstate(invalid="ignore"):
            matrix: Floats = self.data.astype(np.float64).toarray(order="F")
        return matrix

    def odd_columns(self) -> list[int]:
        return []

    def kind(self, f: int) -> str:
        return "numbers"

    def objects(self, f: int) -> NDArray[Any]:
        return self.numbers(f)

    def column(self, f: int) -> Column:
        return Column.of_array(self.label(f), self.by_column[:, [f]].toarray()[:, 0])

    def numbers(self, f: int) -> Matrix:
        return self.cut(EVERY_ROW, f, f + 1).floats()[:, 0]


def without_duplicates(matrix: Any) -> Any:
    """A sparse matrix with one entry per place: those that share one are added up, in the order in which they stand."""
    if matrix.has_canonical_format:
        return matrix
    # To go through the other format sorts entries by place, and leaves those of one place in their order.
    matrix = matrix.tocsc().tocsr() if matrix.format == "csr" else matrix.tocsr().tocsc()
    matrix.sum_duplicates()
    return matrix


class Entries(NamedTuple):
    """The entries of a sparse table, column after column.

    Attributes
    ----------
    starts : ndarray of int64
        Where the entries of every column start, and where the last ones end.
    rows : ndarray of uint32
        The row of every entry.
    values : ndarray of float64
        Its value; of categories, their code.
    n_samples : int
        Rows of the table.
    zeros : ndarray of float64
        What zeros count as in every column.
    """

    starts: NDArray[np.int64]
    rows: NDArray[np.uint32]
    values: Floats
    n_samples: int
    zeros: Floats


def as_view(array: NDArray[Any]) -> Matrix | None:
    """An array of floats whose numbers lie on their natural borders in memory, which is what the core can read."""
    is_float = array.dtype in (np.float64, np.float32)
    return array if is_float and array.flags.aligned and all(s % array.itemsize == 0 for s in array.strides) else None


def numeric_floats(array: NDArray[Any]) -> Matrix:
    """Numbers as new floats."""
    # What is too large is found with the infinite values; "invalid" is a NaN of an uncommon kind.
    with np.errstate(over="ignore", invalid="ignore"):
        return array.astype(np.float32 if array.dtype.kind == "f" and array.itemsize == 2 else np.float64, order="F")


def array_floats(array: NDArray[Any], label: str) -> Matrix:
    """A 1-D array of numbers, of times, of objects that are such, or of text that spells numbers, as floats."""
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
    """Say in an error about units of time in which column they are."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{label} of X cannot be read as numbers: {error}") from error


@dataclass(frozen=True)
class RawTable:
    """A source and a choice of its rows (None: all), before categories are known."""

    source: Source
    chosen: NDArray[np.intp] | None = None

    @cached_property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        n_samples, n_features = self.source.shape
        return n_samples if self.chosen is None else len(self.chosen), n_features

    @property
    def names(self) -> list[str] | None:
        """Names of the features, if they have names that are text."""
        return self.source.names

    def take(self, rows: NDArray[np.intp]) -> "RawTable":
        """A table of these rows, in this order. Nothing is copied yet."""
        return replace(self, chosen=rows if self.chosen is None else self.chosen[rows])

    def part(self, rows: slice, first: int, last: int) -> Source:
        """Some features of some of the chosen rows."""
        return self.source.cut(rows if self.chosen is None else self.chosen[rows], first, last)

    def as_given(self, rows: NDArray[np.intp]) -> Any:
        """Some rows in the sort of container that they came in."""
        return self.take(rows).part(EVERY_ROW, 0, self.shape[1]).data

    def column_values(self, feature: int) -> Column:
        """A column as its values and each row's place among them."""
        return self.part(EVERY_ROW, feature, feature + 1).column(0)

    def encode(self, categories: Categories) -> "Table":
        """The table of floats that these categories make of it."""
        return Table(self, categories)


@dataclass(frozen=True)
class Table:
    """A table of floats that is read in blocks: a raw one, with the categories of training."""

    raw: RawTable
    categories: Categories
    features: NDArray[np.integer[Any]] | None = None  # which these are of those in training, if not all

    @cached_property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return self.raw.shape

    @cached_property
    def matrix(self) -> Matrix | None:
        """The whole table, if that takes no copy."""
        return None if self.categories.values or self.raw.chosen is not None else self.raw.source.view()

    def columns(self, first: int, last: int) -> Matrix:
        """Some features of all rows, (n_samples, last - first): a view, or a copy in Fortran order."""
        return self._read(EVERY_ROW, first, last)

    def rows(self, first: int, last: int) -> Matrix:
        """Some rows, (last - first, n_features): a view or a copy."""
        return self._read(slice(first, last), 0, self.shape[1])

    def take(self, rows: NDArray[np.intp]) -> "Table":
        """A table of these rows, in this order. Nothing is copied yet."""
        return replace(self, raw=self.raw.take(rows))

    def label(self, feature: int) -> str:
        """What errors call a feature."""
        return self.raw.source.label(feature)

    def narrowed(self, features: NDArray[np.integer[Any]]) -> "Table":
        """A sparse table with these features alone, which are still called what they were."""
        assert isinstance(self.raw.source, SparseSource)
        return Table(replace(self.raw, source=self.raw.source.pick(features)), self.categories, features)

    def entries(self) -> Entries:
        """The entries of a sparse table."""
        part = self.raw.part(EVERY_ROW, 0, self.shape[1])
        assert isinstance(part, SparseSource)
        matrix, nothing = part.by_column, np.zeros(1, dtype=part.data.dtype)
        with np.errstate(invalid="ignore"):
            values, zeros = matrix.data.astype(np.float64), np.zeros(self.shape[1])
        for f in self.categories.values:
            of_feature = slice(*matrix.indptr[f : f + 2])
            label = self.label(f)
            values[of_feature] = self.categories.codes(f, Column.of_array(label, matrix.data[of_feature]))
            zeros[f] = self.categories.codes(f, Column.of_array(label, nothing))[0]
        return Entries(matrix.indptr.astype(np.int64), matrix.indices.astype(np.uint32), values, self.shape[0], zeros)

    def _read(self, rows: slice, first: int, last: int) -> Matrix:
        part = self.raw.part(rows, first, last)
        coded = self._coded(first, last)
        if not coded and (view := part.view()) is not None:
            return view
        matrix = part.floats(skip=list(coded))
        offences = Offences()
        for place, f in coded.items():
            with offences:
                matrix[:, place] = self.categories.codes(f, part.column(place))
        offences.raise_any()
        return matrix

    def _coded(self, first: int, last: int) -> dict[int, int]:
        """Which of some features hold categories, by their places among these."""
        if self.features is None:
            return {f - first: f for f in self.categories.values if first <= f < last}
        named = enumerate(self.features[first:last].tolist())
        return {place: f for place, f in named if f in self.categories.values}


def survey(matrix: Matrix) -> bool:
    """Whether a matrix holds NaN; an error if it holds infinite values."""
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
