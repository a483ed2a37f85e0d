"""Memory of a fit, before any of it is taken. In: the shape of a problem. Out: an error if it is too large."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from comboost._dtypes import MAX_PAIRED

MEMORY_INFO = Path("/proc/meminfo")
GROUP = Path("/sys/fs/cgroup")
GROUP_LIMIT, GROUP_USE, GROUP_DETAILS = GROUP / "memory.max", GROUP / "memory.current", GROUP / "memory.stat"
VECTOR = 4  # records and bins are padded to vectors of this many channels
MATRICES = 6  # K×K matrices of 8 bytes that a fit holds at once: costs, their scaled copies, cost sums, confusion
SUM_COPIES = 3  # of the sums of all pairs of classes in all leaves: as threads add them up, and as they are used
CLASS_SUMS = 8  # numbers per leaf and class, if there are too many pairs
VOTE_COPIES = 2  # of the leaves' votes, and of nodes: tree by tree, and joined
NODE_BYTES = 24
HISTOGRAM_BUDGET = 2**28  # bytes for the histograms of a level; a wider level is searched in parts
COLUMNS_BYTES = 2**24  # of a table that must be converted, at a time


@dataclass(frozen=True)
class TreeLimits:
    """How large trees may become, and how many of them have leaves that vote for every class.

    Attributes
    ----------
    max_depth, max_leaf_nodes : int or None
        As the estimators' parameters.
    n_voting : int
        Trees whose leaves vote for every class.
    """

    max_depth: int | None = 3
    max_leaf_nodes: int | None = None
    n_voting: int = 0

    def n_leaves(self, n_rows: int) -> int:
        """Leaves of a tree at most."""
        return min(n_rows, 1 << min(self.max_depth or 32, 32), self.max_leaf_nodes or 1 << 32)


def footprint(
    n_rows: int, n_features: int, n_classes: int, n_bins: int = 0, limits: TreeLimits | None = None
) -> dict[str, int]:
    """Bytes that a fit takes beside the input, by what they are for.

    Parameters
    ----------
    n_rows, n_features, n_classes : int
        The shape of the problem.
    n_bins : int, default=0
        Bins of all features, once they are known.
    limits : TreeLimits, optional
        How large trees may become.

    Returns
    -------
    dict of str to int
        Bytes by use.
    """
    channels = -(-(n_classes + 1) // VECTOR) * VECTOR
    histogram = n_bins * channels * 8
    # At once: the root's, and of the last level that is counted the parents', the counted and all of the children.
    limits = limits or TreeLimits()
    n_histograms = 2 ** min(limits.max_depth or 30, 30) + 1
    n_leaves = limits.n_leaves(n_rows) if limits.n_voting > 0 else 0
    sums = SUM_COPIES * n_classes * channels if n_classes <= MAX_PAIRED else CLASS_SUMS * n_classes
    return {
        "codes": n_rows * n_features,
        "costs": n_rows * (8 * n_classes + 4 * channels),
        "row indices, labels and votes": n_rows * 20,
        "histograms": min(n_histograms * histogram, max(3 * histogram, 2 * HISTOGRAM_BUDGET + histogram)),
        "columns that are read": COLUMNS_BYTES if n_features > 0 else 0,
        "matrices of classes": MATRICES * n_classes**2 * 8,
        "sums of the leaves": n_leaves * sums * 8,
        "votes of the leaves": VOTE_COPIES * limits.n_voting * n_leaves * n_classes * 4,
        "nodes of the trees": n_leaves * (VOTE_COPIES * limits.n_voting * 2 * NODE_BYTES + 2 * (16 * n_classes + 150)),
    }


def check_memory(
    n_rows: int, n_features: int, n_classes: int, n_bins: int = 0, limits: TreeLimits | None = None
) -> None:
    """Raise if a fit would need more memory than there is; see `footprint`."""
    needed = footprint(n_rows, n_features, n_classes, n_bins, limits)
    available = available_memory()
    if available is None or sum(needed.values()) <= available:
        return
    most = max(needed, key=lambda use: needed[use])
    raise MemoryError(
        f"A fit of {n_rows} rows, {n_features} features and {n_classes} classes needs about "
        f"{in_gib(sum(needed.values()))} GiB beside the input, {in_gib(needed[most])} of them for {most}, and "
        f"{in_gib(available)} are free. Give fewer rows, features, classes or bins (max_bins), smaller trees "
        "(max_depth, max_leaf_nodes), fewer of them (n_estimators), or a machine with more memory."
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
