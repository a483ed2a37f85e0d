import gzip
import hashlib
import sys
from collections import Counter
from dataclasses import replace
from importlib import resources

import numpy as np
import pandas as pd
import pytest

from comboost.datasets import _loading, load_dataset, load_yeast
from comboost.datasets._records import RECORDS

# the paper's table, as DESIGN.md section 7 has it
CLASS_COUNTS = {
    "yeast": {
        "CYT": 463, "NUC": 429, "MIT": 244, "ME3": 163, "ME2": 51, "ME1": 44, "EXC": 35, "VAC": 30, "POX": 20, "ERL": 5
    }
}  # fmt: skip
N_FEATURES = {"yeast": 8}

every_dataset = pytest.mark.parametrize("name", sorted(RECORDS))


def read_bundled(name):
    return (resources.files("comboost.datasets") / "data" / name).read_bytes()


@every_dataset
def test_class_counts_are_those_of_the_paper(name):
    assert Counter(load_dataset(name).target.tolist()) == CLASS_COUNTS[name]


@every_dataset
def test_data_is_a_finite_table_of_floats_with_one_name_per_column(name):
    dataset = load_dataset(name)
    assert dataset.data.dtype == np.float64
    assert dataset.data.shape == (sum(CLASS_COUNTS[name].values()), N_FEATURES[name])
    assert np.isfinite(dataset.data).all()
    assert len(set(dataset.feature_names)) == N_FEATURES[name]


@every_dataset
def test_target_names_are_the_sorted_classes(name):
    assert load_dataset(name).target_names.tolist() == sorted(CLASS_COUNTS[name])


@every_dataset
def test_description_names_every_feature_and_class(name):
    dataset = load_dataset(name)
    for word in [*dataset.feature_names, *dataset.target_names]:
        assert word in dataset.DESCR


@every_dataset
def test_notice_names_every_bundled_file(name):
    assert RECORDS[name].filename in read_bundled("NOTICE").decode("ascii")


@every_dataset
def test_bundled_file_carries_no_time_stamp_and_no_file_name(name):
    header = read_bundled(RECORDS[name].filename)[:10]
    flags, time_stamp = header[3], header[4:8]
    assert flags == 0
    assert time_stamp == bytes(4)


@every_dataset
def test_frame_holds_the_same_values_as_the_arrays(name):
    arrays, frames = load_dataset(name), load_dataset(name, as_frame=True)
    assert arrays.frame is None
    assert list(frames.data.columns) == arrays.feature_names
    np.testing.assert_array_equal(frames.data.to_numpy(), arrays.data)
    np.testing.assert_array_equal(frames.target.to_numpy(), arrays.target)
    pd.testing.assert_frame_equal(frames.frame, frames.data.assign(target=frames.target))


@pytest.mark.parametrize("as_frame", [False, True])
def test_return_X_y_gives_data_and_target_of_the_bunch(as_frame):
    X, y = load_yeast(return_X_y=True, as_frame=as_frame)
    dataset = load_yeast(as_frame=as_frame)
    assert type(X) is type(dataset.data)
    assert type(y) is type(dataset.target)
    np.testing.assert_array_equal(X, dataset.data)
    np.testing.assert_array_equal(y, dataset.target)


def test_yeast_keeps_the_order_and_values_of_the_repository():
    yeast = load_yeast()
    assert yeast.feature_names == ["mcg", "gvh", "alm", "mit", "erl", "pox", "vac", "nuc"]
    assert yeast.data[0].tolist() == [0.58, 0.61, 0.47, 0.13, 0.5, 0.0, 0.48, 0.22]
    assert yeast.target[[0, 3, -1]].tolist() == ["MIT", "NUC", "CYT"]


def test_every_load_is_a_fresh_copy():
    load_yeast().data[:] = -1.0
    assert (load_yeast().data >= 0).all()


def test_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"Unknown data set 'yeats'\. Known data sets: .*'yeast'"):
        load_dataset("yeats")


@pytest.fixture
def bundle(tmp_path, monkeypatch):
    """A folder to stand for the installed package, and a way to put a file there."""
    monkeypatch.setattr(_loading.resources, "files", lambda _package: tmp_path)
    (tmp_path / "data").mkdir()
    return lambda content: (tmp_path / "data" / "yeast.csv.gz").write_bytes(content)


def test_one_flipped_bit_anywhere_is_found(bundle):
    intact = gzip.compress(b"a,target\n1,x\n2,y\n", mtime=0)
    record = replace(RECORDS["yeast"], sha256=hashlib.sha256(intact).hexdigest())
    bundle(intact)
    assert _loading._read_rows(record) == [["a", "target"], ["1", "x"], ["2", "y"]]
    for place in range(len(intact)):
        damaged = bytearray(intact)
        damaged[place] ^= 1
        bundle(bytes(damaged))
        with pytest.raises(OSError, match=r"yeast\.csv\.gz of the data set 'yeast' is damaged.*Install comboost again"):
            _loading._read_rows(record)


@pytest.mark.parametrize(
    "content",
    [b"", b"not a gzip file", gzip.compress(b"mcg,target\n0.5,CYT\n", mtime=0)],
    ids=["empty", "no gzip", "other rows"],
)
def test_another_file_in_place_of_the_bundled_one_is_refused(bundle, content):
    bundle(content)
    with pytest.raises(OSError, match="is damaged"):
        load_yeast()


@pytest.mark.usefixtures("bundle")
def test_missing_file_is_named():
    with pytest.raises(FileNotFoundError, match=r"yeast\.csv\.gz of the data set 'yeast' is missing"):
        load_yeast()


def test_frames_without_pandas_say_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        load_yeast(as_frame=True)


def test_arrays_need_no_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert load_yeast().data.shape == (1484, 8)
