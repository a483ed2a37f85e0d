"""Preparation of a fit on a cluster: classes, categories, sample weights and bins of a table in parts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from comboost._data.categories import Categories
from comboost._data.checks import InvalidColumns
from comboost._data.sample_weights import ClassWeightSums, find_scale, no_weight_error
from comboost._data.tables import RawTable
from comboost._data.validation import accepts_text, find_categorical, find_undecided, read_part
from comboost._distributed.coding import CodedSamples, Coding, LabelScale, code_for_search, join_for_search
from comboost._distributed.quantiles import EdgeSearch, KeyCounts
from comboost._distributed.survey import (
    ClassCounts,
    ColumnContents,
    LabelWeights,
    Survey,
    contents_of_part,
    count_part,
    join_contents,
)
from comboost._engine.binning import BinMapper, category_edges, infinity_error
from comboost._types import CATEGORIES, COMPLETE, KIND, WITH_MISSING

Result = TypeVar("Result")


class Transport(Protocol):
    """Interface of a cluster; `comboost.dask` implements it for Dask."""

    def merge(
        self, call: Callable[..., Result], parts: Sequence[Any], join: Callable[[list[Result]], Result], *args: Any
    ) -> Result:
        """Call ``call(part, *args)`` on the worker of every part, and join the results a few at a time."""

    @staticmethod
    def worker_address() -> str:
        """Return the address of the worker that calls this."""


class PartitionedTable(Protocol):
    """A table in parts that may not be in memory yet."""

    @property
    def parts(self) -> Sequence[Any]:
        """References to the parts, as the transport takes them."""

    @property
    def header(self) -> Any:
        """The columns of X, their names and dtypes, without samples."""

    @property
    def n_features(self) -> int:
        """Number of features."""


@dataclass(frozen=True)
class PreparedTable:
    """A table in parts, read once (twice with sample weights)."""

    cluster: Transport
    collection: PartitionedTable
    header: RawTable  # columns without samples
    weights: LabelWeights | None  # None without sample weights
    scale: LabelScale | None  # of the integer weights
    search: EdgeSearch  # for the bin edges; the survey has the counts that it needs first
    survey: Survey

    @classmethod
    def read(
        cls,
        cluster: Transport,
        collection: PartitionedTable,
        categorical_features: Any,
        max_bins: int,
        *,
        weighted: bool,
    ) -> "PreparedTable":
        """Survey all parts."""
        header = read_part(collection.header)
        weights: LabelWeights | None = None
        if weighted:
            weights = cluster.merge(LabelWeights.of_part, collection.parts, LabelWeights.join)
        if weights is not None and not weights.weights.most.any():
            raise no_weight_error("sample_weight")
        scale = None if weights is None else LabelScale(weights.labels, find_scale(weights.weights.exponents))
        features = find_features(cluster, collection, header, categorical_features, scale)
        numeric = [f for f in range(collection.n_features) if f not in features]
        search = EdgeSearch(numeric, collection.n_features, max_bins)
        survey: Survey = cluster.merge(
            Survey.of_part, collection.parts, Survey.join, cluster.worker_address, features, scale, search.request
        )
        if weights is not None and survey.counts is not None:
            weights.weights.check_none_lost(survey.counts.weight_sums, survey.counts.labels, "sample_weight")
        return cls(cluster, collection, header, weights, scale, search, survey)

    def training_weights(self, counts: ClassCounts) -> tuple[ClassWeightSums, bool]:
        """Weight sums of the candidates, and whether sample weights differ between classes only."""
        if self.weights is None or self.scale is None:
            return ClassWeightSums(counts.sums), False
        scale = self.scale.scale.of_classes(counts.candidates.indices)
        return ClassWeightSums(counts.sums, scale), self.weights.weights.by_class

    def find_bins(self, categories: Categories) -> BinMapper:
        """Count values, pass by pass, until all edges are known."""
        search, parts = self.search, self._parts_by_worker()
        assert self.survey.key_counts is not None
        search.learn(self.survey.key_counts)
        if search.infinite.any():
            raise infinity_error(self.header.source.label(int(search.infinite.argmax())))
        features = list(categories.values)
        while search.request is not None:
            search.learn(self.cluster.merge(count_part, parts, KeyCounts.merge, features, self.scale, search.request))
        kinds = np.where(search.missing, WITH_MISSING, COMPLETE).astype(KIND)
        kinds[features] = CATEGORIES
        of_categories = {f: category_edges(categories, f) for f in features}
        return BinMapper.of([of_categories.get(f, edges) for f, edges in enumerate(search.edges)], kinds)

    def gather_for_search(self, coding: Coding, n_kept: NDArray[np.int64], seed: int) -> CodedSamples:
        """Gather the samples that a search uses, ``n_kept`` of every class, in this process."""
        join = partial(join_for_search, n_kept=n_kept, seed=seed)
        gathered: CodedSamples = self.cluster.merge(
            code_for_search, self._parts_by_worker(), join, coding, n_kept, seed
        )
        return gathered

    def _parts_by_worker(self) -> list[Any]:
        """Parts with samples, sorted by worker: neighbours are joined first, there, and only the result is sent."""
        locations = sorted(self.survey.locations, key=lambda part: (part.worker, part.number))
        return [self.collection.parts[part.number] for part in locations]

    def coding(self, counts: ClassCounts, categories: Categories, bins: BinMapper) -> Coding:
        """Make the mapping of values to codes."""
        return Coding(self.scale, counts.candidates.classes, categories, bins)


def find_features(
    cluster: Transport,
    collection: PartitionedTable,
    header: RawTable,
    categorical_features: Any,
    scale: LabelScale | None,
) -> list[int]:
    """Find the categorical features, from the values where dtypes do not decide."""
    known, text_allowed = find_categorical(header, categorical_features), accepts_text(categorical_features)
    undecided = find_undecided(header.source, known)
    if not undecided:
        return known
    contents: ColumnContents = cluster.merge(contents_of_part, collection.parts, join_contents, undecided, scale)
    invalid, found = InvalidColumns(), set(known)
    for f, content in contents.items():
        with invalid:
            if_empty = text_allowed and header.source.kind(f) == "text"
            if content.is_category(text_allowed=text_allowed, if_empty=if_empty):
                found.add(f)
    invalid.raise_any()
    return sorted(found)
