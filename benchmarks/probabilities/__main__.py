"""``python -m benchmarks.probabilities``: which map makes probabilities of the votes of ConfusionBoostingClassifier.

In: the paper's data sets, 5 folds. Out: class-balanced log-loss of softmax(s·f) on the test folds, for fixed scales s,
for one that was learned on a fifth of the training rows, which that model then does without, and for one that was
learned on out-of-fold votes of all training rows.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split

from benchmarks.quality.problems import SETS
from comboost import ConfusionBoostingClassifier

SCALES = (0.5, 0.7, 1.0, 1.4, 2.0)
FOLDS = StratifiedKFold(n_splits=5, shuffle=True, random_state=0)
INNER = StratifiedKFold(n_splits=3, shuffle=True, random_state=1)

Votes = NDArray[np.float64]
Classes = NDArray[np.intp]


def loss_of(votes: Votes, y: Classes, scale: float) -> float:
    """Class-balanced log-loss of softmax(scale · votes)."""
    losses = -log_softmax(scale * votes, axis=1)[np.arange(len(y)), y]
    return float(np.mean([losses[y == label].mean() for label in np.unique(y)]))


def best_scale(votes: Votes, y: Classes) -> float:
    """The scale with the smallest loss, which is convex in it."""
    found = minimize_scalar(lambda log: loss_of(votes, y, np.exp(log)), bounds=(-3, 3), method="bounded")
    return float(np.exp(found.x))


def held_out(X: Any, y: Classes) -> tuple[Any, float]:
    """A model of four fifths of the rows, and the scale that suits the others."""
    rows = train_test_split(X, y, test_size=0.2, stratify=y, random_state=0)
    model = ConfusionBoostingClassifier().fit(rows[0], rows[2])
    return model, best_scale(model.decision_function(rows[1]), rows[3])


def out_of_fold(X: Any, y: Classes) -> tuple[Any, float]:
    """A model of all rows, and the scale that suits the votes of models of two thirds of them on the others."""
    votes = cross_val_predict(ConfusionBoostingClassifier(), X, y, cv=INNER, method="decision_function")
    return ConfusionBoostingClassifier().fit(X, y), best_scale(votes, y)


LEARNED: dict[str, Callable[[Any, Classes], tuple[Any, float]]] = {"held out": held_out, "out of fold": out_of_fold}


def measure(X: Any, y: Classes, train: Classes, test: Classes) -> list[float]:
    """The losses on a fold: of the fixed scales, then of those that were learned."""
    model = ConfusionBoostingClassifier().fit(X[train], y[train])
    losses = [loss_of(model.decision_function(X[test]), y[test], scale) for scale in SCALES]
    for learn in LEARNED.values():
        model, scale = learn(X[train], y[train])
        losses.append(loss_of(model.decision_function(X[test]), y[test], scale))
    return losses


def main() -> None:
    print(f"| | {' | '.join([*map(str, SCALES), *LEARNED])} |")
    print("|---" * (1 + len(SCALES) + len(LEARNED)) + "|")
    for problem in SETS:
        try:
            X, y = problem.load_all()
        except OSError as reason:  # connect-4 is not bundled
            print(f"{problem.name} is left out: {reason}")
            continue
        losses = np.mean([measure(X, y, *fold) for fold in FOLDS.split(X, y)], axis=0)
        print(f"| {problem.name} | {' | '.join(f'{loss:.3f}' for loss in losses)} |", flush=True)


if __name__ == "__main__":
    main()
