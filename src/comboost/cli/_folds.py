"""Cross-validation of a file. In: a lesson, an estimator, the number of folds. Out: `ConfusionFolds`, fold by fold."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import RepeatedStratifiedKFold

from comboost._boosting.monitor import RoundCounter
from comboost.cli._errors import CommandError
from comboost.cli._learning import Lesson, Request, read_lesson
from comboost.cli._progress import Tick
from comboost.cli._settings import Recipe, make_estimator
from comboost.model_selection import ConfusionFolds, cross_validate_confusion

Split = tuple[Any, Any]


@dataclass(frozen=True)
class ValidationResult:
    """How an estimator did on rows that it had not seen."""

    lesson: dict[str, Any]
    estimator: str
    parameters: dict[str, Any]
    n_folds: int
    confidence: float
    classes: list[dict[str, Any]]  # name, rows, recall with its limits, what it is taken for most
    confusion: list[list[float]]
    norm: float
    norm_bound: float
    g_mean: float
    mean_recall: float
    notes: list[str]


def validate_file(request: Request, recipe: Recipe, n_folds: int, tick: Tick) -> ValidationResult:
    """Cross-validate on the rows of a file."""
    estimator = make_estimator(recipe)
    tick("reading", 0.0)
    lesson = read_lesson(request)
    splits = make_splits(lesson, n_folds, 1, estimator.random_state)
    n_steps, n_rounds = len(splits), estimator.n_estimators
    found = list(folds_found(estimator, lesson, splits, lambda n: tick_of(tick, n, n_rounds, n_steps)))
    return summarise_folds(joined_folds(found, lesson), lesson, estimator, n_folds)


def tick_of(tick: Tick, n_done: int, n_rounds: int, n_steps: int) -> None:
    """Tell of a round in one of several fits."""
    fold = min(n_done // n_rounds, n_steps - 1)
    tick(f"fold {fold + 1} of {n_steps}", n_done / n_rounds / n_steps)


def make_splits(lesson: Lesson, n_folds: int, n_repeats: int, seed: int | None) -> list[Split]:
    """Rows to train on and rows to test, the same for all who take part."""
    sizes = lesson.class_sizes
    if len(lesson.y) < n_folds or max(sizes.values()) < n_folds:
        raise CommandError(
            f"{lesson.name} has at most {max(sizes.values())} rows of a class, too few for {n_folds} folds; give fewer "
            "--folds, or more rows."
        )
    splitter = RepeatedStratifiedKFold(n_splits=n_folds, n_repeats=n_repeats, random_state=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")  # `note_small_classes` says it
        return list(splitter.split(np.zeros(len(lesson.y)), lesson.y))


def folds_found(
    estimator: Any, lesson: Lesson, splits: Sequence[Split], tell: Callable[[int], None] | None = None
) -> Iterator[ConfusionFolds]:
    """Cross-validate split by split."""
    n_before = 0
    for split in splits:
        if tell is not None:
            start = n_before
            estimator.set_callbacks(RoundCounter(lambda n, start=start: tell(start + n)))  # type: ignore[misc]
            n_before += estimator.n_estimators
        yield cross_validate_confusion(estimator, lesson.X, lesson.y, cv=[split])


def joined_folds(found: Sequence[ConfusionFolds], lesson: Lesson) -> ConfusionFolds:
    """Folds that have, together, tested every row, once or several times."""
    first = found[0]
    counts = np.concatenate([folds.fold_counts for folds in found])
    sizes = np.array([(lesson.y == label).sum() for label in first.classes], dtype=np.float64)
    return ConfusionFolds(first.classes, counts, sizes, first.confidence)


def geometric_mean(recalls: Any) -> float:
    """The geometric mean of recalls."""
    return float(np.prod(np.asarray(recalls)) ** (1 / len(recalls)))


def summarise_folds(folds: ConfusionFolds, lesson: Lesson, estimator: Any, n_folds: int) -> ValidationResult:
    """Plain figures of all folds."""
    low, high = folds.recall_intervals
    confusion = folds.confusion
    classes = [
        {
            "name": str(label),
            "place": k,  # in the matrix
            "rows": int(folds.sizes[k]),
            "recall": float(folds.recalls[k]),
            "recall_low": float(low[k]),
            "recall_high": float(high[k]),
            "taken_for": str(folds.classes[confusion[k].argmax()]) if confusion[k].any() else None,
            "taken_for_share": float(confusion[k].max()),
        }
        for k, label in enumerate(folds.classes)
    ]
    return ValidationResult(
        lesson=lesson.as_dict(),
        estimator=type(estimator).__name__,
        parameters=estimator.get_params(),
        n_folds=n_folds,
        confidence=folds.confidence,
        classes=sorted(classes, key=lambda each: -int(each["rows"])),
        confusion=confusion.tolist(),
        norm=folds.norm,
        norm_bound=folds.norm_bound,
        g_mean=geometric_mean(folds.recalls),
        mean_recall=float(np.mean(folds.recalls)),
        notes=note_small_classes(lesson, n_folds),
    )


def note_small_classes(lesson: Lesson, n_folds: int) -> list[str]:
    """Say which classes are too small to be in every fold."""
    small = {name: n for name, n in lesson.class_sizes.items() if n < n_folds}
    alone = [name for name, n in small.items() if n == 1]
    notes = []
    if small:
        told = ", ".join(f"{name} ({n})" for name, n in small.items())
        notes.append(f"Classes with fewer rows than folds, whose recall says little: {told}")
    if alone:
        notes.append(f"A class with one row cannot be learned and tested: {', '.join(alone)}")
    return notes
