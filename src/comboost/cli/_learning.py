"""A table to learn from. In: where the rows come from, and which column is the target. Out: X, y, and words on both."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field
from difflib import get_close_matches
from typing import Any

import numpy as np

from comboost.cli._columns import ColumnSummary, frame_of, summarise_columns
from comboost.cli._delimited import NAMES_SHOWN, Dialect
from comboost.cli._errors import CommandError
from comboost.cli._marks import Marks
from comboost.cli._sources import Rowset, read_rowset

WHOLE = re.compile(r"0|-?[1-9]\d{0,17}")
MANY_CLASSES = 50  # more than that, and more than every other row: no classes


@dataclass(frozen=True)
class Request:
    """What is typed about data."""

    source: str
    target: str | None = None
    drop: Sequence[str] = ()
    categories: Sequence[str] = ()
    missing: Sequence[str] = ()
    dialect: Dialect = field(default_factory=Dialect)


@dataclass(frozen=True)
class Lesson:
    """Rows with their classes."""

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

    def as_dict(self) -> dict[str, Any]:
        """All but the rows, for JSON."""
        return {
            "source": self.name,
            "target": self.target,
            "n_rows": len(self.y),
            "classes": self.class_sizes,
            "columns": [asdict(column) for column in self.columns],
            "dropped": list(self.dropped),
            "notes": list(self.notes),
        }


def read_lesson(request: Request) -> Lesson:
    """Read rows to learn from; CommandError says what is wrong with them."""
    rows = read_rowset(request.source, request.dialect)
    target = find_target(rows, request.target)
    check_there(rows, request.drop, "--drop")
    check_there(rows, request.categories, "--category")
    check_not_dropped(target, request.drop)
    marks = Marks(request.missing)
    frame = frame_of(kept_rows(rows, request.drop), as_text={target, *request.categories}, missing=marks)
    y = read_target(frame[target], target, rows.name)
    X = frame.drop(columns=[target])
    if not X.shape[1]:
        raise CommandError(
            f"{rows.name} has no column but the target {target!r}: nothing to learn from. If the columns have another "
            "separator, give it as --sep."
        )
    for name in request.categories:
        X[name] = X[name].astype("category")
    notes = tuple(marks.tell_unseen(request.missing))
    return Lesson(rows.name, target, X, y, summarise_columns(X), tuple(request.drop), notes)


def kept_rows(rows: Rowset, drop: Collection[str]) -> Rowset:
    """The rows without some columns, which may hold anything."""
    kept = [name for name in rows.cells.column_names if name not in drop]
    return Rowset(rows.name, rows.cells.select(kept), rows.decimal, rows.nominal, rows.target)


def find_target(rows: Rowset, target: str | None) -> str:
    """The name of the target, as given or as the file says."""
    target = rows.target if target is None else target
    if target is None:
        raise CommandError(f"Which column of {rows.name} is the class? Give --target, one of {listed(rows)}.")
    check_there(rows, [target], "--target")
    return target


def check_not_dropped(target: str, drop: Collection[str]) -> None:
    """Raise if the target would be dropped."""
    if target in drop:
        raise CommandError(f"Column {target!r} is the target and cannot be dropped; leave out --drop {target}.")


def check_there(rows: Rowset, names: Collection[str], option: str) -> None:
    """Raise if a column is not there."""
    for name in names:
        if name not in rows.cells.column_names:
            close = get_close_matches(name, rows.cells.column_names, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"there are {listed(rows)}."
            raise CommandError(f"{rows.name} has no column {name!r}, which {option} names; {hint}")


def listed(rows: Rowset) -> str:
    """The columns, or the first of them."""
    names = rows.cells.column_names
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return ", ".join(map(repr, names[:NAMES_SHOWN])) + more


def read_target(column: Any, target: str, name: str) -> Any:
    """The classes of all rows; CommandError if they are none."""
    check_none_lacking(column, target, name)
    labels = as_labels(column)
    sizes = Counter(labels.tolist())
    if len(sizes) == 1:
        raise CommandError(
            f"The target {target!r} of {name} has one value only, {next(iter(sizes))!r}; expected are at least two "
            "classes."
        )
    if len(sizes) > max(MANY_CLASSES, len(labels) // 2):
        raise CommandError(
            f"The target {target!r} of {name} has {len(sizes)} values in {len(labels)} rows: these are no classes. "
            "Give another --target, or bin it first."
        )
    return labels


def check_none_lacking(column: Any, target: str, name: str) -> None:
    """Raise if the class of a row is missing."""
    n_missing = int(column.isna().sum())
    if n_missing:
        row = int(np.flatnonzero(column.isna())[0]) + 1
        raise CommandError(
            f"The target {target!r} of {name} is missing in {n_missing} of {len(column)} rows, first in row {row}; "
            "fill it in, or leave these rows out."
        )


def as_labels(column: Any) -> Any:
    """Classes as an array of integers or text, as they were written."""
    values = column.to_numpy()
    if values.dtype.kind in "iub":
        return values
    if values.dtype.kind == "f" and (values == np.rint(values)).all():
        return values.astype(np.int64)
    if values.dtype.kind != "f":
        values = np.array([str(value) for value in values])
        if all(WHOLE.fullmatch(value) for value in np.unique(values)):
            return values.astype(np.int64)
    return values
