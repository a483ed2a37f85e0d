"""Validation and binning of the parts of a distributed table, on their workers.

Classes, categories and bins depend on all parts. Parts are therefore read several times: to survey them, to count
their values, and to code them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from comboost._boosting.search_samples import first_by_content
from comboost._data.categories import Categories
from comboost._data.labels import find_distinct, locate_labels, read_labels
from comboost._data.sample_weights import WeightScale, read_weights_of_part
from comboost._data.tables import RawTable
from comboost._data.validation import read_part
from comboost._engine.binning import BinMapper
from comboost._types import LABEL, Codes, Floats, Labels, Weights


class Part(NamedTuple):
    """One partition, in the memory of a worker. It may be empty."""

    number: int  # of the partition, from 0
    X: Any  # ndarray, sparse matrix or DataFrame
    y: Any  # 1-D ndarray or Series
    sample_weight: Any  # 1-D ndarray, Series or None


@contextmanager
def partition_in_errors(part: Part) -> Iterator[None]:
    """Add the number of the partition to errors."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"In partition {part.number}: {error}") from error


class LabelScale(NamedTuple):
    """Scale of the integer sample weights, before the classes are known."""

    labels: NDArray[Any]  # distinct labels of all parts, sorted
    scale: WeightScale

    def apply(self, sample_weight: Floats, labels: NDArray[Any]) -> Weights:
        """Integer weights of samples with these labels."""
        if self.scale.lifts is None:
            return self.scale.apply(sample_weight, np.empty(0, dtype=np.intp))
        found, indices = find_distinct(labels, "y")
        return self.scale.apply(sample_weight, locate_labels(found, self.labels)[indices])


@dataclass(frozen=True)
class CheckedPart:
    """A validated part."""

    labels: NDArray[Any]  # of all samples
    weights: Weights | None  # of all samples; None if all are 1
    table: RawTable  # the samples with positive weight

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
class CodedSamples:
    """Binned samples, without the values of X."""

    codes: Codes
    labels: Labels
    weights: Weights | None

    @classmethod
    def join(cls, coded: "list[CodedSamples]") -> "CodedSamples":
        """Concatenate several."""
        codes = [samples.codes for samples in coded]
        weights = [samples.weights for samples in coded if samples.weights is not None]
        return cls(
            codes[0] if len(codes) == 1 else np.concatenate(codes, axis=1),  # avoids a copy of the largest array
            np.concatenate([samples.labels for samples in coded]),
            np.concatenate(weights) if weights else None,
        )

    def first_by_content(self, n_kept: NDArray[np.int64], seed: int) -> "CodedSamples":
        """Select the samples that a search uses, ``n_kept`` of every class; see `search_samples.first_by_content`."""
        sizes = np.bincount(self.labels, minlength=len(n_kept))
        # Data that change may have more classes now; they are refused once all samples are gathered.
        if len(sizes) > len(n_kept) or (sizes <= n_kept).all():
            return self
        chosen = np.sort(first_by_content(self.codes, self.labels, self.weights, n_kept, seed))
        weights = None if self.weights is None else self.weights[chosen]
        return CodedSamples(np.ascontiguousarray(self.codes[:, chosen]), self.labels[chosen], weights)


@dataclass(frozen=True)
class Coding:
    """Mapping of values to codes."""

    scale: LabelScale | None  # None without sample weights
    classes: NDArray[Any]  # those with positive weight, sorted
    categories: Categories
    bins: BinMapper

    def code(self, part: Part) -> CodedSamples:
        """Bin the samples of a part that have positive weight."""
        with partition_in_errors(part):
            checked = CheckedPart.read(part, self.scale)
            found, indices = find_distinct(checked.kept_labels, "y")
            labels = locate_labels(found, self.classes)[indices].astype(LABEL)
            codes = self.bins.transform(checked.table.encode(self.categories))
            return CodedSamples(codes, labels, checked.kept_weights)


def code_for_search(part: Part, coding: Coding, n_kept: NDArray[np.int64], seed: int) -> CodedSamples:
    """Bin the samples of a part that a search may use: ``n_kept`` of every class at most."""
    return coding.code(part).first_by_content(n_kept, seed)


def join_for_search(found: list[CodedSamples], n_kept: NDArray[np.int64], seed: int) -> CodedSamples:
    """Join samples that a search may use, two at a time to save memory."""
    return reduce(lambda one, other: CodedSamples.join([one, other]).first_by_content(n_kept, seed), found)
