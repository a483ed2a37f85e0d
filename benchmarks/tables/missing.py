"""The case about missing values: time per round with more and more of them, beside the peers."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from benchmarks._lib.comparison import Plan
from benchmarks._lib.peers import OURS, HistGradientBoosting, LightGBM, QuantisedLightGBM, XGBoost
from benchmarks._lib.problems import SEED, Problem
from benchmarks._lib.store import Result, Row
from benchmarks._lib.timing import take_turns
from benchmarks._lib.verdicts import Outcome, open_outcome
from benchmarks.speed.rounds import UNIT, Racer, race

KINDS = (OURS, LightGBM, QuantisedLightGBM, XGBoost, HistGradientBoosting)
SHARES = (0.0, 0.1, 0.5)
REPEATS = 3


@dataclass(frozen=True)
class WithMissing(Problem):
    """A problem that lacks a share of its values."""

    share: float = 0.0

    def scaled(self, share: float) -> "WithMissing":
        """The same with fewer rows."""
        return replace(self, n_samples=int(self.n_samples * share))

    def load(self) -> tuple[Any, Any]:
        """X with NaN, and y."""
        X, y = super().load()
        X[np.random.default_rng(SEED).random(X.shape, dtype=np.float32) < self.share] = np.nan
        return X, y


PROBLEMS = [WithMissing(200_000, 50, 5, share=share) for share in SHARES]


class MissingCase:
    """Time per round."""

    name = "missing"
    title = f"time per round with missing values, {PROBLEMS[0].name}"

    def run(self, plan: Plan) -> Result:
        """Race all libraries on every share of missing values."""
        result = Result()
        rows = result.tables["missing"] = []
        for problem in PROBLEMS:
            outcome = race_on(plan.scale(problem), replace(plan, repeats=plan.repeats or REPEATS))
            rows.append(row_of(problem.share, outcome))
            result.left_out |= outcome.left_out
            result.raw[f"{problem.share:.0%}"] = outcome.raw
        return result


def race_on(problem: Problem, plan: Plan) -> Outcome:
    """The figures of all libraries."""
    outcome, kinds = open_outcome(UNIT, KINDS)
    entries = take_turns({kind.name: partial(Racer.enter, kind, problem, plan.n_threads) for kind in kinds})
    race(outcome, {name: racer for name, (racer,) in outcome.keep(entries).items()}, plan)
    return outcome


def row_of(share: float, outcome: Outcome) -> Row:
    """Milliseconds per round; a library that learned nothing has no time."""
    found = {figure.name: figure.value for figure in outcome.figures if figure.failure is None}
    peers = [value for name, value in found.items() if name != OURS.name]
    ours = found.get(OURS.name)
    ratio = None if ours is None or not peers else ours / min(peers)
    times = {f"{kind.name}, ms": found.get(kind.name) for kind in KINDS}
    return {"missing": f"{share:.0%}", **times, "ours / best peer": ratio}
