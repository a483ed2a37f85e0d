"""Validation of the parameters ``cost_matrix`` and ``priors``, which have one value per class or pair of classes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from comboost._data.checks import check_unmasked, numbers_in_errors
from comboost._data.labels import Candidates, exact_labels, locate_labels, unpack_labels
from comboost._types import Floats

WIDEST_COSTS = 10**6  # ratio of the largest to the smallest positive cost
PRIOR_TOLERANCE = 1e-6  # by which the sum of the priors may differ from 1


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
    if cost_matrix is None:
        return costs_per_class(np.ones(len(classes)))
    named = named_classes(cost_matrix)
    if is_frame_of_costs(cost_matrix):
        rows, columns = (order_of_names(list(names), classes) for names in (named, cost_matrix.columns))
        return checked_costs(np.ascontiguousarray(as_numbers(cost_matrix.to_numpy())[np.ix_(rows, columns)]))
    if named:
        values = cost_matrix.values() if isinstance(cost_matrix, Mapping) else cost_matrix
        costs = as_numbers(list(values))
        return checked_costs(costs_per_class(costs[order_of_names(named, classes)]))
    costs, n_classes = as_numbers(cost_matrix), len(classes)
    if costs.shape == (n_classes,):
        return checked_costs(costs_per_class(costs))
    if costs.shape != (n_classes, n_classes):
        raise ValueError(
            f"cost_matrix has the shape {costs.shape}, but there are {n_classes} classes; give an array of shape "
            f"({n_classes}, {n_classes}), truth in rows and prediction in columns, or one cost per true class, "
            f"({n_classes},)."
        )
    return checked_costs(costs)


def costs_among(cost_matrix: Any, candidates: Candidates) -> Floats:
    """Read a ``cost_matrix`` for the classes of y, and select the pairs of classes with weight."""
    costs = candidates.select_pairs(cost_array(cost_matrix, candidates.given))
    if not costs.any():
        raise ValueError(
            f"cost_matrix is zero for all mistakes among {candidates.classes.tolist()}, the classes that sample_weight "
            "leaves; give at least one positive cost there."
        )
    return costs


def named_classes(cost_matrix: Any) -> list[Any]:
    """The true classes that a dict, a Series or a DataFrame of costs names; an array names none."""
    if isinstance(cost_matrix, Mapping):
        return list(cost_matrix)
    if is_frame_of_costs(cost_matrix):
        return list(cost_matrix.index)
    if hasattr(cost_matrix, "index") and hasattr(cost_matrix, "to_dict"):  # a Series; a default index names nothing
        names = list(cost_matrix.index)
        return [] if names == list(range(len(names))) else names
    return []


def is_frame_of_costs(cost_matrix: Any) -> bool:
    """Whether costs are a pandas DataFrame; raise if they are a frame without an index."""
    if not hasattr(cost_matrix, "columns"):
        return False
    if not hasattr(cost_matrix, "index"):
        raise ValueError(
            f"cost_matrix is a {type(cost_matrix).__module__.split('.')[0]} frame, whose rows have no labels; give a "
            "pandas DataFrame with the classes in index and columns, or an array in the order of the sorted classes."
        )
    return True


def order_of_names(named: list[Any], classes: NDArray[Any], parameter: str = "cost_matrix") -> NDArray[np.intp]:
    """Index of every class among the names."""
    indices = locate_labels(exact_labels(unpack_labels(named), parameter), classes)
    if sorted(indices.tolist()) != list(range(len(classes))):
        raise ValueError(
            f"{parameter} names the classes {named}, but the classes are {classes.tolist()}; name every class exactly "
            "once."
        )
    return np.argsort(indices)


def costs_per_class(costs: Floats) -> Floats:
    """Expand one cost per true class to a matrix."""
    matrix = np.repeat(costs[:, np.newaxis], len(costs), axis=1)
    np.fill_diagonal(matrix, 0.0)
    return matrix


def as_numbers(values: ArrayLike) -> Floats:
    """Convert costs to floats."""
    check_unmasked(values, "cost_matrix", "give a cost in its place, 0 on the diagonal.")
    if issparse(values):
        raise ValueError("cost_matrix is a sparse matrix; give cost_matrix.toarray().")
    with numbers_in_errors(values, "cost_matrix"):
        if np.iscomplexobj(values):
            raise TypeError("complex numbers have no order")
        return np.array(values, dtype=np.float64, order="C")


def checked_costs(costs: Floats) -> Floats:
    """Return the costs; raise if they are not valid."""
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


def read_priors(priors: Any, classes: NDArray[Any]) -> Floats:
    """Read a ``priors`` parameter, an array-like, Series or mapping, into one prior per class."""
    named = named_classes(priors)
    given = list(priors.values()) if isinstance(priors, Mapping) else priors
    check_unmasked(given, "priors", "give a prior in its place.")
    with numbers_in_errors(given, "priors"):
        values: Floats = np.array(given, dtype=np.float64)
    if values.ndim != 1 or (len(values) != len(classes) and not named):
        raise ValueError(
            f"priors has the shape {values.shape}, but there are {len(classes)} classes; give one prior per class, in "
            "the order of classes_, or a dict of classes and priors."
        )
    if named or isinstance(priors, Mapping):
        values = values[order_of_names(named, classes, "priors")]
    if not (np.isfinite(values) & (values > 0)).all():
        raise ValueError(f"priors holds {values.tolist()}; give every class a positive prior.")
    if abs(float(values.sum()) - 1.0) > PRIOR_TOLERANCE:
        raise ValueError(f"priors adds up to {values.sum():g}, not to 1; divide the priors by their sum.")
    return values
