"""Categories: splits by any set of them, codes by their values alone, unseen ones as missing ones."""

import pickle
from itertools import combinations

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
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.preprocessing import OrdinalEncoder
from strategies import labels, problems

from comboost import CoMBoClassifier
from comboost._data.categories import MAX_CATEGORIES
from comboost._types import LEAF
from comboost.metrics import get_scorer

FLOAT_ERROR = 1e-6  # of float twins beside quantised costs
FEW = settings(max_examples=settings.default.max_examples // 2)  # of each of many laws
SMALL = {"max_rows": 20, "max_rounds": 6}
CRITERIA = ["gini", "cost"]
DEPTHS = [1, 3, 6, 7, 8, None]  # level by level up to 6, row by row below that
# An old scikit-learn does not see the names of a new polars.
NAMES_UNSEEN = pytest.mark.filterwarnings("ignore:X does not have valid feature names")
WORDS = np.array(["ash", "beech", "elm", "fir", "larch", "oak", "pine", "yew"])


# The best set


@st.composite
def category_tables(draw, *, most_classes, most_items, with_missing):
    """Draw one column of categories, missing ones among them where asked for, and classes."""
    n_classes = draw(st.integers(2, most_classes))
    n_items = draw(st.integers(2, most_items))
    n_samples = draw(st.integers(max(n_items, n_classes), 40))
    rest = draw(hnp.arrays(np.int64, n_samples - n_items, elements=st.integers(0, n_items - 1), fill=st.nothing()))
    items = np.concatenate([np.arange(n_items), rest])
    column = np.where(items == 0, np.nan, items) if with_missing and draw(st.booleans()) else items.astype(float)
    y = np.array(draw(st.permutations(draw(labels(n_samples, n_classes)).tolist())))
    return column[:, None], y


def goes_left(model, X):
    """Which rows the first node sends to the left; all of them if it is a leaf."""
    root = model._forest.nodes[0]
    if root["feature"] == LEAF:
        return np.ones(len(X), dtype=bool)
    known = model._categories.values[root["feature"]]
    codes = [0 if np.isnan(value) else known.index(value) + 1 for value in X[:, root["feature"]]]
    return np.unpackbits(model._forest.sets[root["set"]], bitorder="little")[codes].astype(bool)


def best_of_all_sets(column, costs, criterion):
    """The highest score of all splits of the items, missing ones being one of them, in two."""
    items = np.nan_to_num(column, nan=-1)
    others = np.unique(items)[1:]  # the first may always stay on the right
    sets = [chosen for size in range(len(others) + 1) for chosen in combinations(others, size)]
    return max(float_reference.split_score(np.isin(items, chosen), costs, criterion) for chosen in sets)


def assert_first_split_is_the_best(algorithm, criterion, X, y):
    booster = ALGORITHMS[algorithm](n_estimators=1, max_depth=1, criterion=criterion, categorical_features=[0])
    model = booster.fit(X, y)
    costs = float_reference.first_costs(y, algorithm)
    reached = float_reference.split_score(goes_left(model, X), costs, criterion)
    assert reached == pytest.approx(best_of_all_sets(X[:, 0], costs, criterion), rel=FLOAT_ERROR)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("criterion", CRITERIA)
@settings(max_examples=12)
@given(drawn=category_tables(most_classes=5, most_items=8, with_missing=True))
def test_first_split_of_up_to_eight_categories_is_the_best_of_all_sets(algorithm, criterion, drawn):
    assert_first_split_is_the_best(algorithm, criterion, *drawn)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("criterion", CRITERIA)
@settings(max_examples=10)
@given(drawn=category_tables(most_classes=2, most_items=11, with_missing=True))
def test_first_split_of_more_categories_is_the_best_of_all_sets_for_two_classes(algorithm, criterion, drawn):
    assert_first_split_is_the_best(algorithm, criterion, *drawn)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("with_missing", [False, True])
def test_one_stump_learns_any_set_of_thirty_categories_where_a_threshold_on_codes_cannot(
    algorithm, criterion, with_missing
):
    random = np.random.default_rng(0)
    tree = random.integers(30, size=600)
    inside = random.permutation(np.arange(30) % 2).astype(bool)
    y = inside[tree]
    X = np.column_stack([random.normal(size=600), tree]).astype(float)
    if with_missing:
        X[tree == 7, 1] = np.nan
    booster = ALGORITHMS[algorithm](n_estimators=1, max_depth=1, criterion=criterion)
    native = clone(booster).set_params(categorical_features=[1]).fit(X, y)
    assert not native.train_confusion_.any()
    np.testing.assert_array_equal(native.predict(X), y)
    assert booster.fit(X, y).train_confusion_.any()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_three_levels_learn_four_classes_of_twelve_categories(algorithm):
    # Categories of one class have the same costs, so no split parts them.
    random = np.random.default_rng(1)
    group = random.permutation(np.arange(12) % 4)
    column = np.concatenate([np.arange(12), random.integers(12, size=300)])
    model = ALGORITHMS[algorithm](n_estimators=1, max_depth=3, categorical_features=[0]).fit(
        column[:, None], group[column]
    )
    assert not model.train_confusion_.any()


# Codes come from values


def mixed_rows(n_samples=200, seed=2):
    """A column of numbers and one of words, missing ones in both, and classes that depend on both."""
    random = np.random.default_rng(seed)
    number = random.normal(size=n_samples)
    place = random.integers(len(WORDS), size=n_samples)
    y = (number > 0) + np.isin(place, [0, 3, 6, 7]) * 1
    y = np.where(random.uniform(size=n_samples) < 0.2, random.integers(3, size=n_samples), y)
    word = np.where(random.uniform(size=n_samples) < 0.1, None, WORDS[place].astype(object))
    return np.where(random.uniform(size=n_samples) < 0.1, np.nan, number), word, y


def pandas_frame(number, word, dtype):
    return pd.DataFrame({"number": number, "word": pd.Series(word, dtype=dtype)})


def category_dtype(values, *, ordered=False):
    return pd.CategoricalDtype(list(values), ordered=ordered)


def polars_frame(number, word, dtype):
    return pl.DataFrame({"number": number, "word": pl.Series(word.tolist(), dtype=dtype)})


def polars_after_others(number, word):
    """A polars frame whose categories got numbers from another table before."""
    others = pl.Series(["zebra", *WORDS[::-1].tolist()], dtype=pl.Categorical)
    frame = polars_frame(number, word, pl.Categorical)
    return frame.with_columns(pl.concat([others, frame["word"]])[len(others) :].alias("word"))


def arrow_table(number, word, values):
    places = [None if value is None else list(values).index(value) for value in word]
    dictionary = pa.DictionaryArray.from_arrays(pa.array(places, pa.int8()), pa.array(list(values)))
    return pa.table({"number": number, "word": dictionary})


ARROW_DICTIONARY = pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
BY_DTYPE = {
    "sorted": lambda n, w: pandas_frame(n, w, category_dtype(WORDS)),
    "shuffled": lambda n, w: pandas_frame(n, w, category_dtype(np.random.default_rng(0).permutation(WORDS))),
    "with unused ones": lambda n, w: pandas_frame(n, w, category_dtype(["aaa", *WORDS[::-1], "zzz"])),
    "ordered": lambda n, w: pandas_frame(n, w, category_dtype(WORDS[::-1], ordered=True)),
    "pandas Arrow": lambda n, w: pandas_frame(n, w, ARROW_DICTIONARY),
    "polars Categorical": lambda n, w: polars_frame(n, w, pl.Categorical),
    "polars Categorical after others": polars_after_others,
    "polars Enum": lambda n, w: polars_frame(n, w, pl.Enum(WORDS[::-1].tolist())),
    "pyarrow": lambda n, w: arrow_table(n, w, WORDS[::-1]),
    "pyarrow with unused ones": lambda n, w: arrow_table(n, w, ["zzz", *WORDS, "aaa"]),
}
BY_NAME = {
    "indices": (lambda n, w: np.column_stack([n.astype(object), w]), [1]),
    "mask": (lambda n, w: np.column_stack([n.astype(object), w]), [False, True]),
    "array mask": (lambda n, w: np.column_stack([n.astype(object), w]), np.array([False, True])),
    "pandas names": (lambda n, w: pandas_frame(n, w, object), ["word"]),
    "pandas text": (lambda n, w: pandas_frame(n, w, "str"), ["word"]),
    "pandas string": (lambda n, w: pandas_frame(n, w, "string"), ["word"]),
    "pandas indices": (lambda n, w: pandas_frame(n, w, object), np.array([1])),
    "polars names": (lambda n, w: polars_frame(n, w, pl.String), ["word"]),
    "pyarrow names": (lambda n, w: pa.table({"number": n, "word": w.tolist()}), ["word"]),
}
TABLES = {name: (make, "from_dtype") for name, make in BY_DTYPE.items()} | BY_NAME


@pytest.mark.parametrize("container", TABLES)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_categories_are_their_values_in_any_container(container, algorithm):
    number, word, y = mixed_rows()
    booster = ALGORITHMS[algorithm](n_estimators=5)
    reference = pandas_frame(number, word, category_dtype(WORDS))
    expected = booster.fit(reference, y).decision_function(reference)
    bytes_of_reference = model_bytes(booster)
    make, chosen = TABLES[container]
    model = booster.set_params(categorical_features=chosen).fit(make(number, word), y)
    assert model_bytes(model) == bytes_of_reference
    np.testing.assert_array_equal(model.decision_function(make(number, word)), expected)
    one_by_one = [model.decision_function(make(number[i : i + 1], word[i : i + 1]))[0] for i in range(10)]
    np.testing.assert_array_equal(one_by_one, expected[:10])


@NAMES_UNSEEN
@pytest.mark.parametrize("container", ["sorted", "shuffled", "polars Enum", "polars Categorical", "pyarrow"])
def test_order_of_the_dtype_at_prediction_does_not_matter(container):
    number, word, y = mixed_rows()
    model = CoMBoClassifier(n_estimators=5).fit(pandas_frame(number, word, category_dtype(WORDS)), y)
    expected = model.predict(pandas_frame(number, word, category_dtype(WORDS)))
    few = slice(3, 9)  # where not every category is used
    for rows in (slice(None), few):
        table = BY_DTYPE[container](number[rows], word[rows])
        np.testing.assert_array_equal(model.predict(table), expected[rows])


NUMBERS = {
    "float64": lambda codes: codes.astype(np.float64),
    "float32, Fortran order": lambda codes: np.asfortranarray(codes, dtype=np.float32),
    "int8": lambda codes: codes.astype(np.int8),
    "objects": lambda codes: codes.astype(object),
    "CSR": lambda codes: sp.csr_array(codes.astype(float)),
    "CSC": lambda codes: sp.csc_matrix(codes),
    "pandas": lambda codes: pd.DataFrame(codes, columns=["a", "b"]),
    "pandas Int64": lambda codes: pd.DataFrame(codes, columns=["a", "b"]).astype("Int64"),
    "pandas category": lambda codes: pd.DataFrame(codes, columns=["a", "b"]).astype("category"),
    "polars": lambda codes: pl.DataFrame({"a": codes[:, 0], "b": codes[:, 1]}),
    "pyarrow": lambda codes: pa.table({"a": codes[:, 0], "b": codes[:, 1]}),
}


@pytest.mark.parametrize("container", NUMBERS)
def test_numbers_are_categories_where_they_are_said_to_be(container):
    random = np.random.default_rng(3)
    codes = random.integers(-4, 5, size=(200, 2))
    y = np.isin(codes[:, 0], [-3, 0, 2]) * 1 + np.isin(codes[:, 1], [-4, 1, 4])
    booster = CoMBoClassifier(n_estimators=4, max_depth=2, categorical_features=[0, 1])
    expected = booster.fit(codes, y).decision_function(codes)
    bytes_of_integers = model_bytes(booster)
    model = booster.fit(NUMBERS[container](codes), y)
    assert model_bytes(model) == bytes_of_integers
    np.testing.assert_array_equal(model.decision_function(NUMBERS[container](codes)), expected)


@FEW
@given(problem=problems(**SMALL, categories=True, missing=True), data=st.data())
def test_renaming_that_keeps_the_order_changes_no_bit(problem, data):
    renamed = problem.X.astype(np.float64)
    as_words = problem.X.astype(object)
    for f in problem.categorical:
        known = np.unique(problem.X[:, f][~np.isnan(problem.X[:, f])])
        new = sorted(data.draw(st.sets(st.integers(-999, 999), min_size=len(known), max_size=len(known))))
        places = {value: place for place, value in enumerate(known)}
        for i, value in enumerate(problem.X[:, f]):
            if np.isnan(value):
                as_words[i, f] = None
            else:
                renamed[i, f] = new[places[value]]
                as_words[i, f] = f"category {places[value]:03}"
    model = fit(problem)
    for X in (renamed, as_words):
        other = booster_for(problem).fit(X, problem.y, problem.sample_weight)
        assert model_bytes(other) == model_bytes(model)
        np.testing.assert_array_equal(other.decision_function(X), model.decision_function(problem.X))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1), order=st.permutations(range(7)))
def test_any_renaming_of_few_categories_changes_no_prediction_where_nothing_ties(algorithm, seed, order):
    random = np.random.default_rng(seed)
    X = np.column_stack([random.normal(size=120), random.integers(7, size=120)])
    y = np.concatenate([np.arange(3), random.integers(3, size=117)])
    weights = random.uniform(0.5, 2.0, size=120)
    renamed = X.copy()
    renamed[:, 1] = np.array(order)[X[:, 1].astype(int)]
    booster = ALGORITHMS[algorithm](n_estimators=6, categorical_features=[1])
    expected = booster.fit(X, y, weights).decision_function(X)
    np.testing.assert_array_equal(booster.fit(renamed, y, weights).decision_function(renamed), expected)


# Categories that training has not seen


@NAMES_UNSEEN
@pytest.mark.parametrize("missing_in_training", [False, True])
@pytest.mark.parametrize("max_depth", [1, 3, None])
def test_unseen_category_predicts_as_a_missing_one(missing_in_training, max_depth):
    number, word, y = mixed_rows()
    if not missing_in_training:
        word = np.where(word == None, "oak", word)  # noqa: E711
    model = CoMBoClassifier(n_estimators=6, max_depth=max_depth).fit(pandas_frame(number, word, "category"), y)
    missing = model.decision_function(pandas_frame(number, np.full(len(y), None), category_dtype(WORDS)))
    for unseen in ("aaa", "oak ", "zzz"):
        words = np.full(len(y), unseen, dtype=object)
        for make in (
            lambda n, w: pandas_frame(n, w, "category"),
            lambda n, w: polars_frame(n, w, pl.Categorical),
            lambda n, w: arrow_table(n, w, np.unique(w)),
        ):
            np.testing.assert_array_equal(model.decision_function(make(number, words)), missing)
            np.testing.assert_array_equal(model.decision_function(make(number[:1], words[:1])), missing[:1])


@FEW
@given(problem=problems(**SMALL, categories=True, missing=True), unseen=st.sampled_from([-1.0, 0.5, 99.0, 1e300]))
def test_unseen_number_predicts_as_a_missing_one(problem, unseen):
    model = fit(problem)
    as_missing, as_unseen = problem.X.astype(np.float64), problem.X.astype(np.float64)
    for f in problem.categorical:
        as_missing[::2, f], as_unseen[::2, f] = np.nan, unseen
    np.testing.assert_array_equal(model.decision_function(as_unseen), model.decision_function(as_missing))


def test_category_of_rows_without_weight_is_an_unseen_one():
    number, word, y = mixed_rows()
    weights = (word != "yew").astype(float)
    model = CoMBoClassifier(n_estimators=5).fit(pandas_frame(number, word, "category"), y, weights)
    kept = weights > 0
    other = CoMBoClassifier(n_estimators=5).fit(pandas_frame(number[kept], word[kept], "category"), y[kept])
    assert model_bytes(model) == model_bytes(other)
    np.testing.assert_array_equal(
        model.decision_function(pandas_frame(number, np.where(kept, word, "yew"), "category")),
        model.decision_function(pandas_frame(number, np.where(kept, word, None), "category")),
    )


def test_rules_of_missing_and_unseen_categories_are_documented():
    text = " ".join((CoMBoClassifier.__doc__ or "").split())
    assert "Missing values (NaN, None, NA) go to the side of a split that suits them best." in text
    assert "Unseen categories are treated as missing." in text
    assert f"Of more than {MAX_CATEGORIES} categories in a feature, the {MAX_CATEGORIES} with the largest" in text


# How many there may be


def many_categories(n_categories):
    column = np.tile([f"c{k:03}" for k in range(n_categories)], 2)
    return pd.DataFrame({"n": np.arange(len(column)), "town": pd.Categorical(column)})


def test_as_many_categories_as_allowed_are_told_apart():
    frame = many_categories(MAX_CATEGORIES)
    y = frame["town"].cat.codes.to_numpy() % 7 < 3
    model = CoMBoClassifier(n_estimators=1, max_depth=1).fit(frame, y)
    assert not model.train_confusion_.any()
    np.testing.assert_array_equal(model.predict(frame), y)
    assert model.predict(frame.assign(town=pd.Categorical([None] * len(frame)))).shape == y.shape


# The same bits


def forest_of_words(n_samples, seed=4):
    """Columns of 6, of 20 and of 200 categories and one of numbers, missing ones in all of them, and classes."""
    random = np.random.default_rng(seed)
    X = np.column_stack([random.integers(n, size=n_samples) for n in (6, 20, 200)] + [random.normal(size=n_samples)])
    pull = random.normal(size=(200, 3))
    y = (pull[X[:, :3].astype(int)].sum(axis=1) + random.normal(size=(n_samples, 3))).argmax(axis=1)
    return np.where(random.uniform(size=X.shape) < 0.05, np.nan, X), y


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("weighted", [False, True])
def test_model_with_categories_and_missing_values_is_bit_identical_for_any_number_of_threads(algorithm, weighted):
    X, y = forest_of_words(9_000)
    weights = np.random.default_rng(5).uniform(size=len(y)) if weighted else None
    booster = ALGORITHMS[algorithm](n_estimators=5, max_depth=4, categorical_features=[0, 1, 2])
    models = [clone(booster).set_params(n_jobs=n_jobs).fit(X, y, weights) for n_jobs in (1, 2, 7)]
    assert len({model_bytes(model) for model in models}) == 1
    assert len({model.decision_function(X).tobytes() for model in models}) == 1


@pytest.mark.parametrize("max_depth", DEPTHS)
def test_one_row_of_categories_predicts_as_it_does_among_many(max_depth):
    X, y = forest_of_words(150)
    model = CoMBoClassifier(n_estimators=12, max_depth=max_depth, categorical_features=[0, 1, 2]).fit(X, y)
    new, _ = forest_of_words(150, seed=6)
    scores = model.decision_function(new)
    for size in (1, 20):  # both below the number of rows that takes the fast path
        parts = [model.decision_function(new[begin : begin + size]) for begin in range(0, 150, size)]
        np.testing.assert_array_equal(np.concatenate(parts), scores)
    counts = np.zeros((3, 3))
    np.add.at(counts, (y, model.predict(X)), 1)
    np.testing.assert_allclose(
        model.train_confusion_, counts / counts.sum(axis=1, keepdims=True) * (1 - np.eye(3)), atol=1e-15
    )


@pytest.mark.parametrize("dtype", ["category", "str", object])
def test_pickled_model_predicts_the_same(dtype):
    number, word, y = mixed_rows()
    model = CoMBoClassifier(n_estimators=5, categorical_features=["word"])
    model.fit(pandas_frame(number, word, dtype), y)
    copy = pickle.loads(pickle.dumps(model))
    assert model_bytes(copy) == model_bytes(model)
    for words in (word, np.where(word == "elm", "unseen", word)):
        frame = pandas_frame(number, words, dtype)
        np.testing.assert_array_equal(copy.decision_function(frame), model.decision_function(frame))
    assert copy.export_text(0) == model.export_text(0)


# The tools of the field


@pytest.mark.parametrize("make", [BY_DTYPE["shuffled"], BY_DTYPE["polars Enum"]], ids=["pandas", "polars"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_cross_validation_works_where_a_fold_lacks_a_category(make, algorithm):
    number, word, y = mixed_rows(150)
    word[word == "yew"] = "oak"
    word[10:15] = "yew"  # all in the first fold, so that its model has not seen them
    frame = make(number, word)
    booster = ALGORITHMS[algorithm](n_estimators=5)
    scoring = {name: get_scorer(name) for name in ("g_mean", "neg_confusion_norm", "mauc")}
    result = cross_validate(booster, frame, y, cv=KFold(5), scoring=scoring, return_estimator=True, error_score="raise")
    assert ["yew" in model._categories.values[1] for model in result["estimator"]] == [False, True, True, True, True]
    assert all(np.isfinite(result[f"test_{name}"]).all() for name in scoring)
    search = GridSearchCV(booster, {"max_depth": [1, 2]}, cv=KFold(5), error_score="raise").fit(frame, y)
    expected = clone(booster).set_params(**search.best_params_).fit(frame, y)
    np.testing.assert_array_equal(search.predict(frame), expected.predict(frame))


@pytest.mark.parametrize("chosen", [[0], [True, False], ["word"], np.array([0]), None], ids=str)
def test_choice_of_categories_survives_a_clone(chosen):
    booster = CoMBoClassifier(categorical_features=chosen)
    np.testing.assert_array_equal(clone(booster).categorical_features, chosen)


@pytest.mark.parametrize("chosen", [[0], [True, False], None, np.array([1])], ids=str)
def test_choice_of_categories_is_refused_beside_an_estimator(chosen):
    X, y = np.arange(12.0).reshape(6, 2), np.arange(6) % 2
    with pytest.raises(ValueError, match=r"categorical_features shape.*estimator=LogisticRegression"):
        CoMBoClassifier(estimator=LogisticRegression(), categorical_features=chosen).fit(X, y)


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (["word", "wood"], r"\['wood'\], but X has no such columns; its columns are \['number', 'word'\]"),
        ([2], r"\[2\], but X has 2 features; give indices from 0 to 1"),
        ([-1], r"\[-1\], but X has 2 features"),
        ([1, 1], "more than once"),
        ([True], "a mask of length 1, but X has 2 features"),
        ("word", r'give "from_dtype", None, or a list'),
        (1, r'give "from_dtype", None, or a list'),
        ([0, "word"], r'give "from_dtype", None, or a list'),
    ],
)
def test_wrong_choice_of_categories_is_an_error_and_leaves_nothing_behind(chosen, message):
    number, word, y = mixed_rows(50)
    booster = CoMBoClassifier(categorical_features=chosen)
    with pytest.raises(ValueError, match=message):
        booster.fit(pandas_frame(number, word, "category"), y)
    assert vars(booster).keys() == booster.get_params(deep=False).keys()


@pytest.mark.parametrize("dtype", [object, "str", "string", "category"])
def test_text_among_features_that_are_all_numbers_is_an_error_that_says_what_to_do(dtype):
    number, word, y = mixed_rows(50)
    with pytest.raises(ValueError, match=r"column 'word' of X holds text, such as .*categorical_features"):
        CoMBoClassifier(categorical_features=None).fit(pandas_frame(number, word, dtype), y)


def test_values_of_another_kind_at_prediction_are_an_error():
    number, word, y = mixed_rows(50)
    model = CoMBoClassifier(n_estimators=2).fit(pandas_frame(number, word, "category"), y)
    with pytest.raises(
        ValueError, match=r"column 'word' of X held text in training, such as 'ash', and holds numbers now"
    ):
        model.predict(pd.DataFrame({"number": number, "word": pd.Categorical(np.arange(50))}))


def test_ordinal_encoding_by_hand_gives_the_same_bits():
    number, word, y = mixed_rows()
    frame = pandas_frame(number, word, "category")
    by_hand = np.column_stack([number, OrdinalEncoder().fit_transform(frame[["word"]])])
    model = CoMBoClassifier(n_estimators=5).fit(frame, y)
    other = CoMBoClassifier(n_estimators=5, categorical_features=[1]).fit(by_hand, y)
    assert model_bytes(other) == model_bytes(model)
    np.testing.assert_array_equal(other.decision_function(by_hand), model.decision_function(frame))
