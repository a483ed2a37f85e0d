"""Problems. In: the name of a data set. Out: its rows, its classes and the places of its categories."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comboost._types import Floats
from comboost.datasets import load_dataset
from comboost.datasets._records import find_record

# In the order of the paper's first table.
DATASETS = ("new-thyroid", "balance", "car", "connect-4", "nursery-s", "glass", "ecoli", "yeast", "satimage")
WITH_CATEGORIES = ("car", "connect-4", "nursery-s")
SMALL_DATASETS = ("new-thyroid", "balance", "glass", "ecoli")


@dataclass(frozen=True)
class ClassificationProblem:
    """The rows of a data set; words are codes in X, and ``categorical`` says in which columns."""

    X: Floats
    y: NDArray[Any]
    classes: NDArray[Any]
    class_counts: NDArray[np.intp]
    categorical: tuple[int, ...]


def find_dataset(name: str) -> str:
    """Find the name of a data set in the paper's spelling; any spelling of it will do, an unknown name is a ValueError.

    Examples
    --------
    >>> from comboost.study import find_dataset
    >>> find_dataset("Connect4")
    'connect-4'
    """
    return find_record(name).name


@lru_cache(maxsize=len(DATASETS))
def load_problem(name: str) -> ClassificationProblem:
    """Load a data set once per process.

    Parameters
    ----------
    name : str
        As in `DATASETS`.

    Returns
    -------
    ClassificationProblem
        Its rows.

    Raises
    ------
    OSError
        If it is not there: connect-4 is not bundled.

    Examples
    --------
    >>> from comboost.study import load_problem
    >>> problem = load_problem("car")
    >>> problem.X.shape, problem.categorical, problem.class_counts.tolist()
    ((1728, 6), (0, 1, 2, 3, 4, 5), [384, 69, 1210, 65])
    """
    bunch = load_dataset(name)
    classes, counts = np.unique(bunch.target, return_counts=True)
    words = tuple(place for place, feature in enumerate(bunch.feature_names) if feature in bunch.categories)
    # In an order of their own: that of connect-4 depends on where it comes from, and folds must not.
    order = np.lexsort((bunch.target, *bunch.data.T))
    return ClassificationProblem(bunch.data[order], bunch.target[order], classes, counts, words)
