"""Lazy predictions of a fitted local model for a Dask collection."""

from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from comboost.dask._cluster import check_worker_memory
from comboost.dask._parts import as_table, bundles_of, header_of


def map_rows(X: Any, model: Any, method: str) -> da.Array:
    """Apply a prediction method of a fitted local estimator to every partition, lazily.

    The model is one key of the graph, so it is sent to each worker once. The result has the row chunks of X.
    """
    table = as_table(X)
    # Names and number of the features, with the messages of scikit-learn; the header has no samples to validate.
    validate_data(model, header_of(table), reset=False, skip_check_array=True)
    (bundles,) = bundles_of({"X": table})
    empty = empty_result(model, method)
    result: da.Array = da.blockwise(
        apply_to_rows,
        "ik"[: empty.ndim],
        bundles,
        "i",
        model=delayed(model, traverse=False),
        method=method,
        empty=empty,
        new_axes={"k": empty.shape[1]} if empty.ndim == 2 else None,
        dtype=empty.dtype,
        meta=empty,
    )
    return result


def empty_result(model: Any, method: str) -> NDArray[Any]:
    """Result of a method for no samples, which the model itself rejects."""
    classes = model.classes_
    if method == "predict":
        return np.empty(0, dtype=model._decision().labels.dtype)
    if method == "decision_function" and len(classes) == 2:
        return np.empty(0)
    return np.empty((0, len(classes)))


def apply_to_rows(bundle: dict[str, Any], model: Any, method: str, empty: NDArray[Any]) -> NDArray[Any]:
    """Apply a method to the samples of one partition."""
    X = bundle["X"]
    if X.shape[0] == 0:
        return empty
    if empty.ndim == 2:
        check_worker_memory(
            f"The scores of {X.shape[0]} rows for {empty.shape[1]} classes",
            {"scores": X.shape[0] * empty.shape[1] * empty.itemsize},
            "give X smaller partitions, or use workers with more memory",
        )
    result: NDArray[Any] = getattr(model, method)(X)
    return result
