import gzip
import hashlib
import inspect
import itertools
import sys
from collections import Counter
from dataclasses import replace
from functools import cache
from importlib import resources
from pathlib import Path
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import NearestCentroid
from sklearn.utils import Bunch

import comboost.datasets
from comboost.datasets import (
    _connect4,
    _loaders,
    load_balance,
    load_car,
    load_connect4,
    load_dataset,
    load_nursery,
    load_satimage,
    load_yeast,
    make_imbalanced,
)
from comboost.datasets._records import CONNECT4, RECORDS, find_record

# The paper's table.
CLASS_COUNTS = {
    "new-thyroid": {"normal": 150, "hyper": 35, "hypo": 30},
    "balance": {"L": 288, "R": 288, "B": 49},
    "car": {"unacc": 1210, "acc": 384, "good": 69, "vgood": 65},
    "nursery-s": {"not_recom": 4320, "priority": 4266, "spec_prior": 4044, "very_recom": 328},
    "glass": {
        "building_windows_non_float_processed": 76, "building_windows_float_processed": 70, "headlamps": 29,
        "vehicle_windows_float_processed": 17, "containers": 13, "tableware": 9
    },
    "ecoli": {"cp": 143, "im": 77, "pp": 52, "imU": 35, "om": 20},
    "yeast": {
        "CYT": 463, "NUC": 429, "MIT": 244, "ME3": 163, "ME2": 51, "ME1": 44, "EXC": 35, "VAC": 30, "POX": 20, "ERL": 5
    },
    "satimage": {
        "red soil": 1533, "very damp grey soil": 1508, "grey soil": 1358, "soil with vegetation stubble": 707,
        "cotton crop": 703, "damp grey soil": 626
    },
}  # fmt: skip
CONNECT4_COUNTS = {"win": 44473, "loss": 16635, "draw": 6449}
N_FEATURES = {
    "new-thyroid": 5, "balance": 4, "car": 6, "nursery-s": 8, "glass": 9, "ecoli": 7, "yeast": 8, "satimage": 36
}  # fmt: skip
ORDINAL = {
    "car": {"buying", "maint", "doors", "persons", "lug_boot", "safety"},
    "nursery-s": {"parents", "has_nurs", "children", "housing", "finance", "social"},
}
NOMINAL = {"nursery-s": {"form", "health"}}
WHOLE_NUMBERS = {  # how many columns
    "new-thyroid": 1, "balance": 4, "satimage": 36
}  # fmt: skip

read = cache(load_dataset)  # for those who change nothing
every_dataset = pytest.mark.parametrize("name", sorted(RECORDS))


def read_bundled(name):
    return (resources.files("comboost.datasets") / "data" / name).read_bytes()


def codes_of(frame):
    """The numbers of a frame, with codes for categories."""
    columns = [column.cat.codes if column.dtype == "category" else column for _, column in frame.items()]
    return np.column_stack(columns).astype(np.float64)


@every_dataset
def test_class_counts_are_those_of_the_paper(name):
    assert Counter(read(name).target.tolist()) == CLASS_COUNTS[name]


@every_dataset
def test_data_is_a_finite_table_of_floats_with_one_name_per_column(name):
    dataset = read(name)
    assert dataset.data.dtype == np.float64
    assert dataset.data.shape == (sum(CLASS_COUNTS[name].values()), N_FEATURES[name])
    assert np.isfinite(dataset.data).all()
    assert len(set(dataset.feature_names)) == N_FEATURES[name]


@every_dataset
def test_target_names_are_the_sorted_classes(name):
    assert read(name).target_names.tolist() == sorted(CLASS_COUNTS[name])


@every_dataset
def test_description_names_every_feature_class_count_and_category(name):
    dataset = read(name)
    words = dataset.DESCR.replace(",", " ").replace(":", " ").split()
    assert {*dataset.feature_names, *map(str, CLASS_COUNTS[name].values())} <= set(words)
    assert all(class_name in dataset.DESCR for class_name in dataset.target_names)
    for values in dataset.categories.values():
        assert ", ".join(values) in dataset.DESCR


@every_dataset
def test_notice_names_every_bundled_file(name):
    notice = read_bundled("NOTICE").decode("ascii")
    assert RECORDS[name].filename in notice
    doi = next(word for word in read(name).DESCR.split() if "doi.org" in word).strip("(),.")
    assert doi in notice


@every_dataset
def test_bundled_file_carries_no_time_stamp_and_no_file_name(name):
    header = read_bundled(RECORDS[name].filename)[:10]
    flags, time_stamp = header[3], header[4:8]
    assert flags == 0
    assert time_stamp == bytes(4)


def test_bundle_holds_nothing_else_and_stays_below_one_megabyte():
    folder = resources.files("comboost.datasets") / "data"
    sizes = {file.name: len(file.read_bytes()) for file in folder.iterdir()}
    assert set(sizes) == {"NOTICE", *(record.filename for record in RECORDS.values())}
    assert sum(sizes.values()) < 1_000_000


@every_dataset
def test_frame_holds_the_same_values_as_the_arrays(name):
    arrays, frames = read(name), read(name, as_frame=True)
    assert arrays.frame is None
    assert list(frames.data.columns) == arrays.feature_names
    np.testing.assert_array_equal(codes_of(frames.data), arrays.data)
    np.testing.assert_array_equal(frames.target.to_numpy(), arrays.target)
    pd.testing.assert_frame_equal(frames.frame, frames.data.assign(target=frames.target))


@every_dataset
def test_categories_are_ordered_where_the_attribute_is_ordinal(name):
    dataset = read(name, as_frame=True)
    dtypes = {column: dtype for column, dtype in dataset.data.dtypes.items() if dtype == "category"}
    assert {column for column, dtype in dtypes.items() if dtype.ordered} == ORDINAL.get(name, set())
    assert {column for column, dtype in dtypes.items() if not dtype.ordered} == NOMINAL.get(name, set())
    assert {column: dtype.categories.tolist() for column, dtype in dtypes.items()} == dataset.categories
    for column in dtypes:
        assert set(dataset.data[column]) == set(dataset.categories[column])


@every_dataset
def test_whole_numbers_stay_whole_in_a_frame(name):
    dtypes = read(name, as_frame=True).data.dtypes
    assert sum(dtype == np.int64 for dtype in dtypes) == WHOLE_NUMBERS.get(name, 0)


def steps_up(dataset, feature, ranks):
    """Ranks of the class before and after one step up the scale of a feature, all others kept."""
    feature_idx = dataset.feature_names.index(feature)
    table = {tuple(row): ranks[label] for row, label in zip(dataset.data, dataset.target, strict=True)}
    for row, rank in table.items():
        above = tuple(value + (index == feature_idx) for index, value in enumerate(row))
        if above in table:
            yield rank, table[above]


@pytest.mark.parametrize("feature", sorted(ORDINAL["car"] - {"persons"}))
def test_step_up_the_scale_never_reverses_how_acceptable_a_car_is(feature):
    ranks = {"unacc": 0, "acc": 1, "good": 2, "vgood": 3}
    dearer = feature in {"buying", "maint"}
    moves = {(after > before) - (after < before) for before, after in steps_up(load_car(), feature, ranks)}
    assert moves == ({0, -1} if dearer else {0, 1})


@pytest.mark.parametrize("feature", sorted(ORDINAL["nursery-s"]))
def test_step_up_the_scale_never_makes_an_application_less_pressing(feature):
    ranks = {"not_recom": 0, "very_recom": 1, "priority": 2, "spec_prior": 3}
    assert all(before <= after for before, after in steps_up(read("nursery-s"), feature, ranks))


def test_scale_tips_to_the_side_of_the_larger_moment():
    X, y = load_balance(return_X_y=True)
    moment = X[:, 0] * X[:, 1] - X[:, 2] * X[:, 3]
    np.testing.assert_array_equal(y, np.select([moment > 0, moment < 0], ["L", "R"], "B"))


@pytest.mark.parametrize("loader", [load_balance, load_nursery])
def test_rows_count_through_all_values_like_the_repository(loader):
    X, _ = loader(return_X_y=True)
    product = itertools.product(*(np.unique(column) for column in X.T))
    left_out = set() if loader is load_balance else {(0.0,) * 8, (0.0,) * 6 + (1.0, 0.0)}
    np.testing.assert_array_equal(X, [row for row in product if row not in left_out])


def test_satimage_starts_with_the_training_part():
    y = load_satimage().target
    assert Counter(y[4435:].tolist()) == {
        "very damp grey soil": 470, "red soil": 461, "grey soil": 397, "soil with vegetation stubble": 237,
        "cotton crop": 224, "damp grey soil": 211
    }  # fmt: skip


@pytest.mark.parametrize("as_frame", [False, True])
@pytest.mark.parametrize("loader", [load_yeast, load_nursery])
def test_return_X_y_gives_data_and_target_of_the_bunch(loader, as_frame):
    X, y = loader(return_X_y=True, as_frame=as_frame)
    dataset = loader(as_frame=as_frame)
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
    load_car().categories["doors"].clear()
    assert load_car().categories["doors"] == ["2", "3", "4", "5more"]


# Names


@every_dataset
def test_every_dataset_has_a_loader_of_its_own(name):
    stem = RECORDS[name].filename.removesuffix(".csv.gz")
    loader = getattr(comboost.datasets, f"load_{stem}")
    assert str(inspect.signature(loader)) == "(*, return_X_y: bool = False, as_frame: bool = False) -> Any"
    dataset = loader()
    np.testing.assert_array_equal(dataset.data, read(name).data)
    assert dataset.filename == RECORDS[name].filename
    summary = inspect.getdoc(loader).partition("Parameters")[0].replace(",", " ").replace(".", " ").split()
    assert {str(count) for count in CLASS_COUNTS[name].values()} <= set(summary)


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        *((name, name) for name in RECORDS),
        ("new_thyroid", "new-thyroid"),
        ("NewThyroid", "new-thyroid"),
        ("nursery", "nursery-s"),
        ("nursery_s", "nursery-s"),
        ("balance scale", "balance"),
        ("connect4", "connect-4"),
        ("connect_4", "connect-4"),
        ("connect-4", "connect-4"),
    ],
)
def test_dataset_is_found_in_every_spelling_of_its_name(spelling, name):
    assert find_record(spelling).name == name


@pytest.mark.parametrize("name", ["yeats", "", None, 3])
def test_unknown_name_lists_the_known_ones(name):
    with pytest.raises(ValueError, match=r"Unknown data set .*\. Known data sets: ") as caught:
        load_dataset(name)
    assert repr(name) in str(caught.value)
    assert all(repr(known) in str(caught.value) for known in (*RECORDS, "connect-4"))


# Damage


@pytest.fixture
def bundle(tmp_path, monkeypatch):
    """A folder to stand for the installed package, and a way to put a file there."""
    monkeypatch.setattr(_loaders.resources, "files", lambda _package: tmp_path)
    (tmp_path / "data").mkdir()
    return lambda content: (tmp_path / "data" / "yeast.csv.gz").write_bytes(content)


def test_one_flipped_bit_anywhere_is_found(bundle):
    intact = gzip.compress(b"a,target\n1,x\n2,y\n", mtime=0)
    record = replace(RECORDS["yeast"], sha256=hashlib.sha256(intact).hexdigest())
    bundle(intact)
    assert _loaders.read_cells(record) == [["a", "target"], ["1", "x"], ["2", "y"]]
    for index in range(len(intact)):
        damaged = bytearray(intact)
        damaged[index] ^= 1
        bundle(bytes(damaged))
        with pytest.raises(OSError, match=r"yeast\.csv\.gz of the data set 'yeast' is damaged.*Install comboost again"):
            _loaders.read_cells(record)


@pytest.mark.parametrize(
    "content",
    [b"", b"not a gzip file", gzip.compress(b"mcg,target\n0.5,CYT\n", mtime=0)],
    ids=["empty", "no gzip", "other rows"],
)
def test_another_file_in_place_of_the_bundled_one_is_refused(bundle, content):
    bundle(content)
    with pytest.raises(OSError, match="is damaged"):
        load_yeast()


@every_dataset
@pytest.mark.usefixtures("bundle")
def test_missing_file_is_named(name):
    with pytest.raises(FileNotFoundError, match=rf"\.csv\.gz of the data set '{name}' is missing"):
        load_dataset(name)


@pytest.mark.parametrize("loader", [load_yeast, load_connect4])
def test_frames_without_pandas_say_what_to_install(monkeypatch, loader):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        loader(as_frame=True)


@every_dataset
def test_arrays_need_no_pandas(monkeypatch, name):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert len(load_dataset(name).data) == sum(CLASS_COUNTS[name].values())


# Connect-4: five made-up boards stand for the set where its own rows are not needed

CELLS = list(CONNECT4.scales)
BOARDS = np.array([[(row * index) % 3 for index in range(42)] + [row % 3] for row in range(5)], dtype=np.uint8)
FOLDER = Path(__file__).parents[3] / "shared" / "data"
THE_THREE_WAYS = r"(?s)Three ways.*data_home.*connect_4\.tsv\.gz.*COMBOOST_DATA.*OpenML \(id 40668\)"


def pack(boards, header=(*CELLS, "target")):
    lines = ["\t".join(header), *("\t".join(map(str, row)) for row in boards)]
    return gzip.compress("\n".join(lines).encode() + b"\n")


def no_openml(**_arguments):
    raise AssertionError("OpenML must not be called")


@pytest.fixture
def openml(monkeypatch):
    """No folder is named; a way to set what OpenML answers."""
    monkeypatch.delenv("COMBOOST_DATA", raising=False)
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", no_openml)
    return lambda fetch: monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)


@pytest.fixture
def boards(openml, monkeypatch):
    """Pass the made-up boards for connect-4."""
    digest = hashlib.sha256(b"".join(sorted(map(bytes, BOARDS)))).hexdigest()
    monkeypatch.setattr(_connect4, "CONNECT4", replace(CONNECT4, sha256=digest))


def answer(data, categories, feature_names=CELLS, target=None):
    """What scikit-learn makes of the answer of OpenML."""
    target = BOARDS[:, -1].astype(str).astype(object) if target is None else target

    def fetch(*, data_id, as_frame, parser):
        assert (data_id, as_frame) == (40668, False)
        return Bunch(data=data, target=target, feature_names=list(feature_names), categories=categories)

    return fetch


def assert_made_up_boards(dataset):
    np.testing.assert_array_equal(dataset.data, BOARDS[:, :-1])
    assert dataset.target.tolist() == ["draw", "loss", "win", "draw", "loss"]


@pytest.mark.usefixtures("boards")
def test_connect4_is_read_from_the_folder_given(tmp_path, monkeypatch):
    (tmp_path / "connect_4.tsv.gz").write_bytes(pack(BOARDS))
    monkeypatch.setenv("COMBOOST_DATA", "not this one")
    assert_made_up_boards(load_connect4(data_home=tmp_path))
    assert_made_up_boards(load_dataset("connect-4", data_home=str(tmp_path)))


@pytest.mark.usefixtures("boards")
def test_connect4_is_read_from_the_folder_of_the_environment(tmp_path, monkeypatch):
    (tmp_path / "connect_4.tsv.gz").write_bytes(pack(BOARDS))
    monkeypatch.setenv("COMBOOST_DATA", str(tmp_path))
    assert_made_up_boards(load_connect4())


@pytest.mark.usefixtures("boards")
def test_connect4_from_openml_may_be_numbers_or_places_in_lists_of_categories(openml):
    cells = BOARDS[:, :-1].astype(float)
    openml(answer(cells, {}))
    assert_made_up_boards(load_connect4())
    openml(answer(cells, {name: ["0", "1", "2"] for name in CELLS}))
    assert_made_up_boards(load_connect4())
    openml(answer((cells + 1) % 3, {name: ["2", "0", "1"] for name in CELLS}))
    assert_made_up_boards(load_connect4())
    openml(answer(cells[:, ::-1], None, CELLS[::-1], BOARDS[:, -1].astype(float)))
    assert_made_up_boards(load_connect4())


@pytest.mark.usefixtures("openml")
@pytest.mark.parametrize("variable", [False, True])
def test_folder_without_connect4_is_named_with_the_three_ways_to_get_it(tmp_path, monkeypatch, variable):
    if variable:
        monkeypatch.setenv("COMBOOST_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=THE_THREE_WAYS) as caught:
        load_connect4(data_home=None if variable else tmp_path)
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize("error", [URLError("no network"), sklearn.datasets._openml.OpenMLError("no such set")])
def test_connect4_without_folder_and_network_says_the_three_ways_to_get_it(openml, error):
    def fetch(**_arguments):
        raise error

    openml(fetch)
    with pytest.raises(FileNotFoundError, match=THE_THREE_WAYS) as caught:
        load_connect4()
    assert str(error) in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not a gzip file",
        pack(BOARDS)[:-9],
        pack(BOARDS, header=["a1", "target"]),
        pack([*BOARDS.astype(str).tolist(), ["b"] * 43]),
        pack(BOARDS[:4]),
        pack(np.where(BOARDS == 1, 2, BOARDS)),
    ],
    ids=["empty", "no gzip", "cut off", "other columns", "words", "rows missing", "other codes"],
)
@pytest.mark.usefixtures("boards")
def test_other_file_in_place_of_connect4_is_refused(tmp_path, content):
    (tmp_path / "connect_4.tsv.gz").write_bytes(content)
    with pytest.raises(OSError, match=r"(?s)connect_4\.tsv\.gz.*Get it again.*Three ways"):
        load_connect4(data_home=tmp_path)


@pytest.mark.parametrize(
    "fetch",
    [
        answer(BOARDS[:, :3], {}, ["a1", "a2", "a3"]),
        answer(BOARDS[:, :-1], {}, target=np.array(["a word"] * 5, dtype=object)),
        answer(np.where(BOARDS == 1, 2, BOARDS)[:, :-1], {}),
    ],
    ids=["other columns", "other classes", "other codes"],
)
@pytest.mark.usefixtures("boards")
def test_other_data_from_openml_are_refused(openml, fetch):
    openml(fetch)
    with pytest.raises(OSError, match=r"(?s)data set 40668 of OpenML.*Three ways"):
        load_connect4()


@pytest.mark.skipif(
    not (FOLDER / CONNECT4.filename).is_file(), reason="connect-4 is not bundled, and ../shared/data does not hold it"
)
def test_connect4_has_the_rows_of_the_paper_and_categories_in_frames():
    arrays, frames = load_connect4(data_home=FOLDER), load_connect4(data_home=FOLDER, as_frame=True)
    assert arrays.data.shape == (67557, 42)
    assert arrays.feature_names == CELLS == [f"{column}{row}" for column in "abcdefg" for row in range(1, 7)]
    assert Counter(arrays.target.tolist()) == CONNECT4_COUNTS
    assert arrays.target_names.tolist() == sorted(CONNECT4_COUNTS)
    assert all(dtype == "category" and not dtype.ordered for dtype in frames.data.dtypes)
    assert all(dtype.categories.tolist() == ["b", "o", "x"] for dtype in frames.data.dtypes)
    np.testing.assert_array_equal(codes_of(frames.data), arrays.data)
    np.testing.assert_array_equal(frames.target.to_numpy(), arrays.target)
    # eight moves: four of each player, and nothing hangs in the air
    assert ((arrays.data == 1).sum(axis=1) == 4).all()
    assert ((arrays.data == 2).sum(axis=1) == 4).all()
    taken = (arrays.data > 0).reshape(-1, 7, 6)
    assert (taken[:, :, :-1] >= taken[:, :, 1:]).all()


def test_description_of_connect4_names_every_cell_and_class():
    text = (resources.files("comboost.datasets") / "descr" / "connect_4.rst").read_text()
    words = text.replace(",", " ").replace(":", " ").split()
    assert {*CELLS, *CONNECT4_COUNTS, *map(str, CONNECT4_COUNTS.values())} <= set(words)


# Synthetic problems

sizes = st.lists(st.integers(1, 30), min_size=2, max_size=6)
seeds = st.integers(0, 2**32 - 1)


@given(sizes, st.integers(1, 6), st.integers(1, 3), st.booleans(), seeds)
def test_made_classes_have_exactly_the_sizes_asked_for(class_sizes, n_features, n_clusters, shuffle, seed):
    X, y = make_imbalanced(
        class_sizes=class_sizes, n_features=n_features, n_informative=min(2, n_features),
        n_clusters_per_class=n_clusters, shuffle=shuffle, random_state=seed,
    )  # fmt: skip
    assert X.shape == (sum(class_sizes), n_features)
    assert X.dtype == np.float64
    assert np.isfinite(X).all()
    assert np.bincount(y).tolist() == class_sizes
    assert shuffle or (np.diff(y) >= 0).all()


@given(st.lists(st.floats(1e-6, 1.0), min_size=2, max_size=8), st.integers(0, 2000))
def test_made_shares_add_up_and_leave_no_class_empty(weights, n_more):
    shares = np.array(weights) / sum(weights)
    n_samples = len(shares) + n_more
    _, y = make_imbalanced(n_samples, shares, n_features=1, n_informative=1, random_state=0)
    counts = np.bincount(y, minlength=len(shares))
    assert counts.sum() == n_samples
    assert counts.min() >= 1
    # a class is off by less than one row, or has the one row it needs, or has given one to each of those
    off = counts - n_samples * shares
    n_lifted = np.count_nonzero((counts == 1) & (n_samples * shares < 1))
    assert (off[counts > 1] < 1).all()
    assert (off > -1 - n_lifted).all()


@given(sizes, seeds)
def test_same_random_state_makes_the_same_bits(class_sizes, seed):
    first, second = (make_imbalanced(class_sizes=class_sizes, random_state=seed) for _ in range(2))
    from_instance = make_imbalanced(class_sizes=class_sizes, random_state=np.random.RandomState(seed))
    for other in (second, from_instance):
        assert first[0].tobytes() == other[0].tobytes()
        assert first[1].tobytes() == other[1].tobytes()


@given(sizes, seeds)
def test_shuffling_only_moves_rows(class_sizes, seed):
    shuffled, in_order = (
        make_imbalanced(class_sizes=class_sizes, shuffle=shuffle, random_state=seed) for shuffle in (True, False)
    )
    assert sorted(np.column_stack(shuffled).tolist()) == sorted(np.column_stack(in_order).tolist())


@given(sizes, seeds)
def test_separation_moves_only_the_informative_features(class_sizes, seed):
    near, far = (
        make_imbalanced(class_sizes=class_sizes, n_features=5, n_informative=2, class_sep=class_sep, random_state=seed)[
            0
        ]
        for class_sep in (0.0, 3.0)
    )
    np.testing.assert_array_equal(near[:, 2:], far[:, 2:])
    assert (near[:, :2] != far[:, :2]).all()


def test_made_problem_keeps_its_values_from_version_to_version():
    X, y = make_imbalanced(class_sizes=[3, 2], n_features=3, n_informative=2, random_state=0)
    np.testing.assert_allclose(X[0], [1.908095917128542, 1.8544307153301984, 0.7610377251469934], rtol=1e-12)
    assert y.tolist() == [0, 1, 0, 1, 0]


@pytest.mark.parametrize("seed", range(5))
def test_classes_far_apart_are_told_apart_and_classes_on_one_spot_are_not(seed):
    scores = []
    for class_sep in (30.0, 0.0):
        X, y = make_imbalanced(class_sizes=[300, 300, 300], class_sep=class_sep, random_state=seed)
        scores.append(NearestCentroid().fit(X[:450], y[:450]).score(X[450:], y[450:]))
    assert scores[0] == 1.0
    assert scores[1] < 0.45


@pytest.mark.parametrize("seed", range(5))
def test_clusters_of_a_class_lie_apart(seed):
    X, y = make_imbalanced(
        class_sizes=[60, 40], n_features=3, n_informative=3, n_clusters_per_class=2, class_sep=100.0, shuffle=False,
        random_state=seed,
    )  # fmt: skip
    for label in range(2):
        rows = X[y == label]
        near_first = np.linalg.norm(rows - rows[0], axis=1) < 15
        assert near_first.mean() == 0.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_samples": 0}, "n_samples=0; give an integer of at least 1, or None"),
        ({"n_samples": 2}, "n_samples=2 for 3 classes"),
        ({"n_samples": 10, "class_sizes": [3, 4]}, r"n_samples=10, but class_sizes=\[3, 4\] add up to 7"),
        ({"class_sizes": [3, 0]}, r"class_sizes=\[3, 0\]; give every class at least one row"),
        ({"class_sizes": [5]}, "at least two numbers"),
        ({"class_sizes": 5}, "at least two numbers"),
        ({"class_sizes": [True, False]}, "at least two numbers"),
        ({"class_sizes": ["many", "few"]}, "at least two numbers"),
        ({"class_sizes": [0.5, 0.4]}, "with the sum 1"),
        ({"class_sizes": [1.0, 0.0]}, "all positive"),
        ({"class_sizes": [0.5, float("nan")]}, "all positive"),
        ({"class_sizes": [90.0, 10.0]}, "counts, all integers"),
        ({"n_features": 0}, "n_features=0"),
        ({"n_informative": 11}, "n_informative=11 of n_features=10; give at most as many"),
        ({"n_informative": -1}, "n_informative=-1"),
        ({"n_clusters_per_class": 0}, "n_clusters_per_class=0"),
        ({"class_sep": -1.0}, "class_sep=-1.0"),
        ({"class_sep": float("inf")}, "class_sep=inf"),
    ],
)
def test_wrong_argument_is_named_with_what_to_give(arguments, message):
    with pytest.raises(ValueError, match=f"make_imbalanced got .*{message}"):
        make_imbalanced(**arguments)
