"""Votes of trees. In: a table, read no further than trees look at it. Out: votes."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from comboost._data.tables import Matrix, Table, survey
from comboost._engine.forest import Forest, Tree, as_bytes
from comboost._engine.memory import check_large
from comboost._types import LEAF, NODE_DTYPE, Floats

BLOCK_BYTES = 2**25  # of a table that must be converted, at a time
SCORES_AT_ONCE = 2**22  # votes that are held at a time, if not all of them are asked for
KEPT_BYTES = 2**27  # a copy of a table is no larger than this, while tree after tree votes on it


class Block(NamedTuple):
    """Some rows to vote on, and whether there may be NaN among them."""

    rows: Any
    missing: bool


def blocks_of(table: Table, at_once: int | None = None) -> Iterator[Block]:
    """Rows of a table, in blocks of at most that many; all at once if they are a matrix already."""
    n_samples, n_features = table.shape
    step = n_samples if at_once is None else at_once
    if table.matrix is None:
        step = min(step, BLOCK_BYTES // (8 * n_features))
    for begin in range(0, n_samples, max(1, step)):
        rows = table.rows(begin, min(n_samples, begin + max(1, step)))
        yield Block(rows, missing=survey(rows))


def narrowed(table: Table, forest: Forest) -> tuple[Table, Forest]:
    """A sparse table and trees, both with the features alone that the trees look at; others as they are."""
    if table.raw.source.n_entries is None:
        return table, forest
    survey(table.raw.source.data.data)  # infinite values are an error wherever they are
    features = forest.features()
    return table.narrowed(features), forest.narrowed(features)


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
        n_samples, n_features = table.shape
        is_small = 8 * n_samples * n_features <= KEPT_BYTES
        if is_small or table.matrix is not None:
            values = table.rows(0, n_samples)
            # A tree looks at a few columns of every row, which should then lie side by side.
            self._kept = np.asfortranarray(values) if is_small else values, survey(values)
        elif table.raw.source.n_entries is not None:
            survey(table.raw.source.data.data)  # infinite values are an error wherever they are
        else:
            for _ in blocks_of(table):
                pass

    def add_round(self, forest: Forest, t: int, scores: Floats) -> None:
        """Add the votes of one of the trees of a forest to the scores, (n_samples, n_classes)."""
        if self._kept is None:
            self.add_votes(forest.tree(t), float(forest.weights[t]), scores)
        else:
            forest.add_votes(*self._kept, scores, t, t + 1, self._n_threads)

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
        return values, Tree(as_bytes(nodes), tree.sets, tree.votes)


def margins(scores: Floats) -> Floats:
    """Scores as ``decision_function`` shows them: one column for two classes."""
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


def check_votes(n_samples: int, n_classes: int, n_arrays: int = 1) -> None:
    """Raise if that many arrays of votes of all rows for all classes would need more memory than there is."""
    check_large(
        f"An answer for {n_samples} rows and {n_classes} classes",
        {"votes": n_arrays * n_samples * n_classes * np.dtype(np.float64).itemsize},
        "Give fewer rows at a time, or ask for predict, which keeps no votes.",
    )
