"""The paper's four tables and four more as plain dicts, with our results beside the paper's.

A table has a name, a title, notes and blocks. A block has a label, a corner (the header of its first column), columns
and rows; ``paper`` of a column says whether the paper has values for it. A cell is None, a text, or statistics (mean,
std, n) with ``paper``, the paper's own statistics or None, and the marks

- best: a method of the paper that is significantly better than all others, by the paired t-test at 95 %
- best_corrected: the same by the corrected resampled t-test
- best_of_all: significantly better than every other column, including methods that the paper lacks
- worst: CoMBo is significantly worse than all other methods of the paper, if there are several
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from comboost._stats.tests import Comparison
from comboost.study._folds import ENOUGH_SAMPLES, MIN_WINS, N_PARTS, N_RESAMPLES
from comboost.study._methods import METHODS
from comboost.study._results import MEASURES, Results

Cell = dict[str, Any] | None
StudyTable = dict[str, Any]

WITH_BASELINES = ("CoMBo", "AdaBoost.NC", "SMOTEBoost")
PAIR = ("CoMBo", "AdaBoost.MM")
PAPER_METHODS = ("CoMBo", "AdaBoost.MM", "AdaBoost.NC", "SMOTEBoost")
PEERS = ("HistGradientBoosting", "BalancedRandomForest")
DEEP = "CoMBo deep"

FOLDS_NOTE = "Means and standard deviations over all folds of all runs."
PAPER_NOTE = f"{FOLDS_NOTE} Paper: the paper's own result."
FRACTIONS_NOTE = "Fraction of each class predicted as another: true classes in rows, predictions in columns."
BOLD_NOTE = (
    "Bold: significantly better than all other methods of the paper, paired t-test at 95 %. "
    "°: also by the corrected resampled t-test of Nadeau and Bengio."
)
RULE_NOTE = (
    "Depth (3 or 2, with categories 5 or 3; for AdaBoost.NC and SMOTEBoost unlimited, 6, 3 or 2) and criterion (gini "
    "or cost; for those two gini) are chosen for every fold on its training samples, by an inner stratified "
    f"{N_PARTS}-fold cross-validation, or one part of it if every class has {ENOUGH_SAMPLES} samples there: the first "
    "ones named, unless others have the smallest norm of the confusion matrix, and a smaller one than the first in "
    f"{MIN_WINS:.0%} of {N_RESAMPLES} bootstrap samples."
)
SMALLEST_NOTE = "Smallest norm: the result if the setting with the smallest inner norm were always chosen."
PEER_NOTE = (
    "★: significantly better than every other column. HistGradientBoosting (class_weight='balanced') and "
    "imbalanced-learn's BalancedRandomForest, at their defaults, are not in the paper."
)
DEEP_NOTE = (
    "Deeper trees: CoMBo of depth 6, criterion cost, 0.2 % of the loss in every leaf; beyond the paper. Its "
    "marks replace CoMBo in the row above."
)


def make_tables(results: Results, paper: dict[str, Any], datasets: Sequence[str]) -> dict[str, StudyTable]:
    """Make all tables that only depend on the seed, by their names."""
    tables = {
        "distributions": distributions_table(results, paper, datasets),
        "baselines": baselines_table(results, paper, datasets),
        "mm": mm_table(results, paper, datasets),
        "connect": connect_table(results, paper),
        "settings": settings_table(results, datasets),
        "recalls": recalls_table(results, datasets),
        "confusions": confusions_table(results, datasets),
    }
    return {name: {"name": name} | table for name, table in tables.items()}


def make_times(results: Results, datasets: Sequence[str]) -> StudyTable:
    """Make the table of seconds, which differs from run to run."""
    parts = {"choose": "to choose the setting", "fit": "to fit", "predict": "to predict"}
    blocks = []
    for part, label in parts.items():
        methods = [name for name, method in METHODS.items() if part != "choose" or len(method.candidates) > 1]
        rows = {method: [results.seconds(dataset, method)[part] for dataset in datasets] for method in methods}
        blocks.append(make_block(f"seconds {label}", "method", datasets, rows))
    note = "One fold on one core, in seconds. It depends on the load of the machine."
    return {"name": "times", "title": "Times", "notes": [note], "blocks": blocks}


def distributions_table(results: Results, paper: dict[str, Any], datasets: Sequence[str]) -> StudyTable:
    """The paper's first table: samples and classes of the data sets."""
    columns = ("classes", "examples", "distribution", "imbalance ratio")
    rows = {}
    for dataset in datasets:
        counts, printed = results.class_counts(dataset), paper["distributions"][dataset]
        ours = describe_counts(sorted(counts.values(), reverse=True)) if counts else [None] * 4
        theirs = [*describe_counts(printed["class_counts"])[:3], f"{printed['imbalance_ratio']:.2f}"]
        rows[dataset] = [{"text": mine, "paper": {"text": its}} for mine, its in zip(ours, theirs, strict=True)]
    note = "Ours from the largest class to the smallest, the paper's in its own order."
    block = make_block("", "data set", columns, rows, with_paper=columns)
    return {"title": "Class distributions", "notes": [note], "blocks": [block]}


def describe_counts(counts: list[int]) -> list[str]:
    """Classes, samples, samples per class and imbalance ratio, as text."""
    return [str(len(counts)), str(sum(counts)), "/".join(map(str, counts)), f"{max(counts) / min(counts):.2f}"]


def baselines_table(results: Results, paper: dict[str, Any], datasets: Sequence[str]) -> StudyTable:
    """The paper's second table: CoMBo, AdaBoost.NC and SMOTEBoost."""
    order = in_printed_order(paper["baselines"]["g_mean"], datasets)
    blocks = [
        compare_block(results, measure, WITH_BASELINES, order, paper["baselines"].get(measure, {}))
        for measure in ("g_mean", "mauc", "mauc_softmax")
    ]
    worst = "†: CoMBo is significantly worse than all other methods of the paper."
    mauc = "MAUC of the boosters uses vote fractions, as in the paper, and softmax in the last block."
    notes = [PAPER_NOTE, RULE_NOTE, BOLD_NOTE, PEER_NOTE, worst, mauc, DEEP_NOTE]
    return {"title": "Against the baselines", "notes": notes, "blocks": blocks}


def mm_table(results: Results, paper: dict[str, Any], datasets: Sequence[str]) -> StudyTable:
    """The paper's third table: CoMBo and AdaBoost.MM."""
    order = in_printed_order(paper["mm"]["confusion_norm"], datasets)
    blocks = [compare_block(results, measure, PAIR, order, paper["mm"].get(measure, {})) for measure in MEASURES]
    notes = [
        PAPER_NOTE,
        RULE_NOTE,
        BOLD_NOTE,
        PEER_NOTE,
        "MAUC uses vote fractions, as in the paper, and softmax in the last block. The paper gives no results for "
        "glass, ecoli and satimage, where it calls the two equivalent.",
        DEEP_NOTE,
    ]
    return {"title": "CoMBo against AdaBoost.MM", "notes": notes, "blocks": blocks}


def compare_block(
    results: Results, measure: str, group: Sequence[str], datasets: Sequence[str], printed: dict[str, Any]
) -> dict[str, Any]:
    """One measure of the paper's methods and other libraries, with a row per data set and one for deeper trees."""
    rows: dict[str, list[Cell]] = {}
    for dataset in datasets:
        marks = mark(results, dataset, measure, group, PEERS)
        rows[dataset] = []
        for method in (*group, *PEERS):
            ours = results.statistics(dataset, method, measure)
            marked = ours and ours | marks.get(method, {})
            rows[dataset].append(beside_paper(marked, printed.get(dataset, {}).get(method)))
        deep = results.statistics(dataset, DEEP, measure)
        if deep is not None:
            deep |= mark(results, dataset, measure, (DEEP, *group[1:]), PEERS)[DEEP]
            rows[f"{dataset}, deeper trees"] = [deep, *[None] * (len(group) + len(PEERS) - 1)]
    label, with_paper = MEASURES[measure].label, group if printed else ()
    return make_block(label, "data set", [*group, *PEERS], rows, with_paper=with_paper)


def connect_table(results: Results, paper: dict[str, Any]) -> StudyTable:
    """The paper's fourth table: confusion matrices on connect-4."""
    classes = paper["connect"]["classes"]
    blocks = []
    for method in PAIR:
        matrix, printed = results.confusion("connect-4", method, classes), paper["connect"]["matrices"][method]
        rows = {
            name: [beside_paper(ours, {"mean": mean}) for ours, mean in zip(matrix[k], printed[k], strict=True)]
            for k, name in enumerate(classes)
        }
        blocks.append(make_block(method, "true class", classes, rows, with_paper=classes))
    notes = [FRACTIONS_NOTE, PAPER_NOTE]
    return {"title": "Confusion matrices on connect-4", "notes": notes, "blocks": blocks}


def settings_table(results: Results, datasets: Sequence[str]) -> StudyTable:
    """Chosen settings, and results of every fixed setting."""
    blocks = []
    for family in PAPER_METHODS:
        fixed = [name for name in METHODS if name.startswith(f"{family} depth")]
        extra = [DEEP] if family == "CoMBo" else []
        headers = ["chosen", "smallest norm", *(name.removeprefix(f"{family} ") for name in [*fixed, *extra])]
        for measure, description in MEASURES.items():
            rows = {
                dataset: [
                    results.statistics(dataset, family, measure),
                    results.statistics_of_smallest(dataset, family, measure),
                    *(results.statistics(dataset, method, measure) for method in [*fixed, *extra]),
                ]
                for dataset in datasets
            }
            if any(cell for cells in rows.values() for cell in cells):
                blocks.append(make_block(f"{family}, {description.label}", "data set", headers, rows))
        texts = {name: results.settings(name, family) for name in datasets}
        chosen = {name: [{"text": text} if text else None] for name, text in texts.items()}
        blocks.append(make_block(f"{family}, settings chosen", "data set", ["setting: folds"], chosen))
    notes = [FOLDS_NOTE, RULE_NOTE, SMALLEST_NOTE]
    return {"title": "Depth and criterion: chosen and fixed", "notes": notes, "blocks": blocks}


def recalls_table(results: Results, datasets: Sequence[str]) -> StudyTable:
    """Per-class recalls of all methods."""
    methods = [*PAPER_METHODS, *PEERS, DEEP]
    blocks = []
    for dataset in datasets:
        recalls = {method: results.recalls(dataset, method) for method in methods}
        counts = results.class_counts(dataset) or {}
        rows = {
            f"{name} ({n} samples)": [recalls[method].get(name) for method in methods]
            for name, n in sorted(counts.items(), key=lambda item: -item[1])
        }
        blocks.append(make_block(dataset, "class", methods, rows))
    return {"title": "Per-class recall", "notes": [FOLDS_NOTE], "blocks": blocks}


def confusions_table(results: Results, datasets: Sequence[str]) -> StudyTable:
    """Confusion matrices of all methods."""
    blocks = []
    for dataset in datasets:
        classes = list(results.class_counts(dataset) or {})
        for method in (*PAPER_METHODS, *PEERS, DEEP):
            rows = dict(zip(classes, results.confusion(dataset, method, classes), strict=True))
            blocks.append(make_block(f"{dataset}, {method}", "true class", classes, rows))
    return {"title": "Confusion matrices", "notes": [FRACTIONS_NOTE, FOLDS_NOTE], "blocks": blocks}


def mark(
    results: Results, dataset: str, measure: str, group: Sequence[str], peers: Sequence[str]
) -> dict[str, dict[str, bool]]:
    """The marks of every method.

    The group are the paper's methods, CoMBo first; only best_of_all also considers ``peers``.
    """
    group = [method for method in group if dataset in METHODS[method].datasets]
    everyone = [*group, *peers]
    compared = {
        (first, second): results.compare(dataset, first, second, measure)
        for first in everyone
        for second in everyone
        if first != second
    }

    def beats(method: str, others: Iterable[str], *, corrected: bool = False) -> bool:
        return all_better([compared[method, other] for other in others if other != method], corrected=corrected)

    marks = {}
    for method in everyone:
        is_papers = method in group
        marks[method] = {
            "best": is_papers and beats(method, group),
            "best_corrected": is_papers and beats(method, group, corrected=True),
            "best_of_all": beats(method, everyone),
            "worst": is_papers
            and method == group[0]
            and len(group) > 2
            and all_better([compared[other, method] for other in group[1:]], corrected=False),
        }
    return marks


def all_better(comparisons: list[Comparison | None], *, corrected: bool) -> bool:
    """Whether there are comparisons and the first method is significantly better in all of them."""
    return bool(comparisons) and all(
        comparison is not None and comparison.is_better(corrected=corrected) for comparison in comparisons
    )


def beside_paper(cell: dict[str, Any] | None, printed: dict[str, Any] | None) -> Cell:
    """A cell with the paper's; None if there is neither."""
    if cell is None and printed is None:
        return None
    return (cell or {"mean": None, "std": None, "n": 0}) | {"paper": printed}


def make_block(
    label: str,
    corner: str,
    columns: Iterable[str],
    rows: Mapping[str, Sequence[Cell]],
    *,
    with_paper: Sequence[str] = (),
) -> dict[str, Any]:
    """A block of a table; the paper has values for the columns ``with_paper``."""
    return {
        "label": label,
        "corner": corner,
        "columns": [{"label": column, "paper": column in with_paper} for column in columns],
        "rows": [{"label": name, "cells": list(cells)} for name, cells in rows.items()],
    }


def in_printed_order(printed: Iterable[str], datasets: Sequence[str]) -> list[str]:
    """The requested data sets: those of the paper's table in its order, then the others."""
    printed = list(printed)
    return [name for name in printed if name in datasets] + [name for name in datasets if name not in printed]
