"""Trees as a data frame. In: trees, names and categories. Out: a row for every node."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comboost._data.categories import Categories
from comboost._data.labels import as_objects
from comboost._engine.forest import Forest
from comboost._extras import import_pandas
from comboost._inspection.tree_paths import NO_PARENT, Lineage
from comboost._types import CATEGORICAL, LEAF, MISSING_LEFT, SetBytes


def list_nodes(forest: Forest, feature_names: Sequence[Any], classes: NDArray[Any], categories: Categories) -> Any:
    """All nodes of all trees as a data frame; see `Explained.trees_to_frame` for its columns."""
    pandas = import_pandas("A frame of all nodes", "read export_text")
    nodes, lineage = forest.nodes, Lineage.of(forest)
    start, is_leaf = forest.offsets[lineage.tree], lineage.is_leaf
    by_set = nodes["flags"] & CATEGORICAL != 0
    names = as_objects([*map(str, feature_names), None])  # the last one is the feature of leaves, -1

    def whole(numbers: NDArray[Any], is_none: NDArray[np.bool_]) -> Any:
        return pandas.arrays.IntegerArray(np.where(is_none, 0, numbers).astype(np.int64), is_none)

    left = lineage.left - start
    columns: dict[str, Any] = {
        "round": lineage.tree,
        "node": np.arange(len(nodes)) - start,
        "depth": lineage.depth,
        "parent": whole(lineage.parent - start, lineage.parent == NO_PARENT),
        "left": whole(left, is_leaf),
        "right": whole(left + 1, is_leaf),
        "feature": names[nodes["feature"]],
        "threshold": np.where(is_leaf | by_set, np.nan, nodes["threshold"]),
        "categories_left": as_objects([left_of(node, forest.sets, categories) for node in nodes]),
        "missing_left": pandas.arrays.BooleanArray(missing_goes_left(forest), is_leaf),
    }
    if forest.covers is not None:
        covers = lineage.covers()
        columns["cover"] = covers / covers[forest.offsets[:-1]][lineage.tree]
    columns["weight"] = forest.weights[lineage.tree]
    return pandas.DataFrame(columns | vote_columns(forest, is_leaf, classes))


def missing_goes_left(forest: Forest) -> NDArray[np.bool_]:
    """Where nodes send missing values; False for leaves."""
    nodes = forest.nodes
    goes_left = nodes["flags"] & MISSING_LEFT != 0
    by_set = nodes["flags"] & CATEGORICAL != 0
    goes_left[by_set] = forest.sets[nodes["set"][by_set], 0] & 1 != 0  # the code of missing categories is 0
    return np.asarray(goes_left)


def left_of(node: np.void, sets: SetBytes, categories: Categories) -> tuple[Any, ...] | None:
    """The categories that a node sends to the left; None if it does not divide categories."""
    if node["feature"] == LEAF or not node["flags"] & CATEGORICAL:
        return None
    feature, goes_left = int(node["feature"]), np.unpackbits(sets[node["set"]], bitorder="little")
    values = categories.values[feature]
    found = [value for code, value in enumerate(values, start=1) if goes_left[code]]
    if goes_left[len(values) + 1]:  # the code that infrequent ones share
        found += categories.infrequent.get(feature, ())
    return tuple(found)


def vote_columns(forest: Forest, is_leaf: NDArray[np.bool_], classes: NDArray[Any]) -> dict[str, Any]:
    """What leaves vote: their class, or a column of votes for every class."""
    if forest.votes is None:
        labels = [classes[label] if leaf else None for label, leaf in zip(forest.nodes["label"], is_leaf, strict=True)]
        return {"class": as_objects(labels)}
    votes = np.full((len(is_leaf), forest.n_classes), np.nan)
    votes[is_leaf] = forest.votes
    return {f"vote_{label}": votes[:, place] for place, label in enumerate(classes)}
