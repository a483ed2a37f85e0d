"""Classifiers as they come. In: a name. Out: an estimator with its defaults, balanced if it can be told to.

Packages are imported when they are used, so that one that is not installed stops nobody else.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_sample_weight

from benchmarks._lib.peers import why_missing
from benchmarks.quality.contestants import BALANCED, SEED
from benchmarks.quality.measures import Classes

Settings = dict[str, Any]


@dataclass(frozen=True)
class Method:
    """A classifier and the little that it is told."""

    name: str
    module: str
    class_name: str
    settings: Callable[[int], Settings]  # of a number of threads
    weighted: bool = False  # whether it is balanced by weights of rows, having none of classes
    ours: bool = False

    def missing(self) -> str | None:
        """Why it cannot take part here, if it cannot."""
        reason = why_missing(self.module)
        if reason is None and not hasattr(import_module(self.module), self.class_name):
            return f"{self.module} has no {self.class_name}"
        return reason

    def fit(self, X: NDArray[Any], y: Classes, n_threads: int) -> Any:
        """A fitted classifier."""
        model = getattr(import_module(self.module), self.class_name)(**self.settings(n_threads))
        weights = {"sample_weight": compute_sample_weight(BALANCED, y)} if self.weighted else {}
        return model.fit(X, y, **weights)


def seeded(**settings: Any) -> Callable[[int], Settings]:
    """Settings of one that takes a number of threads."""
    return lambda n_threads: {"random_state": SEED, "n_jobs": n_threads, **settings}


def seeded_only(**settings: Any) -> Callable[[int], Settings]:
    """Settings of one that takes no number of threads, or of processes instead."""
    return lambda n_threads: {"random_state": SEED, **settings}


def ours(name: str, class_name: str, **settings: Any) -> Method:
    """A classifier of comboost."""
    return Method(name, "comboost", class_name, seeded(**settings), ours=True)


def settings_of_catboost(n_threads: int) -> Settings:
    """It has its own words, and would write files."""
    return {
        "loss_function": "MultiClass",
        "auto_class_weights": "Balanced",
        "random_seed": SEED,
        "thread_count": n_threads,
        "allow_writing_files": False,
        "logging_level": "Silent",
    }


METHODS = (
    ours("ConfusionBoosting", "ConfusionBoostingClassifier"),
    ours("CoMBo", "CoMBoClassifier"),
    ours("AdaBoost.MM", "AdaBoostMMClassifier"),
    Method("LightGBM", "lightgbm", "LGBMClassifier", seeded(class_weight=BALANCED, verbose=-1)),
    Method("XGBoost", "xgboost", "XGBClassifier", seeded(), weighted=True),
    Method("CatBoost", "catboost", "CatBoostClassifier", settings_of_catboost),
    Method(
        "HistGradientBoosting",
        "sklearn.ensemble",
        "HistGradientBoostingClassifier",
        seeded_only(class_weight=BALANCED),
    ),
    Method("BalancedRandomForest", "imblearn.ensemble", "BalancedRandomForestClassifier", seeded()),
    Method("EasyEnsemble", "imblearn.ensemble", "EasyEnsembleClassifier", seeded_only()),
    Method("RUSBoost", "imblearn.ensemble", "RUSBoostClassifier", seeded_only()),
)

#: Those whose probabilities are to follow the training prior; they take no part in any rank.
UNDER_TRAINING_PRIOR = (
    ours("ConfusionBoosting, training prior", "ConfusionBoostingClassifier", priors="training"),
    Method("LightGBM, not balanced", "lightgbm", "LGBMClassifier", seeded(verbose=-1)),
)
