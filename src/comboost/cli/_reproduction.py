"""The paper's whole experiment. In: which data sets, methods and runs, and a folder. Out: its tables in the folder.

`plan` turns the words typed into tasks, `carry_out` runs those that the folder does not hold yet and makes the report
of all.
"""

from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from comboost.cli._listeners import Listener
from comboost.study import (
    DATASETS,
    METHODS,
    SMALL_DATASETS,
    Store,
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
from comboost.study._report import count_verdicts
from comboost.study._results import MEASURES
from comboost.study._running import Failure

N_RUNS = 10
N_QUICK_RUNS = 2


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
    >>> from comboost.cli._reproduction import plan
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
