"""
Many classes, most of them rare
===============================

In: nothing. Out: the most confused pairs, and the whole matrix as a picture.

``python examples/many_classes.py`` shows the picture, ``python examples/many_classes.py matrix.png`` saves it.
"""

import string
import sys

import numpy as np
from matplotlib import pyplot as plt
from sklearn.model_selection import train_test_split

from comboost import ConfusionBoostingClassifier
from comboost.datasets import make_imbalanced
from comboost.displays import ConfusionNormDisplay

SIZES = [10 + int(600 * 0.8**rank) for rank in range(26)]  # 610 rows of the first class, 12 of the last


def main() -> ConfusionNormDisplay:
    """Tell 26 letters apart, as frequent as in no language."""
    X, place = make_imbalanced(class_sizes=SIZES, n_features=16, n_informative=10, random_state=0)
    y = np.array(list(string.ascii_uppercase))[place]
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)

    model = ConfusionBoostingClassifier(n_estimators=60, n_jobs=-1).fit(X_train, y_train)
    display = ConfusionNormDisplay.from_estimator(model, X_test, y_test)

    # Displays keep what they show: here the pairs that are worth a look at the features.
    confusion = display.confusions["ConfusionBoostingClassifier"]
    for flat in np.argsort(-confusion, axis=None, kind="stable")[:5]:
        truth, taken = np.unravel_index(flat, confusion.shape)
        print(f"{confusion[truth, taken]:.0%} of {display.classes[truth]} are taken for {display.classes[taken]}")
    return display


if __name__ == "__main__":
    display = main()
    display.figure_.savefig(sys.argv[1]) if len(sys.argv) > 1 else plt.show()
