"""Run picklable functions in separate processes, and end the processes."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import connection, get_context, parent_process
from typing import ParamSpec, TypeVar

GRACE = 20  # seconds that an orphan has to close its cluster

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Apart:
    """A fresh process that runs one function after the other."""

    def __init__(self, pool: ProcessPoolExecutor) -> None:
        self.pool = pool

    def run(self, function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        """What the function returns, or raises, there."""
        return self.pool.submit(function, *args, **kwargs).result()


@contextmanager
def apart() -> Iterator[Apart]:
    """Start a process, and end it."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=settle_in) as pool:
        # At once, and not with the first call: a cluster that is started meanwhile sets OMP_NUM_THREADS=1 in this
        # process, and a local fit would inherit it.
        pool.submit(os.getpid).result()
        yield Apart(pool)


def settle_in() -> None:
    """Leave stdout to the tables, since libraries write to it, and follow the parent where it ends too early."""
    sys.stdout.flush()
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    threading.Thread(target=end_with_parent, daemon=True).start()


def end_with_parent() -> None:
    """Interrupt this process once its parent is gone, so that clusters are closed; then end it."""
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(GRACE)
        os._exit(1)


def say(message: str) -> None:
    """Tell of progress, on stderr."""
    print(f"  … {message}", file=sys.stderr, flush=True)
