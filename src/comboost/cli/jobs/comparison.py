"""``comboost compare``: cross-validate estimators and peers on the same folds, and compare them pairwise."""

import math
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from comboost._estimators.parameters import n_threads_of
from comboost._stats.formatting import join_names, significance_of
from comboost._stats.tests import corrected_interval
from comboost.cli.input.training_table import DataRequest, read_training_table
from comboost.cli.jobs.cross_validation import geometric_mean, join_folds, make_splits, note_small_classes
from comboost.cli.jobs.settings import ESTIMATORS, OURS, Settings, make_estimator
from comboost.cli.terminal.errors import one_line
from comboost.cli.terminal.progress import Tick
from comboost.model_selection import ConfusionFolds, cross_validate_confusion
from comboost.study.peers import PEERS

COMPARED = ("LightGBM", "XGBoost", "CatBoost", "HistGradientBoosting", "BalancedRandomForest")
CONFIDENCE = 0.95
MAX_CATEGORIES = {"HistGradientBoosting": 255}


@dataclass(frozen=True)
class ComparedClassifier:
    """Metrics of a classifier; the differences are the mean recall of the first classifier minus its own."""

    name: str
    recalls: dict[str, float]
    norm: float
    g_mean: float
    mean_recall: float
    seconds: float
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    verdict: str | None = None


@dataclass(frozen=True)
class ComparisonResult:
    """All classifiers, ours first, and why some are left out."""

    data: dict[str, Any]
    n_folds: int
    n_repeats: int
    confidence: float
    classifiers: list[ComparedClassifier]
    left_out: dict[str, str]
    verdict: str
    notes: list[str]


def compare_file(
    request: DataRequest, settings: Settings, n_folds: int, n_repeats: int, tick: Tick
) -> ComparisonResult:
    """Cross-validate all classifiers on the same folds of a file."""
    first = make_estimator(settings)
    tick("reading", 0.0)
    table = read_training_table(request)
    splits = make_splits(table, n_folds, n_repeats, first.random_state)
    left_out = {name: f"{PEERS[name].package} is not installed" for name in COMPARED if not PEERS[name].is_installed}
    candidates = make_candidates(first, [name for name in COMPARED if name not in left_out], settings.defaults)
    X_peers = plain_columns(table.X)
    folds: dict[str, ConfusionFolds] = {}
    seconds: dict[str, float] = {}
    for n_before, (name, classifier) in enumerate(candidates.items()):
        start = time.perf_counter()
        is_peer = isinstance(classifier, PeerClassifier)
        parts = []
        try:
            for idx, split in enumerate(splits):
                tick(name, (n_before + idx / len(splits)) / len(candidates))
                X = X_peers if is_peer else table.X
                parts.append(cross_validate_confusion(classifier, X, table.y, cv=[split]))
        except Exception as error:
            if not is_peer:
                raise
            left_out[name] = f"it fails: {one_line(error).rstrip('.')}"
            continue
        folds[name] = join_folds(parts, table)
        seconds[name] = time.perf_counter() - start
    test_ratio = float(np.mean([len(test) / len(train) for train, test in splits]))
    classifiers = compare_folds(folds, seconds, test_ratio)
    return ComparisonResult(
        data=table.describe(),
        n_folds=n_folds,
        n_repeats=n_repeats,
        confidence=CONFIDENCE,
        classifiers=classifiers,
        left_out=left_out,
        verdict=describe_differences(classifiers, len(splits)),
        notes=note_small_classes(table, n_folds),
    )


def make_candidates(first: Any, peers: Sequence[str], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Construct our estimators, the chosen one first, and the peers; all with the same threads and their defaults."""
    candidates = {OURS[short]: first for short, kind in ESTIMATORS.items() if type(first) is kind}
    for short, name in OURS.items():
        other = make_estimator(Settings(short, defaults=defaults))
        candidates.setdefault(name, other.set_params(n_jobs=first.n_jobs, random_state=first.random_state))
    return candidates | {name: PeerClassifier(name, first.n_jobs) for name in peers}


class PeerClassifier(ClassifierMixin, BaseEstimator):
    """A classifier of `PEERS`, with balanced classes, for data frames of `plain_columns`.

    The threads of OpenMP, which some libraries use unasked, are limited to ``n_jobs``.
    """

    def __init__(self, peer: str = "HistGradientBoosting", n_jobs: int | None = None) -> None:
        self.peer = peer
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> "PeerClassifier":
        """Fit on encoded classes."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        peer, n_threads = PEERS[self.peer], n_threads_of(self.n_jobs)
        self.model_ = peer.make(n_threads, categories=category_names(self.peer, X))
        if self.peer == "BalancedRandomForest":  # which does not support missing values
            self.model_ = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), self.model_)
        with threadpool_limits(n_threads):
            self.model_.fit(prepare_for(self.peer, X), codes, **peer.weights(codes))
        return self

    def predict(self, X: Any) -> Any:
        """Predict classes."""
        n_threads = n_threads_of(self.n_jobs)
        with threadpool_limits(n_threads):
            codes = PEERS[self.peer].predict(self.model_, prepare_for(self.peer, X), n_threads)
        return self.classes_[np.asarray(codes).reshape(len(X)).astype(np.intp)]


def category_names(peer: str, X: Any) -> list[str]:
    """Return the categorical columns that have few enough categories for a peer."""
    limit = MAX_CATEGORIES.get(peer, math.inf)
    names = [name for name in X.columns if X[name].dtype == "category"]
    return [name for name in names if len(X[name].cat.categories) <= limit]


def prepare_for(peer: str, X: Any) -> Any:
    """Encode categories as a peer expects them; too many of them as numbers."""
    names = category_names(peer, X)
    if peer == "CatBoost":  # text, also for missing values
        return X.assign(**{n: X[n].astype(object).where(X[n].notna(), "missing").astype(str) for n in names})
    if peer == "BalancedRandomForest":
        import pandas

        return pandas.get_dummies(X, columns=names, dtype=float)
    many = [name for name in X.columns if X[name].dtype == "category" and name not in names]
    return X.assign(**{name: X[name].cat.codes.astype("float64").where(X[name].notna()) for name in many})


def plain_columns(X: Any) -> Any:
    """Convert text to categories, dates to seconds, and names to those that all libraries accept."""
    from pandas.api import types

    columns = {}
    for name, plain in zip(X.columns, plain_names(X.columns), strict=True):
        column = X[name]
        if types.is_datetime64_any_dtype(column.dtype) or types.is_timedelta64_dtype(column.dtype):
            column = column.astype("int64").where(column.notna()) / 1e6
        elif not types.is_numeric_dtype(column.dtype):
            codes = column.astype("category").cat.codes.astype("int64")
            column = codes.astype("category").cat.remove_categories([-1] if (codes == -1).any() else [])
        columns[plain] = column.astype("float64") if types.is_numeric_dtype(column.dtype) else column
    return type(X)(columns)


def plain_names(names: Iterable[Any]) -> list[str]:
    """Replace the characters that some libraries reject; add numbers to names that become equal."""
    plain_by_order: dict[str, None] = {}
    for number, name in enumerate(names, start=1):
        plain = re.sub(r"\W+", "_", str(name))
        while plain in plain_by_order:
            plain = f"{plain}_{number}"
        plain_by_order[plain] = None
    return list(plain_by_order)


def compare_folds(
    folds: dict[str, ConfusionFolds], seconds: dict[str, float], test_ratio: float
) -> list[ComparedClassifier]:
    """Compute the metrics of all classifiers, and the differences of the first one to the others, fold by fold."""
    mean_recalls = {name: np.nanmean(each.fold_recalls, axis=1) for name, each in folds.items()}
    first = next(iter(folds))
    classifiers = []
    for name, each in folds.items():
        difference: dict[str, Any] = {}
        if name != first:
            mean, low, high = corrected_interval(mean_recalls[first] - mean_recalls[name], test_ratio, CONFIDENCE)
            difference = {"difference": mean, "difference_low": low, "difference_high": high}
            difference["verdict"] = significance_of((low, high))
        classifiers.append(
            ComparedClassifier(
                name=name,
                recalls={str(label): float(recall) for label, recall in zip(each.classes, each.recalls, strict=True)},
                norm=each.norm,
                g_mean=geometric_mean(each.recalls),
                mean_recall=float(np.mean(each.recalls)),
                seconds=seconds[name],
                **difference,
            )
        )
    return classifiers


def describe_differences(classifiers: Sequence[ComparedClassifier], n_folds: int) -> str:
    """State which differences are significant."""
    first, *others = classifiers
    parts = []
    for verdict, words in (
        ("higher", "significantly higher than that of"),
        ("lower", "significantly lower than that of"),
        ("not_significant", "not distinguishable from that of"),
    ):
        names = [other.name for other in others if other.verdict == verdict]
        if names:
            parts.append(f"{words} {join_names(names)}")
    return (
        f"The mean recall of {first.name} is {'; '.join(parts)} (paired differences over {n_folds} folds, one "
        f"{CONFIDENCE:.0%} interval per comparison)."
    )
