"""State of a pickled estimator: the JSON and the arrays of a model file, with a checksum.

A damaged model is refused when it is loaded, before it can predict. The state holds bytes instead of arrays, since
NumPy trusts the type and shape of a pickled array. Only values that are not plain, such as functions given as
parameters, are pickled as objects. So skops has to trust the class of the estimator alone.
"""

import hashlib
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comboost._data.checks import shown
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
from comboost._persistence.schema import FITTED, FORMAT, OBJECT, from_stored, pack, to_stored


def state_of(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state of an estimator with these attributes, parameters included."""
    fitted = {name: value for name, value in attributes.items() if name in FITTED}
    others = {name: value for name, value in attributes.items() if name not in FITTED}
    return make_state(others, to_stored(fitted))


def make_state(parameters: Mapping[str, Any], attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state that holds parameters and stored attributes."""
    content, arrays, errors = pack(parameters, attributes)
    values = {**{f"parameters/{name}": value for name, value in parameters.items()}, **attributes}
    return {
        "format": FORMAT,
        "json": dump_json(content),
        "arrays": {name: npy_header(array.dtype, array.shape) + array.tobytes() for name, array in arrays.items()},
        "objects": {path: values[path] for path in errors},
    }


def attributes_of(state: Any, owner: str) -> dict[str, Any]:
    """Return the attributes of an estimator, all checked; a ValueError names its ``owner`` and what is wrong."""
    if not isinstance(state, dict) or type(state.get("format")) is not int or state["format"] != FORMAT:
        raise ValueError(
            f"This {owner} was written by another version of comboost, or it is damaged: its state is not of format "
            f"{FORMAT}. Load it with the version that wrote it, or fit it again."
        )
    try:
        if state.keys() != {"format", "json", "arrays", "objects"}:
            raise ValueError(f"its state has the entries {shown(list(state))}")
        content, members = parse_json(state["json"]), PickledMembers(expect(state["arrays"], dict))
        check_entries(expect(content, dict), ("parameters", "attributes"))
        objects = dict(expect(state["objects"], dict))
        parameters, attributes = (
            {name: unpack(value, members, objects) for name, value in content[section].items()}
            for section in ("parameters", "attributes")
        )
        if members.left or objects:
            raise ValueError(f"{shown([*members.left, *objects])} belong to nothing")
        return {**parameters, **from_stored(attributes)}
    except FAULTS as error:
        raise ValueError(f"This {owner} is damaged: {error}. Load it from an intact copy, or fit it again.") from error


def unpack(value: Any, members: "PickledMembers", objects: dict[str, Any]) -> Any:
    """Return a value of the JSON, which may be one of the objects."""
    if isinstance(value, dict) and OBJECT in value:
        return objects.pop(value[OBJECT])
    return from_json(value, members)


class PickledMembers:
    """Arrays of a pickle, by their names; ``left`` are those that were not read."""

    def __init__(self, members: Mapping[str, bytes]) -> None:
        self.left = dict(members)

    def take_array(
        self, name: str, header: bytes, dtype: np.dtype[Any], shape: tuple[int, ...]
    ) -> tuple[NDArray[Any], str]:
        """Return the array that follows a header in a member, and the SHA-256 of the member."""
        content = expect(self.left.pop(name), bytes)
        if not content.startswith(header) or len(content) != len(header) + dtype.itemsize * math.prod(shape):
            raise ValueError(f"its array {name} does not have the type and shape that it should have")
        array = np.empty(shape, dtype)
        as_buffer(array)[:] = content[len(header) :]
        return array, hashlib.sha256(content).hexdigest()
