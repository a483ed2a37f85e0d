"""What the baselines share as estimators. In: a table. Out: a fitted weighted sum of trees."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from comboost._boosting.learners import TreeRules
from comboost._data.validation import read_table
from comboost._engine.forest import Forest
from comboost._engine.memory_plan import Uses
from comboost._estimators.base import fit_atomically
from comboost._estimators.paper import PaperSettings
from comboost._estimators.parameters import Settings, hinted, n_threads_of, restated
from comboost._estimators.predict import Predictor
from comboost._types import MatrixLike, Sums
from comboost.baselines._problem import Problem


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


class TreeVoter(Predictor, ABC, Generic[SettingsT]):
    """A weighted sum of trees that were boosted on resampled data."""

    _takes_sparse: ClassVar[bool] = True  # whether sparse data can be resampled as they are
    _hints: Mapping[str, str] = {"sample_weight": "leave it out: the rows are resampled"}

    @abstractmethod
    def _resampling(self, settings: SettingsT, weight_sums: Sums, n_features: int) -> Uses:
        """Bytes that resampling takes beside boosting, for classes of these sizes."""

    @abstractmethod
    def _boost(self, settings: SettingsT, problem: Problem) -> tuple[Forest, str]:
        """Boost trees; return the weighted trees, and why boosting ended."""

    @hinted
    def fit(self, X: MatrixLike, y: ArrayLike) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The values: numbers or categories, NaN, None or NA if they are missing, none of them infinite.
        y : array-like of shape (n_samples,)
            The classes: at least two, all of one kind that can be hashed and sorted, none missing or masked.

        Returns
        -------
        self
            The fitted classifier. If ``fit`` fails or is interrupted, the classifier and its ``random_state`` stay as
            they were.
        """
        settings: Any = self._table.of(self)
        fit_atomically(self, settings, lambda model, settings: model._fit(settings, X, y))
        return self

    def _fit(self, settings: SettingsT, X: MatrixLike, y: ArrayLike) -> None:
        problem = self._read_problem(settings, X, y)
        self._forest, self.stop_reason_ = self._boost(settings, problem)
        self._categories = problem.categories
        self.classes_ = problem.classes
        self.estimator_weights_ = self._forest.weights
        self.n_iter_ = len(self._forest.weights)

    def _read_problem(self, settings: SettingsT, X: MatrixLike, y: ArrayLike) -> Problem:
        """Read and bin the data."""
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
