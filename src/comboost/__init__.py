"""Multi-class boosting that treats rare classes as seriously as common ones."""

from importlib.metadata import version

from comboost._estimators.classifiers import AdaBoostMMClassifier, CoMBoClassifier
from comboost._estimators.confusion import ConfusionBoostingClassifier

__version__ = version("comboost")
__all__ = ["AdaBoostMMClassifier", "CoMBoClassifier", "ConfusionBoostingClassifier", "__version__"]
