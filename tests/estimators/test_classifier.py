"""The estimators as users meet them: bad input, reasons to stop, other weak learners, the tools of the field."""

import inspect
import pickle
import re
from fractions import Fraction
from itertools import pairwise

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from models import ALGORITHMS, model_bytes
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from comboost import CoMBoClassifier
from comboost._boosting.learners import count_features
from comboost._estimators.parameters import HINTS
from comboost.datasets import load_yeast

NAMES = np.array(["rare", "common", "middling"])


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(3)
    y = np.repeat([0, 1, 2], [10, 110, 40])
    X = random.normal(size=(160, 4))
    X[:, 0] += y
    X[:, 1] -= 2 * (y == 0)
    return X, y


# Bad input


def with_entry(array, value):
    changed = np.array(array, dtype=float)
    changed.flat[0] = value
    return changed


BAD_CALLS = {
    "one class": (lambda X, y: (X, np.zeros(len(X))), "only one class"),
    "no rows": (lambda X, y: (X[:0], y[:0]), "0 sample"),
    "no features": (lambda X, y: (X[:, :0], y), "0 feature"),
    "1-D X": (lambda X, y: (X[:, 0], y), "2D array"),
    "inf in X": (lambda X, y: (with_entry(X, np.inf), y), "infinity"),
    "NaN in y": (lambda X, y: (X, with_entry(y, np.nan)), "y contains NaN"),
    "inf in y": (lambda X, y: (X, with_entry(y, np.inf)), "y contains infinity"),
    "continuous y": (lambda X, y: (X, y + 0.5 * X[:, 0]), "continuous"),
    "mixed y": (lambda X, y: (X, ["a", 1] * 80), "80 of type str .*80 of type int"),
    "None in y": (lambda X, y: (X, np.array(["a", None] * 80, dtype=object)), "80 missing labels"),
    "fewer labels": (lambda X, y: (X, y[:-1]), "inconsistent"),
    "text in X": (
        lambda X, y: (np.where(np.arange(len(X))[:, np.newaxis] == 0, "x", X.astype(object)), y),
        "could not convert|not convertible|numeric|holds numbers, but also 'x'",
    ),
    "NA in y": (lambda X, y: (X, pd.Series(["a", None] * 80, dtype="string")), "80 missing labels"),
    "fewer weights": (lambda X, y: (X, y, np.ones(3)), "inconsistent"),
    "2-D weights": (lambda X, y: (X, y, np.ones((len(X), 2))), "one weight per row"),
    "NaN in weights": (lambda X, y: (X, y, with_entry(np.ones(len(X)), np.nan)), "sample_weight contains NaN"),
    "inf in weights": (lambda X, y: (X, y, with_entry(np.ones(len(X)), np.inf)), "sample_weight contains infinity"),
    "negative weights": (lambda X, y: (X, y, with_entry(np.ones(len(X)), -1)), "negative weight"),
    "zero weights": (lambda X, y: (X, y, np.zeros(len(X))), "sample weight is zero"),
    "one class with weight": (lambda X, y: (X, y, y == 0), r"no weight to the class\(es\) \[1, 2\]"),
    "one class with weight, others next to none": (
        lambda X, y: (X, y, np.where(y == 0, 1, 1e-300)),
        r"class\(es\) \[1, 2\]",
    ),
}


@pytest.mark.parametrize("name", BAD_CALLS)
@pytest.mark.parametrize("estimator", [None, GaussianNB()], ids=["tree", "estimator"])
def test_bad_input_says_what_is_wrong_and_leaves_nothing_behind(table, name, estimator):
    spoil, message = BAD_CALLS[name]
    booster = CoMBoClassifier(n_estimators=2, estimator=estimator)
    with pytest.raises(ValueError, match=message):
        booster.fit(*spoil(*table))
    assert vars(booster).keys() == booster.get_params(deep=False).keys()


BAD_PARAMETERS = [
    ("n_estimators", 0, "an integer from 1 to 2147483647"),
    ("n_estimators", 2.0, "an integer from 1 to 2147483647"),
    ("n_estimators", True, "an integer from 1 to 2147483647"),
    ("learning_rate", 0, r"a number in \(0, 1\]"),
    ("learning_rate", 1.5, r"a number in \(0, 1\]"),
    ("learning_rate", float("nan"), r"a number in \(0, 1\]"),
    ("max_depth", 0, "an integer of at least 1, or None"),
    ("criterion", "entropy", "'gini' or 'cost'"),
    ("min_samples_leaf", 0, "an integer from 1"),
    ("min_samples_leaf", 0.1, "an integer from 1"),
    ("min_weight_fraction_leaf", 0.6, r"a number in \[0, 0.5\]"),
    ("max_features", 0, "an integer of at least 1"),
    ("max_features", "all", "'sqrt' or 'log2'"),
    ("max_features", 5, "X has 4 features"),
    ("max_bins", 1, "an integer from 2 to 255"),
    ("max_bins", 256, "an integer from 2 to 255"),
    ("step", "long", "'edge' or 'exact'"),
    ("proba", "sure", "'softmax' or 'vote_fraction'"),
    ("n_jobs", "all", "an integer"),
    ("n_jobs", 0, "n_jobs"),
    ("cost_matrix", np.ones((2, 2)), r"shape \(2, 2\)"),
    ("cost_matrix", {0: 1, 1: 2}, "every class exactly once"),
    ("random_state", "seed", "seed"),
    ("estimator", LinearRegression(), "takes sample_weight"),
    ("estimator", KNeighborsClassifier(), "takes sample_weight"),
    ("estimator", 7, "takes sample_weight"),
]


@pytest.mark.parametrize(("name", "value", "message"), BAD_PARAMETERS)
def test_bad_parameter_says_what_to_give(table, name, value, message):
    booster = CoMBoClassifier(**{name: value})
    with pytest.raises(ValueError, match=message):
        booster.fit(*table)
    assert not hasattr(booster, "n_features_in_")


ELSEWHERE = {
    "class_weight": ("balanced", "give cost_matrix, one cost per true class"),
    "max_iter": (3, "give n_estimators"),
    "eval_set": ([], "give X_val and y_val to fit, with early_stopping=True"),
}


@pytest.mark.parametrize("name", ELSEWHERE)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_name_that_other_libraries_use_is_refused_by_the_public_class_with_the_name_used_here(table, algorithm, name):
    value, hint = ELSEWHERE[name]
    public = ALGORITHMS[algorithm]
    for called, call in (
        (public.__name__, lambda: public(**{name: value})),
        (f"{public.__name__}.fit", lambda: public().fit(*table, **{name: value})),
    ):
        with pytest.raises(TypeError) as caught:
            call()
        assert str(caught.value).startswith(f"{called} got an unexpected keyword argument '{name}'; for {name}, {hint}")


@pytest.mark.parametrize("name", HINTS)
def test_every_hint_is_for_a_name_that_is_unknown_and_says_one_that_is_known(name):
    known = CoMBoClassifier().get_params().keys() | inspect.signature(CoMBoClassifier.fit).parameters.keys()
    assert name not in known
    assert known & set(re.findall(r"\w+", HINTS[name]))


def test_all_unknown_names_are_said_and_none_without_a_hint_gets_one(table):
    with pytest.raises(TypeError, match=r"^CoMBoClassifier got an unexpected keyword argument 'foo'\.$"):
        CoMBoClassifier(foo=1)
    with pytest.raises(TypeError, match=r"argument 'foo', 'max_iter'; for max_iter, give n_estimators\.$"):
        CoMBoClassifier(foo=1, max_iter=3)


def test_wrong_arguments_are_told_in_public_names(table):
    with pytest.raises(TypeError, match=r"^CoMBoClassifier: too many positional arguments; give parameters by their"):
        CoMBoClassifier(3)
    with pytest.raises(TypeError, match=r"^CoMBoClassifier\.fit: missing a required argument: 'y'"):
        CoMBoClassifier().fit(table[0])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_signature_parameters_and_clones_have_all_parameters(algorithm):
    public = ALGORITHMS[algorithm]
    defaults = {name: given.default for name, given in inspect.signature(public).parameters.items()}
    assert {"n_estimators", "cost_matrix", "early_stopping", "verbose"} < defaults.keys()
    assert public().get_params() == defaults
    changed = {name: f"another {name}" for name in defaults}
    assert public(**changed).get_params(deep=False) == clone(public(**changed)).get_params(deep=False) == changed
    fit = inspect.signature(public.fit).parameters
    assert list(fit) == ["self", "X", "y", "sample_weight", "X_val", "y_val", "sample_weight_val"]


@pytest.mark.parametrize("name", ["max_depth", "criterion", "min_samples_leaf", "max_features", "max_bins"])
def test_tree_parameter_is_refused_beside_an_estimator(table, name):
    other = {"max_depth": 2, "criterion": "cost", "min_samples_leaf": 2, "max_features": 1, "max_bins": 9}
    with pytest.raises(ValueError, match=f"{name} shape"):
        CoMBoClassifier(estimator=GaussianNB(), **{name: other[name]}).fit(*table)


@pytest.mark.parametrize(
    "method", ["predict", "predict_proba", "predict_log_proba", "decision_function", "staged_predict"]
)
def test_predicting_needs_a_fit_and_the_same_features(table, method):
    X, y = table
    booster = CoMBoClassifier(n_estimators=2)

    def call(rows):
        result = getattr(booster, method)(rows)
        return list(result) if method.startswith("staged") else result

    with pytest.raises(NotFittedError):
        call(X)
    booster.fit(X, y)
    with pytest.raises(ValueError, match=r"3 features.*4 features"):
        call(X[:, :3])


# Reasons to stop


def test_fit_ends_when_all_rounds_are_there(table):
    model = CoMBoClassifier(n_estimators=7).fit(*table)
    assert (model.stop_reason_, model.n_iter_) == ("n_estimators", 7)
    for curve in (model.estimator_weights_, model.edges_, model.loss_curve_, model.bound_curve_):
        assert curve.shape == (7,)


@pytest.mark.parametrize("estimator", [None, DecisionTreeClassifier(max_depth=2)], ids=["tree", "estimator"])
@pytest.mark.parametrize("step", ["edge", "exact"])
def test_learner_that_only_guesses_is_kept_once(step, estimator):
    X, y = np.zeros((6, 1)), np.array([0, 1, 2, 0, 1, 2])
    model = CoMBoClassifier(step=step, estimator=estimator).fit(X, y)
    assert (model.stop_reason_, model.n_iter_) == ("no_edge", 1)
    assert model.edges_[0] == 2.0**-20
    assert model.estimator_weights_[0] == pytest.approx(2.0**-20)
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("estimator", [None, DecisionTreeClassifier()], ids=["tree", "estimator"])
@pytest.mark.parametrize("step", ["edge", "exact"])
def test_perfect_learner_ends_the_fit_with_a_finite_weight(step, estimator):
    X, y = np.array([[0.0], [0.0], [1.0], [2.0]]), np.array(["a", "a", "b", "c"])
    model = CoMBoClassifier(step=step, estimator=estimator).fit(X, y)
    assert (model.stop_reason_, model.n_iter_) == ("perfect_learner", 1)
    assert model.edges_[0] == 1 - 2.0**-30
    assert model.estimator_weights_[0] == pytest.approx(0.5 * np.log(2.0**31))
    assert model.predict(X).tolist() == y.tolist()
    assert not model.train_confusion_.any()


def test_edge_that_is_used_up_drops_the_round():
    # One feature, two values: after the first round no stump is left with an edge.
    X = np.array([[0.0]] * 10 + [[1.0]] * 10)
    y = np.array([0] * 9 + [1] + [1] * 9 + [0])
    model = CoMBoClassifier().fit(X, y)
    assert model.stop_reason_ == "no_edge"
    assert (model.edges_ > 2.0**-20).all()


def test_vanishing_loss_ends_the_fit(table):
    model = CoMBoClassifier(n_estimators=5000, max_depth=4).fit(*table)
    assert model.stop_reason_ == "loss_vanished"
    assert model.loss_curve_[-1] < 1e-200 <= model.loss_curve_[-2]


def test_weights_too_far_apart_end_the_fit_before_its_sums_are_wrong():
    heavy = 2.0**27
    X, y = [[0], [1], [-1], [2], [2]], [0, 1, 2, 3, 0]
    model = CoMBoClassifier().fit(X, y, sample_weight=[heavy, heavy, heavy, heavy, 1])
    assert model.stop_reason_ == "rounding"
    assert (model.loss_curve_ <= model.bound_curve_).all()


# Other weak learners


@pytest.mark.parametrize("learner", [LogisticRegression(), GaussianNB(), DecisionTreeClassifier(max_depth=2)], ids=str)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_other_weak_learners_boost_within_the_bound(table, algorithm, learner):
    X, y = table
    model = ALGORITHMS[algorithm](n_estimators=15, estimator=learner, random_state=0).fit(X, NAMES[y])
    start = model.bound_curve_[0] / np.sqrt(1 - model.edges_[0] ** 2)
    before = np.concatenate(([start], model.loss_curve_[:-1]))
    assert (model.loss_curve_ <= np.sqrt(1 - model.edges_**2) * before * (1 + 1e-6)).all()
    assert len(model.estimators_) == model.n_iter_ == len(list(model.staged_predict(X)))
    votes = np.array([weak.predict(X) for weak in model.estimators_])
    scores = np.stack([model.estimator_weights_ @ (votes == label) for label in range(3)], axis=1)
    np.testing.assert_allclose(model.decision_function(X), scores)
    shares = confusion_matrix(NAMES[y], model.predict(X), labels=model.classes_, normalize="true")
    np.testing.assert_allclose(model.train_confusion_, shares * (1 - np.eye(3)))


def test_weak_learners_are_seeded_by_random_state_and_the_given_one_is_not_fitted(table):
    X, y = table
    forest = RandomForestClassifier(n_estimators=3, max_depth=2)
    scores = [
        CoMBoClassifier(n_estimators=3, estimator=forest, random_state=seed).fit(X, y).decision_function(X)
        for seed in (0, 0, 1)
    ]
    np.testing.assert_array_equal(scores[0], scores[1])
    assert (scores[0] != scores[2]).any()
    assert forest.random_state is None
    assert not hasattr(forest, "estimators_")


def test_weak_learners_are_seeded_anew_in_every_round_and_at_every_place(table):
    X, y = table
    bagged = BaggingClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=2)
    model = CoMBoClassifier(n_estimators=4, estimator=bagged, random_state=0).fit(X, y)
    seeds = [seed for weak in model.estimators_ for seed in (weak.random_state, weak.estimator.random_state)]
    assert len(set(seeds)) == 2 * 4


class Witness(DecisionTreeClassifier):
    """Remembers how its rows were weighted."""

    def fit(self, X, y, sample_weight=None):
        self.seen_ = sample_weight
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize("weighted", [False, True])
def test_weak_learners_see_rows_weighted_by_their_loss(table, weighted):
    X, y = table
    n = np.random.default_rng(0).integers(1, 5, len(y)) if weighted else np.ones(len(y))
    model = CoMBoClassifier(n_estimators=4, estimator=Witness(max_depth=2)).fit(X, y, n if weighted else None)
    scores = np.zeros((len(y), 3))
    for weak, alpha in zip(model.estimators_, model.estimator_weights_, strict=True):
        excess = np.exp(scores - scores[np.arange(len(y)), y][:, np.newaxis])
        losses = n / np.bincount(y, weights=n)[y] * (excess.sum(axis=1) - 1)
        np.testing.assert_allclose(weak.seen_, losses / losses.mean(), rtol=1e-5)
        scores[np.arange(len(y)), weak.predict(X)] += alpha


class Oracle(ClassifierMixin, BaseEstimator):
    """A weak learner whose predictions are whatever it is told."""

    def __init__(self, answer=None):
        self.answer = answer

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.answer(len(X))


BAD_VOTES = {
    "outside the classes": lambda n: np.full(n, 60_000),
    "negative": lambda n: np.full(n, -1),
    "floats": lambda n: np.zeros(n),
    "NaN": lambda n: np.full(n, np.nan),
    "two columns": lambda n: np.zeros((n, 2), dtype=int),
    "too few": lambda n: np.zeros(n - 1, dtype=int),
    "text": lambda n: ["a"] * n,
}


@pytest.mark.parametrize("name", BAD_VOTES)
def test_votes_that_are_no_classes_are_refused(table, name):
    with pytest.raises(ValueError, match="predict returns the labels"):
        CoMBoClassifier(estimator=Oracle(BAD_VOTES[name])).fit(*table)


class Column(DecisionTreeClassifier):
    """A weak learner that predicts a column, as CatBoost's does for many classes."""

    def predict(self, X):
        return super().predict(X)[:, np.newaxis]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_weak_learner_that_predicts_a_column_votes_like_any_other(table, algorithm):
    of_columns, of_rows = (
        ALGORITHMS[algorithm](n_estimators=4, estimator=weak(max_depth=2), random_state=0).fit(*table)
        for weak in (Column, DecisionTreeClassifier)
    )
    assert np.array_equal(of_columns.decision_function(table[0]), of_rows.decision_function(table[0]))
    assert np.array_equal(of_columns.loss_curve_, of_rows.loss_curve_)


def test_always_wrong_learner_is_kept_once_and_does_no_harm(table):
    X, y = table
    model = CoMBoClassifier(estimator=Oracle(lambda n: (y + 1) % 3)).fit(X, y)
    assert (model.stop_reason_, model.n_iter_) == ("no_edge", 1)
    assert model.loss_curve_[0] == pytest.approx(6, rel=1e-5)


def test_rows_whose_loss_has_gone_are_not_shown_to_weak_learners(table):
    X, y = table
    model = CoMBoClassifier(n_estimators=3, estimator=GaussianNB(), cost_matrix=[0, 1, 1]).fit(X, y)
    assert [weak.classes_.tolist() for weak in model.estimators_] == [[1, 2]] * 3


def test_importances_come_from_weak_learners_that_have_them(table):
    X, y = table
    with_some = CoMBoClassifier(n_estimators=3, estimator=DecisionTreeClassifier(max_depth=2)).fit(X, y)
    of_learners = [weak.feature_importances_ for weak in with_some.estimators_]
    expected = with_some.estimator_weights_ @ of_learners / with_some.estimator_weights_.sum()
    np.testing.assert_allclose(with_some.feature_importances_, expected)
    assert not hasattr(CoMBoClassifier(n_estimators=3, estimator=GaussianNB()).fit(X, y), "feature_importances_")


def test_refit_with_the_other_kind_of_learner_leaves_nothing_of_the_first(table):
    X, y = table
    model = CoMBoClassifier(n_estimators=3).fit(X, y)
    model.set_params(estimator=GaussianNB()).fit(X, y)
    assert not hasattr(model, "feature_importances_")
    expected = CoMBoClassifier(n_estimators=3).fit(X, y)
    assert model_bytes(model.set_params(estimator=None).fit(X, y)) == model_bytes(expected)
    assert not hasattr(model, "estimators_")


# Trees


def test_importances_sum_to_one_and_see_only_the_feature_that_matters():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 3))
    y = np.digitize(X[:, 1], [-0.5, 0.5])
    model = CoMBoClassifier(n_estimators=4, max_depth=2).fit(X, y)
    np.testing.assert_allclose(model.feature_importances_, [0, 1, 0])


@pytest.mark.parametrize("criterion", ["gini", "cost"])
def test_leaves_keep_the_rows_and_the_loss_asked_for(table, criterion):
    X, y = table
    model = CoMBoClassifier(n_estimators=1, criterion=criterion, max_depth=None, min_samples_leaf=9).fit(X, y)
    leaves = leaf_of(model._forest.nodes, X)
    assert np.unique(leaves, return_counts=True)[1].min() >= 9
    model.set_params(min_samples_leaf=1, min_weight_fraction_leaf=0.1).fit(X, y)
    leaves = leaf_of(model._forest.nodes, X)
    share_of_row = 1 / np.bincount(y)[y] / 3
    assert np.bincount(leaves, weights=share_of_row)[np.unique(leaves)].min() >= 0.1 - 1e-6


def leaf_of(nodes, X):
    leaves = np.zeros(len(X), dtype=int)
    for i, row in enumerate(X):
        while nodes[leaves[i]]["feature"] >= 0:
            node = nodes[leaves[i]]
            leaves[i] = node["left"] + (row[node["feature"]] > node["threshold"])
    return leaves


@pytest.mark.parametrize("max_depth", [1, 2, 5])
def test_trees_are_no_deeper_than_asked_for(table, max_depth):
    model = CoMBoClassifier(n_estimators=3, max_depth=max_depth).fit(*table)
    for begin, end in pairwise(model._forest.offsets):
        nodes = model._forest.nodes[begin:end]
        depth = np.zeros(len(nodes), dtype=int)
        for k, node in enumerate(nodes):
            if node["feature"] >= 0:
                depth[node["left"] : node["left"] + 2] = depth[k] + 1
        assert depth.max() <= max_depth


def test_levels_searched_in_parts_give_the_same_bits(table, monkeypatch):
    X, y = table
    booster = CoMBoClassifier(n_estimators=5, max_depth=None)
    whole = model_bytes(booster.fit(X, y))
    monkeypatch.setattr("comboost._engine.rows.HISTOGRAM_BUDGET", 50_000)
    assert model_bytes(booster.fit(X, y)) == whole


@pytest.mark.parametrize(
    ("max_features", "n_drawn"),
    [(None, 10), (3, 3), (0.5, 5), (Fraction(1, 5), 2), ("sqrt", 3), ("log2", 3), (0.01, 1)],
)
def test_max_features_counts_features(max_features, n_drawn):
    assert count_features(max_features, 10) == n_drawn


def test_max_features_draws_anew_with_another_seed(table):
    X, y = table
    models = [
        model_bytes(CoMBoClassifier(n_estimators=5, max_features=1, random_state=seed).fit(X, y)) for seed in (0, 0, 1)
    ]
    assert models[0] == models[1] != models[2]


# The tools of the field


def test_works_in_pipelines_searches_and_cross_validation(table):
    X, y = table
    pipeline = make_pipeline(StandardScaler(), CoMBoClassifier(n_estimators=5))
    search = GridSearchCV(pipeline, {"comboclassifier__max_depth": [1, 2]}, cv=3).fit(X, NAMES[y])
    assert set(search.predict(X)) <= set(NAMES)
    scores = cross_validate(pipeline, X, NAMES[y], cv=3, scoring=["accuracy", "roc_auc_ovo", "neg_log_loss"])
    assert all(np.isfinite(values).all() for values in scores.values())


def test_works_calibrated(table):
    X, y = table
    calibrated = CalibratedClassifierCV(CoMBoClassifier(n_estimators=5), cv=3).fit(X, y)
    np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("estimator", [None, GaussianNB()], ids=["tree", "estimator"])
def test_pickle_joblib_and_clone_keep_the_model(table, tmp_path, estimator):
    X, y = table
    model = CoMBoClassifier(n_estimators=5, estimator=estimator).fit(X, NAMES[y])
    joblib.dump(model, tmp_path / "model")
    for copy in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model"), clone(model).fit(X, NAMES[y])):
        np.testing.assert_array_equal(copy.decision_function(X), model.decision_function(X))
        np.testing.assert_array_equal(copy.predict(X), model.predict(X))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_and_text_labels_work_and_names_are_checked_as_scikit_learn_does(table, frame):
    X, y = table
    columns = {name: X[:, k] for k, name in enumerate(["north", "east", "south", "west"])}
    model = CoMBoClassifier(n_estimators=5).fit(frame(columns), NAMES[y].tolist())
    assert model.classes_.tolist() == sorted(NAMES)
    expected = CoMBoClassifier(n_estimators=5).fit(X, NAMES[y])
    assert model_bytes(model) == model_bytes(expected)
    np.testing.assert_array_equal(model.predict(frame(columns)), expected.predict(X))
    # An old scikit-learn does not see the names of a new polars.
    names = getattr(DummyClassifier().fit(frame(columns), y), "feature_names_in_", None)
    np.testing.assert_array_equal(getattr(model, "feature_names_in_", None), names)
    if names is not None:
        with pytest.raises(ValueError, match="feature names"):
            model.predict(frame({name: columns[name] for name in reversed(columns)}))


@pytest.mark.parametrize(
    "labels",
    [[-7, 0, 3], [0.0, 1.0, 2.0], ["a", "b", "c"], np.array(["x", "y", "z"], dtype=object)],
    ids=str,
)
def test_labels_of_any_type_come_back(table, labels):
    X, y = table
    truth = np.array(labels)[y]
    model = CoMBoClassifier(n_estimators=2).fit(X, truth)
    assert model.classes_.dtype == truth.dtype
    assert set(model.predict(X)) <= set(labels)


def test_values_across_their_borders_in_memory_are_read(table):
    X, y = table
    packed = np.zeros(len(X), dtype=np.dtype([("flag", "u1"), ("values", "f8", 4)]))
    packed["values"] = X
    model = CoMBoClassifier(n_estimators=3).fit(packed["values"], y)
    assert model_bytes(model) == model_bytes(CoMBoClassifier(n_estimators=3).fit(X, y))
    np.testing.assert_array_equal(model.predict(packed["values"]), model.predict(X))


def test_booleans_and_pandas_categories_are_labels(table):
    X, y = table
    assert CoMBoClassifier(n_estimators=2).fit(X, y > 0).predict(X).dtype == bool
    model = CoMBoClassifier(n_estimators=2).fit(X, pd.Series(NAMES[y], dtype="category"))
    assert set(model.predict(X)) <= set(NAMES)


def test_costs_move_mistakes_to_where_they_are_cheap():
    X, y = load_yeast(return_X_y=True)
    plain = CoMBoClassifier(n_estimators=30, max_depth=2).fit(X, y)
    costs = pd.DataFrame(1.0 - np.eye(10), index=plain.classes_, columns=plain.classes_)
    costs.loc["NUC", "CYT"] = 20
    dear = CoMBoClassifier(n_estimators=30, max_depth=2, cost_matrix=costs).fit(X, y)
    nuc, cyt = (plain.classes_.tolist().index(name) for name in ("NUC", "CYT"))
    assert dear.train_confusion_[nuc, cyt] < 0.5 * plain.train_confusion_[nuc, cyt]
