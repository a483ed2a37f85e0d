"""How long fits take, beside each other. In: actions. Out: the seconds of every repeat."""

from collections.abc import Callable, Mapping
from statistics import median
from typing import Any

from benchmarks.speed.contest import Plan
from benchmarks.speed.measuring import timed

LEAST_REPEATS = 3
MOST_REPEATS = 31


def alternate(
    actions: Mapping[str, Callable[[], Any]], plan: Plan, budget: float
) -> tuple[dict[str, list[float]], dict[str, Any]]:
    """Seconds and first results of actions that take turns, every other time in the reverse order.

    The first time also loads code and fills caches. It is not counted, but says how many repeats the budget allows.
    """
    warm = {name: timed(action, plan.n_threads) for name, action in actions.items()}
    turn = sum(seconds for seconds, _ in warm.values())
    seconds: dict[str, list[float]] = {name: [] for name in actions}
    order = list(actions)
    for _ in range(plan.repeats or repeats_within(budget, turn)):
        for name in order:
            seconds[name].append(timed(actions[name], plan.n_threads)[0])
        order.reverse()
    return seconds, {name: result for name, (_, result) in warm.items()}


def repeats_within(budget: float, turn: float) -> int:
    """How often something that takes so long can be repeated; an odd number, so that the median is one of them."""
    return max(LEAST_REPEATS, min(MOST_REPEATS, int(budget / turn))) // 2 * 2 + 1


def medians(seconds: Mapping[str, list[float]]) -> dict[str, float]:
    """The median of every action."""
    return {name: median(times) for name, times in seconds.items()}
