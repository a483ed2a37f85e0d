"""Charts: everything stands within its frame, in the right order, and says what it shows."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from report.summaries import class_names, make_curves, make_summary

from comboost.report._render.charts import (
    MAX_CHART_CLASSES,
    line_charts,
    position,
    recall_chart,
    round_axis,
    value_axis,
)
from comboost.report._render.heatmaps import N_LEVELS, confusion_matrices, heat_level, sided_level
from comboost.report._render.page import render_page

VALUES = st.one_of(st.floats(-1e6, 1e6), st.floats(1e-9, 1e9))
FRACTION = st.floats(0, 1)


def numbers_in(path):
    return [float(number) for number in re.findall(r"-?[\d.]+(?:e-?\d+)?", path.replace("h0", ""))]


@example([5e-324])
@given(st.lists(VALUES, min_size=1, max_size=20))
def test_axis_holds_its_values_in_their_order(values):
    axis = value_axis(values)
    places = [axis.position(value) for value in sorted(values)]
    assert places == sorted(places)
    assert 0 <= places[0] <= places[-1] <= 100


@example([5e-324])
@given(st.lists(VALUES, min_size=1, max_size=20))
def test_ticks_are_few_and_ascend_within_the_axis(values):
    axis = value_axis(values)
    ticks = axis.numbers()
    assert 1 <= len(ticks) <= 12
    assert ticks == sorted(set(ticks))
    slack = 1e-6 * (axis.high - axis.low)
    assert axis.low - slack <= ticks[0] <= ticks[-1] <= axis.high + slack


@given(st.integers(1, 10_000), st.integers(0, 10_000))
def test_rounds_have_an_axis_however_many_there_are(first, more):
    axis = round_axis([*range(first, first + min(more, 2) + 1), first + more + 2][: more + 1])
    assert 0 <= axis.position(first) <= axis.position(first + more) <= 100


def test_values_that_are_far_apart_get_a_logarithmic_axis():
    assert value_axis([0.001, 1.0, 90.0]).logarithmic
    assert not value_axis([0.0, 1.0, 90.0]).logarithmic
    assert not value_axis([0.3, 0.9]).logarithmic


@given(FRACTION, st.floats(0.01, 1))
def test_colours_grow_with_the_fraction(value, top):
    levels = [int(heat_level(each, top)[1:] or 0) for each in (0.0, value / 2, value, top, 1.0)]
    assert levels == sorted(levels)
    assert levels[-1] == N_LEVELS


@given(st.floats(-1, 1))
def test_differences_are_painted_on_the_side_that_they_are_on(value):
    better, worse = sided_level(value, 1.0, good=True), sided_level(value, 1.0, good=False)
    assert (better[:1], worse[:1]) in [("b", "w"), ("", "")]
    assert better[1:] == worse[1:]


def drawn_marks(page, section, *attributes):
    """Positions of the intervals and marks of a section, in the order of the page."""
    part = page.split(f'<section id="{section}"')[1].split("</section>")[0]
    drawn = re.findall(r'<line class="i(\d)" ([^>]*)/><use href="#mark-(\d)" ([^>]*)/>', part.split("</ul>")[1])
    marks = []
    for line_model, line, mark_model, mark in drawn:
        assert line_model == mark_model
        values = dict(re.findall(r'(\w+)="([\d.]+)%"', line)), dict(re.findall(r'(\w+)="([\d.]+)%"', mark))
        marks.append((int(mark_model), *(float(values[which][name]) for which, name in attributes)))
    return marks


@pytest.mark.parametrize("baseline", [True, False])
@pytest.mark.parametrize("n_classes", [1, 2, 10])
def test_recalls_are_drawn_within_their_intervals(n_classes, baseline):
    summary = make_summary(class_names(n_classes), baseline=baseline)
    marks = drawn_marks(render_page(summary), "recalls", (0, "x1"), (1, "x"), (0, "x2"))
    entries = [(idx, each) for row in summary["classes"] for idx, each in enumerate(row["models"])]
    assert len(marks) == len(entries) == n_classes * (1 + baseline)
    for (model, low, recall, high), (idx, each) in zip(marks, entries, strict=True):
        assert 0 <= low <= recall <= high <= 100
        assert (model, recall) == (idx, position(each["recall"]))
        assert [low, high] == [position(bound) for bound in each["interval"]]


def test_chart_of_many_classes_shows_the_lowest_recalls():
    classes = make_summary(class_names(200))["classes"]
    chart = recall_chart(classes)
    assert (len(chart["rows"]), chart["n_left_out"]) == (MAX_CHART_CLASSES, 200 - MAX_CHART_CLASSES)
    lowest = sorted(each["models"][0]["recall"] for each in classes)[MAX_CHART_CLASSES - 1]
    assert max(row["models"][0]["recall"] for _, row in chart["rows"]) == lowest


def test_class_without_samples_has_no_mark():
    summary = make_summary(["a", "b"])
    summary["classes"][0]["models"][0] |= {"recall": None, "interval": None}
    marks = drawn_marks(render_page(summary), "recalls", (1, "x"))
    assert [model for model, _ in marks] == [1, 0, 1]


def test_curves_stand_within_their_frame_and_fall_where_values_do():
    charts = line_charts(make_curves())
    assert [chart["logarithmic"] for chart in charts] == [True, False]
    for chart in charts:
        for line in chart["lines"]:
            assert all(0 <= number <= 100 for number in numbers_in(line["path"]))
            downs = numbers_in(line["path"])[1::2]
            assert downs == sorted(downs)  # falling curves go down, which is where places grow


def test_curve_has_a_gap_where_nothing_is_known():
    curves = make_curves(5)
    curves["series"] = [{"key": "loss", "name": "Loss", "values": [1.0, None, 2.0, 3.0, None]}]
    (chart,) = line_charts(curves)
    assert re.sub(r"[\d. ]", "", chart["lines"][0]["path"]) == "MhML"


def test_curves_without_any_value_make_no_chart():
    curves = make_curves(2)
    for series in curves["series"]:
        series["values"] = [None, None]
    assert line_charts(curves) == []


def test_calibration_is_drawn_within_its_frame():
    summary = make_summary(["a", "b"])
    summary["calibration"] = summary["calibration"][1:]
    marks = drawn_marks(render_page(summary), "calibration", (0, "y2"), (1, "y"), (0, "y1"), (1, "x"), (0, "x1"))
    assert {model for model, *_ in marks} == {1}  # the mark is that of the baseline
    assert len(marks) == len(summary["calibration"][0]["bins"])
    for _, high, accuracy, low, across, across_line in marks:
        assert 0 <= high <= accuracy <= low <= 100
        assert 0 <= across == across_line <= 100


@pytest.mark.parametrize("rejects", [True, False])
def test_rows_of_a_matrix_are_complete(rejects):
    summary = make_summary(class_names(6), rejects=rejects)
    matrices = confusion_matrices(summary)
    assert matrices["subjects"] == ["model", "baseline", "difference"]
    for table in matrices["tables"]:
        for place, row in enumerate(table["rows"]):
            assert len(row.cells) == len(summary["predicted_labels"])
            assert int(row.n_samples.replace(",", "")) == summary["classes"][place]["n_samples"]
            assert row.cells[place].level.endswith("r")
    counts = next(table for table in matrices["tables"] if (table["subject"], table["unit"]) == ("model", "counts"))
    for place, row in enumerate(counts["rows"]):
        right = int(row.cells[place].text or 0)
        assert right + int(row.missed) == summary["classes"][place]["n_samples"]
