"""Confusion boosting: leaves predict one value per class."""

import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from comboost._boosting import search
from comboost._boosting.learners import Fit, FitPlan, count_features
from comboost._boosting.loop import Boosting
from comboost._boosting.search_samples import Part, held_weight_sums
from comboost._data.labels import Candidates
from comboost._data.sample_weights import ClassWeightSums
from comboost._engine.binning import BinMapper
from comboost._engine.leaf_values import BalancedValues, LeafValues
from comboost._engine.losses import Objective
from comboost._engine.memory_plan import FitShape, SearchShape, TreeLimits
from comboost._engine.norms import ENTRYWISE
from comboost._engine.rows import MemoryRows, TreeRules
from comboost._estimators.base import Booster, learned_costs
from comboost._estimators.decisions import log_training_priors
from comboost._estimators.parameters import (
    HINTS,
    NONE,
    NORM,
    NORM_DOC,
    BoosterSettings,
    MemorySettings,
    check_norm,
    choice,
    constructor,
    integer,
    norm_of,
    parameter,
    real,
    restated,
)
from comboost._types import MAX_BINS, Floats, MatrixLike


@dataclass(frozen=True, kw_only=True)
class ConfusionSettings(BoosterSettings):
    """Parameters of confusion boosting."""

    n_estimators: int = restated(
        BoosterSettings,
        "n_estimators",
        default=500,
        doc="Maximum number of boosting rounds; each adds one tree. If ``smoothing`` or ``max_depth`` is selected, the "
        "number of rounds is selected, too, up to this maximum. If both are given, exactly this many rounds are run, "
        "unless ``early_stopping`` stops before.",
    )
    learning_rate: float | str = restated(
        BoosterSettings,
        "learning_rate",
        default="auto",
        rule=real(0, 1, without_low=True) | choice("auto"),
        doc="Shrinkage of every round, in (0, 1]. Half the rate needs about twice as many rounds and often generalises "
        'a little better. ``"auto"`` is between 0.1 and 0.3: the smallest rate with which the selected number of '
        "rounds is at most 400. Without a search it is 0.3.",
    )
    max_depth: int | str | None = restated(
        BoosterSettings,
        "max_depth",
        default="auto",
        rule=integer(1) | choice("auto") | NONE,
        doc='Maximum depth of the trees; None does not limit it. ``"auto"`` selects it by the loss on held-out '
        "samples, see the notes; with ``max_leaf_nodes``, it does not limit it. Deeper trees model interactions of "
        "more features and overfit sooner.",
    )
    max_leaf_nodes: int | None = parameter(
        None,
        integer(2) | NONE,
        kind="tree",
        after="max_depth",
        doc="Maximum number of leaves, at least 2. The tree then grows best-first, by the split that increases the "
        "criterion most, in place of level by level. None does not limit it. Both limits may be given; without either, "
        "trees grow until no split helps, and the fit is refused if their leaf values do not fit into memory.",
    )
    loss: str = parameter(
        "log",
        choice("log", "logistic", "exponential"),
        kind="boosting",
        after="max_leaf_nodes",
        doc='Loss to minimise: ``"log"`` is the class-balanced log-loss, which is robust to mislabelled samples; '
        '``"logistic"`` is the sum of the logistic losses of all pairs of classes; ``"exponential"`` is the loss of '
        "CoMBo.",
    )
    norm: Any = parameter(
        "entrywise",
        NORM,
        kind="boosting",
        after="loss",
        doc='Norm of the losses to minimise. ``"entrywise"`` is their sum. ``"worst-class"`` is close to the largest '
        'loss of a class, ``"l2-class"`` is the 2-norm of the class losses. ``"frobenius"``, ``"schatten-4"`` and '
        '``"spectral"`` are norms of the loss-based confusion matrix, which weight pairs of classes that are confused '
        'often more than others; they require ``loss="logistic"`` or ``"exponential"``.' + NORM_DOC,
    )
    smoothing: float | str = parameter(
        "auto",
        real(0, 1e6) | choice("auto"),
        kind="boosting",
        after="norm",
        doc="Number of pseudo-samples of every class, each of weight 1, that smooth the leaf values and the gain of a "
        "split; up to a million. More smoothing shrinks the values of small leaves, which helps on noisy tables; less "
        'smoothing learns clean tables faster. ``"auto"`` selects it by the loss on held-out samples, see the notes. '
        "Weights that sum to 1 in place of the number of samples would be smoothed away: scale them, or reduce it. "
        "With 0, the values of pure leaves are limited only by the rounding of the costs.",
    )
    balance: float = parameter(
        1.0,
        real(0, 1),
        kind="boosting",
        after="smoothing",
        doc="How much rare classes are weighted up, in [0, 1]: a sample of class l has the weight m_l to the power of "
        "minus ``balance``, where m_l is the size of the class. With 1 all classes have the same weight, as in CoMBo; "
        "with 0 all samples have, as in AdaBoost.MM. If missing a rare class is costly, keep the default.",
    )
    max_thresholds: int | None = parameter(
        2,
        integer(1, MAX_BINS - 1) | NONE,
        kind="tree",
        after="max_features",
        doc="Number of thresholds per feature that a node tries, drawn at random from all that divide its samples; at "
        "most 254, and twice as many if values are missing. None tries all. Random thresholds make the trees diverse, "
        "as in extra-trees, and their sum more accurate. Of up to 8 categories in a node, missing included, all "
        "subsets are tried; more categories are ordered and treated like thresholds.",
    )
    noise: float = parameter(
        1.0,
        real(0, 100),
        kind="tree",
        after="max_thresholds",
        doc="Randomisation of the choice of features: the gain of a feature in a node is multiplied by a random factor "
        "between exp(-noise) and exp(noise). It also makes the trees diverse. 0 switches it off; with 100 the choice "
        "is almost random.",
    )


@dataclass(frozen=True, kw_only=True)
class ConfusionMemorySettings(ConfusionSettings, MemorySettings):
    """Parameters of confusion boosting of samples in memory."""

    def check(self, X_val: MatrixLike | None, y_val: ArrayLike | None, sample_weight_val: ArrayLike | None) -> None:
        """Raise if parameters, or parameters and validation data, contradict each other."""
        super().check(X_val, y_val, sample_weight_val)
        check_norm(self.norm, self.loss)


class ConfusionBoostingClassifier(Booster[ConfusionMemorySettings]):
    """Confusion boosting: all classes have the same weight, and every leaf predicts one value per class.

    The trees are those of `CoMBoClassifier`. But a leaf does not predict a single class: it predicts one value per
    class, chosen so that the leaf's soft confusion matrix is balanced, i.e. its row sums equal its column sums. This
    learns several times more per round, and the loss still bounds the squared norm of the confusion matrix. Start with
    this estimator.

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
        if every category has its own code.
    n_iter_ : int
        Number of rounds kept.
    edges_ : ndarray of shape (n_rounds,)
        Edge δ of every round: how much better than chance its tree would be if every leaf predicted a single class.
    loss_curve_ : ndarray of shape (n_rounds,)
        Loss L after every round: the ``norm`` of the losses; ``"entrywise"`` is their sum. With ``balance=1`` it is at
        least the same norm of ``train_confusion_``, C, each entry times its cost. Without costs, the spectral norm ‖C‖
        is then at most L with every norm of pairs, and at most √L with ``"entrywise"``; with a norm of classes, the
        largest error of a class is at most L. Logarithms are in bits: with ``loss="log"``, ``norm="entrywise"``,
        ``balance=1`` and without costs, ln(2)/K times L is the class-balanced log-loss of ``predict_proba`` on the
        training set.
    bound_curve_ : ndarray of shape (n_rounds,)
        Upper bound of L that follows from leaf sums: with ``"entrywise"`` those of all rounds; with other norms, and
        with ``loss="logistic"``, those of the round and the losses before it. It holds up to the rounding of the costs,
        as for `CoMBoClassifier`. With ``loss="exponential"`` and up to 128 classes it equals the loss; with the other
        losses it is weaker.
    train_confusion_ : ndarray of shape (n_classes, n_classes)
        Fraction of class l that is predicted as class j, on the samples that the model was trained on; zero diagonal.
    validation_curve_ : ndarray of shape (n_rounds_tried,)
        Validation score of every round tried, including those after the best one; only with ``early_stopping``.
    best_params_ : dict
        The values of ``n_estimators``, ``learning_rate``, ``max_depth`` and ``smoothing`` that the model was fitted
        with, whether they were given or selected. With ``early_stopping``, ``n_estimators`` is the maximum; ``n_iter_``
        is the number of rounds kept.
    search_results_ : list of dict
        One record per candidate of the search, in the order in which they were tried: ``smoothing``, ``max_depth``,
        the smallest held-out ``loss``, its ``best_round``, the number of rounds ``n_rounds``, the ``cost`` (samples
        times rounds, as a multiple of those of the fit), the ``outcome`` (``"selected"``, ``"completed"``, or
        ``"stopped"`` since it fell behind) and the held-out loss after every round, ``losses``. If the table is too
        small to search, a single record whose outcome says so; empty if nothing was to be selected.
        ``pandas.DataFrame(model.search_results_)`` makes a table of them.
    class_prices_ : ndarray of shape (n_classes,)
        What the losses of the classes were multiplied by; only if ``norm`` is a norm of class losses and settings were
        selected; one per class that has a positive weight. See the notes.
    temperature_ : float
        Number that the scores are divided by; only with ``calibration="temperature"``.
    feature_importances_ : ndarray of shape (n_features,)
        Fraction of the decrease of the log of the loss that the splits of each feature contribute; they sum to 1, or
        are 0 without splits.
    class_importances_ : ndarray of shape (n_classes, n_features)
        Fraction of the variance reduction of a class's scores that each feature's splits contribute; each row sums to
        1, or is 0 without splits.
    stop_reason_ : str
        Why boosting ended: ``"n_estimators"`` (all rounds of ``best_params_`` are done), ``"no_edge"`` (no tree is
        better than chance, or no step lowers the ``norm``), ``"loss_vanished"`` (the loss is below 1e-200; losses with
        logarithms are 0 below about 1e-12), ``"rounding"`` (weights within a class, or class sizes, differ so much that
        sums can no longer be exact, or almost nothing is left to learn), ``"early_stopping"`` (no improvement for
        ``n_iter_no_change`` rounds) or ``"callback"`` (a callback requested it).

    See Also
    --------
    CoMBoClassifier : The paper's algorithm, in which a leaf predicts a single class.

    Notes
    -----
    If ``smoothing`` or ``max_depth`` is ``"auto"``, candidates are trained on folds of the training samples, or on a
    part of them if there are many, and the one with the smallest loss on the held-out samples is selected. The loss is
    the one that the fit minimises. The parts depend on the content of the samples, not on their order. Every class with
    more than one sample is held out somewhere, but never all of its samples at once. With ``early_stopping``, the
    candidates are compared on the validation set instead, always by their loss, whatever ``scoring`` is. The model is
    then fitted on all training samples. If that would take more than ``n_estimators`` rounds, ``smoothing`` is reduced,
    so that fewer rounds suffice. A warm start continues with the settings of the first fit, up to ``n_estimators``
    rounds, even if the first fit selected fewer.

    With ``norm="worst-class"`` or another norm of class losses, the search also finds ``class_prices_``: classes with a
    high loss on held-out samples get a high price, which multiplies their losses in all rounds. Losses in training
    would not do, since they vanish for the classes that are overfitted. Without a search, the gradient of the norm at
    the training losses of every round is used instead.

    Without a validation set, there is no search if there are fewer than 30 samples, or fewer than two classes with more
    than one sample. Then the smoothing is 10, the depth is that of a tree with about √(n_samples · n_classes)/8 leaves,
    from 3 to 7, and there are at most 300 rounds.

    Missing values, unseen and infrequent categories, times and callbacks are treated as by `CoMBoClassifier`.

    With more than 128 classes a leaf sums the costs of every class in place of those of every pair of classes. Its
    memory then grows linearly with the number of classes.

    A class whose errors all cost 0 has no weight: its samples change no score, and samples of other classes may be
    predicted as it at their own cost.

    Probabilities are the softmax of the scores, or of twice the scores with ``loss="exponential"``, calibrated if
    requested, and adjusted to ``priors``. With a ``cost_matrix`` and ``decision="argmax"`` they include the costs.

    Examples
    --------
    >>> from comboost import ConfusionBoostingClassifier
    >>> from comboost.datasets import load_yeast
    >>> X, y = load_yeast(return_X_y=True)
    >>> model = ConfusionBoostingClassifier().fit(X, y)
    >>> model.predict(X[:3]).tolist()  # the third is MIT; VAC has 30 of the 1484 samples, but the same weight
    ['MIT', 'MIT', 'VAC']
    >>> bool((model.train_confusion_**2).sum() <= model.loss_curve_[-1])
    True

    Leaves have one value per class:

    >>> model = ConfusionBoostingClassifier(n_estimators=1, max_depth=1, smoothing=1)
    >>> print(model.fit([[1.0], [2.0], [3.0]], ["a", "b", "c"]).export_text(0))
    |--- x0 <= 1.5
    |   |--- values: a +0.07, b -0.03, c -0.03
    |--- x0 > 1.5
    |   |--- values: b +0.03, c +0.03, a -0.07
    """

    __module__ = "comboost"  # where users find it; pickles store this name

    _hints: Mapping[str, str] = {
        **{name: hint for name, hint in HINTS.items() if name not in ("max_leaf_nodes", "base_estimator")},
        "estimator": "leave it out, or use CoMBoClassifier: only the built-in trees have one value per class",
        "proba": "give priors",
        "step": "leave it out: every leaf has its own optimal step",
        "criterion": "leave it out: splits maximise CoMBoClassifier's gini",
        "subsample": "give max_thresholds, noise or max_features, which randomise the trees",
        "random_strength": "give noise",
    }
    # Scores sum to 0, so 0 would be high; scikit-learn refuses infinite ones.
    _absent_score: ClassVar[float] = math.log(sys.float_info.min)
    _validation_scale: ClassVar[float] = 1.0  # softmax(f), which the log-loss fits

    @constructor(ConfusionMemorySettings)
    def __init__(self) -> None: ...

    def _leaf_values(
        self,
        settings: ConfusionMemorySettings,
        costs: Floats | None,
        weight_sums: ClassWeightSums,
        class_prices: Floats | None = None,
    ) -> LeafValues:
        norm = norm_of(settings.norm, settings.loss, len(weight_sums.sums))
        objective = Objective.of(costs, weight_sums, settings.balance, settings.loss, norm, class_prices)
        return BalancedValues.of(objective, float(settings.learning_rate), float(settings.smoothing))

    def _tree_limits(self, settings: ConfusionMemorySettings, weight_sums: ClassWeightSums) -> TreeLimits:
        depth = settings.max_depth
        if depth == "auto":  # not selected yet
            depth = None if settings.max_leaf_nodes is not None else middle_depth(weight_sums)
        assert not isinstance(depth, str)
        return TreeLimits(
            depth, settings.max_leaf_nodes, settings.min_samples_leaf, settings.n_estimators, value_per_class=True
        )

    def _shape_of_search(
        self, settings: ConfusionMemorySettings, shape: FitShape, n_held: int | None
    ) -> SearchShape | None:
        if not searches(settings):
            return None
        return search.shape_of_search(
            shape.limits, shape.n_samples, shape.n_classes, n_held, is_depth_free=depth_is_free(settings)
        )

    def _select(
        self,
        settings: ConfusionMemorySettings,
        bins: BinMapper,
        candidates: Candidates,
        weight_sums: ClassWeightSums,
        n_samples: int,
        draw_parts: Callable[[], tuple[list[Part], str | None]],
        seed: int,
        n_threads: int,
    ) -> tuple[ConfusionMemorySettings, Mapping[str, Any]]:
        """Search for the settings that are ``"auto"``."""
        first_depth = self._tree_limits(settings, weight_sums).max_depth
        fixed = replace(
            settings,
            smoothing=search.FIXED_SMOOTHING if settings.smoothing == "auto" else settings.smoothing,
            learning_rate=search.FAST if settings.learning_rate == "auto" else settings.learning_rate,
            max_depth=first_depth,
        )
        is_depth_free = depth_is_free(settings)
        # A warm start of a model that was fitted before there was a search keeps the depth, which then followed a rule.
        if hasattr(self, "_forest") or not searches(settings):
            # A refit and a warm start keep the results of the search that preceded them.
            return fixed, describe(fixed, getattr(self, "search_results_", []), getattr(self, "class_prices_", None))
        parts, reason = draw_parts()
        if reason is not None:
            fixed = replace(fixed, n_estimators=min(settings.n_estimators, search.FIXED_ROUNDS))
            return fixed, describe(fixed, [{"outcome": f"not searched: {reason}"}])
        costs = learned_costs(settings, candidates)
        norm = norm_of(settings.norm, settings.loss, len(candidates.classes))
        # Prices of classes follow held-out losses, which the search for the other settings finds without prices.
        is_priced = norm is not None and norm.of == "classes"
        unpriced = replace(settings, norm="entrywise") if is_priced else settings
        judged = ENTRYWISE if is_priced else norm
        objective = Objective.of(costs, held_weight_sums(parts), settings.balance, settings.loss, judged)
        rate = None if settings.learning_rate == "auto" else float(settings.learning_rate)
        is_free = settings.smoothing == "auto"
        n_rounds = search.most_search_rounds(rate, settings.n_estimators, is_smoothing_free=is_free)

        def make_trial(part: Part, smoothing: float, max_depth: int | None, prices: Floats | None) -> search.Trial:
            train, held = part.train, part.held
            tried = replace(
                unpriced if prices is None else settings,
                smoothing=smoothing,
                max_depth=max_depth,
                learning_rate=1.0,
                n_estimators=n_rounds,
            )
            plan = self._plan(
                tried, n_samples, candidates, train.weight_sums, seed, n_threads, selected={"class_prices_": prices}
            )
            learner, grower = self._make_learner(tried, plan, bins)
            loss = plan.values.objective.loss
            rows = MemoryRows(train.labels, train.weights, loss, part.train_codes, grower, n_threads)
            held_rows = MemoryRows(held.labels, held.weights, objective.loss, part.held_codes, grower, n_threads)
            return search.Trial(Boosting(rows, learner, plan.values, n_rounds), held_rows, len(train.labels))

        smoothing = search.SMOOTHING if is_free else (float(settings.smoothing),)
        n_train, n_held = len(parts[0].train.labels), len(parts[0].held.labels)
        n_used = n_train if settings.early_stopping else n_train + n_held  # a validation set is none of the samples
        space = search.SearchSpace.of(smoothing, first_depth, is_depth_free, n_train, n_used / n_samples)
        best, tried = search.search(parts, make_trial, objective, space, n_rounds, verbose=settings.verbose > 0)
        prices = search.price_classes(best, parts, norm, make_trial) if is_priced and norm is not None else None
        converted = search.Conversion.of(best.best_round, rate, settings.n_estimators, is_smoothing_free=is_free)
        selected = replace(
            settings,
            smoothing=search.rounded(best.smoothing * converted.smoothing_factor) if is_free else settings.smoothing,
            learning_rate=converted.learning_rate,
            max_depth=None if best.max_depth is None else best.max_depth + space.missing_depth,
            n_estimators=settings.n_estimators if settings.early_stopping else converted.n_rounds,
        )
        if settings.verbose > 0:
            print(
                f"selected: smoothing {selected.smoothing:g}, depth {selected.max_depth or 'not limited'}, learning "
                f"rate {selected.learning_rate:g}, at most {selected.n_estimators} rounds"
            )
        unit = n_samples * converted.n_rounds
        return selected, describe(selected, [candidate.record(best, unit) for candidate in tried], prices)

    def _tree_rules(self, settings: ConfusionMemorySettings, plan: FitPlan, n_features: int) -> TreeRules:
        assert isinstance(plan.values, BalancedValues)
        return TreeRules(
            plan.limits.max_depth,
            "gini",
            settings.min_samples_leaf,
            settings.min_weight_fraction_leaf,
            count_features(settings.max_features, n_features),
            plan.seed,
            settings.max_leaf_nodes,
            plan.values.leaf_smoothing,  # the criterion is smoothed like the leaf values
            settings.max_thresholds,
            settings.noise,
            one_class=False,
        )

    @property
    def _balances_classes(self) -> bool:
        return False  # smoothing counts samples of weight 1, so a class with large weights is smoothed less

    @property
    def _learned_log_priors(self) -> Floats | None:
        return None if self.balance == 1.0 else (1.0 - float(self.balance)) * log_training_priors(self)  # M_l^(1−τ)

    @property
    def _log_odds(self) -> float:  # type: ignore[override]
        return 2.0 if self.loss == "exponential" else 1.0  # the exponential loss fits scores to half of the log odds

    def _validation_shift(self, fit: Fit) -> Floats | None:
        """What moves scores that are fitted for other class priors to equal priors."""
        if self.balance == 1.0:
            return None
        return (float(self.balance) - 1.0) / self._log_odds * np.log(fit.plan.values.objective.weight_sums.proportions)


def middle_depth(weight_sums: ClassWeightSums) -> int:
    """The depth of a tree with about √(n_samples · n_classes)/8 leaves, from 3 to 7."""
    log_samples = math.log2(weight_sums.total) - weight_sums.scale.shift  # weights may be huge
    return min(max(round((log_samples + math.log2(len(weight_sums.sums))) / 2 - 3), 3), 7)


def depth_is_free(settings: ConfusionSettings | ConfusionBoostingClassifier) -> bool:
    """Whether the depth is to be selected."""
    return settings.max_depth == "auto" and settings.max_leaf_nodes is None


def searches(settings: ConfusionSettings | ConfusionBoostingClassifier) -> bool:
    """Whether a fit with such parameters selects some of them."""
    return settings.smoothing == "auto" or depth_is_free(settings)


def describe(
    settings: ConfusionMemorySettings, records: list[dict[str, Any]], class_prices: Floats | None = None
) -> dict[str, Any]:
    """Fitted attributes that describe which settings were selected, and from which."""
    names = ("n_estimators", "learning_rate", "max_depth", "smoothing")
    found = {"best_params_": {name: getattr(settings, name) for name in names}, "search_results_": records}
    return found if class_prices is None else {**found, "class_prices_": class_prices}
