"""Ours without a cluster. In: rows, in the process that learns them. Out: seconds, and a digest of the model."""

import hashlib
import time
from typing import Any

import numpy as np

from benchmarks._lib.peers import MAX_BINS, MAX_DEPTH
from benchmarks.dask.rows import Rows

PARTS_OF_FOREST = ("nodes", "sets", "offsets", "weights", "votes")
PARTS_OF_MODEL = (
    "classes_",
    "estimator_weights_",
    "edges_",
    "loss_curve_",
    "bound_curve_",
    "train_confusion_",
    "feature_importances_",
)

_data: list[Any] = []  # X and y, kept in the process from one fit to the next


def load(rows: Rows) -> None:
    """Draw all rows into the memory of this process."""
    _data[:] = rows.load()


def fit(n_rounds: int, n_threads: int, estimator: str = "CoMBoClassifier") -> tuple[float, Any]:
    """Seconds of a fit on the loaded rows, and the model."""
    import comboost

    parameters = {"n_estimators": n_rounds, "max_depth": MAX_DEPTH, "max_bins": MAX_BINS, "n_jobs": n_threads}
    model = getattr(comboost, estimator)(**parameters)
    start = time.perf_counter()
    model.fit(*_data)
    return time.perf_counter() - start, model


def digest_of(model: Any) -> str:
    """A digest of every bit of a fitted model; only votes for one class have weights."""
    arrays = [getattr(model._forest, part) for part in PARTS_OF_FOREST]
    arrays += [getattr(model, part, None) for part in PARTS_OF_MODEL]
    digest = hashlib.sha256(model.stop_reason_.encode())
    for array in arrays:
        digest.update(b"" if array is None else np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
