"""Votes of trees. In: a table, read no further than trees look at it. Out: votes, and the probabilities they mean."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.special import log_softmax

from comboost._dtypes import LEAF, NODE_DTYPE, Floats
from comboost._engine.forest import Tree, as_bytes
from comboost._table.table import Matrix, Table, survey

BLOCK_BYTES = 2**25  # of a table that must be converted, at a time
KEPT_BYTES = 2**27  # a copy of a table is no larger than this, while tree after tree votes on it


class Block(NamedTuple):
    """Some rows to vote on, and whether there may be NaN among them."""

    rows: Any
    missing: bool


def blocks_of(table: Table, at_once: int | None = None) -> Iterator[Block]:
    """Rows of a table, in blocks of at most that many; all at once if they are a matrix already."""
    n_rows, n_features = table.shape
    step = n_rows if at_once is None else at_once
    if table.matrix is None:
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
        if is_small or table.matrix is not None:
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
        return values, Tree(as_bytes(nodes), tree.sets, tree.votes)


def margins(scores: Floats) -> Floats:
    """Scores as ``decision_function`` shows them: one column for two classes."""
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


def probabilities(scores: Floats, proba: str, scale: float) -> Floats:
    """Votes to probabilities: the softmax of the votes times a scale, or their shares."""
    if proba == "softmax":
        # As scipy.special.softmax, without what it does for any array: for one row that takes five times as long.
        scores = np.exp(scale * (scores - scores.max(axis=1, keepdims=True)))
    shares: Floats = scores / scores.sum(axis=1, keepdims=True)
    return shares


def shifted_log_probabilities(scores: Floats, scale: float, shift: Floats) -> Floats:
    """Logarithms of the softmax of scaled votes plus a shift of every class."""
    return np.asarray(log_softmax(scale * scores + shift, axis=1))


def log_probabilities(scores: Floats, proba: str, scale: float) -> Floats:
    """Votes to logarithms of probabilities: −inf for a class without votes, if they are shares."""
    if proba == "softmax":
        return np.asarray(log_softmax(scale * scores, axis=1))
    with np.errstate(divide="ignore"):
        return np.log(probabilities(scores, proba, scale))
