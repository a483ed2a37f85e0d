"""Early stopping: which rows validate, how good the vote is on them, when to stop.

In: rows that are not trained on, then the votes on them. Out: a score per round, the best round.
"""

import math
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from inspect import isfunction
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comboost import _core
from comboost._boosting.fit import Fit
from comboost._boosting.loop import History
from comboost._boosting.model_so_far import ModelSoFar, answers_by_votes
from comboost._boosting.warm_start import check_same_values
from comboost._data.candidates import Candidates
from comboost._data.labels import find_distinct, locate_labels, read_labels
from comboost._data.sample_weights import ClassWeights, as_given, class_sums, find_scale, read_weights
from comboost._data.tables import RawTable
from comboost._data.validation import TrainingSet
from comboost._engine.calibration import HeldVotes
from comboost._types import LABEL, SUM, Floats, Labels, Sums, Weights
from comboost.metrics._measures import mauc_of
from comboost.metrics._scorers import SCORES_OF_COUNTS, Scorer, get_scorer


@dataclass(frozen=True)
class HeldRows:
    """Rows to validate on.

    Attributes
    ----------
    X, y, sample_weight
        As given; a scorer gets these very objects. X is None if no scorer asks for it.
    table : RawTable or matrix
        X as the weak learners vote on it.
    labels : ndarray of uint16
        Indices into the classes of training, those without weight included.
    weights : ndarray of uint32 or None
        `sample_weight` as integers; None if every row weighs 1.
    lifts : ndarray of int64 or None
        By which powers of two the weights of every class are too large; None if they are not.
    """

    X: Any
    y: Any
    sample_weight: Any
    table: Any
    labels: Labels
    weights: Weights | None
    lifts: Sums | None = None

    @classmethod
    def read(cls, X: Any, y: Any, sample_weight: Any, table: Any, candidates: Candidates) -> "HeldRows":
        """Check what ``fit`` is given to validate on; ``table`` is X, checked."""
        n_samples, classes = table.shape[0], candidates.given
        seen, places = find_distinct(read_labels(y, n_samples, "y_val"), "y_val")
        found = locate_labels(seen, classes)
        if (found < 0).any():
            raise ValueError(
                f"y_val holds the class(es) {seen[found < 0].tolist()}, but the classes of y are {classes.tolist()}; "
                "validate on classes that are trained on."
            )
        labels = found[places].astype(LABEL)
        if sample_weight is None:
            return cls(X, y, None, table, labels, None)
        given = read_weights(sample_weight, n_samples, "sample_weight_val")
        of_classes = ClassWeights.of(given, labels, len(classes))
        scale = find_scale(of_classes.exponents)
        weights = scale.apply(given, labels)
        of_classes.check_none_lost(class_sums(labels, weights, len(classes)), classes, "sample_weight_val")
        return cls(X, y, as_given(sample_weight, n_samples), table, labels, weights, scale.lifts)


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


def asks_models(scoring: str | Scorer | None) -> bool:
    """Whether a scorer needs a model, and not only votes or counts."""
    return scoring is not None and not (isinstance(scoring, str) and scoring in SCORES_OF_COUNTS)


def hold_out_rows(
    data: TrainingSet, table: Any, given: RawTable | None, sample_weight: Any, fraction: float, seed: int
) -> tuple[TrainingSet, HeldRows]:
    """Some of the rows to train on, to validate on them, and the others.

    Parameters
    ----------
    data : TrainingSet
        The rows to train on.
    table : RawTable or matrix
        All rows given, as the weak learners vote on them.
    given : RawTable or None
        All rows given, in the container that they came in; None if no scorer asks for them.
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
    lifts = held.weight_sums.scale.lifts
    return data.take(train), HeldRows(
        None if given is None else given.as_given(rows),
        data.classes[held.labels],
        None if sample_weight is None else np.asarray(as_given(sample_weight, table.shape[0]))[rows],
        table.take(rows) if isinstance(table, RawTable) else table[rows],
        held.candidates.chosen_labels(held.labels),
        held.weights,
        None if lifts is None else held.candidates.spread(lifts, 0),
    )


class Judge:
    """Scores the vote so far on rows that were not trained on, by what the user asks for.

    Parameters
    ----------
    scoring : str or callable
        A name of `comboost.metrics.get_scorer`, or a scorer, called as ``scorer(estimator, X, y)``; greater is better.
    held : HeldRows
        The validation rows.
    n_threads : int, default=1
        Threads that count.

    Attributes
    ----------
    score_of_counts : callable or None
        The score as a function of counts alone, if it is one: it is then the same bits for any order of the rows.
    scores_shares : bool
        Whether the score is one of the probabilities alone, and `score_shares` what the scorer gives, but sooner.
    """

    def __init__(self, scoring: str | Scorer, held: HeldRows, n_threads: int = 1) -> None:
        self._scoring = scoring
        check_no_metric(scoring)
        self._scorer = get_scorer(scoring)
        self.score_of_counts = SCORES_OF_COUNTS.get(scoring) if isinstance(scoring, str) else None
        self._held = held
        self._options = {} if held.sample_weight is None else {"sample_weight": held.sample_weight}
        self._n_threads = n_threads
        has_pairs = held.sample_weight is None and len(held.labels) > 0 and bool((held.labels != held.labels[0]).any())
        self.scores_shares = isinstance(scoring, str) and scoring == "mauc" and has_pairs

    def score_votes(self, votes: Floats) -> float:
        """The score of these votes, (n_samples, n_classes), by `score_of_counts`."""
        assert self.score_of_counts is not None
        counts = np.empty((votes.shape[1], votes.shape[1]), dtype=SUM)
        _core.count_predicted(votes, self._held.labels, self._held.weights, self._n_threads, counts)
        # Sums of integer weights are below 2**53, so they are exact as floats, too.
        shares, lifts = counts.astype(np.float64), self._held.lifts
        return self.score_of_counts(shares if lifts is None else np.ldexp(shares, -lifts[:, np.newaxis]))

    def score_shares(self, shares: Floats) -> float:
        """The score of these probabilities, (n_samples, n_classes): the bits of the scorer, if `scores_shares`."""
        return mauc_of(shares, self._held.labels, self._n_threads)

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
    """Which round is best, and when to stop: none has been better for some rounds.

    A score above that of the best round by more than ``tol`` is better. Scores that differ by no more are a tie: then
    the round with the smaller loss is better, if its loss is smaller by more than ``tol``. So a score that takes few
    values, or but one, does not end a fit that still learns, and of equal rounds the first is best. Small gains of a
    score add up: a tie, however it ends, does not move the score that the next ones are compared with.

    Parameters
    ----------
    n_iter_no_change : int
        Rounds to wait for a better one.
    tol : float
        Scores, or losses, that differ by no more than this are a tie.

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
        self._score_to_beat = -math.inf
        self._loss_to_beat = math.inf
        self.best_round = 0
        self.curve: list[float] = []

    @property
    def stands_still(self) -> bool:
        """Whether the scores of all rounds, more than one, are a tie with the first."""
        first = self.curve[0]
        return len(self.curve) > 1 and not any(self._differ(score, first) for score in self.curve)

    def add(self, score: float, loss: Callable[[], float]) -> bool:
        """Add the score of a round, and the loss of its votes if that matters; True if it is time to stop."""
        if math.isnan(score):  # it would be no better than any other, and no other better than it
            raise ValueError(
                f"The validation score of round {len(self.curve) + 1} is NaN; give another scoring, or validation rows "
                "of every class."
            )
        self.curve.append(float(score))
        if self.best_round == 0 or score - self._score_to_beat > self._tol:
            self._score_to_beat = score
            self._take(loss())
        elif not self._differ(score, self._score_to_beat) and self._loss_to_beat - (found := loss()) > self._tol:
            self._take(found)
        return len(self.curve) - self.best_round >= self._n_iter_no_change

    def _differ(self, one: float, other: float) -> bool:
        return one != other and abs(one - other) > self._tol  # equal infinite scores have no difference

    def _take(self, loss: float) -> None:
        self._loss_to_beat = loss
        self.best_round = len(self.curve)


class Validation:
    """Follows the vote on rows that are not trained on.

    Parameters
    ----------
    fit : Fit
        Whose hypotheses vote.
    held : HeldRows
        The validation rows.
    scoring : str, callable or None
        What to validate with, see `Judge`; None is minus the loss of the votes.
    patience : Patience
        Remembers the scores.
    estimator : Booster
        The estimator that is being fitted: a scorer gets a model with its parameters, and ``_validation_scale`` and
        ``_validation_shift`` say what the votes are multiplied by for their loss, and what is added to them.
    """

    def __init__(
        self, fit: Fit, held: HeldRows, scoring: str | Scorer | None, patience: Patience, estimator: Any
    ) -> None:
        self._fit = fit
        self._held = held
        self._scoring = scoring
        self._n_threads = fit.plan.n_threads
        self._judge = None if scoring is None else Judge(scoring, held, self._n_threads)
        self.patience = patience
        self._estimator = estimator
        self._audience = fit.audience(held.table)
        self._votes = np.zeros((len(held.labels), len(fit.plan.classes)))
        self._shift: Floats | None = estimator._validation_shift(fit)
        self._by_votes = answers_by_votes(type(estimator))

    def end(self, history: History) -> bool:
        """Score the rounds kept so far, the last of which is new; True if it is time to stop."""
        last = len(history) - 1
        self._audience.add_votes(self._fit.learner.kept[last], history.alphas[last], self._votes)
        if self._judge is not None:
            return self.patience.add(self._score(self._judge, history), self._loss)
        loss = self._loss()
        return self.patience.add(-loss, lambda: loss)

    def best(self, history: History) -> History:
        """The best rounds; a warning if the score had no part in it."""
        patience = self.patience
        if patience.stands_still:
            warnings.warn(
                f"scoring={self._scoring!r} was {patience.curve[0]:g} after each of the {len(patience.curve)} rounds "
                "tried, so it tells none of them apart; the class-balanced log-loss of the votes was best after "
                f"{patience.best_round} of them, which are kept. Give validation rows on which the score can change, "
                "or another scoring.",
                UserWarning,
                stacklevel=2,
            )
        return history.first(patience.best_round)

    def held_votes(self, history: History) -> HeldVotes:
        """The votes of these rounds on the rows whose class is voted for; the votes that were followed are gone."""
        self._votes[:] = 0.0
        for ballot, weight in zip(self._fit.learner.kept, history.alphas, strict=False):
            self._audience.add_votes(ballot, weight, self._votes)
        held, candidates = self._held, self._fit.plan.candidates
        weights = np.ones(len(held.labels)) if held.weights is None else held.weights.astype(np.float64)
        counts = weights > 0
        if candidates.places is not None:
            counts &= np.isin(held.labels, candidates.places)
        labels = candidates.numbered(held.labels[counts]).astype(np.intp)
        return HeldVotes(self._votes[counts], labels, weights[counts])

    def _loss(self) -> float:
        """Class-balanced log-loss of the votes: the same bits for any order of the rows and number of threads."""
        scale: float = self._estimator._validation_scale
        votes = self._votes if self._shift is None else self._votes + self._shift
        return _core.balanced_log_loss(
            self._for_all(votes), self._held.labels, self._held.weights, scale, self._n_threads
        )

    def _for_all(self, votes: Floats) -> Floats:
        """Votes for the classes with weight as votes for all of them: the others win no row, and theirs are lost."""
        return self._fit.plan.candidates.spread(votes, -np.inf)

    def _score(self, judge: Judge, history: History) -> float:
        if judge.score_of_counts is not None:
            return judge.score_votes(self._for_all(self._votes))
        if judge.scores_shares and self._by_votes:
            model = ModelSoFar(self._estimator, self._fit, history, self._held.X, self._votes)
            return judge.score_shares(model.predict_proba(self._held.X))
        model = ModelSoFar(self._estimator, self._fit, history.first(len(history)), self._held.X, self._votes.copy())
        # A subclass may answer otherwise than by the votes.
        return judge.score_model(model if self._by_votes else model.fitted)

    def catch_up(self, history: History, curve: list[float]) -> None:
        """Score the rounds of an earlier fit again, one by one; the scores must be those that it had."""
        for n_rounds in range(1, len(history) + 1):
            self.end(history.first(n_rounds))
        check_same_values(repr(self.patience.curve), repr(curve[: len(history)]), "validation rows")
