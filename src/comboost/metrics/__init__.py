"""Metrics for many classes of unequal size, and scorers made of them.

In come true labels and predicted labels (or scores), out comes one number, or the error confusion matrix C that
CoMBo makes small: truth in rows, prediction in columns, zero diagonal. Every class counts the same here, however rare
it is; `expected_cost_loss` alone is a mean over rows.

One law for all functions. The classes are ``labels``, by default every label that is seen, sorted. A class is
*absent* if its rows in ``y_true`` are none or weigh nothing; each function says what it does then, and none crashes.
A label outside of ``labels`` is an error: leaving such a row out would hide a mistake.
"""

from comboost.metrics._measures import (
    balanced_log_loss,
    confusion_norm_bound,
    confusion_norm_loss,
    error_confusion_matrix,
    expected_cost_loss,
    geometric_mean_score,
    mauc_score,
    min_recall_score,
)
from comboost.metrics._scorers import get_scorer

__all__ = [
    "balanced_log_loss",
    "confusion_norm_bound",
    "confusion_norm_loss",
    "error_confusion_matrix",
    "expected_cost_loss",
    "geometric_mean_score",
    "get_scorer",
    "mauc_score",
    "min_recall_score",
]
