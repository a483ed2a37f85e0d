"""``comboost cv``: cross-validate an estimator on a file."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import RepeatedStratifiedKFold

from comboost.cli.input.training_table import DataRequest, TrainingTable, read_training_table
from comboost.cli.jobs.rounds import report_rounds
from comboost.cli.jobs.settings import Settings, make_estimator
from comboost.cli.terminal.errors import CommandError
from comboost.cli.terminal.progress import Tick
from comboost.model_selection import ConfusionFolds, cross_validate_confusion

Split = tuple[Any, Any]


@dataclass(frozen=True)
class ValidationResult:
    """Out-of-sample recalls and confusions of an estimator, and bounds for its classifiers of the folds on new data."""

    data: dict[str, Any]
    estimator: str
    parameters: dict[str, Any]
    n_folds: int
    confidence: float
    classes: list[dict[str, Any]]  # name, rows, recall with its interval, the class most often predicted instead
    confusion: list[list[float]]
    norm: float
    norm_bound: float
    g_mean: float
    g_mean_bound: float
    mean_recall: float
    mean_recall_bound: float
    notes: list[str]


def validate_file(request: DataRequest, settings: Settings, n_folds: int, tick: Tick) -> ValidationResult:
    """Cross-validate on the rows of a file."""
    estimator = make_estimator(settings)
    tick("reading", 0.0)
    table = read_training_table(request)
    splits = make_splits(table, n_folds, 1, estimator.random_state)
    folds = []
    for idx, split in enumerate(splits):
        first, last = idx / len(splits), (idx + 1) / len(splits)
        report_rounds(estimator, tick, f"fold {idx + 1} of {len(splits)}", first, last)
        folds.append(cross_validate_confusion(estimator, table.X, table.y, cv=[split]))
    return summarise_folds(join_folds(folds, table), table, estimator, n_folds)


def make_splits(table: TrainingTable, n_folds: int, n_repeats: int, seed: int | None) -> list[Split]:
    """Split rows into training and test rows, the same for all classifiers."""
    largest = max(table.class_sizes.values())
    if largest < n_folds:
        raise CommandError(
            f"{table.name} has at most {largest} rows of a class, too few for {n_folds} folds; give fewer --folds, or "
            "more rows."
        )
    splitter = RepeatedStratifiedKFold(n_splits=n_folds, n_repeats=n_repeats, random_state=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")  # `note_small_classes` reports it
        return list(splitter.split(np.zeros(len(table.y)), table.y))


def join_folds(folds: Sequence[ConfusionFolds], table: TrainingTable) -> ConfusionFolds:
    """Join folds that have, together, tested every row, once or several times."""
    first = folds[0]
    counts = np.concatenate([fold.fold_counts for fold in folds])
    sizes = np.array([(table.y == label).sum() for label in first.classes], dtype=np.float64)
    return ConfusionFolds(first.classes, counts, sizes, first.confidence)


def geometric_mean(recalls: Any) -> float:
    """Compute the geometric mean of recalls."""
    return float(np.prod(np.asarray(recalls)) ** (1 / len(recalls)))


def summarise_folds(folds: ConfusionFolds, table: TrainingTable, estimator: Any, n_folds: int) -> ValidationResult:
    """Compute the metrics of all folds."""
    low, high = folds.recall_intervals
    confusion = folds.confusion
    classes = [
        {
            "name": str(label),
            "index": k,  # in the matrix
            "rows": int(folds.sizes[k]),
            "recall": float(folds.recalls[k]),
            "recall_low": float(low[k]),
            "recall_high": float(high[k]),
            "predicted_as": str(folds.classes[confusion[k].argmax()]) if confusion[k].any() else None,
            "predicted_as_fraction": float(confusion[k].max()),
        }
        for k, label in enumerate(folds.classes)
    ]
    return ValidationResult(
        data=table.describe(),
        estimator=type(estimator).__name__,
        parameters=estimator.get_params(),
        n_folds=n_folds,
        confidence=folds.confidence,
        classes=sorted(classes, key=lambda each: -int(each["rows"])),
        confusion=confusion.tolist(),
        norm=folds.norm,
        norm_bound=folds.norm_bound,
        g_mean=geometric_mean(folds.recalls),
        g_mean_bound=folds.geometric_mean_bound,
        mean_recall=float(np.mean(folds.recalls)),
        mean_recall_bound=folds.mean_recall_bound,
        notes=note_small_classes(table, n_folds),
    )


def note_small_classes(table: TrainingTable, n_folds: int) -> list[str]:
    """Note which classes are too small to be in every fold."""
    small = {name: n for name, n in table.class_sizes.items() if n < n_folds}
    single = [name for name, n in small.items() if n == 1]
    notes = []
    if small:
        sizes = ", ".join(f"{name} ({n})" for name, n in small.items())
        notes.append(f"Classes with fewer rows than folds, whose recall is unreliable: {sizes}")
    if single:
        notes.append(f"A class with a single row cannot be both trained on and tested: {', '.join(single)}")
    return notes
