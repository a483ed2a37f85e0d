"""Loading by name. In: the name of a data set. Out: its rows, checked, in the shape of scikit-learn's own loaders."""

import csv
import gzip
import hashlib
import os
from importlib import resources
from typing import Any

import numpy as np

from comboost._extras import import_pandas
from comboost.datasets._bunch import make_bunch
from comboost.datasets._connect4 import load_connect4
from comboost.datasets._records import CONNECT4, DatasetRecord, find_record


def load_dataset(
    name: str,
    *,
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: str | os.PathLike[str] | None = None,
) -> Any:
    """Load a data set of the paper's experiments by its name.

    Parameters
    ----------
    name : str
        Name of the data set: ``"new-thyroid"``, ``"balance"``, ``"car"``, ``"connect-4"``, ``"nursery-s"`` (also
        ``"nursery"``), ``"glass"``, ``"ecoli"``, ``"yeast"`` or ``"satimage"``. Letter case, hyphens and underscores do
        not count: ``"new_thyroid"`` and ``"connect4"`` are found as well.
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Whether to return a pandas DataFrame and a pandas Series instead of arrays. Needs pandas.
    data_home : str or path-like, default=None
        Folder of connect-4, see :func:`load_connect4`. All other data sets are bundled and do not look there.

    Returns
    -------
    dataset : :class:`~sklearn.utils.Bunch`
        With the entries

        - data : ndarray of shape (n_samples, n_features) of floats, or a DataFrame. An attribute that is given in
          words is a column of codes in the array (the code is the place of the word in ``categories``), and a column
          of categories in the DataFrame, ordered if the attribute is ordinal. Whole numbers are integers in the
          DataFrame.
        - target : ndarray of shape (n_samples,), the class names as strings, or a Series
        - frame : DataFrame of data and target with ``as_frame=True``, else None
        - feature_names : list of str
        - target_names : ndarray of the class names, sorted like ``classes_`` of a fitted classifier
        - categories : dict of the attributes given in words, each with the list of its words
        - DESCR : str, the description of the data set
        - filename : str, the name of the file

    (data, target) : tuple
        With ``return_X_y=True``.

    Examples
    --------
    >>> from comboost.datasets import load_dataset
    >>> X, y = load_dataset("yeast", return_X_y=True)
    >>> X.shape, y.shape
    ((1484, 8), (1484,))
    """
    record = find_record(name)
    if record is CONNECT4:
        return load_connect4(return_X_y=return_X_y, as_frame=as_frame, data_home=data_home)
    # pandas is asked for first: without it nothing has to be read.
    pandas = import_pandas("as_frame=True", "leave as_frame=False") if as_frame else None
    header, *rows = read_cells(record)
    *columns, target = zip(*rows, strict=True)
    data = np.empty((len(rows), len(columns)))
    for feature_idx, (feature_name, cells) in enumerate(zip(header[:-1], columns, strict=True)):
        scale = record.scales.get(feature_name)
        data[:, feature_idx] = [float(cell) if scale is None else scale.values.index(cell) for cell in cells]
    return make_bunch(record, header[:-1], data, np.array(target), return_X_y=return_X_y, pandas=pandas)


def read_bundled_file(record: DatasetRecord) -> bytes:
    """Read the compressed file of a bundled data set and verify its checksum."""
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


def read_cells(record: DatasetRecord) -> list[list[str]]:
    """Read the cells of a bundled data set as text, the header line first."""
    return list(csv.reader(gzip.decompress(read_bundled_file(record)).decode("utf-8").splitlines()))
