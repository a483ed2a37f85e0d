"""Parameters of estimators: names, types, ranges. In: what was given. Out: nothing, or an error with what to give."""

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from numbers import Integral, Real
from typing import Any, ParamSpec, TypeVar

import joblib
import numpy as np

from comboost import _core

P = ParamSpec("P")
R = TypeVar("R")

Rule = tuple[str, Callable[[Any], bool]]  # what is expected, in words, and whether a value is it

#: What other libraries call it, and what to do here.
HINTS = {
    "class_weight": "give cost_matrix, one cost per true class: a weight for all rows of a class would cancel",
    "scale_pos_weight": "give cost_matrix, one cost per true class",
    "max_iter": "give n_estimators",
    "num_iterations": "give n_estimators",
    "iterations": "give n_estimators",
    "eta": "give learning_rate",
    "max_leaf_nodes": "give max_depth or min_weight_fraction_leaf",
    "eval_set": "give X_val and y_val to fit, with early_stopping=True",
    "eval_metric": "give scoring, with early_stopping=True",
    "early_stopping_rounds": "give n_iter_no_change, with early_stopping=True",
    "base_estimator": "give estimator",
    "cat_features": "give categorical_features",
    "categorical_feature": "give categorical_features",
    "seed": "give random_state",
}


def integer(low: int, high: float = math.inf) -> Rule:
    """An integer of at least ``low`` and at most ``high``."""
    words = f"an integer of at least {low}" if high == math.inf else f"an integer from {low} to {high}"
    return (
        words,
        lambda value: isinstance(value, Integral) and not isinstance(value, bool) and low <= int(value) <= high,
    )


def real(low: float, high: float, *, without_low: bool = False, without_high: bool = False) -> Rule:
    """A number in [low, high], without the one or the other if that is said."""
    words = f"a number in {'(' if without_low else '['}{low:g}, {high:g}{')' if without_high else ']'}"
    outside = [low] * without_low + [high] * without_high
    return (
        words,
        lambda value: (
            isinstance(value, Real)
            and not isinstance(value, bool)
            and math.isfinite(value)
            and low <= float(value) <= high
            and value not in outside
        ),
    )


def choice(*options: str) -> Rule:
    """One of some strings."""
    return " or ".join(map(repr, options)), lambda value: isinstance(value, str) and value in options


def either(*rules: Rule) -> Rule:
    """What one of the rules allows."""
    return ", or ".join(words for words, _ in rules), lambda value: any(holds(value) for _, holds in rules)


NOTHING: Rule = ("None", lambda value: value is None)
SWITCH: Rule = ("True or False", lambda value: isinstance(value, bool | np.bool_))
TEXT: Rule = ("a string", lambda value: isinstance(value, str))
FUNCTION: Rule = ("a callable", callable)


def check_parameters(estimator: Any, rules: Mapping[str, Rule]) -> None:
    """Raise if a parameter of the estimator breaks its rule."""
    for name, (words, holds) in rules.items():
        value = getattr(estimator, name)
        if not holds(value):
            raise ValueError(f"{type(estimator).__name__} got {name}={value!r}; give {words}.")


def off_default(estimator: Any, names: Iterable[str], declared: type) -> list[str]:
    """Which of these parameters are not at their defaults, as the class declares them."""
    defaults = inspect.signature(declared).parameters
    return [name for name in names if not is_default(getattr(estimator, name), defaults[name].default)]


def is_default(value: Any, default: Any) -> bool:
    """Whether a value is the default, be it a NumPy scalar; other arrays never are."""
    return np.ndim(value) == 0 and isinstance(value, bool) == isinstance(default, bool) and bool(value == default)


def n_threads_of(n_jobs: int | None) -> int:
    """Threads that ``n_jobs`` gets here, in the meaning of joblib."""
    return _core.available_threads(joblib.effective_n_jobs(n_jobs))


def explained(method: Callable[P, R]) -> Callable[P, R]:
    """Let a method of an estimator say what to do about an argument that it does not have; see ``_hints``."""
    known = inspect.signature(method).parameters

    @wraps(method)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        if not kwargs.keys() <= known.keys():
            raise unknown_argument_error(args[0], method.__name__, sorted(kwargs.keys() - known.keys()))
        return method(*args, **kwargs)

    return checked


def unknown_argument_error(estimator: Any, method: str, names: list[str]) -> TypeError:
    """What to do about arguments that are not there."""
    called = type(estimator).__name__ + ("" if method == "__init__" else f".{method}")
    hints = [estimator._hints[name] for name in names if name in estimator._hints]
    said = f"{called} got an unexpected keyword argument {', '.join(map(repr, names))}"
    return TypeError("; ".join([said, *hints]) + ".")
