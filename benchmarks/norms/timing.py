"""Time of a boosting round by norm and loss. In: shapes. Out: results/times.jsonl. Nothing else may run meanwhile."""

import statistics
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks._lib import store
from benchmarks._lib.problems import Problem
from benchmarks._lib.timing import quiet
from comboost import CoMBoClassifier, ConfusionBoostingClassifier
from comboost._boosting.monitor import RoundCounter

REPEATS = 5
WARM_UP_ROUNDS = 3
SHAPES = {  # rounds and depth
    Problem(1_000, 20, 5): (100, 4),
    Problem(6_000, 36, 6): (60, 5),
    Problem(50_000, 30, 5): (30, 6),
    Problem(20_000, 30, 26): (20, 6),
    Problem(200_000, 50, 5): (15, 6),
}
OBJECTIVES = [
    ("log", "entrywise"),
    ("log", "l2-class"),
    ("log", "worst-class"),
    ("exponential", "entrywise"),
    ("exponential", "frobenius"),
    ("exponential", "schatten-4"),
    ("exponential", "spectral"),
    ("exponential", "worst-class"),
    ("logistic", "entrywise"),
    ("logistic", "frobenius"),
    ("logistic", "spectral"),
    ("CoMBo", "entrywise"),
    ("CoMBo", "frobenius"),
    ("CoMBo", "spectral"),
    ("CoMBo", "worst-class"),
]


def make(loss: str, norm: str, n_rounds: int, depth: int) -> Any:
    """An estimator with fixed settings."""
    if loss == "CoMBo":
        return CoMBoClassifier(norm=norm, n_estimators=n_rounds, max_depth=depth, n_jobs=1)
    return ConfusionBoostingClassifier(
        loss=loss, norm=norm, smoothing=10, n_estimators=n_rounds, max_depth=depth, n_jobs=1
    )


def median_round(loss: str, norm: str, problem: Problem) -> float:
    """Seconds of the median round of a fit."""
    X, y = problem.load()
    stamps: list[float] = []
    model = make(loss, norm, *SHAPES[problem]).set_callbacks(RoundCounter(lambda _: stamps.append(time.perf_counter())))
    with quiet(1):
        model.fit(X, y)
    return statistics.median(after - before for before, after in pairwise(stamps[WARM_UP_ROUNDS:]))


def run(path: Path) -> None:
    """Measure every objective in turns; the time is that of the fastest fit."""
    entries = []
    for problem in SHAPES:
        rounds: dict[tuple[str, str], list[float]] = {objective: [] for objective in OBJECTIVES}
        for _ in range(REPEATS):
            for objective in OBJECTIVES:
                rounds[objective].append(median_round(*objective, problem))
        for (loss, norm), seconds in rounds.items():
            base = min(rounds[loss if loss != "logistic" else "log", "entrywise"])
            entries.append(
                {
                    "problem": problem.name,
                    "loss": loss,
                    "minimised": norm,
                    "milliseconds": round(1000 * min(seconds), 4),
                    "ratio": round(min(seconds) / base, 3),
                }
            )
            print(entries[-1], flush=True)
    store.write(path, store.describe_setting("norms", (), {"threads": 1, "repeats": REPEATS}), entries)
