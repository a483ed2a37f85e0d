"""Trees as flat arrays, and their scores of new samples."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from types import NoneType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from comboost import _core
from comboost._types import (
    KIND,
    LEAF,
    MAX_CLASSES,
    NO_SET,
    NODE_DTYPE,
    SET_BYTES,
    Codes,
    Floats,
    Kinds,
    Labels,
    LeafValueArray,
    NodeBytes,
    SetBytes,
    Sums,
)

#: The arrays of a forest: their types and shapes; None is any size.
ARRAYS: dict[str, tuple[Any, tuple[int | None, ...]]] = {
    "nodes": (NODE_DTYPE, (None,)),
    "sets": (np.dtype(np.uint8), (None, SET_BYTES)),
    "offsets": (np.dtype(np.int64), (None,)),
    "weights": (np.dtype(np.float64), (None,)),
    "kinds": (np.dtype(KIND), (None,)),
    "leaf_values": (np.dtype(np.float32), (None, None)),
    "covers": (np.dtype(np.float64), (None,)),
}
MAY_BE_NONE = {"leaf_values", "covers"}  # of them


class Tree(NamedTuple):
    """A tree as it was grown.

    Attributes
    ----------
    nodes : ndarray of uint8
        The nodes, as bytes of NODE_DTYPE.
    sets : ndarray of uint8, (n_sets, 32)
        The sets of codes that some of them need.
    leaf_values : ndarray of float32, (n_leaves, n_classes), or None
        One value per leaf and class; ``left`` of a leaf is its row. None if every leaf predicts one class.
    covers : ndarray of float64, (n_leaves,), or None
        What the training rows of every leaf weigh, see `with_covers`; None if they were not counted.
    """

    nodes: NodeBytes
    sets: SetBytes
    leaf_values: LeafValueArray | None = None
    covers: Floats | None = None

    @property
    def node_bytes(self) -> NodeBytes:
        """The nodes as the core takes them; what came over a wire may lie at any address."""
        return self.nodes if self.nodes.view(NODE_DTYPE).flags.aligned else self.nodes.copy()

    def add_scores(self, X: NDArray[np.floating], missing: bool, weight: float, scores: Floats, n_threads: int) -> None:
        """Add the scores of this tree; see `Forest.add_scores`."""
        _core.add_tree_scores(X, missing, self.nodes, self.sets, self.leaf_values, weight, n_threads, scores)

    @property
    def leaf_classes(self) -> Labels:
        """The class that every leaf predicts, in the order of the nodes."""
        nodes = self.nodes.view(NODE_DTYPE)[:, 0]
        classes: Labels = nodes["label"][nodes["feature"] == LEAF]
        return classes


@dataclass(frozen=True)
class Forest:
    """The trees of all rounds in one array, as they are predicted, pickled and saved.

    However it is made, it is checked, in a time that grows with its nodes, and ValueError says what is wrong: nothing
    that follows its nodes looks where they lead.

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
    kinds : ndarray of uint8
        What every feature is.
    n_classes : int
        K.
    leaf_values : ndarray of float32, (n_leaves, n_classes), or None
        The leaf values of all trees; ``left`` of a leaf is its row.
    covers : ndarray of float64, (n_leaves,), or None
        What the training rows of the leaves of all trees weigh, in the order of their nodes; see `with_covers`.
        None if they were not counted.
    """

    nodes: NDArray[np.void]
    sets: SetBytes
    offsets: NDArray[np.int64]
    weights: Floats
    kinds: Kinds
    n_classes: int
    leaf_values: LeafValueArray | None = None
    covers: Floats | None = None
    _native: _core.Forest = field(init=False, repr=False, compare=False)  # the trees as the core takes them

    def __post_init__(self) -> None:
        for name, (dtype, shape) in ARRAYS.items():
            if name in MAY_BE_NONE and getattr(self, name) is None:
                continue
            array = typed_array(getattr(self, name), name, dtype, shape)
            if not (array.flags.c_contiguous and array.flags.aligned):  # as it may be after a transfer
                object.__setattr__(self, name, np.require(array, requirements=["C", "A"]))
        if type(self.n_classes) is not int or not 2 <= self.n_classes <= MAX_CLASSES:
            raise ValueError(f"there are {self.n_classes!r} classes")
        native = _core.Forest(  # raises if the trees are invalid
            as_bytes(self.nodes),
            self.sets,
            self.offsets,
            self.weights,
            self.leaf_values,
            self.covers,
            self.kinds,
            len(self.kinds),
            self.n_classes,
        )
        object.__setattr__(self, "_native", native)

    def __reduce__(self) -> Any:
        return Forest, tuple(getattr(self, each.name) for each in fields(self) if each.init)

    @classmethod
    def join(cls, trees: Sequence[Tree], weights: Floats, kinds: Kinds, n_classes: int) -> "Forest":
        """Put trees one after the other."""
        all_nodes, all_sets, all_values, all_covers = zip(*trees, strict=True)
        offsets = np.cumsum([0, *map(len, all_nodes)], dtype=np.int64)
        nodes = np.concatenate(all_nodes).view(NODE_DTYPE)[:, 0]
        needs_set = nodes["set"] != NO_SET
        starts = np.repeat(np.cumsum([0, *map(len, all_sets)])[:-1], np.diff(offsets))
        sets = np.concatenate(all_sets)[(nodes["set"] + starts)[needs_set]]
        nodes["set"][needs_set] = np.arange(needs_set.sum())
        leaf_values = None if all_values[0] is None else np.concatenate(all_values)
        covers = None if NoneType in map(type, all_covers) else np.concatenate(all_covers)
        if leaf_values is not None:
            is_leaf = nodes["feature"] == LEAF
            nodes["left"][is_leaf] = np.arange(is_leaf.sum())
        return cls(nodes, sets, offsets, weights, kinds, n_classes, leaf_values, covers)

    def tree(self, t: int) -> Tree:
        """One of the trees, as it was grown."""
        begin, end = self.offsets[t], self.offsets[t + 1]
        nodes = self.nodes[begin:end].copy()
        needs_set = nodes["set"] != NO_SET
        sets = self.sets[nodes["set"][needs_set]]
        nodes["set"][needs_set] = np.arange(len(sets))
        is_leaf = nodes["feature"] == LEAF
        first = (int(begin) + t) // 2  # leaf: a tree has one more of them than it has splits
        leaves = slice(first, first + int(is_leaf.sum()))
        covers = None if self.covers is None else self.covers[leaves]
        if self.leaf_values is None:
            return Tree(as_bytes(nodes), sets, None, covers)
        nodes["left"][is_leaf] = np.arange(is_leaf.sum())
        return Tree(as_bytes(nodes), sets, self.leaf_values[leaves], covers)

    def features(self) -> NDArray[np.intp]:
        """The features that the trees look at, ascending; one of them if they look at none."""
        used = np.unique(self.nodes["feature"][self.nodes["feature"] != LEAF])
        return np.zeros(1, dtype=np.intp) if len(used) == 0 else used.astype(np.intp)

    def narrowed(self, features: NDArray[np.intp]) -> "Forest":
        """The same trees, with the features that they look at counted among these."""
        nodes = self.nodes.copy()
        inner = nodes["feature"] != LEAF
        nodes["feature"][inner] = np.searchsorted(features, nodes["feature"][inner])
        return replace(self, nodes=nodes, kinds=self.kinds[features])

    def predict_classes(self, codes: Codes, n_threads: int, out: Labels) -> None:
        """Write the predicted classes of binned samples."""
        _core.predict_classes(codes, self._native, n_threads, out)

    def add_scores(
        self, X: NDArray[np.floating], missing: bool, scores: Floats, first: int, last: int, n_threads: int
    ) -> None:
        """Add the scores of the trees ``first`` to ``last - 1``, in this order.

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
        _core.add_scores(X, missing, self._native, first, last, n_threads, scores)


def with_covers(trees: Sequence[Tree], sums: Sequence[Sums]) -> list[Tree]:
    """Trees with the integer weights of their leaves, over the power of two above the sum of each tree.

    So they do not depend on the unit of the weights, and add up without rounding.
    """
    sizes = list(map(len, sums))
    starts, of_all = np.cumsum([0, *sizes]), np.concatenate(sums)
    exponents = np.frexp(np.add.reduceat(of_all, starts[:-1]).astype(np.float64))[1]
    fractions = np.split(np.ldexp(of_all.astype(np.float64), -np.repeat(exponents, sizes)), starts[1:-1])
    covered = []
    for tree, covers in zip(trees, fractions, strict=True):
        covered.append(tree._replace(covers=covers))
    return covered


def typed_array(array: Any, name: str, dtype: Any, shape: tuple[int | None, ...]) -> NDArray[Any]:
    """The array, if it has this type, and the last size of this shape, unless that is None."""
    if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != len(shape):
        raise ValueError(f"{name} is no array of type {dtype} with {len(shape)} dimensions")
    if shape[-1] not in (None, array.shape[-1]):
        raise ValueError(f"{name} has the shape {array.shape}")
    return array


def as_bytes(nodes: NDArray[np.void]) -> NodeBytes:
    """Nodes as the core takes them; what came over a wire may lie at any address."""
    return np.require(nodes, NODE_DTYPE, ["C", "A"]).view(np.uint8).reshape(-1, NODE_DTYPE.itemsize)
