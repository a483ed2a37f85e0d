"""A part, read on its worker. In: a part of X, y and weights. Out: its labels, integer weights, the rows that count."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comboost._costs import count_exponents, scale_weights
from comboost._dtypes import Weights
from comboost._table import RawTable, read_part
from comboost._training_set import read_labels, read_weights_of_part
from comboost.dask._parts import Part


@dataclass(frozen=True)
class Block:
    """A part as a fit sees it.

    Attributes
    ----------
    labels : ndarray
        The label of every row given.
    weights : ndarray of uint32 or None
        The integer weight of every row given; None where every row weighs 1.
    table : RawTable
        The rows that weigh something.
    """

    labels: NDArray[Any]
    weights: Weights | None
    table: RawTable

    @classmethod
    def read(cls, part: Part, shift: int | None) -> "Block":
        """Read a part whose weights are to be multiplied by 2^shift; None where there are none."""
        table = read_part(part.X)
        labels = read_labels(part.y, table.shape[0], "y")
        if shift is None:
            return cls(labels, None, table)
        given = read_weights_of_part(part.sample_weight, len(labels), "sample_weight")
        weights = scale_weights(given, shift)
        return cls(labels, weights, table if weights.all() else table.take(np.flatnonzero(weights)))

    @property
    def kept_weights(self) -> Weights | None:
        """The weights of the rows that weigh something."""
        return None if self.weights is None else self.weights[self.weights > 0]

    @property
    def kept_labels(self) -> NDArray[Any]:
        """The labels of the rows that weigh something."""
        return self.labels if self.weights is None else self.labels[self.weights > 0]


def exponents_of(part: Part) -> dict[int, int]:
    """How many of a part's weights have which binary exponent."""
    n_rows = len(part.sample_weight)
    if n_rows == 0:
        return {}
    with naming(part):
        return count_exponents(read_weights_of_part(part.sample_weight, n_rows, "sample_weight"))


def join_exponents(counts: list[dict[int, int]]) -> dict[int, int]:
    """How many weights of some parts have which binary exponent."""
    exponents = set().union(*counts)
    return {exponent: sum(part.get(exponent, 0) for part in counts) for exponent in exponents}


@contextmanager
def naming(part: Part) -> Iterator[None]:
    """Say in an error about values in which partition they are."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"In partition {part.place}: {error}") from error
