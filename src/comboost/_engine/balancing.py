"""Votes of leaves for every class. In: sums of costs, leaf by leaf. Out: the votes, and the costs that they leave."""

import math
from typing import NamedTuple

import numpy as np

from comboost import _core
from comboost._dtypes import MAX_PAIRED, Floats, LeafVotes, Sums


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


class Balanced(NamedTuple):
    """Votes v of every leaf, before the learning rate, and the share of the loss that they promise to leave."""

    votes: Floats
    promise: float


def sums_pairs(n_classes: int) -> bool:
    """Whether leaves sum up the costs of every pair of classes."""
    return n_classes <= MAX_PAIRED


def smoothing_matrix(costs: Floats, smoothing: float, loss: int, n_leaves: int) -> Floats:
    """ρ(l,j): what every pair of classes costs in every leaf beside its rows."""
    total = float(np.cumsum(costs)[-1])
    matrix: Floats = smoothing * float(loss) / (n_leaves * total) * costs
    return matrix


def balance(sums: LeafSums, rho: Floats, loss: int, learning_rate: float, n_threads: int) -> Balanced:
    """The votes that take every class for others as much as others are taken for it, in every leaf.

    Parameters
    ----------
    sums : LeafSums
        What the rows of the leaves cost.
    rho : ndarray of shape (K, K)
        What is added to it.
    loss : int
        Λ, the loss of all leaves.
    learning_rate : float
        ν.
    n_threads : int
        Threads.
    """
    votes, promises = np.empty(sums.up.shape), np.empty(len(sums.up))
    if sums.pairs is not None:
        _core.balance_pairs(sums.pairs, rho, sums.costs.argmin(axis=1), n_threads, votes, promises)
    else:
        smoothing_up, smoothing_down = np.cumsum(rho, axis=1)[:, -1].copy(), np.cumsum(rho, axis=0)[-1].copy()
        down = sums.costs + sums.up
        _core.balance_classes(sums.up, down, smoothing_up, smoothing_down, n_threads, votes, promises)
        votes *= 1.0 - learning_rate / 2.0  # or the classes would overshoot together
    means = np.cumsum(votes, axis=1)[:, -1:] / votes.shape[1]
    return Balanced(votes - means, float(np.cumsum(promises)[-1]) / loss)


def promised_rate(learning_rate: float, n_classes: int) -> float:
    """The share of the promise that is kept at this learning rate."""
    return learning_rate if sums_pairs(n_classes) else learning_rate * (2.0 - learning_rate)


def stored_votes(votes: Floats, learning_rate: float) -> LeafVotes:
    """The votes as they are stored, added up and used everywhere."""
    return (learning_rate * votes).astype(np.float32)


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


def row_bound(up: Sums, factors: LeafFactors, largest: float, exponent: int) -> float:
    """What no row's loss per unit of weight is above, after the votes.

    Parameters
    ----------
    up : ndarray of int64, (n_leaves, K)
        The loss by leaf and truth before the votes, in units of 2^-exponent.
    factors : LeafFactors
        What the votes multiply the excess by.
    largest : float
        r, the largest row before the votes.
    exponent : int
        e.
    """
    n_classes = up.shape[1]
    rows = np.minimum(largest, np.ldexp((up + n_classes).astype(np.float64), -exponent))
    return float((rows * (factors.growth.max(axis=1, keepdims=True) * factors.shrink)).max())


def log_drop(loss: float, rate: float, promise: float) -> float:
    """By how many bits the log-loss falls at least; ``loss`` is that of the costs."""
    return rate * loss * (1.0 - promise) / math.log(2.0)
