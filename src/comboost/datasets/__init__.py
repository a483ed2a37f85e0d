"""The data of the paper's experiments, bundled, in the style of scikit-learn's loaders."""

from comboost.datasets._loading import load_dataset, load_yeast

__all__ = ["load_dataset", "load_yeast"]
