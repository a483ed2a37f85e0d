"""Quality at default parameters. In: a set and a method. Out: every measure on every fold, the same for all methods."""

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold

from benchmarks._lib.timing import quiet
from benchmarks.quality.measures import (
    ACCURACY,
    NORM,
    PLAIN_LOG_LOSS,
    SMALLEST_RECALL,
    Classes,
    Figures,
    measure,
    recalls,
    row_losses,
)
from benchmarks.quality.methods import METHODS, UNDER_TRAINING_PRIOR, Method
from benchmarks.quality.plan import Plan
from benchmarks.quality.problems import SEED, SETS, Rows
from benchmarks.quality.store import Entry

FIT_SECONDS = "fit_seconds"


class Folds:
    """The kind of comparison, for `running`."""

    name = "folds"
    problems = SETS
    methods = (*METHODS, *UNDER_TRAINING_PRIOR)

    def prepare(self, rows: Rows, plan: Plan) -> Rows:
        """The rows as they are."""
        return rows

    def measure(self, rows: Rows, method: Method, plan: Plan) -> Entry:
        """Cross-validate."""
        X, y = rows
        splitter = RepeatedStratifiedKFold(n_splits=plan.n_splits, n_repeats=plan.n_repeats, random_state=SEED)
        folds = [measure_fold(method, X, y, train, test, plan) for train, test in splitter.split(X, y)]
        sizes = np.bincount(y)
        return {
            "n_samples": len(y),
            "n_classes": len(sizes),
            "smallest": int(sizes.min()),
            "folds": {key: [round(fold[key], 6) for fold in folds] for key in folds[0]},
        }

    def describe(self, entry: Entry) -> str:
        """An entry in a line."""
        means = {key: float(np.mean(values)) for key, values in entry["folds"].items()}
        figures = ", ".join(f"{one.title} {means[one.key]:.3f}" for one in (NORM, ACCURACY))
        return f"{figures}; a fit takes {means[FIT_SECONDS]:.2f} s"


def measure_fold(method: Method, X: NDArray[Any], y: Classes, train: Classes, test: Classes, plan: Plan) -> Figures:
    """Every measure on the test rows of a fold."""
    with quiet(plan.n_threads):
        start = time.perf_counter()
        model = method.fit(X[train], y[train], plan.n_threads)
        seconds = time.perf_counter() - start
    probabilities = model.predict_proba(X[test])
    predicted = np.asarray(model.predict(X[test])).reshape(-1)  # CatBoost gives a column
    n_classes = probabilities.shape[1]
    return measure(y[test], predicted, probabilities) | {
        PLAIN_LOG_LOSS.key: float(row_losses(y[test], probabilities).mean()),
        SMALLEST_RECALL.key: float(recalls(y[test], predicted, n_classes)[np.bincount(y).argmin()]),
        FIT_SECONDS: seconds,
    }
