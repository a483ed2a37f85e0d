"""Numbers of any type as floats. In: values as given. Out: an error that says which of them is no float, and where."""

from collections.abc import Iterator
from contextlib import contextmanager
from reprlib import repr as short_repr
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

EXACT_INTEGERS = 2**53  # floats up to this hold every integer
NO_FLOAT = (ArithmeticError, TypeError, ValueError)  # what float() may say


def shown(value: Any) -> str:
    """A value as errors show it, however long it is."""
    try:
        return short_repr(value)
    except ValueError:  # Python writes no integer of more than 4300 digits
        return f"an integer of {value.bit_length()} bits" if isinstance(value, int) else "numbers too long to show"


def name_place(index: tuple[int, ...]) -> str:
    """Where in an array something is, as errors say it."""
    axes = [f"{axis} {i}" for axis, i in zip(("row", "column", "layer"), index, strict=False)]
    return f" in {', '.join(axes)}, counted from 0" if axes else ""


@contextmanager
def numbers_in_errors(given: Any, name: str, *, types_too: bool = False) -> Iterator[None]:
    """Say in a ValueError which of some values is no number, and where it stands; ``types_too`` keeps a TypeError."""
    try:
        yield
    except NO_FLOAT as error:
        kind = TypeError if types_too and isinstance(error, TypeError) else ValueError
        values = as_suspects(given, name)
        for index in np.ndindex(values.shape):
            if (reason := why_no_float(values[index])) is not None:
                raise kind(
                    f"{name} holds {shown(values[index])}{name_place(index)}: {reason}. Give real numbers that a float "
                    "can hold, up to 1.8e308."
                ) from error
        raise


def as_suspects(given: Any, name: str) -> NDArray[Any]:
    """The values among which one may be no float, as objects; none if they are of a number type of NumPy's."""
    if issparse(given) or as_rectangle(given, name).dtype.kind in "biuf":
        return np.empty(0, dtype=object)
    return np.array(given, dtype=object)


def as_rectangle(values: Any, name: str) -> NDArray[Any]:
    """Values as an array; ValueError if some rows are longer than others."""
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} has rows of several lengths; give as many values in every row.") from error


def why_no_float(value: Any) -> str | None:
    """Why a value is no float; None if it is one."""
    if isinstance(value, complex | np.complexfloating):
        return "Complex data not supported"
    try:
        float(value)
    except NO_FLOAT as error:
        return None if value is None else str(error)
    return None


class Offences:
    """What is wrong with several columns, raised as one error. Under ``with``, an error is kept for later."""

    def __init__(self) -> None:
        self.found: list[Exception] = []

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: Any, error: BaseException | None, _traceback: Any) -> bool:
        if not isinstance(error, (TypeError, ValueError)):
            return False
        self.found.append(error)
        return True

    def raise_any(self) -> None:
        """Raise what was found: an error as it is, several in one that lists them."""
        if len(self.found) == 1:
            raise self.found[0]
        if self.found:
            kind = TypeError if all(isinstance(error, TypeError) for error in self.found) else ValueError
            reasons = "\n".join(f"- {error}" for error in self.found)
            raise kind(f"{len(self.found)} columns of X cannot be used:\n{reasons}") from self.found[0]
