"""Memory that rows take when they are read whole. In: a file, or a stream. Out: its bytes, or an error before them.

What a file takes is judged by its first part, and, if it says them, by the sizes of its columns.
"""

import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from comboost._engine.memory import check_large, in_gib
from comboost.cli._delimited import SEPARATORS

SAMPLE_BYTES = 2**20
MOST_UNPACKED = 2**23  # bytes of a packed sample
STREAM_PART = 2**26  # bytes that are read of a stream from one question to the next
GZIP = b"\x1f\x8b"
TEXT_CELL = 5  # bytes of Arrow's beside the signs of a cell
VALUE = 8  # bytes of a number, which Arrow and pandas hold at the same time
WAY_OUT = "Put it into a folder and learn from that with comboost fit FOLDER --dask, or give fewer rows or columns."


def read_file(path: Path) -> bytes:
    """All bytes of a file, if there is room for what is made of them."""
    if not path.is_file():  # a pipe, which cannot be looked at before it is read
        with path.open("rb") as stream:
            return read_stream(stream, str(path))
    size = path.stat().st_size
    check_large(f"Reading {path}, a file of {in_gib(size)} GiB,", plan_of_file(path, size), WAY_OUT)
    return path.read_bytes()


def read_stream(stream: BinaryIO, name: str) -> bytes:
    """All bytes of a stream; nobody knows how many there will be, so that is asked again and again."""
    parts: list[bytes] = []
    while part := stream.read(STREAM_PART):
        parts.append(part)
        n_bytes = sum(map(len, parts))
        plan = plan_of_text(parts[0][:SAMPLE_BYTES], n_bytes)
        check_large(f"Reading {name}, {in_gib(n_bytes)} GiB up to now,", plan, WAY_OUT)
    return b"".join(parts)


def plan_of_file(path: Path, size: int) -> dict[str, int]:
    """Bytes that a file takes, by their use."""
    with path.open("rb") as stream:
        sample = stream.read(SAMPLE_BYTES)
    if sample.startswith(b"PAR1"):
        return {"its columns": size + 2 * columns_of_parquet(path)}
    if sample.startswith((b"ARROW1", b"FEA1")):
        return {"its columns": 3 * size}
    if sample.startswith(GZIP):
        sample, size = unpacked_sample(sample, size)
    return plan_of_text(sample, size)


def plan_of_text(sample: bytes, size: int) -> dict[str, int]:
    r"""Bytes that text takes: while it is cut into cells, and while these are turned into numbers.

    Examples
    --------
    >>> from comboost.cli._room import plan_of_text
    >>> plan_of_text(b"1,2\n3,4\n", 8_000)  # of two bytes per cell
    {'the text of its cells': 28000, 'their values': 64000}
    """
    n_signs = sample.count(b"\n") + max(sample.count(sign.encode()) for sign in SEPARATORS)
    n_cells = size * n_signs // max(1, len(sample))
    return {"the text of its cells": size + TEXT_CELL * n_cells, "their values": max(size, 2 * VALUE * n_cells)}


def unpacked_sample(sample: bytes, size: int) -> tuple[bytes, int]:
    """The first part of a gzip file, and how large all of it may be; as it is if it is damaged."""
    unpacker = zlib.decompressobj(wbits=31)
    with suppress(zlib.error):
        unpacked = unpacker.decompress(sample, MOST_UNPACKED)
        n_used = len(sample) - len(unpacker.unconsumed_tail)
        return unpacked, size * len(unpacked) // n_used
    return sample, size


def columns_of_parquet(path: Path) -> int:
    """Bytes of all columns in memory, at least; 0 if the file does not say it."""
    import pyarrow
    from pyarrow import parquet

    try:
        about: Any = parquet.read_metadata(path)
    except (pyarrow.ArrowException, OSError):  # it is damaged, as whoever reads it will say
        return 0
    groups = [about.row_group(place) for place in range(about.num_row_groups)]
    columns = [(group.num_rows, group.column(k)) for group in groups for k in range(group.num_columns)]
    return sum(max(VALUE * n_rows, column.total_uncompressed_size) for n_rows, column in columns)
