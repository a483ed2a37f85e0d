"""Norms of losses, and the rounds that minimise them, in floats with NumPy: the mathematics without its rounding.

In: scores and leaves. Out: losses, prices and leaf values. Nothing is quantised, no sum has an order, and excess is
exp(f) itself. Norms have the methods and the attribute of those that users may give.
"""

import math

import numpy as np

CAPPED_STEP = 0.5 * math.log(2.0**31)
N_SWEEPS = 8


# Norms


class EntryNorm:
    """The p-norm of the losses of pairs or of classes."""

    def __init__(self, p, of="pairs"):
        self.p = p
        self.of = of

    def __repr__(self):
        return f"EntryNorm({self.p}, {self.of!r})"

    def value(self, A):
        largest = A.max()  # powers of small losses would vanish
        return float(largest * np.linalg.norm(A.ravel() / largest, self.p)) if largest > 0 else 0.0

    def gradient(self, A):
        return (A / self.value(A)) ** (self.p - 1) if A.any() else np.ones_like(A)


class SchattenNorm:
    """The p-norm of the singular values."""

    of = "pairs"

    def __init__(self, p):
        self.p = p

    def __repr__(self):
        return f"SchattenNorm({self.p})"

    def value(self, A):
        return EntryNorm(self.p).value(np.linalg.svd(A, compute_uv=False))

    def gradient(self, A):
        if not A.any():
            return np.ones_like(A)
        U, s, V = np.linalg.svd(A)
        if self.p == math.inf:
            return np.abs(np.outer(U[:, 0], V[0]))
        return np.maximum((U * (s / EntryNorm(self.p).value(s)) ** (self.p - 1)) @ V, 0.0)  # rounding may go below 0


#: The norms that have a name.
NORMS = {
    "entrywise": EntryNorm(1, "both"),
    "frobenius": EntryNorm(2),
    "schatten-4": SchattenNorm(4),
    "spectral": SchattenNorm(math.inf),
    "worst-class": EntryNorm(8, "classes"),
    "l2-class": EntryNorm(2, "classes"),
}
SMOOTH = NORMS | {"spectral": SchattenNorm(8)}  # what their rounds minimise


def value(norm, losses):
    """Return Φ of the losses of pairs, (K, K), or of classes, (K,)."""
    return norm.value(losses.sum(axis=1) if norm.of == "classes" and losses.ndim == 2 else losses)


def gradient(norm, losses):
    """Return ∇Φ in the shape of the losses, with a zero diagonal."""
    if norm.of == "classes" and losses.ndim == 2:
        found = by_pairs(norm.gradient(losses.sum(axis=1)))
    else:
        found = norm.gradient(losses)
    return found if found.ndim == 1 else found * (1.0 - np.eye(len(found)))


def by_pairs(prices):
    """Return prices of pairs; those of a class are the same for all of its pairs."""
    return prices if prices.ndim == 2 else np.repeat(prices[:, np.newaxis], len(prices), axis=1)


# Losses


def base_weights(y, sample_weight, n_classes, balance=1.0):
    """Return w_i = n_i/M_l^τ, scaled so that they add up to K; every class has weight."""
    weight_sums = np.bincount(y, weights=sample_weight, minlength=n_classes)
    weights = sample_weight / weight_sums[y] ** balance
    return weights * n_classes / weights.sum()


def excess(scores, y):
    """Return E(i,j) = exp(f(i,j) − f(i,y_i))."""
    return np.exp(scores - scores[np.arange(len(y)), y][:, np.newaxis])


def shares_of(cost_matrix):
    """Return c(l,j)/c̄_l and c̄_l, the largest cost of class l."""
    largest = cost_matrix.max(axis=1)
    return cost_matrix / np.where(largest == 0, 1.0, largest)[:, np.newaxis], largest


def sum_by_class(values, y, n_classes):
    """Return sums over the samples of every class."""
    sums = np.zeros((n_classes, *values.shape[1:]))
    np.add.at(sums, y, values)
    return sums


def losses_of(scores, y, weight, cost_matrix, loss):
    """Return A(l,j), (K, K), or r(l), (K,), with the log-loss, which has no pairs of classes."""
    E, n_classes = excess(scores, y), len(cost_matrix)
    if loss == "log":
        shares, largest = shares_of(cost_matrix)
        return sum_by_class(weight * largest[y] * np.log1p((shares[y] * E).sum(axis=1)) / np.log(2.0), y, n_classes)
    losses = E if loss == "exponential" else np.log1p(E) / np.log(2.0)
    return sum_by_class(weight[:, np.newaxis] * cost_matrix[y] * losses, y, n_classes)


def costs_of(scores, y, weight, cost_matrix, loss):
    """Return D(i,j) without prices, 0 for j = y_i: the gradient of the loss, in nats if it is a logarithm."""
    E = excess(scores, y)
    if loss == "logistic":
        E = E / (1.0 + E)
    elif loss == "log":
        shares, _ = shares_of(cost_matrix)
        E = E / (1.0 + (shares[y] * E).sum(axis=1))[:, np.newaxis]
    return weight[:, np.newaxis] * cost_matrix[y] * E


def error_confusion(scores, y, weight, n_classes):
    """Return C(l,j), the share of class l whose highest score is that of j, the first of ties; zero diagonal."""
    predicted = np.eye(n_classes)[scores.argmax(axis=1)]
    confusion = sum_by_class(weight[:, np.newaxis] * predicted, y, n_classes)
    return confusion / confusion.sum(axis=1, keepdims=True) * (1.0 - np.eye(n_classes))


# Rounds


def prices(norm, losses, first):
    """Return G, scaled so that ``first``, the costs before the first round, (K, K), cost as much as without it."""
    G = gradient(norm, losses)
    return G * (first.sum() / (by_pairs(G) * first).sum())


def leaf_pairs(costs, y, leaves, n_leaves):
    """Return S_q(l,j), (n_leaves, K, K)."""
    pairs = np.zeros((n_leaves, costs.shape[1], costs.shape[1]))
    np.add.at(pairs, (leaves, y), costs)
    return pairs


def forecast(losses, pairs, values, loss):
    """Return the losses after a round: exact for the exponential loss, from above for a logarithm, by its tangent."""
    left = (pairs * np.exp(values[:, np.newaxis, :] - values[:, :, np.newaxis])).sum(axis=0)
    change = (left - pairs.sum(axis=0)) / (1.0 if loss == "exponential" else math.log(2.0))
    return losses + (change if losses.ndim == 2 else change.sum(axis=1))


def balance(matrix, first=0):
    """Return the values after some sweeps of Osborne's iteration that begin with one of the classes."""
    values = np.zeros(len(matrix))
    for _ in range(N_SWEEPS):
        for j in np.roll(np.arange(len(matrix)), -first):
            scaled = matrix * np.exp(values - values[:, np.newaxis])
            values[j] += 0.5 * math.log(scaled[j].sum() / scaled[:, j].sum())
    return values - values.mean()


def balanced_values(pairs, G, smoothing):
    """Return values that balance G∘S_q + ρ in every leaf, ρ being the symmetric part of G∘smoothing."""
    rho = by_pairs(G) * smoothing
    rho = 0.5 * (rho + rho.T)
    priced = by_pairs(G) * pairs
    lowest = (priced.sum(axis=1) - priced.sum(axis=2)).argmin(axis=1)  # of the costs Σ D(i,l) of the leaf
    return np.array([balance(matrix + rho, first) for matrix, first in zip(priced, lowest, strict=True)])


# Class prices


def next_prices(prices, held_losses, n_held, follow):
    """Return prices that go half of the way to those that follow the class losses of held-out samples.

    Twenty samples of the mean loss are added to those of every class. ``follow`` says how prices follow losses.
    """
    mean = held_losses.sum() / (n_held > 0).sum()
    followed = np.log(follow((n_held * held_losses + 20.0 * mean) / (n_held + 20.0)))
    return np.exp(0.5 * (np.log(prices) + followed - followed.mean()))
