"""The report as text. In: the report. Out: every table as Markdown, CSV and LaTeX, and the summary as Markdown."""

import csv
import io
import json
from typing import Any

from comboost.study._summary import render_summary

EMPTY_CELL = "–"
MARKS = (("best_corrected", "°", r"^{\circ}"), ("best_of_all", "★", r"^{\star}"), ("worst", "†", r"^{\dagger}"))
LATEX_SIGNS = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}
LATEX_ESCAPES = str.maketrans(LATEX_SIGNS | {sign: f"\\{sign}" for sign in "&%$#_{}"})
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
    for block in shown_blocks(table):
        if block["label"]:
            parts.append(f"## {block['label']}")
        heads = [block["corner"], *heads_of(block)]
        lines = [
            heads,
            ["---"] * len(heads),
            *([row["label"], *texts_of(block, row, markdown_cell)] for row in block["rows"]),
        ]
        parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
    return "\n\n".join(parts) + "\n"


def render_latex(table: dict[str, Any]) -> str:
    """Render a table as LaTeX, a tabular for each block."""
    lines = [latex_comment(note) for note in [table["title"], *table["notes"]]]
    for block in shown_blocks(table):
        heads = [block["corner"], *heads_of(block)]
        lines += [
            "",
            latex_comment(block["label"]),
            rf"\begin{{tabular}}{{l{'c' * (len(heads) - 1)}}}",
        ]
        lines += [r"\hline", latex_row([escape_latex(head) for head in heads]), r"\hline"]
        lines += [latex_row([escape_latex(row["label"]), *texts_of(block, row, latex_cell)]) for row in block["rows"]]
        lines += [r"\hline", r"\end{tabular}"]
    return "\n".join(lines) + "\n"


def render_csv(table: dict[str, Any]) -> str:
    """Render a table as CSV, a line for each cell, with full precision."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, CSV_FIELDS, lineterminator="\n")
    writer.writeheader()
    for block in shown_blocks(table):
        for row in block["rows"]:
            for column, cell in zip(block["columns"], row["cells"], strict=True):
                if cell is not None:
                    paper = {f"paper_{name}": value for name, value in (cell.get("paper") or {}).items()}
                    own = {name: value for name, value in cell.items() if name != "paper"}
                    place = {"block": block["label"], "row": row["label"], "column": column["label"]}
                    writer.writerow(place | own | paper)
    return stream.getvalue()


def shown_blocks(table: dict[str, Any]) -> list[dict[str, Any]]:
    """The blocks that have anything to show."""
    return [block for block in table["blocks"] if any(cell for row in block["rows"] for cell in row["cells"])]


def heads_of(block: dict[str, Any]) -> list[str]:
    """The heads of the columns but the first."""
    return [head for column in block["columns"] for head in [column["label"], *(["paper"] if column["paper"] else [])]]


def texts_of(block: dict[str, Any], row: dict[str, Any], render: Any) -> list[str]:
    """The cells of a row, rendered, the paper's beside ours."""
    texts = []
    for column, cell in zip(block["columns"], row["cells"], strict=True):
        texts.append(render(cell))
        if column["paper"]:
            texts.append(render((cell or {}).get("paper")))
    return texts


def markdown_cell(cell: dict[str, Any] | None) -> str:
    """Render one cell as Markdown."""
    if cell is None or cell.get("text", cell.get("mean")) is None:
        return EMPTY_CELL
    if "text" in cell:
        return str(cell["text"])
    mean = f"{cell['mean']:.3f}"
    std = f" ± {cell['std']:.3f}" if cell.get("std") is not None else ""
    signs = "".join(sign for name, sign, _ in MARKS if cell.get(name))
    return (f"**{mean}**" if is_bold(cell) else mean) + std + (f" {signs}" if signs else "")


def latex_cell(cell: dict[str, Any] | None) -> str:
    """Render one cell as LaTeX."""
    if cell is None or cell.get("text", cell.get("mean")) is None:
        return "--"
    if "text" in cell:
        return escape_latex(str(cell["text"]))
    mean = f"{cell['mean']:.3f}"
    std = rf" \pm {cell['std']:.3f}" if cell.get("std") is not None else ""
    signs = "".join(sign for name, _, sign in MARKS if cell.get(name)).replace("}^{", " ")
    shown = rf"\mathbf{{{mean}}}" if is_bold(cell) else mean
    return f"${shown}{std}{signs}$"


def is_bold(cell: dict[str, Any]) -> bool:
    """Whether a figure is marked as the best, by us or by the paper."""
    return bool(cell.get("best") or cell.get("bold"))


def latex_comment(text: str) -> str:
    """A comment: one line, whatever the text is."""
    return " ".join(["%", *text.split()])


def latex_row(texts: list[str]) -> str:
    """Join the cells of a row."""
    return " & ".join(texts) + r" \\"


def escape_latex(text: str) -> str:
    """Write text so that LaTeX shows it as it is."""
    return " ".join(text.split()).translate(LATEX_ESCAPES).replace("‖C‖", r"$\|\mathbf{C}\|$")
