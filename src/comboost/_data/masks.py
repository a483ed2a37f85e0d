"""Masks of NumPy's masked arrays. In: values as given. Out: missing values where these are allowed, else an error."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from comboost._data.floats import EXACT_INTEGERS, name_place


def check_unmasked(given: Any, name: str, what_to_do: str) -> None:
    """Raise if any value is masked."""
    if not holds_masks(given):
        return
    mask = mask_of(given)
    if mask.any():
        first = name_place(tuple(np.argwhere(mask)[0].tolist()))
        raise ValueError(f"{name} holds {mask.sum()} masked value(s), the first{first}; {what_to_do}")


def holds_masks(given: Any) -> bool:
    """Whether this is a masked array, or a list that holds one or a masked value."""
    if not isinstance(given, (list, tuple)):
        return isinstance(given, np.ma.MaskedArray)
    types = set(map(type, given))
    if any(issubclass(held, np.ma.MaskedArray) for held in types):  # a masked value is one, too
        return True
    return any(issubclass(held, (list, tuple)) for held in types) and any(map(holds_masks, given))


def mask_of(given: Any) -> NDArray[np.bool_]:
    """Which values are masked."""
    if isinstance(given, np.ma.MaskedArray):
        return np.ma.getmaskarray(given)
    if isinstance(given, (list, tuple)) and holds_masks(given):
        return np.array([mask_of(value) for value in given])
    return np.zeros(np.shape(given), dtype=bool)


def without_mask(given: Any) -> Any:
    """Masked values as missing ones: NaN among numbers, NaT among times, None among other objects."""
    if not holds_masks(given):
        return given
    mask = mask_of(given)
    if not isinstance(given, np.ma.MaskedArray):
        values = np.array(given, dtype=object)
    elif not mask.any():
        return given.data
    elif given.dtype.kind == "f" or (given.dtype.kind in "biu" and all_exact(given.data)):
        return np.ma.filled(given.astype(np.promote_types(given.dtype, np.float16)), np.nan)
    elif given.dtype.kind in "mM":
        return np.ma.filled(given, given.dtype.type("NaT"))
    else:
        values = given.data.astype(object)
    values[mask] = None
    return values


def all_exact(integers: NDArray[Any]) -> bool:
    """Whether floats hold these integers as they are."""
    return max(-int(integers.min()), int(integers.max())) <= EXACT_INTEGERS
