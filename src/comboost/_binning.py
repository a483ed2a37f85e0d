"""Values to bins. In: a table of floats and integer weights. Out: bin edges, and codes feature by feature."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from comboost import _core
from comboost._categories import Categories
from comboost._dtypes import CATEGORIES, CODE, COMPLETE, KIND, WITH_MISSING, Codes, Floats, Kinds, Weights
from comboost._memory import COLUMNS_BYTES
from comboost._table import Table

MOST_COLUMNS = 64


@dataclass(frozen=True)
class BinMapper:
    """Bin edges of every feature: a value's code is the number of edges below it.

    Where a feature has missing values, and for categories, code 0 is theirs and the codes of values are one higher.

    Parameters
    ----------
    edges : list of ndarray
        Ascending edges of every feature. A feature with k edges has k + 1 bins of values.
    kinds : ndarray of uint8
        What every feature is: COMPLETE, WITH_MISSING or CATEGORIES.
    """

    edges: list[Floats]
    kinds: Kinds

    @classmethod
    def fit(
        cls, table: Table, categories: Categories, weights: Weights | None, max_bins: int, n_threads: int = 1
    ) -> "BinMapper":
        """Find edges at exact quantiles of the integer weights; a bin for every value where there are few."""
        edges: list[Floats] = []
        kinds = np.full(table.shape[1], COMPLETE, dtype=KIND)
        kinds[list(categories.values)] = CATEGORIES
        for first, last in runs(table, kinds):
            if kinds[first] == CATEGORIES:
                edges += [np.arange(1.5, len(categories.values[f])) for f in range(first, last)]
                continue
            for found, missing, infinite in _core.find_edges(read(table, first, last), weights, max_bins, n_threads):
                if infinite:
                    raise ValueError(
                        "Input X contains infinity or a value too large for dtype('float64'), in "
                        f"{table.label(len(edges))}; replace it by a number, or by NaN where nothing is known."
                    )
                if missing:
                    kinds[len(edges)] = WITH_MISSING
                edges.append(found)
        return cls(edges, kinds)

    @property
    def n_bins(self) -> NDArray[np.int64]:
        """Bins of every feature, the one for missing values included."""
        n_bins: NDArray[np.int64] = np.array([len(edges) + 1 for edges in self.edges]) + (self.kinds != COMPLETE)
        return n_bins

    @property
    def bin_offsets(self) -> NDArray[np.int64]:
        """Where the bins of every feature start in a histogram, and where the last ones end."""
        return np.concatenate(([0], np.cumsum(self.n_bins)))

    @property
    def edge_starts(self) -> NDArray[np.int64]:
        """Where the edges of every feature start in ``flat_edges``, and where the last ones end."""
        return np.cumsum([0, *map(len, self.edges)], dtype=np.int64)

    @property
    def flat_edges(self) -> Floats:
        """The edges of all features, one after the other."""
        return np.concatenate(self.edges)

    def transform(self, table: Table, n_threads: int = 1, known: Mapping[int, Codes] | None = None) -> Codes:
        """Codes of the values, (n_features, n_samples); those of categories may be known already."""
        codes = np.empty(table.shape[::-1], dtype=CODE)
        starts, edges = self.edge_starts, self.flat_edges
        for first, last in runs(table, self.kinds):
            if known and first in known:
                codes[first:last] = [known[f] for f in range(first, last)]
                continue
            _core.encode(
                read(table, first, last),
                edges,
                starts[first : last + 1],
                self.kinds[first:last],
                n_threads,
                codes[first:last],
            )
        return codes


def runs(table: Table, kinds: Kinds) -> Iterator[tuple[int, int]]:
    """Columns to read at once, (first, last): all of them where nothing is copied, otherwise a few of the same sort."""
    n_rows, n_features = table.shape
    if table.matrix() is not None:
        yield 0, n_features
        return
    most = min(MOST_COLUMNS, max(1, COLUMNS_BYTES // (8 * max(1, n_rows))))
    first = 0
    for last in range(1, n_features + 1):
        is_border = last == n_features or (kinds[last] == CATEGORIES) != (kinds[first] == CATEGORIES)
        if is_border or last - first == most:
            yield first, last
            first = last


def read(table: Table, first: int, last: int) -> NDArray[np.floating]:
    """Columns of a table, in the order in memory that it has."""
    matrix = table.matrix()
    return table.columns(first, last) if matrix is None else matrix[:, first:last]
