"""Ctrl-C at any moment: one line on stderr, exit code 130, no traceback.

Imports nothing slow: until `quit_on_interrupt` runs, Ctrl-C prints a traceback.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from types import FrameType
from typing import ParamSpec

from comboost.cli.terminal.errors import CommandError, errors_in_one_line

Arguments = ParamSpec("Arguments")

INTERRUPTED = 130  # exit code of a program that Ctrl-C ended, by the shells' convention


def quit_at_once(number: int, frame: FrameType | None) -> None:
    """End the process: no work has started, or all is done."""
    # Not by an exception: during imports, native code may turn it into another one.
    os.write(2, b"Interrupted.\n")
    os._exit(INTERRUPTED)


@contextmanager
def quit_on_interrupt() -> Iterator[None]:
    """Quit at once on Ctrl-C, unless the parent process set another handler, such as one that ignores it."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, quit_at_once)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


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
