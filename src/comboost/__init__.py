"""Multi-class boosting that treats rare classes as seriously as common ones."""

from importlib.metadata import version

from comboost._estimators.classifiers import AdaBoostMMClassifier, CoMBoClassifier

__version__ = version("comboost")
__all__ = ["AdaBoostMMClassifier", "CoMBoClassifier", "__version__"]
