"""Early stopping: the validation set, the score of every round on it, and when to stop."""

import copy
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
from comboost._boosting.learners import Fit
from comboost._boosting.loop import History
from comboost._boosting.warm_start import check_same_values
from comboost._cached import cached_property
from comboost._data.labels import Candidates, find_distinct, locate_labels, read_labels
from comboost._data.sample_weights import ClassWeights, class_sums, find_scale, read_weights, weight_per_sample
from comboost._data.tables import RawTable
from comboost._data.validation import TrainingSet
from comboost._engine.probabilities import OutOfSampleScores
from comboost._types import LABEL, SUM, Floats, Labels, Sums, Weights
from comboost.metrics._measures import spectral_norm
from comboost.metrics._outcomes import label_accuracy
from comboost.metrics._scorers import SCORES_OF_COUNTS, SOFT_NORM, Scorer, get_scorer
from comboost.metrics._soft import soft_confusion_of


@dataclass(frozen=True)
class ValidationData:
    """Validation samples."""

    X: Any  # as given, for the scorer; None if it does not need X
    y: Any  # as given
    sample_weight: Any  # as given
    table: Any  # X as the weak learners read it: a RawTable or a matrix
    labels: Labels  # indices into the classes of y, those without weight included
    weights: Weights | None  # sample_weight as integers; None if every sample weighs 1
    lifts: Sums | None = None  # binary exponents by which the weights of every class are scaled up

    @classmethod
    def read(cls, X: Any, y: Any, sample_weight: Any, table: Any, candidates: Candidates) -> "ValidationData":
        """Check the validation samples given to ``fit``; ``table`` is X, checked."""
        n_samples, classes = table.shape[0], candidates.given
        distinct, indices = find_distinct(read_labels(y, n_samples, "y_val"), "y_val")
        class_idx = locate_labels(distinct, classes)
        if (class_idx < 0).any():
            raise ValueError(
                f"y_val holds the class(es) {distinct[class_idx < 0].tolist()}, but the classes of y are "
                f"{classes.tolist()}; validate on classes that are trained on."
            )
        labels = class_idx[indices].astype(LABEL)
        if sample_weight is None:
            return cls(X, y, None, table, labels, None)
        given = read_weights(sample_weight, n_samples, "sample_weight_val")
        class_weights = ClassWeights.of(given, labels, len(classes))
        scale = find_scale(class_weights.exponents)
        weights = scale.apply(given, labels)
        class_weights.check_none_lost(class_sums(labels, weights, len(classes)), classes, "sample_weight_val")
        return cls(X, y, weight_per_sample(sample_weight, n_samples), table, labels, weights, scale.lifts)


def hold_out(
    labels: Labels, n_classes: int, fraction: float, random: np.random.RandomState
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Draw a stratified validation set.

    A class of n samples gives round(fraction·n) of them, but at least 1 and at most n − 1: every class is validated,
    and every class stays in training. A class of a single sample is not validated.

    Parameters
    ----------
    labels : ndarray of uint16
        The class index of every sample.
    n_classes : int
        Number of classes.
    fraction : float
        Fraction of the samples to hold out.
    random : RandomState
        Random generator.

    Returns
    -------
    train, validation : ndarray of intp
        Indices of samples, both ascending.
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
    rank_in_class = np.arange(len(labels)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    is_held = np.zeros(len(labels), dtype=bool)
    is_held[by_class[rank_in_class < np.repeat(n_held, sizes)]] = True
    return np.flatnonzero(~is_held), np.flatnonzero(is_held)


def needs_model(scoring: str | Scorer | None) -> bool:
    """Whether a scorer needs a model, not only scores or counts."""
    return scoring is not None and not (isinstance(scoring, str) and scoring in {*SCORES_OF_COUNTS, SOFT_NORM})


def hold_out_samples(
    data: TrainingSet, table: Any, given: RawTable | None, sample_weight: Any, fraction: float, seed: int
) -> tuple[TrainingSet, ValidationData]:
    """Split the training samples into those to train on and those to validate on.

    Parameters
    ----------
    data : TrainingSet
        The samples of positive weight.
    table : RawTable or matrix
        All samples of X, as the weak learners read them.
    given : RawTable or None
        All samples of X in their container; None if the scorer does not need them.
    sample_weight : array-like or None
        Their weights, as given.
    fraction, seed
        Fraction of the samples to hold out, and the random seed; see `hold_out`.
    """
    train, indices = hold_out(data.labels, len(data.candidates.classes), fraction, np.random.RandomState(seed))
    held = data.take(indices)
    rows, lifts = held.rows, held.weight_sums.scale.lifts
    assert rows is not None
    return data.take(train), ValidationData(
        None if given is None else given.take(rows).to_container(),
        data.candidates.classes[held.labels],
        None if sample_weight is None else np.asarray(weight_per_sample(sample_weight, table.shape[0]))[rows],
        table.take(rows) if isinstance(table, RawTable) else table[rows],
        held.candidates.to_all(held.labels),
        held.weights,
        None if lifts is None else held.candidates.spread(lifts, 0),
    )


class ValidationScorer:
    """Scores the rounds so far on the validation set, with the ``scoring`` of the user.

    Parameters
    ----------
    scoring : str or callable
        A name of `comboost.metrics.get_scorer`, or a scorer, called as ``scorer(estimator, X, y)``; greater is better.
    held : ValidationData
        The validation set.
    n_threads : int, default=1
        Number of threads.

    Attributes
    ----------
    score_of_counts : callable or None
        The score as a function of the confusion counts, if it is one: then no order of the samples changes a bit.
    uses_probabilities : bool
        Whether `score_probabilities` gives the bits of the scorer, but faster: the score depends on probabilities only.
    """

    def __init__(self, scoring: str | Scorer, held: ValidationData, n_threads: int = 1) -> None:
        module = getattr(scoring, "__module__", None) or ""
        if isfunction(scoring) and module.startswith(("sklearn.metrics.", "comboost.metrics.")):
            raise ValueError(
                f"scoring={scoring.__name__} is a metric, called with labels; give a name, or make a scorer of it: "
                f"sklearn.metrics.make_scorer({scoring.__name__})."
            )
        self._scoring = scoring
        self._scorer = get_scorer(scoring)
        self.score_of_counts = SCORES_OF_COUNTS.get(scoring) if isinstance(scoring, str) else None
        self._held = held
        self._options = {} if held.sample_weight is None else {"sample_weight": held.sample_weight}
        self._n_threads = n_threads
        has_pairs = held.sample_weight is None and len(held.labels) > 0 and bool((held.labels != held.labels[0]).any())
        self.uses_probabilities = isinstance(scoring, str) and scoring == "mauc" and has_pairs

    def score_counts(self, scores: Floats) -> float:
        """Score raw scores, (n_samples, n_classes), by `score_of_counts`."""
        assert self.score_of_counts is not None
        sums = np.empty((scores.shape[1], scores.shape[1]), dtype=SUM)
        _core.count_predicted(scores, self._held.labels, self._held.weights, self._n_threads, sums)
        # Sums of integer weights are below 2**53, so they are exact as floats.
        counts, lifts = sums.astype(np.float64), self._held.lifts
        return self.score_of_counts(counts if lifts is None else np.ldexp(counts, -lifts[:, np.newaxis]))

    def score_probabilities(self, probabilities: Floats) -> float:
        """Score probabilities, (n_samples, n_classes), with the bits of the scorer, if `uses_probabilities`."""
        return _core.mean_chance_above(probabilities, self._held.labels, self._n_threads)

    def score_model(self, model: Any) -> float:
        """Score a fitted classifier by the scorer."""
        try:
            score: Any = self._scorer(model, self._held.X, self._held.y, **self._options)
        except TypeError as error:
            if "unexpected keyword argument 'sample_weight'" not in str(error):
                raise
            raise ValueError(
                f"scoring={self._scoring!r} takes no sample_weight, but the validation rows have weights; give a "
                "scorer that is called as scorer(estimator, X, y, sample_weight=...), or leave the weights out."
            ) from error
        if hasattr(score, "item"):  # cross-validation accepts an array of one number, too
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


class Patience:
    """Finds the best round, and stops when no round has improved on it for a while.

    A round is better if its score exceeds the best score by more than ``tol``. Scores that differ by no more are tied;
    then a round is better if its loss is smaller by more than ``tol``. So a score that takes few values does not end a
    fit that still improves, and the first of equal rounds is the best. Small gains of a score add up: a tie does not
    change the score that later rounds are compared with.

    Parameters
    ----------
    n_iter_no_change : int
        Number of rounds without improvement after which to stop.
    tol : float
        Scores, or losses, that differ by no more than this are tied.

    Attributes
    ----------
    best_round : int
        Number of rounds of the best model so far; 0 before the first score.
    curve : list of float
        The score of every round.
    """

    def __init__(self, n_iter_no_change: int, tol: float) -> None:
        self._n_iter_no_change = n_iter_no_change
        self._tol = tol
        self._best_score = -math.inf
        self._best_loss = math.inf
        self.best_round = 0
        self.curve: list[float] = []

    @property
    def is_constant(self) -> bool:
        """Whether there are several rounds and their scores are all tied with the first."""
        first = self.curve[0]
        return len(self.curve) > 1 and not any(self._differ(score, first) for score in self.curve)

    def add(self, score: float, loss: Callable[[], float]) -> bool:
        """Add the score of a round, and its loss if that is needed; return whether to stop."""
        if math.isnan(score):
            raise ValueError(
                f"The validation score of round {len(self.curve) + 1} is NaN; give another scoring, or validation rows "
                "of every class."
            )
        self.curve.append(float(score))
        if self.best_round == 0 or score - self._best_score > self._tol:
            self._best_score, self._best_loss, self.best_round = score, loss(), len(self.curve)
        elif not self._differ(score, self._best_score) and self._best_loss - (new_loss := loss()) > self._tol:
            self._best_loss, self.best_round = new_loss, len(self.curve)
        return len(self.curve) - self.best_round >= self._n_iter_no_change

    def _differ(self, one: float, other: float) -> bool:
        return one != other and abs(one - other) > self._tol  # equal infinite scores have no difference


class PartialModel:
    """The rounds so far as a classifier for scorers: its raw scores on the validation set are known.

    Other requests, also on other samples, go to a fitted copy of the estimator, which is created only then.

    Parameters
    ----------
    estimator : Booster
        The estimator in its ``fit``.
    fit : Fit
        Its fit.
    history : History
        The rounds.
    X : array-like
        The validation samples, as given.
    scores : ndarray of shape (n_samples, n_classes)
        Their raw scores.
    """

    def __init__(self, estimator: Any, fit: Fit, history: History, X: Any, scores: Floats) -> None:
        self._estimator = estimator
        self._fit = fit
        self._history = history
        self._X = X
        self._validation_scores = scores
        self.classes_ = fit.plan.candidates.given
        self.n_iter_ = len(history)

    @cached_property
    def fitted(self) -> Any:
        """The estimator, fitted with these rounds."""
        model = copy.copy(self._estimator)
        vars(model).update(self._fit.attributes(self._history))
        return model

    @cached_property
    def _link(self) -> Any:
        """The estimator with the attributes that convert raw scores to probabilities."""
        model = copy.copy(self._estimator)
        vars(model).update(self._fit.decision_attributes(self._history))
        return model

    def __getattr__(self, name: str) -> Any:
        if name in ("fitted", "_link") or (name.startswith("__") and not name.startswith("__sklearn")):
            raise AttributeError(name)  # a property that failed, or a special method of Python
        return getattr(self.fitted, name)

    def __repr__(self) -> str:
        return repr(self._estimator)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return copy.copy, (self.fitted,)  # pickle requires the class of the object itself

    def __sklearn_tags__(self) -> Any:
        return self._estimator.__sklearn_tags__()

    def _raw_scores(self, X: Any) -> Floats:
        scores: Floats = self._validation_scores if X is self._X else self.fitted._scores(X)
        return scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class with the highest score."""
        classes: NDArray[Any] = self._fit.plan.candidates.classes[self._raw_scores(X).argmax(axis=1)]
        return classes

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities."""
        scores = self._raw_scores(X)
        return np.asarray(self._link._probabilities(scores, out=np.empty_like(scores)))

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of the class probabilities."""
        scores = self._raw_scores(X)
        return np.asarray(self._link._log_probabilities(scores, out=np.empty_like(scores)))

    def decision_function(self, X: Any) -> Floats:
        """Raw scores."""
        return np.asarray(self._link._margins(self._raw_scores(X))).copy()

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy."""
        return label_accuracy(y, self.predict(X), sample_weight)


def predicts_by_scores(estimator: type) -> bool:
    """Whether a class keeps the prediction methods of this package, which depend on the raw scores only."""
    methods = ("predict", "predict_proba", "predict_log_proba", "decision_function", "score")
    return all(getattr(estimator, name).__module__.startswith(("comboost.", "sklearn.")) for name in methods)


class Validation:
    """Scores every round on the validation set.

    Parameters
    ----------
    fit : Fit
        The fit to validate.
    held : ValidationData
        The validation set.
    scoring : str, callable or None
        The score, see `ValidationScorer`; None is the negative loss of the raw scores, and ``SOFT_NORM`` the negative
        norm of `soft_confusion`.
    patience : Patience
        Decides when to stop.
    estimator : Booster
        The estimator in its ``fit``: scorers get a model with its parameters. Its ``_validation_scale`` and
        ``_validation_shift`` say by what raw scores are multiplied for their loss, and what is added to them.
    """

    def __init__(
        self, fit: Fit, held: ValidationData, scoring: str | Scorer | None, patience: Patience, estimator: Any
    ) -> None:
        self._fit = fit
        self._held = held
        self._scoring = scoring
        self._n_threads = fit.plan.n_threads
        self._scorer = None if scoring is None else ValidationScorer(scoring, held, self._n_threads)
        self.patience = patience
        self._estimator = estimator
        self._predictor = fit.table_scorer(held.table)
        self._scores = np.zeros((len(held.labels), len(fit.plan.candidates.classes)))
        self._shift: Floats | None = estimator._validation_shift(fit)
        self._by_scores = predicts_by_scores(type(estimator))
        loss = fit.plan.values.objective.loss
        self._pair_loss = "logistic" if loss.has_logarithm else "exponential"

    def end(self, history: History) -> bool:
        """Score the rounds so far, the last of which is new; return whether to stop."""
        last = len(history) - 1
        self._predictor.add_scores(self._fit.learner.kept[last], history.alphas[last], self._scores)
        if self._scorer is not None:
            return self.patience.add(self._score(self._scorer, history), self._loss)
        loss = self._loss()
        return self.patience.add(-loss, lambda: loss)

    def best(self, history: History) -> History:
        """The rounds of the best model; warn if the score never changed."""
        patience = self.patience
        if patience.is_constant:
            warnings.warn(
                f"scoring={self._scoring!r} was {patience.curve[0]:g} after each of the {len(patience.curve)} rounds, "
                "so it does not distinguish them; the class-balanced log-loss of the raw scores was best after "
                f"{patience.best_round} rounds, which are kept. Give validation rows on which the score can change, or "
                "another scoring.",
                UserWarning,
                stacklevel=2,
            )
        return history.first(patience.best_round)

    def soft_confusion(self) -> Floats:
        """Soft confusion matrix of the rounds so far, with the loss of the fit, or the logistic one if it has no pairs.

        The same bits for any order of samples; those of ``soft_confusion_matrix(y, decision_function(X))``.
        """
        scores = self._fit.plan.candidates.spread(self._scores, self._estimator._absent_score)
        return soft_confusion_of(scores, self._held.labels, self._held.weights, self._pair_loss)

    def validation_scores(self, history: History) -> OutOfSampleScores:
        """Raw scores of these rounds on the samples of classes with weight; overwrites the scores of all rounds."""
        self._scores[:] = 0.0
        for hypothesis, weight in zip(self._fit.learner.kept, history.alphas, strict=False):
            self._predictor.add_scores(hypothesis, weight, self._scores)
        held, candidates = self._held, self._fit.plan.candidates
        weights = np.ones(len(held.labels)) if held.weights is None else held.weights.astype(np.float64)
        counts = weights > 0
        if candidates.indices is not None:
            counts &= np.isin(held.labels, candidates.indices)
        labels = candidates.to_trained(held.labels[counts]).astype(np.intp)
        return OutOfSampleScores(self._scores[counts], labels, weights[counts])

    def replay_scores(self, history: History, curve: list[float]) -> None:
        """Score the rounds of an earlier fit again; raise unless the scores are the same."""
        for n_rounds in range(1, len(history) + 1):
            self.end(history.first(n_rounds))
        check_same_values(repr(self.patience.curve), repr(curve[: len(history)]), "validation rows")

    def _loss(self) -> float:
        """Class-balanced log-loss of the raw scores: the same bits for any order of samples and number of threads."""
        scale: float = self._estimator._validation_scale
        scores = self._scores if self._shift is None else self._scores + self._shift
        return _core.balanced_log_loss(
            self._for_all(scores), self._held.labels, self._held.weights, scale, self._n_threads
        )

    def _for_all(self, scores: Floats) -> Floats:
        """Raw scores of all classes of y; classes without weight are never predicted."""
        return self._fit.plan.candidates.spread(scores, -np.inf)

    def _score(self, scorer: ValidationScorer, history: History) -> float:
        if self._scoring == SOFT_NORM:
            return -spectral_norm(self.soft_confusion())
        if scorer.score_of_counts is not None:
            return scorer.score_counts(self._for_all(self._scores))
        if scorer.uses_probabilities and self._by_scores:
            model = PartialModel(self._estimator, self._fit, history, self._held.X, self._scores)
            return scorer.score_probabilities(model.predict_proba(self._held.X))
        rounds = history.first(len(history))
        model = PartialModel(self._estimator, self._fit, rounds, self._held.X, self._scores.copy())
        # A subclass may predict otherwise than by the raw scores.
        return scorer.score_model(model if self._by_scores else model.fitted)
