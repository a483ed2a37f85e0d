"""Categories: codes come from the values seen in training, whatever holds them."""

import datetime
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from memory import peak_of
from models import fit_categories
from sklearn.base import BaseEstimator

from comboost._data.categories import MAX_CATEGORIES, Categories, Column
from comboost._data.validation import read_table

FEW = settings(max_examples=8)  # for each of many containers


def raw_table(X):
    return read_table(BaseEstimator(), X, reset=True)


def codes_of(categories, X):
    raw = raw_table(X)
    return categories.codes(0, raw.column_values(0))


def objects(values):
    array = np.empty((len(values), 1), dtype=object)
    array[:, 0] = values
    return array


def distinct(values):
    return sorted({value for value in values if value is not None})


def pandas_frame(values, dtype):
    return pd.DataFrame({"c": pd.Series(values, dtype=dtype)})


def polars_frame(values, dtype):
    return pl.DataFrame({"c": pl.Series(values, dtype=dtype, strict=False)})


def arrow_chunks(values, dtype):
    first, rest = pa.array(values[:1], dtype), pa.array(values[1:], dtype)
    return pa.table({"c": pa.chunked_array([first, rest])})


def arrow_dictionary(values, dtype):
    # Every chunk has a dictionary of its own.
    chunks = [pa.array(part, dtype).dictionary_encode() for part in (values[:1], values[1:])]
    return pa.table({"c": pa.chunked_array(chunks)})


TEXT = {
    "objects with NaN": lambda values: objects([np.nan if value is None else value for value in values]),
    "objects with NA": lambda values: objects([pd.NA if value is None else value for value in values]),
    "pandas object": lambda values: pandas_frame(values, object),
    "pandas text": lambda values: pandas_frame(values, "string"),
    "pandas default text": lambda values: pandas_frame(values, None if any(values) else object),
    "pandas Arrow text": lambda values: pandas_frame(values, pd.ArrowDtype(pa.string())),
    "pandas Arrow dictionary": lambda values: pandas_frame(
        values, pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    ),
    "pandas category": lambda values: pandas_frame(values, "category"),
    "polars text": lambda values: polars_frame(values, pl.String),
    "polars Categorical": lambda values: polars_frame(values, pl.Categorical),
    "polars Enum": lambda values: polars_frame(values, pl.Enum([*distinct(values)[::-1], "never seen"])),
    "pyarrow text": lambda values: arrow_chunks(values, pa.string()),
    "pyarrow large text": lambda values: arrow_chunks(values, pa.large_string()),
    "pyarrow text views": lambda values: arrow_dictionary(values, pa.string_view()),
    "pyarrow dictionary": lambda values: arrow_dictionary(values, pa.string()),
}
NUMBERS = {
    "objects": objects,
    "objects with NA": lambda values: objects([pd.NA if value is None else value for value in values]),
    "floats": lambda values: np.array(values, dtype=np.float64).reshape(-1, 1),
    "float32": lambda values: np.array(values, dtype=np.float32).reshape(-1, 1),
    "pandas floats": lambda values: pandas_frame(values, np.float64),
    "pandas Int64": lambda values: pandas_frame(values, "Int64"),
    "pandas Arrow": lambda values: pandas_frame(values, "int64[pyarrow]"),
    "pandas category": lambda values: pandas_frame(pd.array(values, dtype="Int64"), "category"),
    "pandas category of floats": lambda values: pandas_frame(np.array(values, dtype=float), "category"),
    "polars": lambda values: polars_frame(values, pl.Int16),
    "polars floats": lambda values: polars_frame(values, pl.Float64),
    "pyarrow": lambda values: arrow_chunks(values, pa.int8()),
    "pyarrow dictionary": lambda values: arrow_dictionary(values, pa.float32()),
    "CSC": lambda values: sp.csc_array(np.array(values, dtype=np.float64).reshape(-1, 1)),
}
TEXTS = st.lists(st.sampled_from(["", "a", "b", "Z", "é", "nan", "10", "9"]) | st.none(), min_size=1, max_size=12)
INTEGERS = st.lists(st.integers(-3, 3) | st.none(), min_size=1, max_size=12)


def expected_codes(values, known):
    return [known.index(value) + 1.0 if value in known else np.nan for value in values]


@pytest.mark.parametrize("container", TEXT)
@FEW
@given(seen=TEXTS, given_later=TEXTS)
def test_text_has_the_same_codes_in_any_container(container, seen, given_later):
    known = distinct(seen)
    categories = fit_categories(raw_table(TEXT[container](seen)), [0])
    assert categories == Categories({0: tuple(known)})
    codes = codes_of(categories, TEXT[container](given_later))
    np.testing.assert_array_equal(codes, expected_codes(given_later, known))


@pytest.mark.parametrize("container", NUMBERS)
@FEW
@given(seen=INTEGERS, given_later=INTEGERS)
def test_numbers_have_the_same_codes_in_any_container(container, seen, given_later):
    known = distinct(seen)
    categories = fit_categories(raw_table(NUMBERS[container](seen)), [0])
    assert categories == Categories({0: tuple(known)})
    assert all(type(value) is int for value in categories.values[0])
    codes = codes_of(categories, NUMBERS[container](given_later))
    assert codes.dtype == np.float64
    np.testing.assert_array_equal(codes, expected_codes(given_later, known))


@given(values=st.lists(st.booleans(), min_size=1, max_size=6))
def test_booleans_are_the_numbers_zero_and_one(values):
    categories = Categories({0: (0, 1)})
    expected = np.array(values) + 1.0
    frame = pd.DataFrame({"c": values})
    for X in (np.array(values)[:, None], objects(values), frame, frame.astype("category"), pl.DataFrame({"c": values})):
        np.testing.assert_array_equal(codes_of(categories, X), expected)
        assert set(fit_categories(raw_table(X), [0]).values[0]) == set(values)


@given(
    values=st.lists(st.sampled_from("abcd"), min_size=1, max_size=12),
    listed=st.permutations("abcdefgh"),
    ordered=st.booleans(),
)
def test_order_and_extent_of_a_category_dtype_change_nothing(values, listed, ordered):
    plain = fit_categories(raw_table(objects(values)), [0])
    shuffled = pd.DataFrame({"c": pd.Categorical(values, categories=listed, ordered=ordered)})
    assert fit_categories(raw_table(shuffled), [0]) == plain
    np.testing.assert_array_equal(codes_of(plain, shuffled), codes_of(plain, objects(values)))


@given(values=st.lists(st.sampled_from("abcd"), min_size=1, max_size=12), data=st.data())
def test_only_values_of_the_rows_at_hand_are_categories(values, data):
    rows = data.draw(st.lists(st.integers(0, len(values) - 1), min_size=1))
    taken = raw_table(pd.DataFrame({"c": pd.Categorical(values)})).take(np.array(rows, dtype=np.intp))
    assert fit_categories(taken, [0]).values[0] == tuple(sorted({values[row] for row in rows}))


def test_codes_count_from_one_in_sorted_order():
    categories = fit_categories(raw_table(objects(["b", "a", None, "c", "a"])), [0])
    np.testing.assert_array_equal(codes_of(categories, objects(["c", "b", "a", "z", None])), [3, 2, 1, np.nan, np.nan])


def test_lists_hold_the_values_that_they_show():
    categories = fit_categories(raw_table([["a", 1], ["a\0", 2.5], [np.nan, 3], ["1", 4]]), [0])
    assert categories.values == {0: ("1", "a", "a\0")}
    assert fit_categories(raw_table([["a", 1], ["b", 2]]), [0, 1]).values[1] == (1, 2)


def test_large_integers_stay_apart():
    values = [2**60, 2**60 + 1, 2**60 + 3]
    categories = fit_categories(raw_table(np.array(values)[:, None]), [0])
    for X in (np.array(values)[:, None], pd.DataFrame({"c": values}), pl.DataFrame({"c": values}), objects(values)):
        np.testing.assert_array_equal(codes_of(categories, X), [1, 2, 3])


def test_times_are_the_same_values_in_any_container():
    days = [datetime.datetime(2020, 1, day) for day in (3, 1, 2)]
    frame = pd.DataFrame({"c": days})
    containers = [
        objects(days),
        np.array(days, dtype="M8[ns]")[:, None],
        np.array(days, dtype="M8[s]")[:, None],
        frame,
        frame.astype("M8[ns]"),
        frame.astype("category"),
        pl.DataFrame({"c": days}),
        pa.table({"c": days}),
    ]
    for seen in containers:
        categories = fit_categories(raw_table(seen), [0])
        for given_later in containers:
            np.testing.assert_array_equal(codes_of(categories, given_later), [3, 1, 2])


NANOSECONDS = {
    "array": lambda counts, kind: np.array(counts, dtype=f"{kind}8[ns]")[:, None],
    "picoseconds": lambda counts, kind: np.array([1000 * count for count in counts], dtype=f"{kind}8[ps]")[:, None],
    "objects of NumPy": lambda counts, kind: objects(list(np.array(counts, dtype=f"{kind}8[ns]"))),
    "objects of pandas": lambda counts, kind: objects(list(pandas_times(counts, kind))),
    "pandas": lambda counts, kind: pd.DataFrame({"c": pandas_times(counts, kind)}),
    "pandas category": lambda counts, kind: pd.DataFrame({"c": pandas_times(counts, kind)}).astype("category"),
    "pandas Arrow": lambda counts, kind: pd.DataFrame({"c": pandas_times(counts, kind)}).convert_dtypes(
        dtype_backend="pyarrow"
    ),
    "polars": lambda counts, kind: polars_frame(counts, pl.Datetime("ns") if kind == "M" else pl.Duration("ns")),
    "pyarrow": lambda counts, kind: pa.table({"c": pa.array(counts, ARROW_TIMES[kind])}),
    "pyarrow dictionary": lambda counts, kind: arrow_dictionary(counts, ARROW_TIMES[kind]),
}
ARROW_TIMES = {"M": pa.timestamp("ns"), "m": pa.duration("ns")}
COUNTS = st.lists(st.integers(-3, 3) | st.sampled_from([999, 1000, 1001, 10**9, -(10**9)]), min_size=1, max_size=8)


def pandas_times(counts, kind):
    return pd.Series(np.array(counts, dtype=f"{kind}8[ns]"))


@pytest.mark.parametrize("container", NANOSECONDS)
@pytest.mark.parametrize("kind", ["M", "m"], ids=["times", "durations"])
@FEW
@given(seen=COUNTS, given_later=COUNTS)
def test_times_that_differ_in_nanoseconds_only_stay_apart_in_any_container(container, kind, seen, given_later):
    known = sorted(set(seen))
    categories = fit_categories(raw_table(NANOSECONDS[container](seen, kind)), [0])
    for later in (NANOSECONDS[container], NANOSECONDS["array"]):
        np.testing.assert_array_equal(
            codes_of(categories, later(given_later, kind)), expected_codes(given_later, known)
        )


@pytest.mark.parametrize(
    "X",
    [
        pl.DataFrame({"c": pl.Series([1, 2], dtype=pl.Time)}),
        pl.DataFrame({"c": pl.Series([1, 2], dtype=pl.Datetime("ns", "UTC"))}),
        pa.table({"c": pa.array([1, 2], pa.time64("ns"))}),
    ],
    ids=["polars times of day", "polars zoned times", "pyarrow times of day"],
)
def test_nanoseconds_that_python_does_not_hold_are_refused(X):
    with pytest.raises(ValueError, match=r"column 'c' of X has the dtype .* nanoseconds.*microseconds"):
        fit_categories(raw_table(X), [0])


def test_missing_times_are_missing():
    categories = fit_categories(raw_table(pd.DataFrame({"c": pd.to_datetime(["2020-01-01", None])})), [0])
    assert len(categories.values[0]) == 1
    assert np.isnan(codes_of(categories, np.array([["NaT"]], dtype="M8[ns]"))).all()


def test_intervals_are_categories():
    binned = pd.DataFrame({"c": pd.cut([0.5, 1.5, 0.1, np.nan], [0, 1, 2])})
    categories = fit_categories(raw_table(binned), [0])
    np.testing.assert_array_equal(codes_of(categories, binned), [1, 2, 1, np.nan])


def test_a_column_of_nothing_but_missing_values_has_no_categories():
    categories = fit_categories(raw_table(objects([None, np.nan])), [0])
    assert categories.values == {0: ()}
    assert np.isnan(codes_of(categories, objects(["a", "b"]))).all()


def test_a_table_without_categories_has_none():
    assert fit_categories(raw_table(np.ones((2, 2))), []) == Categories()


# Limits and errors


def test_as_many_categories_as_allowed_are_fine():
    values = np.arange(MAX_CATEGORIES)[:, None]
    categories = fit_categories(raw_table(values), [0])
    np.testing.assert_array_equal(codes_of(categories, values), values[:, 0] + 1)


@pytest.mark.parametrize("values", [[1, "a"], ["a", 1.5], [True, "True"], ["a", datetime.date(2020, 1, 1)]])
@pytest.mark.parametrize("container", [objects, lambda values: pandas_frame(values, "category")])
def test_values_of_several_kinds_are_refused(container, values):
    with pytest.raises(ValueError, match=r"column (0|'c') of X mixes categories of several kinds"):
        fit_categories(raw_table(container(values)), [0])


def test_values_without_an_order_are_refused():
    with pytest.raises(ValueError, match=r"column 0 of X .* no order"):
        fit_categories(raw_table(objects([datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1)])), [0])


@pytest.mark.parametrize(
    "X",
    [
        objects([[1], [2]]),
        pandas_frame([[1], [2]], object),
        pandas_frame([[1], [2]], pd.ArrowDtype(pa.list_(pa.int64()))),
        pl.DataFrame({"c": [[1], [2]]}),
        pa.table({"c": [[1], [2]]}),
    ],
)
def test_lists_are_no_categories(X):
    with pytest.raises(ValueError, match=r"column (0|'c') of X .*cannot be used as categories"):
        fit_categories(raw_table(X), [0])


def test_categories_of_another_kind_than_in_training_are_refused():
    with pytest.raises(ValueError, match=r"column 0 of X held text in training, such as 'a', and holds numbers now"):
        codes_of(Categories({0: ("a", "b")}), np.array([[1.0]]))
    with pytest.raises(ValueError, match="held numbers in training, such as 1, and holds text now, such as '1'"):
        codes_of(Categories({0: (1, 2)}), objects([None, "1"]))


# Cost and storage


def test_values_of_a_dtype_that_no_row_holds_are_not_touched():
    touched = []

    def pick(indices):
        touched.extend(indices.tolist())
        return [f"v{index}" for index in indices]

    column = Column.of_dictionary("column 0", np.array([70_000, -1, 5, 70_000]), pick)
    assert touched == [5, 70_000]
    assert [column.values[index] if index >= 0 else None for index in column.indices] == [
        "v70000",
        None,
        "v5",
        "v70000",
    ]


def test_category_dtypes_are_coded_without_an_object_for_every_row():
    n_samples = 100_000
    frame = pd.DataFrame({"c": pd.Categorical.from_codes(np.arange(n_samples) % 3, ["x", "y", "z"])})
    raw = raw_table(frame)
    categories = Categories({0: ("x", "y", "z")})
    codes = categories.codes(0, raw.column_values(0))
    np.testing.assert_array_equal(codes, np.arange(n_samples) % 3 + 1.0)
    assert peak_of(lambda: categories.codes(0, raw.column_values(0))) < 5 * codes.nbytes


def test_categories_are_pickled():
    categories = Categories({0: ("a", "b"), 3: (1, 2.5)})
    assert pickle.loads(pickle.dumps(categories)) == categories
