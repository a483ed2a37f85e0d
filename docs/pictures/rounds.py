"""How rounds change a confusion matrix. In: nothing. Out: matrices after some rounds, on rows not trained on."""

from itertools import islice

import numpy as np
from matplotlib import pyplot as plt

from comboost import CoMBoClassifier
from comboost.datasets import load_satimage
from comboost.metrics import confusion_norm_loss, error_confusion_matrix

ROUNDS = [1, 5, 20, 100]

X, y = load_satimage(return_X_y=True)
model = CoMBoClassifier(n_estimators=max(ROUNDS)).fit(X[::2], y[::2])
staged = list(islice(model.staged_predict(X[1::2]), max(ROUNDS)))
figure, panels = plt.subplots(2, 2, figsize=(6.6, 6.2), layout="constrained")
for n_rounds, panel in zip(ROUNDS, panels.flat, strict=True):
    predicted = staged[n_rounds - 1]
    shares = error_confusion_matrix(y[1::2], predicted, labels=model.classes_)
    image = panel.imshow(np.ma.masked_array(100 * shares, np.eye(len(shares))), cmap="magma_r", vmin=0, vmax=50)
    panel.set_facecolor("#d0d0d0")
    panel.set_title(f"{n_rounds} round{'s' * (n_rounds > 1)}, norm {confusion_norm_loss(y[1::2], predicted):.2f}")
    panel.set(xticks=[], yticks=[], xlabel="taken for", ylabel="true class")
figure.colorbar(image, ax=panels, shrink=0.7, label="% of the true class")
