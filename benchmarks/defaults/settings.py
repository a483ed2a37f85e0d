"""Settings. In: parameters by name. Out: names that say all of them, and the classifiers that have them.

A setting names every parameter that is studied, so the estimator's own defaults, which the study decides, play no part.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import comboost
from benchmarks.defaults.bags import BalancedBags
from comboost.study import peers

Setting = Mapping[str, Any]

BAGS, KIND = "bags", "estimator"  # the two axes that are no parameters of an estimator
SHORT = {
    KIND: "",
    "loss": "",
    "max_depth": "depth",
    "max_leaf_nodes": "leaves",
    "learning_rate": "rate",
    "min_samples_leaf": "rows",
    "min_weight_fraction_leaf": "floor",
    "max_features": "features",
    "max_thresholds": "thresholds",
    "max_bins": "bins",
}
NONE = {"max_thresholds": "all"}  # what None means, where a name has to say it


def cross(base: Setting, **axes: Sequence[Any]) -> list[Setting]:
    """Every combination of the values of these axes."""
    return [{**base, **dict(zip(axes, values, strict=True))} for values in itertools.product(*axes.values())]


def vary(base: Setting, **axes: Sequence[Any]) -> list[Setting]:
    """One axis at a time."""
    return [{**base, axis: value} for axis, values in axes.items() for value in values]


def name_of(setting: Setting) -> str:
    """All values in one line; a value of None is left out, unless it has a word."""
    return ", ".join(describe(axis, value) for axis, value in setting.items() if value is not None or axis in NONE)


def describe(axis: str, value: Any) -> str:
    """A value with the short name of its axis."""
    return f"{SHORT.get(axis, axis)} {NONE.get(axis, 'unlimited') if value is None else value}".strip()


def difference_from(base: Setting, setting: Setting) -> str:
    """What a setting does differently, in one line."""
    words = [describe(axis, value) for axis, value in setting.items() if value != base.get(axis)]
    return ", ".join(words) or "as the centre"


def by_name(settings: Iterable[Setting]) -> dict[str, Setting]:
    """Settings by their names; those that occur twice are one."""
    return {name_of(setting): setting for setting in settings}


def make_classifier(setting: Setting, n_rounds: int, seed: int) -> Any:
    """A classifier, on one thread."""
    parameters = {axis: value for axis, value in setting.items() if axis not in (BAGS, KIND)}
    kind = getattr(comboost, setting[KIND], None)
    if kind is None:
        raise ImportError(f"the comboost that is installed has no {setting[KIND]}; install a later one.")
    booster = kind(n_estimators=n_rounds, n_jobs=1, random_state=seed, **parameters)
    n_bags = setting[BAGS]
    return booster if n_bags == 1 else BalancedBags(booster, n_bags, seed)


LIGHTGBM, BALANCED_FOREST, COMBO = PEER_NAMES = ("LightGBM", "balanced forest", "CoMBo")


def make_peer(name: str, seed: int) -> Any:
    """Construct a classifier to compare with: its defaults, classes balanced, one thread."""
    if name == COMBO:
        return comboost.CoMBoClassifier(n_jobs=1, random_state=seed)
    peer = {LIGHTGBM: peers.LIGHTGBM, BALANCED_FOREST: peers.BALANCED_RANDOM_FOREST}[name]
    return peer.make(1, seed=seed)
