"""Rendering: the report in, texts out: every table as Markdown, CSV and LaTeX, and the summary as Markdown."""

import csv
import io
import json
from typing import Any

from comboost.study._summary import render_summary

__all__ = ["render_csv", "render_files", "render_latex", "render_markdown"]

NOTHING = "–"
MARKS = (("best_corrected", "°", r"^{\circ}"), ("best_of_all", "★", r"^{\star}"), ("worst", "†", r"^{\dagger}"))
CSV_FIELDS = (
    "block", "row", "column", "mean", "std", "n", "best", "best_corrected", "best_of_all", "worst", "text",
    "paper_mean", "paper_std", "paper_bold", "paper_worst", "paper_text",
)  # fmt: skip


def render_files(report: dict[str, Any]) -> dict[str, str]:
    """Render the tables, the summary and the report itself.

    Parameters
    ----------
    report : dict
        From `make_report`.

    Returns
    -------
    dict of str to str
        Texts by the names of their files.
    """
    texts = {"report.json": json.dumps(report, indent=1, ensure_ascii=False) + "\n"}
    texts["summary.md"] = render_summary(report)
    stems = {name: f"table-{place}-{name}" for place, name in enumerate(report["tables"], 1)}
    for table in (*report["tables"].values(), report["times"]):
        stem = stems.get(table["name"], table["name"])
        texts[f"{stem}.md"] = render_markdown(table)
        texts[f"{stem}.csv"] = render_csv(table)
        texts[f"{stem}.tex"] = render_latex(table)
    return texts


def render_markdown(table: dict[str, Any]) -> str:
    """Render a table as Markdown; a column of the paper's figures stands right of ours."""
    parts = [f"# {table['title']}", *table["notes"]]
    for block in _shown(table):
        if block["label"]:
            parts.append(f"## {block['label']}")
        heads = [block["corner"], *_heads(block)]
        lines = [
            heads,
            ["---"] * len(heads),
            *([row["label"], *_texts(block, row, _markdown)] for row in block["rows"]),
        ]
        parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
    return "\n\n".join(parts) + "\n"


def render_latex(table: dict[str, Any]) -> str:
    """Render a table as LaTeX, a tabular for each block."""
    lines = [rf"% {note}" for note in [table["title"], *table["notes"]]]
    for block in _shown(table):
        heads = [block["corner"], *_heads(block)]
        lines += [
            "",
            rf"% {block['label']}" if block["label"] else "%",
            rf"\begin{{tabular}}{{l{'c' * (len(heads) - 1)}}}",
        ]
        lines += [r"\hline", _latex_row([_escape(head) for head in heads]), r"\hline"]
        lines += [_latex_row([_escape(row["label"]), *_texts(block, row, _latex)]) for row in block["rows"]]
        lines += [r"\hline", r"\end{tabular}"]
    return "\n".join(lines) + "\n"


def render_csv(table: dict[str, Any]) -> str:
    """Render a table as CSV, a line for each cell, with full precision."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, CSV_FIELDS, lineterminator="\n")
    writer.writeheader()
    for block in _shown(table):
        for row in block["rows"]:
            for column, cell in zip(block["columns"], row["cells"], strict=True):
                if cell is not None:
                    paper = {f"paper_{name}": value for name, value in (cell.get("paper") or {}).items()}
                    own = {name: value for name, value in cell.items() if name != "paper"}
                    place = {"block": block["label"], "row": row["label"], "column": column["label"]}
                    writer.writerow(place | own | paper)
    return stream.getvalue()


def _shown(table: dict[str, Any]) -> list[dict[str, Any]]:
    """The blocks that have anything to show."""
    return [block for block in table["blocks"] if any(cell for row in block["rows"] for cell in row["cells"])]


def _heads(block: dict[str, Any]) -> list[str]:
    return [head for column in block["columns"] for head in [column["label"], *(["paper"] if column["paper"] else [])]]


def _texts(block: dict[str, Any], row: dict[str, Any], render: Any) -> list[str]:
    texts = []
    for column, cell in zip(block["columns"], row["cells"], strict=True):
        texts.append(render(cell))
        if column["paper"]:
            texts.append(render((cell or {}).get("paper")))
    return texts


def _markdown(cell: dict[str, Any] | None) -> str:
    if cell is None or cell.get("text", cell.get("mean")) is None:
        return NOTHING
    if "text" in cell:
        return str(cell["text"])
    mean = f"{cell['mean']:.3f}"
    std = f" ± {cell['std']:.3f}" if cell.get("std") is not None else ""
    signs = "".join(sign for name, sign, _ in MARKS if cell.get(name))
    return (f"**{mean}**" if _is_bold(cell) else mean) + std + (f" {signs}" if signs else "")


def _latex(cell: dict[str, Any] | None) -> str:
    if cell is None or cell.get("text", cell.get("mean")) is None:
        return "--"
    if "text" in cell:
        return _escape(str(cell["text"]))
    mean = f"{cell['mean']:.3f}"
    std = rf" \pm {cell['std']:.3f}" if cell.get("std") is not None else ""
    signs = "".join(sign for name, _, sign in MARKS if cell.get(name)).replace("}^{", " ")
    shown = rf"\mathbf{{{mean}}}" if _is_bold(cell) else mean
    return f"${shown}{std}{signs}$"


def _is_bold(cell: dict[str, Any]) -> bool:
    return bool(cell.get("best") or cell.get("bold"))


def _latex_row(texts: list[str]) -> str:
    return " & ".join(texts) + r" \\"


def _escape(text: str) -> str:
    for sign in "&%$#_{}":
        text = text.replace(sign, "\\" + sign)
    return text.replace("‖C‖", r"$\|\mathbf{C}\|$")
