"""Loaders of the bundled data sets, by name and one function each."""

import csv
import gzip
import hashlib
import os
from collections.abc import Callable
from importlib import resources
from inspect import cleandoc
from typing import Any, TypeVar

import numpy as np

from comboost._extras import import_pandas
from comboost.datasets._connect4 import load_connect4
from comboost.datasets._records import CONNECT4, DatasetRecord, find_record, make_bunch

Loader = TypeVar("Loader", bound=Callable[..., Any])

SHARED_SECTIONS = """\
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
"""


def with_shared_sections(load: Loader) -> Loader:
    """Insert the common sections of all loaders into a docstring, before the examples."""
    if load.__doc__ is not None:  # python -OO removes docstrings
        summary, heading, examples = cleandoc(load.__doc__).partition("Examples\n")
        load.__doc__ = f"{summary}{SHARED_SECTIONS}\n{heading}{examples}\n"
    return load


def load_dataset(
    name: str, *, return_X_y: bool = False, as_frame: bool = False, data_home: str | os.PathLike[str] | None = None
) -> Any:
    """Load a data set of the paper's experiments by its name.

    Parameters
    ----------
    name : str
        Name of the data set: ``"new-thyroid"``, ``"balance"``, ``"car"``, ``"connect-4"``, ``"nursery-s"`` (also
        ``"nursery"``), ``"glass"``, ``"ecoli"``, ``"yeast"`` or ``"satimage"``. Letter case, hyphens and underscores do
        not matter: ``"new_thyroid"`` and ``"connect4"`` work as well.
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Whether to return a pandas DataFrame and a pandas Series instead of arrays. Needs pandas.
    data_home : str or path-like, default=None
        Folder of connect-4, see :func:`load_connect4`; the other data sets are bundled.

    Returns
    -------
    dataset : :class:`~sklearn.utils.Bunch`
        With the entries

        - data : ndarray of shape (n_samples, n_features) of floats, or a DataFrame. A categorical
          feature is a column of codes in the array (the index of the category in ``categories``), and a categorical
          column in the DataFrame, ordered if the feature is ordinal. Whole numbers are integers in the DataFrame.
        - target : ndarray of shape (n_samples,), the class names as strings, or a Series
        - frame : DataFrame of data and target with ``as_frame=True``, else None
        - feature_names : list of str
        - target_names : ndarray of the class names, sorted like ``classes_`` of a fitted classifier
        - categories : dict of the categorical features, each with the list of its categories
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
    # pandas is imported first: without it, there is no need to read the file.
    pandas = import_pandas("as_frame=True", "leave as_frame=False") if as_frame else None
    header, *rows = read_cells(record)
    *columns, target = zip(*rows, strict=True)
    data = np.empty((len(rows), len(columns)))
    for feature_idx, (feature_name, cells) in enumerate(zip(header[:-1], columns, strict=True)):
        scale = record.scales.get(feature_name)
        data[:, feature_idx] = [float(cell) if scale is None else scale.values.index(cell) for cell in cells]
    return make_bunch(record, header[:-1], data, np.array(target), return_X_y=return_X_y, pandas=pandas)


def read_cells(record: DatasetRecord) -> list[list[str]]:
    """Read the cells of a bundled data set as text, the header line first; verify the checksum of the file."""
    path = resources.files("comboost.datasets") / "data" / record.filename
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"The file {record.filename} of the data set {record.name!r} is missing: {path}. Install comboost again."
        ) from error
    checksum = hashlib.sha256(content).hexdigest()
    if checksum != record.sha256:
        raise OSError(
            f"The file {record.filename} of the data set {record.name!r} is damaged: its SHA-256 is {checksum}, "
            f"expected {record.sha256}. Install comboost again."
        )
    return list(csv.reader(gzip.decompress(content).decode("utf-8").splitlines()))


@with_shared_sections
def load_new_thyroid(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load the New-Thyroid data set: the state of a thyroid gland from five laboratory tests.

    215 rows, 5 numeric features and 3 classes of 150, 35 and 30 rows.

    Examples
    --------
    >>> from comboost.datasets import load_new_thyroid
    >>> thyroid = load_new_thyroid()
    >>> print(thyroid.target[0], thyroid.data[0])
    normal [107.   10.1   2.2   0.9   2.7]
    """
    return load_dataset("new-thyroid", return_X_y=return_X_y, as_frame=as_frame)


@with_shared_sections
def load_balance(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load the Balance data set: to which side a scale with two weights tips.

    625 rows, 4 features of whole numbers from 1 to 5 and 3 classes of 288, 288 and 49 rows.

    Examples
    --------
    >>> from comboost.datasets import load_balance
    >>> balance = load_balance()
    >>> print(balance.target[1], balance.data[1])
    R [1. 1. 1. 2.]
    """
    return load_dataset("balance", return_X_y=return_X_y, as_frame=as_frame)


@with_shared_sections
def load_car(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load the Car data set: how acceptable a car is.

    1728 rows, 6 ordinal features and 4 classes of 1210, 384, 69 and 65 rows. The features are categorical columns in
    a DataFrame, and columns of codes in an array.

    Examples
    --------
    >>> from comboost.datasets import load_car
    >>> car = load_car()
    >>> print(car.target[0], car.data[0])
    unacc [3. 3. 0. 0. 0. 0.]
    >>> car.categories["buying"]
    ['low', 'med', 'high', 'vhigh']
    """
    return load_dataset("car", return_X_y=return_X_y, as_frame=as_frame)


@with_shared_sections
def load_nursery(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load the Nursery data set: whether a child is admitted to a nursery school.

    12958 rows, 8 features (6 ordinal, 2 nominal) and 4 classes of 4320, 4266, 4044 and 328 rows. The two rows of a
    fifth class, ``recommend``, are left out. The features are categorical columns in a DataFrame, and columns of
    codes in an array.

    Examples
    --------
    >>> from comboost.datasets import load_nursery
    >>> nursery = load_nursery()
    >>> nursery.data.shape
    (12958, 8)
    >>> nursery.categories["form"]
    ['complete', 'completed', 'incomplete', 'foster']
    """
    return load_dataset("nursery-s", return_X_y=return_X_y, as_frame=as_frame)


@with_shared_sections
def load_glass(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load the Glass data set: the kind of object that a piece of glass comes from.

    214 rows, 9 numeric features and 6 classes of 76, 70, 29, 17, 13 and 9 rows.

    Examples
    --------
    >>> from comboost.datasets import load_glass
    >>> glass = load_glass()
    >>> glass.feature_names
    ['RI', 'Na', 'Mg', 'Al', 'Si', 'K', 'Ca', 'Ba', 'Fe']
    >>> print(glass.target[-1])
    headlamps
    """
    return load_dataset("glass", return_X_y=return_X_y, as_frame=as_frame)


@with_shared_sections
def load_ecoli(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load the Ecoli data set: where in the cell of a bacterium a protein is located.

    327 rows, 7 numeric features and 5 classes of 143, 77, 52, 35 and 20 rows. The nine rows of three more classes,
    ``imL``, ``imS`` and ``omL``, are left out.

    Examples
    --------
    >>> from comboost.datasets import load_ecoli
    >>> ecoli = load_ecoli()
    >>> print(ecoli.target[0], ecoli.data[0])
    cp [0.49 0.29 0.48 0.5  0.56 0.24 0.35]
    """
    return load_dataset("ecoli", return_X_y=return_X_y, as_frame=as_frame)


@with_shared_sections
def load_yeast(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load the Yeast data set: where in the cell a protein is located.

    1484 rows, 8 numeric features and 10 classes of 463, 429, 244, 163, 51, 44, 35, 30, 20 and 5 rows.

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


@with_shared_sections
def load_satimage(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load the Satimage data set: the kind of soil in a satellite image.

    6435 rows (training and test part together), 36 features of whole numbers from 0 to 255 and 6 classes of 1533, 1508,
    1358, 707, 703 and 626 rows.

    Examples
    --------
    >>> from comboost.datasets import load_satimage
    >>> satimage = load_satimage()
    >>> print(satimage.target[0], satimage.data[0, :4])
    grey soil [ 92. 115. 120.  94.]
    """
    return load_dataset("satimage", return_X_y=return_X_y, as_frame=as_frame)
