"""``comboost demo``: CoMBo beside AdaBoost.MM on the bundled Yeast data.

In: a seed, the number of rounds, the number of threads. `compare` trains and measures and returns a plain
`Summary`; `render` turns that into tables; `demo` is the command, with the progress bar.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import Annotated, Any

import numpy as np
import typer
from rich import box
from rich.console import Console, Group, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text
from sklearn.metrics import accuracy_score, recall_score
from sklearn.model_selection import train_test_split

from comboost import AdaBoostMMClassifier, CoMBoClassifier
from comboost._boosting.callbacks import NoCallback
from comboost.datasets import load_yeast
from comboost.metrics import confusion_norm_loss, geometric_mean_score, mauc_score

__all__ = ["Certificate", "ClassSize", "Measure", "MethodResult", "Summary", "compare", "demo", "find_better", "render"]

METHODS: dict[str, type[CoMBoClassifier] | type[AdaBoostMMClassifier]] = {
    "CoMBo": CoMBoClassifier,
    "AdaBoost.MM": AdaBoostMMClassifier,
}

# the smallest class has 5 rows: 3 of them train and 2 are held out
HELD_OUT_SHARE = 0.4

DECIMALS = 3

STOP_REASONS = {
    "n_estimators": "all rounds used",
    "no_edge": "no tree beats guessing any more",
    "perfect_learner": "one tree makes no mistake",
    "loss_vanished": "nothing left to learn, the loss is zero",
    "rounding": "weights differ too much for exact sums",
}

_ASCII = str.maketrans({"‖": "||", "√": "sqrt", "≤": "<=", "−": "-"})


@dataclass(frozen=True)
class Measure:
    """One figure for a whole classifier, what it says and which way is better."""

    key: str
    label: str
    meaning: str
    lower_is_better: bool = False


MEASURES = (
    Measure("confusion_norm", "‖C‖", "size of the confusions; lower is better", lower_is_better=True),
    Measure("g_mean", "G-mean", "geometric mean of the recalls"),
    Measure("mauc", "MAUC", "how well pairs of classes are told apart"),
    Measure("accuracy", "accuracy", "share of all rows that are right"),
)


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
    """All that the demo shows; classes from the largest to the rarest, methods in the order of METHODS."""

    seed: int
    classes: tuple[ClassSize, ...]
    methods: tuple[MethodResult, ...]
    certificate: Certificate


def compare(
    *,
    seed: int = 0,
    n_rounds: int = 200,
    n_jobs: int | None = None,
    on_round: Callable[[str, int], None] | None = None,
) -> Summary:
    """Train both methods on one part of the Yeast data and measure them on the other.

    Parameters
    ----------
    seed : int, default=0
        Decides which rows are held out.
    n_rounds : int, default=200
        Rounds of boosting, for each method.
    n_jobs : int or None, default=None
        Threads, as in scikit-learn.
    on_round : callable or None, default=None
        Called after every round with the method's name and the number of rounds done.

    Returns
    -------
    summary : Summary
        The figures of both methods.

    Examples
    --------
    >>> from comboost.cli.demo import compare
    >>> summary = compare(n_rounds=5)
    >>> [method.name for method in summary.methods]
    ['CoMBo', 'AdaBoost.MM']
    >>> rarest = summary.classes[-1]
    >>> rarest.name, rarest.n_train, rarest.n_held_out
    ('ERL', 3, 2)
    """
    X_train, X_held_out, y_train, y_held_out = _split(seed)
    classifiers = {}
    for name, make in METHODS.items():
        classifiers[name] = make(n_estimators=n_rounds, n_jobs=n_jobs, random_state=seed)
        if on_round is not None:
            classifiers[name].set_callbacks(RoundCounter(partial(on_round, name)))
        classifiers[name].fit(X_train, y_train)
    return Summary(
        seed=seed,
        classes=_count_classes(y_train, y_held_out),
        methods=tuple(_measure(name, fitted, X_held_out, y_held_out) for name, fitted in classifiers.items()),
        certificate=_certify(classifiers["CoMBo"]),
    )


class RoundCounter(NoCallback):
    """A callback that tells how many rounds are done.

    Parameters
    ----------
    tell : callable
        Called with the number of rounds after each.
    """

    def __init__(self, tell: Callable[[int], None]) -> None:
        self._tell = tell
        self._n_done = 0

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """Hear that a round, or the whole fit, is done."""
        if context.parent is not None:
            self._n_done += 1
            self._tell(self._n_done)


def find_better(first: float, second: float, *, lower_is_better: bool = False) -> int | None:
    """Say which of two figures is better: 0, 1, or None if they look the same in the table.

    Examples
    --------
    >>> from comboost.cli.demo import find_better
    >>> find_better(0.7, 0.6), find_better(0.7, 0.6, lower_is_better=True)
    (0, 1)
    >>> find_better(0.70001, 0.70002) is None
    True
    """
    first, second = round(first, DECIMALS), round(second, DECIMALS)
    if first == second:
        return None
    return int((first < second) != lower_is_better)


def _split(seed: int) -> list[Any]:
    """X to train, X held out, y to train, y held out; every class keeps its share in both parts."""
    X, y = load_yeast(return_X_y=True)
    parts: list[Any] = train_test_split(X, y, test_size=HELD_OUT_SHARE, stratify=y, random_state=seed)
    return parts


def _count_classes(y_train: Any, y_held_out: Any) -> tuple[ClassSize, ...]:
    n_train, n_held_out = Counter(y_train.tolist()), Counter(y_held_out.tolist())
    n_rows = n_train + n_held_out
    half_share = n_rows.total() / len(n_rows) / 2
    return tuple(
        ClassSize(name, n_train[name], n_held_out[name], is_rare=n < half_share) for name, n in n_rows.most_common()
    )


def _measure(name: str, fitted: Any, X: Any, y: Any) -> MethodResult:
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


def _certify(combo: Any) -> Certificate:
    """Gather the paper's chain ‖C_S‖² ≤ L_T ≤ product bound, each as a root."""
    return Certificate(
        confusion_norm=float(np.linalg.norm(combo.train_confusion_, ord=2)),
        loss_bound=sqrt(combo.loss_curve_[-1]),
        product_bound=sqrt(combo.bound_curve_[-1]),
    )


def render(summary: Summary, *, ascii_only: bool = False) -> RenderableType:
    """Turn a summary into tables and sentences for a terminal or a file.

    Parameters
    ----------
    summary : Summary
        From `compare`.
    ascii_only : bool, default=False
        Whether to spell out what is not ASCII, for a terminal or file that cannot show it.

    Returns
    -------
    renderable : rich.console.RenderableType
        To be printed by a rich Console.
    """

    def say(text: str, style: str = "") -> Text:
        return Text(text.translate(_ASCII) if ascii_only else text, style)

    n_train = sum(size.n_train for size in summary.classes)
    n_held_out = sum(size.n_held_out for size in summary.classes)
    return Group(
        say(f"Yeast data, {len(summary.classes)} classes: {n_train} rows to train, {n_held_out} held out."),
        say("\nRecall per class on the held-out rows (the share of the class that is found)", "bold"),
        _recall_table(summary),
        say("All classes together, on the held-out rows", "bold"),
        _measure_table(summary, say),
        say(f"* better: {_tell_verdict(summary)}"),
        say(f"One split (seed {summary.seed}) of few rows: another seed gives other figures."),
        say("\nHow training ended", "bold"),
        *(say(f"{method.name}: {_tell_end(method)}") for method in summary.methods),
        say("\nCertified for CoMBo, on its training rows", "bold"),
        say(_tell_chain(summary.certificate)),
        say(_tell_meaning(summary.certificate.bound, len(summary.classes))),
    )


def _recall_table(summary: Summary) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("class")
    table.add_column("")
    table.add_column("train rows", justify="right")
    table.add_column("held-out rows", justify="right")
    for method in summary.methods:
        table.add_column(method.name)
    for size in summary.classes:
        figures = _mark_better([method.recalls[size.name] for method in summary.methods])
        rarity = Text("rare", "yellow") if size.is_rare else Text()
        table.add_row(size.name, rarity, str(size.n_train), str(size.n_held_out), *figures)
    return table


def _measure_table(summary: Summary, say: Callable[[str], Text]) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("measure")
    table.add_column("")
    for method in summary.methods:
        table.add_column(method.name)
    for measure in MEASURES:
        values = [method.measures[measure.key] for method in summary.methods]
        figures = _mark_better(values, lower_is_better=measure.lower_is_better)
        table.add_row(say(measure.label), measure.meaning, *figures)
    return table


def _mark_better(values: list[float], *, lower_is_better: bool = False) -> list[Text]:
    better = find_better(*values, lower_is_better=lower_is_better)
    return [
        Text(f"{value:.{DECIMALS}f} *", "bold green") if place == better else Text(f"{value:.{DECIMALS}f}")
        for place, value in enumerate(values)
    ]


def _tell_verdict(summary: Summary) -> str:
    """Who is better in what, in one sentence; equal figures are nobody's."""
    won: list[list[str]] = [[] for _ in summary.methods]
    for measure in MEASURES:
        first, second = (method.measures[measure.key] for method in summary.methods)
        better = find_better(first, second, lower_is_better=measure.lower_is_better)
        if better is not None:
            won[better].append(measure.label)
    parts = [
        f"{method.name} in {', '.join(labels) or 'none'}" for method, labels in zip(summary.methods, won, strict=True)
    ]
    return f"{'; '.join(parts)}."


def _tell_end(method: MethodResult) -> str:
    reason = STOP_REASONS.get(method.stop_reason, method.stop_reason)
    return f"{reason} ({method.n_rounds} {'round' if method.n_rounds == 1 else 'rounds'})"


def _tell_chain(certificate: Certificate) -> str:
    norm, loss, product = certificate.confusion_norm, certificate.loss_bound, certificate.product_bound
    return f"‖C_S‖ = {norm:.3g} ≤ √(loss) = {loss:.3g} ≤ √(product bound) = {product:.3g}"


def _tell_meaning(bound: float, n_classes: int) -> str:
    """Say what the bound is worth: no entry of C exceeds its norm, and no norm exceeds √(K−1)."""
    largest = sqrt(n_classes - 1)
    if bound < 1:
        promise = f"no class is taken for another one in over {100 * bound:.2g} % of its rows"
    elif bound < largest:
        promise = "the norm is held down, but no single class is vouched for"
    else:
        promise = f"it says nothing yet, no norm can exceed √(K−1) = {largest:.3g}"
    return f"Training rows only: {promise}."


def _check_jobs(jobs: int | None) -> int | None:
    if jobs == 0:
        raise typer.BadParameter("0 threads cannot work; give 1 or more, or -1 for one per core.")
    return jobs


def demo(
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Decides which rows are held out.")] = 0,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of boosting, for each method.")] = 200,
    jobs: Annotated[
        int | None, typer.Option(callback=_check_jobs, help="Threads; -1 for one per core.", show_default="one")
    ] = None,
) -> None:
    """Compare CoMBo with AdaBoost.MM on the bundled Yeast data."""
    errors = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=errors, disable=not errors.is_terminal) as progress:
        tasks = {name: progress.add_task(name, total=rounds) for name in METHODS}
        summary = compare(
            seed=seed,
            n_rounds=rounds,
            n_jobs=jobs,
            on_round=lambda name, n_done: progress.update(tasks[name], completed=n_done),
        )
    console = Console(highlight=False)
    console.print(render(summary, ascii_only=console.options.ascii_only))
