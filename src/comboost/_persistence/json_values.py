"""Plain values as JSON. In: values of a model. Out: what JSON can hold, with arrays beside it; and the values again.

What JSON has no word for is an object with one name that begins with "$": ``{"$tuple": [1, 2]}``. Every value comes
back equal and of its type, or it is refused. To read one means to look at numbers and text: nothing in them is ever
called or imported.
"""

import math
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from comboost._data.checks import shown
from comboost._persistence.arrays import as_stored, check_items, describe_array, expect, read_dtype, read_shape
from comboost._persistence.state import LONG_INT, check_hashes

Take = Callable[[Any], NDArray[Any]]  # the array that an entry of JSON is about
Reader = Callable[[Any, Take], Any]

KEY_WORDS = 624  # of the Mersenne Twister
MICROSECOND = timedelta(microseconds=1)
INFINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class Atom(NamedTuple):
    """How a type is written as text, and read."""

    tag: str
    write: Callable[[Any], str]
    read: Callable[[str], Any]

    def reader(self, content: Any, take: Take) -> Any:
        """What was written."""
        return self.read(expect(content, str))


ATOMS: dict[type, Atom] = {
    bytes: Atom("$bytes", bytes.hex, bytes.fromhex),
    date: Atom("$date", date.isoformat, date.fromisoformat),
    datetime: Atom("$datetime", datetime.isoformat, datetime.fromisoformat),
    timedelta: Atom("$microseconds", lambda lasts: str(lasts // MICROSECOND), lambda text: int(text) * MICROSECOND),
    Decimal: Atom("$decimal", str, Decimal),
    Fraction: Atom("$fraction", lambda ratio: f"{ratio.numerator}/{ratio.denominator}", lambda text: read_ratio(text)),
    np.str_: Atom("$numpy_text", lambda text: characters_of(text), lambda text: np.str_(read_characters(text))),
    np.bytes_: Atom("$numpy_bytes", bytes.hex, lambda text: np.bytes_(bytes.fromhex(text))),
}


# Values to JSON


def to_json(value: Any, place: str, arrays: dict[str, NDArray[Any]]) -> Any:
    """A value as JSON has it.

    Parameters
    ----------
    value : Any
        The value.
    place : str
        Where it stands in the model, which is also what its arrays are called.
    arrays : dict
        Takes up the arrays.

    Returns
    -------
    None, bool, int, float, str, list or dict
        What stands for the value. TypeError says of what is not plain what and where it is.
    """
    kind = type(value)
    if value is None or kind is bool or (kind is float and math.isfinite(value)):
        return value
    if kind is float:
        return {"$float": repr(value)}
    if kind is int and value.bit_length() <= LONG_INT:
        return value
    if kind is str:
        return value if is_unicode(value) else {"$text": characters_of(value)}
    if kind is list or kind is tuple:
        items = [to_json(item, f"{place}/{number}", arrays) for number, item in enumerate(value)]
        return items if kind is list else {"$tuple": items}
    if kind is dict:
        return dict_to_json(value, place, arrays)
    if kind in ATOMS and is_plain_atom(value):
        return {ATOMS[kind].tag: ATOMS[kind].write(value)}
    if kind is np.random.RandomState:
        return random_to_json(value, place, arrays)
    if value is np.random:
        return {"$module": "numpy.random"}
    if isinstance(value, np.generic) or kind is np.ndarray or kind is np.memmap:
        return array_to_json(value, place, arrays)
    raise unplain(value, place)


def unplain(value: Any, place: str) -> TypeError:
    """What is said of a value that cannot be stored."""
    return TypeError(f"{place} is {shown(value)} of type {type(value).__name__}")


def is_unicode(text: str) -> bool:
    """Whether text has no halves of characters, which JSON would join."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def characters_of(text: str) -> str:
    """Text of any characters, each as a number of four bytes."""
    return text.encode("utf-32-le", "surrogatepass").hex()


def is_plain_atom(value: Any) -> bool:
    """Whether text tells all of a value: not of time zones, which are anybody's objects, nor of endless numbers."""
    if isinstance(value, datetime):
        return value.tzinfo is None or type(value.tzinfo) is timezone
    if isinstance(value, Fraction):
        return max(value.numerator.bit_length(), value.denominator.bit_length()) <= LONG_INT
    return True


def dict_to_json(value: dict[Any, Any], place: str, arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """A dict: as it is if its keys are text."""
    keys = [
        key if type(key) is str and key.isascii() and key.isidentifier() else number for number, key in enumerate(value)
    ]
    places = [f"{place}/{key}" for key in keys]
    items = [to_json(item, where, arrays) for item, where in zip(value.values(), places, strict=True)]
    if all(type(key) is str and is_unicode(key) and not key.startswith("$") for key in value):
        return dict(zip(value, items, strict=True))
    plain_keys = [to_json(key, f"{where}/key", arrays) for key, where in zip(value, places, strict=True)]
    return {"$dict": [list(pair) for pair in zip(plain_keys, items, strict=True)]}


def random_to_json(random: np.random.RandomState, place: str, arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """The state of a RandomState."""
    state: Any = random.get_state(legacy=False)
    if state["bit_generator"] != "MT19937":
        raise unplain(random, place)
    numbers = {"pos": int(state["state"]["pos"]), "has_gauss": int(state["has_gauss"]), "gauss": float(state["gauss"])}
    return {"$random_state": {"key": to_json(state["state"]["key"], place, arrays), **numbers}}


def array_to_json(value: Any, place: str, arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """An array or a number of NumPy's: objects one by one, others beside the JSON."""
    array = np.asarray(value)
    if array.dtype.kind == "O":
        items = [to_json(item, f"{place}/{number}", arrays) for number, item in enumerate(array.ravel().tolist())]
        return {"$objects": {"shape": list(array.shape), "items": items}}
    stored = as_stored(array)
    if stored is None or (stored.dtype.names and isinstance(value, np.generic)):
        raise TypeError(f"{place} holds {array.dtype.name}")
    if isinstance(value, np.generic):
        return {"$scalar": {"dtype": stored.dtype.str, "bytes": stored.tobytes().hex()}}
    arrays[place] = stored
    return {"$array": describe_array(place, stored)}


# JSON to values


def from_json(value: Any, take: Take) -> Any:
    """What `to_json` was given; ValueError, or what else Python says, if that is nothing that it has made."""
    if type(value) is list:
        return [from_json(item, take) for item in value]
    if type(value) is not dict:
        return value
    if not any(name.startswith("$") for name in value):
        return {name: from_json(item, take) for name, item in value.items()}
    (tag, content), *others = value.items()
    if others or tag not in READERS:
        raise ValueError(f"there is no kind of value {shown(list(value))}")
    return READERS[tag](content, take)


def items_of(content: Any, take: Take) -> list[Any]:
    """The values of a list."""
    return [from_json(item, take) for item in expect(content, list)]


def read_characters(content: str) -> str:
    """What `characters_of` was given."""
    return bytes.fromhex(content).decode("utf-32-le", "surrogatepass")


def read_ratio(text: str) -> Fraction:
    """A ratio of two integers; `Fraction` itself also reads 1e999999999, digit by digit."""
    numerator, _, denominator = text.partition("/")
    return Fraction(int(numerator), int(denominator))


def read_dict(content: Any, take: Take) -> dict[Any, Any]:
    """A dict whose keys are no text."""
    pairs = [items_of(pair, take) for pair in expect(content, list)]
    check_hashes(key for key, _ in pairs)
    return {key: item for key, item in pairs}  # noqa: C416, pairs are lists


def read_objects(content: Any, take: Take) -> NDArray[Any]:
    """An array of Python objects."""
    items = items_of(content["items"], take)
    objects = np.empty(len(items), dtype=object)
    for number, item in enumerate(items):
        objects[number] = item
    return objects.reshape(read_shape(content["shape"]))


def read_scalar(content: Any, take: Take) -> Any:
    """A number of NumPy's."""
    array = np.frombuffer(bytes.fromhex(content["bytes"]), read_dtype(content["dtype"]))
    check_items(array)
    (scalar,) = array
    return scalar


def read_random(content: Any, take: Take) -> np.random.RandomState:
    """A RandomState. NumPy follows ``pos`` without a look."""
    key, gauss = from_json(content["key"], take), expect(content["gauss"], float)
    pos, has_gauss = expect(content["pos"], int), expect(content["has_gauss"], int)
    if not isinstance(key, np.ndarray) or key.dtype != np.uint32 or key.shape != (KEY_WORDS,) or not key.any():
        raise ValueError("the key of a random state is none")
    if not 0 <= pos <= KEY_WORDS or has_gauss not in (0, 1):
        raise ValueError(f"a random state is at {pos} of {KEY_WORDS}")
    random = np.random.RandomState()
    random.set_state(("MT19937", key, pos, has_gauss, gauss))
    return random


READERS: Mapping[str, Reader] = {
    "$float": lambda content, take: INFINITE[content],
    "$text": lambda content, take: read_characters(expect(content, str)),
    "$tuple": lambda content, take: tuple(items_of(content, take)),
    "$dict": read_dict,
    "$objects": read_objects,
    "$scalar": read_scalar,
    "$array": lambda content, take: take(content),
    "$random_state": read_random,
    "$module": lambda content, take: {"numpy.random": np.random}[content],
    **{atom.tag: atom.reader for atom in ATOMS.values()},
}
