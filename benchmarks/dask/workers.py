"""Memory of worker processes. In: a client. Out: bytes that each holds, held at most, and let Dask write to disk."""

import os
from collections import Counter
from typing import TYPE_CHECKING, Any

from distributed.diagnostics.plugin import SchedulerPlugin

from benchmarks._lib.memory import CLEAR_REFS, RESET_PEAK, resident

if TYPE_CHECKING:
    from distributed import Client, Worker


def forget_peaks(client: "Client") -> None:
    """Let every worker count its peak from now on, once it has given back what it does not use."""
    client.run(forget_peak)


def forget_peak() -> None:
    from benchmarks._lib.memory import settle

    settle()
    CLEAR_REFS.write_text(RESET_PEAK)


def measure(client: "Client") -> dict[str, dict[str, int]]:
    """What every worker holds, by address."""
    return client.run(measure_worker)


def measure_worker(dask_worker: "Worker") -> dict[str, int]:
    """Bytes of this worker process; what Dask spilled is counted since the worker started."""
    spilled = getattr(dask_worker.data, "cumulative_metrics", {})
    return {
        "pid": os.getpid(),
        "resident": resident("VmRSS"),
        "peak": resident("VmHWM"),
        "spilled": int(spilled.get(("disk-write", "bytes"), 0)),
    }


class Attendance(SchedulerPlugin):
    """Counts the workers that come and go."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def add_worker(self, scheduler: Any, worker: str) -> None:
        """One more."""
        self.counts["came"] += 1

    def remove_worker(self, scheduler: Any, worker: str, **kwargs: Any) -> None:
        """One less."""
        self.counts["left"] += 1
