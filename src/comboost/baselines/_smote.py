"""SMOTE: synthetic samples between the samples of a minority class and their nearest neighbours of the same class.

The squared distance of two samples is the sum over their features of the squared difference of numbers, and of Cost and
Salzberg's squared value difference Σ_c |P(c|v) − P(c|w)| of categories. scikit-learn's neighbour search is not used:
which of several samples at the same distance it returns depends on the number of threads, and categories cause many
ties. Nor is a matrix product, which uses all processors whatever ``n_jobs`` is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from comboost._data.categories import Categories
from comboost._data.tables import ArraySource, RawTable
from comboost._types import LABEL, Codes, Floats, Labels
from comboost.baselines._estimator import Problem

Indices = NDArray[np.intp]
BLOCK_SIZE = 2**18  # distances in memory at a time
CATEGORY_UNITS = 2.0**30  # value differences are multiples of 1/this, so sums are exact and ties stay ties


def value_differences(codes: Codes, labels: Labels, n_classes: int) -> Floats:
    """Squared differences between the values of a category feature, in CATEGORY_UNITS; code 0 is "missing"."""
    counts = np.zeros((int(codes.max()) + 1, n_classes))
    np.add.at(counts, (codes, labels), 1.0)
    proportions = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)  # P(c|v)
    difference = np.abs(proportions[:, np.newaxis, :] - proportions[np.newaxis, :, :]).sum(axis=2)
    squares: Floats = np.rint(CATEGORY_UNITS * difference**2)
    return squares


@dataclass(frozen=True)
class Metric:
    """Squared distances between the samples of a class."""

    complete: Floats  # (n_samples, n_complete); numeric features without missing values
    incomplete: Floats  # (n_samples, n_incomplete); the other numeric features
    codes: list[Indices]  # (n_samples,) per categorical feature
    # (n_values, n_samples) per categorical feature; value differences to every sample, in CATEGORY_UNITS
    differences: list[Floats]
    n_features: int  # number of features of all three types

    @classmethod
    def of(cls, samples: Floats, differences: Mapping[int, Floats]) -> "Metric":
        """Prepare the distances between samples, given the value differences of the categorical features."""
        numeric = np.setdiff1d(np.arange(samples.shape[1]), list(differences))
        numbers = samples[:, numeric]
        has_missing = np.isnan(numbers).any(axis=0)
        codes = [np.nan_to_num(samples[:, f]).astype(np.intp) for f in differences]
        by_sample = [np.take(table, column, axis=1) for column, table in zip(codes, differences.values(), strict=True)]
        return cls(numbers[:, ~has_missing], numbers[:, has_missing], codes, by_sample, samples.shape[1])

    def __len__(self) -> int:
        return len(self.complete)

    def squares(self, first: int, last: int) -> Floats:
        """Squared distances of some samples to all; a missing number counts as the mean of the other features."""
        total = np.zeros((last - first, len(self)))
        for codes, differences in zip(self.codes, self.differences, strict=True):
            total += differences[codes[first:last]]
        total /= CATEGORY_UNITS
        if self.complete.shape[1] > 0:
            total += cdist(self.complete[first:last], self.complete, "sqeuclidean")
        if self.incomplete.shape[1] == 0:
            return total
        shared = np.full(total.shape, float(self.n_features))
        for column in self.incomplete.T:
            with np.errstate(over="ignore"):
                square = (column[first:last, np.newaxis] - column) ** 2
            missing = np.isnan(square)
            total += np.where(missing, 0.0, square)
            shared -= missing
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.where(shared > 0, total * (self.n_features / shared), np.inf)


def nearest(metric: Metric, n_neighbours: int) -> Indices:
    """Indices of the nearest other samples of every sample, the nearest first; ties go to the first sample.

    The shape is (n_samples, min(n_neighbours, n_samples - 1)), or (1, 1) for a single sample: it is its own neighbour.
    """
    n_samples = len(metric)
    if n_samples == 1:
        return np.zeros((1, 1), dtype=np.intp)
    n_found = min(n_neighbours, n_samples - 1)
    step = max(1, BLOCK_SIZE // n_samples)
    found = np.empty((n_samples, n_found), dtype=np.intp)
    for first in range(0, n_samples, step):
        last = min(n_samples, first + step)
        squares = metric.squares(first, last)
        # A sample is not its own neighbour. NaN sorts last.
        squares[np.arange(last - first), np.arange(first, last)] = np.nan
        found[first:last] = smallest(squares, n_found)
    return found


def smallest(squares: Floats, n_found: int) -> Indices:
    """Columns of the smallest entries of every row, ascending; ties go to the first."""
    limit = np.partition(squares, n_found - 1, axis=1)[:, n_found - 1 : n_found]
    row, column = np.nonzero(squares <= limit)
    order = np.lexsort((column, squares[row, column], row))
    begin = np.searchsorted(row, np.arange(len(squares)))
    columns: Indices = column[order][begin[:, np.newaxis] + np.arange(n_found)]
    return columns


@dataclass(frozen=True)
class Synthesiser:
    """Draws samples of one class, between its samples and their neighbours."""

    numbers: Floats  # (n_samples, n_numeric); the numeric features of the class
    neighbours: Indices  # (n_samples, n_neighbours); the neighbours of every sample, the nearest first
    numeric: list[int]  # indices of the numeric features
    categorical: list[int]  # indices of the categorical features
    modes: Floats  # (n_samples, n_categorical); the most frequent category among the neighbours of every sample

    @classmethod
    def of(cls, samples: Floats, neighbours: Indices, categorical: Sequence[int]) -> "Synthesiser":
        """Prepare the draws."""
        numeric = np.setdiff1d(np.arange(samples.shape[1]), categorical).tolist()
        modes = [most_frequent(samples[:, f][neighbours]) for f in categorical]
        stacked = np.stack(modes, axis=1) if modes else np.zeros((len(samples), 0))
        return cls(samples[:, numeric], neighbours, numeric, list(categorical), stacked)

    def draw(self, n_samples: int, random: np.random.RandomState) -> Floats:
        """Draw samples with the random numbers of imbalanced-learn's SMOTE.

        A number lies between the sample's and the neighbour's, and is missing if one of them is.
        """
        picks = random.randint(0, self.neighbours.size, size=n_samples)
        steps = random.uniform(size=n_samples)[:, np.newaxis]
        row, rank = np.divmod(picks, self.neighbours.shape[1])
        here, there = self.numbers[row], self.numbers[self.neighbours[row, rank]]
        drawn = np.empty((n_samples, len(self.numeric) + len(self.categorical)))
        # Not here + step·(there − here), which may overflow; and no rounding may leave the segment.
        between = (1.0 - steps) * here + steps * there
        drawn[:, self.numeric] = np.clip(between, np.minimum(here, there), np.maximum(here, there))
        drawn[:, self.categorical] = self.modes[row]
        return drawn


def most_frequent(codes: Floats) -> Floats:
    """The most frequent code of every row of a matrix, ties going to the first; NaN is a code, too."""
    row = np.arange(len(codes))
    known = np.nan_to_num(codes).astype(np.intp)  # codes start at 1
    n_codes = int(known.max()) + 1
    # Counted by code: pairs of entries would take too much memory with many neighbours.
    counts = np.bincount((row[:, np.newaxis] * n_codes + known).ravel(), minlength=len(codes) * n_codes)
    n_equal = counts.reshape(len(codes), n_codes)[row[:, np.newaxis], known]
    modes: Floats = codes[row, n_equal.argmax(axis=1)]
    return modes


@dataclass(frozen=True)
class Synthesis:
    """Draws synthetic samples until every class has as many as the largest one."""

    problem: Problem
    synthesisers: dict[int, Synthesiser]  # one for every minority class, in class order

    @classmethod
    def of(cls, problem: Problem, n_neighbours: int) -> "Synthesis":
        """Find the neighbours of all samples of minority classes."""
        categorical = list(problem.categories.values)
        assert isinstance(problem.codes, np.ndarray)
        differences = {f: value_differences(problem.codes[f], problem.labels, problem.n_classes) for f in categorical}
        synthesisers = {}
        for label in np.flatnonzero(problem.shortfalls).tolist():
            of_class = np.flatnonzero(problem.labels == label)
            samples = problem.table.take(of_class).rows(0, len(of_class)).astype(np.float64)
            neighbours = nearest(Metric.of(samples, differences), n_neighbours)
            synthesisers[label] = Synthesiser.of(samples, neighbours, categorical)
        return cls(problem, synthesisers)

    @property
    def labels(self) -> Labels:
        """The class index of every synthetic sample, the same in every round."""
        return np.repeat(np.arange(self.problem.n_classes, dtype=LABEL), self.problem.shortfalls)

    def draw(self, round_idx: int) -> Floats:
        """The synthetic samples of a round, class after class."""
        keyed = np.random.SeedSequence([self.problem.rules.seed, round_idx])
        random = np.random.RandomState(np.random.MT19937(keyed))
        shortfalls = self.problem.shortfalls
        drawn = [one.draw(int(shortfalls[label]), random) for label, one in self.synthesisers.items()]
        return np.concatenate([np.zeros((0, self.problem.table.shape[1])), *drawn])

    def draw_codes(self, round_idx: int) -> Codes:
        """The binned synthetic samples of a round, (n_features, n_samples)."""
        table = RawTable(ArraySource(self.draw(round_idx))).encode(Categories())
        return self.problem.bins.transform(table, self.problem.n_threads)
