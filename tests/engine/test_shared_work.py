"""Threads that share the features of a node look at all of them, however their number divides."""

import numpy as np
import pytest
from models import model_bytes

from comboost import AdaBoostMMClassifier, CoMBoClassifier, ConfusionBoostingClassifier

BOOSTERS = {
    "mm": AdaBoostMMClassifier(max_depth=None, min_samples_leaf=50),
    "combo": CoMBoClassifier(max_depth=5),
    "confusion": ConfusionBoostingClassifier(smoothing=10.0, max_depth=5, noise=0.0, max_thresholds=None),
    "confusion, best first": ConfusionBoostingClassifier(smoothing=10.0, max_leaf_nodes=20),
    "confusion, some features": ConfusionBoostingClassifier(smoothing=10.0, max_depth=5, max_features=0.7),
}
SHAPES = [(3_000, 30), (3_000, 31), (20_000, 9), (50_000, 13)]


def table(n_samples, n_features):
    """Classes that depend on the last features; the first divides the root."""
    random = np.random.default_rng(n_features)
    X = random.integers(0, 50, (n_samples, n_features)).astype(np.float32)
    signs = (X > 24.5) @ [4, *[0] * (n_features - 4), 1, 1, 1]
    y = np.where(random.random(n_samples) < 0.2, random.integers(0, 4, n_samples), signs // 2)
    return X, y


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", BOOSTERS)
def test_two_threads_find_the_splits_of_one(name, shape):
    X, y = table(*shape)
    model = BOOSTERS[name].set_params(n_estimators=2, random_state=0)
    alone = model_bytes(model.set_params(n_jobs=1).fit(X, y))
    features = set(model._forest.nodes["feature"].tolist())
    assert {0, shape[1] - 3, shape[1] - 2, shape[1] - 1} <= features
    for n_jobs in (2, 3):
        assert model_bytes(model.set_params(n_jobs=n_jobs).fit(X, y)) == alone
