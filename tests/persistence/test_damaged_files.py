"""Damaged models: what is loaded is the model that was stored, or it is refused before it can predict."""

import copy
import pickle
import pickletools
from datetime import UTC, date, datetime, timedelta

import joblib
import numpy as np
import pytest
from boosters import NoCallback, share_of_right
from models import everything
from sklearn.tree import DecisionTreeClassifier

from comboost import AdaBoostMMClassifier, CoMBoClassifier, ConfusionBoostingClassifier
from comboost._engine.forest import Forest, Tree
from comboost._persistence.model_file import stored_parts
from comboost._persistence.pickling import make_state
from comboost._types import LEAF, NO_SET, NODE_DTYPE
from comboost.baselines import AdaBoostNCClassifier


def make_rows():
    """Numbers, missing ones and categories, with three classes."""
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 4))
    X[random.random(X.shape) < 0.1] = np.nan
    X[:, 3] = random.integers(0, 9, len(X))
    labels = (np.nan_to_num(X[:, 0]) > 0.3) + 1 * (X[:, 3] % 3 == 1)
    return X, np.array(["ash", "elm", "fir"])[np.where(random.random(len(X)) < 0.2, random.integers(0, 3, 300), labels)]


X, Y = make_rows()
MODELS = {
    "combo": CoMBoClassifier(n_estimators=5, categorical_features=[3]).fit(X, Y),
    "mm": AdaBoostMMClassifier(n_estimators=2, max_depth=None, categorical_features=[3]).fit(X, Y),
    "confusion": ConfusionBoostingClassifier(n_estimators=5, categorical_features=[3]).fit(X, Y),
    "isotonic": CoMBoClassifier(n_estimators=2, categorical_features=[3], calibration="isotonic").fit(X, Y),
    "nc": AdaBoostNCClassifier(n_estimators=3, categorical_features=[3], random_state=0).fit(X, Y),
}
for_models = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
COMBO, CONFUSION = MODELS["combo"], MODELS["confusion"]


def load(kind, state):
    """An object of a class from its state, as pickle makes it."""
    loaded = object.__new__(kind)
    loaded.__setstate__(state)
    return loaded


def forged(model, change):
    """What is loaded of a model that was changed on purpose: its checksums are right."""
    parameters, attributes = stored_parts(model)
    parameters = {name: value for name, value in vars(model).items() if name in parameters}
    attributes = copy.deepcopy(attributes)
    change(attributes)
    return load(type(model), make_state(parameters, attributes))


# What is stored is what is loaded


def through_joblib(model, path, mmap_mode):
    joblib.dump(model, path)
    return joblib.load(path, mmap_mode=mmap_mode)


COPIES = {
    "copy": lambda model, path: copy.copy(model),
    "deepcopy": lambda model, path: copy.deepcopy(model),
    "joblib": lambda model, path: through_joblib(model, path, None),
    "mapped": lambda model, path: through_joblib(model, path, "r"),
    "cloudpickle": lambda model, path: pickle.loads(pytest.importorskip("cloudpickle").dumps(model)),
    **{f"pickle {p}": lambda model, path, p=p: pickle.loads(pickle.dumps(model, p)) for p in (2, 4, 5)},
}


@for_models
@pytest.mark.parametrize("make", COPIES.values(), ids=COPIES)
def test_every_kind_of_copy_is_the_model(model, make, tmp_path):
    found = make(model, tmp_path / "model")
    assert everything(found) == everything(model)
    assert found.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    assert everything(pickle.loads(pickle.dumps(found))) == everything(model)


@for_models
def test_skops_has_to_trust_nothing_but_the_estimator(model):
    skops = pytest.importorskip("skops.io")
    stored = skops.dumps(model)
    kind = type(model)
    assert skops.get_untrusted_types(data=stored) == [f"{kind.__module__}.{kind.__name__}"]
    loaded = skops.loads(stored, trusted=[f"{kind.__module__}.{kind.__name__}"])
    assert everything(loaded) == everything(model)


ODD_PARAMETERS = {
    "categorical_features": [True, np.False_, np.int8(1)],
    "cost_matrix": np.array([[0, 1], [2, 0]], order="F"),
    "scoring": share_of_right,
    "random_state": np.random.RandomState(0),
    "max_depth": 10**5000,
    "tol": datetime(2000, 1, 1, tzinfo=UTC),
    "learning_rate": np.float32(0.5),
    "proba": (1, [2.0, None, {"a": b"b", date(2000, 1, 1): float("nan"), datetime(2000, 1, 1): timedelta(1)}]),
    "max_features": np.array([np.datetime64("2000"), np.datetime64("NaT", "s")]),
    "estimator": DecisionTreeClassifier(),
    "step": np.array(["a", None, ("b", 2**70)], dtype=object),
}


def test_parameters_of_any_type_are_stored():
    model = CoMBoClassifier(**ODD_PARAMETERS)
    found = pickle.loads(pickle.dumps(model))
    assert set(found.__getstate__()["objects"]) == {
        "parameters/scoring",
        "parameters/max_depth",
        "parameters/estimator",
    }
    assert found.max_depth == model.max_depth
    for shown in (found, model):
        shown.set_params(max_depth=1, random_state=0)  # which say too much, or too little
    assert repr(found.get_params()) == repr(model.get_params())


def test_a_list_that_holds_itself_is_stored():
    model = CoMBoClassifier(scoring=[])
    model.scoring.append(model.scoring)
    found = pickle.loads(pickle.dumps(model))
    assert found.scoring[0] is found.scoring


def test_models_of_other_weak_learners_and_with_callbacks_are_stored():
    model = CoMBoClassifier(n_estimators=2, estimator=DecisionTreeClassifier(max_depth=2)).set_callbacks(NoCallback())
    model.fit(np.nan_to_num(X), Y)
    found = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(found.predict(np.nan_to_num(X)), model.predict(np.nan_to_num(X)))
    state = model.__getstate__()
    assert "estimators_" in state["objects"]
    state["json"] = state["json"].replace('"n_iter_": 2', '"n_iter_": 1')
    with pytest.raises(ValueError, match="does not match its checksum"):
        load(CoMBoClassifier, state)


# What was damaged is refused


@for_models
def test_no_flipped_bit_of_an_array_goes_unnoticed(model):
    random, pickled = np.random.default_rng(0), pickle.dumps(model)
    arrays = model.__getstate__()["arrays"]
    assert len(arrays) >= 6
    for array in arrays.values():
        begin = pickled.index(array)
        for _ in range(6):
            flipped = bytearray(pickled)
            flipped[begin + random.integers(len(array))] ^= 1 << random.integers(8)
            with pytest.raises(ValueError, match=f"This {type(model).__name__} is damaged: .* intact copy"):
                pickle.loads(flipped)


@for_models
def test_no_flipped_bit_of_the_json_goes_unnoticed(model):
    random, state = np.random.default_rng(0), model.__getstate__()
    for idx in random.choice(len(state["json"]), 100, replace=False):
        changed = chr(ord(state["json"][idx]) ^ (1 << int(random.integers(7))))
        with pytest.raises(ValueError, match="damaged"):
            load(type(model), state | {"json": state["json"][:idx] + changed + state["json"][idx + 1 :]})


@for_models
def test_no_changed_entry_goes_unnoticed(model):
    state = model.__getstate__()
    for part in (state, state["arrays"]):
        for name in part:
            others = [{key: value for key, value in part.items() if key != name}]
            others += [{(f"{key}x" if key == name else key): value for key, value in part.items()}]
            others += [part | {name: other} for other in ([], "other", 7.5, np.full((3, 3), 0.5), b"", object())]
            for other in others:
                with pytest.raises(ValueError, match="damaged"):
                    load(type(model), other if part is state else state | {"arrays": other})
    for name, other in (("arrays", {"more.npy": b""}), ("objects", {"parameters/tol": 1.0})):
        with pytest.raises(ValueError, match="belong to nothing"):
            load(type(model), state | {name: state[name] | other})


UNKNOWN_STATES = {
    "nothing": None,
    "a number": 5,
    "an empty state": {},
    "attributes": vars(COMBO),
    "no format": {"format": None},
    "another format": {"format": 0},
}


@pytest.mark.parametrize("state", UNKNOWN_STATES.values(), ids=UNKNOWN_STATES)
def test_states_of_unknown_formats_are_refused(state):
    with pytest.raises(ValueError, match="another version of comboost, or it is damaged"):
        load(CoMBoClassifier, state)


# What was forged is refused, if it would not end well

INNER, LEAFS = (np.flatnonzero((COMBO._forest.nodes["feature"] != LEAF) == inner) for inner in (True, False))
BY_CATEGORY, BY_NUMBER = (
    np.flatnonzero((COMBO._forest.nodes["flags"] & 2 == flag) & (COMBO._forest.nodes["feature"] != LEAF))
    for flag in (2, 0)
)
VALUED_LEAVES = np.flatnonzero(CONFUSION._forest.nodes["feature"] == LEAF)


def write(name, idx, value):
    """A change of one entry of an array of the trees."""

    def change(state):
        state["forest"][name][idx] = value

    return change


def write_node(field, idx, value):
    def change(state):
        state["forest"]["nodes"][field][idx] = value

    return change


def replace(name, make):
    """A change of a whole member of the trees."""

    def change(state):
        state["forest"][name] = make(state["forest"][name])

    return change


def share_children(state):
    """Let two nodes of the first tree have the same children."""
    nodes = state["forest"]["nodes"]
    nodes["left"][1] = nodes["left"][2]


def disorder_thresholds(state):
    nodes = state["forest"]["nodes"]
    for idx, (bin_, threshold) in enumerate(zip((3, 4), (2.0, 1.0), strict=True)):
        nodes["bin"][BY_NUMBER[idx]] = bin_
        nodes["threshold"][BY_NUMBER[idx]] = threshold
        nodes["feature"][BY_NUMBER[idx]] = 0


FORGERIES = {
    "feature": (write_node("feature", INNER[0], 4), r"tree 0, node 0 names feature 4, but there are 4 features"),
    "negative feature": (write_node("feature", INNER[0], -2), "names feature -2"),
    "children outside": (write_node("left", INNER[1], 2**30), r"has its children at 1073741824"),
    "circle": (write_node("left", INNER[0], 0), "has its children at 0"),
    "itself": (write_node("left", 1, 1), "node 1 has its children at 1"),
    "middle": (write_node("left", 0, 2), "has its children at 2, which is not a pair"),
    "shared": (share_children, "has another node's children"),
    "orphans": (write_node("feature", INNER[-1], LEAF), "is a leaf, but has children"),
    "set": (write_node("set", BY_CATEGORY[0], 10**6), "needs set 1000000, but there are"),
    "set of a leaf": (write_node("set", LEAFS[0], 10**6), "needs set 1000000"),
    "no set": (write_node("set", BY_CATEGORY[0], NO_SET), "has no set of categories"),
    "class": (write_node("label", LEAFS[0], 3), "predicts class 3, but there are 3 classes"),
    "flags": (write_node("flags", INNER[0], 4), "unknown flags"),
    "kind": (write_node("flags", BY_NUMBER[0], 2), "treats feature . as categories"),
    "threshold": (write_node("threshold", BY_NUMBER[0], np.nan), "has the threshold nan"),
    "bin": (write_node("bin", BY_NUMBER[0], 255), "names bin 255"),
    "order": (disorder_thresholds, "thresholds of feature 0 do not ascend|where an earlier node has"),
    "leaf": (write_node("left", LEAFS[0], 5), "is a leaf, but has children at 5"),
    "offsets": (write("offsets", 1, 0), "offsets do not divide"),
    "last offset": (write("offsets", -1, 10**9), "offsets do not divide"),
    "weight": (write("weights", 0, np.inf), "a weight is not finite"),
    "unknown kind": (write("kinds", 0, 3), "unknown kind of feature"),
    "fewer weights": (replace("weights", lambda weights: weights[:-1]), "every tree needs a weight"),
    "fewer nodes": (replace("nodes", lambda nodes: nodes[:-1]), "offsets do not divide"),
    "no nodes": (replace("nodes", lambda nodes: nodes[:0]), "offsets do not divide"),
    "fewer kinds": (replace("kinds", lambda kinds: kinds[:0]), "names feature|every feature"),
    "short sets": (replace("sets", lambda sets: sets[:, :31]), r"sets has the shape"),
    "other nodes": (replace("nodes", lambda nodes: nodes.view(np.uint8)), "nodes is no array of type"),
    "a list": (replace("offsets", lambda offsets: offsets.tolist()), "offsets is no array of type int64"),
    "classes": (replace("n_classes", lambda n: -1), "there are -1 classes"),
    "no leaf values": (
        replace("leaf_values", lambda values: np.empty((0, 3), dtype=np.float32)),
        "leaf_values must be",
    ),
    "unknown field": (lambda state: state["forest"].update(more=1), "unexpected keyword argument"),
    "rounds": (lambda state: state.update(n_iter_=99), "n_iter_ is 99 instead of 5"),
    "width": (lambda state: state.update(n_features_in_=9), "n_features_in_ is 9 instead of 4"),
    "labels": (lambda state: state.update(classes_=state["classes_"][:2]), r"classes_ is not an array of shape \(3,\)"),
    "no labels": (lambda state: state.pop("classes_"), r"its attributes \['classes_'\] are missing"),
    "no trees": (lambda state: state.pop("forest"), "trees are missing"),
    "no categories": (lambda state: state["categories"]["values"].clear(), "its categories are not those"),
    "listed categories": (lambda state: state["categories"].update(values=[3]), "has no attribute 'values'"),
    "many categories": (lambda state: state["categories"]["values"].update({3: tuple(range(255))}), "at most 254"),
}


@pytest.mark.parametrize(("change", "words"), FORGERIES.values(), ids=FORGERIES)
def test_trees_that_cannot_be_followed_are_refused(change, words):
    with pytest.raises(ValueError, match=f"This CoMBoClassifier is damaged: .*({words}).*Load it from an intact copy"):
        forged(COMBO, change)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (write_node("left", VALUED_LEAVES[3], 2), "has the values of row 2 instead of row 3"),
        (write("leaf_values", (0, 0), np.nan), "a leaf value is not finite"),
        (replace("leaf_values", lambda values: values[:-1]), "there are values of"),
        (replace("leaf_values", lambda values: values[:, :2]), "leaf_values must be"),
        (replace("leaf_values", lambda values: None), "is a leaf, but has children at 0"),
        (lambda state: state.update(class_prior_=np.ones(4)), "class_prior_ is not an array"),
    ],
)
def test_leaf_values_that_are_not_those_of_the_leaves_are_refused(change, words):
    with pytest.raises(ValueError, match=f"This ConfusionBoostingClassifier is damaged: .*({words})"):
        forged(CONFUSION, change)


@for_models
def test_unchanged_model_is_accepted(model):
    assert everything(forged(model, lambda state: None)) == everything(model)


def test_feature_with_more_thresholds_than_bins_is_refused():
    n_splits = 300
    nodes = chain(n_splits)
    nodes["bin"][0::2][:n_splits] = np.arange(n_splits) % 255
    nodes["threshold"][0::2][:n_splits] = np.arange(n_splits)
    with pytest.raises(ValueError, match=r"tree 0, node 510 has the threshold 255 where an earlier node has 0"):
        forest_of(nodes)
    alone = Tree(nodes.view(np.uint8).reshape(-1, NODE_DTYPE.itemsize), NO_SETS)
    with pytest.raises(ValueError, match="where an earlier node has"):
        alone.add_scores(np.zeros((100, 1)), False, 1.0, np.zeros((100, 2)), 1)


def test_forest_is_checked_on_its_way_to_a_worker():
    forest = COMBO._forest
    forest.nodes["left"][0] = -5
    try:
        pickled = pickle.dumps(forest)
    finally:
        forest.nodes["left"][0] = 1
    with pytest.raises(ValueError, match="has its children at -5"):
        pickle.loads(pickled)
    assert pickle.loads(pickle.dumps(forest)).n_classes == 3


# Trees of any shape that can be followed

NO_SETS = np.empty((0, 32), dtype=np.uint8)


def chain(n_splits):
    """A tree whose right children are divided again and again: values above 0 go all the way."""
    nodes = np.zeros(2 * n_splits + 1, dtype=NODE_DTYPE)
    nodes["set"] = NO_SET
    nodes["feature"] = nodes["left"] = LEAF
    nodes["feature"][0 : 2 * n_splits : 2] = 0
    nodes["left"][0 : 2 * n_splits : 2] = np.arange(1, 2 * n_splits, 2)
    nodes["label"][-1] = 1
    return nodes


def forest_of(nodes):
    return Forest(nodes, NO_SETS, np.array([0, len(nodes)]), np.ones(1), np.zeros(1, dtype=np.uint8), 2)


@pytest.mark.parametrize("n_samples", [1, 100])
def test_tree_as_deep_as_it_has_splits_is_followed_to_its_end(n_samples):
    scores, rows = np.zeros((n_samples, 2)), np.ones((n_samples, 1))
    forest_of(chain(100_000)).add_scores(rows, False, scores, 0, 1, 1)
    assert scores.tolist() == [[0.0, 1.0]] * n_samples
    elected = np.zeros(n_samples, dtype=np.uint16)
    forest_of(chain(100_000)).predict_classes(np.ones((1, n_samples), dtype=np.uint8), 1, elected)
    assert elected.tolist() == [1] * n_samples


@pytest.mark.parametrize("kind", MODELS)
def test_pickles_hold_no_arrays_which_numpy_would_follow_without_a_look(kind):
    model = copy.deepcopy(MODELS[kind])
    model.__dict__ = {**vars(model), "random_state": np.int64(3), "n_jobs": None}
    names = {argument for _, argument, _ in pickletools.genops(pickle.dumps(model)) if isinstance(argument, str)}
    assert not any("numpy" in name or "_reconstruct" in name for name in names)
    assert type(pickle.loads(pickle.dumps(model)).random_state) is np.int64


def put(name, value):
    """A change of an attribute."""
    return lambda state: state.update({name: np.array(value) if isinstance(value, list) else value})


def scale(name, factor):
    def change(state):
        state[name] = state[name] * factor

    return change


def as_object_array(*items):
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


VALUE_FORGERIES = {
    "negative prior": (put("class_prior_", [-0.5, 0.5, 1.0]), "class_prior_"),
    "prior that is not a number": (put("class_prior_", [np.nan, 0.5, 0.5]), "class_prior_"),
    "infinite prior": (put("class_prior_", [np.inf, 0.5, 0.5]), "class_prior_"),
    "priors above 1": (put("class_prior_", [0.5, 0.5, 0.5]), "class_prior_"),
    "priors below 1": (put("class_prior_", [0.25, 0.25, 0.25]), "class_prior_"),
    "class without a prior": (put("class_prior_", [0.0, 0.5, 0.5]), "class_prior_"),
    "large weights": (lambda state: state["forest"]["weights"].fill(1.7e308), "its scores may reach"),
    "large negative weights": (lambda state: state["forest"]["weights"].fill(-1.7e308), "its scores may reach"),
    "duplicate classes": (put("classes_", ["ash", "ash", "fir"]), "classes_"),
    "classes in disorder": (put("classes_", ["fir", "elm", "ash"]), "classes_"),
    "class that is not a number": (put("classes_", [1.0, 2.0, np.nan]), "classes_"),
    "infinite class": (put("classes_", [1.0, 2.0, np.inf]), "classes_"),
    "class that is a fraction": (put("classes_", [1.0, 2.0, 2.5]), "classes_"),
    "class that is not a time": (put("classes_", np.array(["2000", "2001", "NaT"], dtype="M8[D]")), "classes_"),
    "missing class": (put("classes_", as_object_array("ash", "elm", None)), "classes_"),
    "classes of several kinds": (put("classes_", as_object_array("ash", "elm", 3)), "classes_"),
    "complex classes": (put("classes_", [1j, 2j, 3j]), "classes_|complex128"),
    "other estimators": (put("estimators_", [1, 2]), "estimators_"),
    "no other estimators": (put("estimators_", ()), "estimators_"),
    "negative confusion": (scale("train_confusion_", -1.0), "train_confusion_"),
    "confusion above 1": (scale("train_confusion_", 1e6), "train_confusion_"),
    "confusion that is not a number": (scale("train_confusion_", np.nan), "train_confusion_"),
    "negative importances": (scale("feature_importances_", -1.0), "feature_importances_"),
    "infinite importances": (scale("importances", np.inf), "importances"),
    "infinite edges": (scale("edges_", np.inf), "edges_"),
    "loss that is not a number": (scale("loss_curve_", np.nan), "loss_curve_"),
    "negative loss": (scale("loss_curve_", -1.0), "loss_curve_"),
    "bound that is not a number": (scale("bound_curve_", np.nan), "bound_curve_"),
    "negative prices": (put("class_prices_", [-1.0, 1.0, 1.0]), "class_prices_"),
    "prices that are not numbers": (put("class_prices_", [np.nan, 1.0, 1.0]), "class_prices_"),
    "infinite prices": (put("class_prices_", [np.inf, 1.0, 1.0]), "class_prices_"),
}


@pytest.mark.filterwarnings("ignore:invalid value")  # of the forgeries
@pytest.mark.parametrize("kind", ["combo", "confusion"])
@pytest.mark.parametrize("name", VALUE_FORGERIES)
def test_values_that_no_fit_sets_are_refused_by_name(kind, name):
    change, words = VALUE_FORGERIES[name]
    with pytest.raises(
        ValueError, match=rf"This {type(MODELS[kind]).__name__} (is damaged|cannot be saved).*({words})"
    ):
        forged(MODELS[kind], change)


def test_weights_that_are_not_those_of_the_trees_are_refused():
    with pytest.raises(ValueError, match="estimator_weights_"):
        forged(COMBO, scale("estimator_weights_", 2.0))


@pytest.mark.parametrize("value", [3e38, -3e38, 1e31])
def test_leaf_values_that_overflow_are_refused(value):
    with pytest.raises(ValueError, match="its scores may reach"):
        forged(CONFUSION, write("leaf_values", (0, 0), value))


def test_values_at_the_limits_are_accepted():
    forged(COMBO, put("class_prior_", [1 - 1e-300, 1e-300, 1e-300]))
    forged(CONFUSION, write("leaf_values", (0, 0), 1e20))
    forged(CONFUSION, put("class_prices_", [1e-9, 1.0, 1e9]))
    forged(COMBO, put("classes_", as_object_array(-(2**4000), 0, 2**4000)))


CALIBRATION_FORGERIES = {
    "falling": (lambda curves: curves["outputs"].__setitem__(slice(None), curves["outputs"][::-1]), "non-decreasing"),
    "not a number": (lambda curves: curves["outputs"].__setitem__(0, np.nan), "not positive"),
    "nothing": (lambda curves: curves["outputs"].__setitem__(0, 0.0), "not positive"),
    "above 1": (lambda curves: curves["inputs"].__setitem__(-1, 1.5), "not ascending"),
    "another size": (lambda curves: curves.update(inputs=curves["inputs"][1:]), "not those of two classes or more"),
    "far offsets": (lambda curves: curves["offsets"].__setitem__(1, 2**40), "not those of two classes or more"),
    "one class less": (
        lambda curves: (
            curves.update(offsets=np.delete(curves["offsets"], 1), inputs=np.linspace(0, 1, len(curves["inputs"])))
            or curves.update(outputs=np.linspace(0.1, 1, len(curves["inputs"])))
        ),
        "its calibration is one of 2 classes, not of 3",
    ),
    "integers": (
        lambda curves: curves.update(inputs=curves["inputs"].astype(int)),
        "inputs is no array of type float64",
    ),
    "another part": (lambda curves: curves.update(more=1), "unexpected keyword argument"),
}


@pytest.mark.parametrize("name", CALIBRATION_FORGERIES)
def test_forged_curves_of_a_calibration_are_refused(name):
    change, words = CALIBRATION_FORGERIES[name]
    with pytest.raises(ValueError, match=f"This CoMBoClassifier is damaged: .*{words}"):
        forged(MODELS["isotonic"], lambda state: change(state["isotonic"]))


@pytest.mark.parametrize("temperature", [0.0, -1.0, np.nan, np.inf, 1e300, 1, "1", np.float64(1.0), None])
def test_forged_temperature_is_refused(temperature):
    with pytest.raises(ValueError, match=r"temperature_ is .* instead of a number"):
        forged(COMBO, lambda state: state.update(temperature_=temperature))


SEARCHED = {
    "smoothing": 3.0,
    "max_depth": 2,
    "loss": 0.5,
    "best_round": 1,
    "n_rounds": 2,
    "cost": 0.1,
    "outcome": "selected",
    "losses": [0.5, 0.6],
}
SELECTED = {"n_estimators": 5, "learning_rate": 0.3, "max_depth": None, "smoothing": 1.0}


def test_records_of_a_search_are_accepted():
    for records in ([], [{"outcome": "not searched: few samples"}], [SEARCHED, SEARCHED | {"outcome": "stopped"}]):
        forged(CONFUSION, lambda state, records=records: state.update(best_params_=SELECTED, search_results_=records))


@pytest.mark.parametrize(
    "records",
    [
        None,
        {},
        [1],
        [{"outcome": 5}],
        [{"outcome": "selected", "smoothing": 1.0}],
        *(
            [{key: value for key, value in SEARCHED.items() if key != left_out}]
            for left_out in SEARCHED
            if left_out != "outcome"
        ),
        *([SEARCHED | {key: "x"}] for key in SEARCHED),
        [SEARCHED | {"best_round": 0}],
        [SEARCHED | {"best_round": 3}],
        [SEARCHED | {"losses": []}],
        [SEARCHED | {"losses": ["a", "b"]}],
        [SEARCHED, SEARCHED],
        [SEARCHED | {"outcome": "completed"}],
    ],
)
def test_forged_records_of_a_search_are_refused(records):
    with pytest.raises(ValueError, match="search_results_ "):
        forged(CONFUSION, lambda state: state.update(best_params_=SELECTED, search_results_=records))


@pytest.mark.parametrize(
    "selected",
    [
        None,
        {},
        SELECTED | {"foo": 1},
        SELECTED | {"smoothing": None},
        SELECTED | {"n_estimators": 0},
        {"smoothing": 1.0},
    ],
)
def test_forged_settings_of_a_fit_are_refused(selected):
    with pytest.raises(ValueError, match="best_params_ "):
        forged(CONFUSION, lambda state: state.update(best_params_=selected, search_results_=[]))


def test_settings_without_records_are_refused():
    with pytest.raises(ValueError, match="best_params_ or search_results_"):
        forged(CONFUSION, lambda state: state.pop("search_results_"))
