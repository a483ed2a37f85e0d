"""Dates, times and durations. In: those of Python, NumPy and pandas. Out: integers, plain objects, or seconds.

Python counts in microseconds and NumPy turns anything finer into bare numbers, so times that differ by nanoseconds
would become one. As categories they stay apart, and equal ones stay equal whatever their unit is.

As numbers they are seconds: of a date or time those since the start of 1970, UTC, which is also the zone of times
without one; of a time of day those since midnight. A float64 tells times of today apart to a quarter of a
microsecond, no earlier time has a larger number, and equal ones have the same, whatever their unit is.
"""

import datetime
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comboost._types import Floats

SECOND = 10**18  # in attoseconds, NumPy's finest unit
TICKS = {"W": 604_800 * SECOND, "D": 86_400 * SECOND, "h": 3600 * SECOND, "m": 60 * SECOND, "s": SECOND}
TICKS |= {"ms": 10**15, "us": 10**12, "ns": 10**9, "ps": 10**6, "fs": 10**3, "as": 1}
NOT_A_TIME = np.iinfo(np.int64).min  # NumPy's NaT, as an integer
FINER_THAN_PYTHON = ("ns", "ps", "fs", "as")
NUMPY_TIMES = (np.datetime64, np.timedelta64)
TIMES = (*NUMPY_TIMES, datetime.datetime, datetime.timedelta)  # those of pandas are kinds of Python's


def has_zone(value: Any) -> bool:
    """Whether a time belongs to a time zone, which NumPy knows nothing of."""
    return getattr(value, "tzinfo", None) is not None


def numpy_time(value: Any) -> Any:
    """A time without a zone, a date or a duration as NumPy's, in the unit that it has."""
    if isinstance(value, NUMPY_TIMES):
        return value
    if hasattr(value, "to_numpy"):  # pandas counts in nanoseconds
        return value.to_numpy()
    return np.timedelta64(value) if isinstance(value, datetime.timedelta) else np.datetime64(value)


def ticks_of(value: Any) -> int:
    """How many attoseconds a time of NumPy is after the start of 1970, or a duration lasts."""
    unit, step = np.datetime_data(value.dtype)
    if value.dtype.kind == "M" and unit in ("Y", "M"):
        return ticks_of(value.astype("M8[D]"))
    if unit not in TICKS:
        raise ValueError(f"{value!r} is in a unit of no fixed length; convert it to days or a finer unit.")
    return int(value.astype(np.int64)) * step * TICKS[unit]


def plain_time(value: Any) -> Any:
    """A time or duration as Python's, if that loses nothing; else NumPy's, in the coarsest such unit; None for NaT."""
    if not isinstance(value, NUMPY_TIMES):
        if has_zone(value) or not hasattr(value, "to_numpy"):
            return value
        value = value.to_numpy()
    if np.isnat(value):
        return None
    if np.datetime_data(value.dtype)[0] in FINER_THAN_PYTHON:
        value = coarsened(value)
    plain = value.item()
    return value if isinstance(plain, int) else plain  # a number: Python has no such time


def coarsened(value: Any) -> Any:
    """A time in the coarsest unit from microseconds on that loses nothing."""
    units = (f"{value.dtype.kind}8[{unit}]" for unit in ("us", *FINER_THAN_PYTHON))
    return next(coarse for unit in units if (coarse := value.astype(unit)).astype(value.dtype) == value)


def order_of(value: Any) -> Any:
    """By what to sort values among which there are times of NumPy: these do not compare with Python's."""
    return ticks_of(numpy_time(value)) if isinstance(value, TIMES) and not has_zone(value) else value


def seconds_of_ticks(ticks: NDArray[np.int64], unit: str) -> Floats:
    """Integers that count units of NumPy's as seconds; NaN for NaT."""
    if unit not in TICKS:
        raise ValueError(f"the unit {unit!r} has no fixed length; convert the column to days or a finer unit.")
    if TICKS[unit] >= SECOND:
        seconds: Floats = ticks.astype(np.float64) * (TICKS[unit] // SECOND)
    else:
        # Rounded as a fraction of a second: integers of nanoseconds as floats would lose what microseconds have.
        per_second = SECOND // TICKS[unit]
        whole, rest = np.divmod(np.abs(ticks), per_second)
        seconds = np.copysign(whole + rest / per_second, ticks)
    seconds[ticks == NOT_A_TIME] = np.nan
    return seconds


def seconds_of_array(times: NDArray[Any]) -> Floats:
    """Dates, times or durations of NumPy's as seconds; NaN for NaT."""
    kind, (unit, _) = times.dtype.kind, np.datetime_data(times.dtype)
    if kind == "M" and unit in ("Y", "M", "generic"):
        unit = "D"
    if unit in TICKS:
        times = times.astype(f"{kind}8[{unit}]")  # a unit may be several of them
    return seconds_of_ticks(times.astype(np.int64), unit)


def seconds_of(value: Any) -> float:
    """A date, time, time of day or duration as seconds."""
    if isinstance(value, datetime.time):
        value = datetime.timedelta(
            hours=value.hour, minutes=value.minute, seconds=value.second, microseconds=value.microsecond
        )
    elif has_zone(value):
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    ticks = ticks_of(numpy_time(value))
    whole, rest = divmod(abs(ticks), SECOND)
    return math.copysign(whole + rest / SECOND, ticks)
