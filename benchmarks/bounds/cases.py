"""Cases: a confusion matrix C, the sizes of the classes, the weights of their samples, and a level η."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Random = np.random.Generator

#: Largest and smallest class; those between are spaced geometrically.
SIZES = {
    "5 each": (5, 5),
    "100 each": (100, 100),
    "10 000 each": (10_000, 10_000),
    "1 000 to 20": (1_000, 20),
    "10 000 to 10": (10_000, 10),
    "5 000 to 5": (5_000, 5),
}
N_CLASSES = (2, 3, 6, 10, 26)
ETA, OTHER_ETA = 0.05, 0.2
EQUAL = "equal"


def spread(errors: Floats, rng: Random) -> Floats:
    """The confusion matrix with these error rates, spread over the other classes at random."""
    n_classes = len(errors)
    confusion = np.zeros((n_classes, n_classes))
    for row in range(n_classes):
        confusion[row, np.arange(n_classes) != row] = errors[row] * rng.dirichlet(np.ones(n_classes - 1))
    return confusion


def diffuse(sizes: NDArray[np.intp], eta: float, rng: Random) -> Floats:
    """Error rates between 10 and 40 %, spread over all other classes."""
    del eta
    return spread(rng.uniform(0.1, 0.4, len(sizes)), rng)


def one_pair(sizes: NDArray[np.intp], eta: float, rng: Random) -> Floats:
    """The smallest class is predicted as the largest in 40 % of the cases; all else is 2 % wrong."""
    del eta
    confusion = spread(np.full(len(sizes), 0.02), rng)
    confusion[-1] = 0.0
    confusion[-1, 0] = 0.4
    return confusion


def near_perfect(sizes: NDArray[np.intp], eta: float, rng: Random) -> Floats:
    """Every class is 0.5 % wrong."""
    del eta
    return spread(np.full(len(sizes), 0.005), rng)


def all_wrong(sizes: NDArray[np.intp], eta: float, rng: Random) -> Floats:
    """Every prediction is wrong."""
    del eta
    return spread(np.ones(len(sizes)), rng)


def sparse(sizes: NDArray[np.intp], eta: float, rng: Random) -> Floats:
    """Every other class is confused with the next one, in up to 30 % of the cases; the others are never wrong."""
    del eta
    n_classes = len(sizes)
    confusion = np.zeros((n_classes, n_classes))
    rows = np.arange(0, n_classes, 2)
    confusion[rows, (rows + 1) % n_classes] = rng.uniform(0.0, 0.3, len(rows))
    return confusion


def least_favourable(sizes: NDArray[np.intp], eta: float, rng: Random) -> Floats:
    """Only the smallest class is ever wrong, a little more often than no errors at all would exclude."""
    del rng
    confusion = np.zeros((len(sizes), len(sizes)))
    confusion[-1, 0] = (1.0 - eta ** (1.0 / sizes[-1])) * 1.0001
    return confusion


KINDS: dict[str, Callable[[NDArray[np.intp], float, Random], Floats]] = {
    "diffuse": diffuse,
    "one pair": one_pair,
    "near perfect": near_perfect,
    "all wrong": all_wrong,
    "sparse": sparse,
    "least favourable": least_favourable,
}

#: Weights of the samples of a class, and the fraction of the samples that has each.
WEIGHTS = {
    EQUAL: ((1.0, 1.0),),
    "by class": ((1.0, 1.0),),  # times the number of the class
    "a few heavy": ((20.0, 0.1), (1.0, 0.9)),
    "1 to 64": tuple((2.0**power, 1 / 7) for power in range(7)),
}


@dataclass(frozen=True)
class Case:
    """One simulation."""

    kind: str
    n_classes: int
    size: str
    weights: str = EQUAL
    eta: float = ETA

    @property
    def name(self) -> str:
        """What tells it from all others."""
        return f"{self.kind}, {self.n_classes} classes, {self.size}, weights {self.weights}, eta {self.eta}"

    @property
    def sizes(self) -> NDArray[np.intp]:
        """Number of samples of every class."""
        return np.geomspace(*SIZES[self.size], self.n_classes).round().astype(np.intp)

    @property
    def confusion(self) -> Floats:
        """The true C; the same for all weights."""
        seed = zlib.crc32(f"{self.kind}, {self.n_classes}".encode())
        return KINDS[self.kind](self.sizes, self.eta, np.random.default_rng(seed))

    @property
    def groups(self) -> list[list[tuple[float, int]]]:
        """Weights and numbers of samples of the groups of equal weight, by class."""
        return [self.groups_of(label, int(size)) for label, size in enumerate(self.sizes)]

    def groups_of(self, label: int, size: int) -> list[tuple[float, int]]:
        """The groups of a class: at least one sample in each, as long as there are samples."""
        factor = 1.0 + label if self.weights == "by class" else 1.0
        *others, last = WEIGHTS[self.weights]
        groups, left = [], size
        for weight, fraction in others:
            n_samples = min(left, max(1, round(fraction * size)))
            groups.append((factor * weight, n_samples))
            left -= n_samples
        groups.append((factor * last[0], left))
        return [(weight, n_samples) for weight, n_samples in groups if n_samples]


#: The largest cases come last, so that an interrupted run has something of everything.
CASES = sorted(
    [
        *(Case(kind, k, size) for k, size, kind in product(N_CLASSES, SIZES, KINDS)),
        *(Case(kind, k, size, eta=OTHER_ETA) for k, size, kind in product((3, 10), ("100 each", "5 000 to 5"), KINDS)),
        *(
            Case(kind, k, size, weights)
            for k, size, weights, kind in product((2, 3, 10), ("100 each", "1 000 to 20"), list(WEIGHTS)[1:], KINDS)
        ),
    ],
    key=lambda case: case.n_classes,
)
QUICK_CASES = [case for case in CASES if case.n_classes <= 3 or (case.n_classes, case.size) == (10, "1 000 to 20")]
