"""The borders of the loop: when a pass is repeated, and when nothing can be learned any more."""

import math

import pytest

from comboost._boosting.loop import LOSS_VANISHED, ROUNDING, exhaustion_of
from comboost._engine.formulas import exponent_below
from comboost._engine.rows import Costs, quantise_below
from comboost._types import COARSE_BITS, MIN_LOSS

LEAST_COARSE = 2.0**COARSE_BITS


@pytest.mark.parametrize("largest", [LEAST_COARSE, math.nextafter(LEAST_COARSE, 0.0)])
def test_pass_whose_largest_row_is_too_small_is_repeated_once_without_votes(largest):
    passes = []

    def quantise(vote, exponent):
        passes.append((vote, exponent))
        return 7, math.ldexp(largest, exponent - passes[0][1])

    vote, bound = object(), 0.7
    exponent, loss, found = quantise_below(bound, 3, vote, quantise)
    first = exponent_below(bound, 3)
    again = (None, exponent_below(math.ldexp(largest, -first), 3))
    assert passes == [(vote, first)] + [again] * (largest < LEAST_COARSE)
    assert (exponent, loss, found) == (passes[-1][1], 7, math.ldexp(largest, -first))


@pytest.mark.parametrize(
    ("loss", "exponent", "reason"),
    [
        (1000, 0, None),  # as much as there must be
        (999, 0, ROUNDING),
        (10**6, math.ceil(-math.log2(MIN_LOSS)), None),
        (10**6, math.ceil(-math.log2(MIN_LOSS)) + 20, LOSS_VANISHED),
        (999, math.ceil(-math.log2(MIN_LOSS)) + 20, LOSS_VANISHED),
    ],
)
def test_costs_are_exhausted_below_the_least_loss_and_not_at_it(loss, exponent, reason):
    assert exhaustion_of(Costs(exponent, loss, 1.0, None), 1000) == reason
