"""Problems, their splits, and the variants of a fit that are compared on them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from benchmarks.defaults import keel
from benchmarks.defaults.problems import Fold, Rows, load_rows
from comboost._engine.leaf_values import BalancedValues
from comboost._engine.rows import Smoothing

FEW_SAMPLES = 8_000  # below, 5 folds; otherwise one split
WHOLE = "whole-"  # a KEEL table without leaving samples out
# By time: a run that is stopped has the first ones. Synthetic ones: samples, classes, imbalance.
PROBLEMS = (
    *("keel-hayes-roth", "keel-led7digit", "keel-vehicle", "keel-vowel", "keel-segment", "keel-german"),
    *("keel-tic-tac-toe", "keel-contraceptive", "keel-chess", "keel-splice", "digits", "700-6-10", "2000-8-40"),
    *("15000-7-300", "20000-4-10", "whole-penbased", "3000-4-100", "keel-texture", "12000-20-100", "whole-letter"),
    "50000-10-100",
)


@lru_cache(maxsize=1)
def load(problem: str) -> Rows:
    """X and y of a problem, classes as numbers from 0."""
    if problem == "digits":
        X, y = load_digits(return_X_y=True)
    elif problem.startswith(WHOLE):
        X, y = keel.read_table(problem.removeprefix(WHOLE))
    else:
        return load_rows(problem)
    return X, np.unique(y, return_inverse=True)[1]


def split(problem: str) -> list[Fold]:
    """Training and test samples: 5 folds, or one split of 70/30 if there are many samples."""
    X, y = load(problem)
    if len(y) < FEW_SAMPLES:
        return list(StratifiedKFold(5, shuffle=True, random_state=1).split(X, y))
    return list(StratifiedShuffleSplit(1, test_size=0.3, random_state=1).split(X, y))


@contextmanager
def smoothing_by_loss(power: float) -> Iterator[None]:
    """Multiply the smoothing of the leaf values by (L / L₀) to a power, L₀ the loss before the first round."""
    choose = BalancedValues.choose

    def choose_by_loss(self: BalancedValues, rows: Any, learned: Any, costs: Any) -> Any:
        factor = max((costs.real_loss / self.objective.start) ** power, 1e-6)
        smoothing = Smoothing(self.smoothing.unit * factor, self.smoothing.hidden)
        return choose(replace(self, smoothing=smoothing), rows, learned, costs)

    with patch.object(BalancedValues, "choose", choose_by_loss):
        yield


@dataclass(frozen=True)
class Variant:
    """A way to fit.

    Attributes
    ----------
    name : str
        Name in results and tables.
    params : callable
        Parameters, from the former defaults for a table and the settings that the default fit selects.
    shrinks : bool
        Whether the smoothing of the leaf values shrinks with the square root of the loss.
    """

    name: str
    params: Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]
    shrinks: bool = False

    def patched(self) -> Any:
        """Context in which to fit."""
        return smoothing_by_loss(0.5) if self.shrinks else nullcontext()


def of_change(name: str, change: Callable[[dict[str, Any]], dict[str, Any]], *, shrinks: bool = False) -> list[Variant]:
    """Variants with a change: of the fit with the selected settings, and of the search as well."""
    return [
        Variant(f"selected, {name}", lambda fixed, selected: selected | change(selected), shrinks),
        Variant(f"selected anew, {name}", lambda fixed, selected: change(selected), shrinks),
    ]


SELECTED = Variant("selected (the default)", lambda fixed, selected: {})
FIXED = Variant("fixed settings", lambda fixed, selected: fixed)
DEEPER = Variant(
    "fixed: smoothing 1, two levels deeper",
    lambda fixed, selected: fixed | {"smoothing": 1, "max_depth": fixed["max_depth"] + 2},
)
ROUNDS_ONLY = Variant(
    "only rounds selected, smoothing 3",
    lambda fixed, selected: {"smoothing": 3, "max_depth": fixed["max_depth"], "early_stopping": True, "refit": True},
)
VARIANTS = (
    SELECTED,  # first: others need its settings
    FIXED,
    DEEPER,
    ROUNDS_ONLY,
    Variant("depth and rounds selected, smoothing 3", lambda fixed, selected: {"smoothing": 3}),
    Variant("smoothing and rounds selected", lambda fixed, selected: {"max_depth": fixed["max_depth"]}),
    *of_change("best-first trees", lambda selected: {"max_depth": None, "max_leaf_nodes": 2 ** selected["max_depth"]}),
    *of_change("smoothing × √(L/L₀)", lambda selected: {}, shrinks=True),
    *of_change("all thresholds", lambda selected: {"max_thresholds": None}),
    *of_change("8 thresholds", lambda selected: {"max_thresholds": 8}),
    *of_change("no noise", lambda selected: {"noise": 0.0}),
    *of_change("half of the features", lambda selected: {"max_features": 0.5}),
    *of_change("255 bins", lambda selected: {"max_bins": 255}),
    *of_change("5 samples per leaf", lambda selected: {"min_samples_leaf": 5}),
)
