"""What mistakes cost. In: ``cost_matrix`` as given, and the classes. Out: a K×K array, truth in rows, zero diagonal."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from comboost._dtypes import Floats

WIDEST_COSTS = 10**6  # between the largest and the smallest positive cost


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
        return costs_per_class(np.ones(len(labels)))
    named = named_classes(cost_matrix)
    if named:
        check_class_names(named, labels)
    if is_frame_of_costs(cost_matrix):
        return checked_costs(costs_of_frame(cost_matrix, labels))
    if named:
        return checked_costs(costs_per_class(as_numbers([cost_matrix[label] for label in labels])))
    return checked_costs(costs_of_array(as_numbers(cost_matrix), len(labels)))


def named_classes(cost_matrix: Any) -> list[Any]:
    """The true classes that a dict, a Series or a DataFrame of costs names; an array names none."""
    if isinstance(cost_matrix, Mapping):
        return list(cost_matrix)
    if is_frame_of_costs(cost_matrix):
        return list(cost_matrix.index)
    if hasattr(cost_matrix, "index") and hasattr(cost_matrix, "to_dict"):  # a Series; numbered from 0 it names nothing
        names = list(cost_matrix.index)
        return [] if names == list(range(len(names))) else names
    return []


def is_frame_of_costs(cost_matrix: Any) -> bool:
    if not hasattr(cost_matrix, "columns"):
        return False
    if not hasattr(cost_matrix, "index"):
        raise ValueError(
            f"cost_matrix is a {type(cost_matrix).__module__.split('.')[0]} frame, whose rows have no labels; give a "
            "pandas DataFrame with the classes in index and columns, or an array in the order of the sorted classes."
        )
    return True


def check_class_names(named: list[Any], labels: list[Any]) -> None:
    if len(named) != len(labels) or set(named) != set(labels):
        raise ValueError(
            f"cost_matrix names the classes {named}, but the classes are {labels}; name every class exactly once."
        )


def costs_of_frame(frame: Any, labels: list[Any]) -> Floats:
    check_class_names(list(frame.columns), labels)
    return np.ascontiguousarray(as_numbers(frame.loc[labels, labels].to_numpy()))


def costs_per_class(costs: Floats) -> Floats:
    matrix = np.repeat(costs[:, np.newaxis], len(costs), axis=1)
    np.fill_diagonal(matrix, 0.0)
    return matrix


def as_numbers(values: ArrayLike) -> Floats:
    try:
        if np.iscomplexobj(values):
            raise TypeError("complex numbers have no order")
        return np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise ValueError(f"cost_matrix cannot be read as numbers: {error}. Give real numbers only.") from error


def costs_of_array(costs: Floats, n_classes: int) -> Floats:
    if costs.shape == (n_classes,):
        return costs_per_class(costs)
    if costs.shape != (n_classes, n_classes):
        raise ValueError(
            f"cost_matrix has the shape {costs.shape}, but there are {n_classes} classes; give an array of shape "
            f"({n_classes}, {n_classes}), truth in rows and prediction in columns, or one cost per true class, "
            f"({n_classes},)."
        )
    return costs


def checked_costs(costs: Floats) -> Floats:
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
