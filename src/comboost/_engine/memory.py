"""Memory that there is. In: what the system says, and what a task would take. Out: an error if that is too much."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

MEMORY_INFO = Path("/proc/meminfo")
GROUP = Path("/sys/fs/cgroup")
GROUP_LIMIT, GROUP_USE, GROUP_DETAILS = GROUP / "memory.max", GROUP / "memory.current", GROUP / "memory.stat"
NOT_WORTH_ASKING = 2**25  # bytes of a single array; to ask the system takes as long as to fill some of them


def check_room(task: str, needed: Mapping[str, int], advice: str) -> None:
    """Raise if a task would take more memory than there is.

    Parameters
    ----------
    task : str
        What it is, with its size.
    needed : mapping of str to int
        Bytes that it would hold at once, by use.
    advice : str
        What to do if that is too much.
    """
    available = available_memory()
    if available is not None and sum(needed.values()) > available:
        raise MemoryError(f"{task} {shortage(needed, available)}. {advice}")


def check_large(task: str, needed: Mapping[str, int], advice: str) -> None:
    """As `check_room`, for what is mostly too small to be worth a question to the system."""
    if sum(needed.values()) > NOT_WORTH_ASKING:
        check_room(task, needed, advice)


def shortage(needed: Mapping[str, int], available: int) -> str:
    """What is needed, most of it for what, and what there is."""
    most = max(needed, key=lambda use: needed[use])
    return (
        f"needs about {in_gib(sum(needed.values()))} GiB beside the input, {in_gib(needed[most])} of them for {most}, "
        f"and {in_gib(available)} are free"
    )


def available_memory() -> int | None:
    """Bytes that this process may still take; None if the system does not say."""
    limits = []
    with suppress(OSError, LookupError, ValueError):
        lines = dict(line.split(":", 1) for line in MEMORY_INFO.read_text().splitlines())
        limits.append(int(lines["MemAvailable"].split()[0]) * 1024)
    with suppress(OSError, LookupError, ValueError):  # there is no group, or its limit is "max"
        files = dict(line.split() for line in GROUP_DETAILS.read_text().splitlines())
        in_use = int(GROUP_USE.read_text()) - int(files["inactive_file"])  # files that were read are given up first
        limits.append(int(GROUP_LIMIT.read_text()) - in_use)
    return max(0, min(limits)) if limits else None


def in_gib(n_bytes: int) -> str:
    """Bytes in GiB, with one decimal."""
    return f"{n_bytes / 2**30:.1f}"
