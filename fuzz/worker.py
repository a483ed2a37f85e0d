"""The child process: runs programs and judges each as passed, refused, void or a finding.

Refusals are errors of the documented kinds, in a sentence of comboost's or of scikit-learn's checks: the innermost
frame is theirs and raises. An error from deep inside NumPy or pandas does not say which argument is wrong.
"""

import faulthandler
import gc
import importlib
import linecache
import os
import re
import resource
import signal
import sys
import traceback
import warnings
from multiprocessing.connection import Connection
from types import FrameType
from typing import Any, NamedTuple

MEMORY = 4 * 2**30  # bytes of addresses
DOCUMENTED = (ValueError, TypeError, MemoryError)
OWN_ERRORS = ("comboost", "sklearn", "joblib")  # packages whose own errors are fine
CONSTRUCTORS = ("as_", "with_")  # functions of `properties` that make tables
WEAK_LEARNERS = ("sklearn.tree", "sklearn.linear_model")  # those that programs boost
CASE = "<case>"  # the file name of programs
FORBIDDEN = (RuntimeWarning, DeprecationWarning, PendingDeprecationWarning, FutureWarning, ResourceWarning)


class Verdict(NamedTuple):
    """What became of a case: passed, refused, void or finding; a line on the reason, and where it arose."""

    status: str
    reason: str = ""
    location: str = ""

    @property
    def key(self) -> str:
        """Findings with the same key count as the same."""
        return re.sub(r"[\d.]+|'[^']*'", "#", f"{self.reason[:160]} {self.location}")


def judge_end(warned: list[Verdict]) -> Verdict:
    """The verdict on a program that came to its end."""
    return next(iter(warned), Verdict("passed"))


def judge_error(error: BaseException, warned: list[Verdict]) -> Verdict:
    """The verdict on a program that ended in an error."""
    frames = list(traceback.walk_tb(error.__traceback__))
    location = location_of([frame for frame, _ in frames])
    message = f"{type(error).__name__}: {str(error) or 'without a message'}"
    if isinstance(error, AssertionError) and not comes_from_comboost(frames):
        return Verdict("finding", f"violated property: {str(error) or 'an assertion'}")
    if not comes_from_comboost(frames):
        if is_construction(frames) and not isinstance(error, NameError | AttributeError | KeyboardInterrupt):
            return Verdict("void", message, location)
        return Verdict("finding", f"the program itself is wrong: {message}", location)
    if not is_documented(error):
        return Verdict("finding", f"undocumented kind of error: {message}", location)
    if not str(error):
        return Verdict("finding", f"empty message: {message}", location)
    if not raises_own_error(frames):
        return Verdict("finding", f"error from deep inside: {message}", location)
    return next(iter(warned), Verdict("refused", message, location))


def is_documented(error: BaseException) -> bool:
    """Whether such errors are documented."""
    own = type(error).__module__.split(".")[0] in OWN_ERRORS
    return type(error) in DOCUMENTED or isinstance(error, MemoryError) or own


def comes_from_comboost(frames: list[tuple[FrameType, int]]) -> bool:
    """Whether comboost was called when the error arose."""
    return any(package_of(frame) == "comboost" for frame, _ in frames)


def is_construction(frames: list[tuple[FrameType, int]]) -> bool:
    """Whether a program was still making its data: other libraries refuse some of what is drawn."""
    own = [frame.f_code.co_name for frame, _ in frames if frame.f_code.co_filename == CASE]
    return all(name == "<module>" or name.startswith(CONSTRUCTORS) for name in own)


def raises_own_error(frames: list[tuple[FrameType, int]]) -> bool:
    """Whether the innermost frame raises an error of its own; a native function raises in the frame that calls it."""
    frame, line = frames[-1]
    if any(is_weak_learner(frame) for frame, _ in frames):
        return True
    text = linecache.getline(frame.f_code.co_filename, line).strip()
    return package_of(frame) in OWN_ERRORS and text.startswith("raise")


def is_weak_learner(frame: FrameType) -> bool:
    """Whether a frame is of a classifier that is boosted: its errors are its own."""
    return str(frame.f_globals.get("__name__", "")).startswith(WEAK_LEARNERS)


def package_of(frame: FrameType) -> str:
    """The package whose code a frame runs."""
    return str(frame.f_globals.get("__name__", "")).split(".")[0]


def location_of(frames: list[FrameType]) -> str:
    """Where something arose: the innermost of the frames, and the innermost of comboost's."""
    own = [frame for frame in frames if package_of(frame) == "comboost"]
    locations = dict.fromkeys(f"{f.f_globals.get('__name__')}.{f.f_code.co_name}" for f in (*frames[-1:], *own[-1:]))
    return ", called from ".join(locations)


class WarningJudge:
    """Collects the warnings that comboost causes and should not."""

    def __init__(self) -> None:
        self._verdicts: list[Verdict] = []
        self._context = warnings.catch_warnings()

    def __enter__(self) -> list[Verdict]:
        self._context.__enter__()
        warnings.simplefilter("always")
        warnings.showwarning = self._collect
        return self._verdicts

    def __exit__(self, *_: object) -> None:
        self._context.__exit__(None, None, None)

    def _collect(self, message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
        frames = [frame for frame, _ in traceback.walk_stack(None)]
        own = [frame for frame in frames if package_of(frame) == "comboost"]
        if own and issubclass(category, FORBIDDEN) and not any(map(is_weak_learner, frames)):
            self._verdicts.append(Verdict("finding", f"warning: {category.__name__}: {message}", location_of(own[:1])))


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
    """Import what most programs need, report ready, and run programs until the parent has no more."""
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
    """Serve the connection whose number is given, then packages; what programs print is dropped."""
    connection = Connection(int(sys.argv[1]))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    faulthandler.enable(sys.stderr)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # shells let what runs behind them ignore Ctrl-C
    limit_memory()
    serve(connection, sys.argv[2:])


if __name__ == "__main__":
    main()
