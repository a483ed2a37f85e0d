"""Categories to numbers. In: columns, as distinct values and each row's place among them. Out: codes 1.0, 2.0, ...

A code is the place of a value among the sorted values of training, so it depends on the values alone: not on the
container, nor on the order in which a category dtype lists them.
"""

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from comboost._dtypes import CODE, Codes, Floats
from comboost._table.floats import EXACT_INTEGERS, shown, why_no_float
from comboost._table.times import NUMPY_TIMES, TIMES, order_of, plain_time

MAX_CATEGORIES = 254  # of the 255 bins of a feature, one is left for values unseen in training


@dataclass(frozen=True)
class Column:
    """A column as its few values and each row's place among them.

    Attributes
    ----------
    label : str
        What errors call it.
    values : list
        Values that rows hold, as Python objects. Some may stand for "missing", some may be equal (1 and True).
    places : ndarray of int
        Where the value of every row stands in ``values``; -1 for missing ones.
    """

    label: str
    values: list[Any]
    places: NDArray[np.integer[Any]]

    @classmethod
    def of_array(cls, label: str, array: NDArray[Any]) -> "Column":
        """Find the values of a 1-D array, one per row: numbers by sorting them, other objects by their hashes."""
        if array.dtype.kind in "biuf":
            distinct, places = np.unique(array, return_inverse=True)
            return cls(label, distinct.tolist(), places)
        if array.dtype.kind in "mM":
            times, places = np.unique(array, return_inverse=True)
            return cls(label, [plain_time(value) for value in times], places)
        place_of: dict[Any, int] = {}
        try:
            numbered = (place_of.setdefault(value, len(place_of)) for value in array.tolist())
            places = np.fromiter(numbered, dtype=np.intp, count=len(array))
        except TypeError as error:
            raise ValueError(
                f"{label} of X cannot be used as categories: {error}. Give numbers, text or other values that can be "
                "hashed and sorted."
            ) from error
        return cls(label, list(place_of), places)

    @classmethod
    def of_dictionary(
        cls, label: str, places: NDArray[np.integer[Any]], pick: Callable[[NDArray[np.intp]], list[Any]]
    ) -> "Column":
        """Keep what rows use of a dictionary, which may list many values more; ``pick`` gives those at some places."""
        shifted = places.astype(np.intp) + 1  # missing is 0
        used = np.flatnonzero(np.bincount(shifted)[1:])
        narrowed = np.full(shifted.max() + 1, -1)
        narrowed[used + 1] = np.arange(len(used))
        return cls(label, pick(used), narrowed[shifted])

    def present(self) -> list[Any]:
        """The values but those that stand for "missing"."""
        return [value for value in self.values if not is_missing(value)]

    def spread(self, numbers_of_values: list[float]) -> Floats:
        """Give every row the number of its value; NaN if that is missing."""
        rows: Floats = np.array([*numbers_of_values, math.nan])[self.places]  # the place -1 is the last
        return rows


class HasColumns(Protocol):
    """Whatever has columns to fit categories on."""

    def column_values(self, feature: int) -> Column:
        """A column as its values and each row's place among them."""


@dataclass(frozen=True)
class Categories:
    """The values of every category column, as seen in training. Part of the model; empty if there are none.

    Parameters
    ----------
    values : dict of int to tuple
        The sorted distinct values of every such feature. Whole numbers are ints, whatever they came as.
    """

    values: dict[int, tuple[Any, ...]] = field(default_factory=dict)

    @classmethod
    def fit(cls, raw: HasColumns, features: list[int]) -> tuple["Categories", dict[int, Codes]]:
        """Collect the values that the rows of these features hold, and the codes of the rows, 0 for missing values."""
        categories, codes = cls(), {}
        for feature in features:
            column = raw.column_values(feature)
            categories.values[feature] = sorted_values(column)
            codes[feature] = np.nan_to_num(categories.codes(feature, column)).astype(CODE)
        return categories, codes

    def codes(self, feature: int, column: Column) -> Floats:
        """The code of every row: 1.0, 2.0, ... in sorted order; NaN for missing values and those unseen in training."""
        known = self.values[feature]
        now = kind_of_column(column)
        if known and now is not None and now != kind_of(known[0]):
            raise ValueError(
                f"{column.label} of X held {kind_of(known[0])} in training, such as {known[0]!r}, and holds {now} now, "
                f"such as {column.present()[0]!r}; give values of the kind seen in training."
            )
        code_of = {value: float(code) for code, value in enumerate(known, start=1)}
        # Numbers and text that are equal have the same hash, whatever their type; times have not.
        values = column.values if now != "other objects" else map(plain, column.values)
        return column.spread([code_of.get(value, math.nan) for value in values])


def sorted_values(column: Column) -> tuple[Any, ...]:
    """The distinct values of a column in sorted order, without what stands for "missing"."""
    kind_of_column(column)
    distinct = {plain(value) for value in column.present()}
    if len(distinct) > MAX_CATEGORIES:
        raise ValueError(
            f"{column.label} of X holds {len(distinct)} categories; at most {MAX_CATEGORIES} are supported. Group the "
            "rare ones, encode the column with sklearn.preprocessing.TargetEncoder, or, where it holds numbers, leave "
            "it out of categorical_features."
        )
    has_numpy_times = any(isinstance(value, NUMPY_TIMES) for value in distinct)
    try:
        return tuple(sorted(distinct, key=order_of if has_numpy_times else None))
    except TypeError as error:
        raise ValueError(
            f"{column.label} of X cannot be used as categories, since its values have no order: {error}. Give values "
            "of one type, for example with astype(str)."
        ) from error


def kind_of_column(column: Column) -> str | None:
    """The one kind of a column's values; None if all are missing."""
    example_of = {kind_of(value): value for value in column.present()}
    if any(map(is_infinite, column.values)):
        raise ValueError(
            f"Input X contains infinity in {column.label}, which is no category; replace it by another value, or by "
            "NaN where it means that nothing is known."
        )
    if len(example_of) > 1:
        seen = ", ".join(f"{kind} ({value!r})" for kind, value in example_of.items())
        raise ValueError(
            f"{column.label} of X mixes categories of several kinds: {seen}. Give values of one kind, for example with "
            "astype(str)."
        )
    return next(iter(example_of), None)


def kind_of(value: Any) -> str:
    """To which of three kinds a value belongs; values of different kinds are never equal."""
    if isinstance(value, (numbers.Real, np.bool_, Decimal)) and not isinstance(value, np.timedelta64):
        return "numbers"
    return "text" if isinstance(value, str) else "other objects"


def plain(value: Any) -> Any:
    """A value as the model keeps it: without NumPy's types, and whole numbers as ints, so that equals look equal."""
    if isinstance(value, TIMES):
        return plain_time(value)
    if isinstance(value, np.generic):
        value = value.item()
    if kind_of(value) == "numbers" and abs(value) < EXACT_INTEGERS and value == int(value):
        return int(value)
    return value


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT, pandas.NA or masked."""
    if value is None or value is np.ma.masked:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError, InvalidOperation):
        # pandas.NA is neither true nor false, and so are arrays; a signalling NaN compares with nothing.
        return type(value).__name__ == "NAType"


def is_infinite(value: Any) -> bool:
    """Whether a value is a number without end; integers never are, however large."""
    return isinstance(value, (float, np.floating, Decimal)) and math.isinf(value)


def category_floats(column: Column) -> Floats:
    """A column of a category dtype as the numbers that its values are, if they are to be read as such."""
    text = next((value for value in column.values if isinstance(value, str)), None)
    if text is not None:
        raise text_error(column.label, text)
    try:
        return column.spread([math.nan if is_missing(value) else float(value) for value in column.values])
    except OverflowError as error:
        raise range_error(column.label, next(value for value in column.values if why_no_float(value))) from error
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{column.label} of X holds categories that are no numbers: {error}. Name the column in "
            "categorical_features, or convert it to numbers."
        ) from error


def text_error(label: str, text: str) -> ValueError:
    """What to do about text that is not among the categories."""
    return ValueError(
        f"{label} of X holds text, such as {text!r}, where a number is expected. If it holds categories, name it in "
        'categorical_features, or give a data frame in which it has a category dtype, with astype("category") in '
        "pandas; else convert it to numbers."
    )


def range_error(label: str, value: Any) -> ValueError:
    """What to do about a number that no float can hold."""
    return ValueError(
        f"{label} of X holds {shown(value)}, and floats end at 1.8e308; scale the column, or give NaN where nothing is "
        "known."
    )


def read_features(given: Any, names: list[str] | None, n_features: int) -> list[int]:
    """The features that a list of indices, a mask or a list of names stands for, in order."""
    is_list = np.iterable(given) and not isinstance(given, (str, bytes))
    items = list(given) if is_list else [given]
    if is_list and not items:
        return []
    if is_list and all(isinstance(item, (bool, np.bool_)) for item in items):
        return masked_features(items, n_features)
    if is_list and all(isinstance(item, numbers.Integral) and not isinstance(item, bool) for item in items):
        return indexed_features(items, n_features)
    if is_list and all(isinstance(item, str) for item in items):
        return named_features(items, names)
    raise ValueError(
        f'categorical_features={given!r}; give "from_dtype", None, or a list: indices of columns, their names, or a '
        "boolean for every column."
    )


def masked_features(mask: list[bool], n_features: int) -> list[int]:
    """The features that a mask chooses."""
    if len(mask) != n_features:
        raise ValueError(
            f"categorical_features is a mask of length {len(mask)}, but X has {n_features} features; give a boolean "
            "for every feature."
        )
    return [feature for feature, is_given in enumerate(mask) if is_given]


def indexed_features(indices: list[int], n_features: int) -> list[int]:
    """The features at some indices."""
    outside = sorted({int(index) for index in indices if not 0 <= index < n_features})
    if outside:
        raise ValueError(
            f"categorical_features holds {outside}, but X has {n_features} features; give indices from 0 to "
            f"{n_features - 1}."
        )
    check_distinct([int(index) for index in indices])
    return sorted(int(index) for index in indices)


def named_features(wanted: list[str], names: list[str] | None) -> list[int]:
    """The features of some names."""
    if names is None:
        raise ValueError(
            f"categorical_features gives names, {wanted}, but the columns of X have none that are text; give indices "
            "or a mask, or a data frame with column names."
        )
    unknown = [name for name in wanted if name not in names]
    if unknown:
        raise ValueError(f"categorical_features holds {unknown}, but X has no such columns; its columns are {names}.")
    check_distinct(wanted)
    return [feature for feature, name in enumerate(names) if name in wanted]


def check_distinct(items: list[Any]) -> None:
    """Raise if a feature is given twice: one of them may be a slip for another feature."""
    repeated = sorted({item for item in items if items.count(item) > 1})
    if repeated:
        raise ValueError(f"categorical_features holds {repeated} more than once; give every feature once.")
