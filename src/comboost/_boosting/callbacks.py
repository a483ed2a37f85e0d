"""Callbacks of scikit-learn. In: an estimator with callbacks. Out: they hear of every round and may end the fit.

scikit-learn knows callbacks from 1.9 on. Below, ``FallbackSupportMixin`` and ``fallback_with_callbacks`` stand in: they
call the same hooks in the same order with the same arguments, but nothing carries callbacks from a pipeline or a search
to the estimators inside.
"""

import copy
import functools
import inspect
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast

FitMethod = TypeVar("FitMethod", bound=Callable[..., Any])

HOOKS = ("setup", "on_fit_task_begin", "on_fit_task_end", "teardown")
HOOK_ARGUMENTS = ("X", "y", "metadata", "fitted_estimator")


@dataclass(eq=False)
class FallbackContext:
    """A task of a fit, as ``sklearn.callback.CallbackContext`` shows it to callbacks.

    Parameters
    ----------
    task_name : str
        Name of the task.
    task_id : int
        Place of the task among its siblings, from 0.
    max_subtasks : int or None
        Subtasks at most; None if nobody knows, 0 for a leaf.
    estimator_name : str
        Class of the estimator that does the task.
    callbacks : sequence
        The callbacks to tell.
    parent : FallbackContext or None, default=None
        The task of which this is a part.
    root_uuid : UUID
        The same for all tasks of a fit.
    """

    task_name: str
    task_id: int
    max_subtasks: int | None
    estimator_name: str
    callbacks: Sequence[Any] = field(repr=False)
    parent: "FallbackContext | None" = field(default=None, repr=False)
    root_uuid: uuid.UUID = field(default_factory=uuid.uuid4, repr=False)
    init_time: datetime = field(default_factory=lambda: datetime.now(UTC), repr=False)
    sequential_subtasks: bool = field(default=True, repr=False)
    # What stands here in scikit-learn comes from a meta-estimator, and none passes its tasks on below 1.9.
    source_estimator_name: ClassVar[None] = None
    source_task_name: ClassVar[None] = None
    _n_subtasks: int = field(default=0, init=False, repr=False)

    def subcontext(self, task_name: str = "", max_subtasks: int | None = 0) -> "FallbackContext":
        """The next part of this task."""
        task_id = self._n_subtasks
        self._n_subtasks += 1
        return FallbackContext(
            task_name, task_id, max_subtasks, self.estimator_name, self.callbacks, self, self.root_uuid
        )

    def call_on_fit_task_begin(self, *, estimator: Any, **given: Any) -> Self:
        """Tell the callbacks that the task begins."""
        self._call("on_fit_task_begin", estimator, given)
        return self

    def call_on_fit_task_end(self, *, estimator: Any, **given: Any) -> bool:
        """Tell the callbacks that the task ended, and whether one of them asks to stop."""
        return self._call("on_fit_task_end", estimator, given)

    def _call(self, hook_name: str, estimator: Any, given: dict[str, Any]) -> bool:
        made: dict[str, Any] = {}  # what several callbacks want is made once
        stop = False
        for callback in self.callbacks:
            hook = getattr(callback, hook_name)
            wanted = wanted_arguments(getattr(hook, "__func__", hook))  # of the function: the cache keeps no callback
            for name in wanted:
                if name not in made:
                    made[name] = make_argument(name, estimator, given)
            stop |= bool(hook(estimator, self, **{name: made[name] for name in wanted}))
        return stop


class FallbackSupportMixin:
    """What ``sklearn.callback.CallbackSupportMixin`` adds to an estimator, for scikit-learn below 1.9."""

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Set the callbacks that ``fit`` tells about its rounds, in place of those set before.

        Parameters
        ----------
        *callbacks : objects
            Each with the methods ``setup``, ``on_fit_task_begin``, ``on_fit_task_end`` and ``teardown``, as
            ``sklearn.callback.FitCallback`` describes them. None at all removes those set before.

        Returns
        -------
        self
            The estimator.
        """
        for callback in callbacks:
            check_callback(callback)
        # The name that scikit-learn uses, so that a pickle or a clone keeps its callbacks in any version.
        self.__dict__.pop("_skl_callbacks", None)
        if callbacks:
            self._skl_callbacks = list(callbacks)
        return self

    def __sklearn_clone__(self) -> Any:
        twin = super().__sklearn_clone__()  # type: ignore[misc]  # of BaseEstimator, the next in line
        return twin.set_callbacks(*getattr(self, "_skl_callbacks", ()))

    def _init_callback_context(self, task_name: str = "fit", max_subtasks: int | None = 0) -> FallbackContext:
        """Begin a fit: set up the callbacks. Only those on which ``setup`` was called are torn down after it."""
        callbacks = tuple(getattr(self, "_skl_callbacks", ()))
        self._callback_fit_ctx = FallbackContext(task_name, 0, max_subtasks, type(self).__name__, callbacks)
        self._skl_callbacks_to_teardown: list[Any] = []
        for callback in callbacks:
            self._skl_callbacks_to_teardown.append(callback)
            callback.setup(estimator=self, context=self._callback_fit_ctx)
        return self._callback_fit_ctx


def fallback_with_callbacks(method: FitMethod) -> FitMethod:
    """Let a method tear down the callbacks that it has set up, even if it fails."""

    @functools.wraps(method)
    def managed(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return method(estimator, *args, **kwargs)
        finally:
            if hasattr(estimator, "_callback_fit_ctx"):
                tear_down(estimator)

    return cast(FitMethod, managed)


def tear_down(estimator: Any) -> None:
    """Tear down the callbacks of a fit, each whatever the others do."""
    context = estimator.__dict__.pop("_callback_fit_ctx")
    errors = []
    for callback in estimator.__dict__.pop("_skl_callbacks_to_teardown"):
        try:
            callback.teardown(estimator=estimator, context=context)
        except Exception as error:
            errors.append(error)
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise ExceptionGroup("callbacks failed in teardown", errors)


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
    """Names of the arguments that a hook takes: its keyword-only ones."""
    parameters = inspect.signature(hook).parameters.values()
    wanted = tuple(parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY)
    if unknown := set(wanted) - set(HOOK_ARGUMENTS):
        raise TypeError(
            f"{hook.__qualname__} wants {', '.join(sorted(unknown))}, which a fit does not give; take some of "
            f"{', '.join(HOOK_ARGUMENTS)}."
        )
    return wanted


def make_argument(name: str, estimator: Any, given: dict[str, Any]) -> Any:
    """Make an argument of a hook from what the estimator gave: a value, or a function that makes it."""
    value = given.get("reconstruction_attributes" if name == "fitted_estimator" else name)
    if callable(value):
        value = value()
    if name != "fitted_estimator" or value is None:
        return value
    fitted = copy.copy(estimator)
    for attribute, content in value.items():
        setattr(fitted, attribute, content)
    return fitted


if TYPE_CHECKING:  # scikit-learn has no types; those of the fallback fit
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
    """A callback that tells how many rounds are done.

    Parameters
    ----------
    tell : callable
        Called with the number of rounds after each.
    """

    def __init__(self, tell: Callable[[int], None]) -> None:
        self._tell = tell
        self._n_done = 0

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """Hear that a round, or the whole fit, is done."""
        if context.parent is not None:
            self._n_done += 1
            self._tell(self._n_done)


def attribute_of_callbacks() -> str | None:
    """Name of the one attribute that ``set_callbacks`` sets; None should it set another number of them.

    scikit-learn does not say whether an estimator has callbacks, and its private name for them may change.
    """
    attributes = list(vars(CallbackSupportMixin().set_callbacks(NoCallback())))
    return attributes[0] if len(attributes) == 1 else None


CALLBACKS = attribute_of_callbacks()


class RoundCallbacks:
    """Tells the callbacks of an estimator about every round.

    The fit is the task "fit", its rounds are the subtasks "round 1", "round 2", ... . To be made in a method under
    ``with_callbacks``, which tears the callbacks down, and only if the estimator has callbacks (`CALLBACKS`): a task
    costs more than 2 µs even if nobody hears of it.

    Parameters
    ----------
    estimator : CallbackSupportMixin
        The estimator in its ``fit``.
    n_rounds : int
        Rounds that this fit adds at most.
    X : array-like
        The training rows in a form that ``predict`` takes, for callbacks that score.
    y : array-like
        Their classes.
    sample_weight : array-like or None
        Their weights.
    first_round : int, default=0
        Rounds that are there already.
    """

    def __init__(
        self, estimator: Any, n_rounds: int, X: Any, y: Any, sample_weight: Any, *, first_round: int = 0
    ) -> None:
        self._estimator = estimator
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        self._data = {"X": X, "y": y, "metadata": metadata}
        self._n_begun = first_round
        self._round: Any = None
        self._fit = estimator._init_callback_context(max_subtasks=n_rounds)
        self._fit.call_on_fit_task_begin(estimator=estimator, **self._data)

    def begin(self) -> None:
        """A round begins."""
        self._n_begun += 1
        self._round = self._fit.subcontext(task_name=f"round {self._n_begun}")
        self._round.call_on_fit_task_begin(estimator=self._estimator, **self._data)

    def end(self, attributes: Callable[[], dict[str, Any]]) -> bool:
        """A round ended and is kept.

        Parameters
        ----------
        attributes : callable
            Makes the fitted attributes of the rounds so far. Set on a copy of the estimator, they make it predict as if
            the fit had ended here. Called only if a callback wants that; it may keep what it gets, so later rounds
            must not change it.

        Returns
        -------
        bool
            Whether a callback asks to stop.
        """
        return self._end_round(attributes)

    def finish(self) -> None:
        """The fit ended and the estimator has all its attributes; a round that was begun but not kept ends without."""
        if self._round is not None:
            self._end_round(None)
        self._fit.call_on_fit_task_end(estimator=self._estimator, **self._data, reconstruction_attributes={})

    def _end_round(self, attributes: Callable[[], dict[str, Any]] | None) -> bool:
        ended, self._round = self._round, None
        stop: bool = ended.call_on_fit_task_end(
            estimator=self._estimator, **self._data, reconstruction_attributes=attributes
        )
        return stop
