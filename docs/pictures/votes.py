"""One vote, or votes for every class. In: nothing. Out: the norm on rows not trained on, round by round."""

from matplotlib import pyplot as plt
from sklearn.model_selection import train_test_split

from comboost import CoMBoClassifier, ConfusionBoostingClassifier
from comboost.datasets import load_satimage
from comboost.metrics import confusion_norm_loss

X, y = load_satimage(return_X_y=True)
X, X_new, y, y_new = train_test_split(X[::2], y[::2], test_size=0.4, stratify=y[::2], random_state=0)
figure, panel = plt.subplots(figsize=(6.6, 3.6), layout="constrained")
for name, model in {
    "one vote: CoMBoClassifier": CoMBoClassifier(n_estimators=150),
    "votes for every class: ConfusionBoostingClassifier": ConfusionBoostingClassifier(n_estimators=150),
}.items():
    norms = [confusion_norm_loss(y_new, predicted) for predicted in model.fit(X, y).staged_predict(X_new)]
    panel.plot(range(1, len(norms) + 1), norms, label=name)
panel.set(xlabel="rounds", ylabel="norm of the confusion matrix", ylim=(0, 0.6))
panel.grid(alpha=0.3)
panel.legend()
