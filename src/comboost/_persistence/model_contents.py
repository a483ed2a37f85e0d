"""What a model file holds. In: a fitted estimator, or the members of a file. Out: those members, or the estimator.

``model.json`` says what the model is, and every array is a ``.npy`` beside it. To load one runs no code of the file's:
it names one of the estimators below and holds its parameters, fitted attributes and arrays, which pass the same checks
as a pickle.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import version
from typing import Any

from numpy.typing import NDArray

from comboost._boosting.monitor import CALLBACKS
from comboost._data.checks import shown
from comboost._engine.memory import check_large
from comboost._persistence.archive import Archive, Members
from comboost._persistence.arrays import as_buffer, check_items, expect, npy_header, read_dtype, read_shape
from comboost._persistence.json_values import from_json, to_json
from comboost._persistence.state import PRIVATE_ATTRIBUTES, plain_state, revive

FILE_FORMAT = 2  # to be raised when what is stored changes; the formats below it stay readable
WHAT = "comboost model"
MODEL = "model.json"
MODEL_ENTRIES = ("file", "format", "comboost", "estimator", "parameters", "attributes", "checksum")
MAX_JSON = 2**26  # bytes
READ_JSON = 50  # bytes that a byte of JSON may become, twice: '[],' is a list
MAX_VERSION = 100  # characters
MAX_DIGITS = 1240  # of an integer, a few more than LONG_INT bits have

#: The estimators that files hold, and where they are.
KINDS = {
    "CoMBoClassifier": "comboost",
    "AdaBoostMMClassifier": "comboost",
    "ConfusionBoostingClassifier": "comboost",
    "AdaBoostNCClassifier": "comboost.baselines",
    "SMOTEBoostClassifier": "comboost.baselines",
}

MEANING = {False: "estimator_weights_", True: "class_prior_"}  # of votes for one class, and for every class

#: What to do about attributes that are no plain values.
REMEDIES = {
    "estimator": "pickle it: weak learners of another library are objects, which no file without code can hold",
    "scoring": 'set_params(scoring=None) or a name such as "balanced_accuracy" first; the fit does not change by it',
    "cost_matrix": "set_params(cost_matrix=...) to the same costs as an array in the order of classes_ first",
    "priors": "set_params(priors=...) to the same shares as an array in the order of classes_ first",
    "classes_": "fit it with labels that are numbers, text, booleans, or dates and times without a named zone",
    "_categories": "fit it with categories that are numbers, text, or dates and times without a named zone",
    **({} if CALLBACKS is None else {CALLBACKS: "take the callbacks off with set_callbacks() first"}),
}
PICKLE = "pickle it, with joblib.dump say, for those who trust you"
FAULTS = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)  # of what is read


# From models to members


def members_of(model: Any) -> Members:
    """The members of a file of a model; ValueError says what cannot be stored, and what to do."""
    return list_members(kind_of_model(model), *plain_parts(model))


def kind_of_model(model: Any) -> str:
    """The name under which files know an estimator."""
    name = type(model).__name__
    if name not in KINDS or type(model) is not find_kind(name):
        raise ValueError(
            f"A model file holds estimators of comboost, {', '.join(KINDS)}, and this is another class, "
            f"{type(model).__qualname__}, which could not be loaded without its code; {PICKLE}."
        )
    return name


def find_kind(name: str) -> Any:
    """The class of a name that files know."""
    return getattr(import_module(KINDS[name]), name)


def plain_parts(model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and the fitted attributes of a model, plain; ValueError if they are no sound model."""
    kind, parameters = type(model).__name__, model.get_params(deep=False)
    fitted = {name: value for name, value in vars(model).items() if name not in parameters}
    if CALLBACKS in fitted and not fitted[CALLBACKS]:
        del fitted[CALLBACKS]
    others = [name for name in fitted if not is_fitted_name(name)]
    if others:
        remedy = REMEDIES.get(others[0], f"delete it, or {PICKLE}")
        raise refusal(kind, f"its attribute {others[0]} is neither a parameter nor the work of fit", remedy)
    if parameters.get("estimator") is not None:
        raise refusal(kind, f"estimator is a {type(model.estimator).__name__}", REMEDIES["estimator"])
    plain = plain_state(fitted)
    try:
        revive(plain)
    except FAULTS as error:
        raise refusal(kind, f"something has changed it since it was fitted: {error}", "fit it again") from error
    return parameters, plain


def is_fitted_name(name: Any) -> bool:
    """Whether an attribute may be what a fit has left."""
    return name in PRIVATE_ATTRIBUTES or (name.endswith("_") and not name.startswith("_"))


def refusal(kind: str, seen: str, remedy: str) -> ValueError:
    """Why a model cannot be stored, and what to do about it."""
    return ValueError(f"This {kind} cannot be saved to a model file: {seen}; {remedy}.")


def list_members(kind: str, parameters: Mapping[str, Any], attributes: Mapping[str, Any]) -> Members:
    """The members of a file, the JSON first; ValueError if they would not hold all of the model."""
    arrays: dict[str, NDArray[Any]] = {}
    content = {
        "file": WHAT,
        "format": FILE_FORMAT,
        "comboost": version("comboost"),
        "estimator": kind,
        "parameters": values_to_json(kind, parameters, arrays),
        "attributes": values_to_json(kind, attributes, arrays),
    }
    text = json.dumps(content | {"checksum": checksum_of_json(content)}).encode()
    if len(text) > MAX_JSON:
        raise refusal(kind, f"its names, classes and categories take {len(text)} bytes, and {MAX_JSON} may", PICKLE)
    npys = [
        (f"{place}.npy", [npy_header(array.dtype, array.shape), as_buffer(array)]) for place, array in arrays.items()
    ]
    return [(MODEL, [text]), *npys]


def values_to_json(kind: str, values: Mapping[str, Any], arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """Parameters or attributes as JSON, their arrays in a dict beside it."""
    found = {}
    for name, value in values.items():
        try:
            found[name] = to_json(value, name, arrays)
        except TypeError as error:
            raise refusal(kind, f"{error}, which is no plain value", REMEDIES.get(name, PICKLE)) from error
        except RecursionError as error:
            raise refusal(kind, f"{name} holds itself, or lists in lists without end", PICKLE) from error
    return found


def checksum_of_json(content: Mapping[str, Any]) -> str:
    """A text that any other content would change."""
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


# From members to models


def read_content(archive: Archive) -> Any:
    """What a file says of its model."""
    size = archive.left[MODEL]
    if size > MAX_JSON:
        raise ValueError(f"its {MODEL} has {size} bytes; at most {MAX_JSON} are expected")
    check_large("Loading this model", {"what its JSON says": READ_JSON * size}, "Load it where there is more memory.")
    text = archive.take_bytes(MODEL).decode("ascii")
    return json.loads(
        text,
        object_pairs_hook=without_repeats,
        parse_int=short_integer,
        parse_float=finite_float,
        parse_constant=finite_float,
    )


def without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object in its JSON has a name twice")
    return found


def short_integer(text: str) -> int:
    """An integer of JSON."""
    if len(text) > MAX_DIGITS:
        raise ValueError(f"its JSON holds an integer of {len(text)} digits")
    return int(text)


def finite_float(text: str) -> float:
    """A number of JSON."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"its JSON holds the number {shown(text)}")
    return number


def check_format(content: Any, name: str) -> None:
    """Raise if a file is none of a model, or of a format that is not known yet."""
    is_model = isinstance(content, dict) and content.get("file") == WHAT
    found = content.get("format") if is_model else None
    if type(found) is not int or found < 1 or not is_version(content.get("comboost")):
        raise ValueError(
            f"The file {name} is no model file: its {MODEL} does not say that it is a {WHAT!r}, and of which format. "
            "Give a file that save_model has written."
        )
    if found > FILE_FORMAT:
        raise ValueError(
            f"The model file {name} is of format {shown(found)}, written by comboost {content['comboost']}; this is "
            f"comboost {version('comboost')}, which reads formats up to {FILE_FORMAT}. Update comboost, or save the "
            "model with this version."
        )


def is_version(text: Any) -> bool:
    """Whether something may be the version of a package."""
    return isinstance(text, str) and text.isprintable() and len(text) <= MAX_VERSION


def make_model(content: dict[str, Any], archive: Archive) -> Any:
    """The estimator that JSON and arrays make."""
    if content.keys() != set(MODEL_ENTRIES):
        raise ValueError(f"its {MODEL} has the entries {shown(list(content))}")
    if content.pop("checksum") != checksum_of_json(content):
        raise ValueError(f"its {MODEL} is not what its checksum says")
    if content["estimator"] not in KINDS:
        raise ValueError(f"there is no estimator {shown(content['estimator'])}")
    n_bytes = sum(archive.left.values())
    check_large("Loading this model", {"its arrays": n_bytes}, "Load it where there is more memory.")
    parameters = expect(from_json(content["parameters"], lambda entry: take_array(archive, entry)), dict)
    plain = expect(from_json(content["attributes"], lambda entry: take_array(archive, entry)), dict)
    if archive.left:
        raise ValueError(f"its member {shown(next(iter(archive.left)))} belongs to nothing")
    if content["format"] == 1 and parameters.get("priors") == "balanced":
        parameters["priors"] = "uniform"  # as it was called
    if parameters.get("estimator") is not None:
        raise ValueError("a weak learner is given as estimator, which no file holds")
    if not all(map(is_fitted_name, plain)) or "_forest" not in plain:
        raise ValueError(f"the attributes {shown(list(plain))} are not those of a fitted model")
    attributes = revive(plain)
    check_votes_of(content["estimator"], attributes)
    model = find_kind(content["estimator"])(**parameters)
    model.__dict__.update(attributes)
    return model


def check_votes_of(kind: str, attributes: Mapping[str, Any]) -> None:
    """Raise if trees vote in another way than those of an estimator, or what their votes mean is not there."""
    for_all = kind == "ConfusionBoostingClassifier"
    if (attributes["_forest"].votes is None) == for_all or MEANING[for_all] not in attributes:
        raise ValueError(f"its trees are not those of a {kind}")


def take_array(archive: Archive, entry: Any) -> NDArray[Any]:
    """The array that JSON speaks of, if the file holds it."""
    dtype, shape, name = read_dtype(entry["dtype"]), read_shape(entry["shape"]), expect(entry["member"], str)
    array, checksum = archive.take_array(name, npy_header(dtype, shape), dtype, shape)
    if checksum != entry["sha256"]:
        raise ValueError(f"its member {name} is not what its checksum says")
    check_items(array)
    return array
