"""What text and objects are: numbers, times, words. In: the values of a column. Out: floats, or why there are none.

Text that spells numbers counts as numbers, in any container; other text may be categories. A column of numbers in
which a few values are words, such as "?", is neither: these most likely stand for missing values.
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
from comboost._data.dates import NUMPY_TIMES, seconds_of
from comboost._data.floats import shown, why_no_float
from comboost._types import Floats, Weights

NUMBERS, TEXT, OBJECTS = "numbers", "text", "other objects"
DATES, CLOCKS, DURATIONS = "dates", "times of day", "durations"
TIMED = {DATES, CLOCKS, DURATIONS}
#: Types and what they hold, the more special ones first: a duration of NumPy's says that it is an integer.
CONTENT_OF_TYPE: tuple[tuple[tuple[type, ...], str], ...] = (
    ((str,), TEXT),
    ((np.timedelta64, datetime.timedelta), DURATIONS),
    ((np.datetime64, datetime.date), DATES),
    ((datetime.time,), CLOCKS),
    ((numbers.Real, np.bool_, Decimal, bytes), NUMBERS),
)
MISSING_TYPES = ("NoneType", "NAType", "NaTType", "MaskedConstant")  # two of pandas, which may not be there

#: What files write where nothing is known.
PLACEHOLDERS = {"", "?", "-", "--", ".", "*", "na", "n/a", "#n/a", "n.a.", "null", "none", "nil", "missing", "unknown"}
NUMBER_START = re.compile(r"\s*[+-]?\s*(\d|\.\d|nan|inf)", re.IGNORECASE)  # of most text, this tells that it is none
MANY = 9  # this many numbers for every word: a column of numbers
MOST_SHOWN = 5


def content_of(held: type) -> str | None:
    """What values of a type are; None if they are all missing."""
    if held.__name__ in MISSING_TYPES:
        return None
    return next((kind for types, kind in CONTENT_OF_TYPE if issubclass(held, types)), OBJECTS)


def spells_number(text: str) -> bool:
    """Whether text is a number as Python reads it."""
    return NUMBER_START.match(text) is not None and why_no_float(text) is None


def stands_for_missing(text: str) -> bool:
    """Whether text is what files write where nothing is known."""
    return text.strip().casefold() in PLACEHOLDERS


def examples_of(values: list[Any]) -> dict[str, Any]:
    """A value of every kind that there is, besides missing ones."""
    if is_text(values):
        return {TEXT: values[0]}
    kinds = ((content_of(type(value)), value) for value in values if not is_missing(value))
    return {kind: value for kind, value in kinds if kind is not None}


@dataclass(frozen=True)
class Mixture:
    """Of what sorts the values of a column are. Those of parts of the rows can be joined in any order.

    Attributes
    ----------
    label : str
        What errors call the column.
    n_samples : int
        Its rows.
    examples : mapping of str to object
        A value of every kind that there is.
    n_spelled, n_words : int
        The summed integer weight of text that spells numbers, and of words that do not stand for missing values.
    words : mapping of str to int
        In how many rows there is which text that spells no number.
    """

    label: str
    n_samples: int
    examples: Mapping[str, Any] = field(default_factory=dict)
    n_spelled: int = 0
    n_words: int = 0
    words: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of_column(cls, column: Column, weights: Weights | None) -> "Mixture":
        """Look at the values of a column whose rows have these weights; None if every row weighs 1."""
        rows = column.weigh().tolist()
        weight_sums = rows if weights is None else column.weigh(weights).tolist()
        words: dict[str, int] = {}
        n_spelled = n_words = 0
        for value, n_samples, mass in zip(column.values, rows, weight_sums, strict=True):
            if not isinstance(value, str):
                continue
            if spells_number(value):
                n_spelled += mass
            else:
                n_words += 0 if stands_for_missing(value) else mass
                words[value] = n_samples
        return cls(column.label, len(column.places), examples_of(column.values), n_spelled, n_words, words)

    @classmethod
    def of_objects(
        cls, label: str, array: NDArray[Any], weights: Weights | None, find: Callable[[], Column]
    ) -> "tuple[Mixture, Column | None]":
        """Look at an array of objects; with their distinct values, if these had to be found."""
        values = array.tolist()
        example_of_type = dict(zip(map(type, values), values, strict=True))
        kinds = {content_of(held): value for held, value in example_of_type.items()}
        if OBJECTS in kinds:
            return cls(label, len(values), {OBJECTS: kinds[OBJECTS]}), None
        sure = {kind for kind in kinds if kind is not None}
        if len(sure) < 2 and TEXT not in sure:
            # NaN is of a type of numbers, too.
            first = islice((value for value in values if not is_missing(value)), 1)
            return cls(label, len(values), dict(zip(sure, first, strict=False))), None
        column = find()
        return cls.of_column(column, weights), column

    @classmethod
    def join(cls, parts: "Sequence[Mixture]") -> "Mixture":
        """That of several parts."""
        examples: dict[str, Any] = {}
        words: dict[str, int] = {}
        for part in parts:
            examples |= part.examples
            for word, n_samples in part.words.items():
                words[word] = words.get(word, 0) + n_samples
        sums = (sum(part.n_spelled for part in parts), sum(part.n_words for part in parts))
        return cls(parts[0].label, sum(part.n_samples for part in parts), examples, *sums, words)

    def is_category(self, *, text_allowed: bool, if_empty: bool) -> bool:
        """Whether a column holds categories, if text may be some, or numbers; an error if it is neither."""
        kinds = set(self.examples)
        if not kinds:
            return if_empty
        if OBJECTS in kinds:
            object_float(self.examples[OBJECTS], self.label)
        if kinds <= {NUMBERS, TEXT}:
            if not self.words:
                return False
            if self._is_of_numbers() or NUMBERS in kinds:
                raise self._word_error()
            if not text_allowed:
                raise text_error(self.label, next(iter(self.words)))
            return True
        if len(kinds) > 1:
            seen = ", ".join(f"{kind} ({value!r})" for kind, value in sorted(self.examples.items()))
            raise ValueError(f"{self.label} of X mixes {seen}; give values of one kind.")
        return False

    def _is_of_numbers(self) -> bool:
        """Whether words are what is odd in a column, and not numbers."""
        if NUMBERS not in self.examples:
            return self.n_spelled > 0 and MANY * self.n_words <= self.n_spelled
        return MANY * sum(n for word, n in self.words.items() if not stands_for_missing(word)) <= self.n_samples

    def _word_error(self) -> ValueError:
        """What to do about a few words among numbers."""
        by_rows = sorted(self.words, key=lambda word: (-self.words[word], word))
        listed = [f"{shown(word)} ({self.words[word]} of {self.n_samples} rows)" for word in by_rows[:MOST_SHOWN]]
        if len(by_rows) > MOST_SHOWN:
            listed.append(f"and {len(by_rows) - MOST_SHOWN} more")
        if not self._is_of_numbers():
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
    """A column of text as the numbers that it spells."""
    Mixture.of_column(column, None).is_category(text_allowed=False, if_empty=False)
    return column.spread([object_float(value, column.label) for value in column.values])


def object_floats(array: NDArray[Any], label: str) -> Floats:
    """Numbers, times and text that spells numbers, of any type, as floats."""
    if array.dtype.kind != "O" or set(map(type, array.tolist())).isdisjoint(NUMPY_TIMES):  # NumPy drops their units
        try:
            return array.astype(np.float64)
        except (ArithmeticError, TypeError, ValueError):  # a value is pandas.NA, a time, no number or too large
            pass
    mixture, _ = Mixture.of_objects(label, array, None, lambda: Column.of_array(label, array))
    mixture.is_category(text_allowed=False, if_empty=False)
    return np.array([object_float(value, label) for value in array.tolist()])


def object_float(value: Any, label: str) -> float:
    """An object as a float, or an error that says what it is."""
    try:
        if is_missing(value):
            return math.nan
        return seconds_of(value) if content_of(type(value)) in TIMED else float(value)
    except OverflowError as error:
        raise range_error(label, value) from error
    except ValueError as error:
        raise (text_error if isinstance(value, str) else number_error)(label, value) from error
    except TypeError as error:
        raise TypeError(f"{label} of X holds {value!r}: {error}. Convert the column to numbers, or drop it.") from error


def category_floats(column: Column) -> Floats:
    """A column of a category dtype as the numbers that its values are, if they are to be read as such."""
    text = next((value for value in column.values if isinstance(value, str)), None)
    if text is not None:
        raise text_error(column.label, text)
    try:
        return column.spread([object_float(value, column.label) for value in column.values])
    except TypeError as error:
        raise ValueError(
            f"{column.label} of X holds categories that are no numbers: {error.__cause__}. Name the column in "
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


def number_error(label: str, value: Any) -> ValueError:
    """What to do about a number that is none, such as a signalling NaN."""
    return ValueError(f"{label} of X holds {shown(value)}, which is no number; give one, or NaN if it is not known.")


def dtype_error(label: str, dtype: Any) -> ValueError:
    """What to do about periods and the like."""
    return ValueError(f"{label} of X has the dtype {dtype}, which holds no numbers; convert it to numbers, or drop it.")
