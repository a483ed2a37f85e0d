"""The page. In: a run's figures. Out: docs/threads.md, with what was not reached."""

import statistics
from typing import Any

MOST = {"alone": 1 / 1.8, "beside 1": 1.1, "beside 2": 1.2, "quota": 1.1}  # times of one thread
HEAD = """# What a second thread is worth

`python -m benchmarks.threads` writes this page: milliseconds per round, 1 thread and 2, of 50 000 × 30 rows, 5 classes,
trees of depth 6. The two take turns; a figure is the median of {repeats} fits, and a fit's the mean of its rounds, so
threads that wait for each other show.
[How the threads work](decisions/0008-threads.md).
"""


def times(figures: list[dict[str, Any]], what: str) -> tuple[float, float]:
    """Of 1 thread, and of 2."""
    one, two = (statistics.median(f["ms"]) for n in (1, 2) for f in figures if (f["what"], f["threads"]) == (what, n))
    return one, two


def names_of(figures: list[dict[str, Any]]) -> list[str]:
    """What was measured, in order."""
    return list(dict.fromkeys(figure["what"] for figure in figures))


def rows_of(part: dict[str, Any]) -> list[str]:
    """A table's rows for one place."""
    rows = []
    for what in names_of(part["figures"]):
        one, two = times(part["figures"], what)
        goal = MOST[part["name"]] if what.startswith("comboost") else None
        verdict = "" if goal is None else f"≤ {goal:.2f}, {'reached' if two <= goal * one else 'missed'}"
        rows.append(f"| {part['words']} | {what} | {one:.1f} | {two:.1f} | {two / one:.2f} | {verdict} |")
    return rows


def render(run: dict[str, Any]) -> str:
    """The whole page."""
    lines = [HEAD.format(repeats=run["repeats"]), f"Run of {run['started'][:10]}, commit `{run['commit'][:12]}`, "]
    lines[-1] += f"{run['machine']['cpu']}, {run['machine']['cores']} cores; other programs kept {run['others']:.1f} "
    lines[-1] += "cores busy.\n"
    lines += ["| where | | 1 thread | 2 threads | ratio | goal |", "|---|---|---|---|---|---|"]
    for part in run["parts"]:
        if part["name"] != "shapes":
            lines += rows_of(part)
    for part in run["parts"]:
        if part["name"] == "shapes":
            lines += ["", "CoMBo at its own depth, 2 threads against 1; no shape is to be slower.\n"]
            lines += ["| rows | 1 thread | 2 threads | ratio |", "|---|---|---|---|"]
            for what in names_of(part["figures"]):
                one, two = times(part["figures"], what)
                lines.append(f"| {what} | {one:.3f} | {two:.3f} | {two / one:.2f} |")
    return "\n".join(lines) + "\n"
