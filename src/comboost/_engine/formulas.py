"""The formulas as pure functions: costs, edges, round weights, bounds.

In: K×K arrays and sums over rows. Out: numbers and K×K arrays. Nothing here loops over rows.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from comboost._cached import cached_property
from comboost._data.sample_weights import ClassWeightSums
from comboost._types import MAX_EDGE, MAX_ROUNDING, MIN_EDGE, UNIT_BITS, Floats, Sums

LOG_BITS = 51  # the log-loss of a row is below 2**10 bits, so it stays below 2**61 units
MOST_COST = 1e250  # of a row of weight 1, if all weights are next to nothing; more might overflow
SUMMED_ERROR = 1e-12  # of the bounds on a log-loss, relative to where it starts
CAPPED_STEP = 0.5 * math.log(2.0**31)  # no round weighs more than this


@dataclass(frozen=True)
class Objective:
    """What boosting makes small.

    Attributes
    ----------
    unit : ndarray of shape (K, K)
        c(l,j)/M_l: what one unit of weight costs, before any vote.
    start : float
        L_0, the loss before any vote.
    weight_sums : ClassWeightSums
        The summed weight of every class.
    """

    unit: Floats
    start: float
    weight_sums: ClassWeightSums

    @classmethod
    def of(cls, costs: Floats | None, weight_sums: ClassWeightSums, *, by_class: bool) -> "Objective":
        """CoMBo's, in which every class weighs the same, or AdaBoost.MM's, in which every row does.

        Parameters
        ----------
        costs : ndarray of shape (K, K) or None
            c(l,j); None is 1 for every mistake.
        weight_sums : ClassWeightSums
            The summed weight of every class.
        by_class : bool
            Whether the weights of class l are divided by M_l, or all by the mean of these.
        """
        if costs is None:
            costs = 1.0 - np.eye(len(weight_sums.sums))
        base = balanced_weight_sums(weight_sums, 1.0 if by_class else 0.0)
        return cls(unit_costs(costs, base), starting_loss(costs, weight_sums.sums / base), weight_sums)

    @property
    def total_weight(self) -> int:
        """Σ n_i."""
        return int(self.weight_sums.sums.sum())


@dataclass(frozen=True)
class LogTerms:
    """What the log-loss needs beside unit costs, which are those relative to the largest of their class.

    Attributes
    ----------
    tops : ndarray of shape (K,)
        c̄_l/M_l: what a row of a class costs at most, per unit of weight.
    exponent : int
        The loss is summed in units of 2^-exponent.
    """

    tops: Floats
    exponent: int

    @classmethod
    def of(cls, tops: Floats) -> "LogTerms":
        """The terms for classes whose rows cost no more than this."""
        return cls(tops, LOG_BITS - math.frexp(float(tops.max()))[1])

    def start(self, weight_sums: Sums, unit: Floats) -> float:
        """L_0, the loss before any vote."""
        bits = [math.log2(1.0 + relative) for relative in in_order(unit).tolist()]
        return float(in_order(weight_sums * self.tops * np.array(bits)))


@dataclass(frozen=True)
class BalancedObjective:
    """What votes for every class make small.

    Attributes
    ----------
    unit : ndarray of shape (K, K)
        c(l,j)/M_l for the exponential loss, c(l,j)/c̄_l for the log-loss.
    log : LogTerms or None
        The terms of the log-loss.
    pseudo_row : ndarray of shape (K, K)
        What a row of weight 1 of class l, and one of class j, cost on average before any vote by being taken for the
        other: symmetric.
    mean_row : float
        What a row of weight 1 costs on average before any vote.
    start : float
        L_0, the loss before any vote.
    weight_sums : ClassWeightSums
        The summed weight of every class.
    """

    unit: Floats
    log: LogTerms | None
    pseudo_row: Floats
    mean_row: float
    start: float
    weight_sums: ClassWeightSums

    @classmethod
    def of(cls, costs: Floats | None, weight_sums: ClassWeightSums, balance: float, loss: str) -> "BalancedObjective":
        """What a loss, ``"log"`` or ``"exponential"``, costs if a class counts as much as ``balance`` says.

        Parameters
        ----------
        costs : ndarray of shape (K, K) or None
            c(l,j); None is 1 for every mistake.
        weight_sums : ClassWeightSums
            The summed weight of every class.
        balance : float
            τ: with 1 every class counts the same, with 0 every row.
        loss : str
            Which loss.
        """
        if costs is None:
            costs = 1.0 - np.eye(len(weight_sums.sums))
        base = balanced_weight_sums(weight_sums, balance)
        if loss == "exponential":
            unit, log, first = unit_costs(costs, base), None, unit_costs(costs, base)
            start = starting_loss(costs, weight_sums.sums / base)
        else:
            largest = costs.max(axis=1)
            unit = np.divide(costs, largest[:, np.newaxis], out=np.zeros_like(costs), where=largest[:, np.newaxis] > 0)
            log = LogTerms.of(largest / base)
            first = unit * (log.tops / (1.0 + in_order(unit)))[:, np.newaxis]
            start = log.start(weight_sums.sums, unit)
        with np.errstate(over="ignore"):
            first = np.minimum(weight_sums.lifted(np.ldexp(first, weight_sums.scale.shift)), MOST_COST)
        mean_row = float(in_order(weight_sums.plain * in_order(first))) / weight_sums.total
        return cls(unit, log, 0.5 * (first + first.T), mean_row, start, weight_sums)

    @property
    def total_weight(self) -> int:
        """Σ n_i."""
        return int(self.weight_sums.sums.sum())

    @cached_property
    def hidden(self) -> Floats:
        """What rounding may hide of the costs of two classes in a leaf, on average, in units of any pass: (K, K)."""
        sums = self.weight_sums.sums
        return np.where(self.pseudo_row > 0, 0.25 * (sums[:, np.newaxis] + sums), 0.0)

    @cached_property
    def loss_rounding(self) -> float:
        """What rounding may add to the log-loss, which bounds add up and do not multiply, however small it is."""
        if self.log is None:
            return 0.0
        return math.ldexp(0.5 * self.total_weight, -self.log.exponent) + SUMMED_ERROR * self.start

    @property
    def largest_row(self) -> float:
        """What no row's loss per unit of weight is above, before any vote."""
        return largest_row(self.unit) if self.log is None else float(self.log.tops.max())


def in_order(values: Floats) -> Floats:
    """Sums over the last axis, added in order: `sum` and `@` add as suits the CPU, and round accordingly."""
    return np.asarray(np.cumsum(values, axis=-1)[..., -1])


def starting_loss(costs: Floats, weights: Floats) -> float:
    """The exponential loss before any vote, of classes that weigh so much."""
    return float(in_order(weights * in_order(costs)))


def balanced_weight_sums(weight_sums: ClassWeightSums, balance: float) -> Floats:
    """M_l^τ, scaled so that the loss starts where it does with τ = 1."""
    if balance == 1.0:
        return weight_sums.sums.astype(np.float64)
    total, n_classes = weight_sums.total, len(weight_sums.sums)
    if balance == 0.0:
        return weight_sums.lifted(np.full(n_classes, total / n_classes))
    shares = [
        mass / total for mass in weight_sums.plain.tolist()
    ]  # their powers do not depend on how weights are scaled
    scale = sum(math.pow(share, 1.0 - balance) for share in shares) / n_classes
    return weight_sums.lifted(np.array([total * (math.pow(share, balance) * scale) for share in shares]))


def unit_costs(costs: Floats, weight_sums: Floats) -> Floats:
    """c(l,j)/M_l: what one unit of weight costs, before any vote."""
    return costs / weight_sums[:, np.newaxis]


def largest_row(unit: Floats) -> float:
    """max_l Σ_j c(l,j)/M_l, added in class order: the largest row of the first pass."""
    return float(in_order(unit).max())


def exponent_below(bound: float, n_classes: int) -> int:
    """Largest e for which rounded rows of at most ``bound`` add up to no more than 2³⁰ units of 2^-e."""
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
    """α = ½·ln(A₊/A₋), the minimiser of the loss along the vote."""
    if right >= wrong << 31:
        return CAPPED_STEP
    return 0.5 * math.log(right / wrong)


def bound_factor(edge: float, learning_rate: float) -> float:
    """1 − ν(1−√(1−δ²)): a round leaves at most this share of the loss."""
    return 1.0 - learning_rate * (1.0 - math.sqrt(1.0 - edge * edge))


def exceeds(loss: float, bound: float) -> bool:
    """Whether a loss is above its bound by more than the rounding of costs may excuse."""
    return loss > (1.0 + MAX_ROUNDING) * bound


def bound_curve(start: float, edges: Sequence[float], learning_rate: float) -> Floats:
    """What the edges promise: the loss after every round is at most this."""
    return np.asarray(start * np.cumprod([bound_factor(edge, learning_rate) for edge in edges]), dtype=np.float64)


def error_shares(confusion: Sums) -> Floats:
    """C_S: the share of class l that is taken for j, zero diagonal."""
    shares: Floats = confusion / confusion.sum(axis=1, keepdims=True)
    np.fill_diagonal(shares, 0.0)
    return shares
