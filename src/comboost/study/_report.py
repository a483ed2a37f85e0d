"""The report: all tables, and verdicts on our results beside the paper's, as one plain dict."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from math import sqrt
from typing import Any

from comboost import __version__
from comboost.study._experiment import DATASETS, Study, read_paper
from comboost.study._methods import METHODS
from comboost.study._results import MEASURES, Results, Statistics
from comboost.study._tables import PAIR, WITH_BASELINES, make_tables, make_times, mark

PAPER_DECIMALS = 3
VERDICTS = ("at least as good", "within one standard error", "worse", "not run")
TABLE_METHODS = {"baselines": WITH_BASELINES, "mm": PAIR}


def make_report(
    results: Iterable[dict[str, Any]],
    study: Study,
    *,
    datasets: Sequence[str],
    n_runs: int,
    left_out: Mapping[str, str] | None = None,
    failures: Sequence[str] = (),
) -> dict[str, Any]:
    """Make the report of stored results.

    Parameters
    ----------
    results : iterable of dict
        From `run_task`.
    study : Study
        Numbers of the experiment.
    datasets : sequence of str
        The requested data sets.
    n_runs : int
        The requested number of runs.
    left_out : mapping of str to str, default=None
        Data sets and methods that could not run, and why.
    failures : sequence of str, default=()
        Folds that failed, and why.

    Returns
    -------
    dict
        With the entries about, tables, verdicts, claims, by_setting and times. All but times only depend on the seed.

    Examples
    --------
    >>> from comboost.study import Study, Task, make_report, run_task
    >>> study = Study(n_rounds=5)
    >>> folds = [run_task(Task("new-thyroid", "CoMBo depth 2 gini", 0, fold), study) for fold in range(5)]
    >>> report = make_report(folds, study, datasets=["new-thyroid"], n_runs=1)
    >>> list(report["tables"])
    ['distributions', 'baselines', 'mm', 'connect', 'settings', 'recalls', 'confusions']
    """
    paper, gathered = read_paper(), Results(results, study.n_folds)
    return {
        "about": {
            "comboost": __version__,
            **asdict(study),
            "n_runs": n_runs,
            "datasets": list(datasets),
            "left_out": dict(left_out or {}),
            "failures": list(failures),
            "paper": {"source": paper["source"], "notes": paper["notes"]},
        },
        "tables": make_tables(gathered, paper, datasets),
        "verdicts": list_verdicts(gathered, paper),
        "claims": list_claims(gathered, paper),
        "by_setting": count_by_setting(gathered, paper),
        "times": make_times(gathered, datasets),
    }


def list_verdicts(results: Results, paper: dict[str, Any]) -> list[dict[str, Any]]:
    """Judge every cell of the paper's second and third table; MAUC has a verdict for each kind of probabilities."""
    verdicts: dict[tuple[str, str, str], dict[str, Any]] = {}
    for table, printed_measure, dataset, method, printed in printed_cells(paper):
        for measure in [printed_measure, "mauc_softmax"] if printed_measure == "mauc" else [printed_measure]:
            ours = results.statistics(dataset, method, measure)
            entry = {
                "table": table,
                "measure": measure,
                "dataset": dataset,
                "method": method,
                "ours": ours,
                "paper": printed,
                "verdict": judge(ours, printed["mean"], measure),
            }
            verdicts.setdefault((measure, dataset, method), entry)  # G-mean and MAUC of CoMBo are in both tables
    return list(verdicts.values())


def judge(ours: dict[str, Any] | None, printed: float, measure: str) -> str:
    """Compare our mean, rounded like the paper's, with a printed mean."""
    if ours is None:
        return "not run"
    gap = round(ours["mean"], PAPER_DECIMALS) - printed
    if MEASURES[measure].lower_is_better:
        gap = -gap
    if gap > -0.5 * 10**-PAPER_DECIMALS:
        return "at least as good"
    return "within one standard error" if -gap <= ours["std"] / sqrt(ours["n"]) else "worse"


def count_verdicts(report: dict[str, Any], method: str = "CoMBo") -> dict[str, int]:
    """Count the cells of a method by verdict, without MAUC from softmax, which the paper lacks."""
    counts = Counter(
        cell["verdict"] for cell in report["verdicts"] if cell["method"] == method and cell["measure"] != "mauc_softmax"
    )
    return {verdict: counts[verdict] for verdict in VERDICTS}


def count_by_setting(results: Results, paper: dict[str, Any]) -> dict[str, dict[str, int]]:
    """Count CoMBo's verdicts for *chosen* settings, *smallest norm*, and every fixed setting of all data sets."""
    fixed = [
        name for name, method in METHODS.items() if name.startswith("CoMBo ") and len(method.datasets) == len(DATASETS)
    ]
    find: dict[str, Callable[..., Statistics | None]] = {
        "chosen": partial(results.statistics, method="CoMBo"),
        "smallest norm": partial(results.statistics_of_smallest, method="CoMBo"),
        **{name.removeprefix("CoMBo "): partial(results.statistics, method=name) for name in fixed},
    }
    means = {
        (dataset, measure): printed["mean"]
        for _, measure, dataset, method, printed in printed_cells(paper)
        if method == "CoMBo"
    }
    counts = {
        label: Counter(
            judge(of(dataset=dataset, measure=measure), mean, measure) for (dataset, measure), mean in means.items()
        )
        for label, of in find.items()
    }
    return {label: {verdict: count[verdict] for verdict in VERDICTS} for label, count in counts.items()}


def list_claims(results: Results, paper: dict[str, Any]) -> list[dict[str, Any]]:
    """Check every significant difference that the paper reports.

    A claim holds if the paired t-test on our folds agrees; it is None if a method was not run. The corrected test is
    only used for the mark *best*.
    """
    claims = []
    for table, measure, dataset, cells in printed_rows(paper):
        methods = TABLE_METHODS[table]
        marks = mark(results, dataset, measure, methods, ())
        ran = all(results.of(dataset, method) for method in methods)
        claims += [
            {
                "table": table,
                "measure": measure,
                "dataset": dataset,
                "method": method,
                "mark": "best" if "bold" in cell else "worst",
                "holds": marks[method]["best" if "bold" in cell else "worst"] if ran else None,
                "holds_corrected": marks[method]["best_corrected"] if ran and "bold" in cell else None,
            }
            for method, cell in cells.items()
            if {"bold", "worst"} & set(cell)
        ]
    return claims


def printed_rows(paper: dict[str, Any]) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Every row of the paper's second and third table: table, measure, data set, and cells by method."""
    for table in TABLE_METHODS:
        for measure, by_dataset in paper[table].items():
            for dataset, cells in by_dataset.items():
                yield table, measure, dataset, cells


def printed_cells(paper: dict[str, Any]) -> Iterator[tuple[str, str, str, str, dict[str, Any]]]:
    """Every cell of these tables, with table, measure, data set and method."""
    for table, measure, dataset, cells in printed_rows(paper):
        for method in TABLE_METHODS[table]:
            yield table, measure, dataset, method, cells[method]
