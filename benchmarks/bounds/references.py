"""Other bounds of ‖C‖, to compare with: the paper's corollary, and two that bound all entries of C at once."""

import numpy as np
from numpy.typing import NDArray

from comboost.metrics._confidence import clopper_pearson_lower

Floats = NDArray[np.float64]


def corollary(confusion: Floats, inverse_sizes: Floats, eta: float) -> Floats:
    """The paper's corollary, ‖C‖ ≤ ‖C_S‖ + √(2K·Σ_k (1/m_k)·ln(K/η))."""
    n_classes = confusion.shape[-1]
    slack = np.sqrt(2 * n_classes * inverse_sizes.sum() * np.log(n_classes / eta))
    return np.asarray(np.linalg.norm(confusion, 2, axis=(-2, -1)) + slack)


def proportions_upper(counts: Floats, n_samples: float, eta: float) -> Floats:
    """Clopper-Pearson upper bounds of proportions, each at level eta."""
    distinct, where = np.unique(counts, return_inverse=True)
    bounds = 1.0 - clopper_pearson_lower(n_samples - distinct, np.full(len(distinct), n_samples), eta)
    return np.asarray(bounds[where].reshape(counts.shape))


def entries_upper(counts: Floats, eta: float) -> Floats:
    """U ≥ C for all entries, each at level eta; zero diagonal. Counts have the shape (..., K, K)."""
    n_classes, sizes = counts.shape[-1], counts.reshape(-1, *counts.shape[-2:])[0].sum(axis=-1)
    bounds = np.stack([proportions_upper(counts[..., row, :], sizes[row], eta) for row in range(n_classes)], axis=-2)
    bounds[..., range(n_classes), range(n_classes)] = 0.0
    return np.asarray(bounds)


def entrywise(counts: Floats, eta: float) -> Floats:
    """‖C‖ ≤ ‖U‖ for simultaneous bounds U of all entries."""
    n_classes = counts.shape[-1]
    return np.asarray(np.linalg.norm(entries_upper(counts, eta / (n_classes * (n_classes - 1))), 2, axis=(-2, -1)))


def entrywise_and_rows(counts: Floats, eta: float) -> Floats:
    """The smallest of three bounds of ‖C‖ from simultaneous bounds U of all entries and R of all row sums.

    ‖U‖; √(largest R · largest column sum of U); and √(Σ_l max {Σ_j c_j² : c ≤ U(l, ·), Σ_j c_j ≤ R(l)}), where the
    largest entries of a row are filled first.
    """
    n_classes = counts.shape[-1]
    each = eta / (n_classes * (n_classes - 1) + n_classes)
    upper = entries_upper(counts, each)
    wrong = counts.sum(axis=-1) - np.diagonal(counts, axis1=-2, axis2=-1)
    sizes = counts.reshape(-1, n_classes, n_classes)[0].sum(axis=-1)
    rows = np.stack([proportions_upper(wrong[..., l], sizes[l], each) for l in range(n_classes)], axis=-1)  # noqa: E741
    descending = -np.sort(-upper, axis=-1)
    before = np.cumsum(descending, axis=-1) - descending
    filled = np.clip(rows[..., np.newaxis] - before, 0.0, descending)
    bounds = (
        np.linalg.norm(upper, 2, axis=(-2, -1)),
        np.sqrt(rows.max(axis=-1) * upper.sum(axis=-2).max(axis=-1)),
        np.sqrt((filled**2).sum(axis=(-2, -1))),
    )
    return np.asarray(np.minimum.reduce(bounds))
