"""Sample weights as integers, whose sums are exact and the same for any order of the samples."""

import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array

from comboost._data.checks import check_unmasked, numbers_in_errors
from comboost._types import MAX_WEIGHT_SUM, WEIGHT, Floats, Sums, Weights

LIGHT_BITS = 20  # a class with less than 2^-20 of all weight is light
COARSE_WEIGHT_BITS = 4  # so is a class whose largest weight would become less than 2^4
FEW_KEYS = 2**16  # fewer possible keys are counted instead of sorted
MAX_LIFT = 300  # a class with less than 2^-300 of all weight counts as having none


def integer_weights(sample_weight: Floats) -> Weights:
    """n_i = rint(s_i·2^k), k as large as Σn ≤ 2³² allows, from a bound on Σs that does not depend on the order."""
    exponents, counts = np.unique(np.frexp(sample_weight[sample_weight > 0])[1], return_counts=True)
    one_class = dict(zip(exponents.tolist(), counts.tolist(), strict=True))
    return scale_weights(sample_weight, find_scale([one_class]).shift)


class ClassWeights(NamedTuple):
    """Summary of the sample weights of every class."""

    exponents: list[dict[int, int]]  # number of positive weights by binary exponent
    least: Floats  # the smallest positive weight
    most: Floats  # the largest weight

    @classmethod
    def of(cls, sample_weight: Floats, labels: NDArray[np.integer[Any]], n_classes: int) -> "ClassWeights":
        """Summarise the weights of samples of these classes."""
        least, most = np.full(n_classes, np.inf), np.zeros(n_classes)
        positive = sample_weight > 0
        np.minimum.at(least, labels[positive], sample_weight[positive])
        np.maximum.at(most, labels, sample_weight)
        exponent_of = np.frexp(sample_weight[positive])[1]
        lowest, highest = int(exponent_of.min(initial=2**11)), int(exponent_of.max(initial=-(2**11)))
        span = max(highest - lowest + 1, 1)
        keys = labels[positive].astype(np.int64) * span + (exponent_of - lowest)
        if n_classes * span > FEW_KEYS:
            present, counts = np.unique(keys, return_counts=True)
        else:
            all_counts = np.bincount(keys)
            present = np.flatnonzero(all_counts)
            counts = all_counts[present]
        exponents: list[dict[int, int]] = [{} for _ in range(n_classes)]
        for key, count in zip(present.tolist(), counts.tolist(), strict=True):
            exponents[key // span][key % span + lowest] = count
        return cls(exponents, least, most)

    @classmethod
    def join(
        cls, parts: "Sequence[ClassWeights]", indices: Sequence[NDArray[np.integer[Any]]], n_classes: int
    ) -> "ClassWeights":
        """Join the summaries of several parts, given the class indices of each."""
        least, most = np.full(n_classes, np.inf), np.zeros(n_classes)
        exponents: list[dict[int, int]] = [{} for _ in range(n_classes)]
        for part, of_part in zip(parts, indices, strict=True):
            np.minimum.at(least, of_part, part.least)
            np.maximum.at(most, of_part, part.most)
            for index, counts in zip(of_part.tolist(), part.exponents, strict=True):
                for exponent, count in counts.items():
                    exponents[index][exponent] = exponents[index].get(exponent, 0) + count
        return cls(exponents, least, most)

    @property
    def by_class(self) -> bool:
        """Whether weights are equal within every class and differ between classes."""
        has_weight = self.most > 0
        heavy = self.most[has_weight]
        return bool((self.least[has_weight] == heavy).all() and (heavy != heavy[:1]).any())

    def check_none_lost(self, sums: Sums, classes: NDArray[Any], name: str) -> None:
        """Raise if a class has positive weights that all round to 0."""
        lost = (self.most > 0) & (sums == 0)
        if lost.any():
            raise ValueError(
                f"{name} gives next to no weight to the class(es) {classes[lost].tolist()} beside the others; raise "
                "these weights, or make them zero."
            )


class WeightScale(NamedTuple):
    """Scale from sample weights to integers: n_i = rint(s_i·2^(k + t_l))."""

    shift: int  # k
    lifts: Sums | None = None  # t_l, by which light classes are scaled up; None if none is

    def apply(self, sample_weight: Floats, labels: NDArray[np.integer[Any]]) -> Weights:
        """Integer weights of samples of these classes."""
        return scale_weights(sample_weight, self.shift if self.lifts is None else self.shift + self.lifts[labels])

    def of_classes(self, indices: NDArray[np.intp] | None) -> "WeightScale":
        """The scale of some classes only; None is all of them."""
        if self.lifts is None or indices is None:
            return self
        return WeightScale(self.shift, self.lifts[indices] if self.lifts[indices].any() else None)


UNSCALED = WeightScale(0)  # every sample weighs 1


def find_scale(exponents: Sequence[Mapping[int, int]]) -> WeightScale:
    """Find the scale, k and t_l, from the number of weights of every class by their binary exponent."""
    heaviest = [max(counts, default=None) for counts in exponents]
    lowest = min(min(counts) for counts in exponents if counts)
    # In units of 2^lowest, so that the sums are exact integers.
    bounds = [sum(count << (exponent - lowest) for exponent, count in counts.items()) for counts in exponents]
    total, n_present = sum(bounds), sum(bound > 0 for bound in bounds)
    shift = shift_below(total) - lowest
    top = max(x for x in heaviest if x is not None)
    lifts = [0] * len(bounds)
    for label, (exponent, bound) in enumerate(zip(heaviest, bounds, strict=True)):
        if exponent is None:
            continue
        if bound << LIGHT_BITS < total or (exponent < top and exponent + shift < COARSE_WEIGHT_BITS):
            # The largest t with n_present·bound·2^t ≤ total; 0 if it is negative, or too large to matter.
            lift = max((total // (n_present * bound)).bit_length() - 1, 0)
            lifts[label] = lift if lift <= MAX_LIFT else 0
    if not any(lifts):
        return WeightScale(shift)
    lifted = sum(bound << lift for bound, lift in zip(bounds, lifts, strict=True))
    return WeightScale(shift_below(lifted) - lowest, np.array(lifts, dtype=np.int64))


def shift_below(total: int) -> int:
    """The largest k with total·2^k ≤ 2³²."""
    return MAX_WEIGHT_SUM.bit_length() - 1 - (total - 1).bit_length()


def scale_weights(sample_weight: Floats, shift: Any) -> Weights:
    """rint(s_i·2^k), with one k for all samples or one for each."""
    # In two steps, since the power of two alone may leave the range of a double.
    half = shift // 2
    weights: Weights = np.rint(np.ldexp(np.ldexp(sample_weight, half), shift - half)).astype(WEIGHT)
    return weights


@dataclass(frozen=True)
class ClassWeightSums:
    """The summed integer weight of every class, and its scale."""

    sums: Sums  # M_l = Σ n_i
    scale: WeightScale = UNSCALED  # how sample weights became integers
    plain: Floats = field(init=False, compare=False)  # as if no class were lifted: a sample of weight 1 counts 2^k
    total: float = field(init=False, compare=False)  # the sum of these

    def __post_init__(self) -> None:
        sums = self.sums.astype(np.float64)
        plain = sums if self.scale.lifts is None else np.ldexp(sums, -self.scale.lifts)
        object.__setattr__(self, "plain", plain)
        object.__setattr__(self, "total", float(np.cumsum(plain)[-1]))

    @property
    def proportions(self) -> Floats:
        """Proportion of every class in the summed weight."""
        return np.asarray(self.plain / self.total)

    def lifted(self, values: Floats) -> Floats:
        """Multiply values, one or one row for every class, by 2^t_l."""
        if self.scale.lifts is None:
            return values
        return np.ldexp(values, self.scale.lifts.reshape((-1,) + (1,) * (values.ndim - 1)))


def class_sums(labels: NDArray[np.integer[Any]], weights: Weights | None, n_classes: int) -> Sums:
    """M_l = Σ n_i over class l."""
    if weights is None:
        return np.bincount(labels, minlength=n_classes).astype(np.int64)
    sums = np.zeros(n_classes, dtype=np.int64)
    np.add.at(sums, labels, weights)
    return sums


def read_weights(sample_weight: ArrayLike, n_samples: int, name: str) -> Floats:
    """Convert sample weights to float64: finite, none negative, not all zero."""
    weights = read_weights_of_part(sample_weight, n_samples, name)
    if not weights.any():
        raise no_weight_error(name)
    return weights


def no_weight_error(name: str) -> ValueError:
    """Error about weights that are all zero."""
    return ValueError(
        f"every sample weight is zero in {name}, so no row counts; give rows of at least two classes a positive weight."
    )


def read_weights_of_part(sample_weight: ArrayLike, n_samples: int, name: str) -> Floats:
    """Convert sample weights to float64: finite, none negative. A number is the weight of every sample."""
    check_unmasked(sample_weight, name, "give every row a weight, 0 if it is not to count.")
    with numbers_in_errors(sample_weight, name):
        given = weight_per_sample(sample_weight, n_samples)
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


def weight_per_sample(sample_weight: Any, n_samples: int) -> Any:
    """Repeat a weight that is a single number for every sample."""
    return np.full(n_samples, float(sample_weight)) if isinstance(sample_weight, numbers.Real) else sample_weight
