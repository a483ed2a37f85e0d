"""What a pickle of an estimator holds. In: its attributes. Out: plain values under a seal, and the attributes, checked.

Nothing private is in it, so that formats which load only what one trusts, such as skops, have to trust the estimator
alone. The seal holds a checksum: a damaged model is refused when it is loaded, before it can predict. Pickles hold the
bytes of arrays, not arrays: NumPy follows what it finds in a pickle without a look, before anybody can check it.
"""

import zlib
from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import fields
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comboost._boosting.warm_start import Origin
from comboost._data.categories import MAX_CATEGORIES, Categories
from comboost._engine.calibration import TEMPERATURES, IsotonicCurves
from comboost._engine.forest import Forest
from comboost._types import CATEGORIES

SEAL = "_seal"
SEAL_FORMAT = 2  # to be raised when what is stored changes
ARRAY, SCALAR, OBJECTS = "_array", "_scalar", "_objects"  # what stands for arrays in a pickle

#: Attributes that are no plain values; their fields are.
PARTS: dict[str, type[Any]] = {
    "_forest": Forest,
    "_categories": Categories,
    "_origin": Origin,
    "_isotonic": IsotonicCurves,
}

#: What a fit leaves beside attributes that end with an underscore.
PRIVATE_ATTRIBUTES = {"_forest", "_voted", "_categories", "_importances", "_origin", "_promises", "_isotonic"}

#: Types of which ``ascii`` tells all, and the same in every version of Python.
LEAVES = {type(None), bool, int, float, complex, str, bytes, date, timedelta, Decimal}
MAX_ALIKE = 100  # keys of one hash: more are made to keep a dict busy
LONG_INT = 4096  # bits; Python does not write longer ones

#: The shapes of fitted arrays, if they are there: K classes, F features, T rounds, V that were validated.
SHAPES = {
    "classes_": "K",
    "class_prior_": "K",
    "train_confusion_": "KK",
    "feature_names_in_": "F",
    "feature_importances_": "F",
    "_importances": "F",
    "estimator_weights_": "T",
    "edges_": "T",
    "loss_curve_": "T",
    "bound_curve_": "T",
    "_promises": "T",
    "validation_curve_": "V",
}
GONE_ON_FROM = {"edges_", "loss_curve_", "stop_reason_", "_importances"}  # by a warm start
OF_ANY_TYPE = {"classes_", "feature_names_in_"}  # of these arrays; the others hold floats


def plain_state(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes as plain values, but for other people's objects."""
    return {name: fields_of(value) if name in PARTS else value for name, value in attributes.items()}


def seal(state: Mapping[str, Any]) -> dict[str, Any]:
    """A plain state with a checksum of all but what holds other people's objects."""
    skipped = [name for name, value in state.items() if not has_outline(value)]
    return {**state, SEAL: {"format": SEAL_FORMAT, "skipped": skipped, "checksum": checksum(state, skipped)}}


def pack_state(state: Mapping[str, Any]) -> dict[str, Any]:
    """A sealed state without arrays, but for those in other people's objects."""
    skipped = state[SEAL]["skipped"]
    return {name: value if name in skipped else without_arrays(value) for name, value in state.items()}


def unpack_state(state: Mapping[str, Any]) -> dict[str, Any]:
    """What `pack_state` was given."""
    skipped = state[SEAL]["skipped"]
    return {name: value if name in skipped else with_arrays(value) for name, value in state.items()}


def without_arrays(value: Any) -> Any:
    """A plain value with arrays, and numbers of NumPy's, as what they are made of."""
    kind = type(value)
    if kind is list or kind is tuple:
        return kind([without_arrays(item) for item in value])
    if kind is dict:
        return {key: without_arrays(item) for key, item in value.items()}
    if not isinstance(value, np.ndarray | np.generic) or value.dtype.kind == "T":
        return value
    array = np.asarray(value)
    if array.dtype.hasobject:
        return {OBJECTS: (array.shape, without_arrays(array.ravel().tolist()))}
    dtype = array.dtype.descr if array.dtype.names else array.dtype.str
    return {ARRAY if isinstance(value, np.ndarray) else SCALAR: (dtype, array.shape, array.tobytes())}


def with_arrays(value: Any) -> Any:
    """What `without_arrays` was given."""
    kind = type(value)
    if kind is list or kind is tuple:
        return kind([with_arrays(item) for item in value])
    if kind is not dict:
        return value
    if len(value) != 1 or (mark := next(iter(value))) not in (OBJECTS, ARRAY, SCALAR):
        return {key: with_arrays(item) for key, item in value.items()}
    if mark == OBJECTS:
        shape, items = value[mark]
        objects = np.empty(len(items), dtype=object)
        objects[:] = with_arrays(items)
        return objects.reshape(shape)
    dtype, shape, content = value[mark]
    array = np.frombuffer(content, np.dtype(dtype)).reshape(shape)
    return array.copy() if mark == ARRAY else array[()]


def unseal(state: Any, owner: str) -> dict[str, Any]:
    """The attributes that were sealed; ValueError says what is wrong with them.

    Parameters
    ----------
    state : dict
        What was loaded.
    owner : str
        What errors call the estimator.

    Returns
    -------
    dict
        The attributes. Trees can be followed, and arrays have the sizes that they should have.
    """
    if not isinstance(state, dict) or not isinstance(state.get(SEAL), dict) or state[SEAL].get("format") != SEAL_FORMAT:
        raise ValueError(
            f"This {owner} was written by another version of comboost, or it is damaged: its seal is not of format "
            f"{SEAL_FORMAT}. Load it with the version that wrote it, or fit it again."
        )
    try:
        return checked_attributes(unpack_state(state))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"This {owner} is damaged: {error}. Load it from an intact copy, or fit it again.") from error


def checked_attributes(state: dict[str, Any]) -> dict[str, Any]:
    """The attributes, if their checksum is right and they fit each other."""
    content = {name: value for name, value in state.items() if name != SEAL}
    if checksum(content, state[SEAL]["skipped"]) != state[SEAL]["checksum"]:
        raise ValueError("it is not what its checksum says")
    return revive(content)


def revive(content: Mapping[str, Any]) -> dict[str, Any]:
    """What `plain_state` was given, if it fits together: ValueError, or what else Python says, if it does not."""
    attributes = {name: PARTS[name](**value) if name in PARTS else value for name, value in content.items()}
    if "_forest" in attributes:
        check_fitted(attributes)
    elif "n_iter_" in attributes and "estimators_" not in attributes:
        raise ValueError("its trees are not there")
    return attributes


def check_fitted(attributes: Mapping[str, Any]) -> None:
    """Raise if what a fit has left does not belong together."""
    forest = attributes["_forest"]
    sizes = {
        "K": classes_beside(attributes, forest.n_classes),
        "F": len(forest.kinds),
        "T": len(forest.weights),
        "V": np.size(attributes.get("validation_curve_", ())),
    }
    for name, size in {"n_features_in_": "F", "n_iter_": "T"}.items():
        found = attributes[name]
        if not isinstance(found, int | np.integer) or found != sizes[size]:
            raise ValueError(f"{name} is {found!r} instead of {sizes[size]}")
    for name, dimensions in SHAPES.items():
        if name in attributes or name == "classes_":
            check_array(name, attributes.get(name), tuple(sizes[dimension] for dimension in dimensions))
    if not all(isinstance(name, str) for name in attributes.get("feature_names_in_", ())):
        raise ValueError("feature_names_in_ holds names that are no text")
    check_calibration(attributes, forest.n_classes)
    if not isinstance(attributes.get("target_name_", ""), str):  # that of a command line's model
        raise ValueError("target_name_ is no text")
    marks = attributes.get("missing_marks_", [])
    if not isinstance(marks, list) or not all(isinstance(mark, str) for mark in marks):
        raise ValueError("missing_marks_ is no list of text")
    check_categories(attributes["_categories"], np.flatnonzero(forest.kinds == CATEGORIES).tolist())
    if "_origin" in attributes:
        check_origin(attributes["_origin"], forest.n_classes)
        if not attributes.keys() >= GONE_ON_FROM or not isinstance(attributes["stop_reason_"], str):
            raise ValueError(f"a warm start needs {', '.join(sorted(GONE_ON_FROM))}, which are not all there")


def check_array(name: str, array: Any, shape: tuple[int, ...]) -> None:
    """Raise if an attribute is no array of this shape, or does not hold floats where it should."""
    if not isinstance(array, np.ndarray) or array.shape != shape:
        raise ValueError(f"{name} is no array of shape {shape}")
    if name not in OF_ANY_TYPE and array.dtype != np.float64:
        raise ValueError(f"{name} holds {array.dtype.name} instead of float64")


def check_calibration(attributes: Mapping[str, Any], n_classes: int) -> None:
    """Raise if the probabilities of that many classes cannot be calibrated so."""
    if "temperature_" in attributes:
        temperature, (low, high) = attributes["temperature_"], TEMPERATURES
        if type(temperature) is not float or not low <= temperature <= high:
            raise ValueError(f"temperature_ is {temperature!r} instead of a number from {low:g} to {high:g}")
    if "_isotonic" in attributes and attributes["_isotonic"].n_classes != n_classes:
        raise ValueError(f"its calibration is one of {attributes['_isotonic'].n_classes} classes, not of {n_classes}")


def check_categories(categories: Categories, features: list[int]) -> None:
    """Raise if these are no categories, or not those of these features."""
    if sorted(categories.values) != features:
        raise ValueError("its categories are not those of the features that have some")
    if not all(isinstance(known, tuple) and len(known) <= MAX_CATEGORIES for known in categories.values.values()):
        raise ValueError(f"a feature has no list of at most {MAX_CATEGORIES} categories")
    infrequent = categories.infrequent
    if not all(f in categories.values and isinstance(rare, tuple) and rare for f, rare in infrequent.items()):
        raise ValueError("its infrequent categories are not those of features that have some")
    for known in (*categories.values.values(), *infrequent.values()):
        check_hashes(known)


def check_hashes(keys: Iterable[Any]) -> None:
    """Raise if a dict of these keys would be slow, or none."""
    if max(Counter(map(hash, keys)).values(), default=0) > MAX_ALIKE:
        raise ValueError(f"more than {MAX_ALIKE} keys have the same hash")


def check_origin(origin: Origin, n_classes: int) -> None:
    """Raise if a warm start could not go on from this."""
    texts = [*origin.parameters, *origin.parameters.values(), origin.rows]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("what a warm start compares is no text")
    if not isinstance(origin.classes, np.ndarray) or origin.classes.shape != (n_classes,):
        raise ValueError(f"the classes of a warm start are no array of {n_classes}")
    if not isinstance(origin.seed, int) or not isinstance(origin.n_samples, int):
        raise ValueError("the seed or the number of rows of a warm start is no integer")


def classes_beside(attributes: Mapping[str, Any], n_voted: int) -> int:
    """How many classes there should be, if that many are voted for; ValueError if these are not among them."""
    voted = attributes.get("_voted")
    if voted is None:
        return n_voted
    n_classes = len(attributes["classes_"])
    if not isinstance(voted, np.ndarray) or voted.shape != (n_voted,) or voted.dtype.kind != "i":
        raise ValueError(f"the classes that are voted for are no array of {n_voted} places")
    if (np.diff(voted) <= 0).any() or voted[0] < 0 or voted[-1] >= n_classes:
        raise ValueError(f"the places of classes that are voted for do not ascend from 0 to {n_classes - 1}")
    return n_classes


def fields_of(part: Any) -> dict[str, Any]:
    """The fields of a dataclass, as they are."""
    return {field.name: getattr(part, field.name) for field in fields(part)}


def checksum(state: Mapping[str, Any], skipped: Container[str]) -> int:
    """A number that any other values would change, and any other names."""
    arrays: list[NDArray[Any]] = []
    outlines = [(name, None if name in skipped else outline(value, arrays)) for name, value in state.items()]
    total = zlib.crc32(ascii(outlines).encode())
    for array in arrays:
        total = zlib.crc32((array.view(np.int64) if array.dtype.kind in "mM" else array).data, total)
    return total


def has_outline(value: Any) -> bool:
    """Whether a value is made of nothing but plain ones."""
    try:
        outline(value, [])
    except (TypeError, RecursionError):
        return False
    return True


def outline(value: Any, arrays: list[NDArray[Any]]) -> Any:
    """A value without what its arrays hold, which are added to a list; TypeError if it is not plain."""
    kind = type(value)
    if kind in LEAVES and (kind is not int or value.bit_length() <= LONG_INT):
        return value
    if kind is datetime and value.tzinfo is None:  # time zones are anybody's objects
        return value
    if kind is list or kind is tuple:
        return kind([outline(item, arrays) for item in value])
    if kind is dict:
        return [(outline(key, arrays), outline(item, arrays)) for key, item in value.items()]
    if kind is np.ndarray or kind is np.memmap:  # which a file becomes that is not read at once
        return outline_array(value, arrays)
    if isinstance(value, np.generic):
        return "scalar", outline_array(np.asarray(value), arrays)
    raise TypeError(f"{kind.__name__} is no plain type")


def outline_array(array: NDArray[Any], arrays: list[NDArray[Any]]) -> Any:
    """The type and shape of an array, which is added to a list; objects as what they are."""
    dtype = array.dtype
    if dtype.hasobject or dtype.kind == "T":  # references; the text of NumPy's StringDType, too
        return dtype.kind, array.shape, outline(array.ravel().tolist(), arrays)
    arrays.append(np.ascontiguousarray(array))
    return dtype.descr if dtype.names else dtype.str, array.shape
