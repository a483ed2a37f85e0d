"""Shares of the classes. In: ``priors`` as given, and the classes. Out: a positive share of each, in their order."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comboost._data.cost_matrices import named_classes, order_of_names
from comboost._data.floats import numbers_in_errors
from comboost._data.masks import check_unmasked
from comboost._types import Floats

NOT_ONE = 1e-6  # by which the sum of shares may differ from 1


def read_shares(priors: Any, classes: NDArray[Any]) -> Floats:
    """The shares of all classes that an array-like, a Series or a mapping of classes to shares gives."""
    named = named_classes(priors)
    shares = share_numbers(list(priors.values()) if isinstance(priors, Mapping) else priors)
    if shares.ndim != 1 or (len(shares) != len(classes) and not named):
        raise ValueError(
            f"priors has the shape {shares.shape}, but there are {len(classes)} classes; give one share per class, in "
            "the order of classes_, or a dict of classes and shares."
        )
    if named or isinstance(priors, Mapping):
        shares = shares[order_of_names(named, classes, "priors")]
    if not (np.isfinite(shares) & (shares > 0)).all():
        raise ValueError(f"priors holds the shares {shares.tolist()}; give every class a positive one.")
    if abs(float(shares.sum()) - 1.0) > NOT_ONE:
        raise ValueError(f"priors adds up to {shares.sum():g}; shares of all classes add up to 1: divide by their sum.")
    return shares


def share_numbers(values: Any) -> Floats:
    """Shares as floats."""
    check_unmasked(values, "priors", "give a share in its place.")
    with numbers_in_errors(values, "priors"):
        return np.array(values, dtype=np.float64)
