"""Read files and streams whole, after a check that what is made of them fits into memory.

The memory is estimated from the first part of the file and, for Parquet, from the sizes of its columns.
"""

import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from comboost._engine.memory import check_large, in_gib
from comboost.cli.input.delimited import DELIMITERS

SAMPLE_BYTES = 2**20
MAX_UNPACKED = 2**23  # bytes of an unpacked sample
STREAM_PART = 2**26  # bytes of a stream between two checks
GZIP = b"\x1f\x8b"
PARQUET, ARROW = b"PAR1", (b"ARROW1", b"FEA1")
CELL_OVERHEAD = 5  # bytes of an Arrow cell in addition to its text
VALUE = 8  # bytes of a number, which Arrow and pandas hold at the same time
ADVICE = "Put it into a folder and train with comboost fit FOLDER --dask, or give fewer rows or columns."


def read_file(path: Path) -> bytes:
    """Read a file, if what is made of it fits into memory."""
    if not path.is_file():  # a pipe, which cannot be sampled
        with path.open("rb") as stream:
            return read_stream(stream, str(path))
    size = path.stat().st_size
    check_large(f"Reading {path}, a file of {in_gib(size)} GiB,", plan_of_file(path, size), ADVICE)
    return path.read_bytes()


def read_stream(stream: BinaryIO, name: str) -> bytes:
    """Read a stream; its size is unknown, so memory is checked after every part."""
    parts: list[bytes] = []
    while part := stream.read(STREAM_PART):
        parts.append(part)
        n_bytes = sum(map(len, parts))
        plan = plan_of_text(parts[0][:SAMPLE_BYTES], n_bytes)
        check_large(f"Reading {name}, {in_gib(n_bytes)} GiB so far,", plan, ADVICE)
    return b"".join(parts)


def plan_of_file(path: Path, size: int) -> dict[str, int]:
    """Estimate the bytes that a file needs, by their use."""
    with path.open("rb") as stream:
        sample = stream.read(SAMPLE_BYTES)
    if sample.startswith(PARQUET):
        return {"its columns": size + 2 * parquet_bytes(path)}
    if sample.startswith(ARROW):
        return {"its columns": 3 * size}
    if sample.startswith(GZIP):
        unpacker = zlib.decompressobj(wbits=31)
        with suppress(zlib.error):  # damaged; the reader reports it
            unpacked = unpacker.decompress(sample, MAX_UNPACKED)
            size = size * len(unpacked) // (len(sample) - len(unpacker.unconsumed_tail))
            sample = unpacked
    return plan_of_text(sample, size)


def plan_of_text(sample: bytes, size: int) -> dict[str, int]:
    """Estimate the bytes that text needs while it is split into cells, and while these become numbers."""
    n_delimiters = sample.count(b"\n") + max(sample.count(sep.encode()) for sep in DELIMITERS)
    n_cells = size * n_delimiters // max(1, len(sample))
    return {"the text of its cells": size + CELL_OVERHEAD * n_cells, "their values": max(size, 2 * VALUE * n_cells)}


def parquet_bytes(path: Path) -> int:
    """Return a lower bound of the bytes of all columns in memory; 0 if the file is damaged."""
    import pyarrow
    from pyarrow import parquet

    try:
        metadata: Any = parquet.read_metadata(path)
    except (pyarrow.ArrowException, OSError):
        return 0
    groups = [metadata.row_group(idx) for idx in range(metadata.num_row_groups)]
    columns = [(group.num_rows, group.column(k)) for group in groups for k in range(group.num_columns)]
    return sum(max(VALUE * n_rows, column.total_uncompressed_size) for n_rows, column in columns)
