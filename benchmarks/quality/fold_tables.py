"""Quality at default parameters in tables. In: the stored folds. Out: Markdown."""

import math
from collections.abc import Mapping, Sequence

from benchmarks._lib import page
from benchmarks.quality.folds import FIT_SECONDS
from benchmarks.quality.measures import (
    ACCURACY,
    G_MEAN,
    LOG_LOSS,
    MAUC,
    NORM,
    PLAIN_LOG_LOSS,
    SMALLEST_RECALL,
    Measure,
)
from benchmarks.quality.ranks import Entries, mean_ranks, mean_values, means
from benchmarks.quality.verdicts import OURS_UNDER_PRIOR, PEER_UNDER_PRIOR, RANKED

FIT_TIME = Measure(FIT_SECONDS, "seconds of a fit", True)
SHOWN = (NORM, G_MEAN, ACCURACY, MAUC, LOG_LOSS, SMALLEST_RECALL, FIT_TIME)

HEAD = """## The paper's sets, default parameters

Means over 2 × 5 stratified folds, the same for all, and the best of them bold. LightGBM, HistGradientBoosting and
CatBoost have balanced class weights, XGBoost such weights of rows; all else is as it comes. Who cannot be fitted on a
fold of a set has no figure there and the last rank.
"""


def render(entries: Entries) -> str:
    """A table for every measure, and who is missing."""
    parts = [HEAD, *(render_measure(entries, measure, RANKED) for measure in SHOWN)]
    parts.append(render_measure(entries, PLAIN_LOG_LOSS, (OURS_UNDER_PRIOR, PEER_UNDER_PRIOR)))
    absent = [
        f"{method} on {name} ({entry['left_out']})"
        for name, by_method in entries.items()
        for method, entry in by_method.items()
        if "left_out" in entry
    ]
    parts += [f"Left out: {'; '.join(absent)}.\n"] if absent else []
    return "\n".join(parts)


def render_measure(entries: Entries, measure: Measure, methods: Sequence[str]) -> str:
    """Sets in rows, methods in columns; means and mean ranks below."""
    table = means(entries, measure.key, methods)
    if not table:
        return ""
    ranks = mean_ranks(table, measure)
    rows = [{"": name, **cells_of(row, measure)} for name, row in table.items()]
    rows.append({"": "mean", **cells_of(mean_values(table), measure)})
    rows.append({"": "mean rank", **{name: cell_of(rank, min(ranks.values()), 2) for name, rank in ranks.items()}})
    title = measure.title[0].upper() + measure.title[1:]
    return f"### {title}\n\n{measure.direction.capitalize()}.\n\n{page.markdown(rows)}\n"


def cells_of(row: Mapping[str, float], measure: Measure) -> dict[str, str]:
    """The values of methods, the best of them bold."""
    leading = measure.best([value for value in row.values() if not math.isnan(value)] or [math.nan])
    return {name: cell_of(value, leading) for name, value in row.items()}


def cell_of(value: float, leading: float, digits: int = 3) -> str:
    """A value; bold if it looks like the leading one."""
    if math.isnan(value):
        return "–"
    words = f"{value:.{digits}f}"
    return f"**{words}**" if words == f"{leading:.{digits}f}" else words
