"""One fit, from checked parameters to fitted attributes. In: a booster, its rows, its validation rows. Out: a model."""

import copy
from typing import Any, NamedTuple, Self

import numpy as np

from comboost._boosting import FINAL, BoostRules, History, boost, first_costs
from comboost._callbacks import RoundCallbacks
from comboost._costs import bound_factor, cost_array, unit_costs
from comboost._dtypes import Floats
from comboost._fits import EstimatorFit, Fit, LocalFit, TableFit
from comboost._learners import TreePast
from comboost._memory import check_memory
from comboost._origin import Origin, check_past, check_same_values, past_of
from comboost._progress import ProgressPrinter
from comboost._training_set import Census, TrainingSet, ValidationSet
from comboost._validation import Judge, Patience, hold_out
from comboost._watching import Validation, Watch


class HeldRows(NamedTuple):
    """Rows to validate on: as a scorer gets them, and as the vote is counted."""

    X: Any
    y: Any
    sample_weight: Any
    coded: ValidationSet


class Given(NamedTuple):
    """What ``fit`` was given."""

    X: Any
    y: Any
    sample_weight: Any


class Training:
    """One fit of a booster, wherever its rows are.

    Parameters
    ----------
    booster : VoteBooster
        Whose parameters count; with ``warm_start`` its rounds are gone on from.
    fit : Fit
        Knows the rows and the weak learner.
    data : Census
        What is known of the rows to train on.
    given : Given
        What to train on, as given.
    n_threads : int
        Threads of every kernel.
    """

    def __init__(self, booster: Any, fit: Fit, data: Census, given: Given, n_threads: int) -> None:
        self._booster = booster
        self._fit = fit
        self._data = data
        self._given = given
        self._n_threads = n_threads
        self._past = past_of(booster)
        self._held: HeldRows | None = None
        if self._past is None:
            self._origin = Origin.of(booster, fit.shape[0], data.classes)
        else:
            self._origin = booster._origin
            self._origin.check_rows(fit.shape[0], data.classes)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._fit.close()

    def hold(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Validate on these rows."""
        try:
            X, n_rows = self._fit.hold_other(X)
        except ValueError as error:
            raise ValueError(f"X_val: {error}") from error
        self._held = HeldRows(X, y, sample_weight, ValidationSet.read(y, sample_weight, n_rows, self._data.classes))

    def hold_out(self, fraction: float) -> None:
        """Validate on some of the rows to train on, and train on the others; only where they are in this process."""
        raise NotImplementedError

    def run(self) -> None:
        """Boost, and give the booster its fitted attributes."""
        booster, data = self._booster, self._data
        learner, rows = self._fit.prepare(data, self._origin.seed)
        costs = cost_array(booster.cost_matrix, data.classes)
        base_masses = booster._base_masses(data.masses.astype(np.float64))
        unit = unit_costs(costs, base_masses)
        self._fingerprint = self._fit.fingerprint()
        if self._past is not None:
            check_same_values(self._fingerprint, booster._fingerprint, "rows")
        self._start = float((data.masses / base_masses) @ costs.sum(axis=1))  # L_0
        validation = self._make_validation()
        watch = self._make_watch(validation)
        if self._past is not None and self._past.stop_reason in FINAL:  # more rounds would learn nothing
            watch.finish(len(self._past), self._past.stop_reason)
            return
        self._catch_up(validation)
        rules = BoostRules(booster.n_estimators, float(booster.learning_rate), booster.step)
        total_weight = int(data.masses.sum())
        tried = boost(rows, learner, unit, first_costs(rows, unit), total_weight, rules, watch, self._past)

        kept = tried if validation is None else tried.first(validation.patience.best_round)
        model = self._attributes(kept)
        model |= {"stop_reason_": kept.stop_reason, "train_confusion_": self._fit.confusion(kept.alphas)}
        if validation is not None:
            model["validation_curve_"] = np.array(validation.patience.curve)
        vars(booster).update(model)
        watch.finish(len(kept), kept.stop_reason)

    def _catch_up(self, validation: Validation | None) -> None:
        """Validate the rounds of an earlier fit again, one by one."""
        if self._past is None or validation is None:
            return
        for n_rounds in range(1, len(self._past) + 1):
            validation.end(self._past.first(n_rounds))
        then = self._booster.validation_curve_[: len(self._past)].tolist()
        check_same_values(repr(validation.patience.curve), repr(then), "validation rows")

    def _attributes(self, history: History) -> dict[str, Any]:
        """The fitted attributes of the rounds in a history, but those that take a pass over all rows."""
        return {
            "classes_": self._data.classes,
            "n_iter_": len(history),
            "estimator_weights_": np.array(history.alphas),
            "edges_": np.array(history.edges),
            "loss_curve_": np.array(history.losses),
            "bound_curve_": self._bounds(history),
            "_origin": self._origin,
            "_fingerprint": self._fingerprint,
            **self._fit.attributes(history.alphas),
        }

    def _bounds(self, history: History) -> Floats:
        factors = [bound_factor(edge, self._booster.learning_rate) for edge in history.edges]
        return np.asarray(self._start * np.cumprod(factors), dtype=np.float64)

    def _make_watch(self, validation: Validation | None) -> Watch:
        booster, n_past = self._booster, 0 if self._past is None else len(self._past)
        X, y, weight = self._given
        metadata = None if weight is None else {"sample_weight": weight}
        n_rounds = booster.n_estimators - n_past
        callbacks = RoundCallbacks(booster, n_rounds, X=X, y=y, metadata=metadata, first_round=n_past)
        printer = None
        if booster.verbose > 0:
            printer = ProgressPrinter(booster.n_estimators, booster.verbose, with_score=validation is not None)
        return Watch(
            callbacks,
            self._attributes,
            lambda history: float(self._bounds(history)[-1]),
            validation=validation,
            printer=printer,
        )

    def _make_validation(self) -> Validation | None:
        if self._held is None:
            return None
        X, y, sample_weight, coded = self._held
        classes = self._data.classes
        judge = Judge(
            self._booster.scoring,
            X=X,
            y=y,
            labels=coded.labels,
            weights=coded.weights,
            sample_weight=sample_weight,
            classes=classes,
            n_threads=self._n_threads,
        )
        return Validation(
            judge,
            Patience(self._booster.n_iter_no_change, self._booster.tol),
            n_rows=len(coded.labels),
            n_classes=len(classes),
            add_votes=self._fit.add_votes,
            model=self._model_with_votes,
        )

    def _model_with_votes(self, history: History, votes: Floats) -> Any:
        """A model of the rounds so far that knows its votes on the validation rows."""
        assert self._held is not None
        model = copy.copy(self._booster)
        vars(model).update(self._attributes(history), _known_votes=(self._held.X, votes.copy()))
        return model


class TableTraining(Training):
    """One fit of a booster on a table in this process's memory; see `Training`."""

    _fit: LocalFit
    _data: TrainingSet

    def __init__(self, booster: Any, X: Any, y: Any, sample_weight: Any, n_threads: int) -> None:
        check_past(booster)
        fit = make_fit(booster, X, n_threads)
        n_rows, n_features = fit.shape
        data = TrainingSet.read(y, sample_weight, n_rows)
        super().__init__(booster, fit, data, Given(X, y, sample_weight), n_threads)
        check_memory(n_rows, n_features if booster.estimator is None else 0, len(data.classes))

    def hold_out(self, fraction: float) -> None:
        """Validate on some of the rows to train on, and train on the others."""
        data, given = self._data, self._given.sample_weight
        random = np.random.RandomState(self._origin.seed)
        train, held = hold_out(data.labels, len(data.classes), fraction, random)
        rows = held if data.rows is None else data.rows[held]
        coded = ValidationSet(data.labels[held], None if data.weights is None else data.weights[held])
        weight = None if given is None else np.asarray(given)[rows]
        self._held = HeldRows(self._fit.hold(rows), data.classes[data.labels[held]], weight, coded)
        self._data = data.take(train)


def make_fit(booster: Any, X: Any, n_threads: int) -> LocalFit:
    """The fit of the weak learner that the booster asks for."""
    if booster.estimator is None:
        return TableFit(booster, X, n_threads, trees_of(booster))
    return EstimatorFit(booster, X, n_threads, [] if past_of(booster) is None else booster.estimators_)


def trees_of(booster: Any) -> TreePast | None:
    """The trees from which a warm start goes on; None where the fit starts from nothing."""
    if past_of(booster) is None:
        return None
    return TreePast([booster._forest.tree(t) for t in range(booster.n_iter_)], booster._importances)
