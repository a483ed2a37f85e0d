"""The report as Markdown. In: its summary. Out: text with tables as GitHub has them, in which all names are escaped."""

import html as markup
import re
from collections.abc import Iterable, Sequence
from typing import Any

from comboost.displays._labels import readable
from comboost.report._wording import counted

SPECIAL = re.compile(r"([\\`*_{}\[\]|#~$!])")
MOST_COLUMNS_SHOWN = 20  # of a confusion matrix
NOTHING_THERE = "–"


def write_markdown(summary: dict[str, Any]) -> str:
    """Write the whole report."""
    sections = [
        heading(summary),
        measures_section(summary),
        classes_section(summary),
        *(confusion_section(model, summary) for model in summary["models"]),
        pairs_section(summary),
        bounds_section(summary),
        curves_section(summary),
        calibration_section(summary),
        importances_section(summary),
        settings_section(summary),
        reproduction_section(summary),
    ]
    return "\n\n".join(block for section in sections for block in section) + "\n"


# Text


def escaped(text: Any) -> str:
    """Text as it is, in one line, whatever signs it holds."""
    return SPECIAL.sub(r"\\\1", markup.escape(readable(text), quote=False))


def decimals_of(value: float | None, digits: int = 3) -> str:
    """A number, or a dash if there is none."""
    return NOTHING_THERE if value is None else f"{value:.{digits}f}"


def gap(value: float | None) -> str:
    """A difference, with its sign."""
    return NOTHING_THERE if value is None else f"{value:+.3f}"


def limits(low: float | None, high: float | None, *, signed: bool = False) -> str:
    """Two limits, or a dash if there are none."""
    show = gap if signed else decimals_of
    return NOTHING_THERE if low is None or high is None else f"{show(low)} to {show(high)}"


def grid(heads: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> str:
    """A table; all but the first columns are of figures."""
    rules = ["---" if place < left else "---:" for place in range(len(heads))]
    return "\n".join(f"| {' | '.join(line)} |" for line in [heads, rules, *rows])


def fenced(code: str) -> str:
    """Code in a block, whatever is in it."""
    longest = max((len(run) for run in re.findall(r"`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{code}\n{fence}"


def bullets(sentences: Iterable[str]) -> str:
    """Sentences below each other."""
    return "\n".join(f"- {escaped(sentence)}" for sentence in sentences)


def absence(summary: dict[str, Any], part: str, title: str) -> list[str]:
    """A part that is not there, and why."""
    return [f"## {title}", escaped(summary["absent"].get(part, "There is nothing to show."))]


# Sections


def heading(summary: dict[str, Any]) -> list[str]:
    """What was asked, the verdict, and what to know first."""
    blocks = [f"# {escaped(summary['title'])}", escaped(summary["asked"]["sentence"])]
    blocks += ["## Verdict", " ".join(f"**{escaped(sentence)}**" for sentence in summary["verdict"]["sentences"])]
    return [*blocks, "## Notes", bullets(summary["notes"])] if summary["notes"] else blocks


def measures_section(summary: dict[str, Any]) -> list[str]:
    """All measures of all models, and their differences."""
    models = summary["models"]
    keys = {each["key"]: each for model in models for each in model["measures"]}
    differences = {each["key"]: each for each in summary["differences"] or []}
    heads = ["measure", "best"]
    for model in models:
        heads += [escaped(model["name"]), "limits"]
    heads += ["difference", "limits"] if differences else []
    rows = []
    for key, each in keys.items():
        row = [escaped(each["name"]), each["best"]]
        for model in models:
            found = next((other for other in model["measures"] if other["key"] == key), None)
            row += [decimals_of(found["value"]), limits(found["low"], found["high"])] if found else [NOTHING_THERE] * 2
        if differences:
            gain = differences.get(key)
            row += [gap(gain["value"]), limits(gain["low"], gain["high"], signed=True)] if gain else [NOTHING_THERE] * 2
        rows.append(row)
    meanings = bullets(f"{each['name']}: {each['meaning']}" for each in keys.values())
    return ["## Measures", grid(heads, rows, left=2), meanings]


def classes_section(summary: dict[str, Any]) -> list[str]:
    """What is found of every class."""
    models = summary["models"]
    heads = ["class", "rows"]
    for model in models:
        heads += [f"recall of {escaped(model['name'])}", "limits", "precision", "most taken for"]
    heads += ["difference", "limits", "sure"] if len(models) > 1 else []
    rows = []
    for each in summary["classes"]:
        row = [escaped(each["name"]) + ("" if each["known"] else " (unknown to the model)"), f"{each['rows']:,}"]
        for found in each["models"]:
            row += [
                decimals_of(found["recall"]),
                limits(found["low"], found["high"]) if each["rows"] else NOTHING_THERE,
            ]
            row += [decimals_of(found["precision"]), taken_for(found)]
        gain = each["difference"]
        if gain:
            row += [gap(gain["value"]), limits(gain["low"], gain["high"], signed=True), "yes" if gain["sure"] else ""]
        elif len(models) > 1:
            row += [NOTHING_THERE] * 3
        rows.append(row)
    return ["## Recall of every class", grid(heads, rows)]


def taken_for(found: dict[str, Any]) -> str:
    """What a class is taken for most."""
    if found["taken_for"] is None:
        return NOTHING_THERE
    return f"{escaped(found['taken_for'])} ({100 * found['taken_for_share']:.0f} %)"


def confusion_section(model: dict[str, Any], summary: dict[str, Any]) -> list[str]:
    """Who is taken for whom, if there are not too many classes."""
    title = f"## What {escaped(model['name'])} takes classes for"
    columns = summary["columns"]
    if len(columns) > MOST_COLUMNS_SHOWN:
        return [title, f"The {len(columns):,} columns are in the JSON and on the page."]
    heads = ["truth, in rows", *map(escaped, columns)]
    rows = [
        [escaped(each["name"]), *(f"{n:,}" if n else "." for n in line)]
        for each, line in zip(summary["classes"], model["counts"], strict=True)
    ]
    return [title, grid(heads, rows)]


def pairs_section(summary: dict[str, Any]) -> list[str]:
    """The most confused pairs, with example rows."""
    blocks = ["## The most confused pairs"]
    if not summary["pairs"]:
        return [*blocks, "No class is taken for another one."]
    for pair in summary["pairs"]:
        rows_told = counted(pair["rows"], "row")
        told = f"{100 * pair['share']:.1f} % of {pair['truth']} ({rows_told}) taken for {pair['taken_for']}"
        if pair["baseline_share"] is not None:
            told += f"; the baseline: {100 * pair['baseline_share']:.1f} %"
        examples = pair["examples"]
        rows = [[escaped(row["row"]), *map(escaped, row["values"])] for row in examples["rows"]]
        blocks += [f"**{escaped(told)}**", grid(["row", *map(escaped, examples["columns"])], rows)]
    return blocks


def bounds_section(summary: dict[str, Any]) -> list[str]:
    """What is certified."""
    bounds = summary["bounds"]
    reason = [] if bounds["available"] else [bounds["reason"]]
    return ["## What is certified", bullets([*reason, *bounds["sentences"]])]


def curves_section(summary: dict[str, Any]) -> list[str]:
    """How training went, at its beginning, in its middle and at its end."""
    curves = summary["curves"]
    if curves is None:
        return absence(summary, "curves", "Training")
    last = len(curves["rounds"]) - 1
    places = sorted({0, last // 4, last // 2, last})
    rows = [
        [escaped(series["name"]), *(decimals_of(series["values"][place]) for place in places)]
        for series in curves["series"]
    ]
    heads = ["after round", *(str(curves["rounds"][place]) for place in places)]
    return ["## Training", grid(heads, rows), escaped(f"It ended by: {curves['stopped']}.")]


def calibration_section(summary: dict[str, Any]) -> list[str]:
    """How often a model is right when it is sure."""
    if summary["calibration"] is None:
        return absence(summary, "calibration", "Calibration")
    blocks = ["## Calibration", "How often the likeliest class is right, every class counting the same."]
    for model in summary["calibration"]:
        rows = [
            [
                f"{each['from']:.1f} to {each['to']:.1f}",
                f"{each['rows']:,}",
                decimals_of(each["predicted"]),
                decimals_of(each["right"]),
                limits(each["low"], each["high"]),
            ]
            for each in model["bins"]
        ]
        blocks += [
            f"**{escaped(model['model'])}**: on average {decimals_of(model['error'])} off",
            grid(["probability", "rows", "said", "right", "limits"], rows),
        ]
    return blocks


def importances_section(summary: dict[str, Any]) -> list[str]:
    """Which features matter to which class."""
    found = summary["importances"]
    if found is None:
        return absence(summary, "importances", "Important features")
    heads = ["class", *map(escaped, found["features"])]
    lines = [("all classes", found["overall"]), *zip(found["classes"], found["values"], strict=True)]
    rows = [[escaped(name), *(decimals_of(share) for share in shares)] for name, shares in lines]
    return ["## Important features", escaped(found["meaning"]), grid(heads, rows)]


def settings_section(summary: dict[str, Any]) -> list[str]:
    """What was set, and otherwise than by default."""
    blocks = ["## Settings"]
    for title, settings in (("Model", summary["settings"]), ("Baseline", summary["baseline_settings"])):
        changed = [each for each in settings or [] if each["changed"]]
        if settings:
            rows = [[escaped(each["name"]), escaped(each["value"]), escaped(each["default"])] for each in changed]
            blocks.append(f"{title}: {len(changed)} of {len(settings)} are not the defaults.")
            blocks += [grid(["name", "value", "default"], rows, left=3)] if rows else []
    return blocks


def reproduction_section(summary: dict[str, Any]) -> list[str]:
    """How to get the same report."""
    versions = ", ".join(f"{name} {version}" for name, version in summary["versions"].items())
    reproduce = summary["reproduce"]
    return [
        "## How to reproduce",
        bullets([*reproduce["sentences"], f"Versions: {versions}.", f"Digest: {reproduce['data_digest']}"]),
        fenced(reproduce["code"]),
    ]
