"""A weighted vote of trees. In: rows. Out: votes, classes, probabilities, at the end or after every round."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from comboost._data.categories import as_values
from comboost._data.labels import Candidates
from comboost._data.tables import Table
from comboost._data.validation import read_table
from comboost._engine.probabilities import ProbabilityMap
from comboost._engine.scores import SCORES_AT_ONCE, Audience, blocks_of, check_votes, margins, narrowed
from comboost._estimators.decisions import Decision, most_votes
from comboost._estimators.parameters import PROBA, Rule, check_parameters, n_threads_of
from comboost._persistence.model_file import PathOrStream, save_to
from comboost._persistence.pickling import attributes_of, state_of
from comboost._types import Floats
from comboost.metrics._outcomes import share_predicted

FEW_ROWS = 32
STAGED_ARRAYS = 3  # the votes, and what is made of them: of this round, and of the last one, which the user holds


class Voter(ClassifierMixin, BaseEstimator):
    """What a fitted vote makes of rows; however it was fitted."""

    _scale: ClassVar[float] = 2.0  # softmax(2f): the exponential loss fits f to half of the log odds
    _answer_rules: ClassVar[Mapping[str, Rule]] = {"proba": PROBA}
    _no_votes: ClassVar[float] = 0.0  # of a class without weight
    _voted: NDArray[np.intp] | None = None  # which of the classes are voted for, if some are not

    @property
    def n_classes_(self) -> int:
        """The number of classes."""
        return len(self.classes_)

    @property
    def infrequent_categories_(self) -> list[NDArray[Any] | None]:
        """The categories of every feature that share a code, sorted; None if there are none."""
        shared = self._categories.infrequent
        return [as_values(shared[f]) if f in shared else None for f in range(self.n_features_in_)]

    def decision_function(self, X: Any) -> Floats:
        """Weighted votes f of every class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            The votes in the order of ``classes_``; with two classes f(1) − f(0), and 0 means the first class. A class
            that had no weight has none: 0, or −708, the logarithm of the smallest number, where votes add up to 0
            (`ConfusionBoostingClassifier`).
        """
        return self._margins(self._scores(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Class with the most votes, or as ``decision`` says; ties go to the first of them in ``classes_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The classes, and what stands for rejected rows.
        """
        if is_plain(X, self):
            decision = self._decision()
            few: NDArray[Any] = decision.answers[decision.choose(self._few_scores(X))]
            return few
        self._check_fitted()
        decision = self._decision()
        chosen = np.concatenate([decision.choose(scores) for scores in self._score_blocks(X)])
        answers: NDArray[Any] = decision.answers[chosen]
        return answers

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities, as ``proba``, ``calibration`` and ``priors`` say.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            A column for every class of ``classes_``; 0 for a class that had no weight.
        """
        scores = self._scores(X)
        return self._shares(scores, out=scores)

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of the class probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            A column for every class; −inf for a class that had no weight, or, with ``proba="votes"``, has no votes.
        """
        scores = self._scores(X)
        return self._log_shares(scores, out=scores)

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
            yield self._margins(scores).copy()

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Classes after every round, as ``predict`` gives them at the end.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Yields
        ------
        ndarray of shape (n_samples,)
            The classes.
        """
        self._check_fitted()
        decision = self._decision()
        for scores in self._staged_scores(X):
            yield decision.answers[decision.choose(scores)]

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
            yield self._shares(scores, out=np.empty_like(scores))

    @property
    def _voted_classes(self) -> NDArray[Any]:
        """The classes that are voted for."""
        return Candidates(self.classes_, self._voted).classes

    def _margins(self, scores: Floats) -> Floats:
        """Votes as ``decision_function`` shows them."""
        return margins(self._for_all(scores, self._no_votes))

    def _shares(self, scores: Floats, out: Floats) -> Floats:
        """What votes mean for every class; ``out`` may be the votes."""
        return self._for_all(self._meaning().probabilities(scores, out), 0.0)

    def _log_shares(self, scores: Floats, out: Floats) -> Floats:
        """Logarithms of what votes mean for every class; ``out`` may be the votes."""
        return self._for_all(self._meaning().log_probabilities(scores, out), -np.inf)

    def _for_all(self, values: Floats, fill: float) -> Floats:
        """Columns of the classes that are voted for as columns of all classes."""
        return values if self._voted is None else Candidates(self.classes_, self._voted).spread(values, fill)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of rows whose class is predicted.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their classes, of any kind that ``fit`` takes.
        sample_weight : array-like of shape (n_samples,), optional
            Their weights.

        Returns
        -------
        float
            The share.
        """
        return share_predicted(y, self.predict(X), sample_weight)

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Share of rows whose class is predicted, after every round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Their weights.

        Yields
        ------
        float
            The share, as ``score`` gives it at the end.
        """
        for predicted in self.staged_predict(X):
            yield share_predicted(y, predicted, sample_weight)

    def save_model(self, path: PathOrStream) -> None:
        """Write the fitted model to a file that runs no code when it is loaded, with `comboost.load_model`.

        The file holds the parameters, the classes, names and categories, the trees and what a warm start needs, under
        checksums; the same model makes the same bytes. Later versions read it.

        Parameters
        ----------
        path : str, path-like or binary file object
            Where to write it. A file of that name is replaced at the end, at once: it is whole at any moment, and stays
            as it was if something fails.

        Raises
        ------
        ValueError
            If something in the model is no plain value: a weak learner given as ``estimator``, a function, a data
            frame, callbacks, labels of a type of your own. Nothing is written then.

        See Also
        --------
        comboost.load_model : Loads it.
        """
        save_to(self, path)

    def __copy__(self) -> Self:
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        return twin

    def __getstate__(self) -> dict[str, Any]:
        return state_of(vars(self))

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(attributes_of(state, type(self).__name__))

    @property
    def _log_odds(self) -> float:
        """What the votes must be multiplied by to be log odds."""
        return self._scale

    def _meaning(self) -> ProbabilityMap:
        """What votes mean."""
        return ProbabilityMap(self._log_odds, by_share=self.proba == "votes")

    def _decision(self) -> Decision:
        """How votes become answers."""
        return Decision(self._voted_classes, most_votes)

    def _scores(self, X: Any) -> Floats:
        return self._few_scores(X) if is_plain(X, self) else self._all_scores(X)

    def _few_scores(self, X: NDArray[np.floating]) -> Floats:
        """Weighted votes of a few plain rows."""
        scores = np.zeros((len(X), len(self.classes_ if self._voted is None else self._voted)))
        self._forest.add_votes(X, False, scores, 0, self.n_iter_, 1)
        return scores

    def _all_scores(self, X: Any) -> Floats:
        """Weighted votes of all rows at once."""
        (table, forest), n_threads = narrowed(self._read(X), self._forest), n_threads_of(self.n_jobs)
        check_votes(table.shape[0], len(self.classes_))
        scores = np.zeros((table.shape[0], len(self._voted_classes)))
        begin = 0
        for rows, missing in blocks_of(table):
            end = begin + len(rows)
            forest.add_votes(rows, missing, scores[begin:end], 0, self.n_iter_, n_threads)
            begin = end
        return scores

    def _score_blocks(self, X: Any) -> Iterator[Floats]:
        """Weighted votes, of no more rows at a time than little memory holds."""
        (table, forest), n_threads = narrowed(self._read(X), self._forest), n_threads_of(self.n_jobs)
        n_classes = len(self._voted_classes)
        for rows, missing in blocks_of(table, SCORES_AT_ONCE // n_classes):
            scores = np.zeros((len(rows), n_classes))
            forest.add_votes(rows, missing, scores, 0, self.n_iter_, n_threads)
            yield scores

    def _staged_scores(self, X: Any) -> Iterator[Floats]:
        """Weighted votes after every round, always the same array."""
        table = self._read(X)
        check_votes(table.shape[0], len(self.classes_), STAGED_ARRAYS)
        audience = Audience(table, n_threads_of(self.n_jobs))
        scores = np.zeros((table.shape[0], len(self._voted_classes)))
        for t in range(self.n_iter_):
            audience.add_round(self._forest, t, scores)
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
        and all(rule.holds(getattr(voter, name)) for name, rule in voter._answer_rules.items())
        and X.flags.c_contiguous
        and X.flags.aligned
        and bool(np.isfinite(X).all())
    )
