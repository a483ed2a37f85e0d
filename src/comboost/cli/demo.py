"""``comboost demo``: CoMBo beside AdaBoost.MM on the bundled Yeast data.

In: a seed, the number of rounds, the number of threads. Out: tables in a terminal. `_comparison` computes a plain
`Summary`; `render_comparison` turns that into tables; `demo` is the command, with the progress bar.
"""

from collections.abc import Callable
from math import sqrt
from typing import Annotated

import typer
from rich import box
from rich.console import Console, Group, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from comboost.cli._comparison import CLASSIFIERS, Certificate, MethodResult, Summary, compare_boosters
from comboost.study._results import MEASURES

SHOWN_DECIMALS = 3

MEANINGS = {
    "confusion_norm": "size of the confusions; lower is better",
    "g_mean": "geometric mean of the recalls",
    "mauc": "how well pairs of classes are told apart",
    "accuracy": "share of all rows that are right",
}

STOP_REASONS = {
    "n_estimators": "all rounds used",
    "no_edge": "no tree beats guessing any more",
    "perfect_learner": "one tree makes no mistake",
    "loss_vanished": "nothing left to learn, the loss is zero",
    "rounding": "weights differ too much for exact sums",
}

ASCII_SIGNS = str.maketrans({"‖": "||", "√": "sqrt", "≤": "<=", "−": "-"})


def render_comparison(summary: Summary, *, ascii_only: bool = False) -> RenderableType:
    """Turn a summary into tables and sentences for a terminal or a file, which may not be able to show all signs."""

    def say(text: str, style: str = "") -> Text:
        return Text(text.translate(ASCII_SIGNS) if ascii_only else text, style)

    n_train = sum(size.n_train for size in summary.classes)
    n_held_out = sum(size.n_held_out for size in summary.classes)
    return Group(
        say(f"Yeast data, {len(summary.classes)} classes: {n_train} rows to train, {n_held_out} held out."),
        say("\nRecall per class on the held-out rows (the share of the class that is found)", "bold"),
        recalls_by_class(summary),
        say("All classes together, on the held-out rows", "bold"),
        measures_overall(summary, say),
        say(f"* better: {tell_winners(summary)}"),
        say(f"One split (seed {summary.seed}) of few rows: another seed gives other figures."),
        say("\nHow training ended", "bold"),
        *(say(f"{method.name}: {tell_end(method)}") for method in summary.methods),
        say("\nCertified for CoMBo, on its training rows", "bold"),
        say(tell_chain(summary.certificate)),
        say(tell_meaning(summary.certificate.bound, len(summary.classes))),
    )


def recalls_by_class(summary: Summary) -> Table:
    """A table with a row per class."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("class")
    table.add_column("")
    table.add_column("train rows", justify="right")
    table.add_column("held-out rows", justify="right")
    for method in summary.methods:
        table.add_column(method.name)
    for size in summary.classes:
        figures = mark_better([method.recalls[size.name] for method in summary.methods])
        rarity = Text("rare", "yellow") if size.is_rare else Text()
        table.add_row(size.name, rarity, str(size.n_train), str(size.n_held_out), *figures)
    return table


def measures_overall(summary: Summary, say: Callable[[str], Text]) -> Table:
    """A table with a row per measure."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("measure")
    table.add_column("")
    for method in summary.methods:
        table.add_column(method.name)
    for name, meaning in MEANINGS.items():
        values = [method.measures[name] for method in summary.methods]
        figures = mark_better(values, lower_is_better=MEASURES[name].lower_is_better)
        table.add_row(say(MEASURES[name].label), meaning, *figures)
    return table


def mark_better(values: list[float], *, lower_is_better: bool = False) -> list[Text]:
    """The figures, the better of them with a star."""
    better = find_better(*values, lower_is_better=lower_is_better)
    return [
        Text(f"{value:.{SHOWN_DECIMALS}f} *", "bold green") if place == better else Text(f"{value:.{SHOWN_DECIMALS}f}")
        for place, value in enumerate(values)
    ]


def tell_winners(summary: Summary) -> str:
    """Say in one sentence who is better in what; nobody is if the figures are equal."""
    won: list[list[str]] = [[] for _ in summary.methods]
    for name in MEANINGS:
        first, second = (method.measures[name] for method in summary.methods)
        better = find_better(first, second, lower_is_better=MEASURES[name].lower_is_better)
        if better is not None:
            won[better].append(MEASURES[name].label)
    parts = [
        f"{method.name} in {', '.join(labels) or 'none'}" for method, labels in zip(summary.methods, won, strict=True)
    ]
    return f"{'; '.join(parts)}."


def tell_end(method: MethodResult) -> str:
    """Say why training ended, and when."""
    reason = STOP_REASONS.get(method.stop_reason, method.stop_reason)
    return f"{reason} ({method.n_rounds} {'round' if method.n_rounds == 1 else 'rounds'})"


def tell_chain(certificate: Certificate) -> str:
    """Say the norm and its two bounds."""
    norm, loss, product = certificate.confusion_norm, certificate.loss_bound, certificate.product_bound
    return f"‖C_S‖ = {norm:.3g} ≤ √(loss) = {loss:.3g} ≤ √(product bound) = {product:.3g}"


def tell_meaning(bound: float, n_classes: int) -> str:
    """Say what the bound is worth: no entry of C exceeds its norm, and no norm exceeds √(K−1)."""
    largest = sqrt(n_classes - 1)
    if bound < 1:
        promise = f"no class is taken for another one in over {100 * bound:.2g} % of its rows"
    elif bound < largest:
        promise = "the norm is held down, but no single class is vouched for"
    else:
        promise = f"it says nothing yet, no norm can exceed √(K−1) = {largest:.3g}"
    return f"Training rows only: {promise}."


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
    first, second = round(first, SHOWN_DECIMALS), round(second, SHOWN_DECIMALS)
    if first == second:
        return None
    return int((first < second) != lower_is_better)


def check_threads(jobs: int | None) -> int | None:
    """Refuse to work with no thread."""
    if jobs == 0:
        raise typer.BadParameter("0 threads cannot work; give 1 or more, or -1 for one per core.")
    return jobs


def demo(
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Decides which rows are held out.")] = 0,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of boosting, for each method.")] = 200,
    jobs: Annotated[
        int | None, typer.Option(callback=check_threads, help="Threads; -1 for one per core.", show_default="one")
    ] = None,
) -> None:
    """Compare CoMBo with AdaBoost.MM on the bundled Yeast data."""
    errors = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=errors, disable=not errors.is_terminal) as progress:
        tasks = {name: progress.add_task(name, total=rounds) for name in CLASSIFIERS}
        summary = compare_boosters(
            seed=seed,
            n_rounds=rounds,
            n_jobs=jobs,
            on_round=lambda name, n_done: progress.update(tasks[name], completed=n_done),
        )
    console = Console(highlight=False)
    console.print(render_comparison(summary, ascii_only=console.options.ascii_only))
