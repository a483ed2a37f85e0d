"""Checks of single values: numbers that floats can hold, masked arrays, and errors that name the invalid value."""

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from reprlib import repr as short_repr
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

EXACT_INTEGERS = 2**53  # floats up to this hold every integer
MAX_BITS = 4096  # of an integer that is a label or category: Python does not write much longer ones
MAX_DIGITS = 1234  # of such an integer
MAX_NESTED = 32  # lists within lists; arrays of NumPy 1 have no more dimensions
FLOAT_ERRORS = (ArithmeticError, TypeError, ValueError)  # that float() may raise


def shown(value: Any) -> str:
    """Format a value for an error message, shortened if it is long."""
    if isinstance(value, Fraction) and is_long(value):
        return f"a fraction of integers of {value.numerator.bit_length()} and {value.denominator.bit_length()} bits"
    try:
        return short_repr(value)
    except ValueError:  # Python does not write integers of more than 4300 digits
        return f"an integer of {value.bit_length()} bits" if isinstance(value, int) else "numbers too long to show"


def is_long(value: Any) -> bool:
    """Whether a number has a longer integer, numerator or denominator than labels and categories may have."""
    if isinstance(value, Decimal):  # converting it to an integer would take a time quadratic in its digits
        return value.is_finite() and value.adjusted() >= MAX_DIGITS
    if isinstance(value, Fraction):
        return max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS
    return isinstance(value, int) and value.bit_length() > MAX_BITS


def format_position(index: tuple[int, ...]) -> str:
    """Format the index of an array element for an error message."""
    axes = [f"{axis} {i}" for axis, i in zip(("row", "column", "layer"), index, strict=False)]
    return f" in {', '.join(axes)}, counted from 0" if axes else ""


@contextmanager
def numbers_in_errors(given: Any, name: str, *, types_too: bool = False) -> Iterator[None]:
    """Name the first value that is not a number in errors of this block; ``types_too`` keeps a TypeError as such."""
    try:
        yield
    except FLOAT_ERRORS as error:
        kind = TypeError if types_too and isinstance(error, TypeError) else ValueError
        if issparse(given) or as_rectangle(given, name).dtype.kind in "biuf":
            raise
        values = np.array(given, dtype=object)
        for index in np.ndindex(values.shape):
            if (reason := why_not_float(values[index])) is not None:
                raise kind(
                    f"{name} holds {shown(values[index])}{format_position(index)}: {reason}. Give real numbers that a "
                    "float can hold, up to 1.8e308."
                ) from error
        raise


def as_rectangle(values: Any, name: str) -> NDArray[Any]:
    """Convert values to an array; raise ValueError if rows differ in length."""
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} has rows of several lengths; give as many values in every row.") from error


def why_not_float(value: Any) -> str | None:
    """Return why a value cannot be converted to a float; None if it can."""
    if isinstance(value, complex | np.complexfloating):
        return "Complex data not supported"
    try:
        float(value)
    except FLOAT_ERRORS as error:
        return None if value is None else str(error)
    return None


class InvalidColumns:
    """Errors about several columns, raised as one. Used as a context manager, it stores an error for later."""

    def __init__(self) -> None:
        self.errors: list[Exception] = []

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: Any, error: BaseException | None, _traceback: Any) -> bool:
        if not isinstance(error, (TypeError, ValueError)):
            return False
        self.errors.append(error)
        return True

    def raise_any(self) -> None:
        """Raise a single error unchanged, and several as one that lists them."""
        if len(self.errors) == 1:
            raise self.errors[0]
        if self.errors:
            kind = TypeError if all(isinstance(error, TypeError) for error in self.errors) else ValueError
            reasons = "\n".join(f"- {error}" for error in self.errors)
            raise kind(f"{len(self.errors)} columns of X cannot be used:\n{reasons}") from self.errors[0]


def check_unmasked(given: Any, name: str, what_to_do: str) -> None:
    """Raise if any value is masked."""
    if not has_mask(given):
        return
    mask = mask_of(given)
    if mask.any():
        first = format_position(tuple(np.argwhere(mask)[0].tolist()))
        raise ValueError(f"{name} holds {mask.sum()} masked value(s), the first{first}; {what_to_do}")


def has_mask(given: Any) -> bool:
    """Whether this is a masked array, or a list that contains one or a masked value; raise if lists have no end."""
    if not isinstance(given, (list, tuple)):
        return isinstance(given, np.ma.MaskedArray)
    lists, is_masked = [given], False
    for _ in range(MAX_NESTED):
        types = set().union(*(map(type, values) for values in lists))
        is_masked |= any(issubclass(held, np.ma.MaskedArray) for held in types)  # np.ma.masked is one, too
        if not any(issubclass(held, (list, tuple)) for held in types):
            return is_masked
        inner = (value for values in lists for value in values if isinstance(value, (list, tuple)))
        lists = list({id(value): value for value in inner}.values())
    raise ValueError(
        f"The input is a list whose lists are nested more than {MAX_NESTED} deep, or that contains itself; give a list "
        "of values, or of rows of values."
    )


def mask_of(given: Any) -> NDArray[np.bool_]:
    """Which values are masked."""
    if isinstance(given, np.ma.MaskedArray):
        return np.ma.getmaskarray(given)
    if isinstance(given, (list, tuple)) and has_mask(given):
        return np.array([mask_of(value) for value in given])
    return np.zeros(np.shape(given), dtype=bool)


def fill_mask(given: Any) -> Any:
    """Replace masked values by missing ones: NaN in numbers, NaT in times, None in other objects."""
    if not has_mask(given):
        return given
    mask = mask_of(given)
    if not isinstance(given, np.ma.MaskedArray):
        values = np.array(given, dtype=object)
    elif not mask.any():
        return given.data
    elif given.dtype.kind == "f" or (
        given.dtype.kind in "biu" and max(-int(given.data.min()), int(given.data.max())) <= EXACT_INTEGERS
    ):
        return np.ma.filled(given.astype(np.promote_types(given.dtype, np.float16)), np.nan)
    elif given.dtype.kind in "mM":
        return np.ma.filled(given, given.dtype.type("NaT"))
    else:
        values = given.data.astype(object)
    values[mask] = None
    return values
