"""Bags. In: a booster and rows. Out: boosters fitted on balanced bootstraps, whose votes add up."""

from collections.abc import Sequence
from itertools import islice
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

Probabilities = NDArray[np.float64]

MOST = 2  # times the smallest class: what a class may have in a bag
TINY = np.finfo(np.float64).tiny


class BalancedBags:
    """Boosters on bootstraps in which no class has more than twice the rows of the smallest."""

    def __init__(self, booster: Any, n_bags: int, seed: int) -> None:
        self._booster = booster
        self._n_bags = n_bags
        self._seed = seed

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> Self:
        """Fit a booster on every bag."""
        random = np.random.RandomState(self._seed)
        self.members_ = []
        for i in range(self._n_bags):
            rows = draw_bag(y, random)
            member = clone(self._booster).set_params(random_state=self._seed + i)
            self.members_.append(member.fit(X[rows], y[rows]))
        return self

    @property
    def n_iter_(self) -> int:
        """Rounds of the longest member."""
        return max(member.n_iter_ for member in self.members_)

    def stages(self, X: NDArray[Any], rounds: Sequence[int]) -> list[Probabilities]:
        """Probabilities after each of these rounds: softmax of the mean votes."""
        means = [np.zeros(())] * len(rounds)
        for member in self.members_:
            logarithms = (np.log(np.maximum(proba, TINY)) / self._n_bags for proba in stages_of(member, X, rounds))
            means = [mean + logarithm for mean, logarithm in zip(means, logarithms, strict=True)]
        return [normalise(mean) for mean in means]


def draw_bag(y: NDArray[Any], random: np.random.RandomState) -> NDArray[np.intp]:
    """A bootstrap of every class, cut at twice the smallest."""
    classes, counts = np.unique(y, return_counts=True)
    sizes = np.minimum(counts, MOST * counts.min())
    drawn = [random.choice(np.flatnonzero(y == label), size) for label, size in zip(classes, sizes, strict=True)]
    return np.concatenate(drawn)


def normalise(log_proba: Probabilities) -> Probabilities:
    """Probabilities that add up to 1."""
    proba = np.exp(log_proba - log_proba.max(axis=1, keepdims=True))
    return proba / proba.sum(axis=1, keepdims=True)


def stages_of(model: Any, X: NDArray[Any], rounds: Sequence[int]) -> list[Probabilities]:
    """Probabilities after each of these rounds, which ascend; the last ones, if a fit ended before."""
    if isinstance(model, BalancedBags):
        return model.stages(X, rounds)
    staged, found, done = model.staged_predict_proba(X), [], 0
    for n_rounds in rounds:
        for proba in islice(staged, n_rounds - done):
            last = proba
        found.append(last)
        done = n_rounds
    return found
