"""Trees of a model as trees of ONNX.

A split of numbers stays as it is. ONNX has no splits of categories: its nodes can only test for one value at a time.
onnxruntime merges a chain of up to 30 such tests of small integers into one, so category codes are divided into
blocks of 30. The column of a block holds the position of a code in its block, from 1 on, or 0 if the code is in another
block. Trees compute these columns from categories, too.

A split of categories becomes a chain of tests, one per code on the side with fewer codes; the successful ones all lead
to the same node. onnxruntime also merges two consecutive chains that test the same column, even if they lead to
different nodes. So there are two copies of the columns, and no split tests the copy that its parent tests.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comboost._export.blueprint import Blueprint, CodedFeature
from comboost._types import CATEGORICAL, LEAF, MISSING_LEFT

LEQ, EQ, END = "BRANCH_LEQ", "BRANCH_EQ", "LEAF"  # modes of nodes
BLOCK = 30  # codes, whose positions onnxruntime compares as bits

Integers = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class TreeArrays:
    """Nodes of all trees, and values of their leaves, as parallel arrays."""

    modes: NDArray[np.str_]  # test of a node
    features: Integers  # the feature that it compares
    values: NDArray[np.float64]  # with this number
    true_ids: Integers  # the node to go to if the test holds
    false_ids: Integers  # and if it does not
    missing: Integers  # whether it holds for a missing value
    trees: Integers  # tree of the node
    nodes: Integers  # and its index in the tree
    leaf_trees: Integers  # tree of a leaf
    leaf_nodes: Integers  # and its index in the tree
    targets: Integers  # one of its targets
    weights: NDArray[np.float64]  # and the value for it

    @classmethod
    def join(cls, parts: Sequence["TreeArrays"]) -> "TreeArrays":
        """Concatenate single trees."""
        numbered = [replace(part, trees=part.trees + t, leaf_trees=part.leaf_trees + t) for t, part in enumerate(parts)]
        return cls(**{f.name: np.concatenate([getattr(part, f.name) for part in numbered]) for f in fields(cls)})

    def attributes(self, role: str, tensor: Any) -> dict[str, Any]:
        """Return attributes of a tree operator, whose role is "class" or "target"; ``tensor`` makes a tensor."""
        return {
            "nodes_modes": self.modes.tolist(),
            "nodes_featureids": self.features.tolist(),
            "nodes_values_as_tensor": tensor(self.values),
            "nodes_truenodeids": self.true_ids.tolist(),
            "nodes_falsenodeids": self.false_ids.tolist(),
            "nodes_missing_value_tracks_true": self.missing.tolist(),
            "nodes_treeids": self.trees.tolist(),
            "nodes_nodeids": self.nodes.tolist(),
            f"{role}_treeids": self.leaf_trees.tolist(),
            f"{role}_nodeids": self.leaf_nodes.tolist(),
            f"{role}_ids": self.targets.tolist(),
            f"{role}_weights_as_tensor": tensor(self.weights),
            "post_transform": "NONE",
        }


def code_columns(features: list[CodedFeature]) -> tuple[dict[int, int], int]:
    """Return the column of the first block of every categorical feature, and the number of columns."""
    first, n_columns = {}, 0
    for coded in features:
        first[coded.feature] = n_columns
        n_columns += (coded.n_codes + BLOCK - 1) // BLOCK
    return first, n_columns


# Trees that encode categories


def coding_tree(coded: CodedFeature, first_column: int) -> TreeArrays:
    """Return the tree that computes the columns of a feature: a binary search, then a test for equality.

    With n values it has n − 1 nodes of the search, n tests, n leaves of successful tests, n leaves of failed ones. Text
    was encoded before, so its values are its codes.
    """
    codes = np.unique(coded.codes) if coded.is_text else coded.codes
    values = codes.astype(np.float64) if coded.is_text else np.array(coded.values)
    n, tests, leaf = len(values), np.arange(len(values)), np.zeros(2 * len(values), dtype=np.int64)
    thresholds, children = search_tree(values)
    yes, no = 2 * n - 1 + tests, 3 * n - 1 + tests
    found = np.concatenate([codes, np.zeros(n, dtype=np.int64)])
    zeros = np.zeros(4 * n - 1, dtype=np.int64)
    return TreeArrays(
        modes=np.repeat([LEQ, EQ, END], [n - 1, n, 2 * n]),
        features=zeros + coded.feature,
        values=np.concatenate([thresholds, values, leaf.astype(np.float64)]),
        true_ids=np.concatenate([children[:, 0], yes, leaf]),
        false_ids=np.concatenate([children[:, 1], no, leaf]),
        missing=zeros,
        trees=zeros,
        nodes=np.arange(4 * n - 1),
        leaf_trees=leaf,
        leaf_nodes=np.concatenate([yes, no]),
        targets=first_column + found // BLOCK,
        weights=found % BLOCK + 1.0,
    )


def search_tree(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return thresholds and children of a binary search of n sorted values, which are nodes from n − 1 on."""
    n = len(values)
    thresholds, children = np.empty(n - 1), np.empty((n - 1, 2), dtype=np.int64)
    stack, n_made = [(0, n, -1, 0)], 0
    while stack:
        begin, end, parent, side = stack.pop()
        if end - begin == 1:
            node = n - 1 + begin
        else:
            node, middle = n_made, (begin + end) // 2
            n_made += 1
            thresholds[node] = values[middle - 1]
            stack += [(middle, end, node, 1), (begin, middle, node, 0)]
        if parent >= 0:
            children[parent, side] = node
    return thresholds, children


# Trees of the model


def forest_trees(plan: Blueprint) -> TreeArrays:
    """Return the trees of a model; columns of codes come after the features."""
    forest, nodes = plan.forest, plan.forest.nodes
    is_leaf, by_set = nodes["feature"] == LEAF, nodes["flags"] & CATEGORICAL != 0
    lengths, swapped = np.ones(len(nodes), dtype=np.int64), np.zeros(len(nodes), dtype=bool)
    lengths[by_set], swapped[by_set], columns, positions = category_tests(plan)
    begins = np.cumsum(lengths) - lengths
    tree_of = np.repeat(np.arange(len(forest.weights)), np.diff(forest.offsets))
    first_tests = begins - begins[forest.offsets[:-1]][tree_of]  # of a node, counted in its tree
    left = np.where(is_leaf, 0, forest.offsets[tree_of] + nodes["left"])
    children = first_tests[left], first_tests[left + ~is_leaf]
    yes, no = np.where(swapped, children[::-1], children)

    owners = np.repeat(np.arange(len(nodes)), lengths)
    steps = np.arange(len(owners)) - begins[owners]
    own_numbers = first_tests[owners] + steps
    tests_code = by_set[owners]
    features, values = np.where(is_leaf, 0, nodes["feature"])[owners], nodes["threshold"][owners].copy()
    copies = depth_parity(plan, tree_of)[owners][tests_code]
    _, n_columns = code_columns(plan.coded_features)
    features[tests_code] = plan.n_features + columns + n_columns * copies
    values[tests_code] = positions
    leaves = np.flatnonzero(is_leaf)
    if forest.leaf_values is None:
        classes, leaf_values = nodes["label"][leaves], forest.weights[tree_of[leaves]]
    else:  # one value per class
        n_classes = forest.leaf_values.shape[1]
        leaf_values = forest.leaf_values[nodes["left"][leaves]].astype(np.float64).ravel()
        classes, leaves = np.tile(np.arange(n_classes), len(leaves)), np.repeat(leaves, n_classes)
    return TreeArrays(
        modes=np.where(is_leaf, END, np.where(by_set, EQ, LEQ))[owners],
        features=features,
        values=values,
        true_ids=yes[owners],
        false_ids=np.where(steps == lengths[owners] - 1, no[owners], own_numbers + 1),
        missing=((nodes["flags"] & MISSING_LEFT != 0) & ~by_set)[owners].astype(np.int64),
        trees=tree_of[owners],
        nodes=own_numbers,
        leaf_trees=tree_of[leaves],
        leaf_nodes=first_tests[leaves],
        targets=plan.scored_classes[classes],
        weights=leaf_values,
    )


def depth_parity(plan: Blueprint, tree_of: Integers) -> Integers:
    """Return 1 for nodes of odd depth, 0 for others."""
    offsets, nodes = plan.forest.offsets, plan.forest.nodes
    parities = np.zeros(len(nodes), dtype=np.int64)
    level, parity = offsets[:-1], 0
    while len(level):
        parities[level] = parity
        splits = level[nodes["feature"][level] != LEAF]
        left = offsets[tree_of[splits]] + nodes["left"][splits]
        level, parity = np.concatenate([left, left + 1]), 1 - parity
    return parities


def category_tests(plan: Blueprint) -> tuple[Integers, NDArray[np.bool_], Integers, Integers]:
    """Return the tests of all splits of categories.

    Of every split: the number of tests, and whether a successful one leads to the right. Of every test, one split after
    the other: the column of codes and the position that it compares.
    """
    nodes = plan.forest.nodes
    splits = nodes[nodes["flags"] & CATEGORICAL != 0]
    first, _ = code_columns(plan.coded_features)
    n_codes, first_column = np.zeros((2, plan.n_features), dtype=np.int64)
    for coded in plan.coded_features:
        n_codes[coded.feature], first_column[coded.feature] = coded.n_codes, first[coded.feature]
    sizes = n_codes[splits["feature"]]
    is_code = np.arange(256) < sizes[:, np.newaxis]
    goes_left = np.unpackbits(plan.forest.sets[splits["set"]], axis=1, bitorder="little").astype(bool) & is_code
    swapped = goes_left.sum(axis=1) * 2 > sizes
    tested = np.where(swapped[:, np.newaxis], ~goes_left & is_code, goes_left)
    owners, codes = np.nonzero(tested)
    columns = first_column[splits["feature"]][owners] + codes // BLOCK
    return tested.sum(axis=1), swapped, columns, codes % BLOCK + 1
