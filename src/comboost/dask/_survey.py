"""What all rows together are like, from what each part is like. In: parts. Out: classes, their weights, categories.

Every answer can be joined with others in any order, and what comes out does not depend on how the rows were cut.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from distributed import get_worker
from numpy.typing import NDArray

from comboost._categories import Categories, Column, sorted_values
from comboost._dtypes import SUM, Sums
from comboost._training_set import check_masses, check_n_rows, read_classes, read_distinct
from comboost.dask._block import Block, naming
from comboost.dask._parts import Part
from comboost.dask._quantiles import Question, Tally, count


class Home(NamedTuple):
    """Where a part was read, and how many of its rows weigh something."""

    place: int
    n_rows: int
    worker: str


class LabelCounts(NamedTuple):
    """Distinct labels, and the summed integer weight of each."""

    labels: NDArray[Any]
    masses: Sums

    @classmethod
    def of_block(cls, block: Block) -> "LabelCounts":
        """Count the labels of a block."""
        labels, places = distinct_labels(block.labels)
        masses = np.zeros(len(labels), dtype=SUM)
        np.add.at(masses, places, 1 if block.weights is None else block.weights)
        return cls(labels, masses)

    @classmethod
    def join(cls, counts: "Sequence[LabelCounts]") -> "LabelCounts":
        """Count the labels of several."""
        given = np.concatenate([labels for labels, _ in counts])
        labels, places = distinct_labels(given)
        masses = np.zeros(len(labels), dtype=SUM)
        np.add.at(masses, places, np.concatenate([masses for _, masses in counts]))
        return cls(labels, masses)


@dataclass(frozen=True)
class Survey:
    """What some parts are like.

    Attributes
    ----------
    n_rows : int
        Rows given.
    counts : LabelCounts or None
        Their labels; None without rows.
    columns : dict of int to Column
        The distinct values of every feature of categories, among rows that weigh something.
    tally : Tally or None
        Counts of the numeric features' values; None without rows that weigh something.
    homes : list of Home
        The parts with rows that weigh something.
    """

    n_rows: int = 0
    counts: LabelCounts | None = None
    columns: dict[int, Column] = field(default_factory=dict)
    tally: Tally | None = None
    homes: list[Home] = field(default_factory=list)

    @classmethod
    def of_part(cls, part: Part, features: list[int], shift: int | None, question: Question) -> "Survey":
        """Survey a part: the categories of these features, and what the question asks of the others."""
        if len(part.y) == 0:
            return cls()
        with naming(part):
            block = Block.read(part, shift)
            counts = LabelCounts.of_block(block)
            if block.table.shape[0] == 0:
                return cls(len(block.labels), counts)
            columns = {f: only_values(block.table.column_values(f)) for f in features}
            table = block.table.encode(Categories(dict.fromkeys(features, ())))
            tally = count(table, question, block.kept_weights, 1)
        home = Home(part.place, table.shape[0], get_worker().address)
        return cls(len(block.labels), counts, columns, tally, [home])

    @classmethod
    def join(cls, surveys: "list[Survey]") -> "Survey":
        """Survey several."""
        check_same_kind([s for s in surveys if s.counts is not None])
        counts = [s.counts for s in surveys if s.counts is not None]
        tallies = [s.tally for s in surveys if s.tally is not None]
        return cls(
            sum(s.n_rows for s in surveys),
            LabelCounts.join(counts) if counts else None,
            join_columns([s.columns for s in surveys]),
            Tally.merge(tallies) if tallies else None,
            [home for s in surveys for home in s.homes],
        )

    def census(self) -> "ClassCensus":
        """The classes and their weights, checked."""
        check_n_rows(self.n_rows)
        if self.counts is None:
            raise ValueError(
                "Found array with 0 sample(s): no partition of X has a row; give at least one row a class."
            )
        classes, places = read_classes(self.counts.labels)
        masses = np.zeros(len(classes), dtype=SUM)
        masses[places] = self.counts.masses
        check_masses(masses, classes)
        # Pickling makes a dtype of its own of every one that travels, and models would differ in that.
        return ClassCensus(classes.astype(classes.dtype.str), masses)

    def categories(self) -> Categories:
        """The categories, sorted."""
        return Categories({f: sorted_values(column) for f, column in self.columns.items()})


class ClassCensus(NamedTuple):
    """The classes, sorted, and the summed weight of each."""

    classes: NDArray[Any]
    masses: Sums


def distinct_labels(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.integer[Any]]]:
    """As `read_distinct`, without a warning that there are many classes for so few rows: there are more elsewhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return read_distinct(labels, "y")


def check_same_kind(surveys: Sequence[Survey]) -> None:
    """Raise where labels are text here and numbers there."""
    example_of = {}
    for survey in surveys:
        assert survey.counts is not None
        kind = survey.counts.labels.dtype.kind
        example_of["numbers" if kind in "iuf" else "booleans" if kind == "b" else "text"] = survey.counts.labels[0]
    if len(example_of) > 1:
        seen = ", ".join(f"{kind} ({example!r})" for kind, example in sorted(example_of.items()))
        raise ValueError(
            f"y holds labels of several kinds in its partitions: {seen}. Give labels of one kind, for example with "
            "astype(str)."
        )


def only_values(column: Column) -> Column:
    """A column without its rows."""
    return Column(column.label, list(sorted_values(column)), np.empty(0, dtype=np.intp))


def join_columns(columns: Sequence[Mapping[int, Column]]) -> dict[int, Column]:
    """The values of some parts together; an error as soon as they are too many."""
    joined: dict[int, Column] = {}
    for f, column in (item for part in columns for item in part.items()):
        before = joined[f].values if f in joined else []
        joined[f] = only_values(Column(column.label, [*before, *column.values], column.places))
    return joined
