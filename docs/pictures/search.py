"""The search for settings. In: nothing. Out: the held-out loss of every candidate, round by round."""

from comboost import ConfusionBoostingClassifier
from comboost.datasets import load_yeast
from comboost.displays import TrainingCurveDisplay

X, y = load_yeast(return_X_y=True)
TrainingCurveDisplay.from_estimator(ConfusionBoostingClassifier().fit(X, y), kind="search")
