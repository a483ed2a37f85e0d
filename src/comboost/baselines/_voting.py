"""What the baselines share as estimators: fit, and votes of trees. In: tables. Out: classes and probabilities."""

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple, Self

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from comboost import _core
from comboost._classifier import RULES, SCORES_AT_ONCE, margins, probabilities
from comboost._dtypes import Floats
from comboost._parameters import Rule, check_parameters
from comboost._table import Table, read_table
from comboost._tree import Forest
from comboost._voting import Audience, blocks_of
from comboost.baselines._problem import Problem

SHARED = ("n_estimators", "max_depth", "criterion", "min_samples_leaf", "max_bins", "proba", "n_jobs")


class Outcome(NamedTuple):
    """What boosting leaves: weighted trees, and why there are no more of them."""

    forest: Forest
    stop_reason: str


class TreeVoter(ClassifierMixin, BaseEstimator):
    """A weighted vote of trees."""

    _rules: ClassVar[dict[str, Rule]] = {name: RULES[name] for name in SHARED}
    _evidence: ClassVar[float] = 1.0  # what a weight is in units of CoMBo's α, so that probabilities compare

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def _boost(self, problem: Problem) -> Outcome:
        """Boost trees on the rows."""
        raise NotImplementedError

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

    def decision_function(self, X: Any) -> Floats:
        """Weighted votes of every class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            The votes in the order of ``classes_``; with two classes those of the second minus those of the first.
        """
        return margins(np.concatenate(list(self._scores(X))))

    def predict(self, X: Any) -> NDArray[Any]:
        """Class with the most votes; ties go to the first of them in ``classes_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The classes.
        """
        elected = np.concatenate([scores.argmax(axis=1) for scores in self._scores(X)])
        classes: NDArray[Any] = self.classes_[elected]
        return classes

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities, as ``proba`` says.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            A column for every class of ``classes_``.
        """
        return probabilities(self._evidence * np.concatenate(list(self._scores(X))), self.proba)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Classes after every round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Yields
        ------
        ndarray of shape (n_samples,)
            The classes.
        """
        table = self._read(X)
        audience = Audience(table, self._n_threads())
        scores = np.zeros((table.shape[0], len(self.classes_)))
        for t, weight in enumerate(self.estimator_weights_.tolist()):
            audience.add_votes(self._forest.tree(t), weight, scores)
            yield self.classes_[scores.argmax(axis=1)]

    def _scores(self, X: Any) -> Iterator[Floats]:
        """Weighted votes of some rows after the other."""
        for rows, missing in blocks_of(self._read(X), max(1, SCORES_AT_ONCE // len(self.classes_))):
            scores = np.zeros((len(rows), len(self.classes_)))
            self._forest.add_votes(rows, missing, scores, 0, self.n_iter_, self._n_threads())
            yield scores

    def _read(self, X: Any) -> Table:
        check_is_fitted(self)
        check_parameters(self, {"proba": RULES["proba"]})
        return read_table(self, X, reset=False).encode(self._categories)

    def _n_threads(self) -> int:
        return _core.available_threads(joblib.effective_n_jobs(self.n_jobs))
