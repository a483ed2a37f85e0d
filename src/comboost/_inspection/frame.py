"""Nodes of all trees: parents, depths, covers and importances, and all of them as a data frame."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comboost._data.categories import Categories
from comboost._data.labels import as_objects
from comboost._engine.forest import Forest
from comboost._extras import import_pandas
from comboost._types import CATEGORICAL, LEAF, MISSING_LEFT, Floats

NO_PARENT = -1


@dataclass(frozen=True)
class TreePaths:
    """Paths through all trees of a forest. Nodes are numbered over all trees."""

    forest: Forest
    tree: NDArray[np.intp]  # of every node
    left: NDArray[np.intp]  # left child of every node, right before the right child; LEAF for leaves
    parent: NDArray[np.intp]  # NO_PARENT for roots
    levels: list[NDArray[np.intp]]  # nodes with children, by depth
    depth: NDArray[np.intp]  # of every node; 0 for roots

    @classmethod
    def of(cls, forest: Forest) -> "TreePaths":
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
        """Whether a node is a leaf."""
        return np.equal(self.left, LEAF)

    def summed(self, leaf_values: NDArray[Any]) -> NDArray[Any]:
        """Return the sum over the leaves below every node."""
        sums = np.zeros(len(self.left), dtype=leaf_values.dtype)
        sums[self.is_leaf] = leaf_values
        for level in reversed(self.levels):
            sums[level] = sums[self.left[level]] + sums[self.left[level] + 1]
        return sums

    def covers(self) -> Floats:
        """Return the weight of the training samples of every node."""
        assert self.forest.covers is not None  # the estimators that can be inspected store them
        return self.summed(self.forest.covers)

    def importances(self) -> Floats:
        """Return how much the splits of every feature reduce the variance of the values, (n_classes, n_features).

        They are sums over splits: the product of the weights of both sides, divided by their sum, times the squared
        difference of their mean values. Those of a tree add up to the variance of its values.
        """
        forest, covers, is_leaf = self.forest, self.covers(), self.is_leaf
        nodes, reductions = forest.nodes, np.zeros((forest.n_classes, len(forest.kinds)))
        for label in range(forest.n_classes):
            means = np.zeros(len(nodes))
            if forest.leaf_values is None:
                weights = forest.weights[self.tree[is_leaf]]
                means[is_leaf] = np.where(nodes["label"][is_leaf] == label, weights, 0.0)
            else:
                means[is_leaf] = forest.leaf_values[:, label]
            for level in reversed(self.levels):
                left, right = self.left[level], self.left[level] + 1
                fraction = covers[right] / covers[level]
                gap = means[right] - means[left]
                means[level] = means[left] + fraction * gap
                np.add.at(reductions[label], nodes["feature"][level], covers[left] * fraction * gap**2)
        return reductions


def list_nodes(forest: Forest, feature_names: Sequence[Any], classes: NDArray[Any], categories: Categories) -> Any:
    """Return all nodes of all trees as a data frame; see ``trees_to_frame`` for its columns."""
    pandas = import_pandas("A frame of all nodes", "read export_text")
    nodes, paths = forest.nodes, TreePaths.of(forest)
    start, is_leaf = forest.offsets[paths.tree], paths.is_leaf
    by_set = nodes["flags"] & CATEGORICAL != 0
    names = as_objects([*map(str, feature_names), None])  # the last one is the feature of leaves, -1
    missing_left = nodes["flags"] & MISSING_LEFT != 0
    missing_left[by_set] = forest.sets[nodes["set"][by_set], 0] & 1 != 0  # the code of missing categories is 0

    def integers(numbers: NDArray[Any], is_none: NDArray[np.bool_]) -> Any:
        return pandas.arrays.IntegerArray(np.where(is_none, 0, numbers).astype(np.int64), is_none)

    left, covers = paths.left - start, paths.covers()
    columns: dict[str, Any] = {
        "round": paths.tree,
        "node": np.arange(len(nodes)) - start,
        "depth": paths.depth,
        "parent": integers(paths.parent - start, paths.parent == NO_PARENT),
        "left": integers(left, is_leaf),
        "right": integers(left + 1, is_leaf),
        "feature": names[nodes["feature"]],
        "threshold": np.where(is_leaf | by_set, np.nan, nodes["threshold"]),
        "categories_left": as_objects([categories_left(node, forest, categories) for node in nodes]),
        "missing_left": pandas.arrays.BooleanArray(missing_left, is_leaf),
        "cover": covers / covers[forest.offsets[:-1]][paths.tree],
        "weight": forest.weights[paths.tree],
    }
    if forest.leaf_values is None:
        labels = zip(nodes["label"], is_leaf, strict=True)
        columns["class"] = as_objects([classes[label] if leaf else None for label, leaf in labels])
    else:
        values = np.full((len(is_leaf), forest.n_classes), np.nan)
        values[is_leaf] = forest.leaf_values
        columns |= {f"value_{label}": values[:, k] for k, label in enumerate(classes)}
    return pandas.DataFrame(columns)


def categories_left(node: np.void, forest: Forest, categories: Categories) -> tuple[Any, ...] | None:
    """Return the categories that a node sends left; None if it does not split categories."""
    if node["feature"] == LEAF or not node["flags"] & CATEGORICAL:
        return None
    feature, goes_left = int(node["feature"]), np.unpackbits(forest.sets[node["set"]], bitorder="little")
    values = categories.values[feature]
    found = [value for code, value in enumerate(values, start=1) if goes_left[code]]
    if goes_left[len(values) + 1]:  # the code that infrequent ones share
        found += categories.infrequent.get(feature, ())
    return tuple(found)
