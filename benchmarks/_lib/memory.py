"""Peak memory of a fit over its input. In: a function that makes a table. Out: bytes, measured in a fresh process."""

import ctypes
import gc
import re
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any, Protocol

import numpy as np
from scipy.sparse import issparse

from benchmarks._lib.timing import quiet

MEBI = 2**20
STATUS = Path("/proc/self/status")
CLEAR_REFS = Path("/proc/self/clear_refs")
RESET_PEAK = "5"  # proc(5): sets the high-water mark back to what is resident now


class Maker(Protocol):
    """Makes X and y. It goes to another process, so it must be possible to pickle it."""

    def __call__(self, *, small: bool) -> tuple[Any, Any]:
        """The table to measure, or a small one of its kind to warm up with."""


@dataclass(frozen=True)
class Peak:
    """A fit: bytes of X and of y, bytes over them, seconds, and why it was refused, if it was.

    ``slack`` are bytes that the process held before the fit beyond the input. They are what libraries keep of memory
    that they have freed, and a fit may have used them: it needs up to this much more than ``extra``.
    """

    table: int
    labels: int
    extra: int = 0
    slack: int = 0
    seconds: float = 0.0
    rounds: list[float] = field(default_factory=list)
    n_rounds: int = 0
    stop_reason: str = ""
    refusal: str | None = None

    @property
    def round_seconds(self) -> float | None:
        """The median time of a round but the first, which nothing tells from the preparations."""
        return median(self.rounds) if self.rounds else None


def peak_of_fit(make: Maker, params: dict[str, Any]) -> Peak:
    """The peak of a fit in a process of its own."""
    if not CLEAR_REFS.exists():
        raise OSError(f"{CLEAR_REFS} is not there; peak memory can be measured on Linux only")
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        try:
            return pool.submit(measure, make, params).result()
        except BrokenProcessPool as error:
            raise RuntimeError("the process of this fit was ended, perhaps for want of memory") from error


def measure(make: Maker, params: dict[str, Any]) -> Peak:
    """The peak of a fit in this process."""
    fit(*make(small=True), params)  # loads code and starts threads
    settle()
    start = resident("VmRSS")
    X, y = make(small=False)
    settle()
    before = resident("VmRSS")
    sizes = bytes_of(X), y.nbytes
    CLEAR_REFS.write_text(RESET_PEAK)
    try:
        seconds, stamps, model = fit(X, y, params)
    except (MemoryError, ValueError) as error:
        return Peak(*sizes, refusal=f"{type(error).__name__}: {error}")
    extra = resident("VmHWM") - before
    rounds = [after - before for before, after in pairwise(stamps)]
    return Peak(*sizes, extra, before - start - sum(sizes), seconds, rounds, model.n_iter_, model.stop_reason_)


def fit(X: Any, y: Any, params: dict[str, Any]) -> tuple[float, list[float], Any]:
    """Seconds of a fit, when each of its rounds was done, and the model."""
    from comboost import CoMBoClassifier
    from comboost._boosting.monitor import RoundCounter

    stamps: list[float] = []
    model = CoMBoClassifier(**params).set_callbacks(RoundCounter(lambda _: stamps.append(time.perf_counter())))
    with quiet(params["n_jobs"]):
        start = time.perf_counter()
        model.fit(X, y)
        return time.perf_counter() - start, stamps, model


def settle() -> None:
    """Give freed memory back to the system, so that a fit cannot use it unseen."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)


def bytes_of(X: Any) -> int:
    """Bytes of a table's values."""
    if isinstance(X, np.ndarray):
        return X.nbytes
    if issparse(X):
        return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    if hasattr(X, "memory_usage"):
        return int(X.memory_usage(index=False).sum())
    return X.estimated_size() if hasattr(X, "estimated_size") else X.nbytes


def resident(key: str) -> int:
    """Return an entry of the process's status, in bytes."""
    return 1024 * int(re.search(rf"{key}:\s*(\d+) kB", STATUS.read_text())[1])
