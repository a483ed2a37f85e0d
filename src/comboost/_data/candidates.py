"""Which classes are voted for. In: the classes of y and their weights. Out: those that have weight, and their places.

A class whose rows all weigh nothing is no class to train on, to the last bit, but it stays a class of y.
"""

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from comboost._types import Floats, Sums

ValueT = TypeVar("ValueT", bound=np.generic)


@dataclass(frozen=True)
class Candidates:
    """The classes of y, and which of them are trained on and voted for.

    Attributes
    ----------
    given : ndarray
        The classes of y, sorted.
    places : ndarray of intp or None
        Where those with weight are among them; None if all have weight.
    """

    given: NDArray[Any]
    places: NDArray[np.intp] | None = None

    @classmethod
    def of(cls, given: NDArray[Any], sums: Sums) -> "Candidates":
        """The candidates among classes of these summed weights: at least two."""
        has_weight = sums > 0
        if has_weight.all():
            return cls(given)
        if has_weight.sum() < 2:
            raise ValueError(
                f"sample_weight gives no weight to the class(es) {given[~has_weight].tolist()}, zero or next to it "
                "beside the others; at least two classes need a row that counts. Raise their weights."
            )
        return cls(given, np.flatnonzero(has_weight))

    @property
    def classes(self) -> NDArray[Any]:
        """Those that are voted for."""
        return self.given if self.places is None else self.given[self.places]

    def chosen(self, values: NDArray[ValueT]) -> NDArray[ValueT]:
        """Of one value per class of y those of the candidates."""
        return values if self.places is None else values[self.places]

    def chosen_pairs(self, matrix: Floats) -> Floats:
        """Of one value per pair of classes of y those of the candidates."""
        return matrix if self.places is None else np.ascontiguousarray(matrix[np.ix_(self.places, self.places)])

    def chosen_labels(self, numbers: NDArray[ValueT]) -> NDArray[ValueT]:
        """Indices among the candidates as indices among the classes of y."""
        return numbers if self.places is None else self.places[numbers].astype(numbers.dtype)

    def numbered(self, labels: NDArray[ValueT]) -> NDArray[ValueT]:
        """Indices of candidates among the classes of y as indices among the candidates."""
        return labels if self.places is None else np.searchsorted(self.places, labels).astype(labels.dtype)

    def spread(self, values: NDArray[ValueT], fill: float) -> NDArray[ValueT]:
        """One value per candidate, in the last axis, as one per class of y."""
        if self.places is None:
            return values
        everywhere = np.full((*values.shape[:-1], len(self.given)), fill, dtype=values.dtype)
        everywhere[..., self.places] = values
        return everywhere

    def spread_pairs(self, matrix: Floats) -> Floats:
        """One value per pair of candidates as one per pair of classes of y, 0 for the others."""
        return matrix if self.places is None else self.spread(self.spread(matrix, 0.0).T, 0.0).T.copy()
