"""Dates, times and durations of Python, NumPy and pandas, as categories and as numbers.

As categories, times that differ by nanoseconds stay distinct, and equal times stay equal whatever their unit. Python
counts in microseconds, and NumPy converts finer units to integers, so both need care.

As numbers, they are seconds: dates and times since the start of 1970 in UTC (times without a zone are in UTC), times
of day since midnight. A float64 resolves current times to a quarter of a microsecond. The conversion is monotonic, and
equal times have equal numbers whatever their unit.
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
NOT_A_TIME = np.iinfo(np.int64).min  # the integer value of NaT
FINER_THAN_PYTHON = ("ns", "ps", "fs", "as")
NUMPY_TIMES = (np.datetime64, np.timedelta64)
TIMES = (*NUMPY_TIMES, datetime.datetime, datetime.timedelta)  # those of pandas are subclasses of Python's


def has_zone(value: Any) -> bool:
    """Whether a time has a time zone, which NumPy does not support."""
    return getattr(value, "tzinfo", None) is not None


def numpy_time(value: Any) -> Any:
    """Convert a time without a zone, a date or a duration to NumPy's type, in its own unit."""
    if isinstance(value, NUMPY_TIMES):
        return value
    if hasattr(value, "to_numpy"):  # pandas counts in nanoseconds
        return value.to_numpy()
    return np.timedelta64(value) if isinstance(value, datetime.timedelta) else np.datetime64(value)


def ticks_of(value: Any) -> int:
    """Attoseconds of a NumPy time since the start of 1970, or of a duration."""
    unit, step = np.datetime_data(value.dtype)
    if value.dtype.kind == "M" and unit in ("Y", "M"):
        return ticks_of(value.astype("M8[D]"))
    if unit not in TICKS:
        raise ValueError(f"{value!r} has a unit without a fixed length; convert it to days or a finer unit.")
    return int(value.astype(np.int64)) * step * TICKS[unit]


def plain_time(value: Any) -> Any:
    """Convert a time to Python's type if this is exact, else to NumPy's in the coarsest exact unit; None for NaT."""
    if not isinstance(value, NUMPY_TIMES):
        if has_zone(value) or not hasattr(value, "to_numpy"):
            return value
        value = value.to_numpy()
    if np.isnat(value):
        return None
    if np.datetime_data(value.dtype)[0] in FINER_THAN_PYTHON:
        units = (f"{value.dtype.kind}8[{unit}]" for unit in ("us", *FINER_THAN_PYTHON))
        value = next(coarse for unit in units if (coarse := value.astype(unit)).astype(value.dtype) == value)
    plain = value.item()
    return value if isinstance(plain, int) else plain  # an int if Python cannot represent the time


def order_of(value: Any) -> Any:
    """Sort key of values that include NumPy times, which do not compare with Python's."""
    return ticks_of(numpy_time(value)) if isinstance(value, TIMES) and not has_zone(value) else value


def seconds_of_ticks(ticks: NDArray[np.int64], unit: str) -> Floats:
    """Convert counts of a NumPy unit to seconds; NaN for NaT."""
    if unit not in TICKS:
        raise ValueError(f"the unit {unit!r} has no fixed length; convert the column to days or a finer unit.")
    if TICKS[unit] >= SECOND:
        seconds: Floats = ticks.astype(np.float64) * (TICKS[unit] // SECOND)
    else:
        # Whole seconds and the fraction are converted separately: nanoseconds as one float would lose microseconds.
        per_second = SECOND // TICKS[unit]
        whole, rest = np.divmod(np.abs(ticks), per_second)
        seconds = np.copysign(whole + rest / per_second, ticks)
    seconds[ticks == NOT_A_TIME] = np.nan
    return seconds


def seconds_of_array(times: NDArray[Any]) -> Floats:
    """Convert an array of NumPy times or durations to seconds; NaN for NaT."""
    kind, (unit, _) = times.dtype.kind, np.datetime_data(times.dtype)
    if kind == "M" and unit in ("Y", "M", "generic"):
        unit = "D"
    if unit in TICKS:
        times = times.astype(f"{kind}8[{unit}]")  # a step may be several units
    return seconds_of_ticks(times.astype(np.int64), unit)


def seconds_of(value: Any) -> float:
    """Convert a date, time, time of day or duration to seconds."""
    if isinstance(value, datetime.time):
        value = datetime.timedelta(
            hours=value.hour, minutes=value.minute, seconds=value.second, microseconds=value.microsecond
        )
    elif has_zone(value):
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    ticks = ticks_of(numpy_time(value))
    whole, rest = divmod(abs(ticks), SECOND)
    return math.copysign(whole + rest / SECOND, ticks)
