"""Dates, times and durations are numbers: seconds, the same in any container and unit, in the order of time."""

import datetime
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models import model_bytes
from sklearn.base import BaseEstimator

from comboost import CoMBoClassifier
from comboost._data.categories import Categories
from comboost._data.dates import NOT_A_TIME, seconds_of_ticks
from comboost._data.validation import read_table

PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
TICKS = st.integers(-(2**63) + 1, 2**63 - 1)
NEAR = st.integers(-3, 3)


def seconds(X):
    return read_table(BaseEstimator(), X, reset=True).encode(Categories()).columns(0, 1)[:, 0]


def objects(values):
    array = np.empty((len(values), 1), dtype=object)
    array[:, 0] = values
    return array


# As integers


@given(ticks=st.lists(TICKS, min_size=1), unit=st.sampled_from([*PER_SECOND, "ps", "fs", "as"]))
def test_seconds_are_right_to_the_last_bit_but_one(ticks, unit):
    per_second = PER_SECOND.get(unit) or {"ps": 10**12, "fs": 10**15, "as": 10**18}[unit]
    for tick, second in zip(ticks, seconds_of_ticks(np.array(ticks), unit).tolist(), strict=True):
        assert abs(Fraction(second) - Fraction(tick, per_second)) <= Fraction(np.spacing(abs(second)))


@given(start=TICKS, steps=st.lists(st.integers(0, 2000), min_size=1), unit=st.sampled_from(list(PER_SECOND)))
def test_no_later_time_has_a_smaller_number(start, steps, unit):
    ticks = np.array([min(start + step, 2**63 - 1) for step in sorted(steps)])
    assert (np.diff(seconds_of_ticks(ticks, unit)) >= 0).all()


@given(moment=st.integers(-(2**33), 2**33), rest=st.integers(0, 10**6 - 1))
def test_times_a_microsecond_apart_have_different_numbers_for_centuries(moment, rest):
    ticks = np.array([moment * 10**6 + rest, moment * 10**6 + rest + 1])
    assert np.diff(seconds_of_ticks(ticks, "us")) > 0


@given(
    ticks=st.lists(st.integers(-(2**63 // 10**9), 2**63 // 10**9 - 1), min_size=1),
    unit=st.sampled_from(["s", "ms", "us"]),
)
def test_the_same_time_has_the_same_number_in_any_unit(ticks, unit):
    coarse = np.array(ticks) if unit == "s" else np.array(ticks) * PER_SECOND[unit] + 1
    fine = coarse * (10**9 // PER_SECOND[unit])
    np.testing.assert_array_equal(seconds_of_ticks(coarse, unit), seconds_of_ticks(fine, "ns"))


# In containers


def numpy_times(ticks, unit, kind):
    missing = np.iinfo(np.int64).min
    return np.array([missing if tick is None else tick for tick in ticks]).view(f"{kind}8[{unit}]")


def pandas_times(ticks, unit, kind):
    return pd.DataFrame({"t": numpy_times(ticks, unit, kind)})


def zoned(ticks, unit, kind):
    frame = pandas_times(ticks, unit, kind)
    return frame.assign(t=frame["t"].dt.tz_localize("UTC").dt.tz_convert("Asia/Kolkata")) if kind == "M" else frame


def arrow_times(ticks, unit, kind, zone=None):
    return pa.array(ticks, pa.timestamp(unit, zone) if kind == "M" else pa.duration(unit))


def polars_times(ticks, unit, kind, zone=None):
    unit = "us" if unit == "s" else unit
    ticks = [None if tick is None else tick * 10**6 for tick in ticks] if unit == "us" else ticks
    return pl.DataFrame({"t": pl.Series(ticks, dtype=pl.Datetime(unit, zone) if kind == "M" else pl.Duration(unit))})


CONTAINERS = {
    "array": lambda *given: numpy_times(*given)[:, np.newaxis],
    "array of another byte order": lambda *given: numpy_times(*given).astype(f">{given[2]}8[{given[1]}]")[
        :, np.newaxis
    ],
    "objects of NumPy": lambda *given: objects(list(numpy_times(*given))),
    "objects of pandas": lambda *given: objects(list(pandas_times(*given)["t"])),
    "pandas": pandas_times,
    "pandas with a zone": zoned,
    "pandas Arrow": lambda *given: pd.DataFrame({"t": pd.Series(pd.arrays.ArrowExtensionArray(arrow_times(*given)))}),
    "pandas category": lambda *given: pandas_times(*given).astype("category"),
    "polars": polars_times,
    "polars with a zone": lambda *given: polars_times(*given, "Europe/Paris"),
    "pyarrow": lambda *given: pa.table({"t": arrow_times(*given)}),
    "pyarrow with a zone": lambda *given: pa.table({"t": arrow_times(*given, "America/Lima")}),
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("kind", ["M", "m"], ids=["times", "durations"])
@settings(max_examples=12)
@given(
    ticks=st.lists(st.integers(-(10**9), 2 * 10**9) | st.none(), min_size=1, max_size=9),
    unit=st.sampled_from(["s", "ns"]),
)
def test_times_have_the_same_numbers_in_any_container(container, kind, ticks, unit):
    exact = [np.nan if tick is None else Fraction(tick, PER_SECOND[unit]) for tick in ticks]
    expected = [float(int(time)) + float(time - int(time)) if time == time else time for time in exact]
    np.testing.assert_array_equal(seconds(CONTAINERS[container](ticks, unit, kind)), expected)


DAYS = [datetime.date(1970, 1, 3), None, datetime.date(1969, 12, 31)]
DATES = {
    "objects": objects(DAYS),
    "array": np.array([["1970-01-03"], ["NaT"], ["1969-12-31"]], dtype="M8[D]"),
    "array of weeks of days": np.array([[2], [NOT_A_TIME], [-1]]).view("M8[1D]"),
    "pandas objects": pd.DataFrame({"d": pd.Series(DAYS, dtype=object)}),
    "pandas Arrow": pd.DataFrame({"d": pd.Series(DAYS, dtype=pd.ArrowDtype(pa.date32()))}),
    "polars": pl.DataFrame({"d": DAYS}),
    "pyarrow": pa.table({"d": pa.array(DAYS, pa.date32())}),
    "pyarrow, 64 bits": pa.table({"d": pa.array(DAYS, pa.date64())}),
}


@pytest.mark.parametrize("container", DATES)
def test_dates_are_their_midnights(container):
    np.testing.assert_array_equal(seconds(DATES[container]), [2 * 86400, np.nan, -86400])


def test_months_and_years_are_their_first_days():
    assert seconds(np.array([["1970-02"], ["1971-01"]], dtype="M8[M]")).tolist() == [31 * 86400, 365 * 86400]
    assert seconds(np.array([["1971"]], dtype="M8[Y]")).tolist() == [365 * 86400]


CLOCK = [datetime.time(1, 0, 0, 250_000), None, datetime.time(0, 0, 2)]
CLOCKS = {
    "objects": objects(CLOCK),
    "pandas Arrow": pd.DataFrame({"t": pd.Series(CLOCK, dtype=pd.ArrowDtype(pa.time64("us")))}),
    "polars": pl.DataFrame({"t": CLOCK}),
    "pyarrow": pa.table({"t": pa.array(CLOCK, pa.time64("ns"))}),
    "pyarrow, 32 bits": pa.table({"t": pa.array(CLOCK, pa.time32("ms"))}),
}


@pytest.mark.parametrize("container", CLOCKS)
def test_times_of_day_count_from_midnight(container):
    np.testing.assert_array_equal(seconds(CLOCKS[container]), [3600.25, np.nan, 2])


# In models


def test_model_of_times_is_that_of_their_seconds_and_predicts_times_of_any_unit():
    random = np.random.default_rng(0)
    ticks = random.integers(0, 2 * 10**9, size=300) * 10**3 + 7
    y = (ticks > np.median(ticks)).astype(int) + (random.uniform(size=300) < 0.2)
    frame = pd.DataFrame({"t": ticks.view("M8[ms]")})
    model = CoMBoClassifier(n_estimators=5).fit(frame, y)
    number = CoMBoClassifier(n_estimators=5).fit(pd.DataFrame({"t": ticks // 1000 + ticks % 1000 / 1000}), y)
    assert model_bytes(model) == model_bytes(number)
    assert not model._categories.values
    expected = model.decision_function(frame)
    for X in (frame.astype("M8[ns]"), pl.DataFrame({"t": frame["t"].to_list()}), pa.table({"t": frame["t"].to_list()})):
        np.testing.assert_array_equal(model.decision_function(X), expected)


def test_times_are_categories_where_they_are_said_to_be():
    frame = pd.DataFrame({"t": np.array([1, 2, 3, 4], dtype="M8[s]")})
    model = CoMBoClassifier(n_estimators=1, categorical_features=["t"]).fit(frame, [0, 1, 0, 1])
    assert len(model._categories.values[0]) == 4


@pytest.mark.parametrize(
    ("values", "kinds"),
    [
        ([datetime.date(2020, 1, 1), 3.5], r"dates .*, numbers \(3.5\)"),
        ([datetime.timedelta(1), datetime.datetime(2020, 1, 1)], r"dates .*, durations "),
        ([datetime.time(1), datetime.timedelta(1)], r"durations .*, times of day "),
        ([datetime.date(2020, 1, 1), "2020-01-02"], r"dates .*, text \('2020-01-02'\)"),
    ],
)
def test_columns_of_several_kinds_of_times_are_refused(values, kinds):
    with pytest.raises(ValueError, match=f"column 0 of X mixes {kinds}.*give values of one kind"):
        CoMBoClassifier().fit(objects(values), [0, 1])
    with pytest.raises(ValueError, match=f"column 0 of X mixes {kinds}"):
        seconds(objects(values))


def test_durations_of_no_fixed_length_are_refused():
    with pytest.raises(ValueError, match=r"column 0 of X cannot be read as numbers: the unit 'M' .*convert"):
        seconds(np.array([[1]], dtype="m8[M]"))
    with pytest.raises(ValueError, match=r"column 0 of X cannot be read as numbers: the unit 'generic' .*convert"):
        seconds(np.array([[1]], dtype="m8"))
