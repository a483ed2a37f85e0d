"""Sources for data frames of pandas, polars and Arrow."""

import datetime
import sys
from abc import abstractmethod
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comboost._cached import cached_property
from comboost._data.categories import Column
from comboost._data.dates import NOT_A_TIME, seconds_of_array, seconds_of_ticks
from comboost._data.tables import EVERY_ROW, ArraySource, Matrix, RowChoice, Source, array_floats, label_in_errors
from comboost._data.text import category_floats, dtype_error, text_floats
from comboost._types import Floats

TEXT_OR_NAN = {str, float, type(None)}


class FrameSource(Source):
    """A data frame: named columns of several dtypes."""

    @cached_property
    def header(self) -> list[Any]:
        """Column names of any type."""
        return list(self.data.columns)

    @cached_property
    def names(self) -> list[str] | None:
        return self.header if all(isinstance(name, str) for name in self.header) else None

    @cached_property
    def dtypes(self) -> list[Any]:
        """The dtype of every column."""
        return list(self.data.dtypes)

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
            return text_floats(self.column(f))
        if kind == "objects":
            return array_floats(self.objects(f), self.label(f))
        if kind == "times":
            with label_in_errors(self.label(f)):
                return self._seconds(f)
        if kind != "numbers":
            raise dtype_error(self.label(f), self.dtypes[f])
        return self._numbers(f)

    def objects(self, f: int) -> NDArray[Any]:
        raise NotImplementedError(f"{type(self).__name__} has no object columns")

    @abstractmethod
    def _column(self, f: int) -> Column: ...

    @abstractmethod
    def _numbers(self, f: int) -> Matrix: ...

    @abstractmethod
    def _seconds(self, f: int) -> Floats: ...


class PandasSource(FrameSource):
    """A pandas DataFrame: dtypes of NumPy, nullable ones, those of Arrow, categories."""

    def _cut(self, rows: RowChoice, first: int, last: int) -> Any:
        # Before version 3, pandas copies even a selection of all columns.
        columns = self.data if last - first == self.shape[1] else self.data.iloc[:, first:last]
        return columns if rows is EVERY_ROW else columns.iloc[rows]

    def view(self) -> Matrix | None:
        if len(set(self.dtypes)) > 1 or not isinstance(self.dtypes[0], np.dtype):
            return None
        # If all columns share one block of memory, a single row is a view of it.
        one_row, one_column = self.data.iloc[:1].to_numpy(), self.data.iloc[:, 0].to_numpy()
        return ArraySource(self.data.to_numpy()).view() if np.shares_memory(one_row, one_column) else None

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
        if dtype.type is np.object_:
            return "objects"
        if dtype.kind in "mM" or dtype.type in (datetime.date, datetime.time):
            return "times"
        return "numbers" if dtype.name == "null[pyarrow]" or dtype.type is Decimal else "other"

    def objects(self, f: int) -> NDArray[Any]:
        return np.asarray(self.data.iloc[:, f].to_numpy())

    def _column(self, f: int) -> Column:
        series, label = self.data.iloc[:, f], self.label(f)
        if series.dtype.name == "category":
            categories = series.cat.categories
            return Column.of_dictionary(label, series.cat.codes.to_numpy(), lambda used: list(categories[used]))
        # pandas hashes text much faster than Python; equality of other objects is Python's.
        if isinstance(series.dtype, np.dtype) and not (
            series.dtype == object and set(map(type, series)) <= TEXT_OR_NAN
        ):
            return Column.of_array(label, series.to_numpy())
        indices, values = series.factorize()
        return Column(label, values.tolist() if series.dtype.type is str else list(values), indices)

    def _numbers(self, f: int) -> Matrix:
        series = self.data.iloc[:, f]
        if isinstance(series.dtype, np.dtype):
            return array_floats(series.to_numpy(), self.label(f))
        floats: Floats = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return floats

    def _seconds(self, f: int) -> Floats:
        series = self.data.iloc[:, f]
        if type(series.dtype).__name__ == "ArrowDtype":
            return arrow_seconds(sys.modules["pyarrow"].array(series))
        if getattr(series.dtype, "tz", None) is not None:
            series = series.dt.tz_convert(None)
        return seconds_of_array(series.to_numpy())


class PolarsSource(FrameSource):
    """A polars DataFrame."""

    def _cut(self, rows: RowChoice, first: int, last: int) -> Any:
        return self.data[:, first:last][rows]

    def view(self) -> Matrix | None:
        if len(set(self.dtypes)) > 1 or not self.dtypes[0].is_float():
            return None
        try:
            return ArraySource(self.data.to_numpy(allow_copy=False)).view()
        except RuntimeError:  # there are nulls, or the columns are not contiguous
            return None

    def kind(self, f: int) -> str:
        dtype, polars = self.dtypes[f], sys.modules["polars"]
        if dtype in (polars.Categorical, polars.Enum):
            return "category"
        if dtype == polars.String:
            return "text"
        if dtype.is_nested() or dtype == polars.Object:
            return "nested"
        if dtype.is_temporal():
            return "times"
        return "numbers" if dtype.is_numeric() or dtype in (polars.Boolean, polars.Null) else "other"

    def _column(self, f: int) -> Column:
        series = self.data[:, f]
        distinct = series.drop_nulls().unique()
        # The physical integers of a category dtype may be large, since many tables share them.
        numbered = sys.modules["polars"].int_range(len(distinct), eager=True)
        indices = series.to_physical().replace_strict(distinct.to_physical(), numbered, default=-1)
        return Column(self.label(f), self._values(f, distinct), indices.to_numpy())

    def _values(self, f: int, distinct: Any) -> list[Any]:
        """Convert distinct values to objects; keep nanoseconds, which polars would drop, or raise."""
        dtype, polars = distinct.dtype, sys.modules["polars"]
        in_nanoseconds = dtype == polars.Time or getattr(dtype, "time_unit", None) == "ns"
        if not in_nanoseconds or not (distinct.to_physical() % 1000 != 0).any():
            return list(distinct.to_list())
        if dtype == polars.Time or getattr(dtype, "time_zone", None) is not None:
            raise nanosecond_error(self.label(f), dtype)
        return list(distinct.to_numpy())

    def _numbers(self, f: int) -> Matrix:
        floats: Floats = self.data[:, f].cast(sys.modules["polars"].Float64).to_numpy()
        return floats

    def _seconds(self, f: int) -> Floats:
        series, polars = self.data[:, f], sys.modules["polars"]
        unit = {polars.Date: "D", polars.Time: "ns"}.get(series.dtype) or series.dtype.time_unit
        ticks = series.to_physical().cast(polars.Int64).fill_null(NOT_A_TIME)
        return seconds_of_ticks(ticks.to_numpy(), unit)


class ArrowSource(FrameSource):
    """A pyarrow Table."""

    @cached_property
    def header(self) -> list[Any]:
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
        if types.is_temporal(dtype) and "interval" not in str(dtype):
            return "times"
        numeric = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
        return "numbers" if any(matches(dtype) for matches in numeric) else "other"

    def _column(self, f: int) -> Column:
        chunks = self.data.column(f)
        encoded = chunks if self.kind(f) == "category" else chunks.dictionary_encode()
        encoded = encoded.unify_dictionaries().combine_chunks()
        indices = encoded.indices.cast("int64").fill_null(-1).to_numpy()
        dictionary = encoded.dictionary
        return Column.of_dictionary(self.label(f), indices, lambda used: self._values(f, dictionary, used))

    def _values(self, f: int, dictionary: Any, used: Any) -> list[Any]:
        """Convert values of a dictionary to objects; keep nanoseconds, which Arrow may drop, or raise."""
        dtype = str(dictionary.type)
        if dtype in ("timestamp[ns]", "duration[ns]"):
            return list(dictionary.to_numpy(zero_copy_only=False)[used])
        if "string" in dtype and len(used) == len(dictionary):
            return list(dictionary.to_pylist())
        chosen = [dictionary[int(i)] for i in used]
        if dtype == "time64[ns]" and any(value.value % 1000 for value in chosen):
            raise nanosecond_error(self.label(f), dtype)
        return [value.as_py() for value in chosen]

    def _numbers(self, f: int) -> Matrix:
        floats: Floats = self.data.column(f).cast("float64", safe=False).to_numpy()
        return floats

    def _seconds(self, f: int) -> Floats:
        return arrow_seconds(self.data.column(f))


def arrow_seconds(chunks: Any) -> Floats:
    """Convert an Arrow column of dates, times or durations to seconds."""
    held = chunks.type
    unit = {"date32[day]": "D", "date64[ms]": "ms"}.get(str(held)) or held.unit
    ticks = chunks.cast(f"int{held.bit_width}").cast("int64").fill_null(NOT_A_TIME)
    return seconds_of_ticks(ticks.to_numpy(), unit)


def nanosecond_error(label: str, dtype: Any) -> ValueError:
    """Error about nanoseconds in a time of day or in a time with a zone."""
    return ValueError(
        f"{label} of X has the dtype {dtype} and holds nanoseconds, which Python's times do not support; round it to "
        "microseconds, or give dates and times without a zone."
    )
