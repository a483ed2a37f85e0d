"""Class labels: read from any container, sorted into classes, and compared exactly.

Two labels are one class if they are equal in Python. NumPy alone would convert a list of text and numbers to text and
large integers of two types to floats, drop zero characters from the end of text, and make a missing label a class.
"""

import datetime
import numbers
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from comboost._data.categories import is_missing
from comboost._data.checks import MAX_BITS, fill_mask, is_long, shown
from comboost._data.dates import NUMPY_TIMES, TICKS, TIMES, has_zone, numpy_time, ticks_of
from comboost._types import LABEL, MAX_CLASSES, Floats, Labels, Sums

ValueT = TypeVar("ValueT", bound=np.generic)
COUNTABLE = 2**20  # integer labels in a smaller range are counted instead of sorted
NEVER_MISSING = {str, int, bool}
POLARS_LOSSY = {"Int128", "UInt128", "String"}  # NumPy has no such integers, and drops zero characters of such text
# Types of labels and the kinds of dtypes that hold them exactly; text may lose zero characters at its end.
LOSSLESS: dict[type, str] = {bool: "b", int: "iu", float: "f", str: "U"}
LOSSLESS |= {np.bool_: "b", np.int64: "iu", np.float64: "f", np.str_: "U"}


def read_labels(y: Any, n_samples: int, name: str) -> NDArray[Any]:
    """Convert labels to an array, one per sample."""
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
    """Take labels out of their container; masked labels become missing ones."""
    if type(y) is np.ndarray:
        return y
    y = fill_mask(y)
    if not hasattr(y, "__array__"):
        return unpack_list(y)
    plain = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    # scikit-learn and NumPy would convert pandas' nullable integers to floats.
    if isinstance(plain, np.dtype) and plain.kind in "biu" and not y.isna().any():
        return np.asarray(y.to_numpy(dtype=plain))
    if str(getattr(y, "dtype", None)) in POLARS_LOSSY:
        return unpack_list(y.to_list())
    return np.asarray(y)


def unpack_list(y: Any) -> NDArray[Any]:
    """Convert a list of labels to an array: as NumPy does if all are of one kind and this is exact, else of objects."""
    kinds = {LOSSLESS.get(held, "") for held in set(map(type, y))} if np.iterable(y) else set()
    if len(kinds) == 1 and kinds != {""}:
        labels = np.array(y)
        loses_zeros = labels.dtype.kind == "U" and any(text.endswith("\0") for text in set(y))
        if labels.dtype.kind in kinds.pop() and not loses_zeros:
            return labels
    objects = np.array(y, dtype=object)
    is_column = objects.ndim == 2 and objects.shape[1] == 1
    return unpack_list(objects.ravel().tolist())[:, np.newaxis] if is_column else objects


def exact_labels(given: NDArray[Any], name: str) -> NDArray[Any]:
    """Convert 1-D labels to a dtype in which they compare as in Python; raise if any is missing."""
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
    """Error about values that cannot be labels."""
    return ValueError(f"{name} holds {kind}, which cannot be labels; give whole numbers, text or booleans.")


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
    """Error about numbers that cannot be classes."""
    return ValueError(
        f"Unknown label type: continuous. {name} holds {shown(value)} in row {row}, counted from 0, but classes are "
        "whole numbers, text or booleans; round the numbers to classes, or use a regressor."
    )


def object_labels(objects: NDArray[Any], name: str) -> NDArray[Any]:
    """As `exact_labels`, for Python objects: numbers and times in NumPy's types where this is exact."""
    values = objects.tolist()
    types = set(map(type, values))
    if not types <= NEVER_MISSING:
        check_none_missing(np.fromiter(map(is_missing, values), dtype=bool, count=len(values)), name)
    kinds = {kind_of_type(held) for held in types}
    if len(kinds) > 1:
        counts = Counter(type(value).__name__ for value in values)
        example_of = {type(value).__name__: value for value in reversed(values)}
        seen = ", ".join(
            f"{count} of type {held} (such as {shown(example_of[held])})" for held, count in counts.items()
        )
        raise ValueError(
            f"{name} mixes labels of several kinds: {seen}. Give labels of one kind, for example all as text."
        )
    if kinds & {"bytes", "complex"}:
        raise kind_error(name, *kinds)
    if kinds == {"numbers"}:
        return number_labels(values, name)
    if kinds & {"times", "dates", "durations"} and not any(map(has_zone, values)):
        return time_labels(values, name)
    return objects


def kind_of_type(held: type) -> str:
    """Kind of the labels of a type; labels of two kinds are never equal, or cannot be sorted together."""
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
    """Kind of an array of labels, which must not be empty."""
    return kind_of_type(type(labels[0]))


def number_labels(values: list[Any], name: str) -> NDArray[Any]:
    """Convert numbers as NumPy does if this is exact; else to int64, uint64 or, if they are large, Python integers."""
    labels = np.array(values)
    if labels.dtype.kind in "biu":
        return labels
    holds_floats = any(issubclass(held, (float, np.floating)) for held in set(map(type, values)))
    if labels.dtype.kind == "f" and holds_floats and labels.tolist() == list(map(python_number, values)):
        check_whole(labels, name)
        return labels
    integers = [whole_number(value, row, name) for row, value in enumerate(values)]
    for dtype in (np.int64, np.uint64):
        limits = np.iinfo(dtype)
        if limits.min <= min(integers) and max(integers) <= limits.max:
            return np.array(integers, dtype=dtype)
    return as_objects(integers)


def python_number(value: Any) -> Any:
    """Convert a number to Python's type: NumPy would round an integer before it compares it with a float."""
    return value.item() if isinstance(value, np.generic) else value


def whole_number(value: Any, row: int, name: str) -> int:
    """Convert a number of any type to an integer; raise if it is a fraction."""
    whole = None
    with suppress(ArithmeticError, ValueError):  # infinity, or a signalling NaN
        whole = value if is_long(value) else int(value)
    if is_long(whole):
        raise ValueError(
            f"{name} holds {shown(value)} in row {row}, counted from 0, a number of more than {MAX_BITS} bits; give "
            "smaller numbers, or text."
        )
    if whole is not None and whole == python_number(value):
        return int(whole)
    raise fraction_error(value, row, name)


def time_labels(values: list[Any], name: str) -> NDArray[Any]:
    """Convert times without a zone, dates or durations to NumPy's type, in the finest unit among them."""
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
    """Convert a list to an array of the same objects."""
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return objects


def read_classes(y: NDArray[Any]) -> tuple[NDArray[Any], Labels]:
    """Return the sorted classes and the class index of every sample."""
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
    """Return the sorted distinct labels, and the index of every sample's label among them."""
    try:
        if y.dtype.kind == "O":  # only the distinct objects are sorted
            index_of: dict[Any, int] = {}
            numbered = (index_of.setdefault(label, len(index_of)) for label in y.tolist())
            indices = np.fromiter(numbered, dtype=np.intp, count=len(y))
            distinct, rank_of = np.unique(as_objects(list(index_of)), return_inverse=True)
            return distinct, rank_of[indices]
        if y.dtype.kind in "iub" and len(y) > 0 and int(y.max()) - int(y.min()) < COUNTABLE:
            wide = y.astype(np.uint64 if y.dtype.kind == "u" else np.int64, copy=False)
            lowest = wide.min()
            offsets = (wide - lowest).astype(np.int64, copy=False)
            seen = np.flatnonzero(np.bincount(offsets))
            rank_of = np.zeros(seen[-1] + 1, dtype=LABEL if len(seen) <= MAX_CLASSES else np.int64)
            rank_of[seen] = np.arange(len(seen))
            return (seen.astype(wide.dtype) + lowest).astype(y.dtype), rank_of[offsets]
        distinct, indices = np.unique(y, return_inverse=True)
        return distinct, indices
    except TypeError as error:
        raise ValueError(
            f"{name} cannot be used as labels: {error}. Give numbers, text or booleans, of one type and with none "
            "missing."
        ) from error


def join_labels(arrays: Sequence[NDArray[Any]], name: str) -> NDArray[Any]:
    """Concatenate labels in a dtype that keeps distinct labels distinct."""
    dtypes = {array.dtype for array in arrays}
    kinds = {dtype.kind for dtype in dtypes}
    if len(kinds) == 1 and (kinds <= set("biufU") or (kinds <= set("mM") and len(dtypes) == 1)):
        return np.concatenate(arrays)
    return object_labels(as_objects([label for array in arrays for label in objects_of(array)]), name)


def objects_of(labels: NDArray[Any]) -> list[Any]:
    """Convert labels to a list of objects without loss."""
    return list(labels) if labels.dtype.kind in "mM" else labels.tolist()


def locate_labels(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """Index of every label among the classes, whatever dtypes the two have; -1 if it is not one of them."""
    index_of = {key_of(label): index for index, label in enumerate(objects_of(classes))}
    return np.array([index_of.get(key_of(label), -1) for label in objects_of(labels)], dtype=np.intp)


def key_of(label: Any) -> Any:
    """Key by which labels of any dtype are compared."""
    return (type(label).__name__, ticks_of(label)) if isinstance(label, NUMPY_TIMES) else label


@dataclass(frozen=True)
class Candidates:
    """The classes of y, and those with weight, which are trained on and can be predicted.

    A class whose samples all have weight 0 changes nothing in training, but it stays a class of y.
    """

    given: NDArray[Any]  # the classes of y, sorted
    indices: NDArray[np.intp] | None = None  # indices of the classes with weight among them; None if all have weight

    @classmethod
    def of(cls, given: NDArray[Any], sums: Sums) -> "Candidates":
        """Select the classes whose summed weight is positive: at least two."""
        has_weight = sums > 0
        if has_weight.all():
            return cls(given)
        if has_weight.sum() < 2:
            raise ValueError(
                f"sample_weight gives no weight to the class(es) {given[~has_weight].tolist()}, zero or next to it "
                "beside the others; at least two classes need a row that counts. Raise their weights."
            )
        return cls(given, np.flatnonzero(has_weight))

    @property
    def classes(self) -> NDArray[Any]:
        """The classes with weight."""
        return self.given if self.indices is None else self.given[self.indices]

    def select(self, values: NDArray[ValueT]) -> NDArray[ValueT]:
        """Select the values of the classes with weight from one value per class of y."""
        return values if self.indices is None else values[self.indices]

    def select_pairs(self, matrix: Floats) -> Floats:
        """Select the pairs of classes with weight from one value per pair of classes of y."""
        return matrix if self.indices is None else np.ascontiguousarray(matrix[np.ix_(self.indices, self.indices)])

    def to_all(self, labels: NDArray[ValueT]) -> NDArray[ValueT]:
        """Convert indices among the classes with weight to indices among the classes of y."""
        return labels if self.indices is None else self.indices[labels].astype(labels.dtype)

    def to_trained(self, labels: NDArray[ValueT]) -> NDArray[ValueT]:
        """Convert indices among the classes of y to indices among the classes with weight."""
        return labels if self.indices is None else np.searchsorted(self.indices, labels).astype(labels.dtype)

    def spread(self, values: NDArray[ValueT], fill: float) -> NDArray[ValueT]:
        """Expand one value per class with weight, in the last axis, to one per class of y."""
        if self.indices is None:
            return values
        expanded = np.full((*values.shape[:-1], len(self.given)), fill, dtype=values.dtype)
        expanded[..., self.indices] = values
        return expanded

    def expand_pairs(self, matrix: Floats) -> Floats:
        """Expand one value per pair of classes with weight to one per pair of classes of y, 0 for the others."""
        return matrix if self.indices is None else self.spread(self.spread(matrix, 0.0).T, 0.0).T.copy()
