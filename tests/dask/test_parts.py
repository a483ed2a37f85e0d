"""The border to Dask collections: what is cut how, read how often, and refused with which words."""

import sys

import dask
import dask.array as da
import dask.bag
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask import delayed
from distributed import Client, LocalCluster, wait
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

from comboost._distributed.coding import Part
from comboost.dask._parts import is_collection, read_collections

SYNC = {"scheduler": "synchronous"}


def compute(collection):
    return dask.compute(*collection.parts, **SYNC)


def cut(rows, sizes):
    """Rows in pieces of these sizes."""
    return np.split(rows, np.cumsum(sizes)[:-1])


def array_of(rows, sizes):
    return da.from_array(rows, chunks=(tuple(sizes), *((n,) for n in rows.shape[1:])))


def as_it_is(piece):
    return piece


def frame_of(rows, sizes):
    """Dataframe or Series of unknown partition sizes, cut as told."""
    pieces = [pd.DataFrame(p, columns=list("abc")) if p.ndim == 2 else pd.Series(p) for p in cut(rows, sizes)]
    return dd.from_map(as_it_is, pieces, meta=pieces[0].iloc[:0])


def unknown_array_of(rows, sizes):
    return frame_of(rows, sizes).to_dask_array()


CONTAINERS = {"array": array_of, "unknown array": unknown_array_of, "frame": frame_of}


def table(n_samples):
    """X, y and weights that tell each row from the others."""
    numbers = np.arange(n_samples)
    return np.outer(numbers + 0.5, [1.0, 10.0, 100.0]), numbers * 7, numbers / 3


class Source:
    """Partitions of a dataframe, and a record of who asked for which columns of them."""

    def __init__(self, n_samples=6):
        self.frame = pd.DataFrame(dict.fromkeys("abcyw", np.arange(float(n_samples))))
        self.asked = []

    def __call__(self, place, columns=None):
        self.asked.append((place, columns))
        return self.frame if columns is None else self.frame[columns]

    def __dask_tokenize__(self):
        return id(self)

    def read(self, n_partitions):
        return dd.from_map(self.__call__, range(n_partitions), meta=self.frame.iloc[:0])


def poisoned(*_, **__):
    raise AssertionError("a partition was computed")


sizes = st.lists(st.integers(0, 4), min_size=1, max_size=5).filter(any)


@given(
    sizes,
    st.sampled_from(sorted(CONTAINERS)),
    st.sampled_from(sorted(CONTAINERS)),
    st.sampled_from([None, *sorted(CONTAINERS)]),
)
def test_rows_of_a_part_are_those_at_its_place_in_every_container(sizes, X_kind, y_kind, weight_kind):
    X, y, weights = table(sum(sizes))
    given_weights = None if weight_kind is None else CONTAINERS[weight_kind](weights, sizes)
    parts = compute(read_collections(CONTAINERS[X_kind](X, sizes), CONTAINERS[y_kind](y, sizes), given_weights))
    assert [part.number for part in parts] == list(range(len(sizes)))
    for part, rows, labels, weight_sums in zip(parts, cut(X, sizes), cut(y, sizes), cut(weights, sizes), strict=True):
        assert isinstance(part, Part)
        assert isinstance(part.X, pd.DataFrame if X_kind == "frame" else np.ndarray)
        np.testing.assert_array_equal(part.X, rows)
        np.testing.assert_array_equal(part.y, labels)
        if weight_kind is None:
            assert part.sample_weight is None
        else:
            np.testing.assert_array_equal(part.sample_weight, weight_sums)


@given(sizes, st.data())
def test_columns_and_labels_of_known_sizes_are_cut_as_the_rows_are(X_sizes, data):
    X, y, weights = table(sum(X_sizes))
    borders = st.lists(st.integers(0, len(y)), max_size=3).map(
        lambda cuts: np.diff([0, *sorted(cuts), len(y)]).tolist()
    )
    y_sizes, weight_sizes = data.draw(borders), data.draw(borders)
    column_sizes = data.draw(st.sampled_from([(3,), (1, 2), (1, 1, 1)]))
    collection = read_collections(
        da.from_array(X, chunks=(tuple(X_sizes), column_sizes)), array_of(y, y_sizes), array_of(weights, weight_sizes)
    )
    for part, rows, labels, weight_sums in zip(
        compute(collection), cut(X, X_sizes), cut(y, X_sizes), cut(weights, X_sizes), strict=True
    ):
        np.testing.assert_array_equal(part.X, rows)
        np.testing.assert_array_equal(part.y, labels)
        np.testing.assert_array_equal(part.sample_weight, weight_sums)


def test_columns_in_chunks_are_joined_if_row_chunks_are_unknown():
    X, y, _ = table(5)
    parts = compute(read_collections(unknown_array_of(X, [2, 0, 3]).rechunk({1: 1}), array_of(y, [2, 0, 3]), None))
    np.testing.assert_array_equal(np.concatenate([part.X for part in parts]), X)


@pytest.mark.parametrize(
    ("kind", "column_chunk"), [(sparse.csr_matrix, 3), (sparse.csr_matrix, 2), (sparse.csr_array, 3)]
)
def test_sparse_chunks_stay_sparse(kind, column_chunk):
    X, y, _ = table(5)
    chunks = array_of(X, [2, 3]).rechunk({1: column_chunk}).map_blocks(kind)
    parts = compute(read_collections(chunks, array_of(y, [2, 3]), None))
    assert all(sparse.issparse(part.X) for part in parts)
    np.testing.assert_array_equal(np.concatenate([part.X.toarray() for part in parts]), X)


def test_rows_belong_together_by_position_whatever_their_index_says():
    X = dd.from_pandas(pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0]}, index=[0, 1, 2, 3]), npartitions=2)
    y = dd.from_pandas(pd.Series([10, 11, 12, 13], index=[50, 60, 70, 80]), npartitions=2)
    assert X.known_divisions
    assert y.known_divisions
    assert [part.y.tolist() for part in compute(read_collections(X, y, None))] == [[10, 11], [12, 13]]


def test_header_has_the_columns_of_the_rows_and_none_of_the_rows():
    pieces = pd.DataFrame({"a": np.float32([1, 2]), "kind": pd.Categorical(["x", "y"]), "y": [0, 1]})
    frame = dd.from_pandas(pieces, npartitions=2)
    of_frame = read_collections(frame[["kind", "a"]], frame["y"], None)
    assert (len(of_frame.header), of_frame.n_features) == (0, 2)
    assert of_frame.header.dtypes.to_dict() == pieces[["kind", "a"]].dtypes.to_dict()
    of_array = read_collections(da.zeros((4, 3), chunks=(2, 1), dtype=np.float32), da.zeros(4, chunks=4), None)
    assert (of_array.header.shape, of_array.header.dtype, of_array.n_features) == ((0, 3), np.float32, 3)


def test_dataframes_from_one_source_read_each_partition_once_and_only_the_columns_in_use():
    source = Source()
    frame = source.read(3)
    collection = read_collections(frame[["a", "b"]], frame["y"].astype(int), frame["w"] * 2)
    assert source.asked == []
    compute(collection)
    assert sorted(place for place, _ in source.asked) == [0, 1, 2]
    assert all(set(columns) == {"a", "b", "y", "w"} for _, columns in source.asked)


def test_dataframes_from_one_source_read_each_partition_once_beside_an_array():
    source = Source()
    frame = source.read(2)
    parts = compute(read_collections(frame.drop(columns=["y", "w"]), da.arange(12, chunks=6), frame["w"]))
    assert sorted(place for place, _ in source.asked) == [0, 1]
    assert parts[1].y.tolist() == [6, 7, 8, 9, 10, 11]


def test_arrays_from_one_source_read_each_chunk_once():
    asked = []

    def load(block_id):
        asked.append(block_id)
        return np.full((2, 4), block_id[0])

    source = da.map_blocks(load, chunks=((2, 2, 2), (4,)), dtype=int, meta=np.empty((0, 0), dtype=int))
    parts = compute(read_collections(source[:, :3], source[:, 3], source.sum(axis=1)))
    assert sorted(asked) == [(0, 0), (1, 0), (2, 0)]
    assert [part.y.tolist() for part in parts] == [[0, 0], [1, 1], [2, 2]]


@pytest.mark.parametrize("filesystem", ["fsspec", "arrow"])
@pytest.mark.filterwarnings("ignore:The inplace keyword")  # Dask's own, with pandas 3.1
def test_parquet_files_of_different_widths_stay_the_partitions_that_they_are(tmp_path, filesystem):
    numbers = np.arange(40.0)
    wide = pd.DataFrame(dict.fromkeys("abcdefgh", numbers))
    narrow = pd.DataFrame({"y": numbers, "rest": numbers})
    for name, frame in (("X", wide), ("y", narrow)):
        (tmp_path / name).mkdir()
        for place in range(10):
            frame[4 * place : 4 * place + 4].to_parquet(tmp_path / name / f"{place:02}.parquet")
    X = dd.read_parquet(tmp_path / "X", filesystem=filesystem)[["a", "b"]]
    y = dd.read_parquet(tmp_path / "y", filesystem=filesystem)["y"] + 0
    parts = compute(read_collections(X, y, None))
    assert len(parts) == 10
    assert all((part.X["a"].to_numpy() == part.y.to_numpy()).all() for part in parts)


def test_nothing_is_computed_before_the_parts_are():
    frame = dd.from_map(poisoned, range(2), meta=Source().frame.iloc[:0])
    array = da.map_blocks(poisoned, chunks=((3, 3), (2, 2)), dtype=float, meta=np.empty((0, 0)))
    for X in (frame[["a", "b"]], array):
        for y in (frame["y"], array[:, 0]):
            assert len(read_collections(X, y, y).parts) == 2


def test_persisted_rows_outlive_their_source(tmp_path):
    rows = Source().frame
    paths = [tmp_path / name for name in ("first", "second")]
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        for path in paths:
            rows.to_pickle(path)
        source = dd.from_map(pd.read_pickle, paths, meta=rows.iloc[:0])
        frame, array = source.persist(), source.to_dask_array(lengths=[6, 6]).persist()
        wait([frame, array])
        for path in paths:
            path.unlink()
        for X, y in ((frame[["a"]], frame["y"]), (array, array[:, 3]), (frame[["a"]], array[:, 3])):
            parts = client.gather(client.compute(read_collections(X, y, None).parts))
            assert [part.y.tolist() for part in parts] == [rows["y"].tolist()] * 2


def test_a_column_of_labels_is_taken_for_labels_with_the_warning_of_scikit_learn():
    X, y, _ = table(4)
    for column in (array_of(y[:, None], [2, 2]), unknown_array_of(y, [2, 2])[:, None], frame_of(y, [2, 2]).to_frame()):
        with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
            collection = read_collections(array_of(X, [2, 2]), column, None)
        assert [part.y.tolist() for part in compute(collection)] == [[0, 7], [14, 21]]


X3, Y3, W3 = da.zeros((6, 3), chunks=(2, 3)), da.zeros(6, chunks=2), da.ones(6, chunks=2)
F3 = frame_of(np.zeros((6, 3)), [2, 2, 2])
LOCAL = "give a Dask array or dataframe, or use CoMBoClassifier or AdaBoostMMClassifier, which take local tables"


@pytest.mark.parametrize(
    ("X", "y", "weights", "error", "message"),
    [
        (np.zeros((6, 3)), Y3, None, TypeError, f"^X is a numpy.ndarray; {LOCAL}"),
        ([[0.0]], Y3, None, TypeError, f"^X is a list; {LOCAL}"),
        (pd.DataFrame({"a": [1]}), Y3, None, TypeError, rf"^X is a pandas\.\S*DataFrame; {LOCAL}"),
        (dask.bag.from_sequence([1]), Y3, None, TypeError, f"^X is a dask.bag.core.Bag; {LOCAL}"),
        (delayed(np.zeros)((6, 3)), Y3, None, TypeError, f"^X is a dask.delayed.Delayed; {LOCAL}"),
        (None, Y3, None, TypeError, f"^X is a NoneType; {LOCAL}"),
        (X3, np.zeros(6), None, TypeError, f"^y is a numpy.ndarray; {LOCAL}"),
        (X3, Y3, [1.0] * 6, TypeError, f"^sample_weight is a list; {LOCAL}"),
        (X3, None, None, ValueError, "the target y is None"),
        (Y3, Y3, None, ValueError, "^X is a Dask Array of 1 dimension"),
        (X3[None], Y3, None, ValueError, "^X is a Dask Array of 3 dimension"),
        (F3["a"], Y3, None, ValueError, "^X is a Dask Series of 1 dimension"),
        (X3[:, :0], Y3, None, ValueError, r"Found array with 0 feature\(s\): X has no columns"),
        (F3[[]], Y3, None, ValueError, r"Found array with 0 feature\(s\): X has no columns"),
        (X3[:0], Y3[:0], None, ValueError, r"Found array with 0 sample\(s\): X has no rows"),
        (X3[:, X3[0] > 0], Y3, None, ValueError, "^X has an unknown number of columns"),
        (X3, X3, None, ValueError, r"^y is a Dask Array of shape \(6, 3\)"),
        (X3, F3[["a", "b"]], None, ValueError, r"^y is a Dask DataFrame of shape \(rows, 2\)"),
        (X3, Y3, W3[:, None], ValueError, r"^sample_weight is a Dask Array of shape \(6, 1\)"),
        (X3, Y3, F3[["a"]], ValueError, r"^sample_weight is a Dask DataFrame of shape \(rows, 1\)"),
        (X3, Y3[:5], None, ValueError, "X has 6 rows, y has 5"),
        (X3, Y3, da.ones(7, chunks=7), ValueError, "X has 6 rows, sample_weight has 7"),
        (F3, Y3.rechunk(3), None, ValueError, "^X has 3 partitions and y has 2, .* compute_chunk_sizes"),
        (F3, Y3.rechunk(6), None, ValueError, "^X has 3 partitions and y has 1, "),
        (X3.rechunk(6), F3["a"], None, ValueError, "^X has 1 partitions and y has 3, "),
        (X3, Y3, F3["a"].repartition(npartitions=1), ValueError, "^X has 3 partitions and sample_weight has 1, "),
    ],
)
def test_what_cannot_be_used_is_refused_at_once_and_by_name(X, y, weights, error, message):
    with pytest.raises(error, match=message):
        read_collections(X, y, weights)


@pytest.mark.parametrize("X", [F3, X3, F3.to_dask_array()], ids=["frame", "array", "unknown array"])
@pytest.mark.parametrize("short", [frame_of, unknown_array_of])
def test_partitions_of_different_lengths_are_refused_where_they_meet(X, short):
    column = short(np.zeros(6), [2, 3, 1])
    with pytest.raises(ValueError, match=r"^Partition 1 of X has 2 rows, but that of y has 3, of shape"):
        dask.compute(read_collections(X, column, None).parts[1], **SYNC)
    y = short(np.zeros(6), [2, 2, 2])
    with pytest.raises(ValueError, match=r"^Partition 2 of X has 2 rows, but that of sample_weight has 1, of shape"):
        dask.compute(read_collections(X, y, column).parts[2], **SYNC)


def test_partitions_with_other_columns_than_the_metadata_says_are_refused():
    honest, y = pd.DataFrame({"a": [0.0], "b": [1.0]}), da.zeros(2, chunks=1)

    def first_part_is_honest(rows):
        frame = dd.from_map(as_it_is, [honest, rows], meta=honest.iloc[:0])
        parts = read_collections(frame, y, None).parts
        parts[0].compute(**SYNC)
        return parts[1]

    with pytest.raises(ValueError, match=r"^Partition 1 of X has the columns \['b', 'a'\], .* they are \['a', 'b'\]"):
        first_part_is_honest(honest[["b", "a"]]).compute(**SYNC)
    with pytest.raises(ValueError, match=r"^Partition 1 of X has the shape \(1, 1\), .* 2 column"):
        first_part_is_honest(honest[["a"]]).compute(**SYNC)
    liar = da.zeros((2, 3), chunks=(1, 3)).map_blocks(lambda rows: rows[:, :2], dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(ValueError, match=r"^Partition 0 of X has the shape \(1, 2\), .* 3 column"):
        read_collections(liar, y, None).parts[0].compute(**SYNC)


def test_only_arrays_and_dataframes_of_dask_are_collections():
    assert all(is_collection(X) for X in (X3, Y3, F3, F3["a"]))
    assert not any(is_collection(X) for X in (np.zeros(3), [1], F3.head(1), delayed(1), dask.bag.from_sequence([1])))


def test_arrays_are_read_without_importing_dataframes(monkeypatch):
    monkeypatch.setitem(sys.modules, "dask.dataframe", None)
    (part,) = compute(read_collections(da.zeros((4, 2)), da.zeros(4), None))
    assert part.X.shape == (4, 2)
