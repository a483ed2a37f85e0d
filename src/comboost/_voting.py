"""Rows that trees vote on. In: a table. Out: votes, with no more of the table in memory than is looked at."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from comboost._dtypes import LEAF, NODE_DTYPE, Floats
from comboost._sources import Matrix
from comboost._table import Table, survey
from comboost._tree import Tree, as_bytes

BLOCK_BYTES = 2**25  # of a table that must be converted, at a time
KEPT_BYTES = 2**27  # a copy of a table is no larger than this, while tree after tree votes on it


class Block(NamedTuple):
    """Some rows to vote on, and whether there may be NaN among them."""

    rows: Any
    missing: bool


def blocks_of(table: Table, at_once: int | None = None) -> Iterator[Block]:
    """Rows of a table, in blocks of no more than so many; all at once where they are a matrix already."""
    n_rows, n_features = table.shape
    step = n_rows if at_once is None else at_once
    if table.matrix() is None:
        step = min(step, BLOCK_BYTES // (8 * n_features))
    for begin in range(0, n_rows, max(1, step)):
        rows = table.rows(begin, min(n_rows, begin + max(1, step)))
        yield Block(rows, missing=survey(rows))


class Audience:
    """Rows that trees vote on, one tree after the other.

    A large table that must be converted is not kept as floats: every tree reads the few columns that it looks at.

    Parameters
    ----------
    table : Table
        The rows.
    n_threads : int
        Threads of the votes.
    """

    def __init__(self, table: Table, n_threads: int) -> None:
        self._table = table
        self._n_threads = n_threads
        self._kept: tuple[Matrix, bool] | None = None
        n_rows, n_features = table.shape
        is_small = 8 * n_rows * n_features <= KEPT_BYTES
        if is_small or table.matrix() is not None:
            values = table.rows(0, n_rows)
            # A tree looks at a few columns of every row, which should then lie side by side.
            self._kept = np.asfortranarray(values) if is_small else values, survey(values)
        else:
            for _ in blocks_of(table):  # infinite values are an error wherever they are
                pass

    def add_votes(self, tree: Tree, weight: float, scores: Floats) -> None:
        """Add the votes of a tree to the scores, (n_samples, n_classes)."""
        if self._kept is not None:
            tree.add_votes(*self._kept, weight, scores, self._n_threads)
            return
        values, narrowed = self._look(tree)
        narrowed.add_votes(values, survey(values), weight, scores, self._n_threads)

    def _look(self, tree: Tree) -> tuple[Matrix, Tree]:
        """The columns that a tree looks at, and the tree with its features counted among these."""
        nodes = tree.nodes.view(NODE_DTYPE)[:, 0].copy()
        inner = nodes["feature"] != LEAF
        features = np.unique(nodes["feature"][inner])
        values = np.empty((self._table.shape[0], max(1, len(features))), order="F")
        for place, feature in enumerate(features.tolist()):
            values[:, place] = self._table.columns(feature, feature + 1)[:, 0]
        if len(features) == 0:
            values[:] = 0.0  # a tree of one leaf looks at nothing
        nodes["feature"][inner] = np.searchsorted(features, nodes["feature"][inner])
        return values, Tree(as_bytes(nodes), tree.sets)
