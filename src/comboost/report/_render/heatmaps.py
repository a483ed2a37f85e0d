"""Heat maps: tables whose cells have a text and a colour level."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from comboost._stats.formatting import percent
from comboost.displays._confusion_norm import MIN_COLOUR_MAXIMUM
from comboost.report._render.text import MINUS, brief_names, count

N_LEVELS = 8  # of fractions: classes h1 to h8 of the style sheet
N_SIDED_LEVELS = 3  # of differences: b1 to b3 for improvements, w1 to w3 for deteriorations
MAX_MATRIX_CLASSES = 100
MAX_PRINTED_COLUMNS = 24
MAX_HEADER, MAX_FEATURE = 16, 24  # characters
MIN_DIFFERENCE = 0.0005  # of fractions; smaller ones are not shown


class HeatCell(NamedTuple):
    """A text, and a class of the style sheet or an empty string."""

    text: str
    level: str


class HeatRow(NamedTuple):
    """A class: its predictions, its errors and its number of samples."""

    name: str
    cells: list[HeatCell]
    missed: str
    n_samples: str


def level_of(value: float, top: float, n_levels: int) -> int:
    """Level of a positive value; ``top`` and more have the last one."""
    return min(n_levels, max(1, int(np.ceil(n_levels * value / top - 1e-9))))


def heat_level(value: float, top: float) -> str:
    """Colour of a fraction; none for 0."""
    return "" if value <= 0 else f"h{level_of(value, top, N_LEVELS)}"


def sided_level(value: float, top: float, *, good: bool) -> str:
    """Colour of a difference of fractions."""
    if abs(value) < MIN_DIFFERENCE:
        return ""
    return f"{'b' if good else 'w'}{level_of(abs(value), top, N_SIDED_LEVELS)}"


def row_fractions(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Counts divided by the sum of their row; 0 in empty rows."""
    fractions: NDArray[np.float64] = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return fractions


def off_diagonal(matrix: NDArray[Any]) -> NDArray[Any]:
    """The matrix with zeros on its diagonal; it may have more columns than rows."""
    return np.where(np.eye(*matrix.shape, dtype=np.bool_), 0, matrix)


def confusion_matrices(summary: Mapping[str, Any]) -> dict[str, Any] | None:
    """The matrices of every model and of their difference; None if there are too many classes to show."""
    n_classes = len(summary["classes"])
    if n_classes > MAX_MATRIX_CLASSES:
        return None
    names = brief_names(summary["predicted_labels"], MAX_HEADER)
    counts = [
        np.asarray(model["confusion_matrix"], dtype=np.int64).reshape(n_classes, -1) for model in summary["models"]
    ]
    errors = [float(off_diagonal(row_fractions(each)).max(initial=0.0)) for each in counts]
    top = max(MIN_COLOUR_MAXIMUM, *errors)
    subjects = ["model", "baseline"][: len(counts)]
    tables = [
        table for subject, each in zip(subjects, counts, strict=True) for table in model_maps(subject, names, each, top)
    ]
    if len(counts) > 1:
        subjects.append("difference")
        tables += difference_maps(names, *counts)
    return {
        "columns": names,
        "tables": tables,
        "subjects": subjects,
        "top": top,  # fraction with the strongest colour
        "printable": len(names) <= MAX_PRINTED_COLUMNS,
    }


def model_maps(subject: str, names: list[str], counts: NDArray[np.int64], top: float) -> list[dict[str, Any]]:
    """The matrix of a model as fractions and as counts; both are coloured by the fractions."""
    fractions = row_fractions(counts)
    levels = [
        ["r" if row == column else heat_level(each, top) for column, each in enumerate(fractions[row].tolist())]
        for row in range(len(fractions))
    ]
    units = {"fractions": (fractions, percent), "counts": (counts, lambda n: count(n) if n else "")}
    return heat_maps(subject, units, names, levels, counts)


def difference_maps(names: list[str], counts: NDArray[np.int64], baseline: NDArray[np.int64]) -> list[dict[str, Any]]:
    """The matrix of the model minus that of the baseline; more is better on the diagonal and worse elsewhere."""
    fractions = row_fractions(counts) - row_fractions(baseline)
    top = max(MIN_COLOUR_MAXIMUM, float(np.abs(fractions).max(initial=0.0)))
    levels = [
        [
            sided_level(each, top, good=(each > 0) == (row == column)) + (" r" if row == column else "")
            for column, each in enumerate(fractions[row].tolist())
        ]
        for row in range(len(fractions))
    ]
    units = {"fractions": (fractions, signed_percent), "counts": (counts - baseline, signed_count)}
    return heat_maps("difference", units, names, levels, counts)


def heat_maps(
    subject: str,
    units: Mapping[str, tuple[NDArray[Any], Callable[[Any], str]]],
    names: list[str],
    levels: list[list[str]],
    counts: NDArray[np.int64],
) -> list[dict[str, Any]]:
    """A table for every unit, with its values and how to write them."""
    sizes = counts.sum(axis=1).tolist()
    tables = []
    for unit, (values, write) in units.items():
        missed = off_diagonal(values).sum(axis=1).tolist()
        rows = [
            HeatRow(
                names[k],
                [HeatCell(write(each), level) for each, level in zip(values[k].tolist(), levels[k], strict=True)],
                write(missed[k]) or "0",
                count(sizes[k]),
            )
            for k in range(len(values))
        ]
        tables.append({"subject": subject, "unit": unit, "rows": rows})
    return tables


def signed_count(n: int) -> str:
    """A difference of counts; empty for 0."""
    return f"{n:+,}".replace("-", MINUS) if n else ""


def signed_percent(value: float) -> str:
    """A difference of fractions in whole percentage points; empty for 0."""
    if abs(value) < MIN_DIFFERENCE:
        return ""
    text = f"{100 * value:+.0f}"
    return (text if text[1:] != "0" else f"{text[0]}<1").replace("-", MINUS)


def importance_table(importances: Mapping[str, Any]) -> dict[str, Any]:
    """Importances, all coloured on one scale."""
    known = [
        [0.0 if each is None else each for each in row] for row in [importances["overall"], *importances["values"]]
    ]
    top = max((value for row in known for value in row), default=0.0) or 1.0
    overall, *rows = ([HeatCell(percent(each), heat_level(each, top)) for each in row] for row in known)
    names = brief_names(importances["classes"], MAX_HEADER)
    features = brief_names(importances["features"], MAX_FEATURE)
    return {"features": features, "overall": overall, "rows": list(zip(names, rows, strict=True))}
