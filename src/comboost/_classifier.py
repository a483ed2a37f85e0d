"""The estimators: parameters, fit, predict, staged. In: tables. Out: classes and probabilities. No mathematics."""

import inspect
import math
import numbers
from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from comboost._callbacks import CallbackSupportMixin, with_callbacks
from comboost._dtypes import COMPLETE, MAX_BINS, NODE_DTYPE, Floats
from comboost._export import export_tree
from comboost._fits import read_for_estimator
from comboost._learners import read_votes
from comboost._parameters import FUNCTION, NOTHING, SWITCH, TEXT, Rule, check_parameters, choice, either, integer, real
from comboost._training import TableTraining, Training
from comboost._voter import PROBA, Voter

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
    "early_stopping": SWITCH,
    "scoring": either(TEXT, FUNCTION, NOTHING),
    "validation_fraction": real(0, 1, without_low=True, without_high=True),
    "n_iter_no_change": integer(1),
    "tol": real(0, math.inf, without_high=True),
    "warm_start": SWITCH,
    "proba": PROBA,
    "n_jobs": either(integer(-(2**31), 2**31 - 1), NOTHING),
    "verbose": either(integer(0), SWITCH),
}
TREE_PARAMETERS = (
    "max_depth",
    "criterion",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "max_features",
    "max_bins",
    "categorical_features",
)
VALIDATION_PARAMETERS = ("scoring", "validation_fraction", "n_iter_no_change", "tol")
PRIVATE_ATTRIBUTES = {"_forest", "_categories", "_kinds", "_importances", "_origin", "_fingerprint"}


class VoteBooster(CallbackSupportMixin, Voter):
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
        categorical_features: Any = "from_dtype",
        step: str = "edge",
        cost_matrix: Any = None,
        estimator: Any = None,
        early_stopping: bool = False,
        scoring: Any = None,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        warm_start: bool = False,
        proba: str = "softmax",
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
        self.warm_start = warm_start
        self.proba = proba
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        weak = None if self.estimator is None else get_tags(self.estimator).input_tags
        tags.input_tags.sparse = weak is None or weak.sparse
        tags.input_tags.allow_nan = weak is None or weak.allow_nan
        return tags

    def _base_masses(self, masses: Floats) -> Floats:
        """M_l, by which the weights of class l are divided."""
        raise NotImplementedError

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: ArrayLike | None = None,
    ) -> Self:
        """Boost weak learners on a table.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The values: numbers or categories, NaN, None or NA where they are missing, none of them infinite. Arrays of
            float32 and float64 are not copied, whatever their memory order; other tables are read a few columns at a
            time.
        y : array-like of shape (n_samples,)
            The classes: at least two, of any sortable type.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows. Weight 2 is the row twice and weight 0 is no row, to the last bit; but
            ``min_samples_leaf`` and the rows held out for validation count rows, whatever they weigh.
        X_val : array-like, sparse matrix or data frame, optional
            Rows to validate on; ``early_stopping`` would otherwise hold out some rows of X.
        y_val : array-like, optional
            Their classes.
        sample_weight_val : array-like, optional
            Their weights.

        Returns
        -------
        self
            The fitted classifier. Where ``fit`` fails, the classifier stays as it was.
        """
        before = dict(self.__dict__)
        try:
            self._check(X_val, y_val, sample_weight_val)
            return self._fit(X, y, sample_weight, X_val, y_val, sample_weight_val)
        except BaseException:
            # An old model, or none, but never half of a new one.
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _check(self, X_val: Any, y_val: Any, sample_weight_val: Any) -> None:
        """Raise where parameters are no use, alone or together."""
        check_parameters(self, RULES)
        check_weak_learner(self)
        check_validation(self, X_val, y_val, sample_weight_val)

    @with_callbacks
    def _fit(self, X: Any, y: Any, sample_weight: Any, X_val: Any, y_val: Any, sample_weight_val: Any) -> Self:
        if not self.warm_start:
            self._forget()
        with self._training(X, y, sample_weight) as training:
            if X_val is not None:
                training.hold(X_val, y_val, sample_weight_val)
            elif self.early_stopping:
                training.hold_out(self.validation_fraction)
            training.run()
        return self

    def _training(self, X: Any, y: Any, sample_weight: Any) -> Training:
        return TableTraining(self, X, y, sample_weight, self._n_threads())

    def _forget(self) -> None:
        """Forget an earlier fit, which may have had another kind of weak learner."""
        for name in [name for name in vars(self) if name in PRIVATE_ATTRIBUTES or name.endswith("_")]:
            delattr(self, name)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_weights_")

    def export_text(self, round_idx: int, *, decimals: int | None = 3) -> str:
        """Write the tree of a round as indented rules.

        Parameters
        ----------
        round_idx : int
            The round, from 0 as in ``estimator_weights_``; negative ones count from the last.
        decimals : int or None, default=3
            Decimals of a threshold, significant digits of one between -1 and 1; None is all that it has.

        Returns
        -------
        str
            The rules, a line each.

        Examples
        --------
        >>> from comboost import CoMBoClassifier
        >>> model = CoMBoClassifier(n_estimators=1, max_depth=2).fit([[1.0], [2.0], [3.0]], ["a", "b", "c"])
        >>> print(model.export_text(0))
        |--- x0 <= 1.5
        |   |--- class: a
        |--- x0 > 1.5
        |   |--- x0 <= 2.5
        |   |   |--- class: b
        |   |--- x0 > 2.5
        |   |   |--- class: c
        """
        check_is_fitted(self)
        if not hasattr(self, "_forest"):
            raise ValueError("export_text writes the built-in trees; with estimator= look at estimators_ instead.")
        if not isinstance(round_idx, numbers.Integral) or not -self.n_iter_ <= round_idx < self.n_iter_:
            raise ValueError(f"There is no round {round_idx!r}; the model has {self.n_iter_}, counted from 0.")
        nodes, sets = self._forest.tree(round_idx % self.n_iter_)
        return export_tree(
            nodes.view(NODE_DTYPE)[:, 0],
            sets=sets,
            feature_names=getattr(self, "feature_names_in_", None),
            class_names=self.classes_,
            categories=self._categories.values,
            missing=np.flatnonzero(self._kinds != COMPLETE),
            decimals=decimals,
        )

    def _score_blocks(self, X: Any, *, bounded: bool = False) -> Iterator[Floats]:
        """Weighted votes of some rows after the other; ``bounded`` limits how many at a time."""
        known = vars(self).get("_known_votes")  # only while early stopping validates
        if known is not None and X is known[0]:
            yield known[1].copy()
        elif hasattr(self, "estimators_"):
            *_, scores = self._staged_scores(X)
            yield scores
        else:
            yield from super()._score_blocks(X, bounded=bounded)

    def _staged_scores(self, X: Any) -> Iterator[Floats]:
        if not hasattr(self, "estimators_"):
            yield from super()._staged_scores(X)
            return
        self._check_fitted()
        rows = read_for_estimator(self, X, reset=False)
        scores = np.zeros((rows.shape[0], len(self.classes_)))
        for estimator, weight in zip(self.estimators_, self.estimator_weights_, strict=True):
            votes = read_votes(estimator, rows, scores.shape[1])
            scores[np.arange(len(votes)), votes] += weight
            yield scores


def shared_sections(documented: type, first: str, after: str) -> str:
    """Sections of a booster's docstring from one to before another: all boosters have the same."""
    text = inspect.getdoc(documented) or ""  # none under python -OO
    return text[text.find(f"{first}\n") : text.find(f"{after}\n")]


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
        Features that hold categories: those with a category dtype (pandas, polars, Arrow), or a list of indices, of
        column names, or of a boolean for every feature; None is none. A split sends any set of them left; up to 254
        per feature. Only the values count, not their order in a dtype.
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
    early_stopping : bool, default=False
        Whether to validate every round on rows that are not trained on, to stop once that no longer helps, and to keep
        the best round.
    scoring : str, callable or None, default=None
        What to validate with: a name of `comboost.metrics.get_scorer`, or a callable ``scorer(estimator, X, y)``,
        greater being better. None is minus the norm of the confusion matrix, ``"neg_confusion_norm"``.
    validation_fraction : float, default=0.1
        Share of the rows of every class to validate on where ``fit`` is not given ``X_val``: at least one row of a
        class, but never its last.
    n_iter_no_change : int, default=10
        Rounds without a better validation score after which to stop.
    tol : float, default=1e-07
        A score is better if it is above the best so far by more than this.
    warm_start : bool, default=False
        Whether ``fit`` goes on from the rounds that are there: 100 rounds and then 100 more are the same model as 200
        at once. Rows and parameters must stay the same, but for ``n_estimators``, ``n_jobs``, ``verbose``, ``proba``.
    proba : {"softmax", "votes"}, default="softmax"
        Probabilities as softmax(2f) of the votes f, or as their shares.
    n_jobs : int or None, default=None
        Threads, in the meaning of joblib: None is 1, -1 all processors. The model is the same for any number.
    random_state : int, RandomState instance or None, default=None
        Seeds ``max_features``, the rows held out for validation, and the ``random_state`` of ``estimator``; nothing
        else is random.
    verbose : int, default=0
        Print every so many rounds: round, loss, bound, edge, validation score and time left; 0 prints nothing.

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
        Share of class l that is taken for j on the training rows, without those held out; zero diagonal.
    validation_curve_ : ndarray of shape (n_rounds_tried,)
        Validation score after every round tried, those after the best one included; only with ``early_stopping``.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the fall of the loss's logarithm; they sum to 1, or are 0 where nothing was split. With
        ``estimator``, the mean of the weak learners' own, where they have any.
    estimators_ : list of classifiers
        The weak learners, only with ``estimator``; they are fitted on class indices.
    stop_reason_ : str
        Why the rounds ended: ``"n_estimators"`` (all were tried), ``"no_edge"`` (nothing better than guessing is left),
        ``"perfect_learner"`` (a weak learner made no mistake that costs anything), ``"loss_vanished"`` (the loss is
        below 1e-200), ``"rounding"`` (weights or class sizes differ so much, by about 10⁷, that exact sums are no
        longer possible), ``"early_stopping"`` (the validation score has not become better for ``n_iter_no_change``
        rounds) or ``"callback"`` (a callback asked for it).

    See Also
    --------
    AdaBoostMMClassifier : The same with every row counting the same.

    Notes
    -----
    Missing values (NaN, None, NA) go to the side of a split that suits them best. Where training has seen none in a
    node, they go to the child with the larger loss, i.e. with more of the weight that the round gave to the rows. A
    category that training has not seen counts as a missing one.

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

    def _base_masses(self, masses: Floats) -> Floats:
        return masses


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

    def _base_masses(self, masses: Floats) -> Floats:
        return np.full_like(masses, masses.sum() / len(masses))


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
    changed = off_default(booster, TREE_PARAMETERS)
    if changed:
        raise ValueError(
            f"{', '.join(changed)} shape(s) the built-in tree, which estimator={booster.estimator!r} replaces; leave "
            "such parameters at their defaults and set those of the estimator instead."
        )


def check_validation(booster: VoteBooster, X_val: Any, y_val: Any, sample_weight_val: Any) -> None:
    """Raise where something that early stopping needs is missing, or something given would be ignored."""
    if (X_val is None) != (y_val is None) or (X_val is None and sample_weight_val is not None):
        raise ValueError("X_val and y_val belong together, and sample_weight_val to both; give the two, or neither.")
    if not booster.early_stopping:
        ignored = ["X_val"] * (X_val is not None) + off_default(booster, VALIDATION_PARAMETERS)
        if ignored:
            raise ValueError(
                f"{', '.join(ignored)} would be ignored, since early_stopping=False; set early_stopping=True, or leave "
                "them out."
            )
    elif X_val is not None and off_default(booster, ("validation_fraction",)):
        raise ValueError(
            f"validation_fraction={booster.validation_fraction} would be ignored, since X_val is given; leave one out."
        )


def off_default(booster: VoteBooster, names: Iterable[str]) -> list[str]:
    """Which of these parameters are not at their defaults."""
    defaults = inspect.signature(VoteBooster).parameters
    return [name for name in names if not is_default(getattr(booster, name), defaults[name].default)]


def is_default(value: Any, default: Any) -> bool:
    """Whether a value is the default, be it a NumPy scalar; other arrays never are."""
    return np.ndim(value) == 0 and isinstance(value, bool) == isinstance(default, bool) and bool(value == default)
