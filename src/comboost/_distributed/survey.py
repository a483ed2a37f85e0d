"""Summaries of parts that join to those of the whole table: classes, sample weights, categories.

Summaries can be joined in any order; the result does not depend on the partitions.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from comboost._data.categories import Categories, CategoryCounts
from comboost._data.checks import InvalidColumns
from comboost._data.labels import Candidates, find_distinct, join_labels, kind_of_labels, read_classes, read_labels
from comboost._data.sample_weights import ClassWeights, class_sums, read_weights_of_part
from comboost._data.tables import EVERY_ROW
from comboost._data.text import ColumnContent
from comboost._data.validation import content_of_column, n_samples_error
from comboost._distributed.coding import CheckedPart, LabelScale, Part, partition_in_errors
from comboost._distributed.quantiles import CountRequest, KeyCounts, count_keys
from comboost._types import MAX_ROWS, SUM, Sums


class PartLocation(NamedTuple):
    """Worker of a part, and its number of samples with positive weight."""

    number: int
    n_samples: int
    worker: str


class LabelCounts(NamedTuple):
    """Distinct labels, the summed integer weight of each, and its number of samples with positive weight."""

    labels: NDArray[Any]
    weight_sums: Sums
    sizes: Sums

    @classmethod
    def of_part(cls, checked: CheckedPart) -> "LabelCounts":
        """Count the labels of a part."""
        labels, indices = find_distinct(checked.labels, "y")
        weights = checked.weights
        kept = indices if weights is None else indices[weights > 0]
        return cls(labels, class_sums(indices, weights, len(labels)), class_sums(kept, None, len(labels)))

    @classmethod
    def join(cls, counts: "Sequence[LabelCounts]") -> "LabelCounts":
        """Join counts."""
        labels, indices = find_distinct(join_labels([part.labels for part in counts], "y"), "y")
        sums = np.zeros((len(labels), 2), dtype=SUM)
        np.add.at(sums, indices, np.concatenate([np.column_stack(part[1:]) for part in counts]))
        return cls(labels, sums[:, 0], sums[:, 1])


@dataclass(frozen=True)
class Survey:
    """Summary of some parts."""

    n_samples: int = 0
    counts: LabelCounts | None = None  # None without samples
    columns: dict[int, CategoryCounts] = field(default_factory=dict)  # of the categorical features
    key_counts: KeyCounts | None = None  # of the numeric features; None without samples of positive weight
    locations: list[PartLocation] = field(default_factory=list)  # of parts with samples of positive weight

    @classmethod
    def of_part(
        cls,
        part: Part,
        worker_address: Callable[[], str],
        features: list[int],
        scale: LabelScale | None,
        request: CountRequest,
    ) -> "Survey":
        """Survey a part on its worker: the categories of these features, and the requested counts of the others."""
        if len(part.y) == 0:
            return cls()
        with partition_in_errors(part):
            checked = CheckedPart.read(part, scale)
            counts = LabelCounts.of_part(checked)
            if checked.table.shape[0] == 0:
                return cls(len(checked.labels), counts)
            weights = checked.kept_weights
            columns = {f: CategoryCounts.of(checked.table.column_values(f), weights) for f in features}
            key_counts = count_checked(checked, features, request)
        location = PartLocation(part.number, checked.table.shape[0], worker_address())
        return cls(len(checked.labels), counts, columns, key_counts, [location])

    @classmethod
    def join(cls, surveys: "list[Survey]") -> "Survey":
        """Join summaries."""
        counts = [s.counts for s in surveys if s.counts is not None]
        check_same_kind([part.labels for part in counts])
        key_counts = [s.key_counts for s in surveys if s.key_counts is not None]
        columns: dict[int, list[CategoryCounts]] = {}
        for f, counted in (item for s in surveys for item in s.columns.items()):
            columns.setdefault(f, []).append(counted)
        return cls(
            sum(s.n_samples for s in surveys),
            LabelCounts.join(counts) if counts else None,
            {f: CategoryCounts.join(counted) for f, counted in columns.items()},
            KeyCounts.merge(key_counts) if key_counts else None,
            [location for s in surveys for location in s.locations],
        )

    def class_counts(self) -> "ClassCounts":
        """Validate the classes and return them with their weights."""
        if self.n_samples > MAX_ROWS:
            raise n_samples_error(self.n_samples)
        if self.counts is None:
            raise ValueError(
                "Found array with 0 sample(s): no partition of X has a row; give at least one row a class."
            )
        classes, indices = read_classes(self.counts.labels)
        sums, sizes = np.zeros((2, len(classes)), dtype=SUM)
        sums[indices], sizes[indices] = self.counts.weight_sums, self.counts.sizes
        # Unpickled arrays have dtype objects of their own, which would change the bytes of a pickled model.
        candidates = Candidates.of(classes.astype(classes.dtype.str), sums)
        return ClassCounts(candidates, candidates.select(sums), candidates.select(sizes))

    def categories(self) -> Categories:
        """Categories: the most frequent ones, and the others."""
        return Categories.of_counts(self.columns)


class ClassCounts(NamedTuple):
    """Classes, and the weight sums and numbers of samples of those with positive weight."""

    candidates: Candidates
    sums: Sums
    sizes: Sums  # samples without weight do not count


def check_same_kind(found: Sequence[NDArray[Any]]) -> None:
    """Raise if labels differ in kind between parts, for example text and numbers."""
    example_of = {}
    for labels in found:
        example_of["booleans" if labels.dtype.kind == "b" else kind_of_labels(labels)] = labels[0]
    if len(example_of) > 1:
        seen = ", ".join(f"{kind} ({example!r})" for kind, example in sorted(example_of.items()))
        raise ValueError(
            f"y holds labels of several kinds in its partitions: {seen}. Give labels of one kind, for example with "
            "astype(str)."
        )


ColumnContents = dict[int, ColumnContent]  # kinds of the values of some features


def contents_of_part(part: Part, features: list[int], scale: LabelScale | None) -> ColumnContents:
    """Find the kinds of the values of these features in a part."""
    if len(part.y) == 0:
        return {}
    with partition_in_errors(part):
        checked = CheckedPart.read(part, scale)
        table, weights, invalid, contents = checked.table, checked.kept_weights, InvalidColumns(), {}
        for f in features if table.shape[0] else []:
            with invalid:
                contents[f], _ = content_of_column(table.part(EVERY_ROW, f, f + 1), weights)
        invalid.raise_any()
    return contents


def join_contents(parts: list[ColumnContents]) -> ColumnContents:
    """Join the contents of parts."""
    features = sorted({f for part in parts for f in part})
    return {f: ColumnContent.join([part[f] for part in parts if f in part]) for f in features}


class LabelWeights(NamedTuple):
    """Distinct labels, and statistics of their sample weights."""

    labels: NDArray[Any]
    weights: ClassWeights

    @classmethod
    def of_part(cls, part: Part) -> "LabelWeights | None":
        """Summarise the weights of a part; None if it is empty."""
        n_samples = len(part.sample_weight)
        if n_samples == 0:
            return None
        with partition_in_errors(part):
            given = read_weights_of_part(part.sample_weight, n_samples, "sample_weight")
            labels, indices = find_distinct(read_labels(part.y, n_samples, "y"), "y")
            return cls(labels, ClassWeights.of(given, indices, len(labels)))

    @classmethod
    def join(cls, found: "list[LabelWeights | None]") -> "LabelWeights | None":
        """Join summaries."""
        parts = [part for part in found if part is not None]
        if not parts:
            return None
        check_same_kind([part.labels for part in parts])
        labels, indices = find_distinct(join_labels([part.labels for part in parts], "y"), "y")
        ends = np.cumsum([len(part.labels) for part in parts])[:-1]
        weights = ClassWeights.join([part.weights for part in parts], np.split(indices, ends), len(labels))
        return cls(labels, weights)


def count_part(part: Part, features: list[int], scale: LabelScale | None, request: CountRequest) -> KeyCounts:
    """Count the values of a part; ``features`` are categorical and not counted."""
    with partition_in_errors(part):
        return count_checked(CheckedPart.read(part, scale), features, request)


def count_checked(checked: CheckedPart, features: list[int], request: CountRequest) -> KeyCounts:
    """Count the values of a validated part; see `count_part`."""
    table = checked.table.encode(Categories(dict.fromkeys(features, ())))
    return count_keys(table, request, checked.kept_weights, 1)
