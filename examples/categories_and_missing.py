"""
A table as it comes
===================

Categories, holes, as many rounds as help. In: nothing. Out: a tree, and curves as a picture.

``python examples/categories_and_missing.py`` shows the picture, with ``curves.png`` after it saves it.
"""

import sys

from matplotlib import pyplot as plt
from sklearn.model_selection import train_test_split

from comboost import ConfusionBoostingClassifier
from comboost.datasets import load_car
from comboost.displays import TrainingCurveDisplay


def main() -> TrainingCurveDisplay:
    """Judge cars by six columns of categories, one of them with holes, and stop when validation no longer improves."""
    X, y = load_car(return_X_y=True, as_frame=True)
    X.loc[::10, "safety"] = None  # no preparation: missing values go where they suit best
    X_train, X_val, y_train, y_val = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)

    model = ConfusionBoostingClassifier(n_estimators=1000, early_stopping=True, scoring="neg_confusion_norm")
    model.fit(X_train, y_train, X_val=X_val, y_val=y_val)
    print(f"{model.n_iter_} rounds were best, and the fit ended by {model.stop_reason_}. The first tree:")
    print(model.export_text(0))

    # Validation chose the round, so on these rows the norm is a little too good: test on others.
    return TrainingCurveDisplay.from_estimator(model, X_train, y_train, X_val=X_val, y_val=y_val)


if __name__ == "__main__":
    display = main()
    display.figure_.savefig(sys.argv[1]) if len(sys.argv) > 1 else plt.show()
