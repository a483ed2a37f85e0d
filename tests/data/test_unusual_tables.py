"""Tables at the borders of what there may be: wide, tiny, constant, empty of values, full of classes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models import ALGORITHMS, model_bytes, spectral_norm
from sklearn.tree import DecisionTreeClassifier

from comboost import CoMBoClassifier

LEARNERS = {"tree": None, "estimator": DecisionTreeClassifier(max_depth=3)}
ROUNDING = 1e-5  # of the loss, by the quantisation of costs

# scikit-learn warns about many classes in few rows; such are meant here.
pytestmark = pytest.mark.filterwarnings("ignore:The number of unique classes is greater than 50%:UserWarning")

for_both = pytest.mark.parametrize("algorithm", ALGORITHMS)


def noise(n_samples, n_features, seed=0):
    return np.random.default_rng(seed).normal(size=(n_samples, n_features))


def twice_with_other_labels():
    X, y = noise(30, 3), np.arange(30) % 3
    return np.vstack([X, X]), np.concatenate([y, (y + 1) % 3])


def with_holes():
    X = noise(60, 5)
    X[np.random.default_rng(1).uniform(size=X.shape) < 0.9] = np.nan
    return X, np.arange(60) % 4


def two_sizes():
    y = np.zeros(500, dtype=int)
    y[-1] = 1
    return noise(500, 2), y


TABLES = {
    "more features than rows": lambda: (noise(20, 300), np.arange(20) % 3),
    "200 classes": lambda: (noise(2000, 6), np.arange(2000) % 200),
    "a row per class": lambda: (noise(50, 3), np.arange(50)),
    "constant columns": lambda: (np.full((30, 3), 7.0), np.arange(30) % 3),
    "constant columns and uneven classes": lambda: (np.full((30, 3), 7.0), np.array([0] * 20 + [1] * 9 + [2])),
    "missing columns": lambda: (np.full((30, 3), np.nan), np.arange(30) % 3),
    "a missing and a constant column": lambda: (np.array([[np.nan, 1.0]] * 12), np.arange(12) % 2),
    "mostly missing": with_holes,
    "one column": lambda: (noise(80, 1), np.arange(80) % 4),
    "one column of distinct values": lambda: (np.arange(1000.0)[:, np.newaxis], np.arange(1000) * 7 % 5),
    "one column of two values": lambda: (np.arange(40.0)[:, np.newaxis] % 2, np.arange(40) % 3),
    "rows twice with other labels": twice_with_other_labels,
    "two rows": lambda: (np.array([[0.0], [1.0]]), np.array([0, 1])),
    "two equal rows": lambda: (np.zeros((2, 2)), np.array([0, 1])),
    "two rows without values": lambda: (np.full((2, 2), np.nan), np.array([0, 1])),
    "one row of a class": two_sizes,
    "neighbours": lambda: (1.0 + np.arange(6.0)[:, np.newaxis] * 2.0**-52, np.arange(6) % 2),
    "the ends of float64": lambda: (np.array([[-1.7e308], [1.7e308], [0.0], [5e-324]] * 3), np.arange(12) % 4),
}


FITS = [
    (name, learner)
    for name in TABLES
    for learner in LEARNERS
    if (name, learner) != ("the ends of float64", "estimator")  # the trees of scikit-learn read float32
]


@pytest.fixture(scope="module", params=FITS, ids="-".join)
def fits(request):
    """X, y, and both boosters fitted on them: with the built-in tree, or with another weak learner."""
    name, learner = request.param
    X, y = TABLES[name]()
    boosters = [cls(n_estimators=6, estimator=LEARNERS[learner], random_state=0) for cls in ALGORITHMS.values()]
    return X, y, [booster.fit(X, y) for booster in boosters]


def test_odd_table_trains_to_finite_numbers(fits):
    _, y, models = fits
    for model in models:
        assert 1 <= model.n_iter_ <= 6
        np.testing.assert_array_equal(model.classes_, np.unique(y))
        for curve in (model.estimator_weights_, model.edges_, model.loss_curve_, model.bound_curve_):
            assert curve.shape == (model.n_iter_,)
            assert np.isfinite(curve).all()


def test_loss_of_an_odd_table_never_rises_and_keeps_its_bound(fits):
    for model in fits[-1]:
        n_classes = len(model.classes_)
        losses = np.concatenate(([n_classes * (n_classes - 1)], model.loss_curve_))
        assert (losses[1:] <= losses[:-1] * (1 + ROUNDING)).all()
        assert (np.diff(model.loss_curve_) <= 0).all()
        assert (model.loss_curve_ <= model.bound_curve_ * (1 + ROUNDING)).all()


def test_predictions_of_an_odd_table_are_classes_and_probabilities_sum_to_one(fits):
    X, _, models = fits
    for model in models:
        shares = model.predict_proba(X)
        assert shares.shape == (len(X), len(model.classes_))
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        np.testing.assert_array_equal(model.predict(X), model.classes_[shares.argmax(axis=1)])
        np.testing.assert_array_equal(model.predict(X[:1]), model.predict(X)[:1])
        model.set_params(proba="vote_fraction")
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
        model.set_params(proba="softmax")


def test_confusion_of_an_odd_table_is_that_of_its_predictions(fits):
    X, y, models = fits
    for model in models:
        counts = np.zeros(model.train_confusion_.shape)
        np.add.at(counts, (y, model.predict(X)), 1)
        shares = counts / counts.sum(axis=1, keepdims=True)
        np.fill_diagonal(shares, 0)
        np.testing.assert_allclose(model.train_confusion_, shares)


def test_norm_of_the_confusion_of_an_odd_table_is_below_the_loss(fits):
    combo = next(model for model in fits[-1] if isinstance(model, CoMBoClassifier))
    assert spectral_norm(combo.train_confusion_) ** 2 <= combo.loss_curve_[-1] * (1 + ROUNDING)


def test_importances_of_an_odd_table_sum_to_one_where_anything_was_split(fits):
    for model in fits[-1]:
        total = model.feature_importances_.sum()
        assert total == pytest.approx(1) or not model.feature_importances_.any()


@pytest.mark.parametrize("name", TABLES)
@for_both
def test_odd_table_gives_the_same_bits_for_any_number_of_threads(name, algorithm):
    X, y = TABLES[name]()
    booster = ALGORITHMS[algorithm](n_estimators=3)
    models = {model_bytes(booster.set_params(n_jobs=n_jobs).fit(X, y)) for n_jobs in (1, 2, 7)}
    assert len(models) == 1


@pytest.mark.parametrize(
    ("criterion", "max_features", "budget"),
    [("gini", None, 2**28), ("cost", None, 2**21), ("gini", 2, 2**21)],
    ids=["gini", "cost, levels in parts", "random features, levels in parts"],
)
def test_deep_trees_of_many_classes_give_the_same_bits_for_any_number_of_threads(
    criterion, max_features, budget, monkeypatch
):
    random = np.random.default_rng(0)
    X = random.normal(size=(500, 4))
    X[random.uniform(size=X.shape) < 0.1] = np.nan
    y = np.concatenate([np.arange(200), random.integers(200, size=300)])
    monkeypatch.setattr("comboost._engine.rows.HISTOGRAM_BUDGET", budget)
    parameters = {"criterion": criterion, "max_features": max_features, "max_bins": 30, "random_state": 0}
    booster = CoMBoClassifier(n_estimators=1, max_depth=None, **parameters)
    models = {model_bytes(booster.set_params(n_jobs=n_jobs).fit(X, y)) for n_jobs in (1, 2, 7)}
    assert len(models) == 1


@for_both
def test_rows_that_nothing_tells_apart_are_left_as_they_are(algorithm):
    X, y = TABLES["constant columns"]()
    model = ALGORITHMS[algorithm]().fit(X, y)
    assert (model.stop_reason_, model.n_iter_) == ("no_edge", 1)
    assert not model.feature_importances_.any()
    assert model.export_text(0) == f"|--- class: {model.predict(X)[0]}"


@for_both
def test_distinct_rows_are_told_apart_by_deep_trees(algorithm):
    X, y = TABLES["a row per class"]()
    model = ALGORITHMS[algorithm](max_depth=None).fit(X, y)
    assert model.stop_reason_ == "perfect_learner"
    np.testing.assert_array_equal(model.predict(X), y)


@for_both
@pytest.mark.parametrize("name", ["more features than rows", "200 classes", "missing columns", "two rows"])
def test_odd_table_can_be_stopped_early_and_gone_on_with(name, algorithm):
    X, y = TABLES[name]()
    early = {"early_stopping": True, "n_iter_no_change": 2}
    model = ALGORITHMS[algorithm](n_estimators=2, warm_start=True, **early).fit(X, y, X_val=X, y_val=y)
    model.set_params(n_estimators=4).fit(X, y, X_val=X, y_val=y)
    expected = ALGORITHMS[algorithm](n_estimators=4, **early).fit(X, y, X_val=X, y_val=y)
    assert model_bytes(model) == model_bytes(expected)
    np.testing.assert_array_equal(model.validation_curve_, expected.validation_curve_)


@given(
    n_samples=st.integers(2, 12),
    n_features=st.integers(1, 40),
    n_classes=st.integers(2, 12),
    value=st.sampled_from([0.0, np.nan, -1e308]),
    max_depth=st.sampled_from([1, 3, None]),
)
@settings(max_examples=25)
def test_tables_with_one_cell_that_differs_train(n_samples, n_features, n_classes, value, max_depth):
    n_classes = min(n_classes, n_samples)
    X, y = np.full((n_samples, n_features), value), np.arange(n_samples) % n_classes
    X[0, -1] = 1.0
    model = CoMBoClassifier(n_estimators=3, max_depth=max_depth).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert (np.diff(model.loss_curve_) <= 0).all()
