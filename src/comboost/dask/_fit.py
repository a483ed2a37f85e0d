"""A fit of trees on rows that are on workers. In: parts. Out: a learner and rows to boost."""

from typing import Any

import numpy as np
from dask.delayed import delayed
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from comboost._binning import BinMapper
from comboost._categories import Categories
from comboost._costs import weight_shift
from comboost._dtypes import CATEGORIES, COMPLETE, KIND, WITH_MISSING
from comboost._fits import TreeFit
from comboost._learners import TreeLearner, TreePast
from comboost._origin import RowDigest
from comboost._table import find_categorical, read_part
from comboost._training_set import no_weight_error
from comboost.dask._cluster import Cluster
from comboost.dask._coding import CheckedPart, CodedRows, Coding
from comboost.dask._parts import Collection, Part, partition_in_errors
from comboost.dask._quantiles import EdgeSearch, Question, Tally, count_keys
from comboost.dask._rows import DaskRows
from comboost.dask._shard import ShardSettings
from comboost.dask._shard_group import ShardGroup, changed_rows_error
from comboost.dask._survey import ClassMasses, Survey, exponents_of_part, join_exponents


class DaskFit(TreeFit):
    """A fit of the built-in trees on a cluster; see `TreeFit`.

    Making one reads all parts once (twice with weights): to know the classes, the categories and the first digits of
    all numbers.

    Parameters
    ----------
    booster : VoteBooster
        Whose parameters count.
    cluster : Cluster
        Where the parts are.
    collection : Collection
        The parts to train on.
    weighted : bool
        Whether they have weights.
    n_threads : int
        Threads of the split search.
    past : TreePast or None
        What an earlier fit kept, to go on from there.
    """

    def __init__(
        self,
        booster: Any,
        cluster: Cluster,
        collection: Collection,
        *,
        weighted: bool,
        n_threads: int,
        past: TreePast | None,
    ) -> None:
        super().__init__(booster, n_threads, past)
        validate_data(booster, collection.header, reset=past is None, skip_check_array=True)
        self._cluster = cluster
        self._parts = collection.parts
        self._header = read_part(collection.header)
        self._shards: ShardGroup | None = None
        features = find_categorical(self._header, booster.categorical_features)
        numeric = [f for f in range(collection.n_features) if f not in features]
        self._shift = self._find_shift() if weighted else None
        self._search = EdgeSearch(numeric, collection.n_features, booster.max_bins)
        self._survey = cluster.merge(
            Survey.of_part, self._parts, Survey.join, features, self._shift, self._search.question
        )
        self.classes = self._survey.class_masses()

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features of the collection to train on."""
        return self._survey.n_rows, self._header.shape[1]

    def prepare(self, data: ClassMasses, seed: int) -> tuple[TreeLearner, DaskRows]:
        """Make the weak learner, and the rows that it learns from."""
        categories = self._survey.categories()
        bins = self._find_bins(categories)
        learner = self._make_learner(bins, len(data.classes), seed)
        shards = self._shards = self._make_shards(Coding(self._shift, data.classes, categories, bins), learner)
        if not np.array_equal(shards.masses, data.masses):
            raise changed_rows_error("the classes were counted again")
        rows = DaskRows(shards, len(data.classes))
        self._keep(bins, categories, learner, rows)
        return learner, rows

    def close(self) -> None:
        """Let go of the rows on the workers."""
        if self._shards is not None:
            self._shards.close()

    def _digest_rows(self) -> RowDigest:
        assert self._shards is not None
        return self._shards.digest

    def _find_shift(self) -> int:
        exponents = self._cluster.merge(exponents_of_part, self._parts, join_exponents)
        if not exponents:
            raise no_weight_error("sample_weight")
        return weight_shift(exponents)

    def _find_bins(self, categories: Categories) -> BinMapper:
        """Ask for counts of values until they tell all edges."""
        search = self._search
        parts = [self._parts[location.number] for location in self._survey.locations]
        assert self._survey.tally is not None
        search.learn(self._survey.tally)
        self._check_finite()
        features = list(categories.values)
        while search.question is not None:
            search.learn(self._cluster.merge(count_part, parts, Tally.merge, features, self._shift, search.question))
        kinds = np.where(search.missing, WITH_MISSING, COMPLETE).astype(KIND)
        kinds[features] = CATEGORIES
        return BinMapper(edges_of(search, categories), kinds)

    def _check_finite(self) -> None:
        infinite = np.flatnonzero(self._search.infinite)
        if len(infinite) > 0:
            raise ValueError(
                "Input X contains infinity or a value too large for dtype('float64'), in "
                f"{self._header.source.label(int(infinite[0]))}; replace it by a number, or by NaN where nothing is "
                "known."
            )

    def _make_shards(self, coding: Coding, learner: TreeLearner) -> ShardGroup:
        booster = self._booster
        settings = ShardSettings(
            n_classes=len(coding.classes),
            bin_offsets=coding.bins.bin_offsets,
            counted=learner.counts_rows,
            max_depth=booster.max_depth,
            n_jobs=booster.n_jobs,
            digested=booster.warm_start,
        )
        code, how = delayed(code_part, pure=False), delayed(coding, traverse=False)
        locations = self._survey.locations
        coded = {location.number: code(self._parts[location.number], how) for location in locations}
        return ShardGroup(self._cluster, coded, locations, settings)


def count_part(part: Part, features: list[int], shift: int | None, question: Question) -> Tally:
    """What a question asks of the values of a part."""
    with partition_in_errors(part):
        checked = CheckedPart.read(part, shift)
        table = checked.table.encode(Categories(dict.fromkeys(features, ())))
        return count_keys(table, question, checked.kept_weights, 1)


def code_part(part: Part, coding: Coding) -> CodedRows:
    """The codes of a part."""
    return coding.code(part)


def edges_of(search: EdgeSearch, categories: Categories) -> list[NDArray[np.float64]]:
    """The edges of all features: those between categories are between their numbers."""
    return [
        np.arange(1.5, len(categories.values[f])) if f in categories.values else edges
        for f, edges in enumerate(search.edges)
    ]
