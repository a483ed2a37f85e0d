"""``comboost reproduce``: plan the paper's experiment, run the folds that are not stored yet, write its tables."""

from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from comboost.cli.terminal.progress import StudyProgress
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
    """What to run, and why some data sets and methods are left out."""

    study: Study
    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    n_runs: int
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def tasks(self) -> list[Task]:
        """All folds, stored or not."""
        datasets = [name for name in self.datasets if name not in self.left_out]
        methods = [name for name in self.methods if name not in self.left_out]
        return list_tasks(datasets, methods, self.n_runs, self.study)


def make_plan(
    study: Study,
    *,
    datasets: str | None = None,
    methods: str | None = None,
    n_runs: int | None = None,
    quick: bool = False,
) -> Plan:
    """Choose data sets, methods and runs, and check which of them can run here.

    Names are separated by commas, in any spelling; an unknown one raises ValueError. ``quick`` means two runs and the
    small data sets, unless something else is given.
    """
    chosen = pick_names(DATASETS, find_dataset, datasets) or (SMALL_DATASETS if quick else DATASETS)
    chosen_methods = pick_names(METHODS, find_method, methods) or tuple(METHODS)
    left_out = {name: reason for name in chosen if (reason := find_gap(name)) is not None}
    left_out |= {name: reason for name in chosen_methods if (reason := find_obstacle(METHODS[name])) is not None}
    return Plan(study, chosen, chosen_methods, n_runs or (N_QUICK_RUNS if quick else N_RUNS), left_out)


def pick_names(known: Iterable[str], find: Callable[[str], str], names: str | None) -> tuple[str, ...]:
    """Return the given names, each once and in the order of the known ones; empty if none are given."""
    if names is None:
        return ()
    wanted = {find(name.strip()) for name in names.split(",")}
    return tuple(name for name in known if name in wanted)


def find_gap(dataset: str) -> str | None:
    """Return why a data set cannot be loaded; None if it can."""
    try:
        load_problem(dataset)
    except OSError as error:
        hint = " Set COMBOOST_DATA to the folder with connect_4.tsv.gz." if dataset == "connect-4" else ""
        return str(error).splitlines()[0] + hint
    return None


def run_plan(
    plan: Plan, folder: str | Path, *, n_jobs: int = 1, progress: StudyProgress | None = None
) -> dict[str, Any]:
    """Run the folds that are not stored yet in ``n_jobs`` processes, write all tables, and return the report.

    Raises StoreError, before anything runs, if the folder cannot be used.
    """
    progress = progress or StudyProgress(None)
    with Store(folder, describe(plan.study)) as store, closing(progress):
        results = store.load(plan.tasks)
        todo = [task for task in plan.tasks if task not in results]
        store.check_space(len(todo))
        seconds = {task: estimate_seconds(task, plan.study) for task in todo}
        progress.start(len(plan.tasks) - len(todo), todo, seconds)
        failures = {}
        # Closed at once if a result cannot be stored, so that the processes stop.
        with closing(run_tasks(todo, plan.study, n_jobs=n_jobs)) as outcomes:
            for task, outcome in outcomes:
                if isinstance(outcome, Failure):
                    failures[task] = outcome.reason
                else:
                    store.save(task, outcome)
                    results[task] = outcome
                progress.update(task)
        report = make_report(
            results.values(),
            plan.study,
            datasets=plan.datasets,
            n_runs=plan.n_runs,
            left_out=plan.left_out,
            failures=[f"{' '.join(map(str, task))}: {reason}" for task, reason in sorted(failures.items())],
        )
        store.write(render_files(report))
    return report


def describe_report(report: dict[str, Any], folder: Path) -> str:
    """State in a few lines how CoMBo compares with the paper, and where the tables are."""
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
    lines += [
        f"CoMBo has a lower norm than AdaBoost.MM on {claim['dataset']}, as in the paper: "
        f"{'yes' if claim['holds'] else 'no'}"
        for claim in report["claims"]
        if claim["measure"] == "confusion_norm" and claim["holds"] is not None
    ]
    lines += describe_left_out(report["about"]["left_out"])
    lines += [f"failed: {failure}" for failure in report["about"]["failures"]]
    return "\n".join([*lines, f"Tables and summary.md are in {folder}"])


def describe_left_out(left_out: dict[str, str]) -> list[str]:
    """Return a line for every reason, with the names that it applies to."""
    names: dict[str, list[str]] = {}
    for name, reason in left_out.items():
        names.setdefault(reason, []).append(name)
    return [f"Left out: {', '.join(affected)}. {reason}" for reason, affected in names.items()]
