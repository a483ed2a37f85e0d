"""Parts to codes. In: a part, and the classes, categories and bins of all rows. Out: codes, labels, integer weights."""

from dataclasses import dataclass

import numpy as np

from comboost._binning import BinMapper
from comboost._categories import Categories
from comboost._dtypes import LABEL, Codes, Labels, Weights
from comboost.dask._block import Block, naming
from comboost.dask._parts import Part
from comboost.dask._survey import ClassCensus, distinct_labels


@dataclass(frozen=True)
class CodedRows:
    """Rows as they are boosted: all that a worker keeps of them."""

    codes: Codes
    labels: Labels
    weights: Weights | None

    @classmethod
    def join(cls, coded: "list[CodedRows]") -> "CodedRows":
        """Several as one."""
        if len(coded) == 1:
            return coded[0]
        weights = [rows.weights for rows in coded if rows.weights is not None]
        return cls(
            np.concatenate([rows.codes for rows in coded], axis=1),
            np.concatenate([rows.labels for rows in coded]),
            np.concatenate(weights) if weights else None,
        )


@dataclass(frozen=True)
class Coding:
    """How values become codes.

    Attributes
    ----------
    shift : int or None
        Weights are multiplied by 2^shift; None where there are none.
    census : ClassCensus
        The classes.
    categories : Categories
        The values of every feature of categories.
    bins : BinMapper
        The bins.
    """

    shift: int | None
    census: ClassCensus
    categories: Categories
    bins: BinMapper

    def code(self, part: Part) -> CodedRows:
        """Code the rows of a part that weigh something."""
        with naming(part):
            block = Block.read(part, self.shift)
            found, places = distinct_labels(block.kept_labels)
            labels = np.searchsorted(self.census.classes, found)[places].astype(LABEL)
            codes = self.bins.transform(block.table.encode(self.categories))
            return CodedRows(codes, labels, block.kept_weights)
