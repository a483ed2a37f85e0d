"""Algorithm 1 of the paper. In: rows, a weak learner, unit costs. Out: the rounds kept and why they ended."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from comboost import _costs
from comboost._dtypes import COARSE_BITS, MIN_EDGE, MIN_LOSS, Floats
from comboost._learners import Hypothesis, Learner
from comboost._rows import Costs, Rows, Vote

#: Why a fit ended.
N_ESTIMATORS = "n_estimators"  # all rounds asked for are there
NO_EDGE = "no_edge"  # nothing better than guessing is left
PERFECT_LEARNER = "perfect_learner"  # a weak learner made no mistake that costs anything
LOSS_VANISHED = "loss_vanished"  # the loss is below 1e-200


@dataclass(frozen=True)
class BoostRules:
    """How to boost; see the estimators' parameters."""

    n_estimators: int
    learning_rate: float
    step: str


@dataclass
class History:
    """The rounds kept: one entry each."""

    edges: list[float] = field(default_factory=list)
    alphas: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    stop_reason: str = N_ESTIMATORS


def boost(
    rows: Rows,
    learner: Learner,
    unit: Floats,
    rules: BoostRules,
    on_round: Callable[[int], None] | None = None,
) -> History:
    """Boost weak learners on rows.

    Parameters
    ----------
    rows : Rows
        The rows, with no votes yet.
    learner : Learner
        The weak learner W; keeps its hypotheses.
    unit : ndarray of shape (K, K)
        c(l,j)/M_l.
    rules : BoostRules
        How to boost.
    on_round : callable, optional
        Called with the number of rounds kept, after each.

    Returns
    -------
    History
        Edges, weights and losses of the rounds, and why they ended.
    """
    history = History()
    costs = first_costs(rows, unit)  # D_1: no votes yet, E = 1
    for t in range(rules.n_estimators):
        hypothesis = learner.learn(rows, costs, t)  # h_t on D_t
        useless = not _costs.beats_guessing(hypothesis.advantage, costs.loss)
        perfect = hypothesis.advantage == costs.loss
        if useless and t > 0:
            history.stop_reason = NO_EDGE
            break
        edge = MIN_EDGE if useless else _costs.edge(hypothesis.advantage, costs.loss)  # δ_t
        alpha = _costs.step_of_edge(edge) if useless else round_weight(rows, hypothesis, costs, rules.step)  # α_t
        alpha *= rules.learning_rate
        last = useless or perfect or t + 1 == rules.n_estimators
        after = next_costs(rows, unit, costs, hypothesis, alpha, with_root=not last)  # D_{t+1}

        learner.keep(hypothesis, alpha, math.log(loss_of(costs)) - math.log(max(loss_of(after), MIN_LOSS)))
        history.edges.append(edge)
        history.alphas.append(alpha)
        history.losses.append(loss_of(after))
        if on_round is not None:
            on_round(t + 1)
        if useless or perfect or loss_of(after) < MIN_LOSS:
            history.stop_reason = NO_EDGE if useless else PERFECT_LEARNER if perfect else LOSS_VANISHED
            break
        costs = after
    return history


def first_costs(rows: Rows, unit: Floats) -> Costs:
    """Costs before any vote."""
    return rows.advance(None, unit, _costs.exponent_below(_costs.largest_row(unit), len(unit)), with_root=True)


def next_costs(
    rows: Rows, unit: Floats, costs: Costs, hypothesis: Hypothesis, alpha: float, *, with_root: bool
) -> Costs:
    """Costs after a round's votes. No row grows by more than e^α, so that bounds the largest one beforehand."""
    up, down = math.exp(alpha), math.exp(-alpha)
    exponent = _costs.exponent_below(up * costs.largest, len(unit))
    after = rows.advance(Vote(hypothesis.ballot, up, down), unit, exponent, with_root=with_root)
    if loss_of(after) >= MIN_LOSS and math.ldexp(after.largest, exponent) < 2**COARSE_BITS:
        # Nearly every row was right by far, so the bound was far too wide and the costs are too coarse.
        exponent = _costs.exponent_below(after.largest, len(unit))
        after = rows.advance(None, unit, exponent, with_root=with_root)
    return after


def round_weight(rows: Rows, hypothesis: Hypothesis, costs: Costs, step: str) -> float:
    """α_t before the learning rate."""
    if step == "edge":
        return _costs.edge_step(hypothesis.advantage, costs.loss)
    right, wrong, _ = rows.measure(hypothesis.ballot)
    return _costs.exact_step(int(right.sum()), int(wrong.sum()))


def loss_of(costs: Costs) -> float:
    """L, as a number."""
    return math.ldexp(float(costs.loss), -costs.exponent)
