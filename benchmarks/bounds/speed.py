"""How long a call of a bound takes. In: nothing. Out: milliseconds by bound, classes and samples."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._lib.store import Row
from benchmarks._lib.timing import timed
from comboost.metrics import (
    confusion_norm_bound,
    error_rate_bound,
    geometric_mean_bound,
    min_recall_bound,
    recall_bounds,
)

BOUNDS = (confusion_norm_bound, error_rate_bound, recall_bounds, min_recall_bound, geometric_mean_bound)
SHAPES = ((2, 1_000), (3, 1_000), (10, 1_000), (26, 1_000), (100, 10_000), (10, 1_000_000))
REPEATS = 9


def measure(n_repeats: int = REPEATS) -> list[Row]:
    """Milliseconds of the fastest call."""
    rows = []
    for n_classes, n_samples in SHAPES:
        rng = np.random.default_rng(0)
        true = np.arange(n_samples) % n_classes
        pred = np.where(rng.random(n_samples) < 0.2, rng.integers(0, n_classes, n_samples), true)
        row: Row = {"classes": n_classes, "samples": n_samples}
        for bound in BOUNDS:
            row[bound.__name__] = milliseconds(bound, true, pred, n_repeats=n_repeats)
        priors = np.full(n_classes, 1 / n_classes)
        row["error_rate_bound, priors"] = milliseconds(error_rate_bound, true, pred, n_repeats=n_repeats, priors=priors)
        rows.append(row)
    return rows


def milliseconds(
    bound: Callable[..., Any], true: NDArray[Any], pred: NDArray[Any], *, n_repeats: int, **options: Any
) -> float:
    """The fastest of some calls: other programs only make calls slower."""
    seconds = [timed(lambda: bound(true, pred, **options), 1)[0] for _ in range(n_repeats)]
    return round(1000 * min(seconds), 3)
