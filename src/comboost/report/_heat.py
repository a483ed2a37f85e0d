"""Tables whose cells are painted. In: counts, shares. Out: cells with a text and a level of colour."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from comboost.displays._confusion_norm import PALEST_TOP
from comboost.displays._labels import percent
from comboost.report._lettering import MINUS, brief_names, count

N_LEVELS = 8  # of shares, painted h1 to h8
N_SIDED_LEVELS = 3  # of differences, b1 to b3 if they are for the better, w1 to w3 if for the worse
MAX_MATRIX_CLASSES = 100  # a browser can show more, nobody can read it
MAX_PRINTED_COLUMNS = 24  # that a sheet of paper holds
HEADER_LENGTH, FEATURE_LENGTH = 16, 24  # characters of a class and of a feature at such a table
SMALLEST_DIFFERENCE = 0.0005  # of shares, that is written


class HeatCell(NamedTuple):
    """A number and its colour, which is a class of the style sheet, or empty."""

    text: str
    level: str


@dataclass(frozen=True)
class HeatRow:
    """A class: what it is taken for, how many of it are missed, and how many there are."""

    name: str
    cells: list[HeatCell]
    missed: str
    n_rows: str


@dataclass(frozen=True)
class PaintedMatrix:
    """What one model takes for what, or the difference of two, as counts or as shares."""

    subject: str  # "model", "baseline" or "difference"
    unit: str  # "shares" or "counts"
    rows: list[HeatRow]


@dataclass(frozen=True)
class Matrices:
    """All matrices of a report, and what their rows and columns are."""

    columns: list[str]
    tables: list[PaintedMatrix]
    subjects: list[str]
    top: float  # share that has the strongest colour
    printable: bool


@dataclass(frozen=True)
class ImportanceTable:
    """How much every feature matters for every class."""

    features: list[str]
    overall: list[HeatCell]
    rows: list[tuple[str, list[HeatCell]]]


def nth_level(value: float, top: float, n_levels: int) -> int:
    """Which of so many levels a positive value has of which the last one begins below ``top``."""
    return min(n_levels, max(1, int(np.ceil(n_levels * value / top - 1e-9))))


def heat_level(value: float, top: float) -> str:
    """The colour of a share: none for nothing, the strongest for ``top`` and more."""
    return "" if value <= 0 else f"h{nth_level(value, top, N_LEVELS)}"


def sided_level(value: float, top: float, *, good: bool) -> str:
    """The colour of a difference of shares that is for the better or for the worse."""
    if abs(value) < SMALLEST_DIFFERENCE:
        return ""
    return f"{'b' if good else 'w'}{nth_level(abs(value), top, N_SIDED_LEVELS)}"


def row_shares(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Every count as a share of its row, 0 in rows without counts."""
    shares: NDArray[np.float64] = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return shares


def off_diagonal(matrix: NDArray[Any]) -> NDArray[Any]:
    """The matrix without what is right; it may have more columns than rows."""
    return np.where(np.eye(matrix.shape[0], matrix.shape[1], dtype=np.bool_), 0, matrix)


def confusion_matrices(summary: Mapping[str, Any]) -> Matrices | None:
    """The matrices of every model, and of the difference; None if there are too many classes to show."""
    n_classes = len(summary["classes"])
    if n_classes > MAX_MATRIX_CLASSES:
        return None
    columns = brief_names(summary["columns"], HEADER_LENGTH)
    counts = [np.asarray(model["counts"], dtype=np.int64).reshape(n_classes, -1) for model in summary["models"]]
    top = max([PALEST_TOP, *(float(off_diagonal(row_shares(each)).max(initial=0.0)) for each in counts)])
    subjects = ["model", "baseline"][: len(counts)]
    tables = [
        painted(subject, unit, columns, each, top)
        for subject, each in zip(subjects, counts, strict=True)
        for unit in ("shares", "counts")
    ]
    if len(counts) > 1:
        subjects.append("difference")
        tables += [painted_difference(unit, columns, *counts) for unit in ("shares", "counts")]
    return Matrices(columns, tables, subjects, top, len(columns) <= MAX_PRINTED_COLUMNS)


def painted(subject: str, unit: str, names: list[str], counts: NDArray[np.int64], top: float) -> PaintedMatrix:
    """The matrix of a model; the colour is that of the share whatever is written."""
    shares = row_shares(counts)
    levels = [
        ["r" if row == column else heat_level(each, top) for column, each in enumerate(shares[row].tolist())]
        for row in range(len(shares))
    ]
    if unit == "shares":
        return PaintedMatrix(subject, unit, heat_rows(names, shares, percent, levels, counts))
    return PaintedMatrix(subject, unit, heat_rows(names, counts, count_or_nothing, levels, counts))


def painted_difference(
    unit: str, names: list[str], counts: NDArray[np.int64], baseline: NDArray[np.int64]
) -> PaintedMatrix:
    """The matrix of the model minus that of the baseline: more on the diagonal is better, more elsewhere worse."""
    shares = row_shares(counts) - row_shares(baseline)
    top = max(PALEST_TOP, float(np.abs(shares).max(initial=0.0)))
    levels = [
        [
            sided_level(each, top, good=(each > 0) == (row == column)) + (" r" if row == column else "")
            for column, each in enumerate(shares[row].tolist())
        ]
        for row in range(len(shares))
    ]
    if unit == "shares":
        return PaintedMatrix("difference", unit, heat_rows(names, shares, signed_percent, levels, counts))
    return PaintedMatrix("difference", unit, heat_rows(names, counts - baseline, signed_count, levels, counts))


def heat_rows(
    names: list[str],
    given: NDArray[Any],
    write: Callable[[Any], str],
    levels: list[list[str]],
    counts: NDArray[np.int64],
) -> list[HeatRow]:
    """What is written and painted, with the sums of the rows: of what is wrong, and of all."""
    missed, sizes = off_diagonal(given).sum(axis=1).tolist(), counts.sum(axis=1).tolist()
    return [
        HeatRow(
            names[row],
            [HeatCell(write(each), level) for each, level in zip(given[row].tolist(), levels[row], strict=True)],
            write(missed[row]) or "0",
            count(sizes[row]),
        )
        for row in range(len(given))
    ]


def count_or_nothing(number: int) -> str:
    """A count, nothing for none."""
    return count(number) if number else ""


def signed_count(number: int) -> str:
    """A difference of counts, nothing for none."""
    return f"{number:+,}".replace("-", MINUS) if number else ""


def signed_percent(value: float) -> str:
    """A difference of shares in whole percentage points, nothing for none."""
    if abs(value) < SMALLEST_DIFFERENCE:
        return ""
    text = f"{100 * value:+.0f}"
    return (text if text[1:] != "0" else f"{text[0]}<1").replace("-", MINUS)


def importance_table(importances: Mapping[str, Any]) -> ImportanceTable:
    """The shares of the features, all painted on one scale."""
    values = [importances["overall"], *importances["values"]]
    known = [[0.0 if each is None else each for each in row] for row in values]
    top = max((value for row in known for value in row), default=0.0) or 1.0
    overall, *rows = ([HeatCell(percent(each), heat_level(each, top)) for each in row] for row in known)
    names = brief_names(importances["classes"], HEADER_LENGTH)
    features = brief_names(importances["features"], FEATURE_LENGTH)
    return ImportanceTable(features, overall, list(zip(names, rows, strict=True)))
