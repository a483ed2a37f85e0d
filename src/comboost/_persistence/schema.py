"""Fitted attributes as they are stored: names, types and checks, for pickles and model files."""

import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from types import NoneType
from typing import Any, NamedTuple

import numpy as np

from comboost._boosting.warm_start import FitFingerprint
from comboost._data.categories import MAX_CATEGORIES, Categories
from comboost._data.checks import shown
from comboost._data.labels import exact_labels
from comboost._engine import memory
from comboost._engine.forest import Forest
from comboost._engine.probabilities import TEMPERATURES, IsotonicCurves
from comboost._persistence.plain_values import Arrays, check_hashes, to_json
from comboost._types import CATEGORIES, LEAF, MAX_BINS, NODE_DTYPE

LARGEST = float(np.finfo(np.float64).max)
LARGEST_SCORE = 1e30  # leaf values of a fit are logarithms, below 100
SUM_TOLERANCE = 1e-6  # of proportions
THRESHOLDS_OF_FEATURE = 8 * MAX_BINS + 8  # bytes, while thresholds of different trees are compared
FORMAT = 1  # of pickles and model files; raise it when what is stored changes
OBJECT = "$object"  # tag of a value that a pickle holds as it is


class Sizes(NamedTuple):
    """Sizes of the arrays of a model. ``n_scored`` classes have scores: those with a positive weight in training."""

    n_classes: int
    n_scored: int
    n_features: int
    n_rounds: int
    categorical: list[int]


Check = Callable[[str, Any, Sizes], None]


def equals(size: str) -> Check:
    """Check that a number is one of the sizes."""

    def check(name: str, value: Any, sizes: Sizes) -> None:
        expected = getattr(sizes, size)
        if not isinstance(value, int | np.integer) or value != expected:
            raise ValueError(f"{name} is {value!r} instead of {expected}")

    return check


def array_of(*dimensions: str, dtype: Any = None) -> Check:
    """Check the shape of an array, and its type unless that is None; an empty name is any size."""

    def check(name: str, value: Any, sizes: Sizes) -> None:
        shape = value.shape if isinstance(value, np.ndarray) else None
        expected = tuple(getattr(sizes, size) if size else np.size(value) for size in dimensions)
        if shape != expected:
            raise ValueError(f"{name} is not an array of shape {expected}")
        if dtype is not None and value.dtype != dtype:
            raise ValueError(f"{name} holds {value.dtype.name} instead of {np.dtype(dtype).name}")

    return check


def floats_of(*dimensions: str) -> Check:
    """Check the shape of an array of float64."""
    return array_of(*dimensions, dtype=np.float64)


def numbers_of(*dimensions: str, least: float = -LARGEST, most: float = LARGEST) -> Check:
    """Check the shape of an array of float64, and that its values are numbers from ``least`` to ``most``."""
    check_floats = floats_of(*dimensions)

    def check(name: str, value: Any, sizes: Sizes) -> None:
        check_floats(name, value, sizes)
        wrong = ~((value >= least) & (value <= most))
        if wrong.any():
            limits = f"from {least:g} to {most:g}" if most < LARGEST else f"of at least {least:g}, and finite"
            raise ValueError(f"{name} holds {value[wrong][0]}; its values should be {limits}")

    return check


def check_text(name: str, value: Any, sizes: Sizes) -> None:
    """Raise if a value is not text."""
    if not isinstance(value, str):
        raise ValueError(f"{name} is not text")


def check_texts(name: str, value: Any, sizes: Sizes) -> None:
    """Raise if a value is not a list of text."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"{name} is not a list of text")


#: Types of the values in `best_params_` and in a record of `search_results_`.
SELECTED = {
    "n_estimators": (int,),
    "learning_rate": (float, int),
    "max_depth": (int, NoneType),
    "smoothing": (float, int),
}
RECORD = {
    "smoothing": (float, int),
    "max_depth": (int, NoneType),
    "loss": (float,),
    "best_round": (int,),
    "n_rounds": (int,),
    "cost": (float,),
    "outcome": (str,),
    "losses": (list,),
}


def has_types(value: Any, types: Mapping[str, tuple[type, ...]]) -> bool:
    """Whether a value is a dict with exactly these keys, and values of these types."""
    return (
        isinstance(value, dict)
        and value.keys() == types.keys()
        and all(type(value[key]) in allowed for key, allowed in types.items())
    )


def check_selected(name: str, value: Any, sizes: Sizes) -> None:
    """Raise if a value does not hold the settings of a fit."""
    if not has_types(value, SELECTED) or value["n_estimators"] < 1 or (value["max_depth"] or 1) < 1:
        raise ValueError(f"{name} is not a dict with the numbers {list(SELECTED)}")


def check_records(name: str, value: Any, sizes: Sizes) -> None:
    """Raise if a value is not a list of the records of a search: none, the reason why there is none, or candidates."""
    if not isinstance(value, list):
        raise ValueError(f"{name} is not a list of records")
    if not value or (len(value) == 1 and has_types(value[0], {"outcome": (str,)})):
        return
    for record in value:
        if not has_types(record, RECORD) or not all(type(loss) is float for loss in record["losses"]):
            raise ValueError(f"{name} has a record that is not one of a candidate")
        if not 1 <= record["best_round"] <= record["n_rounds"] == len(record["losses"]):
            raise ValueError(f"{name} has a record with other rounds than losses")
    if sorted(record["outcome"] == "selected" for record in value)[-2:] not in ([False, True], [True]):
        raise ValueError(f"{name} has not one selected candidate")
    if not {record["outcome"] for record in value} <= {"selected", "completed", "stopped"}:
        raise ValueError(f"{name} has an unknown outcome")


def check_feature_names(name: str, value: Any, sizes: Sizes) -> None:
    """Raise if features do not have one name each."""
    array_of("n_features")(name, value, sizes)
    if not all(isinstance(item, str) for item in value):
        raise ValueError(f"{name} holds names that are not text")


def check_classes(name: str, value: Any, sizes: Sizes) -> None:
    """Raise if the classes are not distinct labels in ascending order."""
    array_of("n_classes")(name, value, sizes)
    exact_labels(value, name)  # raises if one is missing, or not a label
    if not np.all(value[:-1] < value[1:]):
        raise ValueError(f"{name} holds classes twice, or not in ascending order")


def check_prior(name: str, value: Any, sizes: Sizes) -> None:
    """Raise if the proportions of the classes are not those of a training set."""
    numbers_of("n_classes", least=0.0, most=1.0)(name, value, sizes)
    if abs(value.sum() - 1.0) > SUM_TOLERANCE:
        raise ValueError(f"{name} sums to {value.sum()} instead of 1")


def check_scores(name: str, value: Forest, sizes: Sizes) -> None:
    """Raise if scores could overflow in what follows: probabilities, and exported models, whose floats have 32 bits."""
    values = value.leaf_values
    largest = 1.0 if values is None else max(1.0, float(values.max()), -float(values.min()))
    with np.errstate(over="ignore"):
        reach = largest * max(float(np.abs(value.weights).sum()), float(sizes.n_rounds))
    if not reach <= LARGEST_SCORE:
        raise ValueError(f"its scores may reach {reach:g}; those of a fit are at most {LARGEST_SCORE:g}")


def check_scored_classes(name: str, value: Any, sizes: Sizes) -> None:
    """Raise if the classes with scores are not ascending indices of classes."""
    if value is None:
        return
    if not isinstance(value, np.ndarray) or value.shape != (sizes.n_scored,) or value.dtype.kind != "i":
        raise ValueError(f"the classes that have scores are not an array of {sizes.n_scored} indices")
    if (np.diff(value) <= 0).any() or value[0] < 0 or value[-1] >= sizes.n_classes:
        raise ValueError(f"the indices of classes that have scores do not ascend from 0 to {sizes.n_classes - 1}")


def check_temperature(name: str, value: Any, sizes: Sizes) -> None:
    """Raise if a temperature is not one that a fit can find."""
    low, high = TEMPERATURES
    if type(value) is not float or not low <= value <= high:
        raise ValueError(f"{name} is {value!r} instead of a number from {low:g} to {high:g}")


def check_isotonic(name: str, value: IsotonicCurves, sizes: Sizes) -> None:
    """Raise if there is not one curve per class that has scores."""
    if value.n_classes != sizes.n_scored:
        raise ValueError(f"its calibration is one of {value.n_classes} classes, not of {sizes.n_scored}")


def check_categories(name: str, value: Categories, sizes: Sizes) -> None:
    """Raise if categories are not valid, or not those of the categorical features."""
    if sorted(value.values) != sizes.categorical:
        raise ValueError("its categories are not those of the categorical features")
    if not all(isinstance(known, tuple) and len(known) <= MAX_CATEGORIES for known in value.values.values()):
        raise ValueError(f"a feature has no list of at most {MAX_CATEGORIES} categories")
    if not all(f in value.values and isinstance(rare, tuple) and rare for f, rare in value.infrequent.items()):
        raise ValueError("its infrequent categories are not those of categorical features")
    for known in (*value.values.values(), *value.infrequent.values()):
        check_hashes(known)


def check_origin(name: str, value: FitFingerprint, sizes: Sizes) -> None:
    """Raise if a warm start could not continue from this."""
    if not all(isinstance(text, str) for text in [*value.parameters, *value.parameters.values(), value.rows]):
        raise ValueError("the fingerprints of a warm start are not text")
    if not isinstance(value.classes, np.ndarray) or value.classes.shape != (sizes.n_scored,):
        raise ValueError(f"the classes of a warm start are not an array of {sizes.n_scored}")
    if not isinstance(value.seed, int) or not isinstance(value.n_samples, int):
        raise ValueError("the seed or the number of samples of a warm start is not an integer")


@dataclass(frozen=True)
class Attribute:
    """A fitted attribute."""

    check: Check | None  # raises ValueError if the value does not fit the rest of the model
    stored_as: str = ""  # name in pickles and files, unless it is the attribute's
    part: type[Any] | None = None  # dataclass of the value, of which the fields are stored


#: Every fitted attribute, by its name in Python.
FITTED: Mapping[str, Attribute] = {
    "n_features_in_": Attribute(equals("n_features")),
    "n_iter_": Attribute(equals("n_rounds")),
    "classes_": Attribute(check_classes),
    "class_prior_": Attribute(check_prior),
    "train_confusion_": Attribute(numbers_of("n_classes", "n_classes", least=0.0, most=1.0 + SUM_TOLERANCE)),
    "feature_names_in_": Attribute(check_feature_names),
    "feature_importances_": Attribute(numbers_of("n_features", least=-SUM_TOLERANCE)),
    "estimator_weights_": Attribute(numbers_of("n_rounds")),
    "estimators_": Attribute(None),
    "edges_": Attribute(numbers_of("n_rounds")),
    "loss_curve_": Attribute(numbers_of("n_rounds", least=0.0)),
    "bound_curve_": Attribute(numbers_of("n_rounds", least=-math.inf, most=math.inf)),
    "validation_curve_": Attribute(floats_of("")),
    "best_params_": Attribute(check_selected),
    "search_results_": Attribute(check_records),
    "class_prices_": Attribute(numbers_of("n_scored", least=sys.float_info.min)),
    "temperature_": Attribute(check_temperature),
    "stop_reason_": Attribute(check_text),
    "target_name_": Attribute(check_text),  # set by the command line, as is the next one
    "missing_markers_": Attribute(check_texts),
    "_forest": Attribute(check_scores, "forest", Forest),  # which checks its trees itself
    "_categories": Attribute(check_categories, "categories", Categories),
    "_trained_indices": Attribute(check_scored_classes, "scored_classes"),
    "_importances": Attribute(numbers_of("n_features", least=-SUM_TOLERANCE), "importances"),
    "_decreases": Attribute(floats_of("n_rounds"), "bounds"),
    "_isotonic": Attribute(check_isotonic, "isotonic", IsotonicCurves),
    "_origin": Attribute(check_origin, "origin", FitFingerprint),
}
NAMES = {attribute.stored_as or name: name for name, attribute in FITTED.items()}  # in Python, by stored names
REQUIRED = ("n_features_in_", "n_iter_", "classes_", "_categories")
REQUIRED_BY_WARM_START = ("edges_", "loss_curve_", "stop_reason_", "_importances")


def pack(
    parameters: Mapping[str, Any], attributes: Mapping[str, Any]
) -> tuple[dict[str, Any], Arrays, dict[str, Exception]]:
    """Convert parameters and stored attributes to JSON and arrays; return both, and errors by path.

    A value that is not plain has an error, and is ``{"$object": path}`` in the JSON.
    """
    arrays: Arrays = {}
    errors: dict[str, Exception] = {}

    def convert(value: Any, path: str) -> Any:
        own: Arrays = {}
        try:
            converted = to_json(value, path, own)
        except (TypeError, RecursionError) as error:
            errors[path] = error
            return {OBJECT: path}
        arrays.update(own)
        return converted

    content = {
        "parameters": {name: convert(value, f"parameters/{name}") for name, value in parameters.items()},
        "attributes": {name: convert(value, name) for name, value in attributes.items()},
    }
    return content, arrays, errors


def to_stored(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return fitted attributes under their stored names, dataclasses as dicts."""
    stored = {}
    for name, value in attributes.items():
        attribute = FITTED[name]
        if attribute.part is not None:  # dataclasses.asdict would copy the arrays
            value = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        stored[attribute.stored_as or name] = value
    return stored


def from_stored(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Invert `to_stored`; ValueError, TypeError or AttributeError if the attributes do not make a sound model."""
    unknown = stored.keys() - NAMES.keys()
    if unknown:
        raise ValueError(f"the attributes {shown(sorted(unknown))} are not those of a fitted model")
    if "forest" in stored:
        check_memory(stored["forest"])
    attributes = {}
    for stored_name, value in stored.items():
        part = FITTED[NAMES[stored_name]].part
        attributes[NAMES[stored_name]] = value if part is None else part(**value)
    if "_forest" in attributes:
        check_fitted(attributes)
    elif "n_iter_" in attributes and "estimators_" not in attributes:
        raise ValueError("its trees are missing")
    return attributes


def check_memory(forest: Any) -> None:
    """Raise if the trees use so many features that their thresholds, which are compared, do not fit into memory."""
    nodes = forest.get("nodes")
    if not isinstance(nodes, np.ndarray) or nodes.dtype != NODE_DTYPE:  # which is refused later
        return
    n_splits = len(nodes) // 2
    if THRESHOLDS_OF_FEATURE * n_splits <= memory.NOT_WORTH_ASKING:
        return
    n_used = len(np.setdiff1d(nodes["feature"], [LEAF]))
    n_held = 1 << max(n_used - 1, 0).bit_length()  # the list of thresholds doubles its size when it is full
    uses = {f"the thresholds of {n_used} features": THRESHOLDS_OF_FEATURE * n_held}
    memory.check_large("This model", uses, "Load it where there is more memory, or fit one that uses fewer features.")


def check_fitted(attributes: Mapping[str, Any]) -> None:
    """Raise if the attributes of a fitted model do not fit each other."""
    missing = [name for name in REQUIRED if name not in attributes]
    if ("best_params_" in attributes) != ("search_results_" in attributes):
        missing += ["best_params_ or search_results_"]
    if "_origin" in attributes:
        missing += [name for name in REQUIRED_BY_WARM_START if name not in attributes]
    if missing:
        raise ValueError(f"its attributes {missing} are missing")
    forest: Forest = attributes["_forest"]
    sizes = Sizes(
        n_classes=forest.n_classes if attributes.get("_trained_indices") is None else len(attributes["classes_"]),
        n_scored=forest.n_classes,
        n_features=len(forest.kinds),
        n_rounds=len(forest.weights),
        categorical=np.flatnonzero(forest.kinds == CATEGORIES).tolist(),
    )
    for name, value in attributes.items():
        check = FITTED[name].check
        if check is not None:
            check(name, value, sizes)
    check_together(attributes, forest, sizes)


def check_together(attributes: Mapping[str, Any], forest: Forest, sizes: Sizes) -> None:
    """Raise if attributes that are valid by themselves contradict each other."""
    if "estimators_" in attributes:
        raise ValueError("estimators_ holds weak learners of another library, beside its trees")
    if not np.array_equal(attributes.get("estimator_weights_", forest.weights), forest.weights):
        raise ValueError("estimator_weights_ are not the weights of its trees")
    trained = attributes.get("_trained_indices")
    prior = attributes.get("class_prior_", np.ones(sizes.n_classes))
    if not (prior if trained is None else prior[trained]).all():
        raise ValueError("class_prior_ is 0 for a class that has scores")
