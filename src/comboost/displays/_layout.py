"""Layout of plots: axes, styles, legends, font sizes, line breaks, ticks, colours."""

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from comboost._extras import import_pyplot
from comboost._stats.formatting import ROUNDING, readable, shorten
from comboost._types import Floats

MAX_NAME = 14  # characters of a class
MAX_TITLE = 40  # of a model
LARGEST_FONT, SMALLEST_FONT = 9.0, 4.5  # points
WIDE_CHARACTER = 0.62  # width of a wide character, relative to the font size
LETTER = 0.56  # mean width of a character in a sentence
LINE_HEIGHT = 1.25
MIN_CHARACTERS = 8  # of a line
FEW_TICKS, MANY_TICKS = 3, 7
LOG_FROM = 20.0  # ratio of the largest to the smallest value above which an axis is logarithmic
HANDLE = 40.0  # points of a legend entry beside its text
LEGEND_FONT = LARGEST_FONT - 1
MARGIN, TICKS = 6.0, 16.0  # points above a legend, and of the tick labels
N_MARKERS = 12  # of a curve
OTHERWISE = "read the attributes of the display, which hold its data"

# Colour-blind safe colours of Okabe and Ito; markers, filling and dashes differ too.
STYLES: list[dict[str, Any]] = [
    {"color": "#000000", "marker": "o", "linestyle": "-"},
    {"color": "#D55E00", "marker": "s", "linestyle": (0, (5, 2)), "markerfacecolor": "white"},
    {"color": "#0072B2", "marker": "^", "linestyle": (0, (1, 1.5))},
    {"color": "#009E73", "marker": "D", "linestyle": (0, (5, 1.5, 1, 1.5)), "markerfacecolor": "white"},
    {"color": "#CC79A7", "marker": "v", "linestyle": (0, (8, 2))},
    {"color": "#E69F00", "marker": "P", "linestyle": (0, (3, 1, 1, 1, 1, 1)), "markerfacecolor": "white"},
    {"color": "#56B4E9", "marker": "X", "linestyle": (0, (2, 3))},
]


def luminance(colour: Sequence[float]) -> float:
    """Relative luminance of an RGB colour, 0 to 1, as the WCAG defines it."""
    channels = np.asarray(colour[:3], dtype=np.float64)
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def ink_on(colour: Sequence[float]) -> str:
    """Black or white, whichever has the greater contrast to a colour."""
    brightness = luminance(colour) + 0.05
    return "black" if brightness / 0.05 >= 1.05 / brightness else "white"


def font_for(width: float, height: float, n_characters: float) -> float:
    """Largest font size at which the characters fit into a box, in points; 0 if it would be unreadable."""
    size = min(LARGEST_FONT, width / (WIDE_CHARACTER * max(n_characters, 1)), height / LINE_HEIGHT)
    return size if size >= SMALLEST_FONT - ROUNDING else 0.0


def characters_in(width: float, size: float = LARGEST_FONT) -> int:
    """Number of characters that fit into a width in points."""
    return max(MIN_CHARACTERS, int(width / (LETTER * size)))


def fold(text: str, width: float, size: float = LARGEST_FONT) -> str:
    """Break text into lines of at most a width in points."""
    lines = (textwrap.fill(line, characters_in(width, size)) for line in text.splitlines())
    return "\n".join(lines)


def round_numbers(low: float, high: float) -> list[float]:
    """Ticks of a logarithmic axis: powers of ten or, if these are few, 1, 2, 5, 10 and so on."""
    powers = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    tens = [float(f"1e{power}") for power in powers if low <= float(f"1e{power}") <= high]
    if len(tens) >= FEW_TICKS:
        return tens[:: -(-len(tens) // MANY_TICKS)]
    steps = [float(f"{digit}e{power}") for power in powers for digit in (1, 2, 5)]
    return [step for step in steps if low <= step <= high] or [float(f"{np.sqrt(low * high):.2g}")]


def every_nth(pitch: float) -> int:
    """Step between the labels to show, so that they do not overlap; ``pitch`` is the distance of two in points."""
    return max(1, int(np.ceil(SMALLEST_FONT * LINE_HEIGHT / pitch)))


def style_of(number: int) -> dict[str, Any]:
    """Line style of the ``number``-th model."""
    return STYLES[number % len(STYLES)]


def panels_for(ax: Any, n_panels: int, size: tuple[float, float], **arrangement: Any) -> list[Any]:
    """The given axes, or those of a new figure."""
    if ax is None:
        figure = import_pyplot(OTHERWISE).figure(figsize=size, layout="constrained")
        return list(figure.subplots(squeeze=False, **arrangement).ravel())
    panels = list(np.ravel(np.asarray(ax, dtype=object)))
    wrong = [panel for panel in panels if not hasattr(panel, "get_window_extent")]
    if wrong:
        raise TypeError(f"ax={wrong[0]!r} is not a matplotlib Axes; give what pyplot.subplots returns second, or None.")
    if len(panels) != n_panels:
        raise ValueError(f"The plot has {n_panels} panels and ax has {len(panels)}; give one Axes for each, or None.")
    return panels


def like_subplots(panels: list[Any]) -> Any:
    """One Axes, or an array of several, as pyplot.subplots returns them."""
    return panels[0] if len(panels) == 1 else np.array(panels, dtype=object)


def run_layout(panel: Any) -> None:
    """Run the layout engine of the figure, if it has one."""
    figure = panel.get_figure().figure  # the outermost one of nested figures
    if figure.get_layout_engine() is not None:
        figure.draw_without_rendering()


def size_of(panel: Any) -> tuple[float, float]:
    """Current width and height of axes in points."""
    extent, dpi = panel.get_window_extent(), panel.get_figure().dpi
    return 72 * extent.width / dpi, 72 * extent.height / dpi


def legend_below(panel: Any, artists: list[Any], names: list[str], gap: float) -> None:
    """Draw a legend ``gap`` points below the axes; names are neither parsed as formulas nor left out."""
    from matplotlib.transforms import ScaledTranslation

    width = size_of(panel)[0]
    longest = max(len(name) for name in names) * LETTER * LEGEND_FONT + HANDLE
    legend = panel.legend(
        artists,
        [str(i) for i in range(len(names))],
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=panel.transAxes + ScaledTranslation(0, -gap / 72, panel.get_figure().dpi_scale_trans),
        ncols=max(1, min(len(names), int(width / longest))),
        frameon=False,
        borderaxespad=0,
        fontsize=LEGEND_FONT,
    )
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_parse_math(False)
        text.set_text(fold(readable(name), width - HANDLE, LEGEND_FONT))


def height_of(text: str) -> float:
    """Height of a text in points."""
    return (text.count("\n") + 1) * LINE_HEIGHT * LARGEST_FONT


# Curves over the rounds


def draw_curve(panel: Any, values: Floats, number: int) -> Any:
    """Draw a value per round in the ``number``-th style; return the line."""
    style = {"linewidth": 1.2, "markersize": 4, "markevery": max(1, len(values) // N_MARKERS)}
    (line,) = panel.plot(np.arange(1, len(values) + 1), values, **style, **style_of(number))
    return line


def summarise(values: Floats) -> str:
    """The last value of a curve and its smallest, for a legend."""
    best = int(values.argmin())
    return f"{values[-1]:.3f} at the end, at best {values[best]:.3f} (round {best + 1})"


def finish_rounds(panel: Any) -> None:
    """Set the grid, the font size and ticks at whole rounds."""
    panel.grid(visible=True, linewidth=0.3)
    panel.tick_params(labelsize=LARGEST_FONT)
    panel.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)


def set_title(panel: Any, name: str | None, title: str) -> None:
    """Set a title that begins with the name of a model."""
    prefix = "" if name is None else f"{shorten(readable(name), MAX_TITLE)}: "
    panel.set_title(fold(prefix + title, size_of(panel)[0]), fontsize=LARGEST_FONT + 1, parse_math=False)


def below(panel: Any) -> float:
    """Distance from the axes to their legend in points, below tick labels and axis label."""
    return MARGIN + TICKS + (height_of(panel.get_xlabel()) if panel.get_xlabel() else 0)


def set_log_scale(panel: Any) -> None:
    """Make the vertical axis logarithmic, with plain tick labels."""
    panel.set_yscale("log")
    ticks = round_numbers(*panel.get_ylim())
    panel.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    panel.set_yticks([], minor=True)
