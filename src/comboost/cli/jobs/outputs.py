"""Output files: checked before the work starts, written whole or not at all."""

import csv
import os
import sys
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from comboost._persistence.atomic_write import replace_file
from comboost.cli.input.cells import is_number
from comboost.cli.terminal.errors import CommandError

STANDARD_OUTPUT = "-"
TYPED_ENDINGS = (".parquet", ".pq", ".arrow", ".feather")  # of formats whose cells a spreadsheet does not interpret
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")  # of text that a spreadsheet runs
SIGNS = ("+", "-")
RETURN = "\r"
QUOTE = "'"  # the spreadsheet shows the rest of the cell as it is


def check_is_text(path: str, option: str) -> None:
    """Raise if an option is given that has no meaning for the format of an output file."""
    if path.lower().endswith(TYPED_ENDINGS):
        raise CommandError(f"{option} cannot be given for the output {path}, whose format is not text; leave it out.")


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
        sys.stdout.write(frame.to_csv(**csv_form(frame)))
        return
    try:
        replace_file(path, lambda stream: encode_frame(frame, path.lower(), stream))
    except OSError as error:
        raise CommandError(
            f"The output {path} cannot be written: {error.strerror or error}; nothing has changed. Give another path."
        ) from error


def encode_frame(frame: Any, name: str, stream: BinaryIO) -> None:
    """Write a data frame to a binary stream."""
    if name.endswith(TYPED_ENDINGS[:2]):
        frame.to_parquet(stream, index=False)
    elif name.endswith(TYPED_ENDINGS):
        frame.to_feather(stream)
    else:
        compression = {"method": "gzip", "mtime": 0} if name.endswith(".gz") else None
        sep = "\t" if name.removesuffix(".gz").endswith(".tsv") else ","
        frame.to_csv(stream, sep=sep, compression=compression, **csv_form(frame))


def csv_form(frame: Any) -> dict[str, Any]:
    """Return how CSV is written: with quotes where needed, or around all text if some has a carriage return."""
    # Python before 3.13 does not quote carriage returns by themselves, and readers end the line there.
    texts = chain(frame.columns, *(frame[name] for name in text_columns(frame)))
    returns = any(RETURN in str(text) for text in texts)
    return {"index": False, "lineterminator": "\n", "quoting": csv.QUOTE_NONNUMERIC if returns else csv.QUOTE_MINIMAL}


def text_columns(frame: Any) -> list[str]:
    """Return the names of the columns that may contain text."""
    return list(frame.select_dtypes(exclude=["number", "bool", "datetime", "datetimetz", "timedelta"]).columns)


def quote_formulas(frame: Any) -> Any:
    """Put a quote before text that a spreadsheet would run as a formula, in headers and cells; numbers stay."""
    quoted = {name: frame[name].astype(object).map(quote_formula) for name in text_columns(frame)}
    return frame.assign(**quoted).rename(columns=quote_formula)


def quote_formula(value: Any) -> Any:
    """Put a quote before text that a spreadsheet would run as a formula."""
    if not isinstance(value, str) or not value.startswith(FORMULA_STARTS):
        return value
    return value if value.startswith(SIGNS) and is_number(value) else QUOTE + value
