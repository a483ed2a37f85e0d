"""Base class of the baselines, and the training data that both of them boost on."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from comboost import _core
from comboost._data.categories import Categories
from comboost._data.sample_weights import ClassWeightSums
from comboost._data.tables import RawTable, Table
from comboost._data.validation import TrainingSet, read_table
from comboost._engine.binning import BinMapper, bin_table
from comboost._engine.forest import Forest
from comboost._engine.losses import Objective
from comboost._engine.memory import check_room
from comboost._engine.memory_plan import FitShape, TableCopies, TreeLimits, Uses
from comboost._engine.rows import TreeRules
from comboost._estimators.base import fit_atomically
from comboost._estimators.paper import PaperSettings
from comboost._estimators.parameters import Settings, hinted, n_threads_of, restated
from comboost._estimators.predict import Predictor
from comboost._types import Codes, Labels, MatrixLike, Sums


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
        n_classes = len(data.candidates.classes)
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
        return cls(*binned, data.labels, data.candidates.classes, data.weight_sums.sums, rules, n_threads)

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
        return Objective.of(None, ClassWeightSums(self.sums), 0.0)

    def codes_of(self, indices: NDArray[np.intp]) -> Codes | _core.SparseCodes:
        """The binned samples at these indices, which may repeat."""
        if isinstance(self.codes, np.ndarray):
            return np.take(self.codes, indices, axis=1)
        return self.bins.encode_entries(self.table.take(indices).entries(), self.n_threads)


@dataclass(frozen=True, kw_only=True)
class BaselineSettings(Settings):
    """Parameters of all baselines; see those of the paper's estimators."""

    n_estimators: int = restated(PaperSettings, "n_estimators", default=51, doc="Maximum number of boosting rounds.")
    max_depth: int | None = restated(PaperSettings, "max_depth")
    criterion: str = restated(PaperSettings, "criterion", doc="What a split maximises; see `comboost.CoMBoClassifier`.")
    min_samples_leaf: int = restated(
        PaperSettings,
        "min_samples_leaf",
        doc="Minimum number of samples in a leaf, including those that resampling adds.",
    )
    max_bins: int = restated(
        PaperSettings,
        "max_bins",
        doc="Maximum number of bins per feature, from 2 to 255, found on the original samples.",
    )
    categorical_features: str | ArrayLike | None = restated(PaperSettings, "categorical_features")
    proba: str = restated(PaperSettings, "proba", after="categorical_features")
    n_jobs: int | None = restated(PaperSettings, "n_jobs")
    random_state: int | np.random.RandomState | None = restated(
        PaperSettings, "random_state", doc="Random seed of the resampling; nothing else is random."
    )


SettingsT = TypeVar("SettingsT", bound=BaselineSettings)


class BaselineClassifier(Predictor, ABC, Generic[SettingsT]):
    """Base class of the baselines: a weighted vote of trees, boosted on resampled data."""

    _takes_sparse: ClassVar[bool] = True  # whether sparse tables are resampled without converting them
    _hints: Mapping[str, str] = {"sample_weight": "leave it out: the rows are resampled"}

    @abstractmethod
    def _resampling(self, settings: SettingsT, weight_sums: Sums, n_features: int) -> Uses:
        """Bytes needed to resample classes of these sizes."""

    @abstractmethod
    def _boost(self, settings: SettingsT, problem: Problem) -> tuple[Forest, str]:
        """Boost trees; return them with their weights, and the reason why boosting stopped."""

    @hinted
    def fit(self, X: MatrixLike, y: ArrayLike) -> Self:
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
        settings: Any = self._table.of(self)
        fit_atomically(self, settings, type(self)._fit, X, y)
        return self

    def _fit(self, settings: SettingsT, X: MatrixLike, y: ArrayLike) -> None:
        problem = self._read_problem(settings, X, y)
        self._forest, self.stop_reason_ = self._boost(settings, problem)
        self._categories = problem.categories
        self.classes_ = problem.classes
        self.estimator_weights_ = self._forest.weights
        self.n_iter_ = len(self._forest.weights)

    def _read_problem(self, settings: SettingsT, X: MatrixLike, y: ArrayLike) -> Problem:
        """Check and bin X and y."""
        raw = read_table(self, X, reset=True)
        seed = int(check_random_state(settings.random_state).randint(np.iinfo(np.int32).max))
        return Problem.read(
            raw,
            y,
            settings.categorical_features,
            settings.max_bins,
            TreeRules(settings.max_depth, settings.criterion, settings.min_samples_leaf, 0.0, raw.shape[1], seed),
            n_threads_of(settings.n_jobs),
            lambda weight_sums, n_features: self._resampling(settings, weight_sums, n_features),
            sparse=self._takes_sparse,
        )
