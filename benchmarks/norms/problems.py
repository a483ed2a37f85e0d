"""The problems of the study: tables of more than 2 000 samples."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from benchmarks.defaults.keel import read_table
from comboost.datasets import load_dataset, make_imbalanced

Samples = tuple[NDArray[Any], NDArray[np.intp]]

TEST_SIZE = 0.3
PLANTED_SEED = 2013
PLANTED_SIZES = (6_000, 4_500, 3_500, 2_500, 2_000, 1_500, 1_000, 1_000)  # by class
PLANTED_PAIRS = ((0, 7), (1, 2), (3, 6))  # classes that overlap; the others are far from all
PLANTED_DISTANCE, PLANTED_SPREAD = 0.7, 1.6  # of the centres of such a pair, and of all other centres per feature
PLANTED_FEATURES, PLANTED_INFORMATIVE = 20, 10
HUB_DISTANCE = 2.0


def planted() -> Samples:
    """Normal distributions with planted confusions: three pairs of classes overlap, one of them large with small."""
    random = np.random.RandomState(PLANTED_SEED)
    centres = np.zeros((len(PLANTED_SIZES), PLANTED_FEATURES))
    centres[:, :PLANTED_INFORMATIVE] = random.normal(scale=PLANTED_SPREAD, size=(len(centres), PLANTED_INFORMATIVE))
    for one, other in PLANTED_PAIRS:
        shift = random.normal(size=PLANTED_INFORMATIVE)
        centres[other] = centres[one]
        centres[other, :PLANTED_INFORMATIVE] += shift * (PLANTED_DISTANCE * 2.0 / np.linalg.norm(shift))
    y = np.repeat(np.arange(len(centres)), PLANTED_SIZES)
    return centres[y] + random.normal(size=(len(y), PLANTED_FEATURES)), y


def hub() -> Samples:
    """The same with a hub: the smallest class lies between three others, and is confused with all of them."""
    X, y = planted()
    X = X.copy()
    smallest, neighbours = len(PLANTED_SIZES) - 1, (1, 3, 5)
    centre = X[y == smallest].mean(axis=0)
    random = np.random.RandomState(PLANTED_SEED)
    for neighbour in neighbours:
        shift = random.normal(size=PLANTED_FEATURES)
        shift[PLANTED_INFORMATIVE:] = 0.0
        X[y == neighbour] += centre - X[y == neighbour].mean(axis=0) + shift * (HUB_DISTANCE / np.linalg.norm(shift))
    return X, y


def clusters() -> Samples:
    """Clusters that overlap: eight classes of which the largest has ten times the samples of the smallest."""
    sizes = np.geomspace(10, 1, 8)
    return make_imbalanced(
        20_000,
        sizes / sizes.sum(),
        n_features=PLANTED_FEATURES,
        n_informative=PLANTED_INFORMATIVE,
        n_clusters_per_class=3,
        class_sep=1.0,
        random_state=5,
    )


def bundled(name: str) -> Callable[[], Samples]:
    """A data set of the paper."""
    return lambda: load_dataset(name, return_X_y=True)


def keel(name: str) -> Callable[[], Samples]:
    """A table of KEEL."""
    return lambda: read_table(name)


#: From few classes and samples to many.
PROBLEMS: dict[str, Callable[[], Samples]] = {
    "satimage": bundled("satimage"),
    "planted": planted,
    "hub": hub,
    "clusters": clusters,
    "splice": keel("splice"),
    "segment": keel("segment"),
    "marketing": keel("marketing"),
    "connect-4": bundled("connect-4"),
    "optdigits": keel("optdigits"),
    "texture": keel("texture"),
    "penbased": keel("penbased"),
}

#: `MOST_PRICE_POWER` was chosen with these, so they are no evidence for it.
LOOKED_AT = ("satimage", "connect-4", "clusters", "segment", "marketing")


@lru_cache(maxsize=1)
def load(problem: str) -> Samples:
    """X and y of a problem, classes as numbers from 0."""
    X, y = PROBLEMS[problem]()
    return X, np.unique(y, return_inverse=True)[1]


def split(problem: str, seed: int) -> list[Any]:
    """X_train, X_test, y_train, y_test."""
    X, y = load(problem)
    return train_test_split(X, y, test_size=TEST_SIZE, stratify=y, random_state=seed)
