"""Cells of text: numbers as people write them, and missing-value markers.

If the decimal mark is not a point, points are removed where they group digits by three. Elsewhere, as in a date or a
version, a point means that the cell is not a number.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from numbers import Real
from typing import Any

from comboost.cli.input.delimited import WITH_COMMA, WITH_POINT
from comboost.cli.terminal.errors import CommandError

GROUPED_BY_COMMAS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
DECIMAL_POINT = r"^\s*[+-]?(\d*\.(\d{1,2}|\d{4,})|\d{4,}\.\d+|0\.\d+)\s*$"  # a point that cannot group digits
STRAY_POINT = "·"  # replaces a point that neither groups digits nor is decimal


def grouped_by_points(decimal: str) -> str:
    """Return the pattern of numbers whose points group digits by three."""
    return rf"^[+-]?\d{{1,3}}(\.\d{{3}})+({re.escape(decimal)}\d*)?$"


def with_decimal_point(cells: Any, decimal: str | None) -> Any:
    """Rewrite the numbers of an Arrow column with a decimal point; other text does not become a number."""
    import pyarrow.compute as pc

    if decimal in (None, "."):
        return cells
    grouped = pc.match_substring_regex(cells, grouped_by_points(str(decimal)))
    plain = pc.if_else(grouped, pc.replace_substring(cells, ".", ""), pc.replace_substring(cells, ".", STRAY_POINT))
    return pc.replace_substring(plain, decimal, ".")


def is_number(value: str, decimal: str | None = None) -> bool:
    """Whether text is a number with this decimal mark; with a comma, 1.234,5 is a number and 1.25 is not."""
    return read_number(value, decimal) is not None


def read_number(value: str, decimal: str | None) -> float | None:
    """Read a number; None if the text is not one."""
    if decimal not in (None, "."):
        grouped = re.match(grouped_by_points(str(decimal)), value)
        value = value.replace(".", "" if grouped else STRAY_POINT).replace(str(decimal), ".")
    try:
        return None if "_" in value else float(value)
    except ValueError:
        return None


def check_commas(name: str, values: Collection[str], others: Collection[Any], source: str) -> None:
    """Raise if all values are numbers, some with commas; the advice depends on what the ``others`` columns contain."""
    import pyarrow.compute as pc

    commas = [value for value in values if WITH_COMMA.fullmatch(value) or GROUPED_BY_COMMAS.fullmatch(value)]
    if not commas or not all(is_number(value) for value in set(values).difference(commas)):
        return
    seen, names = f"such as {commas[0]!r}", f"--category {name!r} if they are names"
    grouped = all(GROUPED_BY_COMMAS.fullmatch(value) for value in commas)
    in_others = any(pc.any(pc.match_substring_regex(column, DECIMAL_POINT)).as_py() for column in others)
    if in_others or any("." in value for value in values):
        what = "whose commas seem to group thousands" if grouped else "with a decimal comma"
        way = "write them without commas" if grouped else "write them with a point"
        advice = f"numbers {what}, {seen}, where others have decimal points; {way}, or give {names}."
    elif grouped:
        advice = (
            f"numbers {seen}, whose commas group thousands or are decimal; write thousands without them, or give "
            f"--decimal ',' if they are decimal, or {names}."
        )
    else:
        advice = f"numbers with a decimal comma, {seen}; give --decimal ',', or {names}."
    raise CommandError(f"Column {name!r} of {source} contains {advice}")


def check_points(name: str, words: Collection[str], source: str, decimal: str) -> None:
    """Raise if all cells that are not numbers would be numbers with a decimal point."""
    if words and all(WITH_POINT.fullmatch(word) for word in words):
        raise CommandError(
            f"Column {name!r} of {source} contains {next(iter(words))!r}, where the decimal mark is {decimal!r} and "
            f"points only group digits by three; write all numbers alike, or give another --decimal, --category "
            f"{name!r} if they are names, or --drop {name!r}."
        )


class MissingMarkers:
    """Missing-value markers: text in any case, numbers in any notation; it records which ones occurred."""

    def __init__(self, texts: Sequence[str] = ()) -> None:
        self.texts = tuple(texts)
        self._by_text = {text.strip().lower(): text for text in self.texts}
        self._by_number = {float(text): text for text in self.texts if is_number(text)}
        self._seen: set[str] = set()

    def match(self, value: Any, decimal: str | None = None) -> bool:
        """Whether a value is a marker."""
        marker, number = None, None
        if isinstance(value, str):
            text = value.strip()
            marker = self._by_text.get(text.lower())
            number = read_number(text, decimal) if self._by_number else None
        elif isinstance(value, Real) and not isinstance(value, bool):
            number = float(value)
        if marker is None and number is not None:
            marker = self._by_number.get(number)
        if marker is not None:
            self._seen.add(marker)
        return marker is not None

    def remove_from_text(self, column: Any, decimal: str | None) -> Any:
        """Make marked cells of an Arrow column of text missing."""
        import pyarrow
        import pyarrow.compute as pc

        marked = [value for value in pc.unique(column).to_pylist() if self.match(value, decimal)] if self.texts else []
        if not marked:
            return column
        is_marked = pc.is_in(column, pyarrow.array(marked, column.type))
        return pc.if_else(is_marked, pyarrow.scalar(None, column.type), column)

    def remove_from_frame(self, frame: Any) -> Any:
        """Make marked cells of a data frame missing."""
        columns = {}
        for name in frame.columns if self.texts else ():
            try:
                marked = [value for value in frame[name].dropna().unique().tolist() if self.match(value)]
            except TypeError:  # lists and the like
                continue
            if marked:
                columns[name] = frame[name].mask(frame[name].isin(marked))
        return frame.assign(**columns)

    def note_unseen(self, texts: Iterable[str]) -> list[str]:
        """Note which of some markers did not occur."""
        unseen = [text for text in texts if text not in self._seen]
        return [f"no cell is {' or '.join(map(repr, unseen))}, which --missing names"] if unseen else []
