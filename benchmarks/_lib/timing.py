"""How long things take. In: libraries and data. Out: seconds, with every single measurement kept.

Libraries take turns, so that a slow minute of the machine meets all of them; a library's figure is its best repeat.
"""

import gc
import statistics
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any, Generic, TypeVar

from threadpoolctl import threadpool_limits

from benchmarks._lib.peers import Library

WARM_UP_ROUNDS = 2  # the first rounds also fill caches and start threads
PROBE_ROUNDS = 5
PAIRS = 2  # of fits whose difference is taken: a single one may even be negative
LEAST_REPEATS = 3
MOST_REPEATS = 31

Result = TypeVar("Result")
Entrant = TypeVar("Entrant")
Name = TypeVar("Name", bound=Hashable)


@contextmanager
def quiet(n_threads: int) -> Iterator[None]:
    """No garbage collection, and no OpenMP runtime with more threads than asked for."""
    gc.collect()
    gc.disable()
    try:
        with threadpool_limits(n_threads, user_api="openmp"):
            yield
    finally:
        gc.enable()


def timed(action: Callable[[], Result], n_threads: int) -> tuple[float, Result]:
    """Seconds that an action takes, and its result."""
    with quiet(n_threads):
        start = time.perf_counter()
        result = action()
        return time.perf_counter() - start, result


@dataclass
class Turns(Generic[Name, Result]):
    """What came of actions that took turns: all results of those that worked, and what the others raised."""

    results: dict[Name, list[Result]]
    errors: dict[Name, str]


def take_turns(actions: Mapping[Name, Callable[[], Result]], repeats: int = 1) -> Turns[Name, Result]:
    """Do every action once, then every action again, and so on; one that raises is out, the others go on."""
    results: dict[Name, list[Result]] = {name: [] for name in actions}
    errors: dict[Name, str] = {}
    for _ in range(repeats):
        for name, action in actions.items():
            if name in errors:
                continue
            try:
                results[name].append(action())
            except Exception as error:  # a library may raise anything, and none may stop the others
                errors[name] = f"{type(error).__name__}: {error}"
    return Turns({name: values for name, values in results.items() if name not in errors}, errors)


@dataclass
class RoundTimes:
    """Seconds of single rounds, in a list per fit."""

    fits: list[list[float]] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """The median round of the best fit."""
        return min(statistics.median(rounds) for rounds in self.fits)

    def measure(self, library: Library, data: Any, n_rounds: int, n_threads: int) -> Any:
        """Add a fit, and return its model."""
        stamps: list[float] = []
        with quiet(n_threads):
            model = library.train(data, n_rounds, n_threads, lambda: stamps.append(time.perf_counter()))
        rounds = [after - before for before, after in pairwise(stamps)]
        self.fits.append(rounds[WARM_UP_ROUNDS - 1 :])  # the first round has no stamp before it
        return model


@dataclass
class FitDifferences:
    """Seconds of short and of long fits, for a library that does not say when a round is done."""

    n_rounds: int = 0
    short: list[float] = field(default_factory=list)
    long: list[float] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """What a further round costs: best against best, since a difference of single fits is mostly noise."""
        return (min(self.long) - min(self.short)) / self.n_rounds

    def measure(self, library: Library, data: Any, n_rounds: int, n_threads: int) -> Any:
        """Add pairs of fits, and return the model of the last long one."""
        self.n_rounds = n_rounds - WARM_UP_ROUNDS
        for _ in range(PAIRS):
            self.short.append(timed(lambda: library.train(data, WARM_UP_ROUNDS, n_threads), n_threads)[0])
            seconds, model = timed(lambda: library.train(data, n_rounds, n_threads), n_threads)
            self.long.append(seconds)
        return model


Rounds = RoundTimes | FitDifferences


def rounds_of(library: Library) -> Rounds:
    """How this library's rounds can be measured."""
    return RoundTimes() if library.has_callbacks else FitDifferences()


def fastest(candidates: Sequence[Entrant], measure: Callable[[Entrant], float]) -> Entrant:
    """The candidate that takes least time; one that cannot do it is left out, a single one is not probed."""
    if len(candidates) == 1:
        return candidates[0]
    turns = take_turns({k: partial(measure, candidate) for k, candidate in enumerate(candidates)})
    if not turns.results:
        raise RuntimeError("; ".join(turns.errors.values()))
    return candidates[min(turns.results, key=lambda k: turns.results[k][0])]


def probe_rounds(library: Library, data: Any, n_threads: int) -> float:
    """A short look at the time per round."""
    rounds = rounds_of(library)
    rounds.measure(library, data, PROBE_ROUNDS, n_threads)
    return rounds.seconds


def alternate(
    actions: Mapping[str, Callable[[], Any]], n_threads: int, repeats: int, budget: float
) -> tuple[dict[str, list[float]], dict[str, Any]]:
    """Seconds and first results of actions that take turns, every other time in the reverse order.

    The first time also loads code and fills caches. It is not counted, but says how many repeats the budget allows.
    """
    warm = {name: timed(action, n_threads) for name, action in actions.items()}
    turn = sum(seconds for seconds, _ in warm.values())
    seconds: dict[str, list[float]] = {name: [] for name in actions}
    order = list(actions)
    for _ in range(repeats or repeats_within(budget, turn)):
        for name in order:
            seconds[name].append(timed(actions[name], n_threads)[0])
        order.reverse()
    return seconds, {name: result for name, (_, result) in warm.items()}


def repeats_within(budget: float, turn: float) -> int:
    """How often something that takes so long can be repeated; an odd number, so that the median is one of them."""
    return max(LEAST_REPEATS, min(MOST_REPEATS, int(budget / turn))) // 2 * 2 + 1


def medians(seconds: Mapping[str, list[float]]) -> dict[str, float]:
    """The median of every action."""
    return {name: statistics.median(times) for name, times in seconds.items()}
