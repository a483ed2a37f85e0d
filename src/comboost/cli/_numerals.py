"""Numbers as people write them. In: cells of text, a decimal sign. Out: cells as computers write them, or the trouble.

Where the decimal sign is no point, points are dropped where they group digits by three, and nowhere else: in a date or
a version they are no part of a number.
"""

import re
from collections.abc import Collection
from typing import Any

from comboost.cli._delimited import WITH_COMMA, WITH_POINT
from comboost.cli._errors import CommandError

GROUPED_BY_COMMAS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
SURELY_DECIMAL = r"^\s*[+-]?(\d*\.(\d{1,2}|\d{4,})|\d{4,}\.\d+|0\.\d+)\s*$"  # points that group nothing
STRAY_POINT = "·"  # in place of a point that belongs to none


def grouped_by_points(decimal: str) -> str:
    """The pattern of numbers whose points group digits by three."""
    return rf"^[+-]?\d{{1,3}}(\.\d{{3}})+({re.escape(decimal)}\d*)?$"


def with_point(cells: Any, decimal: str | None) -> Any:
    """An Arrow column of numbers as text, written with a decimal point; what is no number stays none."""
    import pyarrow.compute as pc

    if decimal in (None, "."):
        return cells
    grouped = pc.match_substring_regex(cells, grouped_by_points(str(decimal)))
    plain = pc.if_else(grouped, pc.replace_substring(cells, ".", ""), pc.replace_substring(cells, ".", STRAY_POINT))
    return pc.replace_substring(plain, decimal, ".")


def with_plain_point(value: str, decimal: str | None) -> str:
    """The text of a number, written with a decimal point; what is no number stays none.

    Examples
    --------
    >>> from comboost.cli._numerals import with_plain_point
    >>> [with_plain_point(text, ",") for text in ("1.234,5", "0,25", "1.25")]
    ['1234.5', '0.25', '1·25']
    """
    if decimal in (None, "."):
        return value
    grouped = re.match(grouped_by_points(str(decimal)), value)
    return value.replace(".", "" if grouped else STRAY_POINT).replace(str(decimal), ".")


def is_number(value: str) -> bool:
    """Whether text is a number."""
    try:
        float(value)
    except ValueError:
        return False
    return "_" not in value


def check_commas(name: str, values: Collection[str], others: Collection[Any], source: str) -> None:
    """Raise if all values are numbers, some with commas; the way out depends on what ``others`` columns hold."""
    commas = [value for value in values if WITH_COMMA.fullmatch(value) or GROUPED_BY_COMMAS.fullmatch(value)]
    if not commas or not all(is_number(value) for value in set(values).difference(commas)):
        return
    seen, names = f"such as {commas[0]!r}", f"--category {name!r} if they are names"
    grouped = all(GROUPED_BY_COMMAS.fullmatch(value) for value in commas)
    if any("." in value for value in values) or has_decimal_points(others):
        what = "whose commas seem to group thousands" if grouped else "with a decimal comma"
        way = "write them without commas" if grouped else "write them with a point"
        told = f"numbers {what}, {seen}, where others have decimal points; {way}, or give {names}."
    elif grouped:
        told = (
            f"numbers {seen}, whose commas group thousands or are decimal; write thousands without them, or give "
            f"--decimal ',' if they are decimal, or {names}."
        )
    else:
        told = f"numbers with a decimal comma, {seen}; give --decimal ',', or {names}."
    raise CommandError(f"Column {name!r} of {source} holds {told}")


def has_decimal_points(columns: Collection[Any]) -> bool:
    """Whether there are numbers with points that do not group digits."""
    import pyarrow.compute as pc

    return any(pc.any(pc.match_substring_regex(column, SURELY_DECIMAL)).as_py() for column in columns)


def check_points(name: str, words: Collection[str], source: str, decimal: str) -> None:
    """Raise if all that is no number would be one if a point were decimal."""
    if words and all(WITH_POINT.fullmatch(word) for word in words):
        raise CommandError(
            f"Column {name!r} of {source} holds {next(iter(words))!r}, where the decimal sign is {decimal!r} and "
            f"points only group digits by three; write all numbers alike, or give another --decimal, --category "
            f"{name!r} if they are names, or --drop {name!r}."
        )
