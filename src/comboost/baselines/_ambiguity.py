"""Algorithm AdaBoost.NC and its formulas. In: who grows trees. Out: the trees, their weights, why there are no more."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from comboost._boosting.loop import N_ESTIMATORS, NO_EDGE, PERFECT_LEARNER
from comboost._engine.forest import Forest, Tree
from comboost._engine.formulas import CAPPED_STEP, step_of_edge
from comboost._types import MIN_EDGE, Floats, Labels
from comboost.baselines._weighted import TreeGrower

Counts = NDArray[np.int64]


def penalties(ballots: Counts, labels: Labels) -> Floats:
    """Penalties p = 1 − |amb|, where amb = (1/t)·Σ_s ([H_t(i)=y_i] − [h_s(i)=y_i]).

    Parameters
    ----------
    ballots : ndarray of shape (n_samples, n_classes)
        How many of the hypotheses h_1, ..., h_t vote for a class. H_t is the class with the most, the first of them in
        a tie: α_t is not known yet, and amb weighs all hypotheses alike.
    labels : ndarray of shape (n_samples,)
        y.

    Returns
    -------
    ndarray of shape (n_samples,)
        p.
    """
    shares = ballots[np.arange(len(labels)), labels] / ballots[0].sum()
    return np.asarray(1.0 - np.abs((ballots.argmax(axis=1) == labels) - shares))


class Margin(NamedTuple):
    """Σ D·p^λ over the rows on which a hypothesis is right, and over the others."""

    right: float
    wrong: float

    @property
    def reason_to_stop(self) -> str | None:
        """Why this hypothesis should be the last, if it should."""
        if self.right - self.wrong <= MIN_EDGE * (self.right + self.wrong):
            return NO_EDGE
        return PERFECT_LEARNER if self.wrong == 0 else None

    @property
    def alpha(self) -> float:
        """α = ½·ln(right/wrong), kept above 0 and below the largest weight that CoMBo gives."""
        if self.reason_to_stop == NO_EDGE:
            return step_of_edge(MIN_EDGE)
        return CAPPED_STEP if self.wrong == 0 else min(0.5 * math.log(self.right / self.wrong), CAPPED_STEP)


def next_distribution(penalised: Floats, is_right: NDArray[np.bool_], alpha: float) -> Floats:
    """D_{t+1} ∝ p^λ·D_t·exp(−α·[h_t(i)=y_i])."""
    weights = np.where(is_right, penalised * math.exp(-alpha), penalised)
    return np.asarray(weights / weights.sum())


def boost_diversely(grower: TreeGrower, n_estimators: int, strength: float) -> tuple[Forest, str]:
    """Boost trees, and penalise rows on which they disagree.

    Parameters
    ----------
    grower : TreeGrower
        Grows trees on the oversampled rows.
    n_estimators : int
        Rounds at most.
    strength : float
        λ.

    Returns
    -------
    forest : Forest
        The trees and their weights.
    stop_reason : str
        Why there are no more of them.
    """
    labels = grower.labels
    ballots = np.zeros((len(labels), grower.n_classes), dtype=np.int64)
    weights = np.full(len(labels), 1.0 / len(labels))  # D_1
    trees: list[Tree] = []
    alphas: list[float] = []
    for t in range(n_estimators):
        tree, votes = grower.grow(weights, t)  # h_t on D_t
        is_right = votes == labels
        ballots[np.arange(len(labels)), votes] += 1
        penalised = weights * penalties(ballots, labels) ** strength  # D_t·p^λ
        margin = Margin(float(penalised[is_right].sum()), float(penalised[~is_right].sum()))
        reason = margin.reason_to_stop
        if reason != NO_EDGE or t == 0:
            trees.append(tree)
            alphas.append(margin.alpha)  # α_t
        if reason is not None:
            return grower.join(trees, alphas), reason
        weights = next_distribution(penalised, is_right, margin.alpha)  # D_{t+1}
    return grower.join(trees, alphas), N_ESTIMATORS
