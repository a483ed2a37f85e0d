"""What columns hold. In: a `Rowset`. Out: a data frame of numbers, dates and text, and a word about every column."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from comboost._data.text import MANY, PLACEHOLDERS
from comboost.cli._delimited import NAMES_SHOWN
from comboost.cli._errors import CommandError
from comboost.cli._marks import Marks
from comboost.cli._numerals import check_commas, check_points, is_number, with_plain_point, with_point
from comboost.cli._sources import Rowset

NUMBER, CATEGORY, TEXT_KIND, DATE, OTHER = "number", "category", "text", "date", "other"
MISSING_CELLS = {*PLACEHOLDERS, "nan", "<null>"}
MISSING_NOMINALS = {"?", "<null>"}  # of ARFF and KEEL
MANY_VALUES = 0.5  # of the rows: text with more values than that is hardly a category
LIKELY_IDENTIFIER = "identifier?"
PERHAPS_IDENTIFIER = "whole numbers, none twice: an identifier, unless it measures something"
FEW_ROWS_OF_IDENTIFIERS = 20  # below this, every row may well have its own value


@dataclass(frozen=True)
class ColumnSummary:
    """A column as it was understood; ``remark`` is what may be wrong with it, or empty."""

    name: str
    kind: str
    n_values: int
    n_missing: int
    remark: str = ""


def frame_of(
    rows: Rowset,
    *,
    as_text: Collection[str] = (),
    as_numbers: Collection[str] = (),
    missing: Marks | None = None,
) -> Any:
    """A pandas DataFrame; columns of text that hold numbers or dates become these, but those named ``as_text``.

    CommandError says so if a column named ``as_numbers`` holds something else.
    """
    import pyarrow

    marks, kept = missing or Marks(), {*as_text, *rows.nominal}
    columns = {}
    for name, column in zip(rows.cells.column_names, rows.cells.columns, strict=True):
        if holds_text(column):
            column = understood_text(name, marks.drop_from_text(column, rows.decimal), rows, kept, as_numbers)
        elif pyarrow.types.is_null(column.type):
            column = column.cast(pyarrow.float64())  # what text is understood as in which nothing is known
        columns[name] = column
    frame = pyarrow.table(columns).to_pandas(date_as_object=False)
    return frame if rows.decimal is not None else marks.drop_from_frame(frame)


def holds_text(column: Any) -> bool:
    """Whether an Arrow column holds text."""
    from pyarrow import types

    return bool(types.is_string(column.type) or types.is_large_string(column.type))


def without_cells(column: Any, cells: set[str]) -> Any:
    """A column of text without cells that equal one of some, whatever their case and the blanks around them."""
    import pyarrow
    import pyarrow.compute as pc

    plain = pc.utf8_lower(pc.utf8_trim_whitespace(column))
    found = pc.is_in(plain, pyarrow.array(sorted(cell.lower() for cell in cells), column.type))
    return pc.if_else(found, pyarrow.scalar(None, column.type), column)


def understood_text(name: str, given: Any, rows: Rowset, as_text: Collection[str], as_numbers: Collection[str]) -> Any:
    """A column of text as numbers or dates, if all of it can be read so; the same in files with types and without."""
    import pyarrow.compute as pc

    column = pc.utf8_trim_whitespace(given)
    text = given if rows.decimal is None else column  # blanks in a file with types are meant
    if name in as_text:
        return without_cells(text, MISSING_NOMINALS) if name in rows.nominal else text
    numbers = numbers_of(column, rows)
    if numbers is not None:  # of most columns, which then need no second look
        return numbers
    known = without_cells(column, MISSING_CELLS)
    for found in (numbers_of(known, rows), dates_of(known)):
        if found is not None:
            return found
    if name in as_numbers:
        raise no_number_error(name, known, rows)
    check_mixture(name, known, rows)
    return text


def numbers_of(cells: Any, rows: Rowset) -> Any:
    """Text as numbers; None if it is something else."""
    import pyarrow

    return cast_or_none(with_point(cells, rows.decimal), pyarrow.float64())


def dates_of(cells: Any) -> Any:
    """Text as dates and times (ISO 8601), all of them with a zone or all without; None if it is something else."""
    import pyarrow

    zoned = (cast_or_none(cells, pyarrow.timestamp("us", zone)) for zone in (None, "UTC"))
    return next((dates for dates in zoned if dates is not None), None)


def cast_or_none(cells: Any, kind: Any) -> Any:
    """The cells as another type, if all of them are; None if one is not."""
    import pyarrow

    try:
        return cells.cast(kind)
    except pyarrow.ArrowInvalid:
        return None


def no_number_error(name: str, cells: Any, rows: Rowset) -> CommandError:
    """What to do about text where a model wants numbers."""
    known = [(place, cell) for place, cell in enumerate(cells.to_pylist(), start=1) if cell is not None]
    words = (pair for pair in known if not is_number(with_plain_point(pair[1], rows.decimal)))
    row, word = next(words, known[0])
    sign = "" if rows.decimal is None else ", or another --decimal if numbers are written so"
    return CommandError(
        f"Column {name!r} of {rows.name} holds the text {word!r} in row {row}, where the model wants a number or a "
        f"date; mend it, or give --missing TEXT if it stands for a missing value{sign}."
    )


def check_mixture(name: str, cells: Any, rows: Rowset) -> None:
    """Raise if nearly all cells are numbers: the others are then most likely mistakes, and no categories."""
    values = cells.value_counts().to_pylist()
    counts = {pair["values"]: pair["counts"] for pair in values if pair["values"] is not None}
    if rows.decimal == ".":
        others = [rows.cells[other] for other in rows.cells.column_names if other != name]
        check_commas(name, counts, others, rows.name)
    words = {value: n for value, n in counts.items() if not is_number(with_plain_point(value, rows.decimal))}
    if rows.decimal not in (None, "."):
        check_points(name, words, rows.name, str(rows.decimal))
    if sum(counts.values()) <= MANY * sum(words.values()):
        return
    shown = ", ".join(repr(word) for word in list(words)[:NAMES_SHOWN])
    first = next(place for place, cell in enumerate(cells.to_pylist(), start=1) if cell in words)
    raise CommandError(
        f"Column {name!r} of {rows.name} holds numbers, but also {shown} (first in row {first}); mend them, or give "
        f"--missing TEXT if they stand for missing values, --category {name!r} if all are names, or --drop {name!r}."
    )


def summarise_columns(frame: Any) -> list[ColumnSummary]:
    """What every column of a frame holds, and what may be wrong with it."""
    return [summarise_column(str(name), frame[name]) for name in frame.columns]


def summarise_column(name: str, column: Any) -> ColumnSummary:
    """What a column holds."""
    n_rows, n_missing = len(column), int(column.isna().sum())
    try:
        n_values = int(column.nunique())
    except TypeError:  # lists and the like
        return ColumnSummary(name, OTHER, n_rows - n_missing, n_missing)
    kind = kind_of_column(column, n_values, n_rows)
    return ColumnSummary(name, kind, n_values, n_missing, remark_on(column, kind, n_values))


def kind_of_column(column: Any, n_values: int, n_rows: int) -> str:
    """Number, date, category or text."""
    from pandas.api import types

    if isinstance(column.dtype, types.CategoricalDtype if hasattr(types, "CategoricalDtype") else ()):
        return CATEGORY
    if types.is_bool_dtype(column.dtype) or types.is_numeric_dtype(column.dtype):
        return NUMBER
    if types.is_datetime64_any_dtype(column.dtype) or types.is_timedelta64_dtype(column.dtype):
        return DATE
    return TEXT_KIND if n_values > MANY_VALUES * n_rows else CATEGORY


def remark_on(column: Any, kind: str, n_values: int) -> str:
    """What may be wrong with a column: it says nothing, or names the rows."""
    if n_values == 0:
        return "empty"
    if n_values == 1 and not column.isna().any():
        return "constant"
    if n_values < len(column) or len(column) < FEW_ROWS_OF_IDENTIFIERS or kind == DATE:
        return ""
    return remark_on_distinct(column.to_numpy()) if kind == NUMBER else LIKELY_IDENTIFIER


def remark_on_distinct(numbers: Any) -> str:
    """What different numbers in all rows may be: measures, unless they are whole."""
    if numbers.dtype.kind not in "iuf":
        return ""
    steps = numbers[1:] - numbers[:-1]
    if (steps == steps[0]).all():
        return LIKELY_IDENTIFIER
    return PERHAPS_IDENTIFIER if (numbers == numbers.round()).all() else ""
