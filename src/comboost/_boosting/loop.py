"""Algorithm 1 of the paper. In: rows, a weak learner, how to vote. Out: the rounds kept and why they ended."""

import math
from dataclasses import dataclass, field, replace
from typing import Protocol

from comboost._boosting.learners import Hypothesis, Learner
from comboost._boosting.voting import Voting
from comboost._engine import formulas
from comboost._engine.rows import Costs, Rows
from comboost._types import MIN_LOSS, ROUNDING_ROOM

#: Why a fit ended.
N_ESTIMATORS = "n_estimators"  # all rounds asked for are there
NO_EDGE = "no_edge"  # nothing better than guessing is left
PERFECT_LEARNER = "perfect_learner"  # a weak learner made no mistake that costs anything
LOSS_VANISHED = "loss_vanished"  # the loss is below 1e-200
ROUNDING = "rounding"  # weights or class sizes differ so much that the costs can no longer be rounded to integers
EARLY_STOPPING = "early_stopping"  # the validation score has not become better for a while
CALLBACK = "callback"  # a callback asked for it

#: Reasons after which more rounds would learn nothing.
FINAL = {NO_EDGE, PERFECT_LEARNER, LOSS_VANISHED, ROUNDING}


@dataclass
class History:
    """The rounds kept: one entry each."""

    edges: list[float] = field(default_factory=list)
    alphas: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    promises: list[float] = field(default_factory=list)
    stop_reason: str = N_ESTIMATORS

    def __len__(self) -> int:
        return len(self.alphas)

    def add(self, edge: float, alpha: float, loss: float, promise: float) -> None:
        """Add a round."""
        self.edges.append(edge)
        self.alphas.append(alpha)
        self.losses.append(loss)
        self.promises.append(promise)

    def first(self, n_rounds: int) -> "History":
        """The first rounds alone."""
        return History(
            self.edges[:n_rounds],
            self.alphas[:n_rounds],
            self.losses[:n_rounds],
            self.promises[:n_rounds],
            self.stop_reason,
        )


class Onlooker(Protocol):
    """Who looks on, and may end the fit."""

    def begin(self) -> None:
        """Hear that a round begins."""

    def end(self, history: History) -> str | None:
        """Look at the rounds kept so far: a reason to stop, or None."""


def boost(
    rows: Rows,
    learner: Learner,
    voting: Voting,
    n_estimators: int,
    watcher: Onlooker | None = None,
    past: History | None = None,
) -> History:
    """Boost weak learners on rows.

    Parameters
    ----------
    rows : Rows
        The rows, with no votes yet.
    learner : Learner
        The weak learner W; keeps its hypotheses.
    voting : Voting
        How rounds vote, and what their votes make small.
    n_estimators : int
        Rounds at most.
    watcher : Onlooker, optional
        Looks on.
    past : History, optional
        Rounds of an earlier fit, which the learner remembers: the same rounds follow as if it had not ended.

    Returns
    -------
    History
        Edges, weights and losses of the rounds, and why they ended.
    """
    history = History() if past is None else replace(past.first(len(past)), stop_reason=N_ESTIMATORS)
    objective = voting.objective
    least_loss = ROUNDING_ROOM * objective.total_weight * (len(objective.unit) - 1)
    costs = voting.open(rows, with_root=past is None)  # D_1
    if past is not None:
        costs = replay(rows, learner, voting, costs, history, with_root=len(history) < n_estimators)
    bound = objective.start
    for edge, promise in zip(history.edges, history.promises, strict=True):
        bound = voting.bound_after(bound, edge, promise)
    for t in range(len(history), n_estimators):
        if watcher is not None:
            watcher.begin()
        hypothesis = learner.learn(rows, costs, t)  # h_t on D_t
        reason = verdict_on(rows, hypothesis, costs, voting, least_loss)
        if reason == NO_EDGE and t > 0:
            history.stop_reason = reason
            break
        edge = formulas.edge(hypothesis.advantage, costs.loss)  # δ_t
        cast = voting.cast(rows, hypothesis, costs)  # α_t, or the votes of the leaves
        last = reason is not None or t + 1 == n_estimators
        after = voting.count(rows, cast, with_root=not last)  # D_{t+1}

        loss = after.real_loss  # L_t
        bound = voting.bound_after(bound, edge, cast.promise)
        if voting.is_void(loss, bound):
            reason = ROUNDING
            if t > 0:
                history.stop_reason = reason
                break
        learner.keep(cast.vote.ballot, math.log(costs.real_loss / max(loss, MIN_LOSS)), after.covers)
        history.add(edge, cast.weight, loss, cast.promise)
        told = None if watcher is None else watcher.end(history)
        reason = reason or exhaustion_of(after, least_loss) or (None if last else told)
        if reason is not None:
            history.stop_reason = reason
            break
        costs = after
    return history


def replay(rows: Rows, learner: Learner, voting: Voting, costs: Costs, history: History, *, with_root: bool) -> Costs:
    """Costs after the rounds of an earlier fit, which must leave the same losses."""
    for t, (ballot, weight) in enumerate(zip(learner.past_ballots(), history.alphas, strict=True), start=1):
        cast = voting.recast(rows, ballot, weight, costs)
        costs = voting.count(rows, cast, with_root=with_root and t == len(history))
        if costs.real_loss != history.losses[t - 1]:
            raise ValueError(
                f"warm_start: round {t} leaves the loss {costs.real_loss:g} on these rows and left "
                f"{history.losses[t - 1]:g} in the earlier fit; give the same rows, or set warm_start=False."
            )
    return costs


def verdict_on(rows: Rows, hypothesis: Hypothesis, costs: Costs, voting: Voting, least_loss: int) -> str | None:
    """Why this hypothesis should be the last, if it should."""
    if costs.loss < least_loss:
        return ROUNDING  # it saw next to nothing of the costs; only the first can come so far
    if not formulas.beats_guessing(hypothesis.advantage, costs.loss):
        return NO_EDGE
    return PERFECT_LEARNER if voting.is_last(rows, hypothesis, costs) else None


def exhaustion_of(costs: Costs, least_loss: int) -> str | None:
    """Why nothing can be learned from these costs any more, if nothing can."""
    if costs.real_loss < MIN_LOSS:
        return LOSS_VANISHED
    return ROUNDING if costs.loss < least_loss else None
