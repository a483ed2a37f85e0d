"""``comboost demo``: confusion boosting beside the paper's CoMBo and AdaBoost.MM on the bundled Yeast data.

In: a seed, the number of rounds, the number of threads. Out: tables in a terminal. `_comparison` computes a plain
`Summary`; `_demo_view` turns that into tables; `demo` is the command, with the progress bar.
"""

from typing import Annotated

import typer

from comboost.cli._options import check_threads
from comboost.cli._progress import running


def demo(
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Decides which rows are held out.")] = 0,
    rounds: Annotated[
        int | None, typer.Option(min=1, help="Rounds of boosting.", show_default="each method's own")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(callback=check_threads, help="Threads; -1 for one per core.", show_default="one")
    ] = None,
) -> None:
    """Compare confusion boosting with CoMBo and AdaBoost.MM on the bundled Yeast data.

    For example:

      comboost demo --seed 1
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from comboost.cli._comparison import CLASSIFIERS, compare_boosters
    from comboost.cli._demo_view import render_comparison

    errors = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with running(Progress(*columns, console=errors), shown=errors.is_terminal) as progress:
        tasks = {
            name: progress.add_task(name, total=rounds or make().n_estimators) for name, make in CLASSIFIERS.items()
        }
        summary = compare_boosters(
            seed=seed,
            n_rounds=rounds,
            n_jobs=jobs,
            on_round=lambda name, n_done: progress.update(tasks[name], completed=n_done),
        )
    console = Console(highlight=False)
    console.print(render_comparison(summary, ascii_only=console.options.ascii_only))
