"""Whether there was work behind a time. In: a model or codes. Out: what it learned, or why its time does not count."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._lib.peers import MAX_BINS, OURS, Library

CHECKED_ROWS = 20_000  # enough to tell learning from guessing
CHECKED_SINGLY = 50
LEAST_GAIN = 0.1  # of the way from guessing to no mistakes; or, with many classes, twice as good as guessing
FULLEST_BIN = 4.0  # times the rows that equal bins would have


@dataclass(frozen=True)
class Learning:
    """How many training rows a model gets right, what guessing would, and why its time does not count, if so.

    Ours learns all classes alike, so its accuracy is the balanced one, and guessing is right once in K.
    """

    accuracy: float
    guessing: float
    failure: str | None


def learning_of(
    library: Library, model: Any, X: NDArray[Any], y: NDArray[Any], n_rounds: int, n_threads: int
) -> Learning:
    """What a model learned of its first training rows."""
    X, y = X[:CHECKED_ROWS], y[:CHECKED_ROWS]
    predicted = library.raw_scores(model, X, n_threads).argmax(axis=1)
    share, guessing = (balanced_accuracy if isinstance(library, OURS) else accuracy)(predicted, y)
    return Learning(share, guessing, failure_of(share, guessing, library.n_rounds(model), n_rounds))


def failure_of(share: float, guessing: float, n_done: int, n_asked: int) -> str | None:
    """Why a model's time does not count, if it does not."""
    if n_done != n_asked:
        return f"stopped after {n_done} of {n_asked} rounds"
    if share < min(2 * guessing, guessing + LEAST_GAIN * (1 - guessing)):
        return f"learned nothing: {share:.3f} right, guessing has {guessing:.3f}"
    return None


def accuracy(predicted: NDArray[Any], y: NDArray[Any]) -> tuple[float, float]:
    """Share of rows that are right, and the share of the largest class."""
    return float((predicted == y).mean()), float(np.bincount(y).max() / len(y))


def balanced_accuracy(predicted: NDArray[Any], y: NDArray[Any]) -> tuple[float, float]:
    """Mean over the classes of their rows that are right, and one over the number of classes."""
    classes = np.unique(y)
    return float(np.mean([(predicted[y == label] == label).mean() for label in classes])), 1 / len(classes)


def row_failure(library: Library, model: Any, X: NDArray[Any], n_threads: int) -> str | None:
    """Why scores of single rows are none, if so: a short way to them must end where the long one does."""
    rows = X[:CHECKED_SINGLY]
    expected = library.raw_scores(model, rows, n_threads)
    found = np.vstack([library.row_scores(model, rows[i : i + 1], n_threads) for i in range(len(rows))])
    if found.shape != expected.shape or not np.allclose(found, expected, rtol=1e-5, atol=1e-5):
        return "scores single rows otherwise than the same rows at once"
    return None


def binning_failure(codes: NDArray[np.uint8], X: NDArray[Any]) -> str | None:
    """Why our codes are no bins of X, if they are not: too few, of uneven size, or not in the order of the values."""
    for column, values in zip(codes, X.T, strict=True):
        sizes = np.bincount(column)
        if len(sizes) != MAX_BINS or sizes.max() > FULLEST_BIN * len(values) / MAX_BINS:
            return f"{len(sizes)} bins, the fullest with {sizes.max()} of {len(values)} rows"
        if (np.diff(column[np.argsort(values)].astype(np.int16)) < 0).any():
            return "codes do not follow the order of the values"
    return None
