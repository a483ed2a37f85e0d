"""Ctrl-C while no command runs: one line on stderr and an exit code, no traceback.

Imports next to nothing: until `quit_on_interrupt` is entered, Ctrl-C is not handled.
"""

import os
import signal
from types import FrameType, TracebackType

INTERRUPTED = 130  # exit code of a program that Ctrl-C ended, by the shells' convention


def quit_at_once(number: int, frame: FrameType | None) -> None:
    """End the process: no work has started, or all is done."""
    # Not by an exception: during imports, native code may turn it into another one.
    os.write(2, b"Interrupted.\n")
    os._exit(INTERRUPTED)


class quit_on_interrupt:  # noqa: N801
    """Quit at once on Ctrl-C, unless the parent process set another handler, such as one that ignores it."""

    def __enter__(self) -> None:
        self._handles = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._handles:
            signal.signal(signal.SIGINT, quit_at_once)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._handles:
            signal.signal(signal.SIGINT, signal.default_int_handler)
