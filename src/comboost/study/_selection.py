"""The rule that sets the weak learner. In: rows to learn from. Out: one of the method's candidates.

The training part of a fold is cut into `N_PARTS` stratified parts. Every candidate learns from all parts but one and
predicts that one; if a part has many rows of every class, one part is enough. The first candidate, the usual setting
of the method, gives way to the one with the smallest norm of the confusion matrix only if the difference is more than
a standard error, that is, if the norm is smaller in `SURE` of `N_RESAMPLES` bootstraps of the predicted rows, too. The
test rows of the fold are never seen. All methods follow the same rule.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from comboost._types import Floats
from comboost.metrics import confusion_norm_loss
from comboost.study._methods import Method, Setting
from comboost.study._study import Study

N_PARTS = 4  # the smallest class of all, in yeast, leaves 4 rows to learn from
ENOUGH_ROWS = 50  # of the smallest class in a part
N_RESAMPLES = 200
SURE = 0.84  # how often a normal value is less than a standard error above its mean


def choose_setting(
    method: Method, X: Floats, y: NDArray[Any], categorical: tuple[int, ...], *, seed: int, study: Study
) -> tuple[Setting, list[dict[str, Any]]]:
    """Choose one of the candidates of a method.

    Parameters
    ----------
    method : Method
        With its candidates.
    X : ndarray of shape (n_samples, n_features)
        The training rows of a fold.
    y : ndarray of shape (n_samples,)
        Their classes.
    categorical : tuple of int
        The columns of X that hold codes of categories.
    seed : int
        Decides the parts, the draws of the classifiers and the bootstraps.
    study : Study
        The numbers of the experiment.

    Returns
    -------
    setting : dict
        The candidate taken.
    candidates : list of dict
        The setting and the norm of every candidate; empty if there is only one.
    """
    candidates = method.candidates_for(categorical)
    if len(candidates) == 1:
        return candidates[0], []
    parts = cut_parts(X, y, seed)
    true = np.concatenate([y[judge] for _, judge in parts])
    guesses = np.stack([guess_parts(method, setting, X, y, categorical, parts, seed, study) for setting in candidates])
    norms = [confusion_norm_loss(true, guess, labels=np.unique(y)) for guess in guesses]
    resampled = resample_norms(true, guesses, np.random.default_rng(seed))
    judged = [{"setting": setting, "norm": norm} for setting, norm in zip(candidates, norms, strict=True)]
    return candidates[take(norms, resampled)], judged


def count_inner_fits(n_candidates: int, n_smallest: int) -> int:
    """Count the fits it takes to choose if the smallest class has that many training rows."""
    return n_candidates * count_parts(n_smallest) if n_candidates > 1 else 0


def resample_norms(true: NDArray[Any], guesses: NDArray[Any], random: np.random.Generator) -> Floats:
    """Norms of the confusion matrices on bootstraps of the rows, class by class, the same rows for all candidates.

    Parameters
    ----------
    true : ndarray of shape (n_samples,)
        The classes.
    guesses : ndarray of shape (n_candidates, n_samples)
        What the candidates take them for.
    random : numpy.random.Generator
        Draws the rows.

    Returns
    -------
    ndarray of shape (n_candidates, N_RESAMPLES)
        The norms.
    """
    labels = np.unique(true)
    shares = np.zeros((len(guesses), N_RESAMPLES, len(labels), len(labels)))
    for place, label in enumerate(labels):
        # Rows on which all candidates answer alike need not be told apart: how often each answer is drawn is enough.
        answers, counts = np.unique(guesses[:, true == label], axis=1, return_counts=True)
        drawn = random.multinomial(counts.sum(), counts / counts.sum(), size=N_RESAMPLES) / counts.sum()
        for candidate, answer in enumerate(answers):
            shares[candidate, :, place] = drawn @ (answer[:, np.newaxis] == labels)
        shares[:, :, place, place] = 0.0
    norms: Floats = np.linalg.norm(shares, 2, axis=(2, 3))
    return norms


def take(norms: list[float], resampled: Floats) -> int:
    """Find the place of the candidate to take: the one with the smallest norm if that is sure, otherwise the first."""
    best = int(np.argmin(norms))
    return best if np.mean(resampled[best] < resampled[0]) >= SURE else 0


def count_parts(n_smallest: int) -> int:
    """Count the parts to predict; one is enough if it has enough rows of the smallest class."""
    return 1 if n_smallest // N_PARTS >= ENOUGH_ROWS else N_PARTS


def cut_parts(X: Floats, y: NDArray[Any], seed: int) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Cut the rows: those to learn from and those to judge by, for every part."""
    n_smallest = int(np.unique(y, return_counts=True)[1].min())
    parts = StratifiedKFold(N_PARTS, shuffle=True, random_state=seed).split(X, y)
    return list(parts)[: count_parts(n_smallest)]


def guess_parts(
    method: Method,
    setting: Setting,
    X: Floats,
    y: NDArray[Any],
    categorical: tuple[int, ...],
    parts: list[tuple[NDArray[np.intp], NDArray[np.intp]]],
    seed: int,
    study: Study,
) -> NDArray[Any]:
    """Predict the rows of every part with a candidate that has learned from the others."""
    return np.concatenate(
        [
            method.make(setting, categorical, seed, study).fit(X[learn], y[learn]).predict(X[judge])
            for learn, judge in parts
        ]
    )
