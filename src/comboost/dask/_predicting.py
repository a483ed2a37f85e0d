"""Predictions that are not there yet. In: a fitted local model, rows as a Dask collection. Out: a Dask array."""

from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from comboost.dask._cluster import check_worker_memory
from comboost.dask._parts import as_table, bundles_of, header_of


def map_rows(X: Any, model: Any, method: str) -> da.Array:
    """What a method of a fitted model makes of every partition, when it is computed.

    Parameters
    ----------
    X : Dask array or DataFrame
        The rows.
    model : CoMBoClassifier
        A fitted local estimator. It is one key of the graph, so it travels once to each worker.
    method : {"predict", "predict_proba", "predict_log_proba", "decision_function"}
        The method.

    Returns
    -------
    Dask array
        As the method gives it for all rows, in row chunks as X has them.
    """
    table = as_table(X)
    # Names and number of the features, with the words of scikit-learn; the header has no rows to look at.
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
    """What a method gives for no rows, which the model itself refuses."""
    classes = model.classes_
    if method == "predict":
        return np.empty(0, dtype=model._decision().labels.dtype)
    if method == "decision_function" and len(classes) == 2:
        return np.empty(0)
    return np.empty((0, len(classes)))


def apply_to_rows(bundle: dict[str, Any], model: Any, method: str, empty: NDArray[Any]) -> NDArray[Any]:
    """A method's result for the rows of one partition."""
    rows = bundle["X"]
    if rows.shape[0] == 0:
        return empty
    if empty.ndim == 2:
        check_worker_memory(
            f"The votes of {rows.shape[0]} rows for {empty.shape[1]} classes",
            {"votes": rows.shape[0] * empty.shape[1] * empty.itemsize},
            "give X smaller partitions, or use workers with more memory",
        )
    result: NDArray[Any] = getattr(model, method)(rows)
    return result
