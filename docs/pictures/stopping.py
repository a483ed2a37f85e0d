"""Early stopping. In: nothing. Out: the validation score round by round, and the round that is kept."""

from matplotlib import pyplot as plt

from comboost import ConfusionBoostingClassifier
from comboost.datasets import load_glass

X, y = load_glass(return_X_y=True)
model = ConfusionBoostingClassifier(n_estimators=2000, smoothing=10, max_depth=3, early_stopping=True).fit(X, y)
figure, panel = plt.subplots(figsize=(6.6, 3.4), layout="constrained")
panel.plot(range(1, len(model.validation_curve_) + 1), model.validation_curve_)
panel.axvline(model.n_iter_, color="tab:orange", label=f"{model.n_iter_} rounds are kept")
panel.set(xlabel="rounds", ylabel="minus the class-balanced log-loss")
panel.grid(alpha=0.3)
panel.legend()
