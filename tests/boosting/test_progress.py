"""What ``verbose`` prints, to the letter, under a clock that does not run by itself."""

import pytest

from comboost._boosting.monitor import ProgressPrinter, format_number, format_time


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


def print_rounds(n_rounds, every, *, n_done, seconds, with_score=False, first=1, reason="n_estimators"):
    """What is printed of rounds that take ``seconds`` each."""
    lines, clock = [], Clock()
    printer = ProgressPrinter(n_rounds, every, with_score=with_score, print=lines.append, clock=clock)
    for number in range(first, first + n_done):
        clock.now += seconds
        score = 1 - 0.5**number if with_score else None
        printer.round(number, 6 * 0.7**number, 6.5 * 0.75**number, 1 / (number + 2), score)
    printer.finish(first + n_done - 1, reason)
    return "\n".join(["", *lines, ""])


def test_every_round_is_a_line_of_a_table():
    expected = """
round        loss       bound        edge     time left
  1/4       4.200       4.875      0.3333         3.0 s
  2/4       2.940       3.656      0.2500         2.0 s
  3/4       2.058       2.742      0.2000         1.0 s
  4/4       1.441       2.057      0.1667         0.0 s
4 of 4 rounds kept after 4.0 s: n_estimators
"""
    assert print_rounds(4, 1, n_done=4, seconds=1.0) == expected


def test_first_every_tenth_and_last_round_are_printed_with_the_validation_score():
    expected = """
  round        loss       bound        edge  validation     time left
  1/200       4.200       4.875      0.3333      0.5000    1 min 40 s
 10/200      0.1695      0.3660     0.08333      0.9990    1 min 35 s
 20/200    0.004788     0.02061     0.04545       1.000    1 min 30 s
 24/200    0.001149    0.006522     0.03846       1.000    1 min 28 s
24 of 200 rounds kept after 12 s: no_edge
"""
    assert print_rounds(200, 10, n_done=24, seconds=0.5, with_score=True, reason="no_edge") == expected


def test_last_round_is_printed_once():
    expected = """
round        loss       bound        edge     time left
 1/20       4.200       4.875      0.3333         5.7 s
10/20      0.1695      0.3660     0.08333         3.0 s
20/20    0.004788     0.02061     0.04545         0.0 s
20 of 20 rounds kept after 6.0 s: n_estimators
"""
    assert print_rounds(20, 10, n_done=20, seconds=0.3) == expected


def test_time_left_of_a_fit_that_goes_on_counts_its_own_rounds():
    expected = """
round        loss       bound        edge     time left
45/60   6.420e-07   1.551e-05     0.02128    25 min 0 s
50/60   1.079e-07   3.681e-06     0.01923   16 min 40 s
52/60   5.287e-08   2.071e-06     0.01852   13 min 20 s
52 of 60 rounds kept after 13 min 20 s: n_estimators
"""
    assert print_rounds(60, 10, n_done=8, seconds=100.0, first=45) == expected


def test_fit_without_a_round_says_only_why():
    assert print_rounds(50, 10, n_done=0, first=51, seconds=1.0) == "\n50 of 50 rounds kept after 0.0 s: n_estimators\n"


def test_rounds_kept_may_be_fewer_than_rounds_done():
    lines = []
    printer = ProgressPrinter(9, 5, with_score=True, print=lines.append, clock=Clock())
    for number in range(1, 4):
        printer.round(number, 1.0, 1.0, 0.5, 0.9)
    printer.finish(1, "early_stopping")
    assert lines[-2].startswith("  3/9")
    assert lines[-1] == "1 of 9 rounds kept after 0.0 s: early_stopping"


def test_round_without_a_score_has_a_dash():
    lines = []
    ProgressPrinter(9, 1, with_score=True, print=lines.append, clock=Clock()).round(1, 1.0, 1.0, 0.5, None)
    assert lines[-1] == "  1/9       1.000       1.000      0.5000           -         0.0 s"


def test_lines_fit_into_80_columns_and_are_aligned():
    lines = print_rounds(99_999, 1, n_done=30, seconds=1.0, with_score=True).splitlines()[1:-1]
    assert {len(line) for line in lines} == {len(lines[0])}
    assert len(lines[0]) <= 80


def test_prints_to_standard_output_by_default(capsys):
    printer = ProgressPrinter(1, 1, with_score=False)
    printer.round(1, 1.0, 1.0, 0.5)
    printer.finish(1, "n_estimators")
    assert len(capsys.readouterr().out.splitlines()) == 3


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.5000"),
        (9900.0, "9900"),
        (123456.0, "1.235e+05"),
        (1.2345e-200, "1.234e-200"),
        (-0.25, "-0.2500"),
        (float("nan"), "nan"),
        (None, "-"),
    ],
)
def test_numbers_have_four_digits(value, text):
    assert format_number(value) == text
    assert len(text) <= 10


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0.0 s"),
        (0.31, "0.3 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.6, "1 min 0 s"),
        (80.0, "1 min 20 s"),
        (3599.4, "59 min 59 s"),
        (3599.6, "1 h 0 min"),
        (7260.0, "2 h 1 min"),
    ],
)
def test_times_are_said_as_people_do(seconds, text):
    assert format_time(seconds) == text
