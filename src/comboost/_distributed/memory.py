"""Memory of a fit on a cluster, before any of it is taken. In: the shape of the fit. Out: bytes, or an error."""

from dataclasses import replace

from comboost._engine.memory import check_room
from comboost._engine.memory_plan import ROUND_SQUARES, FitShape, Uses, largest

# The client keeps votes for lost shards, too, as e^v and e^-v in float64 beside the float32 of the model.
STEP_COPIES = 5


def worker_uses(shape: FitShape, n_samples: int) -> Uses:
    """What a worker with that many of the rows takes. Its trees have the leaves of all rows."""
    rows = replace(shape, n_samples=n_samples).rows()
    held = rows | shape.squares(ROUND_SQUARES)
    return largest(
        rows | {"codes": 2 * rows["codes"]},  # as they came, and joined
        held | {"histograms": shape.histograms()},
        held | shape.casting(),
        held | shape.kept_trees(2),  # as they came, and unpacked
    )


def client_uses(shape: FitShape) -> Uses:
    """What this process takes, which has no rows but those to validate on."""
    held = {} if shape.held is None else shape.held.kept(shape.n_classes)
    kept = held | shape.squares(ROUND_SQUARES) | shape.kept_trees(STEP_COPIES)
    return largest(kept | shape.growing(), kept | shape.casting(), kept | shape.looking())


def check_client_memory(shape: FitShape) -> None:
    """Raise if trees, or rows to validate on, would need more memory than there is in this process."""
    check_room(
        f"In this process, a fit of {shape.n_samples} rows and {shape.n_classes} classes",
        client_uses(shape),
        "Give fewer features, classes, bins (max_bins) or rows to validate on, smaller trees (max_depth, "
        "max_leaf_nodes), fewer of them (n_estimators), or a machine with more memory.",
    )
