"""Flat trees. In: the nodes of every round and its weight. Out: votes on new rows."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from comboost import _core
from comboost._dtypes import NODE_DTYPE, Floats, NodeBytes


@dataclass(frozen=True)
class Forest:
    """The trees of all rounds in one array, as they are predicted, pickled and saved.

    Parameters
    ----------
    nodes : ndarray of NODE_DTYPE
        The nodes of all trees, tree by tree; ``left`` counts from the tree's first node.
    offsets : ndarray of int64
        Tree t owns the nodes ``offsets[t]`` to ``offsets[t + 1]``.
    weights : ndarray of float64
        The weight α of every tree.
    """

    nodes: NDArray[np.void]
    offsets: NDArray[np.int64]
    weights: Floats

    @classmethod
    def join(cls, trees: list[NodeBytes], weights: Floats) -> "Forest":
        """Put trees one after the other."""
        offsets = np.concatenate(([0], np.cumsum([len(tree) for tree in trees])))
        return cls(np.concatenate(trees).view(NODE_DTYPE)[:, 0], offsets, weights)

    @property
    def node_bytes(self) -> NodeBytes:
        """The nodes as the core takes them."""
        return self.nodes.view(np.uint8).reshape(-1, NODE_DTYPE.itemsize)

    def add_votes(self, X: NDArray[np.floating], scores: Floats, first: int, last: int, n_threads: int) -> None:
        """Add the votes of the trees ``first`` to ``last - 1`` to the scores, in this order."""
        _core.add_votes(X, self.node_bytes, self.offsets, self.weights, first, last, n_threads, scores)
