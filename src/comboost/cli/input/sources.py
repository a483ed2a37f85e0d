"""Read a file, standard input or a bundled data set into a `RawTable`, whose columns are as written."""

import re
import sys
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from comboost.cli.input.arff import read_arff
from comboost.cli.input.delimited import BYTE_ORDER_MARKS, Dialect, read_delimited
from comboost.cli.input.memory import ARROW, GZIP, PARQUET, check_text, read_file, read_stream, unpack
from comboost.cli.input.typed import ARROW_ENDINGS, PARQUET_ENDINGS, read_typed
from comboost.cli.terminal.errors import CommandError

STANDARD_INPUT = "-"
BUNDLED_TARGET = "target"
TEXT_ENDINGS = (".csv", ".tsv", ".txt", ".tab", ".data")
ARFF_ENDINGS = (".arff", ".dat")
RELATION = re.compile(rb"^[^\S\n]*+@relation\s", re.IGNORECASE | re.MULTILINE)
CHARACTER = re.compile(rb"\S")
HEADER_BYTES = 100_000
DECODED_COPIES = 2  # of an ARFF file: its characters, and its rows as CSV
ENCODED_COPIES = 3  # of text in another encoding: its characters, and these in UTF-8, which may take twice as much


@dataclass(frozen=True)
class RawTable:
    """An Arrow table, and what the file declares; ``decimal`` is None if its columns have types."""

    name: str
    cells: Any
    decimal: str | None
    nominal: tuple[str, ...] = ()
    target: str | None = None

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self.cells.column_names)

    def select(self, columns: Collection[str]) -> Self:
        """Return the table with these columns only."""
        nominal = tuple(name for name in self.nominal if name in columns)
        return replace(self, cells=self.cells.select(list(columns)), nominal=nominal)

    def drop(self, columns: Collection[str]) -> Self:
        """Return the table without these columns."""
        return self.select([name for name in self.columns if name not in columns])


def read_source(source: str, dialect: Dialect) -> RawTable:
    """Read a file, standard input, or a bundled data set."""
    if source == STANDARD_INPUT:
        name = "standard input"
        return parse_bytes(read_stream(sys.stdin.buffer, name), name, "", dialect)
    path = Path(source)
    if not path.exists():
        return read_bundled(source, dialect)
    if path.is_dir():
        raise CommandError(f"{source} is a folder; give a file, or train on all its files with comboost fit --dask.")
    ending = "".join(path.suffixes[-2:]).lower().removesuffix(".gz")
    return parse_bytes(read_file(path), source, Path(ending).suffix or ending, dialect)


def read_bundled(source: str, dialect: Dialect) -> RawTable:
    """Read a bundled data set; if there is none, the error lists the ways to give data."""
    from comboost.datasets import load_dataset
    from comboost.datasets._records import CONNECT4, RECORDS, find_record

    try:
        find_record(source)
    except ValueError as error:
        raise CommandError(
            f"There is no file {source!r}, and no bundled data set of that name; give a path, - for standard input, or "
            f"one of {', '.join(sorted([*RECORDS, CONNECT4.name]))}."
        ) from error
    dialect.check_unused(source, "which is bundled")
    import pyarrow

    frame = load_dataset(source, as_frame=True).frame
    return RawTable(source, pyarrow.Table.from_pandas(frame, preserve_index=False), None, target=BUNDLED_TARGET)


def parse_bytes(content: bytes, name: str, ending: str, dialect: Dialect) -> RawTable:
    """Parse the bytes of a file by its extension, or by how they begin if that decides nothing."""
    if content.startswith(GZIP):
        content = unpack(content, name)
    if CHARACTER.search(content) is None:
        raise CommandError(f"{name} is empty; expected a line with the names of the columns, and rows below it.")
    if content.startswith(PARQUET):
        ending = PARQUET_ENDINGS[0]
    elif content.startswith(ARROW):
        ending = ARROW_ENDINGS[0]
    if ending in PARQUET_ENDINGS + ARROW_ENDINGS:
        dialect.check_unused(name, "whose columns have types")
        return RawTable(name, read_typed(content, name, ending), None)
    if is_arff(content, ending):
        dialect.check_unused(name, "whose format prescribes commas and decimal points", ("sep", "decimal"))
        check_text(content, name, DECODED_COPIES if dialect.encoding is None else DECODED_COPIES + ENCODED_COPIES)
        cells, nominal, target = read_arff(content, name, dialect.encoding)
        return RawTable(name, cells, ".", nominal, target)
    if ending not in (*TEXT_ENDINGS, *ARFF_ENDINGS, ""):
        known = ", ".join(TEXT_ENDINGS[:2] + PARQUET_ENDINGS[:1] + ARROW_ENDINGS[:2] + ARFF_ENDINGS)
        raise CommandError(f"{name} has the unknown extension {ending!r}; expected one of {known}, or .gz.")
    if b"\0" in content[:1000] and dialect.encoding is None and not content.startswith(tuple(BYTE_ORDER_MARKS)):
        raise CommandError(f"{name} is not text; give a CSV, TSV, Parquet, Arrow, ARFF or KEEL file.")
    check_text(content, name, 0 if dialect.encoding is None else ENCODED_COPIES)
    return RawTable(name, *read_delimited(content, name, dialect))


def is_arff(content: bytes, ending: str) -> bool:
    """Whether a file declares its columns: by its extension, which not only KEEL uses, or by how it begins."""
    head = content[:HEADER_BYTES]
    return b"@" in head if ending in ARFF_ENDINGS else not ending and RELATION.search(head) is not None
