"""Read access to X in any container: size, names, values as text, and a digest."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from comboost._data.categories import is_missing
from comboost._stats.formatting import text_of

MAX_CELL = 60  # characters
WHOLE_BELOW = 1e15  # floats beyond do not keep all digits
NUMBER_KINDS = "biufmM"  # dtypes whose bytes define their values
MISSING_CELL = "missing"


@dataclass(frozen=True)
class Table:
    """A table with access by column."""

    n_features: int
    feature_names: list[str]
    index_of: Callable[[int], int | str]  # label of a sample, by its index
    column: Callable[[int], NDArray[Any]]  # values of a feature, by its index

    @classmethod
    def of(cls, X: Any) -> "Table":
        """Wrap a table: pandas, polars, Arrow, sparse, or anything that NumPy converts to an array."""
        if hasattr(X, "column_names"):
            names = [text_of(name) for name in X.column_names]
            return cls(X.num_columns, names, int, lambda f: np.array(X.column(f).to_pylist(), dtype=object))
        if hasattr(X, "iloc") or hasattr(X, "to_series"):
            names = [text_of(name) for name in X.columns]
            if hasattr(X, "iloc"):
                return cls(len(names), names, lambda i: index_label(X.index[i]), lambda f: X.iloc[:, f].to_numpy())
            return cls(len(names), names, int, lambda f: X.to_series(f).to_numpy())
        if issparse(X):
            columns = X.tocsc()
            return cls(X.shape[1], numbered(X.shape[1]), int, lambda f: columns[:, [f]].toarray().ravel())
        array = X if isinstance(X, np.ndarray) else np.array(X, dtype=object)
        if array.ndim != 2:
            raise ValueError(f"X has {array.ndim} dimensions; give a table of rows and columns.")
        return cls(array.shape[1], numbered(array.shape[1]), int, lambda f: array[:, f])

    def cells(self, samples: list[int], features: list[int]) -> list[list[str]]:
        """Values of some samples and features as text, sample by sample."""
        columns = [[cell_text(value) for value in python_values(self.column(f)[samples])] for f in features]
        return [[column[i] for column in columns] for i in range(len(samples))]


def numbered(n_features: int) -> list[str]:
    """Names of unnamed features."""
    return [f"x{f}" for f in range(n_features)]


def index_label(label: Any) -> int | str:
    """The label of a sample: integers stay integers, all else becomes text."""
    plain = label.item() if isinstance(label, np.generic) else label
    return plain if type(plain) is int else text_of(plain)


def python_values(values: NDArray[Any]) -> list[Any]:
    """Python values; nanoseconds are rounded to microseconds, since tolist would return them as integers."""
    if values.dtype.kind in "mM":
        values = values.astype(f"{values.dtype.kind}8[us]")
    plain: list[Any] = values.tolist()
    return plain


def cell_text(value: Any) -> str:
    """A value as text of at most `MAX_CELL` characters; whole numbers keep their digits."""
    if is_missing(value):
        return MISSING_CELL
    if isinstance(value, float):
        text = f"{value:.0f}" if value.is_integer() and abs(value) < WHOLE_BELOW else f"{value:.6g}"
    else:
        text = text_of(value)
    return text if len(text) <= MAX_CELL else text[: MAX_CELL - 1] + "…"


def digest_data(X: Any, labels: list[str]) -> str:
    """SHA-256 of the samples and their classes, in their order."""
    digest = hashlib.sha256()
    arrays: Iterator[NDArray[Any]]
    if issparse(X):
        columns = X.tocsc(copy=True)
        columns.sum_duplicates()
        arrays = iter([columns.data, columns.indices.astype(np.int64), columns.indptr.astype(np.int64)])
    else:
        table = Table.of(X)
        arrays = (table.column(f) for f in range(table.n_features))
    for values in chain(arrays, [np.array(labels, dtype=object)]):
        digest.update(bytes_of(values))
    return digest.hexdigest()


def bytes_of(values: NDArray[Any]) -> bytes:
    """The values of a column as bytes, after their length."""
    if values.dtype.kind in NUMBER_KINDS:
        content = values.dtype.str.encode() + np.ascontiguousarray(values).tobytes()
    else:
        content = "\x1f".join(map(text_of, values.tolist())).encode()
    return len(content).to_bytes(8, "little") + content
