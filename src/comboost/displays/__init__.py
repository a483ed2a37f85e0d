"""Plots in the form of scikit-learn's displays: training curves, confusion matrices, per-class recalls.

Every display computes its data in ``from_estimator`` or ``from_predictions``, keeps it in public attributes, and draws
it with ``plot``; only that needs matplotlib (extra ``plot``).
"""

from comboost.displays._confusion_norm import ConfusionNormDisplay
from comboost.displays._per_class_recall import PerClassRecallDisplay
from comboost.displays._soft_confusion import SoftConfusionDisplay
from comboost.displays._training_curve import TrainingCurveDisplay

__all__ = ["ConfusionNormDisplay", "PerClassRecallDisplay", "SoftConfusionDisplay", "TrainingCurveDisplay"]
