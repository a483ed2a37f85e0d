"""Exact bin edges of a table in parts, from counts that add up over the parts.

A value's key is an integer in the order of the values. A pass counts keys in intervals that are divided into cells:
their samples, weight, smallest and largest key. Cells of parts add up, so the weights below every cell are exact. A
cell that may hold a cut is open; the next pass refines it, with finer cells, or key by key once few samples are left.
Only requests and cells are sent. The rule for cuts stands in docs/decisions/0001-exact-arithmetic.md, "Bins".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from comboost import _core
from comboost._data.tables import Table
from comboost._distributed.packing import PackedIntegers
from comboost._engine.binning import runs
from comboost._types import CATEGORIES, COMPLETE, KIND, Floats, Weights

Keys = NDArray[np.uint64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
Cells = NDArray[np.void]  # of CELL_DTYPE, in the order of features and keys

#: The samples of one feature whose keys lie in one cell. Mirrors ``Cell`` of ``cpp/comboost/binning.hpp``.
CELL_DTYPE = np.dtype(
    [
        ("low", "<u8"),  # the smallest and the largest key seen
        ("high", "<u8"),
        ("weight", "<i8"),
        ("rows", "<u4"),
        ("tag", "<u4"),  # the feature and the shift; keys of a cell agree but for that many of their last bits
    ],
    align=True,
)
SHIFT_BITS = 6  # of a tag

SIGN = np.uint64(1 << 63)
LOWEST = np.uint64(0x000F_FFFF_FFFF_FFFF)  # the keys of the infinities; those of NaN lie beyond
HIGHEST = np.uint64(0xFFF0_0000_0000_0000)

FIRST_SHIFT = 50  # the first pass has 4 cells from one power of two to the next
MOST_KEYS = 2**21  # of all features and parts that are requested one by one: 64 MiB, a third of it when sent
MOST_CELLS = 2**19  # of all features that are requested of a part: 16 MiB
MOST_CELLS_OF_FEATURE = 2**16  # the core has counters for that many
FEWEST_BITS, MOST_BITS = 2, 7  # a cell is divided into 2**bits steps for every cut that it may hold
ENDS = 2  # an interval reaches into that many more cells than it is wide


@dataclass(frozen=True)
class CountRequest:
    """Counts requested of every part: intervals of keys, and how they are cut into cells."""

    lows: Keys  # closed intervals, ascending and disjoint within a feature
    highs: Keys
    shifts: NDArray[np.uint8]  # keys of an interval that agree but for their last ``shift`` bits share a cell
    starts: Integers  # of the intervals of every feature, which may have none, and the end of the last

    def aligned(self) -> "CountRequest":
        """Return the request with aligned arrays, as the core requires; deserialised ones may not be."""
        lows, highs = np.require(self.lows, requirements="A"), np.require(self.highs, requirements="A")
        return CountRequest(lows, highs, self.shifts, np.require(self.starts, requirements="A"))


@dataclass(frozen=True)
class KeyCounts:
    """Number of samples, and the non-empty cells of a request."""

    n_samples: int
    cells: Cells

    @classmethod
    def merge(cls, counts: Sequence["KeyCounts"]) -> "KeyCounts":
        """Add up counts of different samples."""
        return cls(sum(counts.n_samples for counts in counts), add_up(*(counts.cells for counts in counts)))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle in few bytes: most numbers are small, and most cells resemble the previous ones."""
        return unpack_counts, (self.n_samples, *pack_cells(self.cells))


def pack_cells(cells: Cells) -> tuple[Any, ...]:
    """Encode cells as mostly small integers; `unpack_counts` decodes them."""
    low, rows, tags = cells["low"], cells["rows"], cells["tag"]
    starts = np.flatnonzero(np.diff(tags, prepend=~tags[:1]))
    numbers = (low, cells["high"] - low, rows, cells["weight"] - rows)
    return starts, tags[starts], *map(PackedIntegers.of, numbers)


def unpack_counts(
    n_samples: int,
    starts: NDArray[np.intp],
    tags: NDArray[np.uint32],
    low: PackedIntegers,
    span: PackedIntegers,
    rows: PackedIntegers,
    excess: PackedIntegers,
) -> KeyCounts:
    """Decode `pack_cells`: where the tags change and to what, the span of the keys, weight beyond the samples."""
    cells = np.empty(low.shape, dtype=CELL_DTYPE)
    cells["low"], cells["rows"] = low.unpack(), rows.unpack()
    cells["high"], cells["weight"] = cells["low"] + span.unpack(), cells["rows"] + excess.unpack()
    cells["tag"] = np.repeat(tags, np.diff(starts, append=len(cells)))
    return KeyCounts(n_samples, cells)


def add_up(*sets: Cells) -> Cells:
    """Merge sets of cells."""
    return as_cells(_core.merge_cells([cell_bytes(cells) for cells in sets]))


def as_cells(records: NDArray[np.uint8]) -> Cells:
    """View bytes of the core as cells."""
    cells: Cells = records.view(CELL_DTYPE)[:, 0]
    return cells


def cell_bytes(cells: Cells) -> NDArray[np.uint8]:
    """View cells as aligned bytes, as the core requires."""
    return np.require(cells, requirements=["C", "A"]).view(np.uint8).reshape(-1, CELL_DTYPE.itemsize)


def count_keys(table: Table, request: CountRequest, weights: Weights | None, n_threads: int = 1) -> KeyCounts:
    """Count the requested keys of a table with at least one sample; all weights are positive.

    Features without intervals are not read, unless the table is one matrix.
    """
    request = request.aligned()
    is_requested = np.diff(request.starts) > 0
    counted: list[Cells] = []
    # Columns are read in runs of the same kind: requested ones, and others, as if they were categories.
    for first, last in runs(table, np.where(is_requested, COMPLETE, CATEGORIES).astype(KIND)):
        if not is_requested[first:last].any():
            continue
        matrix = table.columns(first, last) if table.matrix is None else table.matrix[:, first:last]
        starts = request.starts[first : last + 1]
        cells = as_cells(
            _core.count_cells(matrix, weights, request.lows, request.highs, request.shifts, starts, n_threads)
        )
        cells["tag"] += np.uint32(first << SHIFT_BITS)
        counted.append(cells)
    cells = counted[0] if len(counted) == 1 else np.concatenate([np.empty(0, dtype=CELL_DTYPE), *counted])
    return KeyCounts(table.shape[0], cells)


class EdgeSearch:
    """Search for the bin edges of all samples.

    Send ``request`` to every part, pass the merged counts to ``learn``, and repeat until ``request`` is None.
    ``features`` are the numeric ones. With at most ``most_keys`` samples in open cells, every key is requested.
    """

    def __init__(self, features: Sequence[int], n_features: int, max_bins: int, most_keys: int = MOST_KEYS) -> None:
        self.missing = np.zeros(n_features, dtype=bool)  # which features have such values; known after the first counts
        self.infinite = np.zeros(n_features, dtype=bool)
        self.edges: list[Floats] = [np.empty(0)] * n_features  # known after the last counts
        self._features = np.array(features, dtype=np.int64)
        self._max_bins = max_bins
        self._most_keys = most_keys
        self._resolved: Cells | None = None
        self.request: CountRequest | None = make_request(
            np.sort(self._features),
            np.full(len(features), LOWEST),
            np.full(len(features), HIGHEST),
            np.full(len(features), FIRST_SHIFT),
            n_features,
        )

    def learn(self, counts: KeyCounts) -> None:
        """Process the counts of all samples."""
        if self._resolved is None:
            cells, features = counts.cells, features_of(counts.cells)
            known = sums_of(features, cells["rows"], len(self.edges))
            self.missing[self._features] = known[self._features] < counts.n_samples
            self.infinite[features[(cells["low"] == LOWEST) | (cells["high"] == HIGHEST)]] = True
            self._resolved = cells[:0]
        cells = add_up(self._resolved, counts.cells)
        status = CellStatus.of_cells(cells, len(self.edges), self._max_bins)
        self._resolved = cells[~status.is_open]
        if status.is_open.any():
            self.request = self._refine(cells[status.is_open], status.n_cuts[status.is_open])
        else:
            self.request = None
            self.edges = edges_between(cells, status, len(self.edges))

    def _refine(self, cells: Cells, n_cuts: Integers) -> CountRequest:
        """Request every key of a feature whose open cells have few samples, and finer cells of others."""
        features, n_features = features_of(cells), len(self.edges)
        n_samples = sums_of(features, cells["rows"], n_features)
        n_open = int(np.count_nonzero(n_samples))
        most_keys = self._most_keys // n_open
        most_cells = min(MOST_CELLS_OF_FEATURE, MOST_CELLS // n_open)
        most_steps = most_cells / np.maximum(1, sums_of(features, n_cuts, n_features)) - ENDS
        steps = n_cuts * steps_per_cut(n_samples / max(1, most_keys), most_steps)[features]
        shifts = np.maximum(0, np.ceil(np.log2((cells["high"] - cells["low"]) / steps))).astype(np.int64)
        shifts[n_samples[features] <= most_keys] = 0
        return make_request(features, cells["low"], cells["high"], shifts, n_features)


def make_request(features: Integers, lows: Keys, highs: Keys, shifts: Integers, n_features: int) -> CountRequest:
    """Make a request of intervals that are sorted by feature."""
    starts = np.searchsorted(features, np.arange(n_features + 1))
    return CountRequest(lows.copy(), highs.copy(), shifts.astype(np.uint8), starts.astype(np.int64))


def steps_per_cut(excess: Floats, most_steps: Floats) -> Floats:
    """Number of steps per cut with which to refine the open cells of every feature.

    ``excess`` is the ratio of their samples to the number of keys that may be requested. After s steps, about one
    sample in s is still in an open cell.
    """
    too_many = np.ceil(np.log2(np.maximum(2.0, excess)))
    n_passes = np.ceil(too_many / (MOST_BITS - 1))
    wanted = 2.0 ** (np.ceil(too_many / n_passes) + 1)  # twice as many, since values are not spread evenly
    steps: Floats = np.maximum(2.0**FEWEST_BITS, np.minimum(wanted, most_steps))
    return steps


class CellStatus(NamedTuple):
    """What the counts determine about every cell."""

    quantile: Integers  # the lowest that a value of the cell may fall into; the only one if the cell is not open
    n_cuts: Integers  # at most that many are inside, but at least 1 if the cell is open
    is_open: Booleans  # there may be a cut inside
    has_few: Booleans  # as far as is known, the feature has no more values than bins: all of them are to be parted

    @classmethod
    def of_cells(cls, cells: Cells, n_features: int, max_bins: int) -> "CellStatus":
        """Compute the status of cells that together hold all values, sorted by feature and key."""
        features, weights = features_of(cells), cells["weight"].copy()  # side by side, which is quicker
        total = sums_of(features, weights, n_features)
        after = np.cumsum(weights) - (np.cumsum(total) - total)[features]
        before = after - weights
        is_single = cells["low"] == cells["high"]
        # The ranks that the middle of a value may have, doubled: no value weighs less than 1.
        whole = 2 * total[features]
        lowest = np.where(is_single, before + after, 2 * before + 1) * max_bins // whole
        highest = np.where(is_single, before + after, 2 * after - 1) * max_bins // whole
        has_few = sums_of(features, np.where(is_single, 1, 2), n_features)[features] <= max_bins
        is_open = ~is_single & (has_few | (lowest < highest))
        return cls(lowest, np.maximum(highest - lowest, is_open), is_open, has_few)


def edges_between(cells: Cells, status: CellStatus, n_features: int) -> list[Floats]:
    """Edges of every feature between resolved cells: where the quantile rises, or between all of few values."""
    is_cut = status.has_few[1:] | (status.quantile[1:] > status.quantile[:-1])
    features = features_of(cells)
    is_cut &= features[1:] == features[:-1]
    below, above = values_of(cells["high"][:-1][is_cut]), values_of(cells["low"][1:][is_cut])
    with np.errstate(invalid="ignore"):  # between infinities, which are an error later on
        middle = below / 2 + above / 2
    edges = np.where((below <= middle) & (middle < above), middle, below)
    ends = np.searchsorted(features[1:][is_cut], np.arange(1, n_features))
    return np.split(edges, ends)


def values_of(keys: Keys) -> Floats:
    """Decode keys to floats."""
    return np.where(keys & SIGN != 0, keys ^ SIGN, ~keys).view(np.float64)


def features_of(cells: Cells) -> Integers:
    """Return the feature of every cell."""
    return (cells["tag"] >> SHIFT_BITS).astype(np.int64)


def sums_of(features: Integers, numbers: Integers, n_features: int) -> Integers:
    """Sum numbers per feature; cells are sorted by feature."""
    ends = np.searchsorted(features, np.arange(n_features + 1))
    return np.diff(np.concatenate(([0], np.cumsum(numbers, dtype=np.int64)))[ends])
