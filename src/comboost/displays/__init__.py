"""Pictures of models, in scikit-learn's form: what training did, who is taken for whom, what is found of every class.

Every display computes its data in ``from_estimator`` or ``from_predictions``, keeps it in public attributes, and draws
it with ``plot``; matplotlib (extra ``plot``) is imported only then.
"""

from comboost.displays._confusion_norm import ConfusionNormDisplay
from comboost.displays._per_class_recall import PerClassRecallDisplay
from comboost.displays._training_curve import TrainingCurveDisplay

__all__ = ["ConfusionNormDisplay", "PerClassRecallDisplay", "TrainingCurveDisplay"]
