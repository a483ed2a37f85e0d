"""Multi-class boosting that treats rare classes as seriously as common ones.

Everything is imported when it is first used, even ``typing``: until then the command line cannot handle Ctrl-C.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers know the name
if TYPE_CHECKING:
    from typing import Any

    from comboost._estimators.confusion import ConfusionBoostingClassifier
    from comboost._estimators.paper import AdaBoostMMClassifier, CoMBoClassifier
    from comboost._inspection.shap import Explanation
    from comboost._persistence.model_file import load_model

    __version__: str

__all__ = [
    "AdaBoostMMClassifier",
    "CoMBoClassifier",
    "ConfusionBoostingClassifier",
    "Explanation",
    "__version__",
    "load_model",
]

HOMES = {
    "AdaBoostMMClassifier": "comboost._estimators.paper",
    "CoMBoClassifier": "comboost._estimators.paper",
    "ConfusionBoostingClassifier": "comboost._estimators.confusion",
    "Explanation": "comboost._inspection.shap",
    "load_model": "comboost._persistence.model_file",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "metrics":  # as if it had been imported with the classifiers, which import it
        return import_module("comboost.metrics")
    if name == "__version__":
        found = import_module("importlib.metadata").version("comboost")
    elif name in HOMES:
        found = getattr(import_module(HOMES[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
