"""Verdicts. In: our figures and the paper's. Out: cell by cell whether ours are as good."""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from math import sqrt
from typing import Any

from comboost.study._methods import METHODS
from comboost.study._problems import DATASETS
from comboost.study._results import MEASURES, Figure, Results
from comboost.study._tables import PAIR, RIVALS, mark

PAPER_DECIMALS = 3
VERDICTS = ("at least as good", "within one standard error", "worse", "not run")
TABLE_METHODS = {"rivals": RIVALS, "mm": PAIR}


def list_verdicts(results: Results, paper: dict[str, Any]) -> list[dict[str, Any]]:
    """Judge every cell of the paper's second and third table.

    Our mean, rounded like the paper's, is *at least as good* as the paper's, or *within one standard error* of it (our
    standard deviation divided by the root of the number of folds), or *worse*; or the cell was *not run*. MAUC has two
    verdicts, one from votes and one from softmax, whose measure is mauc_softmax.
    """
    verdicts: dict[tuple[str, str, str], dict[str, Any]] = {}
    for table, measure, dataset, method, printed in printed_figures(paper):
        for name in [measure, "mauc_softmax"] if measure == "mauc" else [measure]:
            ours = results.figure(dataset, method, name)
            verdict = judge(ours, printed["mean"], name)
            # G-mean and MAUC of CoMBo are in both tables.
            verdicts.setdefault(
                (name, dataset, method),
                {
                    "table": table,
                    "measure": name,
                    "dataset": dataset,
                    "method": method,
                    "ours": ours,
                    "paper": printed,
                    "verdict": verdict,
                },
            )
    return list(verdicts.values())


def count_by_setting(results: Results, paper: dict[str, Any]) -> dict[str, dict[str, int]]:
    """Count CoMBo's verdicts for every way to set its trees, to show how much depends on that.

    The ways are *chosen*, *smallest norm* and every fixed setting that is run on all data sets.
    """
    fixed = [
        name for name, method in METHODS.items() if name.startswith("CoMBo ") and len(method.datasets) == len(DATASETS)
    ]
    find: dict[str, Callable[..., Figure | None]] = {
        "chosen": partial(results.figure, method="CoMBo"),
        "smallest norm": partial(results.figure_of_smallest, method="CoMBo"),
        **{name.removeprefix("CoMBo "): partial(results.figure, method=name) for name in fixed},
    }
    means = {
        (dataset, measure): printed["mean"]
        for _, measure, dataset, method, printed in printed_figures(paper)
        if method == "CoMBo"
    }
    counts = {
        label: Counter(
            judge(of(dataset=dataset, measure=measure), mean, measure) for (dataset, measure), mean in means.items()
        )
        for label, of in find.items()
    }
    return {label: {verdict: count[verdict] for verdict in VERDICTS} for label, count in counts.items()}


def printed_rows(paper: dict[str, Any]) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Every row of the two tables: its table, measure, data set and figures by method."""
    for table in TABLE_METHODS:
        for measure, by_dataset in paper[table].items():
            for dataset, figures in by_dataset.items():
                yield table, measure, dataset, figures


def printed_figures(paper: dict[str, Any]) -> Iterator[tuple[str, str, str, str, dict[str, Any]]]:
    """Every figure of the two tables, with its table, measure, data set and method."""
    for table, measure, dataset, figures in printed_rows(paper):
        for method in TABLE_METHODS[table]:
            yield table, measure, dataset, method, figures[method]


def judge(ours: dict[str, Any] | None, printed: float, measure: str) -> str:
    """Compare our figure with a printed mean.

    Examples
    --------
    >>> from comboost.study._verdicts import judge
    >>> judge({"mean": 0.9996, "std": 0.0, "n": 50}, 1.0, "g_mean")
    'at least as good'
    >>> judge({"mean": 0.20, "std": 0.15, "n": 25}, 0.18, "confusion_norm")
    'within one standard error'
    """
    if ours is None:
        return "not run"
    gap = round(ours["mean"], PAPER_DECIMALS) - printed
    if MEASURES[measure].lower_is_better:
        gap = -gap
    if gap > -0.5 * 10**-PAPER_DECIMALS:
        return "at least as good"
    return "within one standard error" if -gap <= ours["std"] / sqrt(ours["n"]) else "worse"


def list_claims(results: Results, paper: dict[str, Any]) -> list[dict[str, Any]]:
    """Check every significant difference that the paper reports, in bold or with its dagger.

    A claim holds if our folds say the same by the paired t-test, and is None if a method was not run; the corrected
    test is asked for the mark *best* only.
    """
    claims = []
    for table, measure, dataset, figures in printed_rows(paper):
        methods = TABLE_METHODS[table]
        marks = mark(results, dataset, measure, methods, ())
        ran = all(results.of(dataset, method) for method in methods)
        claims += [
            {
                "table": table,
                "measure": measure,
                "dataset": dataset,
                "method": method,
                "mark": "best" if "bold" in figure else "worst",
                "holds": marks[method]["best" if "bold" in figure else "worst"] if ran else None,
                "holds_corrected": marks[method]["best_corrected"] if ran and "bold" in figure else None,
            }
            for method, figure in figures.items()
            if {"bold", "worst"} & set(figure)
        ]
    return claims
