"""Problems. In: a name. Out: its rows, its classes, and folds of them, the same for every run.

Bundled data sets, words as their codes, and families of `make_imbalanced`. Connect-4 is not among them: it is no
bundled set. It was looked at before, see docs/decisions/0007-defaults.md.
"""

import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from comboost.datasets import load_dataset, make_imbalanced

Rows = tuple[NDArray[np.float64], NDArray[np.intp]]
Fold = tuple[NDArray[np.intp], NDArray[np.intp]]

SMALL, MEDIUM, LARGE = "small", "medium", "large"
SIZES = (SMALL, MEDIUM, LARGE)
MOST_ROWS = {SMALL: 5_000, MEDIUM: 30_000}
HELD_OUT = 0.3  # of the rows that are split once or twice instead


def geometric(n_classes: int, imbalance: float) -> NDArray[np.float64]:
    """Every class smaller than the one before by the same factor."""
    return imbalance ** -np.linspace(0, 1, n_classes)


def one_large(n_classes: int, imbalance: float) -> NDArray[np.float64]:
    """All classes of the same size, but for a large one."""
    return np.array([1.0] + [1 / imbalance] * (n_classes - 1))


def one_small(n_classes: int, imbalance: float) -> NDArray[np.float64]:
    """All classes of the same size, but for a small one."""
    return np.array([1.0] * (n_classes - 1) + [1 / imbalance])


@dataclass(frozen=True)
class Problem:
    """What all problems share: a name, sizes, rows."""

    name: str
    n_rows: int
    n_features: int
    n_classes: int

    @property
    def size(self) -> str:
        """Small, medium or large."""
        return next((size for size, most in MOST_ROWS.items() if self.n_rows <= most), LARGE)

    @property
    def n_folds(self) -> int:
        """Folds, or one split if there are many rows."""
        return 5 if self.size == SMALL else 1

    @property
    def n_training_rows(self) -> int:
        """Rows that a fit gets to see."""
        return round(self.n_rows * (0.8 if self.size == SMALL else 1 - HELD_OUT))

    def make(self) -> tuple[Any, Any]:
        """X and y, classes as they are."""
        raise NotImplementedError


@dataclass(frozen=True)
class Bundled(Problem):
    """A data set that comes with comboost."""

    def make(self) -> tuple[Any, Any]:
        """X and y."""
        return load_dataset(self.name, return_X_y=True)


@dataclass(frozen=True)
class Synthetic(Problem):
    """A problem of `make_imbalanced`, whose name seeds it: one that is changed needs another name."""

    n_informative: int
    imbalance: float  # the largest class by the smallest
    sizes: Callable[[int, float], NDArray[np.float64]] = geometric
    n_clusters: int = 1
    class_sep: float = 1.0
    noise: float = 0.0  # share of the rows whose labels are shuffled among each other
    step: float = 0.0  # to which values are rounded, for ties as tables have them; 0 is not at all

    def make(self) -> tuple[Any, Any]:
        """X and y."""
        random = np.random.RandomState(zlib.crc32(self.name.encode()))
        shares = self.sizes(self.n_classes, self.imbalance)
        X, y = make_imbalanced(
            self.n_rows,
            shares / shares.sum(),
            n_features=self.n_features,
            n_informative=self.n_informative,
            n_clusters_per_class=self.n_clusters,
            class_sep=self.class_sep,
            random_state=random,
        )
        # Labels that are exchanged, not drawn, keep the sizes of the classes.
        noisy = random.choice(self.n_rows, round(self.noise * self.n_rows), replace=False)
        y[noisy] = y[random.permutation(noisy)]
        return (X if self.step == 0 else np.rint(X / self.step) * self.step), y


BUNDLED = (
    Bundled("new-thyroid", 215, 5, 3),
    Bundled("balance", 625, 4, 3),
    Bundled("glass", 214, 9, 6),
    Bundled("ecoli", 327, 7, 5),
    Bundled("car", 1728, 6, 4),
    Bundled("yeast", 1484, 8, 10),
    Bundled("satimage", 6435, 36, 6),
    Bundled("nursery-s", 12958, 8, 4),
)
# The name says rows, classes and imbalance.
SYNTHETIC = (
    Synthetic("200-3-2", 200, 5, 3, 3, 2),
    Synthetic("300-3-10", 300, 10, 3, 5, 10),
    Synthetic("400-5-5", 400, 20, 5, 6, 5, one_large, step=0.5),
    Synthetic("500-4-20", 500, 8, 4, 4, 20, one_small, class_sep=1.5),
    Synthetic("700-6-10", 700, 15, 6, 8, 10, noise=0.1),
    Synthetic("1000-3-50", 1_000, 10, 3, 4, 50, n_clusters=2, class_sep=1.5),
    Synthetic("1000-10-8", 1_000, 30, 10, 12, 8),
    Synthetic("1500-5-30", 1_500, 12, 5, 6, 30, one_large, n_clusters=3, class_sep=1.5, step=0.5),
    Synthetic("2000-8-40", 2_000, 20, 8, 8, 40, noise=0.05),
    Synthetic("3000-4-100", 3_000, 10, 4, 5, 100, n_clusters=4, class_sep=1.5),
    Synthetic("4000-15-20", 4_000, 25, 15, 10, 20),
    Synthetic("5000-30-10", 5_000, 16, 30, 8, 10, class_sep=1.5),
    Synthetic("6000-5-200", 6_000, 20, 5, 10, 200, n_clusters=2),
    Synthetic("8000-3-2", 8_000, 40, 3, 15, 2, n_clusters=8, noise=0.1),
    Synthetic("10000-10-50", 10_000, 10, 10, 6, 50, one_large, n_clusters=2, class_sep=1.5, step=0.5),
    Synthetic("12000-20-100", 12_000, 30, 20, 10, 100),
    Synthetic("15000-7-300", 15_000, 15, 7, 8, 300, noise=0.05),
    Synthetic("20000-4-10", 20_000, 50, 4, 20, 10, one_large, n_clusters=6),
    Synthetic("25000-30-20", 25_000, 20, 30, 12, 20, n_clusters=2, class_sep=1.5),
    Synthetic("30000-6-1000", 30_000, 12, 6, 6, 1_000, class_sep=1.5, step=0.2),
    Synthetic("50000-10-100", 50_000, 30, 10, 15, 100, n_clusters=4),
    Synthetic("60000-26-5", 60_000, 20, 26, 10, 5, n_clusters=3, class_sep=1.5),
    Synthetic("100000-3-1000", 100_000, 20, 3, 8, 1_000, n_clusters=8, noise=0.02),
    Synthetic("100000-8-30", 100_000, 40, 8, 15, 30, n_clusters=3, noise=0.1),
)
PROBLEMS: dict[str, Problem] = {
    problem.name: problem for problem in sorted((*BUNDLED, *SYNTHETIC), key=lambda problem: problem.n_rows)
}


def pick_problems(sizes: Iterable[str]) -> list[Problem]:
    """The problems of these sizes, or all of them."""
    sizes = set(sizes)
    return [problem for problem in PROBLEMS.values() if not sizes or problem.size in sizes]


@lru_cache(maxsize=2)
def load_rows(name: str) -> Rows:
    """X and y of a problem, classes as numbers from 0."""
    X, y = PROBLEMS[name].make()
    return X, np.unique(y, return_inverse=True)[1]


@lru_cache(maxsize=2)
def split_rows(name: str) -> list[Fold]:
    """Training and test rows of every fold."""
    problem, (X, y) = PROBLEMS[name], load_rows(name)
    if problem.size == SMALL:
        return list(StratifiedKFold(problem.n_folds, shuffle=True, random_state=0).split(X, y))
    return list(StratifiedShuffleSplit(1, test_size=HELD_OUT, random_state=0).split(X, y))
