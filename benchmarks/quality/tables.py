"""Tables of both comparisons. In: the stored entries. Out: Markdown."""

import math
from collections.abc import Mapping, Sequence

from benchmarks._lib import page
from benchmarks._lib.page import MUCH_DISTURBED
from benchmarks._lib.store import Row
from benchmarks.quality.measures import (
    ACCURACY,
    AUPRC,
    FIT_SECONDS,
    G_MEAN,
    LOG_LOSS,
    MACRO_F1,
    MAUC,
    MEASURES,
    NORM,
    PLAIN_LOG_LOSS,
    SMALLEST_RECALL,
    Measure,
)
from benchmarks.quality.methods import METHODS, UNDER_TRAINING_PRIOR
from benchmarks.quality.ranks import Entries, mean_ranks, mean_values, means
from benchmarks.quality.store import Entry
from benchmarks.quality.verdicts import JUDGED, RANKED, duel

SHOWN = (NORM, G_MEAN, ACCURACY, LOG_LOSS, MAUC, MACRO_F1, AUPRC, SMALLEST_RECALL, FIT_SECONDS)
NAMES = tuple(method.name for method in METHODS)
UNDER_PRIOR = tuple(method.name for method in UNDER_TRAINING_PRIOR)

HOLDOUT_HEADER = """## Eight problems

Every method is fitted on 70 % of the rows of each class and measured on the others. The time is that of the whole fit:
binning, the choice of settings, the split for early stopping. If it is under 5 s, the quickest of three fits counts.
The best peer is the best of all peers, with defaults or with early stopping. Ours may take as long as this peer, and
half as long with ten classes or more.
"""

FOLDS_HEADER = """## The paper's nine data sets

Means over 2 × 5 stratified folds, the same for all methods; the best is bold. A method that cannot be fitted on a data
set has no figure there and the last rank. Fixed settings are not ranked.
"""


def render_holdout(entries: Entries) -> str:
    """Ours against the best peer, then all methods on every problem."""
    if not entries:
        return ""
    duels = [render_duels(entries, measure) for measure in JUDGED]
    return "\n".join([HOLDOUT_HEADER, *filter(None, duels), *(render_problem(*one) for one in entries.items())])


def render_duels(entries: Entries, measure: Measure) -> str:
    """Ours against the best peer of every problem."""
    rows = []
    for problem, by_method in entries.items():
        found = duel(by_method, measure)
        if found is not None:
            rows.append(
                {
                    "problem": problem,
                    "best peer": found.peer,
                    "value": f"{found.peer_value:.4f}",
                    "s": seconds_text(found.peer_seconds),
                    "ours": f"{found.value:.4f}",
                    "our s": seconds_text(found.seconds),
                    "allowed s": seconds_text(found.allowed_seconds),
                    "": "reached" if found.won else "**missed**",
                }
            )
    return f"{capitalised(measure)}, {measure.direction}:\n\n{page.markdown(rows)}\n" if rows else ""


def render_problem(problem: str, by_method: Mapping[str, Entry]) -> str:
    """All methods on one problem: methods in rows, measures in columns."""
    table = {measure.title: means({problem: by_method}, measure, NAMES).get(problem, {}) for measure in MEASURES}
    seconds = means({problem: by_method}, FIT_SECONDS, NAMES).get(problem, {})
    cells = {one.title: cells_of(table[one.title], one, 4) for one in MEASURES}
    rows = [
        {"": name, **{title: of.get(name, "–") for title, of in cells.items()}, "s": seconds_text(seconds[name])}
        for name in NAMES
        if name in seconds
    ]
    described = next((entry for entry in by_method.values() if "folds" in entry), None)
    parts = [f"### {problem}"]
    if described is not None:
        parts += [f"{described['n_samples']} rows, {described['n_classes']} classes.", page.markdown(rows)]
    return "\n\n".join([*parts, *notes_on({problem: by_method})]) + "\n"


def render_folds(entries: Entries) -> str:
    """A table for every measure, and which methods are missing."""
    if not entries:
        return ""
    tables = [render_measure(entries, measure, NAMES) for measure in SHOWN]
    tables.append(render_measure(entries, PLAIN_LOG_LOSS, UNDER_PRIOR))
    return "\n".join([FOLDS_HEADER, *filter(None, tables), *(f"{note}\n" for note in notes_on(entries))])


def render_measure(entries: Entries, measure: Measure, methods: Sequence[str]) -> str:
    """Methods in rows, data sets in columns; means and mean ranks in the last columns."""
    table = means(entries, measure, methods)
    if not table:
        return ""
    ranked = means(entries, measure, [name for name in methods if name in (*RANKED, *UNDER_PRIOR)])
    ranks = mean_ranks(ranked, measure) if ranked else {}
    columns = {name: cells_of(row, measure) for name, row in table.items()}
    columns["mean"] = cells_of(mean_values(table), measure)
    columns["mean rank"] = {name: cell_of(rank, min(ranks.values()), 2) for name, rank in ranks.items()}
    rows: list[Row] = [
        {"": method, **{name: cells.get(method, "–") for name, cells in columns.items()}}
        for method in next(iter(table.values()))
    ]
    return f"### {capitalised(measure)}\n\n{measure.direction.capitalize()}.\n\n{page.markdown(rows)}\n"


def notes_on(entries: Entries) -> list[str]:
    """Which methods have no figures and why, and which were measured on a busy machine."""
    found = [
        (f"{method} on {problem}", entry)
        for problem, by_method in entries.items()
        for method, entry in by_method.items()
    ]
    left_out = [f"{name} ({entry['left_out']})" for name, entry in found if "left_out" in entry]
    busy = [name for name, entry in found if entry.get("disturbance", 0) > MUCH_DISTURBED]
    notes = {"Left out": left_out, "Other programs ran meanwhile, so do not trust the times of": busy}
    return [f"{words}: {'; '.join(names)}." for words, names in notes.items() if names]


def cells_of(row: Mapping[str, float], measure: Measure, digits: int = 3) -> dict[str, str]:
    """Format the values of methods, the best of them bold."""
    leading = measure.best([value for value in row.values() if not math.isnan(value)] or [math.nan])
    return {name: cell_of(value, leading, digits) for name, value in row.items()}


def cell_of(value: float, leading: float, digits: int) -> str:
    """Format a value; bold if it reads like the leading one."""
    if math.isnan(value):
        return "–"
    words = f"{value:.{digits}f}"
    return f"**{words}**" if words == f"{leading:.{digits}f}" else words


def capitalised(measure: Measure) -> str:
    """The title of a measure with a capital letter."""
    return measure.title[0].upper() + measure.title[1:]


def seconds_text(seconds: float) -> str:
    """Seconds in two digits or more."""
    return f"{seconds:.2g}" if seconds < 10 else f"{seconds:.0f}"
