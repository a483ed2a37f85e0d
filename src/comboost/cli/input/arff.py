"""ARFF and KEEL files, which declare their columns.

Values may be quoted with either kind of quotes. Inside, the same quote is written with a backslash before it, or twice.
"""

import io
import re
from collections.abc import Iterator
from typing import Any

from comboost._stats.formatting import shorten
from comboost.cli.input.delimited import MAX_SHOWN, as_utf8, check_unique, parse_cells, ragged_line
from comboost.cli.terminal.errors import CommandError

# "*+" never gives back what it has matched, so that the time is in proportion to the characters.
QUOTED = r"""'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*\""""
ATTRIBUTE = re.compile(rf"@attribute\s++({QUOTED}|[^\s{{]++)\s*+(.*)", re.IGNORECASE)
CELL = re.compile(rf"\s*+({QUOTED}|[^,'\"\s][^,]*+|)\s*+(,|\Z)")
LINE_END = re.compile(r"\r\n|\r|\n")  # str.splitlines would split at other characters, too
QUOTES = ("'", '"')
ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
COMMENT = "%"
DELIMITER = ","


def read_arff(content: bytes, name: str, encoding: str | None) -> tuple[Any, tuple[str, ...], str | None]:
    """Read a file with declared columns; return its cells, the names of the nominal columns, and of the target."""
    lines = enumerate(lines_of(as_utf8(content, name, encoding).decode()), start=1)
    header = []
    for _, line in lines:
        if line.strip().lower().startswith("@data"):
            break
        header.append(line)
    else:
        raise CommandError(f"{name} has no line @data; expected an ARFF or KEEL file, or another file extension.")
    declared = [match for line in header if (match := ATTRIBUTE.match(line.strip())) is not None]
    if not declared:
        raise CommandError(f"{name} declares no @attribute before its @data; expected an ARFF or KEEL file.")
    names = [unquote(match[1]) for match in declared]
    check_unique(names, name)
    rows = io.BytesIO()
    for number, line in lines:
        if line.strip() and not line.lstrip().startswith(COMMENT):
            rows.write(csv_row(line, number, len(names), name).encode() + b"\n")
    if not rows.tell():
        raise CommandError(f"{name} has no rows after its @data.")
    cells = parse_cells(rows.getvalue(), name, names, DELIMITER, 0)
    nominal = tuple(column for column, match in zip(names, declared, strict=True) if match[2].startswith("{"))
    return cells, nominal, find_output(header)


def lines_of(text: str) -> Iterator[str]:
    """Yield the lines of a text, one after the other: a list of them would take a multiple of the memory."""
    begin = 0
    for end in LINE_END.finditer(text):
        yield text[begin : end.start()]
        begin = end.end()
    yield text[begin:]


def find_output(header: list[str]) -> str | None:
    """Return the target that a KEEL file declares, if it is a single one."""
    for line in header:
        word, _, rest = line.strip().partition(" ")
        if word.lower() in ("@output", "@outputs"):
            cells = split_row(rest) or []
            return unquote(cells[0]) if len(cells) == 1 else None
    return None


def csv_row(line: str, number: int, n_cells: int, name: str) -> str:
    """Convert a row to CSV; raise CommandError if its number of cells is wrong."""
    if line.lstrip().startswith("{"):
        raise CommandError(f"{name} is a sparse ARFF file, which is not supported; save it as a dense one, or as CSV.")
    cells = split_row(line) if "'" in line or '"' in line else line.split(DELIMITER)
    if cells is None:
        raise CommandError(
            f"{name}, line {number}, has a quote that does not end with its cell: {shorten(line.strip(), MAX_SHOWN)!r}"
            "; close it, or quote the value with the other kind of quotes."
        )
    if len(cells) != n_cells:
        raise CommandError(f"{ragged_line(name, number, len(cells), n_cells, DELIMITER)}.")
    quoted = ('"' + unquote(cell).replace('"', '""') + '"' if cell.startswith(QUOTES) else cell for cell in cells)
    return DELIMITER.join(quoted)


def split_row(row: str) -> list[str] | None:
    """Split a row into cells, with their quotes; None if a quote does not end with its cell."""
    cells, position, more = [], 0, True
    while more:
        match = CELL.match(row, position)
        if match is None:
            return None
        cells.append(match[1].rstrip())
        position, more = match.end(), match[2] == DELIMITER
    return cells


def unquote(text: str) -> str:
    """Remove quotes, and resolve the escapes inside them."""
    if re.fullmatch(QUOTED, text) is None:
        return text
    escape = re.compile(rf"\\(.)|{text[0]}({text[0]})")
    return escape.sub(lambda match: ESCAPES.get(match[1], match[1] or match[2]), text[1:-1])
