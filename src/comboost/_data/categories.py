"""Categories to numbers. In: columns, as distinct values and each row's place among them. Out: codes 1.0, 2.0, ...

A code is the place of a value among the sorted values of training, so it depends on the values alone: not on the
container, nor on the order in which a category dtype lists them. Of too many values, the most frequent have codes of
their own, and the others share one.
"""

import math
import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from heapq import nlargest
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from comboost._cached import cached_property
from comboost._data.dates import NUMPY_TIMES, TIMES, order_of, plain_time
from comboost._data.floats import EXACT_INTEGERS
from comboost._types import CODE, SUM, Codes, Floats, Sums, Weights

MAX_CATEGORIES = 254  # with codes of their own: a byte also holds the one that others share, and that of missing ones


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

    def weigh(self, weights: Weights | None = None) -> Sums:
        """The summed integer weight of the rows of every value; how many rows these are if there are no weights."""
        # The place -1, of missing ones, is first. Sums of integers up to 2**53 are exact in floats.
        found = np.bincount(self.places + 1, weights, minlength=len(self.values) + 1)[1:]
        return found.astype(SUM)

    def without_rows(self) -> "Column":
        """The values alone."""
        return Column(self.label, self.values, self.places[:0])

    def spread(self, numbers_of_values: list[float]) -> Floats:
        """Give every row the number of its value; NaN if that is missing."""
        rows: Floats = np.array([*numbers_of_values, math.nan])[self.places]  # the place -1 is the last
        return rows


class HasColumns(Protocol):
    """Whatever has columns to fit categories on."""

    def column_values(self, feature: int) -> Column:
        """A column as its values and each row's place among them."""


@dataclass(frozen=True)
class CategoryCounts:
    """The distinct values of a column, and how often there is which. Those of parts can be added up in any order.

    Attributes
    ----------
    label : str
        What errors call the column.
    weights : dict
        The summed integer weight of every value that is not missing.
    """

    label: str
    weights: dict[Any, int]

    @classmethod
    def of(cls, column: Column, weights: Weights | None) -> "CategoryCounts":
        """Count the values of a column whose rows have these weights; None if every row weighs 1."""
        counted = list(zip(column.values, column.weigh(weights).tolist(), strict=True))
        totals: dict[Any, int] = dict(counted) if is_text(column.values) else {}
        if len(totals) == len(counted):
            return cls(column.label, totals)
        check_kind(column.label, column.values)
        totals = {}
        for value, weight in counted:
            if not is_missing(value):
                known = plain(value)
                totals[known] = totals.get(known, 0) + weight
        return cls(column.label, totals)

    @classmethod
    def join(cls, parts: "Sequence[CategoryCounts]") -> "CategoryCounts":
        """Those of several parts."""
        totals: dict[Any, int] = {}
        for value, weight in (item for part in parts for item in part.weights.items()):
            totals[value] = totals.get(value, 0) + weight
        check_kind(parts[0].label, list(totals))
        return cls(parts[0].label, totals)

    def split(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """The values with a code of their own, and those that share one: the lightest, if there are too many."""
        ordered = sorted_distinct(self.label, set(self.weights))
        if len(ordered) <= MAX_CATEGORIES:
            return tuple(ordered), ()
        # Of equal weights the first values are kept, as by a stable sort.
        kept = set(nlargest(MAX_CATEGORIES, ordered, key=self.weights.__getitem__))
        return tuple(v for v in ordered if v in kept), tuple(v for v in ordered if v not in kept)


@dataclass(frozen=True)
class Categories:
    """The values of every category column, as seen in training. Part of the model; empty if there are none.

    Parameters
    ----------
    values : dict of int to tuple
        The sorted distinct values of every such feature that have codes of their own: all, or the most frequent ones.
        Whole numbers are ints, whatever they came as.
    infrequent : dict of int to tuple
        The sorted other values, which share the code after those; only for features that have any.
    """

    values: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    infrequent: dict[int, tuple[Any, ...]] = field(default_factory=dict)

    @classmethod
    def fit(
        cls, raw: HasColumns, features: Iterable[int], weights: Weights | None = None
    ) -> tuple["Categories", dict[int, Codes]]:
        """Collect the values that the rows of these features hold, and the codes of the rows, 0 for missing values."""
        categories, codes = cls(), {}
        for feature in features:
            codes[feature] = categories.learn(feature, raw.column_values(feature), weights)
        return categories, codes

    @classmethod
    def of_counts(cls, counts: Mapping[int, CategoryCounts]) -> "Categories":
        """The categories of columns whose values are counted."""
        categories = cls()
        for feature, counted in counts.items():
            categories._add(feature, counted)
        return categories

    def learn(self, feature: int, column: Column, weights: Weights | None) -> Codes:
        """Add a feature with the values of a column, and code its rows, 0 for missing values."""
        few = len(column.values) <= MAX_CATEGORIES  # nobody asks how often there is which
        self._add(feature, CategoryCounts.of(column.without_rows() if few else column, None if few else weights))
        return np.nan_to_num(self.codes(feature, column)).astype(CODE)

    def _add(self, feature: int, counted: CategoryCounts) -> None:
        self.values[feature], infrequent = counted.split()
        if infrequent:
            self.infrequent[feature] = infrequent

    def n_codes(self, feature: int) -> int:
        """Codes of the values of a feature, without that of missing ones."""
        return len(self.values[feature]) + (feature in self.infrequent)

    @cached_property
    def _code_of(self) -> dict[int, dict[Any, float]]:
        """The codes of the values of every feature that was asked for."""
        return {}

    def code_of(self, feature: int) -> dict[Any, float]:
        """The code of every value of a feature, made once: a single row is to be predicted in no time."""
        if feature not in self._code_of:
            known = self.values[feature]
            codes = dict.fromkeys(self.infrequent.get(feature, ()), len(known) + 1.0)
            codes.update((value, float(code)) for code, value in enumerate(known, start=1))
            self._code_of[feature] = codes
        return self._code_of[feature]

    def codes(self, feature: int, column: Column) -> Floats:
        """The code of every row: 1.0, 2.0, ... in sorted order, then the one that infrequent values share.

        NaN for missing values and for those that training has not seen.
        """
        known = self.values[feature]
        now = check_kind(column.label, column.values)
        if known and now is not None and now != kind_of(known[0]):
            example = next(value for value in column.values if not is_missing(value))
            raise ValueError(
                f"{column.label} of X held {kind_of(known[0])} in training, such as {known[0]!r}, and holds {now} now, "
                f"such as {example!r}; give values of the kind seen in training."
            )
        code_of = self.code_of(feature)
        # Numbers and text that are equal have the same hash, whatever their type; times have not.
        values = column.values if now != "other objects" else map(plain, column.values)
        return column.spread([code_of.get(value, math.nan) for value in values])


def as_values(values: Sequence[Any]) -> NDArray[Any]:
    """Values as an array: of numbers if they are such, else of objects."""
    kind = object if any(kind_of(value) != "numbers" for value in values) else None
    array: NDArray[Any] = np.array(values, dtype=kind)
    return array


def sorted_distinct(label: str, distinct: set[Any]) -> list[Any]:
    """Values in sorted order."""
    has_numpy_times = not set(map(type, distinct)).isdisjoint(NUMPY_TIMES)
    try:
        return sorted(distinct, key=order_of if has_numpy_times else None)
    except TypeError as error:
        raise ValueError(
            f"{label} of X cannot be used as categories, since its values have no order: {error}. Give values "
            "of one type, for example with astype(str)."
        ) from error


def is_text(values: list[Any]) -> bool:
    """Whether all values are text, none of them missing: told without a look at each."""
    return set(map(type, values)) == {str}


def check_kind(label: str, values: list[Any]) -> str | None:
    """The one kind of some values; None if all are missing, an error if there are several."""
    if is_text(values):
        return "text"
    example_of = {kind_of(value): value for value in values if not is_missing(value)}
    if any(map(is_infinite, values)):
        raise ValueError(
            f"Input X contains infinity in {label}, which is no category; replace it by another value, or by "
            "NaN where it means that nothing is known."
        )
    if len(example_of) > 1:
        seen = ", ".join(f"{kind} ({value!r})" for kind, value in example_of.items())
        raise ValueError(
            f"{label} of X mixes categories of several kinds: {seen}. Give values of one kind, for example with "
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
