"""A fit of trees on rows that are on workers. In: parts. Out: classes, bins, and shards to boost."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from dask.delayed import Delayed, delayed

from comboost._data.categories import Categories
from comboost._data.choosing import find_categorical, find_open, takes_text
from comboost._data.floats import Offences
from comboost._data.sample_weights import ClassWeightSums, find_scale, no_weight_error
from comboost._data.tables import RawTable
from comboost._data.validation import read_part
from comboost._distributed.quantiles import EdgeSearch, Tally
from comboost._engine.binning import BinMapper, category_edges, infinity_error
from comboost._types import CATEGORIES, COMPLETE, KIND, WITH_MISSING
from comboost.dask._cluster import Cluster
from comboost.dask._coding import CodedRows, Coding, LabelScale
from comboost.dask._parts import Collection, Part
from comboost.dask._shard import ShardSettings
from comboost.dask._shard_group import ShardGroup, changed_rows_error
from comboost.dask._survey import ClassCounts, LabelWeights, Mixtures, Survey, count_part, join_mixtures, mix_part


@dataclass(frozen=True)
class SurveyedRows:
    """A collection whose parts have been read once (twice with weights).

    Attributes
    ----------
    cluster : Cluster
        Where the parts are.
    collection : Collection
        The parts to train on.
    header : RawTable
        Their columns, without rows.
    weights : LabelWeights or None
        What the weights of every label are like; None if there are none.
    scale : LabelScale or None
        How they become integers.
    search : EdgeSearch
        Looks for the edges of all numbers, of which the first digits are known.
    survey : Survey
        Knows the classes and the categories.
    """

    cluster: Cluster
    collection: Collection
    header: RawTable
    weights: LabelWeights | None
    scale: LabelScale | None
    search: EdgeSearch
    survey: Survey

    @classmethod
    def read(
        cls, cluster: Cluster, collection: Collection, categorical_features: Any, max_bins: int, *, weighted: bool
    ) -> "SurveyedRows":
        """Survey all parts."""
        header = read_part(collection.header)
        weights = find_weights(cluster, collection) if weighted else None
        scale = None if weights is None else LabelScale(weights.labels, find_scale(weights.weights.exponents))
        features = find_features(cluster, collection, header, categorical_features, scale)
        numeric = [f for f in range(collection.n_features) if f not in features]
        search = EdgeSearch(numeric, collection.n_features, max_bins)
        survey = cluster.merge(Survey.of_part, collection.parts, Survey.join, features, scale, search.question)
        if weights is not None and survey.counts is not None:
            weights.weights.check_none_lost(survey.counts.weight_sums, survey.counts.labels, "sample_weight")
        return cls(cluster, collection, header, weights, scale, search, survey)

    def training_weights(self, counts: ClassCounts) -> tuple[ClassWeightSums, bool]:
        """The weight_sums of the candidates, and whether weights only tell classes apart."""
        if self.weights is None or self.scale is None:
            return ClassWeightSums(counts.sums), False
        scale = self.scale.scale.of_classes(counts.candidates.places)
        return ClassWeightSums(counts.sums, scale), self.weights.weights.by_class

    def find_bins(self, categories: Categories) -> BinMapper:
        """Ask for counts of values until they tell all edges."""
        # Neighbours are joined first, so those on one worker: only what is joined there travels.
        locations = sorted(self.survey.locations, key=lambda part: (part.worker, part.number))
        search, parts = self.search, [self.collection.parts[part.number] for part in locations]
        assert self.survey.tally is not None
        search.learn(self.survey.tally)
        if search.infinite.any():
            raise infinity_error(self.header.source.label(int(search.infinite.argmax())))
        features = list(categories.values)
        while search.question is not None:
            search.learn(self.cluster.merge(count_part, parts, Tally.merge, features, self.scale, search.question))
        kinds = np.where(search.missing, WITH_MISSING, COMPLETE).astype(KIND)
        kinds[features] = CATEGORIES
        of_categories = {f: category_edges(categories, f) for f in features}
        return BinMapper.of([of_categories.get(f, edges) for f, edges in enumerate(search.edges)], kinds)

    def make_shards(
        self, counts: ClassCounts, categories: Categories, bins: BinMapper, settings: ShardSettings
    ) -> ShardGroup:
        """Code the rows, and put them into shards."""
        coding = Coding(self.scale, counts.candidates.classes, categories, bins)

        def code(numbers: Iterable[int]) -> dict[int, Delayed]:
            coding_key, code = delayed(coding, traverse=False), delayed(code_part, pure=False)
            return {number: code(self.collection.parts[number], coding_key) for number in numbers}

        shards = ShardGroup(self.cluster, code, self.survey.locations, settings)
        if not np.array_equal(shards.weight_sums, counts.sums):
            shards.close()
            raise changed_rows_error("the classes were counted again")
        return shards


def find_features(
    cluster: Cluster, collection: Collection, header: RawTable, categorical_features: Any, scale: LabelScale | None
) -> list[int]:
    """The features that hold categories. If dtypes leave it open, their values are looked at first."""
    known, text_allowed = find_categorical(header, categorical_features), takes_text(categorical_features)
    undecided = find_open(header.source, known)
    if not undecided:
        return known
    mixtures: Mixtures = cluster.merge(mix_part, collection.parts, join_mixtures, undecided, scale)
    offences, found = Offences(), set(known)
    for f, mixture in mixtures.items():
        with offences:
            if_empty = text_allowed and header.source.kind(f) == "text"
            if mixture.is_category(text_allowed=text_allowed, if_empty=if_empty):
                found.add(f)
    offences.raise_any()
    return sorted(found)


def find_weights(cluster: Cluster, collection: Collection) -> LabelWeights | None:
    """What the weights of every label are like; None if there are no rows."""
    found: LabelWeights | None = cluster.merge(LabelWeights.of_part, collection.parts, LabelWeights.join)
    if found is not None and not found.weights.most.any():
        raise no_weight_error("sample_weight")
    return found


def code_part(part: Part, coding: Coding) -> CodedRows:
    """The codes of a part."""
    return coding.code(part)
