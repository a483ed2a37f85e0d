"""The report as Markdown, with tables in GitHub's syntax."""

import html as markup
import re
from collections.abc import Iterable, Sequence
from typing import Any

from comboost._stats.formatting import MISSING_VALUE, format_interval, format_number, pluralize, readable
from comboost.report._render.page import SECTIONS, metric_rows
from comboost.report._render.text import CANDIDATE_HEADERS, candidate_cells

SPECIAL = re.compile(r"([\\`*_{}\[\]|#~$!])")
MAX_MATRIX_COLUMNS = 20


def render_markdown(summary: dict[str, Any]) -> str:
    """Render the whole report."""
    sections = [
        header(summary),
        recalls_section(summary),
        metrics_section(summary),
        *(confusion_section(model, summary) for model in summary["models"]),
        pairs_section(summary),
        bounds_section(summary),
        curves_section(summary),
        calibration_section(summary),
        importances_section(summary),
        search_section(summary),
        settings_section(summary),
        reproduction_section(summary),
    ]
    return "\n\n".join(block for section in sections for block in section) + "\n"


# Syntax


def escaped(text: Any) -> str:
    """Text in one line, with special characters escaped."""
    return SPECIAL.sub(r"\\\1", markup.escape(readable(text), quote=False))


def heading(key: str, suffix: str = "") -> str:
    """The heading of a section."""
    return f"## {SECTIONS[key]}{suffix}"


def grid(headers: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> str:
    """A table; all but the first ``left`` columns are aligned to the right."""
    rules = ["---" if i < left else "---:" for i in range(len(headers))]
    return "\n".join(f"| {' | '.join(line)} |" for line in [headers, rules, *rows])


def fenced(code: str) -> str:
    """Code in a block, with a fence longer than any in the code."""
    longest = max((len(run) for run in re.findall(r"`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{code}\n{fence}"


def bullets(sentences: Iterable[str]) -> str:
    """Sentences as a list."""
    return "\n".join(f"- {escaped(sentence)}" for sentence in sentences)


def unavailable(summary: dict[str, Any], part: str) -> list[str]:
    """A section that is missing, and why."""
    return [heading(part), escaped(summary["unavailable"].get(part, "There is nothing to show."))]


def difference_cells(difference: dict[str, Any] | None) -> list[str]:
    """Value, interval and significance of a difference."""
    if difference is None:
        return [MISSING_VALUE] * 3
    interval = format_interval(difference["interval"], signed=True)
    return [format_number(difference["value"], signed=True), interval, "yes" if difference["significant"] else "no"]


# Sections


def header(summary: dict[str, Any]) -> list[str]:
    """Title, question, verdict and notes."""
    blocks = [f"# {escaped(summary['title'])}", escaped(summary["request"]["question"]), heading("verdict")]
    blocks.append(" ".join(f"**{escaped(sentence)}**" for sentence in summary["verdict"]["sentences"]))
    return [*blocks, "## Notes", bullets(summary["notes"])] if summary["notes"] else blocks


def recalls_section(summary: dict[str, Any]) -> list[str]:
    """Recall, precision and most frequent error of every class."""
    models = summary["models"]
    headers = ["class", "samples"]
    for model in models:
        headers += [f"recall of {escaped(model['name'])}", "interval", "precision", "mostly confused with"]
    headers += ["difference", "interval", "significant"] if len(models) > 1 else []
    rows = []
    for each in summary["classes"]:
        row = [escaped(each["name"]) + ("" if each["known"] else " (unknown to the model)"), f"{each['n_samples']:,}"]
        for entry in each["models"]:
            row += [format_number(entry["recall"]), format_interval(entry["interval"])]
            row += [format_number(entry["precision"]), confused_with(entry)]
        rows.append(row + (difference_cells(each["difference"]) if len(models) > 1 else []))
    return [heading("recalls"), grid(headers, rows)]


def confused_with(entry: dict[str, Any]) -> str:
    """The most frequent error of a class."""
    if entry["predicted_as"] is None:
        return MISSING_VALUE
    return f"{escaped(entry['predicted_as'])} ({100 * entry['predicted_as_fraction']:.0f} %)"


def metrics_section(summary: dict[str, Any]) -> list[str]:
    """All metrics of all models, and their differences."""
    models, differences = summary["models"], summary["differences"]
    headers = ["metric", "better"]
    for model in models:
        headers += [escaped(model["name"]), "interval"]
    headers += ["difference", "interval", "significant"] if differences else []
    rows = []
    for metric in metric_rows(summary):
        row = [escaped(metric["name"]), "higher" if metric["higher_is_better"] else "lower"]
        for entry in metric["models"]:
            row += (
                [MISSING_VALUE] * 2
                if entry is None
                else [format_number(entry["value"]), format_interval(entry["interval"])]
            )
        rows.append(row + (difference_cells(metric["difference"]) if differences else []))
    descriptions = bullets(f"{metric['name']}: {metric['description']}" for metric in metric_rows(summary))
    return [heading("metrics"), grid(headers, rows, left=2), descriptions]


def confusion_section(model: dict[str, Any], summary: dict[str, Any]) -> list[str]:
    """The confusion matrix of a model, if it is not too large."""
    title, labels = heading("confusions", f" of {escaped(model['name'])}"), summary["predicted_labels"]
    if len(labels) > MAX_MATRIX_COLUMNS:
        return [title, f"The JSON form of this report has all {len(labels):,} columns."]
    rows = [
        [escaped(each["name"]), *(f"{n:,}" if n else "." for n in line)]
        for each, line in zip(summary["classes"], model["confusion_matrix"], strict=True)
    ]
    return [title, grid(["true class", *map(escaped, labels)], rows)]


def pairs_section(summary: dict[str, Any]) -> list[str]:
    """The most confused pairs, with example samples."""
    if not summary["confused_pairs"]:
        return [heading("pairs"), "No class is confused with another."]
    blocks = [heading("pairs")]
    for pair in summary["confused_pairs"]:
        count = pluralize(pair["n_samples"], "sample")
        text = f"{100 * pair['fraction']:.1f} % of {pair['true_class']} ({count}) predicted as {pair['predicted_as']}"
        if pair["baseline_fraction"] is not None:
            text += f"; baseline: {100 * pair['baseline_fraction']:.1f} %"
        examples = pair["examples"]
        rows = [[escaped(each["index"]), *map(escaped, each["values"])] for each in examples["samples"]]
        blocks += [f"**{escaped(text)}**", grid(["sample", *map(escaped, examples["features"])], rows)]
    return blocks


def bounds_section(summary: dict[str, Any]) -> list[str]:
    """The bounds on the norm."""
    bounds = summary["bounds"]
    return [heading("bounds"), bullets([*([] if bounds["available"] else [bounds["reason"]]), *bounds["sentences"]])]


def curves_section(summary: dict[str, Any]) -> list[str]:
    """The curves at some rounds."""
    curves = summary["curves"]
    if curves is None:
        return unavailable(summary, "curves")
    last = len(curves["rounds"]) - 1
    chosen = sorted({0, last // 4, last // 2, last})
    rows = [
        [escaped(series["name"]), *(format_number(series["values"][i]) for i in chosen)] for series in curves["series"]
    ]
    headers = ["after round", *(str(curves["rounds"][i]) for i in chosen)]
    return [heading("curves"), grid(headers, rows), escaped(f"Stop reason: {curves['stop_reason']}.")]


def calibration_section(summary: dict[str, Any]) -> list[str]:
    """Accuracy by confidence."""
    if summary["calibration"] is None:
        return unavailable(summary, "calibration")
    blocks = [heading("calibration"), "Accuracy of the most probable class; all classes have the same weight."]
    for model in summary["calibration"]:
        rows = [
            [
                f"{each['lower']:.1f} to {each['upper']:.1f}",
                f"{each['n_samples']:,}",
                format_number(each["confidence"]),
                format_number(each["accuracy"]),
                format_interval(each["interval"]),
            ]
            for each in model["bins"]
        ]
        blocks += [
            f"**{escaped(model['model'])}**: calibration error {format_number(model['calibration_error'])}",
            grid(["bin", "samples", "confidence", "accuracy", "interval"], rows),
        ]
    return blocks


def importances_section(summary: dict[str, Any]) -> list[str]:
    """Importance of features by class."""
    importances = summary["importances"]
    if importances is None:
        return unavailable(summary, "importances")
    lines = [("all classes", importances["overall"])]
    lines += zip(importances["classes"], importances["values"], strict=True)
    rows = [[escaped(name), *(format_number(value) for value in values)] for name, values in lines]
    table = grid(["class", *map(escaped, importances["features"])], rows)
    return [heading("importances"), escaped(importances["description"]), table]


def search_section(summary: dict[str, Any]) -> list[str]:
    """Selected settings, and the candidates."""
    search = summary["search"]
    if search is None:
        return unavailable(summary, "search")
    blocks = [heading("search"), bullets(search["sentences"])]
    if not search["candidates"]:
        return blocks
    rows = [
        [f"**{cell}**" if each["outcome"] == "selected" else cell for cell in candidate_cells(each)]
        for each in search["candidates"]
    ]
    return [*blocks, grid(CANDIDATE_HEADERS, rows, left=0)]


def settings_section(summary: dict[str, Any]) -> list[str]:
    """Parameters that differ from their defaults, and versions."""
    blocks = [heading("settings")]
    for role, parameters in (("Model", summary["parameters"]), ("Baseline", summary["baseline_parameters"])):
        changed = [each for each in parameters or [] if each["changed"]]
        if parameters:
            rows = [[escaped(each["name"]), escaped(each["value"]), escaped(each["default"])] for each in changed]
            blocks.append(f"{role}: {len(changed)} of {len(parameters)} parameters differ from their defaults.")
            blocks += [grid(["parameter", "value", "default"], rows, left=3)] if rows else []
    versions = ", ".join(f"{name} {version}" for name, version in summary["versions"].items())
    return [*blocks, escaped(f"Versions: {versions}.")]


def reproduction_section(summary: dict[str, Any]) -> list[str]:
    """Methods, digest and code."""
    reproduction = summary["reproduction"]
    sentences = [*reproduction["sentences"], f"Digest: {reproduction['data_digest']}"]
    return [heading("reproduction"), bullets(sentences), fenced(reproduction["code"])]
