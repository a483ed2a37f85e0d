"""The page of full runs. In: the stored results. Out: docs/tables.md, by ``python -m benchmarks.tables.page``."""

from collections.abc import Callable
from typing import Any

from benchmarks._lib import page
from benchmarks._lib.machine import REPOSITORY
from benchmarks._lib.page import MUCH_DISTURBED
from benchmarks._lib.store import Row
from benchmarks.tables import results

PAGE = REPOSITORY / "docs" / "tables.md"

HEAD = """# Tables: categories, missing values, validation, containers, odd shapes

What these cost, losses included. To repeat it (half an hour; nothing else should run):

```sh
pip install ".[bench]" pandas polars pyarrow
python -m benchmarks.tables                  # --quick takes minutes, --case NAME picks one, --list names them
python -m benchmarks.tables.page             # writes this page
```

Times are medians of repeats in which the candidates take turns, in both orders; but those of a round with missing
values are taken as in [performance](performance.md), and those of odd shapes are of a single fit. Memory is the peak of
a fresh process minus what it held before the fit.
"""


def describe_plain(rows: list[Row]) -> str:
    """What it is about."""
    return (
        "A table of numbers, none of them missing, should not pay for tables that have categories and missing values. "
        f"Instructions of the kernels, over those of the core that knew of neither: {span(rows, 'after / before', 3)}."
    )


def describe_categories(rows: list[Row]) -> str:
    """Who is better and who is faster."""
    better, worse = (
        [row for row in rows if sign * (row["norm, native"] - row["norm, one-hot"]) > 0] for sign in (-1, 1)
    )
    return (
        "The same booster on columns of categories, and on a column of zeros and ones for each category (dense "
        f"float32). Native categories have the lower norm of the confusion matrix in {len(better)} of {len(rows)} "
        f"settings and the higher one in {len(worse)}. Fits on one-hot columns take "
        f"{span(rows, 'one-hot / native')} times as long, {span(rows, 'with encoding')} times with the encoding. "
        "Norm and G-mean are means over held-out folds, the same for both; rounds are those kept, native and one-hot."
    )


def describe_wide(rows: list[Row]) -> str:
    """How ours compares with everybody else, in time and in norm."""
    ours, *others = rows
    faster = [f"{row['method']} ({row['fit, s'] / ours['fit, s']:.2g})" for row in others]
    ahead = [row["method"] for row in others if row["norm"] < ours["norm"]]
    return (
        "Every class has a random subset of each column's categories. Peers take them their own way, at depth 3 and "
        "a learning rate of 0.1, and minimise the log loss. "
        f"Times of the others over that of native ours: {', '.join(faster)}. "
        f"A lower norm on held-out rows than native ours: {', '.join(ahead) or 'nobody'}."
    )


def describe_sparse(rows: list[Row]) -> str:
    """Who is faster and who is better."""
    ahead = [row["method"] for row in rows if row["over LightGBM's"] > 1]
    best = min(rows, key=lambda row: row["norm"])
    return (
        "Sparse matrices stay sparse; all methods have their defaults, peers with balanced weights, but where a row "
        f"says otherwise. Slower than LightGBM: {', '.join(ahead) or 'nobody'}. The lowest norm on held-out texts: "
        f"{best['method']}."
    )


def describe_sparse_wide(rows: list[Row]) -> str:
    """How memory grows."""
    return (
        "Words after a law of rare ones, five classes. Memory grows with the entries: over what was planned it is "
        f"{span(rows, 'over input / footprint')}."
    )


def describe_rare(rows: list[Row]) -> str:
    """What the shared code loses, beside codes for all and beside the peers."""
    by_method: dict[str, list[float]] = {}
    for row in rows:
        by_method.setdefault(row["method"], []).append(row["accuracy"])
    ours, *others = [(name, sum(found) / len(found)) for name, found in by_method.items()]
    ahead = [f"{name} {mean - ours[1]:+.3f}" for name, mean in others]
    return (
        "Of more than 254 categories the most frequent have codes of their own and the others share one. Every "
        "category has an effect of its own on every class. Accuracy on held-out rows, of all and of those whose "
        "category has a code of its own here or has none; `a code for each` is the same booster on several columns, "
        f"each with codes for 250 of the categories. Accuracy beyond ours, on average: {', '.join(ahead)}."
    )


def describe_missing(rows: list[Row]) -> str:
    """What missing values add to a round."""
    first, *others = rows
    added = [f"{row['comboost, ms'] / first['comboost, ms']:.2f} with {row['missing']}" for row in others]
    lost = [row["missing"] for row in rows if row["ours / best peer"] > 1]
    return (
        "Values are missing at random. A round of ours takes, times that without missing values: "
        f"{', '.join(added)}. Slower than the best peer: {', '.join(lost) or 'nowhere'}. Peers grow a tree per class "
        "and round, ours one tree: see [performance](performance.md)."
    )


def describe_early_stopping(rows: list[Row]) -> str:
    """What is divided by what."""
    return (
        "Time of a fit that is validated after every round, on another tenth of the rows, over the time of the same "
        "fit without. Nothing stops early here: both do all their rounds. `None` is the log-loss of the votes."
    )


def describe_copies(rows: list[Row]) -> str:
    """Who needs how much more."""
    most = max(rows, key=lambda row: row["beyond it, MiB"])
    least = min(rows, key=lambda row: row["beyond it, MiB"])
    return (
        "Memory that a fit takes over X, beside what it plans to take whatever X is (the footprint: codes, costs, "
        f"rows, histograms). Beyond that (negative: below it): {page.cell(least['beyond it, MiB'])} MiB ({least['X']}) "
        f"to {page.cell(most['beyond it, MiB'])} MiB ({most['X']}). Slack is memory that libraries had freed but kept: "
        "a fit may have used it unseen."
    )


def describe_odd(rows: list[Row]) -> str:
    """Which fits needed more than planned."""
    over = [
        f"{row['problem']} ({row['over input / footprint']:.2f})"
        for row in rows
        if row["over input / footprint"] is not None and row["over input / footprint"] > 1
    ]
    refused = [row["problem"] for row in rows if row["over input, MiB"] is None]
    return (
        "The footprint is what a fit plans to take beside its input, and by which it is refused if there is less. "
        f"More than planned: {', '.join(over) or 'none'}. Refused: {', '.join(refused) or 'none'}. The time per round "
        "is that of the rounds after the first."
    )


def span(rows: list[Row], key: str, digits: int = 2) -> str:
    """The least and the greatest value of a column."""
    values = [row[key] for row in rows]
    return f"{min(values):.{digits}g} to {max(values):.{digits}g}"


#: Headings, the cases under each, and what to say about their rows.
SECTIONS: tuple[tuple[str, tuple[str, ...], Callable[[list[Row]], str]], ...] = (
    ("The plain path", ("plain",), describe_plain),
    ("Categories or one-hot columns", ("categories",), describe_categories),
    ("Many categories", ("categories-wide",), describe_wide),
    ("Text", ("sparse",), describe_sparse),
    ("Very wide and sparse", ("sparse-wide",), describe_sparse_wide),
    ("More categories than codes", ("categories-rare",), describe_rare),
    ("Missing values", ("missing",), describe_missing),
    ("Validation", ("early_stopping",), describe_early_stopping),
    ("Copies", ("copies",), describe_copies),
    ("Odd shapes", ("odd-small", "odd-classes", "odd-rows"), describe_odd),
)


def render_section(heading: str, runs: list[dict[str, Any]], describe: Callable[[list[Row]], str]) -> str:
    """A heading, what was found, the table, and where it was measured."""
    rows = [row for run in runs for table in run["entry"]["tables"].values() for row in table]
    titles = "; ".join(run["entry"]["title"] for run in runs)
    parts = [f"## {heading}", f"{titles[0].upper()}{titles[1:]}."]
    parts += [describe(rows), render_targets(runs), page.markdown(rows), render_left_out(runs)]
    parts += map(render_setting, runs)
    return "\n\n".join(filter(None, parts)) + "\n"


def render_targets(runs: list[dict[str, Any]]) -> str:
    """How many targets were reached, and which were not."""
    verdicts = [verdict for run in runs for verdict in run["entry"]["verdicts"]]
    if not verdicts:
        return ""
    missed = [page.verdict(verdict) for verdict in verdicts if not verdict["reached"]]
    targets = " and ".join(sorted({verdict["target"] for verdict in verdicts}))
    head = f"Targets ({targets}) reached: {len(verdicts) - len(missed)} of {len(verdicts)}."
    return head + (f" **Missed**: {'; '.join(missed)}." if missed else "")


def render_left_out(runs: list[dict[str, Any]]) -> str:
    """Who could not take part, and why."""
    left_out = {name: reason for run in runs for name, reason in run["entry"]["left_out"].items()}
    return "\n".join(f"Without {name}: {reason}." for name, reason in left_out.items())


def render_setting(run: dict[str, Any]) -> str:
    """When, where and by which command."""
    machine, busy = run["machine"], run["entry"]["disturbance"]
    noise = f" Other programs kept {busy:.2f} cores busy: do not trust the times." if busy > MUCH_DISTURBED else ""
    return (
        f"`{run['command']}`, {run['started'][:10]}, commit `{run['source']['commit'][:12]}`, {machine['cpu']}, "
        f"{machine['cores']} cores, {machine['memory_gib']} GiB, {run['settings']['threads']} threads.{noise}"
    )


def render_versions(runs: list[dict[str, Any]]) -> str:
    """The versions of all that took part, once if all runs have the same."""
    lines = {", ".join(f"{name} {version}" for name, version in run["versions"].items()) for run in runs}
    return "\n".join(["## Versions", "", *(f"{line}." for line in sorted(lines))]) + "\n"


def render_page(sections: dict[str, str], runs: list[dict[str, Any]]) -> str:
    """The whole page."""
    return "\n".join([HEAD, *sections.values(), render_versions(runs)])


def main() -> None:
    sections, everything = {}, []
    for heading, names, describe in SECTIONS:
        runs = [run for run in map(results.read, names) if run is not None]
        if any(run["settings"]["quick"] for run in runs):
            raise SystemExit(
                f"{heading}: these are figures of a quick run; run these cases in full: {', '.join(names)}"
            )
        if len(runs) < len(names):
            print(f"{heading}: without the cases of {', '.join(names)} that have not been run yet")
        if runs:
            sections[heading] = render_section(heading, runs, describe)
            everything += runs
    if not sections:
        raise SystemExit("there is no full run yet: python -m benchmarks.tables")
    page.write_page(PAGE, "python -m benchmarks.tables.page", render_page(sections, everything))


if __name__ == "__main__":
    main()
