"""Soft confusion matrices on a validation set. In: nothing. Out: their norm, and the pairs confused most, by round."""

from sklearn.model_selection import train_test_split

from comboost import ConfusionBoostingClassifier
from comboost.datasets import load_satimage
from comboost.displays import SoftConfusionDisplay

X, y = load_satimage(return_X_y=True)
X_train, X_val, y_train, y_val = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
model = ConfusionBoostingClassifier(n_estimators=150, smoothing=10, max_depth=4).fit(X_train, y_train)
SoftConfusionDisplay.from_estimator(model, X_val, y_val, n_pairs=4)
