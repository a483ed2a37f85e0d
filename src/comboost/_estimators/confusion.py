"""Boosting with votes for every class, as users see it."""

import math
import sys
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from comboost._boosting.fit import Fit, FitPlan
from comboost._boosting.learners import TreeRules, count_features
from comboost._boosting.voting import LeafVoting, Voting
from comboost._data.sample_weights import ClassWeightSums
from comboost._engine.formulas import BalancedObjective
from comboost._engine.memory_plan import TreeLimits
from comboost._estimators.base import Booster
from comboost._estimators.decisions import training_shares
from comboost._estimators.parameters import CONFUSION_RULES, DECISION, HINTS, Rule, explained, n_threads_of
from comboost._types import Floats


def suitable_depth(bits: float, n_classes: int) -> int:
    """The depth of a tree with about √(rows · classes)/8 leaves, from 3 to 7; there are 2^bits rows."""
    return min(max(round((bits + math.log2(n_classes)) / 2 - 3), 3), 7)


class ConfusionBooster(Booster):
    """Boosts trees whose leaves vote for every class."""

    _hints: ClassVar[Mapping[str, str]] = {
        **{name: hint for name, hint in HINTS.items() if name not in ("max_leaf_nodes", "base_estimator")},
        "estimator": "leave it out, or take CoMBoClassifier: only the built-in trees vote for every class",
        "proba": "give priors",
        "step": "leave it out: every leaf has the step that suits it best",
        "criterion": "leave it out: splits are judged as by CoMBoClassifier's gini",
        "subsample": "give max_thresholds, noise or max_features: those are what is random here",
        "random_strength": "give noise",
    }
    _rules: ClassVar[Mapping[str, Rule]] = CONFUSION_RULES
    _answer_rules: ClassVar[Mapping[str, Rule]] = {"decision": DECISION}
    # Votes add up to 0, so 0 would be many; scikit-learn takes no infinite ones.
    _no_votes: ClassVar[float] = math.log(sys.float_info.min)
    _validation_scale: ClassVar[float] = 1.0  # softmax(f), which the log-loss fits

    @explained
    def __init__(
        self,
        *,
        n_estimators: int = 300,
        learning_rate: float = 0.3,
        max_depth: int | str | None = "auto",
        max_leaf_nodes: int | None = None,
        loss: str = "log",
        smoothing: float = 10.0,
        balance: float = 1.0,
        min_samples_leaf: int = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = None,
        max_thresholds: int | None = 2,
        noise: float = 1.0,
        max_bins: int = 63,
        categorical_features: Any = "from_dtype",
        cost_matrix: Any = None,
        early_stopping: bool = False,
        scoring: Any = None,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 20,
        tol: float = 1e-7,
        refit: bool = False,
        warm_start: bool = False,
        calibration: str | None = None,
        calibration_folds: int = 5,
        priors: Any = "uniform",
        decision: str = "votes",
        reject_cost: float | None = None,
        reject_label: Any = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.loss = loss
        self.smoothing = smoothing
        self.balance = balance
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_thresholds = max_thresholds
        self.noise = noise
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.cost_matrix = cost_matrix
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.refit = refit
        self.warm_start = warm_start
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
        return ConfusionBooster

    def _voting(self, costs: Floats | None, weight_sums: ClassWeightSums) -> Voting:
        """How rounds vote."""
        objective = BalancedObjective.of(costs, weight_sums, float(self.balance), self.loss)
        return LeafVoting(objective, float(self.learning_rate), float(self.smoothing), n_threads_of(self.n_jobs))

    @property
    def _balances_classes(self) -> bool:
        """No: smoothing counts rows of weight 1, so that a heavy class is smoothed less than others."""
        return False

    def _limits(self, weight_sums: ClassWeightSums) -> TreeLimits:
        """How large trees may become, and that their leaves vote for every class."""
        max_depth: Any = self.max_depth
        if max_depth == "auto":
            bits = (
                math.log2(weight_sums.total) - weight_sums.scale.shift
            )  # of the rows: their weights may be any numbers
            max_depth = None if self.max_leaf_nodes is not None else suitable_depth(bits, len(weight_sums.sums))
        return TreeLimits(
            max_depth, self.max_leaf_nodes, self.min_samples_leaf, self.n_estimators, for_every_class=True
        )

    def _validation_shift(self, fit: Fit) -> Floats | None:
        """What makes votes that were learned for other shares of the classes those of equal shares."""
        objective = fit.plan.voting.objective
        if self.balance == 1.0 or not isinstance(objective, BalancedObjective):
            return None
        return (float(self.balance) - 1.0) / self._log_odds * np.log(objective.weight_sums.shares)

    @property
    def _learned_shares(self) -> Floats | None:
        """Logarithms of the shares of the classes for which votes are learned, M_l^(1−τ); None if τ = 1."""
        return None if self.balance == 1.0 else (1.0 - float(self.balance)) * training_shares(self)

    @property
    def _log_odds(self) -> float:
        """What the votes must be multiplied by to be log odds: the exponential loss fits them to half of these."""
        return 1.0 if self.loss == "log" else 2.0

    def _tree_rules(self, plan: FitPlan, n_features: int) -> TreeRules:
        """How trees grow; the criterion divides by the loss of as many rows more as votes are smoothed by."""
        voting = plan.voting
        assert isinstance(voting, LeafVoting)
        return TreeRules(
            plan.limits.max_depth,
            "gini",
            self.min_samples_leaf,
            self.min_weight_fraction_leaf,
            count_features(self.max_features, n_features),
            plan.seed,
            self.max_leaf_nodes,
            voting.smoothing * voting.objective.mean_row,
            self.max_thresholds,
            float(self.noise),
        )


class ConfusionBoostingClassifier(ConfusionBooster):
    """Confusion boosting: every class counts the same, and every leaf votes for all classes at once.

    The trees are those of `CoMBoClassifier`. But a leaf does not vote for one class: it casts the votes after which, in
    this leaf, every class is taken for others as much as others are taken for it. That learns several times more per
    round, and the loss still bounds the squared norm of the confusion matrix. This is the estimator to start with.

    Parameters
    ----------
    n_estimators : int, default=300
        Rounds at most.
    learning_rate : float, default=0.3
        Multiplies the votes of every round; in (0, 1]. Half of it needs about twice as many rounds.
    max_depth : int, "auto" or None, default="auto"
        Depth of the trees; None does not limit it. ``"auto"`` is the depth of a tree with about √(rows · classes)/8
        leaves, from 3 to 7, or no limit if ``max_leaf_nodes`` is given; a row of weight 2 counts as two.
    max_leaf_nodes : int or None, default=None
        Leaves of a tree, at least 2. The tree then grows the best leaf first, the one whose split raises the criterion
        most, instead of level by level. None does not limit them. Both limits may be given; without either, trees grow
        until no split helps, and the fit is refused if their votes would not fit into memory.
    loss : {"log", "exponential"}, default="log"
        What the votes make small: ``"log"`` is the class-balanced log-loss, which does not lose itself in a few rows
        that are labelled wrongly; ``"exponential"`` is CoMBo's.
    smoothing : float, default=10.0
        Rows of every class, of weight 1, by which the votes of a leaf, and the gain of a split, are smoothed; up to a
        million. More of it makes leaves with few rows vote less. Weights that add up to 1 instead of to the number of
        rows would be smoothed away: scale them, or give less smoothing. 0 is no smoothing: pure leaves then vote as
        much as the rounding of costs lets them see.
    balance : float, default=1.0
        How much a rare class counts; in [0, 1]. With 1 every class counts the same, as in CoMBo, with 0 every row does,
        as in AdaBoost.MM; a row of class l weighs m_l to the power of minus ``balance``, m_l being the rows of l.
    min_samples_leaf : int, default=1
        Rows that a leaf must have, whatever they weigh.
    min_weight_fraction_leaf : float, default=0.0
        Share of the round's costs that a leaf must keep; in [0, 0.5].
    max_features : int, float, "sqrt", "log2" or None, default=None
        Features drawn at random for every node: a number, a share, the square root or the logarithm of all features.
        None is all of them.
    max_thresholds : int or None, default=2
        Thresholds of a feature that a node tries, drawn at random from all that would divide its rows, evenly over
        their order; at most 254, and twice as many if values are missing there. None tries all of them. Trees that
        differ more from each other make fewer mistakes together. Of up to 8 categories in a node, missing being one,
        every set is tried; more of them are put in an order, and tried like thresholds.
    noise : float, default=1.0
        What a feature gains in a node is multiplied by a random factor between exp(-noise) and exp(noise) before the
        best feature is taken, to the same end; from 0, which is no noise, to 100, which leaves hardly anything else.
    max_bins : int, default=63
        Bins of a feature; from 2 to 255. A feature with no more distinct values than that is not rounded at all.
        Missing values have a bin of their own, and so has every category. More than 63 rarely help, since thresholds
        are drawn, and take longer.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Features that hold categories: those of text or of a category dtype (pandas, polars, Arrow, arrays), or a list
        of indices, of column names, or of a boolean for every feature; None is none. Text in which every value spells a
        number is numbers unless it is listed, and so are dates, times and durations: seconds. A split sends any set of
        categories left. Only the values count, not their order in a dtype. With more than 254 in a feature, the 254
        that weigh most have codes of their own, the first ones of equals, and the others share one code.
    cost_matrix : array-like, DataFrame or dict, default=None
        What taking class l for class j costs: truth in rows, prediction in columns, in the order of ``classes_``, zeros
        on the diagonal. A DataFrame is labelled with the classes. A 1-D array, a Series or a dict gives one cost per
        true class. None is 1 for every mistake. Positive costs must lie within a factor of a million. There is no
        ``class_weight``: say here what a mistake on a class costs.
    early_stopping : bool, default=False
        Whether to validate every round on rows that are not trained on, to stop once that no longer helps, and to keep
        the best round: the one with the best score, and of rounds with the same score (see ``tol``) the one whose votes
        have the smallest log-loss (see ``scoring``), the first if that is the same as well. If no round has another
        score than the first, the log-loss alone decides, with a warning. Without it, ``scoring`` and the parameters
        that follow it down to ``refit`` mean nothing.
    scoring : str, callable or None, default=None
        What to validate with: a name of `comboost.metrics.get_scorer`, or a callable ``scorer(estimator, X, y)``,
        greater being better. None is smooth, minus the `comboost.metrics.balanced_log_loss` of softmax(f) of the
        votes f.
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
        made of votes, ``calibration`` to ``reject_label``. Every model keeps a digest of its rows, so it may be
        switched on after any fit, and other rows are refused.
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
    priors : {"uniform", "training"}, array-like, dict or None, default="uniform"
        What ``predict_proba`` takes the shares of the classes to be: all the same, those of the training rows, or one
        per class, in the order of ``classes_`` or as a dict, all of them positive, with the sum 1. None is what votes
        are learned for: all the same with ``balance=1``, those of the training rows with ``balance=0``. It may be
        changed after the fit. Decisions by votes do not depend on it.
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
    random_state : int, RandomState instance or None, default=0
        Seeds ``max_features``, ``max_thresholds``, ``noise``, which rows are held out, if any are, and the folds of
        calibration; nothing else is random. It is 0 so that the defaults give the same model every time; None draws a
        seed from NumPy's global state, but for a warm start, which goes on with the seed it has.
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
        own, and for numbers.
    n_iter_ : int
        Rounds kept.
    edges_ : ndarray of shape (n_rounds,)
        Edge δ of every round: how much better than guessing its tree would be if leaves voted for one class.
    loss_curve_ : ndarray of shape (n_rounds,)
        Loss L after every round. With ``loss="log"`` it is summed over the classes and in bits: without costs and with
        ``balance=1``, ln(2)/K times it is the class-balanced log-loss of ``predict_proba`` on the training rows. With
        ``balance=1`` the sum of the entries of ``train_confusion_``, each times its cost, is never above it, and so,
        without costs, is the squared norm.
    bound_curve_ : ndarray of shape (n_rounds,)
        What the sums of the leaves promise, added up over the rounds: the loss after every round is at most this, up to
        the rounding of the costs, as for `CoMBoClassifier`. With ``loss="exponential"`` and up to 128 classes the
        promise is the loss itself; with ``loss="log"`` it is weaker.
    train_confusion_ : ndarray of shape (n_classes, n_classes)
        Share of class l that is taken for j on the training rows, without those held out unless there was a ``refit``;
        zero diagonal.
    validation_curve_ : ndarray of shape (n_rounds_tried,)
        Validation score after every round tried, those after the best one included; only with ``early_stopping``.
    temperature_ : float
        What the votes are divided by; only with ``calibration="temperature"``.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the fall of the loss's logarithm; they sum to 1, or are 0 if nothing was split.
    class_importances_ : ndarray of shape (n_classes, n_features)
        Share of each feature in what splits take from the variance of the votes for a class; each row sums to 1, or is
        0 if nothing was split.
    stop_reason_ : str
        Why the rounds ended: ``"n_estimators"`` (all were tried), ``"no_edge"`` (nothing better than guessing is left),
        ``"loss_vanished"`` (the loss is below 1e-200), ``"rounding"`` (weights of a class or class sizes differ so much
        that exact sums are no longer possible, or next to nothing is left to learn), ``"early_stopping"`` (no round has
        been better in validation for ``n_iter_no_change`` rounds) or ``"callback"`` (a callback asked for it).

    See Also
    --------
    CoMBoClassifier : The paper's, in which a leaf votes for one class.

    Notes
    -----
    Missing values, unseen and infrequent categories, times and callbacks are treated as by `CoMBoClassifier`.

    With more than 128 classes a leaf sums up what pulls every class up and what pushes it down instead of the costs of
    all pairs of classes; the memory of a leaf then grows with the classes, not with their square.

    A class whose mistakes all cost 0 does not count: its rows move no vote, and other classes' rows may be taken for
    it at their own cost.

    Probabilities are the softmax of the votes, of twice the votes with ``loss="exponential"``, calibrated if asked for,
    and moved to the shares that ``priors`` says; with a ``cost_matrix`` and ``decision="votes"`` the costs are in them,
    too.

    Examples
    --------
    >>> from comboost import ConfusionBoostingClassifier
    >>> from comboost.datasets import load_yeast
    >>> X, y = load_yeast(return_X_y=True)
    >>> model = ConfusionBoostingClassifier().fit(X, y)
    >>> model.predict(X[:3]).tolist()  # the third is MIT, too: only 30 of the 1484 rows are VAC, which count as much
    ['MIT', 'MIT', 'VAC']
    >>> bool((model.train_confusion_**2).sum() <= model.loss_curve_[-1])
    True

    Leaves vote for every class:

    >>> model = ConfusionBoostingClassifier(n_estimators=1, max_depth=1, smoothing=1)
    >>> print(model.fit([[1.0], [2.0], [3.0]], ["a", "b", "c"]).export_text(0))
    |--- x0 <= 1.5
    |   |--- values: a +0.07, b -0.03, c -0.03
    |--- x0 > 1.5
    |   |--- values: b +0.03, c +0.03, a -0.07
    """

    __module__ = "comboost"  # where users find it; pickles keep this name
