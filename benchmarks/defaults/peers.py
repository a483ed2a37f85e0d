"""Peers. In: a name. Out: a classifier with its defaults, classes balanced, on one thread."""

from collections.abc import Callable
from typing import Any

from imblearn.ensemble import BalancedRandomForestClassifier
from lightgbm import LGBMClassifier

from comboost import CoMBoClassifier

LIGHTGBM = "LightGBM"
PEERS: dict[str, Callable[[int], Any]] = {
    LIGHTGBM: lambda seed: LGBMClassifier(class_weight="balanced", n_jobs=1, random_state=seed, verbose=-1),
    "balanced forest": lambda seed: BalancedRandomForestClassifier(n_jobs=1, random_state=seed),
    "CoMBo": lambda seed: CoMBoClassifier(n_jobs=1, random_state=seed),
}
