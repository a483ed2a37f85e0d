"""Axes. In: the numbers that one has to hold. Out: places from 0 to 100 for them, and ticks."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from comboost.displays._labels import round_numbers
from comboost.displays._training_curve import LOG_FROM

N_STEPS = 5  # about so many between ticks
ROOM_ABOVE = 1.1  # on a logarithmic axis
PLACE_DECIMALS = 2  # of a place, a fraction of a pixel
NO_SPAN = 1e-300  # floats have no round steps within less


@dataclass(frozen=True)
class AxisTick:
    """A number at an axis."""

    place: float
    text: str


@dataclass(frozen=True)
class Axis:
    """An axis from ``low`` at place 0 to ``high`` at place 100."""

    low: float
    high: float
    logarithmic: bool = False

    def place(self, value: float) -> float:
        """Where a number stands; one beyond an end stands at that end."""
        inside = min(max(value, self.low), self.high)
        low, high, inside = (math.log(each) if self.logarithmic else each for each in (self.low, self.high, inside))
        return round(100 * (inside - low) / (high - low), PLACE_DECIMALS)

    def numbers(self) -> list[float]:
        """A few round numbers within the axis."""
        if self.logarithmic:
            return round_numbers(self.low, self.high)
        step = round_step(self.low, self.high)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [number * step for number in range(first, last + 1)]

    def ticks(self, write: Callable[[float], str]) -> list[AxisTick]:
        """The round numbers in their places."""
        return [AxisTick(self.place(number), write(number)) for number in self.numbers()]


SHARES = Axis(0.0, 1.0)


def round_step(low: float, high: float) -> float:
    """1, 2 or 5 times a power of ten, so that about `N_STEPS` go from low to high."""
    wanted = (high - low) / N_STEPS
    power = float(f"1e{math.floor(math.log10(wanted))}")
    return min((digit * power for digit in (1, 2, 5, 10)), key=lambda step: abs(math.log(step / wanted)))


def value_axis(values: Iterable[float]) -> Axis:
    """An axis for values: logarithmic if they are positive and far apart, from zero to a round number if not."""
    given = list(values)
    smallest, largest = min(given), max(given)
    if smallest > 0 and largest > LOG_FROM * smallest:
        return Axis(smallest / ROOM_ABOVE, largest * ROOM_ABOVE, logarithmic=True)
    low, high = min(smallest, 0.0), max(largest, 0.0)
    if high - low < NO_SPAN:
        return SHARES
    step = round_step(low, high)
    return Axis(step * math.floor(low / step), step * math.ceil(high / step))


def round_axis(rounds: list[int]) -> Axis:
    """An axis for the rounds of training, with whole numbers at its ticks if it has several."""
    first, last = rounds[0], rounds[-1]
    return Axis(first, last) if first < last else Axis(first - 1, first + 1)
