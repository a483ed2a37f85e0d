"""Base class of the baselines, and the training data that both of them boost on."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from comboost import _core
from comboost._boosting.learners import TreeLearner, TreeRules
from comboost._data.categories import Categories
from comboost._data.sample_weights import ClassWeightSums
from comboost._data.tables import RawTable, Table
from comboost._data.validation import TrainingSet, read_table
from comboost._engine.binning import BinMapper, bin_table
from comboost._engine.forest import Forest
from comboost._engine.formulas import Objective
from comboost._engine.memory import check_room
from comboost._engine.memory_plan import FitShape, TableCopies, TreeLimits, Uses
from comboost._estimators.atomic_fit import fit_or_leave
from comboost._estimators.parameters import RULES, Rule, check_parameters, explained, n_threads_of
from comboost._estimators.predict import Voter
from comboost._types import Codes, Labels, Sums

SHARED = ("n_estimators", "max_depth", "criterion", "min_samples_leaf", "max_bins", "proba", "random_state", "n_jobs")


@dataclass(frozen=True)
class Problem:
    """Binned training samples and the rules of the trees."""

    table: Table  # the samples as floats, categories as their codes
    categories: Categories
    bins: BinMapper  # the bins, found before oversampling
    codes: Codes | _core.SparseCodes  # the binned samples, (n_features, n_samples)
    labels: Labels  # the class index of every sample
    classes: NDArray[Any]  # the classes, sorted
    sums: Sums  # the number of samples of every class
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
        """Check y, and bin the table; ``sparse`` tables stay sparse.

        ``resampling`` returns the memory needed to resample the samples.
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
            given = {"codes of the given rows": n_samples * n_features}
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
        """Number of classes."""
        return len(self.classes)

    @property
    def shortfalls(self) -> Sums:
        """Number of samples that every class lacks to the size of the largest."""
        shortfalls: Sums = self.sums.max() - self.sums
        return shortfalls

    @property
    def objective(self) -> Objective:
        """The objective of AdaBoost.MM, with the same cost for every mistake."""
        return Objective.of(None, ClassWeightSums(self.sums), by_class=False)

    def codes_of(self, indices: NDArray[np.intp]) -> Codes | _core.SparseCodes:
        """The binned samples at these indices, which may repeat."""
        if isinstance(self.codes, np.ndarray):
            return np.take(self.codes, indices, axis=1)
        return self.bins.encode_entries(self.table.take(indices).entries(), self.n_threads)

    def learner(self) -> TreeLearner:
        """Create the weak learner."""
        return TreeLearner(self.bins, self.n_classes, self.rules, self.n_threads)


class TreeVoter(Voter, ABC):
    """Base class of the baselines: a weighted vote of trees, boosted on resampled data."""

    _rules: ClassVar[dict[str, Rule]] = {name: RULES[name] for name in SHARED}
    _takes_sparse: ClassVar[bool] = True  # whether sparse tables are resampled without converting them
    _hints: ClassVar[Mapping[str, str]] = {"sample_weight": "leave it out: the rows are resampled"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    @abstractmethod
    def _resampling(self, weight_sums: Sums, n_features: int) -> Uses:
        """Bytes needed to resample classes of these sizes."""

    @abstractmethod
    def _boost(self, problem: Problem) -> tuple[Forest, str]:
        """Boost trees; return them with their weights, and the reason why boosting stopped."""

    @explained
    def fit(self, X: Any, y: Any) -> Self:
        """Boost trees on a table.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The samples: numbers or categories; NaN, None or NA are missing values. Infinite values are an error.
        y : array-like of shape (n_samples,)
            The classes: at least two, all of one kind that can be hashed and sorted, none missing or masked.

        Returns
        -------
        self
            The fitted classifier. If ``fit`` fails or is interrupted, the classifier and its ``random_state`` do not
            change.
        """
        check_parameters(self, self._rules)
        fit_or_leave(self, self._rules, lambda fitted: fitted._fit(X, y))
        return self

    def _fit(self, X: Any, y: Any) -> None:
        problem = self._read_problem(X, y)
        self._forest, self.stop_reason_ = self._boost(problem)
        self._categories = problem.categories
        self.classes_ = problem.classes
        self.estimator_weights_ = self._forest.weights
        self.n_iter_ = len(self._forest.weights)

    def _read_problem(self, X: Any, y: Any) -> Problem:
        """Check and bin X and y."""
        raw = read_table(self, X, reset=True)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        rules = TreeRules(self.max_depth, self.criterion, self.min_samples_leaf, 0.0, raw.shape[1], seed)
        return Problem.read(
            raw,
            y,
            self.categorical_features,
            self.max_bins,
            rules,
            n_threads_of(self.n_jobs),
            self._resampling,
            sparse=self._takes_sparse,
        )
