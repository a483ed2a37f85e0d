"""ConfusionBoostingClassifier as users hold it: what its parameters do, what it answers, what it refuses."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from boosters import for_all, make_named_rows, make_rows, unchanged
from hypothesis import given
from hypothesis import strategies as st
from models import CLASSIFIERS, everything
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss
from sklearn.model_selection import TunedThresholdClassifierCV

from comboost import ConfusionBoostingClassifier
from comboost._types import LEAF, MAX_PAIRED
from comboost.datasets import load_car, load_yeast

X, Y = make_rows(300, seed=0)
X_NEW, _ = make_rows(100, seed=1)

#: Another value of every parameter that changes what is learned.
CHANGES = {
    "n_estimators": 9,
    "learning_rate": 0.2,
    "max_depth": 2,
    "max_leaf_nodes": 4,
    "loss": "exponential",
    "norm": "worst-class",
    "smoothing": 3.0,
    "balance": 0.5,
    "min_samples_leaf": 20,
    "min_weight_fraction_leaf": 0.1,
    "max_features": 2,
    "max_thresholds": 3,
    "noise": 0.5,
    "max_bins": 8,
    "categorical_features": [3],
    "cost_matrix": {0: 1.0, 1: 2.0, 2: 1.0},
    "early_stopping": True,
    "random_state": 1,
}


def make(**parameters):
    return ConfusionBoostingClassifier(
        **({"n_estimators": 8, "max_depth": 4, "smoothing": 10.0, "random_state": 0} | parameters)
    )


def n_leaves(model):
    return [(nodes["feature"] == LEAF).sum() for nodes in trees(model)]


def trees(model):
    return [model._forest.nodes[begin:end] for begin, end in pairwise(model._forest.offsets)]


# Parameters


def test_every_parameter_is_tried():
    answers = {"priors", "calibration", "calibration_folds", "decision", "reject_cost", "reject_label"}
    others = {"n_jobs", "verbose", "warm_start"}
    of_validation = {"scoring", "validation_fraction", "n_iter_no_change", "tol", "refit"}
    assert CHANGES.keys() | answers | others | of_validation == make().get_params().keys()


@pytest.mark.parametrize("name", CHANGES)
def test_every_parameter_changes_the_votes(name):
    beside = {"max_features": 2} if name == "random_state" else {}
    rows = np.column_stack([X[:, :3], np.rint(X[:, 3])]) if name == "categorical_features" else X
    before = make(**beside).fit(rows, Y).decision_function(rows)
    after = make(**beside, **{name: CHANGES[name]}).fit(rows, Y).decision_function(rows)
    assert not np.array_equal(before, after)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("smoothing", -0.1, "in \\[0, 1e\\+06\\]"),
        ("smoothing", np.inf, "in \\[0, 1e\\+06\\]"),
        ("balance", 1.1, "in \\[0, 1\\]"),
        ("balance", -0.1, "in \\[0, 1\\]"),
        ("max_leaf_nodes", 1, "at least 2"),
        ("loss", "gini", "'log' or 'logistic' or 'exponential'"),
        ("priors", "balanced", "'uniform' or 'training'"),
        ("learning_rate", 0.0, "in \\(0, 1\\]"),
    ],
)
def test_value_out_of_range_is_refused_with_what_to_give(name, value, words):
    with unchanged(model := make(**{name: value})), pytest.raises(ValueError, match=f"{name}={value!r}.*give.*{words}"):
        model.fit(X, Y)


def test_trees_keep_both_limits():
    model = make(max_depth=3, max_leaf_nodes=6).fit(X, Y)
    assert max(n_leaves(model)) == 6
    assert max(n_leaves(make(max_depth=2, max_leaf_nodes=6).fit(X, Y))) == 4


@given(max_leaf_nodes=st.integers(2, 12))
def test_no_tree_has_more_leaves_than_allowed(max_leaf_nodes):
    model = make(n_estimators=2, max_depth=None, max_leaf_nodes=max_leaf_nodes).fit(X, Y)
    assert max(n_leaves(model)) <= max_leaf_nodes


def test_fit_without_any_limit_is_refused_before_its_trees_take_the_memory(monkeypatch):
    monkeypatch.setattr("comboost._engine.memory.available_memory", lambda: 2**24)
    with pytest.raises(MemoryError, match=r"nodes of the trees.*max_leaf_nodes"):
        make(max_depth=None, n_estimators=10_000).fit(X, Y)


def test_class_whose_mistakes_cost_nothing_moves_no_vote():
    model = make(cost_matrix={0: 1.0, 1: 1.0, 2: 0.0}).fit(X, Y)
    seen = Y != 2
    relabelled = X.copy()
    relabelled[~seen] = np.random.default_rng(0).permuted(X[~seen], axis=0)  # other rows in the same bins
    again = make(cost_matrix={0: 1.0, 1: 1.0, 2: 0.0}).fit(relabelled, Y)
    np.testing.assert_array_equal(model.decision_function(X_NEW), again.decision_function(X_NEW))


# Answers


@pytest.mark.parametrize("loss", ["log", "exponential"])
@pytest.mark.parametrize("balance", [0.0, 0.5, 1.0])
def test_priors_differ_by_the_shares_of_the_classes(loss, balance):
    model = make(loss=loss, balance=balance).fit(X, Y)
    balanced = model.predict_proba(X_NEW)
    training = clone(model).set_params(priors="training").fit(X, Y).predict_proba(X_NEW)
    np.testing.assert_allclose(model.class_prior_, np.bincount(Y) / len(Y))
    moved = balanced * model.class_prior_
    np.testing.assert_allclose(training, moved / moved.sum(axis=1, keepdims=True), rtol=1e-9)


def test_priors_do_not_move_decisions():
    balanced, training = (make(priors=priors).fit(X, Y) for priors in ("uniform", "training"))
    np.testing.assert_array_equal(balanced.predict(X_NEW), training.predict(X_NEW))
    np.testing.assert_array_equal(balanced.predict(X_NEW), balanced.predict_proba(X_NEW).argmax(axis=1))


def test_priors_of_the_training_rows_have_the_smaller_log_loss_there():
    model = make().fit(X, Y)
    by_rows = clone(model).set_params(priors="training").fit(X, Y)
    assert log_loss(Y, by_rows.predict_proba(X)) < log_loss(Y, model.predict_proba(X))


def test_stages_end_with_the_model():
    model = make().fit(X, Y)
    *_, last = model.staged_decision_function(X_NEW)
    np.testing.assert_array_equal(last, model.decision_function(X_NEW))
    *_, shares = model.staged_predict_proba(X_NEW)
    np.testing.assert_array_equal(shares, model.predict_proba(X_NEW))
    np.testing.assert_allclose(np.log(shares), model.predict_log_proba(X_NEW), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("max_depth", [3, 8])
def test_votes_on_few_rows_are_those_on_many(max_depth):
    model = make(max_depth=max_depth).fit(X, Y)
    one_by_one = np.concatenate([model.decision_function(X_NEW[[i]]) for i in range(len(X_NEW))])
    np.testing.assert_array_equal(one_by_one, model.decision_function(X_NEW))


def test_votes_of_a_round_add_up_to_nothing():
    model = make().fit(X, Y)
    np.testing.assert_allclose(model._forest.leaf_values.sum(axis=1), 0.0, atol=1e-6)
    assert model._forest.leaf_values.dtype == np.float32


def test_importances_are_shares():
    model = make().fit(X, Y)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert (model.feature_importances_ >= 0).all()


def test_exported_leaf_shows_the_values_of_all_classes():
    X, y = make_named_rows(100, seed=0)
    model = make(n_estimators=1, max_depth=1).fit(X, y)
    lines = [line for line in model.export_text(0).splitlines() if "values:" in line]
    for line, votes in zip(lines, model._forest.leaf_values, strict=True):
        for name, vote in zip(model.classes_, votes, strict=True):
            assert f"{name} {vote:+.2f}" in line


def test_model_survives_a_pickle():
    model = make().fit(X, Y)
    assert everything(pickle.loads(pickle.dumps(model))) == everything(model)


def test_missing_values_and_categories_are_taken_as_they_come():
    X, y = load_car(return_X_y=True, as_frame=True)
    X.loc[::10, "safety"] = None
    model = make(n_estimators=30).fit(X, y)
    assert "in {" in model.export_text(0)
    X["safety"] = X["safety"].astype(object).where(X["safety"].notna(), np.nan).astype("category")
    np.testing.assert_array_equal(model.decision_function(X), make(n_estimators=30).fit(X, y).decision_function(X))


# Fits


@pytest.mark.parametrize("loss", ["log", "exponential"])
@pytest.mark.parametrize("max_leaf_nodes", [None, 6])
def test_rounds_in_steps_are_the_same_model(loss, max_leaf_nodes):
    parameters = {"loss": loss, "max_leaf_nodes": max_leaf_nodes, "max_features": 2, "warm_start": True}
    at_once = make(n_estimators=9, **parameters).fit(X, Y)
    in_steps = make(n_estimators=2, **parameters).fit(X, Y)
    for n_rounds in (3, 9):
        in_steps = pickle.loads(pickle.dumps(in_steps)).set_params(n_estimators=n_rounds).fit(X, Y)
    assert everything(in_steps) == everything(at_once)


@pytest.mark.parametrize("n_classes", [MAX_PAIRED, MAX_PAIRED + 1])
def test_first_votes_follow_from_the_rows_of_a_leaf_on_both_sides_of_the_switch(n_classes):
    """Of n_l rows of class l in a leaf, all classes being equally frequent.

    Before any vote a mistake costs the same for every class that it may be taken for: A(l,j) = n_l + λ, up to a factor.
    Pairs: Σ A(l,j)·x_j/x_l is smallest where x_l² is proportional to n_l + λ. Classes on their own: up to the same
    factor, class l is pulled up by (K−1)·(n_l + λ) and pushed down by Σ_{j≠l} n_j + (K−1)·λ.
    """
    rate, smoothing = 0.3, 2.0
    y = np.arange(12 * n_classes) % n_classes
    random = np.random.default_rng(0)
    rows = random.normal(size=(n_classes, 6))[y] + 0.5 * random.normal(size=(len(y), 6))
    model = make(n_estimators=1, max_depth=3, learning_rate=rate, smoothing=smoothing).fit(rows, y)
    votes, leaves = np.unique(model.decision_function(rows), axis=0, return_inverse=True)
    assert len(votes) == n_leaves(model)[0] > 2
    for leaf, vote in enumerate(votes):
        counts = np.bincount(y[leaves == leaf], minlength=n_classes)
        if n_classes <= MAX_PAIRED:
            steps = rate / 2 * np.log(counts + smoothing)
        else:
            pulls, pushes = (n_classes - 1) * (counts + smoothing), counts.sum() - counts + (n_classes - 1) * smoothing
            steps = rate / 2 * (1 - rate / 2) * np.log(pulls / pushes)
        np.testing.assert_allclose(vote, steps - steps.mean(), rtol=1e-5, atol=1e-6)


def test_norm_stays_below_the_loss_on_real_rows():
    X, y = load_yeast(return_X_y=True)
    model = ConfusionBoostingClassifier(n_estimators=30).fit(X, y)
    assert np.linalg.norm(model.train_confusion_, ord=2) ** 2 <= model.train_confusion_.sum() <= model.loss_curve_[-1]
    assert (model.loss_curve_ <= model.bound_curve_ * (1 + 1e-6)).all()


# Where a perfect learner ends the paper's boosters


@pytest.fixture(scope="module")
def few_positives():
    """Seven positives of 219 rows, which a tree or two tell from the others."""
    X, y = load_breast_cancer(return_X_y=True)
    chosen = np.concatenate([np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:7]])
    return X[chosen, :5], y[chosen]


def test_a_threshold_can_be_tuned_where_a_perfect_learner_would_leave_one_vote_for_all(few_positives):
    tuned = TunedThresholdClassifierCV(ConfusionBoostingClassifier(n_estimators=20), thresholds=9).fit(*few_positives)
    assert 0 < tuned.best_threshold_ < 1


@for_all
def test_different_votes_are_different_probabilities_however_sure_they_are(few_positives, algorithm):
    X, y = few_positives
    model = CLASSIFIERS[algorithm]().fit(X[::2], y[::2])
    votes, first = np.unique(model.decision_function(X), return_index=True)
    shares = model.predict_proba(X[first])
    # The smaller of two probabilities is looked at: near 1 there are too few floats.
    assert (np.diff(shares[votes < 0, 1]) > 0).all()
    assert (np.diff(shares[votes > 0, 0]) < 0).all()
