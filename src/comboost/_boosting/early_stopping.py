"""Early stopping: which rows validate, how good the vote is on them, when to stop.

In: rows that are not trained on, then the votes on them. Out: a score per round, the best round.
"""

import copy
import math
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from inspect import isfunction
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score

from comboost import _core
from comboost._boosting.fit import Fit
from comboost._boosting.loop import History
from comboost._boosting.warm_start import check_same_values
from comboost._dtypes import LABEL, SUM, Floats, Labels, Weights
from comboost._engine.votes import margins
from comboost._table.reading import TrainingSet, read_distinct, read_labels
from comboost._table.table import RawTable
from comboost._table.weights import integer_weights, read_weights
from comboost.metrics._scorers import SCORES_OF_COUNTS, Scorer, get_scorer

DEFAULT_SCORING = "neg_confusion_norm"  # what CoMBo minimises


@dataclass(frozen=True)
class HeldRows:
    """Rows to validate on.

    Attributes
    ----------
    X, y, sample_weight
        As given; a scorer gets these very objects.
    table : RawTable or matrix
        X as the weak learners vote on it.
    labels : ndarray of uint16
        Indices into the classes of training.
    weights : ndarray of uint32 or None
        `sample_weight` as integers; None if every row weighs 1.
    """

    X: Any
    y: Any
    sample_weight: Any
    table: Any
    labels: Labels
    weights: Weights | None

    @classmethod
    def read(cls, X: Any, y: Any, sample_weight: Any, table: Any, classes: NDArray[Any]) -> "HeldRows":
        """Check what ``fit`` is given to validate on; ``table`` is X, checked."""
        n_rows = table.shape[0]
        seen, places = read_distinct(read_labels(y, n_rows, "y_val"), "y_val")
        unknown = [label for label in seen.tolist() if label not in set(classes.tolist())]
        if unknown:
            raise ValueError(
                f"y_val holds the class(es) {unknown}, but the classes of y are {classes.tolist()}; validate on "
                "classes that are trained on."
            )
        labels = np.searchsorted(classes, seen)[places].astype(LABEL)
        if sample_weight is None:
            return cls(X, y, None, table, labels, None)
        given = read_weights(sample_weight, n_rows, "sample_weight_val")
        weights = integer_weights(given)
        lost = np.setdiff1d(labels[given > 0], labels[weights > 0])
        if len(lost) > 0:
            raise ValueError(
                f"sample_weight_val gives next to no weight to the class(es) {classes[lost].tolist()} beside the "
                "others; raise these weights, or make them zero."
            )
        return cls(X, y, sample_weight, table, labels, weights)


def hold_out(
    labels: Labels, n_classes: int, fraction: float, random: np.random.RandomState
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Draw rows to validate on, class by class.

    A class of n rows gives round(fraction·n) of them, but at least 1 and at most n − 1: every class can be validated
    and every class stays in training. A class of a single row is not validated.

    Parameters
    ----------
    labels : ndarray of uint16
        The class index of every row.
    n_classes : int
        The number of classes.
    fraction : float
        Share of the rows to hold out.
    random : RandomState
        Draws the rows.

    Returns
    -------
    train, validation : ndarray of intp
        Row indices, both ascending.
    """
    sizes = np.bincount(labels, minlength=n_classes)
    n_held = np.minimum(np.maximum(np.rint(fraction * sizes), 1), np.maximum(sizes - 1, 0)).astype(np.intp)
    if not n_held.any():
        raise ValueError(
            "Every class has a single row, so no row is left for validation; give rows of their own with X_val and "
            "y_val, or early_stopping=False."
        )
    shuffled = random.permutation(len(labels))
    by_class = shuffled[np.argsort(labels[shuffled], kind="stable")]
    place_in_class = np.arange(len(labels)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    is_held = np.zeros(len(labels), dtype=bool)
    is_held[by_class[place_in_class < np.repeat(n_held, sizes)]] = True
    return np.flatnonzero(~is_held), np.flatnonzero(is_held)


def hold_out_rows(
    data: TrainingSet, table: Any, given: RawTable, sample_weight: Any, fraction: float, seed: int
) -> tuple[TrainingSet, HeldRows]:
    """Some of the rows to train on, to validate on them, and the others.

    Parameters
    ----------
    data : TrainingSet
        The rows to train on.
    table : RawTable or matrix
        All rows given, as the weak learners vote on them.
    given : RawTable
        All rows given, in the container that they came in.
    sample_weight : array-like or None
        Their weights, as given.
    fraction, seed
        Which share of the rows to hold out, and what draws them; see `hold_out`.

    Returns
    -------
    data, held : TrainingSet, HeldRows
        The others, and those held out.
    """
    train, places = hold_out(data.labels, len(data.classes), fraction, np.random.RandomState(seed))
    rows, held = places if data.rows is None else data.rows[places], data.take(places)
    return data.take(train), HeldRows(
        given.as_given(rows),
        data.classes[held.labels],
        None if sample_weight is None else np.asarray(sample_weight)[rows],
        table.take(rows) if isinstance(table, RawTable) else table[rows],
        held.labels,
        held.weights,
    )


class Judge:
    """Scores the vote so far on rows that were not trained on.

    Parameters
    ----------
    scoring : str, callable or None
        A name of `comboost.metrics.get_scorer`, or a scorer, called as ``scorer(estimator, X, y)``; greater is better.
        None is "neg_confusion_norm".
    held : HeldRows
        The validation rows.
    n_threads : int, default=1
        Threads that count.

    Attributes
    ----------
    score_of_counts : callable or None
        The score as a function of counts alone, if it is one: it is then the same bits for any order of the rows.
    """

    def __init__(self, scoring: str | Scorer | None, held: HeldRows, n_threads: int = 1) -> None:
        self._scoring = DEFAULT_SCORING if scoring is None else scoring
        check_no_metric(self._scoring)
        self._scorer = get_scorer(self._scoring)
        self.score_of_counts = SCORES_OF_COUNTS.get(self._scoring) if isinstance(self._scoring, str) else None
        self._held = held
        self._options = {} if held.sample_weight is None else {"sample_weight": held.sample_weight}
        self._n_threads = n_threads

    def score_votes(self, votes: Floats) -> float:
        """The score of these votes, (n_samples, n_classes), by `score_of_counts`."""
        assert self.score_of_counts is not None
        counts = np.empty((votes.shape[1], votes.shape[1]), dtype=SUM)
        _core.count_elected(votes, self._held.labels, self._held.weights, self._n_threads, counts)
        # Sums of integer weights are below 2**53, so they are exact as floats, too.
        return self.score_of_counts(counts.astype(np.float64))

    def score_model(self, model: Any) -> float:
        """The score that the scorer gives to a fitted classifier."""
        try:
            score: Any = self._scorer(model, self._held.X, self._held.y, **self._options)
        except TypeError as error:
            if "unexpected keyword argument 'sample_weight'" not in str(error):
                raise
            raise ValueError(
                f"scoring={self._scoring!r} takes no sample_weight, but the validation rows have weights; give a "
                "scorer that is called as scorer(estimator, X, y, sample_weight=...), or leave the weights out."
            ) from error
        return self._as_number(score)

    def _as_number(self, score: Any) -> float:
        if hasattr(score, "item"):  # an array of one number, which cross-validation takes too
            with suppress(ValueError):
                score = score.item()
        if not isinstance(score, Real):
            raise ValueError(
                f"scoring={self._scoring!r} returned a {type(score).__name__}; give a scorer that returns one real "
                "number, greater being better."
            )
        if math.isnan(score):
            raise ValueError(
                f"scoring={self._scoring!r} returned NaN, so no round is better than another; give validation rows "
                "for which it is defined, with rows of every class, or another scoring."
            )
        return float(score)


def check_no_metric(scoring: Any) -> None:
    """Raise if a metric was given in place of a scorer, a slip that would fail with a riddle."""
    module = getattr(scoring, "__module__", None) or ""
    if isfunction(scoring) and module.startswith(("sklearn.metrics.", "comboost.metrics.")):
        raise ValueError(
            f"scoring={scoring.__name__} is a metric, called with labels; give a name, or make a scorer of it: "
            f"sklearn.metrics.make_scorer({scoring.__name__})."
        )


class Patience:
    """When to stop: no better score for some rounds.

    Parameters
    ----------
    n_iter_no_change : int
        Rounds to wait for a better score.
    tol : float
        A score is better if it is above the best so far by more than this.

    Attributes
    ----------
    best_round : int
        Rounds of the best model so far; 0 before the first score.
    curve : list of float
        The score of every round.
    """

    def __init__(self, n_iter_no_change: int, tol: float) -> None:
        self._n_iter_no_change = n_iter_no_change
        self._tol = tol
        self.best_round = 0
        self.curve: list[float] = []

    def add(self, score: float) -> bool:
        """Add the score of a round; True if it is time to stop."""
        if math.isnan(score):  # it would be no better than any other, and no other better than it
            raise ValueError(
                f"The validation score of round {len(self.curve) + 1} is NaN; give another scoring, or validation rows "
                "of every class."
            )
        self.curve.append(float(score))
        if self.best_round == 0 or self.curve[-1] - self.curve[self.best_round - 1] > self._tol:
            self.best_round = len(self.curve)
        return len(self.curve) - self.best_round >= self._n_iter_no_change


class Validation:
    """Follows the vote on rows that are not trained on.

    Parameters
    ----------
    fit : Fit
        Whose hypotheses vote.
    held : HeldRows
        The validation rows.
    scoring : str, callable or None
        What to validate with; see `Judge`.
    patience : Patience
        Remembers the scores.
    estimator : VoteBooster
        The estimator that is being fitted: a scorer gets a model with its parameters.
    """

    def __init__(
        self, fit: Fit, held: HeldRows, scoring: str | Scorer | None, patience: Patience, estimator: Any
    ) -> None:
        self._fit = fit
        self._held = held
        self._judge = Judge(scoring, held, fit.plan.n_threads)
        self.patience = patience
        self._estimator = estimator
        self._audience = fit.audience(held.table)
        self._votes = np.zeros((len(held.labels), len(fit.plan.classes)))

    def end(self, history: History) -> bool:
        """Score the rounds kept so far, the last of which is new; True if it is time to stop."""
        last = len(history) - 1
        self._audience.add_votes(self._fit.learner.kept[last], history.alphas[last], self._votes)
        return self.patience.add(self._score(history))

    def _score(self, history: History) -> float:
        if self._judge.score_of_counts is not None:
            return self._judge.score_votes(self._votes)
        model = ModelSoFar(self._estimator, self._fit, history.first(len(history)), self._held.X, self._votes.copy())
        # A subclass may answer otherwise than by the votes.
        return self._judge.score_model(model if answers_by_votes(type(self._estimator)) else model.fitted)

    def catch_up(self, history: History, curve: list[float]) -> None:
        """Score the rounds of an earlier fit again, one by one; the scores must be those that it had."""
        for n_rounds in range(1, len(history) + 1):
            self.end(history.first(n_rounds))
        check_same_values(repr(self.patience.curve), repr(curve[: len(history)]), "validation rows")


class ModelSoFar:
    """A classifier of some rounds, as a scorer gets it: its votes on the validation rows are known.

    Whatever else it is asked, on other rows too, a fitted copy of the estimator answers, which is made only then.

    Parameters
    ----------
    estimator : VoteBooster
        The estimator that is being fitted.
    fit : Fit
        Its fit.
    history : History
        The rounds.
    X : array-like
        The validation rows, as given.
    votes : ndarray of shape (n_samples, n_classes)
        The weighted votes on them.
    """

    def __init__(self, estimator: Any, fit: Fit, history: History, X: Any, votes: Floats) -> None:
        self._estimator = estimator
        self._fit = fit
        self._history = history
        self._X = X
        self._votes = votes
        self.classes_ = fit.plan.classes
        self.n_iter_ = len(history)

    @cached_property
    def fitted(self) -> Any:
        """The estimator, fitted with these rounds."""
        model = copy.copy(self._estimator)
        vars(model).update(self._fit.attributes(self._history))
        return model

    @cached_property
    def _answering(self) -> Any:
        """The estimator with as much of the rounds as it needs to tell what votes mean."""
        model = copy.copy(self._estimator)
        vars(model).update(self._fit.plan.voting.kept(self._history.alphas, self._history.promises))
        return model

    def __getattr__(self, name: str) -> Any:
        if name in ("fitted", "_answering") or (name.startswith("__") and not name.startswith("__sklearn")):
            raise AttributeError(name)  # what failed, or what Python looks for and no scorer
        return getattr(self.fitted, name)

    def __repr__(self) -> str:
        return repr(self._estimator)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return copy.copy, (self.fitted,)  # a pickle refuses to make another class than that of its object

    def __sklearn_tags__(self) -> Any:
        return self._estimator.__sklearn_tags__()

    def _votes_on(self, X: Any) -> Floats:
        votes: Floats = self._votes if X is self._X else self.fitted._scores(X)
        return votes

    def predict(self, X: Any) -> NDArray[Any]:
        """Class with the most votes."""
        classes: NDArray[Any] = self.classes_[self._votes_on(X).argmax(axis=1)]
        return classes

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities."""
        return np.asarray(self._answering._probabilities(self._votes_on(X)))

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of the class probabilities."""
        return np.asarray(self._answering._log_probabilities(self._votes_on(X)))

    def decision_function(self, X: Any) -> Floats:
        """Weighted votes of every class."""
        return margins(self._votes_on(X)).copy()

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of rows whose class is predicted."""
        return float(accuracy_score(y, self.predict(X), sample_weight=sample_weight))


def answers_by_votes(estimator: type) -> bool:
    """Whether what a class answers is made of its votes, in the way of this package."""
    answers = ("predict", "predict_proba", "predict_log_proba", "decision_function", "score")
    return all(getattr(estimator, name).__module__.startswith(("comboost.", "sklearn.")) for name in answers)
