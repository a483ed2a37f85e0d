"""Algorithm 1 of the paper. In: rows, a weak learner, unit costs. Out: the rounds kept and why they ended."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from comboost import _costs
from comboost._dtypes import MIN_LOSS, ROUNDING_ROOM, Floats
from comboost._learners import Hypothesis, Learner
from comboost._rows import Costs, Rows, Vote

#: Why a fit ended.
N_ESTIMATORS = "n_estimators"  # all rounds asked for are there
NO_EDGE = "no_edge"  # nothing better than guessing is left
PERFECT_LEARNER = "perfect_learner"  # a weak learner made no mistake that costs anything
LOSS_VANISHED = "loss_vanished"  # the loss is below 1e-200
ROUNDING = "rounding"  # weights or class sizes differ so much that the costs can no longer be rounded to integers


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

    def add(self, edge: float, alpha: float, loss: float) -> None:
        """Add a round."""
        self.edges.append(edge)
        self.alphas.append(alpha)
        self.losses.append(loss)


def boost(
    rows: Rows,
    learner: Learner,
    unit: Floats,
    total_weight: int,
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
    total_weight : int
        Σ n_i.
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
    least_loss = ROUNDING_ROOM * total_weight * (len(unit) - 1)
    costs = rows.advance(None, unit, _costs.largest_row(unit), with_root=True)  # D_1: no votes yet, E = 1
    for t in range(rules.n_estimators):
        hypothesis = learner.learn(rows, costs, t)  # h_t on D_t
        reason = verdict_on(hypothesis, costs)
        if reason == NO_EDGE and t > 0:
            history.stop_reason = reason
            break
        edge = _costs.edge(hypothesis.advantage, costs.loss)  # δ_t
        alpha = rules.learning_rate * round_weight(rows, hypothesis, costs, rules.step)  # α_t
        vote = Vote(hypothesis.ballot, math.exp(alpha), math.exp(-alpha))
        last = reason is not None or t + 1 == rules.n_estimators
        after = rows.advance(vote, unit, vote.up * costs.largest, with_root=not last)  # D_{t+1}

        loss = after.real_loss  # L_t
        learner.keep(hypothesis, alpha, math.log(costs.real_loss / max(loss, MIN_LOSS)))
        history.add(edge, alpha, loss)
        if on_round is not None:
            on_round(t + 1)
        reason = reason or exhaustion_of(after, least_loss)
        if reason is not None:
            history.stop_reason = reason
            break
        costs = after
    return history


def verdict_on(hypothesis: Hypothesis, costs: Costs) -> str | None:
    """Why this hypothesis should be the last, if it should."""
    if not _costs.beats_guessing(hypothesis.advantage, costs.loss):
        return NO_EDGE
    return PERFECT_LEARNER if hypothesis.advantage == costs.loss else None


def exhaustion_of(costs: Costs, least_loss: int) -> str | None:
    """Why nothing can be learned from these costs any more, if nothing can."""
    if costs.real_loss < MIN_LOSS:
        return LOSS_VANISHED
    return ROUNDING if costs.loss < least_loss else None


def round_weight(rows: Rows, hypothesis: Hypothesis, costs: Costs, step: str) -> float:
    """α_t before the learning rate."""
    if step == "edge" or not _costs.beats_guessing(hypothesis.advantage, costs.loss):
        return _costs.edge_step(hypothesis.advantage, costs.loss)
    right, wrong, _ = rows.measure(hypothesis.ballot)
    return _costs.exact_step(int(right.sum()), int(wrong.sum()))
