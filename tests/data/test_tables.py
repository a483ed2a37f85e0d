"""Tables: the same values in any container give the same floats, block by block, without a copy of the whole."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from memory import peak_of
from models import fit_categories
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import assert_all_finite
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from comboost._data.categories import Categories
from comboost._data.tables import has_nan
from comboost._data.validation import find_categorical, read_table


class TreeOnTables(ClassifierMixin, BaseEstimator):
    """The least estimator that reads its input as a table: a tree of scikit-learn that gets the matrix."""

    def fit(self, X, y):
        raw = read_table(self, X, reset=True)
        if y is None:
            raise ValueError("TreeOnTables requires y to be passed, but the target y is None")
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        check_consistent_length(raw, y)
        check_classification_targets(y)
        self.categories_ = fit_categories(raw, find_categorical(raw, "from_dtype"))
        self.tree_ = DecisionTreeClassifier(random_state=0).fit(self._matrix(raw), y)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X):
        check_is_fitted(self)
        return self.tree_.predict(self._matrix(read_table(self, X, reset=False)))

    def _matrix(self, raw):
        table = raw.encode(self.categories_)
        matrix = table.rows(0, table.shape[0])
        has_nan(matrix)
        return matrix

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


@parametrize_with_checks([TreeOnTables()])
def test_estimator_on_tables_keeps_the_conventions_of_scikit_learn(estimator, check):
    check(estimator)


def raw_table(X):
    return read_table(TreeOnTables(), X, reset=True)


def table_of(X, categories=None):
    return raw_table(X).encode(categories or Categories())


def whole(table):
    return table.columns(0, table.shape[1])


def names(values):
    return [f"x{f}" for f in range(values.shape[1])]


def strided(values):
    wide = np.full((2 * values.shape[0], 3 * values.shape[1]), 7.0)
    wide[::2, ::3] = values
    return wide[::2, ::3]


def unaligned(values):
    records = np.zeros(values.shape, dtype=[("tag", "i1"), ("value", "f8")])
    records["value"] = values
    return records["value"]


def read_only(values):
    values = values.copy()
    values.flags.writeable = False
    return values


def with_none(values):
    return np.where(np.isnan(values), None, values.astype(object))


def with_na(values):
    return np.where(np.isnan(values), pd.NA, values.astype(object))


def as_text(values):
    return np.array([[str(value) for value in row] for row in values], dtype=object)


def pandas_columns(values, dtype):
    return pd.DataFrame({f"x{f}": pd.array(column, dtype=dtype) for f, column in enumerate(with_none(values).T)})


def separate_blocks(values):
    frame = pd.DataFrame(index=range(len(values)))
    for f, column in enumerate(values.T):
        frame[f"x{f}"] = column
    return frame


def arrow_table(values, dtype):
    columns = [pa.array(column, pa.float64()).cast(dtype) for column in with_none(values).T]
    return pa.table([pa.chunked_array([column[:1], column[1:]]) for column in columns], names=names(values))


FLOATS = {
    "C order": np.ascontiguousarray,
    "Fortran order": np.asfortranarray,
    "strided": strided,
    "reversed": lambda values: values[::-1, ::-1].copy()[::-1, ::-1],
    "unaligned": unaligned,
    "read-only": read_only,
    "other byte order": lambda values: values.astype(">f8"),
    "float32": lambda values: values.astype(np.float32),
    "float16": lambda values: values.astype(np.float16),
    "long double": lambda values: values.astype(np.longdouble),
    "lists": lambda values: values.tolist(),
    "objects": lambda values: values.astype(object),
    "objects with None": with_none,
    "objects with NA": with_na,
    "text objects": as_text,
    "text": lambda values: values.astype("U"),
    "pandas": lambda values: pd.DataFrame(values, columns=names(values)),
    "pandas, numbered": lambda values: pd.DataFrame(values),
    "pandas, by column": separate_blocks,
    "pandas float32": lambda values: pd.DataFrame(values.astype(np.float32), columns=names(values)),
    "pandas object": lambda values: pd.DataFrame(with_na(values), columns=names(values)),
    "pandas Int64": lambda values: pandas_columns(values, "Int64"),
    "pandas Float32": lambda values: pandas_columns(values, "Float32"),
    "pandas Arrow": lambda values: pandas_columns(values, "double[pyarrow]"),
    "pandas Arrow int": lambda values: pandas_columns(values, "int16[pyarrow]"),
    "pandas decimal": lambda values: pandas_columns(values, pd.ArrowDtype(pa.decimal128(9, 2))),
    "pandas category": lambda values: pd.DataFrame(values, columns=names(values)).astype("category"),
    "pandas sparse": lambda values: pd.DataFrame(values, columns=names(values)).astype(pd.SparseDtype(float, 0.0)),
    "polars": lambda values: pl.DataFrame(with_none(values).tolist(), names(values), orient="row", strict=False),
    "polars from NumPy": lambda values: pl.from_numpy(np.asfortranarray(values), names(values), orient="row"),
    "polars int": lambda values: pl.DataFrame(
        with_none(values).tolist(), dict.fromkeys(names(values), pl.Int8), orient="row", strict=False
    ),
    "pyarrow": lambda values: arrow_table(values, pa.float64()),
    "pyarrow int": lambda values: arrow_table(values, pa.int32()),
    "pyarrow dictionary": lambda values: pa.table(
        [column.dictionary_encode() for column in arrow_table(values, pa.float64()).columns], names=names(values)
    ),
    "CSR": sp.csr_array,
    "CSC": sp.csc_array,
    "CSR matrix": sp.csr_matrix,
    "CSC float32": lambda values: sp.csc_matrix(values.astype(np.float32)),
    "COO": sp.coo_array,
    "LIL": sp.lil_matrix,
}
INTEGERS = {
    "int64": lambda values: values.astype(np.int64),
    "int8": lambda values: values.astype(np.int8),
    "pandas ints of several sizes": lambda values: pd.DataFrame(
        {f"x{f}": column.astype([np.int64, np.int8][f % 2]) for f, column in enumerate(values.T)}
    ),
    "CSR int": lambda values: sp.csr_array(values.astype(np.int64)),
}
BOOLEANS = {
    "bool": lambda values: values.astype(bool),
    "pandas bool": lambda values: pd.DataFrame(values.astype(bool), columns=names(values)),
    "pandas boolean": lambda values: pandas_columns(values, "boolean"),
    "pandas Arrow bool": lambda values: pandas_columns(values, "bool[pyarrow]"),
    "polars bool": lambda values: pl.DataFrame(values.astype(bool), names(values)),
    "pyarrow bool": lambda values: arrow_table(values, pa.bool_()),
    "CSC bool": lambda values: sp.csc_array(values.astype(bool)),
}
FEW = settings(max_examples=6)  # for each of many containers
SMALL = st.integers(-100, 100).map(float)
SMALL_OR_MISSING = SMALL | st.just(np.nan)


@st.composite
def value_matrices(draw, elements=SMALL_OR_MISSING):
    shape = draw(st.tuples(st.integers(1, 6), st.integers(1, 4)))
    return draw(hnp.arrays(np.float64, shape, elements=elements))


@pytest.mark.parametrize("container", FLOATS)
@FEW
@given(values=value_matrices())
def test_same_values_in_any_container_give_the_same_floats(container, values):
    table = table_of(FLOATS[container](values))
    assert table.shape == values.shape
    np.testing.assert_array_equal(whole(table), values)
    assert whole(table).dtype in (np.float32, np.float64)
    if table.matrix is not None:
        np.testing.assert_array_equal(table.matrix, values)


@pytest.mark.parametrize("container", INTEGERS)
@FEW
@given(values=value_matrices(SMALL))
def test_integers_in_any_container_give_the_same_floats(container, values):
    np.testing.assert_array_equal(whole(table_of(INTEGERS[container](values))), values)


@pytest.mark.parametrize("container", BOOLEANS)
@FEW
@given(values=value_matrices(st.sampled_from([0.0, 1.0])))
def test_booleans_in_any_container_are_zeros_and_ones(container, values):
    np.testing.assert_array_equal(whole(table_of(BOOLEANS[container](values))), values)


@pytest.mark.parametrize("container", FLOATS)
@FEW
@given(values=value_matrices(), data=st.data())
def test_blocks_of_rows_and_columns_agree_with_the_whole(container, values, data):
    table = table_of(FLOATS[container](values))
    n_samples, n_features = values.shape
    first = data.draw(st.integers(0, n_samples - 1))
    last = data.draw(st.integers(first + 1, n_samples))
    np.testing.assert_array_equal(table.rows(first, last), values[first:last])
    first = data.draw(st.integers(0, n_features - 1))
    last = data.draw(st.integers(first + 1, n_features))
    np.testing.assert_array_equal(table.columns(first, last), values[:, first:last])


@pytest.mark.parametrize("container", FLOATS)
@FEW
@given(values=value_matrices(), data=st.data())
def test_taking_rows_and_reading_blocks_commute(container, values, data):
    n_samples, n_features = values.shape
    chosen = np.array(data.draw(st.lists(st.integers(0, n_samples - 1), min_size=1, max_size=8)), dtype=np.intp)
    again = np.array(data.draw(st.lists(st.integers(0, len(chosen) - 1), min_size=1)), dtype=np.intp)
    X = FLOATS[container](values)
    taken = table_of(X).take(chosen)
    assert taken.shape == (len(chosen), n_features)
    assert taken.matrix is None
    np.testing.assert_array_equal(taken.columns(n_features - 1, n_features), values[chosen, n_features - 1 :])
    np.testing.assert_array_equal(taken.rows(0, len(chosen)), values[chosen])
    np.testing.assert_array_equal(whole(taken.take(again)), values[chosen][again])
    np.testing.assert_array_equal(whole(raw_table(X).take(chosen).encode(Categories())), values[chosen])


@pytest.mark.parametrize("container", FLOATS)
def test_blocks_of_columns_are_views_or_in_fortran_order(container):
    X = FLOATS[container](np.arange(12.0).reshape(4, 3))
    for table in (table_of(X), table_of(X).take(np.array([2, 0, 1]))):
        block = table.columns(0, 2)
        assert block.flags.f_contiguous or np.shares_memory(block, table.matrix)
        assert block.flags.aligned
        assert all(stride % block.itemsize == 0 for stride in block.strides)


# Memory


@pytest.mark.parametrize("container", ["C order", "Fortran order", "strided", "read-only", "float32"])
def test_float_arrays_are_not_copied(container):
    X = FLOATS[container](np.arange(12.0).reshape(4, 3))
    table = table_of(X)
    for block in (table.matrix, table.columns(1, 3), table.rows(2, 4)):
        assert np.shares_memory(block, X)


def test_memory_maps_are_not_copied(tmp_path):
    X = np.memmap(tmp_path / "X", dtype=np.float64, mode="w+", shape=(10, 3))
    assert np.shares_memory(table_of(X).matrix, X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pandas_frames_of_one_block_are_not_copied(dtype):
    frame = pd.DataFrame(np.arange(12, dtype=dtype).reshape(4, 3), columns=list("abc"))
    table = table_of(frame)
    for block in (table.matrix, table.columns(1, 3), table.rows(2, 4)):
        assert np.shares_memory(block, frame.to_numpy())


def test_polars_frames_whose_columns_lie_side_by_side_are_not_copied():
    frame = pl.from_numpy(np.asfortranarray(np.arange(12.0).reshape(4, 3)), orient="row")
    table = table_of(frame)
    assert np.shares_memory(table.matrix, frame.to_numpy(allow_copy=False))
    assert np.shares_memory(table.columns(1, 2), frame.to_numpy(allow_copy=False))


def test_frames_of_several_blocks_have_no_matrix():
    values = np.arange(12.0).reshape(4, 3)
    assert table_of(separate_blocks(values)).matrix is None
    assert table_of(pd.DataFrame(values).astype({0: np.float32})).matrix is None
    longer = pl.DataFrame(np.arange(27.0).reshape(9, 3).tolist(), orient="row")
    assert table_of(longer[:4]).matrix is None  # whatever lies where, the columns of a part have gaps between them


@pytest.mark.parametrize("container", ["unaligned", "other byte order", "float16", "objects", "CSR", "pyarrow"])
def test_what_cannot_be_read_as_it_is_has_no_matrix(container):
    assert table_of(FLOATS[container](np.ones((4, 3)))).matrix is None


def test_tables_with_categories_have_no_matrix():
    assert table_of(np.ones((4, 2)), Categories({1: (1,)})).matrix is None


N_ROWS, N_FEATURES = 20_000, 50
COLUMN_BYTES, ROW_BYTES = 8 * N_ROWS, 8 * N_FEATURES
BLOCKWISE = {
    "int64": lambda values: values.astype(np.int64),
    "float16": lambda values: values.astype(np.float16),
    "objects": lambda values: values.astype(object),
    "pandas ints": lambda values: pd.DataFrame(values.astype(np.int64)),
    "pandas, by column": separate_blocks,
    "pandas Int64": lambda values: pd.DataFrame(values).astype("Int64"),
    "polars": lambda values: pl.DataFrame(dict(zip(names(values), values.T.copy(), strict=True))),
    "CSC": sp.csc_array,
    "CSR": sp.csr_array,
}


@pytest.mark.parametrize("container", BLOCKWISE)
def test_reading_a_block_takes_memory_for_the_block_only(container):
    values = np.zeros((N_ROWS, N_FEATURES))
    values[:, ::10] = 1.0
    table = table_of(BLOCKWISE[container](values))
    rows = np.arange(N_ROWS)[::-1].copy()
    taken = table.take(rows)
    for each in (table, taken):  # a sparse matrix is turned once: that is proportional to its non-zeros
        each.columns(0, 1)
        each.rows(0, 1)
    overhead = 100_000
    for each in (table, taken):
        assert peak_of(lambda each=each: each.columns(3, 5)) < 4 * 2 * COLUMN_BYTES + overhead
        assert peak_of(lambda each=each: each.rows(100, 300)) < 4 * 200 * ROW_BYTES + overhead


@pytest.mark.parametrize("container", ["C order", "Fortran order", "pandas", "polars", "pyarrow", "CSR"])
def test_reading_and_taking_copy_nothing(container):
    X = FLOATS[container](np.ones((N_ROWS, N_FEATURES)))
    rows = np.arange(N_ROWS)
    assert peak_of(lambda: table_of(X).take(rows)) < COLUMN_BYTES


# Columns that are no numbers

NOT_NUMBERS = {
    "object text": (np.array([[1, "a"], [2, None]], dtype=object), "column 1 of X holds text, such as 'a'"),
    "text": (np.array([["1", "a"]]), "column 1 of X holds text, such as 'a'"),
    "pandas object": (pd.DataFrame({"n": [1, 2], "t": pd.Series([None, "a"], dtype=object)}), "column 't' .* 'a'"),
    "pandas text": (pd.DataFrame({"n": [1, 2], "t": pd.Series(["a", None], dtype="string")}), "column 't' .* 'a'"),
    "pandas category": (pd.DataFrame({"t": ["a", "b"]}).astype("category"), "column 't' .* 'a'"),
    "polars text": (pl.DataFrame({"n": [1], "t": ["a"]}), "column 't' .* 'a'"),
    "polars category": (pl.DataFrame({"t": ["a"]}, {"t": pl.Categorical}), "column 't' .* 'a'"),
    "pyarrow text": (pa.table({"t": ["a", None]}), "column 't' .* 'a'"),
    "pandas periods": (pd.DataFrame({"d": pd.period_range("2020", periods=2, freq="D")}), "column 'd' .*convert"),
    "pandas intervals": (pd.DataFrame({"d": pd.interval_range(0, 2).astype("category")}), "column 'd' .*not numbers"),
    "pandas complex": (pd.DataFrame({"c": [1j]}), "column 'c' .*complex.*convert"),
    "pyarrow intervals": (pa.table({"d": pa.array([(1, 2, 3)], pa.month_day_nano_interval())}), "column 'd' .*convert"),
    "polars lists": (pl.DataFrame({"d": [[1, 2]]}), "column 'd' .*List.*convert"),
    "pyarrow lists": (pa.table({"d": [["a"]]}), "column 'd' .*list.*convert"),
}


@pytest.mark.parametrize("container", NOT_NUMBERS)
def test_columns_that_are_no_numbers_are_named(container):
    X, message = NOT_NUMBERS[container]
    with pytest.raises(ValueError, match=message):
        whole(table_of(X))
    with pytest.raises(ValueError, match=message):
        table_of(X).take(np.array([0, 0] if len(X) == 1 else [1, 0])).rows(0, 2)


def test_text_errors_say_what_to_do():
    with pytest.raises(ValueError, match=r'categorical_features.*astype\("category"\)'):
        whole(table_of(np.array([["a"]], dtype=object)))


@pytest.mark.parametrize("value", [{"a": 1}, [1, 2], 1j])
def test_objects_that_are_no_numbers_are_named(value):
    X = np.empty((1, 2), dtype=object)
    X[0] = [1.0, value]
    with pytest.raises(TypeError, match=r"column 1 of X holds .*argument must be .*string.* number"):
        whole(table_of(X))


def test_a_column_of_nothing_but_missing_values_is_read():
    frame = pd.DataFrame({"a": [None, None]})
    arrow = pa.table({"a": [None, None]})
    for X in (np.array([[None], [None]]), frame, frame.astype(pd.ArrowDtype(pa.null())), pl.from_arrow(arrow), arrow):
        assert np.isnan(whole(table_of(X))).all()


# Categories in a table

MIXED = {
    "objects": lambda rows: np.array(rows, dtype=object),
    "pandas": lambda rows: pd.DataFrame(rows, columns=["n", "t", "k"]),
    "pandas category": lambda rows: pd.DataFrame(rows, columns=["n", "t", "k"]).astype(
        {"t": "category", "k": "category"}
    ),
    "polars": lambda rows: pl.DataFrame(rows, {"n": pl.Float64, "t": pl.Categorical, "k": pl.Int64}, orient="row"),
    "pyarrow": lambda rows: pa.table(dict(zip("ntk", map(list, zip(*rows, strict=True)), strict=True))),
}
MIXED_ROWS = st.tuples(SMALL, st.sampled_from(["a", "b", "c"]) | st.none(), st.sampled_from([2, 3, 5]))


@pytest.mark.parametrize("container", MIXED)
@FEW
@given(rows=st.lists(MIXED_ROWS, min_size=1, max_size=8), data=st.data())
def test_numbers_and_categories_of_one_table_keep_their_places(container, rows, data):
    raw = raw_table(MIXED[container](rows))
    table = raw.encode(Categories({1: ("a", "c"), 2: (2, 3, 5)}))
    code_of = {"a": 1.0, "c": 2.0}
    expected = np.array([[n, code_of.get(t, np.nan), [2, 3, 5].index(k) + 1.0] for n, t, k in rows])
    np.testing.assert_array_equal(whole(table), expected)
    np.testing.assert_array_equal(table.columns(1, 3), expected[:, 1:])
    np.testing.assert_array_equal(table.columns(0, 1), expected[:, :1])
    chosen = np.array(data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1, max_size=8)), dtype=np.intp)
    np.testing.assert_array_equal(table.take(chosen).rows(0, len(chosen)), expected[chosen])
    np.testing.assert_array_equal(table.take(chosen).columns(1, 2), expected[chosen, 1:2])


@pytest.mark.parametrize("container", ["CSR", "CSC", "C order", "float16", "float32"])
def test_numeric_containers_hold_categories_too(container):
    values = np.array([[0.0, 5.0], [2.0, 0.0], [0.0, 7.0]])
    raw = raw_table(FLOATS[container](values))
    table = raw.encode(fit_categories(raw, [1]))
    np.testing.assert_array_equal(whole(table), [[0.0, 2.0], [2.0, 1.0], [0.0, 3.0]])
    np.testing.assert_array_equal(table.rows(1, 3), [[2.0, 1.0], [0.0, 3.0]])


def test_reading_categories_leaves_the_input_alone():
    X = np.array([[1.0, 5.0], [2.0, 7.0]])
    whole(table_of(X, Categories({1: (5, 7)})))
    assert X.tolist() == [[1.0, 5.0], [2.0, 7.0]]


def test_category_dtypes_are_found():
    text = ["a", "b"]
    assert find_categorical(
        raw_table(pd.DataFrame({"n": [1, 2], "t": pd.Categorical(text), "s": text})), "from_dtype"
    ) == [1]
    dictionary = pd.Series(text, dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string())))
    assert find_categorical(raw_table(pd.DataFrame({"t": dictionary, "n": [1, 2]})), "from_dtype") == [0]
    schema = {"n": pl.Int64, "c": pl.Categorical, "e": pl.Enum(text), "s": pl.String}
    assert find_categorical(raw_table(pl.DataFrame([[1, 2], text, text, text], schema)), "from_dtype") == [1, 2]
    assert find_categorical(
        raw_table(pa.table({"t": pa.array(text).dictionary_encode(), "s": text})), "from_dtype"
    ) == [0]
    assert find_categorical(raw_table(np.array([["a"]], dtype=object)), "from_dtype") == []
    assert find_categorical(raw_table(sp.csr_array(np.ones((2, 2)))), "from_dtype") == []


# Which features are categories


@given(mask=st.lists(st.booleans(), min_size=1, max_size=6))
def test_indices_masks_and_names_choose_the_same_features(mask):
    raw = raw_table(pd.DataFrame(np.zeros((1, len(mask))), columns=[f"x{f}" for f in range(len(mask))]))
    indices = np.flatnonzero(mask)
    named = [raw.source.names[f] for f in indices]
    for chosen in (mask, np.array(mask), indices, indices[::-1].tolist(), named, np.array(named), pd.Index(named)):
        assert find_categorical(raw, chosen) == indices.tolist()


def test_categories_are_chosen_by_dtype_or_not_at_all():
    raw = raw_table(pd.DataFrame({"n": [1.0], "t": pd.Categorical(["a"])}))
    assert find_categorical(raw, "from_dtype") == [1]
    assert find_categorical(raw, None) == []
    assert find_categorical(raw, []) == []


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (["a", "z"], r"\['z'\], but X has no such columns; its columns are \['a', 'b', 'c'\]"),
        (["a", "a"], r"\['a'\] more than once"),
        ([0, 3], r"\[3\], but X has 3 features; give indices from 0 to 2"),
        ([-1], r"\[-1\], but X has 3 features"),
        ([1, 1], r"\[1\] more than once"),
        ([True, False], "a mask of length 2, but X has 3 features"),
        ([0.0, 1.0], r"categorical_features=\[0.0, 1.0\]; give"),
        ([0, "a"], r"categorical_features=\[0, 'a'\]; give"),
        ([True, 1], r"categorical_features=\[True, 1\]; give"),
        ("a", "categorical_features='a'; give"),
        (1, "categorical_features=1; give"),
        (True, "categorical_features=True; give"),
        ([[0, 1]], "categorical_features=.*; give"),
    ],
)
def test_wrong_choices_of_categories_are_explained(chosen, message):
    raw = raw_table(pd.DataFrame(np.zeros((1, 3)), columns=list("abc")))
    with pytest.raises(ValueError, match=message):
        find_categorical(raw, chosen)


@pytest.mark.parametrize("X", [np.zeros((1, 3)), sp.csr_array(np.ones((1, 3))), pd.DataFrame(np.zeros((1, 3)))])
def test_names_need_a_frame_that_has_them(X):
    with pytest.raises(ValueError, match="give indices or a mask, or a data frame with column names"):
        find_categorical(raw_table(X), ["a"])


# What scikit-learn checks

FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


@pytest.mark.parametrize("frame", FRAMES)
def test_frames_are_checked_as_scikit_learn_does(frame):
    make = FRAMES[frame]
    model = TreeOnTables().fit(make({"a": [0.0, 1.0], "b": [1.0, 0.0]}), [0, 1])
    assert model.n_features_in_ == 2
    assert model.feature_names_in_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="must be in the same order"):
        model.predict(make({"b": [0.0], "a": [1.0]}))
    with pytest.raises(ValueError, match="now missing:\n- b"):
        model.predict(make({"a": [1.0]}))
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\) \(shape=\(0, 1\)\).*by TreeOnTables"):
        raw_table(make({"a": []}))
    with pytest.raises(ValueError, match=r"0 (feature|sample)\(s\)"):
        raw_table(make({"a": [1.0]})[[]] if frame == "pandas" else make({"a": [1.0]}).select([]))


NO_TABLES = [np.zeros(3), pd.Series([1.0]), np.zeros((2, 2, 2)), 1.0, "a"]
FLAT_SPARSE = sp.coo_array(np.ones(3))  # a row of a table, before SciPy 1.13


@pytest.mark.parametrize("X", [*NO_TABLES, FLAT_SPARSE] if FLAT_SPARSE.ndim == 1 else NO_TABLES)
def test_tables_have_two_dimensions(X):
    with pytest.raises(ValueError, match=r"2D|dim 3|2-dimensional"):
        raw_table(X)


# Missing and infinite values

ANY_FLOATS = st.floats(allow_nan=True, allow_infinity=True)
HUGE = st.sampled_from([1.7e308, -1.7e308, 1e308, 0.0])


@given(
    matrix=hnp.arrays(
        np.float64, hnp.array_shapes(min_dims=2, max_dims=2), elements=ANY_FLOATS | HUGE | st.just(np.nan) | SMALL
    ),
    dtype=st.sampled_from([np.float32, np.float64]),
    order=st.sampled_from("CF"),
)
def test_survey_finds_nan_and_raises_for_infinity(matrix, dtype, order):
    with np.errstate(over="ignore"):
        matrix = matrix.astype(dtype, order=order)
    if np.isinf(matrix).any():
        message = f"Input X contains infinity or a value too large for {matrix.dtype!r}."
        with pytest.raises(ValueError, match="^" + re.escape(message)):
            has_nan(matrix)
    else:
        assert has_nan(matrix) == np.isnan(matrix).any()


@pytest.mark.parametrize("value", [1.0, np.nan, 1.7e308])
def test_survey_takes_no_memory(value):
    matrix = np.full((N_ROWS, N_FEATURES), value)
    assert peak_of(lambda: has_nan(matrix)) < 200_000


def test_values_too_large_for_float64_are_infinite():
    X = np.array([[np.longdouble("1e400")]])
    with pytest.raises(ValueError, match="infinity"):
        has_nan(whole(table_of(X)))
