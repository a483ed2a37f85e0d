"""The formulas of the paper as pure functions: weights, costs, edges, round weights, bounds.

In: what the user says about rows and classes. Out: numbers and K×K arrays. Nothing here loops over rows.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from comboost._dtypes import MAX_EDGE, MAX_WEIGHT_SUM, MIN_EDGE, UNIT_BITS, WEIGHT, Floats, Sums, Weights

WIDEST_COSTS = 10**6  # between the largest and the smallest positive cost
CAPPED_STEP = 0.5 * math.log(2.0**31)  # no round weighs more than this


def integer_weights(sample_weight: Floats) -> Weights:
    """n_i = rint(s_i·2^k), k as large as Σn ≤ 2³² allows, from a bound on Σs that no order of the rows changes."""
    return scale_weights(sample_weight, weight_shift(count_exponents(sample_weight)))


def count_exponents(sample_weight: Floats) -> dict[int, int]:
    """How many of the positive weights have which binary exponent."""
    exponents, counts = np.unique(np.frexp(sample_weight[sample_weight > 0])[1], return_counts=True)
    return dict(zip(exponents.tolist(), counts.tolist(), strict=True))


def weight_shift(counts: Mapping[int, int]) -> int:
    """k, from how many weights have which binary exponent."""
    lowest = min(counts)
    # In units of 2^lowest, so that the sum is an exact integer.
    bound = sum(count << (exponent - lowest) for exponent, count in counts.items())
    return MAX_WEIGHT_SUM.bit_length() - 1 - (bound - 1).bit_length() - lowest


def scale_weights(sample_weight: Floats, shift: int) -> Weights:
    """rint(s_i·2^k)."""
    # Two steps: the power of two alone may leave the range of a double where the product does not.
    half = shift // 2
    return np.rint(np.ldexp(np.ldexp(sample_weight, half), shift - half)).astype(WEIGHT)


def class_masses(labels: NDArray[np.integer[Any]], weights: Weights | None, n_classes: int) -> Sums:
    """M_l = Σ n_i over class l."""
    if weights is None:
        return np.bincount(labels, minlength=n_classes).astype(np.int64)
    masses = np.zeros(n_classes, dtype=np.int64)
    np.add.at(masses, labels, weights)
    return masses


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


def error_shares(confusion: Sums) -> Floats:
    """C_S: the share of class l that is taken for j, zero diagonal."""
    shares: Floats = confusion / confusion.sum(axis=1, keepdims=True)
    np.fill_diagonal(shares, 0.0)
    return shares


def cost_array(cost_matrix: Any, classes: NDArray[Any]) -> Floats:
    """Read a ``cost_matrix`` parameter into a K×K array: truth in rows, prediction in columns, zero diagonal.

    Parameters
    ----------
    cost_matrix : array-like of shape (K, K) or (K,), DataFrame or Series labelled with the classes, dict, or None
        One cost per pair, or one per true class; None is 1 for every mistake.
    classes : ndarray of shape (K,)
        The classes, in the order of the array's rows and columns.

    Returns
    -------
    ndarray of shape (K, K)
        The costs.
    """
    labels = classes.tolist()
    if cost_matrix is None:
        return _per_class(np.ones(len(labels)))
    named = named_classes(cost_matrix)
    if named:
        _check_names(named, labels)
    if _is_frame(cost_matrix):
        return _checked(_from_frame(cost_matrix, labels))
    if named:
        return _checked(_per_class(_numbers([cost_matrix[label] for label in labels])))
    return _checked(_from_array(_numbers(cost_matrix), len(labels)))


def named_classes(cost_matrix: Any) -> list[Any]:
    """The true classes that a dict, a Series or a DataFrame of costs names; an array names none."""
    if isinstance(cost_matrix, Mapping):
        return list(cost_matrix)
    if _is_frame(cost_matrix):
        return list(cost_matrix.index)
    if hasattr(cost_matrix, "index") and hasattr(cost_matrix, "to_dict"):  # a Series; numbered from 0 it names nothing
        names = list(cost_matrix.index)
        return [] if names == list(range(len(names))) else names
    return []


def _is_frame(cost_matrix: Any) -> bool:
    if not hasattr(cost_matrix, "columns"):
        return False
    if not hasattr(cost_matrix, "index"):
        raise ValueError(
            f"cost_matrix is a {type(cost_matrix).__module__.split('.')[0]} frame, whose rows have no labels; give a "
            "pandas DataFrame with the classes in index and columns, or an array in the order of the sorted classes."
        )
    return True


def _check_names(named: list[Any], labels: list[Any]) -> None:
    if len(named) != len(labels) or set(named) != set(labels):
        raise ValueError(
            f"cost_matrix names the classes {named}, but the classes are {labels}; name every class exactly once."
        )


def _from_frame(frame: Any, labels: list[Any]) -> Floats:
    _check_names(list(frame.columns), labels)
    return np.ascontiguousarray(_numbers(frame.loc[labels, labels].to_numpy()))


def _per_class(costs: Floats) -> Floats:
    matrix = np.repeat(costs[:, np.newaxis], len(costs), axis=1)
    np.fill_diagonal(matrix, 0.0)
    return matrix


def _numbers(values: ArrayLike) -> Floats:
    try:
        if np.iscomplexobj(values):
            raise TypeError("complex numbers have no order")
        return np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise ValueError(f"cost_matrix cannot be read as numbers: {error}. Give real numbers only.") from error


def _from_array(costs: Floats, n_classes: int) -> Floats:
    if costs.shape == (n_classes,):
        return _per_class(costs)
    if costs.shape != (n_classes, n_classes):
        raise ValueError(
            f"cost_matrix has the shape {costs.shape}, but there are {n_classes} classes; give an array of shape "
            f"({n_classes}, {n_classes}), truth in rows and prediction in columns, or one cost per true class, "
            f"({n_classes},)."
        )
    return costs


def _checked(costs: Floats) -> Floats:
    if not np.isfinite(costs).all():
        raise ValueError("cost_matrix holds NaN or infinity; every cost must be a finite number.")
    if (costs < 0).any():
        raise ValueError(f"cost_matrix holds the negative cost {costs.min():g}; costs must be 0 or more.")
    if np.diagonal(costs).any():
        raise ValueError(
            f"cost_matrix has the diagonal {np.diagonal(costs).tolist()}; a right prediction costs nothing, so put "
            "zeros there."
        )
    if not costs.any():
        raise ValueError("cost_matrix is all zero, so no mistake matters; give at least one positive cost.")
    smallest, largest = costs[costs > 0].min(), costs.max()
    if largest > WIDEST_COSTS * smallest:
        raise ValueError(
            f"cost_matrix spans from {smallest:g} to {largest:g}, and the small costs would be rounded away; keep them "
            f"within a factor of {WIDEST_COSTS:,}, or make the smallest 0."
        )
    if not 1e-30 <= largest <= 1e30:
        raise ValueError(f"the largest cost of cost_matrix is {largest:g}; scale it into [1e-30, 1e30].")
    return costs
