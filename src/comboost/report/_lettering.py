"""Names and numbers as the page writes them. In: any text, shares, figures. Out: text that can be seen."""

from collections.abc import Iterable
from typing import Any

from comboost.displays._labels import percent, shorten

UNNAMED_CLASS = "(no name)"
NOT_KNOWN = "–"
MINUS = "−"
NO_BREAK = "\N{NO-BREAK SPACE}"
MAX_NAME_SHOWN = 40  # characters of a name that is told in full elsewhere
PLAIN_FIGURES = (0.001, 1000.0)  # what is written without an exponent

# What HTML cannot hold or nobody can see: control characters become their pictures, halves of characters a "?".
PICTURES: dict[int, int | str] = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"}
PICTURES |= {0x7F: 0x2421, **dict.fromkeys([*range(0x80, 0xA0), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF], 0xFFFD)}
BREAKS: dict[int, int | str] = {ord("\n"): "↵", ord("\t"): "⇥", 0x2028: "↵", 0x2029: "↵"}


def without_controls(value: Any) -> Any:
    """Text that HTML can hold, lines as they are; anything else as it is, text that is markup already, too."""
    return value.translate(PICTURES) if type(value) is str else value


def visible(name: str) -> str:
    """A name in one line, of which every character is there."""
    text = name.translate(PICTURES).translate(BREAKS)
    return text if text.strip() else UNNAMED_CLASS


def brief_names(names: Iterable[str], limit: int) -> list[str]:
    """Names of at most ``limit`` characters, numbered if these would no longer tell them apart."""
    whole = [visible(name) for name in names]
    brief = [shorten(name, limit) for name in whole]
    if len(set(brief)) == len(set(whole)):
        return brief
    return [shorten(f"{place} {name}", limit) for place, name in enumerate(whole, start=1)]


def count(number: int) -> str:
    """A number of things."""
    return f"{number:,}"


def figure(value: float | None) -> str:
    """A measure, with three digits after the point or with three digits in all."""
    if value is None:
        return NOT_KNOWN
    low, high = PLAIN_FIGURES
    text = f"{value:.3f}" if value == 0 or low <= abs(value) < high else f"{value:.3g}"
    return text.replace("-", MINUS)


def signed(value: float | None) -> str:
    """A difference of measures, with its sign."""
    return NOT_KNOWN if value is None else f"{value:+.3f}".replace("-", MINUS)


def share(value: float | None) -> str:
    """A share in percent."""
    return NOT_KNOWN if value is None else f"{percent(value) or '0'}{NO_BREAK}%"


def points(value: float | None) -> str:
    """A difference of shares in percentage points, with its sign."""
    return NOT_KNOWN if value is None else f"{100 * value:+.1f}".replace("-", MINUS)


def brief_name(name: str) -> str:
    """A name that can be seen, of at most `MAX_NAME_SHOWN` characters."""
    return shorten(visible(name), MAX_NAME_SHOWN)
