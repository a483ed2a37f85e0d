"""Sparse tables: they stay sparse, and nothing that comes of them differs from what the dense table gives."""

import numpy as np
import pytest
import scipy.sparse as sp
from boosters import make_booster
from hypothesis import given, settings
from hypothesis import strategies as st
from models import model_bytes

from comboost import AdaBoostMMClassifier, CoMBoClassifier, ConfusionBoostingClassifier, _core
from comboost._boosting.warm_start import digest_rows
from comboost._data.tables import ArraySource, RawTable, SparseSource
from comboost._engine.binning import BinMapper, bin_table
from comboost._engine.memory_plan import FitShape, TableCopies
from comboost._engine.rows import TreeRules, make_grower
from comboost._types import KIND
from comboost.baselines import AdaBoostNCClassifier, SMOTEBoostClassifier

FORMATS = {"csr": sp.csr_array, "csc": sp.csc_array, "csr matrix": sp.csr_matrix, "csc matrix": sp.csc_matrix}

#: Few values and many, with missing ones, minus zero and what stands next to zero.
VALUES = st.sampled_from([-2.0, -1.0, -5e-324, -0.0, 5e-324, 0.25, 1.0, 2.0, 3.0, 1e300, np.nan])


@st.composite
def sparse_problems(draw, values=VALUES):
    """A dense table with few entries, some of which may be explicit zeros, classes and weights."""
    n_samples, n_features = draw(st.integers(6, 40)), draw(st.integers(1, 12))
    X = np.zeros((n_samples, n_features))
    n_entries = draw(st.integers(0, (n_samples * n_features - 1) // 10))
    places = st.tuples(st.integers(0, n_samples - 1), st.integers(0, n_features - 1))
    for place in draw(st.lists(places, min_size=0, max_size=n_entries)):
        X[place] = draw(values)
    y = np.array(draw(st.lists(st.integers(0, 2), min_size=n_samples, max_size=n_samples)))
    y[:3] = range(3)
    weights = draw(st.none() | st.lists(st.integers(0, 3), min_size=n_samples, max_size=n_samples))
    if weights is not None:
        weights[:3] = [1, 2, 1]
    return X, y, weights


@st.composite
def tree_parameters(draw):
    """Parameters that every kind of booster knows."""
    return {
        "n_estimators": draw(st.integers(1, 4)),
        "max_depth": draw(st.sampled_from([1, 3, None])),
        "min_samples_leaf": draw(st.sampled_from([1, 2, 4])),
        "min_weight_fraction_leaf": draw(st.sampled_from([0.0, 0.05, 0.2])),
        "max_features": draw(st.sampled_from([None, 1, 0.4])),
        "max_bins": draw(st.sampled_from([2, 3, 255])),
        "n_jobs": draw(st.sampled_from([1, 2])),
        "random_state": 0,
    }


@st.composite
def boosters(draw):
    """Any of the classifiers, with any parameters."""
    shared = draw(tree_parameters())
    if draw(st.booleans()):
        kind = draw(st.sampled_from([CoMBoClassifier, AdaBoostMMClassifier]))
        return kind(criterion=draw(st.sampled_from(["gini", "cost"])), **shared)
    return ConfusionBoostingClassifier(
        max_leaf_nodes=draw(st.sampled_from([None, 2, 5])),
        max_thresholds=draw(st.sampled_from([None, 1, 2])),
        noise=draw(st.sampled_from([0.0, 1.0])),
        loss=draw(st.sampled_from(["log", "exponential"])),
        **shared,
    )


def as_sparse(X, make=sp.csr_array):
    """A table as a sparse one, and a sign that it is one that stays so."""
    matrix = make(X)
    assert SparseSource(matrix).n_entries is not None
    return matrix


def fitted(model, X, y, weights=None, **kwargs):
    return model_bytes(model.fit(X, y, sample_weight=weights, **kwargs))


@settings(max_examples=30)
@given(sparse_problems(), boosters(), st.sampled_from(sorted(FORMATS)))
def test_model_is_that_of_the_dense_table_to_the_bit(problem, model, name):
    X, y, weights = problem
    dense = fitted(model, X, y, weights)
    assert fitted(model, as_sparse(X, FORMATS[name]), y, weights) == dense
    votes = model.decision_function(X)
    assert model.decision_function(FORMATS[name](X)).tobytes() == votes.tobytes()
    assert np.array_equal(model.predict(FORMATS[name](X)), model.predict(X))
    *_, staged = model.staged_decision_function(FORMATS[name](X))
    assert staged.tobytes() == votes.tobytes()


@settings(max_examples=12)
@given(sparse_problems(st.sampled_from([-1.0, 0.0, 1.0, 2.0, 3.0])), boosters(), st.data())
def test_categories_of_a_sparse_table_are_those_of_the_dense_one(problem, model, data):
    X, y, weights = problem
    features = data.draw(st.lists(st.integers(0, X.shape[1] - 1), min_size=1, unique=True))
    model.set_params(categorical_features=features)
    assert fitted(model, as_sparse(X), y, weights) == fitted(model, X, y, weights)
    unseen = X.copy()
    unseen[0] = 7.0
    assert model.decision_function(as_sparse(X)).tobytes() == model.decision_function(X).tobytes()
    assert model.decision_function(sp.csr_array(unseen)).tobytes() == model.decision_function(unseen).tobytes()


@settings(max_examples=10)
@given(sparse_problems(), st.sampled_from([1, 3]))
def test_rivals_learn_the_same_from_a_sparse_table(problem, max_depth):
    X, y, _ = problem
    for kind in (AdaBoostNCClassifier, SMOTEBoostClassifier):
        model = kind(n_estimators=3, max_depth=max_depth, random_state=0)
        forests = [model.fit(table, y)._forest for table in (X, as_sparse(X))]
        assert forests[0].nodes.tobytes() == forests[1].nodes.tobytes()
        assert forests[0].weights.tobytes() == forests[1].weights.tobytes()


def text_like(n_samples=300, n_features=400, seed=0):
    """A table of few entries in columns of very different sizes, and classes that some of them tell apart."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 3, n_samples)
    rates = np.minimum(0.3, 2.0 / np.arange(1, n_features + 1)) * random.uniform(0.2, 1.8, (3, n_features))
    X = (random.random((n_samples, n_features)) < rates[y]) * random.uniform(0.1, 1.0, (n_samples, n_features))
    return X, y


@pytest.mark.parametrize("kind", [CoMBoClassifier, ConfusionBoostingClassifier])
@pytest.mark.parametrize("max_features", [None, 0.05])
def test_trees_on_many_features_are_those_of_the_dense_table(kind, max_features):
    X, y = text_like()
    model = kind(n_estimators=8, max_depth=5, max_features=max_features, max_bins=10, random_state=0)
    assert fitted(model, as_sparse(X), y) == fitted(model, X, y)


@pytest.mark.parametrize("early_stopping", [{}, {"scoring": "g_mean"}, {"scoring": "accuracy"}])
def test_validation_is_that_of_the_dense_table(early_stopping):
    X, y = text_like()
    model = ConfusionBoostingClassifier(n_estimators=8, early_stopping=True, n_iter_no_change=2, **early_stopping)
    assert fitted(model, as_sparse(X), y) == fitted(model, X, y)
    given_rows = {"X_val": X[200:], "y_val": y[200:]}
    dense = fitted(model, X[:200], y[:200], **given_rows)
    assert fitted(model, as_sparse(X[:200]), y[:200], **given_rows | {"X_val": sp.csc_array(X[200:])}) == dense


def test_warm_start_goes_on_from_the_dense_table_to_the_sparse_one():
    X, y = text_like()
    for algorithm in ("combo", "confusion"):
        whole = fitted(make_booster(algorithm, n_estimators=7, warm_start=True), X, y)
        model = make_booster(algorithm, n_estimators=4, warm_start=True).fit(X, y)
        assert fitted(model.set_params(n_estimators=7), as_sparse(X), y) == whole


def test_confusion_ignores_a_last_tree_that_was_not_kept():
    random = np.random.default_rng(10)
    X = np.zeros((40, 40))
    X[:, :4] = random.random((40, 4)) < 0.3
    y = random.integers(0, 2, 40)
    model = CoMBoClassifier(n_estimators=600, max_depth=2)
    assert fitted(model, as_sparse(X), y) == fitted(model, X, y)
    assert model.stop_reason_ == "no_edge"


ODD = {
    "int64 indices": lambda m: sp.csr_array((m.data, m.indices.astype(np.int64), m.indptr.astype(np.int64)), m.shape),
    "bool": lambda m: m.astype(bool),
    "int8": lambda m: (m * 10).astype(np.int8),
    "float32": lambda m: m.astype(np.float32),
    "explicit zeros": lambda m: sp.csr_array((np.where(m.data < 0.4, 0.0, m.data), m.indices, m.indptr), m.shape),
    "transposed": lambda m: m.T.tocsr().T,
}


@pytest.mark.parametrize("name", ODD)
def test_odd_sparse_tables_are_what_their_dense_form_is(name):
    X, y = text_like()
    table = ODD[name](sp.csr_array(X))
    model = CoMBoClassifier(n_estimators=4, random_state=0)
    assert fitted(model, table, y) == fitted(model, table.toarray(), y)


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array], ids=["CSR", "CSC"])
def test_entries_that_share_a_place_are_added_up_in_the_order_in_which_they_stand(make):
    random = np.random.default_rng(0)
    n_entries = 900
    rows, columns = random.integers(0, 60, n_entries), random.integers(0, 90, n_entries)
    coordinates = sp.coo_array((random.choice([1e16, 1.0, -1e16, 0.5], n_entries), (rows, columns)), (60, 90))
    lines = rows if make is sp.csr_array else columns
    order = np.argsort(lines, kind="stable")
    inner = (columns if make is sp.csr_array else rows)[order]
    starts = np.searchsorted(lines[order], np.arange((60 if make is sp.csr_array else 90) + 1))
    X = make((coordinates.data[order], inner, starts), (60, 90))
    assert not X.has_canonical_format
    y = np.arange(60) % 3
    kept = X.copy()
    model = CoMBoClassifier(n_estimators=5, random_state=0)
    assert fitted(model, X, y) == fitted(model, X.toarray(), y)
    assert np.array_equal(X.data, kept.data)
    assert np.array_equal(X.indices, kept.indices)


def spread(codes):
    """Sparse codes as an array, (n_features, n_samples)."""
    table = np.empty((len(codes.features), codes.n_rows), dtype=np.uint8)
    table[codes.features] = codes.zero_codes[:, np.newaxis]
    for rank, feature in enumerate(codes.features):
        of_feature = slice(*codes.starts[rank : rank + 2])
        assert (np.diff(codes.codes[of_feature].astype(int)) >= 0).all()
        assert (codes.codes[of_feature] != codes.zero_codes[rank]).all()
        table[feature, codes.rows[of_feature]] = codes.codes[of_feature]
    return table


@given(sparse_problems(), st.sampled_from([2, 3, 255]), st.sampled_from([1, 2]))
def test_bins_codes_and_digest_are_those_of_the_dense_table(problem, max_bins, n_threads):
    X, y, weights = problem
    weights = None if weights is None else np.maximum(weights, 1).astype(np.uint32)
    checked = []
    tables = [RawTable(ArraySource(X)), RawTable(SparseSource(as_sparse(X)))]
    dense, sparse = (bin_table(raw, None, weights, max_bins, n_threads, checked.append) for raw in tables)
    assert dense.bins.flat_edges.tobytes() == sparse.bins.flat_edges.tobytes()
    assert np.array_equal(dense.bins.edge_starts, sparse.bins.edge_starts)
    assert np.array_equal(dense.bins.kinds, sparse.bins.kinds)
    assert np.array_equal(spread(sparse.codes), dense.codes)
    assert checked[0] == checked[1]
    labels = y.astype(np.uint16)
    assert digest_rows(sparse.codes, labels, weights) == digest_rows(dense.codes, labels, weights)


@pytest.mark.parametrize(("n_features", "kind"), [(10, np.ndarray), (11, _core.SparseCodes)])
def test_a_table_stays_sparse_if_fewer_than_one_in_ten_values_is_stored(n_features, kind):
    table = RawTable(SparseSource(sp.csr_array(np.eye(5, n_features))))  # five entries
    assert isinstance(bin_table(table, None, None, 255, 1, lambda _: None).codes, kind)


def test_footprint_of_a_sparse_table_grows_with_its_entries_and_not_with_its_cells():
    def planned(n_features, n_entries):
        table = TableCopies(10**5, n_features, is_view=False, n_entries=n_entries)
        return sum(FitShape(10**5, n_features, 5, 10**6, table=table).peak().values())

    assert planned(3 * 10**5, 3 * 10**6) < 2**28
    assert planned(6 * 10**5, 3 * 10**6) - planned(3 * 10**5, 3 * 10**6) < 2**26
    assert planned(3 * 10**5, 6 * 10**6) > planned(3 * 10**5, 3 * 10**6)


def test_votes_on_a_sparse_table_take_no_more_columns_than_trees_look_at(monkeypatch):
    X, y = text_like()
    model = CoMBoClassifier(n_estimators=3, random_state=0).fit(as_sparse(X), y)
    widths = []
    floats = SparseSource.floats
    monkeypatch.setattr(
        SparseSource, "floats", lambda self, skip=(): widths.append(self.shape[1]) or floats(self, skip)
    )
    model.predict_proba(as_sparse(X))
    assert widths == [len(model._forest.features())]
    assert widths[0] <= 21  # three trees of seven splits


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_entries_are_refused_wherever_they_are(value):
    X, y = text_like()
    model = CoMBoClassifier(n_estimators=1, max_depth=1).fit(as_sparse(X), y)
    infinite = sp.csr_array(X)
    infinite.data[-1] = value
    with pytest.raises(ValueError, match="infinity"):
        model.predict(infinite)
    with pytest.raises(ValueError, match="infinity"):
        model.fit(infinite, y)


def test_codes_that_do_not_fit_are_refused_at_the_border():
    starts, rows, values = np.array([0, 1, 2]), np.array([0, 4], dtype=np.uint32), np.array([1.0, 2.0])
    kinds, zeros, edge_starts = np.zeros(2, dtype=KIND), np.zeros(2), np.array([0, 1, 2])
    edges = np.array([0.5, 0.5])
    with pytest.raises(ValueError, match="no such row"):
        _core.SparseCodes(starts, rows, values, 4, zeros, edges, edge_starts, kinds, 1)
    with pytest.raises(ValueError, match="fit each other"):
        _core.SparseCodes(starts, rows, values[:1], 5, zeros, edges, edge_starts, kinds, 1)
    with pytest.raises(ValueError, match="fit the features"):
        _core.SparseCodes(starts, rows, values, 5, zeros[:1], edges, edge_starts, kinds, 1)
    codes = _core.SparseCodes(starts, rows, values, 5, zeros, edges, edge_starts, kinds, 1)
    grower = make_grower(BinMapper(edges, edge_starts, kinds), 2, TreeRules(3, "gini", 1, 0.0, 2, 0))
    with pytest.raises(ValueError, match="fit the samples"):
        _core.SparseRows(np.zeros(4, dtype=np.uint16), None, 1.0 - np.eye(2), None, 0, False, grower, codes, 1)
    assert spread(codes).tolist() == [[1, 0, 0, 0, 0], [0, 0, 0, 0, 1]]
    assert BinMapper(edges, edge_starts, kinds).bin_offsets.tolist() == [0, 2, 4]
