"""The two comparisons. In: a problem and a method. Out: every measure on the test rows of every split."""

import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold, train_test_split

from benchmarks._lib.timing import quiet, timed
from benchmarks.quality.measures import (
    ACCURACY,
    FIT_SECONDS,
    LOG_LOSS,
    NORM,
    PLAIN_LOG_LOSS,
    SMALLEST_RECALL,
    Classes,
    Figures,
    measure,
    recalls,
    row_losses,
)
from benchmarks.quality.methods import METHODS, UNDER_TRAINING_PRIOR, Method, OurMethod
from benchmarks.quality.plan import Plan
from benchmarks.quality.problems import PROBLEMS, SEED, SETS, Problem, Rows
from benchmarks.quality.store import Entry
from comboost.datasets import make_imbalanced

TEST_SHARE = 0.3
SHORT = 5.0  # seconds of a fit that is repeated

AnyMethod = Method | OurMethod
Splits = Iterable[tuple[Classes, Classes]]  # indices of training and test rows


@dataclass(frozen=True)
class Comparison:
    """Problems × methods, and how the rows of a problem are split."""

    name: str
    problems: tuple[Problem, ...]
    methods: tuple[AnyMethod, ...]
    split: Callable[[Classes, Plan], Splits]
    repeats_short_fits: bool = False  # the quickest counts

    def measure(self, rows: Rows, method: AnyMethod, plan: Plan) -> Entry:
        """Fit a method on the training rows of every split and measure it on the test rows."""
        X, y = rows
        warm_up(method, plan)
        n_fits = plan.n_fits if self.repeats_short_fits else 1
        splits = [measure_split(method, X, y, train, test, plan, n_fits) for train, test in self.split(y, plan)]
        sizes = np.bincount(y)
        return {
            "n_samples": len(y),
            "n_classes": len(sizes),
            "smallest": int(sizes.min()),
            "folds": {key: [round(one[key], 6) for one in splits] for key in splits[0]},
        }


def describe(entry: Entry) -> str:
    """An entry in a line."""
    means = {key: float(np.mean(values)) for key, values in entry["folds"].items()}
    figures = ", ".join(f"{one.title} {means[one.key]:.3f}" for one in (LOG_LOSS, NORM, ACCURACY))
    return f"{figures}; a fit takes {means[FIT_SECONDS.key]:.2f} s"


def warm_up(method: AnyMethod, plan: Plan) -> None:
    """Fit once, as a first fit also loads code and starts threads; an error will come again where it counts."""
    X, y = make_imbalanced(300, n_features=5, random_state=0)
    with contextlib.suppress(Exception), quiet(plan.n_threads):
        method.fit(X, y, plan)


def measure_split(
    method: AnyMethod, X: NDArray[Any], y: Classes, train: Classes, test: Classes, plan: Plan, n_fits: int
) -> Figures:
    """Every measure on the test rows, and the seconds of the quickest fit; only short fits are repeated."""
    X_train, y_train = X[train], y[train]
    seconds, model = timed(lambda: method.fit(X_train, y_train, plan), plan.n_threads)
    for _ in range(n_fits - 1 if seconds < SHORT else 0):
        seconds = min(seconds, timed(lambda: method.fit(X_train, y_train, plan), plan.n_threads)[0])
    probabilities = np.asarray(model.predict_proba(X[test]))
    predicted = np.asarray(model.predict(X[test])).reshape(-1)  # CatBoost gives a column
    return measure(y[test], predicted, probabilities) | {
        PLAIN_LOG_LOSS.key: float(row_losses(y[test], probabilities).mean()),
        SMALLEST_RECALL.key: float(recalls(y[test], predicted, probabilities.shape[1])[np.bincount(y).argmin()]),
        FIT_SECONDS.key: seconds,
    }


def split_once(y: Classes, plan: Plan) -> Splits:
    """Hold out 30 % of the rows of every class."""
    return [tuple(train_test_split(np.arange(len(y)), test_size=TEST_SHARE, stratify=y, random_state=SEED))]


def split_into_folds(y: Classes, plan: Plan) -> Splits:
    """Repeat stratified folds."""
    folds = RepeatedStratifiedKFold(n_splits=plan.n_splits, n_repeats=plan.n_repeats, random_state=SEED)
    return folds.split(y, y)


HOLDOUT = Comparison("holdout", PROBLEMS, METHODS, split_once, repeats_short_fits=True)
FOLDS = Comparison("folds", SETS, (*METHODS, *UNDER_TRAINING_PRIOR), split_into_folds)
COMPARISONS = {comparison.name: comparison for comparison in (HOLDOUT, FOLDS)}
