"""How far a command is. In: steps that are done. Out: a bar with the time left on a terminal, else nothing."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

Tick = Callable[[str, float], None]  # what is being done, and the share that is done

BAR_WIDTH = 18  # so that the longest name of a contestant stands before it in 60 columns


@contextmanager
def progress_shown(*, wanted: bool = True) -> Iterator[Tick]:
    """Show a bar on stderr while something runs, and take it away at its end."""
    from rich.console import Console

    errors = Console(stderr=True)
    with running(make_progress(errors), shown=wanted and errors.is_terminal) as progress:
        task = progress.add_task("starting", total=1.0)

        def tick(doing: str, done: float) -> None:
            progress.update(task, description=doing, completed=done)

        yield tick


def running(progress: "Progress", *, shown: bool) -> AbstractContextManager["Progress"]:
    """A bar that moves, or one that is never started: rich before 14.3 ends a disabled one with an empty line."""
    return progress if shown else nullcontext(progress)


def make_progress(console: "Console") -> "Progress":
    """A bar in one line of 60 columns, whatever is done."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=BAR_WIDTH),
        TaskProgressColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    return Progress(
        *columns,
        console=console,
        transient=True,
        redirect_stdout=False,  # which would send to the console what is written to a file
        speed_estimate_period=60,
    )
