"""Dask collections X, y and sample_weight as delayed parts.

Rows are matched by position: row r of partition p of X has the label in row r of partition p of y. The index and the
divisions of a dataframe are ignored. Nothing is computed here; what metadata do not contain is checked on the worker,
when the part is computed.
"""

import numbers
import sys
import warnings
from dataclasses import dataclass
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.delayed import Delayed
from sklearn.exceptions import DataConversionWarning

from comboost._data.checks import numbers_in_errors
from comboost._data.sparse import read_sparse
from comboost._data.validation import check_header
from comboost._distributed.coding import Part

OPAQUE = np.empty(0, dtype=object)  # metadata of arrays whose blocks are other objects


@dataclass(frozen=True)
class Collection:
    """A table in delayed parts."""

    parts: list[Delayed]  # each computes to a `Part`
    header: Any  # columns of X with names and dtypes, from the metadata; without samples
    n_features: int


def read_collections(X: Any, y: Any, sample_weight: Any) -> Collection:
    """Check the metadata of collections, and split them into parts.

    Chunks of arrays may be NumPy arrays or SciPy sparse matrices. ``sample_weight`` may be a number or None.
    """
    with numbers_in_errors(sample_weight, "sample_weight"):
        weight = float(sample_weight) if isinstance(sample_weight, numbers.Real) else None
    table = as_table(X)
    if sum(sizes_of(table) or (1,)) == 0:
        raise ValueError("Found array with 0 sample(s): X has no rows, while a minimum of 1 is required.")
    given = {"X": table, "y": align(as_label_column(y), table, "y")}
    if sample_weight is not None and weight is None:
        given["sample_weight"] = align(as_column(sample_weight, "sample_weight"), table, "sample_weight")
    header = header_of(table)
    check_header(list(getattr(header, "columns", ())))
    return Collection(parts_of(given, header, weight), header, header.shape[1])


def parts_of(given: dict[str, Any], header: Any, weight: float | None) -> list[Delayed]:
    """Make a delayed `Part` of every partition. A ``weight`` that is not None is that of all samples."""
    names = None if isinstance(given["X"], da.Array) else tuple(header.columns)
    parts = da.map_blocks(
        make_part,
        *bundles_of(given),
        names=names,
        n_features=header.shape[1],
        weight=weight,
        dtype=object,
        meta=OPAQUE,
    )
    # As Dask does: fuse the tasks of arrays, but not of dataframes, since fusing may break shuffles.
    only_arrays = all(isinstance(collection, da.Array) for collection in given.values())
    fuse = dask.config.get("optimization.fuse.active", None) if only_arrays else False
    with dask.config.set({"optimization.fuse.active": fuse}):
        return list(parts.to_delayed())


def is_collection(X: Any) -> bool:
    """Whether X is a Dask array, DataFrame or Series."""
    return isinstance(X, da.Array) or is_frame(X, "DataFrame") or is_frame(X, "Series")


def is_frame(X: Any, kind: str) -> bool:
    """Whether X is Dask's "DataFrame" or "Series"; if it is, dask.dataframe has been imported."""
    return isinstance(X, getattr(sys.modules.get("dask.dataframe"), kind, ()))


def as_table(X: Any) -> Any:
    """Return X with all columns in one chunk, after checks of its metadata."""
    if not is_collection(X):
        raise local_error(X, "X")
    if X.ndim != 2:
        raise ValueError(
            f"X is a {type_name(X)} of {X.ndim} dimension(s); give one of 2, rows and columns. A single column is "
            "x[:, None] of an array, or x.to_frame() of a Series."
        )
    if np.isnan(X.shape[1]):
        raise ValueError("X has an unknown number of columns; X.compute_chunk_sizes() would find it out.")
    if X.shape[1] == 0:
        raise ValueError("Found array with 0 feature(s): X has no columns, while a minimum of 1 is required.")
    if isinstance(X, da.Array) and X.numblocks[1] > 1:
        return X.map_blocks(read_sparse).rechunk({1: -1})  # SciPy joins sparse chunks without a look at their indices
    return X


def header_of(X: Any) -> Any:
    """Return the columns of X without samples."""
    return np.empty((0, X.shape[1]), dtype=X.dtype) if isinstance(X, da.Array) else X._meta


def as_label_column(y: Any) -> Any:
    """Return labels as a 1-D collection; a single column is accepted with scikit-learn's warning."""
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None. Give the class of every row as y.")
    if is_collection(y) and y.ndim == 2 and y.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples, ), "
            "for example using ravel().",
            DataConversionWarning,
            stacklevel=2,
        )
        y = y[:, 0] if isinstance(y, da.Array) else y[y.columns[0]]
    return as_column(y, "y")


def as_column(column: Any, name: str) -> Any:
    """Check that a collection has one value per row."""
    if not is_collection(column):
        raise local_error(column, name)
    if column.ndim != 1:
        shape = column.shape if isinstance(column, da.Array) else f"(rows, {len(column.columns)})"
        raise ValueError(
            f"{name} is a {type_name(column)} of shape {shape}; give one value for every row, a 1-D Dask array or a "
            "Dask Series."
        )
    return column


def align(column: Any, table: Any, name: str) -> Any:
    """Rechunk a column like the table; raise if metadata show that this is impossible."""
    known, wanted = sizes_of(column), sizes_of(table)
    if known is not None and wanted is not None:
        if sum(known) != sum(wanted):
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has {sum(wanted)} rows, {name} has "
                f"{sum(known)}; give one value for every row."
            )
        return column if known == wanted else column.rechunk((wanted,))
    if column.npartitions != table.npartitions:
        raise ValueError(
            f"X has {table.npartitions} partitions and {name} has {column.npartitions}, and not all of their sizes "
            'are known, so their rows cannot be matched. Take both from one dataframe, as df.drop(columns="label") '
            'and df["label"], or make all sizes known: with compute_chunk_sizes() of an array, with '
            "to_dask_array(lengths=True) of a dataframe."
        )
    return column


def sizes_of(collection: Any) -> tuple[int, ...] | None:
    """Number of rows of every partition; None unless all are known."""
    if not isinstance(collection, da.Array) or np.isnan(collection.chunks[0]).any():
        return None
    sizes: tuple[int, ...] = collection.chunks[0]
    return sizes


def bundles_of(collections: dict[str, Any]) -> list[da.Array]:
    """Collections with equal partitions as 1-D arrays whose blocks are dictionaries {name: rows}.

    All dataframes are combined in one array, so that common columns are read once.
    """
    frames = {name: frame for name, frame in collections.items() if not isinstance(frame, da.Array)}
    arrays = {name: array for name, array in collections.items() if isinstance(array, da.Array)}
    return [
        *([bundle_frames(frames)] if frames else []),
        *(bundle_array(name, array) for name, array in arrays.items()),
    ]


def bundle_frames(frames: dict[str, Any]) -> da.Array:
    """Combine dataframes and Series in one expression, so that Dask reads each column once."""
    first, *others = frames.values()
    bundles = first.map_partitions(
        make_bundle,
        *others,
        names=tuple(frames),
        meta=(None, object),
        enforce_metadata=False,
        transform_divisions=False,
        align_dataframes=False,
    )
    graph, name = materialize(bundles)
    return da.Array(graph, name, chunks=((np.nan,) * first.npartitions,), meta=OPAQUE)


def materialize(frame: Any) -> tuple[dict[Any, Any], str]:
    """Return the optimised graph of a dataframe, with its partitions as they are, and the name in their keys.

    When Dask optimises, it may fuse partitions of Parquet files that are small or of which few columns are used. It
    does so for each collection separately, which would mismatch rows.
    """
    if dask.config.get("optimization.tune.active", None) is None:  # versions of Dask without the option
        frame = frame.simplify()
    else:
        with dask.config.set({"optimization.tune.active": False}):
            frame = frame.optimize()
    # The keys are pairs of name and number, as those of a 1-D array.
    return dict(frame.__dask_graph__()), frame.__dask_keys__()[0][0]


def bundle_array(name: str, array: da.Array) -> da.Array:
    """Turn an array, its columns in one chunk, into an array of bundles."""
    bundles: da.Array = da.blockwise(
        make_array_bundle, "i", array, "ij"[: array.ndim], role=name, align_arrays=False, dtype=object, meta=OPAQUE
    )
    return bundles


def make_bundle(*rows: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Bundle the rows of one partition of several collections."""
    return dict(zip(names, rows, strict=True))


def make_array_bundle(rows: Any, role: str) -> dict[str, Any]:
    """Bundle the rows of one partition of an array; a 2-D one is a list of its chunks of columns."""
    if isinstance(rows, list):
        (rows,) = rows
    return {role: rows}


def make_part(
    *bundles: dict[str, Any],
    names: tuple[Any, ...] | None,
    n_features: int,
    block_id: tuple[int, ...],
    weight: float | None = None,
) -> Part:
    """Assemble a part, and check its data against the metadata."""
    given: dict[str, Any] = {name: rows for bundle in bundles for name, rows in bundle.items()}
    if weight is not None:
        given["sample_weight"] = np.full(given["X"].shape[0], weight)
    part = Part(block_id[0], given["X"], given["y"], given.get("sample_weight"))
    if part.X.ndim != 2 or part.X.shape[1] != n_features:
        raise ValueError(
            f"Partition {part.number} of X has the shape {part.X.shape}, but by the metadata it has {n_features} "
            "column(s); give partitions that are what their metadata says."
        )
    if names is not None and tuple(part.X.columns) != names:
        raise ValueError(
            f"Partition {part.number} of X has the columns {list(part.X.columns)}, but by the metadata they are "
            f"{list(names)}; give partitions with the same columns in the same order."
        )
    n_samples = part.X.shape[0]
    for name, column in (("y", part.y), ("sample_weight", part.sample_weight)):
        if column is not None and column.shape != (n_samples,):
            raise ValueError(
                f"Partition {part.number} of X has {n_samples} rows, but that of {name} has {column.shape[0]}, of "
                f"shape {column.shape}; rows belong together by their position in the partitions, which must have "
                "equal sizes. Take all from one dataframe, or rechunk them alike."
            )
    return part


def local_error(value: Any, name: str) -> TypeError:
    """Error for tables that are not Dask collections."""
    return TypeError(
        f"{name} is a {type_name(value)}; give a Dask array or dataframe, or use CoMBoClassifier or "
        "AdaBoostMMClassifier, which take local tables."
    )


def type_name(value: Any) -> str:
    """Name of the type of a value in error messages."""
    if is_collection(value):
        return f"Dask {type(value).__name__}"
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
