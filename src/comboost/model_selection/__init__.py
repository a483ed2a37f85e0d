"""Cross-validation whose results are data: confusion matrices, recalls with intervals, norms with bounds."""

from comboost._stats.intervals import wilson_interval
from comboost.model_selection._confusion_folds import ConfusionFolds, cross_validate_confusion

__all__ = ["ConfusionFolds", "cross_validate_confusion", "wilson_interval"]
