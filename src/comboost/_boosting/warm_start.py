"""What a warm start goes on from. In: what a fit was made of. Out: texts that tell fits apart, or an error.

A model remembers its parameters and its rows as digests: enough to refuse what would not fit the rounds that are there.
"""

import hashlib
import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from comboost import _core
from comboost._boosting.loop import History
from comboost._types import Codes, Labels, Weights

DIGESTED_AT_ONCE = 2**16  # rows, or entries of a sparse table: their hashes take next to no memory


@dataclass(frozen=True)
class Origin:
    """What a model was learned with.

    Attributes
    ----------
    parameters : dict of str to str
        Fingerprints of the parameters that may not change.
    seed : int
        Seeds the draws of every round.
    n_samples : int
        Rows of the table.
    classes : ndarray
        The classes.
    rows : str
        A text that other rows would change.
    """

    parameters: dict[str, str]
    seed: int
    n_samples: int
    classes: NDArray[Any]
    rows: str

    def check_rows(self, n_samples: int, classes: NDArray[Any]) -> None:
        """Raise if a warm start would go on with rows of another shape."""
        if n_samples != self.n_samples:
            raise ValueError(
                f"warm_start: X has {n_samples} rows now and had {self.n_samples} in the earlier fit; give the "
                "same rows, or set warm_start=False."
            )
        if not np.array_equal(classes, self.classes):
            raise ValueError(
                f"warm_start: the classes are {classes.tolist()} now and were {self.classes.tolist()} in the earlier "
                "fit; give the same rows, or set warm_start=False."
            )


class Past(NamedTuple):
    """An earlier fit to go on from.

    Attributes
    ----------
    history : History
        Its rounds.
    origin : Origin
        What it was learned with.
    learned : TreePast or list of classifiers
        What its weak learner keeps.
    validation_curve : list of float
        The validation scores of its rounds, if it was validated.
    """

    history: History
    origin: Origin
    learned: Any
    validation_curve: list[float]

    def check_parameters(self, parameters: Mapping[str, Any], n_estimators: int) -> None:
        """Raise if a warm start would go on with other parameters."""
        now, then = fingerprints(parameters), self.origin.parameters
        changed = sorted(name for name in now.keys() & then.keys() if now[name] != then[name])
        if changed:
            raise ValueError(
                f"warm_start: {', '.join(changed)} changed since the earlier fit, whose rounds would not fit those to "
                "come; set back what changed, or set warm_start=False."
            )
        if n_estimators < len(self.history):
            raise ValueError(
                f"warm_start: n_estimators={n_estimators}, but {len(self.history)} rounds are there "
                "already; ask for at least as many, or set warm_start=False."
            )


def check_same_values(now: str, then: str, what: str) -> None:
    """Raise if the fingerprints of values differ."""
    if now != then:
        raise ValueError(
            f"warm_start: the {what} have other values now than in the earlier fit; give the same {what}, or set "
            "warm_start=False."
        )


def digest(*parts: Any) -> str:
    """A short text that any other arrays, or other values, would change."""
    found = hashlib.blake2b(digest_size=16)
    for part in parts:
        found.update(np.ascontiguousarray(part).tobytes() if isinstance(part, np.ndarray) else repr(part).encode())
    return found.hexdigest()


class RowDigest(NamedTuple):
    """Two numbers that other rows would change, but no other order of them: a sum and an exclusive or of hashes."""

    added: int
    mixed: int

    def joined(self, other: "RowDigest") -> "RowDigest":
        """The digest of these rows and others."""
        return RowDigest((self.added + other.added) % 2**64, self.mixed ^ other.mixed)

    def __str__(self) -> str:
        return f"{self.added:016x}{self.mixed:016x}"


def digest_rows(codes: Codes | _core.SparseCodes, labels: Labels, weights: Weights | None) -> RowDigest:
    """The digest of some rows, the same however their codes are kept."""
    if isinstance(codes, _core.SparseCodes):
        return digest_hashes(hash_entries(codes), labels, weights)
    digest = RowDigest(0, 0)
    keys = mixed(np.arange(len(codes), dtype=np.uint64)) | np.uint64(1)
    for begin in range(0, len(labels), DIGESTED_AT_ONCE):
        block = slice(begin, begin + DIGESTED_AT_ONCE)
        hashes = np.zeros(len(labels[block]), dtype=np.uint64)
        for key, column in zip(keys, codes, strict=True):
            hashes += column[block] * key
        digest = digest.joined(digest_hashes(hashes, labels[block], None if weights is None else weights[block]))
    return digest


def hash_entries(codes: _core.SparseCodes) -> NDArray[np.uint64]:
    """The hashes of a sparse table's rows: sums over its codes, each times the key of its feature."""
    zeros = codes.zero_codes.astype(np.uint64)
    keys = mixed(codes.features.astype(np.uint64)) | np.uint64(1)
    hashes = np.full(codes.n_rows, (zeros * keys).sum(dtype=np.uint64))
    for begin in range(0, len(codes.rows), DIGESTED_AT_ONCE):
        rows = codes.rows[begin : begin + DIGESTED_AT_ONCE]
        features = np.searchsorted(codes.starts, np.arange(begin, begin + len(rows)), side="right") - 1
        above_zero = codes.codes[begin : begin + DIGESTED_AT_ONCE] - zeros[features]
        np.add.at(hashes, rows, above_zero * keys[features])
    return hashes


def digest_hashes(hashes: NDArray[np.uint64], labels: Labels, weights: Weights | None) -> RowDigest:
    """The digest of rows whose codes have these hashes."""
    hashes ^= mixed(labels.astype(np.uint64))
    if weights is not None:
        hashes ^= mixed(mixed(weights.astype(np.uint64)))
    hashes = mixed(hashes)  # sums over rows of sums over codes would not tell which codes stand in one row
    return RowDigest(int(hashes.sum(dtype=np.uint64)), int(np.bitwise_xor.reduce(hashes)))


def mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The step of SplitMix64: another number for every number, as if drawn at random."""
    numbers = numbers + np.uint64(0x9E3779B97F4A7C15)
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


def hash_matrix(X: Any, labels: Labels, weights: Weights | None) -> str:
    """A text that other rows, or another order of them, would change: nobody knows what a weak learner looks at."""
    return str(joblib.hash((X if issparse(X) else np.ascontiguousarray(X), labels, weights)))


def fingerprints(parameters: Mapping[str, Any]) -> dict[str, str]:
    """What tells the values of parameters apart."""
    return {name: fingerprint(value) for name, value in parameters.items()}


def fingerprint(value: Any) -> str:
    """A text that is the same for equal values: arrays, frames and estimators, too."""
    if isinstance(value, np.random.RandomState):
        return "RandomState"  # drawing from it changes it
    if isinstance(value, numbers.Integral) and abs(int(value)) > 2**53:
        return repr(int(value))  # a float would round it, or could not hold it
    if isinstance(value, numbers.Real):
        return repr(float(value))  # 1 is 1.0
    if value is None or isinstance(value, str):
        return repr(value)
    if isinstance(value, np.ndarray | list | tuple):
        return repr(np.asarray(value).tolist())  # an array is as good as a list
    try:
        return str(joblib.hash(value))
    except Exception:  # joblib pickles, and what cannot be pickled fails in many ways
        return repr(value)
