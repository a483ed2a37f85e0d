"""Warm starts: some rounds and then more are the same model as all of them at once, or are refused with a reason."""

import pickle
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from boosters import (
    SELF_ENDING,
    StopAfter,
    all_bits,
    as_validation,
    for_all,
    for_boosters,
    for_both,
    for_kinds,
    like_all,
    make_booster,
    make_rows,
    share_of_right,
    unchanged,
)
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from models import CLASSIFIERS, booster_for
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.tree import DecisionTreeClassifier
from strategies import any_problems

from comboost import CoMBoClassifier
from comboost._boosting.monitor import NoCallback
from comboost._boosting.warm_start import digest_rows

ANSWERS = {"priors", "calibration", "calibration_folds", "reject_cost", "reject_label"}  # what is made of votes
ANSWERS_OF = {"combo": ANSWERS | {"proba"}, "confusion": ANSWERS}
BY_COSTS = {"decision"}  # is free without costs
FREE = {"n_estimators", "n_jobs", "verbose", "warm_start"}

# Of few rounds, and of few rows to validate on, a score may well be the same after every round.
may_stand_still = pytest.mark.filterwarnings("ignore:.*does not distinguish them:UserWarning")


# Rows and models


@pytest.fixture(scope="module")
def table():
    return make_rows(90, 0)


@pytest.fixture(scope="module")
def validation():
    return as_validation(make_rows(60, 1))


def fit_in_steps(booster, steps, *rows, between=lambda model: model, **validation):
    """Fit up to one number of rounds after the other; ``between`` says what happens to the model meanwhile."""
    booster.set_params(warm_start=True)
    for step, n_estimators in enumerate(steps):
        booster = booster if step == 0 else between(booster)
        booster.set_params(n_estimators=n_estimators).fit(*rows, **validation)
    return booster


@contextmanager
def refused(booster, message):
    """Expect a refusal that leaves the estimator as it was."""
    with unchanged(booster), pytest.raises(ValueError, match=message):
        yield


# Steps and at once


@st.composite
def steps_of(draw, problem):
    """Draw one to three numbers of rounds, ascending; the last is that of the problem."""
    n_estimators = problem.settings["n_estimators"]
    return [*sorted(draw(st.lists(st.integers(1, n_estimators), max_size=2))), n_estimators]


@given(problem=any_problems() | any_problems(missing=True, categories=True), data=st.data())
@settings(max_examples=50)
def test_rounds_in_steps_are_the_model_of_all_at_once(problem, data):
    rows = problem.X, problem.y, problem.sample_weight
    model = fit_in_steps(booster_for(problem), data.draw(steps_of(problem)), *rows)
    assert all_bits(model, problem.X) == all_bits(booster_for(problem).fit(*rows), problem.X)


@may_stand_still
@given(problem=any_problems(missing=True, categories=True), data=st.data())
@settings(max_examples=30)
def test_rounds_in_steps_keep_the_best_round_of_all_at_once(problem, data):
    indices = data.draw(st.lists(st.integers(0, len(problem.y) - 1), min_size=1, max_size=12))
    y_val = data.draw(st.lists(st.integers(0, problem.n_classes - 1), min_size=len(indices), max_size=len(indices)))
    validation = {"X_val": problem.X[indices], "y_val": y_val}
    early = {"early_stopping": True, "n_iter_no_change": data.draw(st.integers(1, 4))}
    rows = problem.X, problem.y, problem.sample_weight
    model = fit_in_steps(booster_for(problem, **early), data.draw(steps_of(problem)), *rows, **validation)
    assert all_bits(model, problem.X) == all_bits(booster_for(problem, **early).fit(*rows, **validation), problem.X)


@may_stand_still
@given(problem=any_problems(missing=True, categories=True, wide=False), data=st.data())
@settings(max_examples=30)
def test_rounds_in_steps_hold_out_the_rows_of_all_at_once(problem, data):
    counted = problem.y if problem.sample_weight is None else problem.y[problem.sample_weight > 0]
    assume(np.bincount(counted).max() > 1)
    early = {"early_stopping": True, "n_iter_no_change": data.draw(st.integers(1, 4)), "validation_fraction": 0.3}
    rows = problem.X, problem.y, problem.sample_weight
    model = fit_in_steps(booster_for(problem, **early), data.draw(steps_of(problem)), *rows)
    assert all_bits(model, problem.X) == all_bits(booster_for(problem, **early).fit(*rows), problem.X)


SETTINGS = {
    "plain": {},
    "random features": {"max_features": 1},
    "exact steps": {"step": "exact", "learning_rate": 0.5},
    "array of costs": {"cost_matrix": np.array([1.0, 2.0, 5.0])},
    "frame of costs": {"cost_matrix": pd.DataFrame(3 - np.eye(3) * 3, index=range(3), columns=range(3))},
    "dict of costs": {"cost_matrix": {0: 1, 1: 2, 2: 7}},
    "list of categories": {"categorical_features": [3]},
    "early stopping": {"early_stopping": True},
    "named scoring": {"early_stopping": True, "scoring": "neg_log_loss", "n_iter_no_change": 2},
    "own scoring": {"early_stopping": True, "scoring": share_of_right},
    "made scoring": {"early_stopping": True, "scoring": make_scorer(accuracy_score)},
    "scoring that stands still": {"early_stopping": True, "scoring": like_all, "n_iter_no_change": 3},
}
FOR_ESTIMATORS = [name for name in SETTINGS if name not in ("random features", "list of categories")]
SETTINGS_OF_VOTES = {name: given for name, given in SETTINGS.items() if "step" not in given} | {
    "best leaf first": {"max_leaf_nodes": 5},
    "exponential loss": {"loss": "exponential", "learning_rate": 0.5},
    "nothing drawn": {"max_thresholds": None, "noise": 0.0},
}


def small_categories(X):
    """The table with a last column that can be categories."""
    return np.column_stack([X[:, :3], np.digitize(X[:, 3], [-1, 0, 1])])


@may_stand_still
@for_both
@pytest.mark.parametrize(
    ("learner", "name"), [*(("tree", name) for name in SETTINGS), *(("estimator", name) for name in FOR_ESTIMATORS)]
)
def test_rounds_after_a_pickle_are_those_without(table, algorithm, learner, name):
    assert_pickle_changes_nothing(table, algorithm, learner, SETTINGS[name])


@may_stand_still
@pytest.mark.parametrize("name", SETTINGS_OF_VOTES)
def test_rounds_of_leaf_values_after_a_pickle_are_those_without(table, name):
    assert_pickle_changes_nothing(table, "confusion", "tree", SETTINGS_OF_VOTES[name])


def assert_pickle_changes_nothing(table, algorithm, learner, parameters):
    X, y = small_categories(table[0]), table[1]
    model = fit_in_steps(
        make_booster(algorithm, learner, **parameters),
        [2, 5, 9],
        X,
        y,
        between=lambda model: pickle.loads(pickle.dumps(model)),
    )
    expected = make_booster(algorithm, learner, **parameters, n_estimators=9).fit(X, y)
    assert all_bits(model, X) == all_bits(expected, X)


@for_boosters
@pytest.mark.parametrize("early_stopping", [False, True])
def test_rounds_in_steps_are_those_at_once_for_any_learner(table, validation, algorithm, learner, early_stopping):
    given_rows = validation if early_stopping else {}
    booster = make_booster(algorithm, learner, early_stopping=early_stopping)
    model = fit_in_steps(booster, [3, 4, 4, 15], *table, **given_rows)
    fresh = make_booster(algorithm, learner, early_stopping=early_stopping, n_estimators=15)
    assert all_bits(model, table[0]) == all_bits(fresh.fit(*table, **given_rows), table[0])


@for_all
def test_random_features_go_on_from_the_seed_that_the_first_fit_drew(table, algorithm):
    states = np.random.RandomState(7), np.random.RandomState(7)
    model = fit_in_steps(make_booster(algorithm, max_features=1, random_state=states[0]), [3, 8], *table)
    fresh = make_booster(algorithm, max_features=1, random_state=states[1], n_estimators=8).fit(*table)
    assert all_bits(model, table[0]) == all_bits(fresh, table[0])


@for_all
def test_rounds_of_an_unknown_seed_stay_as_they_are(table, algorithm):
    model = make_booster(algorithm, max_features=1, random_state=None, warm_start=True, n_estimators=3).fit(*table)
    first = [stage.tobytes() for stage in model.staged_decision_function(table[0])]
    model.set_params(n_estimators=8).fit(*table)
    assert [stage.tobytes() for stage in model.staged_decision_function(table[0])][:3] == first


@for_all
def test_first_fit_with_warm_start_is_a_fit(table, algorithm):
    expected = all_bits(make_booster(algorithm, n_estimators=3).fit(*table), table[0])
    assert all_bits(make_booster(algorithm, n_estimators=3, warm_start=True).fit(*table), table[0]) == expected


@for_boosters
def test_second_fit_without_warm_start_is_a_fresh_fit(table, algorithm, learner):
    other = make_rows(50, 7)
    booster = make_booster(algorithm, learner, n_estimators=5)
    expected = all_bits(make_booster(algorithm, learner, n_estimators=5).fit(*other), other[0])
    assert all_bits(booster.fit(*table).fit(*other), other[0]) == expected
    again = booster.set_params(n_estimators=2).fit(*other)
    assert all_bits(again, other[0]) == all_bits(make_booster(algorithm, learner, n_estimators=2).fit(*other), other[0])


@for_all
def test_order_of_the_rows_may_change(table, algorithm):
    X, y = table
    model = make_booster(algorithm, warm_start=True, n_estimators=3).fit(X, y)
    model.set_params(n_estimators=8).fit(X[::-1], y[::-1])
    assert all_bits(model, X) == all_bits(make_booster(algorithm, n_estimators=8).fit(X, y), X)


# Why the first fit ended


ENDINGS = SELF_ENDING | {
    "n_estimators": (*make_rows(90, 0), None, {"n_estimators": 5}),
    "early_stopping": (*make_rows(90, 0), None, {"early_stopping": True, "n_iter_no_change": 2}),
}


#: What makes votes for every class end, too; a perfect tree does not.
ENDING_VOTES = {
    reason: {"loss": "exponential", "smoothing": 0.0, "learning_rate": 1.0} if reason in SELF_ENDING else {}
    for reason in ENDINGS
    if reason != "perfect_learner"
}


@pytest.mark.parametrize(
    ("algorithm", "reason"),
    [*(("combo", reason) for reason in ENDINGS), *(("confusion", reason) for reason in ENDING_VOTES)],
)
@pytest.mark.parametrize("n_more", [0, 1, 20])
def test_fit_goes_on_or_stays_whatever_ended_it(algorithm, reason, n_more):
    X, y, weights, parameters = ENDINGS[reason]
    if algorithm == "confusion":
        parameters = parameters | ENDING_VOTES[reason]
    model = make_booster(algorithm, **parameters, warm_start=True).fit(X, y, weights)
    assert model.stop_reason_ == reason
    more = parameters | {"n_estimators": model.n_estimators + n_more}
    model.set_params(**more).fit(X, y, weights)
    expected = make_booster(algorithm, **more).fit(X, y, weights)
    assert all_bits(model, X) == all_bits(expected, X)


@for_kinds
def test_fit_goes_on_where_a_callback_ended_it(table, algorithm, learner):
    model = make_booster(algorithm, learner, n_estimators=9, warm_start=True).set_callbacks(StopAfter(3)).fit(*table)
    assert (model.stop_reason_, model.n_iter_) == ("callback", 3)
    model.set_callbacks().fit(*table)
    expected = make_booster(algorithm, learner, n_estimators=9).fit(*table)
    assert model.stop_reason_ == expected.stop_reason_
    assert all_bits(model, table[0]) == all_bits(expected, table[0])


@for_all
def test_fewer_rounds_than_were_tried_but_not_than_were_kept_are_those_at_once(table, validation, algorithm):
    model = make_booster(algorithm, early_stopping=True, warm_start=True).fit(*table, **validation)
    assert model.stop_reason_ == "early_stopping"
    fewer = model.n_iter_ + 2
    expected = make_booster(algorithm, early_stopping=True, n_estimators=fewer).fit(*table, **validation)
    model.set_params(n_estimators=fewer).fit(*table, **validation)
    assert model.stop_reason_ == expected.stop_reason_
    assert all_bits(model, table[0]) == all_bits(expected, table[0])


# What may change


@for_kinds
def test_threads_printing_and_probabilities_may_change(table, algorithm, learner, capsys):
    model = make_booster(algorithm, learner, n_estimators=3, warm_start=True).fit(*table)
    other = {"priors": "training"} if algorithm == "confusion" else {"proba": "vote_fraction"}
    model.set_params(n_estimators=8, n_jobs=2, verbose=1, **other).fit(*table)
    expected = make_booster(algorithm, learner, n_estimators=8, **other).fit(*table)
    assert all_bits(model, table[0]) == all_bits(expected, table[0])
    np.testing.assert_array_equal(model.predict_proba(table[0]), expected.predict_proba(table[0]))
    assert "8/8" in capsys.readouterr().out


@for_kinds
def test_a_warm_start_may_be_switched_on_after_the_first_fit(table, algorithm, learner):
    model = make_booster(algorithm, learner, n_estimators=3).fit(*table)
    model.set_params(warm_start=True, n_estimators=8).fit(*table)
    assert all_bits(model, table[0]) == all_bits(make_booster(algorithm, learner, n_estimators=8).fit(*table), table[0])


CHANGES = {
    "learning_rate": 0.5,
    "max_depth": 2,
    "min_samples_leaf": 2,
    "min_weight_fraction_leaf": 0.01,
    "max_features": 2,
    "max_bins": 20,
    "categorical_features": None,
    "cost_matrix": [1, 2, 3],
    "norm": "worst-class",
    "early_stopping": False,
    "scoring": "accuracy",
    "validation_fraction": 0.3,
    "n_iter_no_change": 3,
    "tol": 0.1,
    "random_state": 1,
}
CHANGES_OF = {
    "combo": CHANGES | {"criterion": "cost", "step": "exact", "estimator": DecisionTreeClassifier(max_depth=3)},
    "confusion": CHANGES
    | {"max_leaf_nodes": 4, "loss": "exponential", "smoothing": 2.0, "balance": 0.5, "max_thresholds": 3, "noise": 0.5},
}


@pytest.mark.parametrize("algorithm", CHANGES_OF)
def test_every_parameter_is_either_free_or_refused(algorithm):
    never = {"refit"}  # goes with no warm start at all
    known = CHANGES_OF[algorithm].keys() | FREE | ANSWERS_OF[algorithm] | BY_COSTS | never
    assert known == CLASSIFIERS[algorithm]().get_params(deep=False).keys()


@pytest.mark.parametrize(
    ("algorithm", "name"), [(algorithm, name) for algorithm, changes in CHANGES_OF.items() for name in changes]
)
def test_changed_parameter_is_refused_by_name(table, algorithm, name):
    model = make_booster(algorithm, early_stopping=True, warm_start=True, n_estimators=3).fit(*table)
    model.set_params(**{name: CHANGES_OF[algorithm][name]}, n_estimators=6)
    with refused(model, f"warm_start: {name} changed"):
        model.fit(*table)


@pytest.mark.parametrize("other", [None, DecisionTreeClassifier(max_depth=3)], ids=["tree", "estimator"])
def test_changed_weak_learner_is_refused_by_name(table, other):
    model = make_booster(learner="estimator", warm_start=True, n_estimators=3).fit(*table)
    model.set_params(estimator=other, n_estimators=6)
    with refused(model, "warm_start: estimator changed"):
        model.fit(*table)


def test_parameter_of_the_weak_learner_that_changed_is_refused(table):
    weak = DecisionTreeClassifier(max_depth=2)
    model = CoMBoClassifier(estimator=weak, warm_start=True, n_estimators=3).fit(*table)
    model.set_params(estimator__max_depth=1, n_estimators=6)
    with refused(model, "warm_start: estimator changed"):
        model.fit(*table)


def test_costs_changed_in_place_are_refused(table):
    costs = np.array([1.0, 2.0, 3.0])
    model = make_booster(cost_matrix=costs, warm_start=True, n_estimators=3).fit(*table)
    costs[1] = 5.0
    with refused(model.set_params(n_estimators=6), "warm_start: cost_matrix changed"):
        model.fit(*table)


def test_all_changed_parameters_are_named(table):
    model = make_booster(warm_start=True, n_estimators=3).fit(*table)
    model.set_params(step="exact", max_bins=9, n_estimators=6)
    with refused(model, "warm_start: max_bins, step changed"):
        model.fit(*table)


@for_kinds
def test_fewer_rounds_than_there_are_are_refused(table, algorithm, learner):
    model = make_booster(algorithm, learner, warm_start=True, n_estimators=5).fit(*table)
    with refused(model.set_params(n_estimators=4), "n_estimators=4, but the model already has 5 rounds"):
        model.fit(*table)


def as_frame(X, names="abcd"):
    return pd.DataFrame(X, columns=list(names))


OTHER_SHAPES = {
    "fewer rows": (lambda X, y: (X[:-1], y[:-1]), "X has 89 rows now and had 90"),
    "more rows": (lambda X, y: (np.repeat(X, 2, axis=0), np.repeat(y, 2)), "X has 180 rows now and had 90"),
    "fewer features": (lambda X, y: (X.iloc[:, :3], y), "feature names"),
    "fewer classes": (lambda X, y: (X, np.minimum(y, 1)), r"the classes are \[0, 1\] now and were \[0, 1, 2\]"),
    "other classes": (lambda X, y: (X, y + 1), r"the classes are \[1, 2, 3\] now"),
    "other names": (lambda X, y: (as_frame(X.to_numpy(), "abcz"), y), "feature names"),
    "other order of names": (lambda X, y: (X[["b", "a", "c", "d"]], y), "feature names"),
}


@for_kinds
@pytest.mark.parametrize("name", OTHER_SHAPES)
def test_other_shape_is_refused(table, algorithm, learner, name):
    change, message = OTHER_SHAPES[name]
    X, y = as_frame(table[0]), table[1]
    model = make_booster(algorithm, learner, warm_start=True, n_estimators=3).fit(X, y)
    X, y = change(X, y)
    X = as_frame(X) if isinstance(X, np.ndarray) else X
    with refused(model.set_params(n_estimators=6), message):
        model.fit(X, y)


def test_fewer_features_without_names_are_refused(table):
    model = make_booster(warm_start=True, n_estimators=3).fit(*table)
    with refused(model.set_params(n_estimators=6), r"3 features.*4 features"):
        model.fit(table[0][:, :3], table[1])


@st.composite
def binned_rows(draw):
    """Draw codes, labels and weights of a few rows."""
    n_features, n_samples = draw(st.integers(1, 4)), draw(st.integers(1, 8))
    shapes = {np.uint8: (n_features, n_samples), np.uint16: n_samples, np.uint32: n_samples}
    return [draw(hnp.arrays(dtype, shape)) for dtype, shape in shapes.items()]


# Other values. A warm start on them would be neither the old model nor a model of the new rows.


def with_column(X, f, column):
    changed = X.copy()
    changed[:, f] = column
    return changed


def rolled_in_classes(column, y):
    """A column in another order, with the same values in every class."""
    rolled = column.copy()
    for label in np.unique(y):
        rolled[y == label] = np.roll(column[y == label], 1)
    return rolled


OTHER_VALUES = {
    "a column in another order": lambda X, y: (with_column(X, 0, X[::-1, 0]), y, None),
    "values of another scale": lambda X, y: (2 * X, y, None),
    "values of another sample": lambda X, y: (X + 1, y, None),
    "a column that no round looked at": lambda X, y: (with_column(X, 3, X[::-1, 3]), y, None),
    "a column in another order within each class": lambda X, y: (
        with_column(X, 3, rolled_in_classes(X[:, 3], y)),
        y,
        None,
    ),
    "other labels": lambda X, y: (X, y[::-1], None),
    "weights": lambda X, y: (X, y, 1.0 + np.arange(len(y)) % 2),
}


@for_kinds
@pytest.mark.parametrize("name", OTHER_VALUES)
def test_other_values_of_the_same_shape_are_refused(table, algorithm, learner, name):
    X, y = table
    X = with_column(X, 3, np.random.default_rng(3).permutation(len(X)) // 45)  # of little use
    parameters = {"max_depth": 1} if learner == "tree" else {"estimator": DecisionTreeClassifier(max_depth=1)}
    model = make_booster(algorithm, **parameters, n_estimators=2).fit(X, y)
    assert model.feature_importances_[3] == 0
    with refused(model.set_params(n_estimators=6, warm_start=True), "give the same rows"):
        model.fit(*OTHER_VALUES[name](X, y))


def test_weights_of_rows_that_no_round_told_apart_are_refused_in_another_order():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [1.0, 1.0]])
    y, weights = np.array([0, 0, 1, 1, 0]), np.array([1.0, 2.0, 3.0, 3.0, 1.0])
    model = make_booster(max_depth=1, warm_start=True, n_estimators=1).fit(X, y, weights)
    assert model.feature_importances_[1] == 0
    with refused(model.set_params(n_estimators=3), "give the same rows"):
        model.fit(X, y, weights[[1, 0, 2, 3, 4]])


@given(problem=binned_rows(), data=st.data())
def test_digest_of_rows_is_the_same_in_any_order_and_parts_and_no_other_for_any_other_entry(problem, data):
    codes, labels, weights = problem
    n_samples = len(labels)
    whole = digest_rows(codes, labels, weights)
    order = np.array(data.draw(st.permutations(range(n_samples))))
    first, rest = np.split(order, [data.draw(st.integers(0, n_samples))])
    parts = [digest_rows(codes[:, part], labels[part], weights[part]) for part in (first, rest)]
    assert parts[0].joined(parts[1]) == whole

    changed = [part.copy() for part in problem]
    entries = changed[data.draw(st.integers(0, 2))]
    index = tuple(data.draw(st.integers(0, size - 1)) for size in entries.shape)
    entries[index] ^= data.draw(st.integers(1, 100))
    assert digest_rows(*changed) != whole


def test_other_values_are_refused_after_a_fit_that_cannot_go_on():
    X, y, *_ = ENDINGS["perfect_learner"]
    model = make_booster(warm_start=True, n_estimators=3).fit(X, y)
    with refused(model.set_params(n_estimators=6), "give the same rows"):
        model.fit(X[::-1], y)


@for_all
def test_other_validation_rows_are_refused(table, validation, algorithm):
    early = {"early_stopping": True, "n_iter_no_change": 30, "n_estimators": 30}
    model = make_booster(algorithm, **early, warm_start=True).fit(*table, **validation)
    few = {name: part[:5] for name, part in validation.items()}
    with refused(model.set_params(n_estimators=40), "the same"):
        model.fit(*table, **few)


# What cannot be read is refused as in any fit


BAD_ROWS = {
    "infinity": (lambda X, y: {"X": with_column(X, 0, np.inf), "y": y}, "infinity"),
    "negative weights": (lambda X, y: {"X": X, "y": y, "sample_weight": -np.ones(len(y))}, "negative"),
    "fewer labels": (lambda X, y: {"X": X, "y": y[1:]}, "inconsistent"),
    "one class": (lambda X, y: {"X": X, "y": np.zeros(len(y))}, "only one class"),
    "X_val": (lambda X, y: {"X": X, "y": y, "X_val": X, "y_val": y}, "X_val would be ignored"),
}


@for_kinds
@pytest.mark.parametrize("name", BAD_ROWS)
def test_bad_rows_leave_the_model_as_it_was(table, algorithm, learner, name):
    spoil, message = BAD_ROWS[name]
    model = make_booster(algorithm, learner, warm_start=True, n_estimators=3).fit(*table)
    with refused(model.set_params(n_estimators=6), message):
        model.fit(**spoil(*table))
    model.fit(*table)
    assert all_bits(model, table[0]) == all_bits(make_booster(algorithm, learner, n_estimators=6).fit(*table), table[0])


@for_kinds
def test_failed_round_leaves_the_model_as_it_was(table, algorithm, learner):
    class Failure(NoCallback):
        def on_fit_task_end(self, estimator, context):
            raise ArithmeticError("stop here")

    model = make_booster(algorithm, learner, warm_start=True, n_estimators=3).fit(*table)
    expected = all_bits(model, table[0])
    model.set_params(n_estimators=6).set_callbacks(Failure())
    with pytest.raises(ArithmeticError, match="stop here"):
        model.fit(*table)
    assert all_bits(model, table[0]) == expected
    assert model.n_iter_ == 3
