"""Arrays as ``.npy``. In: an array, or what JSON says of one. Out: its bytes and their header, or type and shape.

Headers are never parsed: what JSON says of an array gives the one header that it can have.
"""

import hashlib
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comboost._data.checks import shown
from comboost._types import NODE_DTYPE

#: Types of arrays that are stored: numbers, booleans, text, times; the bytes of a number in ascending order.
PLAIN_DTYPE = re.compile(
    r"\|b1|\|[iu]1|<[iu][248]|<f[248]|<U[1-9]\d{0,6}|\|S[1-9]\d{0,6}|<[mM]8(\[\d{0,9}[a-zA-Z]{1,2}\])?"
)
NODE_FIELDS = [list(entry) for entry in NODE_DTYPE.descr]
LAST_CHARACTER = 0x10FFFF
MAX_DIMENSIONS = 32
NPY_VERSION = b"\x93NUMPY\x01\x00"  # 1.0
NPY_ALIGNMENT = 64  # bytes


def as_stored(array: NDArray[Any]) -> NDArray[Any] | None:
    """An array as it is stored: its items one after the other, in bytes that mean the same on every machine."""
    if array.dtype == NODE_DTYPE:
        return np.ascontiguousarray(array)
    if array.dtype.kind not in "biufUSmM":
        return None
    dtype = array.dtype.newbyteorder("<")
    if dtype.itemsize == 0:  # of empty text
        dtype = np.dtype(f"<{dtype.kind}1")
    return np.asarray(array, dtype=dtype, order="C") if PLAIN_DTYPE.fullmatch(dtype.str) else None


def describe_array(place: str, stored: NDArray[Any]) -> dict[str, Any]:
    """What JSON says of an array."""
    dtype = NODE_FIELDS if stored.dtype == NODE_DTYPE else stored.dtype.str
    found = hashlib.sha256(npy_header(stored.dtype, stored.shape))
    found.update(as_buffer(stored))
    return {"member": f"{place}.npy", "dtype": dtype, "shape": list(stored.shape), "sha256": found.hexdigest()}


def as_buffer(stored: NDArray[Any]) -> memoryview:
    """The bytes of an array, which may be written to."""
    return stored.reshape(-1).view(np.uint8).data


def npy_header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """What stands before the items of an array in its member."""
    descr = dtype.descr if dtype.names else dtype.str
    text = str({"descr": descr, "fortran_order": False, "shape": shape})
    n_before = len(NPY_VERSION) + 2
    length = -(n_before + len(text) + 1) % NPY_ALIGNMENT + len(text) + 1
    return NPY_VERSION + length.to_bytes(2, "little") + f"{text:{length - 1}}\n".encode()


def expect(content: Any, kind: type) -> Any:
    """What stands in JSON, if it is of this type."""
    if type(content) is not kind:
        raise ValueError(f"there is {shown(content)} in place of a {kind.__name__}")
    return content


def read_dtype(content: Any) -> np.dtype[Any]:
    """The type of an array."""
    if content == NODE_FIELDS:
        return NODE_DTYPE
    name: str = expect(content, str)
    if not PLAIN_DTYPE.fullmatch(name):
        raise ValueError(f"no array of the type {shown(name)} is stored")
    return np.dtype(name)


def read_shape(content: Any) -> tuple[int, ...]:
    """The shape of an array."""
    sizes = expect(content, list)
    if len(sizes) > MAX_DIMENSIONS or not all(type(size) is int and size >= 0 for size in sizes):
        raise ValueError(f"no array has the shape {shown(content)}")
    return tuple(content)


def check_items(array: NDArray[Any]) -> None:
    """Raise if bytes are no booleans or characters, though an array says so."""
    if array.dtype.kind == "b" and (array.view(np.uint8) > 1).any():
        raise ValueError("a boolean is neither true nor false")
    if array.dtype.kind == "U" and (array.reshape(-1).view(np.uint32) > LAST_CHARACTER).any():
        raise ValueError("a text holds what is no character")
