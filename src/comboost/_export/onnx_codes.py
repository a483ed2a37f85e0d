"""Categories in an ONNX graph. In: a table with categories as numbers. Out: columns of places in blocks of codes.

Trees of ONNX ask whether a number is equal to another, one after the other. onnxruntime asks for up to 30 small numbers
at once, so codes are cut into blocks: a column of a block holds the place of the code in it, from 1 on, or 0 if the
code is in another block. A set of codes then takes a question per block. What finds the places is a tree, too.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from comboost._export.blueprint import CodedFeature
from comboost._export.onnx_trees import END, EQ, LEQ, TreeArrays, Whole

BLOCK = 30  # codes, whose places are bits of what onnxruntime compares


@dataclass(frozen=True)
class Blocks:
    """Where the codes of the features of categories are found.

    Attributes
    ----------
    first : dict of int to int
        The column of the first block of every feature, counted from 0.
    n_columns : int
        How many columns there are.
    """

    first: dict[int, int]
    n_columns: int

    @classmethod
    def of(cls, features: list[CodedFeature]) -> "Blocks":
        """The blocks of some features."""
        sizes = [(coded.n_codes + BLOCK - 1) // BLOCK for coded in features]
        starts = np.cumsum([0, *sizes]).tolist()
        return cls({coded.feature: start for coded, start in zip(features, starts, strict=False)}, starts[-1])

    @staticmethod
    def split(codes: Whole) -> tuple[Whole, Whole]:
        """The blocks of some codes, and their places in these."""
        return codes // BLOCK, codes % BLOCK + 1


def coding_trees(features: list[CodedFeature], blocks: Blocks) -> TreeArrays:
    """Trees that find the block and the place of a category: one for every feature, by halving."""
    return TreeArrays.join([coding_tree(coded, blocks) for coded in features])


def coding_tree(coded: CodedFeature, blocks: Blocks) -> TreeArrays:
    """The tree of a feature: first which of the sorted values it could be, then whether it is that one.

    With n values the nodes are: n − 1 that halve, n that ask, n leaves for yes, n for no. Text was looked up before, so
    its values are its codes.
    """
    codes = np.unique(coded.codes) if coded.is_text else coded.codes
    values = codes.astype(np.float64) if coded.is_text else np.array(coded.values)
    n, asking, leaf = len(values), np.arange(len(values)), np.zeros(2 * len(values), dtype=np.int64)
    thresholds, children = halving_tree(values)
    yes, no = 2 * n - 1 + asking, 3 * n - 1 + asking
    block_of, places = blocks.split(np.concatenate([codes, np.zeros(n, dtype=np.int64)]))
    none = np.zeros(4 * n - 1, dtype=np.int64)
    return TreeArrays(
        modes=np.repeat([LEQ, EQ, END], [n - 1, n, 2 * n]),
        features=none + coded.feature,
        values=np.concatenate([thresholds, values, leaf.astype(np.float64)]),
        true_ids=np.concatenate([children[:, 0], yes, leaf]),
        false_ids=np.concatenate([children[:, 1], no, leaf]),
        missing=none,
        trees=none,
        nodes=np.arange(4 * n - 1),
        leaf_trees=leaf,
        leaf_nodes=np.concatenate([yes, no]),
        targets=blocks.first[coded.feature] + block_of,
        weights=places.astype(np.float64),
    )


def halving_tree(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Thresholds and children of n − 1 nodes that lead to the n sorted values; these are numbered from n − 1 on."""
    n = len(values)
    thresholds, children = np.empty(n - 1), np.empty((n - 1, 2), dtype=np.int64)
    ahead, n_made = [(0, n, -1, 0)], 0
    while ahead:
        begin, end, parent, side = ahead.pop()
        if end - begin == 1:
            here = n - 1 + begin
        else:
            here, middle = n_made, (begin + end) // 2
            n_made += 1
            thresholds[here] = values[middle - 1]
            ahead += [(middle, end, here, 1), (begin, middle, here, 0)]
        if parent >= 0:
            children[parent, side] = here
    return thresholds, children
