"""Rules: defaults that depend on the table. In: rows and classes of a fit. Out: a setting of the grid, and its rounds.

A rule has to be one that a reader can say in one sentence, which is its name. The setting must be in the grid and the
rounds must be a checkpoint; a rule for which that does not hold is named as left out.
"""

from collections.abc import Callable
from math import log2, sqrt

from benchmarks.defaults.grid import CENTRE
from benchmarks.defaults.settings import Setting

Rule = Callable[[int, int], tuple[Setting, int]]


def depth_for(n_samples: int, n_classes: int, divisor: int) -> int:
    """The depth of a tree with about √(rows · classes)/divisor leaves, of those in the grid."""
    return min(max(round(log2(sqrt(n_samples * n_classes) / divisor)), 3), 6)


def deeper_for_more_rows_and_classes(divisor: int, n_rounds: int) -> Rule:
    return lambda n_samples, n_classes: ({**CENTRE, "max_depth": depth_for(n_samples, n_classes, divisor)}, n_rounds)


# The depth "auto" divides by 8: would trees of twice or half the leaves be better?
RULES: dict[str, Rule] = {
    f"depth for √(rows · classes)/{divisor} leaves; {n_rounds} rounds": deeper_for_more_rows_and_classes(
        divisor, n_rounds
    )
    for divisor in (4, 16)
    for n_rounds in (100, 200, 300, 500)
}
