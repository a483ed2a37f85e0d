"""Where a fit runs. In: a name. Out: this process beside busy ones, or with one processor's worth of time."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

BUSY = (sys.executable, "-c", "while True: pass")
GROUPS = Path("/sys/fs/cgroup")
PERIOD = 100_000  # microseconds


@contextmanager
def beside(n_busy: int) -> Iterator[str]:
    """Processes that do nothing, all the time."""
    with ExitStack() as stack:
        for _ in range(n_busy):
            process = stack.enter_context(subprocess.Popen(BUSY))
            stack.callback(process.kill)
        yield f"beside {n_busy} busy" if n_busy else "alone"


@contextmanager
def quota() -> Iterator[str]:
    """One processor's worth of time: by a control group, or where none can be made, by one processor."""
    group = make_group()
    if group is None:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        yield "on one processor, as no control group could be made"
        return
    (group / "cgroup.procs").write_text(str(os.getpid()))
    try:
        yield f"in a control group with a quota of one processor ({group.parent})"
    finally:
        (group.parent / "cgroup.procs").write_text(str(os.getpid()))
        group.rmdir()


def make_group() -> Path | None:
    """A control group whose processes get one processor's worth of time together, of either version; None if not."""
    limits = {"cpu/cpu.cfs_quota_us": str(PERIOD), "cpu.max": f"{PERIOD} {PERIOD}"}
    for limit, value in limits.items():
        parent = (GROUPS / limit).parent
        group = parent / f"benchmark-{os.getpid()}"
        try:
            if not (parent / "cgroup.procs").exists():
                continue
            group.mkdir()
        except OSError:
            continue
        try:
            (group / Path(limit).name).write_text(value)
        except OSError:
            group.rmdir()
            continue
        return group
    return None


SURROUNDINGS: dict[str, Callable[[], AbstractContextManager[str]]] = {
    "alone": lambda: beside(0),
    "beside 1": lambda: beside(1),
    "beside 2": lambda: beside(2),
    "quota": quota,
}
