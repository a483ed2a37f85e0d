"""Warm starts: what an earlier fit stores, and checks that the parameters and samples are still the same.

A model stores fingerprints of its parameters and training samples, so a warm start with others raises an error.
"""

import hashlib
import numbers
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from comboost import _core
from comboost._boosting.loop import History
from comboost._data.categories import Categories
from comboost._engine.binning import BinMapper
from comboost._types import Codes, Labels, Weights

BLOCK_SIZE = 2**16  # samples, or entries of a sparse table, that are hashed at a time to save memory


@dataclass(frozen=True)
class FitFingerprint:
    """Fingerprint of a fit."""

    parameters: dict[str, str]  # fingerprints of the parameters that a warm start may not change
    seed: int  # random seed of the rounds
    n_samples: int
    classes: NDArray[Any]
    rows: str  # fingerprint of the training samples

    def check_rows(self, n_samples: int, classes: NDArray[Any]) -> None:
        """Raise if the number of samples or the classes changed."""
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


class WarmStartState(NamedTuple):
    """State of the earlier fit that a warm start continues."""

    history: History  # its rounds
    origin: FitFingerprint  # its fingerprint
    learned: Any  # its weak hypotheses
    validation_curve: list[float]  # the validation scores of its rounds, if it was validated

    def check_parameters(self, parameters: Mapping[str, Any], n_estimators: int) -> None:
        """Raise if parameters changed that a warm start may not change."""
        now, then = fingerprints(parameters), self.origin.parameters
        changed = sorted(name for name in now.keys() & then.keys() if now[name] != then[name])
        if changed:
            raise ValueError(
                f"warm_start: {', '.join(changed)} changed since the earlier fit, so its rounds cannot be continued; "
                "set the old values, or set warm_start=False."
            )
        if n_estimators < len(self.history):
            raise ValueError(
                f"warm_start: n_estimators={n_estimators}, but the model already has "
                f"{len(self.history)} rounds; give at least as many, or set warm_start=False."
            )


def check_same_values(now: str, then: str, what: str) -> None:
    """Raise if the fingerprints of values differ."""
    if now != then:
        raise ValueError(
            f"warm_start: the {what} have other values than in the earlier fit; give the same {what}, or set "
            "warm_start=False."
        )


class RowDigest(NamedTuple):
    """Hash of samples that does not depend on their order: the sum and the exclusive or of the hashes of samples."""

    added: int
    mixed: int

    def joined(self, other: "RowDigest") -> "RowDigest":
        """The digest of these samples and others."""
        return RowDigest((self.added + other.added) % 2**64, self.mixed ^ other.mixed)


def fingerprint_rows(bins: BinMapper, categories: Categories, digest: RowDigest) -> str:
    """A text that other rows, bins or categories would change."""
    shared = repr(categories.infrequent) if categories.infrequent else ""
    found = hashlib.blake2b(digest_size=16)
    for part in (bins.flat_edges, bins.edge_starts, bins.kinds):
        found.update(np.ascontiguousarray(part).tobytes())
    found.update(f"{categories.values!r}{shared}".encode())
    return f"{found.hexdigest()}{digest.added:016x}{digest.mixed:016x}"


def digest_rows(codes: Codes | _core.SparseCodes, labels: Labels, weights: Weights | None) -> RowDigest:
    """Hash samples; dense and sparse codes give the same digest."""
    added, mixed = 0, 0
    for hashes in hash_rows(codes, labels, weights):
        added, mixed = added + int(hashes.sum(dtype=np.uint64)), mixed ^ int(np.bitwise_xor.reduce(hashes))
    return RowDigest(added % 2**64, mixed)


def hash_rows(
    codes: Codes | _core.SparseCodes, labels: Labels, weights: Weights | None
) -> Iterator[NDArray[np.uint64]]:
    """Hash every sample, some at a time; dense and sparse codes give the same hashes."""
    n_features = 0 if isinstance(codes, _core.SparseCodes) else len(codes)
    keys = scramble(np.arange(n_features, dtype=np.uint64)) | np.uint64(1)
    step = max(1, len(labels)) if isinstance(codes, _core.SparseCodes) else BLOCK_SIZE
    for begin in range(0, len(labels), step):
        block = slice(begin, begin + step)
        if isinstance(codes, _core.SparseCodes):
            hashes = hash_entries(codes)
        else:  # the sum of the codes of a sample, each times the key of its feature
            hashes = np.zeros(len(labels[block]), dtype=np.uint64)
            for key, column in zip(keys, codes, strict=True):
                hashes += column[block] * key
        hashes ^= scramble(labels[block].astype(np.uint64))
        if weights is not None:
            hashes ^= scramble(scramble(weights[block].astype(np.uint64)))
        yield scramble(hashes)  # otherwise sums over samples would not depend on which codes share a sample


def hash_entries(codes: _core.SparseCodes) -> NDArray[np.uint64]:
    """Hash every sample of a sparse table: the sum of its codes, each times the key of its feature."""
    zeros = codes.zero_codes.astype(np.uint64)
    keys = scramble(codes.features.astype(np.uint64)) | np.uint64(1)
    hashes = np.full(codes.n_rows, (zeros * keys).sum(dtype=np.uint64))
    for begin in range(0, len(codes.rows), BLOCK_SIZE):
        rows = codes.rows[begin : begin + BLOCK_SIZE]
        features = np.searchsorted(codes.starts, np.arange(begin, begin + len(rows)), side="right") - 1
        above_zero = codes.codes[begin : begin + BLOCK_SIZE] - zeros[features]
        np.add.at(hashes, rows, above_zero * keys[features])
    return hashes


def scramble(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hash integers with the step of SplitMix64, which is a bijection."""
    numbers = numbers + np.uint64(0x9E3779B97F4A7C15)
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


def hash_matrix(X: Any, labels: Labels, weights: Weights | None) -> str:
    """Hash samples in their order, on which any weak learner may depend."""
    return str(joblib.hash((X if issparse(X) else np.ascontiguousarray(X), labels, weights)))


def fingerprints(parameters: Mapping[str, Any]) -> dict[str, str]:
    """Fingerprints of parameters."""
    found = {}
    for name, value in parameters.items():
        found[name] = fingerprint(value)
    return found


def fingerprint(value: Any) -> str:
    """Return the same text for equal values: numbers, arrays, frames and estimators."""
    if isinstance(value, np.random.RandomState):
        return "RandomState"  # drawing from it changes it
    if isinstance(value, numbers.Integral) and abs(int(value)) > 2**53:
        return repr(int(value))  # a float would round it, or could not hold it
    if isinstance(value, numbers.Real):
        return repr(float(value))  # 1 equals 1.0
    if value is None or isinstance(value, str):
        return repr(value)
    if isinstance(value, np.ndarray | list | tuple):
        return repr(np.asarray(value).tolist())  # an array equals a list
    try:
        return str(joblib.hash(value))
    except Exception:  # joblib pickles the value, which may fail in many ways
        return repr(value)
