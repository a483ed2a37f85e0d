"""Sparse searches skip features that cannot win: the bound on their gain holds, however uneven the classes are."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from models import model_bytes

from comboost import AdaBoostMMClassifier, CoMBoClassifier, ConfusionBoostingClassifier
from comboost._data.tables import SparseSource

BOOSTERS = {
    "mm": AdaBoostMMClassifier(max_depth=3),
    "mm, many leaves": AdaBoostMMClassifier(max_depth=None, min_samples_leaf=3),
    "mm, by cost": AdaBoostMMClassifier(max_depth=3, criterion="cost"),
    "combo, by cost": CoMBoClassifier(max_depth=3, criterion="cost"),
    "combo, large leaves": CoMBoClassifier(max_depth=4, min_weight_fraction_leaf=0.05),
    "combo": CoMBoClassifier(max_depth=4, min_samples_leaf=2),
    "confusion, not balanced": ConfusionBoostingClassifier(balance=0.0, noise=0.0, smoothing=1.0, max_depth=3),
    "confusion, best first": ConfusionBoostingClassifier(balance=0.0, noise=0.0, smoothing=1.0, max_leaf_nodes=9),
    "confusion, with noise": ConfusionBoostingClassifier(balance=0.0, noise=1.0, smoothing=1.0, max_depth=3),
    "confusion, balanced": ConfusionBoostingClassifier(noise=0.0, smoothing=1.0, max_leaf_nodes=9),
}


def uneven_table(seed):
    """Few entries, most of them in columns of one class each, and classes of very different sizes."""
    random = np.random.default_rng(seed)
    n_samples, n_features = int(random.integers(60, 200)), int(random.integers(20, 80))
    n_classes = int(random.integers(2, 6))
    sizes = 4.0 ** -np.arange(n_classes)
    y = np.concatenate([np.arange(n_classes), random.choice(n_classes, n_samples - n_classes, p=sizes / sizes.sum())])
    rates = np.minimum(0.5, random.exponential(0.05, (n_classes, n_features)))
    rates[random.random(rates.shape) < 0.5] = 0.0
    X = np.where(random.random((n_samples, n_features)) < rates[y], random.integers(1, 4, (n_samples, n_features)), 0)
    return X.astype(float), y


@pytest.mark.parametrize("name", BOOSTERS)
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1), n_jobs=st.sampled_from([1, 2]))
def test_sparse_search_of_uneven_classes_finds_the_splits_of_the_dense_one(name, seed, n_jobs):
    X, y = uneven_table(seed)
    table = sp.csr_array(X)
    assume(SparseSource(table).n_entries is not None)
    model = BOOSTERS[name].set_params(n_estimators=4, n_jobs=n_jobs, random_state=seed)
    assert model_bytes(model.fit(table, y)) == model_bytes(model.fit(X, y))
