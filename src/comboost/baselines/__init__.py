"""The baselines of the paper's experiments, on the same trees as CoMBo: AdaBoost.NC and SMOTEBoost.

They need imbalanced-learn, which the extra ``baselines`` installs.
"""

try:
    import imblearn  # noqa: F401  (imported here, so that the error names the extra)
except ImportError as error:
    raise ImportError(
        'comboost.baselines needs imbalanced-learn, which is not installed. Run: pip install "comboost[baselines]"'
    ) from error

from comboost.baselines._adaboost_nc import AdaBoostNCClassifier
from comboost.baselines._smoteboost import SMOTEBoostClassifier

__all__ = ["AdaBoostNCClassifier", "SMOTEBoostClassifier"]
