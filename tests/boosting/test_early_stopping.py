"""Early stopping: which round is kept, on which rows it is judged, what a scorer sees, what is refused."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from boosters import (
    KINDS,
    NAMES,
    Stage,
    StopAfter,
    all_bits,
    best_round,
    for_all,
    for_boosters,
    for_kinds,
    learned_bits,
    make_booster,
    make_named_rows,
    needs_callbacks,
    share_of_right,
    unchanged,
)
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from models import CLASSIFIERS, booster_for
from scipy.sparse import csr_array, csr_matrix
from scipy.special import softmax
from sklearn.base import clone
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss, make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.utils.validation import check_is_fitted
from strategies import any_problems

from comboost import CoMBoClassifier
from comboost._boosting.monitor import NoCallback
from comboost.datasets import load_yeast
from comboost.metrics import balanced_log_loss, get_scorer, soft_confusion_matrix

COUNTED = ["neg_confusion_norm", "g_mean", "min_recall", "neg_expected_cost", "accuracy", "balanced_accuracy"]
EXACT = [None, "neg_confusion_norm", "neg_soft_confusion_norm", "g_mean", "min_recall"]
STILL = "does not distinguish them"
SCALES = {"combo": 0.5, "mm": 0.5, "confusion": 1.0}  # of the votes whose softmax is judged by default

# Of few rows, a score may well be the same after every round.
may_stand_still = pytest.mark.filterwarnings(f"ignore:.*{STILL}:UserWarning")

# Rows and models


@pytest.fixture(scope="module")
def rows():
    """X, y to train on and X, y to validate on."""
    return *make_named_rows(90, 0), *make_named_rows(60, 1)


def fit_early(rows, algorithm="combo", learner="tree", sample_weight_val=None, **parameters):
    X, y, X_val, y_val = rows
    booster = make_booster(algorithm, learner, early_stopping=True, **parameters)
    return booster.fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=sample_weight_val)


def stages_of(model, X):
    staged = model.staged_predict(X), model.staged_predict_proba(X), model.staged_decision_function(X)
    return [Stage(model.classes_, *said) for said in zip(*staged, strict=True)]


def losses_of(stages, y, algorithm="combo"):
    """What the votes of every stage lose: the default score, and what decides between equal ones."""
    scale = SCALES[algorithm]
    return [balanced_log_loss(y, softmax(scale * stage.votes, axis=1), labels=stage.classes) for stage in stages]


def follow(scores, losses, n_iter_no_change, tol):
    """Rounds tried and the best of them, as documented."""
    for tried in range(1, len(scores)):
        best = best_round(scores[:tried], losses[:tried], tol)
        if tried - best >= n_iter_no_change:
            return tried, best
    return len(scores), best_round(scores, losses, tol)


class Witness:
    """A scorer that records its arguments and returns given scores, or the number of the round."""

    def __init__(self, scores=None):
        self.scores = scores
        self.seen = []

    def __call__(self, estimator, X, y, sample_weight=None):
        self.seen.append((estimator, X, y, sample_weight))
        return len(self.seen) if self.scores is None else self.scores[len(self.seen) - 1]

    def __reduce__(self):
        raise TypeError("not pickled: a fingerprint of it, for a warm start, would be one of all models that it saw")


# Which round is kept


@for_boosters
@pytest.mark.parametrize("scoring", [None, "neg_log_loss"])
def test_kept_model_is_the_plain_fit_of_as_many_rounds(rows, algorithm, learner, scoring):
    model = fit_early(rows, algorithm, learner, scoring=scoring, n_estimators=80, n_iter_no_change=5)
    assert model.n_iter_ < len(model.validation_curve_)
    plain = make_booster(algorithm, learner, n_estimators=model.n_iter_).fit(*rows[:2])
    assert learned_bits(model, rows[0]) == learned_bits(plain, rows[0])


@may_stand_still
@given(problem=any_problems(missing=True, categories=True), data=st.data())
@settings(max_examples=20)
def test_kept_model_of_any_problem_is_the_plain_fit_of_as_many_rounds(problem, data):
    X_val, y_val, _ = data.draw(validation_rows(problem))
    patience = data.draw(st.integers(1, 5))
    booster = booster_for(problem, early_stopping=True, n_iter_no_change=patience)
    model = booster.fit(problem.X, problem.y, problem.sample_weight, X_val, y_val)
    plain = booster_for(problem, n_estimators=model.n_iter_).fit(problem.X, problem.y, problem.sample_weight)
    assert learned_bits(model, problem.X) == learned_bits(plain, problem.X)


@for_boosters
@pytest.mark.parametrize("weighted", [False, True])
def test_model_kept_of_rows_held_out_is_the_plain_fit_of_the_others(rows, algorithm, learner, weighted):
    X, y, *_ = rows
    weights = np.arange(len(y)) % 4 if weighted else None
    early = {"early_stopping": True, "validation_fraction": 0.3, "n_estimators": 30}
    model = make_booster(algorithm, learner, **early).fit(X, y, weights)
    held = np.isin(X[:, 0], held_out(make_booster(algorithm, learner, **early), X, y, weights)[:, 0])
    assert 0 < held.sum() < len(y)
    weights = None if weights is None else weights[~held]
    plain = make_booster(algorithm, learner, n_estimators=model.n_iter_).fit(X[~held], y[~held], weights)
    assert learned_bits(model, X) == learned_bits(plain, X)


def held_out(booster, X, y, sample_weight=None):
    """The rows that a booster validates on, as its scorer sees them."""
    witness = Witness()
    booster.set_params(scoring=witness, n_estimators=1).fit(X, y, sample_weight)
    return witness.seen[0][1]


@pytest.fixture(scope="module", params=KINDS, ids="-".join)
def staged_rounds(rows, request):
    """An algorithm and a weak learner, and the stages of its 15 rounds on the validation rows."""
    plain = make_booster(*request.param, n_estimators=15).fit(*rows[:2])
    assert plain.stop_reason_ == "n_estimators"
    return request.param, stages_of(plain, rows[2])


@may_stand_still
@given(
    scoring=st.sampled_from([None, "neg_confusion_norm", "accuracy", "neg_log_loss"]),
    n_iter_no_change=st.integers(1, 7),
    tol=st.sampled_from([0.0, 1e-7, 0.01, 0.1]),
)
@settings(max_examples=10)
def test_round_kept_is_the_best_by_brute_force(rows, staged_rounds, scoring, n_iter_no_change, tol):
    kind, stages = staged_rounds
    losses = losses_of(stages, rows[3], kind[0])
    scores = [
        -loss if scoring is None else get_scorer(scoring)(stage, *rows[2:])
        for stage, loss in zip(stages, losses, strict=True)
    ]
    n_tried, best = follow(np.round(scores, 12).tolist(), losses, n_iter_no_change, tol)
    patience = {"n_iter_no_change": n_iter_no_change, "tol": tol}
    model = fit_early(rows, *kind, n_estimators=15, scoring=scoring, **patience)
    assert (len(model.validation_curve_), model.n_iter_) == (n_tried, best)
    assert model.stop_reason_ == ("early_stopping" if n_tried < 15 else "n_estimators")


@pytest.fixture(scope="module")
def losses_of_stumps(rows):
    """What the votes lose on the validation rows after each of 15 rounds of stumps."""
    return losses_of(stages_of(make_booster(n_estimators=15, max_depth=1).fit(*rows[:2]), rows[2]), rows[3])


@may_stand_still
@given(
    curve=st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0, -1.0, float("-inf")]), min_size=1, max_size=15),
    n_iter_no_change=st.integers(1, 6),
    tol=st.sampled_from([0.0, 0.25, 0.3, 1.0]),
)
@settings(max_examples=30)
def test_rounds_end_when_none_is_better_by_more_than_the_tolerance(
    rows, losses_of_stumps, curve, n_iter_no_change, tol
):
    model = fit_early(
        rows, n_estimators=len(curve), scoring=Witness(curve), n_iter_no_change=n_iter_no_change, tol=tol, max_depth=1
    )
    n_tried, best = follow(curve, losses_of_stumps, n_iter_no_change, tol)
    assert model.validation_curve_.tolist() == curve[:n_tried]
    assert model.n_iter_ == best
    assert model.stop_reason_ == ("early_stopping" if n_tried < len(curve) else "n_estimators")


# Scores that stand still


@for_boosters
@pytest.mark.parametrize("score", [0.0, float("-inf")])
def test_score_that_is_always_the_same_leaves_the_choice_to_the_default_with_a_warning(rows, algorithm, learner, score):
    options = {"n_estimators": 60, "n_iter_no_change": 4}
    expected = fit_early(rows, algorithm, learner, **options)
    assert 1 < expected.n_iter_ < len(expected.validation_curve_) < 60
    message = rf"scoring=.*constant.* was {score:g} after each of the {len(expected.validation_curve_)} rounds,"
    with pytest.warns(UserWarning, match=message):
        model = fit_early(rows, algorithm, learner, scoring=constant(score), **options)
    assert learned_bits(model, rows[0]) == learned_bits(expected, rows[0])
    assert model.stop_reason_ == "early_stopping"
    assert set(model.validation_curve_) == {score}


def constant(score):
    """A scorer that likes all models the same."""

    def constant_scorer(estimator, X, y):
        return score

    return constant_scorer


def test_g_mean_of_a_class_that_is_never_recognised_does_not_keep_one_round_silently():
    X, y = load_yeast(return_X_y=True)
    booster = CoMBoClassifier(early_stopping=True, scoring="g_mean", random_state=1)
    with pytest.warns(UserWarning, match=r"scoring='g_mean' was 0 after each of the \d+ rounds, .* another scoring"):
        model = booster.fit(X, y)
    assert not model.validation_curve_.any()
    assert learned_bits(model) == learned_bits(booster.set_params(scoring=None).fit(X, y))


def test_score_that_moves_once_is_not_warned_of(rows):
    for scores in ([0.0] * 9 + [0.5], [0.5] * 9 + [0.0], [0.0]):
        fit_early(rows, scoring=Witness(scores), n_estimators=len(scores), n_iter_no_change=20)


# The curve


SCORINGS = {
    **{name: name for name in [*COUNTED, "mauc", "neg_log_loss", "f1_macro"]},
    "callable": share_of_right,
    "predictions": make_scorer(accuracy_score),
    "probabilities": make_scorer(log_loss, greater_is_better=False, response_method="predict_proba"),
    "confusion": make_scorer(lambda y, votes: float(votes.max()), response_method="decision_function"),
}


@pytest.mark.parametrize("name", SCORINGS)
def test_curve_holds_what_the_scorer_says_of_every_stage(rows, staged_rounds, name):
    kind, stages = staged_rounds
    model = fit_early(rows, *kind, scoring=SCORINGS[name], n_estimators=5, n_iter_no_change=5)
    scorer = get_scorer(SCORINGS[name])
    expected = [scorer(stage, *rows[2:]) for stage in stages[:5]]
    np.testing.assert_allclose(model.validation_curve_, expected, rtol=0, atol=1e-12 if name in COUNTED else 0)


@pytest.mark.parametrize("name", [*COUNTED, "mauc", "neg_log_loss"])
def test_curve_holds_what_the_scorer_says_of_weighted_rows(rows, staged_rounds, name):
    kind, stages = staged_rounds
    weights = np.random.default_rng(5).uniform(0.1, 3, size=len(rows[3]))
    options = {"scoring": name, "n_estimators": 5, "n_iter_no_change": 5, "sample_weight_val": weights}
    model = fit_early(rows, *kind, **options)
    expected = [get_scorer(name)(stage, *rows[2:], sample_weight=weights) for stage in stages[:5]]
    np.testing.assert_allclose(model.validation_curve_, expected, rtol=0, atol=1e-7 if name in COUNTED else 0)


@pytest.mark.parametrize(
    ("algorithm", "options", "loss"),
    [
        ("combo", {}, "exponential"),
        ("mm", {}, "exponential"),
        ("confusion", {"loss": "exponential"}, "exponential"),
        ("confusion", {"loss": "log"}, "logistic"),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("two_classes", [False, True])
def test_soft_confusion_norm_is_that_of_the_loss_of_the_fit(rows, algorithm, options, loss, weighted, two_classes):
    X, y, X_val, y_val = rows
    y, y_val = (y == "ash", y_val == "ash") if two_classes else (y, y_val)
    weights = np.random.default_rng(5).integers(0, 4, size=len(y_val)) if weighted else None
    model = fit_early(
        (X, y, X_val, y_val),
        algorithm,
        scoring="neg_soft_confusion_norm",
        n_estimators=5,
        n_iter_no_change=5,
        sample_weight_val=weights,
        **options,
    )
    plain = make_booster(algorithm, n_estimators=5, **options).fit(X, y)
    expected = [
        -np.linalg.norm(soft_confusion_matrix(y_val, scores, loss=loss, sample_weight=weights), 2)
        for scores in plain.staged_decision_function(X_val)
    ]
    np.testing.assert_allclose(model.validation_curve_, expected, rtol=1e-12)


class SoftConfusions(NoCallback):
    """Keeps the model of every round."""

    def __init__(self):
        self.models = []

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        if context.parent is not None:
            self.models.append(fitted_estimator)


@needs_callbacks
@for_kinds
def test_callbacks_read_the_soft_confusion_matrix_of_the_validation_set(rows, algorithm, learner):
    X, y, X_val, y_val = rows
    callback = SoftConfusions()
    booster = make_booster(algorithm, learner, early_stopping=True, n_estimators=5).set_callbacks(callback)
    model = booster.fit(X, y, X_val=X_val, y_val=y_val)
    assert len(callback.models) == len(model.validation_curve_)
    loss = "logistic" if getattr(model, "loss", None) == "log" else "exponential"
    for each in callback.models:
        expected = soft_confusion_matrix(y_val, each.decision_function(X_val), loss=loss, labels=model.classes_)
        assert each.validation_soft_confusion_.tobytes() == expected.tobytes()
        assert pickle.loads(pickle.dumps(each)).predict(X_val).tolist() == each.predict(X_val).tolist()
    assert not hasattr(model, "validation_soft_confusion_")


@needs_callbacks
def test_no_soft_confusion_matrix_without_a_validation_set(rows):
    callback = SoftConfusions()
    make_booster(n_estimators=2).set_callbacks(callback).fit(*rows[:2])
    assert not any(hasattr(model, "validation_soft_confusion_") for model in callback.models)


@for_all
def test_scoring_defaults_to_minus_the_balanced_log_loss_of_the_softmax_of_scaled_votes(rows, algorithm):
    model = fit_early(rows, algorithm, n_estimators=10)
    plain = make_booster(algorithm, n_estimators=10).fit(*rows[:2])
    expected = -np.array(losses_of(stages_of(plain, rows[2]), rows[3], algorithm))
    np.testing.assert_allclose(model.validation_curve_, expected, rtol=0, atol=2.0**-25)


@for_kinds
def test_default_score_counts_weights_as_copies_of_rows(rows, algorithm, learner):
    weights = np.random.default_rng(5).integers(1, 4, size=len(rows[3]))
    model = fit_early(rows, algorithm, learner, n_estimators=5, sample_weight_val=weights)
    twice = [np.repeat(part, weights, axis=0) for part in rows[2:]]
    expected = all_bits(fit_early((*rows[:2], *twice), algorithm, learner, n_estimators=5), rows[0])
    assert all_bits(model, rows[0]) == expected


def curves_of(model):
    """What a model has of every round; leaves that vote for every class have no weights of rounds."""
    names = ["estimator_weights_", "edges_", "loss_curve_", "bound_curve_"]
    return [getattr(model, name) for name in names if hasattr(model, name)]


@for_boosters
def test_curve_has_all_rounds_tried_and_the_rest_those_kept(rows, algorithm, learner):
    model = fit_early(rows, algorithm, learner, n_estimators=80, n_iter_no_change=3)
    assert model.stop_reason_ == "early_stopping"
    assert len(model.validation_curve_) == model.n_iter_ + 3
    for curve in curves_of(model):
        assert curve.shape == (model.n_iter_,)
    assert len(list(model.staged_predict(rows[2]))) == model.n_iter_
    if learner == "estimator":
        assert len(model.estimators_) == model.n_iter_


def test_only_early_stopping_has_a_curve(rows):
    model = fit_early(rows, n_estimators=3)
    assert hasattr(model, "validation_curve_")
    assert not hasattr(model.set_params(early_stopping=False).fit(*rows[:2]), "validation_curve_")


def test_last_round_that_learns_something_is_scored_too():
    X, y = np.array([[0.0], [0.0], [1.0], [2.0]]), ["a", "a", "b", "c"]
    model = CoMBoClassifier(early_stopping=True, scoring="neg_confusion_norm").fit(X, y, X_val=X, y_val=y)
    assert (model.stop_reason_, model.validation_curve_.tolist()) == ("perfect_learner", [0.0])


# All rows once more


@for_boosters
@pytest.mark.parametrize("weighted", [False, True])
def test_refit_is_the_plain_fit_of_all_rows_for_as_many_rounds(rows, algorithm, learner, weighted):
    X, y, *_ = rows
    weights = np.arange(len(y)) % 4 if weighted else None
    early = {"early_stopping": True, "validation_fraction": 0.3, "n_estimators": 60, "n_iter_no_change": 4}
    validated = make_booster(algorithm, learner, **early).fit(X, y, weights)
    model = make_booster(algorithm, learner, refit=True, **early).fit(X, y, weights)
    plain = make_booster(algorithm, learner, n_estimators=validated.n_iter_).fit(X, y, weights)
    assert validated.n_iter_ < len(validated.validation_curve_) < 60
    assert learned_bits(model, X) == learned_bits(plain, X) != learned_bits(validated, X)
    assert model.validation_curve_.tolist() == validated.validation_curve_.tolist()
    assert model.stop_reason_ == "early_stopping"


def test_refit_that_ends_by_itself_says_why():
    X, y = np.repeat(np.arange(6.0), 2)[:, np.newaxis], np.arange(12) % 2  # nothing to learn, unless rows are held out
    booster = make_booster(early_stopping=True, validation_fraction=0.2, scoring=Witness(), n_estimators=4)
    assert booster.fit(X, y).n_iter_ == 4
    model = booster.set_params(refit=True).fit(X, y)
    assert (len(model.validation_curve_), model.n_iter_, model.stop_reason_) == (4, 1, "no_edge")


@needs_callbacks
def test_callbacks_see_the_rounds_that_are_validated_and_may_end_them(rows):
    X, y, *_ = rows
    booster = make_booster(early_stopping=True, refit=True, scoring=Witness()).set_callbacks(StopAfter(3))
    model = booster.fit(X, y)
    assert (model.n_iter_, len(model.validation_curve_), model.stop_reason_) == (3, 3, "callback")
    assert learned_bits(model) == learned_bits(make_booster(n_estimators=3).fit(X, y))


# The rows held out


@given(
    sizes=st.lists(st.integers(1, 25), min_size=2, max_size=4),
    fraction=st.floats(0.01, 0.99),
    seed=st.integers(0, 2**31 - 1),
    kind=st.sampled_from(KINDS),
)
@settings(max_examples=20)
def test_every_class_validates_its_share_and_keeps_a_row(sizes, fraction, seed, kind):
    assume(max(sizes) > 1)
    y = np.repeat(np.arange(len(sizes)), sizes)
    X = np.arange(len(y), dtype=float)[:, np.newaxis]  # every row is its number
    witness = Witness()
    booster = make_booster(*kind, early_stopping=True, scoring=witness, n_estimators=1, random_state=seed)
    booster.set_params(validation_fraction=fraction).fit(X, y)
    _, X_held, y_held, _ = witness.seen[0]
    np.testing.assert_array_equal(y_held, y[X_held[:, 0].astype(int)])
    assert len(np.unique(X_held[:, 0])) == len(X_held)
    for size, n_held in zip(sizes, np.bincount(y_held, minlength=len(sizes)), strict=True):
        assert min(1, size - 1) <= n_held <= size - 1
        assert abs(n_held - fraction * size) <= 0.5 or n_held in (1, size - 1)
    assert booster.classes_.tolist() == list(range(len(sizes)))


@for_kinds
def test_rows_held_out_are_the_same_for_the_same_seed(rows, algorithm, learner):
    X, y, *_ = rows
    booster = make_booster(algorithm, learner, early_stopping=True, validation_fraction=0.2, n_estimators=20)
    assert learned_bits(booster.fit(X, y), X) == learned_bits(booster.fit(X, y), X)
    np.testing.assert_array_equal(held_out(booster, X, y), held_out(booster, X, y))


def test_rows_held_out_have_their_own_weights_and_those_without_weight_are_not_held_out(rows):
    X, y, *_ = rows
    weights = np.arange(len(y)) % 3 / 2
    witness = Witness()
    make_booster(early_stopping=True, validation_fraction=0.5, scoring=witness, n_estimators=1).fit(X, y, weights)
    _, X_held, y_held, held_weights = witness.seen[0]
    indices = [X[:, 0].tolist().index(value) for value in X_held[:, 0]]
    np.testing.assert_array_equal(held_weights, weights[indices])
    np.testing.assert_array_equal(y_held, y[indices])
    assert (held_weights > 0).all()


# The same bits


@st.composite
def validation_rows(draw, problem):
    """Draw rows of the problem, some of them changed, their classes, and integer weights."""
    indices = draw(st.lists(st.integers(0, len(problem.y) - 1), min_size=1, max_size=15))
    X = problem.X[indices]
    if draw(st.booleans()):
        X = X[:, draw(st.permutations(range(X.shape[1])))]  # values, and categories, that training has not seen there
    y = draw(st.lists(st.integers(0, problem.n_classes - 1), min_size=len(indices), max_size=len(indices)))
    weights = draw(st.lists(st.integers(0, 3), min_size=len(indices), max_size=len(indices)))
    return X, np.array(y), np.array(weights)


def as_frame(problem, X):
    """Rows of a problem as a frame that has a category dtype where it holds categories."""
    columns = {
        f"column {f}": pd.Categorical(X[:, f]) if f in problem.categorical else X[:, f] for f in range(X.shape[1])
    }
    return pd.DataFrame(columns)


def frame_booster(problem, **parameters):
    parameters = {"n_iter_no_change": 3, "categorical_features": "from_dtype"} | parameters
    return booster_for(problem, early_stopping=True, **parameters)


@may_stand_still
@pytest.mark.parametrize("scoring", EXACT)
@given(problem=any_problems(missing=True, categories=True), data=st.data())
@settings(max_examples=8)
def test_order_of_training_and_validation_rows_changes_no_bit(scoring, problem, data):
    X_val, y_val, weights_val = data.draw(validation_rows(problem))
    assume(weights_val.any())
    X, X_val = as_frame(problem, problem.X), as_frame(problem, X_val)
    order = np.array(data.draw(st.permutations(range(len(X)))))
    order_val = np.array(data.draw(st.permutations(range(len(X_val)))))
    weights = np.ones(len(X)) if problem.sample_weight is None else problem.sample_weight
    booster = frame_booster(problem, scoring=scoring)
    expected = all_bits(booster.fit(X, problem.y, weights, X_val, y_val, weights_val))
    validation = X_val.iloc[order_val], y_val[order_val], weights_val[order_val]
    model = booster.fit(X.iloc[order], problem.y[order], weights[order], *validation)
    assert all_bits(model) == expected


@may_stand_still
@pytest.mark.parametrize("scoring", EXACT)
@given(problem=any_problems(missing=True, categories=True, wide=False), data=st.data())
@settings(max_examples=8)
def test_weight_two_is_the_validation_row_twice_and_weight_zero_is_no_row(scoring, problem, data):
    X_val, y_val, times = data.draw(validation_rows(problem))
    assume(times.any())
    X, X_val = as_frame(problem, problem.X), as_frame(problem, X_val)
    booster = frame_booster(problem, scoring=scoring)
    weighted = all_bits(booster.fit(X, problem.y, problem.sample_weight, X_val, y_val, times))
    repeated = X_val.iloc[np.repeat(np.arange(len(X_val)), times)], np.repeat(y_val, times)
    assert all_bits(booster.fit(X, problem.y, problem.sample_weight, *repeated)) == weighted


@for_all
@pytest.mark.parametrize("scoring", EXACT)
def test_number_of_threads_changes_no_bit(algorithm, scoring):
    X, y = make_named_rows(6000, 2)
    X_val, y_val = make_named_rows(3000, 3)
    X[::7, 2] = X_val[::5, 2] = np.nan
    early = {"early_stopping": True, "scoring": scoring, "n_estimators": 8, "n_iter_no_change": 3}
    models = {
        all_bits(CLASSIFIERS[algorithm](n_jobs=n_jobs, **early).fit(X, y, X_val=X_val, y_val=y_val))
        for n_jobs in (1, 2, 7)
    }
    assert len(models) == 1


# What a scorer sees


def as_pandas(X):
    return pd.DataFrame(X, columns=list("abcd"))


CONTAINERS = {
    "array": np.asarray,
    "pandas": as_pandas,
    "polars": lambda X: pl.DataFrame(X, schema=list("abcd")),
    "arrow": lambda X: pa.table(dict(zip("abcd", X.T, strict=True))),
    "csr array": csr_array,
    "csr matrix": csr_matrix,
}
WITH_LEARNERS = [
    *(pytest.param(container, "tree", id=f"{container}-tree") for container in CONTAINERS),
    *(pytest.param(container, "estimator", id=f"{container}-estimator") for container in ["array", "pandas", "polars"]),
]


@pytest.mark.parametrize(("container", "learner"), WITH_LEARNERS)
def test_scorer_gets_the_validation_rows_as_they_came(rows, container, learner):
    X, y, X_val, y_val = rows
    witness, table = Witness(), CONTAINERS[container](X_val)
    weights = list(range(1, len(y_val) + 1))
    booster = make_booster(learner=learner, early_stopping=True, scoring=witness, n_estimators=3)
    booster.fit(CONTAINERS[container](X), y, X_val=table, y_val=y_val, sample_weight_val=weights)
    assert len(witness.seen) == 3
    for _, X_seen, y_seen, weights_seen in witness.seen:
        assert X_seen is table
        assert y_seen is y_val
        assert weights_seen is weights


@pytest.mark.parametrize(("container", "learner"), WITH_LEARNERS)
def test_scorer_gets_rows_held_out_in_the_container_of_the_others(rows, container, learner):
    table = CONTAINERS[container](rows[0])
    booster = make_booster(learner=learner, early_stopping=True)
    held = held_out(booster, table, rows[1])
    assert type(held) is type(table)
    if container == "pandas":
        pd.testing.assert_frame_equal(held, table.loc[held.index])


@for_kinds
def test_scorer_gets_a_model_of_the_rounds_so_far(rows, algorithm, learner):
    X, y, X_val, y_val = rows
    reported = []

    def listen(estimator, X, y):
        other = X.copy()  # of which the model knows nothing yet
        reported.append((estimator.n_iter_, estimator.predict(X), estimator.predict(other), estimator.predict_proba(X)))
        return len(reported)

    named = as_pandas(X), y, as_pandas(X_val), y_val
    model = fit_early(named, algorithm, learner, scoring=listen, n_estimators=5)
    for t, stage in enumerate(stages_of(model, as_pandas(X_val))):
        n_iter, elected, elected_again, shares = reported[t]
        assert n_iter == t + 1
        np.testing.assert_array_equal(elected, stage.elected)
        np.testing.assert_array_equal(elected_again, stage.elected)
        np.testing.assert_array_equal(shares, stage.shares)


def test_subclass_is_scored_by_what_it_answers_itself(rows):
    class Stubborn(CoMBoClassifier):
        def predict(self, X):
            return np.full(len(X), self.classes_[0])

    X, y, X_val, y_val = rows
    booster = Stubborn(early_stopping=True, scoring=share_of_right, n_estimators=3)
    with pytest.warns(UserWarning, match=STILL):
        model = booster.fit(X, y, X_val=X_val, y_val=y_val)
    assert set(model.validation_curve_) == {float((y_val == model.classes_[0]).mean())}


@for_kinds
def test_model_that_a_scorer_keeps_stays_as_it_was(rows, algorithm, learner):
    witness = Witness(range(5))
    model = fit_early(rows, algorithm, learner, scoring=witness, n_estimators=5)
    for (kept, X_val, *_), stage in zip(witness.seen, stages_of(model, rows[2]), strict=True):
        np.testing.assert_array_equal(kept.decision_function(X_val), stage.votes)


def answers_of(model, *tables):
    """All that a scorer may ask a fitted model, in bytes."""
    check_is_fitted(model)
    asked = model.predict, model.predict_proba, model.predict_log_proba, model.decision_function
    said = model.classes_, model.feature_importances_, *curves_of(model), *(ask(X) for ask in asked for X in tables)
    return model.n_iter_, [array.tobytes() for array in said]


class Inquirer:
    """A scorer that asks a model, a pickle of it and a clone of it, which is refitted, the same questions."""

    def __init__(self, rows, fit):
        self.rows = rows
        self.fit = fit
        self.answers = []

    def __call__(self, model, X_val, y_val):
        n_rounds = len(self.answers) + 1
        tables = X_val, self.rows[0], X_val[:1].copy()
        refitted = self.fit(clone(model).set_params(early_stopping=False, scoring=None, n_estimators=n_rounds))
        asked = model, pickle.loads(pickle.dumps(model)), refitted
        self.answers.append([answers_of(each, *tables) for each in asked])
        self.params = model.get_params()
        return n_rounds  # every round is better than the one before

    def __reduce__(self):
        return str, ("a scorer",)  # what a pickle of the model holds instead


@for_kinds
@pytest.mark.parametrize("two_classes", [False, True])
def test_model_that_a_scorer_gets_answers_as_one_refitted_with_as_many_rounds(rows, algorithm, learner, two_classes):
    X, y, X_val, y_val = rows
    y, y_val = (y == "ash", y_val == "ash") if two_classes else (y, y_val)
    inquirer = Inquirer(rows, lambda booster: booster.fit(X, y))
    booster = make_booster(algorithm, learner, early_stopping=True, scoring=inquirer, n_estimators=4)
    if two_classes:
        booster.set_params(**({"priors": "training"} if algorithm == "confusion" else {"proba": "vote_fraction"}))
    booster.fit(X, y, X_val=X_val, y_val=y_val)
    assert len(inquirer.answers) == 4
    for of_model, of_pickle, of_refitted in inquirer.answers:
        assert of_model == of_pickle == of_refitted
    assert inquirer.params == booster.get_params()


# What is refused


def with_entry(X, value):
    changed = X.copy()
    changed[-1, 0] = value
    return changed


def give_validation(X, y, X_val, y_val):
    return {"X": X, "y": y, "X_val": X_val, "y_val": y_val}


def give_rows(X, y, X_val, y_val):
    return {"X": X, "y": y}


EARLY = {"early_stopping": True}
REFUSED = {
    "X_val without y_val": (EARLY, lambda *rows: give_rows(*rows) | {"X_val": rows[2]}, "must be given together"),
    "y_val without X_val": (EARLY, lambda *rows: give_rows(*rows) | {"y_val": rows[3]}, "must be given together"),
    "weights without X_val": (
        EARLY,
        lambda *rows: give_rows(*rows) | {"sample_weight_val": np.ones(60)},
        "must be given together",
    ),
    "X_val without early stopping": ({}, give_validation, "X_val would be ignored"),
    "refit beside X_val": (EARLY | {"refit": True}, give_validation, "refit=True would be ignored, since X_val"),
    "refit beside a warm start": (
        EARLY | {"refit": True, "warm_start": True},
        give_rows,
        "refit=True trains the rounds on all samples",
    ),
    "refit of no type": (EARLY | {"refit": 1}, give_rows, "refit=1; give True or False"),
    "fraction beside X_val": (EARLY | {"validation_fraction": 0.2}, give_validation, "validation_fraction=0.2 would"),
    "unknown scoring": (EARLY | {"scoring": "beauty"}, give_validation, "'beauty' is not a scorer"),
    "scoring of no type": (EARLY | {"scoring": 7}, give_validation, "scoring=7"),
    "fraction of all": (EARLY | {"validation_fraction": 1.0}, give_rows, r"a number in \(0, 1\)"),
    "no patience": (EARLY | {"n_iter_no_change": 0}, give_rows, "at least 1"),
    "negative tolerance": (EARLY | {"tol": -1.0}, give_rows, "tol=-1.0"),
    "NaN for a score": (
        EARLY | {"scoring": lambda model, *_: float("nan") if model.n_iter_ == 2 else 0.5},
        give_validation,
        "returned NaN",
    ),
    "text for a score": (EARLY | {"scoring": lambda *_: "good"}, give_validation, "returned a str"),
    "unknown class": (
        EARLY,
        lambda *rows: give_validation(*rows) | {"y_val": np.where(rows[3] == "fir", "oak", rows[3])},
        r"y_val holds the class\(es\) \['oak'\]",
    ),
    "classes of another type": (
        EARLY,
        lambda *rows: give_validation(*rows) | {"y_val": np.zeros(60, dtype=int)},
        r"y_val holds the class\(es\) \[0\]",
    ),
    "fewer labels": (EARLY, lambda *rows: give_validation(*rows) | {"y_val": rows[3][1:]}, "y_val has 59"),
    "fewer weights": (
        EARLY,
        lambda *rows: give_validation(*rows) | {"sample_weight_val": np.ones(59)},
        "sample_weight_val has 59",
    ),
    "negative weights": (
        EARLY,
        lambda *rows: give_validation(*rows) | {"sample_weight_val": -np.ones(60)},
        "sample_weight_val holds the negative weight",
    ),
    "no weights but zeros": (
        EARLY,
        lambda *rows: give_validation(*rows) | {"sample_weight_val": np.zeros(60)},
        "zero in sample_weight_val",
    ),
    "single rows": (EARLY, lambda *rows: {"X": rows[0][:3], "y": NAMES}, "Every class has a single row"),
    "infinity": (EARLY, lambda *rows: give_validation(*rows) | {"X_val": with_entry(rows[2], np.inf)}, "infinity"),
    "infinity held out": (
        EARLY | {"validation_fraction": 0.99},
        lambda *rows: {"X": with_entry(rows[0], np.inf), "y": rows[1]},
        "infinity",
    ),
    "no rows": (EARLY, lambda *rows: give_validation(*rows) | {"X_val": rows[2][:0], "y_val": rows[3][:0]}, "0 sample"),
    "fewer features": (EARLY, lambda *rows: give_validation(*rows) | {"X_val": rows[2][:, :3]}, "3 features"),
    "other names": (
        EARLY,
        lambda X, y, X_val, y_val: {
            "X": as_pandas(X),
            "y": y,
            "X_val": as_pandas(X_val).rename(columns={"a": "z"}),
            "y_val": y_val,
        },
        "feature names",
    ),
}


@for_kinds
@pytest.mark.parametrize("fitted", [False, True], ids=["new", "fitted"])
@pytest.mark.parametrize("name", REFUSED)
def test_refusal_says_why_and_leaves_the_estimator_as_it_was(rows, name, fitted, algorithm, learner):
    parameters, give, message = REFUSED[name]
    booster = make_booster(algorithm, learner, n_estimators=4)
    if fitted:
        booster.fit(*rows[:2])
    booster.set_params(**parameters)
    with unchanged(booster), pytest.raises(ValueError, match=message):
        booster.fit(**give(*rows))


OPTIONS = {"scoring": "accuracy", "validation_fraction": 0.2, "n_iter_no_change": 5, "tol": 0.1, "refit": True}


@for_kinds
def test_parameters_of_early_stopping_play_no_part_without_it(rows, algorithm, learner):
    X, y, *_ = rows
    model, plain = (make_booster(algorithm, learner, n_estimators=4, **options) for options in (OPTIONS, {}))
    assert all_bits(model.fit(X, y), X) == all_bits(plain.fit(X, y), X)
    model.set_params(warm_start=True, n_iter_no_change=7, n_estimators=6).fit(X, y)
    assert all_bits(model, X) == all_bits(plain.set_params(n_estimators=6).fit(X, y), X)


def test_a_search_over_early_stopping_and_its_parameters_loses_no_candidate(rows):
    grid = {
        "early_stopping": [False, True],
        "n_iter_no_change": [2, 3],
        "refit": [False, True],
        "scoring": ["accuracy"],
    }
    search = GridSearchCV(make_booster(n_estimators=3), grid, cv=2, error_score="raise").fit(*rows[:2])
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_scorer_that_takes_no_weights_is_refused_only_with_weights(rows):
    fit_early(rows, scoring=share_of_right, n_estimators=1)
    with pytest.raises(ValueError, match="takes no sample_weight"):
        fit_early(rows, scoring=share_of_right, n_estimators=2, sample_weight_val=np.ones(60))


def test_make_scorer_with_probabilities_finds_the_best_round(rows):
    X, y, X_val, y_val = rows
    brier = make_scorer(brier_score_loss, greater_is_better=False, response_method="predict_proba", pos_label="elm")
    two = [part[truth != "fir"] for part, truth in ((X, y), (y, y), (X_val, y_val), (y_val, y_val))]
    model = fit_early(two, scoring=brier, n_estimators=20, n_iter_no_change=20)
    plain = make_booster(n_estimators=20).fit(*two[:2])
    scores = [brier(stage, *two[2:]) for stage in stages_of(plain, two[2])]
    assert model.n_iter_ == np.argmax(scores) + 1
