"""The boosters side by side on the bundled Yeast data. In: a seed, and how long to boost. Out: a plain `Summary`."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, recall_score
from sklearn.model_selection import train_test_split

from comboost import AdaBoostMMClassifier, CoMBoClassifier, ConfusionBoostingClassifier
from comboost._boosting.monitor import RoundCounter
from comboost.datasets import load_yeast
from comboost.metrics import confusion_norm_loss, geometric_mean_score, mauc_score

CLASSIFIERS: dict[str, type[ConfusionBoostingClassifier | CoMBoClassifier | AdaBoostMMClassifier]] = {
    "ConfusionBoosting": ConfusionBoostingClassifier,
    "CoMBo": CoMBoClassifier,
    "AdaBoost.MM": AdaBoostMMClassifier,
}

#: What bounds ‖C_S‖²: names of the loss reached, and of what the leaves or the edges promised it to be at most.
#: AdaBoost.MM is not here: its loss bounds no norm.
BOUNDS = {
    "ConfusionBoosting": ("log-loss", "leaf bound"),
    "CoMBo": ("loss", "product bound"),
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
class Certificate:
    """‖C_S‖ on the training rows, and the bounds that hold for it, by name and as roots."""

    confusion_norm: float
    bounds: dict[str, float]

    @property
    def bound(self) -> float:
        """The smallest of the bounds."""
        return min(self.bounds.values())


@dataclass(frozen=True)
class MethodResult:
    """What one classifier reached on the held-out rows, how its training ended and what that certifies, if anything."""

    name: str
    recalls: dict[str, float]
    measures: dict[str, float]
    n_rounds: int
    stop_reason: str
    certificate: Certificate | None


@dataclass(frozen=True)
class Summary:
    """All that the demo shows; classes from the largest to the rarest, methods in the order of CLASSIFIERS."""

    seed: int
    classes: tuple[ClassSize, ...]
    methods: tuple[MethodResult, ...]


def compare_boosters(
    *,
    seed: int = 0,
    n_rounds: int | None = None,
    n_jobs: int | None = None,
    on_round: Callable[[str, int], None] | None = None,
) -> Summary:
    """Train all methods on one part of the Yeast data and measure them on the other.

    The seed decides which rows are held out; without ``n_rounds`` each method boosts for as many as its own default
    says; ``on_round`` hears of every round, with the method's name and the number of rounds done.

    Examples
    --------
    >>> from comboost.cli._comparison import compare_boosters
    >>> summary = compare_boosters(n_rounds=5)
    >>> [method.name for method in summary.methods]
    ['ConfusionBoosting', 'CoMBo', 'AdaBoost.MM']
    >>> rarest = summary.classes[-1]
    >>> rarest.name, rarest.n_train, rarest.n_held_out
    ('ERL', 3, 2)
    """
    X_train, X_held_out, y_train, y_held_out = split_yeast(seed)
    methods = []
    for name, make in CLASSIFIERS.items():
        classifier = make(n_jobs=n_jobs, random_state=seed)
        if n_rounds is not None:
            classifier.set_params(n_estimators=n_rounds)
        if on_round is not None:
            classifier.set_callbacks(RoundCounter(partial(on_round, name)))
        methods.append(assess(name, classifier.fit(X_train, y_train), X_held_out, y_held_out))
    return Summary(seed=seed, classes=count_classes(y_train, y_held_out), methods=tuple(methods))


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


def assess(name: str, fitted: Any, X: Any, y: Any) -> MethodResult:
    """Compute the figures of a fitted classifier on rows that it has not seen, and gather those of its training."""
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
        certificate=certify(fitted, BOUNDS[name]) if name in BOUNDS else None,
    )


def certify(fitted: Any, names: tuple[str, str]) -> Certificate:
    """Gather the chain ‖C_S‖² ≤ L_T ≤ what was promised of L_T, each as a root."""
    roots = np.sqrt([fitted.loss_curve_[-1], fitted.bound_curve_[-1]])
    return Certificate(
        confusion_norm=float(np.linalg.norm(fitted.train_confusion_, ord=2)),
        bounds=dict(zip(names, roots.tolist(), strict=True)),
    )
