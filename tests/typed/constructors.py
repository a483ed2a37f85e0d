"""Type checkers know the constructors: mypy --strict passes, so every comment below silences an error.

``nox -s types`` checks this file. An unused comment is an error, too.
"""

from comboost import AdaBoostMMClassifier, CoMBoClassifier, ConfusionBoostingClassifier
from comboost.baselines import SMOTEBoostClassifier
from comboost.dask import DaskConfusionBoostingClassifier

ConfusionBoostingClassifier(n_estimators=10, max_depth="auto", scoring=None, priors={"a": 0.5, "b": 0.5})
ConfusionBoostingClassifier(n_estimators="x")  # type: ignore[arg-type]
ConfusionBoostingClassifier(step="edge")  # type: ignore[call-arg]
ConfusionBoostingClassifier(10)  # type: ignore[call-arg]

CoMBoClassifier(step="edge", estimator=None, refit=True)
CoMBoClassifier(max_depth="auto")  # type: ignore[arg-type]
AdaBoostMMClassifier(learning_rate=None)  # type: ignore[arg-type]

DaskConfusionBoostingClassifier(timeout=30.0, n_estimators=5)
DaskConfusionBoostingClassifier(refit=True)  # type: ignore[call-arg]

SMOTEBoostClassifier(k_neighbors="many")  # type: ignore[arg-type]
