"""Labels: a class for everything that Python tells apart, and none for what is missing."""

import datetime
from decimal import Decimal
from fractions import Fraction

import dask.array as da
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models import model_bytes

from comboost import CoMBoClassifier
from comboost._data.labels import exact_labels, find_distinct, join_labels, locate_labels, unpack_labels
from comboost._data.validation import TrainingSet
from comboost._distributed.coding import CheckedPart, Part
from comboost._distributed.survey import LabelCounts
from comboost.metrics import error_confusion_matrix, get_scorer
from comboost.metrics._outcomes import label_accuracy

SOME_DATES = st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2100, 1, 1))  # NumPy has them in nanoseconds

# Values of one kind each, some of which containers, dtypes or conversions may merge.
KINDS = {
    "integers": st.integers(-3, 3) | st.integers(-(2**80), 2**80) | st.sampled_from([2**53 + 1, 2**63, 2**64 - 1]),
    "whole numbers": st.sampled_from([1, True, 1.0, Decimal(1), Fraction(1), np.int8(1), 2**53, 2**53 + 1, 2.0**53])
    | st.sampled_from([np.uint64(2**63 + 1), np.int64(2**62 + 1), 2**62, 2**63, -1]),
    "text": st.text(alphabet="a\0 1", max_size=3),
    "booleans": st.booleans() | st.booleans().map(np.bool_),
    "times": st.integers(-3, 3).map(lambda count: pd.Timestamp(count)) | SOME_DATES,
    "zoned times": st.integers(-3, 3).map(lambda count: pd.Timestamp(count, tz="UTC")),
    "dates": st.dates(),
    "durations": st.integers(-3, 3).map(lambda count: pd.Timedelta(count, "ns")),
}
MISSING = [
    None,
    np.nan,
    float("nan"),
    np.float32("nan"),
    pd.NA,
    pd.NaT,
    np.datetime64("NaT", "s"),
    Decimal("NaN"),
    np.ma.masked,
]

by_kind = pytest.mark.parametrize("kind", KINDS)


def labels_of(kind, min_size=1):
    return st.lists(KINDS[kind], min_size=min_size, max_size=12)


def read(y):
    return exact_labels(unpack_labels(y), "y")


def in_python(values):
    """Values without NumPy's types, which do not compare with all numbers of Python."""
    return [value.item() if isinstance(value, np.generic) else value for value in values]


def object_array(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


CONTAINERS = [list, tuple, object_array, lambda values: pd.Series(values, dtype=object)]


@by_kind
@settings(max_examples=15)
@given(data=st.data())
def test_classes_are_the_labels_that_a_set_of_python_holds(kind, data):
    values = data.draw(labels_of(kind))
    make = data.draw(st.sampled_from(CONTAINERS))
    classes, indices = find_distinct(read(make(values)), "y")
    numbers = {value: index for index, value in enumerate(sorted(set(in_python(values))))}
    assert len(classes) == len(numbers)
    assert indices.tolist() == [numbers[value] for value in in_python(values)]


@by_kind
@settings(max_examples=15)
@given(data=st.data())
def test_metrics_compare_labels_as_python_does(kind, data):
    y_true = data.draw(labels_of(kind))
    y_pred = data.draw(st.lists(KINDS[kind] | st.sampled_from(y_true), min_size=len(y_true), max_size=len(y_true)))
    true_values, pred_values = in_python(y_true), in_python(y_pred)
    classes = sorted({*true_values, *pred_values})
    expected = np.zeros((len(classes), len(classes)))
    for true, pred in zip(true_values, pred_values, strict=True):
        if true != pred:
            expected[classes.index(true), classes.index(pred)] += 1 / true_values.count(true)
    first, second = data.draw(st.tuples(*[st.sampled_from(CONTAINERS)] * 2))
    np.testing.assert_allclose(error_confusion_matrix(first(y_true), second(y_pred)), expected)
    np.testing.assert_allclose(error_confusion_matrix(first(y_true), second(y_pred), labels=classes), expected)


@by_kind
@settings(max_examples=15)
@given(data=st.data())
def test_score_counts_rows_as_python_does(kind, data):
    y_true = data.draw(labels_of(kind))
    y_pred = data.draw(st.lists(KINDS[kind] | st.sampled_from(y_true), min_size=len(y_true), max_size=len(y_true)))
    right = [true == pred for true, pred in zip(in_python(y_true), in_python(y_pred), strict=True)]
    first, second = data.draw(st.tuples(*[st.sampled_from(CONTAINERS)] * 2))
    assert label_accuracy(first(y_true), second(y_pred), None) == np.mean(right)


def test_dates_as_objects_can_be_scored():
    X, days = np.arange(6.0)[:, np.newaxis], [datetime.date(2020, 1, day) for day in (1, 1, 1, 2, 2, 3)]
    model = CoMBoClassifier(n_estimators=5).fit(X, object_array(days))
    wrong = [datetime.date(2020, 1, 3), *days[1:]]
    for y in (days, object_array(days), pd.Series(days, dtype=object), np.array(days, dtype="M8[D]")):
        assert model.score(X, y) == list(model.staged_score(X, y))[-1] == 1.0
    assert model.score(X, object_array(wrong)) == 5 / 6
    assert model.score(X, object_array(wrong), sample_weight=[5, 1, 1, 1, 1, 1]) == 0.5


@by_kind
@settings(max_examples=15)
@given(data=st.data())
def test_labels_of_partitions_are_those_of_all_rows(kind, data):
    values = data.draw(labels_of(kind))
    cut = data.draw(st.integers(0, len(values)))
    parts = [read(object_array(part)) for part in (values[:cut], values[cut:]) if part]
    together, _ = find_distinct(join_labels(parts, "y"), "y")
    expected, indices = find_distinct(read(object_array(values)), "y")
    assert together.dtype.kind == expected.dtype.kind or kind == "whole numbers"
    assert locate_labels(together, expected).tolist() == list(range(len(expected)))
    assert np.concatenate([locate_labels(part, together) for part in parts]).tolist() == indices.tolist()


@by_kind
@settings(max_examples=12)
@given(data=st.data())
def test_missing_labels_are_counted_and_refused(kind, data):
    values = data.draw(labels_of(kind))
    rows = sorted(data.draw(st.sets(st.integers(0, len(values) - 1), min_size=1)))
    for row in rows:
        values[row] = data.draw(st.sampled_from(MISSING))
    y = data.draw(st.sampled_from([list, object_array]))(values)
    counted = rf"y holds {len(rows)} missing labels? \(the first in row {rows[0]}, counted from 0\); drop these rows"
    with pytest.raises(ValueError, match=counted):
        TrainingSet.read(y, None, len(values))
    with pytest.raises(ValueError, match=counted.replace("y holds", "y_true holds")):
        error_confusion_matrix(y, y)


HOLES = {
    "floats": np.array([1.0, np.nan, 0.0]),
    "times": np.array(["2020", "NaT", "2021"], dtype="M8[ns]"),
    "durations": np.array([1, "NaT", 2], dtype="m8[s]"),
    "masked": np.ma.array([1, 2, 0], mask=[False, True, False]),
    "masked text": np.ma.array(["a", "b", "c"], mask=[False, True, False]),
    "masked objects": np.ma.array(["a", "b", "c"], mask=[False, True, False], dtype=object),
    "pandas text": pd.Series(["a", None, "b"]),
    "pandas string": pd.Series(["a", None, "b"], dtype="string"),
    "pandas Int64": pd.Series([1, None, 2], dtype="Int64"),
    "pandas Arrow": pd.Series([1, None, 2], dtype="int64[pyarrow]"),
    "pandas category": pd.Series(["a", None, "b"], dtype="category"),
    "pandas categorical": pd.Categorical([1, None, 2]),
    "pandas index": pd.Index(["a", None, "b"]),
    "pandas times": pd.to_datetime(["2020-01-01", None, "2021-01-01"]),
    "polars": pl.Series([1, None, 2]),
    "polars text": pl.Series(["a", None, "b"]),
    "polars categories": pl.Series(["a", None, "b"], dtype=pl.Categorical),
    "pyarrow": pa.array([True, None, False]),
    "pyarrow text": pa.array(["a", None, "b"]),
    "pyarrow dictionary": pa.array(["a", None, "b"]).dictionary_encode(),
}


@pytest.mark.parametrize("container", HOLES)
def test_a_hole_in_any_container_is_refused_with_its_row(container):
    message = r"holds 1 missing label \(the first in row 1, counted from 0\); drop these rows or give them a class"
    with pytest.raises(ValueError, match="y " + message):
        CoMBoClassifier(n_estimators=1).fit([[0], [1], [2]], HOLES[container])
    with pytest.raises(ValueError, match="y_pred " + message):
        error_confusion_matrix(["a", "b", "c"], HOLES[container])
    with pytest.raises(ValueError, match="labels " + message):
        error_confusion_matrix(["a", "b", "c"], ["a", "b", "c"], labels=HOLES[container])


@settings(max_examples=12)
@given(data=st.data())
def test_labels_of_two_kinds_are_refused_with_their_types_and_counts(data):
    kinds = data.draw(st.sets(st.sampled_from(["integers", "text", "dates", "durations", "times"]), min_size=2))
    values = [value for kind in sorted(kinds) for value in data.draw(labels_of(kind))]
    with pytest.raises(ValueError, match="y mixes labels of several kinds: ") as raised:
        read(values)
    types = [type(value).__name__ for value in values]
    for name in types:
        assert f"{types.count(name)} of type {name} (such as " in str(raised.value)


@pytest.mark.parametrize("make", [list, object_array], ids=["list", "objects"])
def test_text_and_numbers_that_look_alike_are_never_merged(make):
    with pytest.raises(ValueError, match=r"2 of type str \(such as '1'\), 1 of type int \(such as 1\)"):
        CoMBoClassifier().fit([[0], [1], [2]], make(["1", "2", 1]))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0.5, 1.0], "continuous. y holds .*0.5.* in row 0"),
        ([1, Fraction(1, 3)], r"continuous. y holds Fraction\(1, 3\) in row 1"),
        ([1, Decimal("sNaN")], r"y holds Decimal\('sNaN'\) in row 1"),
        ([10**400, 0.5], r"continuous. y holds 0.5 in row 1"),
        ([1, Decimal("Infinity")], "y holds Decimal.'Infinity'. in row 1"),
        ([1.0, np.inf], "y holds 1 infinite label.* row 1"),
        ([b"a", b"b"], "y holds bytes"),
        (np.array([b"a", b"b"]), "y holds bytes"),
        ([1j, 2j], "y holds complex"),
        ([np.complex128(1), np.complex128(2)], "y holds complex"),
        ([np.bytes_(b"a"), np.bytes_(b"b")], "y holds bytes"),
        (np.array([1j, 2j]), "Complex data"),
        ([], "y has 0; give one label per row"),
        ([{}, {}], "y cannot be used as labels: unhashable"),
        ([object(), object()], "y cannot be used as labels: .*not supported between"),
        ([pd.Timestamp(1), pd.Timestamp(1, tz="UTC")], "y cannot be used as labels: .*tz-naive and tz-aware"),
        ([datetime.datetime(9000, 1, 1), np.datetime64(1, "as")], "y holds times too far apart"),
    ],
)
def test_what_is_no_class_is_refused_by_its_value(y, message):
    with pytest.raises(ValueError, match=message):
        CoMBoClassifier().fit([[0], [1]], y)


@pytest.mark.parametrize(
    ("y", "dtype"),
    [
        (["b", "a"], "<U1"),
        (["b", "a\0"], object),
        (np.array(["b", "a"], dtype=object), object),
        ([np.str_("b"), "a"], "<U1"),
        ([1, 2], np.int64),
        ([np.int8(1), np.int8(2)], np.int8),
        (np.array([1, 2], dtype=object), np.int64),
        (np.array([True, False], dtype=object), bool),
        ([1.0, 2], np.float64),
        ([1, 2**63], np.uint64),
        ([1, 2**64], object),
        ([-1, 2**63], object),
        ([pd.Timestamp(1), pd.Timestamp(2)], "M8[ns]"),
        ([datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)], "M8[D]"),
        (pd.Series([1, 2], dtype="Int8"), np.int8),
        (np.ma.array([1, 2], dtype=np.int16), np.int16),
    ],
    ids=repr,
)
def test_predictions_have_the_dtype_that_holds_all_labels(y, dtype):
    model = CoMBoClassifier(n_estimators=1).fit([[0.0], [1.0]], y)
    assert model.classes_.dtype == dtype
    assert model.predict([[0.0], [1.0]]).dtype == dtype


@pytest.mark.parametrize(
    ("y", "other"),
    [
        (np.array([2**63 + 1, 2**63], dtype=np.uint64), [2**63 + 1, 2**63]),
        ([2**53 + 1, 2**53], np.array([2**53 + 1, 2**53], dtype=np.uint64)),
        (["a\0", "a"], np.array(["a\0", "a"], dtype=object)),
        (pd.to_datetime([2, 1]), [np.datetime64(2000, "ps"), pd.Timestamp(1)]),
        (np.array([2, 1], dtype="m8[s]"), [datetime.timedelta(seconds=2), datetime.timedelta(seconds=1)]),
        ([2, 1], [Decimal(2), 1.0]),
    ],
    ids=repr,
)
def test_validation_costs_and_scorers_find_labels_of_another_type(y, other):
    X = np.array([[0.0], [1.0]])
    expected = CoMBoClassifier(n_estimators=3, cost_matrix=[[0, 1], [3, 0]], early_stopping=True)
    expected.fit(X, [1, 0], X_val=X, y_val=[1, 0])
    named = dict(zip(other, [3, 1], strict=True))
    frame = pd.DataFrame([[0, 3], [1, 0]], index=pd.Index(other, dtype=object), columns=pd.Index(other, dtype=object))
    for costs in (named, frame):
        model = CoMBoClassifier(n_estimators=3, cost_matrix=costs, early_stopping=True, scoring=get_scorer("g_mean"))
        model.fit(X, y, X_val=X, y_val=other)
        assert model_bytes(model) == model_bytes(expected)
        for name in ("g_mean", "mauc", "min_recall"):
            assert get_scorer(name)(model, X, other) == 1.0
    with pytest.raises(ValueError, match="y_val holds the class"):
        model.fit(X, y, X_val=X, y_val=["other", "others"])


@by_kind
@settings(max_examples=15)
@given(data=st.data())
def test_labels_counted_in_parts_are_those_counted_at_once(kind, data):
    values = data.draw(labels_of(kind))
    cut = data.draw(st.integers(0, len(values)))
    parts = [
        Part(number, np.zeros((len(rows), 1)), object_array(rows), None)
        for number, rows in enumerate((values[:cut], values[cut:]))
        if rows
    ]
    joined = LabelCounts.join([LabelCounts.of_part(CheckedPart.read(part, None)) for part in parts])
    expected, indices = find_distinct(read(object_array(values)), "y")
    assert locate_labels(joined.labels, expected).tolist() == list(range(len(expected)))
    assert joined.weight_sums.tolist() == np.bincount(indices).tolist()


def test_masked_chunks_of_dask_arrays_keep_their_masks():
    mask = [False, True, False]
    labels, column = (da.from_array(np.ma.array([0, 1, 2], mask=mask)).compute() for _ in range(2))
    with pytest.raises(ValueError, match="y holds 1 missing label"):
        CheckedPart.read(Part(0, np.zeros((3, 1)), labels, None), None)
    with pytest.raises(ValueError, match="sample_weight holds 1 masked value"):
        CheckedPart.read(Part(0, np.zeros((3, 1)), np.arange(3), column), 0)
    table = CheckedPart.read(Part(0, column[:, None], np.arange(3), None), None).table
    assert np.isnan(table.source.floats()).tolist() == [[False], [True], [False]]
