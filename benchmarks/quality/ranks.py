"""Who is better on most sets. In: the stored folds. Out: means of every set, and mean ranks of the methods."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from scipy.stats import rankdata

from benchmarks.quality.measures import Measure
from benchmarks.quality.store import Entry

Entries = Mapping[str, Mapping[str, Entry]]  # by set and method
Means = dict[str, dict[str, float]]  # by set and method; nan if there is none


def means(entries: Entries, measure: Measure, methods: Sequence[str]) -> Means:
    """Mean over the folds, of the sets and methods that have figures."""
    found = {
        name: {method: mean_of(by_method.get(method, {}), measure) for method in methods}
        for name, by_method in entries.items()
    }
    present = [method for method in methods if not all(math.isnan(row[method]) for row in found.values())]
    return {
        name: {method: row[method] for method in present}
        for name, row in found.items()
        if not all(map(math.isnan, row.values()))
    }


def mean_of(entry: Entry, measure: Measure) -> float:
    """Mean over the folds of an entry; nan if it has none."""
    return float(np.mean(entry.get("folds", {}).get(measure.key, math.nan)))


def mean_ranks(table: Means, measure: Measure) -> dict[str, float]:
    """Mean rank of every method, 1 for the best; without figures it is the last, and ties share their ranks."""
    sign = 1.0 if measure.lower_is_better else -1.0
    values = np.array([list(row.values()) for row in table.values()])
    ranks = rankdata(np.where(np.isnan(values), np.inf, sign * values), axis=1)
    return dict(zip(next(iter(table.values())), ranks.mean(axis=0).tolist(), strict=True))


def mean_values(table: Means) -> dict[str, float]:
    """Mean over the sets of every method; nan if it lacks one."""
    methods = next(iter(table.values()))
    return {method: float(np.mean([row[method] for row in table.values()])) for method in methods}
