"""Tables as text. In: rows, which are dicts with the same keys. Out: lines of aligned or of Markdown columns."""

from typing import Any

from benchmarks.tables.results import Row


def cell(value: Any) -> str:
    """A value in a few digits."""
    if value is None:
        return "–"
    if isinstance(value, float) and abs(value) < 1000:
        return f"{value:.3g}"
    if isinstance(value, (int, float)):
        return f"{round(value):_}".replace("_", " ")
    return str(value)


def cells(rows: list[Row]) -> list[list[str]]:
    """The names of the columns and all values, as text."""
    return [list(rows[0]), *([cell(value) for value in row.values()] for row in rows)]


def aligned(rows: list[Row]) -> str:
    """Columns under each other."""
    grid = cells(rows)
    widths = [max(map(len, column)) for column in zip(*grid, strict=True)]
    return "\n".join(
        "  " + "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in grid
    )


def markdown(rows: list[Row]) -> str:
    """A Markdown table."""
    head, *body = cells(rows)
    return "\n".join(f"| {' | '.join(line)} |" for line in [head, ["---"] * len(head), *body])


def verdict(entry: dict[str, Any]) -> str:
    """A verdict in a line."""
    return f"{entry['question']}: {cell(entry['value'])} (target {entry['target']})"
