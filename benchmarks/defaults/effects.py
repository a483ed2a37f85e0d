"""Effects: every axis alone. In: scores. Out: by value of an axis, how much better or worse it is than its twins.

Twins are settings that are the same in all other axes. Each counts with the rounds that suit it best.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from benchmarks.defaults.figures import Candidate, Figures, Floats
from benchmarks.defaults.grid import CENTRE
from benchmarks.defaults.problems import FAMILIES, Problem
from benchmarks.defaults.settings import NONE, describe, difference_from

TREE, ROUNDS = "tree", "rounds"
TREE_AXES = ("max_depth", "max_leaf_nodes")  # one question: how large a tree is


def of_family(family: str) -> Callable[[Problem], bool]:
    return lambda problem: problem.family == family


KINDS: dict[str, Callable[[Problem], bool]] = {
    "all problems": lambda problem: True,
    "≤ 1 000 rows": lambda problem: problem.n_samples <= 1_000,
    "≤ 5 000": lambda problem: 1_000 < problem.n_samples <= 5_000,
    "≤ 30 000": lambda problem: 5_000 < problem.n_samples <= 30_000,
    "more": lambda problem: problem.n_samples > 30_000,
    "< 7 classes": lambda problem: problem.n_classes < 7,
    "≥ 7": lambda problem: problem.n_classes >= 7,
    **{family: of_family(family) for family in FAMILIES},
}
Axes = dict[str, Any]


def axes_of(figures: Figures, candidate: Candidate) -> Axes:
    """The values of a candidate by axis, rounds included."""
    setting = figures.settings[candidate.setting]
    limits = [describe(axis, setting[axis]) for axis in TREE_AXES if setting.get(axis) is not None]
    others = {
        axis: NONE.get(axis) if value is None else value for axis, value in setting.items() if axis not in TREE_AXES
    }
    return {TREE: ", ".join(limits) or "unlimited", **others, ROUNDS: candidate.n_rounds}


def without(axes: Axes, axis: str) -> Hashable:
    """What twins have in common."""
    return tuple((name, value) for name, value in axes.items() if name != axis)


def find_effects(figures: Figures, scores: Floats) -> list[dict[str, Any]]:
    """By axis and value: how many settings, their mean score, and by kind of problem how far they are from twins."""
    columns = {}
    for kind, belongs in KINDS.items():
        chosen = np.array([belongs(problem) for problem in figures.problems])
        if chosen.any():
            columns[kind] = effects_on(figures, scores[:, chosen].mean(axis=1))
    rows = []
    for (axis, value), means in means_by_value(best_rounds(figures, scores.mean(axis=1))).items():
        row = {"axis": axis, "value": "none" if value is None else value, "settings": len(means)}
        effects = {kind: column.get((axis, value)) for kind, column in columns.items()}
        rows.append(row | {"mean score": float(np.mean(means))} | effects)
    return rows


def means_by_value(settings: list[tuple[Axes, float]]) -> dict[tuple[str, Any], list[float]]:
    """By axis and value, the mean scores of the settings; without axes that have one value only."""
    found: dict[tuple[str, Any], list[float]] = defaultdict(list)
    for axis in dict.fromkeys(axis for axes, _ in settings for axis in axes):
        values = {axes.get(axis) for axes, _ in settings}
        for axes, mean in settings:
            if len(values) > 1:
                found[axis, axes.get(axis)].append(mean)
    return found


def effects_on(figures: Figures, means: Floats) -> dict[tuple[str, Any], float]:
    """By axis and value, the mean distance of the settings to the mean of their twins."""
    settings = best_rounds(figures, means)
    found: dict[tuple[str, Any], list[float]] = defaultdict(list)
    for axis in dict.fromkeys(axis for axes, _ in settings for axis in axes):
        for twins in twins_by(axis, settings):
            mean = float(np.mean([score for _, score in twins]))
            for axes, score in twins:
                found[axis, axes[axis]].append(score - mean)
    return {key: float(np.mean(distances)) for key, distances in found.items()}


def best_rounds(figures: Figures, means: Floats) -> list[tuple[Axes, float]]:
    """Every setting with the mean score of its best rounds."""
    best: dict[str, tuple[Axes, float]] = {}
    for candidate, mean in zip(figures.candidates, means.tolist(), strict=True):
        if candidate.setting not in best or mean > best[candidate.setting][1]:
            axes = axes_of(figures, candidate)
            del axes[ROUNDS]
            best[candidate.setting] = (axes, mean)
    return list(best.values())


def twins_by(axis: str, settings: list[tuple[Axes, float]]) -> list[list[tuple[Axes, float]]]:
    """Settings that are the same but for this axis."""
    groups = defaultdict(list)
    for axes, mean in settings:
        groups[without(axes, axis)].append((axes, mean))
    return [group for group in groups.values() if len(group) > 1]


def find_curves(figures: Figures, scores: Floats) -> list[dict[str, Any]]:
    """By setting, its mean score after as many rounds."""
    means: dict[str, dict[int, float]] = defaultdict(dict)
    for candidate, mean in zip(figures.candidates, scores.mean(axis=1).tolist(), strict=True):
        means[candidate.setting][candidate.n_rounds] = mean
    checkpoints = sorted({candidate.n_rounds for candidate in figures.candidates})
    return [
        {"setting": difference_from(CENTRE, figures.settings[name])} | {str(n): curve.get(n) for n in checkpoints}
        for name, curve in means.items()
    ]
