"""Memory of a fit on a cluster, before any of it is taken. In: the shape of the fit. Out: bytes, or an error."""

from dataclasses import dataclass

from comboost._engine.memory import TreeLimits, available_memory, footprint, in_gib

VOTES, SUMS, NODES = "votes of the leaves", "sums of the leaves", "nodes of the trees"
# The client keeps votes for lost shards, too, as e^v and e^-v in float64 beside the float32 of the model.
STEP_COPIES = 3


@dataclass(frozen=True)
class FitShape:
    """The shape of a fit.

    Attributes
    ----------
    n_rows : int
        Rows of all workers.
    n_features, n_classes, n_bins : int
        Features, classes, and bins of all features.
    limits : TreeLimits
        How large trees may become.
    """

    n_rows: int
    n_features: int
    n_classes: int
    n_bins: int
    limits: TreeLimits

    def worker_bytes(self, n_rows: int) -> int:
        """Bytes that a worker with that many rows takes. Its trees have the leaves of all rows."""
        of_all, own = self._footprint(self.n_rows), self._footprint(n_rows)
        return sum((own | {use: of_all[use] for use in (SUMS, VOTES, NODES)}).values())

    def client_bytes(self) -> int:
        """Bytes that the client takes, which has no rows."""
        of_all = self._footprint(self.n_rows)
        return (
            of_all["histograms"]
            + of_all["matrices of classes"]
            + of_all[SUMS]
            + of_all[NODES]
            + STEP_COPIES * of_all[VOTES]
        )

    def _footprint(self, n_rows: int) -> dict[str, int]:
        return footprint(n_rows, self.n_features, self.n_classes, self.n_bins, self.limits)


def check_client_memory(shape: FitShape) -> None:
    """Raise if trees would need more memory than there is in this process."""
    needed, available = shape.client_bytes(), available_memory()
    if available is not None and needed > available:
        raise MemoryError(
            f"The trees of a fit of {shape.n_rows} rows and {shape.n_classes} classes need about {in_gib(needed)} GiB "
            f"in this process, and {in_gib(available)} are free. Give fewer features, classes or bins (max_bins), "
            "smaller trees (max_depth, max_leaf_nodes), fewer of them (n_estimators), or a machine with more memory."
        )
