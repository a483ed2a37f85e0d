"""ARFF and KEEL files. In: their bytes. Out: cells, which columns hold categories, and the target, if it is named.

Values may stand in quotes of either kind, in which the same quote is written with a backslash before it, or twice.
"""

import re
from dataclasses import dataclass
from typing import Any

from comboost.cli._delimited import as_utf8, check_names_once, lines_of, parse_cells, shortened, tell_ragged
from comboost.cli._errors import CommandError

QUOTED = r"""'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*\""""
ATTRIBUTE = re.compile(rf"@attribute\s+({QUOTED}|[^\s{{]+)\s*(.*)", re.IGNORECASE)
CELL = re.compile(rf"\s*({QUOTED}|[^,'\"\s][^,]*|)\s*(,|\Z)")
QUOTES = ("'", '"')
CONTROLS = {"n": "\n", "r": "\r", "t": "\t"}  # what a backslash makes of letters
COMMENT = "%"
SEPARATOR = ","


@dataclass(frozen=True)
class AttributeTable:
    """Cells as text, with what the head of the file says of them."""

    cells: Any
    nominal: tuple[str, ...]
    target: str | None


def read_attribute_file(content: bytes, name: str, encoding: str | None) -> AttributeTable:
    """Read a file of which every column is declared by an ``@attribute``."""
    lines = lines_of(as_utf8(content, name, encoding).decode())
    start = find_data(lines, name)
    head = lines[:start]
    declared = [match for line in head if (match := ATTRIBUTE.match(line.strip())) is not None]
    if not declared:
        raise CommandError(f"{name} declares no @attribute before its @data; expected is an ARFF or KEEL file.")
    names = [unquoted(match[1]) for match in declared]
    check_names_once(names, name)
    rows = [
        plain_row(line, number, len(names), name)
        for number, line in enumerate(lines[start + 1 :], start=start + 2)
        if is_row(line)
    ]
    if not rows:
        raise CommandError(f"{name} has no rows after its @data.")
    cells = parse_cells("\n".join(rows).encode(), name, names, SEPARATOR, 0)
    nominal = tuple(column for column, match in zip(names, declared, strict=True) if match[2].startswith("{"))
    return AttributeTable(cells, nominal, find_output(head))


def find_data(lines: list[str], name: str) -> int:
    """The place of the line ``@data``."""
    for place, line in enumerate(lines):
        if line.strip().lower().startswith("@data"):
            return place
    raise CommandError(f"{name} has no line @data; expected is an ARFF or KEEL file, or another ending of its name.")


def find_output(head: list[str]) -> str | None:
    """The target that KEEL names, if it is one."""
    for line in head:
        word, _, rest = line.strip().partition(" ")
        if word.lower() in ("@output", "@outputs"):
            cells = split_row(rest) or []
            return unquoted(cells[0]) if len(cells) == 1 else None
    return None


def is_row(line: str) -> bool:
    """Whether a line holds values."""
    return bool(line.strip()) and not line.lstrip().startswith(COMMENT)


def plain_row(line: str, number: int, n_cells: int, name: str) -> str:
    """A row with quotes as CSV has them; CommandError if it does not have as many cells as there are columns."""
    if line.lstrip().startswith("{"):
        raise CommandError(f"{name} is a sparse ARFF file, which is not read here; save it as a dense one, or as CSV.")
    cells = split_row(line) if "'" in line or '"' in line else line.split(SEPARATOR)
    if cells is None:
        raise CommandError(
            f"{name}, line {number}, has a quote that does not end with its cell: {shortened(line.strip())!r}; close "
            "it, or put the value into quotes of the other kind."
        )
    if len(cells) != n_cells:
        raise CommandError(f"{tell_ragged(name, number, len(cells), n_cells, SEPARATOR)}.")
    return SEPARATOR.join(in_csv_quotes(cell) if cell.startswith(QUOTES) else cell for cell in cells)


def in_csv_quotes(cell: str) -> str:
    """A quoted value as CSV has it."""
    return '"' + unquoted(cell).replace('"', '""') + '"'


def split_row(row: str) -> list[str] | None:
    """The cells of a row, in their quotes; None if a quote does not end with its cell.

    Examples
    --------
    >>> from comboost.cli._attribute_files import split_row
    >>> split_row("1, 'a, b', O'Brien"), split_row("1, 'a, b")
    (['1', "'a, b'", "O'Brien"], None)
    """
    cells, place, more = [], 0, True
    while more:
        match = CELL.match(row, place)
        if match is None:
            return None
        cells.append(match[1].rstrip())
        place, more = match.end(), match[2] == SEPARATOR
    return cells


def unquoted(text: str) -> str:
    r"""Text without the quotes around it, and without what marks quotes in it.

    Examples
    --------
    >>> from comboost.cli._attribute_files import unquoted
    >>> [unquoted(text) for text in ("plain", '"it\'s"', r"'it\'s'", "'it''s'")]
    ['plain', "it's", "it's", "it's"]
    """
    if re.fullmatch(QUOTED, text) is None:
        return text
    marked = re.compile(rf"\\(.)|{text[0]}({text[0]})")
    return marked.sub(lambda found: CONTROLS.get(found[1], found[1] or found[2]), text[1:-1])
