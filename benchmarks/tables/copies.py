"""The case about copies: memory that a fit takes over its input, for every kind of container."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._lib.comparison import Plan
from benchmarks._lib.memory import MEBI, Peak, peak_of_fit
from benchmarks._lib.problems import Problem
from benchmarks._lib.store import Result, Row
from benchmarks.tables.containers import CONTAINERS

PROBLEM = Problem(500_000, 40, 3)
N_ROUNDS = 5
SMALL = 500  # rows to warm up with


@dataclass(frozen=True)
class InContainer:
    """Makes a stored problem's table in a container."""

    container: str
    paths: tuple[Path, Path]

    def __call__(self, *, small: bool) -> tuple[Any, Any]:
        """X in the container, and y."""
        X, y = (np.load(path, mmap_mode="r" if small else None) for path in self.paths)
        if small:
            X, y = np.array(X[:SMALL]), np.array(y[:SMALL])
        return CONTAINERS[self.container](X), y


class CopiesCase:
    """Peak memory of a fit."""

    name = "copies"
    title = f"peak memory of a fit over its input, {PROBLEM.name}, {N_ROUNDS} rounds"

    def run(self, plan: Plan) -> Result:
        """Fit in fresh processes."""
        result = Result()
        problem = plan.scale(PROBLEM)
        params = {"n_estimators": N_ROUNDS, "n_jobs": plan.n_threads}
        rows = result.tables["copies"] = []
        for container in CONTAINERS:
            peak = peak_of_fit(InContainer(container, problem.paths()), params)
            result.raw[container] = asdict(peak)
            rows.append(row_of(container, problem, peak))
        return result


def row_of(container: str, problem: Problem, peak: Peak) -> Row:
    """The memory of a fit beside what it must take."""
    from comboost._engine.memory_plan import FitShape
    from comboost._types import MAX_BINS

    n_bins = problem.n_features * MAX_BINS
    planned = FitShape(problem.n_samples, problem.n_features, problem.n_classes, n_bins).peak()
    unplanned = peak.extra - sum(planned.values())
    return {
        "X": container,
        "X, MiB": peak.table / MEBI,
        "over X, MiB": peak.extra / MEBI,
        "over X, in X": peak.extra / peak.table,
        "codes, MiB": planned["codes"] / MEBI,
        "costs, MiB": planned["costs"] / MEBI,
        "footprint, MiB": sum(planned.values()) / MEBI,
        "beyond it, MiB": unplanned / MEBI,
        "beyond it, in X": unplanned / peak.table,
        "slack, MiB": max(0, peak.slack) / MEBI,
        "rounds": peak.n_rounds,
    }
