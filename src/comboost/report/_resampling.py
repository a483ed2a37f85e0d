"""How far measures may be off. In: a `Trial`. Out: the same measures on rows drawn anew, class by class.

The rows of every class are drawn anew from its joint table of answers, (prediction of the model, prediction of the
baseline), so the work does not grow with the rows. Before that, every class gets two rows more: half a row in each of
the four cells of right and wrong, as Agresti and Min do for pairs. Without them, a class of two rows that are both
right would be right in every draw, as if that were certain. The draws tell standard errors alone; an interval stands
around the measure that was seen.

The draws know the models no better than the rows do: three rows of a rare class that one model alone finds look like
a large and certain gain, and three coins fall alike once in four times. So the rows are also given back to two models
that exchange their answers by the toss of a coin, row by row; a difference that comes of this is no evidence.

The draws do not depend on the order of the rows, nor on which of two models is the baseline.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import stdtrit

from comboost._types import Floats
from comboost.report._trial import Trial

MOST_DRAWS, FEWEST_DRAWS = 2000, 100
DRAWN_NUMBERS = 1e7  # of all draws, rather than more of them
ROWS_ADDED = 2.0  # to every class
FEW_COLUMNS = 32  # up to which all singular values are found; beyond, the largest alone
MATRIX_NUMBERS = 2**21  # of the matrices that are held at once
NORM_TOLERANCE, NORM_STEPS = 1e-4, 50
SAME_DIFFERENCE = 1e-9  # that sums in another order may come to


@dataclass(frozen=True)
class JointTable:
    """Rows by class and answers of all models, sorted by class.

    Attributes
    ----------
    truth : ndarray of shape (n_cells,)
        The class.
    answers : ndarray of shape (n_models, n_cells)
        What the models take the rows for.
    rows : ndarray of shape (n_cells,)
        How many rows.
    """

    truth: NDArray[np.intp]
    answers: NDArray[np.intp]
    rows: Floats


@dataclass(frozen=True)
class Draws:
    """Measures of all draws, by their key: arrays of shape (n_models, n_draws).

    Attributes
    ----------
    measures : dict
        Of rows drawn anew.
    exchanged : dict
        Of the rows themselves, if two models exchange answers at random.
    n_free : int
        Rows minus classes.
    """

    measures: dict[str, Floats]
    exchanged: dict[str, Floats]
    n_free: int

    def error_of(self, key: str, model: int) -> float:
        """The standard error of a measure."""
        return float(self.measures[key][model].std(ddof=1))

    def error_of_difference(self, key: str) -> float:
        """The standard error of the difference of two models."""
        first, second = self.measures[key]
        return float((first - second).std(ddof=1))

    def half_width(self, error: float, confidence: float) -> float:
        """From a measure to its limits: Student's, since few rows know little of their own spread."""
        return error * float(stdtrit(max(self.n_free, 1), 0.5 + 0.5 * confidence))

    def half_width_of_difference(self, key: str, value: float, confidence: float) -> float:
        """From a difference of two models to its limits, which hold 0 if an exchange of answers makes as much of it."""
        half = self.half_width(self.error_of_difference(key), confidence)
        chance = self.difference_by_chance(key, confidence)
        return half if abs(value) > chance + SAME_DIFFERENCE else max(half, chance, abs(value))

    def difference_by_chance(self, key: str, confidence: float) -> float:
        """The size that this share of the differences of exchanged answers does not exceed."""
        first, second = self.exchanged[key]
        sizes = np.sort(np.abs(first - second))
        return float(sizes[min(int(np.ceil(confidence * (len(sizes) + 1))), len(sizes)) - 1])


def draw_anew(trial: Trial, random_state: int, n_draws: int | None = None) -> Draws:
    """Draw the rows of every class anew, and measure."""
    observed, is_swapped = joint_table(trial)
    n_columns, sizes = len(trial.columns), np.bincount(trial.ranks[trial.truth], minlength=len(trial.columns))
    table = with_rows_added(observed, n_columns)
    if n_draws is None:
        n_draws = int(np.clip(DRAWN_NUMBERS // len(table.rows), FEWEST_DRAWS, MOST_DRAWS))
    order = slice(None, None, -1 if is_swapped else 1)
    drawn = draw_cells(table, sizes, n_draws, np.random.default_rng(random_state))
    measures = {key: values[order] for key, values in measure_draws(drawn, table, sizes).items()}
    exchanged = {}
    if len(trial.answerers) > 1:
        tossed = np.random.default_rng([random_state, 1])
        exchanged = measure_draws(*exchange_answers(observed, n_draws, tossed), sizes)
    return Draws(measures, exchanged, int(sizes.sum() - np.count_nonzero(sizes)))


def measure_draws(drawn: NDArray[np.uint32], table: JointTable, sizes: NDArray[np.intp]) -> dict[str, Floats]:
    """The measures of every model in every draw."""
    recalls = np.stack([recalls_drawn(drawn, table, answers, sizes) for answers in table.answers])
    with np.errstate(divide="ignore"):  # a class of which nothing is found
        logarithms = np.log(recalls)
    return {
        "norm": np.stack([norms_drawn(drawn, table, answers, sizes, len(sizes)) for answers in table.answers]),
        "g_mean": np.exp(logarithms.mean(axis=2)),
        "mean_recall": recalls.mean(axis=2),
        "accuracy": recalls @ (sizes[sizes > 0] / sizes.sum()),
    }


def exchange_answers(
    table: JointTable, n_draws: int, random: np.random.Generator
) -> tuple[NDArray[np.uint32], JointTable]:
    """Rows of every cell if two models exchange their answers by the toss of a coin, row by row."""
    tossed = random.binomial(table.rows.astype(np.int64), 0.5, size=(n_draws, len(table.rows)))
    drawn = np.concatenate([tossed, table.rows.astype(np.int64) - tossed], axis=1)
    answers = np.concatenate([table.answers, table.answers[::-1]], axis=1)
    truth, rows = np.tile(table.truth, 2), np.tile(table.rows / 2, 2)
    order = np.argsort(truth, kind="stable")
    return drawn[:, order].astype(np.uint32), JointTable(truth[order], answers[:, order], rows[order])


def joint_table(trial: Trial) -> tuple[JointTable, bool]:
    """The joint table of sorted classes, as it was seen, and whether its models are in the other order."""
    n_columns = len(trial.columns)
    renamed = np.arange(n_columns)
    renamed[: len(trial.classes)] = trial.ranks
    truth, answers = renamed[trial.truth], [renamed[each.places] for each in trial.answerers]
    tables = [count_cells(truth, order, n_columns) for order in (answers, answers[::-1])]
    keys = [(codes.tolist(), rows.tolist()) for codes, rows in tables]
    is_swapped = keys[1] < keys[0]
    codes, rows = tables[is_swapped]
    split = np.unravel_index(codes, (n_columns,) * (len(answers) + 1))
    return JointTable(split[0], np.stack(split[1:]), rows.astype(np.float64)), is_swapped


def count_cells(
    truth: NDArray[np.intp], answers: list[NDArray[np.intp]], n_columns: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The cells that have rows, as one number each, and how many."""
    codes = truth.astype(np.int64)
    for each in answers:
        codes = codes * n_columns + each
    return np.unique(codes, return_counts=True)


def with_rows_added(table: JointTable, n_columns: int) -> JointTable:
    """The table with two rows more in every class, in which each model is once right and once wrong."""
    n_models = len(table.answers)
    wrong = usual_mistakes(table, n_columns)
    present = np.unique(table.truth)
    parts = [table]
    for is_right in product((True, False), repeat=n_models):
        answers = np.stack([present if right else wrong[present] for right in is_right])
        parts.append(JointTable(present, answers, np.full(len(present), ROWS_ADDED / 2**n_models)))
    order = np.argsort(np.concatenate([part.truth for part in parts]), kind="stable")
    return JointTable(
        np.concatenate([part.truth for part in parts])[order],
        np.concatenate([part.answers for part in parts], axis=1)[:, order],
        np.concatenate([part.rows for part in parts])[order],
    )


def usual_mistakes(table: JointTable, n_columns: int) -> NDArray[np.intp]:
    """What every class is taken for most, by all models together; the largest other class if there are no mistakes."""
    taken = np.zeros((n_columns, n_columns))
    for answers in table.answers:
        np.add.at(taken, (table.truth, answers), table.rows)
    by_size = np.bincount(table.truth, table.rows, minlength=n_columns)
    taken += by_size / (2.0 * by_size.sum())  # which decides only where there is no whole row
    np.fill_diagonal(taken, -1.0)
    return np.asarray(taken.argmax(axis=1), dtype=np.intp)


def draw_cells(
    table: JointTable, sizes: NDArray[np.intp], n_draws: int, random: np.random.Generator
) -> NDArray[np.uint32]:
    """Rows of every cell in every draw, (n_draws, n_cells); every class keeps its size."""
    drawn = np.empty((n_draws, len(table.rows)), dtype=np.uint32)
    for place, cells in cells_of_classes(table):
        rows = table.rows[cells]
        drawn[:, cells] = random.multinomial(sizes[place], rows / rows.sum(), size=n_draws)
    return drawn


def cells_of_classes(table: JointTable) -> Iterator[tuple[int, slice]]:
    """Every class that has rows, and where its cells are."""
    present, starts = np.unique(table.truth, return_index=True)
    ends = [*starts[1:].tolist(), len(table.truth)]
    for place, start, end in zip(present.tolist(), starts.tolist(), ends, strict=True):
        yield place, slice(start, end)


def recalls_drawn(
    drawn: NDArray[np.uint32], table: JointTable, answers: NDArray[np.intp], sizes: NDArray[np.intp]
) -> Floats:
    """The recalls of a model, (n_draws, n_classes with rows)."""
    columns = [
        drawn[:, cells][:, answers[cells] == place].sum(axis=1) / sizes[place]
        for place, cells in cells_of_classes(table)
    ]
    return np.stack(columns, axis=1)


def norms_drawn(
    drawn: NDArray[np.uint32],
    table: JointTable,
    answers: NDArray[np.intp],
    sizes: NDArray[np.intp],
    n_columns: int,
) -> Floats:
    """‖C‖ of a model in every draw."""
    wrong = np.flatnonzero(answers != table.truth)
    pairs, pair_of = np.unique(table.truth[wrong] * n_columns + answers[wrong], return_inverse=True)
    if not pairs.size:
        return np.zeros(len(drawn))
    joining = csr_array((np.ones(len(wrong)), (wrong, pair_of)), shape=(len(answers), len(pairs)))
    shares = drawn @ joining / sizes[pairs // n_columns]
    if n_columns <= FEW_COLUMNS:
        return dense_norms(shares, pairs, n_columns)
    structure = csr_array((np.ones(len(pairs)), (pairs // n_columns, pairs % n_columns)), shape=(n_columns, n_columns))
    return np.array([largest_singular_value(structure, values) for values in shares])


def dense_norms(shares: Floats, pairs: NDArray[np.intp], n_columns: int) -> Floats:
    """The norms of small matrices, many at a time."""
    norms, step = [], max(1, MATRIX_NUMBERS // n_columns**2)
    for begin in range(0, len(shares), step):
        block = shares[begin : begin + step]
        matrices = np.zeros((len(block), n_columns**2))
        matrices[:, pairs] = block
        norms.append(np.linalg.svd(matrices.reshape(-1, n_columns, n_columns), compute_uv=False)[:, 0])
    return np.concatenate(norms)


def largest_singular_value(structure: csr_array, values: Floats) -> float:
    """The norm of a matrix of shares, by the power method: to a ten-thousandth, far below what draws differ by."""
    matrix = csr_array((values, structure.indices, structure.indptr), shape=structure.shape)
    turned, vector, found = matrix.T.tocsr(), np.ones(structure.shape[1]), 0.0
    vector /= np.linalg.norm(vector)
    for _ in range(NORM_STEPS):
        vector = turned @ (matrix @ vector)
        square = float(np.linalg.norm(vector))
        if square == 0.0 or abs(square - found) <= NORM_TOLERANCE * square:
            return float(np.sqrt(square))
        vector, found = vector / square, square
    return float(np.sqrt(found))
