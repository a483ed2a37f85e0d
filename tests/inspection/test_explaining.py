"""Properties of explanations: they are the Shapley values, and add up to the scores, however they are computed."""

import dataclasses
import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from boosters import for_all, make_booster
from engine.test_predicting import N_FEATURES, make_forest, make_rows
from hypothesis import strategies as st
from models import CLASSIFIERS, fit
from reference import shapley_reference
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier
from strategies import problems, property_test

from comboost import CoMBoClassifier, ConfusionBoostingClassifier, _core
from comboost._engine import memory
from comboost._engine.forest import Forest, Tree, with_covers
from comboost._inspection.frame import TreePaths
from comboost._inspection.shap import expected_scores
from comboost._types import LEAF


def covered(forest, seed):
    """A forest with arbitrary covers."""
    random = np.random.default_rng(seed)
    n_leaves = int((forest.nodes["feature"] == LEAF).sum())
    return dataclasses.replace(forest, covers=random.random(n_leaves) * 0.99 + 0.01)


def explain(forest, X, n_threads=1):
    values, base = np.zeros((*X.shape, forest.n_classes)), np.empty(forest.n_classes)
    _core.explain(X, forest._native, n_threads, values)
    _core.expected_scores(forest._native, base)
    return values, base


def scores_on(forest, X):
    scores = np.zeros((len(X), forest.n_classes))
    forest.add_scores(X, True, scores, 0, len(forest.weights), 1)
    return scores


def reference_of(forest, X):
    """Shapley values by their definition, tree by tree and class by class."""
    found = np.zeros((*X.shape, forest.n_classes))
    sets, first_leaf = forest.sets.tolist(), 0
    for t, (begin, end) in enumerate(pairwise(forest.offsets)):
        nodes = forest.nodes[begin:end].tolist()
        n_leaves = (len(nodes) + 1) // 2
        covers = shapley_reference.covers_of(nodes, forest.covers[first_leaf : first_leaf + n_leaves].tolist())
        first_leaf += n_leaves
        for label in range(forest.n_classes):
            scores = [
                (
                    forest.weights[t] * (node[4] == label)
                    if forest.leaf_values is None
                    else float(forest.leaf_values[node[2], label])
                )
                if node[1] == LEAF
                else None
                for node in nodes
            ]
            for i, row in enumerate(X.tolist()):
                found[i, :, label] += shapley_reference.shapley_values(nodes, sets, covers, scores, row, X.shape[1])
    return found


forests = st.builds(
    make_forest,
    seed=st.integers(0, 2**32 - 1),
    n_trees=st.integers(1, 2),
    n_leaves=st.sampled_from([1, 2, 5, 9]),
    n_classes=st.integers(2, 3),
    leaning=st.sampled_from([0.0, 0.5, 1.0]),
    every_class=st.booleans(),
    n_bins=st.integers(1, 9),
)


@property_test(forest=forests, seed=st.integers(0, 99), dtype=st.sampled_from([np.float32, np.float64]))
def test_explanations_are_the_shapley_values_by_definition(forest, seed, dtype):
    forest, X = covered(forest, seed), make_rows(seed, 2, 9, True, dtype)
    np.testing.assert_allclose(explain(forest, X)[0], reference_of(forest, X.astype(np.float64)), rtol=1e-9, atol=1e-12)


def grown(seed, **changed):
    """A forest of larger trees than the definition can judge."""
    shape = {"n_trees": 4, "n_leaves": 200, "n_classes": 4, "leaning": 0.5, "every_class": True, "n_bins": 50}
    return covered(make_forest(seed, **(shape | changed)), seed)


@pytest.mark.parametrize("leaning", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("every_class", [False, True])
def test_contributions_add_up_to_the_scores(leaning, every_class):
    forest, X = grown(1, leaning=leaning, every_class=every_class), make_rows(2, 50, 50, True, np.float64)
    values, base = explain(forest, X)
    np.testing.assert_allclose(base + values.sum(axis=1), scores_on(forest, X), rtol=0, atol=1e-12)


def chain(n_features):
    """A tree that asks for one feature after the other, each of which lets half of the rest pass."""
    forest = make_forest(0, 1, 1, 2, 0.0, False, 1)
    nodes = np.zeros(2 * n_features + 1, forest.nodes.dtype)
    nodes["feature"], nodes["left"], nodes["set"] = LEAF, LEAF, -1
    inner = np.r_[0, 2 * np.arange(1, n_features)]
    nodes["feature"][inner], nodes["left"][inner] = np.arange(n_features), np.arange(1, 2 * n_features, 2)
    nodes["label"][-1] = 1
    covers = np.full(n_features + 1, 0.5) / n_features
    kinds = np.ones(n_features, np.uint8)
    return Forest(nodes, forest.sets[:0], np.array([0, len(nodes)]), np.ones(1), kinds, 2, None, covers)


@pytest.mark.parametrize("n_features", [1, 2, 3, 40, 150])
def test_paths_of_any_length_are_explained_without_loss(n_features):
    forest = chain(n_features)
    X = np.stack([np.ones(n_features), -np.ones(n_features), np.arange(n_features) % 2 - 0.5])
    values, base = explain(forest, X)
    np.testing.assert_allclose(base + values.sum(axis=1), scores_on(forest, X), rtol=0, atol=1e-12)
    assert (values[0, :, 1] > 0).all()  # all values lead to the only leaf of this class


def test_deep_trees_are_explained():
    forest = grown(3, n_trees=1, n_leaves=5_000, leaning=1.0)
    X = make_rows(3, 2, 50, True, np.float64)
    values, base = explain(forest, X)
    np.testing.assert_allclose(base + values.sum(axis=1), scores_on(forest, X), rtol=0, atol=1e-9)


def test_explanations_have_the_same_bits_for_any_threads_order_and_vectors():
    forest, X = grown(4), make_rows(4, 83, 50, True, np.float64)
    values, _ = explain(forest, X)
    for n_threads in (2, 5):
        assert explain(forest, X, n_threads)[0].tobytes() == values.tobytes()
    order = np.random.default_rng(0).permutation(len(X))
    assert explain(forest, np.asfortranarray(X[order]))[0].tobytes() == values[order].tobytes()
    assert explain(forest, X[:1])[0].tobytes() == values[:1].tobytes()
    _core.allow_wide_vectors(False)
    try:
        assert explain(forest, X)[0].tobytes() == values.tobytes()
    finally:
        _core.allow_wide_vectors(True)


# Models


def close_to_scores(model, X):
    """Whether contributions and base values add up to the scores of the model."""
    found, scores = model.explain(X), model.decision_function(X)
    sums = found.scores[:, 1] - found.scores[:, 0] if len(model.classes_) == 2 else found.scores
    np.testing.assert_allclose(sums, scores, rtol=0, atol=1e-9 * max(1.0, np.abs(scores).max()))
    return found


@property_test(problem=problems())
def test_contributions_to_any_model_add_up_to_its_scores(problem):
    model = fit(problem)
    found = close_to_scores(model, problem.X)
    unused = np.setdiff1d(np.arange(problem.X.shape[1]), model._forest.features())
    if (model._forest.nodes["feature"] != LEAF).any():
        assert not found.values[:, unused].any()


@property_test(problem=problems())
def test_covers_are_the_shares_of_the_training_weight(problem):
    model = fit(problem, early_stopping=False)
    forest, first = model._forest, 0
    weight = np.ones(len(problem.y)) if problem.sample_weight is None else problem.sample_weight
    for t in range(model.n_iter_):
        tree = forest.tree(t)
        alone = Forest.join([tree], np.ones(1), forest.kinds, forest.n_classes)
        assert tree.covers.sum() == forest.tree(0).covers.sum()
        assert 0.5 <= tree.covers.sum() < 1
        assert len(tree.covers) == (len(alone.nodes) + 1) // 2
        first += len(tree.covers)
    assert first == len(forest.covers)
    if problem.sample_weight is None:
        mean = np.average(scores_of(model, problem.X), axis=0, weights=weight)
        np.testing.assert_allclose(expected_scores(forest), mean, rtol=1e-9, atol=1e-9)


def scores_of(model, X):
    scores = model.decision_function(X)
    return scores if scores.ndim > 1 else model._scores(X)


def make_table(n_samples=400, seed=0):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": random.normal(size=n_samples),
            "kind": pd.Categorical(random.choice(list("abcdefghij"), n_samples)),
            "size": random.normal(size=n_samples),
            "flat": np.zeros(n_samples),
        }
    )
    frame.loc[::5, "size"] = np.nan
    y = np.where(frame["kind"].isin(["a", "b"]), "x", np.where(frame["age"] > 0.3, "y", "z"))
    return frame, np.where(random.random(n_samples) < 0.1, "z", y)


@pytest.mark.parametrize("classifier", CLASSIFIERS.values())
def test_tables_of_all_kinds_are_explained(classifier):
    frame, y = make_table()
    model = classifier(n_estimators=8, max_depth=4).fit(frame, y)
    found = close_to_scores(model, frame)
    assert found.values.shape == (400, 4, 3)
    assert not found.values[:, 3].any()
    unseen = frame.assign(kind=pd.Categorical(["new"] * 400))
    missing = frame.assign(kind=pd.Categorical([None] * 400, categories=["a"]))
    assert close_to_scores(model, unseen).values.tobytes() == close_to_scores(model, missing).values.tobytes()


@pytest.mark.parametrize("classifier", CLASSIFIERS.values())
def test_explanations_do_not_depend_on_how_rows_are_kept(classifier):
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 40)) * (random.random((300, 40)) < 0.1)
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] != 0)
    dense = classifier(n_estimators=4, random_state=0).fit(X, y)
    found = close_to_scores(dense, X)
    model = classifier(n_estimators=4, random_state=0).fit(sparse.csr_array(X), y)
    assert model._forest.covers.tobytes() == dense._forest.covers.tobytes()
    for given in (sparse.csr_array(X), sparse.csc_array(X), X.tolist()):
        assert model.explain(given).values.tobytes() == found.values.tobytes()


@for_all
def test_weight_two_is_the_row_twice_and_zero_is_no_row_in_explanations(algorithm):
    frame, y = make_table(150)
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    weighted = make_booster(algorithm, n_estimators=5).fit(frame, y, weight)
    twice = np.repeat(np.arange(len(y)), weight)[::-1]
    repeated = make_booster(algorithm, n_estimators=5).fit(frame.iloc[twice], y[twice])
    assert weighted._forest.covers.tobytes() == repeated._forest.covers.tobytes()
    assert weighted.explain(frame).values.tobytes() == repeated.explain(frame).values.tobytes()


@for_all
def test_warm_start_keeps_and_adds_covers(algorithm):
    frame, y = make_table(200)
    model = make_booster(algorithm, n_estimators=3, warm_start=True).fit(frame, y)
    model.set_params(n_estimators=6).fit(frame, y)
    whole = make_booster(algorithm, n_estimators=6).fit(frame, y)
    assert model._forest.covers.tobytes() == whole._forest.covers.tobytes()


@pytest.mark.parametrize("classifier", CLASSIFIERS.values())
def test_class_without_weight_has_only_its_base_value(classifier):
    frame, y = make_table(150)
    y = np.r_[["none"] * 5, y[5:]]
    model = classifier(n_estimators=4).fit(frame, y, (y != "none").astype(float))
    found = close_to_scores(model, frame)
    idx = model.classes_.tolist().index("none")
    assert not found.values[..., idx].any()
    assert found.base_values[idx] == model._absent_score
    assert not model.class_importances_[idx].any()


def test_two_classes_have_scores_of_their_own():
    X = np.random.default_rng(0).normal(size=(100, 3))
    model = ConfusionBoostingClassifier(n_estimators=5).fit(X, X[:, 0] > 0)
    assert close_to_scores(model, X).values.shape == (100, 3, 2)


# Models that cannot be explained


def test_models_of_other_weak_learners_and_unfitted_ones_say_so():
    model = CoMBoClassifier(n_estimators=1, estimator=DecisionTreeClassifier(max_depth=1)).fit([[0.0], [1.0]], [0, 1])
    asked = [
        lambda model: model.explain([[0.0]]),
        lambda model: model.to_shap(),
        lambda model: model.trees_to_frame(),
        lambda model: model.plot_tree(0),
        lambda model: model.export_text(0),
    ]
    for ask in asked:
        with pytest.raises(ValueError, match="with estimator= inspect estimators_ instead"):
            ask(model)
        with pytest.raises(NotFittedError):
            ask(CoMBoClassifier())
    assert not hasattr(model, "class_importances_")
    assert not hasattr(CoMBoClassifier(), "class_importances_")


def test_explanation_that_needs_too_much_memory_is_refused(monkeypatch):
    frame, y = make_table(60)
    model = CoMBoClassifier(n_estimators=1).fit(frame, y)
    monkeypatch.setattr(memory, "NOT_WORTH_ASKING", 0)
    monkeypatch.setattr(memory, "available_memory", lambda: 60 * 4 * 3 * 8)
    with pytest.raises(MemoryError, match=r"explanation of 60 rows with 4 features for 3 classes .* fewer rows"):
        model.explain(frame)


@pytest.mark.parametrize("cover", [np.nan, -0.1, 0.0, 1.5, np.inf])
def test_damaged_covers_are_refused(cover):
    forest = grown(0)
    covers = forest.covers.copy()
    covers[3] = cover
    with pytest.raises(ValueError, match="cover of a leaf is not above 0 and at most 1"):
        dataclasses.replace(forest, covers=covers)


def test_covers_of_another_size_or_type_are_refused():
    forest = grown(0)
    for covers in (forest.covers[1:], np.r_[forest.covers, 0.5]):
        with pytest.raises(ValueError, match="there are covers of"):
            dataclasses.replace(forest, covers=covers)
    for covers in (forest.covers.astype(np.float32), forest.covers[:, None], forest.covers.tolist()):
        with pytest.raises(ValueError, match="covers is no array of type float64"):
            dataclasses.replace(forest, covers=covers)
    with pytest.raises(ValueError, match="one entry per leaf"):
        dataclasses.replace(forest, covers=np.empty(0))


def test_arrays_that_do_not_fit_are_refused_by_the_kernel():
    forest, X = grown(0), make_rows(0, 4, 9, True, np.float64)
    for rows, shape, words in (
        (X[:, :2], (4, 2, 4), "differ in their features"),
        (X, (4, N_FEATURES, 3), "contributions must be"),
        (X, (3, N_FEATURES, 4), "contributions must be"),
    ):
        with pytest.raises(ValueError, match=words):
            _core.explain(rows, forest._native, 1, np.zeros(shape))
    with pytest.raises(ValueError, match="no covers"):
        _core.explain(X, dataclasses.replace(forest, covers=None)._native, 1, np.zeros((4, N_FEATURES, 4)))
    with pytest.raises(ValueError, match="one entry per class"):
        _core.expected_scores(forest._native, np.zeros(3))


def test_shares_of_weight_do_not_depend_on_its_unit():
    sums, tree = np.array([3, 1, 7, 2**20]), Tree(np.empty((0, 24), dtype=np.uint8), np.empty((0, 32), dtype=np.uint8))
    one, other = (found.covers for found in with_covers([tree, tree], [sums, sums * 2**11]))
    assert one.tobytes() == other.tobytes()
    assert one.sum() * 2**21 == sums.sum()


# Importances of classes


@property_test(problem=problems())
def test_importances_are_fractions_of_the_variance_of_scores(problem):
    model = fit(problem)
    importances = model.class_importances_
    assert importances.shape == (len(model.classes_), problem.X.shape[1])
    assert (importances >= 0).all()
    totals = importances.sum(axis=1)
    assert (np.isclose(totals, 1) | (totals == 0)).all()


def test_splits_explain_the_variance_of_a_tree():
    frame, y = make_table()
    for classifier in CLASSIFIERS.values():
        model = classifier(n_estimators=1, max_depth=4).fit(frame, y)
        total = TreePaths.of(model._forest).importances().sum(axis=1)
        root = model._forest.covers.sum()
        np.testing.assert_allclose(total / root, model.decision_function(frame).var(axis=0), rtol=1e-9, atol=1e-12)


def test_features_matter_for_the_classes_that_they_tell_apart():
    X = np.random.default_rng(0).normal(size=(600, 3))
    y = np.where(X[:, 0] > 0.5, "first", np.where(X[:, 1] > 0, "second", "third"))
    model = CoMBoClassifier(n_estimators=1, max_depth=2).fit(X, y)
    first, second, third = model.class_importances_
    assert first[0] == 1.0
    assert second[1] > second[0]
    assert third[1] > third[0]
    assert not model.class_importances_[:, 2].any()


# For other packages


def test_shap_gets_all_that_its_plots_need():
    shap = pytest.importorskip("shap", reason="shap takes more than 200 MB; pip install comboost[shap]")
    frame, y = make_table(50)
    model = CoMBoClassifier(n_estimators=3).fit(frame, y)
    found = model.to_shap()(frame)
    assert isinstance(found, shap.Explanation)
    values, base = model.explain(frame)
    np.testing.assert_array_equal(found.values, values)
    np.testing.assert_array_equal(found.base_values, np.tile(base, (50, 1)))
    assert found.feature_names == list(frame.columns)
    assert found.output_names == model.classes_.tolist()
    assert found[..., 1].values.shape == (50, 4)
    assert found.data.shape == frame.shape


def test_shap_explains_the_same_trees_alike():
    shap = pytest.importorskip("shap", reason="shap takes more than 200 MB; pip install comboost[shap]")
    X = np.random.default_rng(0).normal(size=(200, 4))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > X[:, 2])
    model = ConfusionBoostingClassifier(n_estimators=3, max_depth=4).fit(X, y)
    total = 0.0
    for _, nodes in model.trees_to_frame().groupby("round"):
        inner = nodes["left"].notna().to_numpy()
        covers = nodes["cover"].to_numpy()
        tree = {
            "children_left": nodes["left"].fillna(-1).to_numpy(np.int32),
            "children_right": nodes["right"].fillna(-1).to_numpy(np.int32),
            "children_default": nodes["right"].fillna(-1).to_numpy(np.int32),
            "features": np.where(inner, nodes["feature"].fillna("x0").str[1:].astype(int), -2).astype(np.int32),
            "thresholds": nodes["threshold"].fillna(0).to_numpy(),
            "values": nodes.filter(like="value_").fillna(0).to_numpy(),
            "node_sample_weight": covers,
        }
        explainer = shap.TreeExplainer({"trees": [tree]}, feature_perturbation="tree_path_dependent")
        total = total + explainer.shap_values(X, check_additivity=False)  # it does not know the base
    np.testing.assert_allclose(model.explain(X).values, total, rtol=1e-6, atol=1e-7)


def test_missing_shap_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "shap", None)
    model = CoMBoClassifier(n_estimators=1).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ImportError, match=re.escape("Run `pip install shap`")):
        model.to_shap()
