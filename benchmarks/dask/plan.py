"""How much work a run puts into its cases. In: the options of a run. Out: sizes and repeats."""

from dataclasses import dataclass

from benchmarks.dask.rows import Rows

QUICK_SHARE = 0.1


@dataclass(frozen=True)
class Plan:
    """Repeats of every fit that is timed, whether sizes are small ones, the rows' type, and whether peers fit, too."""

    repeats: int
    quick: bool
    dtype: str
    with_peers: bool = True

    def scale(self, rows: Rows) -> Rows:
        """The rows at the size of this plan."""
        return rows.scaled(QUICK_SHARE) if self.quick else rows
