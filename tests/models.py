"""Shared by the tests of whole models: fitting a drawn problem, and the bytes of a fitted model."""

import dataclasses
from itertools import pairwise

import numpy as np
from reference import leaf_reference, quantised_reference
from sklearn.utils import check_random_state

from comboost import AdaBoostMMClassifier, CoMBoClassifier, ConfusionBoostingClassifier
from comboost._data import validation
from comboost._types import CATEGORICAL, LEAF, MISSING_LEFT

ALGORITHMS = {"combo": CoMBoClassifier, "mm": AdaBoostMMClassifier}
CLASSIFIERS = ALGORITHMS | {"confusion": ConfusionBoostingClassifier}


def booster_for(problem, **changed):
    """Return the package's classifier with the settings of a problem."""
    parameters = {name: value for name, value in problem.settings.items() if name not in ("algorithm", "seed")}
    algorithm = CLASSIFIERS[problem.settings.get("algorithm", "combo")]
    parameters |= {"cost_matrix": problem.cost_matrix, "random_state": problem.settings.get("seed", 0)}
    if problem.categorical:
        parameters["categorical_features"] = list(problem.categorical)
    return algorithm(**(parameters | changed))


def fit(problem, **changed):
    """Fit the package's model of a problem."""
    return booster_for(problem, **changed).fit(problem.X, problem.y, problem.sample_weight)


def fit_reference(problem, reference=quantised_reference):
    """Fit a reference implementation, whose model the package's equals bit for bit."""
    seed = int(check_random_state(problem.settings.get("seed", 0)).randint(np.iinfo(np.int32).max))
    settings = {**problem.settings, "seed": seed}
    if settings.get("algorithm") == "confusion":
        reference = leaf_reference
        del settings["algorithm"]
    return reference.fit(
        problem.X,
        problem.y,
        **settings,
        cost_matrix=problem.cost_matrix,
        sample_weight=problem.sample_weight,
        categorical=problem.categorical,
    )


def learned_arrays(model):
    """Learned arrays beside the weak learners; models with one value per class in a leaf have no round weights."""
    names = ["edges_", "loss_curve_", "bound_curve_", "train_confusion_", "feature_importances_"]
    if hasattr(model, "estimator_weights_"):
        names.insert(0, "estimator_weights_")
    return tuple(getattr(model, name) for name in names)


def model_bytes(model):
    """Every bit of a fitted model but the names of its classes."""
    forest = model._forest
    some = (array for array in (forest.leaf_values, forest.covers) if array is not None)
    arrays = (forest.nodes, forest.sets, forest.offsets, forest.weights, *some, *learned_arrays(model))
    return (*(np.ascontiguousarray(array).tobytes() for array in arrays), model.stop_reason_)


def trees_of(model):
    """The trees of a model, node by node as in the references, which give leaves and category sets no bin."""
    trees = (model._forest.nodes[begin:end] for begin, end in pairwise(model._forest.offsets))
    return [[in_words(node, model._forest.sets) for node in tree] for tree in trees]


def in_words(node, sets):
    is_leaf, by_set = node["feature"] == LEAF, bool(node["flags"] & CATEGORICAL)
    left_codes = None
    if by_set:
        left_codes = frozenset(np.flatnonzero(np.unpackbits(sets[node["set"]], bitorder="little")).tolist())
    bin_of = -1 if is_leaf or by_set else node["bin"]
    missing_left = bool(node["flags"] & MISSING_LEFT)
    left = -1 if is_leaf else node["left"]
    return node["feature"], bin_of, node["threshold"], left, node["label"], missing_left, left_codes


def leaf_votes(model):
    """Leaf values of every tree, one per class, in the order of the nodes."""
    trees = (model._forest.nodes[begin:end] for begin, end in pairwise(model._forest.offsets))
    return [model._forest.leaf_values[tree["left"][tree["feature"] == LEAF]] for tree in trees]


def trees_of_reference(trees):
    """The trees of a reference, in the form of `trees_of`."""
    return [
        [(n.feature, n.bin, n.threshold, n.left, n.label, n.missing_left, n.left_codes) for n in nodes]
        for nodes in trees
    ]


def fit_categories(raw, features):
    """The categories of a table, without the codes of its rows."""
    return validation.fit_categories(raw, features, None)[0]


def spectral_norm(matrix):
    return float(np.linalg.norm(matrix, ord=2))


def everything(model):
    """All attributes of a model, in bytes. A pickle also depends on how objects refer to each other."""
    return type(model).__name__, [(name, in_bytes(value)) for name, value in vars(model).items()]


def in_bytes(value):
    """A value as bytes, with its type."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.dtype.descr, value.shape, value.tobytes()
    if dataclasses.is_dataclass(value):
        return type(value).__name__, [
            in_bytes(getattr(value, part.name)) for part in dataclasses.fields(value) if part.init
        ]
    return repr(value.tolist() if isinstance(value, np.ndarray) else value)
