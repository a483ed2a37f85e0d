"""Return values of the loaders: a Bunch or a pair, of arrays or of frames."""

from importlib import resources
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from comboost.datasets._records import DatasetRecord


def make_bunch(
    record: DatasetRecord,
    feature_names: list[str],
    data: np.ndarray,
    target: np.ndarray,
    *,
    return_X_y: bool,
    pandas: Any | None,
) -> Any:
    """Create the return value of a loader; with ``pandas``, convert arrays to frames and codes to categories."""
    description = resources.files("comboost.datasets") / "descr" / record.description_filename
    bunch = Bunch(
        data=data,
        target=target,
        frame=None,
        feature_names=feature_names,
        target_names=np.unique(target),
        categories={name: list(scale.values) for name, scale in record.scales.items()},
        DESCR=description.read_text(encoding="utf-8"),
        filename=record.filename,
    )
    if pandas is not None:
        turn_into_frames(bunch, record, pandas)
    return (bunch.data, bunch.target) if return_X_y else bunch


def turn_into_frames(bunch: Bunch, record: DatasetRecord, pandas: Any) -> None:
    """Convert the arrays of a bunch to a DataFrame and a Series, and codes to categories."""
    columns = {}
    for name, values in zip(bunch.feature_names, bunch.data.T, strict=True):
        scale = record.scales.get(name)
        if scale is not None:
            columns[name] = pandas.Categorical.from_codes(
                values.astype(np.int8), categories=list(scale.values), ordered=scale.ordered
            )
        else:
            # Whole numbers, such as counts and pixels, become integers.
            columns[name] = values.astype(np.int64) if np.array_equal(values, np.rint(values)) else values
    bunch.data = pandas.DataFrame(columns)
    bunch.target = pandas.Series(bunch.target, name="target")
    bunch.frame = pandas.concat([bunch.data, bunch.target], axis=1)
