"""The estimators: parameters, fit, predict, staged. In: tables. Out: classes and probabilities. No mathematics."""

import inspect
import math
import numbers
from collections.abc import Callable, Iterator
from typing import Any, Self

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin, is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from comboost import _core
from comboost._binning import BinMapper
from comboost._boosting import BoostRules, History, boost
from comboost._costs import bound_factor, cost_array, unit_costs
from comboost._dtypes import MAX_BINS, Floats
from comboost._learners import EstimatorLearner, TreeLearner, TreeRules, read_votes
from comboost._parameters import NOTHING, Rule, check_parameters, choice, either, integer, real
from comboost._rows import BinnedRows, MemoryRows
from comboost._training_set import TrainingSet, as_readable, is_plain, read_table

RULES: dict[str, Rule] = {
    "n_estimators": integer(1),
    "learning_rate": real(0, 1, without_low=True),
    "max_depth": either(integer(1), NOTHING),
    "criterion": choice("gini", "cost"),
    "min_samples_leaf": integer(1, 2**31 - 1),
    "min_weight_fraction_leaf": real(0, 0.5),
    "max_features": either(integer(1), real(0, 1, without_low=True), choice("sqrt", "log2"), NOTHING),
    "max_bins": integer(2, MAX_BINS),
    "step": choice("edge", "exact"),
    "proba": choice("softmax", "votes"),
    "n_jobs": either(integer(-(2**31), 2**31 - 1), NOTHING),
}
TREE_PARAMETERS = (
    "max_depth",
    "criterion",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "max_features",
    "max_bins",
)
PROBABILITY_SCALE = 2.0  # softmax(2f): the exponential loss fits f to half of the log odds


class VoteBooster(ClassifierMixin, BaseEstimator):
    """What CoMBo and AdaBoost.MM share: everything but the base weight of a row."""

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
        step: str = "edge",
        cost_matrix: Any = None,
        estimator: Any = None,
        proba: str = "softmax",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.criterion = criterion
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_bins = max_bins
        self.step = step
        self.cost_matrix = cost_matrix
        self.estimator = estimator
        self.proba = proba
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _base_masses(self, masses: Floats) -> Floats:
        """M_l, by which the weights of class l are divided."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Boost weak learners on a table.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The values, finite. float32 and float64 are not copied, in C or Fortran order.
        y : array-like of shape (n_samples,)
            The classes: at least two, of any sortable type.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows. Weight 2 is the row twice and weight 0 is no row, to the last bit.

        Returns
        -------
        self
            The fitted classifier. Where ``fit`` fails, the classifier stays as it was.
        """
        return self._fit(X, y, sample_weight)

    def _fit(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, on_round: Callable[[int], None] | None = None
    ) -> Self:
        before = dict(self.__dict__)
        try:
            check_parameters(self, RULES)
            check_weak_learner(self)
            training_set = TrainingSet.read(self, X, y, sample_weight)
            self._boost(training_set, on_round)
        except BaseException:
            # An old model, or none, but never half of a new one.
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return self

    def _boost(self, data: TrainingSet, on_round: Callable[[int], None] | None) -> None:
        costs = cost_array(self.cost_matrix, data.classes)
        base_masses = self._base_masses(data.masses.astype(np.float64))
        unit = unit_costs(costs, base_masses)
        rules = BoostRules(self.n_estimators, float(self.learning_rate), self.step)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        fit_rounds = self._boost_trees if self.estimator is None else self._boost_estimator
        history = fit_rounds(data, unit, rules, seed, on_round)

        start = float((data.masses / base_masses) @ costs.sum(axis=1))  # L_0
        factors = [bound_factor(edge, self.learning_rate) for edge in history.edges]
        self.classes_ = data.classes
        self.n_iter_ = len(history.alphas)
        self.estimator_weights_ = np.array(history.alphas)
        self.edges_ = np.array(history.edges)
        self.loss_curve_ = np.array(history.losses)
        self.bound_curve_ = start * np.cumprod(factors)
        self.stop_reason_ = history.stop_reason

    def _boost_trees(
        self, data: TrainingSet, unit: Floats, rules: BoostRules, seed: int, on_round: Callable[[int], None] | None
    ) -> History:
        n_threads = self._n_threads()
        bins = BinMapper.fit(data.X, data.weights, self.max_bins, n_threads)
        tree_rules = TreeRules(
            self.max_depth,
            self.criterion,
            self.min_samples_leaf,
            self.min_weight_fraction_leaf,
            count_features(self.max_features, data.X.shape[1]),
            seed,
        )
        learner = TreeLearner(bins, len(unit), tree_rules, n_threads)
        rows = BinnedRows(
            data.labels,
            data.weights,
            len(unit),
            n_threads,
            codes=bins.transform(data.X, n_threads),
            bin_offsets=bins.bin_offsets,
            counted=learner.counts_rows,
        )
        history = boost(rows, learner, unit, int(data.masses.sum()), rules, on_round)
        self.__dict__.pop("estimators_", None)
        self._forest = learner.forest()
        self.train_confusion_ = rows.confusion(self._forest)
        self.feature_importances_ = learner.feature_importances()
        return history

    def _boost_estimator(
        self, data: TrainingSet, unit: Floats, rules: BoostRules, seed: int, on_round: Callable[[int], None] | None
    ) -> History:
        learner = EstimatorLearner(self.estimator, data.X, data.labels, len(unit), seed)
        rows = MemoryRows(data.labels, data.weights, len(unit), self._n_threads())
        history = boost(rows, learner, unit, int(data.masses.sum()), rules, on_round)
        for stale in ("_forest", "feature_importances_"):
            self.__dict__.pop(stale, None)
        self.estimators_ = learner.estimators
        self.train_confusion_ = rows.confusion_of(learner.elected())
        if (importances := learner.feature_importances()) is not None:
            self.feature_importances_ = importances
        return history

    def _n_threads(self) -> int:
        return _core.available_threads(joblib.effective_n_jobs(self.n_jobs))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_weights_")

    def decision_function(self, X: Any) -> Floats:
        """Weighted votes f of every class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            The votes in the order of ``classes_``; with two classes f(1) − f(0), and 0 means the first class.
        """
        return margins(self._scores(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Class with the most votes; ties go to the first of them in ``classes_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The classes.
        """
        scores = self._scores(X)
        classes: NDArray[Any] = self.classes_[scores.argmax(axis=1)]
        return classes

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities, as ``proba`` says.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            A column for every class of ``classes_``.
        """
        return probabilities(self._scores(X), self.proba)

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of the class probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            A column for every class; −inf for a class without votes where ``proba="votes"``.
        """
        scores = self._scores(X)
        if self.proba == "softmax":
            return np.asarray(log_softmax(PROBABILITY_SCALE * scores, axis=1))
        with np.errstate(divide="ignore"):
            return np.log(probabilities(scores, self.proba))

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Weighted votes after every round, as ``decision_function`` gives them at the end.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Yields
        ------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            The votes.
        """
        for scores in self._staged_scores(X):
            yield margins(scores).copy()

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Classes after every round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Yields
        ------
        ndarray of shape (n_samples,)
            The classes.
        """
        for scores in self._staged_scores(X):
            yield self.classes_[scores.argmax(axis=1)]

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Class probabilities after every round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Yields
        ------
        ndarray of shape (n_samples, n_classes)
            The probabilities.
        """
        for scores in self._staged_scores(X):
            yield probabilities(scores, self.proba)

    def _scores(self, X: Any) -> Floats:
        X = self._read(X)
        scores = np.zeros((len(X), len(self.classes_)))
        self._add_votes(X, scores, 0, self.n_iter_)
        return scores

    def _staged_scores(self, X: Any) -> Iterator[Floats]:
        X = self._read(X)
        scores = np.zeros((len(X), len(self.classes_)))
        for t in range(self.n_iter_):
            self._add_votes(X, scores, t, t + 1)
            yield scores

    def _read(self, X: Any) -> NDArray[np.floating[Any]]:
        check_is_fitted(self)
        check_parameters(self, {"proba": RULES["proba"]})
        if is_plain(X, self):
            plain: NDArray[np.floating[Any]] = X
            return plain
        return as_readable(read_table(self, X=X, reset=False))

    def _add_votes(self, X: NDArray[np.floating[Any]], scores: Floats, first: int, last: int) -> None:
        if hasattr(self, "_forest"):
            self._forest.add_votes(X, scores, first, last, self._n_threads())
            return
        for t in range(first, last):
            votes = read_votes(self.estimators_[t], X, len(self.classes_))
            scores[np.arange(len(X)), votes] += self.estimator_weights_[t]


def shared_sections(documented: type) -> str:
    """Parameters and attributes of a booster's docstring: all boosters have the same."""
    text = inspect.getdoc(documented) or ""  # none under python -OO
    return text[text.find("Parameters\n") : text.find("See Also\n")]


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
    step : {"edge", "exact"}, default="edge"
        Weight of a round: ``"edge"`` is the paper's, ½·ln((1+δ)/(1−δ)); ``"exact"`` minimises the loss along the vote.
    cost_matrix : array-like, DataFrame or dict, default=None
        What taking class l for class j costs: truth in rows, prediction in columns, in the order of ``classes_``, zeros
        on the diagonal. A DataFrame is labelled with the classes. A 1-D array, a Series or a dict gives one cost per
        true class. None is 1 for every mistake. Positive costs must lie within a factor of a million. There is no
        ``class_weight``: say here what a mistake on a class costs.
    estimator : classifier, default=None
        Weak learner to use instead of the built-in tree: any scikit-learn classifier whose ``fit`` takes
        ``sample_weight``. The parameters of the tree must then keep their defaults.
    proba : {"softmax", "votes"}, default="softmax"
        Probabilities as softmax(2f) of the votes f, or as their shares.
    n_jobs : int or None, default=None
        Threads, in the meaning of joblib: None is 1, -1 all processors. The model is the same for any number.
    random_state : int, RandomState instance or None, default=None
        Seeds ``max_features`` and the ``random_state`` of ``estimator``; nothing else is random.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    n_features_in_ : int
        Features seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where X had names that are all strings.
    n_iter_ : int
        Rounds kept.
    estimator_weights_ : ndarray of shape (n_iter_,)
        Weight α of every round.
    edges_ : ndarray of shape (n_iter_,)
        Edge δ of every round: how much better than guessing it was.
    loss_curve_ : ndarray of shape (n_iter_,)
        Loss L after every round.
    bound_curve_ : ndarray of shape (n_iter_,)
        What the edges promise: the loss after every round is at most this, up to the rounding of the costs (about 1e-6
        of the loss; up to 1e-3 where class sizes, weights or costs differ by a factor of a million).
    train_confusion_ : ndarray of shape (n_classes, n_classes)
        Share of class l that is taken for j on the training rows, zero diagonal.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the fall of the loss's logarithm; they sum to 1. With ``estimator``, the mean of the
        weak learners' own, where they have any.
    estimators_ : list of classifiers
        The weak learners, only with ``estimator``; they are fitted on class indices.
    stop_reason_ : str
        Why the rounds ended: ``"n_estimators"`` (all are there), ``"no_edge"`` (nothing better than guessing is left),
        ``"perfect_learner"`` (a weak learner made no mistake that costs anything), ``"loss_vanished"`` (the loss is
        below 1e-200) or ``"rounding"`` (weights or class sizes differ so much, by about 10⁷, that exact sums are no
        longer possible).

    See Also
    --------
    AdaBoostMMClassifier : The same with every row counting the same.

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
    """

    def _base_masses(self, masses: Floats) -> Floats:
        return masses


class AdaBoostMMClassifier(VoteBooster):
    __doc__ = f"""AdaBoost.MM: multi-class boosting in which every row counts the same.

The algorithm on which CoMBo stands [1]_: its loss bounds the training error, so large classes rule it. On balanced data
both give the same model, to the last bit.

{shared_sections(CoMBoClassifier)}
See Also
--------
CoMBoClassifier : The same with every class counting the same.

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

    def _base_masses(self, masses: Floats) -> Floats:
        return np.full_like(masses, masses.sum() / len(masses))


def margins(scores: Floats) -> Floats:
    """Scores as ``decision_function`` shows them: one column for two classes."""
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


def probabilities(scores: Floats, proba: str) -> Floats:
    """Votes to probabilities."""
    if proba == "softmax":
        # As scipy.special.softmax, without what it does for any array: for one row that takes five times as long.
        scores = np.exp(PROBABILITY_SCALE * (scores - scores.max(axis=1, keepdims=True)))
    shares: Floats = scores / scores.sum(axis=1, keepdims=True)
    return shares


def count_features(max_features: int | float | str | None, n_features: int) -> int:
    """How many features ``max_features`` asks for: at least one."""
    if max_features is None:
        return n_features
    if max_features == "sqrt":
        return max(1, math.isqrt(n_features))
    if max_features == "log2":
        return max(1, int(math.log2(n_features)))
    if not isinstance(max_features, numbers.Integral):
        return max(1, int(float(max_features) * n_features))
    n_drawn = int(max_features)
    if n_drawn > n_features:
        raise ValueError(
            f"max_features={n_drawn}, but X has {n_features} features; give at most that many, or None for all."
        )
    return n_drawn


def check_weak_learner(booster: VoteBooster) -> None:
    """Raise where ``estimator`` cannot be boosted or tree parameters would be ignored."""
    if booster.estimator is None:
        return
    can_fit = hasattr(booster.estimator, "fit") and is_classifier(booster.estimator)
    if not can_fit or not has_fit_parameter(booster.estimator, "sample_weight"):
        raise ValueError(
            f"estimator={booster.estimator!r} cannot be boosted; give a scikit-learn classifier whose fit takes "
            "sample_weight, for example LogisticRegression() or DecisionTreeClassifier(max_depth=3)."
        )
    defaults = inspect.signature(VoteBooster).parameters
    changed = [name for name in TREE_PARAMETERS if getattr(booster, name) != defaults[name].default]
    if changed:
        raise ValueError(
            f"{', '.join(changed)} shape(s) the built-in tree, which estimator={booster.estimator!r} replaces; leave "
            "such parameters at their defaults and set those of the estimator instead."
        )
