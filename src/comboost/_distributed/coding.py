"""Parts of a distributed table, validated and binned where they are.

Classes, categories and bins depend on all parts. Parts are therefore read several times: to survey them, to count
their values, and to code them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from comboost._data.categories import Categories
from comboost._data.labels import find_distinct, locate_labels, read_labels
from comboost._data.sample_weights import WeightScale, read_weights_of_part
from comboost._data.tables import RawTable
from comboost._data.validation import read_part
from comboost._engine.binning import BinMapper
from comboost._types import LABEL, Codes, Floats, Labels, Weights


class Part(NamedTuple):
    """One partition, as it lies on a worker.

    Attributes
    ----------
    number : int
        Which partition this is, counted from 0.
    X : ndarray, sparse matrix or DataFrame
        The rows, maybe none.
    y : ndarray or Series
        Their labels, 1-D.
    sample_weight : ndarray, Series or None
        Their weights, 1-D.
    """

    number: int
    X: Any
    y: Any
    sample_weight: Any


@contextmanager
def partition_in_errors(part: Part) -> Iterator[None]:
    """Add the number of the partition to errors."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"In partition {part.number}: {error}") from error


class LabelScale(NamedTuple):
    """Scale of the integer sample weights, before the classes are known.

    Attributes
    ----------
    labels : ndarray
        The distinct labels of all rows, sorted.
    scale : WeightScale
        The scale of their weights.
    """

    labels: NDArray[Any]
    scale: WeightScale

    def apply(self, sample_weight: Floats, labels: NDArray[Any]) -> Weights:
        """Integer weights of samples with these labels."""
        if self.scale.lifts is None:
            return self.scale.apply(sample_weight, np.empty(0, dtype=np.intp))
        found, indices = find_distinct(labels, "y")
        return self.scale.apply(sample_weight, locate_labels(found, self.labels)[indices])


@dataclass(frozen=True)
class CheckedPart:
    """A validated part.

    Attributes
    ----------
    labels : ndarray
        Labels of all samples.
    weights : ndarray of uint32 or None
        Integer weights of all samples; None if all are 1.
    table : RawTable
        The samples with positive weight.
    """

    labels: NDArray[Any]
    weights: Weights | None
    table: RawTable

    @classmethod
    def read(cls, part: Part, scale: LabelScale | None) -> "CheckedPart":
        """Validate a part; ``scale`` is None without sample weights."""
        table = read_part(part.X)
        labels = read_labels(part.y, table.shape[0], "y")
        if scale is None:
            return cls(labels, None, table)
        given = read_weights_of_part(part.sample_weight, len(labels), "sample_weight")
        weights = scale.apply(given, labels)
        return cls(labels, weights, table if weights.all() else table.take(np.flatnonzero(weights)))

    @property
    def kept_weights(self) -> Weights | None:
        """Positive weights."""
        return None if self.weights is None else self.weights[self.weights > 0]

    @property
    def kept_labels(self) -> NDArray[Any]:
        """Labels of the samples with positive weight."""
        return self.labels if self.weights is None else self.labels[self.weights > 0]


@dataclass(frozen=True)
class CodedRows:
    """Binned samples: all that a worker keeps of them."""

    codes: Codes
    labels: Labels
    weights: Weights | None

    @classmethod
    def join(cls, coded: "list[CodedRows]") -> "CodedRows":
        """Concatenate several."""
        codes = [rows.codes for rows in coded]
        weights = [rows.weights for rows in coded if rows.weights is not None]
        return cls(
            codes[0] if len(codes) == 1 else np.concatenate(codes, axis=1),  # avoids a copy of the largest array
            np.concatenate([rows.labels for rows in coded]),
            np.concatenate(weights) if weights else None,
        )


@dataclass(frozen=True)
class Coding:
    """Mapping of values to codes.

    Attributes
    ----------
    scale : LabelScale or None
        How weights become integers; None if there are none.
    classes : ndarray
        The classes with weight, sorted.
    categories : Categories
        The values of every feature of categories.
    bins : BinMapper
        The bins.
    """

    scale: LabelScale | None
    classes: NDArray[Any]
    categories: Categories
    bins: BinMapper

    def code(self, part: Part) -> CodedRows:
        """Bin the samples of a part that have positive weight."""
        with partition_in_errors(part):
            checked = CheckedPart.read(part, self.scale)
            found, indices = find_distinct(checked.kept_labels, "y")
            labels = locate_labels(found, self.classes)[indices].astype(LABEL)
            codes = self.bins.transform(checked.table.encode(self.categories))
            return CodedRows(codes, labels, checked.kept_weights)
