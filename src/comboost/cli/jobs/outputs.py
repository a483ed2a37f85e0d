"""Output files: checked before the work starts, written whole or not at all."""

import os
import sys
from pathlib import Path
from typing import Any, BinaryIO

from comboost._persistence.atomic_write import replace_file
from comboost.cli.terminal.errors import CommandError

STANDARD_OUTPUT = "-"


def check_output(path: str, inputs: dict[str, str]) -> None:
    """Raise if a file can most likely not be written, or if it would replace one of the named input files."""
    if path == STANDARD_OUTPUT:
        return
    target = Path(path)
    if target.is_dir():
        raise CommandError(f"The output {path} is a folder; give the name of a file in it.")
    folder = target.resolve().parent
    if not folder.is_dir():
        raise CommandError(
            f"The output {path} cannot be written: there is no folder {folder}; create it, or give another."
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        raise CommandError(f"The output {path} cannot be written: the folder {folder} is read-only; give another one.")
    if target.exists() and not target.is_file():
        raise CommandError(f"The output {path} is not a regular file; give another name, or - for standard output.")
    for what, given in inputs.items():
        if target.exists() and os.path.exists(given) and os.path.samefile(path, given):
            raise CommandError(f"The output {path} is the {what} itself; give another name.")


def write_frame(frame: Any, path: str) -> None:
    """Write a pandas DataFrame in the format of the file extension, by default CSV."""
    if path == STANDARD_OUTPUT:
        sys.stdout.write(frame.to_csv(index=False, lineterminator="\n"))
        return
    try:
        replace_file(path, lambda stream: encode_frame(frame, path.lower(), stream))
    except OSError as error:
        raise CommandError(
            f"The output {path} cannot be written: {error.strerror or error}; nothing has changed. Give another path."
        ) from error


def encode_frame(frame: Any, name: str, stream: BinaryIO) -> None:
    """Write a data frame to a binary stream."""
    if name.endswith((".parquet", ".pq")):
        frame.to_parquet(stream, index=False)
    elif name.endswith((".arrow", ".feather")):
        frame.to_feather(stream)
    else:
        compression = {"method": "gzip", "mtime": 0} if name.endswith(".gz") else None
        sep = "\t" if name.removesuffix(".gz").endswith(".tsv") else ","
        frame.to_csv(stream, index=False, sep=sep, compression=compression, lineterminator="\n")
