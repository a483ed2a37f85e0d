"""What is interrupted. In: threads. Out: an estimator that must stay as it is, and a call that takes long."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import cross_val_score

from comboost import CoMBoClassifier, ConfusionBoostingClassifier
from comboost.baselines import AdaBoostNCClassifier, SMOTEBoostClassifier

Case = tuple[Any, Callable[[], Any]]


def make_rows(n_samples: int, n_features: int, n_classes: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Rows whose class has to do with a few of the features, and more so with chance: no fit comes to an end early."""
    random = np.random.default_rng(0)
    X = random.standard_normal((n_samples, n_features), dtype=np.float32)
    y = np.digitize(X[:, 0] + X[:, 1 % n_features] + random.normal(size=n_samples), np.linspace(-2, 2, n_classes - 1))
    return X, y


def fit_of(model: Any, *shape: int) -> Case:
    X, y = make_rows(*shape)
    return model, lambda: model.fit(X, y)


def binning(n_jobs: int) -> Case:
    return fit_of(CoMBoClassifier(n_estimators=1, n_jobs=n_jobs), 2_000_000, 60, 3)


def one_column(n_jobs: int) -> Case:
    return fit_of(CoMBoClassifier(n_jobs=n_jobs, n_estimators=10_000), 20_000_000, 1, 3)


def deep_model(n_jobs: int) -> tuple[Any, NDArray[np.float32]]:
    """A model of 200 deep trees, and rows for it."""
    X, y = make_rows(5_000, 20, 5)
    model = CoMBoClassifier(n_estimators=200, max_depth=None, min_samples_leaf=5, learning_rate=0.1, n_jobs=1).fit(X, y)
    return model.set_params(n_jobs=n_jobs), make_rows(2_000_000, 20, 5)[0]


def prediction(n_jobs: int) -> Case:
    model, rows = deep_model(n_jobs)
    return model, lambda: model.predict(rows)


def staged_prediction(n_jobs: int) -> Case:
    model, rows = deep_model(n_jobs)
    return model, lambda: list(map(np.size, model.staged_predict(rows)))


def large_rounds(n_jobs: int) -> Case:
    return fit_of(CoMBoClassifier(n_estimators=10_000, max_depth=8, n_jobs=n_jobs), 500_000, 40, 30)


def votes_for_many_classes(n_jobs: int) -> Case:
    return fit_of(ConfusionBoostingClassifier(n_estimators=10_000, n_jobs=n_jobs), 200_000, 10, 200)


def wide(n_jobs: int) -> Case:
    return fit_of(CoMBoClassifier(n_estimators=10_000, n_jobs=n_jobs), 3_000, 50_000, 5)


def early_stopping(n_jobs: int) -> Case:
    model = ConfusionBoostingClassifier(
        n_estimators=10_000, early_stopping=True, n_iter_no_change=10_000, n_jobs=n_jobs
    )
    return fit_of(model, 300_000, 20, 10)


def cross_validation(n_jobs: int) -> Case:
    X, y = make_rows(200_000, 20, 5)
    model = CoMBoClassifier(n_estimators=300, n_jobs=n_jobs)
    return model, lambda: cross_val_score(model, X, y, cv=20)


def adaboost_nc(n_jobs: int) -> Case:
    model = AdaBoostNCClassifier(n_estimators=10_000, max_depth=None, min_samples_leaf=2, n_jobs=n_jobs)
    return fit_of(model, 200_000, 20, 5)


def smoteboost(n_jobs: int) -> Case:
    return fit_of(SMOTEBoostClassifier(n_estimators=10_000, n_jobs=n_jobs), 100_000, 20, 5)


CASES: dict[str, Callable[[int], Case]] = {
    "binning, 2 000 000 × 60": binning,
    "fit of one column, 20 000 000 rows": one_column,
    "prediction, 2 000 000 rows, 200 deep trees": prediction,
    "the same, staged": staged_prediction,
    "large rounds, 500 000 × 40, 30 classes": large_rounds,
    "votes for 200 classes, 200 000 × 10": votes_for_many_classes,
    "wide, 3 000 × 50 000": wide,
    "early stopping, 300 000 × 20": early_stopping,
    "cross-validation, 200 000 × 20": cross_validation,
    "AdaBoost.NC, 200 000 × 20": adaboost_nc,
    "SMOTEBoost, 100 000 × 20": smoteboost,
}
