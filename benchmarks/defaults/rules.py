"""Rules: defaults that depend on the table. In: rows and classes of a fit. Out: a setting of the grid, and its rounds.

A rule has to be one that a reader can say in one sentence, which is its name. The setting must be in the grid and the
rounds must be a checkpoint; a rule for which that does not hold is named as left out.
"""

from collections.abc import Callable

from benchmarks.defaults.grid import CENTRE
from benchmarks.defaults.settings import Setting

Rule = Callable[[int, int], tuple[Setting, int]]


def more_rounds_for_more_rows(n_rows: int, _n_classes: int) -> tuple[Setting, int]:
    return CENTRE, 100 if n_rows < 5_000 else 300


def deeper_trees_for_more_rows(n_rows: int, _n_classes: int) -> tuple[Setting, int]:
    return {**CENTRE, "max_depth": 4 if n_rows < 1_000 else 6}, 100


RULES: dict[str, Rule] = {
    "centre, 100 rounds, 300 from 5 000 rows on": more_rounds_for_more_rows,
    "centre, 100 rounds, depth 4, 6 from 1 000 rows on": deeper_trees_for_more_rows,
}
