"""The kinds of tables. In: a float32 matrix. Out: the same values, or some made of them, in a container."""

import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float32]

DENSITY = 0.01
N_CATEGORIES = 20
MIXED_DTYPES = ("float64", "float32", "int64", "bool", "category")


def read_only(X: Values) -> Any:
    X = X.astype(np.float64)
    X.flags.writeable = False
    return X


def memory_map(X: Values) -> Any:
    """A file that is gone with the last reference to it. Its pages are in memory, as are those of other tables."""
    with tempfile.TemporaryFile() as file:
        mapped = np.memmap(file, dtype=np.float64, mode="w+", shape=X.shape)
    mapped[:] = X
    return mapped


def pandas_block(X: Values) -> Any:
    import pandas

    return pandas.DataFrame(X.astype(np.float64), columns=names_of(X))


def pandas_mixed(X: Values) -> Any:
    """Columns of five dtypes, as many of each."""
    import pandas

    dtypes = [MIXED_DTYPES[f * len(MIXED_DTYPES) // X.shape[1]] for f in range(X.shape[1])]
    return pandas.DataFrame({name: as_dtype(X[:, f], dtypes[f]) for f, name in enumerate(names_of(X))})


def as_dtype(values: Values, dtype: str) -> Any:
    """A column of some dtype: whole numbers, signs or words where it asks for them."""
    import pandas

    if dtype == "category":
        codes = np.clip(np.rint(2 * values) + N_CATEGORIES // 2, 0, N_CATEGORIES - 1).astype(np.int8)
        return pandas.Categorical.from_codes(codes, [f"c{k:02}" for k in range(N_CATEGORIES)])
    if dtype == "bool":
        return values > 0
    return (values * 1000 if dtype == "int64" else values).astype(dtype)


def pandas_arrow(X: Values) -> Any:
    import pandas

    return pandas.DataFrame({name: arrow_column(X[:, f]) for f, name in enumerate(names_of(X))})


def arrow_column(values: Values) -> Any:
    """A pandas array of Arrow's."""
    import pandas
    import pyarrow

    return pandas.arrays.ArrowExtensionArray(pyarrow.array(values.astype(np.float64)))


def arrow(X: Values) -> Any:
    import pyarrow

    return pyarrow.table({name: pyarrow.array(X[:, f].astype(np.float64)) for f, name in enumerate(names_of(X))})


def polars(X: Values) -> Any:
    import polars

    return polars.DataFrame({name: X[:, f].astype(np.float64) for f, name in enumerate(names_of(X))})


def sparse(X: Values) -> Any:
    """Some of the values, column by column."""
    from scipy.sparse import csc_array

    kept = np.random.default_rng(0).random(X.shape, dtype=np.float32) < DENSITY
    return csc_array(np.where(kept, X, 0).astype(np.float64))


def names_of(X: Values) -> list[str]:
    """Names of the columns."""
    return [f"x{f}" for f in range(X.shape[1])]


CONTAINERS: dict[str, Callable[[Values], Any]] = {
    "float64, C order": lambda X: X.astype(np.float64),
    "float64, F order": lambda X: X.astype(np.float64, order="F"),
    "float32, C order": lambda X: X.copy(),
    "int64": lambda X: as_dtype(X, "int64"),
    "bool": lambda X: as_dtype(X, "bool"),
    "float64, read-only": read_only,
    "float64, np.memmap": memory_map,
    "pandas, float64": pandas_block,
    "pandas, five dtypes": pandas_mixed,
    "pandas, Arrow float64": pandas_arrow,
    "pyarrow, float64": arrow,
    "polars, float64": polars,
    "CSR, 1 % non-zeros": lambda X: sparse(X).tocsr(),
    "CSC, 1 % non-zeros": sparse,
}
