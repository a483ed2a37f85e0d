"""Sparse matrices whose indices point outside of them are refused, wherever they are given; all others are read."""

import dask.array as da
import numpy as np
import pytest
import scipy
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from models import model_bytes
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.fixes import parse_version

from comboost import AdaBoostMMClassifier, CoMBoClassifier, ConfusionBoostingClassifier
from comboost._data.sparse import read_sparse
from comboost._distributed.coding import CheckedPart
from comboost.baselines import AdaBoostNCClassifier, SMOTEBoostClassifier
from comboost.dask._parts import read_collections
from comboost.dask._predicting import map_rows
from comboost.model_selection import cross_validate_confusion
from comboost.report import ModelReport

RANDOM = np.random.default_rng(0)
Y = np.arange(60) % 3
DENSE = np.where(RANDOM.random((60, 3)) < 0.5, RANDOM.random((60, 3)) + Y[:, np.newaxis], 0.0)
DENSE[5] = [1.0, 2.0, 3.0]
WIDE = np.hstack([DENSE, np.zeros((60, 40))])  # few enough entries to stay sparse
FORMATS = ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"]
INTEGERS = [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64, np.dtype(">i4")]


def fit(X, **parameters):
    return CoMBoClassifier(n_estimators=3, **parameters).fit(X, Y)


def in_format(name, dense, kind="array"):
    if name == "bsr":
        return getattr(sp, f"bsr_{kind}")(dense, blocksize=(2, 1))
    return getattr(sp, f"{name}_{kind}")(dense)


def index_arrays(X):
    """The arrays of a sparse matrix that hold indices."""
    return {"coo": ["row", "col"], "dia": ["offsets"]}.get(X.format, ["indptr", "indices"])


# Reference implementation: entry by entry


def first_invalid(X):
    """The first invalid entry, as messages show it; None if the structure is valid."""
    if X.format == "coo":
        for name, size in zip(("row", "col"), X.shape, strict=True):
            for i, index in enumerate(getattr(X, name).tolist()):
                if not 0 <= index < size:
                    return f"{name}[{i}] is {index}"
        return None
    block = X.data.shape[1:] or (1, 1)
    n_major, n_minor = (size // step for size, step in zip(X.shape, block, strict=True))
    if X.format == "csc":
        n_major, n_minor = n_minor, n_major
    starts, indices = X.indptr.tolist(), X.indices.tolist()
    assert len(starts) == n_major + 1
    if starts[0] != 0:
        return f"indptr[0] is {starts[0]}"
    for i in range(1, len(starts)):
        if not starts[i - 1] <= starts[i] <= len(indices):
            return f"indptr[{i}] is {starts[i]}"
    for major in range(n_major):
        for i in range(starts[major], starts[major + 1]):
            if not 0 <= indices[i] < n_minor:
                return f"indices[{i}] is {indices[i]}"
    return None


@st.composite
def damaged_matrices(draw):
    """A matrix with one or two indices changed, in a dtype that holds them."""
    X = in_format(draw(st.sampled_from(["csr", "csc", "coo", "bsr"])), draw(st.sampled_from([DENSE, WIDE])))
    X = type(X)(X, copy=True)
    dtype = np.dtype(draw(st.sampled_from([np.int32, np.int64, np.uint32, np.uint64])))
    for name in index_arrays(X):
        setattr(X, name, getattr(X, name).astype(dtype))
    for _ in range(draw(st.integers(1, 2))):
        indices = getattr(X, draw(st.sampled_from(index_arrays(X))))
        near = st.sampled_from([-1, 0, 1, 2, 3, 42, 43, 59, 60, len(X.data), len(X.data) + 1])
        limits = np.iinfo(dtype)
        value = draw(near | st.integers(int(limits.min), int(limits.max)))
        assume(limits.min <= value)
        indices[draw(st.integers(0, len(indices) - 1))] = value
    return X


@settings(max_examples=60)
@given(damaged_matrices())
def test_first_invalid_entry_is_named_and_the_others_are_read(X):
    invalid = first_invalid(X)
    if invalid is None:
        n_entries = len(X.data) if X.format == "coo" else int(X.indptr[-1])
        assert read_sparse(X).nnz == n_entries * (2 if X.format == "bsr" else 1)
        fit(X).predict(X)
    else:
        with pytest.raises(ValueError, match="whose structure is invalid") as raised:
            fit(X)
        assert invalid in str(raised.value)


def changed(name, **attributes):
    """A matrix with other attributes."""
    X = in_format(name, DENSE)
    for attribute, change in attributes.items():
        setattr(X, attribute, change(getattr(X, attribute)))
    return X


def with_row(name, attribute, value):
    X = in_format(name, DENSE)
    getattr(X, attribute)[5] = value
    return X


def with_key(key):
    X = in_format("dok", DENSE)
    dict.__setitem__(getattr(X, "_dict", X), key, 1.0)  # older versions of SciPy derive it from dict
    return X


INVALID = {
    "short data of csr": (changed("csr", data=lambda a: a[:10]), "indices has .* values, but 10 are expected"),
    "short data of csc": (changed("csc", data=lambda a: a[:10]), "indices has .* values, but 10 are expected"),
    "short data of coo": (changed("coo", data=lambda a: a[:10]), "row has .* values, but 10 are expected"),
    "short data of bsr": (changed("bsr", data=lambda a: a[:5]), "5 are expected, one for every block"),
    "short data of dia": (changed("dia", data=lambda a: a[:3]), "3 are expected, one for every row of data"),
    "short indices": (changed("csr", indices=lambda a: a[:10]), "indices has 10 values"),
    "short col": (changed("coo", col=lambda a: a[:10]), "col has 10 values"),
    "short indptr": (changed("csr", indptr=lambda a: a[:20]), "indptr has 20 values, but one more than the 60 rows"),
    "long indptr": (changed("csc", indptr=lambda a: np.append(a, a[-1])), "one more than the 3 columns"),
    "no indptr": (changed("csr", indptr=lambda a: a[:0]), "indptr has 0 values"),
    "short offsets": (changed("dia", offsets=lambda a: a[:3]), "offsets has 3 values"),
    "repeated offsets": (changed("dia", offsets=lambda a: a * 0), "duplicate"),
    "floats": (changed("csr", indices=lambda a: a.astype(float)), "indices is an array of float64"),
    "float offsets": (changed("dia", offsets=lambda a: a.astype(float)), "offsets is an array of float64"),
    "a list": (changed("csr", indices=lambda a: a.tolist()), "indices is of the type list"),
    "None": (changed("csr", data=lambda _: None), "data is of the type NoneType"),
    "2-D indices": (changed("csr", indices=lambda a: a[:, np.newaxis]), r"shape \(\d+, 1\)"),
    "1-D blocks": (changed("bsr", data=lambda a: a[:, 0, 0]), "3 dimension"),
    "blocks of another size": (changed("bsr", data=lambda a: np.repeat(a, 7, axis=1)), r"\(14, 1\), which does not"),
    "empty blocks": (changed("bsr", data=lambda a: a[:, :0]), r"\(0, 1\), which does not"),
    "column of a list": (with_row("lil", "rows", [0, 1, 10**6]), "row 5 has the column index 1000000"),
    "negative column of a list": (with_row("lil", "rows", [0, 1, -1]), "row 5 has the column index -1"),
    "text in a list": (with_row("lil", "rows", [0, 1, "a"]), "invalid literal"),
    "huge number in a list": (with_row("lil", "rows", [0, 1, 2**70]), "too large"),
    "fewer values than columns": (with_row("lil", "data", [1.0]), "row 5 has 3 column indices and 1 values"),
    "no list": (with_row("lil", "rows", None), "NoneType"),
    "fewer lists": (changed("lil", rows=lambda a: a[:3]), "rows has the shape"),
    "row of a key": (with_key((10**6, 0)), "1000000|exceeds"),
    "negative key": (with_key((0, -1)), "negative"),
    "key of text": (with_key("ab"), "invalid"),
}


@pytest.mark.parametrize("name", INVALID)
def test_invalid_structure_is_refused_with_what_was_seen(name):
    X, seen = INVALID[name]
    with pytest.raises(ValueError, match=seen) as raised:
        fit(X)
    assert "whose structure is invalid" in str(raised.value)
    assert "Create the matrix again" in str(raised.value)


@pytest.mark.skipif(
    parse_version(scipy.__version__) < parse_version("1.15"), reason="sparse arrays have two dimensions"
)
@pytest.mark.parametrize("shape", [(3,), (2, 2, 2)], ids=["1-D", "3-D"])
def test_sparse_arrays_that_are_no_tables_are_refused(shape):
    with pytest.raises(ValueError, match="Expected 2D input"):
        fit(sp.coo_array(np.ones(shape)))


# Valid ones


def shuffled_entries(X):
    """The same matrix with the entries of every row, or column, in reverse order, and one entry in two parts."""
    X = X.copy()
    for begin, end in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        X.indices[begin:end] = X.indices[begin:end][::-1]
        X.data[begin:end] = X.data[begin:end][::-1]
    data, indices, starts = np.append(X.data, 1.0), np.append(X.indices, X.indices[-1]), X.indptr.copy()
    data[-2] -= 1.0
    starts[starts == len(X.data)] += 1
    return type(X)((data, indices, starts), shape=X.shape)


def with_outdated_order(X):
    """Entries that were in order when SciPy looked."""
    X = X.copy()
    X.sum_duplicates()
    other = shuffled_entries(X)
    X.data, X.indices, X.indptr = other.data, other.indices, other.indptr
    assert X.has_canonical_format
    return X


def with_unused_space(X):
    X = X.copy()
    X.data, X.indices = np.append(X.data, np.nan), np.append(X.indices, 10**6)
    return X


FORMS = {"in any order": shuffled_entries, "in an outdated order": with_outdated_order, "unused": with_unused_space}
TYPES = [(name, kind) for name in FORMATS for kind in ("array", "matrix")]


@pytest.mark.parametrize(("name", "kind"), TYPES)
@pytest.mark.parametrize("dense", [DENSE, WIDE], ids=["dense", "sparse"])
def test_model_of_every_format_is_that_of_the_dense_table(name, kind, dense):
    X = in_format(name, dense, kind)
    model = fit(X)
    assert model_bytes(model) == model_bytes(fit(dense))
    np.testing.assert_array_equal(model.decision_function(X), model.decision_function(dense))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["csr", "csc"])
@pytest.mark.parametrize("dense", [DENSE, WIDE], ids=["dense", "sparse"])
def test_order_of_entries_and_unused_space_do_not_matter(form, name, dense):
    X = FORMS[form](in_format(name, np.rint(dense * 8)))
    before = X.data.copy(), X.indices.copy(), X.indptr.copy()
    model, expected = fit(X), fit(np.rint(dense * 8))
    assert model_bytes(model) == model_bytes(expected)
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(np.rint(dense * 8)))
    for array, then in zip((X.data, X.indices, X.indptr), before, strict=True):
        np.testing.assert_array_equal(array, then)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("name", ["csr", "csc", "coo", "bsr", "dia"])
def test_indices_may_be_integers_of_any_type(name, dtype):
    X = in_format(name, np.triu(DENSE[:40]))
    for attribute in index_arrays(X):
        if attribute != "indptr" or dtype not in (np.int8, np.uint8):
            setattr(X, attribute, getattr(X, attribute).astype(dtype))
    model = CoMBoClassifier(n_estimators=2).fit(X, Y[:40])
    np.testing.assert_array_equal(model.decision_function(X), model.decision_function(np.triu(DENSE[:40])))


def test_diagonals_outside_of_the_table_hold_nothing():
    X = sp.dia_array(DENSE)
    data, offsets = np.vstack([X.data, np.full((4, X.data.shape[1]), 7.0)]), [*X.offsets, 3, 2**62, -60, -(2**63)]
    np.testing.assert_array_equal(read_sparse(changed_diagonals(data, np.array(offsets))).toarray(), DENSE)


def changed_diagonals(data, offsets):
    X = sp.dia_array(DENSE)
    X.data, X.offsets = data, offsets
    return X


def test_arrays_are_not_copied():
    for name in ("csr", "csc"):
        X = in_format(name, WIDE)
        checked = read_sparse(X)
        assert np.shares_memory(checked.data, X.data)
        assert np.shares_memory(checked.indices, X.indices)
        assert type(checked) is type(X)


# Wherever a table is given


class SparseTree(DecisionTreeClassifier):
    """A tree whose tags say, in all versions, that it takes sparse matrices."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def invalid():
    X = sp.csr_matrix(WIDE)
    X.indices[5] = 10**6
    return X


CLASSIFIERS = [CoMBoClassifier, AdaBoostMMClassifier, ConfusionBoostingClassifier, AdaBoostNCClassifier]
CLASSIFIERS += [SMOTEBoostClassifier]
METHODS = ["predict", "predict_proba", "predict_log_proba", "decision_function", "explain"]
STAGED = ["staged_predict", "staged_predict_proba", "staged_decision_function"]
refused = pytest.raises(ValueError, match=r"indices\[5\] is 1000000")


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_fits_and_predictions_refuse_an_invalid_structure(classifier):
    model = classifier(n_estimators=2)
    with refused:
        model.fit(invalid(), Y)
    model.fit(WIDE, Y)
    for method in {*METHODS, *STAGED} & set(dir(classifier)):
        with refused:
            list(getattr(model, method)(invalid()))
    for call in (lambda: model.score(invalid(), Y), lambda: list(model.staged_score(invalid(), Y))):
        with refused:
            call()


@pytest.mark.parametrize("X", [WIDE, sp.csr_array(WIDE)], ids=["dense", "sparse"])
@pytest.mark.parametrize("parameters", [{}, {"estimator": SparseTree(max_depth=2)}], ids=["trees", "estimator"])
def test_validation_sets_and_weak_learners_refuse_an_invalid_structure(X, parameters):
    model = CoMBoClassifier(n_estimators=2, early_stopping=True, **parameters)
    with pytest.raises(ValueError, match=r"X_val: X is .*indices\[5\] is 1000000"):
        model.fit(X, Y, X_val=invalid(), y_val=Y)
    with refused:
        model.fit(invalid(), Y, X_val=X, y_val=Y)
    model.fit(X, Y, X_val=X, y_val=Y)
    for method in ("predict", "predict_proba"):
        with refused:
            getattr(model, method)(invalid())


def test_cross_validation_and_reports_refuse_an_invalid_structure():
    with refused:
        cross_validate_confusion(CoMBoClassifier(n_estimators=2), invalid(), Y, cv=2)
    model = fit(WIDE)
    with refused:
        ModelReport(model, invalid(), Y)
    with refused:
        ModelReport(model, WIDE, Y, baseline=model, X_baseline=invalid())


@pytest.mark.parametrize("width", [43, 20])
def test_partitions_of_a_cluster_refuse_an_invalid_structure(width):
    def damage(block):
        X = sp.csr_matrix(block)
        X.indptr[5] = 10**8
        return X

    X = da.from_array(WIDE, chunks=(30, width)).map_blocks(damage, dtype=float, meta=np.empty((0, 0)))
    parts = read_collections(X, da.from_array(Y, chunks=30), None).parts
    with pytest.raises(ValueError, match=r"indptr\[5\] is 100000000"):
        CheckedPart.read(parts[0].compute(scheduler="synchronous"), None)
    with pytest.raises(ValueError, match=r"indptr\[5\] is 100000000"):
        map_rows(X, fit(WIDE), "predict").compute(scheduler="synchronous")
