"""The case about what a round costs outside of the native calls: Python, and the way into the core and back."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from benchmarks._lib.comparison import MICRO, Plan
from benchmarks._lib.problems import Problem
from benchmarks._lib.verdicts import Figure, Outcome, Target, Verdict
from comboost import CoMBoClassifier, ConfusionBoostingClassifier
from comboost._boosting import loop
from comboost._engine.rows import MemoryRows


class TimedCore:
    """The native rows, with the seconds that their calls take."""

    def __init__(self, core: Any) -> None:
        self._core = core
        self.seconds = 0.0

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._core, name)

        def call(*arguments: Any) -> Any:
            start = time.perf_counter()
            result = method(*arguments)
            self.seconds += time.perf_counter() - start
            return result

        return call


@dataclass(frozen=True)
class OverheadCase:
    """Microseconds of a round outside of the native calls, of the fastest of some fits."""

    name: str
    problem: Problem
    n_rounds: int
    target: Target

    def title(self, plan: Plan) -> str:
        """What is measured."""
        return f"a round outside of the native calls, {self.problem.name}, {self.n_rounds} rounds"

    def run(self, plan: Plan) -> Outcome:
        """Fit with both kinds of leaf values."""
        outcome = Outcome("µs")
        X, y = self.problem.load()
        for model in (
            CoMBoClassifier(n_estimators=self.n_rounds),
            ConfusionBoostingClassifier(n_estimators=self.n_rounds),
        ):
            value = MICRO * min(seconds_outside(model, X, y) for _ in range(10 * plan.repeats)) / model.n_iter_
            name = type(model).__name__
            outcome.figures.append(Figure(name, value))
            outcome.verdicts.append(Verdict(f"µs of a round of {name}", self.target, value))
        return outcome


def seconds_outside(model: Any, X: Any, y: Any) -> float:
    """Seconds of the rounds of a fit outside of the native calls; the timing itself is part of them."""
    cores: list[TimedCore] = []
    seconds: list[float] = []
    construct, boost = MemoryRows.__init__, loop.boost

    def constructed(rows: MemoryRows, *arguments: Any) -> None:
        construct(rows, *arguments)
        cores.append(TimedCore(rows._native))
        rows._native = cores[-1]  # type: ignore[assignment]

    def timed(*arguments: Any) -> Any:
        start = time.perf_counter()
        history = boost(*arguments)
        seconds.append(time.perf_counter() - start - cores[-1].seconds)
        return history

    with patch.object(MemoryRows, "__init__", constructed), patch("comboost._estimators.base.boost", timed):
        model.fit(X, y)
    return seconds[-1]
