"""Votes of models on rows that they were not trained on. In: a booster and its rows. Out: votes on all of them."""

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comboost._boosting.fit import Fit
from comboost._boosting.loop import boost
from comboost._data.tables import RawTable
from comboost._data.validation import TrainingSet
from comboost._engine.memory import check_large
from comboost._engine.probabilities import HeldVotes
from comboost._types import Labels

NO_FOLD = -1
VOTE_ARRAYS = 3  # of all rows: the votes, those that count, and what they mean


def draw_folds(labels: Labels, n_folds: int, seed: int) -> NDArray[np.intp]:
    """A fold for every row, as even as can be in every class and in all.

    Every model must be trained on every class: a class of fewer rows than folds is in as many folds as it has rows, and
    a single row is in none, `NO_FOLD`.
    """
    shuffled = np.random.RandomState(seed).permutation(len(labels))
    by_class = shuffled[np.argsort(labels[shuffled], kind="stable")]
    by_class = by_class[np.bincount(labels)[labels[by_class]] > 1]
    folds = np.full(len(labels), NO_FOLD, dtype=np.intp)
    folds[by_class] = np.arange(len(by_class)) % n_folds
    return folds


def out_of_fold_votes(booster: Any, X: Any, y: Any, sample_weight: Any) -> HeldVotes:
    """Votes on the rows of a fitted booster by models that were fitted as it was, on the other folds, in silence."""
    table = booster._read_given(X, reset=False)
    data = TrainingSet.read(y, sample_weight, table.shape[0])
    apprentice = apprentice_of(booster, data)
    n_folds, seed = int(booster.calibration_folds), booster._origin.seed
    shape = held_out_shape(apprentice, table, data, n_folds)
    check_large(
        f"Calibration on {len(data.labels)} rows",
        {"out-of-fold votes": VOTE_ARRAYS * 8 * len(data.labels) * len(data.classes)},
        "Give calibration=None, or fewer rows with early_stopping=True and X_val.",
    )
    votes, folds = np.zeros((len(data.labels), len(data.classes))), draw_folds(data.labels, n_folds, seed)
    for fold in np.unique(folds[folds != NO_FOLD]).tolist():
        places = np.flatnonzero(folds == fold)
        fit = apprentice._prepare_part(table, data.take(np.flatnonzero(folds != fold)), seed, None, shape)
        rows = places if data.rows is None else data.rows[places]
        chosen = table.take(rows) if isinstance(table, RawTable) else table[rows]
        votes[places] = votes_on(fit, chosen, apprentice.n_estimators)
    seen = folds != NO_FOLD
    weights = np.ones(len(seen)) if data.weights is None else data.weights.astype(np.float64)
    return HeldVotes(votes[seen], data.labels[seen].astype(np.intp), weights[seen])


def apprentice_of(booster: Any, data: TrainingSet) -> Any:
    """A booster that learns as another one has, on fewer rows."""
    apprentice = copy.copy(booster)
    if booster.early_stopping:  # and refit: the rounds that were found best
        apprentice.n_estimators = booster.n_iter_
    apprentice.early_stopping = False
    apprentice.max_depth = booster._limits(data.weight_sums).max_depth
    if hasattr(booster, "_categories"):
        # Fewer rows might let text that is no number here be taken for numbers there.
        apprentice.categorical_features = sorted(booster._categories.values)
    return apprentice


def held_out_shape(apprentice: Any, table: Any, data: TrainingSet, n_folds: int) -> Any:
    """How large the fit of a fold is: that of a fit which holds out as many rows. MemoryError if that is too large."""
    holding = copy.copy(apprentice)
    holding.early_stopping, holding.validation_fraction, holding.scoring = True, 1.0 / n_folds, None
    shape = holding._shape(table, data, None)
    shape.check()
    return shape


def votes_on(fit: Fit, table: Any, n_rounds: int) -> NDArray[np.float64]:
    """Boost, and let the hypotheses vote on rows."""
    history = boost(fit.rows, fit.learner, fit.plan.voting, n_rounds)
    audience, votes = fit.audience(table), np.zeros((table.shape[0], len(fit.plan.classes)))
    for ballot, weight in zip(fit.learner.kept, history.alphas, strict=False):
        audience.add_votes(ballot, weight, votes)
    return votes
