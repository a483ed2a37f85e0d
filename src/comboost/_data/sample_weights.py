"""Sample weights as integers. In: one weight per row. Out: integers whose sums are exact, the same for any order."""

import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array

from comboost._cached import cached_property
from comboost._data.floats import numbers_in_errors
from comboost._data.masks import check_unmasked
from comboost._types import MAX_WEIGHT_SUM, WEIGHT, Floats, Sums, Weights

LIGHT_BITS = 20  # a class with less than 2^-20 of all weight is light
COARSE_WEIGHT_BITS = 4  # and so is one whose heaviest row would weigh less than 2^4
FEW_NUMBERS = 2**16  # below which numbers are counted instead of sorted
MAX_LIFT = 300  # a class with less than 2^-300 of all weight has none


def integer_weights(sample_weight: Floats) -> Weights:
    """n_i = rint(s_i·2^k), k as large as Σn ≤ 2³² allows, from a bound on Σs that no order of the rows changes."""
    exponents, counts = np.unique(np.frexp(sample_weight[sample_weight > 0])[1], return_counts=True)
    one_class = dict(zip(exponents.tolist(), counts.tolist(), strict=True))
    return scale_weights(sample_weight, find_scale([one_class]).shift)


class ClassWeights(NamedTuple):
    """What the weights of every class are like.

    Attributes
    ----------
    exponents : list of mapping of int to int
        How many of the positive ones have which binary exponent.
    least, most : ndarray of float64
        The smallest and the largest of them.
    """

    exponents: list[dict[int, int]]
    least: Floats
    most: Floats

    @classmethod
    def of(cls, sample_weight: Floats, labels: NDArray[np.integer[Any]], n_classes: int) -> "ClassWeights":
        """Look at the weights of rows of these classes."""
        least, most = np.full(n_classes, np.inf), np.zeros(n_classes)
        positive = sample_weight > 0
        np.minimum.at(least, labels[positive], sample_weight[positive])
        np.maximum.at(most, labels, sample_weight)
        exponent_of, exponents = np.frexp(sample_weight[positive])[1], no_counts(n_classes)
        lowest, highest = int(exponent_of.min(initial=2**11)), int(exponent_of.max(initial=-(2**11)))
        span = max(highest - lowest + 1, 1)
        keys = labels[positive].astype(np.int64) * span + (exponent_of - lowest)
        for key, count in count_numbers(keys, n_classes * span):
            exponents[key // span][key % span + lowest] = count
        return cls(exponents, least, most)

    @classmethod
    def join(
        cls, parts: "Sequence[ClassWeights]", places: Sequence[NDArray[np.integer[Any]]], n_classes: int
    ) -> "ClassWeights":
        """Those of several parts, of which each says at which places its classes are."""
        least, most = np.full(n_classes, np.inf), np.zeros(n_classes)
        exponents = no_counts(n_classes)
        for part, of_part in zip(parts, places, strict=True):
            np.minimum.at(least, of_part, part.least)
            np.maximum.at(most, of_part, part.most)
            for place, counts in zip(of_part.tolist(), part.exponents, strict=True):
                for exponent, count in counts.items():
                    exponents[place][exponent] = exponents[place].get(exponent, 0) + count
        return cls(exponents, least, most)

    @property
    def by_class(self) -> bool:
        """Whether all rows of a class weigh the same, and some classes with weight other than others."""
        has_weight = self.most > 0
        heavy = self.most[has_weight]
        return bool((self.least[has_weight] == heavy).all() and (heavy != heavy[:1]).any())

    def check_none_lost(self, sums: Sums, classes: NDArray[Any], name: str) -> None:
        """Raise if a class has weights, but none that is left beside the others."""
        lost = (self.most > 0) & (sums == 0)
        if lost.any():
            raise ValueError(
                f"{name} gives next to no weight to the class(es) {classes[lost].tolist()} beside the others; raise "
                "these weights, or make them zero."
            )


def count_numbers(numbers: NDArray[np.int64], end: int) -> list[tuple[int, int]]:
    """How often there is which number below the end, ascending."""
    if end > FEW_NUMBERS:
        found, counts = np.unique(numbers, return_counts=True)
    else:
        counts = np.bincount(numbers, minlength=end)
        found = np.flatnonzero(counts)
        counts = counts[found]
    return list(zip(found.tolist(), counts.tolist(), strict=True))


def no_counts(n_classes: int) -> list[dict[int, int]]:
    """No weights of any class."""
    return [{} for _ in range(n_classes)]


class WeightScale(NamedTuple):
    """How weights become integers: n_i = rint(s_i·2^(k + t_l)).

    Attributes
    ----------
    shift : int
        k.
    lifts : ndarray of int64 or None
        t_l, by which light classes are lifted; None if none is.
    """

    shift: int
    lifts: Sums | None = None

    def apply(self, sample_weight: Floats, labels: NDArray[np.integer[Any]]) -> Weights:
        """The integer weights of rows of these classes."""
        return scale_weights(sample_weight, self.shift if self.lifts is None else self.shift + self.lifts[labels])

    def of_classes(self, places: NDArray[np.intp] | None) -> "WeightScale":
        """The scale of some of the classes alone; None is all of them."""
        if self.lifts is None or places is None:
            return self
        return WeightScale(self.shift, self.lifts[places] if self.lifts[places].any() else None)


UNSCALED = WeightScale(0)  # every row weighs 1


def find_scale(exponents: Sequence[Mapping[int, int]]) -> WeightScale:
    """The scale, k and t_l, from how many weights of every class have which binary exponent."""
    heaviest = [max(counts, default=None) for counts in exponents]
    lowest = min(min(counts) for counts in exponents if counts)
    # In units of 2^lowest, so that the sums are exact integers.
    bounds = [sum(count << (exponent - lowest) for exponent, count in counts.items()) for counts in exponents]
    total, n_present = sum(bounds), sum(bound > 0 for bound in bounds)
    shift = shift_below(total) - lowest
    top = max(x for x in heaviest if x is not None)
    is_light = [
        x is not None and (bound << LIGHT_BITS < total or (x < top and x + shift < COARSE_WEIGHT_BITS))
        for x, bound in zip(heaviest, bounds, strict=True)
    ]
    lifts = [
        lift_below(total, n_present * bound) if light else 0 for light, bound in zip(is_light, bounds, strict=True)
    ]
    if not any(lifts):
        return WeightScale(shift)
    lifted = sum(bound << lift for bound, lift in zip(bounds, lifts, strict=True))
    return WeightScale(shift_below(lifted) - lowest, np.array(lifts, dtype=np.int64))


def shift_below(total: int) -> int:
    """The largest k with total·2^k ≤ 2³²."""
    return MAX_WEIGHT_SUM.bit_length() - 1 - (total - 1).bit_length()


def lift_below(total: int, bound: int) -> int:
    """The largest t with bound·2^t ≤ total; 0 if it is negative, or beyond all measure."""
    lift = max((total // bound).bit_length() - 1, 0)
    return lift if lift <= MAX_LIFT else 0


def scale_weights(sample_weight: Floats, shift: Any) -> Weights:
    """rint(s_i·2^k), with one k for all rows or one for each."""
    # Two steps: the power of two alone may leave the range of a double when the product does not.
    half = shift // 2
    weights: Weights = np.rint(np.ldexp(np.ldexp(sample_weight, half), shift - half)).astype(WEIGHT)
    return weights


@dataclass(frozen=True)
class ClassWeightSums:
    """The summed integer weight of every class, and what it stands for.

    Attributes
    ----------
    sums : ndarray of int64
        M_l = Σ n_i.
    scale : WeightScale
        How sample weights became integers.
    """

    sums: Sums
    scale: WeightScale = UNSCALED

    @property
    def plain(self) -> Floats:
        """The weight_sums as they would be if no class were lifted: a row of sample weight 1 weighs 2^k."""
        return self.taken_back(self.sums.astype(np.float64))

    @property
    def total(self) -> float:
        """Their sum."""
        return float(np.cumsum(self.plain)[-1])

    @cached_property
    def shares(self) -> Floats:
        """The share of every class in the weight of all rows."""
        return np.asarray(self.plain / self.total)

    def lifted(self, values: Floats) -> Floats:
        """What has a value, or a row of values, for every class times 2^t_l."""
        return values if self.scale.lifts is None else np.ldexp(values, self._lifts_beside(values))

    def taken_back(self, values: Floats) -> Floats:
        """What has a value, or a row of values, for every class times 2^-t_l."""
        return values if self.scale.lifts is None else np.ldexp(values, -self._lifts_beside(values))

    def _lifts_beside(self, values: Floats) -> Sums:
        assert self.scale.lifts is not None
        return self.scale.lifts.reshape((-1,) + (1,) * (values.ndim - 1))


def class_sums(labels: NDArray[np.integer[Any]], weights: Weights | None, n_classes: int) -> Sums:
    """M_l = Σ n_i over class l."""
    if weights is None:
        return np.bincount(labels, minlength=n_classes).astype(np.int64)
    sums = np.zeros(n_classes, dtype=np.int64)
    np.add.at(sums, labels, weights)
    return sums


def read_weights(sample_weight: ArrayLike, n_samples: int, name: str) -> Floats:
    """Sample weights as float64: finite, none negative, not all zero."""
    weights = read_weights_of_part(sample_weight, n_samples, name)
    if not weights.any():
        raise no_weight_error(name)
    return weights


def no_weight_error(name: str) -> ValueError:
    """What to do if no row counts."""
    return ValueError(
        f"every sample weight is zero in {name}, so no row counts; give rows of at least two classes a positive weight."
    )


def read_weights_of_part(sample_weight: ArrayLike, n_samples: int, name: str) -> Floats:
    """Sample weights as float64: finite, none negative. A number is the weight of every row."""
    check_unmasked(sample_weight, name, "give every row a weight, 0 if it is not to count.")
    with numbers_in_errors(sample_weight, name):
        given = as_given(sample_weight, n_samples)
        weights: Floats = check_array(given, ensure_2d=False, dtype=np.float64, input_name=name)
    if weights.ndim != 1:
        raise ValueError(f"{name} has the shape {weights.shape}; give one weight per row, ({n_samples},).")
    if len(weights) != n_samples:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: {name} has {len(weights)} entries for "
            f"{n_samples} rows; give one weight per row."
        )
    if (weights < 0).any():
        raise ValueError(f"{name} holds the negative weight {weights.min():g}; weights must be zero or more.")
    return weights


def as_given(sample_weight: Any, n_samples: int) -> Any:
    """Sample weights, one per row: a number is the weight of every row."""
    return np.full(n_samples, float(sample_weight)) if isinstance(sample_weight, numbers.Real) else sample_weight
