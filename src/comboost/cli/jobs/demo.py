"""``comboost demo``: the estimators side by side on the bundled Yeast data."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, recall_score
from sklearn.model_selection import train_test_split

from comboost._estimators.certificates import Certificate, certify
from comboost.cli.jobs.rounds import report_rounds
from comboost.cli.jobs.settings import OURS, Settings, make_estimator
from comboost.cli.terminal.progress import Tick
from comboost.datasets import load_yeast
from comboost.metrics import (
    confusion_norm_bound,
    confusion_norm_loss,
    error_rate_bound,
    geometric_mean_bound,
    geometric_mean_score,
    mauc_score,
)
from comboost.model_selection import wilson_interval

TEST_FRACTION = 0.4  # of the 5 rows of the smallest class, 3 train and 2 test


@dataclass(frozen=True)
class ClassSize:
    """Training and test rows of a class; rare means less than half of the average class."""

    name: str
    n_train: int
    n_test: int
    is_rare: bool


@dataclass(frozen=True)
class MethodResult:
    """Test metrics of a classifier, their bounds on new data, why training stopped, and its certificate, if any."""

    name: str
    recalls: dict[str, float]
    rare_recall: tuple[float, float, float]  # of all rare classes together, with its 95 % interval
    metrics: dict[str, float]
    bounds: dict[str, float]  # of the metrics on new data, each with 95 % confidence
    n_rounds: int
    stop_reason: str
    certificate: Certificate | None


@dataclass(frozen=True)
class DemoResult:
    """What the demo shows: classes from the largest to the rarest, methods in the order of OURS."""

    seed: int
    classes: tuple[ClassSize, ...]
    methods: tuple[MethodResult, ...]


def compare_boosters(
    tick: Tick,
    *,
    seed: int,
    n_rounds: int | None,
    n_jobs: int | None = None,
    defaults: Mapping[str, Any] | None = None,
) -> DemoResult:
    """Train all methods on one part of the Yeast data and evaluate them on the other.

    The seed determines the split. Without ``n_rounds`` each method uses its default. ``defaults`` replace those of
    ConfusionBoosting.
    """
    X_train, X_test, y_train, y_test = split_yeast(seed)
    classes = count_classes(y_train, y_test)
    methods = []
    for idx, (short, name) in enumerate(OURS.items()):
        options = {"n_estimators": n_rounds, "n_jobs": n_jobs, "random_state": seed}
        classifier = make_estimator(Settings(short, options=options, defaults=defaults or {}))
        report_rounds(classifier, tick, name, idx / len(OURS), (idx + 1) / len(OURS))
        methods.append(evaluate(name, classifier.fit(X_train, y_train), X_test, y_test, classes))
    return DemoResult(seed, classes, tuple(methods))


def split_yeast(seed: int) -> list[Any]:
    """Split into X_train, X_test, y_train, y_test, stratified by class."""
    X, y = load_yeast(return_X_y=True)
    parts: list[Any] = train_test_split(X, y, test_size=TEST_FRACTION, stratify=y, random_state=seed)
    return parts


def count_classes(y_train: Any, y_test: Any) -> tuple[ClassSize, ...]:
    """Count the rows of every class in both parts, the largest class first."""
    n_train, n_test = Counter(y_train.tolist()), Counter(y_test.tolist())
    n_rows = n_train + n_test
    rare = n_rows.total() / len(n_rows) / 2
    return tuple(ClassSize(name, n_train[name], n_test[name], is_rare=n < rare) for name, n in n_rows.most_common())


def evaluate(name: str, fitted: Any, X: Any, y: Any, classes: tuple[ClassSize, ...]) -> MethodResult:
    """Compute the test metrics of a fitted classifier, and collect the results of its training."""
    labels, predicted = fitted.classes_, fitted.predict(X)
    uniform = np.full(len(labels), 1 / len(labels))
    priors = np.array([np.mean(y == label) for label in labels])
    recalls = recall_score(y, predicted, labels=labels, average=None)
    is_rare = np.isin(y, [size.name for size in classes if size.is_rare])
    rare_recall = float((predicted == y)[is_rare].mean())
    low, high = wilson_interval(rare_recall, int(is_rare.sum()))
    return MethodResult(
        name=name,
        recalls={str(label): float(recall) for label, recall in zip(labels, recalls, strict=True)},
        rare_recall=(rare_recall, float(low), float(high)),
        metrics={
            "confusion_norm": float(confusion_norm_loss(y, predicted, labels=labels)),
            "g_mean": float(geometric_mean_score(y, predicted, labels=labels)),
            "mauc": float(mauc_score(y, fitted.predict_proba(X), labels=labels)),
            "accuracy": float(accuracy_score(y, predicted)),
        },
        bounds={
            "confusion_norm": confusion_norm_bound(y, predicted, labels=labels),
            "g_mean": geometric_mean_bound(y, predicted, labels=labels),
            "mean_recall": 1 - error_rate_bound(y, predicted, labels=labels, priors=uniform),
            "accuracy": 1 - error_rate_bound(y, predicted, labels=labels, priors=priors),
        },
        n_rounds=int(fitted.n_iter_),
        stop_reason=str(fitted.stop_reason_),
        certificate=certify(fitted),
    )
