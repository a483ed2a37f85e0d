"""Content of text and object columns: numbers, times or words.

Numeric text, such as "1.5", is read as numbers in any container; other text may be categories. A column of numbers
with a few words, such as "?", is an error: the words are most likely missing-value markers.
"""

import datetime
import math
import numbers
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comboost._data.categories import Column, is_missing, is_text
from comboost._data.checks import shown, why_not_float
from comboost._data.dates import NUMPY_TIMES, seconds_of
from comboost._types import Floats, Weights

NUMBERS, TEXT, OBJECTS = "numbers", "text", "other objects"
DATES, CLOCKS, DURATIONS = "dates", "times of day", "durations"
TIMED = {DATES, CLOCKS, DURATIONS}
#: Kind of content by type, subclasses first: np.timedelta64 is registered as an integer.
CONTENT_OF_TYPE: tuple[tuple[tuple[type, ...], str], ...] = (
    ((str,), TEXT),
    ((np.timedelta64, datetime.timedelta), DURATIONS),
    ((np.datetime64, datetime.date), DATES),
    ((datetime.time,), CLOCKS),
    ((numbers.Real, np.bool_, Decimal, bytes), NUMBERS),
)
MISSING_TYPES = ("NoneType", "NAType", "NaTType", "MaskedConstant")  # two are of pandas, which may not be installed

#: Common missing-value markers in files.
PLACEHOLDERS = {"", "?", "-", "--", ".", "*", "na", "n/a", "#n/a", "n.a.", "null", "none", "nil", "missing", "unknown"}
NUMBER_START = re.compile(r"\s*+[+-]?(\d|\.\d|nan|inf)", re.IGNORECASE)  # rejects most text without a conversion
MANY = 9  # with this many numbers for every word, a column is numeric
MOST_SHOWN = 5


def content_of(held: type) -> str | None:
    """Kind of content of a type; None for the types of missing values."""
    if held.__name__ in MISSING_TYPES:
        return None
    return next((kind for types, kind in CONTENT_OF_TYPE if issubclass(held, types)), OBJECTS)


def is_numeric(text: str) -> bool:
    """Whether Python can convert text to a number."""
    return NUMBER_START.match(text) is not None and why_not_float(text) is None


def is_placeholder(text: str) -> bool:
    """Whether text is a common missing-value marker."""
    return text.strip().casefold() in PLACEHOLDERS


@dataclass(frozen=True)
class ColumnContent:
    """Kinds of values in a column. The contents of parts can be joined in any order."""

    label: str  # name of the column in error messages
    n_samples: int
    examples: Mapping[str, Any] = field(default_factory=dict)  # a value of every kind that occurs
    n_numeric: int = 0  # the summed integer weight of numeric text
    n_words: int = 0  # the summed integer weight of words that are not placeholders
    words: Mapping[str, int] = field(default_factory=dict)  # number of samples of every text that is not numeric

    @classmethod
    def of_column(cls, column: Column, weights: Weights | None) -> "ColumnContent":
        """Summarise a column, weighted by integer weights; None weighs every sample 1."""
        counts = column.weigh().tolist()
        weight_sums = counts if weights is None else column.weigh(weights).tolist()
        words: dict[str, int] = {}
        n_numeric = n_words = 0
        for value, n_samples, weight in zip(column.values, counts, weight_sums, strict=True):
            if not isinstance(value, str):
                continue
            if is_numeric(value):
                n_numeric += weight
            else:
                n_words += 0 if is_placeholder(value) else weight
                words[value] = n_samples
        if is_text(column.values):
            examples = {TEXT: column.values[0]}
        else:
            kinds = ((content_of(type(value)), value) for value in column.values if not is_missing(value))
            examples = {kind: value for kind, value in kinds if kind is not None}
        return cls(column.label, len(column.indices), examples, n_numeric, n_words, words)

    @classmethod
    def of_objects(
        cls, label: str, array: NDArray[Any], weights: Weights | None, find: Callable[[], Column]
    ) -> "tuple[ColumnContent, Column | None]":
        """Summarise an array of objects; also return its distinct values, if they had to be found."""
        values = array.tolist()
        example_of_type = dict(zip(map(type, values), values, strict=True))
        kinds = {content_of(held): value for held, value in example_of_type.items()}
        if OBJECTS in kinds:
            return cls(label, len(values), {OBJECTS: kinds[OBJECTS]}), None
        certain = {kind for kind in kinds if kind is not None}
        if len(certain) < 2 and TEXT not in certain:
            # NaN is a number by its type.
            first = islice((value for value in values if not is_missing(value)), 1)
            return cls(label, len(values), dict(zip(certain, first, strict=False))), None
        column = find()
        return cls.of_column(column, weights), column

    @classmethod
    def join(cls, parts: "Sequence[ColumnContent]") -> "ColumnContent":
        """Join the contents of several parts."""
        examples: dict[str, Any] = {}
        words: dict[str, int] = {}
        for part in parts:
            examples |= part.examples
            for word, n_samples in part.words.items():
                words[word] = words.get(word, 0) + n_samples
        sums = (sum(part.n_numeric for part in parts), sum(part.n_words for part in parts))
        return cls(parts[0].label, sum(part.n_samples for part in parts), examples, *sums, words)

    def is_category(self, *, text_allowed: bool, if_empty: bool) -> bool:
        """Whether a column holds categories, which text can be if it is allowed, or numbers; raise if neither."""
        kinds = set(self.examples)
        if not kinds:
            return if_empty
        if OBJECTS in kinds:
            object_float(self.examples[OBJECTS], self.label)
        if kinds <= {NUMBERS, TEXT}:
            if not self.words:
                return False
            if self._is_mostly_numeric() or NUMBERS in kinds:
                raise self._word_error()
            if not text_allowed:
                raise text_error(self.label, next(iter(self.words)))
            return True
        if len(kinds) > 1:
            seen = ", ".join(f"{kind} ({value!r})" for kind, value in sorted(self.examples.items()))
            raise ValueError(f"{self.label} of X mixes {seen}; give values of one kind.")
        return False

    def _is_mostly_numeric(self) -> bool:
        """Whether words are rare among numbers."""
        if NUMBERS not in self.examples:
            return self.n_numeric > 0 and MANY * self.n_words <= self.n_numeric
        return MANY * sum(n for word, n in self.words.items() if not is_placeholder(word)) <= self.n_samples

    def _word_error(self) -> ValueError:
        """Error about words among numbers."""
        by_rows = sorted(self.words, key=lambda word: (-self.words[word], word))
        listed = [f"{shown(word)} ({self.words[word]} of {self.n_samples} rows)" for word in by_rows[:MOST_SHOWN]]
        if len(by_rows) > MOST_SHOWN:
            listed.append(f"and {len(by_rows) - MOST_SHOWN} more")
        if not self._is_mostly_numeric():
            advice = "Give numbers alone, or text alone, for example with astype(str)"
        else:
            advice = (
                "If these stand for missing values, which is likely, give them as na_values= to the function that "
                "reads the file, or replace them by NaN; if the column holds categories, name it in "
                'categorical_features, or give it a category dtype, with astype("category") in pandas'
            )
            if NUMBERS in self.examples:
                advice += " after astype(str)"
        return ValueError(f"{self.label} of X holds numbers, but also {', '.join(listed)}. {advice}.")


def text_floats(column: Column) -> Floats:
    """Convert a column of numeric text to floats."""
    ColumnContent.of_column(column, None).is_category(text_allowed=False, if_empty=False)
    return column.spread([object_float(value, column.label) for value in column.values])


def object_floats(array: NDArray[Any], label: str) -> Floats:
    """Convert numbers, times and numeric text of any type to floats."""
    if array.dtype.kind != "O" or set(map(type, array.tolist())).isdisjoint(NUMPY_TIMES):  # NumPy drops their units
        try:
            return array.astype(np.float64)
        except (ArithmeticError, TypeError, ValueError):  # a value is pandas.NA, a time, not a number or too large
            pass
    content, _ = ColumnContent.of_objects(label, array, None, lambda: Column.of_array(label, array))
    content.is_category(text_allowed=False, if_empty=False)
    return np.array([object_float(value, label) for value in array.tolist()])


def object_float(value: Any, label: str) -> float:
    """Convert an object to a float; raise an error that names it."""
    try:
        if is_missing(value):
            return math.nan
        return seconds_of(value) if content_of(type(value)) in TIMED else float(value)
    except OverflowError as error:
        raise ValueError(
            f"{label} of X holds {shown(value)}, and floats end at 1.8e308; scale the column, or give NaN for unknown "
            "values."
        ) from error
    except ValueError as error:
        if isinstance(value, str):
            raise text_error(label, value) from error
        raise ValueError(
            f"{label} of X holds {shown(value)}, which is not a number; give a number, or NaN if it is unknown."
        ) from error
    except TypeError as error:
        raise TypeError(f"{label} of X holds {value!r}: {error}. Convert the column to numbers, or drop it.") from error


def category_floats(column: Column) -> Floats:
    """Convert a column of a category dtype, whose values are numbers, to floats."""
    text = next((value for value in column.values if isinstance(value, str)), None)
    if text is not None:
        raise text_error(column.label, text)
    try:
        return column.spread([object_float(value, column.label) for value in column.values])
    except TypeError as error:
        raise ValueError(
            f"{column.label} of X holds categories that are not numbers: {error.__cause__}. Name the column in "
            "categorical_features, or convert it to numbers."
        ) from error


def text_error(label: str, text: str) -> ValueError:
    """Error about text in a column that is not categorical."""
    return ValueError(
        f"{label} of X holds text, such as {text!r}, where a number is expected. If it holds categories, name it in "
        'categorical_features, or give a data frame in which it has a category dtype, with astype("category") in '
        "pandas; else convert it to numbers."
    )


def dtype_error(label: str, dtype: Any) -> ValueError:
    """Error about a dtype that cannot be converted, such as periods."""
    return ValueError(f"{label} of X has the dtype {dtype}, which is not numeric; convert it to numbers, or drop it.")
