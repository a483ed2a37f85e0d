"""Memory of a fit: what it would take, what there is, and a refusal before any of it is taken."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory import peak_of
from models import CLASSIFIERS, model_bytes
from scipy.sparse import random as random_sparse
from sklearn.naive_bayes import MultinomialNB

from comboost import CoMBoClassifier
from comboost._dtypes import MAX_PAIRED
from comboost._engine import memory, votes
from comboost._engine.memory import TreeLimits, available_memory, check_memory, footprint

GIB = 2**30
SHAPES = st.tuples(st.integers(2, 10**9), st.integers(1, 10**5), st.integers(2, 10**4))
MANY_ROWS = 256  # as many as a feature has bins, or more


@pytest.fixture
def free(monkeypatch):
    """Sets the memory that there is."""
    return lambda n_bytes: monkeypatch.setattr(memory, "available_memory", lambda: n_bytes)


# What a fit takes


def is_linear(first, second, third):
    """Whether three footprints at equal distances lie on a line, but for histograms, which have a budget."""
    uses = first.keys() - {"histograms"}
    return all(second[use] - first[use] == third[use] - second[use] for use in uses)


@given(st.integers(MANY_ROWS, 10**8), st.integers(1, 10**8), st.integers(1, 1000), st.integers(2, 1000))
def test_footprint_grows_linearly_with_rows(n_rows, more, n_features, n_classes):
    assert is_linear(*(footprint(n_rows + k * more, n_features, n_classes) for k in range(3)))


@given(st.integers(2, 10**8), st.integers(1, 1000), st.integers(1, 1000), st.integers(2, 1000))
def test_footprint_grows_linearly_with_features(n_rows, n_features, more, n_classes):
    assert is_linear(*(footprint(n_rows, n_features + k * more, n_classes) for k in range(3)))


@given(st.integers(2, 10**8), st.integers(1, 1000), st.integers(2, 1000), st.integers(1, 100))
def test_footprint_of_rows_and_bins_grows_linearly_with_classes(n_rows, n_features, n_classes, more):
    # By steps of 4, the classes that a vector holds. Matrices of classes are squares.
    grown = [footprint(n_rows, n_features, n_classes + 4 * k * more) for k in range(3)]
    sides = [n_classes + 4 * k * more for k in range(3)]
    squares = {uses.pop("matrices of classes") / side**2 for uses, side in zip(grown, sides, strict=True)}
    assert is_linear(*grown)
    assert len(squares) == 1


@given(SHAPES, SHAPES)
def test_larger_problem_takes_no_less_for_any_use(shape, other):
    limits = TreeLimits(n_voting=10)
    larger = footprint(*map(max, shape, other), 10 * max(shape[1], other[1]), limits)
    needed = footprint(*shape, 10 * shape[1], limits)
    if (shape[2] <= MAX_PAIRED) != (max(shape[2], other[2]) <= MAX_PAIRED):
        del needed["sums of the leaves"]  # of more classes, no pairs are summed up
    assert all(0 < taken <= larger[use] for use, taken in needed.items())


def test_footprint_has_room_for_codes_and_costs_of_every_row():
    needed = footprint(10**6, 30, 10)
    assert needed["codes"] == 30 * 10**6  # a byte each
    assert needed["costs"] >= 10**6 * 10 * 8  # a float for every class


# When a fit is refused


@given(SHAPES, st.integers(0, 2**60))
def test_fit_is_refused_where_it_takes_more_than_there_is(shape, n_bytes):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "available_memory", lambda: n_bytes)
        if sum(footprint(*shape).values()) <= n_bytes:
            check_memory(*shape)
        else:
            with pytest.raises(MemoryError):
                check_memory(*shape)


@given(SHAPES)
def test_nothing_is_refused_where_nobody_knows_what_there_is(shape):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "available_memory", lambda: None)
        check_memory(*shape)


@pytest.mark.parametrize(
    ("shape", "reason"),
    [
        ((10**9, 100, 3, 0), "codes"),
        ((10**8, 2, 500, 0), "costs"),
        ((1000, 10**5, 100, 10**7), "histograms"),
        ((60_000, 1, 60_000, 0), "matrices of classes"),
    ],
)
def test_refusal_says_what_is_needed_what_for_what_there_is_and_what_to_do(shape, reason, free):
    free(GIB // 2)
    needed = footprint(*shape)
    with pytest.raises(MemoryError) as caught:
        check_memory(*shape)
    n_rows, n_features, n_classes, _ = shape
    assert str(caught.value) == (
        f"A fit of {n_rows} rows, {n_features} features and {n_classes} classes needs about "
        f"{sum(needed.values()) / GIB:.1f} GiB beside the input, {needed[reason] / GIB:.1f} of them for {reason}, and "
        "0.5 are free. Give fewer rows, features, classes or bins (max_bins), smaller trees (max_depth, "
        "max_leaf_nodes), fewer of them (n_estimators), or a machine with more memory."
    )


@pytest.mark.parametrize("algorithm", CLASSIFIERS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_refused_fit_has_taken_nothing_of_the_size_of_its_table(algorithm, dtype, free):
    free(10**6)
    n_rows, n_features = 100_000, 200
    X = np.broadcast_to(np.ones((), dtype=dtype), (n_rows, n_features))  # takes no memory itself
    y = np.arange(n_rows) % 3
    booster = CLASSIFIERS[algorithm]()

    def refused():
        with pytest.raises(MemoryError, match="100000 rows, 200 features and 3 classes"):
            booster.fit(X, y)

    # A byte for every value would be four times that.
    assert peak_of(refused) < n_rows * n_features / 4


@pytest.mark.parametrize("algorithm", CLASSIFIERS)
def test_refused_fit_leaves_the_estimator_as_it_was(algorithm, free):
    X, y = np.arange(12.0).reshape(6, 2), [0, 1, 2, 0, 1, 2]
    model = CLASSIFIERS[algorithm](n_estimators=3).fit(X, y)
    before = model_bytes(model)
    free(100)
    with pytest.raises(MemoryError):
        model.fit(X[:, :1], y)
    assert model_bytes(model) == before
    new = CLASSIFIERS[algorithm]()
    with pytest.raises(MemoryError):
        new.fit(X, y)
    assert vars(new).keys() == new.get_params(deep=False).keys()


@pytest.mark.parametrize("algorithm", CLASSIFIERS)
def test_fit_that_just_fits_in_is_the_same_model(algorithm, free):
    X, y = np.arange(12.0).reshape(6, 2), [0, 1, 2, 0, 1, 2]
    booster = CLASSIFIERS[algorithm](n_estimators=3, max_depth=3)
    expected = model_bytes(booster.fit(X, y))
    limits = TreeLimits(3, n_voting=3) if algorithm == "votes" else TreeLimits(3)
    needed = sum(footprint(6, 2, 3, n_bins=12, limits=limits).values())  # every value is another
    for beside in (0, 1):
        free(needed + beside)
        assert model_bytes(booster.fit(X, y)) == expected
    free(needed - 1)
    with pytest.raises(MemoryError):
        booster.fit(X, y)


def test_wide_table_of_few_values_is_not_refused_for_bins_that_it_has_not(free):
    X = random_sparse(200, 20_000, density=0.01, format="csr", random_state=0)
    X.data[:] = 1.0
    free(200 * 2**20)  # 256 bins for every feature would take 500 MiB a histogram
    model = CoMBoClassifier(n_estimators=1).fit(X, np.arange(200) % 10)
    assert model.n_features_in_ == 20_000


def test_validation_and_stages_of_a_sparse_table_take_no_dense_copy_of_it(monkeypatch):
    monkeypatch.setattr(votes, "KEPT_BYTES", 0)
    monkeypatch.setattr(votes, "BLOCK_BYTES", 2**20)
    X = random_sparse(20_000, 300, density=0.01, format="csr", random_state=0)
    y = np.arange(20_000) % 3
    few = X[:500]
    model = CoMBoClassifier(n_estimators=3, early_stopping=True)
    peaks = [
        peak_of(lambda: model.fit(few, y[:500], X_val=X, y_val=y)),
        peak_of(lambda: [None for _ in model.staged_predict(X)]),
    ]
    dense = CoMBoClassifier(n_estimators=3, early_stopping=True).fit(few, y[:500], X_val=X.toarray(), y_val=y)
    assert model_bytes(model) == model_bytes(dense)
    assert max(peaks) < X.shape[0] * X.shape[1] * 8 / 4


def test_other_weak_learners_need_no_codes_and_no_histograms(free):
    X, y = random_sparse(100, 10**4, density=1e-3, format="csr", random_state=0), np.arange(100) % 2
    free(10**6)
    with pytest.raises(MemoryError):
        CoMBoClassifier(n_estimators=2).fit(X, y)
    model = CoMBoClassifier(n_estimators=2, estimator=MultinomialNB()).fit(X, y)
    assert model.n_features_in_ == 10**4


# What there is


@pytest.fixture
def system(monkeypatch, tmp_path):
    """Writes what the system would say of its memory; None is a file that is not there."""
    files = {name: tmp_path / name for name in ("MEMORY_INFO", "GROUP_LIMIT", "GROUP_USE", "GROUP_DETAILS")}
    for name, path in files.items():
        monkeypatch.setattr(memory, name, path)

    def say(*texts):
        for path, text in zip(files.values(), texts, strict=True):
            if text is not None:
                path.write_text(text)

    return say


def memory_info(n_kib):
    return (
        f"MemTotal:       99999999 kB\nMemFree:          12 kB\nMemAvailable:   {n_kib} kB\nHugePages_Total:       0\n"
    )


DETAILS = "anon 300\ninactive_file 0\n"

SYSTEMS = {
    "nothing": ((None, None, None, None), None),
    "a machine": ((memory_info(1000), None, None, DETAILS), 1000 * 1024),
    "a group without a limit": ((memory_info(1000), "max\n", "5000\n", DETAILS), 1000 * 1024),
    "a group with less": ((memory_info(1000), "500000\n", "100000\n", DETAILS), 400_000),
    "a group with more": ((memory_info(1000), "5000000000\n", "1\n", DETAILS), 1000 * 1024),
    "a group alone": ((None, "500000\n", "100000\n", DETAILS), 400_000),
    "a group alone without a limit": ((None, "max\n", "100000\n", DETAILS), None),
    "a full group": ((memory_info(1000), "500000\n", "500000\n", DETAILS), 0),
    "a group over its limit": ((memory_info(1000), "500000\n", "600000\n", DETAILS), 0),
    "a group that does not say what it uses": ((memory_info(1000), "500000\n", None, DETAILS), 1000 * 1024),
    "an old machine": (("MemTotal: 1000 kB\nMemFree: 10 kB\n", None, None, DETAILS), None),
    "an old machine with a group": (("MemTotal: 1000 kB\nMemFree: 10 kB\n", "3000\n", "1000\n", DETAILS), 2000),
    "empty files": (("", "", "", DETAILS), None),
    "files of something else": (("no colon here\n", "much\n", "little\n", DETAILS), None),
    "a number that is none": (("MemAvailable:   plenty kB\n", None, None, DETAILS), None),
    "a line without a number": (("MemAvailable:\n", None, None, DETAILS), None),
    "a group that has read files": (
        (memory_info(1000), "500000\n", "450000\n", "anon 1\ninactive_file 150000\n"),
        200_000,
    ),
    "a group without details": ((memory_info(1000), "500000\n", "100000\n", None), 1000 * 1024),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_free_memory_is_the_least_of_what_the_system_says(name, system):
    texts, expected = SYSTEMS[name]
    system(*texts)
    assert available_memory() == expected


def test_free_memory_of_this_machine_is_a_number_of_bytes_or_unknown():
    n_bytes = available_memory()
    assert n_bytes is None or n_bytes >= 0
