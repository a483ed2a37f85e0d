"""Read files and streams whole, after a check that what is made of them fits into memory.

The memory is estimated from the first part of the file and, for Parquet, from the sizes of its columns. Compressed text
is unpacked in parts, and the memory is checked before each of them, since the first part may say little of the others.
"""

import gzip
import io
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from comboost._engine.memory import check_large, in_gib
from comboost.cli.input.delimited import DELIMITERS
from comboost.cli.terminal.errors import CommandError

SAMPLE_BYTES = 2**20
MAX_UNPACKED = 2**23  # bytes of an unpacked sample
PART = 2**20  # bytes that are read at once
CHECKED = 2**24  # bytes between two checks
GZIP = b"\x1f\x8b"
PARQUET, ARROW = b"PAR1", (b"ARROW1", b"FEA1")
CELL_OVERHEAD = 5  # bytes of an Arrow cell in addition to its text
BLOCK = 2**16  # bytes that are counted at once
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
    return read_parts(stream.read, lambda n_bytes: f"Reading {name}, {in_gib(n_bytes)} GiB so far,")


def unpack(content: bytes, name: str) -> bytes:
    """Unpack a gzip file, if the text in it fits into memory."""
    packed = io.BytesIO(content)

    def task(n_bytes: int) -> str:
        return (
            f"Unpacking {name}, whose first {packed.tell() / len(content):.0%} are {in_gib(n_bytes)} GiB of text and "
            f"all of it about {in_gib(n_bytes * len(content) // packed.tell())},"
        )

    try:
        with gzip.GzipFile(fileobj=packed) as stream:
            return read_parts(stream.read, task)
    except (OSError, EOFError, zlib.error) as error:
        raise CommandError(f"{name} is a damaged gzip file: {error}; copy or pack it again.") from error


def read_parts(read: Callable[[int], bytes], task: Callable[[int], str]) -> bytes:
    """Read to the end; raise if the bytes so far, and what is made of them, do not fit into memory."""
    whole, sample, n_checked = io.BytesIO(), b"", 0
    while part := read(PART):
        sample = sample or part[:SAMPLE_BYTES]
        whole.write(part)
        if whole.tell() > n_checked:
            check_large(task(whole.tell()), plan_of_text(sample, whole.tell()), ADVICE)
            n_checked += CHECKED
    return whole.getvalue()


def check_text(content: bytes, name: str, n_copies: int = 0) -> None:
    """Raise if the cells of text, all of which are counted, and more copies of the text do not fit into memory."""
    if len(content) > SAMPLE_BYTES:  # of less text, even a cell per character is small
        uses = {**plan_of_text(content, len(content)), "its lines": n_copies * len(content)}
        check_large(f"Reading {name}, {in_gib(len(content))} GiB of text,", uses, ADVICE)


def plan_of_file(path: Path, size: int) -> dict[str, int]:
    """Estimate the bytes that a file needs, by their use."""
    with path.open("rb") as stream:
        sample = stream.read(SAMPLE_BYTES)
    if sample.startswith(PARQUET):
        return {"its columns": size + parquet_bytes(read_metadata(path))}
    if sample.startswith(ARROW):
        return {"its bytes": size}
    if sample.startswith(GZIP):
        unpacker = zlib.decompressobj(wbits=31)
        with suppress(zlib.error):  # damaged; the reader reports it
            unpacked = unpacker.decompress(sample, MAX_UNPACKED)
            size = size * len(unpacked) // (len(sample) - len(unpacker.unconsumed_tail))
            sample = unpacked
    return plan_of_text(sample, size)


def plan_of_text(sample: bytes, size: int) -> dict[str, int]:
    """Estimate the bytes that text needs while it is split into cells, and while these become numbers."""
    n_delimiters = count(sample, "\n") + max(count(sample, sep) for sep in DELIMITERS)
    n_cells = size * n_delimiters // max(1, len(sample))
    return {"the text of its cells": size + CELL_OVERHEAD * n_cells, "their values": max(size, 2 * VALUE * n_cells)}


def count(text: bytes, character: str) -> int:
    """Count an ASCII character, faster than ``bytes.count`` where it is frequent."""
    blocks = (np.frombuffer(text, np.uint8)[begin : begin + BLOCK] for begin in range(0, len(text), BLOCK))
    return sum(int(np.count_nonzero(block == ord(character))) for block in blocks)


def read_metadata(path: Path) -> Any:
    """Return what a Parquet file says of its columns; None if it is damaged."""
    import pyarrow
    from pyarrow import parquet

    try:
        return parquet.read_metadata(path)
    except (pyarrow.ArrowException, OSError):
        return None


def parquet_bytes(metadata: Any) -> int:
    """Return a lower bound of the bytes of all columns in Arrow and in pandas; 0 if the file is damaged."""
    n_bytes = 0
    for group in map(metadata.row_group, range(metadata.num_row_groups)) if metadata is not None else ():
        for column in map(group.column, range(group.num_columns)):
            width = 1 if column.physical_type == "BOOLEAN" else VALUE
            n_bytes += 2 * max(width * column.num_values, column.total_uncompressed_size)
    return n_bytes
