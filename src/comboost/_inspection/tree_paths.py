"""Nodes and their kin. In: trees. Out: parents, depths, and what the leaves below every node weigh and vote."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from comboost._engine.forest import Forest
from comboost._types import LEAF, Floats

NO_PARENT = -1


@dataclass(frozen=True)
class Lineage:
    """The nodes of all trees of a forest, one after the other.

    Attributes
    ----------
    forest : Forest
        The trees.
    tree : ndarray of int
        The tree of every node.
    left : ndarray of int
        Its left child among the nodes of all trees, before the right one; ``LEAF`` for leaves.
    parent : ndarray of int
        Its parent; ``NO_PARENT`` for roots.
    levels : list of ndarray of int
        The nodes with children, by their depth.
    depth : ndarray of int
        The depth of every node; 0 for roots.
    """

    forest: Forest
    tree: NDArray[np.intp]
    left: NDArray[np.intp]
    parent: NDArray[np.intp]
    levels: list[NDArray[np.intp]]
    depth: NDArray[np.intp]

    @classmethod
    def of(cls, forest: Forest) -> "Lineage":
        """Follow all trees of a forest."""
        nodes, starts = forest.nodes, forest.offsets[:-1].astype(np.intp)
        tree = np.repeat(np.arange(len(starts)), np.diff(forest.offsets))
        inner = nodes["feature"] != LEAF
        left = np.where(inner, nodes["left"] + starts[tree], LEAF)
        parent, depth = np.full((2, len(nodes)), NO_PARENT)
        depth[starts] = 0
        levels, frontier = [], starts[inner[starts]]
        while len(frontier) > 0:
            levels.append(frontier)
            children = np.concatenate([left[frontier], left[frontier] + 1])
            parent[children] = np.tile(frontier, 2)
            depth[children] = len(levels)
            frontier = children[inner[children]]
        return cls(forest, tree, left, parent, levels, depth)

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Which nodes are leaves."""
        return np.equal(self.left, LEAF)

    def covers(self) -> Floats:
        """What the rows of every node weigh."""
        assert self.forest.covers is not None
        covers = np.zeros(len(self.left))
        covers[self.is_leaf] = self.forest.covers
        for level in reversed(self.levels):
            covers[level] = covers[self.left[level]] + covers[self.left[level] + 1]
        return covers

    def votes_of(self, label: int) -> Floats:
        """What the leaves vote for a class, with the weights of their trees in it; 0 for other nodes."""
        nodes, votes, is_leaf = self.forest.nodes, np.zeros(len(self.left)), self.is_leaf
        if self.forest.votes is not None:
            votes[is_leaf] = self.forest.votes[:, label]
        else:
            votes[is_leaf] = np.where(nodes["label"][is_leaf] == label, self.forest.weights[self.tree[is_leaf]], 0.0)
        return votes

    def importances(self) -> Floats:
        """What the splits of every feature take from the variance of the trees' votes for every class.

        Returns
        -------
        ndarray of shape (n_classes, n_features)
            Sums over splits: the weights of both sides, multiplied and divided by their sum, times the squared
            difference of their mean votes. Those of a tree add up to the variance of its votes.
        """
        covers, nodes = self.covers(), self.forest.nodes
        found = np.zeros((self.forest.n_classes, len(self.forest.kinds)))
        for label in range(self.forest.n_classes):
            means = self.votes_of(label)
            for level in reversed(self.levels):
                left, right = self.left[level], self.left[level] + 1
                share = covers[right] / covers[level]
                gap = means[right] - means[left]
                means[level] = means[left] + share * gap
                np.add.at(found[label], nodes["feature"][level], covers[left] * share * gap**2)
        return found
