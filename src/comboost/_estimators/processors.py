"""Processors that this process may use. In: what the system says. Out: how many, by affinity and quota."""

import math
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import joblib

GROUPS_OF_PROCESS = Path("/proc/self/cgroup")
GROUPS = Path("/sys/fs/cgroup")


def n_processors() -> int:
    """Processors that this process may use.

    joblib asks the topmost control groups for a quota, which are a container's own; a service has groups further down.
    """
    return int(min([joblib.cpu_count(), *map(quota_of, groups())]))


def groups() -> Iterator[Path]:
    """The folders of all control groups of this process that may limit its time, those above its own included."""
    try:
        lines = GROUPS_OF_PROCESS.read_text().splitlines()
    except OSError:  # the system has none
        lines = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        own = PurePosixPath(path.lstrip("/"))
        yield from (GROUPS / controllers / part for part in (own, *own.parents))


def quota_of(group: Path) -> float:
    """Processors that a control group's time is worth, of either version of them; infinitely many without a limit."""
    try:
        if (group / "cpu.max").exists():
            time, period = (group / "cpu.max").read_text().split()
        else:
            time, period = ((group / f"cpu.cfs_{name}_us").read_text().strip() for name in ("quota", "period"))
        return math.inf if time in ("max", "-1") else max(1, math.ceil(int(time) / int(period)))
    except (OSError, ValueError, ZeroDivisionError):  # another kind of group
        return math.inf
