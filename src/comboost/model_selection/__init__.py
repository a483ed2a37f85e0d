"""Cross-validation of confusion matrices, with intervals of recalls and bounds of norms."""

from comboost._stats.intervals import wilson_interval
from comboost.model_selection._confusion_folds import ConfusionFolds, cross_validate_confusion

__all__ = ["ConfusionFolds", "cross_validate_confusion", "wilson_interval"]
