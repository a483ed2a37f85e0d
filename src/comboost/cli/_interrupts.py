"""Ctrl-C at any moment. In: the signal. Out: a word, an exit code that says so, and no traceback.

Nothing is imported here that takes time: before `interrupts_looked_after`, Ctrl-C is answered by a traceback.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from types import FrameType
from typing import ParamSpec

from comboost.cli._errors import CommandError, told_in_one_line

Arguments = ParamSpec("Arguments")

INTERRUPTED = 130  # what shells say of a program that Ctrl-C has ended


def quit_at_once(number: int, frame: FrameType | None) -> None:
    """End the process: nothing has begun yet, or all is done."""
    # An exception would not do: while modules are imported, native code may turn it into another.
    os.write(2, b"Interrupted.\n")
    os._exit(INTERRUPTED)


@contextmanager
def interrupts_looked_after() -> Iterator[None]:
    """Quit at once, unless whoever started this process wants something else, such as that Ctrl-C is ignored."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, quit_at_once)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def import_all(modules: Iterable[str]) -> None:
    """Import what a command works with; CommandError says what is not installed."""
    for module in modules:
        try:
            import_module(module)
        except ImportError as error:
            if error.name is None or error.name.startswith("comboost"):
                raise
            raise CommandError(
                f'This command needs {error.name}, which is not installed; run pip install "comboost[cli]".'
            ) from error


def interruptible(command: Callable[Arguments, None], *modules: str) -> Callable[Arguments, None]:
    """Let a command clean up after Ctrl-C, which it gets as `KeyboardInterrupt`, and tell its errors in one line.

    The modules are those that do the work: they take time to be imported, so that is done when the command runs, and
    before it may be interrupted.
    """

    @wraps(command)
    def run(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        with told_in_one_line():
            import_all(modules)
            run_command(*args, **kwargs)

    def run_command(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        looked_after = signal.getsignal(signal.SIGINT) is quit_at_once
        try:
            if looked_after:
                signal.signal(signal.SIGINT, signal.default_int_handler)
            command(*args, **kwargs)
        except KeyboardInterrupt:
            print("Interrupted.", file=sys.stderr)
            sys.exit(INTERRUPTED)
        finally:
            sys.stdout.flush()
            if looked_after:
                signal.signal(signal.SIGINT, quit_at_once)

    return run
