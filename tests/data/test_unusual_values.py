"""Values that are none, or none that a float can hold: masked ones, numbers without end, signalling NaNs."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from models import model_bytes
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from comboost import CoMBoClassifier
from comboost._data.cost_matrices import cost_array
from comboost._data.sample_weights import read_weights
from comboost.metrics import balanced_log_loss, confusion_norm_loss, expected_cost_loss, mauc_score

Y = np.array([0, 1, 1, 0, 1, 0])
VALUES = np.array([[3, 1], [1, 2], [4, 3], [1, 4], [5, 5], [9, 6]])
MASK = np.array([[False, True], [False, False], [True, False], [False, False], [False, False], [False, True]])


def masked(dtype=None):
    return np.ma.array(VALUES, mask=MASK, dtype=dtype)


def rows_with_masked_values():
    return [
        [np.ma.masked if is_masked else value for value, is_masked in zip(values, mask, strict=True)]
        for values, mask in zip(VALUES.tolist(), MASK.tolist(), strict=True)
    ]


# Masks

MASKED_TABLES = {
    "floats": lambda: masked(np.float64),
    "float32": lambda: masked(np.float32),
    "float16": lambda: masked(np.float16),
    "integers": masked,
    "bytes": lambda: masked(np.uint8),
    "objects": lambda: masked(object),
    "text of numbers": lambda: masked("<U2"),
    "a list of masked rows": lambda: list(masked()),
    "lists with masked values": rows_with_masked_values,
}


@pytest.mark.parametrize("table", MASKED_TABLES)
@pytest.mark.parametrize("categorical", [None, [1]], ids=["numbers", "categories"])
def test_masked_values_of_X_are_missing_ones(table, categorical):
    X, plain = MASKED_TABLES[table](), np.where(MASK, np.nan, VALUES)
    booster = CoMBoClassifier(n_estimators=4, categorical_features=categorical)
    if table == "text of numbers" and categorical is not None:
        plain = np.where(MASK, None, VALUES.astype(str).astype(object))
    expected = booster.fit(plain, Y)
    votes = expected.decision_function(plain)
    model = CoMBoClassifier(n_estimators=4, categorical_features=categorical).fit(X, Y)
    assert model_bytes(model) == model_bytes(expected)
    np.testing.assert_array_equal(model.decision_function(X), votes)


@pytest.mark.filterwarnings("ignore:Warning. converting a masked element to nan:UserWarning")
def test_masked_values_in_a_frame_of_objects_are_missing_numbers_and_no_categories():
    frame = pd.DataFrame(rows_with_masked_values(), dtype=object)
    expected = CoMBoClassifier(n_estimators=4).fit(np.where(MASK, np.nan, VALUES), Y)
    assert model_bytes(CoMBoClassifier(n_estimators=4).fit(frame, Y)) == model_bytes(expected)
    with pytest.raises(ValueError, match=r"column 1 of X cannot be used as categories: .*MaskedConstant"):
        CoMBoClassifier(categorical_features=[1]).fit(frame, Y)


def test_masked_integers_beyond_the_floats_stay_apart_as_categories():
    X = np.ma.array([[2**60], [2**60 + 1], [0]], mask=[[False], [False], [True]])
    model = CoMBoClassifier(n_estimators=1, categorical_features=[0]).fit(X, [0, 1, 1])
    assert model._categories.values == {0: (2**60, 2**60 + 1)}


def test_arrays_without_a_masked_value_are_what_they_hold():
    X = np.ma.array(VALUES, mask=False)
    weights = np.ma.array(np.ones(6))
    model = CoMBoClassifier(n_estimators=3, cost_matrix=np.ma.array([[0, 1], [2, 0]]))
    expected = CoMBoClassifier(n_estimators=3, cost_matrix=[[0, 1], [2, 0]]).fit(VALUES, Y, np.ones(6))
    assert model_bytes(model.fit(X, np.ma.array(Y), weights)) == model_bytes(expected)


def test_weak_learners_see_masked_values_as_missing_ones():
    by_tree = CoMBoClassifier(
        estimator=DecisionTreeClassifier(max_depth=2, random_state=0), n_estimators=2, random_state=0
    )
    votes = by_tree.fit(np.where(MASK, np.nan, VALUES), Y).decision_function(np.where(MASK, np.nan, VALUES))
    np.testing.assert_array_equal(by_tree.fit(masked(), Y).decision_function(masked()), votes)
    with pytest.raises(ValueError, match="X contains NaN"):
        CoMBoClassifier(estimator=GaussianNB(), n_estimators=2).fit(masked(), Y)


@settings(max_examples=15)
@given(mask=hnp.arrays(bool, 6), listed=st.booleans())
def test_masked_weights_are_counted_and_refused(mask, listed):
    weights = np.ma.array(np.ones(6), mask=mask)
    given_weights = list(weights) if listed else weights
    if not mask.any():
        assert read_weights(given_weights, 6, "sample_weight").tolist() == [1.0] * 6
        return
    message = f"sample_weight holds {mask.sum()} masked value.s., the first in row {mask.argmax()}, counted from 0;"
    with pytest.raises(ValueError, match=message):
        read_weights(given_weights, 6, "sample_weight")
    with pytest.raises(ValueError, match=message):
        confusion_norm_loss(Y, Y, sample_weight=given_weights)


@settings(max_examples=15)
@given(mask=hnp.arrays(bool, (3, 3)), listed=st.booleans())
def test_masked_costs_are_counted_and_refused(mask, listed):
    costs = np.ma.array(1.0 - np.eye(3), mask=mask)
    cost_matrix = list(costs) if listed else costs
    if not mask.any():
        np.testing.assert_array_equal(cost_array(cost_matrix, np.arange(3)), costs.data)
        return
    row, column = np.argwhere(mask)[0]
    message = f"cost_matrix holds {mask.sum()} masked value.s., the first in row {row}, column {column}, counted from 0"
    with pytest.raises(ValueError, match=message):
        cost_array(cost_matrix, np.arange(3))
    with pytest.raises(ValueError, match=message):
        expected_cost_loss([0, 1, 2], [0, 1, 2], cost_matrix=cost_matrix)


def test_masked_costs_of_a_dict_are_refused():
    with pytest.raises(ValueError, match="cost_matrix holds 1 masked value"):
        cost_array({0: 1.0, 1: np.ma.masked}, np.arange(2))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", [mauc_score, balanced_log_loss])
def test_masked_scores_are_refused(metric, dtype):
    scores = np.ma.array([[0.5, 0.5], [0.5, 0.5]], mask=[[False, False], [True, False]], dtype=dtype)
    with pytest.raises(ValueError, match=r"y_\w+ holds 1 masked value.s., the first in row 1, column 0"):
        metric([0, 1], scores)


# Numbers that no float can hold

ODD = {
    "a huge integer": 10**400,
    "an integer too long to be written": 10**5000,
    "a huge negative integer": -(10**400),
    "a huge fraction": Fraction(10**400),
    "a signalling NaN": Decimal("sNaN"),
}

by_odd_value = pytest.mark.parametrize("odd", ODD.values(), ids=ODD)


@by_odd_value
@pytest.mark.parametrize(
    "make",
    [list, lambda rows: np.array(rows, dtype=object), lambda rows: pd.DataFrame(rows, dtype=object)],
    ids=["list", "objects", "pandas"],
)
def test_numbers_of_X_that_no_float_holds_are_refused_with_their_column(odd, make):
    X, plain = make([[1, 2], [3, odd]]), make([[1, 2], [3, 4]])
    message = r"column 1 of X holds .*(floats end at|not a number)"
    model = CoMBoClassifier(n_estimators=1)
    with pytest.raises(ValueError, match=message):
        model.fit(X, [0, 1])
    with pytest.raises(ValueError, match=message):
        model.fit(plain, [0, 1]).predict(X)
    with pytest.raises(ValueError, match=r"X holds .* in row 1, column 1"):
        CoMBoClassifier(estimator=GaussianNB(), n_estimators=1).fit(X, [0, 1])


def test_categories_of_a_frame_that_no_float_holds_are_refused_as_numbers():
    X = pd.DataFrame({"c": pd.Categorical.from_codes([0, 1], pd.Index([1, 10**400], dtype=object))})
    with pytest.raises(ValueError, match="column 'c' of X holds 1000"):
        CoMBoClassifier(n_estimators=1, categorical_features=None).fit(X, [0, 1])
    assert CoMBoClassifier(n_estimators=1).fit(X, [0, 1]).predict(X).tolist() == [0, 1]


@by_odd_value
def test_weights_that_no_float_holds_are_refused_with_their_row(odd):
    message = "sample_weight holds .* in row 1, counted from 0: "
    with pytest.raises(ValueError, match=message):
        CoMBoClassifier().fit([[0], [1]], [0, 1], sample_weight=[1, odd])
    with pytest.raises(ValueError, match=message):
        confusion_norm_loss([0, 1], [0, 1], sample_weight=[1, odd])


@by_odd_value
@pytest.mark.parametrize(
    "make",
    [
        lambda odd: [[0, odd], [1, 0]],
        lambda odd: pd.DataFrame([[0, odd], [1, 0]], dtype=object),
        lambda odd: {0: odd, 1: 1},
        lambda odd: pd.Series([odd, 1], index=[0, 1], dtype=object),
    ],
    ids=["list", "frame", "dict", "Series"],
)
def test_costs_that_no_float_holds_are_refused_with_their_place(odd, make):
    message = "cost_matrix holds .* in row 0(, column 1)?, counted from 0: "
    with pytest.raises(ValueError, match=message):
        CoMBoClassifier(cost_matrix=make(odd)).fit([[0], [1]], [0, 1])
    with pytest.raises(ValueError, match=message):
        expected_cost_loss([0, 1], [0, 1], cost_matrix=make(odd))


def test_fractions_and_decimals_are_numbers():
    thirds = [[Fraction(k, 3), Decimal(k)] for k in range(4)]
    floats = [[k / 3, float(k)] for k in range(4)]
    y, weights = [0, 1, 1, 0], [Fraction(1, 2), Decimal("0.25"), 1, 2.0]
    costs = [[0, Fraction(1, 2)], [Decimal(2), 0]]
    model = CoMBoClassifier(n_estimators=3, cost_matrix=costs).fit(thirds, y, weights)
    expected = CoMBoClassifier(n_estimators=3, cost_matrix=[[0, 0.5], [2, 0]]).fit(floats, y, [0.5, 0.25, 1, 2])
    assert model_bytes(model) == model_bytes(expected)


# What is no table of numbers

RAGGED = [[1.0], [2.0, 3.0], [1.0], [1.0], [1.0], [1.0]]
PERIODS = pd.DataFrame({"when": pd.period_range("2020", periods=len(Y))})
TWINS = pd.DataFrame(VALUES, columns=["x", "x"])
NO_TABLES = {
    "ragged rows": (lambda: CoMBoClassifier().fit(RAGGED, Y), "X has rows of several lengths"),
    "ragged weights": (lambda: CoMBoClassifier().fit(VALUES, Y, RAGGED), "sample_weight has rows of several lengths"),
    "ragged costs": (lambda: cost_array([[0, 1], [1]], np.array([0, 1])), "cost_matrix has rows of several lengths"),
    "sparse costs": (lambda: cost_array(sp.csr_array([[0, 1], [1, 0]]), np.array([0, 1])), "give cost_matrix.toarray"),
    "two columns of a name": (lambda: CoMBoClassifier().fit(TWINS, Y), "several columns of the name.* 'x'"),
    "periods": (lambda: CoMBoClassifier(estimator=GaussianNB()).fit(PERIODS, Y), "no numbers in column 'when'"),
}


@pytest.mark.parametrize("case", NO_TABLES)
def test_what_is_no_table_of_numbers_is_refused_by_name(case):
    fit, sentence = NO_TABLES[case]
    with pytest.raises(ValueError, match=sentence):
        fit()


LARGE_LABELS = [pl.Series([0, 10**30] * 3, dtype=pl.Int128)] if hasattr(pl, "Int128") else []  # of later versions


@pytest.mark.parametrize("labels", [*LARGE_LABELS, pl.Series(["a", "a\0"] * 3)])
def test_labels_that_numpy_has_no_type_for_stay_apart(labels):
    assert CoMBoClassifier(n_estimators=1).fit(VALUES, labels).classes_.tolist() == labels.to_list()[:2]
