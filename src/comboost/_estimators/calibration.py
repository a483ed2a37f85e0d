"""Calibration of probabilities. In: out-of-sample scores. Out: fitted attributes of a calibrator."""

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import spmatrix

from comboost._boosting.learners import Fit
from comboost._boosting.loop import boost
from comboost._data.tables import RawTable
from comboost._data.validation import TrainingSet
from comboost._engine.memory import check_large
from comboost._engine.probabilities import (
    TEMPERATURES,
    IsotonicCurves,
    OutOfSampleScores,
    ProbabilityMap,
    learn_temperature,
)
from comboost._types import Floats, Labels

NO_FOLD = -1
SCORE_ARRAYS = 3  # of all samples: the scores, those of the folds, and their probabilities
#: What a temperature at a bound of the search means, and what to do.
AT_BOUNDS = (
    "the smallest that is tried: out of sample, the scores are far too small for their accuracy. Fit more rounds, or "
    "with a larger learning_rate.",
    "the largest that is tried: out of sample, the scores separate the classes no better than chance, so neither can "
    "predict_proba. Check that these samples resemble the training set, fit fewer rounds, or set calibration=None.",
)


def calibrate(
    kind: str, held: OutOfSampleScores, scale: float, learned: Floats | None
) -> dict[str, float | IsotonicCurves]:
    """Fit a calibrator on out-of-sample scores.

    Parameters
    ----------
    kind : {"temperature", "isotonic"}
        See the parameter ``calibration``.
    held : OutOfSampleScores
        The scores, and the true classes.
    scale : float
        Scores times this are log odds.
    learned : ndarray of shape (n_classes,) or None
        Logarithms of the class priors that the scores are fitted for; None if they are equal.

    Returns
    -------
    dict
        The fitted attributes.
    """
    n_classes = len(np.unique(held.labels))
    if n_classes < 2:
        raise ValueError(
            f"calibration={kind!r} has samples of {n_classes} class(es) to learn from, and needs two: the others have "
            "a single sample, or none in the validation set. Give a validation set with early_stopping=True, X_val and "
            "y_val, or calibration=None."
        )
    if kind == "isotonic":
        uncalibrated = ProbabilityMap(scale, learned).probabilities(held.scores, out=np.empty_like(held.scores))
        return {"_isotonic": IsotonicCurves.learn(held, uncalibrated)}
    temperature = learn_temperature(held, scale, learned)
    for bound, words in zip(TEMPERATURES, AT_BOUNDS, strict=True):
        if temperature == bound:
            warnings.warn(f"temperature_ ended at {bound:g}, {words}", UserWarning, stacklevel=2)
    return {"temperature_": temperature}


def draw_folds(labels: Labels, n_folds: int, seed: int) -> NDArray[np.intp]:
    """Draw a fold for every sample, as even as possible in every class and overall.

    Every fold model must be trained on every class: a class of fewer samples than folds is in as many folds as it has
    samples, and a single sample is in none, `NO_FOLD`.
    """
    shuffled = np.random.RandomState(seed).permutation(len(labels))
    by_class = shuffled[np.argsort(labels[shuffled], kind="stable")]
    by_class = by_class[np.bincount(labels)[labels[by_class]] > 1]
    folds = np.full(len(labels), NO_FOLD, dtype=np.intp)
    folds[by_class] = np.arange(len(by_class)) % n_folds
    return folds


def out_of_fold_scores(
    table: RawTable | Floats | spmatrix,
    data: TrainingSet,
    folds: NDArray[np.intp],
    n_rounds: int,
    prepare: Callable[[TrainingSet], Fit],
) -> OutOfSampleScores:
    """Score the samples of every fold by a model of the other folds.

    Parameters
    ----------
    table : RawTable or matrix
        The samples, as the weak learners take them.
    data : TrainingSet
        Their classes and weights.
    folds : ndarray of int
        The fold of every sample; see `draw_folds`.
    n_rounds : int
        Number of boosting rounds.
    prepare : callable
        Prepares the fit of a part of the samples.
    """
    n_samples, n_classes = len(data.labels), len(data.candidates.classes)
    check_large(
        f"Calibration on {n_samples} rows",
        {"out-of-fold scores": SCORE_ARRAYS * 8 * n_samples * n_classes},
        "Give calibration=None, or a smaller validation set with early_stopping=True and X_val.",
    )
    scores = np.zeros((n_samples, n_classes))
    for fold in np.unique(folds[folds != NO_FOLD]).tolist():
        held_idx = np.flatnonzero(folds == fold)
        rows = held_idx if data.rows is None else data.rows[held_idx]
        fit = prepare(data.take(np.flatnonzero(folds != fold)))
        history = boost(fit.rows, fit.learner, fit.plan.values, n_rounds)
        table_scorer = fit.table_scorer(table.take(rows) if isinstance(table, RawTable) else table[rows])
        held_scores = np.zeros((len(held_idx), n_classes))
        for hypothesis, weight in zip(fit.learner.kept, history.alphas, strict=False):
            table_scorer.add_scores(hypothesis, weight, held_scores)
        scores[held_idx] = held_scores
    seen = folds != NO_FOLD
    weights = np.ones(n_samples) if data.weights is None else data.weights.astype(np.float64)
    return OutOfSampleScores(scores[seen], data.labels[seen].astype(np.intp), weights[seen])
