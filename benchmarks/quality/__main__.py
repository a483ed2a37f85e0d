"""``python -m benchmarks.quality``: CoMBo beside other classifiers that balance classes, all with default parameters.

In: data sets that come with comboost, words as their codes, the same folds for all. Out: a table for every measure.
"""

from typing import Any

from imblearn.ensemble import BalancedRandomForestClassifier
from lightgbm import LGBMClassifier
from numpy import unique
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import balanced_accuracy_score, recall_score
from sklearn.model_selection import RepeatedStratifiedKFold, cross_validate

from comboost import CoMBoClassifier
from comboost.datasets import load_dataset
from comboost.metrics import confusion_norm_loss

PROBLEMS = ("yeast", "glass", "car", "satimage")  # from the smallest to the largest of their smallest classes
FOLDS = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)
METHODS = {
    "CoMBo": CoMBoClassifier(random_state=0),
    "LightGBM": LGBMClassifier(class_weight="balanced", random_state=0, verbose=-1),
    "HistGradientBoosting": HistGradientBoostingClassifier(class_weight="balanced", random_state=0),
    "BalancedRandomForest": BalancedRandomForestClassifier(random_state=0),
}
MEASURES = {
    "norm": "norm of the confusion matrix, lower is better",
    "accuracy": "balanced accuracy, higher is better",
    "recall": "recall of the smallest class, higher is better",
}


def measure(model: Any, X: Any, y: Any) -> dict[str, float]:
    """Every measure, on average over the test folds."""
    labels, counts = unique(y, return_counts=True)
    smallest = labels[counts.argmin()]

    def score(fitted: Any, X: Any, y: Any) -> dict[str, float]:
        predicted = fitted.predict(X)
        return {
            "norm": confusion_norm_loss(y, predicted),
            "accuracy": balanced_accuracy_score(y, predicted),
            "recall": recall_score(y, predicted, labels=[smallest], average="macro"),
        }

    found = cross_validate(model, X, y, cv=FOLDS, scoring=score, error_score="raise")
    return {name: found[f"test_{name}"].mean() for name in MEASURES}


def main() -> None:
    rows = {}
    for problem in PROBLEMS:
        X, y = load_dataset(problem, return_X_y=True)
        rows[problem] = [measure(model, X, y) for model in METHODS.values()]
    for name, title in MEASURES.items():
        print(f"\n| {title} | {' | '.join(METHODS)} |\n|---{'|---' * len(METHODS)}|")
        for problem, found in rows.items():
            print(f"| {problem} | {' | '.join(f'{figures[name]:.3f}' for figures in found)} |")


if __name__ == "__main__":
    main()
