"""How far a command is. In: steps that are done. Out: a bar with the time left on a terminal, else nothing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console

Tick = Callable[[str, float], None]  # what is being done, and the share that is done


@contextmanager
def progress_shown() -> Iterator[Tick]:
    """Show a bar on stderr while something runs, and take it away at its end."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    errors = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TaskProgressColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    with Progress(
        *columns, console=errors, disable=not errors.is_terminal, transient=True, speed_estimate_period=60
    ) as progress:
        task = progress.add_task("reading", total=1.0)

        def tick(doing: str, done: float) -> None:
            progress.update(task, description=doing, completed=done)

        yield tick
