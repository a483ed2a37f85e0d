"""Types and ranges of constructor parameters. In: an estimator. Out: nothing, or an error that says what to give."""

import math
import numbers
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Rule = tuple[str, Callable[[Any], bool]]  # what is expected, in words, and whether a value is it


def integer(low: int, high: float = math.inf) -> Rule:
    """An integer of at least ``low`` and at most ``high``."""
    words = f"an integer of at least {low}" if high == math.inf else f"an integer from {low} to {high}"
    return words, lambda value: _is_integer(value) and low <= value <= high


def real(low: float, high: float, *, without_low: bool = False, without_high: bool = False) -> Rule:
    """A number in [low, high], without the one or the other where that is said."""
    words = f"a number in {'(' if without_low else '['}{low:g}, {high:g}{')' if without_high else ']'}"
    outside = [low] * without_low + [high] * without_high
    return words, lambda value: _is_real(value) and low <= value <= high and value not in outside


def choice(*options: str) -> Rule:
    """One of some strings."""
    return " or ".join(map(repr, options)), lambda value: isinstance(value, str) and value in options


def either(*rules: Rule) -> Rule:
    """What one of the rules allows."""
    return ", or ".join(words for words, _ in rules), lambda value: any(holds(value) for _, holds in rules)


NOTHING: Rule = ("None", lambda value: value is None)
SWITCH: Rule = ("True or False", lambda value: isinstance(value, bool | np.bool_))
TEXT: Rule = ("a string", lambda value: isinstance(value, str))
FUNCTION: Rule = ("a callable", callable)


def check_parameters(estimator: Any, rules: Mapping[str, Rule]) -> None:
    """Raise where a parameter of the estimator breaks its rule."""
    for name, (words, holds) in rules.items():
        value = getattr(estimator, name)
        if not holds(value):
            raise ValueError(f"{type(estimator).__name__} got {name}={value!r}; give {words}.")


def _is_integer(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _is_real(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)
