"""Calls that take much memory, one for every reason. In: a name and a kind of estimator. Out: a call, ready to be made.

Labels are drawn at random where trees should grow as large as they may: that is what is planned.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import random as random_sparse

from comboost import CoMBoClassifier, ConfusionBoostingClassifier
from comboost.metrics import confusion_norm_loss, error_confusion_matrix, expected_cost_loss, mauc_score

KINDS: dict[str, type[Any]] = {"CoMBo": CoMBoClassifier, "ConfusionBoosting": ConfusionBoostingClassifier}
N_ROUNDS = 3
SHRUNK = 50  # a shape is tried at one part in so many before it is measured

Call = Callable[[], Any]


@dataclass(frozen=True)
class Shape:
    """A call. ``make`` takes a kind and a divisor of the rows, and makes the input and the call."""

    title: str
    make: Callable[[Any, int], Call]
    kinds: tuple[str, ...] = tuple(KINDS)


def draw(n_samples: int, n_features: int, n_classes: int, dtype: type = np.float64) -> tuple[Any, Any]:
    """Rows and labels that have nothing to do with each other; every class has rows."""
    random = np.random.default_rng(0)
    X = random.random((n_samples, n_features), dtype=dtype)
    return X, random.permutation(np.arange(n_samples) % n_classes)


def fit(kind: Any, X: Any, y: Any, *more: Any, **parameters: Any) -> Call:
    """A fit of a few rounds."""
    model = kind(**{"n_estimators": N_ROUNDS, "max_depth": 3, "n_jobs": 2, **parameters})
    return lambda: model.fit(X, y, *more)


def tall(kind: Any, shrink: int) -> Call:
    return fit(kind, *draw(3_000_000 // shrink, 5, 3))


def wide(kind: Any, shrink: int) -> Call:
    return fit(kind, *draw(5_000, 10_000 // shrink, 6, np.float32))


def classes(kind: Any, shrink: int) -> Call:
    return fit(kind, *draw(60_000 // shrink, 5, 500 // shrink))


def deep(kind: Any, shrink: int) -> Call:
    return fit(kind, *draw(1_000_000 // shrink, 10, 10), max_depth=14)


def leafy(kind: Any, shrink: int) -> Call:
    return fit(kind, *draw(200_000 // shrink, 20, 40), max_depth=None, max_leaf_nodes=1000)


def csr(kind: Any, shrink: int) -> Call:
    n_samples = 40_000 // shrink
    X = random_sparse(n_samples, 1000, density=0.5, format="csr", random_state=0)
    return fit(kind, X, np.arange(n_samples) % 5)


def x_val(kind: Any, shrink: int) -> Call:
    X, y = draw(20_000 // shrink, 10, 100)
    X_val, y_val = draw(400_000 // shrink, 10, 100)
    return fit(kind, X, y, None, X_val, y_val, early_stopping=True)


def scored(kind: Any, shrink: int) -> Call:
    X, y = draw(400_000 // shrink, 10, 60)
    return fit(
        kind, X, y, early_stopping=True, validation_fraction=0.4, scoring="neg_balanced_log_loss", random_state=0
    )


def probabilities(kind: Any, shrink: int) -> Call:
    X, y = draw(5_000, 10, 500)
    model = fit(kind, X, y)()
    many = np.resize(X, (100_000 // shrink, 10))
    return lambda: model.predict_proba(many)


def labels(measure: Callable[..., Any], n_classes: int) -> Callable[[Any, int], Call]:
    def make(kind: Any, shrink: int) -> Call:
        y = np.arange(n_classes // shrink)
        return lambda: measure(y, np.roll(y, 1))

    return make


def many_scores(kind: Any, shrink: int) -> Call:
    y = np.arange(3_000 // shrink)
    scores = np.random.default_rng(0).random((len(y), len(y)))
    return lambda: mauc_score(y, scores)


SHAPES = {
    "tall": Shape("fit of 3 000 000 × 5, 3 classes", tall),
    "wide": Shape("fit of 5 000 × 10 000, 6 classes", wide),
    "classes": Shape("fit of 60 000 × 5, 500 classes", classes),
    "deep": Shape("fit of 1 000 000 × 10, 10 classes, depth 14", deep),
    "leafy": Shape("fit of 200 000 × 20, 40 classes, 1 000 leaves", leafy, ("ConfusionBoosting",)),
    "csr": Shape("fit of 40 000 × 1 000 in CSR, half of it filled, 5 classes", csr),
    "x_val": Shape("fit of 20 000 × 10, 100 classes, 400 000 rows in X_val", x_val),
    "scored": Shape("fit of 400 000 × 10, 60 classes, 40 % held out for a scorer of probabilities", scored),
    "probabilities": Shape("predict_proba of 100 000 rows, 500 classes", probabilities),
    "matrix": Shape("error_confusion_matrix of 5 000 labels", labels(error_confusion_matrix, 5_000), ("metric",)),
    "norm": Shape("confusion_norm_loss of 2 500 labels", labels(confusion_norm_loss, 2_500), ("metric",)),
    "cost": Shape("expected_cost_loss of 4 000 labels", labels(expected_cost_loss, 4_000), ("metric",)),
    "mauc": Shape("mauc_score of 3 000 labels", many_scores, ("metric",)),
}
