"""Hypothesis strategies for random problems: features, classes, weights, costs and settings of a fit.

Shapes are drawn first, then arrays, so that a failing problem shrinks to few samples, plain values and default
settings. The kinds of values are those of the fuzzer, `fuzz.values`.
"""

from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from comboost._engine.memory_plan import TreeLimits
from fuzz import values


@dataclass
class Problem:
    """A problem to fit; ``settings`` are keyword arguments of the reference's ``fit``, ``categorical`` features."""

    X: np.ndarray
    y: np.ndarray
    sample_weight: np.ndarray | None = None
    cost_matrix: np.ndarray | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    categorical: tuple[int, ...] = ()

    @property
    def n_classes(self):
        """Number of classes."""
        return int(self.y.max()) + 1

    def with_settings(self, **changed):
        """Return the same samples with other settings."""
        return replace(self, settings=self.settings | changed)


def property_test(**strategies):
    """Make a property test with fewer examples than usual: each fits models, and there are many."""
    return lambda test: settings(max_examples=settings.default.max_examples // 2)(given(**strategies)(test))


class DrawnRandom:
    """The part of ``random.Random`` that `fuzz.values` uses, drawn by Hypothesis, which can therefore shrink it."""

    def __init__(self, draw):
        self._draw = draw

    def randint(self, low, high):
        return self._draw(st.integers(low, high))

    def uniform(self, low, high):
        return self._draw(st.floats(low, high))

    def choice(self, options):
        return self._draw(st.sampled_from(options))


@cache  # a strategy is validated once, which takes longer than to draw from it
def drawn(kind):
    """Draw values of a kind of `fuzz.values`."""
    return st.composite(lambda draw: kind(DrawnRandom(draw)))()


# Features. Kinds that come first are plainer: Hypothesis shrinks towards them.


def columns_of(elements, n_samples):
    """Draw a column, either of few distinct values or of many."""
    with_ties = hnp.arrays(np.float64, n_samples, elements=elements)
    mostly_distinct = hnp.arrays(np.float64, n_samples, elements=elements, fill=st.nothing())
    return with_ties | mostly_distinct


def constant_columns(elements, n_samples):
    """Draw a column of one value."""
    return elements.map(lambda value: np.full(n_samples, value))


def rising_columns(n_samples):
    """Draw a column without ties, in any order."""
    return st.permutations(range(n_samples)).map(lambda order: np.array(order, dtype=np.float64))


@cache
def feature_columns(n_samples, *, float32=False):
    """Draw one column of X."""
    kinds = [
        *(columns_of(drawn(kind), n_samples) for kind in values.FLOAT32_KINDS),
        rising_columns(n_samples),
        constant_columns(drawn(values.small_integer), n_samples),
    ]
    if not float32:
        kinds += [columns_of(drawn(kind), n_samples) for kind in values.FLOAT64_KINDS]
    return st.one_of(kinds)


@cache
def category_columns(n_samples):
    """Draw one column of categories: few of them, a dozen, or a new one in almost every row.

    A node searches every set of up to 8 categories, and sorts more than that. Only the later kinds lead to the sorting.
    """
    kinds = [columns_of(st.integers(0, 3).map(float), n_samples), columns_of(st.integers(0, 13).map(float), n_samples)]
    kinds += [rising_columns(n_samples).map(lambda column, n=n: column % n) for n in (7, 10, 14)]
    kinds.append(rising_columns(n_samples))
    return st.one_of(kinds)


@cache
def missing_masks(n_samples):
    """Draw which rows of a column are missing: none, a few, many or, less often, all of them."""
    none = st.just(np.zeros(n_samples, dtype=bool))
    few = st.sets(st.integers(0, n_samples - 1), min_size=1, max_size=max(1, n_samples // 5))
    few = few.map(lambda rows: np.isin(np.arange(n_samples), list(rows)))
    many = hnp.arrays(bool, n_samples, elements=st.booleans(), fill=st.nothing())
    everything = st.just(np.ones(n_samples, dtype=bool))
    return st.sampled_from([none, few, many] * 2 + [everything]).flatmap(lambda masks: masks)


@st.composite
def feature_matrices(draw, n_samples, n_features, *, float32=None, missing=False, categorical=()):
    """Draw X, in float64 or, where asked for or left to chance, in float32.

    With ``missing``, most columns hold NaN. The columns ``categorical`` hold categories.
    """
    if float32 is None:
        float32 = draw(st.booleans())
    columns = []
    for f in range(n_features):
        column = draw(category_columns(n_samples) if f in categorical else feature_columns(n_samples, float32=float32))
        columns.append(np.where(draw(missing_masks(n_samples)), np.nan, column) if missing else column)
    return np.column_stack(columns).astype(np.float32 if float32 else np.float64)


# Classes


@st.composite
def labels(draw, n_samples, n_classes):
    """Draw y with every class present: often imbalanced, since one class fills what is not drawn."""
    rest = draw(hnp.arrays(np.int64, n_samples - n_classes, elements=st.integers(0, n_classes - 1)))
    return np.concatenate([np.arange(n_classes), rest])


# Weights and costs

WIDEST_RATIO = 2.0**20


@st.composite
def sample_weights(draw, y, *, wide=True):
    """Draw weights, some of them zero, that leave a positive integer weight to every class.

    With ``wide`` they may span many decades, and classes six of them. Quantised costs per unit of weight are then
    coarse for heavy rows: ``edge_rounding`` and ``loss_rounding`` of the quantised reference say how coarse.
    """
    kinds = [kind for kind in values.WEIGHT_KINDS if wide or kind is not values.wide_weight]
    weights = draw(hnp.arrays(np.float64, len(y), elements=drawn(draw(st.sampled_from(kinds)))))
    heaviest = weights.max() or 1.0
    for label in range(int(y.max()) + 1):
        of_class = np.flatnonzero(y == label)
        if weights[of_class].max() < heaviest / WIDEST_RATIO:
            weights[of_class[0]] = heaviest
    return weights


@st.composite
def cost_matrices(draw, n_classes):
    """Draw costs with a zero diagonal, zeros among them, never all zero."""
    elements = draw(st.sampled_from(values.COST_KINDS))
    costs = draw(hnp.arrays(np.float64, (n_classes, n_classes), elements=drawn(elements)))
    np.fill_diagonal(costs, 0.0)
    if not costs.any():
        costs[0, 1] = 1.0
    return costs


# Settings


def fit_settings(n_features, *, max_rounds=12):
    """Draw keyword arguments of the reference's ``fit``."""
    return st.fixed_dictionaries(
        {"n_estimators": st.integers(1, max_rounds)},
        optional={
            "algorithm": st.sampled_from(["combo", "mm"]),
            "learning_rate": st.sampled_from([1.0, 0.5, 0.1]) | st.floats(0.01, 1.0),
            "max_depth": st.sampled_from([3, 1, 2, 4, None]),
            "criterion": st.sampled_from(["gini", "cost"]),
            "min_samples_leaf": st.integers(1, 4),
            "min_weight_fraction_leaf": st.sampled_from([0.0, 0.01, 0.1, 0.25]) | st.floats(0.0, 0.5),
            "max_features": st.none() | st.integers(1, n_features),
            "max_bins": st.sampled_from([255, 2, 3, 5, 8]),
            "step": st.sampled_from(["edge", "exact"]),
            "seed": st.integers(0, 2**31 - 1),
        },
    )


LOSSES = ["log", "exponential"]


def vote_settings(n_features, *, max_rounds=8):
    """Draw keyword arguments of the leaf reference's ``fit``, none left to a default."""
    return st.fixed_dictionaries(
        {
            "algorithm": st.just("confusion"),
            "n_estimators": st.integers(1, max_rounds),
            "loss": st.sampled_from(LOSSES),
            "learning_rate": st.sampled_from([1.0, 0.5, 0.1]) | st.floats(0.01, 1.0),
            "smoothing": st.sampled_from([1.0, 0.0, 0.01]) | st.floats(0.0, 10.0),
            "balance": st.sampled_from([1.0, 0.0, 0.5]) | st.floats(0.0, 1.0),
            "max_depth": st.sampled_from([3, 1, 2, 4, None]),
            "max_leaf_nodes": st.none() | st.integers(2, 9),
            "min_samples_leaf": st.integers(1, 4),
            "min_weight_fraction_leaf": st.sampled_from([0.0, 0.01, 0.1, 0.25]) | st.floats(0.0, 0.5),
            "max_features": st.none() | st.integers(1, n_features),
            "max_thresholds": st.sampled_from([None, 1, 2, 3, 5]),
            "noise": st.sampled_from([0.0, 1.0]) | st.floats(0.0, 10.0),
            "max_bins": st.sampled_from([255, 2, 3, 5, 8]),
            "seed": st.integers(0, 2**31 - 1),
        }
    )


PLAIN_VOTES = {
    "algorithm": "confusion",
    "n_estimators": 3,
    "loss": "log",
    "learning_rate": 1.0,
    "smoothing": 1.0,
    "balance": 1.0,
    "max_depth": 3,
    "max_leaf_nodes": None,
    "min_samples_leaf": 1,
    "min_weight_fraction_leaf": 0.0,
    "max_features": None,
    "max_thresholds": None,
    "noise": 0.0,
    "max_bins": 255,
    "seed": 0,
}


# Problems


@st.composite
def problems(
    draw,
    *,
    max_rows=30,
    max_features=4,
    max_classes=5,
    weighted=True,
    wide=True,
    costed=True,
    missing=False,
    categories=False,
    max_rounds=12,
    draw_settings=fit_settings,
):
    """Draw a whole problem.

    Parameters
    ----------
    draw_settings : function
        Draws the keyword arguments of ``fit``, given the number of features and ``max_rounds``.
    weighted, costed : bool
        Whether sample weights, or a cost matrix, may be given.
    wide : bool
        Whether the weights may span many decades.
    missing, categories : bool
        Whether columns may hold NaN, or categories; categories may be missing too where both are set.
    """
    n_classes = draw(st.integers(2, max_classes))
    n_samples = draw(st.integers(n_classes, max_rows))
    n_features = draw(st.integers(1, max_features))
    y = draw(labels(n_samples, n_classes))
    categorical = tuple(f for f in range(n_features) if draw(st.booleans())) if categories else ()
    X = draw(feature_matrices(n_samples, n_features, missing=missing, categorical=categorical))
    sample_weight = draw(st.none() | sample_weights(y, wide=wide)) if weighted else None
    if missing and sample_weight is not None and draw(st.booleans()):
        X[sample_weight == 0] = np.nan  # in some columns the only missing values, which training does not see
    cost_matrix = draw(st.none() | cost_matrices(n_classes)) if costed else None
    drawn = draw(draw_settings(n_features, max_rounds=max_rounds))
    return Problem(X, y, sample_weight, cost_matrix, drawn, categorical)


@st.composite
def balanced_problems(
    draw, *, max_rows_per_class=8, max_features=4, max_classes=5, max_rounds=12, draw_settings=fit_settings
):
    """Draw a problem without weights whose classes have the same number of rows."""
    n_classes = draw(st.integers(2, max_classes))
    rows_per_class = draw(st.integers(1, max_rows_per_class))
    n_features = draw(st.integers(1, max_features))
    y = np.tile(np.arange(n_classes), rows_per_class)
    X = draw(feature_matrices(len(y), n_features))
    cost_matrix = draw(st.none() | cost_matrices(n_classes))
    return Problem(X, y, None, cost_matrix, draw(draw_settings(n_features, max_rounds=max_rounds)))


def light_mistake(n_classes, heavy, drawn):
    """Make a problem of a heavy sample per class, which trees separate, and a light one that they misclassify."""
    X, y = np.append(np.arange(n_classes), n_classes - 1)[:, np.newaxis], np.append(np.arange(n_classes), 0)
    return Problem(X.astype(float), y, np.append(np.full(n_classes, heavy), 1.0), settings=drawn)


def vote_problems(*, fixed=None, **kinds):
    """Draw problems of trees with one value per class in every leaf, some of their settings fixed."""
    return problems(draw_settings=vote_settings, max_rounds=8, **kinds).map(
        lambda problem: problem.with_settings(**fixed or {})
    )


def any_problems(**kinds):
    """Draw problems of all three algorithms."""
    return problems(**kinds) | vote_problems(**kinds)


@st.composite
def many_class_problems(draw, n_classes, *, max_rounds=2):
    """Draw a problem of so many classes that most have one row; few bins, since the reference is slow."""
    n_samples = n_classes + draw(st.integers(0, 60))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y = np.concatenate([np.arange(n_classes), random.integers(n_classes, size=n_samples - n_classes)])
    X = random.normal(size=(n_samples, 2))
    X[:, 0] += 6 * y / n_classes
    weights = draw(st.none() | st.just(random.integers(1, 4, n_samples).astype(float)))
    costs = draw(st.none() | st.just(random.integers(0, 4, (n_classes, n_classes)) * (1.0 - np.eye(n_classes))))
    few = {"max_bins": draw(st.integers(2, 8)), "max_depth": draw(st.integers(1, 3))}
    return Problem(X, y, weights, costs, draw(vote_settings(2, max_rounds=max_rounds)) | few)


tree_limits = st.builds(
    TreeLimits,
    max_depth=st.none() | st.integers(1, 40),
    max_leaf_nodes=st.none() | st.integers(2, 1000),
    min_samples_leaf=st.integers(1, 20),
    n_trees=st.integers(0, 500),
    value_per_class=st.booleans(),
)
