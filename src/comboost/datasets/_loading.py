"""Loading: a record in, its rows out, checked and in the shape of scikit-learn's own loaders."""

import csv
import gzip
import hashlib
from importlib import resources
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from comboost.datasets._records import RECORDS, DatasetRecord

__all__ = ["load_dataset", "load_yeast"]


def load_dataset(name: str, *, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load a bundled data set by its name.

    Parameters
    ----------
    name : str
        Name of the data set; at present ``"yeast"``.
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Whether to return a pandas DataFrame and a pandas Series instead of arrays. Needs pandas.

    Returns
    -------
    dataset : :class:`~sklearn.utils.Bunch`
        With the entries

        - data : ndarray of shape (n_samples, n_features), or a DataFrame
        - target : ndarray of shape (n_samples,), the class names as strings, or a Series
        - frame : DataFrame of data and target with ``as_frame=True``, else None
        - feature_names : list of str
        - target_names : ndarray of the class names, sorted like ``classes_`` of a fitted classifier
        - DESCR : str, the description of the data set

    (data, target) : tuple
        With ``return_X_y=True``.

    Examples
    --------
    >>> from comboost.datasets import load_dataset
    >>> X, y = load_dataset("yeast", return_X_y=True)
    >>> X.shape, y.shape
    ((1484, 8), (1484,))
    """
    if name not in RECORDS:
        known = ", ".join(repr(known_name) for known_name in sorted(RECORDS))
        raise ValueError(f"Unknown data set {name!r}. Known data sets: {known}.")
    # pandas is asked for first: without it nothing has to be read
    pandas = _import_pandas() if as_frame else None
    record = RECORDS[name]
    bunch = _make_bunch(record, _read_rows(record))
    if pandas is not None:
        _turn_into_frames(bunch, pandas)
    return (bunch.data, bunch.target) if return_X_y else bunch


def load_yeast(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load the Yeast data set: where in the cell a protein is found.

    1484 rows, 8 numeric features and 10 classes of 463, 429, 244, 163, 51, 44, 35, 30, 20 and 5 rows.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Whether to return a pandas DataFrame and a pandas Series instead of arrays. Needs pandas.

    Returns
    -------
    dataset : :class:`~sklearn.utils.Bunch`
        With the entries of :func:`load_dataset`.

    (data, target) : tuple
        With ``return_X_y=True``.

    Examples
    --------
    >>> from comboost.datasets import load_yeast
    >>> yeast = load_yeast()
    >>> yeast.feature_names
    ['mcg', 'gvh', 'alm', 'mit', 'erl', 'pox', 'vac', 'nuc']
    >>> print(yeast.target[0], yeast.data[0])
    MIT [0.58 0.61 0.47 0.13 0.5  0.   0.48 0.22]
    """
    return load_dataset("yeast", return_X_y=return_X_y, as_frame=as_frame)


def _read_bytes(record: DatasetRecord) -> bytes:
    """Read the compressed file of a data set and verify its checksum."""
    path = resources.files("comboost.datasets") / "data" / record.filename
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"The file {record.filename} of the data set {record.name!r} is missing: {path}. Install comboost again."
        ) from error
    found = hashlib.sha256(content).hexdigest()
    if found != record.sha256:
        raise OSError(
            f"The file {record.filename} of the data set {record.name!r} is damaged: its SHA-256 is {found}, expected "
            f"{record.sha256}. Install comboost again."
        )
    return content


def _read_rows(record: DatasetRecord) -> list[list[str]]:
    """Read the cells of a data set as text, the header line first."""
    return list(csv.reader(gzip.decompress(_read_bytes(record)).decode("utf-8").splitlines()))


def _make_bunch(record: DatasetRecord, rows: list[list[str]]) -> Bunch:
    """Turn the rows into arrays."""
    header, *body = rows
    target = np.array([row[-1] for row in body])
    return Bunch(
        data=np.array([row[:-1] for row in body], dtype=np.float64),
        target=target,
        frame=None,
        feature_names=header[:-1],
        target_names=np.unique(target),
        DESCR=record.description,
    )


def _import_pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            "as_frame=True needs pandas, which is not installed. Run `pip install pandas`, or leave as_frame=False."
        ) from error
    return pandas


def _turn_into_frames(bunch: Bunch, pandas: Any) -> None:
    """Replace the arrays of a Bunch by a DataFrame and a Series."""
    bunch.data = pandas.DataFrame(bunch.data, columns=bunch.feature_names)
    bunch.target = pandas.Series(bunch.target, name="target")
    bunch.frame = pandas.concat([bunch.data, bunch.target], axis=1)
