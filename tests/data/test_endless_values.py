"""Numbers of thousands of digits and lists that contain themselves: refused with a sentence, and at once."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from boosters import unchanged
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from comboost import CoMBoClassifier, ConfusionBoostingClassifier
from comboost._data.checks import MAX_BITS, MAX_DIGITS, MAX_NESTED, fill_mask, has_mask
from comboost.metrics import confusion_norm_loss, mauc_score
from comboost.model_selection import cross_validate_confusion

X = np.arange(6.0)[:, np.newaxis]
Y = np.array([0, 1, 1, 0, 1, 0])


def fraction(numerator, denominator):
    """A fraction, without the division that finds the common divisor."""
    value = object.__new__(Fraction)
    value._numerator, value._denominator = numerator, denominator
    return value


HUGE = 3**3_000_000
LONG = {
    "decimal": (Decimal("1E+3000000"), r"Decimal\('1E\+3000000'\)"),
    "decimal without memory": (Decimal("-1E+999999999999"), r"Decimal\('-1E\+999999999999'\)"),
    "decimal of many digits": (Decimal("9" * 10_000), "Decimal"),
    "integer": (-HUGE, "an integer of 4754888 bits"),
    "whole fraction": (fraction(HUGE, 1), "a fraction of integers of 4754888 and 1 bits"),
    "fraction": (fraction(HUGE, 7**700_000), "a fraction of integers of 4754888 and 1965149 bits"),
}
for_long_numbers = pytest.mark.parametrize(("value", "seen"), LONG.values(), ids=LONG)


def fit(y=Y, table=X, **parameters):
    return CoMBoClassifier(n_estimators=2, **parameters).fit(table, y)


@for_long_numbers
@pytest.mark.parametrize("others", [[0, 1, 0, 1, 0], [0.0, 1.0, 0.0, 1.0, 0.0]], ids=["integers", "floats"])
def test_long_numbers_are_refused_as_labels(value, seen, others):
    y, message = [*others, value], f"holds {seen}.* in row 5, counted from 0, a number of more than 4096 bits"
    model, early = fit(), CoMBoClassifier(n_estimators=2, early_stopping=True)
    calls = [
        lambda: early.fit(X, y),
        lambda: early.fit(X, pd.Series(y, dtype=object)),
        lambda: early.fit(X, Y, X_val=X, y_val=y),
        lambda: model.score(X, y),
        lambda: list(model.staged_score(X, y)),
        lambda: confusion_norm_loss(y, Y),
        lambda: confusion_norm_loss(Y, Y, labels=y),
        lambda: cross_validate_confusion(model, X, y),
    ]
    for call in calls:
        with unchanged(early), pytest.raises(ValueError, match=message):
            call()


@for_long_numbers
def test_long_numbers_are_refused_as_names_of_classes(value, seen):
    message = f"holds {seen}.* a number of more than 4096 bits"
    with pytest.raises(ValueError, match=f"cost_matrix {message}"):
        fit(cost_matrix={0: 1.0, value: 2.0})
    with pytest.raises(ValueError, match=f"priors {message}"):
        ConfusionBoostingClassifier(n_estimators=2, priors={0: 0.5, value: 0.5}).fit(X, Y).predict_proba(X)
    with pytest.raises(ValueError, match=f"reject_label {message}"):
        fit(decision="expected_cost", reject_cost=0.1, reject_label=value)


@for_long_numbers
def test_long_numbers_are_refused_in_columns(value, seen):
    with pytest.raises(ValueError, match=r"column 0 of X holds .*floats end at|contains infinity"):
        fit(table=[[value], *X[1:].tolist()])
    with pytest.raises(ValueError, match=rf"column 0 of X holds {seen}.* a number of more than|contains infinity"):
        fit(table=[[value], [1], [2], [3], [4], [5]], categorical_features=[0])


@given(sign=st.sampled_from([-1, 1]), bits=st.integers(MAX_BITS - 2, MAX_BITS + 1))
def test_integers_are_labels_up_to_a_length(sign, bits):
    label = sign * (2**bits - 1)  # of so many bits
    for value in (label, Fraction(label), Decimal(label)):
        y = [value, 0, 0, 0, 0, 0]
        if bits > MAX_BITS:
            with pytest.raises(ValueError, match="a number of more than 4096 bits"):
                fit(y)
        else:
            model = fit(y)
            assert model.classes_.tolist() == sorted([label, 0])
            assert model.score(X, y) == model.score(X, [label, 0, 0, 0, 0, 0])
    assert len(str(2**MAX_BITS)) == MAX_DIGITS


def test_small_decimals_are_fractions_however_many_digits_they_have():
    for value in (Decimal("1E-3000000"), Decimal("0." + "1" * 10_000), Decimal("1." + "0" * 10_000)):
        if value == 1:
            assert fit([value, 0, 0, 1, 0, 0]).classes_.tolist() == [0, 1]
        else:
            with pytest.raises(ValueError, match="Unknown label type: continuous"):
                fit([value, 0, 0, 1, 0, 0])


# Lists


def endless():
    """A list that contains itself."""
    values = [1, 2, 3, 4, 5]
    values.insert(0, values)
    return values


def endless_row():
    values = []
    values.append(values)
    return values


def endless_pair():
    """A list in a tuple in this list."""
    values = [1, 2, 3, 4, 5]
    values.insert(0, (values,))
    return values


def deep(depth):
    values = [1.0]
    for _ in range(depth - 1):
        values = [values]
    return values


def masked_endless():
    return [np.ma.masked, endless()]


LISTS = [endless, endless_row, endless_pair, lambda: deep(3000), masked_endless]
refused = pytest.raises(ValueError, match="nested more than 32 deep, or that contains itself; give a list of values")


@pytest.mark.parametrize("make", LISTS, ids=["itself", "only itself", "in a tuple", "deep", "masked"])
@pytest.mark.parametrize("wrap", [lambda values: values, lambda values: [values] * 6, lambda values: [values, *X[1:]]])
def test_lists_without_end_are_refused(make, wrap):
    values, model = wrap(make()), fit()
    early = CoMBoClassifier(n_estimators=2, early_stopping=True)
    calls = [
        lambda: fit(table=values),
        lambda: fit(table=values, estimator=DecisionTreeClassifier()),
        lambda: fit(y=values),
        lambda: early.fit(X, Y, sample_weight=values),
        lambda: early.fit(X, Y, X_val=values, y_val=Y),
        lambda: early.fit(X, Y, X_val=X, y_val=values),
        lambda: fit(cost_matrix=values),
        lambda: fit(cost_matrix={0: values, 1: 1.0}),
        lambda: ConfusionBoostingClassifier(n_estimators=2, priors=values).fit(X, Y),
        lambda: ConfusionBoostingClassifier(n_estimators=2, priors={0: values, 1: 0.5}).fit(X, Y),
        lambda: fit(decision="expected_cost", reject_cost=0.1, reject_label=values),
        lambda: model.predict(values),
        lambda: model.explain(values),
        lambda: model.score(X, values),
        lambda: confusion_norm_loss(values, Y),
        lambda: confusion_norm_loss(Y, Y, labels=values),
        lambda: mauc_score(Y, values),
    ]
    for call in calls:
        with unchanged(early), refused:
            call()
    with pytest.raises(ValueError, match=r"categorical_features=\[.*\]; give"):
        fit(categorical_features=values)


@given(st.integers(1, MAX_NESTED + 2))
def test_lists_are_followed_as_deep_as_arrays_go(depth):
    values = deep(depth)
    if depth > MAX_NESTED:
        with refused:
            has_mask(values)
    else:
        assert not has_mask(values)
        assert fill_mask(values) is values


def test_lists_that_share_lists_are_followed_once():
    values = [1.0]
    for _ in range(MAX_NESTED - 1):
        values = [values, values]
    assert not has_mask(values)
