"""More categories than codes: the most frequent have codes of their own, and the others share one."""

import dataclasses
import functools
import pickle
import re
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import skops.io
from hypothesis import given, settings
from hypothesis import strategies as st
from models import booster_for, fit, fit_reference, model_bytes, trees_of, trees_of_reference
from reference import quantised_reference
from sklearn.base import BaseEstimator
from strategies import problems

from comboost import CoMBoClassifier, ConfusionBoostingClassifier
from comboost._data import categories as module
from comboost._data.categories import MAX_CATEGORIES, CategoryCounts
from comboost._data.validation import fit_categories, read_table
from comboost._persistence.model_file import stored_parts
from comboost._persistence.pickling import attributes_of, make_state
from comboost.baselines import AdaBoostNCClassifier, SMOTEBoostClassifier

FEW = 3  # codes of their own, where small tables are to have more categories


def with_few_codes(law):
    """Test a law as if a byte had few codes."""

    @functools.wraps(law)
    def patched(**drawn):
        with pytest.MonkeyPatch.context() as patch:
            for index in (module, quantised_reference):
                patch.setattr(index, "MAX_CATEGORIES", FEW)
            law(**drawn)

    return patched


def zipf_rows(n_samples=3000, n_words=600, seed=0):
    """Words of which few are frequent, numbers, and classes that follow from both."""
    random = np.random.default_rng(seed)
    index = (random.zipf(1.3, size=n_samples) - 1) % n_words
    number = random.normal(size=n_samples)
    return [f"w{k:04}" for k in index], number, (index % 3 + (number > 0)) % 4


def frame_of(words, number=0.0):
    return pd.DataFrame({"word": words, "number": number})


# Which are infrequent


@given(
    weighed=st.dictionaries(st.text(max_size=3) | st.sampled_from("abc"), st.integers(1, 4), min_size=1, max_size=12),
)
@with_few_codes
def test_category_is_infrequent_if_it_is_lighter_than_all_kept_ones_or_ties_with_one_and_stands_after_it(weighed):
    kept, rest = CategoryCounts("column 0", weighed).split()
    assert list(kept) == sorted(kept)
    assert list(rest) == sorted(rest)
    assert {*kept, *rest} == set(weighed)
    assert len(kept) == min(FEW, len(weighed))
    for value in rest:
        assert all((-weighed[value], value) > (-weighed[other], other) for other in kept)


@given(data=st.data(), values=st.lists(st.sampled_from("abcdefgh") | st.none(), min_size=1, max_size=30))
@with_few_codes
def test_weights_count_as_often_as_rows(data, values):
    times = data.draw(st.lists(st.integers(1, 3), min_size=len(values), max_size=len(values)))
    order = data.draw(st.permutations(range(len(values))))
    table = np.array(values, dtype=object)[:, np.newaxis]
    weighed, codes = fit_categories(raw_table(table[order]), [0], np.array(times, dtype=np.uint32)[order])
    repeated, _ = fit_categories(raw_table(np.repeat(table, times, axis=0)), [0], None)
    assert weighed == repeated
    counts = Counter(dict.fromkeys(filter(None, values), 0))
    for value, n in zip(values, times, strict=True):
        counts[value] += n if value is not None else 0
    counts.pop(None, None)
    assert set(weighed.infrequent.get(0, ())) == set(sorted(counts, key=lambda v: (-counts[v], v))[FEW:])
    known = [None, *weighed.values[0]]
    expected = [known.index(value) if value in known else FEW + 1 for value in np.array(values, dtype=object)[order]]
    assert codes[0].tolist() == expected


def raw_table(X):
    return read_table(BaseEstimator(), X, reset=True)


@given(
    parts=st.lists(st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 9)), min_size=1, max_size=5),
    random=st.randoms(),
)
@with_few_codes
def test_counts_of_parts_add_up_in_any_order(parts, random):
    counts = [CategoryCounts("column 0", part) for part in parts]
    total = sum(map(Counter, parts), Counter())
    shuffled = random.sample(counts, len(counts))
    assert CategoryCounts.join(shuffled).split() == CategoryCounts("column 0", total).split()


# The model


@settings(max_examples=30)
@given(problem=problems(missing=True, categories=True))
@with_few_codes
def test_model_of_many_categories_equals_the_quantised_twin_to_the_bit(problem):
    model, reference = fit(problem), fit_reference(problem)
    assert trees_of(model) == trees_of_reference([kept.nodes for kept in reference.rounds])
    assert model.loss_curve_.tolist() == [kept.loss for kept in reference.rounds]


@settings(max_examples=20)
@given(problem=problems(missing=True, categories=True, weighted=False), data=st.data())
@with_few_codes
def test_order_threads_and_repeated_rows_change_no_bit(problem, data):
    times = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(problem.y), max_size=len(problem.y))))
    order = np.array(data.draw(st.permutations(range(len(problem.y)))))
    booster = booster_for(problem, min_samples_leaf=1)
    weighted = booster.fit(problem.X[order], problem.y[order], sample_weight=times[order])
    expected = model_bytes(weighted), weighted._categories
    booster.set_params(n_jobs=3).fit(np.repeat(problem.X, times, axis=0), np.repeat(problem.y, times))
    assert (model_bytes(booster), booster._categories) == expected


@settings(max_examples=20)
@given(problem=problems(categories=True))
@with_few_codes
def test_rest_counts_as_one_category_that_stands_last(problem):
    model = fit(problem)
    merged = problem.X.copy()
    for f, rest in model._categories.infrequent.items():
        merged[np.isin(merged[:, f], rest), f] = 1e9
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MAX_CATEGORIES", MAX_CATEGORIES)
        other = fit(dataclasses.replace(problem, X=merged))
    assert model_bytes(other) == model_bytes(model)
    np.testing.assert_array_equal(other.decision_function(merged), model.decision_function(problem.X))


def arrow_table(words, number):
    return pa.table({"word": words, "number": number})


CONTAINERS = {
    "pandas": frame_of,
    "pandas objects": lambda words, number: frame_of(words, number).astype({"word": object}),
    "pandas Arrow text": lambda words, number: frame_of(words, number).astype({"word": "string[pyarrow]"}),
    "pandas category": lambda words, number: frame_of(words, number).astype({"word": "category"}),
    "polars": lambda words, number: pl.DataFrame({"word": words, "number": number}),
    "polars Categorical": lambda words, number: pl.DataFrame(
        {"word": pl.Series(words, dtype=pl.Categorical), "number": number}
    ),
    "pyarrow": lambda words, number: arrow_table(pa.array(words), number),
    "pyarrow large text": lambda words, number: pa.table(
        {"word": pa.array(words, pa.large_string()), "number": number}
    ),
    "pyarrow text views": lambda words, number: pa.table({"word": pa.array(words, pa.string_view()), "number": number}),
    "pyarrow dictionary": lambda words, number: pa.table(
        {"word": pa.array(words).dictionary_encode(), "number": number}
    ),
    "objects": lambda words, number: np.array([words, number.tolist()], dtype=object).T,
    "list": lambda words, number: list(zip(words, number.tolist(), strict=True)),
}


def test_text_of_many_words_gives_the_same_model_in_any_container():
    words, number, y = zipf_rows()
    models = {name: CoMBoClassifier(n_estimators=4).fit(make(words, number), y) for name, make in CONTAINERS.items()}
    assert {model_bytes(model) for model in models.values()} == {model_bytes(models["pandas"])}
    for name, model in models.items():
        assert model._categories == models["pandas"]._categories
        assert len(model._categories.infrequent[0]) == len(set(words)) - MAX_CATEGORIES
        expected = models["pandas"].decision_function(frame_of(words, number))
        np.testing.assert_array_equal(model.decision_function(CONTAINERS[name](words, number)), expected)


@pytest.mark.parametrize("n_rare", [1, 150])
def test_rows_of_frequent_categories_are_told_apart_as_if_all_had_codes(n_rare):
    """The rest is rare and of all classes; the class of every frequent category is planted."""
    frequent = np.repeat(np.arange(MAX_CATEGORIES), 4)
    rare = np.arange(n_rare) + MAX_CATEGORIES
    words = np.array([f"w{k:04}" for k in np.random.default_rng(0).permutation(MAX_CATEGORIES + n_rare)])
    index = np.concatenate([frequent, rare])
    y = index * 7 % 11 % 4
    frame = frame_of(words[index])
    model = CoMBoClassifier(n_estimators=3, max_depth=None, criterion="cost").fit(frame, y)
    np.testing.assert_array_equal(model.predict(frame)[: len(frequent)], y[: len(frequent)])
    assert model.infrequent_categories_[0].tolist() == sorted(words[rare].tolist())


def test_infrequent_categories_are_told_apart_from_missing_and_from_unseen_ones():
    frequent = [f"w{k:03}" for k in range(MAX_CATEGORIES)]
    rare = [f"rare{k}" for k in range(5)]
    words = frequent * 3 + rare + [None] * 3
    y = [0] * (3 * MAX_CATEGORIES) + [1] * len(rare) + [2] * 3
    model = CoMBoClassifier(n_estimators=2, max_depth=None).fit(frame_of(words), y)
    np.testing.assert_array_equal(model.predict(frame_of(rare)), 1)
    np.testing.assert_array_equal(model.predict(frame_of(["unseen", None])), 2)


# What is kept of them


@pytest.fixture(scope="module")
def fitted():
    words, number, y = zipf_rows()
    frame = frame_of(words, number)
    return frame, y, CoMBoClassifier(n_estimators=3).fit(frame, y)


def test_infrequent_categories_are_listed_as_scikit_learns_encoders_do(fitted):
    frame, _, model = fitted
    words, numbers = model.infrequent_categories_
    assert numbers is None
    assert words.dtype == object
    counts = frame["word"].value_counts()
    kept = sorted(counts.index, key=lambda word: (-counts[word], word))[:MAX_CATEGORIES]
    assert words.tolist() == sorted(set(frame["word"]) - set(kept))
    assert not hasattr(CoMBoClassifier(), "infrequent_categories_")
    assert CoMBoClassifier(n_estimators=1).fit([[1.0], [2.0]], [0, 1]).infrequent_categories_ == [None]


def test_infrequent_numbers_are_an_array_of_numbers():
    X = np.repeat(np.arange(300), np.arange(300) % 2 + 1)[:, np.newaxis]
    model = CoMBoClassifier(n_estimators=1, categorical_features=[0]).fit(X, X[:, 0] % 2)
    assert model.infrequent_categories_[0].tolist() == np.arange(208, 300, 2).tolist()
    assert model.infrequent_categories_[0].dtype.kind == "i"


@pytest.mark.parametrize("baseline", [AdaBoostNCClassifier, SMOTEBoostClassifier])
def test_baselines_share_codes_alike(baseline, fitted):
    frame, y, model = fitted
    other = baseline(n_estimators=1).fit(frame, y)
    assert other._categories == model._categories
    assert set(other.predict(frame)) <= set(y)


def test_stored_models_keep_infrequent_categories(fitted):
    frame, _, model = fitted
    stored = skops.io.dumps(model)
    trusted = skops.io.get_untrusted_types(data=stored)
    assert all(name.startswith("comboost") for name in trusted)
    for copy in (pickle.loads(pickle.dumps(model)), skops.io.loads(stored, trusted=trusted)):
        assert copy._categories == model._categories
        np.testing.assert_array_equal(copy.decision_function(frame), model.decision_function(frame))


@pytest.mark.parametrize("damage", [{9: ("a",)}, {0: ["a"]}, {0: ()}, None])
def test_damaged_infrequent_categories_are_refused(fitted, damage):
    parameters, attributes = stored_parts(fitted[-1])
    attributes["categories"] = attributes["categories"] | {"infrequent": damage}
    with pytest.raises(ValueError, match="damaged"):
        attributes_of(make_state(parameters, attributes), "model")


def test_warm_start_goes_on_with_the_same_infrequent_categories_and_refuses_others(fitted):
    frame, y, _ = fitted
    model = CoMBoClassifier(n_estimators=2, warm_start=True).fit(frame, y)
    model.set_params(n_estimators=4).fit(frame, y)
    assert model_bytes(model) == model_bytes(CoMBoClassifier(n_estimators=4).fit(frame, y))
    rare = model.infrequent_categories_[0][0]
    with pytest.raises(ValueError, match="rows"):
        model.set_params(n_estimators=5).fit(frame.replace(rare, "renamed"), y)


@pytest.mark.parametrize("booster", [CoMBoClassifier(n_estimators=1), ConfusionBoostingClassifier(n_estimators=1)])
def test_rules_name_the_infrequent_ones_on_one_side(fitted, booster):
    frame, y, _ = fitted
    text = booster.fit(frame[["word"]], y).export_text(0)
    sides = re.findall(r"word in {[^}]*}( or infrequent)?( or missing)?", text)
    assert len(sides) % 2 == 0
    assert sum(bool(infrequent) for infrequent, _ in sides) * 2 == len(sides)


def test_rule_of_infrequent_ones_alone_says_so():
    words = [f"w{k:03}" for k in range(MAX_CATEGORIES)] * 2 + ["rare1", "rare2"]
    y = [0] * (len(words) - 2) + [1] * 2
    text = CoMBoClassifier(n_estimators=1, max_depth=1).fit(pd.DataFrame({"word": words}), y).export_text(0)
    assert "|--- word is infrequent" in text
