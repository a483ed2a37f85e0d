"""A fit of trees on rows that are on workers. In: parts. Out: classes, bins, and shards to boost."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from dask.delayed import delayed

from comboost._dtypes import CATEGORIES, COMPLETE, KIND, WITH_MISSING
from comboost._engine.binning import BinMapper, category_edges, infinity_error
from comboost._table.categories import Categories
from comboost._table.reading import find_categorical, read_part
from comboost._table.table import RawTable
from comboost._table.weights import no_weight_error, weight_shift
from comboost.dask._cluster import Cluster
from comboost.dask._coding import CodedRows, Coding
from comboost.dask._parts import Collection, Part
from comboost.dask._quantiles import EdgeSearch, Tally
from comboost.dask._shard import ShardSettings
from comboost.dask._shard_group import ShardGroup, changed_rows_error
from comboost.dask._survey import ClassMasses, Survey, count_part, exponents_of_part, join_exponents


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
    shift : int or None
        Weights are multiplied by 2^shift; None if there are none.
    search : EdgeSearch
        Looks for the edges of all numbers, of which the first digits are known.
    survey : Survey
        Knows the classes and the categories.
    """

    cluster: Cluster
    collection: Collection
    header: RawTable
    shift: int | None
    search: EdgeSearch
    survey: Survey

    @classmethod
    def read(
        cls, cluster: Cluster, collection: Collection, categorical_features: Any, max_bins: int, *, weighted: bool
    ) -> "SurveyedRows":
        """Survey all parts."""
        header = read_part(collection.header)
        features = find_categorical(header, categorical_features)
        numeric = [f for f in range(collection.n_features) if f not in features]
        shift = find_shift(cluster, collection) if weighted else None
        search = EdgeSearch(numeric, collection.n_features, max_bins)
        survey = cluster.merge(Survey.of_part, collection.parts, Survey.join, features, shift, search.question)
        return cls(cluster, collection, header, shift, search, survey)

    def find_bins(self, categories: Categories) -> BinMapper:
        """Ask for counts of values until they tell all edges."""
        search, parts = self.search, [self.collection.parts[part.number] for part in self.survey.locations]
        assert self.survey.tally is not None
        search.learn(self.survey.tally)
        if search.infinite.any():
            raise infinity_error(self.header.source.label(int(search.infinite.argmax())))
        features = list(categories.values)
        while search.question is not None:
            search.learn(self.cluster.merge(count_part, parts, Tally.merge, features, self.shift, search.question))
        kinds = np.where(search.missing, WITH_MISSING, COMPLETE).astype(KIND)
        kinds[features] = CATEGORIES
        of_categories = {f: category_edges(categories, f) for f in features}
        return BinMapper([of_categories.get(f, edges) for f, edges in enumerate(search.edges)], kinds)

    def make_shards(
        self, classes: ClassMasses, categories: Categories, bins: BinMapper, settings: ShardSettings
    ) -> ShardGroup:
        """Code the rows, and put them into shards."""
        coding = delayed(Coding(self.shift, classes.classes, categories, bins), traverse=False)
        code, locations = delayed(code_part, pure=False), self.survey.locations
        coded = {part.number: code(self.collection.parts[part.number], coding) for part in locations}
        shards = ShardGroup(self.cluster, coded, locations, settings)
        if not np.array_equal(shards.masses, classes.masses):
            shards.close()
            raise changed_rows_error("the classes were counted again")
        return shards


def find_shift(cluster: Cluster, collection: Collection) -> int:
    """By which power of two weights are multiplied."""
    exponents = cluster.merge(exponents_of_part, collection.parts, join_exponents)
    if not exponents:
        raise no_weight_error("sample_weight")
    return weight_shift(exponents)


def code_part(part: Part, coding: Coding) -> CodedRows:
    """The codes of a part."""
    return coding.code(part)
