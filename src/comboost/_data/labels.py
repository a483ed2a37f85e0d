"""Labels from any container. In: y as given. Out: an array that keeps distinct labels apart, and the distinct ones.

Two labels are one class if Python finds them equal. NumPy would make text of a list of text and numbers, floats of
large integers of two types, and cut zero characters off the end of text; a missing label would become a class.
"""

import datetime
import numbers
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from comboost._data.categories import is_missing
from comboost._data.dates import NUMPY_TIMES, TICKS, TIMES, has_zone, numpy_time, ticks_of
from comboost._data.floats import shown
from comboost._data.masks import without_mask
from comboost._types import LABEL, MAX_CLASSES, Labels

COUNTABLE = 2**20  # integer labels in a range of no more than this are counted instead of sorted
NEVER_MISSING = {str, int, bool}
POLARS_LOSSY = {"Int128", "UInt128", "String"}  # NumPy has no such integers, and loses the end of such text
# Types of labels, and the kinds of dtypes in which NumPy loses nothing of them; of text, it may lose the end.
LOSSLESS: dict[type, str] = {bool: "b", int: "iu", float: "f", str: "U"}
LOSSLESS |= {np.bool_: "b", np.int64: "iu", np.float64: "f", np.str_: "U"}


def read_labels(y: Any, n_samples: int, name: str) -> NDArray[Any]:
    """Labels as an array, one per row."""
    if y is None:
        raise ValueError(
            f"fit requires y to be passed, but the target y is None. Give the class of every row as {name}."
        )
    labels = exact_labels(column_or_1d(unpack_labels(y), warn=True), name)
    if len(labels) != n_samples:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: {name.replace('y', 'X')} has {n_samples} "
            f"rows, {name} has {len(labels)}; give one label per row."
        )
    return labels


def unpack_labels(y: Any) -> NDArray[Any]:
    """Labels out of their container, masked ones as missing ones."""
    y = without_mask(y)
    if not hasattr(y, "__array__"):
        return unpack_list(y)
    plain = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    # scikit-learn and NumPy would make floats of pandas' nullable integers.
    if isinstance(plain, np.dtype) and plain.kind in "biu" and not y.isna().any():
        return np.asarray(y.to_numpy(dtype=plain))
    if str(getattr(y, "dtype", None)) in POLARS_LOSSY:
        return unpack_list(y.to_list())
    return np.asarray(y)


def unpack_list(y: Any) -> NDArray[Any]:
    """The labels of a list: as NumPy reads them if all are of one kind and that loses nothing, else as they are."""
    kinds = {LOSSLESS.get(held, "") for held in set(map(type, y))} if np.iterable(y) else set()
    if len(kinds) == 1 and kinds != {""}:
        labels = np.array(y)
        if labels.dtype.kind in kinds.pop() and not (labels.dtype.kind == "U" and ends_in_zero(y)):
            return labels
    objects = np.array(y, dtype=object)
    is_column = objects.ndim == 2 and objects.shape[1] == 1
    return unpack_list(objects.ravel().tolist())[:, np.newaxis] if is_column else objects


def ends_in_zero(texts: Sequence[str]) -> bool:
    """Whether any text ends in the zero characters that NumPy cuts off."""
    return any(text.endswith("\0") for text in set(texts))


def exact_labels(given: NDArray[Any], name: str) -> NDArray[Any]:
    """Labels, 1-D, of a dtype in which they are equal where Python finds them equal; none is missing."""
    kind = given.dtype.kind
    if kind == "O":
        return object_labels(given, name)
    if kind == "T":
        return object_labels(given.astype(object), name)
    if kind in "cSV":
        raise kind_error(name, given.dtype.name)
    if kind in "fmM":
        check_none_missing(given != given, name)
    if kind == "f":
        check_whole(given, name)
    return given


def kind_error(name: str, kind: str) -> ValueError:
    """What to do about labels that are none."""
    return ValueError(f"{name} holds {kind}, which are no labels; give whole numbers, text or booleans.")


def check_none_missing(missing: NDArray[np.bool_], name: str) -> None:
    """Raise if any label is missing."""
    if missing.any():
        n_missing = int(missing.sum())
        labels = "label" if n_missing == 1 else "labels"
        raise ValueError(
            f"Input {name} contains NaN or the like: {name} holds {n_missing} missing {labels} (the first in row "
            f"{int(missing.argmax())}, counted from 0); drop these rows or give them a class of their own."
        )


def check_whole(floats: NDArray[Any], name: str) -> None:
    """Raise if any label is infinite or a fraction."""
    infinite = np.isinf(floats)
    if infinite.any():
        raise ValueError(
            f"Input {name} contains infinity: {name} holds {int(infinite.sum())} infinite label(s) (the first in row "
            f"{int(infinite.argmax())}, counted from 0); drop these rows or give them a class of their own."
        )
    fractions = floats != np.rint(floats)
    if fractions.any():
        row = int(fractions.argmax())
        raise fraction_error(floats[row].item(), row, name)


def fraction_error(value: Any, row: int, name: str) -> ValueError:
    """What to do about numbers that are no classes."""
    return ValueError(
        f"Unknown label type: continuous. {name} holds {shown(value)} in row {row}, counted from 0, but classes are "
        "whole numbers, text or booleans; round the numbers to classes, or use a regressor."
    )


def object_labels(objects: NDArray[Any], name: str) -> NDArray[Any]:
    """As `exact_labels`, for Python objects: numbers and times as NumPy's where that loses nothing."""
    values = objects.tolist()
    types = set(map(type, values))
    if not types <= NEVER_MISSING:
        check_none_missing(np.fromiter(map(is_missing, values), dtype=bool, count=len(values)), name)
    kinds = {kind_of_type(held) for held in types}
    if len(kinds) > 1:
        raise mixed_error(values, name)
    if kinds & {"bytes", "complex"}:
        raise kind_error(name, *kinds)
    if kinds == {"numbers"}:
        return number_labels(values, name)
    if kinds & {"times", "dates", "durations"} and not any(map(has_zone, values)):
        return time_labels(values, name)
    return objects


def kind_of_type(held: type) -> str:
    """What labels of a type are; those of two kinds are never equal, or cannot be sorted together."""
    if issubclass(held, str):
        return "text"
    if issubclass(held, (datetime.timedelta, np.timedelta64)):
        return "durations"
    if issubclass(held, (numbers.Real, np.bool_, Decimal)):
        return "numbers"
    if issubclass(held, TIMES):
        return "times"
    if issubclass(held, (bytes, numbers.Complex)):
        return "bytes" if issubclass(held, bytes) else "complex"
    return "dates" if issubclass(held, datetime.date) else held.__name__


def kind_of_labels(labels: NDArray[Any]) -> str:
    """What labels are, all of one kind and at least one of them."""
    return kind_of_type(type(labels[0]))


def mixed_error(values: list[Any], name: str) -> ValueError:
    """What to do about labels of which some are text and some are numbers."""
    counts = Counter(type(value).__name__ for value in values)
    example_of = {type(value).__name__: value for value in reversed(values)}
    seen = ", ".join(f"{count} of type {held} (such as {shown(example_of[held])})" for held, count in counts.items())
    return ValueError(
        f"{name} mixes labels of several kinds: {seen}. Give labels of one kind, for example all as text."
    )


def number_labels(values: list[Any], name: str) -> NDArray[Any]:
    """Numbers as NumPy reads them if these equal what was given; else as integers, of Python where they are large."""
    labels = np.array(values)
    if labels.dtype.kind in "biu":
        return labels
    holds_floats = any(issubclass(held, (float, np.floating)) for held in set(map(type, values)))
    if labels.dtype.kind == "f" and holds_floats and labels.tolist() == list(map(python_number, values)):
        check_whole(labels, name)
        return labels
    return integer_labels([whole_number(value, row, name) for row, value in enumerate(values)])


def integer_labels(values: list[int]) -> NDArray[Any]:
    """Integers of the first type that holds them all: int64, uint64 or Python's."""
    for dtype in (np.int64, np.uint64):
        limits = np.iinfo(dtype)
        if limits.min <= min(values) and max(values) <= limits.max:
            return np.array(values, dtype=dtype)
    return as_objects(values)


def python_number(value: Any) -> Any:
    """A number as Python's: NumPy compares an integer with a float after it has rounded it to one."""
    return value.item() if isinstance(value, np.generic) else value


def whole_number(value: Any, row: int, name: str) -> int:
    """A number of any type as an integer, if it is one."""
    try:
        whole = int(value)
        if whole == python_number(value):
            return whole
    except (ArithmeticError, ValueError):  # infinity, or a signalling NaN
        pass
    raise fraction_error(value, row, name)


def time_labels(values: list[Any], name: str) -> NDArray[Any]:
    """Times without a zone, dates or durations as NumPy's, in the finest unit among them."""
    times = list(map(numpy_time, values))
    if len({time.dtype for time in times}) == 1:
        return np.array(times)
    units = {np.datetime_data(time.dtype)[0] for time in times}
    unit = min((unit for unit in units if unit in TICKS), key=lambda unit: TICKS[unit], default="D")
    try:
        counts = np.array([ticks_of(time) // TICKS[unit] for time in times], dtype=np.int64)
    except OverflowError as error:
        raise ValueError(f"{name} holds times too far apart to be counted in {unit}; round them.") from error
    return counts.view(f"{times[0].dtype.kind}8[{unit}]")


def as_objects(values: list[Any]) -> NDArray[Any]:
    """A list as an array of these very objects."""
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return objects


def read_classes(y: NDArray[Any]) -> tuple[NDArray[Any], Labels]:
    """Sorted classes and the class index of every row."""
    classes, labels = find_distinct(y, "y")
    if len(classes) < 2:
        raise ValueError(
            f"y holds only one class, {classes.tolist()}; a classifier needs rows of at least two classes."
        )
    if len(classes) > MAX_CLASSES:
        raise ValueError(
            f"y holds {len(classes)} classes; at most {MAX_CLASSES} are supported. Is y a continuous target?"
        )
    return classes, labels.astype(LABEL)


def find_distinct(y: NDArray[Any], name: str) -> tuple[NDArray[Any], NDArray[np.integer[Any]]]:
    """Sorted distinct labels, and the place of every row's among them."""
    try:
        if y.dtype.kind in "iub" and len(y) > 0:
            return count_distinct(y)
        if y.dtype.kind == "O":
            return hash_distinct(y)
        return sort_distinct(y)
    except TypeError as error:
        raise ValueError(
            f"{name} cannot be used as labels: {error}. Give numbers, text or booleans, of one type and with none "
            "missing."
        ) from error


def sort_distinct(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.integer[Any]]]:
    """As `find_distinct`, for whatever can be sorted."""
    classes, places = np.unique(y, return_inverse=True)
    return classes, places


def count_distinct(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.integer[Any]]]:
    """As `find_distinct`, for integers: by counting them if they lie close together."""
    lowest, highest = int(y.min()), int(y.max())
    if highest - lowest >= COUNTABLE:
        return sort_distinct(y)
    shifted = y.astype(np.int64) - lowest if y.dtype.kind != "u" else (y - y.dtype.type(lowest)).astype(np.int64)
    seen = np.flatnonzero(np.bincount(shifted))
    narrow = LABEL if len(seen) <= MAX_CLASSES else np.int64
    place_of: NDArray[np.integer[Any]] = np.zeros(highest - lowest + 1, dtype=narrow)
    place_of[seen] = np.arange(len(seen))
    return np.array([lowest + place for place in seen.tolist()], dtype=y.dtype), place_of[shifted]


def hash_distinct(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.integer[Any]]]:
    """As `find_distinct`, for Python objects: only the distinct ones are sorted."""
    found: dict[Any, int] = {}
    numbers_of_rows = (found.setdefault(label, len(found)) for label in y.tolist())
    places = np.fromiter(numbers_of_rows, dtype=np.intp, count=len(y))
    classes, place_of = sort_distinct(as_objects(list(found)))
    return classes, place_of[places]


def join_labels(arrays: Sequence[NDArray[Any]], name: str) -> NDArray[Any]:
    """The labels of several arrays, one after the other, in a dtype that keeps them apart."""
    dtypes = {array.dtype for array in arrays}
    kinds = {dtype.kind for dtype in dtypes}
    if len(kinds) == 1 and (kinds <= set("biufU") or (kinds <= set("mM") and len(dtypes) == 1)):
        return np.concatenate(arrays)
    return object_labels(as_objects([label for array in arrays for label in objects_of(array)]), name)


def objects_of(labels: NDArray[Any]) -> list[Any]:
    """Labels as objects that lose nothing."""
    return list(labels) if labels.dtype.kind in "mM" else labels.tolist()


def locate_labels(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """Where labels stand among the classes, whatever dtypes the two have; -1 if they are none of them."""
    place_of = {key: place for place, key in enumerate(map(key_of, objects_of(classes)))}
    return np.array([place_of.get(key_of(label), -1) for label in objects_of(labels)], dtype=np.intp)


def key_of(label: Any) -> Any:
    """What labels of any dtype are compared by."""
    return (type(label).__name__, ticks_of(label)) if isinstance(label, NUMPY_TIMES) else label
