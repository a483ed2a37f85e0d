"""Categories and their codes 1.0, 2.0, ...

The code of a category is its rank among the sorted values of training, so it depends on the values only: not on the
container, nor on the order in which a category dtype lists them. If there are too many values, the most frequent ones
have codes of their own and the others share one.
"""

import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from heapq import nlargest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comboost._cached import cached_property
from comboost._data.checks import EXACT_INTEGERS, MAX_BITS, is_long, shown
from comboost._data.dates import NUMPY_TIMES, TIMES, order_of, plain_time
from comboost._types import CODE, SUM, Codes, Floats, Sums, Weights

MAX_CATEGORIES = 254  # with codes of their own: a byte also holds the shared code and that of missing values


@dataclass(frozen=True)
class Column:
    """A column as its distinct values and their index in every sample."""

    label: str  # name of the column in error messages
    #: Distinct values as Python objects. Some may be missing-value markers, some may be equal (1 and True).
    values: list[Any]
    indices: NDArray[np.integer[Any]]  # index into ``values`` for every sample; -1 for missing values

    @classmethod
    def of_array(cls, label: str, array: NDArray[Any]) -> "Column":
        """Find the distinct values of a 1-D array: numbers and times by sorting, other objects by hashing."""
        if array.dtype.kind in "biufmM":
            distinct, indices = np.unique(array, return_inverse=True)
            is_time = array.dtype.kind in "mM"
            return cls(label, [plain_time(value) for value in distinct] if is_time else distinct.tolist(), indices)
        index_of: dict[Any, int] = {}
        try:
            rows = (index_of.setdefault(value, len(index_of)) for value in array.tolist())
            indices = np.fromiter(rows, dtype=np.intp, count=len(array))
        except TypeError as error:
            raise ValueError(
                f"{label} of X cannot be used as categories: {error}. Give numbers, text or other values that can be "
                "hashed and sorted."
            ) from error
        return cls(label, list(index_of), indices)

    @classmethod
    def of_dictionary(
        cls, label: str, indices: NDArray[np.integer[Any]], values_at: Callable[[NDArray[np.intp]], list[Any]]
    ) -> "Column":
        """Keep the values of a dictionary that occur; ``values_at`` returns the values at some indices."""
        shifted = indices.astype(np.intp) + 1  # missing is 0
        used = np.flatnonzero(np.bincount(shifted)[1:])
        new_index = np.full(shifted.max() + 1, -1)
        new_index[used + 1] = np.arange(len(used))
        return cls(label, values_at(used), new_index[shifted])

    def weigh(self, weights: Weights | None = None) -> Sums:
        """Sum the integer weights of the samples of every value; count the samples if there are no weights."""
        # Index -1, of missing values, comes first. Sums of integers up to 2**53 are exact in floats.
        sums = np.bincount(self.indices + 1, weights, minlength=len(self.values) + 1)[1:]
        return sums.astype(SUM)

    def spread(self, numbers_of_values: list[float]) -> Floats:
        """Give every sample the number of its value; NaN for missing values."""
        rows: Floats = np.array([*numbers_of_values, math.nan])[self.indices]  # index -1 is the last
        return rows


@dataclass(frozen=True)
class CategoryCounts:
    """The distinct values of a column and their frequencies. Counts of parts can be joined in any order."""

    label: str  # name of the column in error messages
    weights: dict[Any, int]  # the summed integer weight of every value that is not missing

    @classmethod
    def of(cls, column: Column, weights: Weights | None) -> "CategoryCounts":
        """Count the values of a column, weighted by integer weights; None weighs every sample 1."""
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
        """Add up the counts of several parts."""
        totals: dict[Any, int] = {}
        for value, weight in (item for part in parts for item in part.weights.items()):
            totals[value] = totals.get(value, 0) + weight
        check_kind(parts[0].label, list(totals))
        return cls(parts[0].label, totals)

    def split(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """The values with a code of their own, and those that share one: the least frequent, if there are too many."""
        has_numpy_times = not set(map(type, self.weights)).isdisjoint(NUMPY_TIMES)
        try:
            ordered = sorted(self.weights, key=order_of if has_numpy_times else None)
        except TypeError as error:
            raise ValueError(
                f"{self.label} of X cannot be used as categories, since its values have no order: {error}. Give values "
                "of one type, for example with astype(str)."
            ) from error
        if len(ordered) <= MAX_CATEGORIES:
            return tuple(ordered), ()
        # Among equal weights the first values are kept, as by a stable sort.
        kept = set(nlargest(MAX_CATEGORIES, ordered, key=self.weights.__getitem__))
        return tuple(v for v in ordered if v in kept), tuple(v for v in ordered if v not in kept)


@dataclass(frozen=True)
class Categories:
    """The values of every categorical feature in training. Part of the model; empty if there are none."""

    #: The sorted values with codes of their own, by feature: all, or the most frequent. Whole numbers are ints.
    values: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    #: The sorted other values, which share the next code; only of features that have any.
    infrequent: dict[int, tuple[Any, ...]] = field(default_factory=dict)

    @classmethod
    def of_counts(cls, counts: Mapping[int, CategoryCounts]) -> "Categories":
        """The categories of columns whose values were counted."""
        categories = cls()
        for feature, counted in counts.items():
            categories._add(feature, counted)
        return categories

    def learn(self, feature: int, column: Column, weights: Weights | None) -> Codes:
        """Add a feature with the values of a column; return the codes of the samples, 0 for missing values."""
        few = len(column.values) <= MAX_CATEGORIES  # then frequencies do not matter
        counted = Column(column.label, column.values, column.indices[:0]) if few else column
        self._add(feature, CategoryCounts.of(counted, None if few else weights))
        return np.nan_to_num(self.codes(feature, column)).astype(CODE)

    def _add(self, feature: int, counted: CategoryCounts) -> None:
        self.values[feature], infrequent = counted.split()
        if infrequent:
            self.infrequent[feature] = infrequent

    def n_codes(self, feature: int) -> int:
        """Number of codes of a feature, without that of missing values."""
        return len(self.values[feature]) + (feature in self.infrequent)

    @cached_property
    def _code_of(self) -> dict[int, dict[Any, float]]:
        """Cache of `code_of`."""
        return {}

    def code_of(self, feature: int) -> dict[Any, float]:
        """The code of every value of a feature, computed once: predicting a single sample must be fast."""
        if feature not in self._code_of:
            known = self.values[feature]
            codes = dict.fromkeys(self.infrequent.get(feature, ()), len(known) + 1.0)
            codes.update((value, float(code)) for code, value in enumerate(known, start=1))
            self._code_of[feature] = codes
        return self._code_of[feature]

    def codes(self, feature: int, column: Column) -> Floats:
        """The code of every sample: 1.0, 2.0, ... in sorted order, then the one that infrequent values share.

        NaN for missing values and for values not seen in training.
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
        # Equal numbers and equal text have the same hash, whatever their type; times have not.
        values = column.values if now != "other objects" else map(plain, column.values)
        return column.spread([code_of.get(value, math.nan) for value in values])


def as_values(values: Sequence[Any]) -> NDArray[Any]:
    """Convert values to an array of numbers if all are numbers, else of objects."""
    kind = object if any(kind_of(value) != "numbers" for value in values) else None
    array: NDArray[Any] = np.array(values, dtype=kind)
    return array


def is_text(values: list[Any]) -> bool:
    """Whether all values are text and none is missing."""
    return set(map(type, values)) == {str}


def check_kind(label: str, values: list[Any]) -> str | None:
    """Return the kind of the values, None if all are missing; raise if there are several kinds."""
    if is_text(values):
        return "text"
    example_of = {kind_of(value): value for value in values if not is_missing(value)}
    # Integers are never infinite, however large.
    if any(isinstance(value, (float, np.floating, Decimal)) and math.isinf(value) for value in values):
        raise ValueError(
            f"Input X contains infinity in {label}, which is not a category; replace it by another value, or by "
            "NaN where the value is unknown."
        )
    if (long := next(filter(is_long, values), None)) is not None:
        raise ValueError(
            f"{label} of X holds {shown(long)}, a number of more than {MAX_BITS} bits, which is not a category; give "
            "smaller numbers, or text."
        )
    if len(example_of) > 1:
        seen = ", ".join(f"{kind} ({value!r})" for kind, value in example_of.items())
        raise ValueError(
            f"{label} of X mixes categories of several kinds: {seen}. Give values of one kind, for example with "
            "astype(str)."
        )
    return next(iter(example_of), None)


def kind_of(value: Any) -> str:
    """Kind of a value: "numbers", "text" or "other objects". Values of different kinds are never equal."""
    if isinstance(value, (numbers.Real, np.bool_, Decimal)) and not isinstance(value, np.timedelta64):
        return "numbers"
    return "text" if isinstance(value, str) else "other objects"


def plain(value: Any) -> Any:
    """Convert a value to the form in which models store it: Python types, and whole numbers as ints."""
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
