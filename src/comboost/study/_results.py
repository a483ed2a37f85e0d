"""Means, deviations and comparisons of stored results."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from comboost._stats.tests import Comparison, compare
from comboost._types import Floats
from comboost.metrics._measures import confusion_of
from comboost.study._methods import name_fixed

Statistics = dict[str, Any]


@dataclass(frozen=True)
class NamedMeasure:
    """Label of a measure, and its direction."""

    label: str
    lower_is_better: bool = False


MEASURES = {
    "confusion_norm": NamedMeasure("‖C‖", lower_is_better=True),
    "accuracy": NamedMeasure("accuracy"),
    "g_mean": NamedMeasure("G-mean"),
    "mauc": NamedMeasure("MAUC"),
    "mauc_softmax": NamedMeasure("MAUC (softmax)"),
}


class Results:
    """The results of all folds, by data set and method; they come from `run_task`, in any order."""

    def __init__(self, results: Iterable[dict[str, Any]], n_folds: int) -> None:
        self.n_folds = n_folds
        self._folds: dict[tuple[str, str], dict[tuple[int, int], dict[str, Any]]] = defaultdict(dict)
        for result in sorted(results, key=lambda result: (result["run"], result["fold"])):
            self._folds[result["dataset"], result["method"]][result["run"], result["fold"]] = result

    def of(self, dataset: str, method: str) -> list[dict[str, Any]]:
        """All folds of a method on a data set."""
        return list(self._folds.get((dataset, method), {}).values())

    def class_counts(self, dataset: str) -> dict[str, int] | None:
        """Samples of every class; None without results on the data set."""
        for (name, _), folds in self._folds.items():
            if name == dataset:
                result = next(iter(folds.values()))
                return dict(zip(result["classes"], result["class_counts"], strict=True))
        return None

    def statistics(self, dataset: str, method: str, measure: str) -> Statistics | None:
        """Mean, deviation and number of folds; None without folds."""
        return summarise([fold["measures"][measure] for fold in self.of(dataset, method)])

    def statistics_of_smallest(self, dataset: str, method: str, measure: str) -> Statistics | None:
        """The same if the candidate with the smallest inner norm were always chosen; None if folds are missing.

        The same seed and setting give the same classifier, so these are folds of methods with fixed settings.
        """
        taken = [self._find_smallest(fold) for fold in self.of(dataset, method)]
        return None if None in taken else summarise([fold["measures"][measure] for fold in taken if fold])

    def _find_smallest(self, fold: dict[str, Any]) -> dict[str, Any] | None:
        smallest = min(fold["candidates"], key=lambda candidate: candidate["norm"])
        fixed = name_fixed(fold["method"], smallest["setting"])
        return self._folds.get((fold["dataset"], fixed), {}).get((fold["run"], fold["fold"]))

    def compare(self, dataset: str, first: str, second: str, measure: str) -> Comparison | None:
        """Compare two methods on their common folds; None without any."""
        ours, theirs = (self._folds.get((dataset, method), {}) for method in (first, second))
        pairs = [
            (fold["measures"][measure], theirs[key]["measures"][measure]) for key, fold in ours.items() if key in theirs
        ]
        if not pairs:
            return None
        return compare(
            [pair[0] for pair in pairs],
            [pair[1] for pair in pairs],
            lower_is_better=MEASURES[measure].lower_is_better,
            test_ratio=1 / (self.n_folds - 1),
        )

    def confusion(self, dataset: str, method: str, classes: list[str]) -> list[list[Statistics | None]]:
        """Error confusion matrix averaged over the folds, in the order of ``classes``."""
        matrices = [fold_confusion(fold, classes) for fold in self.of(dataset, method)]
        idx = range(len(classes))
        return [[summarise([matrix[row, column] for matrix in matrices]) for column in idx] for row in idx]

    def recalls(self, dataset: str, method: str) -> dict[str, Statistics | None]:
        """Recall of every class averaged over the folds."""
        folds = self.of(dataset, method)
        classes = folds[0]["classes"] if folds else []
        recalls = [1 - fold_confusion(fold, classes).sum(axis=1) for fold in folds]
        return {name: summarise([recall[k] for recall in recalls]) for k, name in enumerate(classes)}

    def settings(self, dataset: str, method: str) -> str:
        """How often each setting was chosen, the most frequent first, as text; empty if there was no choice."""
        taken = Counter(
            ", ".join(f"{name}={value}" for name, value in fold["setting"].items())
            for fold in self.of(dataset, method)
            if fold["candidates"]
        )
        ordered = sorted(taken.items(), key=lambda item: (-item[1], item[0]))
        return "; ".join(f"{setting}: {n}" for setting, n in ordered)

    def seconds(self, dataset: str, method: str) -> dict[str, Statistics | None]:
        """Seconds to choose a setting, to fit and to predict, averaged over the folds."""
        folds = self.of(dataset, method)
        return {part: summarise([fold["seconds"][part] for fold in folds]) for part in ("choose", "fit", "predict")}


def summarise(values: Iterable[float]) -> Statistics | None:
    """Mean, standard deviation (0 for a single value) and number of values; None without any."""
    array = np.array(list(values), dtype=np.float64)
    if not array.size:
        return None
    std = float(array.std(ddof=1)) if array.size > 1 else 0.0
    return {"mean": float(array.mean()), "std": std, "n": int(array.size)}


def fold_confusion(fold: dict[str, Any], classes: list[str]) -> Floats:
    """The error confusion matrix of one fold, in the order of ``classes``."""
    order = [fold["classes"].index(name) for name in classes]
    return confusion_of(np.array(fold["counts"], dtype=np.float64)[np.ix_(order, order)])
