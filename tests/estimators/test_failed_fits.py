"""Fits that fail, and fits that are under way: the estimator has its old model, or none, until a fit has succeeded."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from boosters import all_bits, as_validation, for_all, for_kinds, make_booster, make_rows, unchanged
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state

from comboost._boosting.monitor import HOOKS, NoCallback
from comboost._estimators.base import state_hash
from comboost.baselines import AdaBoostNCClassifier, SMOTEBoostClassifier


@pytest.fixture(scope="module")
def table():
    return make_rows(60, 0)


class Listener(NoCallback):
    """A callback that hears of everything in one place."""

    def setup(self, estimator, context):
        self.hear("setup", context)

    def on_fit_task_begin(self, estimator, context):
        self.hear("on_fit_task_begin", context)

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.hear("on_fit_task_end", context)

    def teardown(self, estimator, context):
        self.hear("teardown", context)


class Failing(Listener):
    """A callback that fails in one of its hooks, at one of the tasks."""

    def __init__(self, hook, task, error):
        self.hook = hook
        self.task = task
        self.error = error

    def hear(self, hook, context):
        if (hook, context.task_name) == (self.hook, self.task):
            raise self.error("not today")


class FailingScorer:
    """A scorer that fails in one of the rounds."""

    def __init__(self, n_rounds, error):
        self.n_rounds = n_rounds
        self.error = error

    def __call__(self, model, X, y):
        model.predict(X[:1])  # a fitted copy is made for that
        if model.n_iter_ == self.n_rounds:
            raise self.error("not today")
        return 0.0


class FailingLearner(DecisionTreeClassifier):
    """A weak learner that fails once rows of one class weigh unequally: in one of the later rounds."""

    def fit(self, X, y, sample_weight=None):
        if len(np.unique(sample_weight)) > len(np.unique(y)):
            raise ArithmeticError("no tree today")
        return super().fit(X, y, sample_weight)


BAD_ROWS = {
    "one class": lambda X, y: (X, np.zeros(len(y))),
    "missing classes": lambda X, y: (X, np.where(y == 0, np.nan, y)),
    "fewer labels": lambda X, y: (X, y[1:]),
    "infinity": lambda X, y: (np.where(X.max() == X, np.inf, X), y),
    "negative weights": lambda X, y: (X, y, -np.ones(len(y))),
    "one row of every class": lambda X, y: (X[:3], y[:3]),
}
TASKS = [(hook, "fit") for hook in HOOKS]
TASKS += [(f"on_fit_task_{place}", f"round {number}") for place in ("begin", "end") for number in (1, 3)]


def assert_fails(model, error, *rows):
    with unchanged(model), pytest.raises(error):
        model.fit(*rows)


@pytest.fixture(params=["new", "fitted", "warm"])
def make_model(request, table):
    """Makes boosters that are new, that have a model, or that have one and go on from it."""

    def make(algorithm, learner="tree", **parameters):
        booster = make_booster(algorithm, learner, early_stopping=True, n_estimators=2, **parameters)
        booster.set_params(warm_start=request.param == "warm")
        return booster if request.param == "new" else booster.fit(*table)

    return make


@for_kinds
@pytest.mark.parametrize("name", BAD_ROWS)
def test_rows_that_cannot_be_read_leave_the_very_same_objects(make_model, table, algorithm, learner, name):
    assert_fails(make_model(algorithm, learner), ValueError, *BAD_ROWS[name](*table))


@for_kinds
@pytest.mark.parametrize(("hook", "task"), TASKS)
def test_callback_that_fails_leaves_the_very_same_objects(make_model, table, algorithm, learner, hook, task):
    model = make_model(algorithm, learner).set_params(n_estimators=4)
    if task == "round 1" and hasattr(model, "n_iter_") and model.warm_start:
        task = f"round {model.n_iter_ + 1}"
    assert_fails(model.set_callbacks(Failing(hook, task, ArithmeticError)), ArithmeticError, *table)


@for_kinds
def test_interrupt_in_a_round_leaves_the_very_same_objects(make_model, table, algorithm, learner):
    model = make_model(algorithm, learner).set_params(n_estimators=4)
    model.set_callbacks(Failing("on_fit_task_end", "round 3", KeyboardInterrupt))
    assert_fails(model, KeyboardInterrupt, *table)


@for_kinds
@pytest.mark.parametrize("error", [ArithmeticError, KeyboardInterrupt])
@pytest.mark.parametrize("n_rounds", [1, 3])
def test_scorer_that_fails_leaves_the_very_same_objects(table, algorithm, learner, error, n_rounds):
    model = make_booster(algorithm, learner, n_estimators=4).fit(*table)
    model.set_params(early_stopping=True, scoring=FailingScorer(n_rounds, error))
    assert_fails(model, error, *table)


@pytest.mark.parametrize("fitted", [False, True])
def test_weak_learner_that_fails_in_a_later_round_leaves_the_very_same_objects(table, fitted):
    model = make_booster(n_estimators=5)
    if fitted:
        model.fit(*table)
    assert_fails(model.set_params(estimator=FailingLearner(max_depth=2)), ArithmeticError, *table)


@for_all
def test_fit_after_a_failure_is_a_fit(make_model, table, algorithm):
    model = make_model(algorithm).set_params(n_estimators=4)
    model.set_callbacks(Failing("on_fit_task_end", "round 3", ArithmeticError))
    assert_fails(model, ArithmeticError, *table)
    expected = make_booster(algorithm, early_stopping=True, n_estimators=4).fit(*table)
    assert all_bits(model.set_callbacks().fit(*table)) == all_bits(expected)


# What a fit draws from


def drawn_from(seed, n_draws):
    """A random state from which a fit has drawn so often."""
    random = np.random.RandomState(seed)
    random.randint(np.iinfo(np.int32).max, size=n_draws)
    return random


@for_kinds
@pytest.mark.parametrize("refit", [False, True])
def test_fit_that_fails_at_its_end_leaves_its_random_state(table, algorithm, learner, refit):
    random = np.random.RandomState(5)
    model = make_booster(algorithm, learner, n_estimators=3, early_stopping=True, refit=refit, random_state=random)
    model.set_callbacks(Failing("teardown", "fit", ArithmeticError))
    assert_fails(model, ArithmeticError, *table)
    assert state_hash(random) == state_hash(drawn_from(5, 0))


@pytest.mark.parametrize("booster", [AdaBoostNCClassifier, SMOTEBoostClassifier])
def test_fit_of_a_baseline_that_fails_leaves_its_random_state(table, booster):
    random = np.random.RandomState(5)
    assert_fails(booster(random_state=random), ValueError, *BAD_ROWS["one class"](*table))
    assert state_hash(random) == state_hash(drawn_from(5, 0))
    booster(n_estimators=2, random_state=random).fit(*table)
    assert state_hash(random) == state_hash(drawn_from(5, 1))


@for_kinds
@pytest.mark.parametrize("refit", [False, True])
def test_fit_moves_its_random_state_on_and_keeps_it(table, algorithm, learner, refit):
    random = np.random.RandomState(5)
    model = make_booster(algorithm, learner, n_estimators=3, early_stopping=True, refit=refit, random_state=random)
    model.fit(*table)
    assert model.random_state is random
    assert state_hash(random) == state_hash(drawn_from(5, 2 if refit else 1))


@for_all
def test_warm_start_draws_nothing(table, algorithm):
    random = np.random.RandomState(5)
    model = make_booster(algorithm, n_estimators=2, warm_start=True, random_state=random).fit(*table)
    model.set_params(n_estimators=4).fit(*table)
    assert state_hash(random) == state_hash(drawn_from(5, 1))


@for_all
def test_numbers_that_a_scorer_draws_meanwhile_do_not_come_again(table, algorithm):
    random = np.random.RandomState(5)
    drawn = []

    def score(model, X, y):
        drawn.append(random.randint(1000))
        return model.n_iter_

    make_booster(algorithm, n_estimators=3, early_stopping=True, scoring=score, random_state=random).fit(*table)
    assert len(drawn) > 0
    expected = np.random.RandomState(5).randint(1000, size=len(drawn) + 1).tolist()
    assert [*drawn, random.randint(1000)] == expected


@for_all
def test_fits_draw_from_the_state_that_numpy_shares_at_once(table, algorithm):
    before = state_hash(check_random_state(None))
    heard = Questions(lambda: state_hash(check_random_state(None)))
    make_booster(algorithm, n_estimators=1, random_state=None).set_callbacks(heard).fit(*table)
    assert before not in heard.answers


# While a fit is under way


class Questions(Listener):
    """A callback, and a scorer, that asks something in another thread whenever it hears of the fit."""

    def __init__(self, ask):
        self.ask = ask
        self.answers = []

    def hear(self, *_):
        with ThreadPoolExecutor(1) as thread:
            self.answers.append(thread.submit(self.ask).result())

    def __call__(self, model, X, y):
        self.hear()
        return model.n_iter_  # every round is better than the one before


@for_kinds
@pytest.mark.parametrize("warm_start", [False, True])
def test_other_threads_are_answered_by_the_old_model_until_fit_returns(table, algorithm, learner, warm_start):
    validation = as_validation(make_rows(20, 1))
    model = make_booster(algorithm, learner, early_stopping=True, n_estimators=3, warm_start=warm_start)
    questions = Questions(lambda: hasattr(model, "n_iter_") and all_bits(model, table[0]))
    model.set_params(scoring=questions).fit(*table, **validation)
    assert not any(questions.answers)
    old = questions.ask()
    questions.answers.clear()
    model.set_params(n_estimators=6).set_callbacks(questions).fit(*table, **validation)
    assert len(questions.answers) > 2 * 3  # rounds, each of them heard of more than once
    assert set(questions.answers) == {old}
    assert model.n_iter_ == 6
