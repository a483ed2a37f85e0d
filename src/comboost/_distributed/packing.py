"""Compact encoding of integer arrays that are sent to another process."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from comboost import _core

Numbers = NDArray[Any]  # of int64, uint32 or uint64


class PackedIntegers(NamedTuple):
    """An encoded array: the lowest bytes of every number, without trailing columns of zeros."""

    packed: NDArray[np.uint8]
    n_columns: int  # that are stored
    n_bytes: int  # per number
    shape: tuple[int, ...]  # of the array
    dtype: str

    @classmethod
    def of(cls, numbers: Numbers) -> "PackedIntegers":
        """Pack an array."""
        whole = np.ascontiguousarray(numbers if numbers.itemsize == 8 else numbers.astype(np.int64)).view(np.int64)
        n_columns = numbers.shape[-1] if numbers.ndim > 1 else 1
        whole = whole.reshape(numbers.size // max(1, n_columns), n_columns)
        return cls(*_core.pack_integers(whole), numbers.shape, numbers.dtype.str)

    def unpack(self) -> Numbers:
        """Decode the array."""
        n_columns = self.shape[-1] if len(self.shape) > 1 else 1
        numbers = np.empty((int(np.prod(self.shape)) // max(1, n_columns), n_columns), dtype=np.int64)
        _core.unpack_integers(self.packed, self.n_columns, self.n_bytes, numbers)
        found: Numbers = numbers.reshape(self.shape)
        dtype = np.dtype(self.dtype)
        return found.view(dtype) if dtype.itemsize == found.itemsize else found.astype(dtype)
