"""Parameters of the estimators, each declared once.

A table of parameters is a frozen dataclass whose fields `parameter` makes: default, rule, kind, documentation. The
constructor of an estimator, its signature, its validation, its docstring, its Dask variant and what a warm start
compares follow from the table. An instance of it holds validated values: the settings that a fit reads.
"""

import dataclasses
import inspect
import math
import multiprocessing
import os
import re
import sys
import textwrap
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache, update_wrapper, wraps
from numbers import Integral, Real
from types import ModuleType, NoneType
from typing import Any, Concatenate, Literal, NamedTuple, ParamSpec, Protocol, Self, TypeVar, cast

import joblib
import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, is_classifier
from sklearn.utils.validation import has_fit_parameter

from comboost._engine.norms import NORMS, Norm, get_norm
from comboost._estimators.threads import allowed_threads, n_processors
from comboost._types import MAX_BINS, MAX_PAIRED, MatrixLike
from comboost.metrics._scorers import Scorer

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

#: What depends on a parameter:
#: "boosting": the boosting rounds;
#: "tree": the built-in trees, so it must keep its default beside ``estimator``;
#: "validation": the boosting rounds, with ``early_stopping`` only;
#: "held out": the same, and only if no validation set is given;
#: "prediction": what is made of the scores, so a warm start may change it;
#: "run": nothing of the above, so a warm start may change it.
Kind = Literal["boosting", "tree", "validation", "held out", "prediction", "run"]

MAX_INT = 2**31 - 1
DOC_WIDTH = 116
QUOTA_SECONDS = 1.0  # for which a CPU quota is cached: reading it takes longer than predicting a sample


# Rules


class Case(NamedTuple):
    """One kind of allowed values: types, bounds or options, and how to convert a value to a plain Python one."""

    words: str  # in error messages
    doc: str  # in docstrings
    types: tuple[type, ...]
    convert: Callable[..., Any] | None = None
    bounds: tuple[float, float] | None = None
    excluded: tuple[float, ...] = ()
    options: tuple[object, ...] | None = None
    refused: tuple[type, ...] = (bool,)  # types, though they are subclasses of allowed ones

    def accepts(self, value: T) -> bool:
        """Whether a value is allowed."""
        if not isinstance(value, self.types) or isinstance(value, self.refused):
            return False
        if self.options is not None:
            return value in self.options
        if self.bounds is None or self.convert is None:
            return True
        try:
            number = self.convert(value)
        except OverflowError:
            return False
        low, high = self.bounds
        return low <= number <= high and number not in self.excluded


class Rule(NamedTuple):
    """The values that a parameter may have; ``a | b`` allows those of either rule."""

    cases: tuple[Case, ...]

    def __or__(self, other: "Rule") -> "Rule":
        return Rule(self.cases + other.cases)

    @property
    def words(self) -> str:
        """The allowed values, as an error message names them."""
        return ", or ".join(case.words for case in self.cases)

    @property
    def doc(self) -> str:
        """The allowed values, as a docstring names them."""
        *first, last = dict.fromkeys(case.doc for case in self.cases if case.doc)
        return f"{', '.join(first)} or {last}" if first else last

    def read(self, owner: str, name: str, value: T) -> Any:
        """A valid value as a plain Python one; ValueError says what to give instead."""
        for case in self.cases:
            if case.accepts(value):
                return value if case.convert is None else case.convert(value)
        raise ValueError(f"{owner} got {name}={value!r}; give {self.words}.")


def integer(low: float, high: float = math.inf) -> Rule:
    """An integer in [low, high]."""
    words = f"an integer from {low} to {high}" if high != math.inf else f"an integer of at least {low}"
    return Rule((Case(words if low != -math.inf else "an integer", "int", (Integral,), int, (low, high)),))


def real(low: float, high: float, *, without_low: bool = False, without_high: bool = False) -> Rule:
    """A finite number between two others, with or without these."""
    words = f"a number in {'(' if without_low else '['}{low:g}, {high:g}{')' if without_high else ']'}"
    excluded = (low,) * without_low + (high,) * without_high
    return Rule((Case(words, "float", (Real,), float, (low, high), excluded),))


def choice(*options: str) -> Rule:
    """One of some strings."""
    doc = f'"{options[0]}"' if len(options) == 1 else "{" + ", ".join(f'"{option}"' for option in options) + "}"
    return Rule((Case(" or ".join(map(repr, options)), doc, (str,), str, options=options),))


def unchecked(doc: str) -> Rule:
    """Anything: the value is checked together with the data."""
    return Rule((Case("", doc, (object,), refused=()),))


NONE = Rule((Case("None", "None", (NoneType,)),))
SWITCH = Rule((Case("True or False", "bool", (bool, np.bool_), bool, refused=()),))
SEED = Rule(
    (
        *integer(0, 2**32 - 1).cases,
        Case("a RandomState", "RandomState instance", (np.random.RandomState,)),
        Case("np.random", "", (ModuleType,), options=(np.random,)),
        *NONE.cases,
    )
)
N_JOBS = integer(-math.inf) | NONE
DECIMALS = integer(0) | NONE
SCORING = Rule((Case("a string", "str", (str,)), Case("a callable", "callable", (Callable,)))) | NONE  # type: ignore[arg-type]
CATEGORICAL = unchecked('"from_dtype", array-like or None')
PROBA = choice("softmax", "vote_fraction")
CLASS_PROBABILITIES = Case(
    "class probabilities, an array or a dict", "array-like, dict", (Iterable,), refused=(str, bytes)
)
PRIORS = Rule((*choice("uniform", "training").cases, CLASS_PROBABILITIES, *NONE.cases))
CALIBRATION = choice("temperature", "isotonic") | NONE
DECISION = choice("argmax", "expected_cost")
NORM = unchecked("{" + ", ".join(f'"{name}"' for name in NORMS) + "} or object")
REJECT_COST = real(0, 1e30, without_low=True) | NONE


NORM_DOC = (  # of all estimators that have the parameter
    " An object is a norm of your own: ``value(A)`` returns the norm of a matrix of losses, true classes in rows, with "
    "zeros on the diagonal; ``gradient(A)`` returns its derivatives, which may not be negative. If it has the "
    'attribute ``of = "classes"``, both get the loss of every class instead. A norm with kinks, such as a maximum, '
    "needs the attribute ``smooth``: a smooth norm that is never smaller, which the rounds then minimise. Norms other "
    'than ``"entrywise"`` are available for up to 128 classes; docs/guide/choosing-a-norm.md says when they help.'
)


# Tables


class Declared(NamedTuple):
    """A declared parameter; see `parameter`."""

    name: str
    default: Any
    rule: Rule
    kind: Kind
    doc: str
    after: str | None

    @property
    def entry(self) -> str:
        """Its entry in a docstring."""
        default = f'"{self.default}"' if isinstance(self.default, str) else repr(self.default)
        text = textwrap.fill(self.doc, DOC_WIDTH, initial_indent="    ", subsequent_indent="    ")
        return f"{self.name} : {self.rule.doc}, default={default}\n{text}"


def parameter(default: T, rule: Rule, *, kind: Kind, doc: str, after: str | None = None) -> T:
    """Declare a parameter as a field of a table.

    ``doc`` says what it does and when to change it. ``after`` names the parameter that it follows in signatures and
    docstrings; by default it follows those declared before it.
    """
    return dataclasses.field(default=default, metadata={"rule": rule, "kind": kind, "doc": doc, "after": after})


def restated(table: "type[Settings]", name: str, **changes: Any) -> Any:
    """Declare a parameter of another table again, with another default, rule or documentation."""
    known = table.__dataclass_fields__[name]
    return dataclasses.field(default=changes.pop("default", known.default), metadata={**known.metadata, **changes})


TABLES: dict[type, dict[str, Declared]] = {}  # what the tables declare


class Estimator(Protocol):
    """An estimator of this package, as far as its parameters are concerned."""

    _table: "type[Settings]"
    _hints: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """A table of parameters, and validated values of them."""

    @classmethod
    def declared(cls) -> dict[str, Declared]:
        """The parameters in the order of signatures and docstrings."""
        if cls not in TABLES:
            fields = cls.__dataclass_fields__
            order: list[str] = []
            for name, field in fields.items():
                after = field.metadata["after"]
                order.insert(len(order) if after is None else order.index(after) + 1, name)
            TABLES[cls] = {name: Declared(name, fields[name].default, **fields[name].metadata) for name in order}
        return TABLES[cls]

    @classmethod
    def of(cls, estimator: Estimator) -> Self:
        """Validate the parameters of an estimator; ValueError names the one that is wrong."""
        owner = type(estimator).__name__
        values = {}
        for name, known in cls.declared().items():
            values[name] = known.rule.read(owner, name, getattr(estimator, name))
        return cls(**values)

    def changed(self, *kinds: Kind) -> dict[str, Any]:
        """The parameters of some kinds that differ from their defaults."""
        found = {}
        for name, known in self.declared().items():
            value = getattr(self, name)
            if known.kind in kinds and (np.ndim(value) > 0 or value != known.default):
                found[name] = value
        return found


# Constructors and docstrings

#: Parameters of other libraries, and the equivalent here.
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


def constructor(table: Callable[P, Settings]) -> Callable[[Callable[..., None]], Callable[Concatenate[Any, P], None]]:
    """Make the ``__init__`` of an estimator from a table of parameters; type checkers see its signature, too."""
    declared = cast(type[Settings], table).declared()
    defaults = {name: known.default for name, known in declared.items()}
    this = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default) for name, default in defaults.items()
    ]
    signature = inspect.Signature([this, *parameters], return_annotation=None)

    def decorate(stub: Callable[..., None]) -> Callable[Concatenate[Any, P], None]:
        def init(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> None:
            if args or not kwargs.keys() <= defaults.keys():
                raise argument_error(type(self).__name__, self._hints, signature, (self, *args), kwargs)
            self.__dict__.update(defaults | kwargs)

        update_wrapper(init, stub)
        vars(init).update(__signature__=signature, table=table)
        return init

    return decorate


class ParametersMixin:
    """An estimator whose ``__init__`` is made by `constructor`: its table, and its docstring with all parameters."""

    _table: type[Settings]
    _hints: Mapping[str, str] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        table = getattr(cls.__init__, "table", None)
        if table is None:  # a subclass with a constructor of its own
            return
        cls._table = table
        before, heading, after = inspect.cleandoc(cls.__doc__ or "").partition("Attributes\n----------\n")
        if heading and "Parameters\n----------\n" not in before:
            entries = "\n".join(known.entry for known in table.declared().values())
            cls.__doc__ = f"{before}Parameters\n----------\n{entries}\n\n{heading}{after}"


def doc_section(documented: type, name: str) -> str:
    """A section of a class's docstring, with its heading; empty under ``python -OO``."""
    text = inspect.getdoc(documented) or ""
    found = re.search(rf"^{name}\n---.*?(?=^[A-Z][A-Za-z ]+\n---|\Z)", text, flags=re.MULTILINE | re.DOTALL)
    return "" if found is None else found[0].rstrip() + "\n"


def hinted(method: Callable[P, R]) -> Callable[P, R]:
    """Let a method of an estimator name the equivalent of arguments that other libraries have."""
    signature = inspect.signature(method)

    @wraps(method)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            signature.bind(*args, **kwargs)
        except TypeError:
            estimator: Any = args[0]
            called = f"{type(estimator).__name__}.{method.__name__}"
            raise argument_error(called, estimator._hints, signature, args, kwargs) from None
        return method(*args, **kwargs)

    return checked


def argument_error(
    called: str,
    hints: Mapping[str, str],
    signature: inspect.Signature,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> TypeError:
    """The error for wrong arguments: unknown names with hints, or what Python says of the call."""
    unknown = [name for name in kwargs if name not in signature.parameters]
    if unknown:
        seen = f"{called} got an unexpected keyword argument {', '.join(map(repr, unknown))}"
        return TypeError("; ".join([seen, *(f"for {name}, {hints[name]}" for name in unknown if name in hints)]) + ".")
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        return TypeError(f"{called}: {error}; give parameters by their names.")
    raise AssertionError("the arguments are right")


# Parameters of all boosters


@dataclass(frozen=True, kw_only=True)
class BoosterSettings(Settings):
    """Parameters of all boosters, in memory and on a cluster."""

    n_estimators: int = parameter(
        300,
        integer(1, MAX_INT),
        kind="run",
        doc="Maximum number of boosting rounds; each adds one tree. Use more with a smaller ``learning_rate``, or let "
        "``early_stopping`` choose.",
    )
    learning_rate: float | str = parameter(
        0.3,
        real(0, 1, without_low=True),
        kind="boosting",
        doc="Shrinkage of every round, in (0, 1]. Half the rate needs about twice as many rounds and often generalises "
        "a little better.",
    )
    max_depth: int | str | None = parameter(
        3,
        integer(1) | NONE,
        kind="tree",
        doc="Maximum depth of the trees. None grows them until no split helps. Deeper trees model interactions of more "
        "features and overfit sooner.",
    )
    min_samples_leaf: int = parameter(
        1,
        integer(1, MAX_INT),
        kind="tree",
        doc="Minimum number of samples in a leaf, whatever their weights. Larger values regularise.",
    )
    min_weight_fraction_leaf: float = parameter(
        0.0,
        real(0, 0.5),
        kind="tree",
        doc="Minimum fraction of the round's loss that a leaf must hold, in [0, 0.5].",
    )
    max_features: int | float | str | None = parameter(
        None,
        integer(1) | real(0, 1, without_low=True) | choice("sqrt", "log2") | NONE,
        kind="tree",
        doc="Number of features drawn at random for each node: a number, a fraction, the square root or the logarithm "
        "of all features. None uses all of them. Fewer features make the trees more diverse and the fit faster.",
    )
    max_bins: int = parameter(
        63,
        integer(2, MAX_BINS),
        kind="tree",
        doc="Maximum number of bins per feature, from 2 to 255. Features with no more distinct values are not "
        "discretised. Missing values have their own bin, and so has every category.",
    )
    categorical_features: str | ArrayLike | None = parameter(
        "from_dtype",
        CATEGORICAL,
        kind="tree",
        doc='Which features are categorical. ``"from_dtype"`` selects text and category dtypes (pandas, polars, Arrow, '
        "arrays). Otherwise give indices, column names or a boolean mask; None selects none. Text whose values all "
        "spell numbers is numeric unless listed; dates, times and durations are numeric, in seconds. A split sends "
        "any subset of the categories left; the order of a dtype's categories is ignored. Of more than 254 categories "
        "in a feature, the 254 with the largest weight have their own code and the others share one.",
    )
    cost_matrix: ArrayLike | MatrixLike | Mapping[Any, float] | None = parameter(
        None,
        unchecked("array-like, DataFrame, dict or None"),
        kind="boosting",
        doc="Cost of predicting class j for a sample of class l: true classes in rows, predictions in columns, in the "
        "order of ``classes_``, zeros on the diagonal. A DataFrame is labelled with the classes. A 1-D array, a Series "
        "or a dict gives one cost per true class. None is a cost of 1 for every error. Positive costs must lie within "
        "a factor of a million. Use it in place of ``class_weight``, which does not exist here.",
    )
    early_stopping: bool = parameter(
        False,
        SWITCH,
        kind="boosting",
        doc="Whether to score every round on a validation set, to stop when the score no longer improves, and to keep "
        "the best round. Ties in the score (see ``tol``) are broken by the log-loss of the scores, then by the "
        "earlier round. If the score is the same in all rounds, the log-loss alone decides, with a warning. "
        "``scoring``, ``n_iter_no_change`` and ``tol`` are ignored without it, and so are ``validation_fraction`` "
        "and ``refit``.",
    )
    scoring: str | Scorer | None = parameter(
        None,
        SCORING,
        kind="validation",
        doc="Validation score: a name known to `comboost.metrics.get_scorer`, or a callable "
        "``scorer(estimator, X, y)`` for which greater is better. None is minus the "
        "`comboost.metrics.balanced_log_loss` of softmax(f) of the scores f, which is smooth. "
        '``"neg_soft_confusion_norm"`` uses the loss of the fit, or the logistic loss if that has no pairs of classes.',
    )
    n_iter_no_change: int = parameter(
        20,
        integer(1),
        kind="validation",
        doc="Number of rounds without improvement after which to stop. A round that ties in the score improves if its "
        "log-loss is smaller; a round that ties in both does not count as an improvement.",
    )
    tol: float = parameter(
        1e-7,
        real(0, math.inf, without_high=True),
        kind="validation",
        doc="Scores, or log-losses, that differ by no more than this are ties.",
    )
    warm_start: bool = parameter(
        False,
        SWITCH,
        kind="run",
        doc="Whether ``fit`` continues from the rounds of the last fit: 100 rounds and 100 more give the same model as "
        "200 at once. The data must be the same, and so must the parameters, except ``n_estimators``, ``n_jobs``, "
        "``verbose`` and those that are applied to the scores (``calibration``, ``priors``, ``reject_cost``, ...). "
        "Every model stores a digest of its training data, so this may be switched on after any fit; other data are "
        "refused.",
    )
    calibration: str | None = parameter(
        None,
        CALIBRATION,
        kind="prediction",
        doc="How to calibrate ``predict_proba``. The calibrator is fitted on out-of-sample scores: those of the "
        "validation set with ``early_stopping`` and without ``refit``, otherwise out-of-fold scores of all samples, "
        'by ``calibration_folds`` more fits. ``"temperature"`` divides the scores by one number, ``temperature_``. '
        '``"isotonic"`` fits one monotonic curve per class and needs some hundred samples of a class. All classes '
        "have the same weight, and ``predict`` does not change; docs/probabilities.md shows the effect. A warm start "
        "calibrates again. Set it to None after the fit to switch it off.",
    )
    priors: str | ArrayLike | Mapping[Any, float] | None = parameter(
        "uniform",
        PRIORS,
        kind="prediction",
        doc="Class priors that ``predict_proba`` assumes: equal ones, those of the training set, or one positive "
        "probability per class, in the order of ``classes_`` or as a dict, with the sum 1. None keeps those that the "
        "scores are fitted for: equal priors with ``balance=1``, those of the training set with ``balance=0``. May "
        'be changed after the fit. Does not change decisions with ``decision="argmax"``.',
    )
    decision: str = parameter(
        "argmax",
        DECISION,
        kind="boosting",
        doc='How ``predict`` decides. ``"argmax"`` predicts the class with the highest score. ``"expected_cost"`` '
        "predicts the class j with the smallest expected cost Σ_l p_l·c(l,j), where p is ``predict_proba`` and c is "
        "``cost_matrix``, or 1 for every error. The rounds then ignore ``cost_matrix``, whose costs would count "
        "twice; so with a ``cost_matrix``, changing ``decision`` requires another fit. Set ``priors`` to those of the "
        'data to predict. ``decision_function``, ``train_confusion_`` and early stopping always use ``"argmax"``.',
    )
    reject_cost: float | None = parameter(
        None,
        REJECT_COST,
        kind="prediction",
        doc="Cost of rejecting a sample, for example to refer it to an expert; must be positive. A sample is rejected "
        'if its smallest expected cost is higher. Requires ``decision="expected_cost"``. None rejects no sample.',
    )
    reject_label: Any = parameter(
        None,
        unchecked("label or None"),
        kind="prediction",
        doc="What ``predict`` returns for rejected samples: a label of the same kind as the classes that is not one of "
        'them. None is ``"reject"`` for text and -1 for integers.',
    )
    n_jobs: int | None = parameter(
        None,
        N_JOBS,
        kind="run",
        doc="Number of threads, as in joblib: None is 1, -1 uses all processors. The model does not depend on it.",
    )
    random_state: int | np.random.RandomState | None = parameter(
        0,
        SEED,
        kind="boosting",
        doc="Random seed of ``max_features``, ``max_thresholds`` and ``noise``; in memory also of the validation split "
        "and of the calibration folds. It is 0 so that the defaults give the same model every time. None draws a seed "
        "from NumPy's global state; a warm start keeps its seed.",
    )
    verbose: int = parameter(
        0,
        integer(0) | SWITCH,
        kind="run",
        doc="Number of rounds between two progress lines: round, loss, bound, edge, validation score, time left. 0 "
        "prints none.",
    )

    def learned_with(self) -> dict[str, Any]:
        """The parameters that the boosting rounds depend on, which a warm start may not change."""
        kinds = {"boosting", "tree", *(("validation", "held out") if self.early_stopping else ())}
        values = {name: getattr(self, name) for name, known in self.declared().items() if known.kind in kinds}
        if self.cost_matrix is None:
            del values["decision"]
        elif self.decision == "expected_cost":  # only ``predict`` uses the costs
            values["cost_matrix"] = None
        return values


@dataclass(frozen=True, kw_only=True)
class MemorySettings(BoosterSettings):
    """Parameters of the boosters of samples in memory."""

    validation_fraction: float = parameter(
        0.1,
        real(0, 1, without_low=True, without_high=True),
        kind="held out",
        after="scoring",
        doc="Fraction of each class to hold out for validation if ``fit`` gets no ``X_val``: at least one sample of a "
        "class, but never its last.",
    )
    refit: bool = parameter(
        False,
        SWITCH,
        kind="held out",
        after="tol",
        doc="Whether to fit again on all samples, including those held out, for the best number of rounds. Usually "
        "gives a better model for about twice the time. ``validation_curve_``, ``verbose`` and callbacks describe the "
        "first fit, all other attributes the second. Cannot be combined with ``X_val`` or ``warm_start``.",
    )
    calibration_folds: int = parameter(
        5,
        integer(2, MAX_INT),
        kind="prediction",
        after="calibration",
        doc="Number of cross-validation folds for ``calibration``, at least 2. Folds are stratified, and every fold "
        "model is trained on all classes, so the only sample of a class is in no fold. They depend on the order of "
        "the samples.",
    )

    @property
    def estimator(self) -> ClassifierMixin | None:
        """Weak learner in place of the built-in trees; not all boosters have the parameter."""
        return None

    def check(self, X_val: MatrixLike | None, y_val: ArrayLike | None, sample_weight_val: ArrayLike | None) -> None:
        """Raise if parameters, or parameters and validation data, contradict each other.

        Parameters of early stopping may be given without it, so that a search over both works. Validation data may
        not: they would be ignored.
        """
        if self.estimator is not None:
            check_weak_learner(self.estimator, self.changed("tree"))
        if (X_val is None) != (y_val is None) or (X_val is None and sample_weight_val is not None):
            raise ValueError("X_val and y_val must be given together; sample_weight_val requires both.")
        if not self.early_stopping and X_val is not None:
            raise ValueError(
                "X_val would be ignored, since early_stopping=False; set early_stopping=True, or leave X_val and y_val "
                "out."
            )
        if X_val is not None:
            for name, value in self.changed("held out").items():
                raise ValueError(f"{name}={value} would be ignored, since X_val is given; leave one out.")
        if self.early_stopping and self.refit and self.warm_start:
            raise ValueError(
                "refit=True trains the rounds on all samples, so a warm start could not validate further rounds; leave "
                "refit or warm_start at False."
            )
        if self.reject_cost is not None or self.reject_label is not None:
            check_reject(self.decision, self.reject_cost, self.reject_label)


def check_reject(decision: str, reject_cost: float | None, reject_label: T) -> None:
    """Raise if a parameter of rejection would be ignored."""
    for name, value, needed, is_given in (
        ("reject_cost", reject_cost, 'decision="expected_cost"', decision == "expected_cost"),
        ("reject_label", reject_label, "reject_cost", reject_cost is not None),
    ):
        if value is not None and not is_given:
            raise ValueError(f"{name}={value!r} would be ignored without {needed}; give that too, or leave {name} out.")


def check_weak_learner(weak: ClassifierMixin, changed: Mapping[str, Any]) -> None:
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


# Norms


def check_norm(norm: Any, loss: str) -> None:
    """Raise if a norm is unknown, or if the loss has no pairs of classes, which the norm needs."""
    found = get_norm(norm)
    if found.of == "pairs" and loss == "log":
        of_classes = " or ".join(f'"{name}"' for name in NORMS if get_norm(name).of != "pairs")
        raise ValueError(
            f'norm={norm!r} is a norm of pairs of classes, and loss="log" has one loss per true class; give '
            f'loss="logistic" or "exponential", or norm={of_classes}.'
        )


def norm_of(norm: Any, loss: str, n_classes: int) -> Norm | None:
    """The norm that a fit minimises; None if it is the sum of losses that a single pass can sum and price."""
    if norm == "entrywise" and loss != "logistic":
        return None
    if n_classes > MAX_PAIRED:
        seen, remedy = f"norm={norm!r}", 'norm="entrywise"'
        if loss == "logistic":
            seen, remedy = f'{seen} with loss="logistic"', f'{remedy} and loss="log" or "exponential"'
        raise ValueError(
            f"{seen} needs the losses of all pairs of classes, which are summed up for at most {MAX_PAIRED} classes, "
            f"but there are {n_classes}; give {remedy}."
        )
    return get_norm(norm)


# Threads


def n_threads_of(n_jobs: int | None) -> int:
    """Number of threads for ``n_jobs``: as in joblib, but at most the processors and threads that OpenMP may use."""
    if not N_JOBS.cases[0].accepts(n_jobs) and n_jobs is not None:  # it may be set after the fit, which checks it
        raise ValueError(f"n_jobs={n_jobs!r}; give {N_JOBS.words}.")
    n_workers: int = joblib.effective_n_jobs(None if n_jobs is None else int(n_jobs))
    if n_workers == 1:
        return 1
    n_useful = min(n_workers, processors_of(int(time.monotonic() / QUOTA_SECONDS)))
    n_threads = allowed_threads(n_useful)
    if n_threads < n_useful and started_a_cluster():
        warnings.warn(
            f"n_jobs={n_jobs} gets {n_threads} of {n_useful} threads here, probably since OMP_NUM_THREADS is "
            f"{os.environ['OMP_NUM_THREADS']}. A Dask cluster that is started before comboost is imported leaves that "
            f"behind; import first, or fit within threadpoolctl.threadpool_limits({n_useful}).",
            stacklevel=2,
        )
    return n_threads


@lru_cache(maxsize=1)
def processors_of(_moment: int) -> int:
    """Processors that this process may use, read again from time to time."""
    return n_processors()


def started_a_cluster() -> bool:
    """Whether a Dask cluster may have limited the threads of this process when it meant those of its workers."""
    is_worker = multiprocessing.parent_process() is not None
    return "distributed" in sys.modules and "OMP_NUM_THREADS" in os.environ and not is_worker
