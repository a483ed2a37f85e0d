"""AdaBoost.NC with random oversampling. In: a table. Out: a weighted vote of trees that disagree with each other."""

from typing import Any, ClassVar

from comboost._engine.forest import Forest
from comboost._engine.memory_plan import Uses
from comboost._estimators.parameters import Rule, real
from comboost._types import Sums
from comboost.baselines._ambiguity import boost_diversely
from comboost.baselines._estimator import TreeVoter
from comboost.baselines._problem import Problem
from comboost.baselines._weighted import TreeGrower, oversample

ROW_NUMBERS = 2  # of a row, while a tree grows: its weight, as a float and as an integer


class AdaBoostNCClassifier(TreeVoter):
    """AdaBoost.NC: boosting that also penalises rows on which the trees disagree, after random oversampling.

    Rows of every class are repeated at random until it has as many as the largest one. Then each round multiplies the
    weight of a row by p^λ, p being smaller the more the trees so far disagree about it, beside what AdaBoost does with
    it [1]_. There is no ``sample_weight``: the rows are resampled.

    Parameters
    ----------
    n_estimators : int, default=51
        Rounds at most.
    penalty_strength : float, default=2.0
        λ, from 0, which is AdaBoost, to 100; its paper also uses 9.
    max_depth : int or None, default=3
        Depth of the trees; None lets them grow until no split helps.
    criterion : {"gini", "cost"}, default="gini"
        What a split should gain: ``"gini"`` is the usual one of weighted rows, ``"cost"`` the drop of their error.
    min_samples_leaf : int, default=1
        Rows that a leaf must have, repeated ones included.
    max_bins : int, default=255
        Bins of a feature; from 2 to 255. They are those of the original rows.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Features that hold categories: those of text or of a category dtype (pandas, polars, Arrow, arrays), or a list
        of indices, of column names, or of a boolean for every feature; None is none. Text that spells numbers, dates
        and many categories are treated as by `CoMBoClassifier`.
    proba : {"softmax", "votes"}, default="softmax"
        Probabilities as softmax(2f) of the votes f, or as their shares.
    n_jobs : int or None, default=None
        Threads, as in joblib: None is 1, -1 all processors. The model is the same for any number.
    random_state : int, RandomState instance or None, default=None
        Seeds the oversampling; nothing else is random.

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

    _rules: ClassVar[dict[str, Rule]] = {**TreeVoter._rules, "penalty_strength": real(0, 100)}

    def __init__(
        self,
        *,
        n_estimators: int = 51,
        penalty_strength: float = 2.0,
        max_depth: int | None = 3,
        criterion: str = "gini",
        min_samples_leaf: int = 1,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        proba: str = "softmax",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.penalty_strength = penalty_strength
        self.max_depth = max_depth
        self.criterion = criterion
        self.min_samples_leaf = min_samples_leaf
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.proba = proba
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _resampling(self, weight_sums: Sums, n_features: int) -> Uses:
        """Bytes of the ballots, weights and penalties of rows that are repeated."""
        return {"ballots of the rows": int(weight_sums.max()) * len(weight_sums) * 8 * (len(weight_sums) + ROW_NUMBERS)}

    def _boost(self, problem: Problem) -> tuple[Forest, str]:
        grower = TreeGrower(problem, oversample(problem))
        return boost_diversely(grower, self.n_estimators, self.penalty_strength)
