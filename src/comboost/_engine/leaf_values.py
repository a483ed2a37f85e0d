"""Leaf values, and the decrease of the loss that they guarantee.

`ClassValues` gives every leaf the value α·onehot(predicted class), with one α per round, as in the paper.
`BalancedValues` gives a leaf one value per class.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from comboost import _core
from comboost._engine import losses
from comboost._engine.forest import Tree
from comboost._engine.losses import Objective
from comboost._engine.rows import Costs, Hypothesis, LeafFactors, Learned, Rows, Smoothing, TreeRows
from comboost._types import Floats

MOST_COST = 1e250  # of a sample of weight 1, if all weights are next to nothing; more might overflow
SUMMED_ERROR = 1e-12  # of the bounds on a log-loss, relative to where it starts


class Round(NamedTuple):
    """A finished round.

    Attributes
    ----------
    hypothesis : Tree or ndarray of uint16
        h_t, a tree with its leaf values if these are not α·onehot(class).
    factors : LeafFactors
        What it multiplies the excess by.
    alpha : float
        α_t; 1 if leaves have values of their own.
    decrease : float
        What it takes from the loss at least: a fraction of it, or bits of the log-loss; 0 if it follows from the edge.
    """

    hypothesis: Hypothesis
    factors: LeafFactors
    alpha: float
    decrease: float = 0.0


class LeafValues(Protocol):
    """How leaf values are chosen, and what these guarantee."""

    @property
    def objective(self) -> Objective:
        """What the values minimise."""

    @property
    def loss_rounding(self) -> float:
        """What rounding may add to the loss, however small it is."""

    def choose(self, rows: Any, learned: Learned, costs: Costs) -> Round:
        """Choose the values of what was just learned on these costs."""

    def repeat(self, hypothesis: Any, alpha: float) -> Round:
        """A round of an earlier fit."""

    def is_perfect(self, rows: Any, learned: Learned, costs: Costs) -> bool:
        """Whether a hypothesis without mistakes leaves nothing to learn."""

    def next_bound(self, bound: float, edge: float, decrease: float) -> float:
        """The most that the loss is after a round, from the most that it was before."""

    def bounds(self, edges: Sequence[float], decreases: Sequence[float]) -> Floats:
        """The most that the loss is after every round."""

    def attributes(self, alphas: Sequence[float], decreases: Sequence[float]) -> dict[str, Any]:
        """Fitted attributes of the rounds beside their hypotheses."""


@dataclass(frozen=True)
class ClassValues:
    """The paper's values: α·onehot(class), with the weight α of the round; see the estimators' parameters."""

    objective: Objective
    learning_rate: float
    step: str
    loss_rounding: ClassVar[float] = 0.0  # of an exponential loss, whose bounds are products

    def choose(self, rows: Rows, learned: Learned, costs: Costs) -> Round:
        """Choose α_t."""
        advantage = learned.advantage
        if self.step == "edge" or not losses.beats_guessing(advantage, costs.loss):
            alpha = losses.edge_step(advantage, costs.loss)
        else:
            sums = rows.sum_losses(learned.hypothesis)
            hypothesis = learned.hypothesis
            classes = hypothesis.leaf_classes if isinstance(hypothesis, Tree) else np.arange(len(sums))
            right = int(sums[np.arange(len(sums)), classes].sum())
            alpha = losses.exact_step(right, right - advantage)
        return self.repeat(learned.hypothesis, self.learning_rate * alpha)

    def repeat(self, hypothesis: Hypothesis, alpha: float) -> Round:
        """A round of an earlier fit."""
        growth = math.exp(alpha)
        return Round(hypothesis, LeafFactors(np.array([growth]), np.array([math.exp(-alpha)]), growth), alpha)

    def is_perfect(self, rows: Rows, learned: Learned, costs: Costs) -> bool:
        """Whether there is no mistake that costs anything, hidden by rounding or not."""
        if learned.advantage != costs.loss:
            return False
        return not (rows.confusion(learned.hypothesis) * (self.objective.loss.unit > 0)).any()

    def next_bound(self, bound: float, edge: float, decrease: float) -> float:
        """The most that the loss is after a round, by its edge."""
        return bound * losses.bound_factor(edge, self.learning_rate)

    def bounds(self, edges: Sequence[float], decreases: Sequence[float]) -> Floats:
        """The most that the loss is after every round, by the edges."""
        factors = [losses.bound_factor(edge, self.learning_rate) for edge in edges]
        return np.asarray(self.objective.start * np.cumprod(factors), dtype=np.float64)

    def attributes(self, alphas: Sequence[float], decreases: Sequence[float]) -> dict[str, Any]:
        """The weight α of every round, and the proportions of the classes, which probabilities need."""
        return {"estimator_weights_": np.array(alphas), "class_prior_": self.objective.weight_sums.proportions.copy()}


@dataclass(frozen=True)
class BalancedValues:
    """One value per class and leaf, which balance the leaf's soft confusion matrix.

    Attributes
    ----------
    objective : Objective
        What the values minimise.
    learning_rate : float
        ν.
    smoothing : Smoothing
        What is added to the costs of every pair of classes in a leaf.
    leaf_smoothing : float
        λ times what a sample of weight 1 costs on average before the first round.
    loss_rounding : float
        What rounding may add to the log-loss, whose bounds are sums, however small it is.
    """

    objective: Objective
    learning_rate: float
    smoothing: Smoothing
    leaf_smoothing: float
    loss_rounding: float

    @classmethod
    def of(cls, objective: Objective, learning_rate: float, smoothing: float) -> "BalancedValues":
        """Smooth leaves by ``smoothing`` samples of every class, λ."""
        weight_sums, (unit, tops, log_exponent, _) = objective.weight_sums, objective.loss
        # What a sample of weight 1 of class l costs before the first round by being confused with j.
        first = unit if tops is None else unit * (tops / (1.0 + losses.in_order(unit)))[:, np.newaxis]
        with np.errstate(over="ignore"):
            first = np.minimum(weight_sums.lifted(np.ldexp(first, weight_sums.scale.shift)), MOST_COST)
        mean = float(losses.in_order(weight_sums.plain * losses.in_order(first))) / weight_sums.total
        pairs = 0.5 * (first + first.T)  # what two classes cost by being confused with each other
        hidden = np.where(pairs > 0, 0.25 * (weight_sums.sums[:, np.newaxis] + weight_sums.sums), 0.0)
        rounding = 0.0
        if tops is not None:
            rounding = math.ldexp(0.5 * objective.total_weight, -log_exponent)
            rounding += SUMMED_ERROR * objective.start
        return cls(objective, learning_rate, Smoothing(smoothing * pairs, hidden), smoothing * mean, rounding)

    def choose(self, rows: TreeRows, learned: Learned, costs: Costs) -> Round:
        """Choose the values of the leaves."""
        assert isinstance(learned.hypothesis, Tree)
        values, factors, remaining = rows.balance(learned, self.smoothing, costs.exponent, self.learning_rate)
        decrease = 1.0 - remaining / costs.loss
        if self.objective.loss.tops is not None:
            decrease = decrease * math.ldexp(float(costs.loss), -costs.exponent) / math.log(2.0)
        return Round(learned.hypothesis._replace(leaf_values=values), factors, 1.0, decrease)

    def repeat(self, hypothesis: Tree, alpha: float) -> Round:
        """A round of an earlier fit."""
        assert hypothesis.leaf_values is not None
        _, growth, shrink, largest, _ = _core.exponentiate(hypothesis.leaf_values)
        return Round(hypothesis, LeafFactors(growth, shrink, largest), alpha)

    def is_perfect(self, rows: TreeRows, learned: Learned, costs: Costs) -> bool:
        """Never: smoothed values leave a loss, and the margins still grow."""
        return False

    def next_bound(self, bound: float, edge: float, decrease: float) -> float:
        """The most that the loss is after a round, by what its leaves guarantee."""
        return bound * (1.0 - decrease) if self.objective.loss.tops is None else bound - decrease

    def bounds(self, edges: Sequence[float], decreases: Sequence[float]) -> Floats:
        """The most that the loss is after every round, by what the leaves guarantee."""
        start, guaranteed = self.objective.start, np.array(decreases, dtype=np.float64)
        if self.objective.loss.tops is None:
            return np.asarray(start * np.cumprod(1.0 - guaranteed))
        return np.asarray(start - np.cumsum(guaranteed))

    def attributes(self, alphas: Sequence[float], decreases: Sequence[float]) -> dict[str, Any]:
        """The proportions of the classes, which probabilities need, and the decreases, which a warm start does."""
        return {"class_prior_": self.objective.weight_sums.proportions.copy(), "_decreases": np.array(decreases)}
