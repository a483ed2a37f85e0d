"""Figures and targets. In: what was measured. Out: ratios, and whether they reach what was asked."""

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from benchmarks._lib.checks import Learning
from benchmarks._lib.peers import Library
from benchmarks._lib.timing import Result, Turns

COMPARISONS: dict[str, Callable[[float, float], bool]] = {"<": operator.lt, "≤": operator.le, "≥": operator.ge}


@dataclass(frozen=True)
class Target:
    """What a ratio should be."""

    comparison: str
    value: float

    def reached_by(self, ratio: float) -> bool:
        """Whether this ratio is good enough."""
        return COMPARISONS[self.comparison](ratio, self.value)

    def __str__(self) -> str:
        return f"{self.comparison} {self.value:.3g}"


@dataclass
class Figure:
    """One library's figure in a case, in the unit of the case."""

    name: str
    value: float
    variant: dict[str, Any] = field(default_factory=dict)
    learning: Learning | None = None
    failure: str | None = None

    def __post_init__(self) -> None:
        if self.learning is not None and self.failure is None:
            self.failure = self.learning.failure


@dataclass(frozen=True)
class Verdict:
    """A ratio of two figures beside its target. Without a ratio there is a reason."""

    question: str
    target: Target
    ratio: float | None
    reason: str | None = None

    @property
    def reached(self) -> bool:
        """Whether the target is reached; what could not be compared has reached nothing."""
        return self.ratio is not None and self.target.reached_by(self.ratio)


@dataclass
class Outcome:
    """All that came out of a case."""

    unit: str
    figures: list[Figure] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    raw: dict[str, Any] = field(default_factory=dict)
    disturbance: float = 0.0  # cores that other programs kept busy meanwhile

    def keep(self, turns: Turns[str, Result]) -> dict[str, list[Result]]:
        """The results of those that could do their part; the others are left out, with the reason."""
        self.left_out.update(turns.errors)
        return turns.results

    def figure(self, name: str) -> Figure | None:
        """The figure of this name."""
        return next((figure for figure in self.figures if figure.name == name), None)


def compare(question: str, target: Target, ours: Figure | None, other: Figure | None) -> Verdict:
    """The verdict on two figures; one that failed, or is not there, cannot be compared."""
    for figure in (ours, other):
        if figure is None:
            return Verdict(question, target, None, "nothing to compare with")
        if figure.failure is not None:
            return Verdict(question, target, None, f"{figure.name} {figure.failure}")
    return Verdict(question, target, ours.value / other.value)


def against_best(outcome: Outcome, target: Target, ours: str, *, best: Callable[..., Any] = min) -> Verdict:
    """The verdict on our figure and the best of the others that did their work; it names those that could not."""
    peers = [figure for figure in outcome.figures if figure.name != ours and figure.failure is None]
    peer = best(peers, key=lambda figure: figure.value, default=None)
    absent = [*outcome.left_out, *(figure.name for figure in outcome.figures if figure.failure is not None)]
    without = ", ".join(name for name in absent if name != ours)
    question = f"{ours} / {'best peer' if peer is None else peer.name}" + (f" (without {without})" if without else "")
    return compare(question, target, outcome.figure(ours), peer)


def open_outcome(unit: str, kinds: Iterable[type[Library]]) -> tuple[Outcome, list[type[Library]]]:
    """An empty outcome, and the libraries that are installed; the others are left out."""
    reasons = {kind: kind.missing() for kind in kinds}
    outcome = Outcome(unit, left_out={kind.name: why for kind, why in reasons.items() if why is not None})
    return outcome, [kind for kind, why in reasons.items() if why is None]
