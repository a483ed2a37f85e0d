"""The vote of one leaf: laws of matrix balancing, and of the form for many classes, on drawn sums."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from reference import float_leaf_reference, leaf_reference
from reference.leaf_reference import LARGEST_STEP, N_SWEEPS

FLOAT_ERROR = 1e-12  # of a few hundred float operations in a row
LARGEST_RATIO = 2**10  # of entries within which no factor of five classes comes near its limit


def matrices(elements, max_classes=5):
    """Draw soft confusion matrices, as integers with a zero diagonal, not all of them 0."""
    shapes = st.integers(2, max_classes).map(lambda n: (n, n))
    drawn = shapes.flatmap(lambda shape: hnp.arrays(np.int64, shape, elements=elements, fill=st.nothing()))
    return drawn.map(lambda matrix: matrix * (1 - np.eye(len(matrix), dtype=np.int64))).filter(np.any)


POSITIVE = matrices(st.integers(1, LARGEST_RATIO))
WITH_ZEROS = matrices(st.integers(0, 3) | st.integers(0, LARGEST_RATIO))
WIDE = matrices(st.integers(0, 3) | st.integers(0, 2**60))
RATES = st.sampled_from([1.0, 0.5, 0.1]) | st.floats(0.01, 1.0)
SMOOTHINGS = st.sampled_from([0.0, 0.01, 1.0]) | st.floats(0.0, 2.0)


def best_class(matrix):
    """The class that the paper's leaf votes for."""
    return int((matrix.sum(axis=0) - matrix.sum(axis=1)).argmin())


def balanced(matrix, n_sweeps=N_SWEEPS):
    """The twin's vote on a matrix without smoothing, not centred."""
    x, _ = leaf_reference.balance(matrix.astype(float).tolist(), best_class(matrix), n_sweeps)
    return np.log(x)


def left_of(matrix, vote):
    """The loss that a vote leaves, on integers as floats."""
    return float(float_leaf_reference.scale(matrix.astype(float), vote).sum())


def sums_of(matrix):
    """A leaf in the words of the twin."""
    up, down = matrix.sum(axis=1).tolist(), matrix.sum(axis=0).tolist()
    return leaf_reference.LeafSums(best_class(matrix), up, down, matrix.tolist())


def smoothing_of(matrix, smoothing):
    """ρ of plain costs."""
    return (smoothing * (1.0 - np.eye(len(matrix))) * matrix.max()).tolist()


def both_votes(matrix, smoothing, rate):
    """The votes of a leaf by pairs of classes and by classes on their own, before the learning rate."""
    sums, rho = sums_of(matrix), smoothing_of(matrix, smoothing)
    return np.array([leaf_reference.vote_by_pairs(sums, rho), leaf_reference.vote_by_classes(sums, rho, rate)])


# Balance


@given(matrix=POSITIVE)
def test_imbalance_of_a_leaf_is_at_most_what_its_last_sweep_gained(matrix):
    # A step on row and column sums r, c lowers the sum of all by (√r − √c)² and moves the balance of the other classes
    # by |r − c| = (√r + √c)·|√r − √c| in total; r + c is never above the sum. The rest is Cauchy and Schwarz.
    before, after = (left_of(matrix, balanced(matrix, n)) for n in (N_SWEEPS - 1, N_SWEEPS))
    scaled = float_leaf_reference.scale(matrix, balanced(matrix))
    gained = max(before - after, 0.0) + FLOAT_ERROR * before
    assert np.abs(float_leaf_reference.imbalance(scaled)).sum() <= np.sqrt(2 * len(matrix) * before * gained)


@given(matrix=POSITIVE)
def test_class_of_the_last_step_is_balanced(matrix):
    scaled = float_leaf_reference.scale(matrix, balanced(matrix))
    last = best_class(matrix) - 1
    assert abs(float_leaf_reference.imbalance(scaled)[last]) <= FLOAT_ERROR * scaled.sum()


@given(matrix=POSITIVE)
def test_every_class_is_balanced_after_many_sweeps(matrix):
    scaled = float_leaf_reference.scale(matrix, float_leaf_reference.balance(matrix, 300, best_class(matrix)))
    assert (np.abs(float_leaf_reference.imbalance(scaled)) <= 1e-9 * scaled.sum()).all()


@given(matrix=POSITIVE, data=st.data())
def test_no_other_vote_leaves_less_than_the_balanced_one(matrix, data):
    vote = float_leaf_reference.balance(matrix, 300, best_class(matrix))
    other = data.draw(hnp.arrays(np.float64, len(matrix), elements=st.floats(-5, 5)))
    assert left_of(matrix, vote) <= left_of(matrix, vote + other) * (1 + 1e-9)


@given(matrix=POSITIVE)
def test_factors_are_those_of_the_steps_in_logarithms(matrix):
    expected = float_leaf_reference.balance(matrix, N_SWEEPS, best_class(matrix))
    np.testing.assert_allclose(leaf_reference.centre(balanced(matrix).tolist()), expected, atol=1e-12)


# Gain


@given(matrix=WIDE | WITH_ZEROS)
def test_no_sweep_loses(matrix):
    left = [left_of(matrix, balanced(matrix, n)) for n in range(N_SWEEPS + 1)]
    assert all(after <= before * (1 + FLOAT_ERROR) for before, after in pairwise(left))


@given(matrix=WIDE | WITH_ZEROS, alpha=st.floats(0, LARGEST_STEP))
def test_vote_leaves_no_more_than_any_vote_for_one_class_would(matrix, alpha):
    alone = np.zeros(len(matrix))
    alone[best_class(matrix)] = alpha
    assert left_of(matrix, balanced(matrix)) <= left_of(matrix, alone) * (1 + FLOAT_ERROR)


@given(matrix=WIDE | WITH_ZEROS, smoothing=SMOOTHINGS, rate=RATES)
def test_no_share_of_a_vote_loses(matrix, smoothing, rate):
    # ρ is symmetric, and a symmetric matrix only grows when it is scaled: what falls is the rest.
    for vote in both_votes(matrix, smoothing, rate):
        assert left_of(matrix, rate * vote) <= float(matrix.sum()) * (1 + FLOAT_ERROR)


@given(matrix=WIDE | WITH_ZEROS, smoothing=SMOOTHINGS, rate=RATES)
def test_share_of_a_vote_leaves_no_more_than_that_share_of_what_the_vote_takes_off(matrix, smoothing, rate):
    vote, _ = both_votes(matrix, smoothing, rate)
    bound = (1 - rate) * float(matrix.sum()) + rate * left_of(matrix, vote)
    assert left_of(matrix, rate * vote) <= bound * (1 + FLOAT_ERROR)


@given(matrix=WIDE | WITH_ZEROS, data=st.data())
def test_what_any_vote_leaves_is_what_the_sums_of_pairs_say_and_no_more_than_those_of_classes_say(matrix, data):
    vote = data.draw(hnp.arrays(np.float64, len(matrix), elements=st.floats(-5, 5)))
    sums, factors = sums_of(matrix), leaf_reference.Factors.of(vote.tolist())
    assert leaf_reference.left_by_pairs(sums, factors) == pytest.approx(left_of(matrix, vote), rel=FLOAT_ERROR)
    assert left_of(matrix, vote) <= leaf_reference.left_by_classes(sums, factors) * (1 + FLOAT_ERROR)


# Forms


@given(matrix=matrices(st.integers(0, 3) | st.integers(0, 2**60), max_classes=2), smoothing=SMOOTHINGS)
def test_two_classes_have_the_closed_form(matrix, smoothing):
    # a·exp(v₁ − v₀) + b·exp(v₀ − v₁) is smallest at v₁ − v₀ = ½·ln(b/a), and v₀ = −v₁.
    rho = np.array(smoothing_of(matrix, smoothing))
    (_, a), (b, _) = matrix + rho
    with np.errstate(divide="ignore"):
        expected = np.clip(0.25 * np.log(b / a) if a else np.inf, -LARGEST_STEP, LARGEST_STEP)
    vote = leaf_reference.vote_by_pairs(sums_of(matrix), rho.tolist())
    np.testing.assert_allclose(vote, [-expected, expected], atol=1e-12)


@given(matrix=WIDE | WITH_ZEROS, smoothing=SMOOTHINGS, rate=RATES)
def test_votes_of_a_leaf_add_up_to_nothing(matrix, smoothing, rate):
    votes = both_votes(matrix, smoothing, rate)
    assert (np.abs(votes.sum(axis=1)) <= 1e-13 * len(matrix) * LARGEST_STEP).all()


@given(matrix=WIDE | WITH_ZEROS, smoothing=SMOOTHINGS)
def test_symmetric_leaves_vote_for_nothing(matrix, smoothing):
    symmetric = matrix // 2 + matrix.T // 2
    assume(symmetric.any())
    np.testing.assert_allclose(both_votes(symmetric, smoothing, 1.0), 0.0, atol=1e-13)


@given(matrix=WIDE | WITH_ZEROS, smoothing=SMOOTHINGS, rate=RATES)
def test_what_sums_of_classes_say_never_rises(matrix, smoothing, rate):
    _, vote = both_votes(matrix, smoothing, rate)
    left = leaf_reference.left_by_classes(sums_of(matrix), leaf_reference.Factors.of((rate * vote).tolist()))
    assert left <= float(matrix.sum()) * (1 + FLOAT_ERROR)
