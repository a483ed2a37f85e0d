"""``comboost reproduce``: the paper's whole experiment.

In: which data sets, methods and runs, and a folder. Out: its tables in the folder. `plan` turns the words typed into
tasks, `carry_out` runs those that the folder does not hold yet and makes the report of all; `reproduce` is the command,
with the progress bar.
"""

from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import joblib
import typer
from rich.console import Console

from comboost.cli._interrupts import INTERRUPTED
from comboost.cli._listeners import Bar, Lines, Listener
from comboost.study import (
    DATASETS,
    METHODS,
    SMALL_DATASETS,
    Store,
    StoreError,
    Study,
    Task,
    describe,
    find_dataset,
    find_method,
    list_tasks,
    load_problem,
    make_report,
    render_files,
    run_tasks,
)
from comboost.study._folds import estimate_seconds
from comboost.study._methods import find_obstacle
from comboost.study._results import MEASURES
from comboost.study._running import Failure, ProcessLostError
from comboost.study._summary import count_verdicts

N_RUNS = 10
N_QUICK_RUNS = 2
FOLDER = "comboost-study"
MAIN_METHODS = [name for name in METHODS if " depth " not in name]


@dataclass(frozen=True)
class Plan:
    """What is to be run: tasks, and why some data sets and methods are left out."""

    study: Study
    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    n_runs: int
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def tasks(self) -> list[Task]:
        """All folds, done or not."""
        datasets = [name for name in self.datasets if name not in self.left_out]
        methods = [name for name in self.methods if name not in self.left_out]
        return list_tasks(datasets, methods, self.n_runs, self.study)


def plan(
    study: Study,
    *,
    datasets: str | None = None,
    methods: str | None = None,
    n_runs: int | None = None,
    quick: bool = False,
) -> Plan:
    """Read what is asked for, and find out what can be done here.

    Parameters
    ----------
    study : Study
        The numbers of the experiment.
    datasets, methods : str or None, default=None
        Names with commas between them, in any spelling; all by default.
    n_runs : int or None, default=None
        Runs of the cross-validation, 10 by default.
    quick : bool, default=False
        Two runs and the small data sets, if nothing else is asked for.

    Returns
    -------
    Plan
        With the names in the order of the paper.

    Raises
    ------
    ValueError
        If a name is unknown.

    Examples
    --------
    >>> from comboost.cli.reproduce import plan
    >>> from comboost.study import Study
    >>> asked = plan(Study(), datasets="Glass,car", methods="combo", n_runs=3)
    >>> asked.datasets, asked.methods, len(asked.tasks)
    (('car', 'glass'), ('CoMBo',), 30)
    """
    all_datasets = SMALL_DATASETS if quick else DATASETS
    chosen = pick_names(DATASETS, find_dataset, datasets) or all_datasets
    ways = pick_names(tuple(METHODS), find_method, methods) or tuple(METHODS)
    left_out = {name: reason for name in chosen if (reason := find_gap(name)) is not None}
    left_out |= {name: reason for name in ways if (reason := find_obstacle(METHODS[name])) is not None}
    return Plan(study, chosen, ways, n_runs or (N_QUICK_RUNS if quick else N_RUNS), left_out)


def pick_names(known: Iterable[str], find: Callable[[str], str], names: str | None) -> tuple[str, ...]:
    """The names given, each once and in the order in which they are known; none if none are asked for."""
    if names is None:
        return ()
    found = {find(name.strip()) for name in names.split(",")}
    return tuple(name for name in known if name in found)


def find_gap(dataset: str) -> str | None:
    """Say why a data set cannot be loaded; None if it can."""
    try:
        load_problem(dataset)
    except OSError as error:
        way = " Set COMBOOST_DATA to the folder that holds connect_4.tsv.gz." if dataset == "connect-4" else ""
        return str(error).splitlines()[0] + way
    return None


def carry_out(asked: Plan, folder: str | Path, *, n_jobs: int = 1, listener: Listener | None = None) -> dict[str, Any]:
    """Run what is not stored yet, and write tables of all that is asked for.

    Parameters
    ----------
    asked : Plan
        From `plan`.
    folder : str or path-like
        Where results are kept and tables are written.
    n_jobs : int, default=1
        Processes.
    listener : Listener or None, default=None
        Hears of every fold.

    Returns
    -------
    dict
        The report.

    Raises
    ------
    StoreError
        If the folder cannot be used; nothing has been run then.
    """
    with Store(folder, describe(asked.study)) as store, listener or Listener() as heard:
        results = store.load(asked.tasks)
        todo = [task for task in asked.tasks if task not in results]
        store.check_space(len(todo))
        heard.start(len(asked.tasks) - len(todo), todo, {task: estimate_seconds(task, asked.study) for task in todo})
        failures = {}
        # Closed at once if a result cannot be stored: the processes must not go on for nothing.
        with closing(run_tasks(todo, asked.study, n_jobs=n_jobs)) as outcomes:
            for task, outcome in outcomes:
                if isinstance(outcome, Failure):
                    failures[task] = outcome.reason
                else:
                    store.save(task, outcome)
                    results[task] = outcome
                heard.hear(task)
        report = make_report(
            results.values(),
            asked.study,
            datasets=asked.datasets,
            n_runs=asked.n_runs,
            left_out=asked.left_out,
            failures=[f"{' '.join(map(str, task))}: {reason}" for task, reason in sorted(failures.items())],
        )
        store.write(render_files(report))
    return report


def tell_standing(report: dict[str, Any], folder: Path) -> str:
    """Say in a few lines how CoMBo stands beside the paper, and where the tables are."""
    counts = count_verdicts(report)
    lines = [
        f"CoMBo beside the paper, {sum(counts.values())} cells: " + ", ".join(f"{n} {how}" for how, n in counts.items())
    ]
    lines += [
        f"  worse: {cell['dataset']}, {MEASURES[cell['measure']].label}: "
        f"{cell['ours']['mean']:.3f} ± {cell['ours']['std']:.3f}, "
        f"paper {cell['paper']['mean']:.3f} ± {cell['paper']['std']:.3f}"
        for cell in report["verdicts"]
        if cell["method"] == "CoMBo" and cell["verdict"] == "worse" and cell["measure"] != "mauc_softmax"
    ]
    norms = [claim for claim in report["claims"] if claim["measure"] == "confusion_norm" and claim["holds"] is not None]
    lines += [
        f"CoMBo better than AdaBoost.MM in the norm on {claim['dataset']}, as in the paper: "
        f"{'yes' if claim['holds'] else 'no'}"
        for claim in norms
    ]
    lines += tell_left_out(report["about"]["left_out"])
    lines += [f"failed: {failure}" for failure in report["about"]["failures"]]
    return "\n".join([*lines, f"Tables and summary.md are in {folder}"])


def tell_left_out(left_out: dict[str, str]) -> list[str]:
    """A line for every reason, after the names that it is about."""
    names: dict[str, list[str]] = {}
    for name, reason in left_out.items():
        names.setdefault(reason, []).append(name)
    return [f"Left out: {', '.join(those)}. {reason}" for reason, those in names.items()]


def count_processes(jobs: int) -> int:
    """Count the processes that are asked for; none is an error."""
    if jobs == 0:
        raise typer.BadParameter("0 processes cannot work; give 1 or more, or -1 for one per core.")
    return int(joblib.effective_n_jobs(jobs))


def reproduce(
    jobs: Annotated[int, typer.Option(callback=count_processes, help="Processes; -1 for one per core.")] = -1,
    datasets: Annotated[
        str | None, typer.Option(help=f"With commas between them: {', '.join(DATASETS)}.", show_default="all")
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            help=f"With commas between them: {', '.join(MAIN_METHODS)}; CoMBo depth 2 gini and the like have their "
            "trees fixed, and a name that is not known lists all.",
            show_default="all",
        ),
    ] = None,
    runs: Annotated[
        int | None, typer.Option(min=1, max=1000, help="Runs of 5-fold cross-validation.", show_default=str(N_RUNS))
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Two runs on the small data sets.")] = False,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Decides all folds and draws.")] = Study.seed,
    out: Annotated[Path, typer.Option(help="Folder for results and tables; an interrupted run goes on there.")] = Path(
        FOLDER
    ),
) -> None:
    """Redo the paper's experiment and write its tables, ours beside the paper's."""
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
