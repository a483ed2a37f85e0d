"""Where pictures are drawn. In: axes that were given, or none. Out: as many as needed, their room, styles of lines."""

from typing import Any

import numpy as np

from comboost._extras import import_pyplot
from comboost.displays._labels import LARGEST_FONT, LETTER, LINE_HEIGHT, fold, readable

HANDLE = 40.0  # points that a line of a legend needs beside its text
LEGEND_FONT = LARGEST_FONT - 1
OTHERWISE = "read the attributes of the display, which hold its data"

# Colours after Okabe and Ito, which the colour-blind tell apart; without colour, markers, filling and dashes do.
STYLES: list[dict[str, Any]] = [
    {"color": "#000000", "marker": "o", "linestyle": "-"},
    {"color": "#D55E00", "marker": "s", "linestyle": (0, (5, 2)), "markerfacecolor": "white"},
    {"color": "#0072B2", "marker": "^", "linestyle": (0, (1, 1.5))},
    {"color": "#009E73", "marker": "D", "linestyle": (0, (5, 1.5, 1, 1.5)), "markerfacecolor": "white"},
    {"color": "#CC79A7", "marker": "v", "linestyle": (0, (8, 2))},
    {"color": "#E69F00", "marker": "P", "linestyle": (0, (3, 1, 1, 1, 1, 1)), "markerfacecolor": "white"},
    {"color": "#56B4E9", "marker": "X", "linestyle": (0, (2, 3))},
]


def style_of(place: int) -> dict[str, Any]:
    """What a model looks like that is the ``place``-th of its picture."""
    return STYLES[place % len(STYLES)]


def panels_for(ax: Any, n_panels: int, size: tuple[float, float], **arrangement: Any) -> list[Any]:
    """The axes that were given, if there are as many as needed, or those of a new figure."""
    if ax is None:
        figure = import_pyplot(OTHERWISE).figure(figsize=size, layout="constrained")
        return list(figure.subplots(squeeze=False, **arrangement).ravel())
    panels = list(np.ravel(np.asarray(ax, dtype=object)))
    wrong = [panel for panel in panels if not hasattr(panel, "get_window_extent")]
    if wrong:
        raise TypeError(f"ax={wrong[0]!r} is no axes of matplotlib; give what pyplot.subplots returns second, or None.")
    if len(panels) != n_panels:
        raise ValueError(f"The picture has {n_panels} panels and ax {len(panels)}; give one axes for each, or None.")
    return panels


def like_subplots(panels: list[Any]) -> Any:
    """Axes as pyplot.subplots has them: one alone, several as an array."""
    return panels[0] if len(panels) == 1 else np.array(panels, dtype=object)


def settle(panel: Any) -> None:
    """Let the layout of the figure, if it has one, find the room that its text leaves."""
    figure = panel.get_figure().figure  # of a figure within a figure the outer one
    if figure.get_layout_engine() is not None:
        figure.draw_without_rendering()


def room_of(panel: Any) -> tuple[float, float]:
    """Width and height of axes in points, as they are now."""
    extent, dpi = panel.get_window_extent(), panel.get_figure().dpi
    return 72 * extent.width / dpi, 72 * extent.height / dpi


def legend_below(panel: Any, artists: list[Any], names: list[str], gap: float) -> None:
    """A legend so many points below the axes, with names as they are: no formulas, no name that is left out."""
    from matplotlib.transforms import ScaledTranslation

    width = room_of(panel)[0]
    longest = max(len(name) for name in names) * LETTER * LEGEND_FONT + HANDLE
    legend = panel.legend(
        artists,
        [str(place) for place in range(len(names))],
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
    """Points that the lines of a text take below an axis."""
    return (text.count("\n") + 1) * LINE_HEIGHT * LARGEST_FONT
