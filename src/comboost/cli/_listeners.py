"""Who hears how far a run is. In: the folds to come, then those that are done. Out: a bar, or lines."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from time import monotonic
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from comboost.study import Task


class Listener(AbstractContextManager["Listener"]):
    """Hears how far a run is; this one says nothing."""

    def start(self, n_done: int, tasks: Sequence[Task], seconds: dict[Task, float]) -> None:
        """Hear how many folds are stored already, and which are to come with the seconds that each may take."""

    def hear(self, task: Task) -> None:
        """Hear that a fold is done."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Hear that all is over."""


class Bar(Listener):
    """Shows a bar with the time left.

    Parameters
    ----------
    console : rich.console.Console
        A terminal.
    """

    def __init__(self, console: Console) -> None:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TextColumn("left:"),
            TimeRemainingColumn(),
        )
        # Single folds may take a minute, so the speed is that of many minutes.
        self._progress = Progress(*columns, console=console, speed_estimate_period=600)
        self._n_done, self._n_tasks = 0, 0

    def start(self, n_done: int, tasks: Sequence[Task], seconds: dict[Task, float]) -> None:
        """Start the bar; its length is the time that all folds to come may take."""
        self._seconds, self._n_done, self._n_tasks = seconds, n_done, n_done + len(tasks)
        # A bar of no length would stay empty.
        self._id = self._progress.add_task(self._tell(), total=sum(seconds.values()) or 1, completed=0 if tasks else 1)
        self._progress.start()

    def hear(self, task: Task) -> None:
        """Move the bar."""
        self._n_done += 1
        self._progress.update(self._id, advance=self._seconds[task], description=self._tell(), refresh=True)

    def _tell(self) -> str:
        return f"{self._n_done} of {self._n_tasks} folds"

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Leave the bar as it is."""
        self._progress.stop()


class Lines(Listener):
    """Prints a line whenever a method is done with a data set, for a pipe or a file.

    Parameters
    ----------
    console : rich.console.Console
        Where to.
    """

    def __init__(self, console: Console) -> None:
        self._console = console

    def __enter__(self) -> Self:
        return self

    def start(self, n_done: int, tasks: Sequence[Task], seconds: dict[Task, float]) -> None:
        """Say how much there is to do."""
        self._seconds, self._left, self._started = seconds, set(tasks), monotonic()
        self._console.print(f"{n_done + len(tasks)} folds, {n_done} of them stored already")

    def hear(self, task: Task) -> None:
        """Say that a method is done with a data set, and how long the rest may take."""
        self._left.remove(task)
        if any(other[:2] == task[:2] for other in self._left):
            return
        left = sum(self._seconds[other] for other in self._left)
        pace = (monotonic() - self._started) / (sum(self._seconds.values()) - left)
        self._console.print(
            f"{task.dataset}, {task.method}: done; {len(self._left)} folds to go, {tell_time(pace * left)}"
        )


def tell_time(seconds: float) -> str:
    """Say roughly how long it takes.

    Examples
    --------
    >>> from comboost.cli._listeners import tell_time
    >>> tell_time(42), tell_time(4000), tell_time(40000)
    ('about 42 s', 'about 67 min', 'about 11.1 h')
    """
    if seconds < 120:
        return f"about {seconds:.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 7200 else f"about {seconds / 3600:.1f} h"
