"""Values to bins. In: a table and integer weights. Out: categories, bin edges, and codes feature by feature."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from comboost import _core
from comboost._data.categories import Categories
from comboost._data.tables import Entries, RawTable, Table
from comboost._data.validation import fit_categories
from comboost._types import CATEGORIES, CODE, COMPLETE, KIND, WITH_MISSING, Codes, Floats, Kinds, Weights

MOST_COLUMNS = 64
COLUMNS_BYTES = 2**24  # of a table that must be converted, at a time


@dataclass(frozen=True)
class BinMapper:
    """Bin edges of every feature: a value's code is the number of edges below it.

    If a feature has missing values, and for categories, code 0 is theirs and the codes of values are one higher.

    Parameters
    ----------
    flat_edges : ndarray
        Ascending edges of every feature, one feature after the other. A feature with k edges has k + 1 bins of values.
    edge_starts : ndarray of int64
        Where the edges of every feature start, and where the last ones end.
    kinds : ndarray of uint8
        What every feature is: COMPLETE, WITH_MISSING or CATEGORIES.

    Attributes
    ----------
    bin_offsets : ndarray of int64
        Where the bins of every feature start in a histogram, and where the last ones end. Missing values have a bin of
        their own, if there are any.
    """

    flat_edges: Floats
    edge_starts: NDArray[np.int64]
    kinds: Kinds
    bin_offsets: NDArray[np.int64] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        n_bins = np.diff(self.edge_starts) + 1 + (self.kinds != COMPLETE)
        object.__setattr__(self, "bin_offsets", np.concatenate(([0], np.cumsum(n_bins))))

    @classmethod
    def of(cls, edges: Sequence[Floats], kinds: Kinds) -> "BinMapper":
        """From the edges of every feature."""
        return cls(np.concatenate(edges), np.cumsum([0, *map(len, edges)], dtype=np.int64), kinds)

    @classmethod
    def fit(
        cls, table: Table, categories: Categories, weights: Weights | None, max_bins: int, n_threads: int = 1
    ) -> "BinMapper":
        """Find edges at exact quantiles of the integer weights; a bin for every value if there are few."""
        edges: list[Floats] = []
        kinds = np.full(table.shape[1], COMPLETE, dtype=KIND)
        kinds[list(categories.values)] = CATEGORIES
        for first, last in runs(table, kinds):
            if kinds[first] == CATEGORIES:
                edges += [category_edges(categories, f) for f in range(first, last)]
                continue
            values = table.columns(first, last) if table.matrix is None else table.matrix
            for found, missing, infinite in _core.find_edges(values, weights, max_bins, n_threads):
                if infinite:
                    raise infinity_error(table.label(len(edges)))
                if missing:
                    kinds[len(edges)] = WITH_MISSING
                edges.append(found)
        return cls(np.concatenate(edges), np.cumsum([0, *map(len, edges)], dtype=np.int64), kinds)

    @classmethod
    def fit_entries(
        cls, entries: Entries, table: Table, weights: Weights | None, max_bins: int, n_threads: int = 1
    ) -> "BinMapper":
        """As `fit`, from the entries of a sparse table."""
        flat, starts, missing, infinite = _core.find_sparse_edges(
            entries.starts, entries.rows, entries.values, entries.n_samples, weights, max_bins, n_threads
        )
        categories = table.categories
        if infinite.any():
            raise infinity_error(table.label(int(infinite.argmax())))
        kinds = np.where(missing, WITH_MISSING, COMPLETE).astype(KIND)
        if not categories.values:
            return cls(flat, starts, kinds)
        kinds[list(categories.values)] = CATEGORIES
        edges = np.split(flat, starts[1:-1])
        for f in categories.values:
            edges[f] = category_edges(categories, f)
        return cls.of(edges, kinds)

    @property
    def n_features(self) -> int:
        """Features."""
        return len(self.kinds)

    @property
    def edges(self) -> list[Floats]:
        """The edges of every feature."""
        return np.split(self.flat_edges, self.edge_starts[1:-1])

    def transform(self, table: Table, n_threads: int = 1, known: Mapping[int, Codes] | None = None) -> Codes:
        """Codes of the values, (n_features, n_samples); those of categories may be known already."""
        codes = np.empty(table.shape[::-1], dtype=CODE)
        starts, edges = self.edge_starts, self.flat_edges
        for first, last in runs(table, self.kinds):
            if known and first in known:
                codes[first:last] = [known[f] for f in range(first, last)]
                continue
            _core.encode(
                table.columns(first, last) if table.matrix is None else table.matrix,
                edges,
                starts[first : last + 1],
                self.kinds[first:last],
                n_threads,
                codes[first:last],
            )
        return codes

    def encode_entries(self, entries: Entries, n_threads: int = 1) -> _core.SparseCodes:
        """Codes of the entries of a sparse table."""
        return _core.SparseCodes(*entries, self.flat_edges, self.edge_starts, self.kinds, n_threads)


class BinnedTable(NamedTuple):
    """A table and what binning makes of it."""

    table: Table
    categories: Categories
    bins: BinMapper
    codes: Codes | _core.SparseCodes


def bin_table(
    raw: RawTable,
    categorical_features: Any,
    weights: Weights | None,
    max_bins: int,
    n_threads: int,
    check: Callable[[int], None],
    *,
    sparse: bool = True,
) -> BinnedTable:
    """Find the categories and bins of a table, and code its values.

    Parameters
    ----------
    raw : RawTable
        The rows, all of which weigh something.
    categorical_features : "from_dtype", array-like or None
        As in the estimators.
    weights : ndarray of uint32 or None
        Integer weights; None if every row weighs 1.
    max_bins : int
        Bins of a feature at most.
    n_threads : int
        Threads of every kernel.
    check : callable
        Called with the number of bins before the codes are made; raises if that is too much.
    sparse : bool
        Whether the codes of a sparse table may be sparse.
    """
    categories, known = fit_categories(raw, categorical_features, weights)
    table = raw.encode(categories)
    if sparse and raw.source.n_entries is not None:
        entries = table.entries()
        bins = BinMapper.fit_entries(entries, table, weights, max_bins, n_threads)
        check(int(bins.bin_offsets[-1]))
        return BinnedTable(table, categories, bins, bins.encode_entries(entries, n_threads))
    bins = BinMapper.fit(table, categories, weights, max_bins, n_threads)
    check(int(bins.bin_offsets[-1]))
    return BinnedTable(table, categories, bins, bins.transform(table, n_threads, known))


def infinity_error(label: str) -> ValueError:
    """What to do about infinite values."""
    return ValueError(
        f"Input X contains infinity or a value too large for dtype('float64'), in {label}; replace it by a number, or "
        "by NaN where nothing is known."
    )


def category_edges(categories: Categories, feature: int) -> Floats:
    """The edges of a feature of categories: between the numbers of any two neighbours."""
    return np.arange(1.5, categories.n_codes(feature))


def runs(table: Table, kinds: Kinds) -> list[tuple[int, int]]:
    """Columns to read at once, (first, last): all of them if nothing is copied, otherwise a few of the same sort."""
    n_samples, n_features = table.shape
    if table.matrix is not None:
        return [(0, n_features)]
    most = columns_at_once(n_samples)
    found = []
    first = 0
    for last in range(1, n_features + 1):
        is_border = last == n_features or (kinds[last] == CATEGORIES) != (kinds[first] == CATEGORIES)
        if is_border or last - first == most:
            found.append((first, last))
            first = last
    return found


def columns_at_once(n_samples: int) -> int:
    """Columns of a table that are converted at a time."""
    return min(MOST_COLUMNS, max(1, COLUMNS_BYTES // (8 * max(1, n_samples))))
