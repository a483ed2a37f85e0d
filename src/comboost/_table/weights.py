"""Sample weights as integers. In: one weight per row. Out: integers whose sums are exact, the same for any order."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_array

from comboost._dtypes import MAX_WEIGHT_SUM, WEIGHT, Floats, Weights


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
    # Two steps: the power of two alone may leave the range of a double when the product does not.
    half = shift // 2
    return np.rint(np.ldexp(np.ldexp(sample_weight, half), shift - half)).astype(WEIGHT)


def read_weights(sample_weight: ArrayLike, n_rows: int, name: str) -> Floats:
    """Sample weights as float64: finite, none negative, not all zero."""
    weights = read_weights_of_part(sample_weight, n_rows, name)
    if not weights.any():
        raise no_weight_error(name)
    return weights


def no_weight_error(name: str) -> ValueError:
    """What to do if no row counts."""
    return ValueError(
        f"every sample weight is zero in {name}, so no row counts; give at least one row of every class a positive "
        "weight."
    )


def read_weights_of_part(sample_weight: ArrayLike, n_rows: int, name: str) -> Floats:
    """Sample weights as float64: finite, none negative."""
    weights: Floats = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name=name)
    if weights.ndim != 1:
        raise ValueError(f"{name} has the shape {weights.shape}; give one weight per row, ({n_rows},).")
    if len(weights) != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: {name} has {len(weights)} entries for "
            f"{n_rows} rows; give one weight per row."
        )
    if (weights < 0).any():
        raise ValueError(f"{name} holds the negative weight {weights.min():g}; weights must be zero or more.")
    return weights
