"""``python -m benchmarks.stopping``: fits that validation ends, beside the same fits of all rounds.

In: the bundled data sets, 2 × 5 folds. Out: by how much balanced accuracy and the norm of the confusion matrix differ
on the test folds, in hundredths, and the share of the CPU time; averages over the folds, with standard errors over all.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import RepeatedStratifiedKFold

from comboost import AdaBoostMMClassifier, CoMBoClassifier, ConfusionBoostingClassifier
from comboost.datasets import load_dataset
from comboost.metrics import confusion_norm_loss

PROBLEMS = ("new_thyroid", "balance", "car", "nursery_s", "glass", "ecoli", "yeast", "satimage")
FOLDS = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)
BOOSTERS: dict[str, Callable[[], Any]] = {
    "ConfusionBoosting, defaults": ConfusionBoostingClassifier,
    "CoMBo, defaults": CoMBoClassifier,
    "CoMBo, depth 6, learning rate 0.1": lambda: CoMBoClassifier(max_depth=6, learning_rate=0.1),
    "AdaBoost.MM, defaults": AdaBoostMMClassifier,
}
STOPPED = {
    "defaults": {},
    "refit": {"refit": True},
    'scoring="neg_confusion_norm"': {"scoring": "neg_confusion_norm"},
}
COLUMNS = ("balanced accuracy", "norm", "time")


def differences(make: Callable[[], Any], problem: str) -> Iterator[list[list[float]]]:
    """For every fold, and every way to stop: the columns."""
    X, y = load_dataset(problem, return_X_y=True, as_frame=True)
    y = np.asarray(y)
    for seed, (train, test) in enumerate(FOLDS.split(X, y)):
        rows = X.iloc[train], y[train], X.iloc[test], y[test]
        accuracy, norm, seconds = measure(make(), *rows)
        found = []
        for options in STOPPED.values():
            stopped = make().set_params(early_stopping=True, random_state=seed, **options)
            its_accuracy, its_norm, its_seconds = measure(stopped, *rows)
            found.append([100 * (its_accuracy - accuracy), 100 * (its_norm - norm), its_seconds / seconds])
        yield found


def measure(model: Any, X: Any, y: Any, X_test: Any, y_test: Any) -> tuple[float, float, float]:
    """Balanced accuracy, norm of the confusion matrix, and CPU seconds of the fit."""
    start = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - start
    predicted = model.predict(X_test)
    return balanced_accuracy_score(y_test, predicted), confusion_norm_loss(y_test, predicted), seconds


def main() -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.stopping")
    parser.add_argument("--booster", action="append", choices=BOOSTERS, help="this one alone; may be repeated")
    for name in parser.parse_args().booster or BOOSTERS:
        found = {problem: np.array(list(differences(BOOSTERS[name], problem))) for problem in PROBLEMS}
        print(f"\n{name}\n")
        print(f"| | {' | '.join(f'{stop}: {column}' for stop in STOPPED for column in COLUMNS)} |")
        print("|---" * (1 + len(STOPPED) * len(COLUMNS)) + "|")
        for problem, values in found.items():
            print(f"| {problem} | {' | '.join(f'{value:.2f}' for value in values.mean(axis=0).ravel())} |")
        values = np.concatenate(list(found.values()))
        errors = values.std(axis=0, ddof=1) / np.sqrt(len(values))
        both = zip(values.mean(axis=0).ravel(), errors.ravel(), strict=True)
        print(f"| mean | {' | '.join(f'{value:.2f} ± {error:.2f}' for value, error in both)} |", flush=True)


if __name__ == "__main__":
    main()
