"""The table of cases. In: nothing. Out: cases."""

from benchmarks.tables.categories import CategoriesCase
from benchmarks.tables.copies import CopiesCase
from benchmarks.tables.early_stopping import EarlyStoppingCase
from benchmarks.tables.missing import MissingCase
from benchmarks.tables.odd import MOST_CLASSES, MOST_ROWS, ODD, OddCase
from benchmarks.tables.plain import PlainCase
from benchmarks.tables.rare import RareCase
from benchmarks.tables.results import Case
from benchmarks.tables.sparse import SparseCase, SparseWideCase
from benchmarks.tables.wide import WideCase

# The last two take many gigabytes.
CASES: tuple[Case, ...] = (
    PlainCase(),
    CategoriesCase(),
    WideCase(),
    SparseCase(),
    SparseWideCase(),
    RareCase(),
    MissingCase(),
    EarlyStoppingCase(),
    CopiesCase(),
    OddCase("odd-small", "features, classes and trees beyond the usual", ODD),
    OddCase("odd-classes", "12 000 classes, 24 000 rows", (MOST_CLASSES,)),
    OddCase("odd-rows", "50 million rows", (MOST_ROWS,)),
)
