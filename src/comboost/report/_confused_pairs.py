"""Which classes are confused most. In: a `Trial`, the rows. Out: pairs of classes, with rows that show them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from comboost._stats.intervals import wilson_interval
from comboost.report._given_table import GivenTable
from comboost.report._trial import Trial

MOST_PAIRS, MOST_EXAMPLES, MOST_VALUES = 10, 3, 8


def describe_pairs(trial: Trial, table: GivenTable, features: list[int], confidence: float) -> list[dict[str, Any]]:
    """The pairs of which the largest share is surely confused, so that a class of one row does not lead.

    Rows are shown with the first of the features.
    """
    shown = features[:MOST_VALUES]
    names, columns = trial.names, table.feature_names()
    entries = []
    for truth, taken in confused_most(trial, confidence):
        rows = np.flatnonzero((trial.truth == truth) & (trial.answerers[0].places == taken))
        first = rows[:MOST_EXAMPLES].tolist()
        share, *others = (float(counts[truth, taken] / counts[truth].sum()) for counts in trial.counts)
        entries.append(
            {
                "truth": names[truth],
                "taken_for": names[taken],
                "rows": len(rows),
                "share": share,
                "baseline_share": others[0] if others else None,
                "examples": {
                    "columns": [columns[f] for f in shown],
                    "rows": [
                        {"row": table.label(row), "values": values}
                        for row, values in zip(first, table.cells(first, shown), strict=True)
                    ],
                },
            }
        )
    return entries


def confused_most(trial: Trial, confidence: float) -> list[tuple[int, int]]:
    """Pairs of a class and another that it is taken for, by the lower limits of their shares."""
    n_classes = len(trial.classes)
    counts = trial.counts[0][:n_classes, :n_classes]
    sizes = trial.sizes
    pairs: NDArray[np.intp] = np.argwhere((counts > 0) & ~np.eye(n_classes, dtype=bool))
    shares = counts[pairs[:, 0], pairs[:, 1]] / sizes[pairs[:, 0]]
    low, _ = wilson_interval(shares, sizes[pairs[:, 0]], confidence=confidence)
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -shares, -low))[:MOST_PAIRS]
    return [(int(truth), int(taken)) for truth, taken in pairs[order].tolist()]
