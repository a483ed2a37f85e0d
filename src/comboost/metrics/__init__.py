"""Metrics for imbalanced multi-class classification, and scorers.

All metrics take true labels and predicted labels, scores or probabilities. The error confusion matrix C, whose norm
CoMBo minimises, has the truth in rows, the prediction in columns and a zero diagonal. Every class has the same weight,
however rare it is, except in `expected_cost_loss`, which is a mean over samples.

The classes are ``labels``, by default the sorted labels that occur. A class is *absent* if it has no samples in
``y_true``, or only samples of weight 0; the functions document how they treat absent classes. A label that is not in
``labels`` is an error: ignoring such samples would hide mistakes.
"""

from comboost.metrics._bounds import (
    confusion_norm_bound,
    error_rate_bound,
    geometric_mean_bound,
    min_recall_bound,
    recall_bounds,
)
from comboost.metrics._measures import (
    balanced_log_loss,
    confusion_norm_loss,
    error_confusion_matrix,
    expected_cost_loss,
    geometric_mean_score,
    mauc_score,
    min_recall_score,
)
from comboost.metrics._scorers import get_scorer
from comboost.metrics._soft import soft_confusion_matrix

__all__ = [
    "balanced_log_loss",
    "confusion_norm_bound",
    "confusion_norm_loss",
    "error_confusion_matrix",
    "error_rate_bound",
    "expected_cost_loss",
    "geometric_mean_bound",
    "geometric_mean_score",
    "get_scorer",
    "mauc_score",
    "min_recall_bound",
    "min_recall_score",
    "recall_bounds",
    "soft_confusion_matrix",
]
