"""Features that share a code: their histograms are those of every feature for itself."""

import math
from itertools import chain, pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from models import model_bytes

from comboost import CoMBoClassifier, ConfusionBoostingClassifier, _core
from comboost._engine.losses import Loss
from comboost._engine.memory_plan import FitShape
from comboost._engine.rows import ShardRows

LABEL, WEIGHT = np.uint16, np.uint32


def make_grower(n_bins, n_classes, counted=False):
    """What grows trees on features of so many bins."""
    edges = np.concatenate([np.arange(size - 1.0) for size in n_bins])
    return _core.Grower(
        np.concatenate([[0], np.cumsum(n_bins)]),
        np.zeros(len(n_bins), dtype=np.uint8),
        edges,
        np.concatenate([[0], np.cumsum(np.asarray(n_bins) - 1)]),
        n_classes,
        by_cost=False,
        min_samples_leaf=1 + counted,
        min_weight_fraction_leaf=0.0,
        max_features=len(n_bins),
        seed=0,
    )


def bundles_of(codes, n_bins):
    """The features that share a code."""
    labels, unit = np.zeros(codes.shape[1], dtype=LABEL), np.ones((2, 2)) - np.eye(2)
    return _core.BinnedRows(
        labels, None, unit, None, 0, False, make_grower(n_bins, 2), codes, 2**28, 1.0, 2**19, 1
    ).bundles


@st.composite
def coded_tables(draw):
    """Codes of features with few and many bins, some crowded, and what their rows cost."""
    n_bins = np.array(draw(st.lists(st.sampled_from([1, 2, 2, 3, 3, 5, 16, 17, 255]), min_size=1, max_size=12)))
    n_samples = draw(st.sampled_from([1, 30, 400, 5000, 9000]))
    n_classes = draw(st.sampled_from([2, 3, 4, 5, 9, 14]))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    skew = draw(st.sampled_from([1.0, 4.0, 50.0]))
    codes = (n_bins[:, np.newaxis] * random.random((len(n_bins), n_samples)) ** skew).astype(np.uint8)
    labels = random.integers(0, n_classes, n_samples).astype(LABEL)
    weights = random.integers(1, 1000, n_samples).astype(WEIGHT) if draw(st.booleans()) else None
    factors = random.integers(0, 2**20, (n_classes, n_classes)) * (1.0 - np.eye(n_classes))
    return codes, np.concatenate([[0], np.cumsum(n_bins)]), labels, weights, factors, draw(st.booleans())


def records_of(labels, weights, factors, counted, width):
    """What a row adds to its bins."""
    units = factors.astype(np.int64)
    units -= np.diag(units.sum(axis=1))
    n_classes = len(units)
    rows = np.zeros((len(labels), width), dtype=np.int64)
    rows[:, : n_classes - 1] = units[labels, :-1]
    rows[:, n_classes - 1] = -units[labels, labels]
    if weights is not None:
        rows *= weights[:, np.newaxis]
    if counted:
        rows[:, n_classes] = 1
    return rows


def count_slowly(codes, bin_offsets, records):
    histogram = np.zeros((bin_offsets[-1], records.shape[1]), dtype=np.int64)
    for column, first in zip(codes, bin_offsets[:-1], strict=True):
        np.add.at(histogram, first + column.astype(np.intp), records)
    return histogram


@settings(max_examples=30, deadline=None)
@given(coded_tables(), st.integers(1, 3), st.booleans())
def test_histograms_are_those_of_every_feature_for_itself(table, n_threads, wide):
    codes, bin_offsets, labels, weights, factors, counted = table
    grower = make_grower(np.diff(bin_offsets), len(factors), counted)
    rows = ShardRows(labels, weights, Loss(factors, None, 0), codes, grower, n_threads)
    _core.allow_wide_vectors(wide)
    try:
        rows.quantise(None, None, 0)
        root = rows.count(np.zeros(1, dtype=np.int32))
        split = np.zeros((1, 11), dtype=np.int32)  # of the root by the first code of the first feature
        rows.split(split)
        children = rows.count(np.array([1, 2], dtype=np.int32))
    finally:
        _core.allow_wide_vectors(True)
    records = records_of(labels, weights, factors, counted, root.shape[2])
    goes_left = codes[0] == 0
    np.testing.assert_array_equal(root[0], count_slowly(codes, bin_offsets, records))
    for child, side in zip(children, (goes_left, ~goes_left), strict=True):
        np.testing.assert_array_equal(child, count_slowly(codes[:, side], bin_offsets, records[side]))


@given(st.lists(st.integers(1, 40), min_size=1, max_size=60))
def test_features_of_few_bins_share_a_code_in_their_order_as_long_as_it_has_room(n_bins):
    codes = np.zeros((len(n_bins), 1000), dtype=np.uint8)
    bundles = bundles_of(codes, n_bins)
    assert sorted(chain.from_iterable(bundles)) == list(range(len(n_bins)))
    few = [bundle for bundle in bundles if n_bins[bundle[0]] <= 16]
    assert list(chain.from_iterable(few)) == [f for f, size in enumerate(n_bins) if size <= 16]
    for bundle in bundles:
        assert len(bundle) == 1 or math.prod(n_bins[f] for f in bundle) <= 256
    for bundle, following in pairwise(few):
        assert math.prod(n_bins[f] for f in (*bundle, following[0])) > 256
    n_shared = sum(len(bundle) > 1 for bundle in bundles)
    assert n_shared <= FitShape(1000, len(n_bins), 3, sum(n_bins)).n_shared_codes


def test_too_few_rows_share_no_codes():
    assert bundles_of(np.zeros((8, 20), dtype=np.uint8), [2] * 8) == [[f] for f in range(8)]


@pytest.mark.parametrize("classifier", [CoMBoClassifier, ConfusionBoostingClassifier])
@pytest.mark.parametrize("weighted", [False, True])
def test_models_are_those_without_shared_codes(classifier, weighted):
    random = np.random.default_rng(0)
    X = random.integers(1, 3, (3000, 12)) * (random.random((3000, 12)) < 0.09)
    y = (X[:, 0] + X[:, 1] + X[:, 2] + X[:, 3] + random.normal(size=len(X))).clip(0, 4) // 2
    weights = random.uniform(size=len(X)) if weighted else None
    model = classifier(n_estimators=8, max_depth=4, n_jobs=2)
    shared = model_bytes(model.fit(X, y, weights))
    assert model_bytes(model.fit(sp.csr_array(X), y, weights)) == shared  # the entries of sparse tables share no codes
