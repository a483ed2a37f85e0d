"""Certificates. In: nothing. Out: squared norm, loss and bound on the training data, round by round."""

import numpy as np
from matplotlib import pyplot as plt

from comboost import CoMBoClassifier
from comboost.datasets import load_balance
from comboost.metrics import confusion_norm_loss

X, y = load_balance(return_X_y=True)
model = CoMBoClassifier().fit(X, y)
norms = np.array([confusion_norm_loss(y, predicted) for predicted in model.staged_predict(X)])
rounds = np.arange(1, model.n_iter_ + 1)
figure, panel = plt.subplots(figsize=(6.6, 3.6), layout="constrained")
panel.plot(rounds, model.bound_curve_, linestyle="--", label="bound by the edges: bound_curve_")
panel.plot(rounds, model.loss_curve_, label="loss L: loss_curve_")
panel.plot(rounds, norms**2, label="squared norm of C_S")
panel.set(xlabel="rounds", yscale="log")
panel.grid(alpha=0.3)
panel.legend()
