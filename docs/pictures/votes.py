"""One vote, or votes for every class. In: nothing. Out: two measures on rows not trained on, round by round."""

from matplotlib import pyplot as plt
from sklearn.model_selection import train_test_split

from comboost import CoMBoClassifier, ConfusionBoostingClassifier
from comboost.datasets import load_satimage
from comboost.metrics import balanced_log_loss, confusion_norm_loss

X, y = load_satimage(return_X_y=True)
X, X_new, y, y_new = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
figure, (left, right) = plt.subplots(1, 2, figsize=(8.0, 3.6), layout="constrained")
for name, model in {
    "one vote: CoMBoClassifier": CoMBoClassifier(n_estimators=200),
    "votes for every class: ConfusionBoostingClassifier": ConfusionBoostingClassifier(n_estimators=200),
}.items():
    staged = list(model.fit(X, y).staged_predict_proba(X_new))
    rounds = range(1, len(staged) + 1)
    left.plot(rounds, [confusion_norm_loss(y_new, model.classes_[each.argmax(axis=1)]) for each in staged], label=name)
    right.plot(rounds, [balanced_log_loss(y_new, each) for each in staged])
left.set(xlabel="rounds", ylabel="norm of the confusion matrix", ylim=(0.15, 0.4))
right.set(xlabel="rounds", ylabel="class-balanced log-loss", ylim=(0.2, 0.8))
for panel in (left, right):
    panel.grid(alpha=0.3)
figure.legend(loc="outside lower center")
