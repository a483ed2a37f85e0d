"""Algorithm 1 of the paper. In: samples, a weak learner, how leaf values are chosen. Out: the rounds kept."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from comboost._engine import losses
from comboost._engine.leaf_values import LeafValues, Round
from comboost._engine.losses import Objective
from comboost._engine.rows import Costs, Hypothesis, LeafFactors, Learned, Rows
from comboost._types import MAX_ROUNDING, MIN_LOSS, ROUNDING_ROOM, Sums

#: Why a fit ended.
N_ESTIMATORS = "n_estimators"  # all requested rounds are done
NO_EDGE = "no_edge"  # nothing better than guessing is left
PERFECT_LEARNER = "perfect_learner"  # a weak learner made no mistake that costs anything
LOSS_VANISHED = "loss_vanished"  # the loss is below 1e-200
ROUNDING = "rounding"  # weights or class sizes differ so much that the costs can no longer be rounded to integers
EARLY_STOPPING = "early_stopping"  # the validation score has not become better for a while
CALLBACK = "callback"  # a callback requested it

#: Reasons after which more rounds would learn nothing.
FINAL = {NO_EDGE, PERFECT_LEARNER, LOSS_VANISHED, ROUNDING}


@dataclass
class History:
    """The rounds kept: one entry each."""

    edges: list[float] = field(default_factory=list)
    alphas: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    decreases: list[float] = field(default_factory=list)
    stop_reason: str = N_ESTIMATORS

    def __len__(self) -> int:
        return len(self.alphas)

    def first(self, n_rounds: int) -> "History":
        """The first rounds alone."""
        return History(
            self.edges[:n_rounds],
            self.alphas[:n_rounds],
            self.losses[:n_rounds],
            self.decreases[:n_rounds],
            self.stop_reason,
        )


class Learner(Protocol):
    """The weak learner W of the paper; ``kept`` are its hypotheses, as they predict new samples."""

    kept: list[Any]

    def learn(self, rows: Any, costs: Costs, round_idx: int) -> Learned:
        """Learn h_t on D_t."""

    def keep(self, learned: Learned, hypothesis: Any, drop: float, covers: Sums | None) -> None:
        """Keep what was just learned, the hypothesis with its leaf values.

        ``drop`` is by how much the logarithm of the loss fell, ``covers`` is what the samples of every leaf weigh.
        """

    def past_hypotheses(self) -> Iterator[Hypothesis]:
        """The hypotheses of an earlier fit."""


class Monitor(Protocol):
    """Monitors the rounds, and may end the fit."""

    def begin(self) -> None:
        """Notify that a round begins."""

    def end(self, history: History) -> str | None:
        """Report the rounds kept so far: a reason to stop, or None."""


class Boosting:
    """Boosting, one round at a time.

    Parameters
    ----------
    rows : Rows
        The samples, before the first round.
    learner : Learner
        The weak learner W; keeps its hypotheses.
    values : LeafValues
        How leaf values are chosen, and what they minimise.
    n_estimators : int
        Maximum number of rounds.
    past : History, optional
        Rounds of an earlier fit, which the learner keeps: the same rounds follow as if it had not ended.

    Attributes
    ----------
    history : History
        Edges, weights and losses of the rounds, and why they ended.
    ended : bool
        Whether no round is left.
    """

    def __init__(
        self, rows: Rows, learner: Learner, values: LeafValues, n_estimators: int, past: History | None = None
    ) -> None:
        self._rows, self._learner, self._values, self._n_estimators = rows, learner, values, n_estimators
        self.history = History() if past is None else replace(past.first(len(past)), stop_reason=N_ESTIMATORS)
        objective = values.objective
        self._least_loss = ROUNDING_ROOM * objective.total_weight * (len(objective.loss.unit) - 1)
        costs = next_costs(rows, objective, None, None, objective.largest, with_root=past is None)  # D_1
        self.ended = len(self.history) >= n_estimators
        if past is not None:
            costs = replay(rows, learner, values, costs, self.history, with_root=not self.ended)
        self._costs, self._bound, self._loss = costs, objective.start, costs.real_loss
        for edge, decrease in zip(self.history.edges, self.history.decreases, strict=True):
            self._bound = values.next_bound(self._bound, edge, decrease)

    def advance(self) -> Round | None:
        """Run a round, and return it; None if it is not kept, since nothing can be learned."""
        rows, learner, values, costs, history = self._rows, self._learner, self._values, self._costs, self.history
        t = len(history)
        learned = learner.learn(rows, costs, t)  # h_t on D_t
        reason = reason_to_end(rows, learned, costs, values, self._least_loss)
        if reason == NO_EDGE and t > 0:
            self._end(reason)
            return None
        edge = losses.edge(learned.advantage, costs.loss)  # δ_t
        this = values.choose(rows, learned, costs)  # α_t, or the values of the leaves
        if values.objective.norm is not None and this.factors.largest == 1.0 and t > 0:  # no step lowers the norm
            self._end(NO_EDGE)
            return None
        last = reason is not None or t + 1 == self._n_estimators
        largest = costs.largest * this.factors.largest
        after = next_costs(
            rows, values.objective, this.hypothesis, this.factors, largest, with_root=not last
        )  # D_{t+1}

        loss, before = after.real_loss, self._loss  # L_t
        self._bound = values.next_bound(self._bound, edge, this.decrease)
        if loss - values.loss_rounding > (1.0 + MAX_ROUNDING) * self._bound:  # more than rounding explains
            reason = ROUNDING
            if t > 0:
                self._end(reason)
                return None
        learner.keep(learned, this.hypothesis, math.log(before / max(loss, MIN_LOSS)), after.covers)
        history.edges.append(edge)
        history.alphas.append(this.alpha)
        history.losses.append(loss)
        history.decreases.append(this.decrease)
        if reason is None and loss < MIN_LOSS:
            reason = LOSS_VANISHED
        elif reason is None and after.loss < self._least_loss:
            reason = ROUNDING
        if last or reason is not None:
            self._end(reason or N_ESTIMATORS)
        self._costs, self._loss = after, loss
        return this

    def _end(self, reason: str) -> None:
        self.history.stop_reason, self.ended = reason, True


def boost(
    rows: Rows,
    learner: Learner,
    values: LeafValues,
    n_estimators: int,
    monitor: Monitor | None = None,
    past: History | None = None,
) -> History:
    """Boost weak learners until the rounds end, or until a monitor stops them; see `Boosting`."""
    boosting = Boosting(rows, learner, values, n_estimators, past)
    while not boosting.ended:
        if monitor is not None:
            monitor.begin()
        kept = boosting.advance()
        stop = None if monitor is None or kept is None else monitor.end(boosting.history)
        if stop is not None and not boosting.ended:
            boosting.history.stop_reason = stop
            break
    return boosting.history


def next_costs(
    rows: Rows, objective: Objective, hypothesis: Any, factors: LeafFactors | None, bound: float, *, with_root: bool
) -> Costs:
    """Add a round, and quantise the costs of the next one.

    With a norm, the losses are summed first, since the gradient of the norm multiplies the costs.
    """
    if objective.norm is None:
        return rows.update(hypothesis, factors, bound, with_root=with_root)
    summed = rows.add(hypothesis, factors, bound)
    value, prices = objective.value_and_prices(summed.losses)
    most = summed.largest * float(prices.max())
    costs = rows.price(prices, most, with_root=with_root)
    return costs._replace(
        largest=summed.largest,
        objective=value,
        covers=summed.covers,
        losses=summed.losses,
        prices=prices,
    )


def replay(
    rows: Rows, learner: Learner, values: LeafValues, costs: Costs, history: History, *, with_root: bool
) -> Costs:
    """Costs after the rounds of an earlier fit, which must leave the same losses."""
    for t, (hypothesis, alpha) in enumerate(zip(learner.past_hypotheses(), history.alphas, strict=True), start=1):
        past = values.repeat(hypothesis, alpha)
        largest = costs.largest * past.factors.largest
        is_last = with_root and t == len(history)
        costs = next_costs(rows, values.objective, hypothesis, past.factors, largest, with_root=is_last)
        if costs.real_loss != history.losses[t - 1]:
            raise ValueError(
                f"warm_start: round {t} leaves the loss {costs.real_loss:g} on these rows and left "
                f"{history.losses[t - 1]:g} in the earlier fit; give the same rows, or set warm_start=False."
            )
    return costs


def reason_to_end(rows: Rows, learned: Learned, costs: Costs, values: LeafValues, least_loss: int) -> str | None:
    """Why this hypothesis should be the last, if it should."""
    if costs.loss < least_loss:
        return ROUNDING  # it saw next to nothing of the costs; only the first can come so far
    if not losses.beats_guessing(learned.advantage, costs.loss):
        return NO_EDGE
    return PERFECT_LEARNER if values.is_perfect(rows, learned, costs) else None
