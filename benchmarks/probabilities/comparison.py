"""Out-of-fold probabilities and classes of a classifier, by calibration method."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedKFold

from comboost import AdaBoostMMClassifier, CoMBoClassifier, ConfusionBoostingClassifier

FOLDS = StratifiedKFold(n_splits=5, shuffle=True, random_state=0)
N_JOBS = 2

ESTIMATORS = {
    "ConfusionBoostingClassifier": ConfusionBoostingClassifier,
    "CoMBoClassifier": CoMBoClassifier,
    "AdaBoostMMClassifier": AdaBoostMMClassifier,
}
OURS, THEIRS = ("none", "temperature", "isotonic"), ("scikit-learn",)
METHODS = (*OURS, *THEIRS)


class Predictions(NamedTuple):
    """Probabilities of test samples under uniform and under training priors, and predicted classes."""

    uniform: NDArray[np.float64]
    training: NDArray[np.float64]
    predicted: NDArray[np.intp]


def our_predictions(name: str, X: Any, y: NDArray[np.intp], X_test: Any) -> Iterator[tuple[str, Predictions]]:
    """The predictions of a classifier of this name, with its defaults, by its own methods."""
    for calibration in ("temperature", "isotonic"):
        model = ESTIMATORS[name](calibration=calibration, random_state=0, n_jobs=N_JOBS).fit(X, y)
        yield calibration, by_priors(model, X_test)
        if calibration == "temperature":
            yield "none", by_priors(model.set_params(calibration=None), X_test)


def their_predictions(name: str, X: Any, y: NDArray[np.intp], X_test: Any) -> Iterator[tuple[str, Predictions]]:
    """The same by scikit-learn."""
    # Folds in the order of the rows, its default, would not be a sample of sorted tables.
    inner = StratifiedKFold(n_splits=5, shuffle=True, random_state=1)
    weak = ESTIMATORS[name](random_state=0, n_jobs=N_JOBS)
    theirs = CalibratedClassifierCV(weak, method="temperature", cv=list(inner.split(X, y))).fit(X, y)
    probabilities = theirs.predict_proba(X_test)  # it has no priors
    yield "scikit-learn", Predictions(probabilities, probabilities, theirs.predict(X_test))


Comparison = Callable[[str, Any, NDArray[np.intp], Any], Iterator[tuple[str, Predictions]]]
COMPARISONS: dict[tuple[str, ...], Comparison] = {OURS: our_predictions, THEIRS: their_predictions}


def by_priors(model: Any, X_test: Any) -> Predictions:
    """The predictions of a model for both priors."""
    uniform, training = (model.set_params(priors=priors).predict_proba(X_test) for priors in ("uniform", "training"))
    return Predictions(uniform, training, model.predict(X_test))


def cross_validated(predict_by: Comparison, name: str, X: Any, y: NDArray[np.intp]) -> dict[str, Predictions]:
    """The predictions on all rows, each by a model of the other folds."""
    found: dict[str, Predictions] = {}
    for train, test in FOLDS.split(X, y):
        for method, predictions in predict_by(name, X[train], y[train], X[test]):
            if method not in found:
                n_classes = predictions.uniform.shape[1]
                found[method] = Predictions(
                    np.empty((len(y), n_classes)), np.empty((len(y), n_classes)), np.empty_like(y)
                )
            for whole, part in zip(found[method], predictions, strict=True):
                whole[test] = part
    return found
