"""Cells, lines and missing-value markers, one by one."""

import pytest

from comboost.cli.input.arff import split_row, unquote
from comboost.cli.input.cells import MissingMarkers, is_number
from comboost.cli.input.delimited import find_delimiter
from comboost.cli.input.memory import plan_of_text


@pytest.mark.parametrize(("text", "expected"), [("1.234,5", True), ("0,25", True), ("1.25", False)])
def test_points_only_group_digits_beside_a_decimal_comma(text, expected):
    assert is_number(text, ",") is expected


def test_markers_match_text_in_any_case_and_numbers_in_any_notation():
    markers = MissingMarkers(["-999", "unknown", "gone"])
    assert [value for value in ("-999.0", "UNKNOWN ", "999") if markers.match(value)] == ["-999.0", "UNKNOWN "]
    assert markers.note_unseen(["-999", "gone"]) == ["no cell is 'gone', which --missing names"]


@pytest.mark.parametrize(("lines", "expected"), [(["a;b", "1,5;2,5"], ";"), (["a,b;c", "1,2;3", "1,4;5"], ",")])
def test_delimiter_splits_all_lines_alike(lines, expected):
    assert find_delimiter(lines) == expected


def test_rows_of_arff_are_split_at_commas_outside_quotes():
    assert split_row("1, 'a, b', O'Brien") == ["1", "'a, b'", "O'Brien"]
    assert split_row("1, 'a, b") is None


@pytest.mark.parametrize("text", ['"it\'s"', r"'it\'s'", "'it''s'", "it's"])
def test_quotes_and_escapes_of_arff_are_resolved(text):
    assert unquote(text) == "it's"


def test_plan_of_text_counts_cells_in_the_sample():
    plan = plan_of_text(b"1,2\n3,4\n", 8_000)  # two bytes per cell
    assert plan == {"the text of its cells": 28_000, "their values": 64_000}
