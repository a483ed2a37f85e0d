"""What both baselines learn from. In: a table and y as given. Out: binned rows, class indices, rules for trees."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comboost import _core
from comboost._boosting.learners import TreeLearner, TreeRules
from comboost._data.categories import Categories
from comboost._data.sample_weights import ClassWeightSums
from comboost._data.tables import RawTable, Table
from comboost._data.validation import TrainingSet
from comboost._engine.binning import BinMapper, bin_table
from comboost._engine.formulas import Objective
from comboost._engine.memory import check_room
from comboost._engine.memory_plan import FitShape, TableCopies, TreeLimits, Uses
from comboost._types import Codes, Labels, Sums
from comboost.baselines._neighbours import Indices


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
    codes : ndarray of uint8, (n_features, n_samples), or SparseCodes
        The binned rows.
    labels : ndarray of uint16
        The class index of every row.
    classes : ndarray
        The classes, sorted.
    sums : ndarray of int64
        The rows of every class.
    rules : TreeRules
        How a tree may grow.
    n_threads : int
        Threads of every kernel.
    """

    table: Table
    categories: Categories
    bins: BinMapper
    codes: Codes | _core.SparseCodes
    labels: Labels
    classes: NDArray[Any]
    sums: Sums
    rules: TreeRules
    n_threads: int

    @classmethod
    def read(
        cls,
        raw: RawTable,
        y: Any,
        categorical_features: Any,
        max_bins: int,
        rules: TreeRules,
        n_threads: int,
        resampling: Callable[[Sums, int], Uses],
        *,
        sparse: bool,
    ) -> "Problem":
        """Check y, and bin the table, a sparse one as such if it may be.

        ``resampling`` says what it takes, beside boosting, to resample the rows.
        """
        n_samples, n_features = raw.shape
        data = TrainingSet.read(y, None, n_samples)
        n_classes = len(data.classes)
        n_resampled = n_classes * int(data.weight_sums.sums.max())
        shape = FitShape(
            n_resampled,
            n_features,
            n_classes,
            limits=TreeLimits(rules.max_depth, min_samples_leaf=rules.min_samples_leaf),
            n_threads=n_threads,
            table=TableCopies.of(raw),
        )

        def check(n_bins: int = 0) -> None:
            given = {"codes of the rows that are given": n_samples * n_features}
            check_room(
                f"A fit of {n_samples} rows, resampled to {n_resampled}, {n_features} features and {n_classes} classes",
                replace(shape, n_bins=n_bins).peak() | given | resampling(data.weight_sums.sums, n_features),
                "Give fewer rows, features, classes or bins (max_bins), classes of more equal sizes, smaller trees "
                "(max_depth), or a machine with more memory.",
            )

        check()
        binned = bin_table(raw, categorical_features, None, max_bins, n_threads, check, sparse=sparse)
        return cls(*binned, data.labels, data.classes, data.weight_sums.sums, rules, n_threads)

    @property
    def n_classes(self) -> int:
        """K."""
        return len(self.classes)

    @property
    def shortfalls(self) -> Sums:
        """How many rows every class is short of the largest."""
        shortfalls: Sums = self.sums.max() - self.sums
        return shortfalls

    @property
    def objective(self) -> Objective:
        """AdaBoost.MM's, with the same cost for every mistake."""
        return Objective.of(None, ClassWeightSums(self.sums), by_class=False)

    def codes_of(self, indices: Indices) -> Codes | _core.SparseCodes:
        """The binned rows at these places, some of which may stand there several times."""
        if isinstance(self.codes, np.ndarray):
            return np.take(self.codes, indices, axis=1)
        return self.bins.encode_entries(self.table.take(indices).entries(), self.n_threads)

    def learner(self) -> TreeLearner:
        """A weak learner for these rows."""
        return TreeLearner(self.bins, self.n_classes, self.rules, self.n_threads)
