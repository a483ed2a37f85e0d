"""Early stopping: which rows validate, how good the vote is on them, when to stop.

In: the labels of all rows, then the votes on those held out. Out: row indices, a score per round, the best round.
"""

import math
from collections.abc import Callable
from contextlib import suppress
from inspect import isfunction
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from comboost import _core
from comboost._dtypes import SUM, Floats, Labels, Weights
from comboost.metrics._scorers import SCORES_OF_COUNTS, Scorer, get_scorer

DEFAULT_SCORING = "neg_confusion_norm"  # what CoMBo minimises


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


class Judge:
    """Scores the vote so far on rows that were not trained on.

    Parameters
    ----------
    scoring : str, callable or None
        A name of `comboost.metrics.get_scorer`, or a scorer, called as ``scorer(estimator, X, y)``; greater is better.
        None is "neg_confusion_norm".
    X, y, sample_weight
        The validation rows as the user gave them; a scorer gets these very objects.
    labels : ndarray of uint16
        The class index of every validation row.
    weights : ndarray of uint32 or None
        `sample_weight` as integers; None where every row weighs 1.
    classes : ndarray of shape (n_classes,)
        The classes of training.
    n_threads : int, default=1
        Threads that count.
    """

    def __init__(
        self,
        scoring: str | Scorer | None,
        *,
        X: Any,
        y: Any,
        labels: Labels,
        weights: Weights | None,
        sample_weight: ArrayLike | None,
        classes: NDArray[Any],
        n_threads: int = 1,
    ) -> None:
        self._scoring = DEFAULT_SCORING if scoring is None else scoring
        check_no_metric(self._scoring)
        self._scorer = get_scorer(self._scoring)
        self._score_of_counts = SCORES_OF_COUNTS.get(self._scoring) if isinstance(self._scoring, str) else None
        self._X, self._y = X, y
        self._options = {} if sample_weight is None else {"sample_weight": sample_weight}
        self._labels, self._weights = labels, weights
        self._counts = np.empty((len(classes), len(classes)), dtype=SUM)
        self._n_threads = n_threads

    @property
    def needs_model(self) -> bool:
        """False where the score follows from counts alone: it is then the same bits for any order of the rows."""
        return self._score_of_counts is None

    def score(self, scores: Floats, model: Callable[[], Any]) -> float:
        """Score the vote.

        Parameters
        ----------
        scores : ndarray of shape (n_samples, n_classes)
            The weighted votes on the validation rows.
        model : callable
            Makes a fitted classifier of the rounds so far; called only where `needs_model`.

        Returns
        -------
        float
            The score; greater is better.
        """
        if self._score_of_counts is None:
            return self._ask_scorer(model())
        _core.count_elected(scores, self._labels, self._weights, self._n_threads, self._counts)
        # Sums of integer weights are below 2**53, so they are exact as floats, too.
        return self._score_of_counts(self._counts.astype(np.float64))

    def _ask_scorer(self, model: Any) -> float:
        try:
            score: Any = self._scorer(model, self._X, self._y, **self._options)
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
    """Raise where a metric was given in place of a scorer, a slip that would fail with a riddle."""
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
