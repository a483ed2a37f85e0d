"""AdaBoost.NC with random oversampling. In: a table. Out: a weighted vote of trees that disagree with each other."""

from dataclasses import dataclass

from comboost._engine.forest import Forest
from comboost._engine.memory_plan import Uses
from comboost._estimators.parameters import constructor, parameter, real
from comboost._types import Sums
from comboost.baselines._ambiguity import boost_diversely
from comboost.baselines._estimator import BaselineSettings, TreeVoter
from comboost.baselines._problem import Problem
from comboost.baselines._weighted import TreeGrower, oversample

ROW_NUMBERS = 2  # of a row, while a tree grows: its weight, as a float and as an integer


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


class AdaBoostNCClassifier(TreeVoter[AdaBoostNCSettings]):
    """AdaBoost.NC: boosting that also penalises rows on which the trees disagree, after random oversampling.

    Rows of every class are repeated at random until it has as many as the largest one. Then each round multiplies the
    weight of a row by p^λ, p being smaller the more the trees so far disagree about it, beside what AdaBoost does with
    it [1]_. There is no ``sample_weight``: the rows are resampled.

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
        Weight α of every round.
    stop_reason_ : str
        Why the rounds ended: ``"n_estimators"`` (all are there), ``"no_edge"`` (a tree is right on no more than half of
        the penalised weight, so that α would not be positive) or ``"perfect_learner"`` (a tree makes no mistake).

    See Also
    --------
    SMOTEBoostClassifier : The other rival in CoMBo's paper.
    comboost.CoMBoClassifier : Every class counts the same without resampling.

    Notes
    -----
    The ambiguity of a row after t rounds is amb = (1/t)·Σ_s ([H_t = y] − [h_s = y]), and p = 1 − abs(amb). H_t is the
    vote of the first t trees, all with the same weight, since α_t follows from p only afterwards.

    α is positive only if a tree is right on more than half of the weight, however many classes there are. With many
    of them, trees of the default depth may fail at that in the first round; deep ones, ``max_depth=None,
    min_samples_leaf=2`` say, rarely do.

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
        """Bytes of the ballots, weights and penalties of rows that are repeated."""
        return {"ballots of the rows": int(weight_sums.max()) * len(weight_sums) * 8 * (len(weight_sums) + ROW_NUMBERS)}

    def _boost(self, settings: AdaBoostNCSettings, problem: Problem) -> tuple[Forest, str]:
        grower = TreeGrower(problem, oversample(problem))
        return boost_diversely(grower, settings.n_estimators, settings.penalty_strength)
