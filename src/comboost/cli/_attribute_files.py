"""ARFF and KEEL files. In: their bytes. Out: cells, which columns hold categories, and the target, if it is named."""

import re
from dataclasses import dataclass
from typing import Any

from comboost.cli._delimited import as_utf8, check_names_once, parse_cells
from comboost.cli._errors import CommandError

ATTRIBUTE = re.compile(r"""@attribute\s+('[^']*'|"[^"]*"|[^\s{]+)\s*(.*)""", re.IGNORECASE)
COMMENT = "%"


@dataclass(frozen=True)
class AttributeTable:
    """Cells as text, with what the head of the file says of them."""

    cells: Any
    nominal: tuple[str, ...]
    target: str | None


def read_attribute_file(content: bytes, name: str, encoding: str | None) -> AttributeTable:
    """Read a file of which every column is declared by an ``@attribute``."""
    text = as_utf8(content, name, encoding).decode()
    head, found, body = split_at_data(text)
    if not found:
        raise CommandError(
            f"{name} has no line @data; expected is an ARFF or KEEL file, or another ending of its name."
        )
    declared = [match for line in head if (match := ATTRIBUTE.match(line.strip())) is not None]
    if not declared:
        raise CommandError(f"{name} declares no @attribute before its @data; expected is an ARFF or KEEL file.")
    names = [match[1].strip("'\"") for match in declared]
    check_names_once(names, name)
    rows = [line for line in body if line.strip() and not line.lstrip().startswith(COMMENT)]
    if not rows:
        raise CommandError(f"{name} has no rows after its @data.")
    if rows[0].lstrip().startswith("{"):
        raise CommandError(f"{name} is a sparse ARFF file, which is not read here; save it as a dense one, or as CSV.")
    joined = "\n".join(rows)
    quote = "'" if "'" in joined else '"'
    cells = parse_cells(joined.encode(), name, names, ",", quote, skipped=0)
    nominal = tuple(column for column, match in zip(names, declared, strict=True) if match[2].startswith("{"))
    return AttributeTable(cells, nominal, find_output(head))


def split_at_data(text: str) -> tuple[list[str], bool, list[str]]:
    """The lines before ``@data``, whether there is one, and those after it."""
    lines = text.splitlines()
    for place, line in enumerate(lines):
        if line.strip().lower().startswith("@data"):
            return lines[:place], True, lines[place + 1 :]
    return lines, False, []


def find_output(head: list[str]) -> str | None:
    """The target that KEEL names."""
    for line in head:
        word, _, rest = line.strip().partition(" ")
        if word.lower() in ("@output", "@outputs"):
            return rest.strip()
    return None
