"""Confidence bounds, slowly and plainly: K×K lists of counts, loops and grids. Nothing of the package is imported."""

import math

import numpy as np
from scipy.stats import binom


def proportion_upper(wrong, n, eta):
    """The largest p for which so few errors, or fewer, have a probability of at least eta, by bisection."""
    low, high = wrong / n, 1.0
    if wrong == n:
        return 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if binom.cdf(wrong, n, middle) > eta else (low, middle)
    return high


def geometric_mean_lower(correct, sizes, eta):
    """The smallest G, on a grid, that is not rejected by the factorial moment of the order for this G.

    The order is the one that gives the largest bound if all recalls are the same, and the bound is G.
    """
    typical = []
    for step in range(1, 1001):
        of_orders = [
            (moment_bound([step / 1000 * n for n in sizes], sizes, k, eta), k) for k in range(1, min(sizes) + 1)
        ]
        typical.append(max(of_orders))
    for step in range(1, 2001):
        order = next((k for bound, k in typical if bound >= step / 2000), typical[-1][1])
        if moment_bound(correct, sizes, order, eta) <= step / 2000:
            return (step - 1) / 2000
    return 1.0


def moment_bound(correct, sizes, order, eta):
    """The smallest G with G^(kK) ≥ η·Π (R_l)_k/(n_l)_k for the order k, where (n)_k = n·(n − 1)⋯(n − k + 1)."""
    if min(correct) < order:
        return 0.0
    logs = [math.lgamma(r + 1) - math.lgamma(r - order + 1) for r in correct]
    logs += [math.lgamma(n - order + 1) - math.lgamma(n + 1) for n in sizes]
    return math.exp((sum(logs) + math.log(eta)) / (order * len(sizes)))


def laplace_exponent(q, n, sigma):
    """ψ(q) = −n·ln(1 − q·(1 − exp(−σq/n)))."""
    return -n * math.log(1 - q * (1 - math.exp(-sigma * q / n)))


def norm_upper(counts, eta):
    """The bound of ‖C‖ for three classes or more, all of them present.

    The largest τ that Chernoff's inequality does not exclude, by eigenvalues, bisection and grids of all free
    parameters; the quadratic factors are minima over a fine grid.
    """
    counts = np.array(counts, dtype=float)
    sizes = counts.sum(axis=1)
    confusion = counts / sizes[:, None]
    np.fill_diagonal(confusion, 0.0)
    gram, level = confusion @ confusion.T, math.log(1 / eta)
    norm = math.sqrt(np.linalg.eigvalsh(gram)[-1])
    bound = math.sqrt(len(counts))
    for _ in range(9):
        top = min(bound, 1.0)
        for sigma in np.geomspace(0.1, 100 * sizes.max() ** 2, 150):
            grid = np.linspace(top / 200, top * (1 - 1e-9), 200)
            factors = [min(laplace_exponent(q, n, sigma) / (sigma * q * q) for q in grid) for n in sizes]
            scale = 1 / np.sqrt(factors)
            for c in np.geomspace(max(norm, 1e-3) / 30, 2 * max(norm, 1e-3), 40):
                low, high = 0.0, bound
                value = bound_of_tau(high, gram, scale, c, level / sigma)
                if value >= high:
                    continue
                for _ in range(30):
                    middle = (low + high) / 2
                    excluded = bound_of_tau(middle, gram, scale, c, level / sigma) <= middle
                    low, high = (low, middle) if excluded else (middle, high)
                bound = min(bound, high)
    return min(bound, math.sqrt(len(counts) - 1))


def bound_of_tau(tau, gram, scale, c, rest):
    """F(τ): the largest eigenvalue of Φ^(−1/2)·(C·Cᵀ/(2c) + (c/2 + L/(στ))·I)·Φ^(−1/2)."""
    inner = gram / (2 * c) + (c / 2 + rest / tau) * np.eye(len(gram))
    return np.linalg.eigvalsh(scale[:, None] * inner * scale)[-1]
