"""Where rows come from. In: a path, ``-`` or a bundled set. Out: a `Rowset`, whose columns are as written."""

import gzip
import re
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from comboost.cli._attribute_files import read_attribute_file
from comboost.cli._delimited import Dialect, check_names_once, read_delimited
from comboost.cli._errors import CommandError
from comboost.cli._room import GZIP, read_file, read_stream

STANDARD_INPUT = "-"
BUNDLED_TARGET = "target"
INDEX = "__index_level_"  # how pandas calls a nameless index in Parquet
TEXT_ENDINGS = (".csv", ".tsv", ".txt", ".tab", ".data")
ATTRIBUTE_ENDINGS = (".arff", ".dat")
PARQUET_ENDINGS = (".parquet", ".pq")
ARROW_ENDINGS = (".arrow", ".feather", ".ipc")
MAGIC = {b"PAR1": ".parquet", b"ARROW1": ".arrow", b"FEA1": ".arrow"}
RELATION = re.compile(rb"^\s*@relation\s", re.IGNORECASE | re.MULTILINE)
HEAD_BYTES = 100_000


@dataclass(frozen=True)
class Rowset:
    """An Arrow table, and what the file says of it; ``decimal`` is None if its columns have types already."""

    name: str
    cells: Any
    decimal: str | None
    nominal: tuple[str, ...] = ()
    target: str | None = None


def read_rowset(source: str, dialect: Dialect) -> Rowset:
    """Read a file, standard input, or a bundled set."""
    if source == STANDARD_INPUT:
        name = "standard input"
        return rowset_of(read_stream(sys.stdin.buffer, name), name, "", dialect)
    path = Path(source)
    if not path.exists():
        return read_bundled(source, dialect)
    if path.is_dir():
        raise CommandError(
            f"{source} is a folder; give a file, or, to fit on all files of it, comboost fit with --dask."
        )
    ending = "".join(path.suffixes[-2:]).lower().removesuffix(".gz")
    return rowset_of(read_file(path), source, Path(ending).suffix or ending, dialect)


def read_bundled(source: str, dialect: Dialect) -> Rowset:
    """A bundled set by its name; the error names the ways to give data."""
    from comboost.datasets import load_dataset
    from comboost.datasets._records import CONNECT4, RECORDS, find_record

    try:
        find_record(source)
    except ValueError as error:
        raise CommandError(
            f"There is no file {source!r}, and no bundled set of that name; give a path, - for standard input, or one "
            f"of {', '.join(sorted([*RECORDS, CONNECT4.name]))}."
        ) from error
    dialect.check_unused(source, "which is bundled")
    import pyarrow

    frame = load_dataset(source, as_frame=True).frame
    return Rowset(source, pyarrow.Table.from_pandas(frame, preserve_index=False), None, target=BUNDLED_TARGET)


def rowset_of(content: bytes, name: str, ending: str, dialect: Dialect) -> Rowset:
    """Read the bytes of a file by its ending, or by how they begin if that says nothing."""
    if content.startswith(GZIP):
        content = unzipped(content, name)
    if not content.strip():
        raise CommandError(f"{name} is empty; expected are a line with the names of the columns, and rows below it.")
    by_magic = next((kind for magic, kind in MAGIC.items() if content.startswith(magic)), None)
    ending = by_magic or ending
    if ending in PARQUET_ENDINGS + ARROW_ENDINGS:
        dialect.check_unused(name, "whose cells are no text")
        return Rowset(name, read_binary(content, name, ending), None)
    if is_attribute_file(content, ending):
        dialect.check_unused(name, "whose format has commas and decimal points", ("sep", "decimal"))
        found = read_attribute_file(content, name, dialect.encoding)
        return Rowset(name, found.cells, ".", found.nominal, found.target)
    if ending not in (*TEXT_ENDINGS, *ATTRIBUTE_ENDINGS, ""):
        known = ", ".join(TEXT_ENDINGS[:2] + PARQUET_ENDINGS[:1] + ARROW_ENDINGS[:2] + ATTRIBUTE_ENDINGS)
        raise CommandError(f"{name} ends with {ending!r}, which is not known here; expected is one of {known}, or .gz.")
    if b"\0" in content[:1000] and dialect.encoding is None and not content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise CommandError(f"{name} holds no text; give a CSV, TSV, Parquet, Arrow, ARFF or KEEL file.")
    table = read_delimited(content, name, dialect)
    return Rowset(name, table.cells, table.decimal)


def is_attribute_file(content: bytes, ending: str) -> bool:
    """Whether a file declares its columns, by its ending, which KEEL shares with others, or else by how it begins."""
    head = content[:HEAD_BYTES]
    return b"@" in head if ending in ATTRIBUTE_ENDINGS else not ending and RELATION.search(head) is not None


def unzipped(content: bytes, name: str) -> bytes:
    """The content of a gzip file."""
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise CommandError(f"{name} is a damaged gzip file: {error}; copy or pack it anew.") from error


def read_binary(content: bytes, name: str, ending: str) -> Any:
    """A Parquet, Arrow or Feather file."""
    import pyarrow
    from pyarrow import feather, parquet

    read: Callable[[Any], Any] = parquet.read_table if ending in PARQUET_ENDINGS else feather.read_table
    try:
        table = read(pyarrow.BufferReader(content))
    except (pyarrow.ArrowException, OSError) as error:
        raise CommandError(f"{name} is damaged, or no {ending} file: {error}; write or copy it anew.") from error
    check_names_once(table.column_names, name)
    kept = [column for column in table.column_names if not column.startswith(INDEX)]
    if not table.num_rows:
        raise CommandError(f"{name} has no rows.")
    return with_plain_text(table.select(kept))


def with_plain_text(table: Any) -> Any:
    """A table whose text is of a type that all functions take; Polars writes another one."""
    import pyarrow

    views = [place for place, kind in enumerate(table.schema.types) if pyarrow.types.is_string_view(kind)]
    for place in views:
        table = table.set_column(place, table.column_names[place], table[place].cast(pyarrow.large_string()))
    return table
