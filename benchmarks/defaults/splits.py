"""Splits: rules that nobody has thought of. In: scores. Out: what two values of an axis by rows or classes would gain.

For every axis and every threshold: two candidates that differ in that axis alone, one for the problems below and one
for the others. Such a rule is fitted on all problems but one and judged on that one, as settings are.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.defaults.effects import axes_of, without
from benchmarks.defaults.figures import Candidate, Figures, Floats
from benchmarks.defaults.problems import Problem

ANYTHING = "anything"  # two candidates that have nothing to do with each other: what a rule could gain at most
THRESHOLDS: dict[str, tuple[Callable[[Problem], int], tuple[int, ...]]] = {
    "rows": (lambda problem: problem.n_training_rows, (1_000, 4_000, 10_000)),
    "classes": (lambda problem: problem.n_classes, (5, 10)),
}
Group = NDArray[np.intp]  # candidates that differ in one axis


@dataclass(frozen=True)
class Split:
    """A rule, and its mean score on problems that were left out of its search."""

    axis: str
    condition: str
    below: Candidate
    above: Candidate
    score: float


def find_splits(figures: Figures, scores: Floats) -> list[Split]:
    """The best rule of every axis and threshold, the most promising first."""
    conditions = list(conditions_of(figures))
    found = [
        judge(figures, scores, axis, groups, *condition)
        for axis, groups in groups_by_axis(figures).items()
        for condition in conditions
    ]
    return sorted(found, key=lambda split: -split.score)


def conditions_of(figures: Figures) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Conditions in words, and the problems that are below; both sides have three or more."""
    for noun, (size_of, thresholds) in THRESHOLDS.items():
        sizes = np.array([size_of(problem) for problem in figures.problems])
        for threshold in thresholds:
            below = sizes < threshold
            if 3 <= below.sum() <= len(sizes) - 3:
                yield f"fewer than {threshold} {noun}", below


def groups_by_axis(figures: Figures) -> dict[str, list[Group]]:
    """By axis, candidates that are the same in all others."""
    axes = [axes_of(figures, candidate) for candidate in figures.candidates]
    names = list(dict.fromkeys(name for values in axes for name in values))
    groups = {ANYTHING: [np.arange(len(axes))]}
    for name in names:
        alike = defaultdict(list)
        for i, values in enumerate(axes):
            alike[without(values, name)].append(i)
        twins = [np.array(indices) for indices in alike.values() if len(indices) > 1]
        if twins:
            groups[name] = twins
    return groups


def judge(
    figures: Figures, scores: Floats, axis: str, groups: list[Group], condition: str, below: NDArray[np.bool_]
) -> Split:
    """The best rule of a kind on all problems, and its worth on those left out."""
    unseen = []
    for problem in range(scores.shape[1]):
        others = np.arange(scores.shape[1]) != problem
        pair = best_pair(scores, groups, below & others, ~below & others)
        unseen.append(scores[pair[0] if below[problem] else pair[1], problem])
    low, high = best_pair(scores, groups, below, ~below)
    return Split(axis, condition, figures.candidates[low], figures.candidates[high], float(np.mean(unseen)))


def best_pair(
    scores: Floats, groups: list[Group], below: NDArray[np.bool_], above: NDArray[np.bool_]
) -> tuple[int, int]:
    """The two candidates of one group with the best sum of scores."""
    low, high = scores[:, below].sum(axis=1), scores[:, above].sum(axis=1)
    best = max(groups, key=lambda group: low[group].max() + high[group].max())
    return int(best[low[best].argmax()]), int(best[high[best].argmax()])
