"""A forest as trees of ONNX. In: the trees of a model, and where codes are found. Out: the same trees in ONNX's words.

A split of numbers stays what it is. One of categories becomes a chain of questions, one for every code that goes to the
side with fewer of them; all that are answered with yes lead to the same node. onnxruntime makes one question of such a
chain, but also of two chains in a row that ask the same column, whatever a yes to them means. So there are two copies
of these columns, and no split asks the copy that the split above it asks.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from comboost._export.blueprint import Blueprint
from comboost._export.onnx_codes import Blocks
from comboost._export.onnx_trees import END, EQ, LEQ, TreeArrays, Whole
from comboost._types import CATEGORICAL, LEAF, MISSING_LEFT


def forest_trees(plan: Blueprint, blocks: Blocks) -> TreeArrays:
    """The trees of a model; columns of codes come after the features."""
    forest, nodes = plan.forest, plan.forest.nodes
    is_leaf, by_set = nodes["feature"] == LEAF, nodes["flags"] & CATEGORICAL != 0
    chains = Chains(plan, blocks)
    lengths, swapped = np.ones(len(nodes), dtype=np.int64), np.zeros(len(nodes), dtype=bool)
    lengths[by_set], swapped[by_set] = chains.lengths, chains.swapped
    ends = np.cumsum(lengths)
    tree_of = np.repeat(np.arange(len(forest.weights)), np.diff(forest.offsets))
    numbers = ends - lengths - (ends - lengths)[forest.offsets[:-1]][tree_of]  # of a node's first question in its tree
    left = np.where(is_leaf, 0, forest.offsets[tree_of] + nodes["left"])
    children = numbers[left], numbers[left + ~is_leaf]
    yes, no = np.where(swapped, children[::-1], children)

    owners = np.repeat(np.arange(len(nodes)), lengths)
    steps = np.arange(len(owners)) - (ends - lengths)[owners]
    own_numbers = numbers[owners] + steps
    asks_code = by_set[owners]
    features, values = np.where(is_leaf, 0, nodes["feature"])[owners], nodes["threshold"][owners].copy()
    copies = is_deep_odd(nodes["left"], tree_of, forest.offsets, is_leaf)[owners][asks_code]
    features[asks_code] = plan.n_features + chains.columns + blocks.n_columns * copies
    values[asks_code] = chains.places
    rows = leaf_rows(plan)
    return TreeArrays(
        modes=np.where(is_leaf, END, np.where(by_set, EQ, LEQ))[owners],
        features=features,
        values=values,
        true_ids=yes[owners],
        false_ids=np.where(steps == lengths[owners] - 1, no[owners], own_numbers + 1),
        missing=((nodes["flags"] & MISSING_LEFT != 0) & ~by_set)[owners].astype(np.int64),
        trees=tree_of[owners],
        nodes=own_numbers,
        leaf_trees=tree_of[rows.leaves],
        leaf_nodes=numbers[rows.leaves],
        targets=plan.voted_places[rows.classes],
        weights=rows.votes,
    )


def is_deep_odd(left: Whole, tree_of: Whole, offsets: Whole, is_leaf: NDArray[np.bool_]) -> Whole:
    """Of every node whether an odd number of splits is above it, 0 or 1."""
    odd = np.zeros(len(left), dtype=np.int64)
    level, parity = offsets[:-1], 0
    while len(level):
        odd[level] = parity
        splits = level[~is_leaf[level]]
        first = offsets[tree_of[splits]] + left[splits]
        level, parity = np.concatenate([first, first + 1]), 1 - parity
    return odd


class Chains:
    """The questions of all splits of categories, one split after the other.

    Attributes
    ----------
    lengths : ndarray
        How many questions a split takes.
    swapped : ndarray of bool
        Whether yes means right.
    columns, places : ndarray
        What the questions ask: whether this column of codes holds this place.
    """

    lengths: Whole
    swapped: NDArray[np.bool_]
    columns: Whole
    places: Whole

    def __init__(self, plan: Blueprint, blocks: Blocks) -> None:
        nodes = plan.forest.nodes
        splits = nodes[nodes["flags"] & CATEGORICAL != 0]
        n_codes = np.zeros(plan.n_features, dtype=np.int64)
        first = np.zeros(plan.n_features, dtype=np.int64)
        for coded in plan.coded_features:
            n_codes[coded.feature], first[coded.feature] = coded.n_codes, blocks.first[coded.feature]
        sizes = n_codes[splits["feature"]]
        is_code = np.arange(256) < sizes[:, np.newaxis]
        goes_left = np.unpackbits(plan.forest.sets[splits["set"]], axis=1, bitorder="little").astype(bool) & is_code
        self.swapped = goes_left.sum(axis=1) * 2 > sizes
        asked = np.where(self.swapped[:, np.newaxis], ~goes_left & is_code, goes_left)
        self.lengths = asked.sum(axis=1)
        owners, codes = np.nonzero(asked)
        columns, self.places = blocks.split(codes)
        self.columns = first[splits["feature"]][owners] + columns


class LeafRows(NamedTuple):
    """What leaves vote: the node, the class among those that are voted for, and the votes."""

    leaves: Whole
    classes: Whole
    votes: NDArray[np.float64]


def leaf_rows(plan: Blueprint) -> LeafRows:
    """The votes of all leaves; a leaf stands there as often as it votes."""
    forest = plan.forest
    leaves = np.flatnonzero(forest.nodes["feature"] == LEAF)
    if forest.votes is None:
        tree_of = np.searchsorted(forest.offsets, leaves, side="right") - 1
        return LeafRows(leaves, forest.nodes["label"][leaves], forest.weights[tree_of])
    votes = forest.votes[forest.nodes["left"][leaves]].astype(np.float64)
    n_leaves, n_classes = votes.shape
    return LeafRows(np.repeat(leaves, n_classes), np.tile(np.arange(n_classes), n_leaves), votes.ravel())
