"""The vocabulary: number types, the node record and the limits, with reasons. Mirrors ``cpp/comboost/types.hpp``."""

import numpy as np
from numpy.typing import NDArray

CODE = np.uint8  # bin of a value; one byte, since histograms of 255 bins stay in the fastest cache
LABEL = np.uint16  # class index
WEIGHT = np.uint32  # integer sample weight
SUM = np.int64  # sums of weight times quantised cost

Codes = NDArray[np.uint8]  # (n_features, n_samples): feature by feature, as histograms read them
Labels = NDArray[np.uint16]
Weights = NDArray[np.uint32]
Sums = NDArray[np.int64]
Floats = NDArray[np.float64]
NodeBytes = NDArray[np.uint8]  # (n_nodes, NODE_DTYPE.itemsize): records cross the border as bytes

#: A node of a flat tree. Children stand next to each other, so ``left`` says both; a value <= threshold goes left.
NODE_DTYPE = np.dtype(
    [("threshold", "<f8"), ("feature", "<i4"), ("left", "<i4"), ("label", "<i4"), ("bin", "<i4")], align=True
)
LEAF = -1  # the feature, left child and bin of a leaf

MAX_BINS = 255  # code 255 is kept for missing values
MAX_CLASSES = 65535
MAX_ROWS = 2**32 - 1  # row indices are 32 bits wide

MAX_WEIGHT_SUM = 2**32  # with units of at most 2**30, sums over all rows stay below 2**62
UNIT_BITS = 30  # no row's quantised costs add up to more than 2**30
COARSE_BITS = 27  # a pass whose largest row has fewer bits than this is quantised again
ROUNDING_ROOM = 16  # units that every cost must have in the mean; with fewer, rounding moves the loss too much

MIN_EDGE = 2.0**-20  # a weak learner must beat guessing by more than this
MAX_EDGE = 1.0 - 2.0**-30  # the edge of a perfect one, so that its weight stays finite
MIN_LOSS = 1e-200  # below this nothing is left to learn and numbers would soon underflow
