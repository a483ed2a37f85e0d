"""What a round casts. In: a hypothesis and the costs it was learned on. Out: votes, and the costs that they leave.

The paper's round votes for one class per leaf, with one weight for all leaves; the other one votes for every class.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from comboost._boosting.learners import Hypothesis
from comboost._engine import formulas
from comboost._engine.forest import Tree
from comboost._engine.formulas import BalancedObjective, Objective
from comboost._engine.leaf_values import (
    LeafFactors,
    LeafSums,
    balance,
    remaining_cost,
    sums_pairs,
)
from comboost._engine.rows import Ballot, Costs, LeafVote, Rows, TreeRows, Vote
from comboost._types import Floats


class Cast(NamedTuple):
    """A round's votes.

    Attributes
    ----------
    vote : Vote or LeafVote
        The votes.
    bound : float
        No row's loss per unit of weight is above this, once they are added.
    weight : float
        α; 1 if the votes of the leaves have their weights in them.
    promise : float
        What the round takes from the loss at least: a share of it, or bits of the log-loss.
    """

    vote: Any
    bound: float
    weight: float
    promise: float


class Voting(Protocol):
    """How rounds vote."""

    @property
    def objective(self) -> Objective | BalancedObjective:
        """What the votes make small."""

    def open(self, rows: Any, *, with_root: bool) -> Costs:
        """D_1: no votes yet, E = 1."""

    def cast(self, rows: Any, hypothesis: Hypothesis, costs: Costs) -> Cast:
        """The votes of a hypothesis that was just learned on these costs."""

    def recast(self, rows: Any, ballot: Any, weight: float, costs: Costs) -> Cast:
        """The votes of an earlier fit."""

    def count(self, rows: Any, cast: Cast, *, with_root: bool) -> Costs:
        """D_{t+1}: the votes are added to the rows."""

    def is_last(self, rows: Any, hypothesis: Hypothesis, costs: Costs) -> bool:
        """Whether nothing is left to learn after a hypothesis without mistakes."""

    def bound_after(self, bound: float, edge: float, promise: float) -> float:
        """What the loss is at most after a round, if it was at most that before."""

    def is_void(self, loss: float, bound: float) -> bool:
        """Whether a loss is above its bound by more than rounding may excuse."""

    def bounds(self, edges: Sequence[float], promises: Sequence[float]) -> Floats:
        """What rounds promise: the loss after every one of them is at most this."""

    def kept(self, alphas: Sequence[float], promises: Sequence[float]) -> dict[str, Any]:
        """What a model keeps of rounds beside their hypotheses, as fitted attributes."""


def first_costs(rows: Rows, unit: Floats, *, with_root: bool = True) -> Costs:
    """D_1: no votes yet, E = 1."""
    return rows.advance(None, unit, formulas.largest_row(unit), with_root=with_root)


@dataclass(frozen=True)
class ClassVoting:
    """The paper's: a leaf votes for one class, with the weight of its round; see the estimators' parameters."""

    objective: Objective
    learning_rate: float
    step: str

    def open(self, rows: Rows, *, with_root: bool) -> Costs:
        """D_1: no votes yet, E = 1."""
        return first_costs(rows, self.objective.unit, with_root=with_root)

    def cast(self, rows: Rows, hypothesis: Hypothesis, costs: Costs) -> Cast:
        """The votes of a hypothesis that was just learned on these costs."""
        alpha = self.learning_rate * self._round_weight(rows, hypothesis, costs)  # α_t
        return self.recast(rows, hypothesis.ballot, alpha, costs)

    def recast(self, rows: Rows, ballot: Ballot, weight: float, costs: Costs) -> Cast:
        """The votes of an earlier fit."""
        vote = Vote(ballot, math.exp(weight), math.exp(-weight))
        return Cast(vote, vote.up * costs.largest, weight, 0.0)

    def count(self, rows: Rows, cast: Cast, *, with_root: bool) -> Costs:
        """D_{t+1}: the votes are added to the rows."""
        return rows.advance(cast.vote, self.objective.unit, cast.bound, with_root=with_root)

    def is_last(self, rows: Rows, hypothesis: Hypothesis, costs: Costs) -> bool:
        """Whether nothing is left to learn after a hypothesis without mistakes, hidden by rounding or not."""
        if hypothesis.advantage != costs.loss:
            return False
        return not (rows.tally(hypothesis.ballot) * (self.objective.unit > 0)).any()

    def bound_after(self, bound: float, edge: float, promise: float) -> float:
        """What the loss is at most after a round, if it was at most that before."""
        return bound * formulas.bound_factor(edge, self.learning_rate)

    def is_void(self, loss: float, bound: float) -> bool:
        """Whether a loss is above its bound by more than rounding may excuse."""
        return formulas.exceeds(loss, bound)

    def bounds(self, edges: Sequence[float], promises: Sequence[float]) -> Floats:
        """What the edges promise: the loss after every round is at most this."""
        return formulas.bound_curve(self.objective.start, edges, self.learning_rate)

    def kept(self, alphas: Sequence[float], promises: Sequence[float]) -> dict[str, Any]:
        """The weight α of every round, and the shares of the classes, which probabilities need."""
        return {"estimator_weights_": np.array(alphas), "class_prior_": self.objective.weight_sums.shares.copy()}

    def _round_weight(self, rows: Rows, hypothesis: Hypothesis, costs: Costs) -> float:
        """α_t before the learning rate."""
        if self.step == "edge" or not formulas.beats_guessing(hypothesis.advantage, costs.loss):
            return formulas.edge_step(hypothesis.advantage, costs.loss)
        right, wrong, _ = rows.measure(hypothesis.ballot)
        return formulas.exact_step(int(right.sum()), int(wrong.sum()))


@dataclass(frozen=True)
class LeafVoting:
    """A leaf votes for every class, with the vote that balances its soft confusion matrix.

    Attributes
    ----------
    objective : BalancedObjective
        What the votes make small.
    learning_rate : float
        ν.
    smoothing : float
        λ.
    n_threads : int
        Threads.
    """

    objective: BalancedObjective
    learning_rate: float
    smoothing: float
    n_threads: int

    def open(self, rows: TreeRows, *, with_root: bool) -> Costs:
        """D_1: no votes yet, E = 1."""
        return rows.advance_leaves(None, self.objective, self.objective.largest_row, with_root=with_root)

    def cast(self, rows: TreeRows, hypothesis: Hypothesis, costs: Costs) -> Cast:
        """The votes of a hypothesis that was just learned on these costs."""
        assert isinstance(hypothesis.ballot, Tree)
        assert hypothesis.leaf_costs is not None
        tree, n_classes = hypothesis.ballot.numbered(), hypothesis.leaf_costs.shape[1]
        sums = rows.sum_leaves(tree, pairs=sums_pairs(n_classes))
        pairs, up = (sums, sums.sum(axis=2)) if sums_pairs(n_classes) else (None, sums)
        leaves = LeafSums(pairs, up, hypothesis.leaf_costs)
        rho = np.ldexp(self.smoothing * self.objective.pseudo_row, costs.exponent)
        np.maximum(rho, self.objective.hidden, out=rho)
        tree = tree._replace(votes=balance(leaves, rho, self.learning_rate, self.n_threads))
        cast = self.recast(rows, tree, 1.0, costs)
        share = 1.0 - remaining_cost(leaves, cast.vote.factors, self.n_threads) / costs.loss
        promise = share if self.objective.log is None else share * costs.cost_sum / math.log(2.0)
        return cast._replace(promise=promise)

    def recast(self, rows: TreeRows, ballot: Tree, weight: float, costs: Costs) -> Cast:
        """The votes of an earlier fit."""
        assert ballot.votes is not None
        factors = LeafFactors.of(ballot.votes)
        return Cast(LeafVote(ballot, factors), costs.largest * factors.largest, weight, 0.0)

    def count(self, rows: TreeRows, cast: Cast, *, with_root: bool) -> Costs:
        """D_{t+1}: the votes are added to the rows."""
        return rows.advance_leaves(cast.vote, self.objective, cast.bound, with_root=with_root)

    def is_last(self, rows: TreeRows, hypothesis: Hypothesis, costs: Costs) -> bool:
        """Never: smoothed votes leave a loss, and the margins still grow."""
        return False

    def bound_after(self, bound: float, edge: float, promise: float) -> float:
        """What the loss is at most after a round, if it was at most that before."""
        return bound * (1.0 - promise) if self.objective.log is None else bound - promise

    def is_void(self, loss: float, bound: float) -> bool:
        """Whether a loss is above its bound by more than rounding may excuse."""
        return formulas.exceeds(loss - self.objective.loss_rounding, bound)

    def bounds(self, edges: Sequence[float], promises: Sequence[float]) -> Floats:
        """What the leaves promise: the loss after every round is at most this."""
        start, promised = self.objective.start, np.array(promises, dtype=np.float64)
        if self.objective.log is None:
            return np.asarray(start * np.cumprod(1.0 - promised))
        return np.asarray(start - np.cumsum(promised))

    def kept(self, alphas: Sequence[float], promises: Sequence[float]) -> dict[str, Any]:
        """The shares of the classes, which probabilities need, and what rounds promised, which a warm start does."""
        return {"class_prior_": self.objective.weight_sums.shares.copy(), "_promises": np.array(promises)}
