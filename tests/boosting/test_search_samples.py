"""Which samples a search uses: those that their content puts first, as many of every class as there is room for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from models import everything
from scipy.sparse import csr_matrix

from comboost import ConfusionBoostingClassifier
from comboost._boosting import search, search_samples


@given(st.lists(st.integers(0, 200_000), min_size=2, max_size=6).map(np.array))
def test_classes_are_thinned_out_alike_but_none_becomes_tiny(sizes):
    n_kept = search_samples.n_kept_of(sizes)
    assert (n_kept <= sizes).all()
    assert (n_kept >= np.minimum(sizes, search_samples.KEPT_OF_CLASS)).all()
    if sizes.sum() <= search_samples.MAX_SAMPLES:
        assert n_kept.tolist() == sizes.tolist()
    assert n_kept.sum() <= search_samples.MAX_SAMPLES + len(sizes) * (search_samples.KEPT_OF_CLASS + 1)


@pytest.fixture
def table(monkeypatch):
    """A sparse table with more samples than a search uses."""
    monkeypatch.setattr(search_samples, "MAX_SAMPLES", 100)
    monkeypatch.setattr(search_samples, "KEPT_OF_CLASS", 10)
    random = np.random.default_rng(0)
    y = random.integers(3, size=400)
    X = np.where(random.random((400, 5)) < 0.4, random.integers(1, 5, (400, 5)) + y[:, np.newaxis], 0.0)
    return X[:300], y[:300], X[300:], y[300:]


@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)])
@pytest.mark.parametrize("container", [np.asarray, csr_matrix])
def test_validated_search_is_the_same_for_any_order_and_container(table, order, container):
    X, y, X_val, y_val = table
    expected, model = (
        ConfusionBoostingClassifier(random_state=0, n_estimators=5, early_stopping=True) for _ in range(2)
    )
    expected.fit(X, y, X_val=X_val, y_val=y_val)
    model.fit(container(X[order]), y[order], X_val=container(X_val), y_val=y_val)
    assert expected.best_params_ == model.best_params_
    assert everything(model) == everything(expected)


def test_validated_search_trains_on_no_more_samples_than_others(table, monkeypatch):
    X, y, X_val, y_val = table
    sizes, run = set(), search.search

    def recording(parts, *args, **options):
        sizes.update(len(part.train.labels) for part in parts)
        return run(parts, *args, **options)

    monkeypatch.setattr(search, "search", recording)
    ConfusionBoostingClassifier(n_estimators=2, early_stopping=True).fit(X, y, X_val=X_val, y_val=y_val)
    assert sizes == {int(search_samples.n_kept_of(np.bincount(y)).sum())}
