"""Losses and the formulas of the paper: costs, edges, round weights, bounds.

In: K×K arrays and sums over samples. Out: numbers and K×K arrays. Nothing here loops over samples.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from comboost._data.sample_weights import ClassWeightSums
from comboost._types import MAX_EDGE, MIN_EDGE, UNIT_BITS, Floats, Sums

LOG_BITS = 51  # the log-loss of a row is below 2**10 bits, so it stays below 2**61 units
CAPPED_STEP = 0.5 * math.log(2.0**31)  # no round weighs more than this


class Loss(NamedTuple):
    """The loss as passes over the samples need it.

    Attributes
    ----------
    unit : ndarray of shape (K, K)
        c(l,j)/M_l for the exponential loss, c(l,j)/c̄_l for the log-loss, c̄_l being the largest cost of class l.
    tops : ndarray of shape (K,) or None
        c̄_l/M_l for the log-loss: what a sample of a class costs at most, per unit of weight.
    log_exponent : int
        The log-loss is summed in units of 2^-log_exponent.
    logistic : bool
        Whether it is the logistic loss of every pair of classes, whose unit is that of the exponential loss.
    """

    unit: Floats
    tops: Floats | None
    log_exponent: int
    logistic: bool = False


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
    """

    loss: Loss
    start: float
    largest: float
    weight_sums: ClassWeightSums
    total_weight: int

    @classmethod
    def of(
        cls, costs: Floats | None, weight_sums: ClassWeightSums, balance: float, loss: str = "exponential"
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
        loss : {"exponential", "log"}
            Which loss.
        """
        sums = weight_sums.sums
        if costs is None:
            costs = 1.0 - np.eye(len(sums))
        base = balanced_weight_sums(weight_sums, balance)
        total = int(sums.sum())
        if loss == "exponential":
            unit = costs / base[:, np.newaxis]
            start = float(in_order(sums / base * in_order(costs)))
            # Added in class order, as the first pass does.
            return cls(Loss(unit, None, 0), start, float(in_order(unit).max()), weight_sums, total)
        largest = costs.max(axis=1)
        unit = np.divide(costs, largest[:, np.newaxis], out=np.zeros_like(costs), where=largest[:, np.newaxis] > 0)
        tops = largest / base
        bits = np.array(list(map(math.log2, (1.0 + in_order(unit)).tolist())))  # NumPy has its own
        start = float(in_order(sums * tops * bits))
        highest = float(tops.max())
        log_exponent = LOG_BITS - math.frexp(highest)[1]
        return cls(Loss(unit, tops, log_exponent), start, highest, weight_sums, total)


def in_order(values: Floats) -> Floats:
    """Sums over the last axis, added in order: `sum` and `@` add as suits the CPU, and round accordingly."""
    return np.asarray(np.cumsum(values, axis=-1)[..., -1])


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
