"""Norms against NumPy and their defining properties, users' norms, and the line search."""

import itertools
import math
import re

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from comboost._engine.norms import NORMS, checked_gradient, checked_value, get_norm, minimise_along

PAIR_NORMS = ["entrywise", "frobenius", "schatten-4", "spectral"]
CLASS_NORMS = ["entrywise", "worst-class", "l2-class"]
norm_kinds = st.sampled_from([(name, 2) for name in PAIR_NORMS] + [(name, 1) for name in CLASS_NORMS])


def reference_value(name, A):
    if name == "spectral":
        return np.linalg.norm(A, 2)
    if name == "schatten-4":
        return np.linalg.norm(np.linalg.svd(A, compute_uv=False), 4)
    orders = {"entrywise": 1, "frobenius": 2, "l2-class": 2, "worst-class": 8}
    return np.linalg.norm(A.ravel(), orders[name])


@st.composite
def losses_of(draw, n_dims, *, min_value=0.0, n_matrices=1):
    """Draw loss-based confusion matrices, or class losses, of the same number of classes."""
    n_classes = draw(st.integers(2, 7))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    drawn = []
    for _ in range(n_matrices):
        A = random.random((n_classes,) * n_dims) ** draw(st.integers(1, 6)) + min_value
        if min_value == 0.0:
            A *= random.random(A.shape) < draw(st.sampled_from([0.3, 0.7, 1.0]))
        if n_dims == 2:
            np.fill_diagonal(A, 0.0)
        drawn.append(A)
    return drawn[0] if n_matrices == 1 else drawn


def with_losses(**kinds):
    """A norm and the losses that it is a norm of."""
    return norm_kinds.flatmap(lambda kind: st.tuples(st.just(kind[0]), losses_of(kind[1], **kinds)))


# Ties and other special cases


def permutation(n_classes):
    return np.roll(np.eye(n_classes), 1, axis=1)


SPECIAL = {
    "two classes": np.array([[0.0, 0.3], [0.7, 0.0]]),
    "two equal classes": permutation(2),
    "permutation": permutation(5),
    "scaled permutation": permutation(5) / 3.0,
    "equal blocks": np.kron(np.eye(3), permutation(2)),
    # Two blocks of the norm 2, so that the largest singular value is double.
    "unequal blocks of equal norm": np.block(
        [[1.0 - np.eye(3), np.zeros((3, 2))], [np.zeros((2, 3)), 2.0 * permutation(2)]]
    ),
    "all equal": 1.0 - np.eye(6),
    "one entry": np.outer([0.0, 0.0, 0.4, 0.0], [1.0, 0.0, 0.0, 0.0]),
    "one row": np.outer([0.0, 1.0, 0.0], [0.3, 0.0, 0.2]),
    "one column": np.outer([0.3, 0.0, 0.2], [0.0, 1.0, 0.0]),
    "nearly tied": permutation(4) * np.array([[1.0], [1.0 + 1e-10], [1.0 - 1e-13], [0.5]]),
}


@pytest.mark.parametrize("A", SPECIAL.values(), ids=SPECIAL)
@pytest.mark.parametrize("name", PAIR_NORMS)
def test_special_matrices_have_numpys_norm_and_a_subgradient(name, A):
    norm = get_norm(name)
    value, G = norm.value_and_gradient(A)
    assert value == pytest.approx(reference_value(name, A), rel=1e-14)
    assert np.vdot(G, A) == pytest.approx(value, rel=1e-14)
    assert (G >= 0).all()
    assert not G.diagonal().any()
    random = np.random.default_rng(0)
    for _ in range(20):  # Φ(B) ≥ Φ(A) + ⟨G, B − A⟩ = ⟨G, B⟩
        B = random.random(A.shape) * (1.0 - np.eye(len(A)))
        assert norm.value(B) >= np.vdot(G, B) * (1.0 - 1e-12)


def test_tied_blocks_share_the_spectral_gradient():
    G = get_norm("spectral").gradient(SPECIAL["equal blocks"])
    np.testing.assert_allclose(G, SPECIAL["equal blocks"] / 6.0, rtol=1e-12)


@pytest.mark.parametrize("n_classes", [26, 128])
@pytest.mark.parametrize("name", PAIR_NORMS)
def test_many_classes_have_numpys_norm(name, n_classes):
    A = np.random.default_rng(n_classes).random((n_classes, n_classes)) ** 5 * (1.0 - np.eye(n_classes))
    value, G = get_norm(name).value_and_gradient(A)
    assert value == pytest.approx(reference_value(name, A), rel=1e-13)
    assert np.vdot(G, A) == pytest.approx(value, rel=1e-13)


# Properties of every norm


@given(drawn=with_losses())
def test_value_equals_numpys(drawn):
    name, A = drawn
    assert get_norm(name).value(A) == pytest.approx(reference_value(name, A), rel=1e-13)


@given(drawn=with_losses(min_value=0.01), seed=st.integers(0, 2**32 - 1))
def test_gradient_equals_finite_differences(drawn, seed):
    name, A = drawn
    if name == "spectral":
        largest, second = np.linalg.svd(A, compute_uv=False)[:2]
        assume(largest - second > 0.01 * largest)
    direction = np.random.default_rng(seed).normal(size=A.shape) * (A > 0)
    norm, h = get_norm(name), 1e-6
    slope = (norm.value(A + h * direction) - norm.value(A - h * direction)) / (2 * h)
    assert np.vdot(norm.gradient(A), direction) == pytest.approx(slope, abs=1e-6)


@given(drawn=with_losses())
def test_gradient_is_non_negative_and_satisfies_euler(drawn):
    name, A = drawn
    value, G = get_norm(name).value_and_gradient(A)
    assert G.shape == A.shape
    assert (G >= 0).all()
    assert A.ndim == 1 or not G.diagonal().any()
    assert np.vdot(G, A) == pytest.approx(value, rel=1e-13)


@given(drawn=with_losses(n_matrices=2))
def test_larger_losses_have_a_larger_norm(drawn):
    name, (C, increase) = drawn
    norm = get_norm(name)
    assert norm.value(C) <= norm.value(C + increase) * (1.0 + 1e-14)


@given(drawn=with_losses(n_matrices=2), share=st.floats(0, 1))
def test_norms_are_convex(drawn, share):
    name, (A, B) = drawn
    norm = get_norm(name)
    between = share * A + (1.0 - share) * B
    assert norm.value(between) <= (share * norm.value(A) + (1.0 - share) * norm.value(B)) * (1.0 + 1e-13)


@given(drawn=with_losses(), exponent=st.integers(-900, 900))
def test_norms_are_homogeneous_to_the_bit_for_powers_of_two(drawn, exponent):
    name, A = drawn
    assume(not A.any() or A[A > 0].min() > 1e-30)  # no entry becomes subnormal
    value, G = get_norm(name).value_and_gradient(A)
    scaled_value, scaled_G = get_norm(name).value_and_gradient(np.ldexp(A, exponent))
    assert scaled_value == math.ldexp(value, exponent)
    np.testing.assert_array_equal(scaled_G, G)


@given(drawn=with_losses(), scale=st.sampled_from([1e-200, 1e-3, 7.0, 1e200]))
def test_norms_are_homogeneous(drawn, scale):
    name, A = drawn
    assert get_norm(name).value(scale * A) == pytest.approx(scale * get_norm(name).value(A), rel=1e-13)


@given(drawn=losses_of(2))
def test_norms_of_pairs_are_ordered(drawn):
    values = [get_norm(name).value(drawn) for name in ("spectral", "schatten-4", "frobenius", "entrywise")]
    assert all(a <= b * (1.0 + 1e-14) for a, b in itertools.pairwise(values))


@given(drawn=with_losses())
def test_norm_of_the_rounds_is_never_smaller(drawn):
    name, A = drawn
    norm = get_norm(name)
    assert norm.smooth.of == norm.of
    assert norm.value(A) <= norm.smooth.value(A) * (1.0 + 1e-14)
    assert norm.smooth.value(A) <= len(A) ** (1.0 / 8.0) * norm.value(A) * (1.0 + 1e-14)


@pytest.mark.parametrize("name", NORMS)
def test_only_the_spectral_norm_needs_another_one_for_its_rounds(name):
    norm = get_norm(name)
    assert (norm.smooth is norm) == (name != "spectral")
    assert norm.smooth.smooth is norm.smooth


@pytest.mark.parametrize("A", SPECIAL.values(), ids=SPECIAL)
def test_norm_of_the_rounds_of_the_spectral_norm_has_a_gradient_at_ties(A):
    smooth, random = get_norm("spectral").smooth, np.random.default_rng(0)
    value, G = smooth.value_and_gradient(A)
    assert value == pytest.approx(np.linalg.norm(np.linalg.svd(A, compute_uv=False), 8), rel=1e-13)
    assert np.vdot(G, A) == pytest.approx(value, rel=1e-13)
    for _ in range(5):
        direction = random.normal(size=A.shape) * (A > 0)
        slope = (smooth.value(A + 1e-6 * direction) - smooth.value(A - 1e-6 * direction)) / 2e-6
        assert np.vdot(G, direction) == pytest.approx(slope, abs=1e-6)


@given(losses=losses_of(1))
def test_norms_of_classes_are_ordered(losses):
    values = [losses.max()] + [get_norm(name).value(losses) for name in ("worst-class", "l2-class", "entrywise")]
    assert all(a <= b * (1.0 + 1e-14) for a, b in itertools.pairwise(values))


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("name", NORMS)
def test_zero_has_the_gradient_of_equal_entries(name, n_classes):
    norm = get_norm(name)
    equal = np.ones(n_classes) if norm.of == "classes" else 1.0 - np.eye(n_classes)
    value, G = norm.value_and_gradient(np.zeros_like(equal))
    assert value == 0.0
    np.testing.assert_array_equal(G, norm.gradient(equal))
    assert G.max() > 0


@pytest.mark.parametrize("n_classes", [3, 26])
@pytest.mark.parametrize("name", PAIR_NORMS)
def test_bits_do_not_depend_on_the_memory_of_the_matrix(name, n_classes):
    A = np.random.default_rng(0).random((n_classes, n_classes)) * (1.0 - np.eye(n_classes))
    raw = np.zeros(A.nbytes + 64, dtype=np.uint8)
    expected = get_norm(name).value_and_gradient(A)
    for start in (0, 8, 16, 24):
        moved = raw[start : start + A.nbytes].view(np.float64).reshape(A.shape)
        moved[:] = A
        value, G = get_norm(name).value_and_gradient(moved)
        assert value == expected[0]
        np.testing.assert_array_equal(G, expected[1])


# Names and users' norms


class LargestRow:
    """The largest row sum; its gradient is 1 in that row."""

    def value(self, A):
        return A.sum(axis=1).max()

    def gradient(self, A):
        G = np.zeros_like(A)
        G[A.sum(axis=1).argmax()] = 1.0
        return G


A = np.array([[0.0, 0.2, 0.1], [0.4, 0.0, 0.3], [0.0, 0.1, 0.0]])


def norm_of(value=None, gradient=None):
    """A norm that returns what is given."""
    methods = {"value": lambda self, A: value, "gradient": lambda self, A: gradient}
    return type("Mine", (), methods)()


def test_unknown_norm_lists_the_known_ones():
    with pytest.raises(ValueError, match="norm='frobenious' is unknown; use one of ") as raised:
        get_norm("frobenious")
    assert all(repr(name) in str(raised.value) for name in NORMS)


@pytest.mark.parametrize("name", ["nuclear", "trace"])
def test_nuclear_norm_is_refused_with_the_reason(name):
    with pytest.raises(ValueError, match=r"not monotone.*\[\[1, 0\], \[1, 1\]\].*2\.236.*'spectral'"):
        get_norm(name)
    smaller, larger = np.array([[1, 0], [1, 1]]), np.ones((2, 2))
    assert np.linalg.norm(smaller, "nuc") == pytest.approx(2.236, abs=1e-3)
    assert np.linalg.norm(larger, "nuc") == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (3, r"norm is 3, which lacks value(A) and gradient(A)"),
        (None, r"norm is None, which lacks value(A) and gradient(A)"),
        (type("Half", (), {"value": lambda self, A: 0.0, "__repr__": lambda self: "Half()"})(), "lacks gradient(A)"),
        (LargestRow, "norm is the class LargestRow, not an object of it"),
    ],
)
def test_what_is_not_a_norm_is_refused(given, message):
    with pytest.raises(TypeError, match=re.escape(message)):
        get_norm(given)


def test_norm_of_something_else_is_refused():
    given = LargestRow()
    given.of = "samples"
    with pytest.raises(ValueError, match="norm LargestRow: its attribute of is 'samples'; use 'pairs'"):
        get_norm(given)


@pytest.mark.parametrize("of", ["pairs", "classes"])
def test_given_norm_is_called(of):
    given = LargestRow()
    given.of = of
    assert get_norm(given).of == of
    assert get_norm(LargestRow()).of == "pairs"
    norm = get_norm(LargestRow())
    assert norm.name == "LargestRow"
    value, G = norm.value_and_gradient(A)
    assert (value, norm.value(A)) == (0.7, 0.7)
    assert G.tolist() == norm.gradient(A).tolist() == [[0, 0, 0], [1, 0, 1], [0, 0, 0]]


@pytest.mark.parametrize("value", [-0.5, math.nan, math.inf, "large", None, np.ones(3)])
def test_bad_value_is_refused_by_name(value):
    with pytest.raises(ValueError, match=r"norm Mine: value\(A\) returned .*; expected a finite number"):
        checked_value(norm_of(value), A)
    with pytest.raises(ValueError, match="norm Mine"):
        get_norm(norm_of(value)).value(A)


@pytest.mark.parametrize(
    ("gradient", "message"),
    [
        (-A, "has the entry -0.4; expected entries that are not negative"),
        (np.where(A == 0.4, np.nan, 1.0), "has the entry nan; expected finite entries"),
        (np.where(A == 0.4, np.inf, 1.0), "has the entry inf; expected finite entries"),
        (np.ones(3), "returned an array of shape (3,); expected the shape of A, (3, 3)"),
        (1.0, "returned an array of shape (); expected the shape of A, (3, 3)"),
        (np.where(A == 0.0, 1.0, 0.0), "is 0 wherever A is positive; expected a positive entry where A is positive"),
        (np.eye(3), "is 0 wherever A is positive"),
        ("steep", "returned 'steep'; expected an array of shape (3, 3)"),
        (None, "expected"),
    ],
)
def test_bad_gradient_is_refused_by_name(gradient, message):
    with pytest.raises(ValueError, match=r"norm Mine: gradient\(A\) .*" + re.escape(message)):
        checked_gradient(norm_of(1.0, gradient), A)
    with pytest.raises(ValueError, match="norm Mine"):
        get_norm(norm_of(1.0, gradient)).value_and_gradient(A)


@pytest.mark.parametrize("factor", [0.5, 1.0 + 1e-5, 2.0])
def test_gradient_that_is_not_of_the_value_is_refused(factor):
    class Scaled(LargestRow):
        def gradient(self, A):
            return factor * super().gradient(A)

    with pytest.raises(ValueError, match=r"norm Scaled: value\(A\) returned .*, but the sum of gradient\(A\) \* A is"):
        get_norm(Scaled()).value(A)


def test_norm_may_be_its_own_smooth_norm():
    given = LargestRow()
    given.smooth = given
    assert get_norm(given).smooth.value(A) == get_norm(given).value(A)


@pytest.mark.parametrize("smooth", ["spectral", "kinked"])
def test_smooth_norm_with_kinks_is_refused(smooth):
    given, other = LargestRow(), LargestRow()
    other.smooth = given
    given.smooth = other if smooth == "kinked" else smooth
    with pytest.raises(ValueError, match="has kinks itself; give a norm that is smooth"):
        get_norm(given)


def test_diagonal_of_a_given_gradient_is_ignored():
    gradient = np.full((3, 3), 2.0)
    np.fill_diagonal(gradient, -1.0)
    assert checked_gradient(norm_of(1.0, gradient), A).tolist() == (2.0 * (1.0 - np.eye(3))).tolist()
    assert gradient[0, 0] == -1.0


def test_given_norm_cannot_change_the_losses():
    class Writes(LargestRow):
        def value(self, A):
            value = super().value(A)
            A[:] = 0.0
            return value

    before = A.copy()
    get_norm(Writes()).value(A)
    np.testing.assert_array_equal(A, before)


# The line search


class Curve:
    """A convex function that counts its evaluations."""

    def __init__(self, value, slope):
        self.value, self.slope, self.n_calls = value, slope, 0

    def __call__(self, point):
        self.n_calls += 1
        return self.value(point), self.slope(point)


@st.composite
def norm_curves(draw):
    """Φ of Σ S_q∘exp(s·(v_j − v_l)), as a round has it."""
    S = np.array(draw(losses_of(2, min_value=1e-4, n_matrices=2)))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    values = random.normal(size=S.shape[:2]) * draw(st.sampled_from([0.1, 1.0, 5.0]))
    direction = values[:, np.newaxis, :] - values[:, :, np.newaxis]
    norm = get_norm(draw(st.sampled_from(PAIR_NORMS)))

    def pairs(s):
        return S * np.exp(s * direction)

    return Curve(
        lambda s: norm.value(pairs(s).sum(axis=0)),
        lambda s: float(np.vdot(norm.gradient(pairs(s).sum(axis=0)), (pairs(s) * direction).sum(axis=0))),
    )


@given(curve=norm_curves(), high=st.sampled_from([0.3, 1.0, 10.7]))
def test_search_is_no_worse_than_scipys(curve, high):
    point = minimise_along(curve, high)
    assert 0.0 <= point <= high
    assert curve.n_calls <= 36
    found = minimize_scalar(curve.value, bounds=(0.0, high), method="bounded", options={"xatol": 1e-9})
    assert curve.value(point) <= found.fun * (1.0 + 1e-7)
    assert curve.value(point) <= min(curve.value(0.0), curve.value(high)) * (1.0 + 1e-7)


@given(zero=st.floats(0, 1), power=st.sampled_from([1, 3, 15]), scale=st.sampled_from([1e-100, 1.0, 1e100]))
def test_search_finds_the_zero_of_the_slope(zero, power, scale):
    curve = Curve(lambda s: 0.0, lambda s: scale * (s - zero) ** power)
    point = minimise_along(curve, 1.0)
    assert abs(point - zero) <= 2.0**-29 or curve.slope(point) == 0.0
    assert curve.n_calls <= 60


@given(kink=st.floats(1e-6, 10.7), steep=st.sampled_from([1e-300, 1e-5, 1.0, 1e9, math.inf]))
def test_search_finds_a_kink(kink, steep):
    curve = Curve(lambda s: 0.0, lambda s: -1.0 if s < kink else steep)
    assert abs(minimise_along(curve, 10.7) - kink) <= 10.7 * 2.0**-30
    assert curve.n_calls <= 60


@given(
    zero=st.floats(0, 10.7),
    guess=st.floats(1e-6, 20.0),
    power=st.sampled_from([1, 3]),
    scale=st.sampled_from([1e-100, 1.0]),
)
def test_search_finds_the_zero_of_the_slope_from_any_guess(zero, guess, power, scale):
    curve = Curve(lambda s: 0.0, lambda s: scale * (s - zero) ** power)
    point = minimise_along(curve, 10.0, guess)
    assert abs(point - min(zero, 10.0)) <= 10.0 * 2.0**-29 or curve.slope(point) == 0.0
    assert 0.0 <= point <= 10.0
    assert curve.n_calls <= 90


@pytest.mark.parametrize("slope", [-1.0, 0.0])
def test_search_ends_at_once_where_the_upper_end_is_best(slope):
    curve = Curve(lambda s: 0.0, lambda s: slope)
    assert minimise_along(curve, 2.0) == 2.0
    assert curve.n_calls == 1


def test_search_stays_where_nothing_falls():
    curve = Curve(lambda s: s, lambda s: 1.0)
    assert minimise_along(curve, 2.0) == 0.0
    assert curve.n_calls == 2


def test_search_takes_few_evaluations():
    random = np.random.default_rng(0)
    calls = []
    for _ in range(200):
        right, wrong = random.random() + 0.1, random.random() * 0.1
        curve = Curve(lambda a: 0.0, lambda a, r=right, w=wrong: w * math.exp(a) - r * math.exp(-a))
        assert minimise_along(curve, 10.7) == pytest.approx(0.5 * math.log(right / wrong), abs=1e-7)
        calls.append(curve.n_calls)
    assert np.mean(calls) < 14
