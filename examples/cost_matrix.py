"""
A mistake that costs more than others
=====================================

In: nothing. Out: expected costs, and who is taken for whom as a picture.

``python examples/cost_matrix.py`` shows the picture, ``python examples/cost_matrix.py costs.png`` saves it.
"""

import sys

import pandas as pd
from matplotlib import pyplot as plt
from sklearn.model_selection import train_test_split

from comboost import ConfusionBoostingClassifier
from comboost.datasets import load_satimage
from comboost.displays import ConfusionNormDisplay
from comboost.metrics import expected_cost_loss


def main() -> ConfusionNormDisplay:
    """Tell soils apart from above, where to take one for a wetter one is ten times as bad as other mistakes."""
    X, y = load_satimage(return_X_y=True)
    X, y = X[::4], y[::4]
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)

    # Truth in rows, prediction in columns; costs are those of a mistake, so there is none on the diagonal.
    classes = sorted(set(y))
    costs = pd.DataFrame(1.0, index=classes, columns=classes)
    costs.loc["damp grey soil", "very damp grey soil"] = 10.0
    for name in classes:
        costs.loc[name, name] = 0.0

    models = {
        "every mistake costs 1": ConfusionBoostingClassifier(n_estimators=100),
        "damp taken for very damp costs 10": ConfusionBoostingClassifier(n_estimators=100, cost_matrix=costs),
    }
    for name, model in models.items():
        predicted = model.fit(X_train, y_train).predict(X_test)
        print(f"{name}: a row costs {expected_cost_loss(y_test, predicted, cost_matrix=costs):.3f} on average")
    return ConfusionNormDisplay.from_estimator(models, X_test, y_test)


if __name__ == "__main__":
    display = main()
    display.figure_.savefig(sys.argv[1]) if len(sys.argv) > 1 else plt.show()
