"""The paper's classifiers, as users see them: what they are, and which weights rule them."""

import inspect
from collections.abc import Mapping
from typing import Any, ClassVar

from comboost._boosting.fit import FitPlan
from comboost._boosting.learners import TreeRules, count_features
from comboost._boosting.voting import ClassVoting, Voting
from comboost._data.sample_weights import ClassWeightSums
from comboost._engine.formulas import Objective
from comboost._estimators.base import Booster
from comboost._estimators.decisions import training_shares
from comboost._estimators.parameters import DECISION, PROBA, RULES, Rule, explained
from comboost._types import Floats


def shared_sections(documented: type, first: str, after: str) -> str:
    """Sections of a booster's docstring from one to before another: all boosters have the same."""
    text = inspect.getdoc(documented) or ""  # none under python -OO
    return text[text.find(f"{first}\n") : text.find(f"{after}\n")]


class VoteBooster(Booster):
    """A boosted vote; whether every class or every row counts the same is all that its kinds differ in."""

    _by_class: ClassVar[bool]
    _rules: ClassVar[Mapping[str, Rule]] = RULES
    _answer_rules: ClassVar[Mapping[str, Rule]] = {"proba": PROBA, "decision": DECISION}
    _validation_scale: ClassVar[float] = 0.5  # softmax(f/2); docs/decisions/0006-early-stopping.md says why

    @explained
    def __init__(
        self,
        *,
        n_estimators: int = 200,
        learning_rate: float = 1.0,
        max_depth: int | None = 3,
        criterion: str = "gini",
        min_samples_leaf: int = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = None,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        step: str = "edge",
        cost_matrix: Any = None,
        estimator: Any = None,
        early_stopping: bool = False,
        scoring: Any = None,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 20,
        tol: float = 1e-7,
        refit: bool = False,
        warm_start: bool = False,
        proba: str = "softmax",
        calibration: str | None = None,
        calibration_folds: int = 5,
        priors: Any = None,
        decision: str = "votes",
        reject_cost: float | None = None,
        reject_label: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.criterion = criterion
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.step = step
        self.cost_matrix = cost_matrix
        self.estimator = estimator
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.refit = refit
        self.warm_start = warm_start
        self.proba = proba
        self.calibration = calibration
        self.calibration_folds = calibration_folds
        self.priors = priors
        self.decision = decision
        self.reject_cost = reject_cost
        self.reject_label = reject_label
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def _declaring(cls) -> type:
        """The class whose constructor says what the defaults are."""
        return VoteBooster

    def _voting(self, costs: Floats | None, weight_sums: ClassWeightSums) -> Voting:
        """How rounds vote."""
        objective = Objective.of(costs, weight_sums, by_class=self._by_class)
        return ClassVoting(objective, float(self.learning_rate), self.step)

    @property
    def _balances_classes(self) -> bool:
        """Whether every class counts the same, whatever its rows weigh."""
        return self._by_class

    @property
    def _learned_shares(self) -> Floats | None:
        """Logarithms of the shares of the classes for which votes are learned; None if they are all the same."""
        return None if self._by_class else training_shares(self)

    def _tree_rules(self, plan: FitPlan, n_features: int) -> TreeRules:
        """How trees grow."""
        return TreeRules(
            plan.limits.max_depth,
            self.criterion,
            self.min_samples_leaf,
            self.min_weight_fraction_leaf,
            count_features(self.max_features, n_features),
            plan.seed,
        )


class CoMBoClassifier(VoteBooster):
    """Confusion matrix boosting (CoMBo): boosts until the norm of the confusion matrix is small.

    Every class counts the same, however rare it is, and no cost has to be guessed beforehand: a row of class l weighs
    1/m_l, m_l being the rows of that class, so the loss bounds the squared norm of the confusion matrix [1]_.

    Parameters
    ----------
    n_estimators : int, default=200
        Rounds at most.
    learning_rate : float, default=1.0
        Multiplies the weight of every round; in (0, 1].
    max_depth : int or None, default=3
        Depth of the trees; None lets them grow until no split helps.
    criterion : {"gini", "cost"}, default="gini"
        What a split should gain: ``"cost"`` is the drop of the summed cost, i.e. the edge of the round itself,
        ``"gini"`` the sum over the leaves of ‖costs‖²/loss, which also sees what later splits can use.
    min_samples_leaf : int, default=1
        Rows that a leaf must have, whatever they weigh.
    min_weight_fraction_leaf : float, default=0.0
        Share of the round's loss that a leaf must keep; in [0, 0.5].
    max_features : int, float, "sqrt", "log2" or None, default=None
        Features drawn at random for every node: a number, a share, the square root or the logarithm of all features.
        None is all of them.
    max_bins : int, default=255
        Bins of a feature; from 2 to 255. A feature with no more distinct values than that is not rounded at all.
        Missing values have a bin of their own, and so has every category.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Features that hold categories: those of text or of a category dtype (pandas, polars, Arrow, arrays), or a list
        of indices, of column names, or of a boolean for every feature; None is none. Text in which every value spells a
        number is numbers unless it is listed, and so are dates, times and durations: seconds. A split sends any set of
        categories left. Only the values count, not their order in a dtype. With more than 254 in a feature, the 254
        that weigh most have codes of their own, the first ones of equals, and the others share one code.
    step : {"edge", "exact"}, default="edge"
        Weight of a round: ``"edge"`` is the paper's, ½·ln((1+δ)/(1−δ)); ``"exact"`` minimises the loss along the vote.
    cost_matrix : array-like, DataFrame or dict, default=None
        What taking class l for class j costs: truth in rows, prediction in columns, in the order of ``classes_``, zeros
        on the diagonal. A DataFrame is labelled with the classes. A 1-D array, a Series or a dict gives one cost per
        true class. None is 1 for every mistake. Positive costs must lie within a factor of a million. There is no
        ``class_weight``: say here what a mistake on a class costs.
    estimator : classifier, default=None
        Weak learner to use instead of the built-in tree: any scikit-learn classifier whose ``fit`` takes
        ``sample_weight``. The parameters of the tree must then keep their defaults: ``max_depth=5`` would not be that
        of a ``DecisionTreeClassifier()`` given here, though it looks like it.
    early_stopping : bool, default=False
        Whether to validate every round on rows that are not trained on, to stop once that no longer helps, and to keep
        the best round: the one with the best score, and of rounds with the same score (see ``tol``) the one whose votes
        have the smallest log-loss (see ``scoring``), the first if that is the same as well. If no round has another
        score than the first, the log-loss alone decides, with a warning. Without it, ``scoring`` and the parameters
        that follow it down to ``refit`` mean nothing.
    scoring : str, callable or None, default=None
        What to validate with: a name of `comboost.metrics.get_scorer`, or a callable ``scorer(estimator, X, y)``,
        greater being better. None is smooth, minus the `comboost.metrics.balanced_log_loss` of softmax(f/2) of the
        votes f; softmax(2f), on the scale of the probabilities, would be sure of itself, and stop, far too soon.
    validation_fraction : float, default=0.1
        Share of the rows of every class to validate on if ``fit`` is not given ``X_val``: at least one row of a
        class, but never its last.
    n_iter_no_change : int, default=20
        Rounds without a better one after which to stop. A round with the score of the best is better if its log-loss
        is: a tie alone neither ends the rounds nor keeps them going.
    tol : float, default=1e-07
        Scores, or log-losses, that differ by no more than this are the same.
    refit : bool, default=False
        Whether to train again on all rows, those held out included, for as many rounds as validation has found best:
        usually a better model, for about twice the time. ``validation_curve_``, ``verbose`` and callbacks are about the
        rounds that are validated, all else is about the model of all rows. Goes neither with ``X_val`` nor with
        ``warm_start``.
    warm_start : bool, default=False
        Whether ``fit`` goes on from the rounds that are there: 100 rounds and then 100 more are the same model as 200
        at once. Rows and parameters must stay the same, but for ``n_estimators``, ``n_jobs``, ``verbose`` and what is
        made of votes, ``proba`` to ``reject_label``. Every model keeps a digest of its rows, so it may be switched on
        after any fit, and other rows are refused.
    proba : {"softmax", "votes"}, default="softmax"
        Probabilities as softmax(2f) of the votes f, or as their shares, which cannot be calibrated.
    calibration : {"temperature", "isotonic"} or None, default=None
        How probabilities learn how sure they may be, from votes on rows that were not trained on: those that validate,
        if there is ``early_stopping`` without ``refit``, otherwise all rows, by ``calibration_folds`` more fits.
        ``"temperature"`` divides the votes by one number, ``temperature_``; ``"isotonic"`` bends the probability of
        every class by a curve that never falls, which needs some hundred rows of a class. Every class counts the same,
        and ``predict`` is not changed by it: docs/probabilities.md says what it is worth. A warm start learns it anew;
        set to None after the fit, it is left out.
    calibration_folds : int, default=5
        Folds of that calibration, at least 2, drawn class by class: every model of them is trained on all classes, so
        that the only row of a class is in no fold. They are drawn by the rows' places.
    priors : {"uniform", "training"}, array-like, dict or None, default=None
        What ``predict_proba`` takes the shares of the classes to be: all the same, those of the training rows, or one
        per class, in the order of ``classes_`` or as a dict, all of them positive, with the sum 1. None is what votes
        are learned for: all the same for `CoMBoClassifier`, those of the training rows for `AdaBoostMMClassifier`. It
        may be changed after the fit. Decisions by votes do not depend on it.
    decision : {"votes", "expected_cost"}, default="votes"
        Whether ``predict`` takes the class with the most votes, or the one that costs least if ``predict_proba`` is
        right: the j with the smallest Σ_l p_l·c(l,j), c being ``cost_matrix``, or 1 for every mistake. Votes are then
        learned without ``cost_matrix``, whose costs would count twice; with one, ``decision`` cannot be changed
        without another fit. ``priors`` should be the shares that are met in use. ``decision_function``,
        ``train_confusion_`` and early stopping go by votes, whatever is decided.
    reject_cost : float or None, default=None
        What it costs to leave a row to somebody else, above 0: a row whose cheapest class is expected to cost more is
        given ``reject_label``. Only with ``decision="expected_cost"``. None rejects no row.
    reject_label : label or None, default=None
        What ``predict`` gives for rejected rows: a label of the classes' kind that is none of them. None is
        ``"reject"`` if the classes are text, and -1 if they are whole numbers.
    n_jobs : int or None, default=None
        Threads, as in joblib: None is 1, -1 all processors. The model is the same for any number.
    random_state : int, RandomState instance or None, default=None
        Seeds ``max_features``, the rows held out for validation, the folds of calibration, and the ``random_state`` of
        ``estimator``; nothing else is random.
    verbose : int, default=0
        Rounds from one printed line to the next: round, loss, bound, edge, validation score, time left; 0 prints none.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    n_classes_ : int
        Their number.
    class_prior_ : ndarray of shape (n_classes,)
        The share of every class in the weight of the training rows, 0 for a class without weight.
    n_features_in_ : int
        Features seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, if X had names that are all strings.
    infrequent_categories_ : list of ndarray or None
        For every feature the categories that share a code, sorted, as in scikit-learn's encoders; None if each has its
        own, and for numbers. Not there with ``estimator``.
    n_iter_ : int
        Rounds kept.
    estimator_weights_ : ndarray of shape (n_rounds,)
        Weight α of every round.
    edges_ : ndarray of shape (n_rounds,)
        Edge δ of every round: how much better than guessing it was.
    loss_curve_ : ndarray of shape (n_rounds,)
        Loss L after every round.
    bound_curve_ : ndarray of shape (n_rounds,)
        What the edges promise: the loss after every round is at most this, up to the rounding of the costs (about 1e-6
        of the loss; up to 1e-3 if class sizes, weights or costs differ by a factor of a million).
    train_confusion_ : ndarray of shape (n_classes, n_classes)
        Share of class l that is taken for j on the training rows, without those held out unless there was a
        ``refit``; zero diagonal.
    validation_curve_ : ndarray of shape (n_rounds_tried,)
        Validation score after every round tried, those after the best one included; only with ``early_stopping``.
    temperature_ : float
        What the votes are divided by; only with ``calibration="temperature"``.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the fall of the loss's logarithm; they sum to 1, or are 0 if nothing was split. With
        ``estimator``, the mean of the weak learners' own, if they have any.
    class_importances_ : ndarray of shape (n_classes, n_features)
        Share of each feature in what splits take from the variance of the votes for a class; each row sums to 1, or is
        0 if nothing was split.
    estimators_ : list of classifiers
        The weak learners, only with ``estimator``; they are fitted on class indices.
    stop_reason_ : str
        Why the rounds ended: ``"n_estimators"`` (all were tried), ``"no_edge"`` (nothing better than guessing is left),
        ``"perfect_learner"`` (a weak learner made no mistake that costs anything), ``"loss_vanished"`` (the loss is
        below 1e-200), ``"rounding"`` (weights of a class or class sizes differ so much, by about 10⁷, that exact sums
        are no longer possible), ``"early_stopping"`` (no round has been better in validation for ``n_iter_no_change``
        rounds) or ``"callback"`` (a callback asked for it).

    See Also
    --------
    AdaBoostMMClassifier : The same with every row counting the same.

    Notes
    -----
    Missing values (NaN, None, NA) go to the side of a split that suits them best. If training has seen none in a
    node, they go to the child with the larger loss, i.e. with more of the weight that the round gave to the rows. A
    category that training has not seen counts as a missing one. An infrequent one does not: the code that all of these
    share goes left or right like that of any category.

    Dates and times are seconds since the start of 1970, UTC, which is also taken for the zone of those without one;
    times of day are seconds since midnight, durations are seconds. The same time has the same number in any unit, zone
    and container, and no later one a smaller number. Numbers of today's times are a quarter of a microsecond apart.

    A perfect learner ends the fit, often after a round or two, so that the votes take few values: on a few rows perhaps
    only one, and then there is no threshold to tune, as scikit-learn's ``TunedThresholdClassifierCV`` will say (of its
    own trees and of its AdaBoost, too). `ConfusionBoostingClassifier`, whose leaves are never that sure, goes on.

    Callbacks of scikit-learn 1.9 are set with ``set_callbacks``; below 1.9, objects with the same methods do.

    References
    ----------
    .. [1] S. Koço and C. Capponi, "On multi-class learning through the minimization of the confusion matrix norm",
       ACML 2013.

    Examples
    --------
    >>> from comboost import CoMBoClassifier
    >>> from comboost.datasets import load_yeast
    >>> X, y = load_yeast(return_X_y=True)
    >>> model = CoMBoClassifier(n_estimators=20).fit(X, y)
    >>> model.predict(X[:3]).tolist()
    ['CYT', 'VAC', 'VAC']
    >>> bool((model.loss_curve_ <= model.bound_curve_ * (1 + 1e-6)).all())
    True

    Categories and missing values are taken as they come, and validation finds out how many rounds are enough:

    >>> from comboost.datasets import load_car
    >>> X, y = load_car(return_X_y=True, as_frame=True)
    >>> X.loc[::10, "safety"] = None
    >>> model = CoMBoClassifier(early_stopping=True, scoring="g_mean", random_state=0).fit(X, y)
    >>> model.stop_reason_
    'early_stopping'
    >>> print(model.export_text(0))
    |--- persons in {2}
    |   |--- class: unacc
    |--- persons in {4, more} or missing
    |   |--- buying in {low, med} or missing
    |   |   |--- safety in {high} or missing
    |   |   |   |--- class: vgood
    |   |   |--- safety in {low, med}
    |   |   |   |--- class: good
    |   |--- buying in {high, vhigh}
    |   |   |--- safety in {low}
    |   |   |   |--- class: unacc
    |   |   |--- safety in {high, med} or missing
    |   |   |   |--- class: acc
    """

    __module__ = "comboost"  # where users find it; pickles keep this name

    _by_class: ClassVar[bool] = True


class AdaBoostMMClassifier(VoteBooster):
    __doc__ = f"""AdaBoost.MM: multi-class boosting in which every row counts the same.

The algorithm on which CoMBo stands [1]_: its loss bounds the training error, so large classes rule it. On balanced data
both give the same model, to the last bit.

{shared_sections(CoMBoClassifier, "Parameters", "See Also")}
See Also
--------
CoMBoClassifier : The same with every class counting the same.

{shared_sections(CoMBoClassifier, "Notes", "References")}
References
----------
.. [1] I. Mukherjee and R. E. Schapire, "A theory of multiclass boosting", JMLR 14, 2013.

Examples
--------
>>> from comboost import AdaBoostMMClassifier
>>> from comboost.datasets import load_yeast
>>> X, y = load_yeast(return_X_y=True)
>>> model = AdaBoostMMClassifier(n_estimators=20).fit(X, y)
>>> model.predict(X[:3]).tolist()
['MIT', 'CYT', 'CYT']
"""

    __module__ = "comboost"  # where users find it; pickles keep this name

    _by_class: ClassVar[bool] = False
