"""Delimited text: the bytes of a file become an Arrow table in which every cell is text or missing.

Arrow's reader rejects lines with a wrong number of cells, where pandas fills them up silently. It also keeps every cell
as written, so that the type of a column follows from all of it, not from its first part.
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

from comboost._stats.formatting import shorten
from comboost.cli.terminal.errors import CommandError, some_names

DELIMITERS = (",", ";", "\t", "|")
#: Encodings by the byte order mark at the beginning; that of UTF-32 begins like that of UTF-16.
BYTE_ORDER_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
DECODED_BYTES = 2**20
N_SNIFFED = 50  # lines
MAX_SHOWN = 60  # characters of a line in a message
WITH_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
WITH_POINT = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")


@dataclass(frozen=True)
class Dialect:
    """How cells and numbers are written; None is detected."""

    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None

    def check_unused(self, name: str, reason: str, options: Collection[str] = ("sep", "decimal", "encoding")) -> None:
        """Raise if an option is given that has no meaning for a file."""
        for option in options:
            if getattr(self, option) is not None:
                raise CommandError(f"--{option} cannot be given for {name}, {reason}; leave it out.")


def read_delimited(content: bytes, name: str, dialect: Dialect) -> tuple[Any, str]:
    """Read text whose first line names the columns; return its cells and the decimal mark."""
    content = as_utf8(content, name, dialect.encoding)
    sample = sample_lines(content, name)
    try:
        sep = dialect.sep or find_delimiter(sample)
        header = next(csv.reader(sample, delimiter=sep))
    except csv.Error as error:
        raise CommandError(f"{name} is not delimited text: {error}; give a CSV file.") from error
    if dialect.sep and len(header) == 1 and any(other in sample[0] for other in DELIMITERS):
        raise CommandError(
            f"The first line of {name}, {shorten(sample[0], MAX_SHOWN)!r}, does not contain the delimiter {sep!r}; "
            "give another --sep, or leave it out."
        )
    names = [cell.strip() or f"unnamed {number}" for number, cell in enumerate(header, start=1)]
    check_unique(names, name)
    n_empty = content.count(b"\n", 0, content.find(sample[0].encode()))  # lines above the header
    cells = parse_cells(content, name, names, sep, n_empty + 1)
    return cells, dialect.decimal or find_decimal(sample[1:], sep)


def as_utf8(content: bytes, name: str, encoding: str | None) -> bytes:
    """Convert text to UTF-8 without a byte order mark."""
    marked = next((found for mark, found in BYTE_ORDER_MARKS.items() if content.startswith(mark)), None)
    if encoding is None and marked is not None:
        raise CommandError(f"{name} is in {marked.upper()}; give --encoding {marked}, or save it in UTF-8.")
    if encoding is None:
        check_utf8(content, name)
        return content.removeprefix(codecs.BOM_UTF8)
    try:
        return content.decode(encoding).lstrip("\ufeff").encode()
    except LookupError as error:
        raise CommandError(f"There is no encoding {encoding!r}; try --encoding latin-1 or utf-16.") from error
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise CommandError(
            f"{name}, line {line}, is not in {encoding}; give another --encoding, or leave it out for UTF-8."
        ) from error


def check_utf8(content: bytes, name: str) -> None:
    """Raise if text is not in UTF-8; only parts of it are decoded at once."""
    decoder, n_read = codecs.getincrementaldecoder("utf-8")(), 0
    try:
        while n_read < len(content):
            part = content[n_read : n_read + DECODED_BYTES]
            n_read += len(part)
            decoder.decode(part, final=n_read == len(content))
    except UnicodeDecodeError as error:
        start = n_read - len(error.object) + error.start  # the decoder keeps what a part ends with
        line = content.count(b"\n", 0, start) + 1
        raise CommandError(
            f"{name}, line {line}, is not in UTF-8 (byte {content[start]:#04x}); give --encoding latin-1, or its "
            "encoding."
        ) from error


def sample_lines(content: bytes, name: str) -> list[str]:
    """Return the first lines that are not empty."""
    lines: list[str] = []
    start = 0
    while start < len(content) and len(lines) < N_SNIFFED:
        end = content.find(b"\n", start) + 1 or len(content)
        line = content[start:end].decode().rstrip("\r\n")
        if line.strip():
            lines.append(line)
        start = end
    if not lines:
        raise CommandError(f"{name} is empty; expected a line with the names of the columns, and rows below it.")
    if len(lines) == 1:
        raise CommandError(
            f"{name} has no rows below its first line, {shorten(lines[0], MAX_SHOWN)!r}, which names the columns."
        )
    return lines


def find_delimiter(lines: list[str]) -> str:
    """Find the delimiter that splits all lines into the same number of cells, the larger the better."""
    whole = lines[:-1] if len(lines) == N_SNIFFED else lines  # the last cell may continue on the next line
    best, most = ",", 1
    for sep in DELIMITERS:
        counts = {len(row) for row in csv.reader(whole, delimiter=sep)}
        if len(counts) == 1 and (n_cells := counts.pop()) > most:
            best, most = sep, n_cells
    if most == 1:  # lines differ: Arrow will report which
        return max(DELIMITERS, key=lines[0].count)
    return best


def find_decimal(lines: list[str], sep: str) -> str:
    """Return a comma if there are numbers with a comma and none with a point."""
    if sep == ",":
        return "."
    cells = [cell.strip() for row in csv.reader(lines, delimiter=sep) for cell in row]
    with_comma = any(WITH_COMMA.fullmatch(cell) for cell in cells)
    return "," if with_comma and not any(WITH_POINT.fullmatch(cell) for cell in cells) else "."


def check_unique(names: list[str], source: str) -> None:
    """Raise if a column name occurs twice."""
    repeated = [column for column, n in Counter(names).items() if n > 1]
    if repeated:
        raise CommandError(
            f"{source} has {len(names)} columns, and {len(repeated)} of their names occur more than once: "
            f"{some_names(repeated)}; give every column a unique name in the first line."
        )


def parse_cells(content: bytes, name: str, names: list[str], sep: str, n_skipped: int) -> Any:
    """Parse lines into an Arrow table of text."""
    import pyarrow
    from pyarrow import csv as arrow_csv

    try:
        return arrow_csv.read_csv(
            pyarrow.BufferReader(content),
            arrow_csv.ReadOptions(column_names=names, skip_rows=n_skipped, block_size=1 << 24),
            arrow_csv.ParseOptions(delimiter=sep, newlines_in_values=b'"' in content),
            arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pyarrow.string()), null_values=[""], strings_can_be_null=True
            ),
        )
    except pyarrow.ArrowInvalid as error:
        rows = csv.reader(io.StringIO(content.decode(), newline=""), delimiter=sep)
        with suppress(csv.Error):  # a cell of many lines, whose quote does not end
            for idx, row in enumerate(rows):
                if idx >= n_skipped and row and len(row) != len(names):
                    ragged = ragged_line(name, rows.line_num, len(row), len(names), sep)
                    raise CommandError(f"{ragged}, or give another --sep.") from error
        raise CommandError(
            f"{name} cannot be read with the delimiter {sep!r}: {error}; give another --sep, or correct the file."
        ) from error


def ragged_line(name: str, line: int, n_cells: int, n_expected: int, sep: str) -> str:
    """Begin a message about a line whose number of cells is not the number of columns."""
    return (
        f"{name}, line {line}, has {n_cells} cells where {n_expected} are expected, with {sep!r} between them; fix it"
    )
