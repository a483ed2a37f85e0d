"""What the baselines share as estimators. In: a table. Out: a fitted vote of trees."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state

from comboost._boosting.learners import TreeRules
from comboost._data.validation import read_table
from comboost._engine.forest import Forest
from comboost._engine.memory_plan import Uses
from comboost._estimators.atomic_fit import fit_or_leave
from comboost._estimators.parameters import RULES, Rule, check_parameters, explained, n_threads_of
from comboost._estimators.predict import Voter
from comboost._types import Sums
from comboost.baselines._problem import Problem

SHARED = ("n_estimators", "max_depth", "criterion", "min_samples_leaf", "max_bins", "proba", "random_state", "n_jobs")


class TreeVoter(Voter, ABC):
    """A weighted vote of trees that were boosted on resampled rows."""

    _rules: ClassVar[dict[str, Rule]] = {name: RULES[name] for name in SHARED}
    _takes_sparse: ClassVar[bool] = True  # whether its rows can be resampled as they are if they are sparse
    _hints: ClassVar[Mapping[str, str]] = {"sample_weight": "leave it out: the rows are resampled"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def _read_problem(self, X: Any, y: Any) -> Problem:
        """What ``fit`` is given, binned."""
        raw = read_table(self, X, reset=True)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        rules = TreeRules(self.max_depth, self.criterion, self.min_samples_leaf, 0.0, raw.shape[1], seed)
        n_threads = n_threads_of(self.n_jobs)
        return Problem.read(
            raw,
            y,
            self.categorical_features,
            self.max_bins,
            rules,
            n_threads,
            self._resampling,
            sparse=self._takes_sparse,
        )

    @abstractmethod
    def _resampling(self, weight_sums: Sums, n_features: int) -> Uses:
        """Bytes that it takes, beside boosting, to resample classes of these sizes."""

    @abstractmethod
    def _boost(self, problem: Problem) -> tuple[Forest, str]:
        """Boost trees on the rows: weighted trees, and why there are no more of them."""

    @explained
    def fit(self, X: Any, y: Any) -> Self:
        """Boost trees on a table.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The values: numbers or categories, NaN, None or NA if they are missing, none of them infinite.
        y : array-like of shape (n_samples,)
            The classes: at least two, all of one kind that can be hashed and sorted, none missing or masked.

        Returns
        -------
        self
            The fitted classifier. If ``fit`` fails or is interrupted, the classifier stays as it was, and so does its
            ``random_state``.
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
