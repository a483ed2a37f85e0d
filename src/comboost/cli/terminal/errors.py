"""How a command fails: after an error or Ctrl-C, at any moment, one line on stderr and an exit code, no traceback."""

import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from typing import Any, ParamSpec

from comboost.cli.terminal.interrupts import INTERRUPTED, quit_at_once

Arguments = ParamSpec("Arguments")

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
    """Return the message of an error without line breaks."""
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.strerror}: {error.filename}" if error.filename is not None else error.strerror
    else:
        text = str(error) if isinstance(error, EXPECTED) and str(error) else f"{type(error).__name__}: {error}"
    return " ".join(text.split())


def some_names(names: Sequence[Any]) -> str:
    """Quote names for a message; of many, the first five."""
    more = f" and {len(names) - MAX_NAMES:,} more" if len(names) > MAX_NAMES else ""
    return ", ".join(map(repr, names[:MAX_NAMES])) + more


def interruptible(command: Callable[Arguments, None], *modules: str) -> Callable[Arguments, None]:
    """Let a command clean up on `KeyboardInterrupt`, and print its errors in one line.

    The modules do the work. They are slow to import, so that happens when the command runs, and before Ctrl-C raises.
    """

    @wraps(command)
    def run(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        with errors_in_one_line():
            for module in modules:
                import_installed(module)
            quits = signal.getsignal(signal.SIGINT) is quit_at_once
            try:
                if quits:
                    signal.signal(signal.SIGINT, signal.default_int_handler)
                command(*args, **kwargs)
            except KeyboardInterrupt:
                print("Interrupted.", file=sys.stderr)
                sys.exit(INTERRUPTED)
            finally:
                sys.stdout.flush()
                if quits:
                    signal.signal(signal.SIGINT, quit_at_once)

    return run


def import_installed(module: str) -> None:
    """Import a module; CommandError names the package that is not installed."""
    try:
        import_module(module)
    except ImportError as error:
        if error.name is None or error.name.startswith("comboost"):
            raise
        raise CommandError(
            f'This command needs {error.name}, which is not installed; run pip install "comboost[cli]".'
        ) from error
