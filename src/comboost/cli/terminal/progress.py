"""Progress on stderr: a bar with the time left on a terminal; elsewhere nothing, or lines for long runs."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
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
    progress = make_progress(errors, transient=True)
    task = progress.add_task("starting", total=1.0)
    # Rich before 14.3 ends a disabled bar with an empty line, so one that is not shown is never started.
    with progress if wanted and errors.is_terminal else nullcontext():
        yield lambda doing, done: progress.update(task, description=doing, completed=done)


def make_progress(console: "Console", *, transient: bool = False) -> "Progress":
    """Make a bar that fits into one line of 60 columns."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=BAR_WIDTH),
        TaskProgressColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
        console=console,
        transient=transient,
        redirect_stdout=False,  # otherwise output to a file would go to the console
        speed_estimate_period=600,  # a single step may take a minute
    )


class StudyProgress:
    """Progress of the folds of a study: a bar on a terminal, elsewhere a line per data set and method.

    Nothing is shown if ``console`` is None.
    """

    def __init__(self, console: "Console | None") -> None:
        self._console = console
        self._bar = make_progress(console) if console is not None and console.is_terminal else None

    def start(self, n_done: int, tasks: "Sequence[Task]", seconds: "dict[Task, float]") -> None:
        """Report how many folds are stored already, and the expected seconds of each remaining one."""
        self._n_tasks, self._seconds, self._left = n_done + len(tasks), seconds, set(tasks)
        self._started = monotonic()
        if self._bar is not None:
            self._id = self._bar.add_task("", total=1.0)
            self._move(self._bar)
            self._bar.start()
        elif self._console is not None:
            self._console.print(f"{self._n_tasks} folds, {n_done} of them stored already")

    def update(self, task: "Task") -> None:
        """Report that a fold is done."""
        self._left.remove(task)
        if self._bar is not None:
            self._move(self._bar)
        elif self._console is not None and not any(other[:2] == task[:2] for other in self._left):
            left = sum(self._seconds[other] for other in self._left)
            pace = (monotonic() - self._started) / (sum(self._seconds.values()) - left)
            self._console.print(
                f"{task.dataset}, {task.method}: done; {len(self._left)} folds to go, {format_time(pace * left)}"
            )

    def close(self) -> None:
        """Report that the run has ended."""
        if self._bar is not None:
            self._bar.stop()

    def _move(self, bar: "Progress") -> None:
        left, total = sum(self._seconds[task] for task in self._left), sum(self._seconds.values())
        done = f"{self._n_tasks - len(self._left)} of {self._n_tasks} folds"
        bar.update(self._id, completed=1 - left / total if total else 1.0, description=done, refresh=True)


def format_time(seconds: float) -> str:
    """Format a duration roughly: 'about 42 s', 'about 67 min' or 'about 11.1 h'."""
    if seconds < 120:
        return f"about {seconds:.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 7200 else f"about {seconds / 3600:.1f} h"
