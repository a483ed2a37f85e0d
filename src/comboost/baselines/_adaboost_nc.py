"""AdaBoost.NC with random oversampling: the algorithm, its formulas and the estimator."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from comboost._boosting.loop import N_ESTIMATORS, NO_EDGE, PERFECT_LEARNER
from comboost._engine.forest import Forest, Tree
from comboost._engine.losses import CAPPED_STEP, step_of_edge
from comboost._engine.memory_plan import Uses
from comboost._estimators.parameters import constructor, parameter, real
from comboost._types import MIN_EDGE, Floats, Labels, Sums
from comboost.baselines._estimator import BaselineClassifier, BaselineSettings, Problem
from comboost.baselines._weighted import TreeGrower, oversample

WEIGHTS_PER_SAMPLE = 2  # while a tree grows: the weight as a float and as an integer


def penalties(counts: NDArray[np.int64], labels: Labels) -> Floats:
    """Penalties p = 1 − |amb|, where amb = (1/t)·Σ_s ([H_t(i)=y_i] − [h_s(i)=y_i]).

    ``counts`` is the number of the hypotheses h_1, ..., h_t that predict each class, (n_samples, n_classes). H_t is the
    class predicted most often, the first one in a tie: α_t is not known yet, and amb weighs all hypotheses equally.
    """
    correct_fraction = counts[np.arange(len(labels)), labels] / counts[0].sum()
    return np.asarray(1.0 - np.abs((counts.argmax(axis=1) == labels) - correct_fraction))


class Margin(NamedTuple):
    """Σ D·p^λ over the samples that a hypothesis predicts correctly, and over the others."""

    right: float
    wrong: float

    @property
    def reason_to_stop(self) -> str | None:
        """Reason to stop after this hypothesis, or None."""
        if self.right - self.wrong <= MIN_EDGE * (self.right + self.wrong):
            return NO_EDGE
        return PERFECT_LEARNER if self.wrong == 0 else None

    @property
    def alpha(self) -> float:
        """α = ½·ln(right/wrong), kept above 0 and below the largest weight of CoMBo."""
        if self.reason_to_stop == NO_EDGE:
            return step_of_edge(MIN_EDGE)
        return CAPPED_STEP if self.wrong == 0 else min(0.5 * math.log(self.right / self.wrong), CAPPED_STEP)


def next_distribution(penalised: Floats, is_right: NDArray[np.bool_], alpha: float) -> Floats:
    """D_{t+1} ∝ p^λ·D_t·exp(−α·[h_t(i)=y_i])."""
    weights = np.where(is_right, penalised * math.exp(-alpha), penalised)
    return np.asarray(weights / weights.sum())


def boost_with_penalty(grower: TreeGrower, n_estimators: int, strength: float) -> tuple[Forest, str]:
    """Boost trees with the penalty strength λ; return them with their weights, and the reason why boosting stopped."""
    labels = grower.labels
    counts = np.zeros((len(labels), grower.n_classes), dtype=np.int64)
    weights = np.full(len(labels), 1.0 / len(labels))  # D_1
    trees: list[Tree] = []
    alphas: list[float] = []
    for t in range(n_estimators):
        tree, predicted = grower.grow(weights, t)  # h_t on D_t
        is_right = predicted == labels
        counts[np.arange(len(labels)), predicted] += 1
        penalised = weights * penalties(counts, labels) ** strength  # D_t·p^λ
        margin = Margin(float(penalised[is_right].sum()), float(penalised[~is_right].sum()))
        reason = margin.reason_to_stop
        if reason != NO_EDGE or t == 0:
            trees.append(tree)
            alphas.append(margin.alpha)  # α_t
        if reason is not None:
            return grower.join(trees, alphas), reason
        weights = next_distribution(penalised, is_right, margin.alpha)  # D_{t+1}
    return grower.join(trees, alphas), N_ESTIMATORS


@dataclass(frozen=True, kw_only=True)
class AdaBoostNCSettings(BaselineSettings):
    """Parameters of AdaBoost.NC."""

    penalty_strength: float = parameter(
        2.0,
        real(0, 100),
        kind="boosting",
        after="n_estimators",
        doc="Strength λ of the penalty, from 0, which is AdaBoost, to 100; its paper also uses 9.",
    )


class AdaBoostNCClassifier(BaselineClassifier[AdaBoostNCSettings]):
    """AdaBoost.NC: boosting that also penalises samples on which the trees disagree, after random oversampling.

    Samples of every class are repeated at random until it has as many as the largest one. In addition to AdaBoost's
    update, each round multiplies the weight of a sample by p^λ; p is smaller the more the trees so far disagree about
    it [1]_. There is no ``sample_weight``: the samples are resampled.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    n_classes_ : int
        Number of classes.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of str
        Names of the features, if all of them are strings.
    infrequent_categories_ : list of ndarray or None
        For every feature the categories that share a code, sorted, as in scikit-learn's encoders; None if each has its
        own, and for numbers.
    n_iter_ : int
        Number of rounds.
    estimator_weights_ : ndarray of shape (n_rounds,)
        Weight α of every round.
    stop_reason_ : str
        Why boosting stopped: ``"n_estimators"`` (all rounds are done), ``"no_edge"`` (a tree is right on at most half
        of the penalised weight, so α would not be positive) or ``"perfect_learner"`` (a tree makes no mistake).

    See Also
    --------
    SMOTEBoostClassifier : The other baseline of the CoMBo paper.
    comboost.CoMBoClassifier : Gives all classes the same importance without resampling.

    Notes
    -----
    The ambiguity of a sample after t rounds is amb = (1/t)·Σ_s ([H_t = y] − [h_s = y]), and p = 1 − abs(amb). H_t is
    the unweighted vote of the first t trees, since α_t depends on p.

    α is positive only if a tree is right on more than half of the weight, however many classes there are. With many
    classes, trees of the default depth may fail in the first round; deep trees, for example with ``max_depth=None,
    min_samples_leaf=2``, rarely do.

    References
    ----------
    .. [1] S. Wang and X. Yao, "Multiclass imbalance problems: analysis and potential solutions", IEEE Transactions on
       Systems, Man, and Cybernetics B 42(4), 2012.

    Examples
    --------
    >>> from comboost.baselines import AdaBoostNCClassifier
    >>> from comboost.datasets import load_glass
    >>> X, y = load_glass(return_X_y=True)
    >>> model = AdaBoostNCClassifier(max_depth=None, min_samples_leaf=2, random_state=0).fit(X, y)
    >>> model.n_iter_, model.stop_reason_
    (51, 'n_estimators')
    >>> round(model.score(X, y), 2)
    0.99
    """

    __module__ = "comboost.baselines"  # where users find it; pickles keep this name

    @constructor(AdaBoostNCSettings)
    def __init__(self) -> None: ...

    def _resampling(self, settings: AdaBoostNCSettings, weight_sums: Sums, n_features: int) -> Uses:
        """Bytes of the predictions, weights and penalties of the oversampled data."""
        n_classes = len(weight_sums)
        n_samples = int(weight_sums.max()) * n_classes
        return {"predictions on the rows": n_samples * 8 * (n_classes + WEIGHTS_PER_SAMPLE)}

    def _boost(self, settings: AdaBoostNCSettings, problem: Problem) -> tuple[Forest, str]:
        grower = TreeGrower(problem, oversample(problem))
        return boost_with_penalty(grower, settings.n_estimators, settings.penalty_strength)
