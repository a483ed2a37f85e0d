"""Samples that candidates of a search are trained on, and held-out samples that they are compared on.

In: a binned table. Out: folds of it, or a single split. They depend on the content of the samples, not on their order.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from comboost import _core
from comboost._boosting.early_stopping import ValidationData
from comboost._boosting.warm_start import hash_rows, scramble
from comboost._data.categories import Categories
from comboost._data.sample_weights import ClassWeightSums, WeightScale, class_sums
from comboost._data.tables import Table
from comboost._data.validation import TrainingSet
from comboost._engine.binning import BinMapper, BinnedTable
from comboost._types import Codes, Labels, Weights

MIN_SAMPLES = 30  # with fewer samples, a choice is no better than the fixed settings
FOLDS = ((2_000, 5), (20_000, 3))  # below so many samples, so many folds; a single split otherwise
HELD_OUT = 0.2  # fraction of every class in a single split
MAX_SAMPLES = 50_000  # the search uses a subset of more samples
KEPT_OF_CLASS = 100  # but as many samples of every class, if it has them


class Part(NamedTuple):
    """Samples to train candidates on, and held-out samples to compare them on, binned alike."""

    train: TrainingSet
    train_codes: Codes | _core.SparseCodes
    held: TrainingSet
    held_codes: Codes | _core.SparseCodes


def draw_parts(binned: BinnedTable, data: TrainingSet, seed: int, n_threads: int) -> tuple[list[Part], str | None]:
    """Divide samples into parts to train candidates on and to compare them on: folds, or a single split.

    Of very many samples, a subset is used.

    Parameters
    ----------
    binned : BinnedTable
        The samples.
    data : TrainingSet
        Their classes and weights.
    seed, n_threads : int
        Random seed and number of threads.

    Returns
    -------
    parts : list of Part
        The parts.
    reason : str or None
        Why there are none, if so.
    """
    sizes = np.bincount(data.labels)
    reason = why_fixed(sizes)
    if reason is not None:
        return [], reason
    ordered = first_by_content(binned.codes, data.labels, data.weights, n_kept_of(sizes), seed)
    return split_parts(ordered, data, partial(take_codes, binned, n_threads=n_threads)), None


def split_parts(
    ordered: NDArray[np.intp],
    data: TrainingSet,
    take: Callable[[NDArray[np.intp]], Codes | _core.SparseCodes],
) -> list[Part]:
    """Divide ordered samples into folds, or into a single split; ``take`` returns the codes of samples."""
    splits = split_samples(ordered, data.labels, n_folds_of(len(ordered)))
    return [Part(data.take(train), take(train), data.take(judged), take(judged)) for train, judged in splits]


def draw_validated(
    binned: BinnedTable, data: TrainingSet, held: ValidationData, seed: int, n_threads: int
) -> tuple[list[Part], str | None]:
    """The part of the training samples and a validation set. Of very many training samples, a subset is used."""
    train, codes = data, binned.codes
    if len(data.labels) > MAX_SAMPLES:
        n_kept = n_kept_of(np.bincount(data.labels))
        chosen = np.sort(first_by_content(codes, data.labels, data.weights, n_kept, seed))
        train, codes = data.take(chosen), take_codes(binned, chosen, n_threads)
    return part_of_validation(train, codes, held, binned.categories, binned.bins, n_threads)


def part_of_validation(
    train: TrainingSet,
    codes: Codes | _core.SparseCodes,
    held: ValidationData,
    categories: Categories,
    bins: BinMapper,
    n_threads: int,
) -> tuple[list[Part], str | None]:
    """The part of these training samples and a validation set, or why there is none."""
    known, table = held_samples(held, train), held.table.encode(categories)
    if len(known.labels) == 0:
        return [], "no validation sample has a weight and a class that is trained on"
    return [Part(train, codes, known, encode(table.take(known.rows), bins, n_threads))], None


def take_codes(binned: BinnedTable, indices: NDArray[np.intp], n_threads: int) -> Codes | _core.SparseCodes:
    """Codes of some samples."""
    if isinstance(binned.codes, np.ndarray):
        return np.ascontiguousarray(binned.codes[:, indices])
    return encode(binned.table.take(indices), binned.bins, n_threads)


def held_samples(held: ValidationData, data: TrainingSet) -> TrainingSet:
    """The validation samples whose class and weight count."""
    candidates = data.candidates
    counts = np.ones(len(held.labels), dtype=bool) if held.weights is None else held.weights > 0
    if candidates.indices is not None:
        counts &= np.isin(held.labels, candidates.indices)
    rows = np.flatnonzero(counts)
    labels = candidates.to_trained(held.labels[rows])
    weights = None if held.weights is None else held.weights[rows]
    lifts = None if held.lifts is None else candidates.select(held.lifts)
    sums = class_sums(labels, weights, len(candidates.classes))
    return TrainingSet(rows, labels, weights, candidates, ClassWeightSums(sums, WeightScale(0, lifts)))


def held_weight_sums(parts: Sequence[Part]) -> ClassWeightSums:
    """Summed weights of the held-out samples of all parts; 1 for a class that has none."""
    first = parts[0].held.weight_sums
    return replace(first, sums=np.maximum(sum(part.held.weight_sums.sums for part in parts), 1))


def encode(table: Table, bins: BinMapper, n_threads: int) -> Codes | _core.SparseCodes:
    """Codes of samples in the bins of others; values that are missing here alone count as the smallest."""
    if table.raw.source.n_entries is not None:
        return bins.encode_entries(table.entries(), n_threads)
    return bins.transform(table, n_threads)


def first_by_content(
    codes: Codes | _core.SparseCodes,
    labels: Labels,
    weights: Weights | None,
    n_kept: NDArray[np.integer[Any]],
    seed: int,
) -> NDArray[np.intp]:
    """Indices of the first samples of every class, ``n_kept`` of them, in the order of `order_by_content`.

    The first samples of all parts of a table include the first ones of the table.
    """
    hashes = np.concatenate(list(hash_rows(codes, labels, None)))
    ordered = order_by_content(hashes, labels, weights, seed)
    sizes = np.bincount(labels, minlength=len(n_kept))
    rank = np.arange(len(ordered)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.asarray(ordered[rank < np.repeat(n_kept, sizes)])


def order_by_content(
    hashes: NDArray[np.uint64], labels: NDArray[np.integer[Any]], weights: Weights | None, seed: int
) -> NDArray[np.intp]:
    """Order samples by class, and within a class at random, whatever their order is: by a hash of their content.

    Samples of equal content stay together, so that few of them are both trained on and held out. Weights only order
    these, so that equal weights do not change the order.
    """
    keys = scramble(hashes ^ scramble(np.array([seed], dtype=np.uint64)))
    return np.lexsort((keys, labels) if weights is None else (weights, keys, labels))


def split_samples(
    ordered: NDArray[np.intp], labels: NDArray[np.integer[Any]], n_folds: int
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Divide ordered samples into parts to train on and to hold out: every fold once, or a single split.

    Every class is in every part as far as its samples suffice. A class with a single sample is never held out.

    Parameters
    ----------
    ordered : ndarray of int
        Indices of samples; see `order_by_content`.
    labels : ndarray of int
        The class index of every sample.
    n_folds : int
        Number of folds; 1 is a single split.
    """
    _, first, sizes = np.unique(labels[ordered], return_index=True, return_counts=True)
    sizes_here = np.repeat(sizes, sizes)
    rank = np.arange(len(ordered)) - np.repeat(first, sizes)
    if n_folds == 1:
        n_held = np.minimum(np.maximum(np.rint(HELD_OUT * sizes_here), 1), sizes_here - 1)
        fold = np.where(rank < n_held, 0, 1)
    else:
        offset = np.repeat(np.arange(len(sizes)), sizes)  # so that small classes are not all in the first folds
        fold = np.where(sizes_here > 1, (rank * n_folds // sizes_here + offset) % n_folds, n_folds)
    for k in range(n_folds):
        held = fold == k
        if held.any():
            yield np.sort(ordered[~held]), np.sort(ordered[held])


def n_kept_of(sizes: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Number of samples of every class that the search uses: the same fraction of all, but no class becomes tiny."""
    n_samples = int(sizes.sum())
    if n_samples <= MAX_SAMPLES:
        return sizes.astype(np.int64)
    of_fraction = np.ceil(sizes * (MAX_SAMPLES / n_samples)).astype(np.int64)
    n_kept: NDArray[np.int64] = np.minimum(np.maximum(of_fraction, KEPT_OF_CLASS), sizes)
    return n_kept


def n_folds_of(n_samples: int) -> int:
    """Number of folds for so many samples; 1 is a single split."""
    return next((n_folds for below, n_folds in FOLDS if n_samples < below), 1)


def why_fixed(sizes: NDArray[np.integer[Any]]) -> str | None:
    """Why classes of these sizes allow no search; None if they do."""
    n_samples, n_judged = int(sizes.sum()), int((sizes > 1).sum())
    if n_samples < MIN_SAMPLES:
        return f"{n_samples} samples are fewer than {MIN_SAMPLES}"
    if n_judged < 2:
        return f"classes with more than one sample: {n_judged}, and a search needs two"
    return None
