"""The page of full runs. In: the stored results. Out: docs/quality.md, by ``python -m benchmarks.quality.page``.

With ``--quick`` it is made of the results of a quick run, and written beside them.
"""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks._lib import page
from benchmarks._lib.machine import REPOSITORY
from benchmarks._lib.verdicts import Verdict
from benchmarks.quality import curve_tables, fold_tables, pictures
from benchmarks.quality.problems import RACES, SETS, Problem
from benchmarks.quality.reaching import with_figures
from benchmarks.quality.store import Store, folder_of
from benchmarks.quality.verdicts import judge_curves, judge_folds

KINDS = {"curves": RACES, "folds": SETS}
FOLDER = "quality"  # beside the page: pictures, and the curves as CSV

HEAD = """# Quality, and the time to get there

How good the predictions are beside those of other classifiers, and how soon; losses included. To repeat it (an hour for
the curves, a quarter of one for the folds; nothing else should run):

```sh
pip install ".[bench]"
python -m benchmarks.quality                # both; `curves` or `folds` is one of them, --quick takes minutes
python -m benchmarks.quality.page           # writes this page
```

What is stored is not run again, so an interrupted run goes on where it was; `--again --method NAME` runs a method anew,
and `--list` names problems and methods. Connect-4 is not bundled: `COMBOOST_DATA` names the folder that has it. All get
the same rows as numbers, words as their codes. The eight bundled sets are among the problems on which the defaults of
`ConfusionBoostingClassifier` were chosen.
"""


def render_verdicts(verdicts: Sequence[Verdict]) -> str:
    """Figures beside what was asked for."""
    rows = [
        {
            "figure": verdict.question,
            "measured": "–" if verdict.ratio is None else f"{verdict.ratio:.4g}",
            "target": f"{verdict.target.comparison} {verdict.target.value:.4g}",
            "": "reached" if verdict.reached else "**missed**" if verdict.reason is None else verdict.reason,
        }
        for verdict in verdicts
    ]
    return f"## Targets\n\n{page.markdown(rows)}\n"


def render_runs(stored: Mapping[str, Any]) -> str:
    """When, where, with what and by which commands."""
    lines = [
        f"- {kind}, {count_entries(content, started)} entries: {describe_run(run)}"
        for kind, content in stored.items()
        for started, run in content["runs"].items()
    ]
    versions = {render_versions(run) for content in stored.values() for run in content["runs"].values()}
    return "\n".join(["## Runs", "", *lines, "", *sorted(versions), ""])


def render_versions(run: Mapping[str, Any]) -> str:
    """Versions of all that took part."""
    return ", ".join(f"{name} {version}" for name, version in run["versions"].items()) + "."


def count_entries(content: Mapping[str, Any], started: str) -> int:
    """Entries that come from a run."""
    return sum(entry["run"] == started for methods in content["entries"].values() for entry in methods.values())


def describe_run(run: Mapping[str, Any]) -> str:
    """A run in a line."""
    machine, source, settings = run["machine"], run["source"], run["settings"]
    differing = " (but the comboost that was run differs from it)" * bool(source["comboost_differs_from_repository_in"])
    return (
        f"`{run['command']}`, {run['started'][:10]}, commit `{source['commit'][:12]}`{differing}, {machine['cpu']}, "
        f"{machine['cores']} cores, {machine['memory_gib']} GiB, {settings['threads']} threads, at most "
        f"{settings['budget']:g} s for the fit of a curve."
    )


def render_page(stored: Mapping[str, Any]) -> str:
    """The whole page."""
    curves, folds = (stored[kind]["entries"] for kind in KINDS)
    parts = [HEAD, render_verdicts([*judge_curves(curves), *judge_folds(folds)])]
    parts += [curve_tables.render(curves, FOLDER)] if curves else []
    parts += [fold_tables.render(folds)] if folds else []
    return "\n".join([*parts, render_runs(stored)])


def in_order(content: dict[str, Any], problems: Sequence[Problem]) -> dict[str, Any]:
    """The same, with the problems in their order, not in that of the runs."""
    entries = content["entries"]
    return {**content, "entries": {one.name: entries[one.name] for one in problems if one.name in entries}}


def main() -> None:
    quick = "--quick" in sys.argv[1:]
    stored = {kind: in_order(Store(kind, quick=quick).read(), problems) for kind, problems in KINDS.items()}
    if not any(content["entries"] for content in stored.values()):
        raise SystemExit("there is no run yet: python -m benchmarks.quality")
    docs = folder_of(quick=True) if quick else REPOSITORY / "docs"
    curves = stored["curves"]["entries"]
    curve_tables.write_csv(curves, docs / FOLDER / "curves.csv")
    for problem, entries in curves.items():
        if race := with_figures(entries):
            pictures.draw(problem, race, docs / FOLDER / f"{problem}.svg")
    page.write_page(docs / "quality.md", "python -m benchmarks.quality.page", render_page(stored))


if __name__ == "__main__":
    main()
