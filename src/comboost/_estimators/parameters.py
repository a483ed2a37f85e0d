"""Parameters: names, ranges, what goes together. In: what was given. Out: nothing, or an error with what to give."""

import inspect
import math
import multiprocessing
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, wraps
from numbers import Integral, Real
from typing import Any, NamedTuple, ParamSpec, TypeVar

import joblib
import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import has_fit_parameter

from comboost._estimators.threads import allowed_threads, n_processors
from comboost._types import MAX_BINS

P = ParamSpec("P")
R = TypeVar("R")

QUOTA_HOLDS = 1.0  # seconds for which a quota of processors is believed: asking takes longer than to predict a row


class Rule(NamedTuple):
    """What a parameter may be.

    Attributes
    ----------
    words : str
        What is expected.
    holds : callable
        Whether a value is that.
    plain : callable
        Such a value as Python's own: NumPy's numbers overflow, and fractions are no floats.
    """

    words: str
    holds: Callable[[Any], bool]
    plain: Callable[[Any], Any] = lambda value: value


#: What other libraries call it, and what to do here.
HINTS = {
    "class_weight": "give cost_matrix, one cost per true class",
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


def integer(low: float, high: float = math.inf) -> Rule:
    """An integer of at least ``low`` and at most ``high``."""
    words = f"an integer from {low} to {high}" if high != math.inf else f"an integer of at least {low}"
    return Rule(words if low != -math.inf else "an integer", lambda value: is_integer(value, low, high), int)


def is_integer(value: Any, low: float, high: float) -> bool:
    """Whether a value is an integer, and between these."""
    return isinstance(value, Integral) and not isinstance(value, bool) and low <= int(value) <= high


def real(low: float, high: float, *, without_low: bool = False, without_high: bool = False) -> Rule:
    """A number in [low, high], without the one or the other if that is said."""
    words = f"a number in {'(' if without_low else '['}{low:g}, {high:g}{')' if without_high else ']'}"
    outside = [low] * without_low + [high] * without_high
    return Rule(
        words, lambda value: is_real(value) and low <= float(value) <= high and float(value) not in outside, float
    )


def is_real(value: Any) -> bool:
    """Whether a value is a number that a float can hold."""
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        return False


def choice(*options: str) -> Rule:
    """One of some strings."""
    return Rule(" or ".join(map(repr, options)), lambda value: isinstance(value, str) and value in options, str)


def either(*rules: Rule) -> Rule:
    """What one of the rules allows."""
    return Rule(
        ", or ".join(rule.words for rule in rules),
        lambda value: any(rule.holds(value) for rule in rules),
        lambda value: next(rule for rule in rules if rule.holds(value)).plain(value),
    )


NOTHING = Rule("None", lambda value: value is None)
SWITCH = Rule("True or False", lambda value: isinstance(value, bool | np.bool_), bool)
TEXT = Rule("a string", lambda value: isinstance(value, str))
FUNCTION = Rule("a callable", callable)
SEED = either(
    integer(0, 2**32 - 1),
    Rule("a RandomState", lambda value: isinstance(value, np.random.RandomState)),
    Rule("np.random", lambda value: value is np.random),
    NOTHING,
)
N_JOBS = either(integer(-math.inf), NOTHING)
DECIMALS = either(integer(0), NOTHING)
PROBA = choice("softmax", "votes")
PRIORS = either(
    choice("uniform", "training"),
    NOTHING,
    Rule(
        "shares of the classes, an array or a dict",
        lambda value: np.iterable(value) and not isinstance(value, str | bytes),
    ),
)
CALIBRATION = either(choice("temperature", "isotonic"), NOTHING)
DECISION = choice("votes", "expected_cost")
REJECT_COST = either(real(0, 1e30, without_low=True), NOTHING)
ANSWER_RULES: dict[str, Rule] = {
    "calibration": CALIBRATION,
    "calibration_folds": integer(2, 2**31 - 1),
    "priors": PRIORS,
    "decision": DECISION,
    "reject_cost": REJECT_COST,
}

RULES: dict[str, Rule] = {
    "n_estimators": integer(1, 2**31 - 1),
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
    "refit": SWITCH,
    "warm_start": SWITCH,
    "proba": PROBA,
    "n_jobs": N_JOBS,
    "random_state": SEED,
    "verbose": either(integer(0), SWITCH),
    **ANSWER_RULES,
}
CONFUSION_RULES: dict[str, Rule] = {
    **{name: rule for name, rule in RULES.items() if name not in ("criterion", "step", "proba")},
    "max_depth": either(integer(1), choice("auto"), NOTHING),
    "max_leaf_nodes": either(integer(2), NOTHING),
    "loss": choice("log", "exponential"),
    "smoothing": real(0, 1e6),
    "balance": real(0, 1),
    "max_thresholds": either(integer(1, MAX_BINS - 1), NOTHING),
    "noise": real(0, 100),
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
HELD_OUT_PARAMETERS = ("validation_fraction", "refit")  # about rows that are held out of those given
VALIDATION_PARAMETERS = ("scoring", "n_iter_no_change", "tol", *HELD_OUT_PARAMETERS)


def check_parameters(estimator: Any, rules: Mapping[str, Rule]) -> None:
    """Raise if a parameter of the estimator breaks its rule."""
    for name, rule in rules.items():
        value = getattr(estimator, name)
        if not rule.holds(value):
            raise ValueError(f"{type(estimator).__name__} got {name}={value!r}; give {rule.words}.")


def plain_values(estimator: Any, rules: Mapping[str, Rule]) -> dict[str, Any]:
    """The parameters that rules are about, and that have passed them, as Python's own values."""
    return {name: rule.plain(getattr(estimator, name)) for name, rule in rules.items()}


def off_default(estimator: Any, names: Iterable[str], declared: type) -> dict[str, Any]:
    """Those of these parameters that are not at their defaults, as the class declares them, and their values."""
    defaults = inspect.signature(declared).parameters
    changed = {}
    for name in names:
        value, default = getattr(estimator, name), defaults[name].default
        if value is not default and not is_default(value, default):
            changed[name] = value
    return changed


def is_default(value: Any, default: Any) -> bool:
    """Whether a value is the default, be it a NumPy scalar; other arrays never are."""
    return np.ndim(value) == 0 and isinstance(value, bool) == isinstance(default, bool) and bool(value == default)


def check_weak_learner(weak: Any, changed: Mapping[str, Any]) -> None:
    """Raise if a weak learner cannot be boosted, or if parameters of the tree, which it replaces, were changed."""
    can_fit = hasattr(weak, "fit") and is_classifier(weak)
    if not can_fit or not has_fit_parameter(weak, "sample_weight"):
        raise ValueError(
            f"estimator={weak!r} cannot be boosted; give a scikit-learn classifier whose fit takes sample_weight, for "
            "example LogisticRegression() or DecisionTreeClassifier(max_depth=3)."
        )
    if changed:
        raise ValueError(
            f"{', '.join(changed)} shape(s) the built-in tree, which estimator={weak!r} replaces; leave such "
            "parameters at their defaults and set those of the estimator instead."
        )


def check_validation(
    early_stopping: bool, changed: Mapping[str, Any], X_val: Any, y_val: Any, sample_weight_val: Any
) -> None:
    """Raise if something that early stopping needs is missing, or if something given would be ignored.

    Parameters of early stopping may be given without it, as to any estimator: a search over both would otherwise fail.
    Rows may not: whoever gives them expects them to be looked at.
    """
    if (X_val is None) != (y_val is None) or (X_val is None and sample_weight_val is not None):
        raise ValueError("X_val and y_val belong together, and sample_weight_val to both; give the two, or neither.")
    if not early_stopping and X_val is not None:
        raise ValueError(
            "X_val would be ignored, since early_stopping=False; set early_stopping=True, or leave X_val and y_val out."
        )
    if X_val is not None and changed:
        name = next(iter(changed))
        raise ValueError(f"{name}={changed[name]} would be ignored, since X_val is given; leave one out.")


def check_refit(refit: bool, warm_start: bool) -> None:
    """Raise if rounds that were trained on all rows would have to go on being validated."""
    if refit and warm_start:
        raise ValueError(
            "refit=True leaves rounds that were trained on all rows, so a warm start could not validate those to come; "
            "leave refit or warm_start at False."
        )


def n_threads_of(n_jobs: int | None) -> int:
    """Threads that ``n_jobs`` gets here: as in joblib, but no more than there are processors, and OpenMP would get."""
    if not N_JOBS.holds(n_jobs):  # it may be set after the fit, which checks it
        raise ValueError(f"n_jobs={n_jobs!r}; give {N_JOBS.words}.")
    n_workers: int = joblib.effective_n_jobs(N_JOBS.plain(n_jobs))
    if n_workers == 1:
        return 1
    n_useful = min(n_workers, processors_of(int(time.monotonic() / QUOTA_HOLDS)))
    n_threads = allowed_threads(n_useful)
    if n_threads < n_useful and started_a_cluster():
        warnings.warn(
            f"n_jobs={n_jobs} gets {n_threads} of {n_useful} threads here, probably since OMP_NUM_THREADS is "
            f"{os.environ['OMP_NUM_THREADS']}. A cluster of Dask that is started before comboost is imported leaves "
            f"that behind; import first, or fit within threadpoolctl.threadpool_limits({n_useful}).",
            stacklevel=2,
        )
    return n_threads


@lru_cache(maxsize=1)
def processors_of(_moment: int) -> int:
    """Processors that this process may use; asked anew from moment to moment."""
    return n_processors()


def started_a_cluster() -> bool:
    """Whether a cluster of Dask may have limited the threads of this process, when it meant those of its workers."""
    is_worker = multiprocessing.parent_process() is not None
    return "distributed" in sys.modules and "OMP_NUM_THREADS" in os.environ and not is_worker


def explained(method: Callable[P, R]) -> Callable[P, R]:
    """Let a method of an estimator say, in public names, what is wrong with its arguments; see ``_hints``."""
    signature = inspect.signature(method)

    @wraps(method)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            estimator: Any = args[0]
            called = type(estimator).__name__ + ("" if method.__name__ == "__init__" else f".{method.__name__}")
            unknown = [name for name in kwargs if name not in signature.parameters]
            raise argument_error(called, unknown, estimator._hints, str(error)) from None
        return method(*args, **kwargs)

    return checked


def argument_error(called: str, unknown: list[str], hints: Mapping[str, str], otherwise: str) -> TypeError:
    """What to do about arguments that are not there, or what else is wrong."""
    if not unknown:
        return TypeError(f"{called}: {otherwise}; give parameters by their names.")
    said = f"{called} got an unexpected keyword argument {', '.join(map(repr, unknown))}"
    return TypeError("; ".join([said, *(f"for {name}, {hints[name]}" for name in unknown if name in hints)]) + ".")
