"""Rows of a sparse table. In: codes of the entries, labels, weights. Out: as `BinnedRows`, in time that entries take.

No histogram is ever counted: splits are searched straight from the entries, and what these leave of a node's sums is in
its zeros.
"""

import numpy as np
from numpy.typing import NDArray

from comboost import _core
from comboost._engine.binning import BinMapper
from comboost._engine.forest import Forest, Tree
from comboost._engine.formulas import BalancedObjective
from comboost._engine.rows import BinnedRows, Costs, GrownRows, LeafVote, Vote, empty_covers
from comboost._types import LEAF_INDEX, SUM, Codes, Floats, Labels, Sums, Weights


class SparseRows(GrownRows):
    """Rows in this process's memory that trees grow on, with the codes of a sparse table.

    Parameters
    ----------
    labels, weights, n_classes, n_threads, counted
        As for `BinnedRows`.
    codes : SparseCodes
        The binned entries.
    """

    def __init__(
        self,
        labels: Labels,
        weights: Weights | None,
        n_classes: int,
        n_threads: int,
        *,
        codes: _core.SparseCodes,
        counted: bool,
    ) -> None:
        super().__init__(labels, weights, n_classes, n_threads, counted=counted)
        self._codes = codes
        self._partition = _core.SparsePartition(len(labels))

    def advance(self, vote: Vote | None, unit: Floats, bound: float, *, with_root: bool) -> Costs:
        """Add the last round's votes, quantise the costs, and start a new tree."""
        return self._summed(super().advance(vote, unit, bound, with_root=with_root), with_root)

    def advance_leaves(
        self, vote: LeafVote | None, objective: BalancedObjective, bound: float, *, with_root: bool
    ) -> Costs:
        """Add the last round's votes for every class, quantise the costs, and start a new tree."""
        return self._summed(super().advance_leaves(vote, objective, bound, with_root=with_root), with_root)

    def _summed(self, costs: Costs, with_root: bool) -> Costs:
        """The costs with the sums of all rows, if these are asked for."""
        if not with_root:
            return costs
        totals = np.empty(self._n_channels, dtype=SUM)
        self._table.sum_rows(totals)
        return costs._replace(totals=totals)

    def start_tree(self, *, count: bool) -> None:
        """Put all rows into the root again."""
        super().start_tree(count=count)
        self._partition.reset()

    def split(self, splits: NDArray[np.int32], *, count: bool) -> None:
        """Apply splits; nothing is counted."""
        self._partition.split(self._codes, splits)

    def grow(
        self, grower: _core.Grower, root: Sums | None, max_depth: int | None, max_leaf_nodes: int | None
    ) -> "SparseRows":
        """Rows are divided by the splits that they are told."""
        return self

    def search(self, grower: _core.Grower) -> bool:
        """Search the grower's frontier straight from the entries."""
        grower.search_sparse(self._codes, self._table, self._partition, self._n_threads)
        return True

    def count(self, nodes: NDArray[np.int32]) -> Sums:
        """There are no histograms, and nobody asks for them after a search."""
        raise NotImplementedError

    def settle(self, tree: Tree, votes: Labels, covers: Sums) -> None:
        """Write the vote of a tree for every row, and what the rows of its leaves weigh."""
        self._partition.settle(self._codes, tree.node_bytes, tree.sets, votes, self._table, covers)

    def settle_leaves(self, tree: Tree, leaves: NDArray[np.uint32], covers: Sums) -> None:
        """Write the leaf of a tree for every row, and what the rows of its leaves weigh."""
        self._partition.settle_leaves(self._codes, tree.node_bytes, tree.sets, leaves, self._table, covers)

    def confusion(self, forest: Forest) -> Sums:
        """Weights by (truth, prediction of the whole vote), (K, K)."""
        scores = np.zeros((self._n_rows, self._n_classes))
        leaves = np.empty(self._n_rows, dtype=LEAF_INDEX)
        self.start_tree(count=False)
        for t, weight in enumerate(forest.weights.tolist()):
            tree = forest.tree(t)
            if tree.votes is None:
                self.settle(tree, self._votes, empty_covers(tree))
                scores[np.arange(self._n_rows), self._votes] += weight
            else:
                self.settle_leaves(tree, leaves, empty_covers(tree))
                scores += tree.votes[leaves]
        return self.count_elected(scores.argmax(axis=1).astype(self._votes.dtype))


def binned_rows(
    labels: Labels,
    weights: Weights | None,
    n_classes: int,
    n_threads: int,
    codes: Codes | _core.SparseCodes,
    bins: BinMapper,
    *,
    counted: bool,
) -> BinnedRows | SparseRows:
    """Rows that trees grow on, whichever way their codes are kept."""
    if isinstance(codes, _core.SparseCodes):
        return SparseRows(labels, weights, n_classes, n_threads, codes=codes, counted=counted)
    return BinnedRows(labels, weights, n_classes, n_threads, codes=codes, bin_offsets=bins.bin_offsets, counted=counted)
