"""The paper's estimators: CoMBo and AdaBoost.MM."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin

from comboost._boosting.learners import FitPlan, count_features
from comboost._data.sample_weights import ClassWeightSums
from comboost._engine.leaf_values import ClassValues, LeafValues
from comboost._engine.losses import Objective
from comboost._engine.memory_plan import TreeLimits
from comboost._engine.rows import TreeRules
from comboost._estimators.base import Booster
from comboost._estimators.decisions import log_training_priors, not_calibrated_error
from comboost._estimators.parameters import (
    NORM,
    NORM_DOC,
    PROBA,
    BoosterSettings,
    MemorySettings,
    check_norm,
    choice,
    constructor,
    doc_section,
    norm_of,
    parameter,
    restated,
    unchecked,
)
from comboost._types import Floats, MatrixLike


@dataclass(frozen=True, kw_only=True)
class PaperSettings(BoosterSettings):
    """Parameters of the paper's estimators."""

    n_estimators: int = restated(BoosterSettings, "n_estimators", default=200)
    learning_rate: float = restated(
        BoosterSettings, "learning_rate", default=1.0, doc="Shrinkage of the weight of every round, in (0, 1]."
    )
    max_depth: int | None = restated(BoosterSettings, "max_depth")
    criterion: str = parameter(
        "gini",
        choice("gini", "cost"),
        kind="tree",
        after="max_depth",
        doc='What a split maximises: ``"cost"`` is the decrease of the total cost, which is the edge of the round; '
        '``"gini"`` is the sum over the leaves of ‖costs‖²/loss, which also rewards splits that help later ones.',
    )
    max_bins: int = restated(BoosterSettings, "max_bins", default=255)
    step: str = parameter(
        "auto",
        choice("auto", "edge", "exact"),
        kind="boosting",
        after="categorical_features",
        doc='Weight of a round: ``"edge"`` is the paper\'s, ½·ln((1+δ)/(1−δ)); ``"exact"`` minimises the loss by a '
        'line search and takes longer. ``"auto"`` is ``"edge"``, or ``"exact"`` if a ``norm`` other than '
        '``"entrywise"`` is minimised, for which ``"edge"`` would not decrease the loss.',
    )
    scoring: Any = restated(
        BoosterSettings,
        "scoring",
        doc="Validation score: a name known to `comboost.metrics.get_scorer`, or a callable "
        "``scorer(estimator, X, y)`` for which greater is better. None is minus the "
        "`comboost.metrics.balanced_log_loss` of softmax(f/2) of the scores f, which is smooth. softmax(2f), the scale "
        "of the probabilities, would be overconfident and stop too early. "
        '``"neg_soft_confusion_norm"`` uses the exponential loss, as the fit does.',
    )
    proba: str = parameter(
        "softmax",
        PROBA,
        kind="prediction",
        after="warm_start",
        doc='How scores f become probabilities: ``"softmax"`` is softmax(2f); ``"vote_fraction"`` is the fraction of '
        "the weighted vote that a class gets, which cannot be calibrated.",
    )
    priors: str | ArrayLike | Mapping[Any, float] | None = restated(
        BoosterSettings,
        "priors",
        default=None,
        doc="Class priors that ``predict_proba`` assumes: equal ones, those of the training set, or one positive "
        "probability per class, in the order of ``classes_`` or as a dict, with the sum 1. None keeps those that the "
        "scores are fitted for: equal priors for `CoMBoClassifier`, those of the training set for "
        "`AdaBoostMMClassifier`. May be changed after the fit. Does not change decisions with "
        '``decision="argmax"``.',
    )
    random_state: Any = restated(
        BoosterSettings,
        "random_state",
        default=None,
        doc="Random seed of ``max_features``; in memory also of the validation split, of the calibration folds, and of "
        "the ``random_state`` of ``estimator``. Nothing else is random.",
    )


@dataclass(frozen=True, kw_only=True)
class PaperMemorySettings(PaperSettings, MemorySettings):
    """Parameters of the paper's estimators of samples in memory."""

    estimator: ClassifierMixin | None = parameter(
        None,
        unchecked("classifier or None"),
        kind="boosting",
        after="cost_matrix",
        doc="Weak learner to use in place of the built-in trees: any scikit-learn classifier whose ``fit`` takes "
        "``sample_weight``. The parameters of the trees must then keep their defaults, since they do not apply: set "
        "``DecisionTreeClassifier(max_depth=5)``, not ``max_depth=5``.",
    )

    def check(self, X_val: MatrixLike | None, y_val: ArrayLike | None, sample_weight_val: ArrayLike | None) -> None:
        """Raise if parameters, or parameters and validation data, contradict each other."""
        super().check(X_val, y_val, sample_weight_val)
        if self.calibration is not None and self.proba == "vote_fraction":
            raise not_calibrated_error(self.calibration)


@dataclass(frozen=True, kw_only=True)
class CoMBoSettings(PaperSettings):
    """Parameters of CoMBo."""

    norm: Any = parameter(
        "entrywise",
        NORM,
        kind="boosting",
        after="step",
        doc='Norm of the soft confusion matrix to minimise. ``"entrywise"``, the sum of its entries, is the paper\'s. '
        'The norms ``"frobenius"``, ``"schatten-4"`` and ``"spectral"`` weight pairs of classes that are confused '
        'often more than others; ``"worst-class"`` and ``"l2-class"`` weight classes with a high loss more.' + NORM_DOC,
    )


@dataclass(frozen=True, kw_only=True)
class CoMBoMemorySettings(CoMBoSettings, PaperMemorySettings):
    """Parameters of CoMBo of samples in memory."""

    def check(self, X_val: MatrixLike | None, y_val: ArrayLike | None, sample_weight_val: ArrayLike | None) -> None:
        """Raise if parameters, or parameters and validation data, contradict each other."""
        super().check(X_val, y_val, sample_weight_val)
        check_norm(self.norm, "exponential")
        if self.step == "edge" and self.norm != "entrywise":
            raise ValueError(
                f'step="edge" does not decrease norm={self.norm!r}; give step="exact" or "auto", or norm="entrywise".'
            )


class PaperBooster(Booster[PaperMemorySettings]):
    """Boosting in which a weak learner predicts one class, with one weight per round."""

    _by_class: ClassVar[bool]  # whether classes have the same weight, or samples
    _validation_scale: ClassVar[float] = 0.5  # softmax(f/2); see docs/decisions/0006-early-stopping.md

    @constructor(PaperMemorySettings)
    def __init__(self) -> None: ...

    def _leaf_values(
        self,
        settings: PaperMemorySettings,
        costs: Floats | None,
        weight_sums: ClassWeightSums,
        class_prices: Floats | None = None,
    ) -> LeafValues:
        objective = Objective.of(costs, weight_sums, 1.0 if self._by_class else 0.0)
        return ClassValues(objective, settings.learning_rate, "edge" if settings.step == "auto" else settings.step)

    def _tree_limits(self, settings: PaperMemorySettings, weight_sums: ClassWeightSums) -> TreeLimits:
        return TreeLimits(settings.max_depth, min_samples_leaf=settings.min_samples_leaf, n_trees=settings.n_estimators)

    def _tree_rules(self, settings: PaperMemorySettings, plan: FitPlan, n_features: int) -> TreeRules:
        return TreeRules(
            plan.limits.max_depth,
            settings.criterion,
            settings.min_samples_leaf,
            settings.min_weight_fraction_leaf,
            count_features(settings.max_features, n_features),
            plan.seed,
        )

    @property
    def _balances_classes(self) -> bool:
        return self._by_class

    @property
    def _learned_log_priors(self) -> Floats | None:
        return None if self._by_class else log_training_priors(self)


class CoMBoClassifier(PaperBooster):
    """Confusion matrix boosting (CoMBo): minimise the norm of the confusion matrix.

    All classes have the same weight, however rare they are, and no cost has to be chosen: a sample of class l has the
    weight 1/m_l, where m_l is the size of the class. So the loss bounds the squared norm of the confusion matrix [1]_.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    n_classes_ : int
        Number of classes.
    class_prior_ : ndarray of shape (n_classes,)
        Fraction of the training weight in every class; 0 for a class without weight.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of str
        Names of the features, if all names of X are strings.
    infrequent_categories_ : list of ndarray or None
        For every feature the categories that share a code, sorted, as in scikit-learn's encoders; None for numbers and
        if every category has its own code. Only for the built-in trees.
    n_iter_ : int
        Number of rounds kept.
    estimator_weights_ : ndarray of shape (n_rounds,)
        Weight α of every round.
    edges_ : ndarray of shape (n_rounds,)
        Edge δ of every round: how much better than chance its weak learner is.
    loss_curve_ : ndarray of shape (n_rounds,)
        Loss L after every round. For `CoMBoClassifier` it is the ``norm`` of the soft confusion matrix, and at least
        the same norm of ``train_confusion_``, C, each entry times its cost. Without costs, the spectral norm ‖C‖ is at
        most L with every norm of pairs, and at most √L with ``"entrywise"``; with a norm of classes, the largest
        error of a class is at most L.
    bound_curve_ : ndarray of shape (n_rounds,)
        Upper bound of L. With ``"entrywise"`` it follows from the edges of all rounds, with other norms from the losses
        before a round and its weight. It holds up to the rounding of the costs (about 1e-6 of the loss; up to 1e-3 if
        class sizes, weights or costs differ by a factor of a million).
    train_confusion_ : ndarray of shape (n_classes, n_classes)
        Fraction of class l that is predicted as class j, on the samples that the model was trained on; zero diagonal.
    validation_curve_ : ndarray of shape (n_rounds_tried,)
        Validation score of every round tried, including those after the best one; only with ``early_stopping``.
    temperature_ : float
        Number that the scores are divided by; only with ``calibration="temperature"``.
    feature_importances_ : ndarray of shape (n_features,)
        Fraction of the decrease of the log of the loss that the splits of each feature contribute; they sum to 1, or
        are 0 without splits. For other weak learners, the mean of their own importances, if they have any.
    class_importances_ : ndarray of shape (n_classes, n_features)
        Fraction of the variance reduction of a class's scores that each feature's splits contribute; each row sums to
        1, or is 0 without splits.
    estimators_ : list of classifiers
        The weak learners, fitted on class indices; not for the built-in trees.
    stop_reason_ : str
        Why boosting ended: ``"n_estimators"`` (all rounds are done), ``"no_edge"`` (no weak learner is better than
        chance, or no step lowers the ``norm``), ``"perfect_learner"`` (a weak learner makes no error that has a cost),
        ``"loss_vanished"`` (the loss is below 1e-200), ``"rounding"`` (weights within a class, or class sizes, differ
        by more than about 10⁷, so sums can no longer be exact), ``"early_stopping"`` (no improvement for
        ``n_iter_no_change`` rounds) or ``"callback"`` (a callback requested it).

    See Also
    --------
    ConfusionBoostingClassifier : Leaves predict one value per class; needs fewer rounds.
    AdaBoostMMClassifier : The same with equal weights of the samples.

    Notes
    -----
    Missing values (NaN, None, NA) go to the side of a split that suits them best. If a node has none in training, they
    go to the child with the larger loss. Unseen categories are treated as missing. Infrequent ones are not: the code
    that they share goes left or right like that of any category.

    Dates and times are seconds since the start of 1970, UTC, which is also assumed for those without a time zone. Times
    of day are seconds since midnight, durations are seconds. The same time has the same number in any unit, zone and
    container, and the order of times is preserved. Numbers of present times are a quarter of a microsecond apart.

    A perfect learner ends the fit, often after one or two rounds, so that the scores have few distinct values. On a few
    samples there may be only one, which leaves no threshold to tune: scikit-learn's ``TunedThresholdClassifierCV``
    then reports an error, as it does for its own trees and AdaBoost. `ConfusionBoostingClassifier`, whose leaves are
    smoothed, continues.

    Callbacks of scikit-learn 1.9 are set with ``set_callbacks``; below 1.9, objects with the same methods work.

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

    Categories and missing values need no preprocessing, and early stopping chooses the number of rounds:

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

    __module__ = "comboost"  # where users find it; pickles store this name

    _by_class: ClassVar[bool] = True

    @constructor(CoMBoMemorySettings)
    def __init__(self) -> None: ...

    def _leaf_values(
        self,
        settings: PaperMemorySettings,
        costs: Floats | None,
        weight_sums: ClassWeightSums,
        class_prices: Floats | None = None,
    ) -> LeafValues:
        assert isinstance(settings, CoMBoMemorySettings)
        norm = norm_of(settings.norm, "exponential", len(weight_sums.sums))
        if norm is None:
            return super()._leaf_values(settings, costs, weight_sums)
        objective = Objective.of(costs, weight_sums, 1.0, norm=norm)
        return ClassValues(objective, settings.learning_rate, "exact")

    def _tree_limits(self, settings: PaperMemorySettings, weight_sums: ClassWeightSums) -> TreeLimits:
        assert isinstance(settings, CoMBoMemorySettings)
        return replace(super()._tree_limits(settings, weight_sums), sums_pairs=settings.norm != "entrywise")


class AdaBoostMMClassifier(PaperBooster):
    __doc__ = f"""AdaBoost.MM: multi-class boosting in which all samples have the same weight.

CoMBo extends this algorithm [1]_. Its loss bounds the training error, which the majority classes dominate. On balanced
data both give the same model, to the last bit.

{doc_section(CoMBoClassifier, "Attributes")}
See Also
--------
CoMBoClassifier : The same with equal weights of the classes.

{doc_section(CoMBoClassifier, "Notes")}
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

    __module__ = "comboost"  # where users find it; pickles store this name

    _by_class: ClassVar[bool] = False
