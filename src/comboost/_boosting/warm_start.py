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

from comboost._boosting.loop import History
from comboost._dtypes import Codes, Labels, Weights

DIGESTED_AT_ONCE = 2**16  # rows: their hashes take next to no memory
FNV_PRIME = np.uint64(0x100000001B3)

#: Parameters that a warm start may change: what was learned does not depend on them.
FREE_PARAMETERS = {"n_estimators", "n_jobs", "verbose", "proba", "priors", "warm_start", "client", "timeout"}


@dataclass(frozen=True)
class Origin:
    """What a model was learned with.

    Attributes
    ----------
    parameters : dict of str to str
        Fingerprints of the parameters that may not change.
    seed : int
        Seeds the draws of every round.
    n_rows : int
        Rows of the table.
    classes : ndarray
        The classes.
    rows : str
        A text that other rows would change.
    """

    parameters: dict[str, str]
    seed: int
    n_rows: int
    classes: NDArray[Any]
    rows: str

    def check_rows(self, n_rows: int, classes: NDArray[Any]) -> None:
        """Raise if a warm start would go on with rows of another shape."""
        if n_rows != self.n_rows:
            raise ValueError(
                f"warm_start: X has {n_rows} rows now and had {self.n_rows} in the earlier fit; give the same rows, or "
                "set warm_start=False."
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

    def check_parameters(self, parameters: Mapping[str, Any]) -> None:
        """Raise if a warm start would go on with other parameters."""
        now, then = fingerprints(parameters), self.origin.parameters
        changed = sorted(name for name in now.keys() & then.keys() if now[name] != then[name])
        if changed:
            raise ValueError(
                f"warm_start: {', '.join(changed)} changed since the earlier fit, whose rounds would not fit those to "
                "come; set back what changed, or set warm_start=False."
            )
        if parameters["n_estimators"] < len(self.history):
            raise ValueError(
                f"warm_start: n_estimators={parameters['n_estimators']}, but {len(self.history)} rounds are there "
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


def digest_rows(codes: Codes, labels: Labels, weights: Weights | None) -> RowDigest:
    """The digest of some rows."""
    digest = RowDigest(0, 0)
    for begin in range(0, len(labels), DIGESTED_AT_ONCE):
        block = slice(begin, begin + DIGESTED_AT_ONCE)
        rows = labels[block].astype(np.uint64)
        for column in codes if weights is None else (*codes, weights):
            rows ^= column[block]
            rows *= FNV_PRIME
        rows ^= rows >> np.uint64(32)
        digest = digest.joined(
            RowDigest(int((rows * FNV_PRIME).sum(dtype=np.uint64)), int(np.bitwise_xor.reduce(rows)))
        )
    return digest


def hash_matrix(X: Any, labels: Labels, weights: Weights | None) -> str:
    """A text that other rows, or another order of them, would change: nobody knows what a weak learner looks at."""
    return str(joblib.hash((X if issparse(X) else np.ascontiguousarray(X), labels, weights)))


def fingerprints(parameters: Mapping[str, Any]) -> dict[str, str]:
    """What tells the values of parameters apart, for those that a warm start may not change."""
    return {name: fingerprint(value) for name, value in parameters.items() if name not in FREE_PARAMETERS}


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
