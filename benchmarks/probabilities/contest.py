"""Who takes part. In: a classifier, rows to learn from. Out: probabilities and classes of other rows, by method."""

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


class Answers(NamedTuple):
    """What is said of test rows: probabilities for equally frequent classes, for those of training, and classes."""

    uniform: NDArray[np.float64]
    training: NDArray[np.float64]
    predicted: NDArray[np.intp]


def our_answers(name: str, X: Any, y: NDArray[np.intp], X_test: Any) -> Iterator[tuple[str, Answers]]:
    """The answers of a classifier of this name, with its defaults, by its own methods."""
    for calibration in ("temperature", "isotonic"):
        model = ESTIMATORS[name](calibration=calibration, random_state=0, n_jobs=N_JOBS).fit(X, y)
        yield calibration, by_priors(model, X_test)
        if calibration == "temperature":
            yield "none", by_priors(model.set_params(calibration=None), X_test)


def their_answers(name: str, X: Any, y: NDArray[np.intp], X_test: Any) -> Iterator[tuple[str, Answers]]:
    """The same by scikit-learn."""
    # Folds in the order of the rows, its default, would be no sample of tables that are sorted.
    inner = StratifiedKFold(n_splits=5, shuffle=True, random_state=1)
    weak = ESTIMATORS[name](random_state=0, n_jobs=N_JOBS)
    theirs = CalibratedClassifierCV(weak, method="temperature", cv=list(inner.split(X, y))).fit(X, y)
    shares = theirs.predict_proba(X_test)  # it knows of no priors
    yield "scikit-learn", Answers(shares, shares, theirs.predict(X_test))


Contest = Callable[[str, Any, NDArray[np.intp], Any], Iterator[tuple[str, Answers]]]
CONTESTS: dict[tuple[str, ...], Contest] = {OURS: our_answers, THEIRS: their_answers}


def by_priors(model: Any, X_test: Any) -> Answers:
    """The answers of a model for both priors."""
    uniform, training = (model.set_params(priors=priors).predict_proba(X_test) for priors in ("uniform", "training"))
    return Answers(uniform, training, model.predict(X_test))


def cross_validated(answers_of: Contest, name: str, X: Any, y: NDArray[np.intp]) -> dict[str, Answers]:
    """The answers on all rows, each by a model of the other folds."""
    found: dict[str, Answers] = {}
    for train, test in FOLDS.split(X, y):
        for method, answers in answers_of(name, X[train], y[train], X[test]):
            if method not in found:
                n_classes = answers.uniform.shape[1]
                found[method] = Answers(np.empty((len(y), n_classes)), np.empty((len(y), n_classes)), np.empty_like(y))
            for whole, part in zip(found[method], answers, strict=True):
                whole[test] = part
    return found
