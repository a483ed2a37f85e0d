"""The formulas of the paper as pure functions: costs, edges, round weights, bounds.

In: K×K arrays and sums over rows. Out: numbers and K×K arrays. Nothing here loops over rows.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from comboost._dtypes import MAX_EDGE, MIN_EDGE, UNIT_BITS, Floats, Sums

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
    total_weight : int
        Σ n_i.
    """

    unit: Floats
    start: float
    total_weight: int

    @classmethod
    def of(cls, costs: Floats | None, masses: Sums, *, by_class: bool) -> "Objective":
        """CoMBo's, in which every class weighs the same, or AdaBoost.MM's, in which every row does.

        Parameters
        ----------
        costs : ndarray of shape (K, K) or None
            c(l,j); None is 1 for every mistake.
        masses : ndarray of int64, shape (K,)
            The summed weight of every class.
        by_class : bool
            Whether the weights of class l are divided by M_l, or all by the mean of these.
        """
        n_classes, total_weight = len(masses), int(masses.sum())
        if costs is None:
            costs = 1.0 - np.eye(n_classes)
        base = masses.astype(np.float64) if by_class else np.full(n_classes, total_weight / n_classes)
        return cls(unit_costs(costs, base), float((masses / base) @ costs.sum(axis=1)), total_weight)


def unit_costs(costs: Floats, masses: Floats) -> Floats:
    """c(l,j)/M_l: what one unit of weight costs, before any vote."""
    return costs / masses[:, np.newaxis]


def largest_row(unit: Floats) -> float:
    """max_l Σ_j c(l,j)/M_l, added in class order: the largest row of the first pass."""
    return float(np.cumsum(unit, axis=1)[:, -1].max())


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


def bound_curve(start: float, edges: Sequence[float], learning_rate: float) -> Floats:
    """What the edges promise: the loss after every round is at most this."""
    return np.asarray(start * np.cumprod([bound_factor(edge, learning_rate) for edge in edges]), dtype=np.float64)


def error_shares(confusion: Sums) -> Floats:
    """C_S: the share of class l that is taken for j, zero diagonal."""
    shares: Floats = confusion / confusion.sum(axis=1, keepdims=True)
    np.fill_diagonal(shares, 0.0)
    return shares
