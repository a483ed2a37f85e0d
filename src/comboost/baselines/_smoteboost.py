"""SMOTEBoost: AdaBoost.M2 with trees grown on original and synthetic samples."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from comboost._boosting.learners import TreeLearner
from comboost._boosting.loop import boost
from comboost._engine.forest import Forest
from comboost._engine.leaf_values import ClassValues
from comboost._engine.memory_plan import Uses
from comboost._estimators.parameters import MAX_INT, constructor, integer, parameter, restated
from comboost._types import Sums
from comboost.baselines._augmented import AugmentedRows
from comboost.baselines._estimator import BaselineClassifier, BaselineSettings, Problem
from comboost.baselines._smote import Synthesis

DRAWING = 5  # copies of the samples of a class while they are drawn


@dataclass(frozen=True, kw_only=True)
class SMOTEBoostSettings(BaselineSettings):
    """Parameters of SMOTEBoost."""

    k_neighbors: int = parameter(
        5,
        integer(1, MAX_INT),
        kind="boosting",
        after="n_estimators",
        doc="Number of nearest neighbours to draw from. A class with no more samples uses those it has; a single "
        "sample is copied.",
    )
    proba: str = restated(
        BaselineSettings,
        "proba",
        doc='How scores become probabilities: ``"softmax"`` is their softmax, as weights are already twice those of '
        'CoMBo; ``"vote_fraction"`` is the fraction of the weighted vote that a class gets.',
    )


class SMOTEBoostClassifier(BaselineClassifier[SMOTEBoostSettings]):
    """SMOTEBoost: AdaBoost.M2 whose trees also train on synthetic samples of the minority classes.

    In every round, synthetic samples fill up each class to the size of the largest one. They lie between a sample and
    one of its nearest neighbours of the same class, and are used for the tree of that round only [1]_. There is no
    ``sample_weight``: the samples are resampled.

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
        Weight ln(1/β) of every round, β = ε/(1−ε), where ε is the pseudo-loss on the original samples.
    stop_reason_ : str
        Why boosting stopped: ``"n_estimators"`` (all rounds are done), ``"no_edge"`` (the pseudo-loss on the original
        samples is not below ½, that of guessing), ``"perfect_learner"`` (it is 0), ``"loss_vanished"`` or
        ``"rounding"`` (the weights differ by more than rounding allows).

    See Also
    --------
    AdaBoostNCClassifier : The other baseline of the CoMBo paper.
    comboost.CoMBoClassifier : Gives all classes the same importance without resampling.

    Notes
    -----
    The weak hypotheses output 0 or 1. Then AdaBoost.M2 is AdaBoost.MM with twice its weights: if all classes have the
    same size, the trees are those of `comboost.AdaBoostMMClassifier`, to the last bit. Trees are grown on AdaBoost.M2's
    distribution D over wrong labels, not on its sums over the labels.

    The fit ends if a tree is no better than guessing on the original samples, because the synthetic ones mislead it.
    Deep trees, for example with ``max_depth=None, min_samples_leaf=2``, rarely are.

    A wrong label of a synthetic sample weighs 1/(m(K−1)) in every round, the mean of D over the m original samples; the
    pseudo-loss and the next D depend on the original samples only.

    The distance is Euclidean, as in SMOTE; numbers are not scaled. Two categories differ by Cost and Salzberg's value
    difference, the summed differences of their class proportions. A synthetic sample has the most frequent category
    among the neighbours, in a tie that of the nearest. A number that is missing in one of two samples counts in their
    distance as the mean of the other features, and is missing in samples drawn between them.

    References
    ----------
    .. [1] N. V. Chawla, A. Lazarevic, L. O. Hall and K. W. Bowyer, "SMOTEBoost: Improving prediction of the minority
       class in boosting", PKDD 2003.

    Examples
    --------
    >>> from comboost.baselines import SMOTEBoostClassifier
    >>> from comboost.datasets import load_glass
    >>> X, y = load_glass(return_X_y=True)
    >>> model = SMOTEBoostClassifier(max_depth=None, min_samples_leaf=2, random_state=0).fit(X, y)
    >>> model.n_iter_, model.stop_reason_
    (51, 'n_estimators')
    >>> round(model.score(X, y), 2)
    1.0
    """

    __module__ = "comboost.baselines"  # where users find it; pickles keep this name

    _takes_sparse: ClassVar[bool] = False  # a sample between two others has the entries of both
    _log_odds: float = 1.0  # the weights are already twice those of CoMBo

    @constructor(SMOTEBoostSettings)
    def __init__(self) -> None: ...

    def _resampling(self, settings: SMOTEBoostSettings, weight_sums: Sums, n_features: int) -> Uses:
        """Bytes of the minority samples with their neighbours, and of the synthetic samples."""
        shortfalls = weight_sums.max() - weight_sums
        n_short, n_drawn = int(weight_sums[shortfalls > 0].sum()), int(shortfalls.sum())
        return {
            "rows and their neighbours": n_short * 8 * (n_features + settings.k_neighbors),
            "synthetic rows": (2 * n_drawn + DRAWING * int(shortfalls.max())) * 8 * n_features,
        }

    def _boost(self, settings: SMOTEBoostSettings, problem: Problem) -> tuple[Forest, str]:
        synthesis = Synthesis.of(problem, settings.k_neighbors)
        learner = TreeLearner(problem.bins.kinds, problem.n_classes, problem.rules.smoothing)
        rows = AugmentedRows(problem, synthesis.labels, synthesis.draw_codes)
        values = ClassValues(problem.objective, learning_rate=1.0, step="edge")
        history = boost(rows, learner, values, settings.n_estimators)
        weights = 2.0 * np.array(history.alphas)  # ln(1/β)
        return learner.forest(weights.tolist()), history.stop_reason
