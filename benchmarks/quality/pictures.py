"""The curves as pictures. In: the stored curves of a problem. Out: an SVG file, the same bytes for the same curves."""

from pathlib import Path
from typing import Any

from benchmarks.quality.iterative import ITERATIVE, CoMBo
from benchmarks.quality.measures import LOG_LOSS, NORM, Measure
from benchmarks.quality.reaching import OURS, Race

SIZE = (11, 4.2)  # inches
HEADROOM = 2.5  # times the best value, above which nothing is shown: the first rounds of some are far off
MARGIN = 0.05
DRAWN = (LOG_LOSS, NORM)
# Grey enough to tell apart without colour: shade, dashes and markers all differ.
STYLES: dict[str, dict[str, Any]] = {
    OURS: {"color": "black", "linewidth": 3.2, "zorder": 10},
    CoMBo.name: {"color": "black", "linewidth": 1.4, "linestyle": (0, (1, 1.5)), "marker": "o"},
    "LightGBM": {"color": "#08519c", "linestyle": "-", "marker": "s"},
    "LightGBM quantised": {"color": "#6baed6", "linestyle": "--", "marker": "s"},
    "XGBoost": {"color": "#a63603", "linestyle": "-", "marker": "^"},
    "XGBoost multi-output": {"color": "#fd8d3c", "linestyle": "--", "marker": "^"},
    "CatBoost": {"color": "#54278f", "linestyle": "-.", "marker": "D"},
    "HistGradientBoosting": {"color": "#238b45", "linestyle": "-", "marker": "v"},
    "BalancedRandomForest": {"color": "#969696", "linestyle": ":", "marker": "x"},
}
PLAIN = {"linewidth": 1.1, "markersize": 3.5, "markevery": 3}


def draw(problem: str, race: Race, path: Path) -> None:
    """Measures against seconds of training, every method a line."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": problem, "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(SIZE, layout="constrained")
        panels = figure.subplots(1, len(DRAWN))
        for panel, measure in zip(panels, DRAWN, strict=True):
            draw_panel(panel, race, measure)
        figure.suptitle(problem)
        lines, names = panels[0].get_legend_handles_labels()
        figure.legend(lines, names, loc="outside right center", frameon=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None})


def draw_panel(panel: Any, race: Race, measure: Measure) -> None:
    """One measure."""
    for method in ITERATIVE:
        if method.name in race:
            entry = race[method.name]
            style = PLAIN | STYLES[method.name]
            panel.plot(entry["seconds"], entry["figures"][measure.key], label=method.name, **style)
    panel.set_ylim(*limits_of([value for entry in race.values() for value in entry["figures"][measure.key]]))
    panel.set_xscale("log")
    panel.set_xlabel("seconds of training")
    panel.set_title(f"{measure.title} on held-out rows", fontsize=9)
    panel.grid(visible=True, which="major", linewidth=0.3)


def limits_of(values: list[float]) -> tuple[float, float]:
    """What is shown of values of which the lowest is the best."""
    lowest, highest = min(values), max(values)
    top = min(highest, HEADROOM * lowest) if lowest > 0 else highest
    return lowest - MARGIN * (top - lowest), top + MARGIN * (top - lowest)
