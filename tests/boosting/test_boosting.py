"""The edges of the loop: when a pass is repeated, and when nothing can be learned any more."""

import math

import numpy as np
import pytest

from comboost import _core
from comboost._boosting.loop import LOSS_VANISHED, N_ESTIMATORS, ROUNDING, boost
from comboost._data.sample_weights import ClassWeightSums
from comboost._engine.leaf_values import ClassValues
from comboost._engine.losses import Objective, exponent_below
from comboost._engine.rows import Costs, Learned
from comboost._types import COARSE_BITS, MIN_LOSS, ROUNDING_ROOM

LABELS = np.array([0, 1, 2, 2], dtype=np.uint16)
UNIT = np.ones((3, 3)) - np.eye(3)


def make_table():
    return _core.CostTable(LABELS, None, UNIT, None, 0, False, 1)


@pytest.mark.parametrize("bits_lost", [0, 1, 2, 3, 4, 40])
def test_pass_whose_largest_sample_is_too_small_is_repeated_in_finer_units(bits_lost):
    bound = math.ldexp(2.0, bits_lost)  # every sample has a loss of 2
    exponent, loss, largest, log_loss = make_table().update(None, None, bound)
    coarse = math.ldexp(2.0, exponent_below(bound, 3)) < 2**COARSE_BITS
    assert exponent == exponent_below(2.0 if coarse else bound, 3)
    assert (loss, largest, log_loss) == (8 << exponent, 2.0, None)


def test_round_is_added_once_though_its_pass_is_repeated():
    table, factors = make_table(), (np.array([2.0]), np.array([0.5]))
    table.update(None, None, 2.0)
    table.set_predicted(LABELS)
    _, _, largest, _ = table.update(*factors, 2.0**40)
    assert largest == 1.0  # all samples are right: every excess is halved


class OneRound:
    """Samples and a weak learner of one round, which leaves these costs."""

    kept = ()

    def __init__(self, after):
        self.costs = [Costs(0, 10**6, 1.0), after]

    def update(self, hypothesis, factors, bound, *, with_root):
        return self.costs.pop(0)

    def learn(self, rows, costs, round_idx):
        return Learned(LABELS, 10**5)

    def keep(self, learned, hypothesis, drop, covers):
        pass


VANISHED = math.ceil(-math.log2(MIN_LOSS))


@pytest.mark.parametrize(
    ("loss", "exponent", "reason"),
    [
        (0, 8, N_ESTIMATORS),  # as much as there must be
        (-1, 8, ROUNDING),
        (10**5, VANISHED, N_ESTIMATORS),
        (10**5, VANISHED + 20, LOSS_VANISHED),
        (-1, VANISHED + 20, LOSS_VANISHED),
    ],
)
def test_costs_are_exhausted_below_the_least_loss_and_not_at_it(loss, exponent, reason):
    objective = Objective.of(None, ClassWeightSums(np.array([1, 1, 2])), 0.0)
    least = ROUNDING_ROOM * objective.total_weight * 2
    rounds = OneRound(Costs(exponent, least + loss, 1.0))
    history = boost(rounds, rounds, ClassValues(objective, 1.0, "edge"), 1)
    assert history.stop_reason == reason
