"""What cannot be done, in one line. In: an exception of a command. Out: a line on stderr and exit code 1."""

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

FAILED = 1  # the data or the options are wrong
DEBUG = "COMBOOST_DEBUG"  # set by --debug
EXPECTED = (ValueError, TypeError, OSError, ImportError, MemoryError)  # what bad input ends in


class CommandError(ValueError):
    """The data or the options are wrong; the message names the thing and the way out."""


@contextmanager
def told_in_one_line() -> Iterator[None]:
    """Tell errors in one line and end the process; with ``--debug``, tell where they come from, too."""
    try:
        yield
    except Exception as error:
        # What typer raises it tells itself; a pipe breaks when whoever read the output has seen enough.
        if is_of_typer(error) or isinstance(error, BrokenPipeError):
            raise
        if os.environ.get(DEBUG):
            traceback.print_exc()
        hint = "" if isinstance(error, EXPECTED) else " This should not happen; comboost --debug says where it does."
        tell_error(one_line(error) + hint)
        sys.exit(FAILED)


def is_of_typer(error: BaseException) -> bool:
    """Whether typer raises such errors to end a command: its classes, which are click's in many of its versions."""
    import typer  # not before Ctrl-C is looked after

    root = next(kind for kind in reversed(typer.BadParameter.__mro__) if kind.__module__ != "builtins")
    return isinstance(error, (root, typer.Exit, typer.Abort))


def one_line(error: BaseException) -> str:
    r"""The message of an error without line breaks.

    Examples
    --------
    >>> from comboost.cli._errors import one_line
    >>> one_line(FileNotFoundError(2, "No such file", "a.csv")), one_line(ValueError("this\nand that"))
    ('No such file: a.csv', 'this and that')
    """
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.strerror}: {error.filename}" if error.filename is not None else error.strerror
    else:
        text = str(error) if isinstance(error, EXPECTED) and str(error) else f"{type(error).__name__}: {error}"
    return " ".join(text.split())


def tell_error(message: str) -> None:
    """Print a line on stderr, whatever signs it can show."""
    encoding = getattr(sys.stderr, "encoding", None) or "utf-8"
    sys.stderr.write(f"Error: {message}\n".encode(encoding, "backslashreplace").decode(encoding))
