"""What both baselines learn from. In: a booster, X and y as given. Out: binned rows, class indices, a seed."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from comboost._binning import BinMapper
from comboost._categories import Categories
from comboost._costs import cost_array, unit_costs
from comboost._dtypes import Codes, Floats, Labels, Sums
from comboost._learners import TreeRules
from comboost._memory import check_memory
from comboost._table import Table, find_categorical, read_table
from comboost._training_set import TrainingSet


@dataclass(frozen=True)
class Problem:
    """Rows in the bins that CoMBo would give them, and how a tree may grow on them.

    Attributes
    ----------
    table : Table
        The rows as floats, categories as their codes.
    categories : Categories
        The values of the categories.
    bins : BinMapper
        The bins of the rows as they are given: oversampling does not move them.
    codes : ndarray of uint8, (n_features, n_samples)
        The binned rows.
    labels : ndarray of uint16
        The class index of every row.
    classes : ndarray
        The classes, sorted.
    masses : ndarray of int64
        The rows of every class.
    rules : TreeRules
        How a tree may grow.
    n_threads : int
        Threads of every kernel.
    """

    table: Table
    categories: Categories
    bins: BinMapper
    codes: Codes
    labels: Labels
    classes: NDArray[Any]
    masses: Sums
    rules: TreeRules
    n_threads: int

    @classmethod
    def read(cls, booster: Any, X: Any, y: Any, n_threads: int) -> "Problem":
        """Check what ``fit`` is given, and bin it."""
        raw = read_table(booster, X, reset=True)
        n_rows, n_features = raw.shape
        data = TrainingSet.read(y, None, n_rows)
        n_classes = len(data.classes)
        n_resampled = n_classes * int(data.masses.max())
        check_memory(n_resampled, n_features, n_classes)
        categories, known = Categories.fit(raw, find_categorical(raw, booster.categorical_features))
        table = raw.encode(categories)
        bins = BinMapper.fit(table, categories, None, booster.max_bins, n_threads)
        check_memory(n_resampled, n_features, n_classes, int(bins.n_bins.sum()), booster.max_depth)
        seed = int(check_random_state(booster.random_state).randint(np.iinfo(np.int32).max))
        rules = TreeRules(booster.max_depth, booster.criterion, booster.min_samples_leaf, 0.0, n_features, seed)
        codes = bins.transform(table, n_threads, known)
        return cls(table, categories, bins, codes, data.labels, data.classes, data.masses, rules, n_threads)

    @property
    def n_classes(self) -> int:
        """K."""
        return len(self.classes)

    @property
    def shortfalls(self) -> Sums:
        """How many rows every class is short of the largest."""
        shortfalls: Sums = self.masses.max() - self.masses
        return shortfalls

    @property
    def unit(self) -> Floats:
        """The cost of a mistake, the same for all and scaled as AdaBoost.MM scales it."""
        base_masses = np.full(self.n_classes, len(self.labels) / self.n_classes)
        return unit_costs(cost_array(None, self.classes), base_masses)
