"""Standard errors of metrics of one or two classifiers, by a bootstrap within every class.

The samples of every class are drawn with replacement from their joint table of predictions (model, baseline), so the
cost does not grow with the number of samples. Before that, two pseudo-samples are added to every class: half a sample
in each of the four cells of correct and wrong, as Agresti and Min do for pairs. Without them, a class of two samples
that are both correct would be correct in every draw. The draws only give standard errors; intervals are centred at the
observed metric.

Few samples of a rare class that only one model predicts correctly look like a large and certain gain. So a permutation
test complements the bootstrap: two models exchange their predictions at random, sample by sample. A difference that
also arises from such exchanges is not significant.

The draws depend neither on the order of the samples nor on which of the two models is the baseline.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import stdtrit

from comboost._types import Floats

MAX_DRAWS, MIN_DRAWS = 2000, 100
MAX_DRAWN_NUMBERS = 1e7  # in all draws together
PSEUDO_SAMPLES = 2.0  # per class
MAX_DENSE_LABELS = 32  # beyond, only the largest singular value is computed
MATRIX_NUMBERS = 2**21  # in the matrices that are held at once
NORM_TOLERANCE, NORM_STEPS = 1e-4, 50
SAME_DIFFERENCE = 1e-9  # rounding of sums in another order


@dataclass(frozen=True)
class JointTable:
    """Samples by class and by the predictions of all models, sorted by class."""

    truth: NDArray[np.intp]  # (n_cells,)
    predictions: NDArray[np.intp]  # (n_models, n_cells)
    n_samples: Floats  # (n_cells,); number of samples in each cell


@dataclass(frozen=True)
class BootstrapDraws:
    """Metrics of all draws: arrays of shape (n_models, n_draws) by key."""

    metrics: dict[str, Floats]  # of bootstrap samples
    exchanged: dict[str, Floats]  # if two models exchange predictions at random; empty for one model
    n_free: int  # degrees of freedom: samples minus classes

    def standard_error(self, key: str, model: int) -> float:
        """Standard error of a metric."""
        return float(self.metrics[key][model].std(ddof=1))

    def standard_error_of_difference(self, key: str) -> float:
        """Standard error of the difference of two models."""
        first, second = self.metrics[key]
        return float((first - second).std(ddof=1))

    def half_width(self, error: float, confidence: float) -> float:
        """Half-width of an interval, by Student's t."""
        return error * float(stdtrit(max(self.n_free, 1), 0.5 + 0.5 * confidence))

    def half_width_of_difference(self, key: str, value: float, confidence: float) -> float:
        """Half-width of the interval of a difference; it includes 0 if the permutation test is not significant."""
        half = self.half_width(self.standard_error_of_difference(key), confidence)
        first, second = self.exchanged[key]
        sizes = np.sort(np.abs(first - second))
        rank = int(np.ceil(confidence * (len(sizes) + 1)))
        critical = float(sizes[min(rank, len(sizes)) - 1])
        can_be_significant = rank <= len(sizes)  # otherwise there are too few exchanges for so high a confidence
        is_significant = can_be_significant and abs(value) > critical + SAME_DIFFERENCE
        return half if is_significant else max(half, critical, abs(value))


def draw_metrics(
    truth: NDArray[np.intp],
    predictions: Sequence[NDArray[np.intp]],
    n_labels: int,
    random_state: int,
    n_draws: int | None = None,
) -> BootstrapDraws:
    """Draw bootstrap samples within every class; compute norm, g_mean, mean_recall and accuracy of every draw.

    ``predictions`` are those of one or two models. They are indices below ``n_labels``, the number of classes and of
    other labels that may be predicted. By default there are fewer draws for many classes.
    """
    observed, is_swapped = joint_table(truth, predictions, n_labels)
    class_sizes = np.bincount(truth, minlength=n_labels)
    table = add_pseudo_samples(observed, n_labels)
    if n_draws is None:
        n_draws = int(np.clip(MAX_DRAWN_NUMBERS // len(table.n_samples), MIN_DRAWS, MAX_DRAWS))
    order = slice(None, None, -1 if is_swapped else 1)
    drawn = draw_cells(table, class_sizes, n_draws, np.random.default_rng(random_state))
    metrics = {key: values[order] for key, values in metrics_of_draws(drawn, table, class_sizes).items()}
    exchanged = {}
    if len(predictions) > 1:
        rng = np.random.default_rng([random_state, 1])
        exchanged = metrics_of_draws(*exchange_predictions(observed, n_draws, rng), class_sizes)
    return BootstrapDraws(metrics, exchanged, int(class_sizes.sum() - np.count_nonzero(class_sizes)))


def metrics_of_draws(drawn: NDArray[np.uint32], table: JointTable, class_sizes: NDArray[np.intp]) -> dict[str, Floats]:
    """Metrics of every model in every draw."""
    recalls = np.stack([drawn_recalls(drawn, table, predicted, class_sizes) for predicted in table.predictions])
    with np.errstate(divide="ignore"):  # a recall of 0
        logarithms = np.log(recalls)
    return {
        "norm": np.stack([drawn_norms(drawn, table, predicted, class_sizes) for predicted in table.predictions]),
        "g_mean": np.exp(logarithms.mean(axis=2)),
        "mean_recall": recalls.mean(axis=2),
        "accuracy": recalls @ (class_sizes[class_sizes > 0] / class_sizes.sum()),
    }


def exchange_predictions(
    table: JointTable, n_draws: int, rng: np.random.Generator
) -> tuple[NDArray[np.uint32], JointTable]:
    """Samples of every cell if two models exchange their predictions with probability 1/2, sample by sample."""
    kept = rng.binomial(table.n_samples.astype(np.int64), 0.5, size=(n_draws, len(table.n_samples)))
    drawn = np.concatenate([kept, table.n_samples.astype(np.int64) - kept], axis=1)
    predictions = np.concatenate([table.predictions, table.predictions[::-1]], axis=1)
    truth, n_samples = np.tile(table.truth, 2), np.tile(table.n_samples / 2, 2)
    order = np.argsort(truth, kind="stable")
    return drawn[:, order].astype(np.uint32), JointTable(truth[order], predictions[:, order], n_samples[order])


def joint_table(
    truth: NDArray[np.intp], predictions: Sequence[NDArray[np.intp]], n_labels: int
) -> tuple[JointTable, bool]:
    """The observed joint table in a canonical order of the models, and whether that swaps them."""
    tables = [count_cells(truth, order, n_labels) for order in (predictions, predictions[::-1])]
    keys = [(codes.tolist(), counts.tolist()) for codes, counts in tables]
    is_swapped = keys[1] < keys[0]
    codes, counts = tables[is_swapped]
    split = np.unravel_index(codes, (n_labels,) * (len(predictions) + 1))
    return JointTable(split[0], np.stack(split[1:]), counts.astype(np.float64)), is_swapped


def count_cells(
    truth: NDArray[np.intp], predictions: Sequence[NDArray[np.intp]], n_labels: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Codes of the cells that have samples, and their counts."""
    codes = truth.astype(np.int64)
    for predicted in predictions:
        codes = codes * n_labels + predicted
    return np.unique(codes, return_counts=True)


def add_pseudo_samples(table: JointTable, n_labels: int) -> JointTable:
    """Add two samples to every class, for which each model is correct once and wrong once."""
    n_models = len(table.predictions)
    wrong = most_frequent_mistakes(table, n_labels)
    present = np.unique(table.truth)
    parts = [table]
    for is_correct in product((True, False), repeat=n_models):
        predictions = np.stack([present if correct else wrong[present] for correct in is_correct])
        parts.append(JointTable(present, predictions, np.full(len(present), PSEUDO_SAMPLES / 2**n_models)))
    truth = np.concatenate([part.truth for part in parts])
    order = np.argsort(truth, kind="stable")
    return JointTable(
        truth[order],
        np.concatenate([part.predictions for part in parts], axis=1)[:, order],
        np.concatenate([part.n_samples for part in parts])[order],
    )


def most_frequent_mistakes(table: JointTable, n_labels: int) -> NDArray[np.intp]:
    """The label that each class is most often confused with; the largest other class if it never is."""
    counts = np.zeros((n_labels, n_labels))
    for predicted in table.predictions:
        np.add.at(counts, (table.truth, predicted), table.n_samples)
    class_sizes = np.bincount(table.truth, table.n_samples, minlength=n_labels)
    counts += class_sizes / (2.0 * class_sizes.sum())  # only decides where there is no sample
    np.fill_diagonal(counts, -1.0)
    return np.asarray(counts.argmax(axis=1), dtype=np.intp)


def draw_cells(
    table: JointTable, class_sizes: NDArray[np.intp], n_draws: int, rng: np.random.Generator
) -> NDArray[np.uint32]:
    """Samples of every cell in every draw, of shape (n_draws, n_cells); every class keeps its size."""
    drawn = np.empty((n_draws, len(table.n_samples)), dtype=np.uint32)
    for k, cells in cells_by_class(table):
        n_samples = table.n_samples[cells]
        drawn[:, cells] = rng.multinomial(class_sizes[k], n_samples / n_samples.sum(), size=n_draws)
    return drawn


def cells_by_class(table: JointTable) -> Iterator[tuple[int, slice]]:
    """Every class that has samples, and the slice of its cells."""
    present, starts = np.unique(table.truth, return_index=True)
    ends = [*starts[1:].tolist(), len(table.truth)]
    for k, start, end in zip(present.tolist(), starts.tolist(), ends, strict=True):
        yield k, slice(start, end)


def drawn_recalls(
    drawn: NDArray[np.uint32], table: JointTable, predicted: NDArray[np.intp], class_sizes: NDArray[np.intp]
) -> Floats:
    """Recalls of a model, of shape (n_draws, n_classes with samples)."""
    columns = [
        drawn[:, cells][:, predicted[cells] == k].sum(axis=1) / class_sizes[k] for k, cells in cells_by_class(table)
    ]
    return np.stack(columns, axis=1)


def drawn_norms(
    drawn: NDArray[np.uint32], table: JointTable, predicted: NDArray[np.intp], class_sizes: NDArray[np.intp]
) -> Floats:
    """‖C‖ of a model in every draw."""
    n_labels = len(class_sizes)
    wrong = np.flatnonzero(predicted != table.truth)
    pairs, pair_of = np.unique(table.truth[wrong] * n_labels + predicted[wrong], return_inverse=True)
    if not pairs.size:
        return np.zeros(len(drawn))
    joining = csr_array((np.ones(len(wrong)), (wrong, pair_of)), shape=(len(predicted), len(pairs)))
    fractions = drawn @ joining / class_sizes[pairs // n_labels]
    if n_labels <= MAX_DENSE_LABELS:
        return dense_norms(fractions, pairs, n_labels)
    structure = csr_array((np.ones(len(pairs)), (pairs // n_labels, pairs % n_labels)), shape=(n_labels, n_labels))
    return np.array([largest_singular_value(structure, values) for values in fractions])


def dense_norms(fractions: Floats, pairs: NDArray[np.intp], n_labels: int) -> Floats:
    """Norms of small matrices, many at a time."""
    norms, step = [], max(1, MATRIX_NUMBERS // n_labels**2)
    for begin in range(0, len(fractions), step):
        block = fractions[begin : begin + step]
        matrices = np.zeros((len(block), n_labels**2))
        matrices[:, pairs] = block
        norms.append(np.linalg.svd(matrices.reshape(-1, n_labels, n_labels), compute_uv=False)[:, 0])
    return np.concatenate(norms)


def largest_singular_value(structure: csr_array, values: Floats) -> float:
    """Norm of a non-negative sparse matrix by the power method, to a relative precision of 1e-4."""
    matrix = csr_array((values, structure.indices, structure.indptr), shape=structure.shape)
    transposed, vector, previous = matrix.T.tocsr(), np.ones(structure.shape[1]), 0.0
    vector /= np.linalg.norm(vector)
    for _ in range(NORM_STEPS):
        vector = transposed @ (matrix @ vector)
        square = float(np.linalg.norm(vector))
        if square == 0.0 or abs(square - previous) <= NORM_TOLERANCE * square:
            return float(np.sqrt(square))
        vector, previous = vector / square, square
    return float(np.sqrt(previous))
