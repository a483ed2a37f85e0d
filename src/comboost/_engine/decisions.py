"""What to decide. In: probabilities, and what mistakes cost. Out: the decision that is expected to cost least."""

import numpy as np
from numpy.typing import NDArray

from comboost._types import Floats

REJECTED = -1  # the row is left to somebody else


def cheapest_decisions(
    probabilities: Floats, costs: Floats | None = None, reject_cost: float | None = None
) -> NDArray[np.intp]:
    """argmin_j Σ_l p_l·c(l,j) of every row, the first of equal ones; `REJECTED` if that costs more than to reject it.

    Parameters
    ----------
    probabilities : ndarray of shape (n_samples, n_classes)
        p_l.
    costs : ndarray of shape (n_classes, n_classes), optional
        c(l,j), truth in rows; None is 1 for every mistake.
    reject_cost : float, optional
        What it costs to decide nothing; None is no choice.

    Returns
    -------
    ndarray of shape (n_samples,)
        The classes, as indices.
    """
    if costs is None:  # Σ_l p_l − p_j
        decided: NDArray[np.intp] = probabilities.argmax(axis=1)
        least = 1.0 - probabilities[np.arange(len(decided)), decided]
    else:
        expected = expected_costs(probabilities, costs)
        decided = expected.argmin(axis=1)
        least = expected[np.arange(len(decided)), decided]
    if reject_cost is not None:
        decided[least > reject_cost] = REJECTED
    return decided


def expected_costs(probabilities: Floats, costs: Floats) -> Floats:
    """Σ_l p_l·c(l,j) of every row and class, added in class order: a row's decision depends on no other row's."""
    expected = np.zeros(probabilities.shape)
    for own, cost in zip(probabilities.T, costs, strict=True):
        expected += own[:, np.newaxis] * cost
    return expected
