"""What the baselines share as estimators. In: a table. Out: a fitted vote of trees."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple, Self

from comboost._classifier import RULES
from comboost._parameters import Rule, check_parameters
from comboost._tree import Forest
from comboost._voter import Voter
from comboost.baselines._problem import Problem

SHARED = ("n_estimators", "max_depth", "criterion", "min_samples_leaf", "max_bins", "proba", "n_jobs")


class Outcome(NamedTuple):
    """What boosting leaves: weighted trees, and why there are no more of them."""

    forest: Forest
    stop_reason: str


class TreeVoter(Voter, ABC):
    """A weighted vote of trees that were boosted on resampled rows."""

    _rules: ClassVar[dict[str, Rule]] = {name: RULES[name] for name in SHARED}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    @abstractmethod
    def _boost(self, problem: Problem) -> Outcome:
        """Boost trees on the rows."""

    def fit(self, X: Any, y: Any) -> Self:
        """Boost trees on a table.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The values: numbers or categories, NaN, None or NA where they are missing, none of them infinite.
        y : array-like of shape (n_samples,)
            The classes: at least two, of any sortable type.

        Returns
        -------
        self
            The fitted classifier. Where ``fit`` fails, the classifier stays as it was.
        """
        before = dict(self.__dict__)
        try:
            check_parameters(self, self._rules)
            problem = Problem.read(self, X, y, self._n_threads())
            outcome = self._boost(problem)
        except BaseException:
            # An old model, or none, but never half of a new one.
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        self.classes_ = problem.classes
        self.estimator_weights_ = outcome.forest.weights
        self.n_iter_ = len(outcome.forest.weights)
        self.stop_reason_ = outcome.stop_reason
        self._forest = outcome.forest
        self._categories = problem.categories
        return self
