"""Containers of columns: NumPy, SciPy, pandas, polars, Arrow. In: one of them. Out: parts of it, as floats.

Nothing is copied before a part is asked for, and then no more than the part. Whatever stands for "missing" becomes NaN.
"""

import sys
from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from comboost._categories import Column, category_floats, is_missing, text_error
from comboost._dtypes import Floats

Matrix = NDArray[np.floating[Any]]
RowChoice = slice | NDArray[np.intp]
EVERY_ROW = slice(None)


@dataclass(frozen=True)
class Source(ABC):
    """A container of columns; ``offset`` says how many were cut off on the left."""

    data: Any
    offset: int = 0

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        n_samples, n_features = self.data.shape
        return n_samples, n_features

    @cached_property
    def names(self) -> list[str] | None:
        """Names of the columns, where they have names that are text."""
        return None

    def label(self, f: int) -> str:
        """What errors call a column."""
        return f"column {f + self.offset}" if self.names is None else f"column {self.names[f]!r}"

    def dtype_categories(self) -> list[int]:
        """Columns whose dtype says that they hold categories."""
        return []

    def cut(self, rows: RowChoice, first: int, last: int) -> Self:
        """Some columns of some rows: a view, or a copy of no more than that."""
        return replace(self, data=self._cut(rows, first, last), offset=self.offset + first)

    def view(self) -> Matrix | None:
        """All of it as one matrix that the core can read, where that takes no copy."""
        return None

    def floats(self, skip: Collection[int] = ()) -> Matrix:
        """All of it as a new matrix in Fortran order. The columns to skip may hold anything."""
        matrix = np.empty(self.shape, order="F")
        for f in range(self.shape[1]):
            if f not in skip:
                matrix[:, f] = self.numbers(f)
        return matrix

    @abstractmethod
    def _cut(self, rows: RowChoice, first: int, last: int) -> Any: ...

    @abstractmethod
    def column(self, f: int) -> Column:
        """A column as its values and each row's place among them."""

    @abstractmethod
    def numbers(self, f: int) -> Matrix:
        """A column as floats, (n_samples,)."""


class ArraySource(Source):
    """A NumPy array."""

    def _cut(self, rows: RowChoice, first: int, last: int) -> Any:
        block = self.data[:, first:last]
        return block[rows] if isinstance(rows, slice) else np.asfortranarray(block[rows])

    def view(self) -> Matrix | None:
        return as_view(self.data)

    def floats(self, skip: Collection[int] = ()) -> Matrix:
        return numeric_floats(self.data) if self.data.dtype.kind in "biuf" else super().floats(skip)

    def column(self, f: int) -> Column:
        return Column.of_array(self.label(f), self.data[:, f])

    def numbers(self, f: int) -> Matrix:
        return array_floats(self.data[:, f], self.label(f))


class SparseSource(Source):
    """A SciPy matrix or array, CSR or CSC. The other of the two is made once, if it is asked for."""

    @cached_property
    def by_row(self) -> Any:
        """It as CSR."""
        return self.data.tocsr()

    @cached_property
    def by_column(self) -> Any:
        """It as CSC."""
        return self.data.tocsc()

    def _cut(self, rows: RowChoice, first: int, last: int) -> Any:
        if rows is EVERY_ROW:
            return self.by_column[:, first:last]
        return self.by_row[rows] if last - first == self.shape[1] else self.by_column[:, first:last][rows]

    def floats(self, skip: Collection[int] = ()) -> Matrix:
        with np.errstate(invalid="ignore"):
            matrix: Floats = self.data.astype(np.float64).toarray(order="F")
        return matrix

    def column(self, f: int) -> Column:
        return Column.of_array(self.label(f), self.by_column[:, [f]].toarray()[:, 0])

    def numbers(self, f: int) -> Matrix:
        return self.cut(EVERY_ROW, f, f + 1).floats()[:, 0]


class FrameSource(Source):
    """A data frame: named columns of several dtypes."""

    @cached_property
    def names(self) -> list[str] | None:
        names = list(self.data.columns)
        return names if all(isinstance(name, str) for name in names) else None

    @cached_property
    def dtypes(self) -> list[Any]:
        """The dtype of every column."""
        return list(self.data.dtypes)

    def dtype_categories(self) -> list[int]:
        return [f for f in range(self.shape[1]) if self.kind(f) == "category"]

    def column(self, f: int) -> Column:
        if self.kind(f) == "nested":
            raise ValueError(
                f"{self.label(f)} of X has the dtype {self.dtypes[f]} and cannot be used as categories; give numbers, "
                "text or other values that can be hashed and sorted."
            )
        return self._column(f)

    def numbers(self, f: int) -> Matrix:
        kind = self.kind(f)
        if kind == "category":
            return category_floats(self.column(f))
        if kind == "text":
            raise text_error(self.label(f), next(iter(self.column(f).present()), ""))
        if kind != "numbers":
            raise dtype_error(self.label(f), self.dtypes[f])
        return self._numbers(f)

    @abstractmethod
    def kind(self, f: int) -> str:
        """What a column holds: "numbers", "category", "text", "nested" (lists and the like) or "other" (dates, ...)."""

    @abstractmethod
    def _column(self, f: int) -> Column: ...

    @abstractmethod
    def _numbers(self, f: int) -> Matrix: ...


class PandasSource(FrameSource):
    """A pandas DataFrame: dtypes of NumPy, nullable ones, those of Arrow, categories."""

    def _cut(self, rows: RowChoice, first: int, last: int) -> Any:
        # Before version 3, pandas copies columns even where all of them are asked for.
        columns = self.data if last - first == self.shape[1] else self.data.iloc[:, first:last]
        return columns if rows is EVERY_ROW else columns.iloc[rows]

    def view(self) -> Matrix | None:
        if len(set(self.dtypes)) > 1 or not isinstance(self.dtypes[0], np.dtype):
            return None
        # Whether all columns lie in one block of memory: if so, even a single row is a view of it.
        one_row, one_column = self.data.iloc[:1].to_numpy(), self.data.iloc[:, 0].to_numpy()
        return as_view(self.data.to_numpy()) if np.shares_memory(one_row, one_column) else None

    def kind(self, f: int) -> str:
        dtype = self.dtypes[f]
        if dtype.kind in "biuf":
            return "numbers"
        if dtype.name == "category" or dtype.name.startswith("dictionary<"):
            return "category"
        if dtype.type is str:
            return "text"
        if dtype.type in (list, dict):
            return "nested"
        # Objects may be numbers: reading them will tell.
        return "numbers" if dtype.name == "null[pyarrow]" or dtype.type in (np.object_, Decimal) else "other"

    def _column(self, f: int) -> Column:
        series, label = self.data.iloc[:, f], self.label(f)
        if series.dtype.name == "category":
            categories = series.cat.categories
            return Column.of_dictionary(label, series.cat.codes.to_numpy(), lambda used: list(categories[used]))
        if isinstance(series.dtype, np.dtype):
            return Column.of_array(label, series.to_numpy())
        places, values = series.factorize()
        return Column(label, list(values), places)

    def _numbers(self, f: int) -> Matrix:
        series = self.data.iloc[:, f]
        if isinstance(series.dtype, np.dtype):
            return array_floats(series.to_numpy(), self.label(f))
        floats: Floats = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return floats


class PolarsSource(FrameSource):
    """A polars DataFrame."""

    def _cut(self, rows: RowChoice, first: int, last: int) -> Any:
        return self.data[:, first:last][rows]

    def view(self) -> Matrix | None:
        if len(set(self.dtypes)) > 1 or not self.dtypes[0].is_float():
            return None
        try:
            return as_view(self.data.to_numpy(allow_copy=False))
        except RuntimeError:  # there are nulls, or the columns do not lie side by side
            return None

    def kind(self, f: int) -> str:
        dtype, polars = self.dtypes[f], sys.modules["polars"]
        if dtype in (polars.Categorical, polars.Enum):
            return "category"
        if dtype == polars.String:
            return "text"
        if dtype.is_nested() or dtype == polars.Object:
            return "nested"
        return "numbers" if dtype.is_numeric() or dtype in (polars.Boolean, polars.Null) else "other"

    def _column(self, f: int) -> Column:
        series = self.data[:, f]
        distinct = series.drop_nulls().unique()
        # The integers behind a category dtype may be large, being shared by many tables: those seen here are few.
        numbered = sys.modules["polars"].int_range(len(distinct), eager=True)
        places = series.to_physical().replace_strict(distinct.to_physical(), numbered, default=-1)
        return Column(self.label(f), distinct.to_list(), places.to_numpy())

    def _numbers(self, f: int) -> Matrix:
        floats: Floats = self.data[:, f].cast(sys.modules["polars"].Float64).to_numpy()
        return floats


class ArrowSource(FrameSource):
    """A pyarrow Table."""

    @cached_property
    def names(self) -> list[str] | None:
        return list(self.data.column_names)

    @cached_property
    def dtypes(self) -> list[Any]:
        return list(self.data.schema.types)

    def _cut(self, rows: RowChoice, first: int, last: int) -> Any:
        columns = self.data.select(range(first, last))
        if not isinstance(rows, slice):
            return columns.take(rows)
        start, stop, _ = rows.indices(self.shape[0])
        return columns.slice(start, stop - start)

    def kind(self, f: int) -> str:
        dtype, types = self.dtypes[f], sys.modules["pyarrow"].types
        if types.is_dictionary(dtype):
            return "category"
        if types.is_nested(dtype):
            return "nested"
        if "string" in str(dtype):
            return "text"
        numeric = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
        return "numbers" if any(holds(dtype) for holds in numeric) else "other"

    def _column(self, f: int) -> Column:
        chunks = self.data.column(f)
        encoded = chunks if self.kind(f) == "category" else chunks.dictionary_encode()
        encoded = encoded.unify_dictionaries().combine_chunks()
        places = encoded.indices.cast("int64").fill_null(-1).to_numpy()
        dictionary = encoded.dictionary
        return Column.of_dictionary(self.label(f), places, lambda used: [dictionary[int(i)].as_py() for i in used])

    def _numbers(self, f: int) -> Matrix:
        floats: Floats = self.data.column(f).cast("float64", safe=False).to_numpy()
        return floats


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
    """A 1-D array of numbers, of objects that are numbers, or of text that spells them, as floats."""
    if array.dtype.kind in "biuf":
        return numeric_floats(array)
    if array.dtype.kind not in "OUST":
        raise dtype_error(label, array.dtype)
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):  # pandas.NA is among the values, or one is no number
        return np.array([object_float(value, label) for value in array.tolist()])


def object_float(value: Any, label: str) -> float:
    """An object as a float, or an error that says what it is."""
    try:
        return np.nan if is_missing(value) else float(value)
    except ValueError as error:
        raise text_error(label, value) from error
    except TypeError as error:
        raise TypeError(f"{label} of X holds {value!r}: {error}. Convert the column to numbers, or drop it.") from error


def dtype_error(label: str, dtype: Any) -> ValueError:
    """What to do about dates and the like."""
    return ValueError(f"{label} of X has the dtype {dtype}, which holds no numbers; convert it to numbers, or drop it.")
