"""Predictions of a fitted model. In: samples. Out: scores, classes, probabilities, at the end or after every round."""

from __future__ import annotations  # signatures in help() name the aliases

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from comboost._boosting.learners import EstimatorScorer
from comboost._data.categories import as_values
from comboost._data.labels import Candidates
from comboost._data.validation import read_matrix, read_table
from comboost._engine.memory import NOT_WORTH_ASKING, check_large
from comboost._engine.probabilities import ProbabilityMap
from comboost._engine.scores import SCORES_AT_ONCE, TableScorer, blocks_of, check_scores_memory, margins, narrowed
from comboost._estimators.decisions import ARGMAX, Decision, decision_of, probability_map
from comboost._estimators.parameters import DECISION, PROBA, ParametersMixin, n_threads_of
from comboost._persistence.model_file import PathOrStream, save_to
from comboost._persistence.pickling import attributes_of, state_of
from comboost._types import Floats, MatrixLike
from comboost.metrics._outcomes import label_accuracy

FEW_SAMPLES = 32
STAGED_ARRAYS = (
    3  # the scores, what is made of them, and what was made of those of the last round, which the user holds
)


class Predictor(ParametersMixin, ClassifierMixin, BaseEstimator):
    """Predictions of a weighted sum of trees, or of other weak learners, however it was fitted."""

    _log_odds: float = 2.0  # scores times this are log odds: the exponential loss fits f to half of them
    _absent_score: ClassVar[float] = 0.0  # score of a class without weight
    _trained_indices: NDArray[np.intp] | None = None  # indices of the classes that have weight; None if all have

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        return len(self.classes_)

    @property
    def infrequent_categories_(self) -> list[NDArray[Any] | None]:
        """Infrequent categories of every feature, which share a code, sorted; None if there are none."""
        shared = self._categories.infrequent
        return [as_values(shared[f]) if f in shared else None for f in range(self.n_features_in_)]

    def decision_function(self, X: MatrixLike) -> Floats:
        """Scores f of every class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            The scores in the order of ``classes_``. With two classes f(1) − f(0), where 0 means the first class. The
            score of a class without weight is 0, or −708, the logarithm of the smallest number, for
            `ConfusionBoostingClassifier`, whose scores sum to 0.
        """
        return self._margins(self._scores(X))

    def predict(self, X: MatrixLike) -> NDArray[Any]:
        """Predict classes: the class with the highest score, or the cheapest one; see ``decision``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            The classes, and ``reject_label`` for rejected samples. Ties go to the first class in ``classes_``.
        """
        if is_small_array(X, self):
            labels, choose = self._decision()
            few: NDArray[Any] = labels[choose(self._few_scores(X))]
            return few
        self._check_fitted()
        labels, choose = self._decision()
        return take_labels(labels, np.concatenate(list(map(choose, self._score_blocks(X)))))

    def predict_proba(self, X: MatrixLike) -> Floats:
        """Predict class probabilities; see ``calibration`` and ``priors``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The probabilities in the order of ``classes_``; 0 for a class without weight.
        """
        scores = self._scores(X)
        return self._probabilities(scores, out=scores)

    def predict_log_proba(self, X: MatrixLike) -> Floats:
        """Predict logarithms of class probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The logarithms in the order of ``classes_``; −inf where the probability is 0.
        """
        scores = self._scores(X)
        return self._log_probabilities(scores, out=scores)

    def staged_decision_function(self, X: MatrixLike) -> Iterator[Floats]:
        """Scores after every round, as ``decision_function`` returns them after the last.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.

        Yields
        ------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            The scores.
        """
        for scores in self._staged_scores(X):
            yield self._margins(scores).copy()

    def staged_predict(self, X: MatrixLike) -> Iterator[NDArray[Any]]:
        """Predict classes after every round, as ``predict`` does after the last.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.

        Yields
        ------
        ndarray of shape (n_samples,)
            The classes.
        """
        self._check_fitted()
        labels, choose = self._decision()
        for scores in self._staged_scores(X):
            yield take_labels(labels, choose(scores))

    def staged_predict_proba(self, X: MatrixLike) -> Iterator[Floats]:
        """Predict class probabilities after every round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.

        Yields
        ------
        ndarray of shape (n_samples, n_classes)
            The probabilities.
        """
        for scores in self._staged_scores(X):
            yield self._probabilities(scores, out=np.empty_like(scores))

    def score(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy of ``predict``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their classes, in any form that ``fit`` accepts.
        sample_weight : array-like of shape (n_samples,), optional
            Their weights.

        Returns
        -------
        float
            The accuracy.
        """
        return label_accuracy(y, self.predict(X), sample_weight)

    def staged_score(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Iterator[float]:
        """Accuracy after every round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Their weights.

        Yields
        ------
        float
            The accuracy, as ``score`` returns it after the last round.
        """
        for predicted in self.staged_predict(X):
            yield label_accuracy(y, predicted, sample_weight)

    def save_model(self, path: PathOrStream) -> None:
        """Write the fitted model to a file that runs no code when it is loaded, with `comboost.load_model`.

        The file holds the parameters, classes, names, categories, trees and what a warm start needs, with checksums.
        The same model gives the same bytes. Later versions can read it.

        Parameters
        ----------
        path : str, path-like or binary file object
            Where to write. An existing file is replaced atomically; if writing fails, it stays as it was.

        Raises
        ------
        ValueError
            If the model contains an object that a file without code cannot hold: a weak learner given as
            ``estimator``, a function, a data frame, callbacks, labels of a custom type. Nothing is written then.

        See Also
        --------
        comboost.load_model : Load it.
        """
        save_to(self, path)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        weak = vars(self).get("estimator")
        allowed = None if weak is None else get_tags(weak).input_tags
        tags.input_tags.sparse = allowed is None or allowed.sparse
        tags.input_tags.allow_nan = allowed is None or allowed.allow_nan
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_iter_")

    def __copy__(self) -> Self:
        copied = object.__new__(type(self))
        copied.__dict__.update(self.__dict__)
        return copied

    def __getstate__(self) -> dict[str, Any]:
        return state_of(vars(self))

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        super().__setstate__(attributes_of(state, type(self).__name__))

    @property
    def _candidate_classes(self) -> NDArray[Any]:
        """The classes that have weight, which scores are computed for."""
        classes: NDArray[Any] = self.classes_ if self._trained_indices is None else self.classes_[self._trained_indices]
        return classes

    def _margins(self, scores: Floats) -> Floats:
        """Scores as ``decision_function`` returns them."""
        return margins(self._for_all(scores, self._absent_score))

    def _probabilities(self, scores: Floats, out: Floats) -> Floats:
        """Probabilities of all classes; ``out`` may be the scores."""
        return self._for_all(self._probability_map().probabilities(scores, out), 0.0)

    def _log_probabilities(self, scores: Floats, out: Floats) -> Floats:
        """Logarithms of the probabilities of all classes; ``out`` may be the scores."""
        return self._for_all(self._probability_map().log_probabilities(scores, out), -np.inf)

    def _for_all(self, values: Floats, fill: float) -> Floats:
        """Columns of the classes with weight as columns of all classes."""
        return (
            values
            if self._trained_indices is None
            else Candidates(self.classes_, self._trained_indices).spread(values, fill)
        )

    def _probability_map(self) -> ProbabilityMap:
        """The map from scores to probabilities."""
        given = vars(self)
        if given.get("priors") is None and given.get("calibration") is None:  # those that the scores are fitted for
            return ProbabilityMap(self._log_odds, vote_fraction=given.get("proba") == "vote_fraction")
        return probability_map(self)

    def _decision(self) -> Decision:
        """The map from scores to predicted labels."""
        given = vars(self).get
        is_plain = given("decision", "argmax") == "argmax" and given("cost_matrix") is None
        if is_plain and given("reject_cost") is None and given("reject_label") is None:
            return Decision(self._candidate_classes, ARGMAX)
        return decision_of(self)

    def _scores(self, X: MatrixLike) -> Floats:
        """Scores of all samples at once."""
        if is_small_array(X, self):
            return self._few_scores(X)
        if hasattr(self, "estimators_"):
            *_, scores = self._staged_scores(X)
            return scores
        (table, forest), n_threads = narrowed(self._read(X), self._forest), n_threads_of(self.n_jobs)
        check_scores_memory(table.shape[0], len(self.classes_))
        scores = np.zeros((table.shape[0], len(self._candidate_classes)))
        begin = 0
        for rows, missing in blocks_of(table):
            end = begin + len(rows)
            forest.add_scores(rows, missing, scores[begin:end], 0, self.n_iter_, n_threads)
            begin = end
        return scores

    def _few_scores(self, X: NDArray[np.floating]) -> Floats:
        """Scores of a few samples that need no further check."""
        scores = np.zeros((len(X), len(self.classes_ if self._trained_indices is None else self._trained_indices)))
        self._forest.add_scores(X, False, scores, 0, self.n_iter_, 1)
        return scores

    def _score_blocks(self, X: MatrixLike) -> Iterator[Floats]:
        """Scores of as many samples at a time as fit into little memory; of all at once with other weak learners."""
        if hasattr(self, "estimators_"):
            yield self._scores(X)
            return
        (table, forest), n_threads = narrowed(self._read(X), self._forest), n_threads_of(self.n_jobs)
        n_classes = len(self._candidate_classes)
        for rows, missing in blocks_of(table, SCORES_AT_ONCE // n_classes):
            scores = np.zeros((len(rows), n_classes))
            forest.add_scores(rows, missing, scores, 0, self.n_iter_, n_threads)
            yield scores

    def _staged_scores(self, X: MatrixLike) -> Iterator[Floats]:
        """Scores after every round, always in the same array."""
        table = self._read(X)
        check_scores_memory(table.shape[0], len(self.classes_), STAGED_ARRAYS)
        scores = np.zeros((table.shape[0], len(self._candidate_classes)))
        if hasattr(self, "estimators_"):
            learners = EstimatorScorer(table)
            for estimator, weight in zip(self.estimators_, self.estimator_weights_, strict=True):
                learners.add_scores(estimator, weight, scores)
                yield scores
            return
        trees = TableScorer(table, n_threads_of(self.n_jobs))
        for t in range(self.n_iter_):
            trees.add_round(self._forest, t, scores)
            yield scores

    def _read(self, X: MatrixLike) -> Any:
        """X as the weak learners take it: a table for trees, a matrix for others."""
        self._check_fitted()
        if hasattr(self, "estimators_"):
            return read_matrix(self, X, self.estimator, reset=False)
        return read_table(self, X, reset=False).encode(self._categories)

    def _check_fitted(self) -> None:
        check_is_fitted(self)
        self._check_prediction_parameters()

    def _check_prediction_parameters(self) -> None:
        """Raise if a parameter that may be set after the fit has no valid value."""
        given = vars(self)
        for name, default, rule in (("proba", "softmax", PROBA), ("decision", "argmax", DECISION)):
            if given.get(name, default) != default:
                rule.read(type(self).__name__, name, given[name])


def take_labels(labels: NDArray[Any], indices: NDArray[np.integer[Any]]) -> NDArray[Any]:
    """Return one label per index, if that fits into memory: text takes as much as the longest label, for every row."""
    n_bytes = len(indices) * labels.itemsize
    if n_bytes > NOT_WORTH_ASKING:
        check_large(
            f"The labels of {len(indices)} rows",
            {f"text of {labels.itemsize // 4} characters" if labels.dtype.kind == "U" else "labels": n_bytes},
            "Give fewer rows at a time, or fit with shorter names of the classes.",
        )
    taken: NDArray[Any] = labels[indices]
    return taken


def is_small_array(X: MatrixLike, model: Predictor) -> TypeGuard[NDArray[np.floating]]:
    """Whether X is a small array that trees can read as it is: further checks would take longer than the prediction."""
    if not (
        type(X) is np.ndarray
        and X.dtype in (np.float64, np.float32)
        and X.ndim == 2
        and 0 < len(X) <= FEW_SAMPLES
        and "_forest" in vars(model)
        and X.shape[1] == model.n_features_in_
        and not hasattr(model, "feature_names_in_")
        and not model._categories.values
        and X.flags.c_contiguous
        and X.flags.aligned
        and bool(np.isfinite(X).all())
    ):
        return False
    model._check_prediction_parameters()
    return True
