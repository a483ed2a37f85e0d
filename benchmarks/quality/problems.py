"""The problems. In: a name. Out: rows as numbers, words as their codes, and their classes as indices."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from benchmarks.quality.plan import Plan
from comboost.datasets import load_dataset, make_imbalanced

SEED = 0
SYNTHETIC_SEED = 20131
IMBALANCE = 20  # rows of the largest class for one of the smallest; the others lie evenly between, by ratio
INFORMATIVE, CLUSTERS, SEPARATION = 12, 3, 1.5

Rows = tuple[NDArray[Any], NDArray[np.intp]]


@dataclass(frozen=True)
class Problem:
    """Rows that can be loaded by name; an OSError says why they are not there."""

    name: str
    load_all: Callable[[], Rows]

    def load(self, plan: Plan) -> Rows:
        """The rows, and their classes from 0 on; some of them if the plan wants no more."""
        X, y = self.load_all()
        if plan.n_samples is None or plan.n_samples >= len(y):
            return X, y
        return train_test_split(X, y, train_size=plan.n_samples, stratify=y, random_state=SEED)[::2]


def bundled(name: str) -> Problem:
    """A data set of the paper."""

    def load() -> Rows:
        X, y = load_dataset(name, return_X_y=True)
        return X, np.unique(y, return_inverse=True)[1]

    return Problem(name, load)


def synthetic(n_samples: int, n_features: int, n_classes: int) -> Problem:
    """Clusters of classes of unequal sizes in some of the features; the others are noise."""

    def load() -> Rows:
        sizes = np.geomspace(IMBALANCE, 1, n_classes)
        X, y = make_imbalanced(
            n_samples,
            sizes / sizes.sum(),
            n_features=n_features,
            n_informative=INFORMATIVE,
            n_clusters_per_class=CLUSTERS,
            class_sep=SEPARATION,
            random_state=SYNTHETIC_SEED,
        )
        return X.astype(np.float32), y

    return Problem(f"{n_samples // 1000}k-{n_features}-{n_classes}", load)


#: Those that are split once.
PROBLEMS = (
    *map(bundled, ("connect-4", "satimage", "nursery-s", "yeast")),
    synthetic(200_000, 50, 5),
    synthetic(100_000, 100, 10),
    synthetic(60_000, 28, 26),
    synthetic(30_000, 20, 100),
)

#: Those of the folds, the paper's, from few rows to many.
SETS = tuple(
    map(
        bundled,
        ("glass", "new-thyroid", "ecoli", "balance", "yeast", "car", "satimage", "nursery-s", "connect-4"),
    )
)
