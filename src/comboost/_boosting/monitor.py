"""Monitoring of a fit: callbacks, progress output and early stopping after every round.

The boosting loop notifies a ``FitMonitor``. scikit-learn supports callbacks from version 1.9 on. For older versions,
``FallbackSupportMixin`` and ``fallback_with_callbacks`` call the same hooks in the same order with the same arguments,
but pipelines and searches do not pass callbacks on to the estimators inside.
"""

import copy
import functools
import inspect
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast

from comboost._boosting.early_stopping import Validation
from comboost._boosting.learners import Fit
from comboost._boosting.loop import CALLBACK, EARLY_STOPPING, History

FitMethod = TypeVar("FitMethod", bound=Callable[..., Any])

HOOKS = ("setup", "on_fit_task_begin", "on_fit_task_end", "teardown")
HOOK_ARGUMENTS = ("X", "y", "metadata", "fitted_estimator")
MIN_ROUND_WIDTH = 5  # of the header
NUMBER_WIDTH = 10  # four digits, a sign or an exponent: 1.234e-200
TIME_WIDTH = 12  # 100 h 59 min


@dataclass(frozen=True)
class FitMonitor:
    """Notifies early stopping, the progress printer and the callbacks after every round."""

    fit: Fit
    validation: Validation | None  # scores every round on the validation set
    printer: "ProgressPrinter | None"
    callbacks: "RoundCallbacks | None"

    def begin(self) -> None:
        """Start a round."""
        if self.callbacks is not None:
            self.callbacks.begin()

    def end(self, history: History) -> str | None:
        """Report the rounds kept so far; return a reason to stop, or None."""
        no_improvement = self.validation is not None and self.validation.end(history)
        if self.printer is not None:
            score = None if self.validation is None else self.validation.patience.curve[-1]
            bound = float(self.fit.plan.values.bounds(history.edges, history.decreases)[-1])
            self.printer.round(len(history), history.losses[-1], bound, history.edges[-1], score)
        stop = False
        if self.callbacks is not None:
            rounds = history.first(len(history))  # a copy, since callbacks may store the model
            stop = self.callbacks.end(functools.partial(self._attributes, rounds))
        if no_improvement:
            return EARLY_STOPPING
        return CALLBACK if stop else None

    def _attributes(self, rounds: History) -> dict[str, Any]:
        """The attributes of the model that callbacks get."""
        attributes = self.fit.attributes(rounds)
        if self.validation is not None:
            attributes["validation_soft_confusion_"] = self.validation.soft_confusion()
        return attributes

    def finish(self, history: History) -> None:
        """Report the end of the fit, with the rounds of the model."""
        if self.printer is not None:
            self.printer.finish(len(history), history.stop_reason)
        if self.callbacks is not None:
            self.callbacks.finish()


class RoundCallbacks:
    """Calls the callbacks of an estimator at every round.

    The fit is the task "fit", its rounds are the subtasks "round 1", "round 2", ... . Create it in a method decorated
    by ``with_callbacks``, which tears the callbacks down, and only if the estimator has callbacks (`CALLBACKS`): a task
    costs more than 2 µs even without a callback.

    Parameters
    ----------
    estimator : CallbackSupportMixin
        The estimator in its ``fit``.
    n_rounds : int
        Maximum number of rounds that this fit adds.
    X : array-like
        The training samples in a form that ``predict`` accepts, for callbacks that score.
    y : array-like
        Their classes.
    sample_weight : array-like or None
        Their weights.
    first_round : int, default=0
        Number of rounds of an earlier fit.
    """

    def __init__(
        self, estimator: Any, n_rounds: int, X: Any, y: Any, sample_weight: Any, *, first_round: int = 0
    ) -> None:
        self._estimator = estimator
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        self._data = {"X": X, "y": y, "metadata": metadata}
        self._n_started = first_round
        self._round: Any = None
        self._fit = estimator._init_callback_context(max_subtasks=n_rounds)
        self._fit.call_on_fit_task_begin(estimator=estimator, **self._data)

    def begin(self) -> None:
        """Start a round."""
        self._n_started += 1
        self._round = self._fit.subcontext(task_name=f"round {self._n_started}")
        self._round.call_on_fit_task_begin(estimator=self._estimator, **self._data)

    def end(self, attributes: Callable[[], dict[str, Any]] | None) -> bool:
        """End a round; return whether a callback requests to stop.

        Parameters
        ----------
        attributes : callable or None
            Returns the fitted attributes of the rounds so far. Set on a copy of the estimator, they make it predict as
            if the fit had ended here. Called only if a callback needs it, which may keep the result, so later rounds
            must not change it. None if the round is not kept.
        """
        ended, self._round = self._round, None
        stop: bool = ended.call_on_fit_task_end(
            estimator=self._estimator, **self._data, reconstruction_attributes=attributes
        )
        return stop

    def finish(self) -> None:
        """End the fit, after the estimator got all its attributes."""
        if self._round is not None:
            self.end(None)
        self._fit.call_on_fit_task_end(estimator=self._estimator, **self._data, reconstruction_attributes={})


class ProgressPrinter:
    """Prints the rounds of a fit as a table, at most 80 columns wide.

    Parameters
    ----------
    n_rounds : int
        Maximum number of rounds.
    every : int
        Number of rounds between lines; the first and the last round are always printed.
    with_score : bool
        Whether to print a column of validation scores.
    print : callable, default=print
        Prints a line.
    clock : callable, default=time.perf_counter
        Returns the time in seconds.
    """

    def __init__(
        self,
        n_rounds: int,
        every: int,
        *,
        with_score: bool,
        print: Callable[[str], object] = print,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._n_rounds = n_rounds
        self._every = every
        self._with_score = with_score
        self._print = print
        self._clock = clock
        self._start = clock()
        self._n_seen = 0  # not the number of the round: a warm start continues an earlier fit
        self._unprinted: tuple[int, list[float | None], float] | None = None  # number, columns, time left

    def round(self, number: int, loss: float, bound: float, edge: float, score: float | None = None) -> None:
        """Report a round.

        Parameters
        ----------
        number : int
            Number of the round, from 1.
        loss, bound, edge : float
            Loss after the round, the bound on it, and the edge of the round.
        score : float, optional
            Validation score.
        """
        self._n_seen += 1
        left = (self._clock() - self._start) / self._n_seen * (self._n_rounds - number)
        self._unprinted = (number, [loss, bound, edge, *([score] if self._with_score else [])], left)
        if self._n_seen == 1:
            names = ["loss", "bound", "edge", *(["validation"] if self._with_score else [])]
            self._print_line("round", names, "time left")
        if self._n_seen == 1 or number % self._every == 0:
            self._print_round()

    def finish(self, number: int, reason: str) -> None:
        """Report the end of the fit: the number of rounds of the model, and why it has no more."""
        self._print_round()
        took = format_time(self._clock() - self._start)
        self._print(f"{number} of {self._n_rounds} rounds kept after {took}: {reason}")

    def _print_round(self) -> None:
        if self._unprinted is not None:
            number, values, left = self._unprinted
            self._print_line(f"{number}/{self._n_rounds}", list(map(format_number, values)), format_time(left))
            self._unprinted = None

    def _print_line(self, round_text: str, numbers: list[str], time_text: str) -> None:
        round_width = max(MIN_ROUND_WIDTH, 2 * len(str(self._n_rounds)) + 1)
        columns = [round_text.rjust(round_width), *(text.rjust(NUMBER_WIDTH) for text in numbers)]
        self._print("  ".join([*columns, time_text.rjust(TIME_WIDTH)]))


def format_number(value: float | None) -> str:
    """Format with four digits; a dash for None."""
    return "-" if value is None else f"{value:#.4g}".removesuffix(".")


def format_time(seconds: float) -> str:
    """Format a time in its two largest units, or in seconds."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes == 0:
        return f"{rest} s"
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min"


@dataclass(eq=False)
class FallbackContext:
    """A task of a fit, with the interface of ``sklearn.callback.CallbackContext``."""

    task_name: str
    task_id: int  # index of the task among its siblings
    max_subtasks: int | None  # None if unknown, 0 for a leaf
    estimator_name: str
    callbacks: Sequence[Any] = field(repr=False)
    parent: "FallbackContext | None" = field(default=None, repr=False)
    root_uuid: uuid.UUID = field(default_factory=uuid.uuid4, repr=False)  # shared by all tasks of a fit
    init_time: datetime = field(default_factory=lambda: datetime.now(UTC), repr=False)
    sequential_subtasks: bool = field(default=True, repr=False)
    # Set by meta-estimators in scikit-learn 1.9; older versions do not pass tasks on.
    source_estimator_name: ClassVar[None] = None
    source_task_name: ClassVar[None] = None
    _n_subtasks: int = field(default=0, init=False, repr=False)

    def subcontext(self, task_name: str = "", max_subtasks: int | None = 0) -> "FallbackContext":
        """Create the next subtask."""
        task_id = self._n_subtasks
        self._n_subtasks += 1
        return FallbackContext(
            task_name, task_id, max_subtasks, self.estimator_name, self.callbacks, self, self.root_uuid
        )

    def call_on_fit_task_begin(self, *, estimator: Any, **given: Any) -> Self:
        """Notify the callbacks that the task starts."""
        self._call("on_fit_task_begin", estimator, given)
        return self

    def call_on_fit_task_end(self, *, estimator: Any, **given: Any) -> bool:
        """Notify the callbacks that the task ended; return whether one of them requests to stop."""
        return self._call("on_fit_task_end", estimator, given)

    def _call(self, hook_name: str, estimator: Any, given: dict[str, Any]) -> bool:
        arguments: dict[str, Any] = {}  # computed once for all callbacks
        stop = False
        for callback in self.callbacks:
            hook = getattr(callback, hook_name)
            wanted = wanted_arguments(
                getattr(hook, "__func__", hook)
            )  # of the function, so that the cache holds no callback
            for name in wanted:
                if name not in arguments:
                    arguments[name] = make_argument(name, estimator, given)
            stop |= bool(hook(estimator, self, **{name: arguments[name] for name in wanted}))
        return stop


class FallbackSupportMixin:
    """Replacement of ``sklearn.callback.CallbackSupportMixin`` for scikit-learn below 1.9."""

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Set the callbacks that ``fit`` calls at every round; they replace those set before.

        Parameters
        ----------
        *callbacks : objects
            Each with the methods ``setup``, ``on_fit_task_begin``, ``on_fit_task_end`` and ``teardown``, as
            ``sklearn.callback.FitCallback`` describes them. Without arguments, all callbacks are removed.

        Returns
        -------
        self
            The estimator.
        """
        for callback in callbacks:
            check_callback(callback)
        # The attribute name of scikit-learn, so that pickles and clones keep their callbacks in any version.
        self.__dict__.pop("_skl_callbacks", None)
        if callbacks:
            self._skl_callbacks = list(callbacks)
        return self

    def __sklearn_clone__(self) -> Any:
        clone = super().__sklearn_clone__()  # type: ignore[misc]  # of BaseEstimator, the next in line
        return clone.set_callbacks(*getattr(self, "_skl_callbacks", ()))

    def _init_callback_context(self, task_name: str = "fit", max_subtasks: int | None = 0) -> FallbackContext:
        """Set up the callbacks for a fit. Only those whose ``setup`` was called are torn down after it."""
        callbacks = tuple(getattr(self, "_skl_callbacks", ()))
        self._callback_fit_ctx = FallbackContext(task_name, 0, max_subtasks, type(self).__name__, callbacks)
        self._skl_callbacks_to_teardown: list[Any] = []
        for callback in callbacks:
            self._skl_callbacks_to_teardown.append(callback)
            callback.setup(estimator=self, context=self._callback_fit_ctx)
        return self._callback_fit_ctx


def fallback_with_callbacks(method: FitMethod) -> FitMethod:
    """Tear down the callbacks that a method has set up, even if it fails."""

    @functools.wraps(method)
    def managed(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return method(estimator, *args, **kwargs)
        finally:
            context = estimator.__dict__.pop("_callback_fit_ctx", None)
            errors = []
            for callback in estimator.__dict__.pop("_skl_callbacks_to_teardown", ()):
                try:
                    callback.teardown(estimator=estimator, context=context)
                except Exception as error:
                    errors.append(error)
            if len(errors) == 1:
                raise errors[0]
            if errors:
                raise ExceptionGroup("callbacks failed in teardown", errors)

    return cast(FitMethod, managed)


def check_callback(callback: Any) -> None:
    """Raise if an object is not a callback."""
    lacking = [hook for hook in HOOKS if not hasattr(callback, hook)]
    if lacking:
        raise TypeError(
            f"{callback!r} is not a callback: it has no {', '.join(lacking)}; give objects with the methods "
            f"{', '.join(HOOKS)}."
        )
    if isinstance(callback, type):
        raise TypeError(f"{callback.__name__} is a class; give an instance, {callback.__name__}().")


@functools.lru_cache
def wanted_arguments(hook: Callable[..., Any]) -> tuple[str, ...]:
    """Names of the keyword-only arguments of a hook."""
    parameters = inspect.signature(hook).parameters.values()
    wanted = tuple(parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY)
    if unknown := set(wanted) - set(HOOK_ARGUMENTS):
        raise TypeError(
            f"{hook.__qualname__} wants {', '.join(sorted(unknown))}, which a fit does not pass; use some of "
            f"{', '.join(HOOK_ARGUMENTS)}."
        )
    return wanted


def make_argument(name: str, estimator: Any, given: dict[str, Any]) -> Any:
    """Compute an argument of a hook: the estimator passes a value, or a function that returns it."""
    value = given.get("reconstruction_attributes" if name == "fitted_estimator" else name)
    if callable(value):
        value = value()
    if name != "fitted_estimator" or value is None:
        return value
    fitted = copy.copy(estimator)
    for attribute, content in value.items():
        setattr(fitted, attribute, content)
    return fitted


if TYPE_CHECKING:  # scikit-learn is untyped; the fallback has the same interface
    CallbackSupportMixin = FallbackSupportMixin
    with_callbacks = fallback_with_callbacks
else:
    try:
        from sklearn.callback import CallbackSupportMixin, with_callbacks
    except ImportError:  # scikit-learn < 1.9
        CallbackSupportMixin, with_callbacks = FallbackSupportMixin, fallback_with_callbacks


class NoCallback:
    """A callback that does nothing."""

    def setup(self, estimator: Any, context: Any) -> None:
        """Do nothing."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Do nothing."""

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """Do nothing."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Do nothing."""


class RoundCounter(NoCallback):
    """A callback that reports the number of finished rounds.

    Parameters
    ----------
    report : callable
        Called with the number of rounds after each.
    """

    def __init__(self, report: Callable[[int], None]) -> None:
        self._report = report
        self._n_done = 0

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """Count a round; the whole fit has no parent task."""
        if context.parent is not None:
            self._n_done += 1
            self._report(self._n_done)


# scikit-learn has no public way to find out whether an estimator has callbacks.
_attributes = list(vars(CallbackSupportMixin().set_callbacks(NoCallback())))
#: Name of the attribute that ``set_callbacks`` sets; None if it sets several.
CALLBACKS = _attributes[0] if len(_attributes) == 1 else None
