"""Which feature matters for which class. In: nothing. Out: a heat map of class importances."""

from matplotlib import pyplot as plt

from comboost import ConfusionBoostingClassifier
from comboost.datasets import load_glass

X, y = load_glass(return_X_y=True, as_frame=True)
model = ConfusionBoostingClassifier(n_estimators=100).fit(X, y)
figure, panel = plt.subplots(figsize=(6.6, 3.4), layout="constrained")
image = panel.imshow(100 * model.class_importances_, cmap="magma_r", vmin=0, aspect="auto")
panel.set_xticks(range(X.shape[1]), X.columns)
panel.set_yticks(range(model.n_classes_), [name.replace("_", " ") for name in model.classes_], fontsize=8)
figure.colorbar(image, label="% of what splits do")
