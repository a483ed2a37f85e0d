"""The progress bars."""

import io
import sys
from contextlib import closing

import pytest
from rich.console import Console

from comboost.cli.jobs.comparison import COMPARED, OURS
from comboost.cli.jobs.rounds import SEARCHING
from comboost.cli.terminal.progress import StudyProgress, make_progress, progress_shown

STEPS = [*OURS.values(), *COMPARED, SEARCHING, "reading, searching", "fold 1000 of 1000", "first rows", "predicting"]


@pytest.mark.parametrize("width", [60, 120])
@pytest.mark.parametrize("step", STEPS)
def test_bar_stays_in_one_line_with_every_word_whole(step, width):
    console = Console(width=width, force_terminal=True, color_system=None, file=io.StringIO())
    with make_progress(console) as progress:
        progress.add_task(step, total=1.0, completed=0.5)
        lines = console.render_lines(progress.get_renderable(), pad=False)
    (text,) = ("".join(segment.text for segment in line) for line in lines)
    assert len(text) <= width
    assert text.startswith(f"{step} ")
    assert text.split()[-3:] == ["50%", "left:", "-:--:--"]


def test_output_does_not_go_where_the_bar_is():
    before = sys.stdout
    console = Console(force_terminal=True, file=io.StringIO())
    with make_progress(console):
        assert sys.stdout is before


def test_nothing_is_shown_without_a_terminal(capsys):
    with progress_shown() as tick:
        tick("working", 0.5)
    assert capsys.readouterr() == ("", "")


def test_a_bar_with_nothing_to_do_is_full():
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    with closing(StudyProgress(console)) as bar:
        bar.start(10, [], {})
    assert "10 of 10 folds" in console.file.getvalue()
    assert "100%" in console.file.getvalue()
