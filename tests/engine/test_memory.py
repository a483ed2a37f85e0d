"""Memory of a fit: what it would take, what there is, and a refusal before any of it is taken."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from boosters import make_booster
from hypothesis import example, given
from hypothesis import strategies as st
from memory import peak_of
from models import CLASSIFIERS, model_bytes
from scipy.sparse import csr_array
from scipy.sparse import random as random_sparse
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from strategies import tree_limits

from comboost import AdaBoostMMClassifier, CoMBoClassifier, ConfusionBoostingClassifier, _core
from comboost._boosting import learners, search
from comboost._engine import memory, memory_plan, scores
from comboost._engine.memory import available_memory
from comboost._engine.memory_plan import FitShape, HeldShape, SearchShape, TableCopies, TreeLimits
from comboost.baselines import AdaBoostNCClassifier, SMOTEBoostClassifier
from comboost.metrics import (
    confusion_norm_bound,
    confusion_norm_loss,
    error_confusion_matrix,
    error_rate_bound,
    expected_cost_loss,
    geometric_mean_bound,
    geometric_mean_score,
    mauc_score,
    min_recall_bound,
    min_recall_score,
    recall_bounds,
)

GIB = 2**30
SHAPES = st.tuples(st.integers(2, 10**9), st.integers(1, 10**5), st.integers(2, 10**4))
MANY_ROWS = 256  # as many as a feature has bins, or more
NATIVE = {"costs", "row indices, labels and leaves", "nodes that grow", "room that sorting leaves"}  # not NumPy's
NATIVE_SEARCH = NATIVE | {"histograms", "histograms kept", "codes by row", "codes that features share"}


@pytest.fixture
def free(monkeypatch):
    """Sets the memory that there is; then everything is worth a question."""
    monkeypatch.setattr(memory, "NOT_WORTH_ASKING", 0)
    return lambda n_bytes: monkeypatch.setattr(memory, "available_memory", lambda: n_bytes)


@pytest.fixture
def asked(monkeypatch):
    """What is asked for before it is taken, by use."""
    plans = []
    for module in (memory, memory_plan):
        monkeypatch.setattr(module, "check_room", lambda _task, needed, _advice: plans.append(dict(needed)))
    monkeypatch.setattr(memory, "NOT_WORTH_ASKING", 0)
    return plans


def total(uses):
    return sum(uses.values())


# What a fit takes


def held_by_growth(n_samples, n_features, n_classes):
    """What a fit holds while trees of the default depth grow, but for what has a budget."""
    uses = FitShape(n_samples, n_features, n_classes).phases()["growing"]
    del uses["histograms"], uses["nodes that grow"]
    return uses


def is_linear(first, second, third):
    """Whether three footprints at equal distances lie on a line."""
    return all(second[use] - first[use] == third[use] - second[use] for use in first)


@given(st.integers(MANY_ROWS, 10**8), st.integers(1, 10**8), st.integers(1, 1000), st.integers(2, 1000))
def test_footprint_grows_linearly_with_rows(n_samples, more, n_features, n_classes):
    assert is_linear(*(held_by_growth(n_samples + k * more, n_features, n_classes) for k in range(3)))


@given(st.integers(MANY_ROWS, 10**8), st.integers(1, 1000), st.integers(1, 1000), st.integers(2, 1000))
def test_footprint_grows_linearly_with_features(n_samples, n_features, more, n_classes):
    assert is_linear(*(held_by_growth(n_samples, n_features + k * more, n_classes) for k in range(3)))


@given(st.integers(MANY_ROWS, 10**8), st.integers(1, 1000), st.integers(2, 1000), st.integers(1, 100))
def test_footprint_of_rows_and_bins_grows_linearly_with_classes(n_samples, n_features, n_classes, more):
    # By steps of 4, the classes that a vector holds. Matrices of classes are squares.
    sides = [n_classes + 4 * k * more for k in range(3)]
    grown = [held_by_growth(n_samples, n_features, side) for side in sides]
    squares = {uses.pop("matrices of classes") / side**2 for uses, side in zip(grown, sides, strict=True)}
    assert is_linear(*grown)
    assert len(squares) == 1


held_shapes = st.builds(
    HeldShape,
    st.builds(TableCopies, st.integers(1, 10**8), st.integers(1, 1000), st.booleans(), st.integers(0, 10**9)),
    by_scorer=st.booleans(),
    by_counts=st.booleans(),
    shared=st.booleans(),
)


@given(SHAPES, tree_limits, held_shapes)
def test_validation_adds_its_votes_and_never_makes_a_fit_smaller(shape, limits, held):
    plain = FitShape(*shape, 10 * shape[1], limits)
    validated = replace(plain, held=held)
    assert total(validated.peak()) >= total(plain.peak())
    assert validated.phases()["validating"]["scores of the validation rows"] == held.copies.n_samples * shape[2] * 8


@given(SHAPES, tree_limits)
def test_footprint_is_that_of_the_largest_phase(shape, limits):
    shape = FitShape(*shape, 10 * shape[1], limits, table=TableCopies(*shape[:2], is_view=False))
    assert total(shape.peak()) == max(map(total, shape.phases().values()))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint64])
@given(st.integers(1, 100), st.integers(2, 100), st.integers(1, 100), st.integers(1, 10**9))
def test_leaves_are_counted_alike_for_numbers_of_any_type(dtype, depth, most, least, n_samples):
    expected = min(max(1, n_samples // least), 2**depth, most)
    assert TreeLimits(depth, most, least).n_leaves(n_samples) == expected
    assert TreeLimits(dtype(depth), dtype(most), dtype(least)).n_leaves(n_samples) == expected


def test_footprint_has_room_for_codes_and_costs_of_every_row():
    needed = FitShape(10**6, 30, 10).peak()
    assert needed["codes"] == 30 * 10**6  # a byte each
    assert needed["costs"] >= 10**6 * 10 * 8  # a float for every class


def test_norms_plan_a_sum_per_leaf_and_pair_of_classes():
    plain = FitShape(10**5, 5, 128, limits=TreeLimits(10))
    priced = replace(plain, limits=replace(plain.limits, sums_pairs=True))
    sums = "sums of the leaves"
    assert plain.phases()["leaf values"][sums] == 0
    assert priced.phases()["leaf values"][sums] == 2**10 * 128 * 128 * 8


def up_to_a_multiple(number, step):
    return -(-number // step) * step


@given(st.integers(1, 10**6), st.integers(2, 1000), st.sampled_from([1, 2, 20]), st.integers(1, 12))
@example(10**5, 127, 1, 5)
@example(10**5, 128, 1, 5)
@example(10**5, 129, 1, 5)
@example(10**5, 128, 2, 5)
def test_costs_and_leaf_sums_follow_from_samples_leaves_and_classes(n_samples, n_classes, least, depth):
    limits = TreeLimits(depth, min_samples_leaf=least, value_per_class=True, n_trees=10)
    parts = FitShape(n_samples, 3, n_classes, limits=limits).parts()
    n_leaves = min(max(1, n_samples // least), 2**depth)
    n_channels = up_to_a_multiple(n_classes + (least > 1), _core.CHANNELS_PER_VECTOR)
    assert parts["samples"]["costs"] == n_samples * (8 * n_classes + _core.UNIT_BYTES * n_channels)
    n_sums = 6 if n_classes > 128 else n_classes + n_channels  # of a leaf and class: pairs of classes up to 128
    assert parts["leaf values"]["sums of the leaves"] == 8 * n_leaves * n_classes * n_sums
    assert parts["trees"]["leaf values"] == 10 * n_leaves * n_classes * _core.UNIT_BYTES


# How near the plan is to what is taken


#: Fits two shapes, each in a process of its own: many samples, whose costs take most, and many leaves, whose sums do.
MANY_CLASSES = """
import os, sys
from pathlib import Path
import numpy as np
from comboost import ConfusionBoostingClassifier
from comboost._engine import memory, memory_plan

def status(key):
    lines = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    return 1024 * int(lines[key].split()[0])

random, plans = np.random.default_rng(0), []
memory_plan.check_room = lambda task, needed, advice: plans.append(needed)
for use, n_samples, depth, max_bins in (("costs", 20_000, 3, 20), ("sums of the leaves", 8192, None, 255)):
    if process := os.fork():
        os.waitpid(process, 0)
        continue
    parameters = {"n_estimators": 1, "smoothing": 1.0, "learning_rate": 0.3, "max_depth": depth, "max_bins": max_bins}
    model = ConfusionBoostingClassifier(**parameters, n_jobs=1)
    X, y = random.random((n_samples, 2)), random.permutation(np.arange(n_samples) % 300)
    model.fit(X[:300], np.arange(300) % 3)  # imports, buffers
    Path("/proc/self/clear_refs").write_text("5")
    before = status("VmRSS")
    model.fit(X, y)
    plan = max(plans, key=lambda needed: sum(needed.values()))
    assert max(plan, key=plan.get) == use, plan
    print(status("VmHWM") - before, sum(plan.values()), flush=True)
    os._exit(0)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is read from /proc")
def test_costs_and_leaf_sums_of_many_classes_take_what_is_planned():
    done = subprocess.run([sys.executable, "-c", MANY_CLASSES], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 2, done.stderr
    for line in lines:
        peak, planned = map(int, line.split())
        assert peak > 7 * 10**7
        assert planned / 1.2 <= peak <= 1.2 * planned


def make_rows(n_samples, n_features, n_classes):
    random = np.random.default_rng(0)
    return random.random((n_samples, n_features)), random.permutation(np.arange(n_samples) % n_classes)


def assert_planned(action, asked, beside=frozenset()):
    """What an action takes is what it has asked for, within a fifth; ``beside`` is what NumPy does not allocate."""
    taken = peak_of(action)
    plan = max(asked, key=total)
    planned = total({use: n_bytes for use, n_bytes in plan.items() if use not in beside})
    assert planned / 1.2 <= taken <= 1.2 * planned, plan


@pytest.mark.parametrize("method", ["decision_function", "predict_proba", "predict_log_proba"])
@pytest.mark.parametrize("algorithm", CLASSIFIERS)
@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_answers_for_many_classes_take_what_is_planned(algorithm, method, dtype, asked):
    X, y = make_rows(600, 2, 200)
    model = CLASSIFIERS[algorithm](n_estimators=1).fit(X, y)
    del asked[:]
    rows = np.resize(X, (20_000, 2)).astype(dtype)
    assert_planned(lambda: getattr(model, method)(rows), asked)


@pytest.mark.filterwarnings("ignore:scoring")  # of labels that nothing can tell, all rounds are the same
@pytest.mark.parametrize("algorithm", CLASSIFIERS)
@pytest.mark.parametrize("scoring", [None, "g_mean", "neg_balanced_log_loss"])
def test_validation_takes_what_is_planned(algorithm, scoring, asked):
    X, y = make_rows(500, 2, 50)
    X_val, y_val = make_rows(10_000, 2, 50)
    model = make_booster(algorithm, n_estimators=2, max_depth=2, early_stopping=True, scoring=scoring)
    assert_planned(lambda: model.fit(X, y, X_val=X_val, y_val=y_val), asked, NATIVE)


@pytest.mark.filterwarnings("ignore:scoring")
@pytest.mark.parametrize("algorithm", CLASSIFIERS)
@pytest.mark.parametrize("scoring", [None, "neg_balanced_log_loss"])
def test_held_out_rows_take_what_is_planned(algorithm, scoring, asked):
    X, y = make_rows(20_000, 20, 30)
    early = {"early_stopping": True, "validation_fraction": 0.6, "scoring": scoring}
    model = make_booster(algorithm, n_estimators=2, max_depth=2, max_bins=20, **early)
    assert_planned(lambda: model.fit(X, y), asked, NATIVE)


def test_sparse_columns_take_what_is_planned(asked):
    X, _ = make_rows(10_000, 300, 2)
    X = csr_array(np.where(X > 0.5, X, 0.0))
    y = np.arange(10_000) % 3
    assert_planned(lambda: CoMBoClassifier(n_estimators=1, max_bins=5).fit(X, y), asked, NATIVE)


# The search for settings

SEARCHED = st.builds(SearchShape, st.integers(1, 5), st.integers(30, 10**6), st.integers(0, 10**6), tree_limits)


@given(SHAPES, tree_limits, SEARCHED)
def test_search_never_makes_a_fit_smaller(shape, limits, searched):
    plain = FitShape(*shape, 10 * shape[1], limits)
    assert total(replace(plain, searched=searched).peak()) >= total(plain.peak())
    assert plain.phases()["search"] == {}


@given(SHAPES, SEARCHED)
def test_search_holds_the_codes_of_its_parts_beside_those_of_the_table(shape, searched):
    uses = FitShape(*shape, searched=searched).phases()["search"]
    assert uses["codes"] == shape[0] * shape[1]
    assert uses["codes of the parts of a search"] == searched.n_copied * shape[1]
    assert uses["costs"] >= 2 * searched.n_samples * shape[2] * 8  # of two candidates


@pytest.mark.parametrize(
    ("n_samples", "parameters", "expected"),
    [
        (29, {}, None),
        (60, {}, (5, 5 * 60, 5 * 60)),
        (60, {"max_leaf_nodes": 4}, (5, 5 * 60, 5 * 60)),
        (60, {"smoothing": 3.0, "max_depth": 2}, None),
        (60, {"smoothing": 3.0, "max_leaf_nodes": 4}, None),
        (4_000, {}, (3, 3 * 4_000, 3 * 4_000)),
        (25_000, {}, (1, 25_000, 25_000)),
        (70_000, {}, (1, 50_300, 50_300)),
        (6_000, {"early_stopping": True}, (1, 6_000, 600)),
    ],
)
def test_search_is_planned_where_there_is_one(n_samples, parameters, expected, monkeypatch):
    shapes = []
    monkeypatch.setattr(FitShape, "check", lambda shape, _=None: shapes.append(shape))
    monkeypatch.setattr(search, "SEARCH_ROUNDS", 1)
    X, y = make_rows(n_samples, 2, 3)
    ConfusionBoostingClassifier(n_estimators=1, **parameters).fit(X, y)
    searched = shapes[0].searched
    assert (searched and (searched.n_parts, searched.n_samples, searched.n_copied)) == expected
    assert shapes[-1].searched is None  # the fit follows


def test_search_takes_what_is_planned(asked):
    X, y = make_rows(4_900, 300, 3)
    X = (10 * X).round()  # few bins: next to no histograms, which NumPy does not allocate
    assert_planned(lambda: ConfusionBoostingClassifier(n_estimators=1, smoothing=1.0).fit(X, y), asked, NATIVE_SEARCH)


def test_fit_is_refused_for_its_search(free):
    X, y = make_rows(4_000, 50, 3)
    given = ConfusionBoostingClassifier(n_estimators=2, smoothing=1.0, max_depth=5)
    limits = TreeLimits(5, n_trees=2, value_per_class=True)
    free(total(FitShape(4_000, 50, 3, 64 * 50, limits=limits, table=TableCopies(4_000, 50)).peak()))
    given.fit(X, y)
    with pytest.raises(MemoryError, match="A fit of 4000 rows"):
        given.set_params(smoothing="auto").fit(X, y)


def measures(n_classes):
    """Calls of all measures that take matrices of the classes."""
    y = np.arange(n_classes)
    scores = np.random.default_rng(0).random((n_classes, n_classes))
    of_labels = (
        error_confusion_matrix,
        confusion_norm_loss,
        confusion_norm_bound,
        error_rate_bound,
        recall_bounds,
        min_recall_bound,
        geometric_mean_bound,
        geometric_mean_score,
        min_recall_score,
        expected_cost_loss,
    )
    return {
        "mauc_score": lambda: mauc_score(y, scores, sample_weight=np.ones(n_classes)),
        **{measure.__name__: lambda measure=measure: measure(y, y) for measure in of_labels},
    }


@pytest.mark.parametrize("name", measures(2))
def test_measures_of_many_classes_take_what_is_planned(name, asked):
    assert_planned(measures(500)[name], asked)


# When a fit is refused


@given(SHAPES, st.integers(0, 2**60))
def test_fit_is_refused_where_it_takes_more_than_there_is(shape, n_bytes):
    shape = FitShape(*shape)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "available_memory", lambda: n_bytes)
        if total(shape.peak()) <= max(n_bytes, memory.NOT_WORTH_ASKING):
            shape.check()
        else:
            with pytest.raises(MemoryError):
                shape.check()


@given(SHAPES)
def test_nothing_is_refused_where_nobody_knows_what_there_is(shape):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "available_memory", lambda: None)
        FitShape(*shape).check()


@pytest.mark.parametrize(
    ("shape", "reason"),
    [
        (FitShape(10**9, 100, 3), "codes"),
        (FitShape(10**8, 2, 500), "costs"),
        (FitShape(10_000, 10**4, 30, 10**6), "histograms"),
        (FitShape(10, 1, 60_000), "matrices of classes"),
        (FitShape(10**5, 2, 500, limits=TreeLimits(10, n_trees=300, value_per_class=True)), "leaf values"),
    ],
)
def test_refusal_says_what_is_needed_what_for_what_there_is_and_what_to_do(shape, reason, free):
    free(GIB // 10)
    needed = shape.peak()
    with pytest.raises(MemoryError) as caught:
        shape.check()
    assert str(caught.value) == (
        f"A fit of {shape.n_samples} rows, {shape.n_features} features and {shape.n_classes} classes needs about "
        f"{total(needed) / GIB:.1f} GiB beside the input, {needed[reason] / GIB:.1f} of them for {reason}, and "
        "0.1 are free. Give fewer rows, features, classes or bins (max_bins), smaller trees (max_depth, "
        "max_leaf_nodes), fewer of them (n_estimators), or a machine with more memory."
    )


def many_rows(n_samples=10**6):
    """Rows that take no memory themselves."""
    return np.broadcast_to(np.ones(1), (n_samples, 1))


def wide_answers(model, X):
    """Calls of a fitted model whose answers are as wide as there are classes."""
    staged = ("staged_decision_function", "staged_predict", "staged_predict_proba")
    for name in staged:
        yield lambda name=name: next(getattr(model, name)(X))
    for name in ("decision_function", "predict_proba", "predict_log_proba"):
        yield lambda name=name: getattr(model, name)(X)


MODELS = {
    "confusion": lambda: ConfusionBoostingClassifier(n_estimators=1),
    "classes": lambda: CoMBoClassifier(n_estimators=1),
    "rows": lambda: AdaBoostMMClassifier(n_estimators=1),
    "AdaBoost.NC": lambda: AdaBoostNCClassifier(n_estimators=1),
    "SMOTEBoost": lambda: SMOTEBoostClassifier(n_estimators=1),
    "weak learner": lambda: CoMBoClassifier(n_estimators=1, estimator=GaussianNB()),
}


@pytest.mark.parametrize("name", MODELS)
def test_answers_that_are_too_large_are_refused_before_they_are_taken(name, free):
    model = MODELS[name]().fit(np.arange(12.0)[:, np.newaxis], np.arange(12) % 3)
    free(10**6)
    for call in wide_answers(model, many_rows()):

        def refused(call=call):
            with pytest.raises(
                MemoryError, match=r"A prediction for 1000000 rows and 3 classes needs .* Give fewer rows"
            ):
                call()

        assert peak_of(refused) < 10**6 * 3 * 8 / 4


def test_classes_alone_are_predicted_in_little_memory(free):
    model = CoMBoClassifier(n_estimators=1).fit(np.arange(12.0)[:, np.newaxis], np.arange(12) % 3)
    free(0)
    assert len(model.predict(many_rows(10**4))) == 10**4


@pytest.mark.parametrize("name", MODELS)
def test_every_fit_that_is_too_large_is_refused(name, free):
    free(10**6)
    with pytest.raises(MemoryError, match=r"of 100000 rows.* features and 3 classes needs"):
        MODELS[name]().fit(many_rows(10**5), np.arange(10**5) % 3)


@pytest.mark.parametrize("name", measures(2))
def test_measures_of_too_many_classes_are_refused_before_matrices_are_made(name, free):
    free(10**6)
    call = measures(1000)[name]

    def refused():
        with pytest.raises(MemoryError, match=r"A metric of 1000 classes needs .* Are these classes\?"):
            call()

    assert peak_of(refused) < 1000**2 * 8 / 4


@pytest.mark.parametrize("algorithm", CLASSIFIERS)
def test_fit_is_refused_for_the_rows_that_it_would_be_validated_on(algorithm, free):
    X, y = np.arange(12.0)[:, np.newaxis], np.arange(12) % 3
    free(2 * 10**7)
    model = make_booster(algorithm, n_estimators=1, early_stopping=True)
    with pytest.raises(MemoryError, match=r"validated on 1000000 rows, needs .* for scores of the validation rows"):
        model.fit(X, y, X_val=many_rows(), y_val=np.arange(10**6) % 3)
    assert not hasattr(model, "classes_")


def test_fit_is_refused_for_the_copy_of_a_sparse_table(free):
    X, y = csr_array(np.ones((4000, 1000))), np.arange(4000) % 3
    free(total(FitShape(4000, 1000, 3, 1000, table=TableCopies(4000, 1000, is_view=False)).peak()))
    CoMBoClassifier(n_estimators=1).fit(X.tocsc(), y)
    with pytest.raises(MemoryError, match="for the table by columns"):
        CoMBoClassifier(n_estimators=1).fit(X, y)


def test_trees_that_grew_too_large_end_the_fit_before_they_are_joined(free, monkeypatch):
    monkeypatch.setattr(learners, "LARGE_TREE", 0)
    monkeypatch.setattr(memory_plan, "check_room", lambda *_: None)
    free(20_000)
    model = CoMBoClassifier(n_estimators=50, max_depth=5)
    with pytest.raises(MemoryError, match=r"To join \d+ trees and to grow another one, a fit needs .* smaller trees"):
        model.fit(*make_rows(1000, 2, 3))
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize("algorithm", CLASSIFIERS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_refused_fit_has_taken_nothing_of_the_size_of_its_table(algorithm, dtype, free):
    free(10**6)
    n_samples, n_features = 100_000, 200
    X = np.broadcast_to(np.ones((), dtype=dtype), (n_samples, n_features))  # takes no memory itself
    y = np.arange(n_samples) % 3
    booster = CLASSIFIERS[algorithm]()

    def refused():
        with pytest.raises(MemoryError, match="100000 rows, 200 features and 3 classes"):
            booster.fit(X, y)

    # A byte for every value would be four times that.
    assert peak_of(refused) < n_samples * n_features / 4


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
    booster = make_booster(algorithm, n_estimators=3, max_depth=3)
    expected = model_bytes(booster.fit(X, y))
    limits = TreeLimits(3, n_trees=3, value_per_class=algorithm == "confusion")
    needed = total(FitShape(6, 2, 3, n_bins=12, limits=limits, table=TableCopies(6, 2)).peak())  # no value comes twice
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
    monkeypatch.setattr(scores, "KEPT_BYTES", 0)
    monkeypatch.setattr(scores, "BLOCK_BYTES", 2**20)
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
