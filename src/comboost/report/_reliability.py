"""How often a model is right when it is sure. In: probabilities. Out: bins of confidence, and how often they are."""

from typing import Any

import numpy as np

from comboost._stats.intervals import wilson_interval
from comboost._types import Floats
from comboost.metrics._outcomes import sums_by
from comboost.report._probabilities import Shares

N_CONFIDENCE_BINS = 10


def measure_reliability(name: str, shares: Shares, confidence: float) -> dict[str, Any]:
    """The highest probability of every row against how often it is right, each class counting the same."""
    sizes = np.bincount(shares.truth)
    weights = 1.0 / sizes[shares.truth] / np.count_nonzero(sizes)
    confidences, right = shares.confidences, (shares.likeliest == shares.truth).astype(np.float64)
    order = np.lexsort((right, weights, confidences))  # sums are then the same for any order of the rows
    confidences, right, weights = confidences[order], right[order], weights[order]
    bins = np.minimum((confidences * N_CONFIDENCE_BINS).astype(np.intp), N_CONFIDENCE_BINS - 1)
    totals = sums_by(bins, weights, N_CONFIDENCE_BINS)
    predicted = mean_by_bin(sums_by(bins, weights * confidences, N_CONFIDENCE_BINS), totals)
    found = np.clip(mean_by_bin(sums_by(bins, weights * right, N_CONFIDENCE_BINS), totals), 0.0, 1.0)
    # As many rows of one weight would tell as much.
    n_worth = mean_by_bin(totals**2, sums_by(bins, weights**2, N_CONFIDENCE_BINS))
    low, high = wilson_interval(found, n_worth, confidence=confidence)
    rows = np.bincount(bins, minlength=N_CONFIDENCE_BINS)
    return {
        "model": name,
        "bins": [
            {
                "from": place / N_CONFIDENCE_BINS,
                "to": (place + 1) / N_CONFIDENCE_BINS,
                "rows": int(rows[place]),
                "predicted": float(predicted[place]),
                "right": float(found[place]),
                "low": float(low[place]),
                "high": float(high[place]),
            }
            for place in np.flatnonzero(rows).tolist()
        ],
        "error": float((totals * np.abs(predicted - found)).sum() / totals.sum()),
    }


def mean_by_bin(sums: Floats, totals: Floats) -> Floats:
    """Sums divided by what there is; 0 where there is nothing."""
    return np.asarray(np.divide(sums, totals, out=np.zeros_like(sums), where=totals > 0))
