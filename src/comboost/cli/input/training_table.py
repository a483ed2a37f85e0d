"""Training tables: the features, the classes, and a description of both."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field
from difflib import get_close_matches
from typing import Any

import numpy as np

from comboost._engine.memory import check_large
from comboost.cli.input.cells import MissingMarkers
from comboost.cli.input.columns import ColumnSummary, summarise_columns, to_frame
from comboost.cli.input.delimited import Dialect
from comboost.cli.input.sources import RawTable, read_source
from comboost.cli.terminal.errors import CommandError, some_names

WHOLE = re.compile(r"0|-?[1-9]\d{0,17}")
MANY_CLASSES = 50  # more distinct values than this, and than half of the rows, are not classes


@dataclass(frozen=True)
class DataRequest:
    """Which data to read, and how."""

    source: str
    target: str | None = None
    drop: Sequence[str] = ()
    categories: Sequence[str] = ()
    missing: Sequence[str] = ()
    dialect: Dialect = field(default_factory=Dialect)


@dataclass(frozen=True)
class TrainingTable:
    """Features and classes."""

    name: str
    target: str
    X: Any
    y: Any
    columns: list[ColumnSummary]
    dropped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def class_sizes(self) -> dict[str, int]:
        """Rows of every class, the largest first."""
        return {str(label): n for label, n in Counter(self.y.tolist()).most_common()}

    def describe(self) -> dict[str, Any]:
        """Return everything but the rows, for JSON."""
        return {
            "source": self.name,
            "target": self.target,
            "n_rows": len(self.y),
            "classes": self.class_sizes,
            "columns": [asdict(column) for column in self.columns],
            "dropped": list(self.dropped),
            "notes": list(self.notes),
        }


def read_training_table(request: DataRequest) -> TrainingTable:
    """Read a training table; CommandError says what is wrong with it."""
    table = read_source(request.source, request.dialect)
    target = find_target(table, request.target)
    check_columns(table, request.drop, "--drop")
    check_columns(table, request.categories, "--category")
    check_not_dropped(target, request.drop)
    markers = MissingMarkers(request.missing)
    frame = to_frame(table.drop(request.drop), as_text={target, *request.categories}, missing=markers)
    y = read_classes(frame[target], target, table.name)
    X = frame.drop(columns=[target])
    if not X.shape[1]:
        raise CommandError(
            f"{table.name} has no column but the target {target!r}: nothing to learn from. If the columns have another "
            "delimiter, give it as --sep."
        )
    for name in request.categories:
        X[name] = X[name].astype("category")
    notes = tuple(markers.note_unseen(request.missing))
    return TrainingTable(table.name, target, X, y, summarise_columns(X), tuple(request.drop), notes)


def find_target(table: RawTable, target: str | None) -> str:
    """Return the name of the target, as given or as the file declares it."""
    target = table.target if target is None else target
    if target is None:
        raise CommandError(
            f"Which column of {table.name} has the class labels? Give --target, one of {some_names(table.columns)}."
        )
    check_columns(table, [target], "--target")
    return target


def check_columns(table: RawTable, names: Collection[str], option: str) -> None:
    """Raise if a column does not exist."""
    for name in names:
        if name not in table.columns:
            close = get_close_matches(name, table.columns, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"its columns are {some_names(table.columns)}."
            raise CommandError(f"{table.name} has no column {name!r}, which {option} names; {hint}")


def check_not_dropped(target: str, drop: Collection[str]) -> None:
    """Raise if the target is to be dropped."""
    if target in drop:
        raise CommandError(f"Column {target!r} is the target and cannot be dropped; leave out --drop {target}.")


def read_classes(column: Any, target: str, source: str) -> Any:
    """Return the class of every row; raise CommandError if the column does not contain classes."""
    check_complete(column, target, source)
    labels = as_labels(column)
    sizes = Counter(labels.tolist())
    if len(sizes) == 1:
        raise CommandError(
            f"Target column {target!r} of {source} has a single value, {next(iter(sizes))!r}; expected at least two "
            "classes."
        )
    if len(sizes) > max(MANY_CLASSES, len(labels) // 2):
        raise CommandError(
            f"Target column {target!r} of {source} has {len(sizes)} distinct values in {len(labels)} rows; it does not "
            "look like a class label. Give another --target, or bin it first."
        )
    return labels


def check_complete(column: Any, target: str, source: str) -> None:
    """Raise if the class of a row is missing."""
    n_missing = int(column.isna().sum())
    if n_missing:
        row = int(np.flatnonzero(column.isna())[0]) + 1
        raise CommandError(
            f"Target column {target!r} of {source} is missing in {n_missing} of {len(column)} rows, first in row {row}"
            "; fill it in, or remove these rows."
        )


def as_labels(column: Any) -> Any:
    """Return classes as an array of integers or text, as they were written."""
    values = column.to_numpy()
    if values.dtype.kind in "iub":
        return values
    if values.dtype.kind == "f" and (values == np.rint(values)).all():
        return values.astype(np.int64)
    if values.dtype.kind != "f":
        texts = [str(value) for value in values]
        longest = max(map(len, texts), default=0)
        uses = {f"text of {longest} characters": 4 * longest * len(texts)}  # NumPy's, as long as the longest
        check_large(f"The classes of {len(texts)} rows", uses, "Give the classes shorter names.")
        values = np.array(texts)
        if all(WHOLE.fullmatch(value) for value in np.unique(values)):
            return values.astype(np.int64)
    return values
