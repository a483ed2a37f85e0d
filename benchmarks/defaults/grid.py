"""The grid: which settings are tried. In: nothing. Out: settings, in groups that have names. This is what one edits.

A group is a list of settings: `cross` makes every combination of some axes, `vary` takes one axis at a time. A setting
may be in several groups, and is fitted once. Rounds are no axis: every fit goes to the last checkpoint and is measured
at all of them. A new checkpoint needs new fits: delete ``results/folds``.
"""

from collections.abc import Iterable

from benchmarks.defaults.settings import BAGS, KIND, Setting, by_name, cross, vary

CHECKPOINTS = (20, 30, 50, 70, 100, 150, 200, 300, 400, 500)
BAG_CHECKPOINTS = (10, 20, 30, 50)  # rounds of every bag

CENTRE: Setting = {
    KIND: "ConfusionBoostingClassifier",
    "loss": "log",
    "max_depth": "auto",
    "max_leaf_nodes": None,
    "learning_rate": 0.3,
    "smoothing": 5.0,
    "min_samples_leaf": 1,
    "min_weight_fraction_leaf": 0.0,
    "max_features": None,
    "max_thresholds": 2,
    "noise": 1.0,
    "max_bins": 63,
    BAGS: 1,
}
GROUPS: dict[str, list[Setting]] = {
    "centre": [CENTRE],
    "search": [
        *vary(CENTRE, max_thresholds=(None, 1, 4), noise=(0.0, 2.0)),
        {**CENTRE, "max_thresholds": None, "noise": 0.0},
    ],
    "bins": vary(CENTRE, max_bins=(31, 127, 255)),
    "smoothing": vary(CENTRE, smoothing=(2.0, 10.0)),
    "depth": vary(CENTRE, max_depth=(3, 4, 5, 6)),
    "rate": vary(CENTRE, learning_rate=(0.15,)),
    "leaf": vary(CENTRE, min_samples_leaf=(5,), max_features=(0.5,)),
    "loss": vary(CENTRE, loss=("exponential",)),
    "bags": vary(CENTRE, bags=(10,)),
    # The paper's classifier has votes for one class and fewer parameters. Run and shown only if it is asked for.
    "paper": [
        *cross({KIND: "CoMBoClassifier", BAGS: 1}, max_depth=(2, 3, 6), learning_rate=(0.1, 1.0)),
        {KIND: "CoMBoClassifier", BAGS: 10, "max_depth": 3, "learning_rate": 1.0},
    ],
}
ON_DEMAND = {"paper"}


def pick_settings(groups: Iterable[str]) -> dict[str, Setting]:
    """The settings of these groups by name, or of all that need not be asked for."""
    groups = list(groups) or [group for group in GROUPS if group not in ON_DEMAND]
    unknown = [group for group in groups if group not in GROUPS]
    if unknown:
        raise ValueError(f"no group of settings is called {', '.join(unknown)}; there are {', '.join(GROUPS)}.")
    return by_name(setting for group in groups for setting in GROUPS[group])


def checkpoints_of(setting: Setting) -> tuple[int, ...]:
    """Rounds at which a setting is measured."""
    return CHECKPOINTS if setting[BAGS] == 1 else BAG_CHECKPOINTS
