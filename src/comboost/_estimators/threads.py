"""Processors that this process may use. In: what the system says. Out: how many, by affinity, quota and OpenMP."""

import math
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import joblib
from threadpoolctl import threadpool_info

from comboost import _core

GROUPS_OF_PROCESS = Path("/proc/self/cgroup")
GROUPS = Path("/sys/fs/cgroup")


def n_processors() -> int:
    """Processors that this process may use.

    joblib asks the topmost control groups for a quota, which are a container's own; a service has groups further down.
    """
    return int(min([joblib.cpu_count(), *map(quota_of, groups())]))


def allowed_threads(n_threads: int) -> int:
    """As many of some threads as OpenMP would give, which the environment and threadpoolctl limit.

    A core that is built without OpenMP knows the environment alone, as it was at first. Then it counts what libraries
    may use that have it; scikit-learn does.
    """
    limits = [] if _core.HAS_OPENMP else [each["num_threads"] for each in threadpool_info() if is_openmp(each)]
    return min(n_threads, *limits) if limits else _core.available_threads(n_threads)


def is_openmp(library: dict[str, Any]) -> bool:
    """Whether a library that threadpoolctl has found shares its loops by way of OpenMP."""
    return bool(library["user_api"] == "openmp")


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
