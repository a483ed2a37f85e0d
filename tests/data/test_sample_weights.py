"""What weights may be: far apart, none for whole classes, the same for every row of a class, one number for all."""

import dataclasses
import pickle
import warnings

import numpy as np
import pytest
from boosters import Stage, all_bits, for_all, for_boosters, make_booster, make_named_rows
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from models import CLASSIFIERS, booster_for, fit, fit_reference, model_bytes
from sklearn.ensemble import BaggingClassifier
from sklearn.utils.class_weight import compute_sample_weight
from strategies import any_problems, problems, property_test

from comboost import AdaBoostMMClassifier, CoMBoClassifier, ConfusionBoostingClassifier
from comboost.datasets import load_yeast
from comboost.metrics import get_scorer

ROUNDING = 1 / 32  # of a loss, by what the page on exact arithmetic allows
CANCELS = "sample_weight is the same for all samples of a class"

#: Positive weights that span 84 decades, of rows or of whole classes.
FAR_APART = st.builds(lambda f, x: f * 2.0**x, st.floats(1, 2, exclude_max=True), st.integers(-140, 140))


@st.composite
def far_apart(draw, drawn):
    """Draw a problem with weights that may span any number of decades, class by class or row by row."""
    problem = draw(drawn)
    by_class = draw(st.booleans())
    weights = draw(hnp.arrays(np.float64, problem.n_classes if by_class else len(problem.y), elements=FAR_APART))
    return dataclasses.replace(problem, sample_weight=weights[problem.y] if by_class else weights)


# No silent wrong model


@property_test(problem=far_apart(any_problems(weighted=False)))
def test_whatever_the_weights_the_loss_exceeds_its_bound_only_in_a_first_round_that_says_rounding(problem):
    model = fit(problem)
    void = model.loss_curve_ > model.bound_curve_ * (1 + ROUNDING) + 1e-6
    assert not void[1:].any()
    assert not void[0] or (model.stop_reason_, model.n_iter_) == ("rounding", 1)


@property_test(problem=far_apart(any_problems(weighted=False)))
def test_whatever_the_weights_a_model_is_no_worse_than_its_first_round(problem):
    model = fit(problem)
    assert model.loss_curve_[-1] <= model.loss_curve_[0] * (1 + ROUNDING) + 1e-9


@property_test(problem=far_apart(problems(weighted=False, costed=False)))
def test_whatever_the_weights_a_perfect_learner_leaves_no_mistake_of_a_row_that_weighs_anything(problem):
    model = fit(problem)
    if model.stop_reason_ == "perfect_learner" and model.n_iter_ == 1:
        assert not model.train_confusion_.any()


@property_test(problem=far_apart(any_problems(weighted=False)))
def test_weights_far_apart_give_the_model_of_the_reference(problem):
    model, reference = fit(problem), fit_reference(problem)
    assert (model.stop_reason_, model.n_iter_) == (reference.stop_reason, len(reference.rounds))
    assert model.loss_curve_.tolist() == [kept.loss for kept in reference.rounds]


@pytest.mark.parametrize("heavy", [1e8, 1e9, 1e12, 1e30])
@for_all
def test_one_class_far_heavier_than_the_others_leaves_a_model_that_learns(algorithm, heavy):
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 2])
    smoothing = {"smoothing": 0.0} if algorithm == "confusion" else {}
    model = CLASSIFIERS[algorithm](max_depth=1, n_estimators=50, **smoothing).fit(X, y, [heavy, 1, 1])
    assert (model.loss_curve_ <= model.bound_curve_ * (1 + ROUNDING)).all()
    assert model.predict(X)[0] == 0
    if algorithm != "mm":
        assert model.predict(X).tolist() == [0, 1, 2]


@pytest.mark.parametrize("light", [1e-6, 1e-7, 1e-8, 1e-20])
def test_class_weights_cancel_in_combo_however_light_a_class_is(light):
    X, y = load_yeast(return_X_y=True)
    weights = np.where(np.isin(y, ["MIT", "VAC"]), light, 1.0)
    plain = CoMBoClassifier(n_estimators=5).fit(X, y)
    model = CoMBoClassifier(n_estimators=5).fit(X, y, weights)
    assert model.stop_reason_ == "n_estimators"
    np.testing.assert_allclose(model.loss_curve_, plain.loss_curve_, rtol=0.1)  # bins weigh rows, so trees may differ


@pytest.mark.parametrize("light", [1e-6, 1e-7, 1e-8])
@for_all
def test_light_classes_do_not_end_a_fit(algorithm, light):
    X, y = load_yeast(return_X_y=True)
    weights = np.where(np.isin(y, ["MIT", "VAC"]), light, 1.0)
    model = CLASSIFIERS[algorithm](n_estimators=20).fit(X, y, weights)
    assert (model.stop_reason_, model.n_iter_) == ("n_estimators", 20)
    assert model.classes_.tolist() == sorted(set(y))


# Classes without weight


@st.composite
def with_idle_classes(draw, drawn):
    """Draw a problem, and rows of more classes to put in among its classes, which are to have no weight."""
    problem = draw(drawn)
    names = draw(st.permutations(range(problem.n_classes + draw(st.integers(1, 2)))))
    idle = np.array(names[problem.n_classes :])
    used = np.sort(names[: problem.n_classes])
    return problem, used, idle


def fit_beside_idle(problem, used, idle):
    """The model of a problem whose rows stand beside rows of idle classes, and that of the problem alone."""
    n_classes = len(used) + len(idle)
    weights = np.ones(len(problem.y)) if problem.sample_weight is None else problem.sample_weight
    X = np.concatenate([problem.X, problem.X[: len(idle)]])
    costs = None
    if problem.cost_matrix is not None:
        costs = np.ones((n_classes, n_classes)) - np.eye(n_classes)
        costs[np.ix_(used, used)] = problem.cost_matrix
    booster = booster_for(problem, cost_matrix=costs)
    model = booster.fit(X, np.concatenate([used[problem.y], idle]), np.concatenate([weights, np.zeros(len(idle))]))
    return model, fit(dataclasses.replace(problem, sample_weight=weights))


@property_test(drawn=with_idle_classes(any_problems() | any_problems(missing=True, categories=True)))
def test_class_of_weight_zero_is_no_class_to_the_last_bit(drawn):
    problem, used, idle = drawn
    model, alone = fit_beside_idle(problem, used, idle)
    idle_rows = np.ix_(used, used)
    assert model.classes_.tolist() == sorted([*used, *idle])
    assert not model.train_confusion_[idle].any()
    assert not model.train_confusion_[:, idle].any()
    model.train_confusion_ = model.train_confusion_[idle_rows]
    assert model_bytes(model) == model_bytes(alone)


@property_test(drawn=with_idle_classes(any_problems()))
def test_class_of_weight_zero_is_never_voted_for(drawn):
    problem, used, idle = drawn
    model, alone = fit_beside_idle(problem, used, idle)
    X, n_classes = problem.X, len(used) + len(idle)
    np.testing.assert_array_equal(model.predict(X), used[alone.predict(X)])
    for method, fill in (("predict_proba", 0.0), ("predict_log_proba", -np.inf)):
        expected = np.full((len(X), n_classes), fill)
        expected[:, used] = getattr(alone, method)(X)
        np.testing.assert_array_equal(getattr(model, method)(X), expected)
    votes = model.decision_function(X)
    assert votes.shape == (len(X), n_classes)
    np.testing.assert_array_equal(model.classes_[votes.argmax(axis=1)], model.predict(X))
    for stage in (model.staged_predict, model.staged_predict_proba, model.staged_decision_function):
        *_, last = stage(X)
        np.testing.assert_array_equal(last, getattr(model, stage.__name__.removeprefix("staged_"))(X))


@for_boosters
def test_model_with_an_idle_class_is_pickled_exported_and_goes_on(algorithm, learner):
    X, y = make_named_rows(80, 0)
    weights = np.where(y == "elm", 0.0, 1.0)
    booster = make_booster(algorithm, learner, n_estimators=3, warm_start=True)
    model = booster.fit(X, y, weights)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), model.predict_proba(X))
    if learner == "tree":
        assert "elm" not in model.export_text(0)
    more = model.set_params(n_estimators=6).fit(X, y, weights)
    at_once = make_booster(algorithm, learner, n_estimators=6, warm_start=True).fit(X, y, weights)
    assert all_bits(more, X) == all_bits(at_once, X)
    again = more.set_params(warm_start=False).fit(X, y)
    assert all_bits(again, X) == all_bits(make_booster(algorithm, learner, n_estimators=6).fit(X, y), X)
    assert (again.predict_proba(X) > 0).all()


WORST_ROW = 52 * np.log(2)  # what a row costs in validation at most


@for_all
def test_validation_rows_of_an_idle_class_cost_the_most(algorithm):
    X, y, X_val, y_val = *make_named_rows(80, 0), *make_named_rows(50, 1)
    booster = make_booster(algorithm, n_estimators=6, early_stopping=True)
    model = booster.fit(X, y, y != "elm", X_val, y_val)
    rest = y_val != "elm"
    alone = make_booster(algorithm, n_estimators=6, early_stopping=True).fit(X, y, y != "elm", X_val[rest], y_val[rest])
    np.testing.assert_allclose(-model.validation_curve_, (2 * -alone.validation_curve_ + WORST_ROW) / 3, rtol=1e-6)


@pytest.mark.filterwarnings("ignore:scoring=")
@pytest.mark.parametrize("scoring", ["accuracy", "g_mean", "balanced_accuracy"])
@for_all
def test_validation_scores_are_those_of_the_stages_beside_an_idle_class(algorithm, scoring):
    X, y, X_val, y_val = *make_named_rows(80, 0), *make_named_rows(50, 1)
    model = make_booster(algorithm, n_estimators=6, early_stopping=True, scoring=scoring)
    model.fit(X, y, y != "elm", X_val, y_val)
    scorer, stages = get_scorer(scoring), model.staged_predict(X_val)
    expected = [scorer(Stage(model.classes_, elected), X_val, y_val) for elected in stages]
    assert model.validation_curve_[: model.n_iter_].tolist() == expected


@pytest.mark.filterwarnings("ignore:scoring=")
@for_all
def test_idle_class_is_not_held_out(algorithm):
    X, y = make_named_rows(80, 0)
    rest = y != "elm"
    for scoring in (None, "accuracy"):
        options = {"n_estimators": 6, "early_stopping": True, "scoring": scoring}
        model = make_booster(algorithm, **options).fit(X, y, rest)
        alone = make_booster(algorithm, **options).fit(X[rest], y[rest])
        np.testing.assert_allclose(model.validation_curve_, alone.validation_curve_)


def test_less_than_two_classes_with_weight_are_refused():
    X, y = make_named_rows(30, 0)
    with pytest.raises(ValueError, match=r"no weight to the class\(es\) \['ash', 'elm'\]"):
        CoMBoClassifier().fit(X, y, y == "fir")


def test_costs_that_only_idle_classes_have_are_refused():
    X, y = make_named_rows(30, 0)
    with pytest.raises(ValueError, match=r"zero for all mistakes among \['ash', 'fir'\]"):
        CoMBoClassifier(cost_matrix={"ash": 0, "elm": 1, "fir": 0}).fit(X, y, y != "elm")


def test_bags_of_yeast_whose_bootstraps_miss_a_class_are_fitted():
    X, y = load_yeast(return_X_y=True)
    weak = CoMBoClassifier(n_estimators=1, max_depth=1)
    bags = BaggingClassifier(weak, n_estimators=50, random_state=6).fit(X, y)
    shares = np.array([bag.predict_proba(X[:5]) for bag in bags.estimators_])
    assert (shares == 0).all(axis=1).sum() == 2  # in two bags the rarest class is missing
    np.testing.assert_allclose(bags.predict_proba(X[:5]), shares.mean(axis=0))


@pytest.mark.parametrize("name", ["sample_weight", "sample_weight_val"])
def test_class_of_next_to_no_weight_is_refused_and_not_forgotten(name):
    X, y = make_named_rows(60, 0)
    weights = np.where(y == "elm", 1e-120, 1.0)
    validation = {"X_val": X, "y_val": y} if name == "sample_weight_val" else {}
    with pytest.raises(ValueError, match=f"{name} gives next to no weight .*'elm'"):
        CoMBoClassifier(n_estimators=2, early_stopping=bool(validation)).fit(X, y, **validation, **{name: weights})


# Weights that only tell classes apart


@pytest.mark.parametrize("n_idle", [0, 5])
def test_weights_of_classes_that_cancel_are_told_once(n_idle):
    X, y = make_named_rows(60, 0)
    booster = CoMBoClassifier(n_estimators=2, early_stopping=True, refit=True)
    weights = compute_sample_weight("balanced", y)
    weights[:n_idle] = 0  # which are no rows
    with pytest.warns(UserWarning, match=CANCELS) as reported:
        booster.fit(X, y, weights)
    assert len(reported) == 1


@pytest.mark.parametrize("booster", [AdaBoostMMClassifier(), ConfusionBoostingClassifier()], ids=str)
def test_weights_of_classes_that_count_are_not_told(booster):
    X, y = make_named_rows(60, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        booster.set_params(n_estimators=2).fit(X, y, compute_sample_weight("balanced", y))


@pytest.mark.parametrize("weigh", [lambda y: np.ones(len(y)), lambda y: y != "elm", lambda y: 1.0 + np.arange(len(y))])
def test_weights_that_do_more_than_tell_classes_apart_are_not_told(weigh):
    X, y = make_named_rows(60, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CoMBoClassifier(n_estimators=2).fit(X, y, weigh(y))


# One number for all rows


@for_boosters
def test_a_number_is_the_weight_of_every_row(algorithm, learner):
    X, y = make_named_rows(60, 0)
    for weight in (2, 0.25, np.float32(3.0)):
        fits = []
        for given in (weight, np.full(len(y), float(weight))):
            booster = make_booster(algorithm, learner, n_estimators=3, early_stopping=True, scoring="accuracy")
            fits.append(all_bits(booster.fit(X, y, given), X))
            fits[-1] += all_bits(booster.fit(X, y, None, X, y, given), X)
        assert fits[0] == fits[1]


@pytest.mark.parametrize("weight", [0.0, -1.0, np.nan, np.inf])
def test_numbers_that_are_no_weights_are_refused(weight):
    X, y = make_named_rows(30, 0)
    with pytest.raises(ValueError, match="sample_weight"):
        CoMBoClassifier().fit(X, y, weight)
