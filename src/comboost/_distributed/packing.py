"""Integers on their way to another process. In: arrays. Out: the same in as few bytes as hold them and their signs."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from comboost import _core

Numbers = NDArray[Any]  # of int64, uint32 or uint64


class PackedIntegers(NamedTuple):
    """An array as it travels: the lowest bytes of every number, without columns at the end that are all 0.

    Attributes
    ----------
    packed : ndarray of uint8
        The bytes.
    n_columns, n_bytes : int
        The columns of the array that are there, and the bytes of a number.
    shape : tuple of int
        The shape of the array.
    dtype : str
        Its dtype.
    """

    packed: NDArray[np.uint8]
    n_columns: int
    n_bytes: int
    shape: tuple[int, ...]
    dtype: str

    @classmethod
    def of(cls, numbers: Numbers) -> "PackedIntegers":
        """Pack an array."""
        whole = np.ascontiguousarray(numbers if numbers.itemsize == 8 else numbers.astype(np.int64)).view(np.int64)
        n_columns = numbers.shape[-1] if numbers.ndim > 1 else 1
        n_samples = numbers.size // max(1, n_columns)
        return cls(*_core.pack_integers(whole.reshape(n_samples, n_columns)), numbers.shape, numbers.dtype.str)

    def unpack(self) -> Numbers:
        """The array, in memory of its own."""
        n_columns = self.shape[-1] if len(self.shape) > 1 else 1
        numbers = np.empty((int(np.prod(self.shape)) // max(1, n_columns), n_columns), dtype=np.int64)
        _core.unpack_integers(self.packed, self.n_columns, self.n_bytes, numbers)
        found: Numbers = numbers.reshape(self.shape)
        dtype = np.dtype(self.dtype)
        return found.view(dtype) if dtype.itemsize == found.itemsize else found.astype(dtype)
