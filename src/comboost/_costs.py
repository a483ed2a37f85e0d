"""The formulas of the paper as pure functions: weights, costs, edges, round weights, bounds.

In: what the user says about rows and classes. Out: numbers and K×K arrays. Nothing here loops over rows.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from comboost._dtypes import MAX_EDGE, MAX_WEIGHT_SUM, MIN_EDGE, UNIT_BITS, WEIGHT, Floats, Sums, Weights

CAPPED_STEP = 0.5 * math.log(2.0**31)  # no round weighs more than this


def integer_weights(sample_weight: Floats) -> Weights:
    """n_i = rint(s_i·2^k), k as large as Σn ≤ 2³² allows, from a bound on Σs that no order of the rows changes."""
    exponents, counts = np.unique(np.frexp(sample_weight[sample_weight > 0])[1], return_counts=True)
    lowest = int(exponents[0])
    # In units of 2^lowest, so that the sum is an exact integer.
    bound = sum(int(count) << (int(exponent) - lowest) for exponent, count in zip(exponents, counts, strict=True))
    shift = MAX_WEIGHT_SUM.bit_length() - 1 - (bound - 1).bit_length() - lowest
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
    n_classes = len(classes)
    if cost_matrix is None:
        costs = _rows_of(np.ones(n_classes))
    elif isinstance(cost_matrix, Mapping):
        costs = _from_mapping(cost_matrix, classes)
    elif _is_labelled_series(cost_matrix):
        costs = _from_mapping(dict(cost_matrix.items()), classes)
    elif hasattr(cost_matrix, "columns") and hasattr(cost_matrix, "index"):
        costs = _from_frame(cost_matrix, classes)
    else:
        costs = _from_array(cost_matrix, classes)
    return _checked(costs)


def _rows_of(per_class: Floats) -> Floats:
    costs = np.repeat(per_class[:, np.newaxis], len(per_class), axis=1)
    np.fill_diagonal(costs, 0.0)
    return costs


def _is_labelled_series(cost_matrix: Any) -> bool:
    """Whether this is a pandas Series with labels other than positions."""
    is_series = hasattr(cost_matrix, "index") and hasattr(cost_matrix, "items") and np.ndim(cost_matrix) == 1
    return is_series and list(cost_matrix.index) != list(range(len(cost_matrix)))


def _from_mapping(cost_of: Mapping[Any, Any], classes: NDArray[Any]) -> Floats:
    labels = classes.tolist()
    if set(cost_of) != set(labels):
        raise ValueError(
            f"cost_matrix names the classes {list(cost_of)}, but the classes are {labels}; give exactly one cost per "
            "class."
        )
    return _rows_of(np.array([_number(cost_of[label]) for label in labels]))


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"cost_matrix holds {value!r}; every cost must be a number.") from error


def _from_frame(frame: Any, classes: NDArray[Any]) -> Floats:
    labels = classes.tolist()
    for axis, found in (("index", frame.index), ("columns", frame.columns)):
        if sorted(map(str, found)) != sorted(map(str, labels)) or set(found) != set(labels):
            raise ValueError(
                f"cost_matrix as a DataFrame has the {axis} {list(found)}, but the classes are {labels}; label both "
                "axes with the classes, truth in the index and prediction in the columns."
            )
    return _from_array(frame.loc[labels, labels].to_numpy(), classes)


def _from_array(cost_matrix: ArrayLike, classes: NDArray[Any]) -> Floats:
    n_classes = len(classes)
    try:
        costs = np.array(cost_matrix, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise ValueError(f"cost_matrix cannot be read as numbers: {error}. Give numbers only.") from error
    if costs.shape == (n_classes,):
        return _rows_of(costs)
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
    if not 1e-30 <= costs.max() <= 1e30:
        raise ValueError(
            f"the largest cost of cost_matrix is {costs.max():g}; scale the costs so that it lies in [1e-30, 1e30]."
        )
    return costs
