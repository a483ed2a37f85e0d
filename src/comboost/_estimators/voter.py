"""A weighted vote of trees. In: rows. Out: votes, classes, probabilities, at the end or after every round."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from comboost._dtypes import Floats
from comboost._engine.votes import Audience, blocks_of, log_probabilities, margins, probabilities
from comboost._estimators.parameters import PROBA, Rule, check_parameters, n_threads_of
from comboost._table.reading import read_table
from comboost._table.table import Table

FEW_ROWS = 32
SCORES_AT_ONCE = 2**22  # votes that predict holds at a time


class Voter(ClassifierMixin, BaseEstimator):
    """What a fitted vote makes of rows; however it was fitted."""

    _scale: ClassVar[float] = 2.0  # softmax(2f): the exponential loss fits f to half of the log odds
    _answer_rules: ClassVar[Mapping[str, Rule]] = {"proba": PROBA}

    def decision_function(self, X: Any) -> Floats:
        """Weighted votes f of every class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            The votes in the order of ``classes_``; with two classes f(1) − f(0), and 0 means the first class.
        """
        return margins(self._scores(X))

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
        blocks = [self._scores(X)] if is_plain(X, self) else self._score_blocks(X, bounded=True)
        elected = np.concatenate([scores.argmax(axis=1) for scores in blocks])
        classes: NDArray[Any] = self.classes_[elected]
        return classes

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities, as ``proba`` or ``priors`` says.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            A column for every class of ``classes_``.
        """
        return self._probabilities(self._scores(X))

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of the class probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            A column for every class; −inf for a class without votes if ``proba="votes"``.
        """
        return self._log_probabilities(self._scores(X))

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Weighted votes after every round, as ``decision_function`` gives them at the end.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Yields
        ------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            The votes.
        """
        for scores in self._staged_scores(X):
            yield margins(scores).copy()

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
        for scores in self._staged_scores(X):
            yield self.classes_[scores.argmax(axis=1)]

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Class probabilities after every round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Yields
        ------
        ndarray of shape (n_samples, n_classes)
            The probabilities.
        """
        for scores in self._staged_scores(X):
            yield self._probabilities(scores)

    def _probabilities(self, scores: Floats) -> Floats:
        """What votes mean."""
        return probabilities(scores, self.proba, self._scale)

    def _log_probabilities(self, scores: Floats) -> Floats:
        """Logarithms of what votes mean."""
        return log_probabilities(scores, self.proba, self._scale)

    def _scores(self, X: Any) -> Floats:
        if is_plain(X, self):
            scores = np.zeros((len(X), len(self.classes_)))
            self._forest.add_votes(X, False, scores, 0, self.n_iter_, 1)
            return scores
        blocks = list(self._score_blocks(X))
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)

    def _score_blocks(self, X: Any, *, bounded: bool = False) -> Iterator[Floats]:
        """Weighted votes, some rows after the other; ``bounded`` limits how many at a time."""
        table, n_threads = self._read(X), n_threads_of(self.n_jobs)
        n_classes = len(self.classes_)
        for rows, missing in blocks_of(table, SCORES_AT_ONCE // n_classes if bounded else None):
            scores = np.zeros((len(rows), n_classes))
            self._forest.add_votes(rows, missing, scores, 0, self.n_iter_, n_threads)
            yield scores

    def _staged_scores(self, X: Any) -> Iterator[Floats]:
        """Weighted votes after every round, always the same array."""
        table = self._read(X)
        audience = Audience(table, n_threads_of(self.n_jobs))
        scores = np.zeros((table.shape[0], len(self.classes_)))
        for t, weight in enumerate(self._forest.weights.tolist()):
            audience.add_votes(self._forest.tree(t), weight, scores)
            yield scores

    def _read(self, X: Any) -> Table:
        self._check_fitted()
        return read_table(self, X, reset=False).encode(self._categories)

    def _check_fitted(self) -> None:
        check_is_fitted(self)
        check_parameters(self, self._answer_rules)


def is_plain(X: Any, voter: Voter) -> bool:
    """Whether X is a small array that trees can vote on at once: checks would take longer than the votes."""
    return (
        type(X) is np.ndarray
        and X.dtype in (np.float64, np.float32)
        and X.ndim == 2
        and 0 < len(X) <= FEW_ROWS
        and "_forest" in vars(voter)
        and X.shape[1] == voter.n_features_in_
        and not hasattr(voter, "feature_names_in_")
        and not voter._categories.values
        and all(holds(getattr(voter, name)) for name, (_, holds) in voter._answer_rules.items())
        and X.flags.c_contiguous
        and X.flags.aligned
        and bool(np.isfinite(X).all())
    )
