"""Trees as ONNX lists them. In: nodes and votes as parallel arrays. Out: attributes of an operator."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

LEQ, EQ, END = "BRANCH_LEQ", "BRANCH_EQ", "LEAF"  # what nodes ask; the last ask nothing

Whole = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class TreeArrays:
    """Nodes, tree after tree, and votes of leaves, all as arrays of the same length.

    Attributes
    ----------
    modes, features, values, true_ids, false_ids, missing, trees, nodes : ndarray
        What a node asks of which feature, where it sends a row for which that is true or false, whether it is true of
        a missing value, its tree, and its number in that.
    leaf_trees, leaf_nodes, targets, weights : ndarray
        The tree and the number of a leaf, what it votes for, and how much. A leaf may stand here several times.
    """

    modes: NDArray[np.str_]
    features: Whole
    values: NDArray[np.float64]
    true_ids: Whole
    false_ids: Whole
    missing: Whole
    trees: Whole
    nodes: Whole
    leaf_trees: Whole
    leaf_nodes: Whole
    targets: Whole
    weights: NDArray[np.float64]

    @classmethod
    def join(cls, parts: Sequence["TreeArrays"]) -> "TreeArrays":
        """Put trees one after the other; each of the parts is one tree."""
        numbered = [replace(part, trees=part.trees + t, leaf_trees=part.leaf_trees + t) for t, part in enumerate(parts)]
        return cls(**{f.name: np.concatenate([getattr(part, f.name) for part in numbered]) for f in fields(cls)})

    def attributes(self, role: str, tensor: Any) -> dict[str, Any]:
        """As attributes of a tree operator, whose leaves vote for classes or targets; ``tensor`` makes a tensor."""
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
