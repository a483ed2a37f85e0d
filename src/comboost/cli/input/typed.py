"""Parquet, Arrow and Feather files, whose columns have types.

A small file may hold many values: buffers are compressed, text refers to a dictionary, equal values are counted. So the
size of all columns is computed from what the file says of them, and checked, before they are read.
"""

import struct
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np

from comboost._engine.memory import check_large
from comboost.cli.input.delimited import check_unique
from comboost.cli.input.memory import ADVICE, ARROW, VALUE, parquet_bytes
from comboost.cli.terminal.errors import CommandError

PARQUET_ENDINGS = (".parquet", ".pq")
ARROW_ENDINGS = (".arrow", ".feather", ".ipc")
INDEX = "__index_level_"  # name of an unnamed pandas index in Parquet files
MAX_DICTIONARY = 2**31  # bytes of text that Arrow refers to with 32 bits
OBJECT = 112  # bytes of a Python object, such as a small array
DAMAGE = (ValueError, OSError, LookupError, struct.error, OverflowError)  # pyarrow.ArrowInvalid is a ValueError


def read_typed(content: bytes, name: str, ending: str) -> Any:
    """Read a Parquet, Arrow or Feather file."""
    import pyarrow

    try:
        table = (read_parquet if ending in PARQUET_ENDINGS else read_arrow)(content, name)
    except pyarrow.ArrowMemoryError as error:
        raise MemoryError(f"The columns of {name} do not fit into memory ({error}). {ADVICE}") from error
    except (pyarrow.ArrowException, *DAMAGE) as error:
        raise CommandError(f"{name} is damaged, or not a {ending} file: {error}; write or copy it again.") from error
    check_unique(table.column_names, name)
    if not table.num_rows:
        raise CommandError(f"{name} has no rows.")
    return table.select([column for column in table.column_names if not column.startswith(INDEX)])


def check_columns_fit(name: str, uses: dict[str, int]) -> None:
    """Raise if the columns of a file, or what is made of them, do not fit into memory."""
    check_large(f"Reading {name}", uses, ADVICE)


# Parquet


def read_parquet(content: bytes, name: str) -> Any:
    """Read a Parquet file; its text first as dictionaries, of which the size of all cells follows."""
    import pyarrow
    from pyarrow import parquet

    file = parquet.ParquetFile(pyarrow.BufferReader(content))
    check_columns_fit(name, {"its columns": parquet_bytes(file.metadata)})
    schema, sizes = file.schema_arrow, uncompressed_sizes(file.metadata)
    text = [field.name for field in schema if is_text(field.type) and sizes[field.name] < MAX_DICTIONARY]
    table = parquet.ParquetFile(pyarrow.BufferReader(content), read_dictionary=text).read()
    check_columns_fit(name, {"the text of its cells": sum(text_bytes(table[column]) for column in text)})
    kinds = [field.with_type(plain_text(field.type)) for field in schema]
    for idx, field in enumerate(kinds):  # one after the other, since the dictionaries are dropped
        table = table.set_column(idx, field, table[idx].cast(field.type))
    return table


def uncompressed_sizes(metadata: Any) -> dict[str, int]:
    """Return the bytes of every column of a Parquet file, encoded, but not compressed."""
    sizes: dict[str, int] = {}
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for column in map(group.column, range(group.num_columns)):
            sizes[column.path_in_schema] = sizes.get(column.path_in_schema, 0) + column.total_uncompressed_size
    return sizes


def is_text(kind: Any) -> bool:
    """Whether cells of an Arrow type are text."""
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def plain_text(kind: Any) -> Any:
    """Return an Arrow type that all functions support; some do not support the views of Polars."""
    import pyarrow

    return pyarrow.large_string() if pyarrow.types.is_string_view(kind) else kind


# Arrow and Feather


def read_arrow(content: bytes, name: str) -> Any:
    """Read an Arrow or Feather file, of which the size of all buffers is known."""
    import pyarrow
    from pyarrow import feather

    if content.startswith(ARROW[0]):  # the other format of Feather is not compressed
        check_columns_fit(name, {"its columns": sum(buffer_sizes(content))})
    table = feather.read_table(pyarrow.BufferReader(content))
    views = [idx for idx, kind in enumerate(table.schema.types) if plain_text(kind) != kind]
    check_columns_fit(name, {"the text of its cells": sum(text_bytes(table[idx]) for idx in views)})
    for idx in views:
        table = table.set_column(idx, table.column_names[idx], table[idx].cast(pyarrow.large_string()))
    return table


def buffer_sizes(content: bytes) -> Iterator[int]:
    """Yield the size of every buffer of an Arrow file after it is decompressed.

    The file ends with a table of its blocks. Each has a message with the places of its buffers; if they are
    compressed, a buffer begins with its size.
    """
    (length,) = struct.unpack_from("<i", content, len(content) - 10)
    footer = FlatTable.root(content, len(content) - 10 - length)
    for position in chain(footer.structs(2, 24), footer.structs(3, 24)):  # dictionaries, record batches
        offset, n_bytes = struct.unpack_from("<qi", content, position)
        prefix = 8 if content[offset : offset + 4] == b"\xff\xff\xff\xff" else 4
        message = FlatTable.root(content, offset + prefix)
        batch = message.table(2)
        if content[message.field(1)] == 2:  # a dictionary, which contains a batch
            batch = batch.table(1)
        for place in batch.structs(2, 16):
            begin, size = struct.unpack_from("<qq", content, place)
            if batch.field(3) and size:
                (size,) = struct.unpack_from("<q", content, offset + n_bytes + begin)
            yield max(size, 0)


class FlatTable:
    """A table of FlatBuffers: at ``position`` is the distance to the places of its fields."""

    def __init__(self, content: bytes, position: int) -> None:
        self._content, self._position = content, position
        self._places = position - self._number("<i", position)

    @classmethod
    def root(cls, content: bytes, position: int) -> "FlatTable":
        """Return the table that a message begins with."""
        return cls(content, position + struct.unpack_from("<I", content, position)[0])

    def _number(self, form: str, position: int) -> int:
        return int(struct.unpack_from(form, self._content, position)[0])

    def field(self, idx: int) -> int:
        """Return the position of a field; 0 if there is none."""
        place = 4 + 2 * idx
        if place >= self._number("<H", self._places):
            return 0
        distance = self._number("<H", self._places + place)
        return self._position + distance if distance else 0

    def table(self, idx: int) -> "FlatTable":
        """Return the table in a field."""
        position = self.field(idx)
        return FlatTable(self._content, position + self._number("<I", position))

    def structs(self, idx: int, size: int) -> range:
        """Return the positions of the structs in a list."""
        position = self.field(idx)
        if not position:
            return range(0)
        begin = position + self._number("<I", position)
        return range(begin + 4, begin + 4 + size * self._number("<I", begin), size)


# Columns in memory


def text_bytes(column: Any) -> int:
    """Return the bytes of the text of all cells of a column, which may refer to a dictionary, to views or to runs."""
    return sum(map(text_bytes_of_chunk, column.chunks))


def text_bytes_of_chunk(chunk: Any) -> int:
    """Return the bytes of the text of all cells of an Arrow array."""
    import pyarrow
    import pyarrow.compute as pc

    kind = chunk.type
    if pyarrow.types.is_dictionary(kind):
        lengths = pc.binary_length(chunk.dictionary).fill_null(0)
        return int(pc.sum(lengths.take(chunk.indices).cast(pyarrow.int64())).as_py() or 0)
    if pyarrow.types.is_run_end_encoded(kind):
        ends = np.clip(np.asarray(chunk.run_ends, dtype=np.int64) - chunk.offset, 0, len(chunk))
        lengths = np.asarray(pc.binary_length(chunk.values).fill_null(0), dtype=np.int64)
        return int(np.diff(ends, prepend=0) @ lengths)
    if pyarrow.types.is_string_view(kind):  # of 16 bytes, which begin with the length of the text
        views = np.frombuffer(chunk.buffers()[1], dtype=np.int32)[4 * chunk.offset :: 4][: len(chunk)]
        return int(np.maximum(views, 0).sum(dtype=np.int64))
    return int(chunk.nbytes)


def frame_bytes(column: Any) -> int:
    """Return the bytes of what is made of a column: numbers, once in Arrow and once in pandas, or text."""
    from pyarrow import types

    kind, n_values = column.type, len(column)
    if is_text(kind):
        return max(int(column.nbytes), 2 * VALUE * n_values)
    if types.is_run_end_encoded(kind):
        return 2 * VALUE * n_values + (text_bytes(column) if is_text(kind.value_type) else 0)
    if types.is_null(kind):
        return 2 * VALUE * n_values
    if types.is_boolean(kind):
        return n_values if not column.null_count else VALUE * n_values
    if types.is_dictionary(kind) or types.is_primitive(kind):
        return VALUE * n_values
    return OBJECT * n_values + int(column.nbytes)


def without_runs(column: Any) -> Any:
    """Repeat the values of a column that counts equal ones."""
    import pyarrow
    import pyarrow.compute as pc

    return pc.run_end_decode(column) if pyarrow.types.is_run_end_encoded(column.type) else column
