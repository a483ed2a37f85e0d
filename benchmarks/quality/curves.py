"""Time to quality. In: a problem and a method. Out: its measures on held-out rows against the seconds of its fit.

A method is trained from plain arrays, binning included, with nothing but a clock to listen to its rounds. It is
measured afterwards, at some of them.
"""

import time
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._lib.timing import quiet
from benchmarks.quality.clock import RoundClock
from benchmarks.quality.iterative import ITERATIVE, IterativeMethod
from benchmarks.quality.measures import LOG_LOSS, MEASURES, NORM, Floats, measure
from benchmarks.quality.plan import Plan
from benchmarks.quality.problems import RACES, Rows, Split
from benchmarks.quality.store import Entry
from comboost.datasets import make_imbalanced

SHORT = 5.0  # seconds of a fit that can well be repeated
REPEATS = 3
TOLERANCE = 1e-4  # of probabilities whose scores were added up in single precision

Fit = tuple[Any, RoundClock, float]


class Curves:
    """The kind of comparison, for `running`."""

    name = "curves"
    problems = RACES
    methods = ITERATIVE

    def prepare(self, rows: Rows, plan: Plan) -> Split:
        """The rows in two parts."""
        return Split.of(*rows)

    def measure(self, split: Split, method: IterativeMethod, plan: Plan) -> Entry:
        """Train, then follow the rounds."""
        model, clock, fit_seconds = quickest_fit(split, method, plan)
        rounds = plan.checkpoints(min(method.n_rounds(model), len(clock.seconds)))
        start = time.perf_counter()
        figures = follow(split, method, model, rounds)
        return {
            "n_classes": split.n_classes,
            "n_train": len(split.y_train),
            "n_test": len(split.y_test),
            "rounds": rounds,
            "seconds": [round(clock.seconds[number - 1], 5) for number in rounds],
            "figures": {one.key: [round(stage[one.key], 6) for stage in figures] for one in MEASURES},
            "fit_seconds": round(fit_seconds, 3),
            "why_stopped": why_stopped(method, model, rounds[-1], plan),
            "evaluation_seconds": round(time.perf_counter() - start, 1),
        }

    def describe(self, entry: Entry) -> str:
        """An entry in a line."""
        bests = ", ".join(f"{one.title} {one.best(entry['figures'][one.key]):.3f}" for one in (NORM, LOG_LOSS))
        stopped = f" ({entry['why_stopped']})" if entry["why_stopped"] else ""
        return f"{entry['rounds'][-1]} rounds{stopped} in {entry['seconds'][-1]:.2f} s; best {bests}"


def quickest_fit(split: Split, method: IterativeMethod, plan: Plan) -> Fit:
    """A fit; short ones are repeated, and the quickest counts."""
    warm_up(method, plan.n_threads)
    with quiet(plan.n_threads):
        n_rounds = method.affordable_rounds(split.X_train, split.y_train, plan.n_rounds, plan.n_threads, plan.budget)
    fits = [fit(split, method, n_rounds, plan)]
    while fits[0][2] < SHORT and len(fits) < REPEATS and not plan.quick:
        fits.append(fit(split, method, n_rounds, plan))
    return min(fits, key=lambda one: one[1].seconds[-1])


def fit(split: Split, method: IterativeMethod, n_rounds: int, plan: Plan) -> Fit:
    """The model, the stamps of its rounds, and the seconds of all of it."""
    with quiet(plan.n_threads):
        clock = RoundClock(plan.budget)
        model = method.fit(split.X_train, split.y_train, n_rounds, plan.n_threads, clock)
        return model, clock, clock.elapsed()


@cache
def warm_up(method: IterativeMethod, n_threads: int) -> None:
    """A first fit also loads code and starts threads; once is enough."""
    X, y = make_imbalanced(300, n_features=5, random_state=0)
    method.fit(X, y, 2, n_threads, RoundClock())


def follow(split: Split, method: IterativeMethod, model: Any, rounds: list[int]) -> list[dict[str, float]]:
    """All measures after these rounds; the last stage must be what the model itself predicts."""
    figures, stage = [], np.empty(0)
    for stage in method.stages(model, split.X_test, rounds):
        figures.append(measure(split.y_test, stage.argmax(axis=1), stage))
    check_stages(len(figures), stage, rounds, model.predict_proba(split.X_test))
    return figures


def check_stages(n_stages: int, last: Floats, rounds: list[int], predicted: NDArray[Any]) -> None:
    """Raise if stages are missing, or do not add up to the model."""
    if n_stages != len(rounds):
        raise RuntimeError(f"{n_stages} stages for the rounds {rounds}")
    difference = np.abs(last - predicted).max()
    if not difference <= TOLERANCE:
        raise RuntimeError(f"after {rounds[-1]} rounds the stages differ by {difference:.2g} from predict_proba")


def why_stopped(method: IterativeMethod, model: Any, n_rounds: int, plan: Plan) -> str | None:
    """Why a model has fewer rounds than it was to have; None if it has them all."""
    if n_rounds == plan.n_rounds:
        return None
    reason = method.why_stopped(model)
    return f"time budget of {plan.budget:g} s" if reason in (None, "callback") else reason
