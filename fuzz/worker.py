"""The child process. In: programs, through a connection. Out: a verdict on each, or its own death, which is one."""

import faulthandler
import gc
import importlib
import os
import resource
import signal
import sys
from multiprocessing.connection import Connection

from fuzz.judging import CASE, Verdict, WarningJudge, judge_end, judge_error

MEMORY = 4 * 2**30  # bytes of addresses


def limit_memory() -> None:
    """Let allocations fail before the machine suffers; the address sanitizer needs all addresses."""
    if "libasan" not in os.environ.get("LD_PRELOAD", ""):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def run(text: str) -> Verdict:
    """Run a program and judge it."""
    namespace = {"__name__": "__main__"}
    with WarningJudge() as warned:
        try:
            exec(compile(text, CASE, "exec"), namespace)
        except BaseException as error:  # KeyboardInterrupt and SystemExit are findings, too
            return judge_error(error, warned)
        finally:
            namespace.clear()
    return judge_end(warned)


def serve(connection: Connection, packages: list[str]) -> None:
    """Import what most programs do, say so, and run programs until the parent has no more."""
    for package in packages:
        importlib.import_module(package)
    connection.send("ready")
    while True:
        try:
            text = connection.recv()
        except EOFError:
            return
        connection.send(tuple(run(text)))
        gc.collect(0)


def main() -> None:
    """Serve the connection whose number is given, then packages; what programs print is nobody's business."""
    connection = Connection(int(sys.argv[1]))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    faulthandler.enable(sys.stderr)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # shells let what runs behind them ignore Ctrl-C
    limit_memory()
    serve(connection, sys.argv[2:])


if __name__ == "__main__":
    main()
