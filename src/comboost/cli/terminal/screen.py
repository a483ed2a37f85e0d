"""Text, tables and JSON on standard output, in the characters and the width of the terminal."""

import json
import math
import shlex
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from comboost._stats.formatting import pluralize

if TYPE_CHECKING:  # rich is slow to import
    from rich.console import Console
    from rich.text import Text

ASCII_TEXT = str.maketrans({"‖": "||", "√": "sqrt", "≤": "<=", "−": "-", "–": "-", "±": "+/-", "…": "..."})
MAX_NAMES = 12


class Screen:
    """Standard output, or another console, on which nothing is cut off."""

    def __init__(self, console: "Console | None" = None) -> None:
        from rich.console import Console

        self._console = console or Console(highlight=False)

    def say(self, text: str = "", style: str = "", *, to_copy: bool = False) -> None:
        """Print text; without line breaks if it is to be copied."""
        self._console.print(self._printable(text, style), soft_wrap=to_copy or None)

    def note(self, notes: Iterable[str]) -> None:
        """Print notes, one per line; they are sentences without a full stop."""
        for note in notes:
            self.say(f"Note: {note}.")

    def show(
        self, headers: Sequence[str], rows: Iterable[Sequence[str | tuple[str, str]]], *, right: Sequence[int] = ()
    ) -> None:
        """Print a table; a cell is text, or text and its style. The columns ``right`` are aligned to the right."""
        from rich import box
        from rich.table import Column, Table

        columns = [
            # Without "fold" rich shortens words, with a character that is not ASCII.
            Column(self._printable(header), justify="right" if idx in right else "left", overflow="fold")
            for idx, header in enumerate(headers)
        ]
        rule = box.Box(str(box.SIMPLE_HEAD).replace("─", "-"), ascii=True)
        table = Table(*columns, box=rule, padding=(0, 1, 0, 0), pad_edge=False)
        for row in rows:
            table.add_row(*(self._printable(*((cell,) if isinstance(cell, str) else cell)) for cell in row))
        self._console.print(table)

    def show_data(self, data: dict[str, Any]) -> None:
        """Print the rows, classes and columns of a training table, and which columns may be useless."""
        classes = data["classes"]
        self.say(
            f"{data['source']}: {data['n_rows']:,} rows, target {data['target']!r} with {len(classes)} classes: "
            + list_names([f"{name} ({n:,})" for name, n in classes.items()])
        )
        kinds: dict[str, list[str]] = {}
        for column in data["columns"]:
            kinds.setdefault(column["kind"], []).append(column["name"])
        for kind, names in kinds.items():
            self.say(f"  {len(names)} x {kind}: {list_names(names)}")
        for column in data["columns"]:
            if column["remark"]:
                self.say(
                    f"  {column['name']}: {column['remark']} ({pluralize(column['n_values'], 'distinct value')}); "
                    f"--drop {shlex.quote(column['name'])} excludes it",
                    "yellow",
                )
        for note in data["notes"]:
            self.say(f"  Note: {note}.", "yellow")

    def _printable(self, text: str, style: str = "") -> "Text":
        from rich.text import Text

        visible = "".join(char if char.isprintable() or char == "\n" else " " for char in text)
        if self._console.options.ascii_only:
            visible = visible.translate(ASCII_TEXT).encode("ascii", "backslashreplace").decode()
        return Text(visible, style)


def stderr_screen() -> Screen:
    """Return standard error as a screen, for notes beside output that goes to a file."""
    from rich.console import Console

    return Screen(Console(stderr=True, highlight=False, soft_wrap=True))


def list_names(names: Sequence[str]) -> str:
    """Join names by commas; of many, the first."""
    more = f", and {len(names) - MAX_NAMES:,} more" if len(names) > MAX_NAMES else ""
    return ", ".join(names[:MAX_NAMES]) + more


def print_json(content: Any) -> None:
    """Print one JSON object; values that are not finite are null."""
    print(json.dumps(json_value(content), ensure_ascii=True, indent=2))


def json_value(value: Any) -> Any:
    """Convert to values of JSON."""
    if isinstance(value, dict):
        return {str(key): json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    if hasattr(value, "tolist"):  # NumPy
        return json_value(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value
