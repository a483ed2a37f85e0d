"""The setup of the experiment: its numbers, its data sets, and the results that the paper prints."""

import json
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
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
class Study:
    """Numbers of the experiment; the defaults are the paper's.

    Parameters
    ----------
    seed : int, default=2013
        Random seed; also determines the folds.
    n_folds : int, default=5
        Number of folds of a cross-validation.
    n_rounds : int, default=200
        Boosting rounds of CoMBo and AdaBoost.MM.
    n_baseline_rounds : int, default=51
        Boosting rounds of AdaBoost.NC and SMOTEBoost.
    """

    seed: int = 2013
    n_folds: int = 5
    n_rounds: int = 200
    n_baseline_rounds: int = 51


@dataclass(frozen=True)
class ClassificationProblem:
    """A data set; the columns ``categorical`` of X hold codes of categories."""

    X: Floats
    y: NDArray[Any]
    classes: NDArray[Any]
    class_counts: NDArray[np.intp]
    categorical: tuple[int, ...]


def find_dataset(name: str) -> str:
    """Find a data set by any spelling of its name; raise ValueError if it is unknown.

    Examples
    --------
    >>> from comboost.study import find_dataset
    >>> find_dataset("Connect4")
    'connect-4'
    """
    return find_record(name).name


@lru_cache(maxsize=len(DATASETS))
def load_problem(name: str) -> ClassificationProblem:
    """Load a data set, once per process.

    Parameters
    ----------
    name : str
        A name of `DATASETS`.

    Returns
    -------
    ClassificationProblem
        The data set.

    Raises
    ------
    OSError
        If it is not installed: connect-4 is not bundled.

    Examples
    --------
    >>> from comboost.study import load_problem
    >>> problem = load_problem("car")
    >>> problem.X.shape, problem.categorical, problem.class_counts.tolist()
    ((1728, 6), (0, 1, 2, 3, 4, 5), [384, 69, 1210, 65])
    """
    bunch = load_dataset(name)
    classes, counts = np.unique(bunch.target, return_counts=True)
    categorical = tuple(f for f, feature in enumerate(bunch.feature_names) if feature in bunch.categories)
    # Sorted, since the order of connect-4 depends on its source, and the folds must not.
    order = np.lexsort((bunch.target, *bunch.data.T))
    return ClassificationProblem(bunch.data[order], bunch.target[order], classes, counts, categorical)


@cache
def read_paper() -> dict[str, Any]:
    """Read the results of the paper's tables.

    Returns
    -------
    dict
        ``distributions`` by data set; ``baselines`` and ``mm`` by measure, data set and method, each with mean and std
        and, if the paper has them, the marks bold and worst (its dagger); ``connect`` with the classes and the two
        confusion matrices; ``notes`` on misprints.

    Examples
    --------
    >>> from comboost.study import read_paper
    >>> read_paper()["mm"]["confusion_norm"]["balance"]["CoMBo"]
    {'mean': 0.46, 'std': 0.097, 'bold': True}
    """
    text = (resources.files("comboost.study") / "paper.json").read_text(encoding="utf-8")
    printed: dict[str, Any] = json.loads(text)
    return printed
