"""What both baselines learn from. In: a table and y as given. Out: binned rows, class indices, rules for trees."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from comboost._boosting.learners import TreeLearner, TreeRules
from comboost._dtypes import Codes, Labels, Sums
from comboost._engine.binning import BinMapper, bin_table
from comboost._engine.formulas import Objective
from comboost._engine.memory import TreeLimits, check_memory
from comboost._table.categories import Categories
from comboost._table.reading import TrainingSet
from comboost._table.table import RawTable, Table


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
    def read(
        cls, raw: RawTable, y: Any, categorical_features: Any, max_bins: int, rules: TreeRules, n_threads: int
    ) -> "Problem":
        """Check y, and bin the table."""
        n_rows, n_features = raw.shape
        data = TrainingSet.read(y, None, n_rows)
        n_classes = len(data.classes)
        n_resampled = n_classes * int(data.masses.max())

        def check(n_bins: int = 0) -> None:
            check_memory(n_resampled, n_features, n_classes, n_bins, TreeLimits(rules.max_depth))

        check()
        binned = bin_table(raw, categorical_features, None, max_bins, n_threads, check)
        return cls(*binned, data.labels, data.classes, data.masses, rules, n_threads)

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
    def objective(self) -> Objective:
        """AdaBoost.MM's, with the same cost for every mistake."""
        return Objective.of(None, self.masses, by_class=False)

    def learner(self) -> TreeLearner:
        """A weak learner for these rows."""
        return TreeLearner(self.bins, self.n_classes, self.rules, self.n_threads)
