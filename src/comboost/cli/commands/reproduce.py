"""``comboost reproduce``: the paper's experiment, with its tables in a folder."""

from pathlib import Path
from typing import Annotated

import typer

from comboost.cli.terminal.interrupts import INTERRUPTED
from comboost.cli.terminal.options import check_jobs, seed_option

FOLDER = "comboost-study"
STUDY_SEED = 2013  # the default of Study


def reproduce(
    jobs: Annotated[int, typer.Option(callback=check_jobs, help="Processes; -1 for one per core.")] = -1,
    datasets: Annotated[
        str | None, typer.Option(help="Names, separated by commas; an unknown name lists all.", show_default="all")
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            help="Names, separated by commas, such as CoMBo,AdaBoost.NC; an unknown name lists all.", show_default="all"
        ),
    ] = None,
    runs: Annotated[
        int | None, typer.Option(min=1, max=1000, help="Runs of 5-fold cross-validation.", show_default="10")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Two runs on the small data sets.")] = False,
    seed: Annotated[int, seed_option(help="Random seed; also determines the folds.")] = STUDY_SEED,
    out: Annotated[
        Path, typer.Option(help="Folder for results and tables; an interrupted run continues there.")
    ] = Path(FOLDER),
) -> None:
    """Repeat the paper's experiment and write its tables, ours beside the paper's.

    For example:

      comboost reproduce --quick --datasets glass,ecoli
    """
    import joblib
    from rich.console import Console

    from comboost.cli.jobs.reproduction import describe_left_out, describe_report, make_plan, run_plan
    from comboost.cli.terminal.progress import StudyProgress
    from comboost.study import StoreError, Study
    from comboost.study._running import ProcessLostError

    errors = Console(stderr=True, highlight=False, soft_wrap=True)
    try:
        plan = make_plan(Study(seed=seed), datasets=datasets, methods=methods, n_runs=runs, quick=quick)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    for line in describe_left_out(plan.left_out):
        errors.print(line, markup=False)
    if not plan.tasks:
        errors.print("Nothing to run: none of the methods runs on any of the available data sets.")
        raise typer.Exit(1)
    try:
        report = run_plan(plan, out, n_jobs=joblib.effective_n_jobs(jobs), progress=StudyProgress(errors))
    except (ProcessLostError, StoreError) as error:
        errors.print(str(error), markup=False)
        raise typer.Exit(1) from error
    except KeyboardInterrupt as error:
        errors.print("Interrupted. Finished folds are stored: start the same command again to continue.")
        raise typer.Exit(INTERRUPTED) from error
    console = Console(highlight=False, soft_wrap=True)
    text = describe_report(report, out)
    console.print(text.replace("±", "+/-") if console.options.ascii_only else text, markup=False)
    raise typer.Exit(1 if report["about"]["failures"] else 0)
