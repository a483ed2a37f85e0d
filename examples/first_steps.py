"""
First steps
===========

Does it help, on which classes, at what price? In: nothing. Out: figures, and recalls as a picture.

``python examples/first_steps.py`` shows the picture, ``python examples/first_steps.py recalls.png`` saves it.
"""

import sys

from matplotlib import pyplot as plt
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from comboost import ConfusionBoostingClassifier
from comboost.datasets import load_yeast
from comboost.displays import PerClassRecallDisplay
from comboost.metrics import confusion_norm_loss


def main() -> PerClassRecallDisplay:
    """Fit two models to proteins of yeast, where one class has 463 rows and another 5, and compare what they find."""
    X, y = load_yeast(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
    models = {
        "confusion boosting": ConfusionBoostingClassifier(),
        "random forest": RandomForestClassifier(random_state=0),
    }
    for name, model in models.items():
        predicted = model.fit(X_train, y_train).predict(X_test)
        norm = confusion_norm_loss(y_test, predicted)
        print(
            f"{name}: {model.score(X_test, y_test):.0%} of the rows are right, norm of the confusion matrix {norm:.2f}"
        )

    # The price of rare classes is paid by common ones. Intervals are wide where there are few rows: believe them.
    return PerClassRecallDisplay.from_estimator(models, X_test, y_test)


if __name__ == "__main__":
    display = main()
    display.figure_.savefig(sys.argv[1]) if len(sys.argv) > 1 else plt.show()
