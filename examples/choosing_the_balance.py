"""
Classes or rows: what should count?
===================================

In: nothing. Out: both measures for every balance, and recalls as a picture.

``python examples/choosing_the_balance.py`` shows the picture, with ``balance.png`` after it saves it.
"""

import sys

from matplotlib import pyplot as plt
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from comboost import ConfusionBoostingClassifier
from comboost.datasets import load_yeast
from comboost.displays import PerClassRecallDisplay
from comboost.metrics import confusion_norm_loss

BALANCES = [0.0, 0.5, 1.0]


def main() -> PerClassRecallDisplay:
    """Cross-validate from "every row counts the same" (0) to "every class counts the same" (1, the default)."""
    X, y = load_yeast(return_X_y=True)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    predictions = {}
    for balance in BALANCES:
        model = ConfusionBoostingClassifier(balance=balance, n_estimators=100)
        predicted = predictions[f"balance={balance:g}"] = cross_val_predict(model, X, y, cv=folds)
        print(
            f"balance={balance:g}: {accuracy_score(y, predicted):.2f} of the rows are right, "
            f"{balanced_accuracy_score(y, predicted):.2f} of a class on average; "
            f"norm {confusion_norm_loss(y, predicted):.2f}"
        )

    # Every row was predicted by a model that had not seen it, so all rows can be shown.
    return PerClassRecallDisplay.from_predictions(y, predictions)


if __name__ == "__main__":
    display = main()
    display.figure_.savefig(sys.argv[1]) if len(sys.argv) > 1 else plt.show()
