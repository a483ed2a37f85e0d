"""Model files: save a fitted estimator, and load it without running any code of the file.

A file is a zip archive. ``model.json`` names one of our estimators and holds its parameters and fitted attributes;
every array is a ``.npy`` member. What is loaded passes the same checks as a pickle. docs/model-files.md lists the
guarantees.
"""

import io
import os
import stat
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import version
from typing import Any, BinaryIO, TypeVar

from sklearn.utils.validation import check_is_fitted

from comboost._boosting.monitor import CALLBACKS
from comboost._data.checks import shown
from comboost._engine.memory import check_large
from comboost._persistence.archive import Archive, MemberList, write_archive
from comboost._persistence.atomic_write import replace_file
from comboost._persistence.plain_values import (
    FAULTS,
    as_buffer,
    check_entries,
    dump_json,
    expect,
    from_json,
    npy_header,
    parse_json,
)
from comboost._persistence.schema import FITTED, FORMAT, from_stored, pack, to_stored

PathOrStream = str | os.PathLike[str] | BinaryIO
Result = TypeVar("Result")

VERSION = version("comboost")  # now, since it imports modules: a process that is forked meanwhile would wait forever
FILE_TYPE = "comboost model"
MODEL = "model.json"
ENTRIES = ("file", "format", "comboost", "estimator", "parameters", "attributes")
MAX_JSON = 2**26  # bytes
MEMORY_PER_BYTE = 50  # of JSON that is parsed: '[],' becomes a list
MAX_VERSION = 100  # characters

#: Estimators that files hold, and their modules.
ESTIMATORS = {
    "CoMBoClassifier": "comboost",
    "AdaBoostMMClassifier": "comboost",
    "ConfusionBoostingClassifier": "comboost",
    "AdaBoostNCClassifier": "comboost.baselines",
    "SMOTEBoostClassifier": "comboost.baselines",
}

#: What to do about values that are not plain.
REMEDIES = {
    "estimator": "pickle it: weak learners of another library are objects, which no file without code can hold",
    "scoring": 'set_params(scoring=None) or a name such as "balanced_accuracy" first; the fit does not change by it',
    "cost_matrix": "set_params(cost_matrix=...) to the same costs as an array in the order of classes_ first",
    "norm": "pickle it: a norm of your own is an object, which no file without code can hold",
    "priors": "set_params(priors=...) to the same probabilities as an array in the order of classes_ first",
    "classes_": "fit it with labels that are numbers, text, booleans, or dates and times without a named zone",
    "categories": "fit it with categories that are numbers, text, or dates and times without a named zone",
    **({} if CALLBACKS is None else {CALLBACKS: "remove the callbacks with set_callbacks() first"}),
}
PICKLE = "pickle it, for example with joblib.dump, for users who trust you"


# Saving


def save_to(model: Any, path: PathOrStream) -> None:
    """Write a fitted estimator to a file or a binary stream; see ``save_model`` of the estimators."""
    check_is_fitted(model)
    members = list_members(estimator_name(model), *stored_parts(model))
    if hasattr(path, "write"):
        write_stream(path, members)
        return
    check_regular(path, "written to")
    try:
        replace_file(path, lambda stream: write_archive(stream, members))
    except OSError as error:
        raise OSError(
            error.errno,
            f"The model cannot be saved: {error.strerror or error}. Nothing has changed; give a path in an existing "
            "folder that you may write to and whose disk has space",
            os.fspath(path),
        ) from error


def write_stream(stream: Any, members: MemberList) -> None:
    """Write a whole file to a binary stream that may not be seekable."""
    if isinstance(stream, io.TextIOBase):
        raise TypeError('The model cannot be saved to a stream of text; open it in binary mode, "wb".')
    whole = io.BytesIO()
    write_archive(whole, members)
    left = whole.getvalue()
    while left:
        n_written = stream.write(left)  # some streams write only a part, some return None
        if n_written == 0:
            raise OSError(f"The model cannot be saved: the stream takes none of the {len(left)} bytes that are left.")
        left = left[len(left) if n_written is None else n_written :]


def estimator_name(model: Any) -> str:
    """Return the name of an estimator that files hold."""
    name = type(model).__name__
    if name not in ESTIMATORS or type(model) is not find_estimator(name):
        raise ValueError(
            f"A model file holds estimators of comboost, {', '.join(ESTIMATORS)}, and this is another class, "
            f"{type(model).__qualname__}, which could not be loaded without its code; {PICKLE}."
        )
    return name


def find_estimator(name: str) -> Any:
    """Return one of the estimators that files hold."""
    return getattr(import_module(ESTIMATORS[name]), name)


def stored_parts(model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters of a model, and its fitted attributes as they are stored, if they are sound."""
    name, parameters = type(model).__name__, model.get_params(deep=False)
    fitted = {key: value for key, value in vars(model).items() if key not in parameters}
    if CALLBACKS in fitted and not fitted[CALLBACKS]:
        del fitted[CALLBACKS]
    others = [key for key in fitted if key not in FITTED]
    if others:
        remedy = REMEDIES.get(others[0], f"delete it, or {PICKLE}")
        raise refusal(name, f"its attribute {others[0]} is neither a parameter nor an attribute that fit sets", remedy)
    if parameters.get("estimator") is not None:
        raise refusal(name, f"estimator is a {type(model.estimator).__name__}", REMEDIES["estimator"])
    try:
        stored = to_stored(fitted)
        from_stored(stored)
    except FAULTS as error:
        raise refusal(name, f"something has changed it since it was fitted: {error}", "fit it again") from error
    return parameters, stored


def refusal(name: str, seen: str, remedy: str) -> ValueError:
    """Return the error for a model that cannot be stored."""
    return ValueError(f"This {name} cannot be saved to a model file: {seen}; {remedy}.")


def list_members(name: str, parameters: Mapping[str, Any], attributes: Mapping[str, Any]) -> MemberList:
    """Return the members of a file, the JSON first."""
    content, arrays, errors = pack(parameters, attributes)
    for path, error in errors.items():
        remedy = REMEDIES.get(path.removeprefix("parameters/"), PICKLE)
        is_nested = isinstance(error, RecursionError)
        seen = f"{path} holds itself, or is nested too deeply" if is_nested else f"{error}, which is not a plain value"
        raise refusal(name, seen, remedy) from error
    header = {"file": FILE_TYPE, "format": FORMAT, "comboost": VERSION, "estimator": name}
    text = dump_json({**header, **content}).encode()
    if len(text) > MAX_JSON:
        raise refusal(name, f"its names, classes and categories take {len(text)} bytes, and {MAX_JSON} may", PICKLE)
    return [
        (MODEL, [text]),
        *((path, [npy_header(array.dtype, array.shape), as_buffer(array)]) for path, array in arrays.items()),
    ]


# Loading


def load_model(path: PathOrStream) -> Any:
    """Load an estimator from a file that ``save_model`` wrote.

    Loading runs no code of the file, and checks the model before it can predict: a damaged or malicious file raises a
    ValueError. A file can still hold another model than you expect.

    Parameters
    ----------
    path : str, path-like or binary file object
        The file.

    Returns
    -------
    estimator
        A fitted estimator of the class that the file names: `CoMBoClassifier`, `AdaBoostMMClassifier`,
        `ConfusionBoostingClassifier`, or one of `comboost.baselines`. It predicts the same bytes, and can be fitted
        again, cloned, pickled, and continued with ``warm_start``.

    See Also
    --------
    CoMBoClassifier.save_model : Writes such files.

    Examples
    --------
    >>> import io
    >>> from comboost import CoMBoClassifier, load_model
    >>> stream = io.BytesIO()
    >>> CoMBoClassifier(n_estimators=1).fit([[1.0], [2.0]], ["a", "b"]).save_model(stream)
    >>> load_model(io.BytesIO(stream.getvalue())).predict([[3.0]])
    array(['b'], dtype='<U1')
    """
    if hasattr(path, "read"):
        content = path.read()
        if not isinstance(content, bytes):
            raise TypeError('A model cannot be loaded from a stream of text; open it in binary mode, "rb".')
        return read_model(io.BytesIO(content), "in this stream")
    check_regular(path, "read")
    try:
        with open(path, "rb") as stream:
            return read_model(stream, os.fspath(path))
    except OSError as error:
        raise OSError(
            error.errno,
            f"The model cannot be loaded: {error.strerror or error}. Give the path of a file that save_model wrote, "
            "and that you may read",
            os.fspath(path),
        ) from error


def check_regular(path: Any, use: str) -> None:
    """Raise if a path is not one, or that of a folder, a pipe or a device."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"A model file cannot be {shown(path)}; give a path, or a file object in binary mode.")
    if os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):
        seen = "a folder" if os.path.isdir(path) else "not a regular file"
        raise ValueError(f"The path {os.fspath(path)!r} is {seen}; give one of a file that can be {use}.")


def read_model(stream: BinaryIO, name: str) -> Any:
    """Return the estimator in a file; errors refer to the file by its name."""
    archive = or_refuse(name, lambda: Archive(stream))
    content = or_refuse(name, lambda: read_content(archive))
    check_format(content, name)
    return or_refuse(f"{name}, written by comboost {content['comboost']},", lambda: make_model(content, archive))


def or_refuse(name: str, read: Callable[[], Result]) -> Result:
    """Return what is read, or raise a ValueError that says what is wrong and what to do."""
    try:
        return read()
    except FAULTS as error:
        seen = f"it has no {error}" if isinstance(error, KeyError) else error
        raise ValueError(
            f"The model file {name} is damaged, or not a model file: {seen}. Expected is a file that save_model wrote; "
            "copy it again from an intact one, or save the model again."
        ) from error


def read_content(archive: Archive) -> Any:
    """Return the JSON of a file."""
    size = archive.left[MODEL]
    if size > MAX_JSON:
        raise ValueError(f"its {MODEL} has {size} bytes; at most {MAX_JSON} are expected")
    check_large("Loading this model", {"its JSON": MEMORY_PER_BYTE * size}, "Load it where there is more memory.")
    return parse_json(archive.take_bytes(MODEL).decode("ascii"))


def check_format(content: Any, name: str) -> None:
    """Raise if a file is not that of a model, or of another format."""
    is_model = isinstance(content, dict) and content.get("file") == FILE_TYPE
    found, writer = (content.get("format"), content.get("comboost")) if is_model else (None, None)
    is_version = isinstance(writer, str) and writer.isprintable() and len(writer) <= MAX_VERSION
    if type(found) is not int or found < 1 or not is_version:
        raise ValueError(
            f"The file {name} is not a model file: its {MODEL} does not name {FILE_TYPE!r} and its format. Give a file "
            "that save_model wrote."
        )
    if found > FORMAT:
        raise ValueError(
            f"The model file {name} is of format {shown(found)}, written by comboost {writer}; this is comboost "
            f"{VERSION}, which reads formats up to {FORMAT}. Update comboost, or save the model with this "
            "version."
        )


def make_model(content: dict[str, Any], archive: Archive) -> Any:
    """Return the estimator that JSON and arrays describe."""
    check_entries(content, ENTRIES)
    name = content["estimator"]
    if name not in ESTIMATORS:
        raise ValueError(f"there is no estimator {shown(name)}")
    n_bytes = sum(archive.left.values())
    check_large("Loading this model", {"its arrays": n_bytes}, "Load it where there is more memory.")
    parameters, stored = (
        expect(from_json(content[section], archive), dict) for section in ("parameters", "attributes")
    )
    if archive.left:
        raise ValueError(f"its member {shown(next(iter(archive.left)))} belongs to nothing")
    if parameters.get("estimator") is not None:
        raise ValueError("a weak learner is given as estimator, which no file holds")
    attributes = from_stored(stored)
    has_leaf_values = name == "ConfusionBoostingClassifier"
    required = "class_prior_" if has_leaf_values else "estimator_weights_"
    if "_forest" not in attributes or required not in attributes:
        raise ValueError(f"the attributes {shown(list(stored))} are not those of a fitted {name}")
    if (attributes["_forest"].leaf_values is not None) != has_leaf_values:
        raise ValueError(f"its trees are not those of a {name}")
    model = find_estimator(name)(**parameters)
    model.__dict__.update(attributes)
    return model
