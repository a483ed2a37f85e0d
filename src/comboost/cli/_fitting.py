"""A model of a file. In: data, an estimator, a path. Out: the model file, whole, and a plain `FitResult`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from comboost._boosting.monitor import RoundCounter
from comboost.cli._learning import Lesson, Request, read_lesson
from comboost.cli._outputs import check_apart, check_output
from comboost.cli._progress import Tick
from comboost.cli._settings import Recipe, make_estimator


@dataclass(frozen=True)
class FitResult:
    """What was learned, from what, and where it is."""

    lesson: dict[str, Any]  # as `Lesson.as_dict` gives it
    model: str
    n_bytes: int
    estimator: str
    parameters: dict[str, Any]
    n_rounds: int
    stop_reason: str
    train_norm: float


def fit_file(request: Request, recipe: Recipe, out: str, tick: Tick) -> FitResult:
    """Fit on the rows of a file and save the model; whatever is wrong, no file is touched."""
    check_output(out)
    check_apart(out, {"data": request.source})
    estimator = make_estimator(recipe)
    tick("reading", 0.0)
    lesson = read_lesson(request)
    fitted = fit_lesson(estimator, lesson, tick)
    return save_fitted(fitted, lesson.as_dict(), request.missing, out)


def fit_lesson(estimator: Any, lesson: Lesson, tick: Tick) -> Any:
    """Fit, and tell of every round."""
    n_rounds = estimator.n_estimators
    estimator.set_callbacks(RoundCounter(lambda n_done: tick("boosting", n_done / n_rounds)))
    return estimator.fit(lesson.X, lesson.y).set_callbacks()


def save_fitted(fitted: Any, lesson: dict[str, Any], missing: Sequence[str], out: str) -> FitResult:
    """Save a model with the name of its target, and with what stands for missing values, which `predict` needs, too."""
    fitted.target_name_ = lesson["target"]
    if missing:
        fitted.missing_marks_ = list(missing)
    fitted.save_model(out)
    return FitResult(
        lesson=lesson,
        model=out,
        n_bytes=Path(out).stat().st_size,
        estimator=type(fitted).__name__,
        parameters=fitted.get_params(),
        n_rounds=int(fitted.n_iter_),
        stop_reason=str(fitted.stop_reason_),
        train_norm=float(np.linalg.norm(fitted.train_confusion_, ord=2)),
    )
