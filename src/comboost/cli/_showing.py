"""What a terminal shows. In: sentences, tables. Out: text for stdout in the signs and the width that it has."""

import json
import math
import shlex
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # help is there before rich is
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

ASCII_SIGNS = str.maketrans({"‖": "||", "√": "sqrt", "≤": "<=", "−": "-", "±": "+/-", "…": "..."})
MOST_NAMES = 12


class Screen:
    """Standard output, or another console, on which nothing is cut off."""

    def __init__(self, console: "Console | None" = None) -> None:
        from rich.console import Console

        self._console = console or Console(highlight=False)

    def say(self, text: str = "", style: str = "", *, to_copy: bool = False) -> None:
        """Print a sentence; what is to be copied has no line breaks."""
        self._console.print(self._plain(text, style), soft_wrap=to_copy or None)

    def show(self, heads: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[int] = ()) -> None:
        """Print a table; the columns ``right`` are of figures."""
        from rich.table import Column

        columns = [
            Column(self._plain(head), justify="right" if place in right else "left", overflow="fold")
            for place, head in enumerate(heads)
        ]
        table = plain_table(columns)
        for row in rows:
            table.add_row(*map(self._plain, row))
        self._console.print(table)

    def show_lesson(self, lesson: dict[str, Any]) -> None:
        """Say what a table holds: rows, classes, columns, and which columns may be of no use."""
        classes = lesson["classes"]
        self.say(
            f"{lesson['source']}: {lesson['n_rows']:,} rows, target {lesson['target']!r} with {len(classes)} classes: "
            + listed_names([f"{name} ({n:,})" for name, n in classes.items()])
        )
        kinds: dict[str, list[str]] = {}
        for column in lesson["columns"]:
            kinds.setdefault(column["kind"], []).append(column["name"])
        for kind, names in kinds.items():
            self.say(f"  {len(names)} x {kind}: {listed_names(names)}")
        for column in lesson["columns"]:
            if column["remark"]:
                self.say(
                    f"  {column['name']}: {column['remark']} ({column['n_values']:,} different values); "
                    f"--drop {quoted(column['name'])} leaves it out",
                    "yellow",
                )
        for note in lesson["notes"]:
            self.say(f"  Note: {note}.", "yellow")

    def _plain(self, text: str, style: str = "") -> "Text":
        from rich.text import Text

        visible = "".join(sign if sign.isprintable() or sign == "\n" else " " for sign in text)
        if self._console.options.ascii_only:
            visible = visible.translate(ASCII_SIGNS).encode("ascii", "backslashreplace").decode()
        return Text(visible, style)


def plain_table(columns: "Sequence[Column | str]") -> "Table":
    """A narrow table with a rule under its heads, of signs that any terminal can show."""
    from rich import box
    from rich.table import Table

    rule = box.Box(str(box.SIMPLE_HEAD).replace("─", "-"), ascii=True)
    return Table(*columns, box=rule, padding=(0, 1, 0, 0), pad_edge=False)


def listed_names(names: Sequence[str]) -> str:
    """Names with commas between them, the first of many."""
    more = f", and {len(names) - MOST_NAMES:,} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


def quoted(name: str) -> str:
    """A name as a shell takes it."""
    return shlex.quote(name)


def print_json(content: Any) -> None:
    """Print one object for machines; what is no finite number is null."""
    print(json.dumps(finite(content), ensure_ascii=True, indent=2))


def finite(value: Any) -> Any:
    """Plain values of JSON."""
    if isinstance(value, dict):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    if hasattr(value, "tolist"):  # NumPy's
        return finite(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value
