"""Text with a separator. In: the bytes of a file. Out: an Arrow table in which every cell is text or missing.

Arrow reads it: it is strict about the number of cells in a line, where pandas fills up in silence, and leaves every
cell as it is written, so that what a column holds is decided by all of it, not by its first part.
"""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from comboost.cli._errors import CommandError

SEPARATORS = (",", ";", "\t", "|")
N_SNIFFED = 50  # lines
WITH_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
WITH_POINT = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
WIDE_ENCODINGS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
NAMES_SHOWN = 5


@dataclass(frozen=True)
class Dialect:
    """How numbers and lines are written; None is to be found out."""

    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None

    def check_unused(self, name: str, reason: str, options: Collection[str] = ("sep", "decimal", "encoding")) -> None:
        """Raise if one of some options is given that means nothing for a file."""
        for option in options:
            if getattr(self, option) is not None:
                raise CommandError(f"--{option} cannot be given for {name}, {reason}; leave it out.")


@dataclass(frozen=True)
class TextTable:
    """Cells as text, and the sign that divides numbers."""

    cells: Any
    decimal: str


def read_delimited(content: bytes, name: str, dialect: Dialect) -> TextTable:
    """Read text whose first line names the columns."""
    content = as_utf8(content, name, dialect.encoding)
    sample = sample_lines(content, name)
    try:
        sep = dialect.sep or find_separator(sample)
        header = next(csv.reader(sample, delimiter=sep))
    except csv.Error as error:
        raise CommandError(f"{name} is no table of cells with separators: {error}; give a CSV file.") from error
    if dialect.sep and len(header) == 1 and any(other in sample[0] for other in SEPARATORS):
        raise CommandError(
            f"The first line of {name}, {shortened(sample[0])!r}, does not hold the separator {sep!r}; give another "
            "one as --sep, or leave it out."
        )
    names = name_columns(header, name)
    n_above = content.count(b"\n", 0, content.find(sample[0].encode()))  # empty lines
    cells = parse_cells(content, name, names, sep, n_above + 1)
    return TextTable(cells, dialect.decimal or find_decimal(sample[1:], sep))


def as_utf8(content: bytes, name: str, encoding: str | None) -> bytes:
    """Bytes in UTF-8 without a mark at their start."""
    if encoding is not None:
        try:
            return content.decode(encoding).lstrip("\ufeff").encode()
        except LookupError as error:
            raise CommandError(f"There is no encoding {encoding!r}; try --encoding latin-1 or utf-16.") from error
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise CommandError(
                f"{name}, line {line}, is no text in {encoding}; give another --encoding, or leave it out for UTF-8."
            ) from error
    for mark, wide in WIDE_ENCODINGS.items():
        if content.startswith(mark):
            raise CommandError(f"{name} is in UTF-16; give --encoding {wide}, or save it in UTF-8.")
    try:
        content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise CommandError(
            f"{name}, line {line}, is no UTF-8 (byte {content[error.start]:#04x}); give --encoding latin-1, or the one "
            "that it is in."
        ) from error
    return content.removeprefix(codecs.BOM_UTF8)


def sample_lines(content: bytes, name: str) -> list[str]:
    """The first lines that are not empty."""
    lines: list[str] = []
    start = 0
    while start < len(content) and len(lines) < N_SNIFFED:
        end = content.find(b"\n", start) + 1 or len(content)
        line = content[start:end].decode().rstrip("\r\n")
        if line.strip():
            lines.append(line)
        start = end
    if not lines:
        raise CommandError(f"{name} is empty; expected are a line with the names of the columns, and rows below it.")
    if len(lines) == 1:
        raise CommandError(
            f"{name} has no rows below its first line, {shortened(lines[0])!r}, which names the columns."
        )
    return lines


def find_separator(lines: list[str]) -> str:
    """The sign that cuts all lines into the same number of cells, the larger the better; a comma if none does.

    Examples
    --------
    >>> from comboost.cli._delimited import find_separator
    >>> find_separator(["a;b", "1,5;2,5"]), find_separator(["a,b;c", "1,2;3", "1,4;5"])
    (';', ',')
    """
    whole = lines[:-1] if len(lines) == N_SNIFFED else lines  # a cell with line breaks may have been cut
    best, most = ",", 1
    for sep in SEPARATORS:
        counts = {len(row) for row in csv.reader(whole, delimiter=sep)}
        if len(counts) == 1 and (n_cells := counts.pop()) > most:
            best, most = sep, n_cells
    if most == 1:  # lines differ: Arrow will say which
        return max(SEPARATORS, key=lines[0].count)
    return best


def find_decimal(lines: list[str], sep: str) -> str:
    """A comma if there are numbers with one, and none with a point."""
    if sep == ",":
        return "."
    cells = [cell.strip() for row in csv.reader(lines, delimiter=sep) for cell in row]
    with_comma = any(WITH_COMMA.fullmatch(cell) for cell in cells)
    return "," if with_comma and not any(WITH_POINT.fullmatch(cell) for cell in cells) else "."


def name_columns(header: list[str], name: str) -> list[str]:
    """The names of the columns, each once; those without one are numbered."""
    names = [cell.strip() or f"unnamed {place}" for place, cell in enumerate(header, start=1)]
    check_names_once(names, name)
    return names


def check_names_once(names: list[str], name: str) -> None:
    """Raise if a name occurs twice."""
    twice = [column for column, n in Counter(names).items() if n > 1]
    if twice:
        shown = ", ".join(map(repr, twice[:NAMES_SHOWN])) + (", ..." if len(twice) > NAMES_SHOWN else "")
        raise CommandError(
            f"{name} has {len(names)} columns, and {len(twice)} of their names more than once: {shown}; give every "
            "column a name of its own in the first line."
        )


def parse_cells(content: bytes, name: str, names: list[str], sep: str, skipped: int) -> Any:
    """An Arrow table of text."""
    import pyarrow
    from pyarrow import csv as arrow_csv

    try:
        return arrow_csv.read_csv(
            pyarrow.BufferReader(content),
            arrow_csv.ReadOptions(column_names=names, skip_rows=skipped, block_size=1 << 24),
            arrow_csv.ParseOptions(delimiter=sep, newlines_in_values=b'"' in content),
            arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pyarrow.string()), null_values=[""], strings_can_be_null=True
            ),
        )
    except pyarrow.ArrowInvalid as error:
        raise CommandError(tell_bad_line(content, name, len(names), sep, skipped, error)) from error


def tell_bad_line(content: bytes, name: str, n_cells: int, sep: str, skipped: int, error: Exception) -> str:
    """Say which line has another number of cells."""
    rows = csv.reader(io.StringIO(content.decode(), newline=""), delimiter=sep)
    with suppress(csv.Error):  # a cell of many lines, whose quote does not end
        for place, row in enumerate(rows):
            if place >= skipped and row and len(row) != n_cells:
                return f"{tell_ragged(name, rows.line_num, len(row), n_cells, sep)}, or give another --sep."
    return f"{name} cannot be read with the separator {sep!r}: {error}; give another --sep, or mend the file."


def tell_ragged(name: str, line: int, n_cells: int, n_expected: int, sep: str) -> str:
    """Say that a line has another number of cells than there are columns."""
    return (
        f"{name}, line {line}, has {n_cells} cells where {n_expected} are expected, with {sep!r} between them; mend it"
    )


def lines_of(text: str) -> list[str]:
    """The lines of text as files end them; Python's own would be cut by other signs, too."""
    return re.split(r"\r\n|\r|\n", text)


def shortened(text: str, width: int = 60) -> str:
    """Text that is not too long for a message."""
    return text if len(text) <= width else text[: width - 3] + "..."
