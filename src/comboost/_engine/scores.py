"""Scores of tables: sums of the values of trees, in blocks or tree by tree."""

from collections.abc import Iterator

import numpy as np

from comboost._data.tables import Matrix, Table, has_nan
from comboost._engine.forest import Forest, Tree, as_bytes
from comboost._engine.memory import check_large
from comboost._types import LEAF, NODE_DTYPE, Floats

BLOCK_BYTES = 2**25  # of a table that is converted block by block
SCORES_AT_ONCE = 2**22  # scores in memory at a time, where only predictions are returned
KEPT_BYTES = 2**27  # largest copy of a table that is kept while it is scored tree by tree


def blocks_of(table: Table, at_once: int | None = None) -> Iterator[tuple[Matrix, bool]]:
    """Yield blocks of samples, and whether values may be NaN; one block if the table is a matrix already."""
    n_samples, n_features = table.shape
    step = n_samples if at_once is None else at_once
    if table.matrix is None:
        step = min(step, BLOCK_BYTES // (8 * n_features))
    for begin in range(0, n_samples, max(1, step)):
        rows = table.rows(begin, min(n_samples, begin + max(1, step)))
        yield rows, has_nan(rows)


def narrowed(table: Table, forest: Forest) -> tuple[Table, Forest]:
    """Restrict a sparse table and trees to the features that the trees use; return other tables as they are."""
    if table.raw.source.n_entries is None:
        return table, forest
    has_nan(table.raw.source.data.data)  # infinite values are an error in any feature
    features = forest.features()
    return table.narrowed(features), forest.narrowed(features)


class TableScorer:
    """Scores a table tree by tree.

    A large table that must be converted is not kept as floats: every tree reads the few columns that it uses.

    Parameters
    ----------
    table : Table
        The samples.
    n_threads : int
        Number of threads.
    """

    def __init__(self, table: Table, n_threads: int) -> None:
        self._table = table
        self._n_threads = n_threads
        self._kept: tuple[Matrix, bool] | None = None
        n_samples, n_features = table.shape
        is_small = 8 * n_samples * n_features <= KEPT_BYTES
        if is_small or table.matrix is not None:
            values = table.rows(0, n_samples)
            # A tree uses few features of every sample: column by column, reading skips the others.
            self._kept = np.asfortranarray(values) if is_small else values, has_nan(values)
        elif table.raw.source.n_entries is not None:
            has_nan(table.raw.source.data.data)  # infinite values are an error in any feature
        else:
            for _ in blocks_of(table):
                pass

    def add_round(self, forest: Forest, t: int, scores: Floats) -> None:
        """Add the values of tree t of a forest to the scores, (n_samples, n_classes)."""
        if self._kept is None:
            self.add_scores(forest.tree(t), float(forest.weights[t]), scores)
        else:
            forest.add_scores(*self._kept, scores, t, t + 1, self._n_threads)

    def add_scores(self, tree: Tree, weight: float, scores: Floats) -> None:
        """Add the values of a tree to the scores, (n_samples, n_classes)."""
        if self._kept is not None:
            tree.add_scores(*self._kept, weight, scores, self._n_threads)
            return
        nodes = tree.nodes.view(NODE_DTYPE)[:, 0].copy()
        inner = nodes["feature"] != LEAF
        features = np.unique(nodes["feature"][inner])
        values = np.zeros((self._table.shape[0], max(1, len(features))), order="F")  # a tree of one leaf uses none
        for column, feature in enumerate(features.tolist()):
            values[:, column] = self._table.columns(feature, feature + 1)[:, 0]
        nodes["feature"][inner] = np.searchsorted(features, nodes["feature"][inner])
        renumbered = Tree(as_bytes(nodes), tree.sets, tree.leaf_values)
        renumbered.add_scores(values, has_nan(values), weight, scores, self._n_threads)


def margins(scores: Floats) -> Floats:
    """Return scores in the form of ``decision_function``: one column for two classes."""
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


def check_scores_memory(n_samples: int, n_classes: int, n_arrays: int = 1) -> None:
    """Raise if that many arrays of scores need more memory than is available."""
    check_large(
        f"A prediction for {n_samples} rows and {n_classes} classes",
        {"scores": n_arrays * n_samples * n_classes * np.dtype(np.float64).itemsize},
        "Give fewer rows at a time, or call predict, which keeps no scores.",
    )
