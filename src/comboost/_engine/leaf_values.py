"""Leaf values, and the decrease of the loss that they guarantee.

`ClassValues` gives every leaf the value α·onehot(predicted class), with one α per round, as in the paper.
`BalancedValues` gives a leaf one value per class.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from comboost import _core
from comboost._engine import losses
from comboost._engine.forest import Tree
from comboost._engine.losses import CAPPED_STEP, Objective, by_pairs
from comboost._engine.norms import NO_STEP, minimise_along
from comboost._engine.rows import Costs, Hypothesis, LeafFactors, Learned, Rows, Smoothing, TreeRows
from comboost._types import Floats, Sums

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
        With a norm, the bound itself: the most that the norm is after the round.
    """

    hypothesis: Hypothesis
    factors: LeafFactors
    alpha: float
    decrease: float = 0.0


class Forecast:
    """The norm after a round, from above, for any factors of the round.

    With the exponential loss, the losses of pairs of classes change exactly as their costs do. A logarithm is below its
    tangent, so with the others a change of the costs by S_q·(factor − 1) in leaf q changes them by no more than that
    divided by ln 2.

    Parameters
    ----------
    objective : Objective
        What the round should lower.
    costs : Costs
        The costs before the round, and the losses.
    exponent : int
        Sums of costs are in units of 2^-exponent.
    before : ndarray of shape (K, K)
        The costs of all leaves.
    """

    def __init__(self, objective: Objective, costs: Costs, exponent: int, before: Sums) -> None:
        assert costs.losses is not None
        self._objective, self._losses, self._before = objective, costs.losses, before
        if objective.loss.has_logarithm:
            self._unit: Floats | float = math.ldexp(1.0 / math.log(2.0), -exponent)
        else:  # the losses themselves, so that small ones are as precise as large ones
            self._unit = np.divide(costs.losses, before, out=np.zeros_like(costs.losses), where=before > 0)

    def value(self, after: Floats) -> float:
        """Φ after the round, at most, if these costs are left."""
        return self._objective.value(self._changed(after))

    def curve(self, along: Callable[[float], tuple[Floats, Floats]]) -> Callable[[float], tuple[float, float]]:
        """The smooth norm and its derivative by the step, from the costs that a step leaves and their derivatives."""

        def at(step: float) -> tuple[float, float]:
            after, slopes = along(step)
            changed = self._changed(after)
            value, gradient = self._objective.smooth_value_and_gradient(changed)
            changes = self._unit * slopes
            if gradient.ndim < changes.ndim:
                changes = losses.in_order(changes)
            return value, float(np.einsum("i,i->", gradient.ravel(), changes.ravel()))

        return at

    def _changed(self, after: Floats) -> Floats:
        if isinstance(self._unit, np.ndarray):
            return self._unit * after
        difference = self._unit * (after - self._before)
        changed = self._losses + (difference if self._losses.ndim == 2 else losses.in_order(difference))
        return np.maximum(changed, 0.0)  # rounding may take more than there is


def leaf_classes(hypothesis: Hypothesis, n_classes: int) -> NDArray[np.integer[Any]]:
    """The class that every leaf predicts."""
    return hypothesis.leaf_classes if isinstance(hypothesis, Tree) else np.arange(n_classes)


def symmetric(pairs: Floats) -> Floats:
    """The mean of a matrix and its transpose."""
    return 0.5 * (pairs + pairs.T)


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
        if self.objective.norm is not None:
            return self._choose_for_norm(rows, learned, costs)
        if self.step == "edge" or not losses.beats_guessing(advantage, costs.loss):
            alpha = losses.edge_step(advantage, costs.loss)
        else:
            sums = rows.sum_losses(learned.hypothesis)
            right = int(sums[np.arange(len(sums)), leaf_classes(learned.hypothesis, len(sums))].sum())
            alpha = losses.exact_step(right, right - advantage)
        return self.repeat(learned.hypothesis, self.learning_rate * alpha)

    def _choose_for_norm(self, rows: Rows, learned: Learned, costs: Costs) -> Round:
        """Minimise Φ(S(α)), S(α) = e^-α·S₊ + e^α·S₋ + S₀, which is convex in α."""
        exponent = losses.exponent_below(costs.largest, len(self.objective.loss.unit))
        sums = rows.sum_pairs(learned.hypothesis, exponent)
        leaves, classes = np.arange(len(sums)), leaf_classes(learned.hypothesis, len(sums))
        total, right, wrong = sums.sum(axis=0), np.zeros_like(sums[0]), np.zeros_like(sums[0])
        np.add.at(right, classes, sums[leaves, classes])
        np.add.at(wrong.T, classes, sums[leaves, :, classes])
        others = total - right - wrong
        forecast = Forecast(self.objective, costs, exponent, total)

        def along(alpha: float) -> tuple[Floats, Floats]:
            growing, shrinking = math.exp(alpha) * wrong, math.exp(-alpha) * right
            return growing + shrinking + others, growing - shrinking

        guess = losses.edge_step(learned.advantage, costs.loss)
        alpha = minimise_along(forecast.curve(along), CAPPED_STEP, guess)
        if alpha < NO_STEP:  # it ended at a kink of the norm
            alpha = 0.0
        if not losses.beats_guessing(learned.advantage, costs.loss):
            alpha = max(alpha, guess)  # a model has a hypothesis that counts
        alpha *= self.learning_rate
        return self.repeat(learned.hypothesis, alpha)._replace(decrease=forecast.value(along(alpha)[0]))

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
        if self.objective.norm is not None:
            return decrease
        return bound * losses.bound_factor(edge, self.learning_rate)

    def bounds(self, edges: Sequence[float], decreases: Sequence[float]) -> Floats:
        """The most that the loss is after every round, by the edges."""
        if self.objective.norm is not None:
            return np.array(decreases, dtype=np.float64)
        factors = [losses.bound_factor(edge, self.learning_rate) for edge in edges]
        return np.asarray(self.objective.start * np.cumprod(factors), dtype=np.float64)

    def attributes(self, alphas: Sequence[float], decreases: Sequence[float]) -> dict[str, Any]:
        """The weight α of every round, and the proportions of the classes, which probabilities need."""
        kept = {"estimator_weights_": np.array(alphas), "class_prior_": self.objective.weight_sums.proportions.copy()}
        return kept if self.objective.norm is None else {**kept, "_decreases": np.array(decreases)}


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
    multiple : float
        λ, how many samples of every class smooth a leaf.
    leaf_smoothing : float
        λ times what a sample of weight 1 costs on average before the first round.
    loss_rounding : float
        What rounding may add to the log-loss, whose bounds are sums, however small it is.
    """

    objective: Objective
    learning_rate: float
    smoothing: Smoothing
    multiple: float
    leaf_smoothing: float
    loss_rounding: float

    @classmethod
    def of(cls, objective: Objective, learning_rate: float, smoothing: float) -> "BalancedValues":
        """Smooth leaves by ``smoothing`` samples of every class, λ."""
        weight_sums, first = objective.weight_sums, objective.first_costs
        pairs = symmetric(first)  # what two classes cost by being confused with each other
        hidden = np.where(pairs > 0, 0.25 * (weight_sums.sums[:, np.newaxis] + weight_sums.sums), 0.0)
        rounding = 0.0
        if objective.loss.has_logarithm:
            exponent = objective.loss.log_exponent if objective.norm is None else objective.loss.sum_exponent(0.0)
            rounding = math.ldexp(0.5 * objective.total_weight, -exponent)
            rounding += SUMMED_ERROR * objective.start
        smoothed = Smoothing(smoothing * pairs, hidden)
        return cls(objective, learning_rate, smoothed, smoothing, smoothing * objective.mean_first_cost, rounding)

    def choose(self, rows: TreeRows, learned: Learned, costs: Costs) -> Round:
        """Choose the values of the leaves."""
        assert isinstance(learned.hypothesis, Tree)
        if self.objective.norm is not None:
            return self._choose_for_norm(rows, learned, costs)
        values, factors, remaining = rows.balance(learned, self.smoothing, costs.exponent, self.learning_rate)
        decrease = 1.0 - remaining / costs.loss
        if self.objective.loss.tops is not None:
            decrease = decrease * math.ldexp(float(costs.loss), -costs.exponent) / math.log(2.0)
        return Round(learned.hypothesis._replace(leaf_values=values), factors, 1.0, decrease)

    def _choose_for_norm(self, rows: TreeRows, learned: Learned, costs: Costs) -> Round:
        """Balance the leaves at the prices of the norm; shorten the step if the norm would grow before its end."""
        assert isinstance(learned.hypothesis, Tree)
        assert costs.prices is not None
        exponent = losses.exponent_below(costs.largest, len(self.objective.loss.unit))
        sums, prices = rows.sum_pairs(learned.hypothesis, exponent), by_pairs(costs.prices)
        priced = Smoothing(
            symmetric(prices * self.objective.first_costs) * self.multiple, symmetric(prices) * self.smoothing.hidden
        )
        values = rows.balance_priced(learned, sums, prices, priced, exponent).values.astype(np.float64)
        forecast = Forecast(self.objective, costs, exponent, sums.sum(axis=0))
        step = self.learning_rate
        if self.objective.class_prices is None:  # otherwise the values minimise what the prices weight
            step = minimise_along(forecast.curve(lambda step: _core.forecast(sums, values, step)), step)
            if step < NO_STEP * self.learning_rate:  # it ended at a kink of the norm
                step = 0.0
        kept = (step * values).astype(np.float32)
        bound = forecast.value(_core.forecast(sums, kept.astype(np.float64), 1.0)[0])
        return self.repeat(learned.hypothesis._replace(leaf_values=kept), 1.0)._replace(decrease=bound)

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
        if self.objective.norm is not None:
            return decrease
        return bound * (1.0 - decrease) if self.objective.loss.tops is None else bound - decrease

    def bounds(self, edges: Sequence[float], decreases: Sequence[float]) -> Floats:
        """The most that the loss is after every round, by what the leaves guarantee."""
        start, guaranteed = self.objective.start, np.array(decreases, dtype=np.float64)
        if self.objective.norm is not None:
            return guaranteed
        if self.objective.loss.tops is None:
            return np.asarray(start * np.cumprod(1.0 - guaranteed))
        return np.asarray(start - np.cumsum(guaranteed))

    def attributes(self, alphas: Sequence[float], decreases: Sequence[float]) -> dict[str, Any]:
        """The proportions of the classes, which probabilities need, and the decreases, which a warm start does."""
        return {"class_prior_": self.objective.weight_sums.proportions.copy(), "_decreases": np.array(decreases)}
