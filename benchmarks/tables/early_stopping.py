"""The case about early stopping: what validating every round adds to a fit."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks._lib.comparison import MILLI, Plan
from benchmarks._lib.store import Result, Row
from benchmarks._lib.timing import alternate, medians
from benchmarks._lib.verdicts import Target, Verdict
from benchmarks.speed.cases import LARGE, SMALL

N_ROUNDS = 100
FRACTION = 0.1
TARGET = Target("<", 1.10)
BUDGET = 60.0  # seconds of repeats for each shape
SCORINGS = (None, "neg_confusion_norm", "g_mean", "min_recall", "neg_expected_cost", "mauc", "accuracy")
WITHOUT = "without"
YEAST = "yeast, 1 484 × 8, 10 classes"
PROBLEMS = [LARGE["200k-50-5"], LARGE["1m-30-3"], LARGE["100k-28-26"], SMALL]


@dataclass(frozen=True)
class Split:
    """Rows to train on and rows to validate on."""

    X: Any
    y: Any
    X_val: Any
    y_val: Any

    @classmethod
    def of(cls, X: Any, y: Any) -> "Split":
        """Hold out a tenth of the rows, some of every class."""
        from comboost._boosting.early_stopping import hold_out

        classes, labels = np.unique(y, return_inverse=True)
        train, held = hold_out(labels, len(classes), FRACTION, np.random.RandomState(0))
        return cls(X[train], y[train], X[held], y[held])

    def fit(self, n_threads: int) -> Any:
        """A model that was not validated."""
        from comboost import CoMBoClassifier

        return CoMBoClassifier(n_estimators=N_ROUNDS, n_jobs=n_threads).fit(self.X, self.y)

    def fit_validated(self, scoring: str | None, n_threads: int) -> Any:
        """A model of as many rounds that was validated after each."""
        from comboost import CoMBoClassifier

        model = CoMBoClassifier(
            n_estimators=N_ROUNDS, n_jobs=n_threads, early_stopping=True, scoring=scoring, n_iter_no_change=N_ROUNDS
        )
        return model.fit(self.X, self.y, X_val=self.X_val, y_val=self.y_val)


class EarlyStoppingCase:
    """Fits with validation against the same without."""

    name = "early_stopping"
    title = f"fit of {N_ROUNDS} rounds, validated on another {FRACTION:.0%} of the rows / the same without"

    def run(self, plan: Plan) -> Result:
        """Let the measures take turns on every shape."""
        result = Result()
        rows = result.tables["early_stopping"] = []
        for name, (X, y) in load_problems(plan):
            row, seconds = measure(name, Split.of(X, y), plan)
            rows.append(row)
            result.raw[name] = seconds
            result.verdicts += verdicts_on(row)
        return result


def load_problems(plan: Plan) -> Any:
    """Names and rows, one problem at a time."""
    from comboost.datasets import load_yeast

    for problem in PROBLEMS:
        scaled = problem if problem is SMALL else plan.scale(problem)
        yield scaled.name, scaled.load()
    yield YEAST, load_yeast(return_X_y=True)


def measure(name: str, split: Split, plan: Plan) -> tuple[Row, dict[str, list[float]]]:
    """Ratios of the medians, and all seconds."""
    fits = {WITHOUT: partial(split.fit, plan.n_threads)}
    fits |= {str(scoring): partial(split.fit_validated, scoring, plan.n_threads) for scoring in SCORINGS}
    seconds, models = alternate(fits, plan.n_threads, plan.repeats, BUDGET)
    typical = medians(seconds)
    n_rounds = models[WITHOUT].n_iter_
    for scoring in map(str, SCORINGS):
        if len(models[scoring].validation_curve_) != n_rounds:
            raise RuntimeError(f"{name}: scoring={scoring} stopped early, so its time cannot be compared")
    ratios = {scoring: typical[scoring] / typical[WITHOUT] for scoring in map(str, SCORINGS)}
    size = {"rounds": n_rounds, "repeats": len(seconds[WITHOUT]), "without, ms": MILLI * typical[WITHOUT]}
    return {"problem": name, **size, **ratios}, seconds


def verdicts_on(row: Row) -> list[Verdict]:
    """Whether validating costs little."""
    return [Verdict(f"{row['problem']}, scoring={name}", TARGET, row[name]) for name in map(str, SCORINGS)]
