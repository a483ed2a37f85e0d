"""The same learner, counting classes and counting rows. In: nothing. Out: recall of every class."""

from sklearn.model_selection import StratifiedKFold, cross_val_predict

from comboost import ConfusionBoostingClassifier
from comboost.datasets import load_yeast
from comboost.displays import PerClassRecallDisplay

X, y = load_yeast(return_X_y=True)
folds = StratifiedKFold(5, shuffle=True, random_state=0)
predictions = {
    name: cross_val_predict(
        ConfusionBoostingClassifier(balance=balance, n_estimators=100, smoothing=10, max_depth=4), X, y, cv=folds
    )
    for name, balance in {"every class counts the same": 1.0, "every row counts the same": 0.0}.items()
}
PerClassRecallDisplay.from_predictions(y, predictions)
