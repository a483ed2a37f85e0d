"""The formulas against their closed forms, and cost matrices in every shape."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import quantised_reference

from comboost._data.cost_matrices import cost_array
from comboost._data.sample_weights import integer_weights
from comboost._engine import losses
from comboost._types import MAX_EDGE, MAX_WEIGHT_SUM, MIN_EDGE

CLASSES = np.array(["a", "b", "c"])
ONES = np.ones((3, 3)) - np.eye(3)


@given(weights=st.lists(st.floats(0, 1e300, allow_subnormal=True), min_size=1, max_size=30).filter(any))
def test_integer_weights_equal_the_twin_and_stay_below_the_limit(weights):
    n = integer_weights(np.array(weights))
    assert int(n.sum(dtype=np.uint64)) <= MAX_WEIGHT_SUM
    assert n.tolist() == list(quantised_reference.integer_weights(weights))


@given(weights=st.lists(st.integers(1, 2**20), min_size=1, max_size=30))
def test_weights_that_must_be_halved_are_rounded_half_to_even(weights):
    n = integer_weights(np.array([2.0**31, *weights]))  # with any other weight, the bound is above 2³²
    assert n.tolist() == [2**30, *(round(Fraction(weight, 2)) for weight in weights)]


@given(weights=st.lists(st.integers(0, 1000), min_size=1, max_size=30).filter(any))
def test_whole_weights_keep_their_ratios(weights):
    n = integer_weights(np.array(weights, dtype=float))
    assert {Fraction(int(a), b) for a, b in zip(n, weights, strict=True) if b} == {Fraction(int(n.max()), max(weights))}


# Just below a power of two the room decides.
BELOW_POWERS = st.builds(lambda below, x: (1.0 - below * 2.0**-30) * 2.0**x, st.floats(0, 1000), st.integers(-600, 200))


@given(bound=st.floats(1e-220, 1e60) | BELOW_POWERS, n_classes=st.integers(2, 1000))
def test_exponent_is_the_largest_that_leaves_room_for_rounding(bound, n_classes):
    exponent = losses.exponent_below(bound, n_classes)
    assert Fraction(bound) * Fraction(2) ** exponent <= 2**30 - n_classes
    assert Fraction(bound) * Fraction(2) ** (exponent + 1) > 2**30 - n_classes


@given(advantage=st.integers(1, 2**42))
def test_an_edge_of_the_smallest_size_does_not_beat_guessing_and_any_above_it_does(advantage):
    least = int(1 / MIN_EDGE)
    assert not losses.beats_guessing(advantage, advantage * least)
    assert losses.beats_guessing(advantage, advantage * least - 1)


@given(edge=st.floats(1e-6, 0.999))
def test_edge_step_makes_the_papers_bound_tight(edge):
    alpha = losses.step_of_edge(edge)
    factor = (1 - edge) / 2 * math.exp(alpha) + (1 + edge) / 2 * math.exp(-alpha)
    assert factor == pytest.approx(math.sqrt(1 - edge**2))
    assert losses.bound_factor(edge, 1.0) == pytest.approx(math.sqrt(1 - edge**2))


@given(advantage=st.integers(1, 2**62), rest=st.integers(0, 2**62))
def test_edge_step_follows_from_the_edge_and_is_capped(advantage, rest):
    loss = advantage + rest
    edge = losses.edge(advantage, loss)
    assert 0 < edge <= MAX_EDGE
    assert losses.edge_step(advantage, loss) <= losses.CAPPED_STEP
    # 1 - δ loses digits near 1; the integers do not.
    assert losses.edge_step(advantage, loss) == pytest.approx(losses.step_of_edge(edge), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(("right", "wrong"), [(1, 0), (2**62, 1), (2**40, 2**5)])
def test_exact_step_is_capped(right, wrong):
    assert losses.exact_step(right, wrong) == losses.CAPPED_STEP


@pytest.mark.parametrize(
    "cost_matrix",
    [
        None,
        ONES,
        ONES.tolist(),
        [1, 1, 1],
        {"a": 1, "b": 1, "c": 1},
        {"c": 1.0, "a": 1.0, "b": 1.0},
        pd.DataFrame(ONES, index=list("abc"), columns=list("abc")),
        pd.Series([1, 1, 1]),
        pd.Series(1, index=list("cab")),
    ],
    ids=str,
)
def test_a_mistake_costs_one_in_every_shape(cost_matrix):
    np.testing.assert_array_equal(cost_array(cost_matrix, CLASSES), ONES)


def test_labels_of_a_frame_are_compared_as_values():
    costs = cost_array(pd.DataFrame(ONES, index=range(3), columns=range(3)), np.array([0.0, 1.0, 2.0]))
    np.testing.assert_array_equal(costs, ONES)


def test_frame_is_read_by_its_labels_with_truth_in_the_index():
    costs = np.array([[0.0, 1, 2], [3, 0, 4], [5, 6, 0]])
    frame = pd.DataFrame(costs, index=list("abc"), columns=list("abc")).loc[list("cab"), list("bca")]
    np.testing.assert_array_equal(cost_array(frame, CLASSES), costs)


@pytest.mark.parametrize("kind", [dict, pd.Series, lambda costs: list(costs.values())])
def test_one_cost_per_class_is_the_cost_of_its_mistakes(kind):
    costs = cost_array(kind({"a": 1, "b": 5, "c": 2}), CLASSES)
    np.testing.assert_array_equal(costs, [[0, 1, 1], [5, 0, 5], [2, 2, 0]])


@pytest.mark.parametrize(
    ("cost_matrix", "message"),
    [
        (np.ones((2, 2)), r"shape \(2, 2\).*3 classes"),
        (np.ones(2), r"shape \(2,\).*3 classes"),
        (np.ones((3, 3)), "diagonal"),
        (-ONES, "negative"),
        (0 * ONES, "all zero"),
        ([0, 0, 0], "all zero"),
        (ONES * np.nan, "NaN"),
        ({"a": 1, "b": 1}, "every class exactly once"),
        ({"a": 1, "b": 1, "c": 1, "d": 1}, "every class exactly once"),
        ({"a": 1, "b": 1, "c": "much"}, "numbers"),
        ({"a": 1, "b": 1, "c": 1e-9}, "within a factor"),
        (ONES * 1j, "Complex"),
        (pl.DataFrame(ONES, schema=["x", "y", "z"]), "pandas DataFrame"),
        (pd.Series(1, index=list("aabc")), "every class exactly once"),
        (pd.Series(1, index=list("abx")), "every class exactly once"),
        (pd.DataFrame(ONES), "every class exactly once"),
        (pd.DataFrame(ONES, index=list("abc"), columns=list("abx")), "every class exactly once"),
        ([["x"] * 3] * 3, "numbers"),
        (ONES * 1e200, "scale it"),
    ],
)
def test_bad_cost_matrix_says_what_is_wrong(cost_matrix, message):
    with pytest.raises(ValueError, match=message):
        cost_array(cost_matrix, CLASSES)


def test_error_confusion_has_row_fractions_without_the_diagonal():
    shares = losses.error_confusion(np.array([[3, 1], [0, 2]]))
    np.testing.assert_allclose(shares, [[0, 0.25], [0, 0]])
