"""Columns of a `RawTable` become numbers, dates and text of a data frame; `summarise_columns` describes them."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from comboost._data.text import MANY, PLACEHOLDERS
from comboost.cli.input.cells import MissingMarkers, check_commas, check_points, is_number, with_decimal_point
from comboost.cli.input.memory import VALUE
from comboost.cli.input.sources import RawTable
from comboost.cli.input.typed import check_columns_fit, frame_bytes, without_runs
from comboost.cli.terminal.errors import MAX_NAMES, CommandError

NUMBER, CATEGORY, TEXT, DATE, OTHER = "number", "category", "text", "date", "other"
MISSING_CELLS = {*PLACEHOLDERS, "nan", "<null>"}
MISSING_NOMINALS = {"?", "<null>"}  # of ARFF and KEEL
MAX_CATEGORIES = 0.5  # text with more distinct values, as a fraction of the rows, is hardly categorical
LIKELY_IDENTIFIER = "identifier?"
POSSIBLE_IDENTIFIER = "distinct whole numbers: an identifier, unless it is a measurement"
TEXT_COPIES = 2  # of a column at once: in lower case, and without missing cells
DISTINCT_TEXT = 200  # bytes of a distinct value and its count in Python
MIN_IDENTIFIERS = 20  # with fewer rows, any column may be distinct


@dataclass(frozen=True)
class ColumnSummary:
    """A column as it was read; ``remark`` is a possible problem, or empty."""

    name: str
    kind: str
    n_values: int
    n_missing: int
    remark: str = ""


def to_frame(
    table: RawTable,
    *,
    as_text: Collection[str] = (),
    as_numbers: Collection[str] = (),
    missing: MissingMarkers | None = None,
) -> Any:
    """Convert to a pandas DataFrame; text that is all numbers or dates becomes these, except columns ``as_text``.

    Raises CommandError if a column ``as_numbers`` contains anything else.
    """
    import pyarrow
    from pyarrow import types

    markers, kept = missing or MissingMarkers(), {*as_text, *table.nominal}
    n_bytes = sum(map(frame_bytes, table.cells.columns)) + VALUE * len(table.cells)  # one is converted, the others held
    check_columns_fit(table.name, {"the values of its columns": n_bytes})
    columns = {}
    for name, column in zip(table.columns, map(without_runs, table.cells.columns), strict=True):
        if types.is_string(column.type) or types.is_large_string(column.type):
            column = convert_text(name, markers.remove_from_text(column, table.decimal), table, kept, as_numbers)
        elif types.is_null(column.type):
            column = column.cast(pyarrow.float64())  # as an empty column of text
        columns[name] = column
    frame = pyarrow.table(columns).to_pandas(date_as_object=False)
    return frame if table.decimal is not None else markers.remove_from_frame(frame)


def without_cells(column: Any, cells: set[str]) -> Any:
    """Make cells of a column of text missing, whatever their case and the blanks around them."""
    import pyarrow
    import pyarrow.compute as pc

    plain = pc.utf8_lower(pc.utf8_trim_whitespace(column))
    is_missing = pc.is_in(plain, pyarrow.array(sorted(cell.lower() for cell in cells), column.type))
    return pc.if_else(is_missing, pyarrow.scalar(None, column.type), column)


def convert_text(name: str, given: Any, table: RawTable, as_text: Collection[str], as_numbers: Collection[str]) -> Any:
    """Convert a column of text to numbers or dates, if all of it can be read so; the same for all file formats."""
    import pyarrow
    import pyarrow.compute as pc

    def to_numbers(cells: Any) -> Any:
        return cast_or_none(with_decimal_point(cells, table.decimal), pyarrow.float64())

    column = pc.utf8_trim_whitespace(given)
    text = given if table.decimal is None else column  # blanks in a file with types are intended
    if name in as_text:
        return without_cells(text, MISSING_NOMINALS) if name in table.nominal else text
    numbers = to_numbers(column)
    if numbers is not None:  # true for most columns, and then the rest is not needed
        return numbers
    check_columns_fit(table.name, {f"the text of column {name!r}": TEXT_COPIES * int(column.nbytes)})
    known = without_cells(column, MISSING_CELLS)
    for converted in (to_numbers(known), to_dates(known)):
        if converted is not None:
            return converted
    if name in as_numbers:
        raise not_numbers_error(name, known, table)
    check_mixture(name, known, table)
    return text


def to_dates(cells: Any) -> Any:
    """Convert text to dates and times (ISO 8601), all with a time zone or all without; None if it is something else."""
    import pyarrow

    zoned = (cast_or_none(cells, pyarrow.timestamp("us", zone)) for zone in (None, "UTC"))
    return next((dates for dates in zoned if dates is not None), None)


def cast_or_none(cells: Any, kind: Any) -> Any:
    """Cast cells to another type; None if one cannot be cast."""
    import pyarrow

    try:
        return cells.cast(kind)
    except pyarrow.ArrowInvalid:
        return None


def not_numbers_error(name: str, cells: Any, table: RawTable) -> CommandError:
    """Return the error for text where a model expects numbers."""
    known = [(row, cell) for row, cell in enumerate(cells.to_pylist(), start=1) if cell is not None]
    row, word = next((pair for pair in known if not is_number(pair[1], table.decimal)), known[0])
    hint = "" if table.decimal is None else ", or another --decimal if numbers are written so"
    return CommandError(
        f"Column {name!r} of {table.name} contains the text {word!r} in row {row}, where the model expects a number or "
        f"a date; correct it, or give --missing TEXT if it means a missing value{hint}."
    )


def check_mixture(name: str, cells: Any, table: RawTable) -> None:
    """Raise if nearly all cells are numbers: the others are then most likely mistakes, not categories."""
    found = cells.drop_null().value_counts()
    uses = {f"the {len(found)} distinct values of column {name!r}": DISTINCT_TEXT * len(found) + int(found.nbytes)}
    check_columns_fit(table.name, uses)
    counts = dict(zip(found.field("values").to_pylist(), found.field("counts").to_pylist(), strict=True))
    if table.decimal == ".":
        check_commas(name, counts, [table.cells[other] for other in table.columns if other != name], table.name)
    words = {value: n for value, n in counts.items() if not is_number(value, table.decimal)}
    if table.decimal not in (None, "."):
        check_points(name, words, table.name, str(table.decimal))
    if sum(counts.values()) <= MANY * sum(words.values()):
        return
    shown = ", ".join(map(repr, list(words)[:MAX_NAMES]))
    first = next(row for row, cell in enumerate(cells.to_pylist(), start=1) if cell in words)
    raise CommandError(
        f"Column {name!r} of {table.name} contains numbers, but also {shown} (first in row {first}); correct them, or "
        f"give --missing TEXT if they mean missing values, --category {name!r} if all are names, or --drop {name!r}."
    )


def summarise_columns(frame: Any) -> list[ColumnSummary]:
    """Describe every column of a frame, and what may be wrong with it."""
    summaries = []
    for name in frame.columns:
        column, n_missing = frame[name], int(frame[name].isna().sum())
        try:
            n_values = int(column.nunique())
        except TypeError:  # lists and the like
            summaries.append(ColumnSummary(str(name), OTHER, len(column) - n_missing, n_missing))
            continue
        kind = kind_of_column(column, n_values)
        summaries.append(ColumnSummary(str(name), kind, n_values, n_missing, remark_on(column, kind, n_values)))
    return summaries


def kind_of_column(column: Any, n_values: int) -> str:
    """Return whether a column is of numbers, dates, categories or text."""
    from pandas.api import types

    if column.dtype == "category":
        return CATEGORY
    if types.is_numeric_dtype(column.dtype):  # also bool
        return NUMBER
    if types.is_datetime64_any_dtype(column.dtype) or types.is_timedelta64_dtype(column.dtype):
        return DATE
    return TEXT if n_values > MAX_CATEGORIES * len(column) else CATEGORY


def remark_on(column: Any, kind: str, n_values: int) -> str:
    """Name a possible problem of a column: it is constant, or identifies the rows."""
    if n_values == 0:
        return "empty"
    if n_values == 1 and not column.isna().any():
        return "constant"
    if n_values < len(column) or len(column) < MIN_IDENTIFIERS or kind == DATE:
        return ""
    if kind != NUMBER:
        return LIKELY_IDENTIFIER
    numbers = column.to_numpy()
    if numbers.dtype.kind not in "iuf":
        return ""
    steps = numbers[1:] - numbers[:-1]
    if (steps == steps[0]).all():
        return LIKELY_IDENTIFIER
    return POSSIBLE_IDENTIFIER if (numbers == numbers.round()).all() else ""
