"""What the demo shows. In: a `Summary` of `_comparison`. Out: tables and sentences for a terminal or a file."""

from collections.abc import Callable
from math import sqrt

from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from comboost.cli._comparison import Certificate, MethodResult, Summary
from comboost.cli._showing import ASCII_SIGNS, plain_table
from comboost.model_selection import wilson_interval
from comboost.study._results import MEASURES

SHOWN_DECIMALS = 3

MEANINGS = {
    "confusion_norm": "confusions; lower is better",
    "g_mean": "geometric mean of the recalls",
    "mauc": "classes told apart in pairs",
    "accuracy": "share of rows that are right",
}

STOP_REASONS = {
    "n_estimators": "all rounds used",
    "no_edge": "no tree beats guessing any more",
    "perfect_learner": "one tree makes no mistake",
    "loss_vanished": "nothing left to learn, the loss is zero",
    "rounding": "weights differ too much for exact sums",
    "early_stopping": "validation no longer gets better",
    "callback": "a callback asked for it",
}


NEXT_STEPS = (
    "Start with ConfusionBoosting. Does it help with a file of yours? Type",
    "  comboost compare FILE.csv --target COLUMN",
    "or, without a file, comboost compare glass",
)


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
        say(f"* best: {tell_winners(summary)}"),
        say(f"One split (seed {summary.seed}) of few rows: another seed gives other figures."),
        say("\nHow training ended", "bold"),
        *(say(f"{method.name}: {tell_end(method)}") for method in summary.methods),
        *(part for method in summary.methods for part in certificate_of(method, len(summary.classes), say)),
        say("\nTo take along", "bold"),
        *(say(line) for line in [*tell_rare(summary), *NEXT_STEPS]),
    )


def recalls_by_class(summary: Summary) -> Table:
    """A table with a row per class."""
    sizes = (Column("train\nrows", justify="right"), Column("held\nout", justify="right"))
    table = open_table(summary, Column("class"), *sizes)
    for size in summary.classes:
        figures = mark_best([method.recalls[size.name] for method in summary.methods])
        name = Text.assemble(size.name, (" rare" if size.is_rare else "", "yellow"))
        table.add_row(name, str(size.n_train), str(size.n_held_out), *figures)
    return table


def measures_overall(summary: Summary, say: Callable[[str], Text]) -> Table:
    """A table with a row per measure."""
    table = open_table(summary, Column("measure"), Column("what it is"))
    for name, meaning in MEANINGS.items():
        values = [method.measures[name] for method in summary.methods]
        figures = mark_best(values, lower_is_better=MEASURES[name].lower_is_better)
        table.add_row(say(MEASURES[name].label), meaning, *figures)
    return table


def open_table(summary: Summary, *columns: Column) -> Table:
    """A table of the columns given and one per method, narrow enough for 60 characters in a line."""
    heads = [method.name.replace("Boosting", "\nBoosting") for method in summary.methods]
    table = plain_table([*columns, *heads])
    for column in table.columns:
        column.overflow = "fold"  # otherwise rich cuts words off, with a sign that is not ASCII
    return table


def mark_best(values: list[float], *, lower_is_better: bool = False) -> list[Text]:
    """The figures, the best of them with a star."""
    figures = [f"{value:.{SHOWN_DECIMALS}f}" for value in values]
    best = find_best(values, lower_is_better=lower_is_better)
    return [
        Text(f"{figure} *", "bold green") if place in best else Text(figure) for place, figure in enumerate(figures)
    ]


def tell_winners(summary: Summary) -> str:
    """Say in one sentence who is best in what, as the stars do."""
    won: list[list[str]] = [[] for _ in summary.methods]
    for name in MEANINGS:
        values = [method.measures[name] for method in summary.methods]
        for place in find_best(values, lower_is_better=MEASURES[name].lower_is_better):
            won[place].append(MEASURES[name].label)
    parts = [
        f"{method.name} in {', '.join(labels) or 'none'}" for method, labels in zip(summary.methods, won, strict=True)
    ]
    return f"{'; '.join(parts)}."


def tell_end(method: MethodResult) -> str:
    """Say why training ended, and when."""
    return f"{STOP_REASONS[method.stop_reason]} ({method.n_rounds} {'round' if method.n_rounds == 1 else 'rounds'})"


def certificate_of(method: MethodResult, n_classes: int, say: Callable[[str, str], Text]) -> list[Text]:
    """What holds for a method's confusion matrix and what that is worth, if anything holds."""
    if method.certificate is None:
        return []
    return [
        say(f"\nCertified for {method.name}, on its training rows", "bold"),
        say(tell_chain(method.certificate), ""),
        say(tell_meaning(method.certificate.bound, n_classes), ""),
    ]


def tell_chain(certificate: Certificate) -> str:
    """Say the norm and its bounds."""
    bounds = (f"√({name}) = {bound:.3g}" for name, bound in certificate.bounds.items())
    return " ≤ ".join([f"‖C_S‖ = {certificate.confusion_norm:.3g}", *bounds])


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


def tell_rare(summary: Summary) -> list[str]:
    """Say how many rows of rare classes each method finds, and what that vouches for on new rows."""
    sizes = {size.name: size.n_held_out for size in summary.classes if size.is_rare}
    n_rows = sum(sizes.values())
    lines = [f"Of new rows of the rare classes, with 95 % confidence by {n_rows} rows held out:"]
    for method in summary.methods:
        share = sum(method.recalls[name] * n for name, n in sizes.items()) / n_rows
        low, high = wilson_interval(min(share, 1.0), n_rows)
        lines.append(f"  {method.name} finds {share:.0%}, at least {float(low):.0%} and at most {float(high):.0%}")
    return lines


def find_best(values: list[float], *, lower_is_better: bool = False) -> list[int]:
    """Places of the best figures: all that look like the best one in the table, or none if all figures look the same.

    Examples
    --------
    >>> from comboost.cli._demo_view import find_best
    >>> find_best([0.7, 0.6, 0.5]), find_best([0.7, 0.6, 0.5], lower_is_better=True)
    ([0], [2])
    >>> find_best([0.70001, 0.70002, 0.5]), find_best([0.70001, 0.70002, 0.7])
    ([0, 1], [])
    """
    shown = [round(value, SHOWN_DECIMALS) for value in values]
    if len(set(shown)) == 1:
        return []
    best = min(shown) if lower_is_better else max(shown)
    return [place for place, value in enumerate(shown) if value == best]
