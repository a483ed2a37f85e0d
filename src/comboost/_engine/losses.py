"""Losses and the formulas of the paper: costs, edges, round weights, bounds.

In: K×K arrays and sums over samples. Out: numbers and K×K arrays. Nothing here loops over samples.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from comboost._cached import cached_property
from comboost._data.sample_weights import ClassWeightSums
from comboost._engine.norms import Norm
from comboost._types import COARSE_LOSS_BITS, MAX_EDGE, MIN_EDGE, UNIT_BITS, Floats, Sums

LOG_BITS = 51  # in units of a pass, a sample costs less than 2**LOG_BITS
LOG_RANGE = 10  # the logarithm of a sample is below 2**LOG_RANGE, so its loss stays below 2**61 units
MOST_COST = 1e250  # of a sample of weight 1, if all weights are next to nothing; more might overflow
CAPPED_STEP = 0.5 * math.log(2.0**31)  # no round weighs more than this


class Loss(NamedTuple):
    """The loss as passes over the samples need it.

    Attributes
    ----------
    unit : ndarray of shape (K, K)
        c(l,j)/M_l for the exponential and the logistic loss, c(l,j)/c̄_l for the log-loss, c̄_l being the largest cost of
        class l.
    tops : ndarray of shape (K,) or None
        c̄_l/M_l for the log-loss: what a sample of a class costs at most, per unit of weight.
    log_exponent : int
        Logarithms are summed in units of 2^-log_exponent.
    is_logistic : bool
        Whether it is the logistic loss of pairs of classes.
    """

    unit: Floats
    tops: Floats | None
    log_exponent: int
    is_logistic: bool = False

    @property
    def has_logarithm(self) -> bool:
        """Whether the costs are the derivatives of a logarithm: its tangent bounds what a round leaves."""
        return self.tops is not None or self.is_logistic

    def sum_exponent(self, bound: float) -> int:
        """The units in which losses are summed exactly, if no sample costs more than ``bound`` per unit of weight."""
        return self.log_exponent - LOG_RANGE if self.has_logarithm else LOG_BITS - math.frexp(bound)[1]

    def finer_exponent(self, exponent: int, largest: float) -> int | None:
        """Units in which to sum up the losses again, if the bound on the largest cost was far above it."""
        finer = self.sum_exponent(largest) if largest > 0.0 else exponent
        return finer if finer - exponent > COARSE_LOSS_BITS else None


@dataclass(frozen=True)
class Objective:
    """What boosting minimises.

    Attributes
    ----------
    loss : Loss
        The loss of a sample.
    start : float
        L_0, the loss before the first round.
    largest : float
        No sample's loss per unit of weight is above this before the first round.
    weight_sums : ClassWeightSums
        The summed weight of every class.
    total_weight : int
        Σ n_i.
    norm : Norm or None
        Φ, the norm of the losses A of all pairs of classes, or of the losses of the classes. None is their sum, which
        a single pass over the samples finds together with the costs.
    class_prices : ndarray of shape (K,) or None
        What costs of the classes are multiplied by in all rounds, in place of the gradient of the norm.
    """

    loss: Loss
    start: float
    largest: float
    weight_sums: ClassWeightSums
    total_weight: int
    norm: Norm | None = None
    class_prices: Floats | None = None

    @classmethod
    def of(
        cls,
        costs: Floats | None,
        weight_sums: ClassWeightSums,
        balance: float,
        loss: str = "exponential",
        norm: Norm | None = None,
        class_prices: Floats | None = None,
    ) -> "Objective":
        """Scale costs as ``balance`` says.

        Parameters
        ----------
        costs : ndarray of shape (K, K) or None
            c(l,j); None is 1 for every mistake.
        weight_sums : ClassWeightSums
            The summed weight of every class.
        balance : float
            τ: with 1 every class counts the same, as in CoMBo, with 0 every sample, as in AdaBoost.MM.
        loss : {"exponential", "log", "logistic"}
            Which loss.
        norm : Norm or None
            Φ; None is the sum of all losses.
        class_prices : ndarray of shape (K,) or None
            Constant prices of the classes, in place of the gradient of Φ.
        """
        sums = weight_sums.sums
        if costs is None:
            costs = 1.0 - np.eye(len(sums))
        base = balanced_weight_sums(weight_sums, balance)
        total = int(sums.sum())
        if loss != "log":
            unit = costs / base[:, np.newaxis]
            first = (sums / base)[:, np.newaxis] * costs  # A_0: every pair starts with the loss 1
            start = (
                float(in_order(sums / base * in_order(costs))) if norm is None else norm.value(norm_input(norm, first))
            )
            largest = float(in_order(unit).max())  # added in class order, as the first pass does
            exponent = LOG_BITS - math.frexp(largest)[1] if loss == "logistic" else 0
            scaled = Loss(unit, None, exponent, loss == "logistic")
            return cls(scaled, start, largest, weight_sums, total, norm, class_prices)
        most = costs.max(axis=1)
        unit = np.divide(costs, most[:, np.newaxis], out=np.zeros_like(costs), where=most[:, np.newaxis] > 0)
        tops = most / base
        bits = np.array(list(map(math.log2, (1.0 + in_order(unit)).tolist())))  # NumPy has its own
        first = sums * tops * bits
        start = float(in_order(first)) if norm is None else norm.value(norm_input(norm, first))
        highest = float(tops.max())
        log_exponent = LOG_BITS - math.frexp(highest)[1]
        return cls(Loss(unit, tops, log_exponent), start, highest, weight_sums, total, norm, class_prices)

    @cached_property
    def first_costs(self) -> Floats:
        """What a sample of weight 1 of class l costs before the first round by being predicted as j, (K, K)."""
        weight_sums, (unit, tops, _, is_logistic) = self.weight_sums, self.loss
        first = unit * 0.5 if is_logistic else unit
        if tops is not None:
            first = unit * (tops / (1.0 + in_order(unit)))[:, np.newaxis]
        with np.errstate(over="ignore"):
            return np.minimum(weight_sums.lifted(np.ldexp(first, weight_sums.scale.shift)), MOST_COST)

    def mean_cost(self, costs: Floats) -> float:
        """What a sample costs on average, if a sample of class l costs ``costs[l, j]`` by being predicted as j."""
        weight_sums = self.weight_sums
        return float(in_order(weight_sums.plain * in_order(costs))) / weight_sums.total

    def value(self, losses: Floats) -> float:
        """Φ(A), or Φ(r); see `LossSums`."""
        assert self.norm is not None
        return self.norm.value(norm_input(self.norm, losses))

    def smooth_value_and_gradient(self, losses: Floats) -> tuple[float, Floats]:
        """The smooth norm that the rounds minimise, and its gradient G, in the shape of the losses."""
        assert self.norm is not None
        value, gradient = self.norm.smooth.value_and_gradient(norm_input(self.norm, losses))
        return value, self._by_losses(gradient, losses)

    def value_and_prices(self, losses: Floats) -> tuple[float, Floats]:
        """Φ, and what costs are multiplied by: the gradient of Φ, or constant prices of the classes.

        Prices are scaled so that a sample costs on average the same before the first round.
        """
        assert self.norm is not None
        given, smooth = norm_input(self.norm, losses), self.norm.smooth
        if self.class_prices is not None:
            value, gradient = self.norm.value(given), self.class_prices
        elif smooth is self.norm:
            value, gradient = smooth.value_and_gradient(given)
        else:
            value, gradient = self.norm.value(given), smooth.gradient(given)
        gradient = self._by_losses(gradient, losses)
        mean = self.mean_cost(by_pairs(gradient) * self.first_costs)
        return value, gradient * (self.mean_first_cost / mean) if mean > 0 else np.ones_like(gradient)

    def _by_losses(self, gradient: Floats, losses: Floats) -> Floats:
        """A gradient in the shape of the losses: that by a class is also that by its pairs that have costs."""
        return gradient if gradient.ndim == losses.ndim else by_pairs(gradient) * (self.loss.unit > 0)

    @cached_property
    def mean_first_cost(self) -> float:
        """What a sample costs on average before the first round."""
        return self.mean_cost(self.first_costs)


def norm_input(norm: Norm, losses: Floats) -> Floats:
    """What a norm is the norm of: the losses of pairs, or those of the classes that they add up to."""
    return in_order(losses) if norm.of == "classes" and losses.ndim == 2 else losses


def by_pairs(prices: Floats) -> Floats:
    """Prices of pairs of classes; those of classes are the same for all pairs of a true class."""
    return prices if prices.ndim == 2 else np.repeat(prices[:, np.newaxis], len(prices), axis=1)


def in_order(values: Floats) -> Floats:
    """Sums over the last axis, added in order: `sum` and `@` add as suits the CPU, and round accordingly."""
    return np.asarray(np.add.accumulate(values, axis=-1)[..., -1])


def balanced_weight_sums(weight_sums: ClassWeightSums, balance: float) -> Floats:
    """M_l^τ, scaled so that the loss starts where it does with τ = 1."""
    if balance == 1.0:
        return weight_sums.sums.astype(np.float64)
    total, n_classes = weight_sums.total, len(weight_sums.sums)
    if balance == 0.0:
        return weight_sums.lifted(np.full(n_classes, total / n_classes))
    # Powers of proportions do not depend on how weights are scaled.
    proportions = [weight_sum / total for weight_sum in weight_sums.plain.tolist()]
    scale = sum(math.pow(proportion, 1.0 - balance) for proportion in proportions) / n_classes
    return weight_sums.lifted(np.array([total * (math.pow(p, balance) * scale) for p in proportions]))


def exponent_below(bound: float, n_classes: int) -> int:
    """Largest e for which rounded costs of at most ``bound`` add up to no more than 2³⁰ units of 2^-e."""
    exponent = UNIT_BITS - math.frexp(bound)[1]
    return exponent - int(math.ldexp(bound, exponent) > 2**UNIT_BITS - n_classes)


def edge(advantage: int, loss: int) -> float:
    """δ = A/Λ, kept above 0 and below 1."""
    return min(max(advantage / loss, MIN_EDGE), MAX_EDGE)


def beats_guessing(advantage: int, loss: int) -> bool:
    """δ > 2⁻²⁰, without rounding."""
    return advantage * int(1 / MIN_EDGE) > loss


def step_of_edge(edge: float) -> float:
    """α = ½·ln((1+δ)/(1−δ))."""
    return 0.5 * math.log((1.0 + edge) / (1.0 - edge))


def edge_step(advantage: int, loss: int) -> float:
    """α = ½·ln((Λ+A)/(Λ−A)), the paper's, from exact sums."""
    if not beats_guessing(advantage, loss) or (loss - advantage) << 30 <= loss:
        return step_of_edge(edge(advantage, loss))
    return 0.5 * math.log((loss + advantage) / (loss - advantage))


def exact_step(right: int, wrong: int) -> float:
    """α = ½·ln(A₊/A₋), the minimiser of the loss along the hypothesis."""
    if right >= wrong << 31:
        return CAPPED_STEP
    return 0.5 * math.log(right / wrong)


def bound_factor(edge: float, learning_rate: float) -> float:
    """1 − ν(1−√(1−δ²)): a round leaves at most this fraction of the loss."""
    return 1.0 - learning_rate * (1.0 - math.sqrt(1.0 - edge * edge))


def error_confusion(confusion: Sums) -> Floats:
    """C_S: the fraction of class l that is predicted as j, zero diagonal."""
    fractions: Floats = confusion / confusion.sum(axis=1, keepdims=True)
    np.fill_diagonal(fractions, 0.0)
    return fractions
