"""Nearest neighbours within a class. In: its rows. Out: for every row the indices of its neighbours, the nearest first.

Numbers differ by their difference, categories by Cost and Salzberg's value difference Σ_c |P(c|v) − P(c|w)|, both of
them squared and added. scikit-learn's search is not used: which of several rows at the same distance it finds depends
on the number of threads, and categories make many such ties. Nor is a matrix product, which takes all processors,
whatever ``n_jobs`` says.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from comboost._types import Codes, Floats, Labels

Indices = NDArray[np.intp]
AT_ONCE = 2**18  # distances that are held at a time
CATEGORY_UNITS = 2.0**30  # value differences are whole numbers of 1/this: their sums are exact, and ties are ties


def value_differences(codes: Codes, labels: Labels, n_classes: int) -> Floats:
    """Squared differences between the values of a category feature, in CATEGORY_UNITS; code 0 is "missing"."""
    counts = np.zeros((int(codes.max()) + 1, n_classes))
    np.add.at(counts, (codes, labels), 1.0)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)  # P(c|v)
    difference = np.abs(shares[:, np.newaxis, :] - shares[np.newaxis, :, :]).sum(axis=2)
    squares: Floats = np.rint(CATEGORY_UNITS * difference**2)
    return squares


@dataclass(frozen=True)
class Metric:
    """Squared distances between the rows of a class.

    Attributes
    ----------
    complete : ndarray of shape (n_samples, n_complete)
        Numbers of the features without missing values.
    gappy : ndarray of shape (n_samples, n_gappy)
        Numbers of the others.
    coded : list of ndarray of shape (n_samples,)
        The code of every row, category by category.
    valued : list of ndarray of shape (n_values, n_samples)
        The difference of every value from that of a row, category by category, in CATEGORY_UNITS.
    n_features : int
        Features of all three sorts.
    """

    complete: Floats
    gappy: Floats
    coded: list[Indices]
    valued: list[Floats]
    n_features: int

    @classmethod
    def of(cls, rows: Floats, differences: Mapping[int, Floats]) -> "Metric":
        """The metric of some rows, given the value differences of the features that are categories."""
        numeric = np.setdiff1d(np.arange(rows.shape[1]), list(differences))
        numbers = rows[:, numeric]
        has_gaps = np.isnan(numbers).any(axis=0)
        coded = [np.nan_to_num(rows[:, f]).astype(np.intp) for f in differences]
        valued = [np.take(table, codes, axis=1) for codes, table in zip(coded, differences.values(), strict=True)]
        return cls(numbers[:, ~has_gaps], numbers[:, has_gaps], coded, valued, rows.shape[1])

    def __len__(self) -> int:
        return len(self.complete)

    def squares(self, first: int, last: int) -> Floats:
        """Squared distances of some rows to all. A number that one of two rows lacks counts as the mean of the rest."""
        total = np.zeros((last - first, len(self)))
        for codes, differences in zip(self.coded, self.valued, strict=True):
            total += differences[codes[first:last]]
        total /= CATEGORY_UNITS
        if self.complete.shape[1] > 0:
            total += cdist(self.complete[first:last], self.complete, "sqeuclidean")
        if self.gappy.shape[1] == 0:
            return total
        shared = np.full(total.shape, float(self.n_features))
        for column in self.gappy.T:
            with np.errstate(over="ignore"):
                square = (column[first:last, np.newaxis] - column) ** 2
            missing = np.isnan(square)
            total += np.where(missing, 0.0, square)
            shared -= missing
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.where(shared > 0, total * (self.n_features / shared), np.inf)


def nearest(metric: Metric, n_neighbours: int) -> Indices:
    """The nearest other rows of every row, or as many as there are; of equally near ones the first. Alone, the row.

    Parameters
    ----------
    metric : Metric
        The distances.
    n_neighbours : int
        k.

    Returns
    -------
    ndarray of shape (n_samples, min(k, n_samples - 1)), or (1, 1) for a single row
        Indices of rows, the nearest first.
    """
    n_samples = len(metric)
    if n_samples == 1:
        return np.zeros((1, 1), dtype=np.intp)
    n_found = min(n_neighbours, n_samples - 1)
    step = max(1, AT_ONCE // n_samples)
    found = np.empty((n_samples, n_found), dtype=np.intp)
    for first in range(0, n_samples, step):
        last = min(n_samples, first + step)
        squares = metric.squares(first, last)
        squares[np.arange(last - first), np.arange(first, last)] = np.nan  # no row is its own neighbour; NaN is last
        found[first:last] = smallest(squares, n_found)
    return found


def smallest(squares: Floats, n_found: int) -> Indices:
    """Columns of the smallest entries of every row, ascending; of equal ones the first."""
    limit = np.partition(squares, n_found - 1, axis=1)[:, n_found - 1 : n_found]
    row, column = np.nonzero(squares <= limit)
    order = np.lexsort((column, squares[row, column], row))
    begin = np.searchsorted(row, np.arange(len(squares)))
    columns: Indices = column[order][begin[:, np.newaxis] + np.arange(n_found)]
    return columns
