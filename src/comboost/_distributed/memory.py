"""Estimates of the memory of a fit on a cluster, which are checked before the fit."""

from dataclasses import replace

from comboost._engine.memory import check_room
from comboost._engine.memory_plan import CANDIDATES_HELD, NUMBER, ROUND_SQUARES, FitShape, Uses, largest

# For lost shards, the client also keeps e^v and e^-v of leaf values v in float64, beside the float32 of the model.
STEP_COPIES = 5


def worker_uses(shape: FitShape, n_samples: int) -> Uses:
    """Memory of a worker with ``n_samples`` of the samples. Its trees have the leaves of all samples."""
    parts, samples = shape.parts(), replace(shape, n_samples=n_samples).parts()["samples"]
    held = samples | {"matrices of classes": ROUND_SQUARES * NUMBER * shape.n_classes**2}
    return largest(
        (
            samples | {"codes": 2 * samples["codes"]},  # received and joined
            held | {"histograms": parts["leaf values"]["histograms"]},
            held | parts["leaf values"],
            held | {use: 2 * n_bytes for use, n_bytes in parts["trees"].items()},  # received and unpacked
        )
    )


def client_uses(shape: FitShape) -> Uses:
    """Memory of this process, which holds the validation set only."""
    held = {} if shape.held is None else shape.held.kept(shape.n_classes)
    parts = shape.parts()
    kept = held | {"matrices of classes": ROUND_SQUARES * NUMBER * shape.n_classes**2}
    kept |= {use: STEP_COPIES * n_bytes for use, n_bytes in parts["trees"].items()}
    return largest(kept | parts[name] for name in ("growing", "leaf values", "validating"))


def search_uses(shape: FitShape, n_folds: int) -> Uses:
    """Memory of this process while it searches for settings on the samples of ``shape``, which it has gathered."""
    parts = shape.parts()
    of_candidates = CANDIDATES_HELD * n_folds
    held = {use: of_candidates * n_bytes for use, n_bytes in (parts["samples"] | parts["codes by row"]).items()}
    return largest(
        {"gathered samples": shape.n_samples * shape.n_features} | held | parts[name]
        for name in ("growing", "leaf values")
    )


def check_search_memory(shape: FitShape, n_folds: int) -> None:
    """Raise if a search needs more memory than this process has."""
    check_room(
        f"In this process, the search for settings on {shape.n_samples} rows and {shape.n_classes} classes",
        search_uses(shape, n_folds),
        "Give smoothing and max_depth, for which nothing is searched, fewer features or bins (max_bins), or a machine "
        "with more memory.",
    )


def check_client_memory(shape: FitShape) -> None:
    """Raise if trees or the validation set need more memory than this process has."""
    check_room(
        f"In this process, a fit of {shape.n_samples} rows and {shape.n_classes} classes",
        client_uses(shape),
        "Give fewer features, classes, bins (max_bins) or rows to validate on, smaller trees (max_depth, "
        "max_leaf_nodes), fewer of them (n_estimators), or a machine with more memory.",
    )
