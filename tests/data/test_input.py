"""What the estimators take: tables and labels of any kind, without needless copies, from any tool of scikit-learn."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
import sklearn
from memory import peak_of
from models import ALGORITHMS, model_bytes
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.model_selection import KFold, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from comboost import CoMBoClassifier
from comboost._engine.memory_plan import FitShape
from comboost.metrics import get_scorer

SCORERS = ["g_mean", "mauc", "neg_confusion_norm", "min_recall", "neg_expected_cost"]


# Tables


def whole_numbers(n_samples=200):
    """Values that any type of number holds, many of them 0, and classes that depend on them."""
    random = np.random.default_rng(0)
    X = random.integers(-3, 4, size=(n_samples, 5)).astype(np.float64)
    y = np.concatenate([np.arange(3), (X[:, :3] + random.normal(size=(n_samples, 3))).argmax(axis=1)[3:]])
    return X, y


def names(X):
    return [f"x{f}" for f in range(X.shape[1])]


def strided(X):
    wide = np.full((2 * X.shape[0], 3 * X.shape[1]), 7.0)
    wide[::2, ::3] = X
    return wide[::2, ::3]


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def memory_map(X, tmp_path, mode):
    path = tmp_path / "X"
    X.tofile(path)
    return np.memmap(path, dtype=X.dtype, mode=mode, shape=X.shape)


def pandas_frame(X, dtype=np.float64):
    return pd.DataFrame(X, columns=names(X)).astype(dtype)


def pandas_of_several(X):
    dtypes = ["float32", "Int64", "double[pyarrow]", "int8", "Float32"]
    return pandas_frame(X).astype(dict(zip(names(X), dtypes, strict=True)))


def polars_frame(X, dtype=pl.Float64):
    return pl.DataFrame({name: X[:, f] for f, name in enumerate(names(X))}).cast(dtype)


def arrow_table(X, dtype):
    return pa.table({name: pa.array(X[:, f]).cast(dtype) for f, name in enumerate(names(X))})


TABLES = {
    "Fortran order": np.asfortranarray,
    "strided": strided,
    "reversed": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": read_only,
    "lists": lambda X: X.tolist(),
    "objects": lambda X: X.astype(object),
    "other byte order": lambda X: X.astype(">f8"),
    "float32": lambda X: X.astype(np.float32),
    "float32, Fortran order": lambda X: np.asfortranarray(X, dtype=np.float32),
    "float16": lambda X: X.astype(np.float16),
    "int64": lambda X: X.astype(np.int64),
    "int8, Fortran order": lambda X: np.asfortranarray(X, dtype=np.int8),
    "pandas": pandas_frame,
    "pandas float32": lambda X: pandas_frame(X, np.float32),
    "pandas int": lambda X: pandas_frame(X, np.int32),
    "pandas objects": lambda X: pandas_frame(X, object),
    "pandas Int64": lambda X: pandas_frame(X, "Int64"),
    "pandas Float64": lambda X: pandas_frame(X, "Float64"),
    "pandas Arrow": lambda X: pandas_frame(X, "double[pyarrow]"),
    "pandas Arrow int": lambda X: pandas_frame(X, "int16[pyarrow]"),
    "pandas of several dtypes": pandas_of_several,
    "pandas sparse": lambda X: pandas_frame(X, pd.SparseDtype(float, 0.0)),
    "polars": polars_frame,
    "polars Float32": lambda X: polars_frame(X, pl.Float32),
    "polars int": lambda X: polars_frame(X, pl.Int16),
    "polars from NumPy": lambda X: pl.from_numpy(np.asfortranarray(X), names(X), orient="row"),
    "pyarrow": lambda X: arrow_table(X, pa.float64()),
    "pyarrow int": lambda X: arrow_table(X, pa.int8()),
    "pyarrow in chunks": lambda X: pa.concat_tables([arrow_table(part, pa.float64()) for part in (X[:7], X[7:])]),
    "CSR array": sp.csr_array,
    "CSC array": sp.csc_array,
    "CSR matrix": sp.csr_matrix,
    "CSC matrix": sp.csc_matrix,
    "CSR int": lambda X: sp.csr_array(X.astype(np.int64)),
    "CSC float32": lambda X: sp.csc_array(X.astype(np.float32)),
    "COO": sp.coo_array,
}


def assert_same_model(booster, table, reference, y):
    expected = clone(booster).fit(reference, y)
    model = clone(booster).fit(table, y)
    assert model_bytes(model) == model_bytes(expected)
    np.testing.assert_array_equal(model.decision_function(table), expected.decision_function(reference))
    np.testing.assert_array_equal(model.predict(table), expected.predict(reference))


@pytest.mark.parametrize("container", TABLES)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_same_values_in_any_container_give_the_same_model(container, algorithm):
    X, y = whole_numbers()
    assert_same_model(ALGORITHMS[algorithm](n_estimators=5), TABLES[container](X), X, y)


@pytest.mark.parametrize("container", TABLES)
def test_weights_drop_the_same_rows_of_any_container(container):
    X, y = whole_numbers()
    weights = np.arange(len(y)) % 4 / 2
    model = CoMBoClassifier(n_estimators=4).fit(TABLES[container](X), y, weights)
    assert model_bytes(model) == model_bytes(CoMBoClassifier(n_estimators=4).fit(X, y, weights))


@pytest.mark.parametrize("container", TABLES)
def test_rows_held_out_are_the_same_in_any_container(container):
    X, y = whole_numbers()
    booster = CoMBoClassifier(n_estimators=4, early_stopping=True, random_state=0)
    table = TABLES[container](X)
    expected = model_bytes(booster.fit(X, y))
    curve = booster.validation_curve_.tolist()
    assert model_bytes(booster.fit(table, y)) == expected
    assert booster.validation_curve_.tolist() == curve


@pytest.mark.parametrize("mode", ["r", "r+", "c"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_memory_map_gives_the_same_model(tmp_path, mode, dtype):
    X, y = whole_numbers()
    mapped = memory_map(X.astype(dtype), tmp_path, mode)
    assert_same_model(CoMBoClassifier(n_estimators=5), mapped, X, y)


BOOLEANS = {
    "array": lambda X: X.astype(bool),
    "pandas": lambda X: pandas_frame(X, bool),
    "pandas boolean": lambda X: pandas_frame(X, "boolean"),
    "pandas Arrow": lambda X: pandas_frame(X, "bool[pyarrow]"),
    "polars": lambda X: polars_frame(X, pl.Boolean),
    "pyarrow": lambda X: arrow_table(X, pa.bool_()),
    "CSR": lambda X: sp.csr_array(X.astype(bool)),
}


@pytest.mark.parametrize("container", BOOLEANS)
def test_booleans_are_zeros_and_ones(container):
    X, y = whole_numbers()
    X = (X > 0).astype(float)
    assert_same_model(CoMBoClassifier(n_estimators=5), BOOLEANS[container](X), X, y)


def test_values_of_float64_that_float32_would_round_stay_apart():
    X = 1 + np.arange(8)[:, None] * 2.0**-40
    y = np.arange(8) % 2
    model = CoMBoClassifier(n_estimators=1, max_depth=None).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), y)


@pytest.mark.parametrize("container", TABLES)
def test_tables_are_left_as_they_were(container):
    X, y = whole_numbers(60)
    table = TABLES[container](X)
    CoMBoClassifier(n_estimators=2).fit(table, y).predict(table)
    table = table.to_pandas() if isinstance(table, pa.Table) else table
    values = table.toarray() if sp.issparse(table) else np.asarray(table)
    np.testing.assert_array_equal(values.astype(float), X)


# Labels

LABELS = {
    "text": np.array(["rare", "common", "middling"]),
    "text objects": np.array(["rare", "common", "middling"], dtype=object),
    "negative": np.array([-7, 0, 3]),
    "large": np.array([-(2**62), 5, 2**62]),
    "small type": np.array([-128, 0, 127], dtype=np.int8),
    "unsigned": np.array([0, 2**63, 2**64 - 1], dtype=np.uint64),
    "float": np.array([2.0, -1.0, 0.0]),
    "large float": np.array([2.0**60, -(2.0**60), 0.0]),
}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_classes_are_the_sorted_labels_and_predictions_come_from_them(kind, algorithm):
    X, indices = whole_numbers()
    y = LABELS[kind][indices]
    model = ALGORITHMS[algorithm](n_estimators=5).fit(X, y)
    expected, indices = np.unique(y, return_inverse=True)
    assert model.classes_.dtype == expected.dtype
    assert model.classes_.tolist() == expected.tolist()
    on_indices = ALGORITHMS[algorithm](n_estimators=5).fit(X, indices)
    assert model_bytes(model) == model_bytes(on_indices)
    predicted = model.predict(X)
    assert predicted.dtype == model.classes_.dtype
    assert predicted.tolist() == expected[on_indices.predict(X)].tolist()


WORDS = np.array(["fir", "ash", "elm"])
LABEL_CONTAINERS = {
    "list": lambda y: y.tolist(),
    "tuple": lambda y: tuple(y.tolist()),
    "pandas objects": lambda y: pd.Series(y, dtype=object),
    "pandas text": lambda y: pd.Series(y, dtype="string"),
    "pandas Arrow": lambda y: pd.Series(y, dtype="string[pyarrow]"),
    "pandas category": lambda y: pd.Series(pd.Categorical(y, categories=["oak", "fir", "elm", "ash"])),
    "pandas categorical": lambda y: pd.Categorical(y, categories=["fir", "elm", "ash"], ordered=True),
    "pandas index": pd.Index,
    "polars": lambda y: pl.Series(y.tolist()),
    "polars Categorical": lambda y: pl.Series(y.tolist(), dtype=pl.Categorical),
    "polars Enum": lambda y: pl.Series(y.tolist(), dtype=pl.Enum(["fir", "elm", "ash", "oak"])),
    "pyarrow": lambda y: pa.array(y.tolist()),
}


@pytest.mark.parametrize("container", LABEL_CONTAINERS)
def test_words_are_classes_in_any_container(container):
    X, indices = whole_numbers()
    y = WORDS[indices]
    expected = CoMBoClassifier(n_estimators=5).fit(X, y)
    model = CoMBoClassifier(n_estimators=5).fit(X, LABEL_CONTAINERS[container](y))
    assert model_bytes(model) == model_bytes(expected)
    assert model.classes_.tolist() == ["ash", "elm", "fir"]
    assert model.predict(X).tolist() == expected.predict(X).tolist()


NUMBER_CONTAINERS = {
    "pandas": pd.Series,
    "pandas Int64": lambda y: pd.Series(y, dtype="Int64"),
    "pandas Arrow": lambda y: pd.Series(y, dtype="int64[pyarrow]"),
    "pandas category": lambda y: pd.Series(pd.Categorical(y, categories=[5, -2, 0, 9])),
    "polars": pl.Series,
    "polars Int8": lambda y: pl.Series(y, dtype=pl.Int8),
    "pyarrow": pa.array,
}


@pytest.mark.parametrize("container", NUMBER_CONTAINERS)
def test_numbers_are_classes_in_any_container(container):
    X, indices = whole_numbers()
    y = np.array([5, -2, 0])[indices]
    expected = CoMBoClassifier(n_estimators=5).fit(X, y)
    model = CoMBoClassifier(n_estimators=5).fit(X, NUMBER_CONTAINERS[container](y))
    assert model_bytes(model) == model_bytes(expected)
    assert model.classes_.tolist() == [-2, 0, 5]
    assert model.predict(X).tolist() == expected.predict(X).tolist()


@pytest.mark.parametrize("make", [np.asarray, list, pd.Series, pl.Series], ids=["array", "list", "pandas", "polars"])
def test_booleans_are_classes(make):
    X, indices = whole_numbers()
    model = CoMBoClassifier(n_estimators=5).fit(X, make(indices > 0))
    assert model.classes_.tolist() == [False, True]
    assert model.predict(X).dtype == bool
    assert model_bytes(model) == model_bytes(CoMBoClassifier(n_estimators=5).fit(X, (indices > 0).astype(int)))


@pytest.mark.parametrize("dtype", ["Int64", "int64[pyarrow]", "boolean", "bool[pyarrow]"])
def test_labels_of_nullable_dtypes_keep_their_values_and_their_type(dtype):
    X, indices = whole_numbers()
    values = [False, True, True] if dtype.startswith("bool") else [2**60, 2**60 + 1, -(2**60)]
    y = np.array(values)[indices]
    model = CoMBoClassifier(n_estimators=5).fit(X, pd.Series(y, dtype=dtype))
    assert model.classes_.tolist() == np.unique(y).tolist()
    assert {type(label) for label in model.predict(X).tolist()} == {type(values[0])}


# Memory. tracemalloc sees what Python and NumPy allocate, so a copy of the table; not what the core allocates itself.


N_ROWS, N_FEATURES, N_CLASSES = 200_000, 20, 3
UNCOPIED = {
    "C order": np.ascontiguousarray,
    "Fortran order": np.asfortranarray,
    "float32, C order": lambda X: X.astype(np.float32),
    "float32, Fortran order": lambda X: np.asfortranarray(X, dtype=np.float32),
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "pandas": pandas_frame,
    "polars": lambda X: pl.from_numpy(np.asfortranarray(X), names(X), orient="row"),
}


@pytest.fixture(scope="module")
def large_table():
    random = np.random.default_rng(1)
    return random.normal(size=(N_ROWS, N_FEATURES)), random.integers(N_CLASSES, size=N_ROWS)


@pytest.mark.parametrize("container", UNCOPIED)
@pytest.mark.parametrize("with_missing", [False, True])
def test_fit_and_predict_copy_no_table_of_floats(large_table, container, with_missing):
    X, y = large_table
    if with_missing:
        X = X.copy()
        X[::3] = np.nan
    table = UNCOPIED[container](X)
    booster = CoMBoClassifier(n_estimators=1, max_depth=1)
    needed = FitShape(N_ROWS, N_FEATURES, N_CLASSES).parts()["samples"]
    smallest_copy = X.nbytes // 2  # in float32
    known = needed["codes"] + needed["row indices, labels and leaves"]
    assert known < 0.8 * smallest_copy  # so that a copy would show
    assert peak_of(lambda: booster.fit(table, y)) < known
    # Scores of every class and which of them is the largest, for as many rows as are voted on at once.
    assert peak_of(lambda: booster.predict(table)) < N_ROWS * 8 * (N_CLASSES + 3)


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array], ids=["CSR", "CSC"])
def test_sparse_table_takes_memory_for_its_nonzeros_and_a_byte_per_cell(make):
    n_samples, n_features = 10_000, 2000
    random = np.random.default_rng(2)
    X = make(sp.random(n_samples, n_features, density=0.01, format="coo", random_state=random))
    y = random.integers(2, size=n_samples)
    codes, nonzeros = n_samples * n_features, X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    block = 64 * n_samples * 8  # 64 columns are read at a time
    booster = CoMBoClassifier(n_estimators=1, max_depth=1)
    peak = peak_of(lambda: booster.fit(X, y))
    assert peak < codes + 2 * block + 4 * nonzeros
    assert peak < n_samples * n_features * 8 / 3  # what all of it would take as floats


# The conventions of scikit-learn


FRAMES = {
    "pandas": lambda X, order: pandas_frame(X)[order],
    "polars": lambda X, order: polars_frame(X).select(order),
    "pyarrow": lambda X, order: arrow_table(X, pa.float64()).select(order),
}


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function"])
def test_columns_in_another_order_or_missing_are_scikit_learns_errors(frame, method):
    X, y = whole_numbers()
    make, order = FRAMES[frame], names(X)
    if not hasattr(DummyClassifier().fit(make(X, order), y), "feature_names_in_"):
        pytest.skip("an old scikit-learn does not see the names of a new polars")
    model = CoMBoClassifier(n_estimators=2).fit(make(X, order), y)
    assert model.feature_names_in_.tolist() == order
    predict = getattr(model, method)
    with pytest.raises(ValueError, match="Feature names must be in the same order as they were in fit"):
        predict(make(X, order[::-1]))
    with pytest.raises(ValueError, match="Feature names seen at fit time, yet now missing:\n- x2"):
        predict(make(X, [name for name in order if name != "x2"]))
    with pytest.raises(ValueError, match="Feature names unseen at fit time:\n- y0"):
        predict(pandas_frame(X).rename(columns={"x0": "y0"}))


def test_frame_after_an_array_and_array_after_a_frame_warn_as_scikit_learn_does():
    X, y = whole_numbers()
    with pytest.warns(UserWarning, match="CoMBoClassifier was fitted without feature names"):
        CoMBoClassifier(n_estimators=2).fit(X, y).predict(pandas_frame(X))
    for rows in (X, X[:1]):
        with pytest.warns(UserWarning, match="CoMBoClassifier was fitted with feature names"):
            CoMBoClassifier(n_estimators=2).fit(pandas_frame(X), y).predict(rows)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_routed_weights_reach_fit(algorithm):
    X, y = whole_numbers()
    weights = np.random.default_rng(3).uniform(0.1, 5.0, size=len(y))
    folds = KFold(3)
    with sklearn.config_context(enable_metadata_routing=True):
        booster = ALGORITHMS[algorithm](n_estimators=4).set_fit_request(sample_weight=True)
        scorer = get_scorer("g_mean").set_score_request(sample_weight=False)
        pipeline = make_pipeline(FunctionTransformer(), booster)
        for model in (booster, pipeline):
            result = cross_validate(
                model,
                X,
                y,
                cv=folds,
                scoring=scorer,
                params={"sample_weight": weights},
                return_estimator=True,
                error_score="raise",
            )
            for (train, _), fitted in zip(folds.split(X), result["estimator"], strict=True):
                expected = ALGORITHMS[algorithm](n_estimators=4).fit(X[train], y[train], weights[train])
                fitted = fitted if model is booster else fitted[-1]
                assert model_bytes(fitted) == model_bytes(expected)


def test_weights_that_nobody_asked_for_are_an_error_of_routing():
    X, y = whole_numbers()
    with (
        sklearn.config_context(enable_metadata_routing=True),
        pytest.raises(UnsetMetadataPassedError, match="sample_weight"),
    ):
        cross_validate(CoMBoClassifier(n_estimators=2), X, y, params={"sample_weight": np.ones(len(y))})


def test_weights_can_be_routed_by_another_name_and_not_at_all():
    X, y = whole_numbers()
    weights = np.arange(1.0, len(y) + 1)
    with sklearn.config_context(enable_metadata_routing=True):
        for request, expected_weight in (("importance", weights), (False, None)):
            booster = CoMBoClassifier(n_estimators=3).set_fit_request(sample_weight=request)
            given = {"importance": weights} if request else {}
            model = make_pipeline(FunctionTransformer(), booster).fit(X, y, **given)[-1]
            expected = CoMBoClassifier(n_estimators=3).fit(X, y, expected_weight)
            assert model_bytes(model) == model_bytes(expected)


# A class of a single row


@pytest.fixture(scope="module")
def lonely_class():
    X, y = whole_numbers(120)
    y = np.where(y == 2, 1, y)
    X[7], y[7] = 9, 2
    return X, WORDS[y], WORDS[2]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_class_of_a_single_row_is_learned(lonely_class, algorithm):
    X, y, lonely = lonely_class
    model = ALGORITHMS[algorithm](n_estimators=20).fit(X, y)
    assert lonely in model.classes_
    assert model.predict(X[7:8]).tolist() == [lonely]
    assert model.predict_proba(X).shape == (len(X), 3)
    with_validation = ALGORITHMS[algorithm](n_estimators=20, early_stopping=True, random_state=0).fit(X, y)
    assert lonely in with_validation.classes_


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("name", SCORERS)
def test_class_of_a_single_row_can_be_cross_validated_with_every_scorer(lonely_class, algorithm, name):
    X, y, lonely = lonely_class
    folds = KFold(4)
    result = cross_validate(
        ALGORITHMS[algorithm](n_estimators=5),
        X,
        y,
        cv=folds,
        scoring=get_scorer(name),
        return_estimator=True,
        error_score="raise",
    )
    assert np.isfinite(result["test_score"]).all()
    for (train, test), model in zip(folds.split(X), result["estimator"], strict=True):
        # A column for every class of training, whichever of them the test rows have.
        np.testing.assert_array_equal(model.classes_, np.unique(y[train]))
        shares = model.predict_proba(X[test])
        assert shares.shape == (len(test), len(model.classes_))
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        assert (lonely in model.classes_) == (7 in train)


def test_class_of_a_single_row_is_only_warned_of_by_stratified_folds(lonely_class):
    X, y, _ = lonely_class
    with pytest.warns(UserWarning, match="The least populated class in y has only 1 member"):
        result = cross_validate(
            CoMBoClassifier(n_estimators=5),
            X,
            y,
            cv=StratifiedKFold(3),
            scoring={name: get_scorer(name) for name in SCORERS},
            error_score="raise",
        )
    assert all(np.isfinite(result[f"test_{name}"]).all() for name in SCORERS)
