"""Progress on stderr: a bar with the time left on a terminal; elsewhere nothing, or lines for long runs."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # rich is slow to import
    from rich.console import Console
    from rich.progress import Progress

    from comboost.study import Task

Tick = Callable[[str, float], None]  # the current step, and the fraction that is done

BAR_WIDTH = 18  # leaves space for the longest name of a classifier in 60 columns


@contextmanager
def progress_shown(*, wanted: bool = True) -> Iterator[Tick]:
    """Show a bar on stderr, and remove it at the end."""
    from rich.console import Console

    errors = Console(stderr=True)
    with started(make_progress(errors), shown=wanted and errors.is_terminal) as progress:
        task = progress.add_task("starting", total=1.0)
        yield lambda doing, done: progress.update(task, description=doing, completed=done)


@contextmanager
def started(progress: "Progress", *, shown: bool) -> "Iterator[Progress]":
    """Start a bar only if it is shown: rich before 14.3 ends a disabled one with an empty line."""
    if not shown:
        yield progress
        return
    with progress:
        yield progress


def make_progress(console: "Console") -> "Progress":
    """Make a bar that fits into one line of 60 columns."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=BAR_WIDTH),
        TaskProgressColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        redirect_stdout=False,  # otherwise output to a file would go to the console
        speed_estimate_period=60,
    )


class StudyProgress:
    """Progress of the folds of a study; this base class shows nothing."""

    def start(self, n_done: int, tasks: "Sequence[Task]", seconds: "dict[Task, float]") -> None:
        """Report how many folds are stored already, and the expected seconds of each remaining one."""

    def update(self, task: "Task") -> None:
        """Report that a fold is done."""

    def close(self) -> None:
        """Report that the run has ended."""


class StudyBar(StudyProgress):
    """A bar with the time left, on a terminal."""

    def __init__(self, console: "Console") -> None:
        from rich.progress import (
            BarColumn,
            Progress,
            TaskProgressColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        self._progress = Progress(
            TextColumn("{task.fields[n_done]} of {task.fields[n_tasks]} folds"),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TextColumn("left:"),
            TimeRemainingColumn(),
            console=console,
            speed_estimate_period=600,  # a single fold may take a minute
        )

    def start(self, n_done: int, tasks: "Sequence[Task]", seconds: "dict[Task, float]") -> None:
        """Start the bar; its length is the expected time of the remaining folds."""
        self._seconds, self._n_done = seconds, n_done
        # A bar of length 0 would stay empty.
        total, completed = sum(seconds.values()) or 1, 0 if tasks else 1
        self._id = self._progress.add_task(
            "", total=total, completed=completed, n_done=n_done, n_tasks=n_done + len(tasks)
        )
        self._progress.start()

    def update(self, task: "Task") -> None:
        """Advance the bar."""
        self._n_done += 1
        self._progress.update(self._id, advance=self._seconds[task], n_done=self._n_done, refresh=True)

    def close(self) -> None:
        """Leave the bar as it is."""
        self._progress.stop()


class StudyLines(StudyProgress):
    """A line whenever a method is done with a data set, for a pipe or a file."""

    def __init__(self, console: "Console") -> None:
        self._console = console

    def start(self, n_done: int, tasks: "Sequence[Task]", seconds: "dict[Task, float]") -> None:
        """Print how many folds there are."""
        self._seconds, self._left, self._started = seconds, set(tasks), monotonic()
        self._console.print(f"{n_done + len(tasks)} folds, {n_done} of them stored already")

    def update(self, task: "Task") -> None:
        """Print that a method is done with a data set, and the time left."""
        self._left.remove(task)
        if any(other[:2] == task[:2] for other in self._left):
            return
        left = sum(self._seconds[other] for other in self._left)
        pace = (monotonic() - self._started) / (sum(self._seconds.values()) - left)
        self._console.print(
            f"{task.dataset}, {task.method}: done; {len(self._left)} folds to go, {format_time(pace * left)}"
        )


def format_time(seconds: float) -> str:
    """Format a duration roughly.

    Examples
    --------
    >>> from comboost.cli.terminal.progress import format_time
    >>> format_time(42), format_time(4000), format_time(40000)
    ('about 42 s', 'about 67 min', 'about 11.1 h')
    """
    if seconds < 120:
        return f"about {seconds:.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 7200 else f"about {seconds / 3600:.1f} h"
