"""Number types, the node record and the limits, with reasons. Limits of the core are those that it exports."""

from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from comboost import _core

CODE = np.uint8  # bin of a value; one byte, since histograms of so few bins stay in the fastest cache
LABEL = np.uint16  # class index
WEIGHT = np.uint32  # integer sample weight
SUM = np.int64  # sums of weight times quantised cost

Codes = NDArray[np.uint8]  # (n_features, n_samples): feature by feature, as histograms read them
Labels = NDArray[np.uint16]
Weights = NDArray[np.uint32]
Sums = NDArray[np.int64]
Floats = NDArray[np.float64]
NodeBytes = NDArray[np.uint8]  # (n_nodes, NODE_DTYPE.itemsize): records cross the border as bytes
LeafValueArray = NDArray[np.float32]  # (n_leaves, n_classes)
SetBytes = NDArray[np.uint8]  # (n_sets, SET_BYTES): code c is in a set if bit c % 8 of byte c // 8 is 1


class Table(Protocol):
    """A data frame (pandas, polars, Arrow) or a sparse matrix."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of rows and columns."""


MatrixLike: TypeAlias = ArrayLike | Table  # X of the estimators

#: A node of a flat tree. Children stand next to each other, so ``left`` says both. A value <= threshold goes left, and
#: a code <= bin, or one of the set with the number ``set`` if there is one.
NODE_DTYPE = np.dtype(
    [
        ("threshold", "<f8"),
        ("feature", "<i4"),
        ("left", "<i4"),
        ("set", "<i4"),
        ("label", "<u2"),
        ("bin", "u1"),
        ("flags", "u1"),
    ],
    align=True,
)
SET_BYTES = _core.SET_BYTES  # a bit for every code
LEAF = _core.LEAF  # the feature and left child of a leaf
NO_SET = _core.NO_SET  # the set of a node that needs none
MISSING_LEFT = _core.MISSING_LEFT  # flag: missing values go left
CATEGORICAL = _core.CATEGORICAL  # flag: the values are categories, and the set decides

#: What a feature is, and with it what its code 0 means.
KIND = np.uint8
COMPLETE = _core.COMPLETE  # numbers, none of them missing
WITH_MISSING = _core.WITH_MISSING  # numbers; code 0 is kept for the missing ones
CATEGORIES = _core.CATEGORIES  # categories; code 0 is kept for the missing ones
Kinds = NDArray[np.uint8]

MAX_BINS = _core.MAX_BINS  # of values; missing ones have a bin of their own, so that codes still fit a byte
MAX_CLASSES = _core.MAX_CLASSES
MAX_PAIRED = 128  # classes of which a leaf sums up every pair; of more, it sums up every class
MAX_ROWS = _core.MAX_ROWS  # row indices are 32 bits wide

MAX_WEIGHT_SUM = 2**32  # with units of at most 2**30, sums over all rows stay below 2**62
UNIT_BITS = 30  # no row's quantised costs add up to more than 2**30
COARSE_BITS = 27  # a pass whose largest row has fewer bits than this is quantised again
COARSE_LOSS_BITS = 15  # losses that could be summed up in units that are smaller by these bits are summed up again
ROUNDING_ROOM = 16  # units that a cost must have on average; with fewer, rounding moves the loss too much
MAX_ROUNDING = 1.0 / 32.0  # by what share of it rounding may then move the loss

MIN_EDGE = 2.0**-20  # a weak learner must beat guessing by more than this
MAX_EDGE = 1.0 - 2.0**-30  # the edge of a perfect one, so that its weight stays finite
MIN_LOSS = 1e-200  # below this nothing is left to learn and numbers would soon underflow
