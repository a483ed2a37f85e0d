"""A part, read and coded on its worker. In: a part, and what is known of all rows. Out: codes, labels, integer weights.

The classes, categories and bins of all rows are not known before their values have been looked at, so parts are read
several times: to survey them, to count their values, and to code them.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comboost._dtypes import LABEL, Codes, Labels, Weights
from comboost._engine.binning import BinMapper
from comboost._table.categories import Categories
from comboost._table.reading import read_distinct, read_labels, read_part
from comboost._table.table import RawTable
from comboost._table.weights import read_weights_of_part, scale_weights
from comboost.dask._parts import Part, partition_in_errors


@dataclass(frozen=True)
class CheckedPart:
    """A part as a fit sees it.

    Attributes
    ----------
    labels : ndarray
        The label of every row given.
    weights : ndarray of uint32 or None
        The integer weight of every row given; None if every row weighs 1.
    table : RawTable
        The rows that weigh something.
    """

    labels: NDArray[Any]
    weights: Weights | None
    table: RawTable

    @classmethod
    def read(cls, part: Part, shift: int | None) -> "CheckedPart":
        """Read a part whose weights are to be multiplied by 2^shift; None if there are none."""
        table = read_part(part.X)
        labels = read_labels(part.y, table.shape[0], "y")
        if shift is None:
            return cls(labels, None, table)
        given = read_weights_of_part(part.sample_weight, len(labels), "sample_weight")
        weights = scale_weights(given, shift)
        return cls(labels, weights, table if weights.all() else table.take(np.flatnonzero(weights)))

    @property
    def kept_weights(self) -> Weights | None:
        """The weights of the rows that weigh something."""
        return None if self.weights is None else self.weights[self.weights > 0]

    @property
    def kept_labels(self) -> NDArray[Any]:
        """The labels of the rows that weigh something."""
        return self.labels if self.weights is None else self.labels[self.weights > 0]


@dataclass(frozen=True)
class CodedRows:
    """Rows as they are boosted: all that a worker keeps of them."""

    codes: Codes
    labels: Labels
    weights: Weights | None

    @classmethod
    def join(cls, coded: "list[CodedRows]") -> "CodedRows":
        """Several as one."""
        codes = [rows.codes for rows in coded]
        weights = [rows.weights for rows in coded if rows.weights is not None]
        return cls(
            codes[0] if len(codes) == 1 else np.concatenate(codes, axis=1),  # the many bytes are not copied needlessly
            np.concatenate([rows.labels for rows in coded]),
            np.concatenate(weights) if weights else None,
        )


@dataclass(frozen=True)
class Coding:
    """How values become codes.

    Attributes
    ----------
    shift : int or None
        Weights are multiplied by 2^shift; None if there are none.
    classes : ndarray
        The classes, sorted.
    categories : Categories
        The values of every feature of categories.
    bins : BinMapper
        The bins.
    """

    shift: int | None
    classes: NDArray[Any]
    categories: Categories
    bins: BinMapper

    def code(self, part: Part) -> CodedRows:
        """Code the rows of a part that weigh something."""
        with partition_in_errors(part):
            checked = CheckedPart.read(part, self.shift)
            found, places = distinct_labels(checked.kept_labels)
            labels = np.searchsorted(self.classes, found)[places].astype(LABEL)
            codes = self.bins.transform(checked.table.encode(self.categories))
            return CodedRows(codes, labels, checked.kept_weights)


def distinct_labels(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.integer[Any]]]:
    """As `read_distinct`, without a warning that there are many classes for so few rows: there are more elsewhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return read_distinct(labels, "y")
