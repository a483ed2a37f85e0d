"""Missing values: part of a split, harmless where they say nothing, the same however they are written."""

import dataclasses
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from models import ALGORITHMS, booster_for, fit, model_bytes
from reference import float_reference
from strategies import columns_of, labels, problems, rising_columns

from comboost import CoMBoClassifier
from comboost._types import LEAF, MISSING_LEFT
from comboost.metrics import confusion_norm_loss

FLOAT_ERROR = 1e-6  # of float references beside quantised costs
CRITERIA = ["gini", "cost"]
FEW = settings(max_examples=settings.default.max_examples // 2)  # of each of many laws
SMALL = {"max_rows": 20, "max_rounds": 6}
DEPTHS = [1, 3, 6, 7, 8, None]  # level by level up to 6, row by row below that


def goes_left(node, X):
    """Which rows a node of numbers sends to the left; all of them if it is a leaf."""
    if node["feature"] == LEAF:
        return np.ones(len(X), dtype=bool)
    values = X[:, node["feature"]]
    return np.where(np.isnan(values), bool(node["flags"] & MISSING_LEFT), values <= node["threshold"])


def trees_of(model):
    return [model._forest.nodes[begin:end] for begin, end in pairwise(model._forest.offsets)]


def half_missing(X, random, share=0.5):
    return np.where(random.uniform(size=X.shape) < share, np.nan, X)


# One split


@st.composite
def columns_with_missing(draw):
    """Draw a column of few distinct values, some of its rows missing and some not, and classes."""
    n_classes = draw(st.integers(2, 4))
    n_samples = draw(st.integers(n_classes, 25))
    y = draw(labels(n_samples, n_classes))
    column = draw(columns_of(st.integers(-3, 3).map(float), n_samples) | rising_columns(n_samples))
    missing = draw(hnp.arrays(bool, n_samples, elements=st.booleans(), fill=st.nothing()))
    missing[draw(st.integers(0, n_samples - 1))] = False
    return np.where(missing, np.nan, column)[:, None], y


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("criterion", CRITERIA)
@FEW
@given(drawn=columns_with_missing())
def test_split_is_the_better_of_missing_as_a_smallest_and_as_a_largest_value(algorithm, criterion, drawn):
    X, y = drawn
    booster = ALGORITHMS[algorithm](n_estimators=1, max_depth=1, criterion=criterion)
    costs = float_reference.first_costs(y, algorithm)
    scores, edges = [], []
    for table in (X, np.nan_to_num(X, nan=np.nanmin(X) - 1), np.nan_to_num(X, nan=np.nanmax(X) + 1)):
        root = booster.fit(table, y)._forest.nodes[0]
        scores.append(float_reference.split_score(goes_left(root, table), costs, criterion))
        edges.append(booster.edges_[0])
    assert scores[0] == pytest.approx(max(scores[1:]), rel=FLOAT_ERROR)
    if criterion == "cost":  # where the score is the edge
        assert edges[0] == max(edges[1:])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_one_stump_learns_a_class_that_is_missingness_itself(algorithm, criterion):
    random = np.random.default_rng(0)
    X = half_missing(random.normal(size=(300, 3)), random)
    y = np.isnan(X[:, 1])
    model = ALGORITHMS[algorithm](n_estimators=1, max_depth=1, criterion=criterion).fit(X[:200], y[:200])
    assert not model.train_confusion_.any()
    np.testing.assert_array_equal(model.predict(X[200:]), y[200:])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("missing_class", [False, True])
def test_one_stump_learns_a_threshold_and_the_side_of_missing_values(algorithm, missing_class):
    random = np.random.default_rng(1)
    X = half_missing(random.integers(-9, 10, size=(600, 3)).astype(float), random, share=0.3)
    y = np.where(np.isnan(X[:, 2]), missing_class, X[:, 2] > 2)
    model = ALGORITHMS[algorithm](n_estimators=1, max_depth=1).fit(X[:400], y[:400])
    np.testing.assert_array_equal(model.predict(X[400:]), y[400:])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("replacement", ["below", "above", "median"])
def test_missing_values_left_in_place_are_learned_at_least_as_well_as_replaced_ones_by_deeper_models(
    algorithm, replacement
):
    # A threshold and a class of missing values; in training every seventh label is drawn anew.
    random = np.random.default_rng(2)
    X = half_missing(random.integers(-9, 10, size=(3000, 4)).astype(float), random, share=0.3)
    y = np.where(np.isnan(X[:, 0]), 2, X[:, 0] > 0)
    noisy = np.where(random.uniform(size=len(y)) < 1 / 7, random.integers(3, size=len(y)), y)
    put = {"below": np.nanmin(X) - 1, "above": np.nanmax(X) + 1, "median": np.nanmedian(X)}[replacement]
    train, test = slice(0, 1500), slice(1500, None)

    def loss(table, **parameters):
        model = ALGORITHMS[algorithm](**parameters).fit(table[train], noisy[train])
        return confusion_norm_loss(y[test], model.predict(table[test]))

    native = loss(X, n_estimators=1, max_depth=2)
    assert native == 0
    for max_depth in (2, 3, 5):
        replaced = loss(np.nan_to_num(X, nan=put), n_estimators=10, max_depth=max_depth)
        assert replaced >= native
        assert replaced > 0 or replacement != "median"  # which cannot be reported from a value that was there


# Columns that say nothing


@FEW
@given(problem=problems(**SMALL, missing=True, categories=True), data=st.data())
def test_column_of_missing_values_changes_no_bit_but_the_numbers_of_the_features(problem, data):
    index = data.draw(st.integers(0, problem.X.shape[1]))
    as_categories = data.draw(st.booleans())
    shifted = [f + (f >= index) for f in problem.categorical]
    wider = dataclasses.replace(
        problem,
        X=np.insert(problem.X, index, np.nan, axis=1),
        categorical=tuple(sorted([*shifted, index] if as_categories else shifted)),
    )
    model, other = fit(problem, max_features=None), fit(wider, max_features=None)
    model._forest.nodes["feature"][model._forest.nodes["feature"] >= index] += 1
    model.feature_importances_ = np.insert(model.feature_importances_, index, 0.0)
    assert model_bytes(other) == model_bytes(model)


# Missing values that training has not seen


def heavier_side_is_left(node, X, loss_of_row):
    """Whether the left child keeps the larger loss, and whether rounding could decide otherwise."""
    left = X[:, node["feature"]] <= node["threshold"]
    on_left, on_right = loss_of_row[left].sum(), loss_of_row[~left].sum()
    return on_left >= on_right, abs(on_left - on_right) < FLOAT_ERROR * (on_left + on_right)


def vote_of_heavier_sides(nodes, row, X, loss_of_row):
    """The vote of a tree, every node of which sends a missing value to its child with the larger loss."""
    node, rows = nodes[0], np.ones(len(X), dtype=bool)
    while node["feature"] != LEAF:
        value = row[node["feature"]]
        goes_left = value <= node["threshold"]
        if np.isnan(value):
            goes_left, is_close = heavier_side_is_left(node, X[rows], loss_of_row[rows])
            goes_left = bool(node["flags"] & MISSING_LEFT) if is_close else goes_left
        rows &= (X[:, node["feature"]] <= node["threshold"]) == goes_left
        node = nodes[node["left"] + (not goes_left)]
    return node["label"]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@FEW
@given(problem=problems(**SMALL, costed=False, weighted=False), data=st.data())
def test_missing_value_unseen_in_training_goes_to_the_child_with_the_larger_loss(algorithm, problem, data):
    problem = dataclasses.replace(problem, settings=problem.settings | {"algorithm": algorithm})
    missing = data.draw(hnp.arrays(bool, (5, problem.X.shape[1]), elements=st.booleans()))
    new = np.where(missing, np.nan, np.resize(problem.X, missing.shape))
    model = fit(problem)
    n_classes, ones = problem.n_classes, np.ones(len(problem.y))
    base = float_reference.base_weights(problem.y, ones, n_classes, algorithm)
    scores, expected = np.zeros((len(ones), n_classes)), np.zeros((len(new), n_classes))
    for t, nodes in enumerate(trees_of(model)):
        loss_of_row = float_reference.soft_errors(scores, problem.y, base, np.ones((n_classes, n_classes))).sum(axis=1)
        for row, total in zip(new, expected, strict=True):
            total[vote_of_heavier_sides(nodes, row, problem.X, loss_of_row)] += model.estimator_weights_[t]
        model._forest.add_scores(problem.X, False, scores, t, t + 1, 1)
    np.testing.assert_array_equal(model._scores(new), expected)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_missing_value_unseen_in_training_gets_the_vote_of_the_heavier_child_of_a_stump(algorithm):
    # Classes weigh the same in CoMBo, so the rare one is the heavier child with two classes behind it; rows weigh the
    # same in AdaBoost.MM.
    X = np.array([[0.0]] * 12 + [[1.0]] * 2 + [[1.0]] * 2)
    y = np.array([0] * 12 + [1] * 2 + [2] * 2)
    model = ALGORITHMS[algorithm](n_estimators=1, max_depth=1).fit(X, y)
    assert model.predict([[0.0], [1.0]]).tolist() == [0, 1]
    assert model.predict([[np.nan]]).tolist() == [{"combo": 1, "mm": 0}[algorithm]]


# However they are written


def with_missing(values, missing):
    """Objects with this instead of NaN."""
    return np.where(np.isnan(values), missing, values.astype(object))


def with_nan(values):
    objects = values.astype(object)
    objects[np.isnan(values)] = np.nan
    return objects


def names(values):
    return [f"x{f}" for f in range(values.shape[1])]


def by_column(values, make):
    return {name: make(column) for name, column in zip(names(values), with_missing(values, None).T, strict=True)}


MISSING = {
    "objects with None": lambda values: with_missing(values, None),
    "objects with NaN": with_nan,
    "objects with NA": lambda values: with_missing(values, pd.NA),
    "lists with None": lambda values: with_missing(values, None).tolist(),
    "float32": lambda values: values.astype(np.float32),
    "CSR": sp.csr_array,
    "CSC": sp.csc_matrix,
    "pandas NaN": lambda values: pd.DataFrame(values, columns=names(values)),
    "pandas objects with NA": lambda values: pd.DataFrame(with_missing(values, pd.NA), columns=names(values)),
    "pandas objects with None": lambda values: pd.DataFrame(with_missing(values, None), columns=names(values)),
    "pandas Float64": lambda values: pd.DataFrame(by_column(values, lambda c: pd.array(c, dtype="Float64"))),
    "pandas Int64": lambda values: pd.DataFrame(by_column(values, lambda c: pd.array(c, dtype="Int64"))),
    "pandas Arrow": lambda values: pd.DataFrame(by_column(values, lambda c: pd.array(c, dtype="double[pyarrow]"))),
    "polars null": lambda values: pl.DataFrame(by_column(values, lambda c: pl.Series(c.tolist(), dtype=pl.Float64))),
    "polars NaN": lambda values: pl.from_numpy(values, names(values)),
    "polars Int32": lambda values: pl.DataFrame(
        by_column(values, lambda c: pl.Series([None if v is None else int(v) for v in c], dtype=pl.Int32))
    ),
    "pyarrow null": lambda values: pa.table(by_column(values, lambda c: pa.array(c, pa.float64()))),
    "pyarrow NaN": lambda values: pa.table({name: pa.array(values[:, f]) for f, name in enumerate(names(values))}),
    "pyarrow int": lambda values: pa.table(by_column(values, lambda c: pa.array(c, pa.float64()).cast(pa.int16()))),
}


@pytest.mark.parametrize("container", MISSING)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_missing_values_are_the_same_however_they_are_written(container, algorithm):
    random = np.random.default_rng(2)
    values = half_missing(random.integers(-5, 6, size=(150, 4)).astype(float), random, share=0.2)
    y = np.concatenate([np.arange(3), random.integers(3, size=147)])
    booster = ALGORITHMS[algorithm](n_estimators=5)
    expected = booster.fit(values, y).decision_function(values)
    bytes_of_arrays = model_bytes(booster)
    table = MISSING[container](values)
    assert model_bytes(booster.fit(table, y)) == bytes_of_arrays
    np.testing.assert_array_equal(booster.decision_function(table), expected)


NAN_TABLES = {
    "array": np.asarray,
    "other byte order": lambda X: X.astype(X.dtype.newbyteorder()),
    "pandas by column": lambda X: pd.concat(
        [pd.Series(column, name=name) for name, column in zip(names(X), X.T, strict=True)], axis=1
    ),
    "polars": lambda X: pl.from_numpy(X, names(X)),
    "pyarrow": lambda X: pa.table({name: X[:, f] for f, name in enumerate(names(X))}),
    "CSR": sp.csr_array,
}


@pytest.mark.parametrize("container", NAN_TABLES)
@pytest.mark.parametrize("bits", [np.uint32, np.uint64])
def test_sign_and_payload_of_nan_change_no_bit(container, bits):
    width = np.dtype(bits).itemsize
    dtype = np.dtype(f"f{width}")
    random = np.random.default_rng(3)
    plain = half_missing(random.normal(size=(200, 3)), random, share=0.3).astype(dtype)
    others = plain.copy()
    missing = np.isnan(plain)
    payloads = random.integers(1, 2 ** np.finfo(dtype).nmant, size=missing.sum(), dtype=bits)
    signs = random.integers(2, size=missing.sum(), dtype=bits) << bits(8 * width - 1)
    others.view(bits)[missing] = signs | np.array(np.inf, dtype).view(bits) | payloads
    assert np.isnan(others[missing]).all()
    y = random.integers(3, size=200)
    make = NAN_TABLES[container]
    models = [CoMBoClassifier(n_estimators=8).fit(make(each), y) for each in (plain, others)]
    assert model_bytes(models[0]) == model_bytes(models[1])
    for rows in (slice(None), slice(0, 1), slice(0, 20)):
        expected = models[0].decision_function(make(plain[rows]))
        np.testing.assert_array_equal(models[0].decision_function(make(others[rows])), expected)


# Infinite values are none

INFINITE = {
    "C order": np.ascontiguousarray,
    "Fortran order": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "objects": lambda X: X.astype(object),
    "lists": lambda X: X.tolist(),
    "pandas": lambda X: pd.DataFrame(X, columns=names(X)),
    "pandas Float64": lambda X: pd.DataFrame(X, columns=names(X)).astype("Float64"),
    "polars": lambda X: pl.from_numpy(X, names(X)),
    "pyarrow": lambda X: pa.table({name: X[:, f] for f, name in enumerate(names(X))}),
    "CSR": sp.csr_array,
    "CSC": sp.csc_array,
}


@pytest.mark.parametrize("container", INFINITE)
@pytest.mark.parametrize("infinite", [np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("beside_nan", [False, True])
def test_infinite_values_are_an_error_that_says_what_to_do(container, infinite, dtype, beside_nan):
    random = np.random.default_rng(4)
    X = random.normal(size=(90, 3)).astype(dtype)
    y = np.arange(90) % 3
    if beside_nan:
        X[::7, 1:] = np.nan
    make = INFINITE[container]
    model = CoMBoClassifier(n_estimators=2).fit(make(X), y)
    X[50, 1] = infinite
    message = r"X contains infinity.*[Rr]eplace.*by NaN where"
    with pytest.raises(ValueError, match=message):
        CoMBoClassifier(n_estimators=2).fit(make(X), y)
    for rows in (X, X[45:55], X[50:51]):
        with pytest.raises(ValueError, match=message):
            model.predict(make(rows))


@pytest.mark.parametrize("infinite", [np.inf, -np.inf])
def test_infinite_values_are_an_error_among_categories_too(infinite):
    X, y = np.array([[0.0], [1.0], [2.0], [0.0]]), np.array([0, 1, 1, 0])
    booster = CoMBoClassifier(n_estimators=1, categorical_features=[0])
    for call in (lambda: booster.fit(np.vstack([X, [[infinite]]]), [*y, 1]), lambda: booster.predict([[infinite]])):
        booster.fit(X, y)
        with pytest.raises(ValueError, match="infinity"):
            call()


# The same bits


@FEW
@given(problem=problems(**SMALL, weighted=False), data=st.data())
def test_missing_values_of_rows_without_weight_leave_no_trace(problem, data):
    index = data.draw(st.integers(0, len(problem.y)))
    X, y = np.insert(problem.X, index, np.nan, axis=0), np.insert(problem.y, index, 0)
    weights = np.insert(np.ones(len(problem.y)), index, 0.0)
    model, other = fit(problem), booster_for(problem).fit(X, y, weights)
    assert model_bytes(other) == model_bytes(model)
    assert [other.export_text(t) for t in range(other.n_iter_)] == [model.export_text(t) for t in range(model.n_iter_)]


@pytest.mark.parametrize("max_depth", DEPTHS)
@pytest.mark.parametrize("missing_in_training", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_row_predicts_as_it_does_among_many(max_depth, missing_in_training, dtype):
    random = np.random.default_rng(6)
    complete = random.normal(size=(150, 5)).astype(dtype)
    y = (complete[:, :3] + random.normal(size=(150, 3))).argmax(axis=1)
    new = half_missing(complete, random, share=0.3).astype(dtype)
    model = CoMBoClassifier(n_estimators=12, max_depth=max_depth).fit(new if missing_in_training else complete, y)
    scores = model.decision_function(new)
    assert scores.dtype == np.float64
    for size in (1, 20):  # both below the number of rows that takes the fast path
        parts = [model.decision_function(new[begin : begin + size]) for begin in range(0, 150, size)]
        np.testing.assert_array_equal(np.concatenate(parts), scores)
    assert [model.predict(row[None])[0] for row in new] == model.predict(new).tolist()
    *_, last = model.staged_decision_function(new)
    np.testing.assert_array_equal(last, scores)


@FEW
@given(problem=problems(**SMALL, missing=True, categories=True), data=st.data())
def test_rows_predict_one_by_one_as_they_do_together(problem, data):
    model = fit(problem)
    new = np.tile(problem.X, (80 // len(problem.X) + 1, 1))
    missing = data.draw(hnp.arrays(bool, new.shape, elements=st.booleans()))
    new = np.where(missing, np.nan, new)
    scores = model.decision_function(new)
    for i in range(0, len(new), 7):
        np.testing.assert_array_equal(model.decision_function(new[i : i + 1]), scores[i : i + 1])
