"""Votes of leaves for every class. In: sums of costs, leaf by leaf. Out: the votes, and the costs that they leave."""

from typing import NamedTuple

import numpy as np

from comboost import _core
from comboost._types import MAX_PAIRED, Floats, LeafVotes, Sums


class LeafSums(NamedTuple):
    """What the rows of every leaf cost.

    Attributes
    ----------
    pairs : ndarray of int64, (n_leaves, K, K), or None
        S_q(l,j): by truth and class, zero diagonal; None for more than MAX_PAIRED classes.
    up : ndarray of int64, (n_leaves, K)
        The loss by truth: what pulls a class up.
    costs : ndarray of int64, (n_leaves, K)
        D of every class: what pushes it down, without what pulls it up.
    """

    pairs: Sums | None
    up: Sums
    costs: Sums

    @property
    def down(self) -> Sums:
        """The costs of every class for the rows of others: what pushes it down."""
        return self.costs + self.up


def sums_pairs(n_classes: int) -> bool:
    """Whether leaves sum up the costs of every pair of classes."""
    return n_classes <= MAX_PAIRED


def balance(sums: LeafSums, rho: Floats, learning_rate: float, n_threads: int) -> LeafVotes:
    """The votes that take every class for others as much as others are taken for it, in every leaf.

    Parameters
    ----------
    sums : LeafSums
        What the rows of the leaves cost.
    rho : ndarray of shape (K, K)
        What every pair of classes costs in every leaf beside its rows.
    learning_rate : float
        ν.
    n_threads : int
        Threads.

    Returns
    -------
    ndarray of float32, (n_leaves, K)
        The votes times ν, as they are stored, added up and used everywhere.
    """
    n_classes = sums.up.shape[1]
    votes = np.empty((len(sums.up), n_classes))
    if sums.pairs is not None:
        _core.balance_pairs(sums.pairs, rho, sums.costs.argmin(axis=1), n_threads, votes)
    else:
        added = np.cumsum(rho, axis=1)[:, -1].copy()  # ρ is symmetric
        _core.balance_classes(sums.up, sums.down, added, n_threads, votes)
        votes *= 1.0 - learning_rate / 2.0  # or the classes would overshoot together
    means = np.cumsum(votes, axis=1)[:, -1:] / n_classes
    stored: LeafVotes = (learning_rate * (votes - means)).astype(np.float32)
    return stored


class LeafFactors(NamedTuple):
    """What votes multiply the excess by: exp(v) and exp(−v), (n_leaves, K) each."""

    growth: Floats
    shrink: Floats

    @classmethod
    def of(cls, votes: LeafVotes) -> "LeafFactors":
        """Of stored votes."""
        factors = cls(np.empty(votes.shape), np.empty(votes.shape))
        _core.exponentiate(votes, *factors)
        return factors

    @property
    def largest(self) -> float:
        """What the excess of no row grows by more than."""
        return float((self.growth.max(axis=1) * self.shrink.max(axis=1)).max())


def remaining_cost(sums: LeafSums, factors: LeafFactors, n_threads: int) -> float:
    """What the leaves cost at most after the votes; with the sums of pairs it is exactly that."""
    left = np.empty(len(sums.up))
    if sums.pairs is not None:
        _core.remaining_of_pairs(sums.pairs, *factors, n_threads, left)
    else:
        _core.remaining_of_classes(sums.up, sums.down, *factors, n_threads, left)
    return float(np.cumsum(left)[-1])
