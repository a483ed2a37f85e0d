"""Text that fits. In: names, shares, colours, room. Out: short names, percentages, colours to write in, font sizes."""

import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

MAX_NAME = 14  # characters of a class in a picture
MAX_TITLE = 40  # of a model
LARGEST_FONT, SMALLEST_FONT = 9.0, 4.5  # points
WIDE_CHARACTER = 0.62  # width of a wide one in its font size
LETTER = 0.56  # of one in a sentence
LINE_HEIGHT = 1.25  # height of one
FEWEST_CHARACTERS = 8  # of a line, however narrow its room
SHARE_ROUNDING = 1e-9  # of sums of shares
FEW_TICKS, MANY_TICKS = 3, 7


def readable(name: Any) -> str:
    """A name in one line, without characters that cannot be seen."""
    text = " ".join(str(name).split())
    return "".join(each if each.isprintable() else "�" for each in text) or "(no name)"


def shorten(name: str, limit: int, n_last: int | None = None) -> str:
    """At most ``limit`` characters: its first ones and the last ``n_last``, a third if that is None."""
    if len(name) <= limit:
        return name
    n_last = (limit - 1) // 3 if n_last is None else n_last
    return name[: limit - 1 - n_last] + "…" + name[len(name) - n_last :]


def short_names(names: Iterable[Any], limit: int = MAX_NAME) -> list[str]:
    """Short names that tell apart what the long ones do; they are numbered if no way of shortening does."""
    whole = [readable(name) for name in names]
    for n_last in [(limit - 1) // 3, *range(limit - 1, -1, -1)]:
        shortened = [shorten(name, limit, n_last) for name in whole]
        if len(set(shortened)) == len(shortened):
            return shortened
    return [shorten(f"{place} {name}", limit, 0) for place, name in enumerate(whole, start=1)]


def percent(share: float) -> str:
    """A share in at most three characters; nothing for none, and only what is all is 100."""
    if share <= SHARE_ROUNDING:
        return ""
    text = f"{100 * share:.0f}"
    if text == "0":
        return "<1"
    return ">99" if text == "100" and share < 1 - SHARE_ROUNDING else text


def luminance(colour: Sequence[float]) -> float:
    """How bright a colour of red, green and blue is, 0 to 1, as the WCAG defines it."""
    channels = np.asarray(colour[:3], dtype=np.float64)
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def ink_on(colour: Sequence[float]) -> str:
    """Black or white, whichever has the greater contrast to a colour."""
    brightness = luminance(colour) + 0.05
    return "black" if brightness / 0.05 >= 1.05 / brightness else "white"


def font_for(width: float, height: float, n_characters: float) -> float:
    """The largest font, in points, in which so many characters fit into a box; 0 if none that can be read does."""
    size = min(LARGEST_FONT, width / (WIDE_CHARACTER * max(n_characters, 1)), height / LINE_HEIGHT)
    return size if size >= SMALLEST_FONT - SHARE_ROUNDING else 0.0


def characters_in(width: float, size: float = LARGEST_FONT) -> int:
    """How many characters of a font fit into so many points, a few at least."""
    return max(FEWEST_CHARACTERS, int(width / (LETTER * size)))


def fold(text: str, width: float, size: float = LARGEST_FONT) -> str:
    """The text in as many lines as its room needs."""
    lines = (textwrap.fill(line, characters_in(width, size)) for line in text.splitlines())
    return "\n".join(lines)


def round_numbers(low: float, high: float) -> list[float]:
    """Numbers to write at a logarithmic axis: powers of ten or, if these are few, 1, 2, 5, 10 and so on."""
    powers = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    tens = [float(f"1e{power}") for power in powers if low <= float(f"1e{power}") <= high]
    if len(tens) >= FEW_TICKS:
        return tens[:: -(-len(tens) // MANY_TICKS)]
    steps = [float(f"{digit}e{power}") for power in powers for digit in (1, 2, 5)]
    return [step for step in steps if low <= step <= high] or [float(f"{np.sqrt(low * high):.2g}")]


def every_nth(room: float) -> int:
    """How many labels apart two must be of which each has so many points of room."""
    return max(1, int(np.ceil(SMALLEST_FONT * LINE_HEIGHT / room)))
