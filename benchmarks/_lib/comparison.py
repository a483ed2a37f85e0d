"""What all cases share. In: a plan, libraries. Out: an outcome in which they took turns."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from benchmarks._lib.problems import Problem
from benchmarks._lib.timing import Entrant, fastest, take_turns
from benchmarks._lib.verdicts import Outcome

MILLI = 1e3  # seconds to milliseconds
MICRO = 1e6


@dataclass(frozen=True)
class Plan:
    """How much work a run puts into its cases."""

    n_threads: int
    repeats: int
    quick: bool

    @property
    def n_rounds(self) -> int:
        """Rounds that are timed: enough for a stable median."""
        return 10 if self.quick else 30

    @property
    def n_calls(self) -> int:
        """Predictions of a single row."""
        return 200 if self.quick else 2000

    def scale(self, problem: Problem) -> Problem:
        """The problem at the size of this plan."""
        return problem.scaled(0.1) if self.quick else problem


class Case(Protocol):
    """A question that figures answer."""

    name: str

    def title(self, plan: Plan) -> str:
        """What is measured, in a line."""

    def run(self, plan: Plan) -> Outcome:
        """Measure it."""


def hold(
    outcome: Outcome,
    candidates: Mapping[str, Callable[[], Sequence[Entrant]]],
    measure: Callable[[Entrant], float],
    repeats: int,
) -> dict[str, tuple[Entrant, float]]:
    """Enter the fastest candidate of every library, let them take turns, and return each with its best seconds."""

    def enter(ready: Callable[[], Sequence[Entrant]]) -> Entrant:
        found = ready()
        measure(found[0])  # the first time also loads code and starts threads
        return fastest(found, measure)

    entered = outcome.keep(take_turns({name: partial(enter, ready) for name, ready in candidates.items()}))
    entrants = {name: entrant for name, (entrant,) in entered.items()}
    seconds = outcome.keep(take_turns({name: partial(measure, one) for name, one in entrants.items()}, repeats))
    outcome.raw |= seconds
    return {name: (entrants[name], min(times)) for name, times in seconds.items()}
