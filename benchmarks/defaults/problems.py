"""Problems. In: a name. Out: its rows, its classes, and folds of them, the same for every run.

Three families: bundled data sets, words as their codes; problems of `make_imbalanced`; and tables of KEEL that are none
of the paper's, most of them made imbalanced. Connect-4 is not among them: it is no bundled set. It was looked at
before, see docs/decisions/0007-defaults.md.
"""

import zlib
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from benchmarks.defaults import keel
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
    """What all problems share: a family, a name, sizes, rows."""

    family: ClassVar[str]
    name: str
    n_samples: int
    n_features: int
    n_classes: int

    @property
    def size(self) -> str:
        """Small, medium or large."""
        return next((size for size, most in MOST_ROWS.items() if self.n_samples <= most), LARGE)

    @property
    def n_folds(self) -> int:
        """Folds, or one split if there are many rows."""
        return 5 if self.size == SMALL else 1

    @property
    def n_training_rows(self) -> int:
        """Rows that a fit gets to see."""
        return round(self.n_samples * (0.8 if self.size == SMALL else 1 - HELD_OUT))

    def random(self) -> np.random.RandomState:
        """Random numbers that the name seeds."""
        return np.random.RandomState(zlib.crc32(self.name.encode()))

    def make(self) -> tuple[Any, Any]:
        """X and y, classes as they are."""
        raise NotImplementedError


@dataclass(frozen=True)
class Bundled(Problem):
    """A data set that comes with comboost."""

    family = "bundled"

    def make(self) -> tuple[Any, Any]:
        """X and y."""
        return load_dataset(self.name, return_X_y=True)


@dataclass(frozen=True)
class Synthetic(Problem):
    """A problem of `make_imbalanced`, whose name seeds it: one that is changed needs another name."""

    family = "synthetic"
    n_informative: int
    imbalance: float  # the largest class by the smallest
    sizes: Callable[[int, float], NDArray[np.float64]] = geometric
    n_clusters: int = 1
    class_sep: float = 1.0
    noise: float = 0.0  # share of the rows whose labels are shuffled among each other
    step: float = 0.0  # to which values are rounded, for ties as tables have them; 0 is not at all

    def make(self) -> tuple[Any, Any]:
        """X and y."""
        random = self.random()
        proportions = self.sizes(self.n_classes, self.imbalance)
        X, y = make_imbalanced(
            self.n_samples,
            proportions / proportions.sum(),
            n_features=self.n_features,
            n_informative=self.n_informative,
            n_clusters_per_class=self.n_clusters,
            class_sep=self.class_sep,
            random_state=random,
        )
        # Labels that are exchanged, not drawn, keep the sizes of the classes.
        noisy = random.choice(self.n_samples, round(self.noise * self.n_samples), replace=False)
        y[noisy] = y[random.permutation(noisy)]
        return (X if self.step == 0 else np.rint(X / self.step) * self.step), y


@dataclass(frozen=True)
class Keel(Problem):
    """A table of KEEL, whose name seeds which rows are left out of it."""

    family = "keel"
    imbalance: float = 1.0  # the largest class by the smallest, all cut to the smallest before; 1 leaves it as it is

    def make(self) -> tuple[Any, Any]:
        """X and y."""
        X, y = keel.read_table(self.name.removeprefix("keel-"))
        rows = keel.leave_rows(y, self.imbalance, self.random())
        return X[rows], y[rows]


FAMILIES = tuple(kind.family for kind in (Bundled, Synthetic, Keel))
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
# With the imbalance that leaving rows out makes.
KEEL = (
    Keel("keel-wine", 92, 13, 3, 3),
    Keel("keel-tae", 151, 5, 3),
    Keel("keel-hayes-roth", 160, 4, 3),
    Keel("keel-led7digit", 190, 7, 10, 5),
    Keel("keel-movement_libras", 221, 90, 15, 3),
    Keel("keel-bupa", 345, 6, 2),
    Keel("keel-vehicle", 374, 18, 4, 8),
    Keel("keel-vowel", 473, 13, 11, 6),
    Keel("keel-pima", 768, 8, 2),
    Keel("keel-segment", 814, 19, 7, 20),
    Keel("keel-tic-tac-toe", 958, 9, 2),
    Keel("keel-german", 1000, 20, 2),
    Keel("keel-splice", 1343, 60, 3, 4),
    Keel("keel-contraceptive", 1473, 9, 3),
    Keel("keel-chess", 1680, 36, 2, 10),
    Keel("keel-texture", 1692, 40, 11, 30),
    Keel("keel-optdigits", 1887, 64, 10, 20),
    Keel("keel-spambase", 2174, 57, 2, 5),
    Keel("keel-banana", 2851, 2, 2, 5),
    Keel("keel-penbased", 3085, 16, 10, 40),
    Keel("keel-twonorm", 3820, 20, 2, 30),
    Keel("keel-ring", 4030, 20, 2, 10),
    Keel("keel-phoneme", 5404, 5, 2),
    Keel("keel-letter", 6211, 16, 26, 20),
    Keel("keel-marketing", 6876, 13, 9),
    Keel("keel-magic", 7357, 10, 2, 10),
)
PROBLEMS: dict[str, Problem] = {
    problem.name: problem for problem in sorted((*BUNDLED, *SYNTHETIC, *KEEL), key=lambda problem: problem.n_samples)
}


def pick_problems(sizes: Collection[str] = (), families: Collection[str] = ()) -> list[Problem]:
    """The problems of these sizes and families; nothing picks all."""
    return [
        problem
        for problem in PROBLEMS.values()
        if (not sizes or problem.size in sizes) and (not families or problem.family in families)
    ]


@lru_cache(maxsize=2)
def load_rows(name: str) -> Rows:
    """X and y of a problem, classes as numbers from 0."""
    problem = PROBLEMS[name]
    X, y = problem.make()
    classes, y = np.unique(y, return_inverse=True)
    # Sizes are written down so that sorting does not read all tables; wrong ones raise an error.
    if (*X.shape, len(classes)) != (problem.n_samples, problem.n_features, problem.n_classes):
        raise ValueError(f"{name} has {X.shape[0]} rows, {X.shape[1]} features and {len(classes)} classes.")
    return X, y


@lru_cache(maxsize=2)
def split_rows(name: str) -> list[Fold]:
    """Training and test rows of every fold."""
    problem, (X, y) = PROBLEMS[name], load_rows(name)
    if problem.size == SMALL:
        return list(StratifiedKFold(problem.n_folds, shuffle=True, random_state=0).split(X, y))
    return list(StratifiedShuffleSplit(1, test_size=HELD_OUT, random_state=0).split(X, y))
