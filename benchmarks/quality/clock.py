"""When rounds end. In: a tick after every round. Out: seconds since the fit began, and whether its time is spent."""

import time
from dataclasses import dataclass, field

UNLIMITED = float("inf")


@dataclass
class RoundClock:
    """Stamps of the rounds of one fit; the fit begins when the clock is made."""

    budget: float = UNLIMITED
    seconds: list[float] = field(default_factory=list)
    start: float = field(default_factory=time.perf_counter)

    def elapsed(self) -> float:
        """Seconds since the fit began."""
        return time.perf_counter() - self.start

    def tick(self) -> bool:
        """A round ended: whether it was the last one that the budget allows."""
        self.seconds.append(self.elapsed())
        return self.seconds[-1] >= self.budget

    def spread(self, n_rounds: int) -> None:
        """Stamp all rounds of a fit that has just ended and told of none: all of them take the same time."""
        total = self.elapsed()
        self.seconds = [total * number / n_rounds for number in range(1, n_rounds + 1)]
