"""Text: categories, numbers that are spelled out, or numbers with words among them, which are refused."""

import datetime
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator

from comboost import CoMBoClassifier
from comboost._data.text import PLACEHOLDERS, ColumnContent, is_numeric
from comboost._data.validation import fit_categories, read_table


def objects(values):
    array = np.empty((len(values), 1), dtype=object)
    array[:, 0] = values
    return array


def raw_table(X):
    return read_table(BaseEstimator(), X, reset=True)


def columns_of(X, categorical_features="from_dtype", weights=None):
    """What a fit makes of a table: the categories, and the floats of the first column."""
    raw = raw_table(X)
    categories, _ = fit_categories(raw, categorical_features, weights)
    return categories, raw.encode(categories).columns(0, 1)[:, 0]


CONTAINERS = {
    "objects": objects,
    "objects with NaN": lambda values: objects([np.nan if value is None else value for value in values]),
    "pandas objects": lambda values: pd.DataFrame({"c": pd.Series(values, dtype=object)}),
    "pandas text": lambda values: pd.DataFrame({"c": pd.Series(values, dtype="str")}),
    "pandas nullable text": lambda values: pd.DataFrame({"c": pd.Series(values, dtype="string")}),
    "pandas Arrow text": lambda values: pd.DataFrame({"c": pd.Series(values, dtype=pd.ArrowDtype(pa.string()))}),
    "polars": lambda values: pl.DataFrame({"c": pl.Series(values, dtype=pl.String)}),
    "pyarrow": lambda values: pa.table({"c": pa.array(values, pa.string())}),
    "pyarrow large text": lambda values: pa.table({"c": pa.array(values, pa.large_string())}),
    "pyarrow text views": lambda values: pa.table({"c": pa.array(values, pa.string_view())}),
}
WORDS = st.sampled_from(["a", "b", "Z", "é", "x1", "1x", "?", ""])
NUMERALS = st.sampled_from(["1", "2.5", "-3", " 4 ", "1e3", "007"])


def outcome(X, weights=None):
    try:
        categories, floats = columns_of(X, weights=weights)
    except ValueError as error:
        return re.sub(r"column (0|'c')", "column", str(error))
    return categories.values.get(0), floats.tobytes()


@settings(max_examples=30)
@given(values=st.lists(WORDS | NUMERALS | st.none(), min_size=1, max_size=12).filter(any), data=st.data())
def test_text_is_read_alike_in_any_container_and_order(values, data):
    order = data.draw(st.permutations(range(len(values))))
    found = {outcome(make(values)) for make in CONTAINERS.values()}
    assert len(found) == 1
    shuffled = outcome(objects([values[i] for i in order]))
    assert shuffled[0] == found.pop()[0]


@settings(max_examples=20)
@given(values=st.lists(WORDS | NUMERALS, min_size=1, max_size=8), data=st.data())
def test_weights_decide_as_often_as_rows(values, data):
    times = data.draw(st.lists(st.integers(1, 12), min_size=len(values), max_size=len(values)))
    weighed, repeated = objects(values), np.repeat(objects(values), times, axis=0)
    outcomes = outcome(weighed, np.array(times, dtype=np.uint32)), outcome(repeated)
    assert len({type(found) for found in outcomes}) == 1
    assert isinstance(outcomes[0], str) or outcomes[0][0] == outcomes[1][0]


@pytest.mark.parametrize("container", CONTAINERS)
def test_words_are_categories(container):
    categories, codes = columns_of(CONTAINERS[container](["b", None, "a", "b", "3"]))
    assert categories.values == {0: ("3", "a", "b")}
    np.testing.assert_array_equal(codes, [3, np.nan, 2, 3, 1])


@pytest.mark.parametrize("chosen", ["from_dtype", None, []])
@pytest.mark.parametrize("container", CONTAINERS)
def test_text_in_which_every_value_spells_a_number_is_numbers(container, chosen):
    categories, numbers = columns_of(CONTAINERS[container](["10", None, " 9.5", "1e3", "007"]), chosen)
    assert not categories.values
    np.testing.assert_array_equal(numbers, [10, np.nan, 9.5, 1000, 7])


@pytest.mark.parametrize("container", CONTAINERS)
def test_text_that_is_numerics_is_categories_where_it_is_said_to_be(container):
    assert columns_of(CONTAINERS[container](["10", "9", "10"]), [0])[0].values == {0: ("10", "9")}


@pytest.mark.parametrize("dtype", ["U", "T"] if hasattr(np.dtypes, "StringDType") else ["U"])
def test_arrays_of_text_hold_words_and_numbers_column_by_column(dtype):
    X = np.array([["x", "1.5"], ["y", "2"]], dtype=dtype)
    raw = raw_table(X)
    categories, codes = fit_categories(raw, "from_dtype", None)
    assert categories.values == {0: ("x", "y")}
    assert codes[0].tolist() == [1, 2]
    assert raw.encode(categories).columns(1, 2)[:, 0].tolist() == [1.5, 2]


@pytest.mark.parametrize(
    "values",
    [
        [1, 2.5, None],
        [Decimal("1.5"), Fraction(1, 3), 2],
        [True, False, np.nan],
        ["1", 2, pd.NA],
        [np.int8(1), np.float32(2), pd.NaT],
        [b"1", b"2.5", 3],
        [None, None, None],
    ],
    ids=str,
)
def test_objects_that_are_numbers_are_numbers(values):
    categories, numbers = columns_of(objects(values))
    assert not categories.values
    expected = [np.nan if value is None or value is pd.NA or value is pd.NaT else float(value) for value in values]
    np.testing.assert_array_equal(numbers, expected)


def test_text_without_values_is_categories_that_nobody_has_seen():
    frame = pd.DataFrame({"c": pd.Series([None, None], dtype="string")})
    assert columns_of(frame)[0].values == {0: ()}


@given(st.text(max_size=4) | st.from_regex(r"[-+]?[\d_ ]*\.?\d*(e\d)?", fullmatch=True))
def test_text_spells_a_number_if_python_says_so(text):
    try:
        float(text)
    except ValueError:
        assert not is_numeric(text)
    else:
        assert is_numeric(text)


# Words among numbers


@pytest.mark.parametrize("word", ["?", "NA", "n/a", "-", "", "None", " ? "])
@pytest.mark.parametrize("container", CONTAINERS)
def test_numbers_with_a_placeholder_are_refused_with_its_number_and_what_it_probably_is(container, word):
    values = ["1", word, "2.5", word, None]
    message = (
        rf"column (0|'c') of X holds numbers, but also {re.escape(repr(word))} \(2 of 5 rows\).*missing.*na_values"
    )
    with pytest.raises(ValueError, match=message):
        columns_of(CONTAINERS[container](values))
    with pytest.raises(ValueError, match=message):
        columns_of(CONTAINERS[container](values), None)


def test_placeholders_are_told_apart_from_words_by_nothing_but_their_list():
    assert {"?", "na", "n/a", "-", ""} <= PLACEHOLDERS
    assert columns_of(objects(["1", "x", "?", "2"]))[0].values == {0: ("1", "2", "?", "x")}


@pytest.mark.parametrize("n_words", [1, 2])
def test_nine_numbers_for_a_word_make_a_column_of_numbers(n_words):
    values = ["7"] * 17 + ["8"] + ["typo"] * n_words
    with pytest.raises(ValueError, match=rf"'typo' \({n_words} of {18 + n_words} rows\)"):
        columns_of(objects(values))
    assert columns_of(objects(values[1:] if n_words == 2 else [*values[9:], "typo"]))[0].values == {
        0: ("7", "8", "typo")
    }


@pytest.mark.parametrize("values", [[1, 2.5, "?"], [1.0, "NA", None], [Decimal(3), 4, "-"]], ids=str)
def test_objects_with_a_placeholder_are_refused(values):
    word = next(value for value in values if isinstance(value, str))
    message = rf"column 0 of X holds numbers, but also '\{word}' \(1 of 3 rows\).*na_values" if word != "NA" else "'NA'"
    with pytest.raises(ValueError, match=message):
        columns_of(objects(values))


def test_objects_that_mix_numbers_and_words_are_refused():
    with pytest.raises(ValueError, match=r"holds numbers, but also 'x' \(1 of 3 rows\), 'y' .*astype\(str\)"):
        columns_of(objects([1, "x", "y"]))


def test_many_words_are_counted_instead_of_listed():
    values = ["1"] * 100 + [f"w{k}" for k in range(7)]
    with pytest.raises(ValueError, match=r"'w4' \(1 of 107 rows\), and 2 more\. "):
        columns_of(objects(values))


def test_rows_of_parts_are_looked_at_together():
    parts = [["1"] * 10, ["?"], [None], ["2", "x"]]
    mixtures = [ColumnContent.of_objects("c", np.array(p, dtype=object), None, lambda p=p: column(p))[0] for p in parts]
    joined = ColumnContent.join(mixtures[::-1])
    whole = ColumnContent.of_column(column([value for part in parts for value in part]), None)
    assert (joined.n_samples, joined.n_numeric, joined.n_words) == (whole.n_samples, whole.n_numeric, whole.n_words)
    assert joined.words == whole.words
    assert set(joined.examples) == set(whole.examples)


def column(values):
    return raw_table(objects(values)).column_values(0)


# All at once

BAD = {
    "age": ["1", "?", "3", "4"],
    "list": [[1], [2], [3], [4]],
    "mixed": [1, "x", 2, "y"],
    "fine": ["u", "v", "w", "u"],
    "when": [datetime.date(2020, 1, 1), 1, 2, 3],
    "number": [1.0, 2.0, 3.0, np.nan],
}


def test_all_columns_that_cannot_be_read_are_listed_with_their_reasons():
    frame = pd.DataFrame(BAD).assign(period=pd.period_range("2020", periods=4))
    with pytest.raises(ValueError, match=r"^5 columns of X cannot be used:") as caught:
        CoMBoClassifier().fit(frame, [0, 1, 0, 1])
    reasons = str(caught.value).splitlines()[1:]
    expected = ["'age' .*na_values", r"'list' .*\[.\]", "'mixed' .*astype", "'when' .*dates", "'period' .*period"]
    for reason, part in zip(reasons, expected, strict=True):
        assert re.match(f"- column {part}", reason)


def test_all_columns_of_text_are_listed_where_none_may_be_categories():
    frame = pd.DataFrame({"a": ["x", "y"], "b": ["p", "q"], "c": pd.Categorical(["s", "t"])})
    with pytest.raises(ValueError, match=r"(?s)^3 columns of X cannot be used:.*'a' .*'b' .*'c' "):
        CoMBoClassifier(categorical_features=None).fit(frame, [0, 1])
    with pytest.raises(ValueError, match=r"(?s)^2 columns of X cannot be used:.*'a' .*'c' "):
        CoMBoClassifier(categorical_features=["b"]).fit(frame, [0, 1])


def test_all_columns_that_cannot_be_read_at_prediction_are_listed():
    model = CoMBoClassifier(n_estimators=1).fit(
        pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0], "c": ["u", "v"]}), [0, 1]
    )
    with pytest.raises(ValueError, match=r"(?s)^2 columns of X cannot be used:.*'a' .*text.*'b' .*NA"):
        model.predict(pd.DataFrame({"a": ["x"] * 3, "b": ["1", "NA", "2"], "c": ["u"] * 3}))


def test_one_column_that_cannot_be_read_has_an_error_of_its_own():
    with pytest.raises(TypeError, match=r"^column 'list' of X holds .*argument must be a string or a real number"):
        CoMBoClassifier().fit(pd.DataFrame({"list": BAD["list"]}), [0, 1, 0, 1])


# Names

DOUBLE = {
    "pandas": pd.DataFrame(np.zeros((2, 3)), columns=["a", "b", "a"]),
    "pyarrow": pa.Table.from_arrays([pa.array([0.0, 1.0])] * 3, names=["a", "b", "a"]),
}


@pytest.mark.parametrize("container", DOUBLE)
def test_columns_that_share_a_name_are_refused_by_name(container):
    with pytest.raises(ValueError, match=r"several columns of the name\(s\) 'a'; give every column a name of its own"):
        CoMBoClassifier().fit(DOUBLE[container], [0, 1])
