"""Validation of sparse matrices. SciPy does not check the indices that it reads from and writes to."""

from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

Indices = NDArray[np.integer[Any]]
AXES = {"csr": ("row", "column"), "csc": ("column", "row"), "bsr": ("block row", "block column")}


def read_sparse(X: Any) -> Any:
    """Check the structure of a sparse matrix or array; name the first invalid entry. Other objects are returned.

    A matrix in CSR or CSC format is returned as a new object with the same arrays. It has no unused space after its
    last entry, and nothing that SciPy stored about the order of the entries, which may have changed since.
    """
    if not issparse(X):
        return X
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D input: X is a sparse array of shape {X.shape}; give rows and columns, for example "
            "X.reshape(1, -1) if it is a single row."
        )
    try:
        return READERS.get(X.format, lambda X: X)(X)
    except (IndexError, OverflowError, TypeError, ValueError) as error:
        raise ValueError(
            f"X is a sparse matrix in {X.format.upper()} format whose structure is invalid: {error}. Indices count "
            "from 0. Create the matrix again from the rows, columns and values of its entries."
        ) from error


def read_compressed(X: Any) -> Any:
    """Check a CSR or CSC matrix, and return it as a new object."""
    check_values(X.data, 1)
    check_compressed(X, X.shape)
    if "u" in (X.indptr.dtype.kind, X.indices.dtype.kind):  # SciPy converts unsigned indices in this form only
        return type(X)((X.data, X.indices, X.indptr), shape=X.shape)
    return type(X)(X)


def read_blocks(X: Any) -> Any:
    """Check a BSR matrix."""
    check_values(X.data, 3)
    block = X.data.shape[1:]
    if 0 in block or X.shape[0] % block[0] or X.shape[1] % block[1]:
        raise ValueError(f"its blocks have the shape {block}, which does not divide that of the matrix, {X.shape}")
    check_compressed(X, (X.shape[0] // block[0], X.shape[1] // block[1]))
    return X


def read_coordinates(X: Any) -> Any:
    """Check a COO matrix."""
    check_values(X.data, 1)
    for axis, indices, size in zip(("row", "column"), (X.row, X.col), X.shape, strict=True):
        name = axis[:3]
        check_integers(indices, name)
        check_length(indices, name, len(X.data), "value of data")
        if (i := first_outside(indices, size)) is not None:
            raise ValueError(f"{name}[{i}] is {indices[i]}, but there are {size} {axis}s")
    return X


def read_diagonals(X: Any) -> Any:
    """Check a DIA matrix, and drop diagonals outside of it, which have no entries."""
    check_values(X.data, 2)
    check_integers(X.offsets, "offsets")
    check_length(X.offsets, "offsets", len(X.data), "row of data")
    within = (X.offsets > -X.shape[0]) & (X.offsets < X.shape[1])
    return type(X)((X.data[within], X.offsets[within]), shape=X.shape)


def read_lists(X: Any) -> Any:
    """Check a LIL matrix."""
    for name in ("rows", "data"):
        lists = getattr(X, name)
        if not isinstance(lists, np.ndarray) or lists.shape != (X.shape[0],):
            raise ValueError(f"{name} has the shape {np.shape(lists)}, but one list per row is expected")
    for row, (columns, values) in enumerate(zip(X.rows, X.data, strict=True)):
        if len(columns) != len(values):
            raise ValueError(f"row {row} has {len(columns)} column indices and {len(values)} values")
    indices = np.fromiter(chain.from_iterable(X.rows), dtype=np.int64)
    if (i := first_outside(indices, X.shape[1])) is not None:
        at = int(np.searchsorted(np.cumsum([*map(len, X.rows)]), i, side="right"))
        raise ValueError(f"row {at} has the column index {indices[i]}, but there are {X.shape[1]} columns")
    return X


def read_keys(X: Any) -> Any:
    """Convert a DOK matrix, whose keys SciPy checks."""
    return X.tocoo()


READERS = {
    "csr": read_compressed,
    "csc": read_compressed,
    "bsr": read_blocks,
    "coo": read_coordinates,
    "dia": read_diagonals,
    "lil": read_lists,
    "dok": read_keys,
}


def check_compressed(X: Any, shape: tuple[int, int]) -> None:
    """Check the indices of a matrix with ``indptr``; ``shape`` counts its rows and columns, or those of blocks."""
    major, minor = AXES[X.format]
    n_major, n_minor = shape if X.format != "csc" else shape[::-1]
    starts, indices = X.indptr, X.indices
    check_integers(starts, "indptr")
    check_integers(indices, "indices")
    check_length(indices, "indices", len(X.data), "block" if X.format == "bsr" else "value of data")
    if len(starts) != n_major + 1:
        raise ValueError(f"indptr has {len(starts)} values, but one more than the {n_major} {major}s is expected")
    if starts[0] != 0:
        raise ValueError(f"indptr[0] is {starts[0]}, but 0 is expected")
    if starts[-1] > len(indices) or (starts[1:] < starts[:-1]).any():
        is_wrong = starts > len(indices)
        is_wrong[1:] |= starts[1:] < starts[:-1]
        k = int(is_wrong.argmax())
        raise ValueError(
            f"indptr[{k}] is {starts[k]}, but a value from {starts[k - 1]}, which is indptr[{k - 1}], to "
            f"{len(indices)}, the number of indices, is expected"
        )
    if (i := first_outside(indices[: int(starts[-1])], n_minor)) is not None:
        at = int(np.searchsorted(starts, i, side="right")) - 1
        raise ValueError(f"indices[{i}] is {indices[i]}, in {major} {at}, but there are {n_minor} {minor}s")


def check_values(values: Any, ndim: int) -> None:
    """Raise unless values are an array of this many dimensions."""
    if not isinstance(values, np.ndarray) or values.ndim != ndim:
        raise ValueError(f"data is {described(values)}, but an array of {ndim} dimension(s) is expected")


def check_integers(indices: Any, name: str) -> None:
    """Raise unless indices are a 1-D array of integers."""
    if not isinstance(indices, np.ndarray) or indices.ndim != 1 or indices.dtype.kind not in "iu":
        raise ValueError(f"{name} is {described(indices)}, but a 1-D array of integers is expected")


def described(given: Any) -> str:
    """Type and shape of a value, for an error message."""
    if isinstance(given, np.ndarray):
        return f"an array of {given.dtype} and of shape {given.shape}"
    return f"of the type {type(given).__name__}"


def check_length(indices: Indices, name: str, expected: int, of_what: str) -> None:
    """Raise unless there are as many indices as values."""
    if len(indices) != expected:
        raise ValueError(f"{name} has {len(indices)} values, but {expected} are expected, one for every {of_what}")


def first_outside(indices: Indices, size: int) -> int | None:
    """Where the first index that is negative or not below ``size`` is; None if there is none."""
    if len(indices) == 0 or (indices.min() >= 0 and indices.max() < size):
        return None
    return int(((indices < 0) | (indices >= size)).argmax())
