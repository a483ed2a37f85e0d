"""Fitting, for all boosters. In: a table. Out: a fitted estimator, or the estimator as it was. No mathematics."""

from __future__ import annotations  # signatures in help() name the aliases

import copy
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Concatenate, Generic, NamedTuple, ParamSpec, Self, TypeAlias, TypeVar

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import spmatrix
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from comboost import _core
from comboost._boosting.early_stopping import Patience, Validation, ValidationData, hold_out_samples, needs_model
from comboost._boosting.learners import EstimatorFit, EstimatorLearner, Fit, FitPlan, TreeFit, TreeLearner, TreePast
from comboost._boosting.loop import FINAL, History, boost
from comboost._boosting.monitor import (
    CALLBACKS,
    CallbackSupportMixin,
    FitMonitor,
    ProgressPrinter,
    RoundCallbacks,
    with_callbacks,
)
from comboost._boosting.search_samples import Part, draw_parts, draw_validated
from comboost._boosting.warm_start import (
    FitFingerprint,
    WarmStartState,
    check_same_values,
    digest_rows,
    fingerprint_rows,
    hash_matrix,
)
from comboost._data.cost_matrices import costs_among
from comboost._data.labels import Candidates
from comboost._data.sample_weights import ClassWeightSums
from comboost._data.tables import RawTable
from comboost._data.validation import TrainingSet, read_matrix, read_table
from comboost._engine.binning import BinMapper, bin_table
from comboost._engine.leaf_values import LeafValues
from comboost._engine.memory_plan import FitShape, HeldShape, SearchShape, TableCopies, TreeLimits
from comboost._engine.probabilities import OutOfSampleScores
from comboost._engine.rows import MemoryRows, PredictedRows, TreeRules, make_grower
from comboost._estimators.calibration import calibrate, draw_folds, out_of_fold_scores
from comboost._estimators.decisions import FITTED_CALIBRATION, check_decisions
from comboost._estimators.inspection import ExportMixin, InspectionMixin
from comboost._estimators.parameters import HINTS, MemorySettings, Settings, hinted, n_threads_of
from comboost._estimators.predict import Predictor
from comboost._extras import confusion_frame
from comboost._persistence.schema import FITTED
from comboost._types import Floats, MatrixLike
from comboost.metrics._scorers import SOFT_NORM

Matrix: TypeAlias = Floats | spmatrix
SettingsT = TypeVar("SettingsT", bound=Settings)
MemorySettingsT = TypeVar("MemorySettingsT", bound=MemorySettings)
P = ParamSpec("P")
PredictorT = TypeVar("PredictorT", bound=Predictor)


class Samples(NamedTuple):
    """Samples that ``fit`` is given, to train or to validate on."""

    X: MatrixLike
    y: ArrayLike
    sample_weight: ArrayLike | None


class Booster(CallbackSupportMixin, ExportMixin, InspectionMixin, ABC, Generic[MemorySettingsT]):
    """A boosted sum of weak learners. Its kinds differ in their parameters, their objective and their leaf values."""

    _hints: Mapping[str, str] = HINTS
    _validation_scale: ClassVar[float]  # scores times this are the log odds of the validation loss

    @abstractmethod
    def _leaf_values(
        self,
        settings: MemorySettingsT,
        costs: Floats | None,
        weight_sums: ClassWeightSums,
        class_prices: Floats | None = None,
    ) -> LeafValues:
        """The objective and the leaf values of the rounds."""

    @abstractmethod
    def _tree_limits(self, settings: MemorySettingsT, weight_sums: ClassWeightSums) -> TreeLimits:
        """The maximum size of the trees."""

    @abstractmethod
    def _tree_rules(self, settings: MemorySettingsT, plan: FitPlan, n_features: int) -> TreeRules:
        """How trees grow."""

    @property
    @abstractmethod
    def _balances_classes(self) -> bool:
        """Whether all classes have the same weight, whatever the weights of their samples."""

    @property
    @abstractmethod
    def _learned_log_priors(self) -> Floats | None:
        """Logarithms of the class priors that the scores are fitted for; None if they are equal."""

    def _validation_shift(self, fit: Fit) -> Floats | None:
        """What to add to the scores before their class-balanced log-loss; None is nothing."""
        return None

    @hinted
    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        X_val: MatrixLike | None = None,
        y_val: ArrayLike | None = None,
        sample_weight_val: ArrayLike | None = None,
    ) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Numbers or categories. NaN, None, NA and masked values are missing; infinite values are an error. Arrays of
            float32 and float64 are not copied, whatever their memory order; other tables are read a few columns at a
            time.
        y : array-like of shape (n_samples,)
            The classes: at least two, all integers, all text, all booleans, or all of another kind that can be hashed
            and sorted, such as dates. Labels that are equal in Python are the same class. Labels may not be missing
            or masked: drop such samples, or give them a class of their own.
        sample_weight : array-like of shape (n_samples,) or float, optional
            Weights of the samples; a number is the weight of every sample. Weight 2 is exactly the sample twice and
            weight 0 exactly no sample, except that ``min_samples_leaf``, the validation split and the search for
            settings that are ``"auto"`` count samples, whatever their weights. A class whose samples all have weight 0
            stays in ``classes_`` and is never predicted. Weights that only differ between classes, such as
            ``compute_sample_weight("balanced", y)``, cancel in `CoMBoClassifier`, with a warning, and in
            `ConfusionBoostingClassifier` with ``balance=1``, except for its smoothing: use ``cost_matrix`` for the
            importance of a class.
        X_val : array-like, sparse matrix or data frame, optional
            Validation set; by default ``early_stopping`` holds out some samples of X.
        y_val : array-like, optional
            Its classes.
        sample_weight_val : array-like or float, optional
            Its weights.

        Returns
        -------
        self
            The fitted classifier. If ``fit`` fails or is interrupted, the classifier and its ``random_state`` stay as
            they were.
        """
        settings = self._settings()
        settings.check(X_val, y_val, sample_weight_val)
        samples = Samples(X, y, sample_weight)
        validation = None if X_val is None or y_val is None else Samples(X_val, y_val, sample_weight_val)
        fit_atomically(self, settings, type(self)._fit, samples, validation)
        return self

    def _settings(self) -> MemorySettingsT:
        """The validated parameters."""
        return self._table.of(self)  # type: ignore[return-value]

    @with_callbacks
    def _fit(self, settings: MemorySettingsT, samples: Samples, validation: Samples | None) -> None:
        past = self._past(settings)
        if past is not None:
            settings = self._with_selected(settings)
        # The origin is set last: without it the model counts as unfinished and needs no calibration.
        outdated = {"_origin", *FITTED_CALIBRATION.values()}
        for name in list(vars(self)):
            if name in outdated or (past is None and (name in FITTED or name.endswith("_"))):
                delattr(self, name)
        # No variable here holds the prepared samples: another fit may need their memory.
        origin, held_scores = self._boost(settings, *self._prepare(settings, samples, validation, past), samples, past)
        if settings.early_stopping and settings.refit:
            held_scores = None
            origin = self._refit(settings, samples)
        if settings.calibration is not None:
            held = self._out_of_fold(settings, samples, origin.seed) if held_scores is None else held_scores()
            self.__dict__.update(calibrate(settings.calibration, held, self._log_odds, self._learned_log_priors))
        self._origin = origin

    def _refit(self, settings: MemorySettingsT, samples: Samples) -> FitFingerprint:
        """Boost the best number of rounds again, on all samples."""
        settings = replace(self._with_selected(settings), early_stopping=False, n_estimators=self.n_iter_)
        fit, _ = self._prepare(settings, samples, None, None)
        history = boost(fit.rows, fit.learner, fit.plan.values, self.n_iter_)
        if history.stop_reason not in FINAL:
            history.stop_reason = self.stop_reason_
        self.__dict__.update(fit.finished(history))
        return fit.origin

    def _out_of_fold(self, settings: MemorySettingsT, samples: Samples, seed: int) -> OutOfSampleScores:
        """Out-of-fold scores of the training samples, by models that are fitted like this one."""
        table = self._read_input(settings, samples.X, reset=False)
        data = TrainingSet.read(samples.y, samples.sample_weight, table.shape[0])
        settings = self._with_selected(settings)
        if settings.early_stopping:  # and refit: the best number of rounds
            settings = replace(settings, early_stopping=False, n_estimators=self.n_iter_)
        elif hasattr(self, "best_params_"):
            settings = replace(settings, n_estimators=self.best_params_["n_estimators"])
        if hasattr(self, "_categories"):  # text that is not numeric here might be so in a part of the samples
            settings = replace(settings, categorical_features=sorted(self._categories.values))
        n_folds = settings.calibration_folds
        # A fit that holds out as many samples is as large.
        holding = replace(settings, early_stopping=True, validation_fraction=1.0 / n_folds, scoring=None)
        shape = self._shape(holding, table, data, None)
        shape.check()
        folds = draw_folds(data.labels, n_folds, seed)
        return out_of_fold_scores(
            table,
            data,
            folds,
            settings.n_estimators,
            lambda part: self._prepare_part(settings, table, part, seed, None, shape),
        )

    def _boost(
        self,
        settings: MemorySettingsT,
        fit: Fit,
        held: ValidationData | None,
        samples: Samples,
        past: WarmStartState | None,
    ) -> tuple[FitFingerprint, Callable[[], OutOfSampleScores] | None]:
        """Boost, and set the fitted attributes of the best rounds.

        Returns
        -------
        origin : FitFingerprint
            What a warm start compares.
        held_scores : callable or None
            Computes the validation scores; None without a validation set.
        """
        if past is not None:
            check_same_values(fit.row_fingerprint, past.origin.rows, "rows")
        if fit.plan.by_class and self._balances_classes:
            warnings.warn(
                "sample_weight is the same for all samples of a class and only differs between classes. Such weights "
                "cancel here, where all classes have the same weight. Leave them out, and give the cost of an error on "
                "a class with cost_matrix, {class: cost, ...}.",
                UserWarning,
                stacklevel=2,
            )
        validation = None
        if held is not None:
            patience = Patience(settings.n_iter_no_change, settings.tol)
            validation = Validation(fit, held, settings.scoring, patience, self)
        watch = self._watch(settings, fit, validation, samples, past)
        history = None if past is None else past.history
        if history is None or history.stop_reason not in FINAL:  # otherwise more rounds would learn nothing
            if past is not None and validation is not None:
                validation.replay_scores(past.history, past.validation_curve)
            history = boost(fit.rows, fit.learner, fit.plan.values, fit.plan.limits.n_trees, watch, history)
            if validation is not None:
                history = validation.best(history)
                self.validation_curve_ = np.array(validation.patience.curve)
            self.__dict__.update(fit.finished(history))
        if watch is not None:
            watch.finish(history)
        return fit.origin, None if validation is None else partial(validation.validation_scores, history)

    def _prepare(
        self, settings: MemorySettingsT, samples: Samples, validation: Samples | None, past: WarmStartState | None
    ) -> tuple[Fit, ValidationData | None]:
        """Read the data, split off the validation set, and prepare the rest for boosting."""
        X, y, sample_weight = samples
        table = self._read_input(settings, X, reset=past is None)
        n_samples = table.shape[0]
        data = TrainingSet.read(y, sample_weight, n_samples)
        held = None if validation is None else self._read_validation(settings, validation, data.candidates)
        shape = self._shape(settings, table, data, held)
        shape.check()
        seed = self._seed(settings, n_samples, data.candidates.classes, past)
        if held is None and settings.early_stopping:
            scored = None
            if needs_model(settings.scoring):
                scored = table if settings.estimator is None else read_table(self, X, reset=False)
            data, held = hold_out_samples(data, table, scored, sample_weight, settings.validation_fraction, seed)
        learned = None if past is None else past.learned
        return self._prepare_part(settings, table, data, seed, learned, shape, held), held

    def _prepare_part(
        self,
        settings: MemorySettingsT,
        table: RawTable | Matrix,
        data: TrainingSet,
        seed: int,
        learned: TreePast | Sequence[ClassifierMixin] | None,
        shape: FitShape,
        held: ValidationData | None = None,
    ) -> Fit:
        """Prepare some samples of a table for boosting; choose the settings that are to be chosen."""
        n_classes, n_threads = len(data.candidates.classes), shape.n_threads
        if settings.estimator is not None:
            assert not isinstance(table, RawTable)
            plan = self._plan(
                settings, table.shape[0], data.candidates, data.weight_sums, seed, n_threads, by_class=data.by_class
            )
            matrix = table if data.rows is None else table[data.rows]
            clones = EstimatorLearner(settings.estimator, matrix, data.labels, n_classes, seed, learned or ())
            predicted = PredictedRows(data.labels, data.weights, plan.values.objective.loss, n_threads)
            return EstimatorFit(plan, clones, predicted, hash_matrix(table, data.labels, data.weights))
        assert isinstance(table, RawTable)
        assert learned is None or isinstance(learned, TreePast)
        binned = bin_table(
            table if data.rows is None else table.take(data.rows),
            settings.categorical_features,
            data.weights,
            settings.max_bins,
            n_threads,
            shape.check,
        )
        draw = partial(draw_parts, binned, data, seed, n_threads)
        if held is not None:
            draw = partial(draw_validated, binned, data, held, seed, n_threads)
        classes = data.candidates, data.weight_sums
        settings, selected = self._select(settings, binned.bins, *classes, len(data.labels), draw, seed, n_threads)
        plan = self._plan(
            settings, table.shape[0], *classes, seed, n_threads, by_class=data.by_class, selected=selected
        )
        if selected:
            replace(shape, limits=plan.limits, searched=None).check(int(binned.bins.bin_offsets[-1]))
        learner, grower = self._make_learner(settings, plan, binned.bins, learned)
        rows = MemoryRows(data.labels, data.weights, plan.values.objective.loss, binned.codes, grower, n_threads)
        digest = digest_rows(binned.codes, data.labels, data.weights)
        fingerprint = fingerprint_rows(binned.bins, binned.categories, digest)
        return TreeFit(plan, learner, rows, fingerprint, binned.categories)

    def _make_learner(
        self, settings: MemorySettingsT, plan: FitPlan, bins: BinMapper, learned: TreePast | None = None
    ) -> tuple[TreeLearner, _core.Grower]:
        """The weak learner, and what grows its trees."""
        rules, n_classes = self._tree_rules(settings, plan, len(bins.kinds)), len(plan.candidates.classes)
        return TreeLearner(bins.kinds, n_classes, rules.smoothing, learned), make_grower(bins, n_classes, rules)

    def _read_input(self, settings: MemorySettingsT, X: MatrixLike, *, reset: bool) -> Any:
        """X as the weak learner takes it: a table for trees, a matrix for others."""
        if settings.estimator is None:
            return read_table(self, X, reset=reset)
        return read_matrix(self, X, settings.estimator, reset=reset)

    def _read_validation(
        self, settings: MemorySettingsT, validation: Samples, candidates: Candidates
    ) -> ValidationData:
        """The given validation set."""
        try:
            table = self._read_input(settings, validation.X, reset=False)
        except ValueError as error:
            raise ValueError(f"X_val: {error}") from error
        return ValidationData.read(*validation, table, candidates)

    def _shape(
        self, settings: MemorySettingsT, table: RawTable | Matrix, data: TrainingSet, held: ValidationData | None
    ) -> FitShape:
        """The sizes that the memory of a fit depends on."""
        n_samples = len(data.labels)
        trees = table if isinstance(table, RawTable) else None
        shape = FitShape(
            n_samples,
            0 if trees is None else table.shape[1],
            len(data.candidates.classes),
            limits=self._tree_limits(settings, data.weight_sums),
            n_threads=n_threads_of(settings.n_jobs),
            table=None if trees is None else TableCopies.of(trees),
            weighted=data.weights is not None,
            n_predictors=settings.n_estimators if trees is None else 0,
        )
        if held is not None:
            searched = self._shape_of_search(settings, shape, held.table.shape[0])
            return replace(shape, held=held_shape(settings, held.table), searched=searched)
        if not settings.early_stopping:
            return replace(shape, searched=self._shape_of_search(settings, shape, None))
        n_held = min(n_samples - 1, max(shape.n_classes, round(settings.validation_fraction * n_samples)))
        whole = held_shape(settings, table)
        given = 0 if trees is None or not whole.by_scorer else trees.source.n_bytes * n_held // n_samples
        copies = replace(whole.copies, n_samples=n_held, is_view=False)
        shape = replace(
            shape, n_samples=n_samples - n_held, held=replace(whole, copies=copies, given=given, shared=True)
        )
        return replace(shape, searched=self._shape_of_search(settings, shape, n_held))

    def _shape_of_search(self, settings: MemorySettingsT, shape: FitShape, n_held: int | None) -> SearchShape | None:
        """The sizes of a search for settings, judged by so many validation samples, if any; None without a search."""
        return None

    def _plan(
        self,
        settings: MemorySettingsT,
        n_samples: int,
        candidates: Candidates,
        weight_sums: ClassWeightSums,
        seed: int,
        n_threads: int,
        *,
        by_class: bool = False,
        selected: Mapping[str, Any] | None = None,
    ) -> FitPlan:
        """What the rounds are to do."""
        if settings.reject_cost is not None or not isinstance(settings.priors, str | None):
            check_decisions(settings, candidates)
        selected = selected or {}
        prices = selected.get("class_prices_")
        return FitPlan(
            parameters=settings.learned_with(),
            values=self._leaf_values(settings, learned_costs(settings, candidates), weight_sums, prices),
            limits=self._tree_limits(settings, weight_sums),
            candidates=candidates,
            by_class=by_class,
            n_samples=n_samples,
            seed=seed,
            n_threads=n_threads,
            selected=selected,
        )

    def _select(
        self,
        settings: MemorySettingsT,
        bins: BinMapper,
        candidates: Candidates,
        weight_sums: ClassWeightSums,
        n_samples: int,
        draw_parts: Callable[[], tuple[list[Part], str | None]],
        seed: int,
        n_threads: int,
    ) -> tuple[MemorySettingsT, Mapping[str, Any]]:
        """Select the settings that are ``"auto"``; return all settings, and fitted attributes that describe them."""
        return settings, {}

    def _with_selected(self, settings: MemorySettingsT) -> MemorySettingsT:
        """Settings in which the fitted values replace ``"auto"``."""
        selected = getattr(self, "best_params_", {})
        return replace(settings, **{name: selected[name] for name in selected if getattr(settings, name) == "auto"})

    def _seed(
        self, settings: MemorySettingsT, n_samples: int, classes: NDArray[Any], past: WarmStartState | None
    ) -> int:
        """The seed of every round's draws; in a warm start that of the earlier fit, whose data these must be."""
        if past is None:
            return int(check_random_state(settings.random_state).randint(np.iinfo(np.int32).max))
        past.origin.check_rows(n_samples, classes)
        return past.origin.seed

    def _past(self, settings: MemorySettingsT) -> WarmStartState | None:
        """The fit that a warm start continues; None without one."""
        if not settings.warm_start or not hasattr(self, "_origin"):
            return None
        n_rounds = self.n_iter_
        if hasattr(self, "_forest"):
            learned: Any = TreePast([self._forest.tree(t) for t in range(n_rounds)], self._importances)
            alphas = self._forest.weights
        else:
            learned, alphas = self.estimators_, self.estimator_weights_
        decreases = getattr(self, "_decreases", np.zeros(n_rounds))
        history = History(
            self.edges_.tolist(), alphas.tolist(), self.loss_curve_.tolist(), decreases.tolist(), self.stop_reason_
        )
        curve = getattr(self, "validation_curve_", np.empty(0)).tolist()
        past = WarmStartState(history, self._origin, learned, curve)
        past.check_parameters(self._with_selected(settings).learned_with(), settings.n_estimators)
        return past

    def _watch(
        self,
        settings: MemorySettingsT,
        fit: Fit,
        validation: Validation | None,
        samples: Samples,
        past: WarmStartState | None,
    ) -> FitMonitor | None:
        """Monitors of the rounds: validation, callbacks and progress lines; None without any."""
        callbacks, printer, n_rounds = None, None, fit.plan.limits.n_trees
        if CALLBACKS is None or hasattr(self, CALLBACKS):
            n_past = 0 if past is None else len(past.history)
            callbacks = RoundCallbacks(self, n_rounds - n_past, *samples, first_round=n_past)
        if settings.verbose > 0:
            printer = ProgressPrinter(n_rounds, settings.verbose, with_score=validation is not None)
        if validation is None and printer is None and callbacks is None:
            return None
        return FitMonitor(fit, validation, printer, callbacks)

    def train_confusion_frame(self) -> Any:
        """``train_confusion_`` as a pandas DataFrame: true classes in rows, predicted classes in columns.

        Returns
        -------
        DataFrame of shape (n_classes, n_classes)
            Fraction of each class of the training set that is predicted as each other class.

        Examples
        --------
        >>> from comboost import CoMBoClassifier
        >>> model = CoMBoClassifier(n_estimators=1).fit([[1.0], [2.0], [3.0]], ["a", "b", "c"])
        >>> model.train_confusion_frame().loc["a", "b"]
        np.float64(0.0)
        """
        check_is_fitted(self)
        return confusion_frame(self.train_confusion_, self.classes_)


def learned_costs(settings: MemorySettings, candidates: Candidates) -> Floats | None:
    """The costs of errors that the rounds minimise; None is 1 for every error."""
    if settings.cost_matrix is None:
        return None
    costs = costs_among(settings.cost_matrix, candidates)  # which checks them
    return costs if settings.decision == "argmax" else None


def held_shape(settings: MemorySettings, table: RawTable | Matrix) -> HeldShape:
    """The sizes of a validation set."""
    copies = TableCopies.of(table) if isinstance(table, RawTable) else TableCopies(table.shape[0], 0)
    by_scorer = needs_model(settings.scoring) or settings.scoring == SOFT_NORM  # which takes as many arrays
    return HeldShape(copies, by_scorer=by_scorer, by_counts=settings.scoring is not None and not by_scorer)


def fit_atomically(
    estimator: PredictorT,
    settings: SettingsT,
    fit: Callable[Concatenate[PredictorT, SettingsT, P], None],
    *args: P.args,
    **kwargs: P.kwargs,
) -> None:
    """Call ``fit`` on a copy of an estimator, and take over its attributes at the end; if it fails, nothing changes.

    The fit draws from a copy of a ``random_state`` object, which moves on afterwards. Integers need no copy. NumPy's
    global state is used directly: fits in several threads would get the same numbers otherwise.
    """
    given: Any = settings.random_state  # type: ignore[attr-defined]
    drawn, before = given, ""
    if isinstance(given, np.random.RandomState) and given is not check_random_state(None):
        drawn, before = copy.deepcopy(given), state_hash(given)
    model = object.__new__(type(estimator))
    model.__dict__.update(estimator.__dict__)
    fit(model, replace(settings, random_state=drawn), *args, **kwargs)  # type: ignore[call-arg]
    attributes = dict(model.__dict__)  # a callback may have kept the model
    # One assignment: after an interrupt, and in other threads, the estimator is either as it was or fitted. The random
    # state follows, so it has moved on only if the fit has succeeded.
    estimator.__dict__ = attributes
    if drawn is not given and state_hash(given) == before:  # otherwise others drew from it meanwhile
        given.set_state(drawn.get_state(legacy=False))


def state_hash(random: np.random.RandomState) -> str:
    """A text that every draw changes."""
    return str(joblib.hash(random.get_state(legacy=False)))
