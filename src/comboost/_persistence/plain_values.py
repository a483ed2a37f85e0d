"""Convert plain values to JSON, with their arrays beside it, and back.

A value that JSON has no type for becomes an object with one key that starts with "$": ``{"$tuple": [1, 2]}``. Every
value comes back equal and of its type, or it is refused. Reading inspects numbers and text only: it neither calls nor
imports anything that they name. Arrays are members in the ``.npy`` format. Their headers are never parsed: the type and
shape in the JSON determine the only valid header.
"""

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from comboost._data.checks import shown
from comboost._types import NODE_DTYPE

Arrays = dict[str, NDArray[Any]]  # by the names of their members

#: Types of stored arrays: numbers, booleans, text, times; numbers are little-endian.
PLAIN_DTYPE = re.compile(
    r"\|b1|\|[iu]1|<[iu][248]|<f[248]|<U[1-9]\d{0,6}|\|S[1-9]\d{0,6}|<[mM]8(\[\d{0,9}[a-zA-Z]{1,2}\])?"
)
NODE_FIELDS = [list(entry) for entry in NODE_DTYPE.descr]
MAX_CHARACTER = 0x10FFFF
MAX_DIMENSIONS = 32
NPY_VERSION = b"\x93NUMPY\x01\x00"  # 1.0
NPY_ALIGNMENT = 64  # bytes
MAX_INT_BITS = 4096  # Python does not print longer integers by default
MAX_DIGITS = 1240  # of an integer or decimal in JSON, a few more than MAX_INT_BITS gives
MAX_SAME_HASH = 100  # keys of one hash: a dict of more is an attack
MT19937_WORDS = 624  # size of the key of the Mersenne Twister
MICROSECOND = timedelta(microseconds=1)
NON_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
#: Errors that damaged or forged content can raise while it is read.
FAULTS = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)


class Members(Protocol):
    """Named byte strings, each of which is read once."""

    def take_array(
        self, name: str, header: bytes, dtype: np.dtype[Any], shape: tuple[int, ...]
    ) -> tuple[NDArray[Any], str]:
        """Return the array that follows a header in a member, and the SHA-256 of the member."""


Reader = Callable[[Any, Members], Any]


class TextType(NamedTuple):
    """Tag of a type that is stored as text, and its conversions."""

    tag: str
    write: Callable[[Any], str]
    read: Callable[[str], Any]

    def reader(self, content: Any, members: Members) -> Any:
        """Read a value."""
        return self.read(expect(content, str))


TEXT_TYPES: dict[type, TextType] = {
    bytes: TextType("$bytes", bytes.hex, bytes.fromhex),
    date: TextType("$date", date.isoformat, date.fromisoformat),
    datetime: TextType("$datetime", datetime.isoformat, datetime.fromisoformat),
    timedelta: TextType("$microseconds", lambda value: str(value // MICROSECOND), lambda text: int(text) * MICROSECOND),
    Decimal: TextType("$decimal", str, lambda text: read_decimal(text)),
    Fraction: TextType(
        "$fraction", lambda value: f"{value.numerator}/{value.denominator}", lambda text: read_fraction(text)
    ),
    np.str_: TextType("$numpy_text", lambda text: encode_text(text), lambda text: np.str_(decode_text(text))),
    np.bytes_: TextType("$numpy_bytes", bytes.hex, lambda text: np.bytes_(bytes.fromhex(text))),
}


# Values to JSON


def to_json(value: Any, path: str, arrays: Arrays) -> Any:
    """Convert a plain value to JSON, and add its arrays to ``arrays``.

    ``path`` is its path in the model, which also names its arrays. A TypeError names the path and type of a value that
    is not plain.
    """
    kind = type(value)
    if value is None or kind is bool or (kind is float and math.isfinite(value)):
        return value
    if kind is float:
        return {"$float": repr(value)}
    if kind is int and value.bit_length() <= MAX_INT_BITS:
        return value
    if kind is str:
        return value if is_unicode(value) else {"$text": encode_text(value)}
    if kind is list or kind is tuple:
        items = [to_json(item, f"{path}/{number}", arrays) for number, item in enumerate(value)]
        return items if kind is list else {"$tuple": items}
    if kind is dict:
        return dict_to_json(value, path, arrays)
    if kind in TEXT_TYPES and is_exact_as_text(value):
        return {TEXT_TYPES[kind].tag: TEXT_TYPES[kind].write(value)}
    if kind is np.random.RandomState:
        return random_to_json(value, path, arrays)
    if value is np.random:
        return {"$module": "numpy.random"}
    if isinstance(value, np.generic) or kind is np.ndarray or kind is np.memmap:
        return array_to_json(value, path, arrays)
    raise not_plain(value, path)


def not_plain(value: Any, path: str) -> TypeError:
    """Return the error for a value that cannot be stored."""
    return TypeError(f"{path} is {shown(value)} of type {type(value).__name__}")


def is_unicode(text: str) -> bool:
    """Return whether text has no surrogates, which JSON would join."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def encode_text(text: str) -> str:
    """Encode text of any characters, four bytes each."""
    return text.encode("utf-32-le", "surrogatepass").hex()


def decode_text(content: str) -> str:
    """Invert `encode_text`."""
    return bytes.fromhex(content).decode("utf-32-le", "surrogatepass")


def is_exact_as_text(value: Any) -> bool:
    """Return whether text holds all of a value: it does not for named time zones and for very long numbers."""
    if isinstance(value, datetime):
        return value.tzinfo is None or type(value.tzinfo) is timezone
    if isinstance(value, Fraction):
        return max(value.numerator.bit_length(), value.denominator.bit_length()) <= MAX_INT_BITS
    if isinstance(value, Decimal):
        return is_short(value)
    return True


def is_short(value: Decimal) -> bool:
    """Return whether a decimal is quickly converted to an integer; 1E+3000000 has 3 000 001 digits."""
    return len(str(value)) <= MAX_DIGITS and abs(value.adjusted()) <= MAX_DIGITS


def dict_to_json(value: dict[Any, Any], path: str, arrays: Arrays) -> dict[str, Any]:
    """Convert a dict: to an object if its keys are text, to a list of pairs otherwise."""
    paths = [
        f"{path}/{key if type(key) is str and key.isascii() and key.isidentifier() else number}"
        for number, key in enumerate(value)
    ]
    items = [to_json(item, inner, arrays) for item, inner in zip(value.values(), paths, strict=True)]
    if all(type(key) is str and is_unicode(key) and not key.startswith("$") for key in value):
        return dict(zip(value, items, strict=True))
    keys = [to_json(key, f"{inner}/key", arrays) for key, inner in zip(value, paths, strict=True)]
    return {"$dict": [list(pair) for pair in zip(keys, items, strict=True)]}


def random_to_json(random: np.random.RandomState, path: str, arrays: Arrays) -> dict[str, Any]:
    """Convert the state of a RandomState."""
    state: Any = random.get_state(legacy=False)
    if state["bit_generator"] != "MT19937":
        raise not_plain(random, path)
    numbers = {"pos": int(state["state"]["pos"]), "has_gauss": int(state["has_gauss"]), "gauss": float(state["gauss"])}
    return {"$random_state": {"key": to_json(state["state"]["key"], path, arrays), **numbers}}


def array_to_json(value: Any, path: str, arrays: Arrays) -> dict[str, Any]:
    """Convert a NumPy array or scalar: objects one by one, other arrays to members."""
    array = np.asarray(value)
    if array.dtype.kind == "O":
        items = [to_json(item, f"{path}/{number}", arrays) for number, item in enumerate(array.ravel().tolist())]
        return {"$objects": {"shape": list(array.shape), "items": items}}
    stored = as_stored(array)
    if stored is None or (stored.dtype.names and isinstance(value, np.generic)):
        raise TypeError(f"{path} holds {array.dtype.name}")
    if isinstance(value, np.generic):
        return {"$scalar": {"dtype": stored.dtype.str, "bytes": stored.tobytes().hex()}}
    name = f"{path}.npy"
    arrays[name] = stored
    checksum = hashlib.sha256(npy_header(stored.dtype, stored.shape))
    checksum.update(as_buffer(stored))
    dtype = NODE_FIELDS if stored.dtype == NODE_DTYPE else stored.dtype.str
    return {"$array": {"member": name, "dtype": dtype, "shape": list(array.shape), "sha256": checksum.hexdigest()}}


def as_stored(array: NDArray[Any]) -> NDArray[Any] | None:
    """Return an array as contiguous little-endian items; None if its type is not stored."""
    if array.dtype == NODE_DTYPE:
        return np.ascontiguousarray(array)
    if array.dtype.kind not in "biufUSmM":
        return None
    dtype = array.dtype.newbyteorder("<")
    if dtype.itemsize == 0:  # empty text
        dtype = np.dtype(f"<{dtype.kind}1")
    return np.asarray(array, dtype=dtype, order="C") if PLAIN_DTYPE.fullmatch(dtype.str) else None


def as_buffer(stored: NDArray[Any]) -> memoryview:
    """Return a writable view of the bytes of an array."""
    return stored.reshape(-1).view(np.uint8).data


def npy_header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """Return the ``.npy`` header of an array."""
    descr = dtype.descr if dtype.names else dtype.str
    text = str({"descr": descr, "fortran_order": False, "shape": shape})
    n_before = len(NPY_VERSION) + 2
    length = -(n_before + len(text) + 1) % NPY_ALIGNMENT + len(text) + 1
    return NPY_VERSION + length.to_bytes(2, "little") + f"{text:{length - 1}}\n".encode()


# JSON to values


def from_json(value: Any, members: Members) -> Any:
    """Invert `to_json`; any of `FAULTS` is raised for JSON that it cannot have written."""
    if type(value) is list:
        return [from_json(item, members) for item in value]
    if type(value) is not dict:
        return value
    if not any(name.startswith("$") for name in value):
        return {name: from_json(item, members) for name, item in value.items()}
    (tag, content), *others = value.items()
    if others or tag not in READERS:
        raise ValueError(f"there is no kind of value {shown(list(value))}")
    return READERS[tag](content, members)


def expect(content: Any, kind: type) -> Any:
    """Return the content if it is of this type."""
    if type(content) is not kind:
        raise ValueError(f"there is {shown(content)} in place of a {kind.__name__}")
    return content


def read_items(content: Any, members: Members) -> list[Any]:
    """Read the values of a list."""
    return [from_json(item, members) for item in expect(content, list)]


def read_fraction(text: str) -> Fraction:
    """Read a ratio of two integers; `Fraction` itself would also expand 1e999999999, digit by digit."""
    numerator, _, denominator = text.partition("/")
    return Fraction(int(numerator), int(denominator))


def read_decimal(text: str) -> Decimal:
    """Read a decimal."""
    value = Decimal(text) if len(text) <= MAX_DIGITS else None
    if value is None or not is_short(value):
        raise ValueError(f"its JSON holds the decimal {shown(text)}, whose integer has more than {MAX_DIGITS} digits")
    return value


def read_dict(content: Any, members: Members) -> dict[Any, Any]:
    """Read a dict whose keys are not all text."""
    pairs = [read_items(pair, members) for pair in expect(content, list)]
    check_hashes(key for key, _ in pairs)
    return {key: item for key, item in pairs}  # noqa: C416, pairs are lists


def check_hashes(keys: Iterable[Any]) -> None:
    """Raise if a dict of these keys would be slow or impossible."""
    if max(Counter(map(hash, keys)).values(), default=0) > MAX_SAME_HASH:
        raise ValueError(f"more than {MAX_SAME_HASH} keys have the same hash")


def read_objects(content: Any, members: Members) -> NDArray[Any]:
    """Read an array of Python objects."""
    items = read_items(content["items"], members)
    objects = np.empty(len(items), dtype=object)
    for number, item in enumerate(items):
        objects[number] = item
    return objects.reshape(read_shape(content["shape"]))


def read_scalar(content: Any, members: Members) -> Any:
    """Read a NumPy scalar."""
    array = np.frombuffer(bytes.fromhex(content["bytes"]), read_dtype(content["dtype"]))
    check_items(array)
    (scalar,) = array
    return scalar


def read_random(content: Any, members: Members) -> np.random.RandomState:
    """Read a RandomState. NumPy would use any ``pos`` as an index without a check."""
    key, gauss = from_json(content["key"], members), expect(content["gauss"], float)
    pos, has_gauss = expect(content["pos"], int), expect(content["has_gauss"], int)
    if not isinstance(key, np.ndarray) or key.dtype != np.uint32 or key.shape != (MT19937_WORDS,) or not key.any():
        raise ValueError("the key of a random state is not valid")
    if not 0 <= pos <= MT19937_WORDS or has_gauss not in (0, 1):
        raise ValueError(f"a random state is at {pos} of {MT19937_WORDS}")
    random = np.random.RandomState()
    random.set_state(("MT19937", key, pos, has_gauss, gauss))
    return random


def read_array(content: Any, members: Members) -> NDArray[Any]:
    """Read an array from its member."""
    dtype, shape, name = read_dtype(content["dtype"]), read_shape(content["shape"]), expect(content["member"], str)
    array, checksum = members.take_array(name, npy_header(dtype, shape), dtype, shape)
    if checksum != content["sha256"]:
        raise ValueError(f"its member {name} does not match its checksum")
    check_items(array)
    return array


def read_dtype(content: Any) -> np.dtype[Any]:
    """Read the type of an array."""
    if content == NODE_FIELDS:
        return NODE_DTYPE
    name: str = expect(content, str)
    if not PLAIN_DTYPE.fullmatch(name):
        raise ValueError(f"arrays of type {shown(name)} are not stored")
    return np.dtype(name)


def read_shape(content: Any) -> tuple[int, ...]:
    """Read the shape of an array."""
    sizes = expect(content, list)
    if len(sizes) > MAX_DIMENSIONS or not all(type(size) is int and size >= 0 for size in sizes):
        raise ValueError(f"no array has the shape {shown(content)}")
    return tuple(content)


def check_items(array: NDArray[Any]) -> None:
    """Raise if the bytes of an array are not booleans or characters, though its type says so."""
    if array.dtype.kind == "b" and (array.view(np.uint8) > 1).any():
        raise ValueError("a boolean is neither true nor false")
    if array.dtype.kind == "U" and (array.reshape(-1).view(np.uint32) > MAX_CHARACTER).any():
        raise ValueError("a text holds an invalid character")


READERS: Mapping[str, Reader] = {
    "$float": lambda content, members: NON_FINITE[content],
    "$text": lambda content, members: decode_text(expect(content, str)),
    "$tuple": lambda content, members: tuple(read_items(content, members)),
    "$dict": read_dict,
    "$objects": read_objects,
    "$scalar": read_scalar,
    "$array": read_array,
    "$random_state": read_random,
    "$module": lambda content, members: {"numpy.random": np.random}[content],
    **{text_type.tag: text_type.reader for text_type in TEXT_TYPES.values()},
}


# JSON to text


def dump_json(content: Mapping[str, Any]) -> str:
    """Return an object of JSON as text, with a checksum as its last entry."""
    return json.dumps({**content, "checksum": checksum_of(content)})


def checksum_of(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of an object of JSON."""
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def parse_json(text: str) -> Any:
    """Parse text strictly: no repeated names, no long integers, no numbers that are not finite."""
    return json.loads(
        text,
        object_pairs_hook=unique_names,
        parse_int=short_integer,
        parse_float=finite_float,
        parse_constant=finite_float,
    )


def unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON."""
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("an object in its JSON has a name twice")
    return content


def short_integer(text: str) -> int:
    """Return an integer of JSON."""
    if len(text) > MAX_DIGITS:
        raise ValueError(f"its JSON holds an integer of {len(text)} digits")
    return int(text)


def finite_float(text: str) -> float:
    """Return a number of JSON."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"its JSON holds the number {shown(text)}")
    return number


def check_entries(content: dict[str, Any], names: Iterable[str]) -> None:
    """Remove the checksum of an object of JSON; raise if it does not match, or if the other entries are not these."""
    if content.keys() != {*names, "checksum"}:
        raise ValueError(f"its JSON has the entries {shown(list(content))}")
    if content.pop("checksum") != checksum_of(content):
        raise ValueError("its JSON does not match its checksum")
