"""Flat trees. In: the nodes of every round and its weight. Out: votes on new rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from comboost import _core
from comboost._dtypes import LEAF, NO_SET, NODE_DTYPE, Floats, LeafVotes, NodeBytes, SetBytes


class Tree(NamedTuple):
    """A tree as it was grown.

    Attributes
    ----------
    nodes : ndarray of uint8
        The nodes, as bytes of NODE_DTYPE.
    sets : ndarray of uint8, (n_sets, 32)
        The sets of codes that some of them need.
    votes : ndarray of float32, (n_leaves, n_classes), or None
        The votes of every leaf for all classes; ``left`` of a leaf is its row. None if leaves vote for one class.
    """

    nodes: NodeBytes
    sets: SetBytes
    votes: LeafVotes | None = None

    @property
    def node_bytes(self) -> NodeBytes:
        """The nodes as the core takes them."""
        return as_bytes(self.nodes.view(NODE_DTYPE))

    def add_votes(self, X: NDArray[np.floating], missing: bool, weight: float, scores: Floats, n_threads: int) -> None:
        """Add the votes of this tree alone; see `Forest.add_votes`."""
        offsets, weights = np.array([0, len(self.nodes)]), np.array([weight])
        _core.add_votes(X, missing, self.node_bytes, self.sets, offsets, weights, self.votes, 0, 1, n_threads, scores)

    def numbered(self) -> "Tree":
        """The tree with its leaves numbered in the order of their nodes."""
        nodes = self.nodes.view(NODE_DTYPE)[:, 0].copy()
        is_leaf = nodes["feature"] == LEAF
        nodes["left"][is_leaf] = np.arange(is_leaf.sum())
        return Tree(as_bytes(nodes), self.sets)


@dataclass(frozen=True)
class Forest:
    """The trees of all rounds in one array, as they are predicted, pickled and saved.

    Parameters
    ----------
    nodes : ndarray of NODE_DTYPE
        The nodes of all trees, tree by tree; ``left`` counts from the tree's first node.
    sets : ndarray of uint8, (n_sets, 32)
        The sets of codes of all trees, in the order of the nodes that need them.
    offsets : ndarray of int64
        Tree t owns the nodes ``offsets[t]`` to ``offsets[t + 1]``.
    weights : ndarray of float64
        The weight α of every tree.
    votes : ndarray of float32, (n_leaves, n_classes), or None
        The votes of the leaves of all trees for all classes; ``left`` of a leaf is its row.
    """

    nodes: NDArray[np.void]
    sets: SetBytes
    offsets: NDArray[np.int64]
    weights: Floats
    votes: LeafVotes | None = None

    @classmethod
    def join(cls, trees: Sequence[Tree], weights: Floats) -> "Forest":
        """Put trees one after the other."""
        offsets = np.cumsum([0, *(len(tree.nodes) for tree in trees)], dtype=np.int64)
        nodes = np.concatenate([tree.nodes for tree in trees]).view(NODE_DTYPE)[:, 0]
        needs_set = nodes["set"] != NO_SET
        starts = np.repeat(np.cumsum([0, *(len(tree.sets) for tree in trees)])[:-1], np.diff(offsets))
        sets = np.concatenate([tree.sets for tree in trees])[(nodes["set"] + starts)[needs_set]]
        nodes["set"][needs_set] = np.arange(needs_set.sum())
        votes = [tree.votes for tree in trees if tree.votes is not None]
        if not votes:
            return cls(nodes, sets, offsets, weights)
        is_leaf = nodes["feature"] == LEAF
        nodes["left"][is_leaf] = np.arange(is_leaf.sum())
        return cls(nodes, sets, offsets, weights, np.concatenate(votes))

    def tree(self, t: int) -> Tree:
        """One of the trees, as it was grown."""
        begin, end = self.offsets[t], self.offsets[t + 1]
        nodes = self.nodes[begin:end].copy()
        needs_set = nodes["set"] != NO_SET
        sets = self.sets[nodes["set"][needs_set]]
        nodes["set"][needs_set] = np.arange(len(sets))
        if self.votes is None:
            return Tree(as_bytes(nodes), sets)
        is_leaf = nodes["feature"] == LEAF
        votes = self.votes[nodes["left"][is_leaf]]
        nodes["left"][is_leaf] = np.arange(len(votes))
        return Tree(as_bytes(nodes), sets, votes)

    @property
    def node_bytes(self) -> NodeBytes:
        """The nodes as the core takes them."""
        return as_bytes(self.nodes)

    def add_votes(
        self, X: NDArray[np.floating], missing: bool, scores: Floats, first: int, last: int, n_threads: int
    ) -> None:
        """Add the votes of the trees ``first`` to ``last - 1`` to the scores, in this order.

        Parameters
        ----------
        X : ndarray of float32 or float64
            The rows; categories as their codes.
        missing : bool
            Whether there may be NaN among them.
        scores : ndarray of shape (n_samples, n_classes)
            What to add to.
        first, last : int
            The trees.
        n_threads : int
            Threads.
        """
        _core.add_votes(
            X,
            missing,
            self.node_bytes,
            self.sets,
            self.offsets,
            self.weights,
            self.votes,
            first,
            last,
            n_threads,
            scores,
        )


def as_bytes(nodes: NDArray[np.void]) -> NodeBytes:
    """Nodes as the core takes them; what came over a wire may lie at any address."""
    return np.require(nodes, NODE_DTYPE, ["C", "A"]).view(np.uint8).reshape(-1, NODE_DTYPE.itemsize)
