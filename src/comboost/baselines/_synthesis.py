"""Synthetic rows after SMOTE. In: the rows of every minority class. Out: new rows, drawn anew in every round."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from comboost._data.categories import Categories
from comboost._data.tables import ArraySource, RawTable
from comboost._types import LABEL, Codes, Floats, Labels
from comboost.baselines._neighbours import Indices, Metric, nearest, value_differences
from comboost.baselines._problem import Problem


@dataclass(frozen=True)
class Synthesiser:
    """Draws rows of one class, between its rows and their neighbours.

    Attributes
    ----------
    numbers : ndarray of shape (n_samples, n_numeric)
        The rows of the class, without their categories.
    neighbours : ndarray of shape (n_samples, n_neighbours)
        The neighbours of every row, the nearest first.
    numeric, categorical : list of int
        Which features are which.
    modes : ndarray of shape (n_samples, n_categorical)
        The most frequent category among the neighbours of every row.
    """

    numbers: Floats
    neighbours: Indices
    numeric: list[int]
    categorical: list[int]
    modes: Floats

    @classmethod
    def of(cls, rows: Floats, neighbours: Indices, categorical: Sequence[int]) -> "Synthesiser":
        """Prepare what no draw changes."""
        numeric = np.setdiff1d(np.arange(rows.shape[1]), categorical).tolist()
        modes = [most_frequent(rows[:, f][neighbours]) for f in categorical]
        stacked = np.stack(modes, axis=1) if modes else np.zeros((len(rows), 0))
        return cls(rows[:, numeric], neighbours, numeric, list(categorical), stacked)

    def draw(self, n_samples: int, random: np.random.RandomState) -> Floats:
        """Draw that many rows, with the draws of imbalanced-learn's SMOTE.

        A number lies between the row's and the neighbour's, and is missing if one of them is.
        """
        picks = random.randint(0, self.neighbours.size, size=n_samples)
        steps = random.uniform(size=n_samples)[:, np.newaxis]
        row, place = np.divmod(picks, self.neighbours.shape[1])
        here, there = self.numbers[row], self.numbers[self.neighbours[row, place]]
        drawn = np.empty((n_samples, len(self.numeric) + len(self.categorical)))
        # Not here + step·(there − here), which may overflow; and no rounding may leave the segment.
        between = (1.0 - steps) * here + steps * there
        drawn[:, self.numeric] = np.clip(between, np.minimum(here, there), np.maximum(here, there))
        drawn[:, self.categorical] = self.modes[row]
        return drawn


def most_frequent(codes: Floats) -> Floats:
    """The most frequent code of every row of a matrix; of equally frequent ones the first, NaN being a code, too."""
    row = np.arange(len(codes))
    known = np.nan_to_num(codes).astype(np.intp)  # codes start at 1
    n_codes = int(known.max()) + 1
    # By code and not by pairs of entries, of which many neighbours would make more than memory holds.
    counts = np.bincount((row[:, np.newaxis] * n_codes + known).ravel(), minlength=len(codes) * n_codes)
    n_equal = counts.reshape(len(codes), n_codes)[row[:, np.newaxis], known]
    modes: Floats = codes[row, n_equal.argmax(axis=1)]
    return modes


@dataclass(frozen=True)
class Synthesis:
    """Draws as many rows of every class as it is short of the largest one.

    Attributes
    ----------
    problem : Problem
        The rows.
    synthesisers : dict of int to Synthesiser
        One for every class that is short of rows, in class order.
    """

    problem: Problem
    synthesisers: dict[int, Synthesiser]

    @classmethod
    def of(cls, problem: Problem, n_neighbours: int) -> "Synthesis":
        """Find the neighbours of all rows of minority classes, once."""
        categorical = list(problem.categories.values)
        assert isinstance(problem.codes, np.ndarray)
        differences = {f: value_differences(problem.codes[f], problem.labels, problem.n_classes) for f in categorical}
        synthesisers = {}
        for label in np.flatnonzero(problem.shortfalls).tolist():
            of_class = np.flatnonzero(problem.labels == label)
            rows = problem.table.take(of_class).rows(0, len(of_class)).astype(np.float64)
            neighbours = nearest(Metric.of(rows, differences), n_neighbours)
            synthesisers[label] = Synthesiser.of(rows, neighbours, categorical)
        return cls(problem, synthesisers)

    @property
    def labels(self) -> Labels:
        """The class index of every synthetic row, the same in every round."""
        return np.repeat(np.arange(self.problem.n_classes, dtype=LABEL), self.problem.shortfalls)

    def draw(self, round_idx: int) -> Floats:
        """The synthetic rows of a round, class after class."""
        keyed = np.random.SeedSequence([self.problem.rules.seed, round_idx])
        random = np.random.RandomState(np.random.MT19937(keyed))
        shortfalls = self.problem.shortfalls
        drawn = [one.draw(int(shortfalls[label]), random) for label, one in self.synthesisers.items()]
        return np.concatenate([np.zeros((0, self.problem.table.shape[1])), *drawn])

    def draw_codes(self, round_idx: int) -> Codes:
        """The synthetic rows of a round in the bins of the problem, (n_features, n_samples)."""
        rows = RawTable(ArraySource(self.draw(round_idx))).encode(Categories())
        return self.problem.bins.transform(rows, self.problem.n_threads)
