"""The rows as they were given. In: a table in any container. Out: its size, names of rows and columns, its values."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from comboost._data.categories import is_missing
from comboost.report._wording import text_of

LONGEST_CELL = 60  # characters
WHOLE_BELOW = 1e15  # from which on floats have other digits than were written
NUMBER_KINDS = "biufmM"  # of dtypes, whose bytes say all of their values
MISSING_CELL = "missing"


@dataclass(frozen=True)
class GivenTable:
    """A table whose values can be asked for, column by column.

    Attributes
    ----------
    n_rows, n_features : int
        Its size.
    names : list of str or None
        Of its columns, if it has them.
    label : callable
        What a row is called, by its place.
    column : callable
        The values of a column, by its place.
    """

    n_rows: int
    n_features: int
    names: list[str] | None
    label: Callable[[int], int | str]
    column: Callable[[int], NDArray[Any]]

    @classmethod
    def of(cls, X: Any) -> "GivenTable":
        """Open a table: pandas, polars, Arrow, sparse, or whatever NumPy makes an array of."""
        if hasattr(X, "column_names"):
            names = [text_of(name) for name in X.column_names]
            return cls(X.num_rows, X.num_columns, names, int, lambda f: np.array(X.column(f).to_pylist(), dtype=object))
        if issparse(X):
            columns = X.tocsc()
            return cls.sized(X, None, int, lambda f: columns[:, [f]].toarray().ravel())
        if hasattr(X, "iloc"):
            names = [text_of(name) for name in X.columns]
            return cls.sized(X, names, lambda row: label_of(X.index[row]), lambda f: X.iloc[:, f].to_numpy())
        if hasattr(X, "to_series"):
            return cls.sized(X, [text_of(name) for name in X.columns], int, lambda f: X.to_series(f).to_numpy())
        array = X if isinstance(X, np.ndarray) else np.array(X, dtype=object)
        if array.ndim != 2:
            raise ValueError(f"X has {array.ndim} dimensions; give a table of rows and columns.")
        return cls.sized(array, None, int, lambda f: array[:, f])

    @classmethod
    def sized(
        cls,
        X: Any,
        names: list[str] | None,
        label: Callable[[int], int | str],
        column: Callable[[int], NDArray[Any]],
    ) -> "GivenTable":
        """A table of the size of X."""
        n_rows, n_features = X.shape
        return cls(int(n_rows), int(n_features), names, label, column)

    def feature_names(self) -> list[str]:
        """The names of the columns, or their numbers."""
        return [f"x{f}" for f in range(self.n_features)] if self.names is None else self.names

    def cells(self, rows: list[int], features: list[int]) -> list[list[str]]:
        """Values of some rows and columns, as text, row by row."""
        columns = [[cell_text(value) for value in python_values(self.column(f)[rows])] for f in features]
        return [[column[place] for column in columns] for place in range(len(rows))]


def label_of(label: Any) -> int | str:
    """What a row is called: a whole number as such, all else as text."""
    plain = label.item() if isinstance(label, np.generic) else label
    return plain if type(plain) is int else text_of(plain)


def python_values(values: NDArray[Any]) -> list[Any]:
    """Values of Python; times of nanoseconds, which would be bare numbers, are rounded to those that it knows."""
    if values.dtype.kind in "mM":
        values = values.astype(f"{values.dtype.kind}8[us]")
    plain: list[Any] = values.tolist()
    return plain


def cell_text(value: Any) -> str:
    """A value as text that fits a cell; whole numbers keep their digits."""
    if is_missing(value):
        return MISSING_CELL
    text = number_text(value) if isinstance(value, float) else text_of(value)
    return text if len(text) <= LONGEST_CELL else text[: LONGEST_CELL - 1] + "…"


def number_text(value: float) -> str:
    """A number to six digits, or whole."""
    return f"{value:.0f}" if value.is_integer() and abs(value) < WHOLE_BELOW else f"{value:.6g}"


def digest_data(X: Any, labels: list[str]) -> str:
    """A SHA-256 of rows and their classes: of other values, or in another order, it is another one."""
    found = hashlib.sha256()
    arrays: Iterator[NDArray[Any]]
    if issparse(X):
        columns = X.tocsc(copy=True)
        columns.sum_duplicates()
        arrays = iter([columns.data, columns.indices.astype(np.int64), columns.indptr.astype(np.int64)])
    else:
        table = GivenTable.of(X)
        arrays = (table.column(f) for f in range(table.n_features))
    for values in chain(arrays, [np.array(labels, dtype=object)]):
        found.update(bytes_of(values))
    return found.hexdigest()


def bytes_of(values: NDArray[Any]) -> bytes:
    """What a column holds, as bytes with their length before them."""
    if values.dtype.kind in NUMBER_KINDS:
        content = values.dtype.str.encode() + np.ascontiguousarray(values).tobytes()
    else:
        content = "\x1f".join(map(text_of, values.tolist())).encode()
    return len(content).to_bytes(8, "little") + content
