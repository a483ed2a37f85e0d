"""What a loader returns. In: a record, numbers and classes. Out: a Bunch or a pair, as arrays or as frames."""

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
    """Make what a loader returns; words are codes in ``data``, and with ``pandas`` frames are made of the arrays."""
    bunch = Bunch(
        data=data,
        target=target,
        frame=None,
        feature_names=feature_names,
        target_names=np.unique(target),
        categories={name: list(scale.values) for name, scale in record.scales.items()},
        DESCR=read_description(record),
        filename=record.filename,
    )
    if pandas is not None:
        turn_into_frames(bunch, record, pandas)
    return (bunch.data, bunch.target) if return_X_y else bunch


def read_description(record: DatasetRecord) -> str:
    """Read what a reader should know of a data set."""
    path = resources.files("comboost.datasets") / "descr" / record.description_filename
    return path.read_text(encoding="utf-8")


def turn_into_frames(bunch: Bunch, record: DatasetRecord, pandas: Any) -> None:
    """Replace the arrays of a bunch by a DataFrame and a Series, the codes by categories."""
    columns = {}
    for name, values in zip(bunch.feature_names, bunch.data.T, strict=True):
        scale = record.scales.get(name)
        if scale is not None:
            columns[name] = pandas.Categorical.from_codes(
                values.astype(np.int8), categories=list(scale.values), ordered=scale.ordered
            )
        else:
            # Whole numbers, like counts and pixels, stay whole.
            columns[name] = values.astype(np.int64) if np.array_equal(values, np.rint(values)) else values
    bunch.data = pandas.DataFrame(columns)
    bunch.target = pandas.Series(bunch.target, name="target")
    bunch.frame = pandas.concat([bunch.data, bunch.target], axis=1)
