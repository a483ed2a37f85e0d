"""Charts: positions of points, lines and ticks in percent of an axis, which the templates draw as SVG."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from comboost.displays._layout import LOG_FROM, round_numbers
from comboost.report._render.text import brief_names, fraction, number, visible

MAX_CHART_CLASSES = 60
MAX_LABEL = 40  # characters of a class
N_STEPS = 5  # between ticks, approximately
LOG_MARGIN = 1.1  # of a logarithmic axis
DECIMALS = 2  # of a position, a fraction of a pixel
MIN_SPAN = 1e-300  # floats have no round steps within less
Entry = Mapping[str, Any]


# Axes


@dataclass(frozen=True)
class Tick:
    """A number at an axis."""

    position: float
    text: str


@dataclass(frozen=True)
class Axis:
    """An axis from ``low`` at position 0 to ``high`` at position 100."""

    low: float
    high: float
    logarithmic: bool = False

    def position(self, value: float) -> float:
        """Position of a number; numbers beyond an end are moved to it."""
        inside = min(max(value, self.low), self.high)
        low, high, inside = (math.log(each) if self.logarithmic else each for each in (self.low, self.high, inside))
        return round(100 * (inside - low) / (high - low), DECIMALS)

    def numbers(self) -> list[float]:
        """A few round numbers within the axis."""
        if self.logarithmic:
            return round_numbers(self.low, self.high)
        step = round_step(self.low, self.high)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [multiple * step for multiple in range(first, last + 1)]

    def ticks(self, write: Callable[[float], str]) -> list[Tick]:
        """The round numbers at their positions."""
        return [Tick(self.position(each), write(each)) for each in self.numbers()]


UNIT_AXIS = Axis(0.0, 1.0)


def round_step(low: float, high: float) -> float:
    """1, 2 or 5 times a power of ten, so that about `N_STEPS` steps cover the axis."""
    wanted = (high - low) / N_STEPS
    power = float(f"1e{math.floor(math.log10(wanted))}")
    return min((digit * power for digit in (1, 2, 5, 10)), key=lambda step: abs(math.log(step / wanted)))


def value_axis(values: Iterable[float]) -> Axis:
    """A logarithmic axis for positive values of a wide range, else one from zero to a round number."""
    given = list(values)
    smallest, largest = min(given), max(given)
    if smallest > 0 and largest > LOG_FROM * smallest:
        return Axis(smallest / LOG_MARGIN, largest * LOG_MARGIN, logarithmic=True)
    low, high = min(smallest, 0.0), max(largest, 0.0)
    if high - low < MIN_SPAN:
        return UNIT_AXIS
    step = round_step(low, high)
    return Axis(step * math.floor(low / step), step * math.ceil(high / step))


def round_axis(rounds: list[int]) -> Axis:
    """An axis for boosting rounds."""
    first, last = rounds[0], rounds[-1]
    return Axis(first, last) if first < last else Axis(first - 1, first + 1)


def from_top(position: float) -> float:
    """A position counted from the top, as SVG does."""
    return round(100 - position, DECIMALS)


# Recalls


def position(fraction: float) -> float:
    """Position of a fraction on an axis from 0 to 1."""
    return UNIT_AXIS.position(fraction)


def recall_chart(classes: Sequence[Entry]) -> dict[str, Any]:
    """The classes to draw with their names, those with the lowest recalls if there are too many."""
    lowest = sorted(range(len(classes)), key=lambda k: recall_key(classes[k]))[:MAX_CHART_CLASSES]
    names = brief_names((each["name"] for each in classes), MAX_LABEL)
    return {
        "rows": [(names[k], classes[k]) for k in sorted(lowest)],
        "ticks": UNIT_AXIS.ticks(fraction),
        "n_left_out": len(classes) - len(lowest),
        "alternative": recall_alternative(classes),
    }


def recall_key(entry: Entry) -> float:
    """Sort key: the model's recall, unknown ones last."""
    recall = entry["models"][0]["recall"]
    return 2.0 if recall is None else float(recall)


def recall_alternative(classes: Sequence[Entry]) -> str:
    """The chart of recalls in words."""
    known = [each for each in classes if each["models"][0]["recall"] is not None]
    if not known:
        return "Recall per class: no class has samples."
    ends = [f"{fraction(recall_key(each))} ({visible(each['name'])})" for each in sorted(known, key=recall_key)]
    return (
        f"Recall per class with intervals, {len(classes)} classes. Recalls of the model range from {ends[0]} to "
        f"{ends[-1]}. The table after this chart has all values."
    )


# Training curves


def line_charts(curves: Entry) -> list[dict[str, Any]]:
    """A chart of the losses and one of the norms."""
    norms = [each for each in curves["series"] if each["key"].startswith("norm")]
    losses = [each for each in curves["series"] if not each["key"].startswith("norm")]
    titled = {"Training loss and its certified bound": losses, "‖C‖, the norm of the confusion matrix": norms}
    return [
        line_chart(title, curves, series)
        for title, series in titled.items()
        if any(value is not None for each in series for value in each["values"])
    ]


def line_chart(title: str, curves: Entry, series: Sequence[Entry]) -> dict[str, Any]:
    """One chart of several curves over the same rounds."""
    rounds, best = curves["rounds"], curves["best_round"]
    across = round_axis(rounds)
    down = value_axis(value for each in series for value in each["values"] if value is not None)
    ends = [
        f"{each['name']} goes from {number(known[0])} to {number(known[-1])}"
        for each in series
        if (known := known_values(each))
    ]
    return {
        "title": title,
        "lines": [
            {
                "name": each["name"],
                "path": path_of(each["values"], rounds, across, down),
                "last": next(reversed(known_values(each)), None),
            }
            for each in series
        ],
        "rounds": [tick for tick in across.ticks("{:g}".format) if "." not in tick.text],
        "ticks": [Tick(from_top(tick.position), tick.text) for tick in down.ticks("{:g}".format)],
        "logarithmic": down.logarithmic,
        "best": None if best is None else Tick(across.position(best), f"best round: {best}"),
        "alternative": f"{title}. From round {rounds[0]} to round {rounds[-1]}, {'; '.join(ends)}. "
        "A table follows this chart.",
    }


def path_of(values: Sequence[float | None], rounds: Sequence[int], across: Axis, down: Axis) -> str:
    """A curve as an SVG path, with gaps at unknown values and a dot for an isolated one."""
    path = ""
    for i, (at, value) in enumerate(zip(rounds, values, strict=True)):
        if value is None:
            continue
        begins = i == 0 or values[i - 1] is None
        ends = i + 1 == len(values) or values[i + 1] is None
        path += f"{'M' if begins else 'L'}{across.position(at):g} {from_top(down.position(value)):g}"
        path += "h0" if begins and ends else ""
    return path


def known_values(curve: Entry) -> list[float]:
    """The values of a curve without unknown ones."""
    return [value for value in curve["values"] if value is not None]


# Calibration


def calibration_chart(calibration: Sequence[Entry], models: Sequence[str]) -> dict[str, Any]:
    """The models with probabilities and their indices."""
    errors = "; ".join(
        f"calibration error of {each['model']}: {number(each['calibration_error'])}" for each in calibration
    )
    return {
        "series": [(models.index(each["model"]), each) for each in calibration],
        "ticks": UNIT_AXIS.ticks(fraction),
        "alternative": f"Accuracy against confidence; {errors}. A table follows this chart.",
    }
