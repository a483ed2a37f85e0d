"""Fourteen small problems whose models are kept: every estimator, and every kind of input."""

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from comboost import AdaBoostMMClassifier, CoMBoClassifier, ConfusionBoostingClassifier
from comboost.baselines import AdaBoostNCClassifier, SMOTEBoostClassifier
from comboost.datasets import load_dataset


def plain():
    X, y = load_dataset("new_thyroid", return_X_y=True)
    return CoMBoClassifier(n_estimators=20).fit(X, y), X, y


def by_rows():
    X, y = load_dataset("glass", return_X_y=True)
    return AdaBoostMMClassifier(n_estimators=20, max_depth=2, learning_rate=0.5).fit(X, y), X, y


def weighted():
    X, y = load_dataset("ecoli", return_X_y=True)
    weights = 0.25 * (np.arange(len(y)) % 7)
    return CoMBoClassifier(n_estimators=20, criterion="cost", max_bins=16).fit(X, y, weights), X, y


def with_costs():
    X, y = load_dataset("balance", return_X_y=True)
    costs = [[0.0, 1.0, 2.0], [3.0, 0.0, 0.5], [1.0, 1.0, 0.0]]
    return CoMBoClassifier(n_estimators=20, step="exact", cost_matrix=costs).fit(X, y), X, y


def with_categories():
    X, y = load_dataset("car", return_X_y=True, as_frame=True)
    X.loc[::10, "safety"] = None
    return CoMBoClassifier(n_estimators=20, min_samples_leaf=3).fit(X, y), X, y


def deep_with_missing_values():
    X, y = load_dataset("yeast", return_X_y=True)
    X = X.copy()
    X[::9, 2] = np.nan
    model = CoMBoClassifier(n_estimators=10, max_depth=None, min_weight_fraction_leaf=0.01, max_features="sqrt")
    return model.set_params(random_state=7).fit(X, y), X, y


def stopped_early():
    X, y = load_dataset("satimage", return_X_y=True)
    X, y = X[::4], y[::4]
    model = CoMBoClassifier(n_estimators=60, early_stopping=True, n_iter_no_change=5, scoring="g_mean", random_state=3)
    return model.fit(X, y), X, y


def of_other_learners():
    X, y = load_dataset("new_thyroid", return_X_y=True)
    return (
        CoMBoClassifier(estimator=DecisionTreeClassifier(max_depth=1), n_estimators=8, random_state=1).fit(X, y),
        X,
        y,
    )


def diverse():
    X, y = load_dataset("glass", return_X_y=True)
    return AdaBoostNCClassifier(n_estimators=10, max_depth=None, min_samples_leaf=2, random_state=0).fit(X, y), X, y


def synthetic():
    X, y = load_dataset("ecoli", return_X_y=True)
    return SMOTEBoostClassifier(n_estimators=10, max_depth=4, random_state=0).fit(X, y), X, y


def one_value_per_class():
    X, y = load_dataset("yeast", return_X_y=True)
    model = ConfusionBoostingClassifier(
        n_estimators=20, max_depth=4, smoothing=5.0, max_thresholds=None, noise=0.0, max_bins=255
    )
    return model.fit(X, y), X, y


def random_thresholds():
    X, y = load_dataset("yeast", return_X_y=True)
    X[::7, 2] = np.nan
    return ConfusionBoostingClassifier(n_estimators=20, max_depth=4, smoothing=10.0, max_features=0.8).fit(X, y), X, y


def best_first():
    X, y = load_dataset("car", return_X_y=True, as_frame=True)
    X.loc[::10, "safety"] = None
    costs = {"acc": 1.0, "good": 2.0, "unacc": 1.0, "vgood": 3.0}
    weights = 0.5 * (1 + np.arange(len(y)) % 3)
    model = ConfusionBoostingClassifier(
        n_estimators=20,
        loss="exponential",
        max_leaf_nodes=12,
        balance=0.5,
        smoothing=0.5,
        cost_matrix=costs,
        max_thresholds=None,
        noise=0.0,
    )
    return model.fit(X, y, weights), X, y


def of_selected_settings():
    X, y = load_dataset("new_thyroid", return_X_y=True)
    return ConfusionBoostingClassifier().fit(X, y), X, y


PROBLEMS = {
    problem.__name__: problem
    for problem in (
        plain,
        by_rows,
        weighted,
        with_costs,
        with_categories,
        deep_with_missing_values,
        stopped_early,
        of_other_learners,
        diverse,
        synthetic,
        one_value_per_class,
        random_thresholds,
        best_first,
        of_selected_settings,
    )
}
