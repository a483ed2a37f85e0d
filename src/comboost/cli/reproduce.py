"""``comboost reproduce``: the paper's whole experiment.

In: which data sets, methods and runs, and a folder. Out: its tables in the folder. `_reproduction` plans the work and
does it; `reproduce` is the command, with the progress bar.
"""

from pathlib import Path
from typing import Annotated

import typer

from comboost.cli._interrupts import INTERRUPTED

FOLDER = "comboost-study"
STUDY_SEED = 2013  # that of the study


def count_processes(jobs: int) -> int:
    """Count the processes that are asked for; none is an error."""
    if jobs == 0:
        raise typer.BadParameter("0 processes cannot work; give 1 or more, or -1 for one per core.")
    import joblib

    return int(joblib.effective_n_jobs(jobs))


def reproduce(
    jobs: Annotated[int, typer.Option(callback=count_processes, help="Processes; -1 for one per core.")] = -1,
    datasets: Annotated[
        str | None,
        typer.Option(help="With commas between them; a name that is not known lists all.", show_default="all"),
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            help="With commas between them, such as CoMBo,AdaBoost.NC; a name that is not known lists all.",
            show_default="all",
        ),
    ] = None,
    runs: Annotated[
        int | None, typer.Option(min=1, max=1000, help="Runs of 5-fold cross-validation.", show_default="10")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Two runs on the small data sets.")] = False,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Decides all folds and draws.")] = STUDY_SEED,
    out: Annotated[Path, typer.Option(help="Folder for results and tables; an interrupted run goes on there.")] = Path(
        FOLDER
    ),
) -> None:
    """Redo the paper's experiment and write its tables, ours beside the paper's.

    For example:

      comboost reproduce --quick --datasets glass,ecoli
    """
    from rich.console import Console

    from comboost.cli._listeners import Bar, Lines
    from comboost.cli._reproduction import carry_out, plan, tell_left_out, tell_standing
    from comboost.study import StoreError, Study
    from comboost.study._running import ProcessLostError

    errors = Console(stderr=True, highlight=False, soft_wrap=True)
    try:
        asked = plan(Study(seed=seed), datasets=datasets, methods=methods, n_runs=runs, quick=quick)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    for line in tell_left_out(asked.left_out):
        errors.print(line, markup=False)
    if not asked.tasks:
        errors.print("Nothing is left to run: none of the methods runs on any of the data sets that are here.")
        raise typer.Exit(1)
    listener = Bar(errors) if errors.is_terminal else Lines(errors)
    try:
        report = carry_out(asked, out, n_jobs=jobs, listener=listener)
    except (ProcessLostError, StoreError) as error:
        errors.print(str(error), markup=False)
        raise typer.Exit(1) from error
    except KeyboardInterrupt as error:
        errors.print("Interrupted. What was done is kept: start the same command again, and it goes on.")
        raise typer.Exit(INTERRUPTED) from error
    console = Console(highlight=False, soft_wrap=True)
    text = tell_standing(report, out)
    console.print(text.replace("±", "+/-") if console.options.ascii_only else text, markup=False)
    raise typer.Exit(1 if report["about"]["failures"] else 0)
