"""Charts as places. In: the parts of a summary. Out: where dots, lines and ticks stand, 0 to 100, and what they say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from comboost.report._axes import SHARES, Axis, AxisTick, round_axis, value_axis
from comboost.report._lettering import brief_names, figure, share, visible

MAX_CHART_CLASSES = 60  # more dots than that are no picture
LABEL_LENGTH = 40  # characters of a class beside its dots
Figures = Mapping[str, Any]


@dataclass(frozen=True)
class Mark:
    """A figure and its interval on one axis."""

    place: float
    low: float
    high: float


@dataclass(frozen=True)
class RecallRow:
    """A class: its marks, one per model, None where there is no recall."""

    name: str
    n_rows: int
    marks: list[Mark | None]


@dataclass(frozen=True)
class RecallChart:
    """What is found of every class, the worst found ones first if there are too many for a picture."""

    rows: list[RecallRow]
    ticks: list[AxisTick]
    n_left_out: int
    alternative: str


@dataclass(frozen=True)
class Line:
    """A curve, as the path of an SVG whose places grow downwards."""

    name: str
    path: str
    last: str


@dataclass(frozen=True)
class LineChart:
    """Curves over the rounds of training."""

    title: str
    lines: list[Line]
    rounds: list[AxisTick]
    values: list[AxisTick]
    logarithmic: bool
    best: AxisTick | None
    alternative: str


@dataclass(frozen=True)
class Dot:
    """How sure a model was, and how often it was right, with an interval; places grow downwards."""

    across: float
    down: float
    low: float
    high: float


@dataclass(frozen=True)
class DotSeries:
    """The dots of a model, and its place among the models."""

    name: str
    place: int
    dots: list[Dot]
    error: str


@dataclass(frozen=True)
class CalibrationChart:
    """Dots of every model; right is who lies on the diagonal."""

    series: list[DotSeries]
    ticks: list[AxisTick]
    alternative: str


def upside_down(place: float) -> float:
    """A place counted from above, as pictures count."""
    return round(100 - place, 2)


def mark_of(figures: Figures, key: str, scale: Axis) -> Mark | None:
    """A figure and its interval, None if it is not known."""
    value = figures[key]
    if value is None:
        return None
    low, high = (value if figures[end] is None else figures[end] for end in ("low", "high"))
    return Mark(scale.place(value), scale.place(low), scale.place(high))


def recall_chart(classes: Sequence[Figures]) -> RecallChart:
    """Dots and intervals of all classes, or of those that the model finds least."""
    shown = sorted(range(len(classes)), key=lambda place: least_found(classes[place]))[:MAX_CHART_CLASSES]
    names = brief_names((each["name"] for each in classes), LABEL_LENGTH)
    rows = [
        RecallRow(
            names[place],
            classes[place]["rows"],
            [mark_of(figures, "recall", SHARES) for figures in classes[place]["models"]],
        )
        for place in sorted(shown)
    ]
    ticks = SHARES.ticks(share)
    return RecallChart(rows, ticks, len(classes) - len(rows), recall_sentence(classes))


def least_found(figures: Figures) -> float:
    """A key that puts the classes first of which the model finds least, and last those without a recall."""
    recall = figures["models"][0]["recall"]
    return 2.0 if recall is None else float(recall)


def recall_sentence(classes: Sequence[Figures]) -> str:
    """What the chart of recalls shows, in words."""
    known = [each for each in classes if each["models"][0]["recall"] is not None]
    if not known:
        return "Recall per class: no class has rows."
    worst, best = min(known, key=least_found), max(known, key=least_found)
    ends = [f"{share(each['models'][0]['recall'])} of {visible(each['name'])}" for each in (worst, best)]
    return (
        f"Recall per class with intervals, {len(classes)} classes. The model finds between {ends[0]} and {ends[1]}. "
        "The table after this chart has all figures."
    )


def line_charts(curves: Figures) -> list[LineChart]:
    """What training makes small, and the norms that come of it, each on an axis of its own."""
    norms = [each for each in curves["series"] if each["key"].startswith("norm")]
    losses = [each for each in curves["series"] if not each["key"].startswith("norm")]
    titled = {"What training makes small": losses, "What comes of it: ‖C‖, the norm of the confusion matrix": norms}
    return [
        line_chart(title, curves, series)
        for title, series in titled.items()
        if any(value is not None for each in series for value in each["values"])
    ]


def line_chart(title: str, curves: Figures, series: Sequence[Figures]) -> LineChart:
    """One chart of several curves over the same rounds."""
    across = round_axis(curves["rounds"])
    down = value_axis(value for each in series for value in each["values"] if value is not None)
    best = curves["best_round"]
    return LineChart(
        title,
        [line_of(each, curves["rounds"], across, down) for each in series],
        [tick for tick in across.ticks("{:g}".format) if "." not in tick.text],
        [AxisTick(upside_down(tick.place), tick.text) for tick in down.ticks("{:g}".format)],
        down.logarithmic,
        None if best is None else AxisTick(across.place(best), f"best round: {best}"),
        line_sentence(title, curves["rounds"], series),
    )


def line_of(curve: Figures, rounds: Sequence[int], across: Axis, down: Axis) -> Line:
    """A curve as a path, which has gaps where nothing is known, and a dot where a value stands alone."""
    path, values = "", curve["values"]
    for place, (number, value) in enumerate(zip(rounds, values, strict=True)):
        if value is None:
            continue
        begins = place == 0 or values[place - 1] is None
        ends = place + 1 == len(values) or values[place + 1] is None
        path += f"{'M' if begins else 'L'}{across.place(number):g} {upside_down(down.place(value)):g}"
        path += "h0" if begins and ends else ""
    return Line(curve["name"], path, figure(known_values(curve)[-1] if known_values(curve) else None))


def known_values(curve: Figures) -> list[float]:
    """The values of a curve that are there."""
    return [value for value in curve["values"] if value is not None]


def line_sentence(title: str, rounds: Sequence[int], series: Sequence[Figures]) -> str:
    """What a chart of curves shows, in words."""
    ends = [
        f"{each['name']} goes from {figure(known_values(each)[0])} to {figure(known_values(each)[-1])}"
        for each in series
        if known_values(each)
    ]
    return f"{title}. From round {rounds[0]} to round {rounds[-1]}, {'; '.join(ends)}. A table follows this chart."


def calibration_chart(calibration: Sequence[Figures], models: Sequence[str]) -> CalibrationChart:
    """How sure every model is against how often it is right; those without probabilities have no part in it."""
    series = [
        DotSeries(
            each["model"],
            models.index(each["model"]),
            dots_of(each["bins"]),
            figure(each["error"]),
        )
        for each in calibration
    ]
    sentences = [f"{each.name} is {each.error} off on average" for each in series]
    alternative = f"Confidence against the share that is right: {'; '.join(sentences)}. A table follows this chart."
    return CalibrationChart(series, SHARES.ticks(share), alternative)


def dots_of(bins: Sequence[Figures]) -> list[Dot]:
    """Bins of confidences as dots, those without rows left out."""
    marks = [(each["predicted"], mark_of(each, "right", SHARES)) for each in bins]
    return [
        Dot(SHARES.place(predicted), *(upside_down(end) for end in (mark.place, mark.low, mark.high)))
        for predicted, mark in marks
        if mark is not None
    ]
