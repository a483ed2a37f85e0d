"""Lazy predictions: for every partition what the local model says, and nothing before it is asked for."""

import pickle

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from comboost import CoMBoClassifier
from comboost.dask._predicting import map_rows

METHODS = ["predict", "predict_proba", "predict_log_proba", "decision_function"]
SYNC = {"scheduler": "synchronous"}
NAMES = ["a", "b", "c"]
ROWS = np.random.default_rng(0).normal(size=(40, 3))
LABELS = {2: np.where(ROWS[:, 0] > 0, "yes", "no"), 3: np.digitize(ROWS.sum(axis=1), [-1.0, 1.0])}
MODELS = {n: CoMBoClassifier(n_estimators=5, n_jobs=1).fit(ROWS, y) for n, y in LABELS.items()}
FRAME_MODELS = {
    n: CoMBoClassifier(n_estimators=5, n_jobs=1).fit(pd.DataFrame(ROWS, columns=NAMES), y) for n, y in LABELS.items()
}


def as_it_is(piece):
    return piece


def poisoned(*_, **__):
    raise AssertionError("a partition was computed")


def frame_of(rows, sizes):
    pieces = [pd.DataFrame(piece, columns=NAMES) for piece in np.split(rows, np.cumsum(sizes)[:-1])]
    return dd.from_map(as_it_is, pieces, meta=pieces[0].iloc[:0])


sizes = st.lists(st.integers(0, 4), min_size=1, max_size=4)


@given(sizes, st.sampled_from([(3,), (2, 1)]), st.sampled_from(METHODS), st.sampled_from([2, 3]))
@settings(max_examples=30)
def test_arrays_are_predicted_as_their_rows_are(sizes, column_sizes, method, n_classes):
    model, rows = MODELS[n_classes], ROWS[: sum(sizes)]
    result = map_rows(da.from_array(rows, chunks=(tuple(sizes), column_sizes)), model, method)
    expected = getattr(model, method)(ROWS)[: sum(sizes)]
    assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
    assert result.chunks == (tuple(sizes), *((n,) for n in expected.shape[1:]))
    values = result.compute(**SYNC)
    assert (values.shape, values.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_array_equal(values, expected)


@given(sizes, st.sampled_from(METHODS), st.sampled_from([2, 3]))
@settings(max_examples=20)
def test_dataframes_are_predicted_as_their_rows_are(sizes, method, n_classes):
    model = FRAME_MODELS[n_classes]
    result = map_rows(frame_of(ROWS[: sum(sizes)], sizes), model, method)
    expected = getattr(model, method)(pd.DataFrame(ROWS, columns=NAMES))[: sum(sizes)]
    assert result.dtype == expected.dtype
    assert np.isnan(result.chunks[0]).all()
    assert result.numblocks == (len(sizes), *(1 for _ in expected.shape[1:]))
    assert result.shape[1:] == expected.shape[1:]
    blocks = dask.compute(*result.to_delayed().ravel(), **SYNC)
    assert [len(block) for block in blocks] == sizes
    assert all(block.dtype == expected.dtype for block in blocks)
    np.testing.assert_array_equal(np.concatenate(blocks), expected)
    np.testing.assert_array_equal(result.compute(**SYNC), expected)


@pytest.mark.parametrize("method", METHODS)
def test_sparse_chunks_and_unknown_sizes_are_predicted_as_their_rows_are(method):
    array = da.from_array(ROWS, chunks=(15, 2))
    for X in (array.map_blocks(sparse.csr_matrix), array[array[:, 0] < np.inf]):
        values = map_rows(X, MODELS[3], method).compute(**SYNC)
        np.testing.assert_array_equal(values, getattr(MODELS[3], method)(ROWS))


@pytest.mark.parametrize("method", METHODS)
def test_no_partition_is_computed_before_the_prediction_is(method):
    frame = dd.from_map(poisoned, range(2), meta=pd.DataFrame(columns=NAMES, dtype=float))
    array = da.map_blocks(poisoned, chunks=((2, 2), (3,)), dtype=float, meta=np.empty((0, 0)))
    for X, model in ((frame, FRAME_MODELS[3]), (array, MODELS[3])):
        result = map_rows(X, model, method)
        with pytest.raises(AssertionError, match="a partition was computed"):
            result.compute(**SYNC)


@pytest.mark.parametrize("X", [da.from_array(ROWS, chunks=(1, 3)), frame_of(ROWS, [1] * 40)], ids=["array", "frame"])
def test_model_is_in_the_graph_once_for_any_number_of_partitions(X):
    model = MODELS[3] if isinstance(X, da.Array) else FRAME_MODELS[3]
    (result,) = dask.optimize(map_rows(X, model, "predict"))
    trees = model._forest.nodes.tobytes()
    assert sum(pickle.dumps(task).count(trees) for task in dict(result.dask).values()) == 1


@pytest.mark.parametrize("n_features", [2, 4])
def test_another_number_of_features_is_refused_at_once_with_the_words_of_scikit_learn(n_features):
    with pytest.raises(ValueError, match=f"X has {n_features} features, but CoMBoClassifier is expecting 3 features"):
        map_rows(da.zeros((4, n_features), chunks=(2, 1)), MODELS[3], "predict")


def test_other_names_of_features_are_refused_at_once_with_the_words_of_scikit_learn():
    with pytest.raises(ValueError, match="The feature names should match those that were passed during fit"):
        map_rows(frame_of(ROWS, [20, 20])[["b", "a", "c"]], FRAME_MODELS[3], "predict")


def test_only_tables_of_dask_are_predicted():
    with pytest.raises(TypeError, match=r"^X is a numpy.ndarray; give a Dask array or dataframe"):
        map_rows(ROWS, MODELS[3], "predict")
    with pytest.raises(ValueError, match=r"^X is a Dask Array of 1 dimension"):
        map_rows(da.zeros(3), MODELS[3], "predict")
