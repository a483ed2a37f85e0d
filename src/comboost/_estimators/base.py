"""What all boosters share: fit. In: tables. Out: a fitted vote. No mathematics."""

import copy
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from comboost._boosting.early_stopping import HeldRows, Patience, Validation, asks_models, hold_out_rows
from comboost._boosting.fit import EstimatorFit, Fit, FitPlan, TreeFit
from comboost._boosting.learners import (
    EstimatorAudience,
    EstimatorLearner,
    TreeLearner,
    TreePast,
    TreeRules,
)
from comboost._boosting.loop import FINAL, History, boost
from comboost._boosting.monitor import (
    CALLBACKS,
    CallbackSupportMixin,
    ProgressPrinter,
    RoundCallbacks,
    Watch,
    with_callbacks,
)
from comboost._boosting.voting import Voting
from comboost._boosting.warm_start import Past, check_same_values, digest_rows, hash_matrix
from comboost._data.cost_matrices import costs_among
from comboost._data.labels import Candidates
from comboost._data.sample_weights import ClassWeightSums
from comboost._data.tables import RawTable
from comboost._data.validation import TrainingSet, read_matrix, read_table
from comboost._engine.binning import BinMapper, bin_table
from comboost._engine.memory_plan import FitShape, HeldShape, TableCopies, TreeLimits
from comboost._engine.probabilities import HeldVotes, ProbabilityMap
from comboost._engine.rows import MemoryRows
from comboost._engine.scores import check_votes
from comboost._engine.sparse_rows import binned_rows
from comboost._estimators.atomic_fit import fit_or_leave
from comboost._estimators.decisions import (
    LEARNED_CALIBRATION,
    Decision,
    calibrate,
    check_answers,
    check_calibration_of,
    check_decision,
    decision_of,
    probability_map,
)
from comboost._estimators.export import Deployable
from comboost._estimators.inspection import Explained
from comboost._estimators.out_of_fold import out_of_fold_votes
from comboost._estimators.parameters import (
    HELD_OUT_PARAMETERS,
    HINTS,
    TREE_PARAMETERS,
    VALIDATION_PARAMETERS,
    Rule,
    check_parameters,
    check_refit,
    check_validation,
    check_weak_learner,
    explained,
    n_threads_of,
    off_default,
)
from comboost._estimators.predict import STAGED_ARRAYS
from comboost._extras import confusion_frame
from comboost._persistence.schema import FITTED
from comboost._types import Floats


class Booster(CallbackSupportMixin, Deployable, Explained, ABC):
    """A boosted vote of trees: fit, and what comes of it. Its kinds differ in their parameters and in how they vote."""

    _hints: ClassVar[Mapping[str, str]] = HINTS
    _rules: ClassVar[Mapping[str, Rule]]
    _validation_scale: ClassVar[float]  # of the votes, whose log-loss validation looks at
    refit: bool = False
    estimator: Any = None  # weak learner to use instead of trees
    step: str = "edge"  # how the weight of a round is found, if it has one
    proba: str = "softmax"
    calibration: str | None
    calibration_folds: int = 5
    max_depth: Any
    min_samples_leaf: int

    @classmethod
    @abstractmethod
    def _declaring(cls) -> type:
        """The class whose constructor says what the defaults are."""

    @abstractmethod
    def _voting(self, costs: Floats | None, weight_sums: ClassWeightSums) -> Voting:
        """How rounds vote."""

    @property
    @abstractmethod
    def _balances_classes(self) -> bool:
        """Whether every class counts the same, whatever its rows weigh."""

    @property
    @abstractmethod
    def _learned_shares(self) -> Floats | None:
        """Logarithms of the shares of the classes for which votes are learned; None if they are all the same."""

    @abstractmethod
    def _tree_rules(self, plan: FitPlan, n_features: int) -> TreeRules:
        """How trees grow."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        weak = None if self.estimator is None else get_tags(self.estimator).input_tags
        tags.input_tags.sparse = weak is None or weak.sparse
        tags.input_tags.allow_nan = weak is None or weak.allow_nan
        return tags

    @explained
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | float | None = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: ArrayLike | float | None = None,
    ) -> Self:
        """Boost weak learners on a table.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The values: numbers or categories, NaN, None, NA or masked if they are missing, none of them infinite.
            Arrays of float32 and float64 are not copied, whatever their memory order; other tables are read a few
            columns at a time.
        y : array-like of shape (n_samples,)
            The classes: at least two, all whole numbers, all text, all booleans, or all of another kind that can be
            hashed and sorted, such as dates. Labels are one class if they are equal in Python. None may be missing or
            masked: such rows are for you to drop, or to give a class of their own.
        sample_weight : array-like of shape (n_samples,) or float, optional
            Weights of the rows; a number is the weight of every row. Weight 2 is the row twice and weight 0 is no row,
            to the last bit; but ``min_samples_leaf`` and the rows held out for validation count rows, whatever they
            weigh. A class whose rows all have weight 0 stays in ``classes_`` and is never voted for. Weights that
            only tell classes apart, as ``compute_sample_weight("balanced", y)`` gives them, cancel in
            `CoMBoClassifier`, with a warning, and in `ConfusionBoostingClassifier` with ``balance=1`` but for how its
            votes are smoothed: what a class is worth is said by ``cost_matrix``.
        X_val : array-like, sparse matrix or data frame, optional
            Rows to validate on; ``early_stopping`` would otherwise hold out some rows of X.
        y_val : array-like, optional
            Their classes.
        sample_weight_val : array-like or float, optional
            Their weights.

        Returns
        -------
        self
            The fitted classifier. If ``fit`` fails or is interrupted, the classifier stays as it was, and so does its
            ``random_state``.
        """
        check_parameters(self, self._rules)
        if self.estimator is not None:
            check_weak_learner(self.estimator, off_default(self, TREE_PARAMETERS, self._declaring()))
        changed = off_default(self, HELD_OUT_PARAMETERS, self._declaring())
        check_validation(self.early_stopping, changed, X_val, y_val, sample_weight_val)
        if self.early_stopping:
            check_refit(self.refit, self.warm_start)
        check_calibration_of(self)
        check_decision(self)
        validation = None if X_val is None else (X_val, y_val, sample_weight_val)
        fit_or_leave(self, self._rules, lambda fitted: fitted._fit(X, y, sample_weight, validation))
        return self

    @with_callbacks
    def _fit(self, X: Any, y: Any, sample_weight: Any, validation: tuple[Any, Any, Any] | None) -> None:
        past = self._past()
        if past is None:
            self._forget()
        else:
            past.check_parameters(self._parameters())
        asked, self.calibration = self.calibration, None  # who looks on sees rounds that are not calibrated yet
        for name in LEARNED_CALIBRATION.values():
            self.__dict__.pop(name, None)
        # Nobody here holds the rows that are prepared: another fit may need their memory.
        held_votes = self._run(*self._prepare(X, y, sample_weight, validation, past), (X, y, sample_weight), past)
        if self.early_stopping and self.refit:
            held_votes = None
            self._refit(X, y, sample_weight)
        self.calibration = asked
        if asked is not None:
            held = out_of_fold_votes(self, X, y, sample_weight) if held_votes is None else held_votes()
            self.__dict__.update(calibrate(self, held))

    def _refit(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Boost as many rounds again, on all rows."""
        plain = copy.copy(self)
        plain.early_stopping, plain.n_estimators = False, self.n_iter_
        fit, _ = plain._prepare(X, y, sample_weight, None, None)
        history = boost(fit.rows, fit.learner, fit.plan.voting, self.n_iter_)
        if history.stop_reason not in FINAL:
            history.stop_reason = self.stop_reason_
        self.__dict__.update(fit.finished(history))

    def _run(
        self, fit: Fit, held: HeldRows | None, given: tuple[Any, Any, Any], past: Past | None
    ) -> Callable[[], HeldVotes] | None:
        """Boost, and take the fitted attributes of the best rounds; their votes on validation rows can be asked for."""
        if past is not None:
            check_same_values(fit.origin.rows, past.origin.rows, "rows")
        if fit.plan.by_class and self._balances_classes:
            warn_of_class_weights()
        validation = None
        if held is not None:
            validation = Validation(fit, held, self.scoring, Patience(self.n_iter_no_change, self.tol), self)
        watch = self._watch(fit, validation, given, past)
        history = None if past is None else past.history
        if history is None or history.stop_reason not in FINAL:  # otherwise more rounds would learn nothing
            if past is not None and validation is not None:
                validation.catch_up(past.history, past.validation_curve)
            history = boost(fit.rows, fit.learner, fit.plan.voting, self.n_estimators, watch, history)
            if validation is not None:
                history = validation.best(history)
                self.validation_curve_ = np.array(validation.patience.curve)
            self.__dict__.update(fit.finished(history))
        if watch is not None:
            watch.finish(history)
        return None if validation is None else partial(validation.held_votes, history)

    def _prepare(
        self, X: Any, y: Any, sample_weight: Any, validation: tuple[Any, Any, Any] | None, past: Past | None
    ) -> tuple[Fit, HeldRows | None]:
        """Read the rows, hold out those to validate on, and make of the others all that boosting needs."""
        table = self._read_given(X, reset=past is None)
        n_samples = table.shape[0]
        data = TrainingSet.read(y, sample_weight, n_samples)
        held = None if validation is None else self._read_held(validation, data.candidates)
        shape = self._shape(table, data, held)
        shape.check()
        seed = self._seed(n_samples, data.classes, past)
        if held is None and self.early_stopping:
            asked = None
            if asks_models(self.scoring):
                asked = table if self.estimator is None else read_table(self, X, reset=False)
            data, held = hold_out_rows(data, table, asked, sample_weight, self.validation_fraction, seed)
        return self._prepare_part(table, data, seed, None if past is None else past.learned, shape), held

    def _prepare_part(self, table: Any, data: TrainingSet, seed: int, learned: Any, shape: FitShape) -> Fit:
        """Make of some rows of a table all that boosting needs."""
        plan = self._plan(table.shape[0], data.candidates, data.weight_sums, seed, by_class=data.by_class)
        if self.estimator is None:
            return self._prepare_trees(table, data, plan, learned, shape)
        return prepare_clones(self.estimator, table, data, plan, learned)

    def _read_given(self, X: Any, *, reset: bool) -> Any:
        """X as the weak learner takes it: a table for trees, a matrix for others."""
        if self.estimator is None:
            return read_table(self, X, reset=reset)
        return read_matrix(self, X, self.estimator, reset=reset)

    def _shape(self, table: Any, data: TrainingSet, held: HeldRows | None) -> FitShape:
        """How large this fit will be."""
        n_samples, n_features, grows_trees = len(data.labels), table.shape[1], self.estimator is None
        shape = FitShape(
            n_samples,
            n_features if grows_trees else 0,
            len(data.classes),
            limits=self._limits(data.weight_sums),
            n_threads=n_threads_of(self.n_jobs),
            table=TableCopies.of(table) if grows_trees else None,
            weighted=data.weights is not None,
            exact_step=self.step == "exact",
            n_ballots=0 if grows_trees else self.n_estimators,
        )
        if held is not None:
            return replace(shape, held=self._held_shape(held.table))
        if not self.early_stopping:
            return shape
        n_held = min(n_samples - 1, max(shape.n_classes, round(float(self.validation_fraction) * n_samples)))
        of_table = self._held_shape(table)
        given = table.source.n_bytes * n_held // n_samples if grows_trees and of_table.by_scorer else 0
        copies = replace(of_table.copies, n_samples=n_held, is_view=False)
        return replace(
            shape, n_samples=n_samples - n_held, held=replace(of_table, copies=copies, given=given, shared=True)
        )

    def _held_shape(self, table: Any) -> HeldShape:
        """How large rows to validate on are."""
        copies = TableCopies.of(table) if self.estimator is None else TableCopies(table.shape[0], 0)
        by_scorer = asks_models(self.scoring)
        return HeldShape(copies, by_scorer=by_scorer, by_counts=self.scoring is not None and not by_scorer)

    def _prepare_trees(
        self, table: RawTable, data: TrainingSet, plan: FitPlan, past: TreePast | None, shape: FitShape
    ) -> TreeFit:
        n_threads = plan.n_threads
        _, categories, bins, codes = bin_table(
            table if data.rows is None else table.take(data.rows),
            self.categorical_features,
            data.weights,
            self.max_bins,
            n_threads,
            lambda n_bins: replace(shape, n_bins=n_bins).check(),
        )
        learner = self._tree_learner(bins, plan, past)
        rows = binned_rows(
            data.labels, data.weights, len(data.classes), n_threads, codes, bins, counted=learner.counts_rows
        )
        return TreeFit(plan, learner, rows, categories, bins, digest_rows(codes, data.labels, data.weights))

    def _plan(
        self, n_samples: int, candidates: Candidates, weight_sums: ClassWeightSums, seed: int, *, by_class: bool
    ) -> FitPlan:
        costs = None if self.cost_matrix is None else costs_among(self.cost_matrix, candidates)
        check_answers(self, candidates)
        return FitPlan(
            parameters=self._parameters(),
            voting=self._voting(costs if self.decision == "votes" else None, weight_sums),
            limits=self._limits(weight_sums),
            candidates=candidates,
            by_class=by_class,
            n_samples=n_samples,
            seed=seed,
            n_threads=n_threads_of(self.n_jobs),
        )

    def _parameters(self) -> dict[str, Any]:
        """All parameters that play a part, three of which the estimators on a cluster keep at their defaults."""
        fixed = {name: getattr(self, name) for name in ("estimator", "validation_fraction", "refit")}
        parameters = {**fixed, **self.get_params(deep=False)}
        unused = {*(() if self.early_stopping else VALIDATION_PARAMETERS)}
        if self.cost_matrix is None:
            unused.add("decision")
        elif self.decision == "expected_cost":  # which leaves the costs to predict
            parameters["cost_matrix"] = None
        return {name: value for name, value in parameters.items() if name not in unused}

    def _tree_learner(self, bins: BinMapper, plan: FitPlan, past: TreePast | None) -> TreeLearner:
        return TreeLearner(bins, len(plan.classes), self._tree_rules(plan, bins.n_features), plan.n_threads, past)

    def _limits(self, weight_sums: ClassWeightSums) -> TreeLimits:
        """How large trees may become, with classes of these weight_sums."""
        return TreeLimits(self.max_depth, min_samples_leaf=self.min_samples_leaf, n_trees=self.n_estimators)

    def _validation_shift(self, fit: Fit) -> Floats | None:
        """What to add to the votes of every class when their class-balanced log-loss is looked at; None is nothing."""
        return None

    def _seed(self, n_samples: int, classes: NDArray[Any], past: Past | None) -> int:
        """Seeds the draws of every round; that of the earlier fit, whose rows these must be, in a warm start."""
        if past is None:
            return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        past.origin.check_rows(n_samples, classes)
        return past.origin.seed

    def _read_held(self, validation: tuple[Any, Any, Any], candidates: Candidates) -> HeldRows:
        """The rows to validate on, as given."""
        X, y, sample_weight = validation
        try:
            table = self._read_given(X, reset=False)
        except ValueError as error:
            raise ValueError(f"X_val: {error}") from error
        return HeldRows.read(X, y, sample_weight, table, candidates)

    def _past(self) -> Past | None:
        """What a warm start goes on from; None if the fit starts from nothing."""
        if not self.warm_start or not hasattr(self, "_origin"):
            return None
        learned = (
            TreePast([self._forest.tree(t) for t in range(self.n_iter_)], self._importances)
            if hasattr(self, "_forest")
            else self.estimators_
        )
        curve = self.validation_curve_.tolist() if hasattr(self, "validation_curve_") else []
        return Past(self._history(), self._origin, learned, curve)

    def _history(self) -> History:
        """The rounds of the fitted model."""
        edges, losses = self.edges_.tolist(), self.loss_curve_.tolist()
        alphas = self.estimator_weights_ if hasattr(self, "estimator_weights_") else self._forest.weights
        promises = self._promises if hasattr(self, "_promises") else np.zeros(self.n_iter_)
        return History(edges, alphas.tolist(), losses, promises.tolist(), self.stop_reason_)

    def _forget(self) -> None:
        """Forget an earlier fit, which may have had another kind of weak learner."""
        for name in [name for name in vars(self) if name in FITTED or name.endswith("_")]:
            delattr(self, name)

    def _watch(
        self, fit: Fit, validation: Validation | None, given: tuple[Any, Any, Any], past: Past | None
    ) -> Watch | None:
        """Who looks on, if anybody does."""
        callbacks = printer = None
        if CALLBACKS is None or hasattr(self, CALLBACKS):
            n_past = 0 if past is None else len(past.history)
            callbacks = RoundCallbacks(self, self.n_estimators - n_past, *given, first_round=n_past)
        if self.verbose > 0:
            printer = ProgressPrinter(self.n_estimators, self.verbose, with_score=validation is not None)
        if validation is None and printer is None and callbacks is None:
            return None
        return Watch(fit, validation, printer, callbacks)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_iter_")

    def train_confusion_frame(self) -> Any:
        """``train_confusion_`` as a pandas DataFrame: truth in rows, prediction in columns, with the classes' names.

        Returns
        -------
        DataFrame of shape (n_classes, n_classes)
            Share of each class of the training rows that is taken for each other class.

        Examples
        --------
        >>> from comboost import CoMBoClassifier
        >>> model = CoMBoClassifier(n_estimators=1).fit([[1.0], [2.0], [3.0]], ["a", "b", "c"])
        >>> model.train_confusion_frame().loc["a", "b"]
        np.float64(0.0)
        """
        check_is_fitted(self)
        return confusion_frame(self.train_confusion_, self.classes_)

    def _meaning(self) -> ProbabilityMap:
        """What votes mean."""
        return probability_map(self)

    def _decision(self) -> Decision:
        """How votes become answers."""
        return decision_of(self)

    def _all_scores(self, X: Any) -> Floats:
        """Weighted votes of all rows at once."""
        if not hasattr(self, "estimators_"):
            return super()._all_scores(X)
        *_, scores = self._staged_scores(X)
        return scores

    def _score_blocks(self, X: Any) -> Iterator[Floats]:
        """Weighted votes, of no more rows at a time than little memory holds; of all at once by other weak learners."""
        if hasattr(self, "estimators_"):
            yield self._all_scores(X)
        else:
            yield from super()._score_blocks(X)

    def _staged_scores(self, X: Any) -> Iterator[Floats]:
        if not hasattr(self, "estimators_"):
            yield from super()._staged_scores(X)
            return
        self._check_fitted()
        matrix = read_matrix(self, X, self.estimator, reset=False)
        check_votes(matrix.shape[0], len(self.classes_), STAGED_ARRAYS)
        audience, scores = EstimatorAudience(matrix), np.zeros((matrix.shape[0], len(self._voted_classes)))
        for estimator, weight in zip(self.estimators_, self.estimator_weights_, strict=True):
            audience.add_votes(estimator, weight, scores)
            yield scores


def warn_of_class_weights() -> None:
    """Say that weights do nothing."""
    warnings.warn(
        "sample_weight is the same for all rows of a class and only differs between classes. Such weights cancel here, "
        "where every class counts the same, whatever its rows weigh. Leave them out, and say with cost_matrix what a "
        "mistake on a class costs, {class: cost, ...}.",
        UserWarning,
        stacklevel=2,
    )


def prepare_clones(
    weak: Any, matrix: Any, data: TrainingSet, plan: FitPlan, past: Sequence[ClassifierMixin] | None
) -> EstimatorFit:
    """A fit of clones of a classifier, on the rows of a matrix that it takes."""
    chosen, n_classes = matrix if data.rows is None else matrix[data.rows], len(data.classes)
    learner = EstimatorLearner(weak, chosen, data.labels, n_classes, plan.seed, past or ())
    rows = MemoryRows(data.labels, data.weights, n_classes, plan.n_threads)
    return EstimatorFit(plan, learner, rows, hash_matrix(matrix, data.labels, data.weights))
