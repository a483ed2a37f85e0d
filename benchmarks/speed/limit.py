"""What the machine could do at best. In: a fitted model and its rows. Out: seconds of a bare histogram loop.

The loop adds as many records as the fit does: all rows for the root, then the smaller child of every split whose
children are searched for splits of their own; the larger one is a difference.
"""

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._lib.peers import MAX_DEPTH
from benchmarks.speed.native import run

CACHED_BYTES = 2**18  # records of a block that stay in the second-level cache
LANES = 4  # sums in a vector


def counted_rows(forest: Any, X: NDArray[Any], max_depth: int = MAX_DEPTH) -> int:
    """Rows per feature that a round counts, on average over the trees."""
    trees = [forest.nodes[first:last] for first, last in pairwise(forest.offsets)]
    counts = [counted_rows_of_tree(nodes, X, max_depth) for nodes in trees]
    return round(float(np.mean(counts)))


def counted_rows_of_tree(nodes: NDArray[np.void], X: NDArray[Any], max_depth: int) -> int:
    """Rows per feature that are counted to grow one tree."""
    n_counted = len(X)
    frontier = [(0, np.arange(len(X)))]
    for _ in range(max_depth - 1):  # the children of the last splits are leaves, which are not counted
        children = []
        for node, rows in frontier:
            if nodes["feature"][node] < 0:
                continue
            goes_left = X[rows, nodes["feature"][node]] <= nodes["threshold"][node]
            first = nodes["left"][node]
            children += [(first, rows[goes_left]), (first + 1, rows[~goes_left])]
            n_counted += min(goes_left.sum(), (~goes_left).sum())
        frontier = children
    return int(n_counted)


def n_channels(n_classes: int) -> int:
    """Sums that a bin holds: one per class, up to a whole number of vectors."""
    return LANES * math.ceil(n_classes / LANES)


def time_bare_loop(
    program: Path, shape: tuple[int, int], n_classes: int, n_counted: int, n_threads: int, n_passes: int
) -> list[float]:
    """Seconds of every pass: in blocks of rows or column after column, whichever is faster here."""
    channels = n_channels(n_classes)
    seconds = []
    for block_rows in (shape[0], max(1, CACHED_BYTES // (4 * channels))):
        numbers = (*shape, channels, n_counted, block_rows, n_threads, n_passes)
        seconds.append([float(line) for line in run(program, *map(str, numbers)).stdout.split()])
    return min(seconds, key=np.median)
