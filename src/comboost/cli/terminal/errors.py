"""Errors of commands: one line on stderr and an exit code."""

import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

MAX_NAMES = 5  # in a message
FAILED = 1  # exit code: the data or the options are wrong
DEBUG = "COMBOOST_DEBUG"  # set by --debug
EXPECTED = (ValueError, TypeError, OSError, ImportError, MemoryError)  # raised by bad input


class CommandError(ValueError):
    """The data or the options are wrong; the message says what was seen, what was expected and what to do."""


@contextmanager
def errors_in_one_line() -> Iterator[None]:
    """Print errors in one line and exit; with ``--debug``, print the traceback, too."""
    try:
        yield
    except Exception as error:
        # typer prints its own errors. A pipe breaks when its reader has seen enough.
        if is_of_typer(error) or isinstance(error, BrokenPipeError):
            raise
        if os.environ.get(DEBUG):
            traceback.print_exc()
        hint = "" if isinstance(error, EXPECTED) else " This is a bug; comboost --debug shows where it occurs."
        encoding = getattr(sys.stderr, "encoding", None) or "utf-8"
        line = f"Error: {one_line(error)}{hint}\n"
        sys.stderr.write(line.encode(encoding, "backslashreplace").decode(encoding))
        sys.exit(FAILED)


def is_of_typer(error: BaseException) -> bool:
    """Whether typer raises such errors to end a command; in many versions its classes are those of click."""
    import typer  # slow, and interrupts are not handled yet when this module is imported

    root = next(kind for kind in reversed(typer.BadParameter.__mro__) if kind.__module__ != "builtins")
    return isinstance(error, (root, typer.Exit, typer.Abort))


def one_line(error: BaseException) -> str:
    r"""Return the message of an error without line breaks.

    Examples
    --------
    >>> from comboost.cli.terminal.errors import one_line
    >>> one_line(FileNotFoundError(2, "No such file", "a.csv")), one_line(ValueError("this\nand that"))
    ('No such file: a.csv', 'this and that')
    """
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.strerror}: {error.filename}" if error.filename is not None else error.strerror
    else:
        text = str(error) if isinstance(error, EXPECTED) and str(error) else f"{type(error).__name__}: {error}"
    return " ".join(text.split())


def some_names(names: Sequence[Any]) -> str:
    """Quote names for a message; of many, the first five.

    Examples
    --------
    >>> from comboost.cli.terminal.errors import some_names
    >>> some_names(["a", "b"]), some_names(range(9))
    ("'a', 'b'", '0, 1, 2, 3, 4 and 4 more')
    """
    more = f" and {len(names) - MAX_NAMES:,} more" if len(names) > MAX_NAMES else ""
    return ", ".join(map(repr, names[:MAX_NAMES])) + more
