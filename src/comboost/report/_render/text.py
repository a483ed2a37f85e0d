"""Names and numbers as the HTML page shows them."""

from collections.abc import Iterable, Mapping
from typing import Any

from comboost._stats.formatting import MISSING_VALUE, format_number, percent, shorten

UNNAMED_CLASS = "(no name)"
MINUS = "−"
NO_BREAK = "\N{NO-BREAK SPACE}"
MAX_NAME = 40  # characters of a name that appears in full elsewhere
PLAIN_NUMBERS = (0.001, 1000.0)  # written without an exponent
CANDIDATE_HEADERS = ("Smoothing", "Max depth", "Held-out loss", "Best round", "Rounds run", "Cost", "Outcome")

# HTML cannot hold control characters and lone surrogates: use their Unicode pictures, or a replacement character.
PICTURES: dict[int, int | str] = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"}
PICTURES |= {0x7F: 0x2421, **dict.fromkeys([*range(0x80, 0xA0), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF], 0xFFFD)}
BREAKS: dict[int, int | str] = {ord("\n"): "↵", ord("\t"): "⇥", 0x2028: "↵", 0x2029: "↵"}


def without_controls(value: Any) -> Any:
    """Replace what HTML cannot hold in plain text; other values and markup stay as they are."""
    return value.translate(PICTURES) if type(value) is str else value


def visible(name: str) -> str:
    """A name in one line in which every character is visible."""
    text = name.translate(PICTURES).translate(BREAKS)
    return text if text.strip() else UNNAMED_CLASS


def brief_name(name: str) -> str:
    """A visible name of at most `MAX_NAME` characters."""
    return shorten(visible(name), MAX_NAME)


def brief_names(names: Iterable[str], limit: int) -> list[str]:
    """Visible names of at most ``limit`` characters, numbered if shortening makes them ambiguous."""
    whole = [visible(name) for name in names]
    brief = [shorten(name, limit) for name in whole]
    if len(set(brief)) == len(set(whole)):
        return brief
    return [shorten(f"{number} {name}", limit) for number, name in enumerate(whole, start=1)]


def count(number: int) -> str:
    """A count with thousands separators."""
    return f"{number:,}"


def number(value: float | None) -> str:
    """A metric with three decimals, or with three significant digits."""
    if value is None:
        return MISSING_VALUE
    low, high = PLAIN_NUMBERS
    text = f"{value:.3f}" if value == 0 or low <= abs(value) < high else f"{value:.3g}"
    return text.replace("-", MINUS)


def signed(value: float | None) -> str:
    """A difference of metrics with its sign."""
    return format_number(value, signed=True).replace("-", MINUS)


def fraction(value: float | None) -> str:
    """A fraction in percent."""
    return MISSING_VALUE if value is None else f"{percent(value) or '0'}{NO_BREAK}%"


def points(value: float | None) -> str:
    """A difference of fractions in percentage points with its sign."""
    return format_number(None if value is None else 100 * value, digits=1, signed=True).replace("-", MINUS)


def candidate_cells(candidate: Mapping[str, Any]) -> list[str]:
    """The cells of a candidate below `CANDIDATE_HEADERS`."""
    depth, loss = candidate["max_depth"], candidate["loss"]
    return [
        f"{candidate['smoothing']:g}",
        "not limited" if depth is None else str(depth),
        MISSING_VALUE if loss is None else f"{loss:.4g}",
        count(candidate["best_round"]),
        count(candidate["n_rounds"]),
        f"{candidate['cost']:.2f}",
        candidate["outcome"],
    ]
