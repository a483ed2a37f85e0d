"""SMOTEBoost. In: a table. Out: a weighted vote of trees, each of them grown on synthetic rows of its own, too."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from comboost._boosting.loop import boost
from comboost._boosting.voting import ClassVoting
from comboost._engine.forest import Forest
from comboost._engine.memory_plan import Uses
from comboost._estimators.parameters import MAX_INT, constructor, integer, parameter, restated
from comboost._types import Sums
from comboost.baselines._augmented import AugmentedLearner, AugmentedRows
from comboost.baselines._estimator import BaselineSettings, TreeVoter
from comboost.baselines._problem import Problem
from comboost.baselines._synthesis import Synthesis

DRAWING = 5  # copies of the rows of a class while they are drawn


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


class SMOTEBoostClassifier(TreeVoter[SMOTEBoostSettings]):
    """SMOTEBoost: AdaBoost.M2 whose trees also see synthetic rows of the minority classes.

    In every round each class gets as many synthetic rows as it is short of the largest class, between its rows and
    their nearest neighbours of the same class. They are used for the tree of that round only [1]_. There is no
    ``sample_weight``: the rows are resampled.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    n_classes_ : int
        Their number.
    n_features_in_ : int
        Features seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, if X had names that are all strings.
    infrequent_categories_ : list of ndarray or None
        For every feature the categories that share a code, sorted, as in scikit-learn's encoders; None if each has its
        own, and for numbers.
    n_iter_ : int
        Rounds kept.
    estimator_weights_ : ndarray of shape (n_rounds,)
        Weight ln(1/β) of every round, β = ε/(1−ε), ε being its pseudo-loss on the original rows.
    stop_reason_ : str
        Why the rounds ended: ``"n_estimators"`` (all are there), ``"no_edge"`` (the pseudo-loss on the original rows is
        no better than that of guessing, ½), ``"perfect_learner"`` (it is 0), ``"loss_vanished"`` or ``"rounding"``
        (the weights of the rows differ too much to be told apart).

    See Also
    --------
    AdaBoostNCClassifier : The other rival in CoMBo's paper.
    comboost.CoMBoClassifier : Every class counts the same without resampling.

    Notes
    -----
    The weak hypotheses vote 0 or 1, and then AdaBoost.M2 is AdaBoost.MM with twice its weights: if all classes have
    the same size, the trees are those of `comboost.AdaBoostMMClassifier`, to the last bit. The tree is grown on
    AdaBoost.M2's distribution D over wrong labels itself, not on its sums over the labels.

    A tree that synthetic rows lead astray may be no better than guessing on the original ones, and ends the fit. Deep
    trees, ``max_depth=None, min_samples_leaf=2`` say, rarely are.

    A wrong label of a synthetic row weighs 1/(m(K−1)) in every round, the mean of D over the m original rows; the
    pseudo-loss and the next D are those of the original rows alone.

    The distance between rows is Euclidean, as SMOTE's; numbers are not scaled. Two categories differ by Cost and
    Salzberg's value difference, the summed differences of their class shares. A synthetic row has the category that is
    the most frequent one among the neighbours, in a tie that of the nearest. A number that one of two rows lacks counts
    in their distance as the mean of the other features, and is missing in rows drawn between them.

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

    _takes_sparse: ClassVar[bool] = False  # a row between two others has what either of them has
    _log_odds: float = 1.0  # weights are twice those of CoMBo already

    @constructor(SMOTEBoostSettings)
    def __init__(self) -> None: ...

    def _resampling(self, settings: SMOTEBoostSettings, weight_sums: Sums, n_features: int) -> Uses:
        """Bytes of the rows of minority classes with their neighbours, and of those drawn between them."""
        shortfalls = weight_sums.max() - weight_sums
        n_short, n_drawn = int(weight_sums[shortfalls > 0].sum()), int(shortfalls.sum())
        return {
            "rows and their neighbours": n_short * 8 * (n_features + settings.k_neighbors),
            "rows that are drawn": (2 * n_drawn + DRAWING * int(shortfalls.max())) * 8 * n_features,
        }

    def _boost(self, settings: SMOTEBoostSettings, problem: Problem) -> tuple[Forest, str]:
        synthesis = Synthesis.of(problem, settings.k_neighbors)
        learner = AugmentedLearner(problem.bins, problem.n_classes, problem.rules, problem.n_threads)
        rows = AugmentedRows(problem, synthesis.labels, synthesis.draw_codes, counted=learner.counts_rows)
        voting = ClassVoting(problem.objective, learning_rate=1.0, step="edge")
        history = boost(rows, learner, voting, settings.n_estimators)
        weights = 2.0 * np.array(history.alphas)  # ln(1/β)
        return learner.forest(weights.tolist()), history.stop_reason
