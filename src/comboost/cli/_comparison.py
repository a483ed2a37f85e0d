"""CoMBo beside AdaBoost.MM on the bundled Yeast data. In: a seed, and how long to boost. Out: a plain `Summary`."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, recall_score
from sklearn.model_selection import train_test_split

from comboost import AdaBoostMMClassifier, CoMBoClassifier
from comboost._boosting.callbacks import RoundCounter
from comboost.datasets import load_yeast
from comboost.metrics import confusion_norm_loss, geometric_mean_score, mauc_score

CLASSIFIERS: dict[str, type[CoMBoClassifier] | type[AdaBoostMMClassifier]] = {
    "CoMBo": CoMBoClassifier,
    "AdaBoost.MM": AdaBoostMMClassifier,
}

HELD_OUT_SHARE = 0.4  # the smallest class has 5 rows: 3 of them train and 2 are held out


@dataclass(frozen=True)
class ClassSize:
    """Rows of one class in the two parts; rare is less than half of an even share of all rows."""

    name: str
    n_train: int
    n_held_out: int
    is_rare: bool


@dataclass(frozen=True)
class MethodResult:
    """What one classifier reached on the held-out rows."""

    name: str
    recalls: dict[str, float]
    measures: dict[str, float]
    n_rounds: int
    stop_reason: str


@dataclass(frozen=True)
class Certificate:
    """‖C_S‖ of CoMBo on its training rows, and the two bounds that hold for it, as roots."""

    confusion_norm: float
    loss_bound: float
    product_bound: float

    @property
    def bound(self) -> float:
        """The smaller of the two bounds."""
        return min(self.loss_bound, self.product_bound)


@dataclass(frozen=True)
class Summary:
    """All that the demo shows; classes from the largest to the rarest, methods in the order of CLASSIFIERS."""

    seed: int
    classes: tuple[ClassSize, ...]
    methods: tuple[MethodResult, ...]
    certificate: Certificate


def compare_boosters(
    *,
    seed: int = 0,
    n_rounds: int = 200,
    n_jobs: int | None = None,
    on_round: Callable[[str, int], None] | None = None,
) -> Summary:
    """Train both methods on one part of the Yeast data and measure them on the other.

    The seed decides which rows are held out; ``on_round`` hears of every round, with the method's name and the number
    of rounds done.

    Examples
    --------
    >>> from comboost.cli._comparison import compare_boosters
    >>> summary = compare_boosters(n_rounds=5)
    >>> [method.name for method in summary.methods]
    ['CoMBo', 'AdaBoost.MM']
    >>> rarest = summary.classes[-1]
    >>> rarest.name, rarest.n_train, rarest.n_held_out
    ('ERL', 3, 2)
    """
    X_train, X_held_out, y_train, y_held_out = split_yeast(seed)
    classifiers = {}
    for name, make in CLASSIFIERS.items():
        classifiers[name] = make(n_estimators=n_rounds, n_jobs=n_jobs, random_state=seed)
        if on_round is not None:
            classifiers[name].set_callbacks(RoundCounter(partial(on_round, name)))
        classifiers[name].fit(X_train, y_train)
    return Summary(
        seed=seed,
        classes=count_classes(y_train, y_held_out),
        methods=tuple(measure_held_out(name, fitted, X_held_out, y_held_out) for name, fitted in classifiers.items()),
        certificate=certify(classifiers["CoMBo"]),
    )


def split_yeast(seed: int) -> list[Any]:
    """Split into X to train, X held out, y to train, y held out; every class keeps its share in both parts."""
    X, y = load_yeast(return_X_y=True)
    parts: list[Any] = train_test_split(X, y, test_size=HELD_OUT_SHARE, stratify=y, random_state=seed)
    return parts


def count_classes(y_train: Any, y_held_out: Any) -> tuple[ClassSize, ...]:
    """Count the rows of every class in both parts, the largest class first."""
    n_train, n_held_out = Counter(y_train.tolist()), Counter(y_held_out.tolist())
    n_rows = n_train + n_held_out
    half_share = n_rows.total() / len(n_rows) / 2
    return tuple(
        ClassSize(name, n_train[name], n_held_out[name], is_rare=n < half_share) for name, n in n_rows.most_common()
    )


def measure_held_out(name: str, fitted: Any, X: Any, y: Any) -> MethodResult:
    """Compute the figures of a fitted classifier on rows that it has not seen."""
    labels, predicted = fitted.classes_, fitted.predict(X)
    recalls = recall_score(y, predicted, labels=labels, average=None)
    return MethodResult(
        name=name,
        recalls={str(label): float(recall) for label, recall in zip(labels, recalls, strict=True)},
        measures={
            "confusion_norm": float(confusion_norm_loss(y, predicted, labels=labels)),
            "g_mean": float(geometric_mean_score(y, predicted, labels=labels)),
            "mauc": float(mauc_score(y, fitted.predict_proba(X), labels=labels)),
            "accuracy": float(accuracy_score(y, predicted)),
        },
        n_rounds=int(fitted.n_iter_),
        stop_reason=str(fitted.stop_reason_),
    )


def certify(combo: Any) -> Certificate:
    """Gather the paper's chain ‖C_S‖² ≤ L_T ≤ product bound, each as a root."""
    return Certificate(
        confusion_norm=float(np.linalg.norm(combo.train_confusion_, ord=2)),
        loss_bound=sqrt(combo.loss_curve_[-1]),
        product_bound=sqrt(combo.bound_curve_[-1]),
    )
