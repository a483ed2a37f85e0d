"""The table of cases. In: names. Out: cases."""

from collections.abc import Sequence

from benchmarks.tables.categories import CategoriesCase
from benchmarks.tables.copies import CopiesCase
from benchmarks.tables.early_stopping import EarlyStoppingCase
from benchmarks.tables.missing import MissingCase
from benchmarks.tables.odd import MOST_CLASSES, MOST_ROWS, ODD, OddCase
from benchmarks.tables.plain import PlainCase
from benchmarks.tables.results import Case
from benchmarks.tables.wide import WideCase

# The last two take many gigabytes.
CASES: tuple[Case, ...] = (
    PlainCase(),
    CategoriesCase(),
    WideCase(),
    MissingCase(),
    EarlyStoppingCase(),
    CopiesCase(),
    OddCase("odd-small", "features, classes and trees beyond the usual", ODD),
    OddCase("odd-classes", "12 000 classes, 24 000 rows", (MOST_CLASSES,)),
    OddCase("odd-rows", "50 million rows", (MOST_ROWS,)),
)


def pick(names: Sequence[str]) -> list[Case]:
    """The cases of these names, or whose names begin with them; all cases where no name is given."""
    unknown = [name for name in names if not any(case.name.startswith(name) for case in CASES)]
    if unknown:
        raise ValueError(f"no case is called {', '.join(unknown)}; --list says which there are.")
    return [case for case in CASES if not names or case.name.startswith(tuple(names))]
