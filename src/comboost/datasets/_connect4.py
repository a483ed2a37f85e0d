"""Loader of Connect-4, which is too large to be bundled, from a local folder or from OpenML."""

import gzip
import hashlib
import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from comboost._extras import import_pandas
from comboost.datasets._records import CONNECT4, make_bunch

FOLDER_VARIABLE = "COMBOOST_DATA"
OPENML_ID = 40668

CELLS = list(CONNECT4.scales)
GAME_RESULTS = np.array(["draw", "loss", "win"])  # by their codes in the file and on OpenML
WAYS = f"""\
Connect-4 is not bundled with comboost. Three ways to get it:
1. load_connect4(data_home=folder), with a folder that holds {CONNECT4.filename}, the file of the Penn Machine \
Learning Benchmarks (tab-separated columns {CELLS[0]} to {CELLS[-1]} and target);
2. the environment variable {FOLDER_VARIABLE} with the path of such a folder;
3. neither, but a network connection: it is then downloaded from OpenML (id {OPENML_ID}) and cached by scikit-learn."""


def load_connect4(
    *, return_X_y: bool = False, as_frame: bool = False, data_home: str | os.PathLike[str] | None = None
) -> Any:
    """Load the Connect-4 data set: the winner of a game of connect-4, from its board after eight moves.

    67557 rows, 42 nominal features (the cells of the board: blank, o or x) and 3 classes of 44473, 16635 and 6449 rows.

    The data set is not bundled. It is read from the file ``connect_4.tsv.gz`` in a folder, or, if no folder is given,
    downloaded from OpenML (id 40668) by :func:`sklearn.datasets.fetch_openml`, which caches it. The rows are verified
    by a checksum; their order is that of the source.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Whether to return a pandas DataFrame with categorical columns (b, o, x) and a pandas Series instead of arrays,
        with the codes 0, 1 and 2 for b, o and x. Needs pandas.
    data_home : str or path-like, default=None
        Folder that contains ``connect_4.tsv.gz``. By default the environment variable ``COMBOOST_DATA``; if it is not
        set, the data set is downloaded.

    Returns
    -------
    dataset : :class:`~sklearn.utils.Bunch`
        With the entries of :func:`load_dataset`.

    (data, target) : tuple
        With ``return_X_y=True``.

    Examples
    --------
    >>> from comboost.datasets import load_connect4
    >>> connect4 = load_connect4(as_frame=True)  # doctest: +SKIP
    >>> load_connect4(data_home="a folder without it")
    Traceback (most recent call last):
        ...
    FileNotFoundError: There is no file connect_4.tsv.gz in the folder 'a folder without it'.
    Connect-4 is not bundled with comboost. Three ways to get it:
    ...
    """
    pandas = import_pandas("as_frame=True", "leave as_frame=False") if as_frame else None
    folder = data_home if data_home is not None else os.environ.get(FOLDER_VARIABLE) or None
    codes = fetch_codes() if folder is None else read_codes(Path(folder))
    data, target = codes[:, :-1].astype(np.float64), GAME_RESULTS[codes[:, -1]]
    return make_bunch(CONNECT4, list(CELLS), data, target, return_X_y=return_X_y, pandas=pandas)


def read_codes(folder: Path) -> np.ndarray:
    """Read the codes of the cells, with the outcome in the last column, from a folder."""
    path = folder / CONNECT4.filename
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {CONNECT4.filename} in the folder {str(folder)!r}.\n{WAYS}")
    try:
        with gzip.open(path, "rt", encoding="ascii") as lines:
            if next(lines, "").split() != [*CELLS, "target"]:
                raise ValueError("the first line does not name the columns")
            codes = np.loadtxt(lines, dtype=np.uint8, delimiter="\t", ndmin=2)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise OSError(f"The file {path} cannot be read as connect-4: {error}. Get it again.\n{WAYS}") from error
    return verify_rows(codes, f"the file {path}")


def fetch_codes() -> np.ndarray:
    """Download the same codes from OpenML."""
    from sklearn.datasets import fetch_openml  # slow to import and seldom needed

    try:
        fetched = fetch_openml(data_id=OPENML_ID, as_frame=False, parser="liac-arff")  # this parser needs no pandas
    except (OSError, ValueError) as error:  # no network, or an invalid response
        raise FileNotFoundError(
            f"No folder is given, and the download from OpenML failed: {type(error).__name__}: {error}.\n{WAYS}"
        ) from error
    try:
        columns = [fetched.data[:, fetched.feature_names.index(name)] for name in CELLS]
        # OpenML returns nominal features as indices into their categories, and a nominal target as text.
        for name, categories in (fetched.categories or {}).items():
            index = CELLS.index(name)
            columns[index] = np.asarray(categories)[columns[index].astype(np.intp)]
        codes = np.column_stack([column.astype(np.uint8) for column in (*columns, np.asarray(fetched.target))])
    except (ValueError, IndexError) as error:
        raise OSError(
            f"The data set {OPENML_ID} of OpenML does not have the expected form: {error}.\n{WAYS}"
        ) from error
    return verify_rows(codes, f"the data set {OPENML_ID} of OpenML")


def verify_rows(codes: np.ndarray, source: str) -> np.ndarray:
    """Return the rows; raise unless their checksum, which does not depend on their order, is that of the record."""
    checksum = hashlib.sha256(b"".join(sorted(row.tobytes() for row in codes))).hexdigest()
    if checksum != CONNECT4.sha256:
        raise OSError(
            f"The rows of {source} are not those of connect-4: {len(codes)} rows whose SHA-256 is {checksum}, expected "
            f"67557 rows with {CONNECT4.sha256}. Get it again.\n{WAYS}"
        )
    return codes
