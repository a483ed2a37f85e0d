"""The summary. In: the report. Out: a page that says cell by cell how our figures stand beside the paper's."""

from collections import Counter
from typing import Any

from comboost.study._results import MEASURES
from comboost.study._verdicts import VERDICTS

TABLE_NAMES = {"rivals": "against the rivals", "mm": "against AdaBoost.MM"}


def count_verdicts(report: dict[str, Any], method: str = "CoMBo") -> dict[str, int]:
    """Count the cells of a method by verdict, from good to bad, without MAUC from softmax, which the paper lacks."""
    counts = Counter(cell["verdict"] for cell in cells_of(report, [method], softmax=False))
    return {verdict: counts[verdict] for verdict in VERDICTS}


def render_summary(report: dict[str, Any]) -> str:
    """Render the summary as Markdown."""
    others = [name for name in dict.fromkeys(cell["method"] for cell in report["verdicts"]) if name != "CoMBo"]
    parts = [
        "# The paper's experiment, beside the paper",
        tell_about(report["about"]),
        *(f"Left out: {name}. {reason}" for name, reason in report["about"]["left_out"].items()),
        *(f"Failed: {failure}" for failure in report["about"]["failures"]),
        "Our mean, rounded to the paper's three digits, is at least as good as the paper's, or within one standard "
        "error of it (our deviation by the root of the number of folds), or worse. MAUC is from votes, as the paper's; "
        "the lines of MAUC (softmax) compare our other kind of probabilities with the same figure and are not counted.",
        "## CoMBo",
        render_verdicts(report),
        "## How much hangs on the setting",
        render_settings(report),
        "## What the paper calls significant",
        render_claims(report["claims"]),
        *tell_satimage(report["tables"]["rivals"]),
        "## The other methods",
        *(f"{name}: {tell_counts(count_verdicts(report, name))}" for name in others),
        verdict_lines(cells_of(report, others)),
        "## On the paper's figures",
        *report["about"]["paper"]["notes"],
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def render_verdicts(report: dict[str, Any], method: str = "CoMBo") -> str:
    """Render every cell of a method beside the paper's, as Markdown, after a line that counts them."""
    return f"{tell_counts(count_verdicts(report, method))}\n\n{verdict_lines(cells_of(report, [method]))}"


def render_settings(report: dict[str, Any]) -> str:
    """Render how many of CoMBo's cells have which verdict, for every way to set its trees, as Markdown."""
    lines = [f"| setting | {' | '.join(VERDICTS)} |", "|---" * (len(VERDICTS) + 1) + "|"]
    lines += [
        f"| {setting} | {' | '.join(str(counts[verdict]) for verdict in VERDICTS)} |"
        for setting, counts in report["by_setting"].items()
    ]
    return "\n".join(lines)


def cells_of(report: dict[str, Any], methods: list[str], *, softmax: bool = True) -> list[dict[str, Any]]:
    """The cells of some methods, with or without those of MAUC from softmax."""
    return [
        cell
        for cell in report["verdicts"]
        if cell["method"] in methods and (softmax or cell["measure"] != "mauc_softmax")
    ]


def tell_about(about: dict[str, Any]) -> str:
    """Say what was run."""
    return (
        f"comboost {about['comboost']}, seed {about['seed']}, {about['n_runs']} runs of {about['n_folds']}-fold "
        f"cross-validation; CoMBo and AdaBoost.MM {about['n_rounds']} rounds, AdaBoost.NC and SMOTEBoost "
        f"{about['n_rival_rounds']}. Data sets: {', '.join(about['datasets'])}. Paper: {about['paper']['source']}."
    )


def tell_counts(counts: dict[str, int]) -> str:
    """Say how many cells have which verdict."""
    told = ", ".join(f"{n} {verdict}" for verdict, n in counts.items() if n)
    return f"{sum(counts.values())} cells: {told}."


def verdict_lines(cells: list[dict[str, Any]]) -> str:
    """A table with a line for every cell that was run."""
    lines = ["| table | measure | data set | method | ours | paper | verdict |", "|---|---|---|---|---|---|---|"]
    lines += [
        f"| {TABLE_NAMES[cell['table']]} | {MEASURES[cell['measure']].label} | {cell['dataset']} | {cell['method']} "
        f"| {tell_figure(cell['ours'])} | {tell_figure(cell['paper'])} | {tell_verdict(cell)} |"
        for cell in cells
        if cell["verdict"] != "not run"
    ]
    return "\n".join(lines)


def tell_figure(figure: dict[str, Any] | None) -> str:
    """Say a mean and its deviation."""
    return "–" if figure is None else f"{figure['mean']:.3f} ± {figure['std']:.3f}"


def tell_verdict(cell: dict[str, Any]) -> str:
    """Say the verdict, a bad one in bold."""
    return f"**{cell['verdict']}**" if cell["verdict"] == "worse" else str(cell["verdict"])


def render_claims(claims: list[dict[str, Any]]) -> str:
    """Render what the paper calls significant, and whether our folds say the same, as Markdown."""
    lines = [
        "| table | measure | data set | the paper says | paired t-test | corrected t-test |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {TABLE_NAMES[claim['table']]} | {MEASURES[claim['measure']].label} | {claim['dataset']} "
        f"| {claim['method']} is {claim['mark']} | {tell_holds(claim['holds'])} "
        f"| {tell_holds(claim['holds_corrected'])} |"
        for claim in claims
    ]
    return "\n".join(lines)


def tell_satimage(table: dict[str, Any]) -> list[str]:
    """Show the one data set on which the paper concedes a gap to its rivals."""
    block = table["blocks"][0]
    lines = [
        f"| {row['label']} | {column['label']} | {tell_figure(cell)} | {tell_figure(cell.get('paper'))} |"
        for row in block["rows"]
        for column, cell in zip(block["columns"], row["cells"], strict=True)
        if row["label"].startswith("satimage") and cell and cell["mean"] is not None
    ]
    if not lines:
        return []
    heads = ["| data set | method | ours | paper |", "|---|---|---|---|"]
    return ["## Satimage, where the paper is behind its rivals: G-mean", "\n".join(heads + lines)]


def tell_holds(holds: bool | None) -> str:
    """Say whether a claim holds."""
    return "–" if holds is None else "holds" if holds else "does not hold"
