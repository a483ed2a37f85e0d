"""Problems larger than every block and batch of the engine, against the twin for many rows.

The engine takes rows in batches of 2 MiB of records (131 072 rows of three classes), blocks of 128 KiB of records and
of 4096, 512, 256 and 32 rows; columns in groups of 8, or of 16 MiB; votes in blocks of 2²². That threads, vectors and
blocks agree with each other would not show a row, or a column, that all of them take twice.
"""

import numpy as np
import pytest
from models import booster_for, fit, fit_reference, spectral_norm, trees_of, trees_of_reference
from reference import array_reference, metrics_reference
from scipy.special import softmax
from strategies import Problem

from comboost import _core
from comboost._data.categories import Categories
from comboost._data.tables import ArraySource, RawTable
from comboost._engine.binning import BinMapper

RECORDS_AT_ONCE = 2**21  # bytes


def make_problem(n_samples, n_features, n_classes, *, weighted=False, odd=False, **settings):
    """Rows of rounded values: the sign of the first parts even from odd classes, all of them pull towards classes.

    With ``odd``, a tenth of the values is missing, and the last column holds categories.
    """
    random = np.random.default_rng(n_classes)
    X = random.normal(size=(n_samples, n_features)).round(2)
    pulls = X[:, np.arange(n_classes) % n_features] + random.normal(size=(n_samples, n_classes))
    pulls += 2.0 * ((X[:, :1] > 0) == np.arange(n_classes) % 2)
    y = pulls.argmax(axis=1)
    y[:n_classes] = np.arange(n_classes)
    if odd:
        X[:, -1] = np.rint(3 * X[:, -1])
        X[random.uniform(size=X.shape) < 0.1] = np.nan
    weights = random.integers(1, 6, n_samples) if weighted else None
    settings = {"n_estimators": 2, "max_bins": 24} | settings
    return Problem(X, y, weights, None, settings, (n_features - 1,) if odd else ())


def assert_same(model, twin):
    """Every bit of the trees, their weights, edges and losses."""
    assert trees_of(model) == trees_of_reference(twin.trees)
    assert model.edges_.tolist() == twin.edges
    assert model.estimator_weights_.tolist() == twin.alphas
    assert model.loss_curve_.tolist() == twin.losses


def error_shares(problem, elected, weights):
    """C_S of a vote, by plain counting."""
    counts = np.zeros((problem.n_classes, problem.n_classes))
    np.add.at(counts, (problem.y, elected), 1 if weights is None else weights)
    return counts / counts.sum(axis=1, keepdims=True) * (1 - np.eye(problem.n_classes))


def smaller_child(twin, X):
    """Rows of the smaller child of the first root, whose records are copied in batches."""
    root = twin.trees[0][0]
    is_left = array_reference.goes_left(root, X[:, root.feature], twin.features[root.feature])
    return min(is_left.sum(), (~is_left).sum())


@pytest.mark.parametrize(
    ("shape", "record_bytes", "settings"),
    [
        ((280_000, 3, 3), 16, {}),
        ((150_000, 3, 5), 32, {"weighted": True, "odd": True, "min_samples_leaf": 9, "step": "exact"}),
    ],
    ids=["plain", "weights, counted rows, missing values, categories"],
)
def test_rows_of_several_batches_give_the_model_and_the_votes_of_the_twin(shape, record_bytes, settings):
    problem = make_problem(*shape, **settings)
    model, twin = fit(problem, n_jobs=2), fit_reference(problem, array_reference)
    assert smaller_child(twin, problem.X) * record_bytes > RECORDS_AT_ONCE
    assert_same(model, twin)
    scores = twin.scores(problem.X)
    np.testing.assert_array_equal(model.decision_function(problem.X), scores)
    expected = error_shares(problem, scores.argmax(axis=1), problem.sample_weight)
    np.testing.assert_allclose(model.train_confusion_, expected, rtol=1e-12)


# Kernels are compiled for up to 8 classes and up to 8 vectors of 4 channels, and once for any number of them.
@pytest.mark.parametrize("n_classes", [2, 3, 4, 5, 6, 7, 8, 9, 13, 17, 21, 25, 29, 33, 90])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_of_several_blocks_give_the_model_of_the_twin_for_any_number_of_classes(n_classes, weighted):
    settings = {"min_samples_leaf": 1 + n_classes % 2, "max_bins": 12, "n_estimators": 1}
    problem = make_problem(9000, 3, n_classes, weighted=weighted, **settings)
    assert_same(fit(problem, n_jobs=2), fit_reference(problem, array_reference))


@pytest.mark.parametrize("place", [0, 5000, 8999], ids=["first block", "second", "last"])
def test_row_of_the_largest_cost_is_found_in_any_block(place):
    problem = make_problem(9000, 3, 2)
    problem.y[place] = 2  # alone in its class
    assert_same(fit(problem, n_jobs=2), fit_reference(problem, array_reference))


@pytest.mark.parametrize("max_depth", [2, 6], ids=["by histograms", "by rows"])
def test_features_of_all_256_codes_give_the_model_and_the_votes_of_the_twin(max_depth):
    random = np.random.default_rng(0)
    y = random.integers(3, size=1500)
    X = np.column_stack([random.normal(size=1500) + y, random.permutation(1500) % 254])
    y = (y + X[:, 1] // 3) % 3  # every category has a class of its own
    X[:20] = np.nan
    settings = {"n_estimators": 1, "max_depth": max_depth, "min_samples_leaf": 5}
    problem = Problem(X, y.astype(int), settings=settings, categorical=(1,))
    model, twin = fit(problem), fit_reference(problem, array_reference)
    assert [feature.n_codes for feature in twin.features] == [256, 255]
    assert_same(model, twin)
    np.testing.assert_array_equal(model.decision_function(X), twin.scores(X))


@pytest.mark.parametrize("odd", [False, True], ids=["plain", "missing values, categories"])
@pytest.mark.parametrize("max_depth", [1, 2, 3, 4, 5, 6, 7, None])
def test_trees_of_any_depth_vote_as_the_twin_on_any_number_of_rows(max_depth, odd):
    settings = {"max_depth": max_depth, "min_samples_leaf": 20, "max_bins": 8}
    problem = make_problem(4500, 3, 3, odd=odd, **settings)
    model, twin = fit(problem), fit_reference(problem, array_reference)
    assert_same(model, twin)
    scores = twin.scores(problem.X)
    expected = error_shares(problem, scores.argmax(axis=1), None)
    np.testing.assert_allclose(model.train_confusion_, expected, rtol=1e-12)
    for n_samples in (1, 31, 32, 33, 63, 64, 65, 512, 513, 4095, 4096, 4500):
        rows = problem.X[-n_samples:]
        for copy in (rows, rows.astype(np.float32), np.asfortranarray(rows)):
            np.testing.assert_array_equal(model.decision_function(copy), scores[-n_samples:])


@pytest.mark.parametrize("n_nodes", [1, 3])
def test_levels_searched_in_several_parts_give_the_model_of_the_twin(n_nodes, monkeypatch):
    problem = make_problem(5000, 3, 3, max_bins=8, max_depth=4)
    histogram_bytes = 3 * 8 * 4 * 8  # features, bins, channels, bytes
    monkeypatch.setattr("comboost._engine.rows.HISTOGRAM_BUDGET", n_nodes * histogram_bytes)
    assert_same(fit(problem), fit_reference(problem, array_reference))


def test_rows_of_several_blocks_of_a_table_vote_as_the_twin(monkeypatch):
    problem = make_problem(2000, 3, 3, odd=True)
    problem.X[:500] = np.nan_to_num(problem.X[:500])  # so that blocks differ in whether values are missing
    monkeypatch.setattr("comboost._engine.scores.BLOCK_BYTES", 300 * problem.X[0].nbytes)
    monkeypatch.setattr("comboost._engine.scores.KEPT_BYTES", 0)
    model, twin = fit(problem), fit_reference(problem, array_reference)
    expected = twin.scores(problem.X)
    np.testing.assert_array_equal(model.decision_function(problem.X), expected)
    np.testing.assert_array_equal(model.predict(problem.X), expected.argmax(axis=1))
    for staged, scores in zip(model.staged_decision_function(problem.X), twin.staged_scores(problem.X), strict=True):
        np.testing.assert_array_equal(staged, scores)


@pytest.mark.parametrize(
    ("shape", "dtype", "weighted"),
    [((300, 40), np.float64, False), ((300, 20), np.float32, True), ((300_000, 7), np.float64, True)],
    ids=["groups of 8 columns", "the same of float32", "groups of 16 MiB"],
)
def test_columns_of_several_groups_have_the_bins_of_the_twin(shape, dtype, weighted):
    random = np.random.default_rng(0)
    X = (random.normal(size=shape).round(2) * np.arange(1, shape[1] + 1)).astype(dtype)
    weights = random.integers(1, 6, shape[0]).astype(np.uint32) if weighted else np.ones(shape[0], dtype=np.uint32)
    table = RawTable(ArraySource(X)).encode(Categories())
    bins = BinMapper.fit(table, Categories(), weights if weighted else None, 24, 2)
    codes = bins.transform(table, 2)
    for f, column in enumerate(X.T.astype(np.float64)):
        feature = array_reference.read_feature(column, weights, 24, is_categorical=False)
        assert bins.edges[f].tolist() == feature.edges
        np.testing.assert_array_equal(codes[f], array_reference.encode(feature, column))


def test_rows_of_several_blocks_of_votes_are_predicted_as_by_the_twin():
    problem = make_problem(2000, 3, 100, n_estimators=1)
    model, twin = fit(problem, n_jobs=2), fit_reference(problem, array_reference)
    X = make_problem(2**22 // 100 * 2 + 5000, 3, 4).X
    expected = array_reference.vote(twin.trees[0], X, twin.features)
    np.testing.assert_array_equal(model.predict(X), expected)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_elected_classes_are_counted_and_the_first_of_tied_ones_is_elected(weighted, n_threads):
    random = np.random.default_rng(0)
    scores, labels = random.integers(3, size=(10_001, 4)).astype(float), random.integers(4, size=10_001)
    weights = random.integers(1, 6, 10_001).astype(np.uint32) if weighted else None
    counts, expected = np.empty((4, 4), dtype=np.int64), np.zeros((4, 4), dtype=np.int64)
    _core.count_predicted(scores, labels.astype(np.uint16), weights, n_threads, counts)
    np.add.at(expected, (labels, scores.argmax(axis=1)), 1 if weights is None else weights)
    np.testing.assert_array_equal(counts, expected)


@pytest.mark.parametrize("scoring", [None, "neg_confusion_norm"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_validation_scores_of_many_rows_are_those_of_the_twin(scoring, weighted, n_jobs):
    problem = make_problem(1000, 4, 4, n_estimators=3)
    held = make_problem(20_001, 4, 4, weighted=weighted)
    twin = fit_reference(problem, array_reference)
    booster = booster_for(problem, n_jobs=n_jobs, early_stopping=True, n_iter_no_change=3, scoring=scoring)
    model = booster.fit(problem.X, problem.y, X_val=held.X, y_val=held.y, sample_weight_val=held.sample_weight)
    stages = [np.array(scores) for scores in twin.staged_scores(held.X)]
    if scoring is None:
        weights = np.ones(len(held.y)) if held.sample_weight is None else held.sample_weight
        probabilities = [softmax(scores / 2, axis=1) for scores in stages]
        expected = [-metrics_reference.balanced_log_loss(held.y, shares, weights, 4) for shares in probabilities]
    else:
        elected = [scores.argmax(axis=1) for scores in stages]
        expected = [-spectral_norm(error_shares(held, votes, held.sample_weight)) for votes in elected]
    np.testing.assert_allclose(model.validation_curve_, expected, rtol=1e-9 if scoring else 1e-7)
