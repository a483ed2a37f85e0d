"""``comboost reproduce``: the paper's experiment, whole, with its tables.

In: which data sets, methods and runs, and a folder. `plan` turns the words typed in into tasks, `carry_out` runs
those that the folder does not hold yet and makes the report of all; `reproduce` is the command, with the progress bar.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Annotated, Any, Self

import joblib
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

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

__all__ = ["Plan", "carry_out", "plan", "reproduce"]

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
    """Read what is asked for, and look what can be done here.

    Parameters
    ----------
    study : Study
        The numbers of the experiment.
    datasets, methods : str or None, default=None
        Names with commas between them, in any spelling; all by default.
    n_runs : int or None, default=None
        Runs of the cross-validation, 10 by default.
    quick : bool, default=False
        Two runs and the small data sets, where nothing else is asked for.

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
    chosen = _pick(DATASETS, find_dataset, datasets) or all_datasets
    ways = _pick(tuple(METHODS), find_method, methods) or tuple(METHODS)
    left_out = {name: reason for name in chosen if (reason := _find_gap(name)) is not None}
    left_out |= {name: reason for name in ways if (reason := find_obstacle(METHODS[name])) is not None}
    return Plan(study, chosen, ways, n_runs or (N_QUICK_RUNS if quick else N_RUNS), left_out)


def _pick(known: Iterable[str], find: Callable[[str], str], names: str | None) -> tuple[str, ...]:
    """The names given, each once and in the order in which they are known; none if none are asked for."""
    if names is None:
        return ()
    found = {find(name.strip()) for name in names.split(",")}
    return tuple(name for name in known if name in found)


def _find_gap(dataset: str) -> str | None:
    """Say why a data set cannot be loaded; None if it can."""
    try:
        load_problem(dataset)
    except OSError as error:
        way = " Set COMBOOST_DATA to the folder that holds connect_4.tsv.gz." if dataset == "connect-4" else ""
        return str(error).splitlines()[0] + way
    return None


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
        # closed at once if a result cannot be stored: the processes must not go on for nothing
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
        # single folds may take a minute, so the speed is that of many minutes
        self._progress = Progress(*columns, console=console, speed_estimate_period=600)
        self._n_done, self._n_tasks = 0, 0

    def start(self, n_done: int, tasks: Sequence[Task], seconds: dict[Task, float]) -> None:
        """Start the bar; its length is the time that all folds to come may take."""
        self._seconds, self._n_done, self._n_tasks = seconds, n_done, n_done + len(tasks)
        # a bar of no length would stay empty
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
    """Say a duration roughly.

    Examples
    --------
    >>> from comboost.cli.reproduce import tell_time
    >>> tell_time(42), tell_time(4000), tell_time(40000)
    ('about 42 s', 'about 67 min', 'about 11.1 h')
    """
    if seconds < 120:
        return f"about {seconds:.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 7200 else f"about {seconds / 3600:.1f} h"


def render(report: dict[str, Any], folder: Path) -> str:
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
    lines += _tell_left_out(report["about"]["left_out"])
    lines += [f"failed: {failure}" for failure in report["about"]["failures"]]
    return "\n".join([*lines, f"Tables and summary.md are in {folder}"])


def _tell_left_out(left_out: dict[str, str]) -> list[str]:
    """A line for every reason, after the names that it is about."""
    names: dict[str, list[str]] = {}
    for name, reason in left_out.items():
        names.setdefault(reason, []).append(name)
    return [f"Left out: {', '.join(those)}. {reason}" for reason, those in names.items()]


def _check_jobs(jobs: int) -> int:
    if jobs == 0:
        raise typer.BadParameter("0 processes cannot work; give 1 or more, or -1 for one per core.")
    return int(joblib.effective_n_jobs(jobs))


def reproduce(
    jobs: Annotated[int, typer.Option(callback=_check_jobs, help="Processes; -1 for one per core.")] = -1,
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
    for line in _tell_left_out(asked.left_out):
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
        raise typer.Exit(130) from error
    console = Console(highlight=False, soft_wrap=True)
    text = render(report, out)
    console.print(text.replace("±", "+/-") if console.options.ascii_only else text, markup=False)
    raise typer.Exit(1 if report["about"]["failures"] else 0)
