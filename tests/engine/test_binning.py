"""Bins: exact quantiles of integer weights, whatever the order of the rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import quantised_reference
from strategies import feature_matrices

from comboost._data.categories import Categories
from comboost._data.tables import ArraySource, RawTable
from comboost._engine.binning import BinMapper


def table_of(X):
    return RawTable(ArraySource(X)).encode(Categories())


@st.composite
def columns_with_weights(draw):
    n_samples = draw(st.integers(1, 60))
    X = draw(feature_matrices(n_samples, 1))
    weights = draw(st.none() | st.lists(st.integers(1, 9), min_size=n_samples, max_size=n_samples))
    return X, None if weights is None else np.array(weights, dtype=np.uint32)


@given(drawn=columns_with_weights(), max_bins=st.integers(2, 255))
def test_edges_and_codes_equal_the_twin(drawn, max_bins):
    X, weights = drawn
    mapper = BinMapper.fit(table_of(X), Categories(), weights, max_bins)
    column = [float(value) for value in X[:, 0]]
    ones = [1] * len(column) if weights is None else weights.tolist()
    expected = quantised_reference.bin_edges(column, ones, max_bins)
    assert mapper.edges[0].tolist() == expected
    assert mapper.transform(table_of(X))[0].tolist() == [
        quantised_reference.encode(value, expected) for value in column
    ]


@given(drawn=columns_with_weights(), max_bins=st.integers(2, 8))
def test_edges_separate_neighbours_and_are_as_many_as_allowed(drawn, max_bins):
    X, weights = drawn
    edges = BinMapper.fit(table_of(X), Categories(), weights, max_bins).edges[0]
    distinct = np.unique(X.astype(np.float64) + 0.0)
    assert len(edges) <= max_bins - 1
    if len(distinct) <= max_bins:
        assert len(edges) == len(distinct) - 1
        assert ((distinct[:-1] <= edges) & (edges < distinct[1:])).all()
    assert np.isfinite(edges).all()
    assert (np.diff(edges) > 0).all()


def test_few_distinct_values_are_cut_at_midpoints():
    X = np.array([[3.0], [1.0], [2.0], [1.0]])
    assert BinMapper.fit(table_of(X), Categories(), None, 255).edges[0].tolist() == [1.5, 2.5]


def test_many_distinct_values_are_cut_at_quantiles():
    X = np.arange(1000.0).reshape(-1, 1)
    codes = BinMapper.fit(table_of(X), Categories(), None, 10).transform(table_of(X))[0]
    assert np.bincount(codes).tolist() == [100] * 10


def test_constant_column_has_one_bin():
    X = np.full((5, 1), 7.0)
    mapper = BinMapper.fit(table_of(X), Categories(), None, 255)
    assert mapper.bin_offsets.tolist() == [0, 1]
    assert mapper.transform(table_of(X)).tolist() == [[0] * 5]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_all_255_bins_are_used_and_code_255_is_not(dtype):
    X = np.random.default_rng(0).normal(size=(5000, 2)).astype(dtype)
    mapper = BinMapper.fit(table_of(X), Categories(), None, 255)
    assert mapper.bin_offsets.tolist() == [0, 255, 510]
    assert mapper.transform(table_of(X)).max() == 254


def test_bins_are_the_same_for_any_number_of_threads():
    X = np.random.default_rng(0).normal(size=(5000, 20))
    one, two = (BinMapper.fit(table_of(X), Categories(), None, 255, n_threads) for n_threads in (1, 2))
    np.testing.assert_array_equal(one.flat_edges, two.flat_edges)
    np.testing.assert_array_equal(one.transform(table_of(X), 1), two.transform(table_of(X), 2))
