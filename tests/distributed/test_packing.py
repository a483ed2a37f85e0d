"""Integers arrive as they were sent, in as few bytes as hold them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from comboost import _core
from comboost._distributed.packing import PackedIntegers

SHAPES = hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=6)


@st.composite
def integers(draw):
    """Draw arrays of small, large or any numbers, some of whose last columns are empty."""
    dtype = np.dtype(draw(st.sampled_from(["i8", "u8", "u4"])))
    info = np.iinfo(dtype)
    low = draw(st.sampled_from([0, info.min]))
    high = draw(st.sampled_from([2**k - 1 for k in range(1, 65) if 2**k - 1 <= info.max] + [0]))
    numbers = draw(hnp.arrays(dtype, draw(SHAPES), elements=st.integers(low, high)))
    numbers[..., draw(st.integers(0, 6)) :] = 0
    return numbers


@given(numbers=integers())
def test_numbers_arrive_as_they_were_sent(numbers):
    arrived = PackedIntegers.of(numbers).unpack()
    assert (arrived.dtype, arrived.shape) == (numbers.dtype, numbers.shape)
    np.testing.assert_array_equal(arrived, numbers)


@pytest.mark.parametrize("n_bytes", range(1, 9))
def test_a_number_takes_the_bytes_of_the_largest_one(n_bytes):
    numbers = np.arange(20)
    for largest in (128 * 256 ** (n_bytes - 1) - 1, -128 * 256 ** (n_bytes - 1)):  # the last ones that fit
        numbers[7] = largest
        assert PackedIntegers.of(numbers).packed.nbytes == 20 * n_bytes


def test_empty_columns_at_the_end_do_not_travel():
    sums = np.zeros((2, 10, 8), dtype=np.int64)
    sums[:, :, :5] = 1
    sums[:, :, 2] = 0
    assert PackedIntegers.of(sums).packed.nbytes == 2 * 10 * 5


def test_numbers_in_any_order_in_memory_arrive_as_they_were_sent():
    numbers = np.arange(24).reshape(2, 3, 4)
    np.testing.assert_array_equal(PackedIntegers.of(numbers.T).unpack(), numbers.T)


@pytest.mark.parametrize(
    ("n_columns", "n_bytes", "said"), [(3, 1, "room"), (2, 9, "room"), (2, 0, "room"), (1, 1, "as many bytes")]
)
def test_bytes_that_the_core_cannot_trust_are_refused(n_columns, n_bytes, said):
    with pytest.raises(ValueError, match=said):
        _core.unpack_integers(np.zeros(8, dtype=np.uint8), n_columns, n_bytes, np.empty((4, 2), dtype=np.int64))
