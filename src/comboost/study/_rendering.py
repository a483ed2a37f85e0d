"""The report as text: tables as Markdown, CSV and LaTeX, and a summary as Markdown."""

import csv
import io
import json
from typing import Any

from comboost._stats.formatting import MISSING_VALUE, format_mean
from comboost.study._report import VERDICTS, count_verdicts
from comboost.study._results import MEASURES

MARKS = (("best_corrected", "°", r"^{\circ}"), ("best_of_all", "★", r"^{\star}"), ("worst", "†", r"^{\dagger}"))
LATEX_CHARACTERS = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}
LATEX_ESCAPES = str.maketrans(LATEX_CHARACTERS | {character: f"\\{character}" for character in "&%$#_{}"})
CSV_FIELDS = (
    "block", "row", "column", "mean", "std", "n", "best", "best_corrected", "best_of_all", "worst", "text",
    "paper_mean", "paper_std", "paper_bold", "paper_worst", "paper_text",
)  # fmt: skip
TABLE_NAMES = {"baselines": "against the baselines", "mm": "against AdaBoost.MM"}
HOLDS = {None: MISSING_VALUE, True: "holds", False: "does not hold"}


def render_files(report: dict[str, Any]) -> dict[str, str]:
    """Render the tables, the summary and the report itself.

    Parameters
    ----------
    report : dict
        From `make_report`.

    Returns
    -------
    dict of str to str
        Texts by file name.
    """
    texts = {"report.json": json.dumps(report, indent=1, ensure_ascii=False) + "\n"}
    texts["summary.md"] = render_summary(report)
    stems = {name: f"table-{number}-{name}" for number, name in enumerate(report["tables"], 1)}
    for table in (*report["tables"].values(), report["times"]):
        stem = stems.get(table["name"], table["name"])
        texts[f"{stem}.md"] = render_markdown(table)
        texts[f"{stem}.csv"] = render_csv(table)
        texts[f"{stem}.tex"] = render_latex(table)
    return texts


# Tables


def render_markdown(table: dict[str, Any]) -> str:
    """Render a table as Markdown; the paper's columns are to the right of ours."""
    parts = [f"# {table['title']}", *table["notes"]]
    for block in shown_blocks(table):
        if block["label"]:
            parts.append(f"## {block['label']}")
        rows = [[row["label"], *texts_of(block, row, markdown_cell)] for row in block["rows"]]
        parts.append(markdown_table(headers_of(block), rows))
    return "\n\n".join(parts) + "\n"


def markdown_table(headers: list[str], rows: list[list[str]]) -> str:
    """A table with GitHub's syntax."""
    return "\n".join(f"| {' | '.join(line)} |" for line in [headers, ["---"] * len(headers), *rows])


def render_latex(table: dict[str, Any]) -> str:
    """Render a table as LaTeX, with a tabular for each block."""
    lines = [latex_comment(note) for note in [table["title"], *table["notes"]]]
    for block in shown_blocks(table):
        headers = headers_of(block)
        lines += ["", latex_comment(block["label"]), rf"\begin{{tabular}}{{l{'c' * (len(headers) - 1)}}}"]
        lines += [r"\hline", latex_row([escape_latex(header) for header in headers]), r"\hline"]
        lines += [latex_row([escape_latex(row["label"]), *texts_of(block, row, latex_cell)]) for row in block["rows"]]
        lines += [r"\hline", r"\end{tabular}"]
    return "\n".join(lines) + "\n"


def render_csv(table: dict[str, Any]) -> str:
    """Render a table as CSV, with a line for each cell and full precision."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, CSV_FIELDS, lineterminator="\n")
    writer.writeheader()
    for block in shown_blocks(table):
        for row in block["rows"]:
            for column, cell in zip(block["columns"], row["cells"], strict=True):
                if cell is not None:
                    paper = {f"paper_{name}": value for name, value in (cell.get("paper") or {}).items()}
                    own = {name: value for name, value in cell.items() if name != "paper"}
                    key = {"block": block["label"], "row": row["label"], "column": column["label"]}
                    writer.writerow(key | own | paper)
    return stream.getvalue()


def shown_blocks(table: dict[str, Any]) -> list[dict[str, Any]]:
    """The blocks that are not empty."""
    return [block for block in table["blocks"] if any(cell for row in block["rows"] for cell in row["cells"])]


def headers_of(block: dict[str, Any]) -> list[str]:
    """The headers of all columns."""
    headers = [block["corner"]]
    for column in block["columns"]:
        headers += [column["label"], "paper"] if column["paper"] else [column["label"]]
    return headers


def texts_of(block: dict[str, Any], row: dict[str, Any], render: Any) -> list[str]:
    """The rendered cells of a row, the paper's beside ours."""
    texts = []
    for column, cell in zip(block["columns"], row["cells"], strict=True):
        texts.append(render(cell))
        if column["paper"]:
            texts.append(render((cell or {}).get("paper")))
    return texts


def markdown_cell(cell: dict[str, Any] | None) -> str:
    """Render one cell as Markdown."""
    if cell is None or cell.get("text", cell.get("mean")) is None:
        return MISSING_VALUE
    if "text" in cell:
        return str(cell["text"])
    mean, *std = format_mean(cell["mean"], cell.get("std")).split(" ", 1)
    marks = "".join(character for name, character, _ in MARKS if cell.get(name))
    return " ".join([f"**{mean}**" if is_bold(cell) else mean, *std, *([marks] if marks else [])])


def latex_cell(cell: dict[str, Any] | None) -> str:
    """Render one cell as LaTeX."""
    if cell is None or cell.get("text", cell.get("mean")) is None:
        return "--"
    if "text" in cell:
        return escape_latex(str(cell["text"]))
    mean = f"{cell['mean']:.3f}"
    std = rf" \pm {cell['std']:.3f}" if cell.get("std") is not None else ""
    marks = "".join(mark for name, _, mark in MARKS if cell.get(name)).replace("}^{", " ")
    shown = rf"\mathbf{{{mean}}}" if is_bold(cell) else mean
    return f"${shown}{std}{marks}$"


def is_bold(cell: dict[str, Any]) -> bool:
    """Whether a cell is marked as the best, by us or by the paper."""
    return bool(cell.get("best") or cell.get("bold"))


def latex_comment(text: str) -> str:
    """A comment in one line."""
    return " ".join(["%", *text.split()])


def latex_row(texts: list[str]) -> str:
    """Join the cells of a row."""
    return " & ".join(texts) + r" \\"


def escape_latex(text: str) -> str:
    """Escape special characters of LaTeX."""
    return " ".join(text.split()).translate(LATEX_ESCAPES).replace("‖C‖", r"$\|\mathbf{C}\|$")


# Summary


def render_summary(report: dict[str, Any]) -> str:
    """Render the comparison with the paper as Markdown."""
    about = report["about"]
    others = [name for name in dict.fromkeys(cell["method"] for cell in report["verdicts"]) if name != "CoMBo"]
    parts = [
        "# The paper's experiment, compared with the paper",
        f"comboost {about['comboost']}, seed {about['seed']}, {about['n_runs']} runs of {about['n_folds']}-fold "
        f"cross-validation; CoMBo and AdaBoost.MM {about['n_rounds']} rounds, AdaBoost.NC and SMOTEBoost "
        f"{about['n_baseline_rounds']}. Data sets: {', '.join(about['datasets'])}. Paper: {about['paper']['source']}.",
        *(f"Left out: {name}. {reason}" for name, reason in about["left_out"].items()),
        *(f"Failed: {failure}" for failure in about["failures"]),
        "Our mean, rounded to the paper's three digits, is at least as good as the paper's, or within one standard "
        "error of it (our standard deviation divided by the square root of the number of folds), or worse. MAUC uses "
        "vote fractions, as in the paper; MAUC (softmax) uses our other probabilities and is not counted.",
        "## CoMBo",
        render_verdicts(report),
        "## Dependence on the setting",
        render_settings(report),
        "## What the paper calls significant",
        render_claims(report["claims"]),
        *satimage_section(report["tables"]["baselines"]),
        "## The other methods",
        *(f"{name}: {format_counts(count_verdicts(report, name))}" for name in others),
        verdict_table(report, others),
        "## On the paper's numbers",
        *about["paper"]["notes"],
    ]
    return "\n\n".join(parts) + "\n"


def render_verdicts(report: dict[str, Any], method: str = "CoMBo") -> str:
    """Render every cell of a method beside the paper's, after the counts of verdicts."""
    return f"{format_counts(count_verdicts(report, method))}\n\n{verdict_table(report, [method])}"


def render_settings(report: dict[str, Any]) -> str:
    """Render the counts of CoMBo's verdicts for every setting of its trees."""
    rows = [[setting, *(str(counts[each]) for each in VERDICTS)] for setting, counts in report["by_setting"].items()]
    return markdown_table(["setting", *VERDICTS], rows)


def render_claims(claims: list[dict[str, Any]]) -> str:
    """Render the paper's significant differences, and whether our folds agree."""
    rows = [
        [
            *label_of(claim),
            f"{claim['method']} is {claim['mark']}",
            HOLDS[claim["holds"]],
            HOLDS[claim["holds_corrected"]],
        ]
        for claim in claims
    ]
    return markdown_table(["table", "measure", "data set", "the paper says", "paired t-test", "corrected t-test"], rows)


def format_counts(counts: dict[str, int]) -> str:
    """Counts of verdicts in a sentence."""
    parts = ", ".join(f"{n} {verdict}" for verdict, n in counts.items() if n)
    return f"{sum(counts.values())} cells: {parts}."


def verdict_table(report: dict[str, Any], methods: list[str]) -> str:
    """A table with a row for every cell that was run."""
    rows = [
        [
            *label_of(cell),
            cell["method"],
            format_statistics(cell["ours"]),
            format_statistics(cell["paper"]),
            f"**{cell['verdict']}**" if cell["verdict"] == "worse" else cell["verdict"],
        ]
        for cell in report["verdicts"]
        if cell["method"] in methods and cell["verdict"] != "not run"
    ]
    return markdown_table(["table", "measure", "data set", "method", "ours", "paper", "verdict"], rows)


def label_of(entry: dict[str, Any]) -> list[str]:
    """Table, measure and data set of a verdict or a claim."""
    return [TABLE_NAMES[entry["table"]], MEASURES[entry["measure"]].label, entry["dataset"]]


def satimage_section(table: dict[str, Any]) -> list[str]:
    """The one data set on which the paper is behind its baselines."""
    block = table["blocks"][0]
    rows = [
        [row["label"], column["label"], format_statistics(cell), format_statistics(cell.get("paper"))]
        for row in block["rows"]
        for column, cell in zip(block["columns"], row["cells"], strict=True)
        if row["label"].startswith("satimage") and cell and cell["mean"] is not None
    ]
    if not rows:
        return []
    return ["## Satimage: G-mean", markdown_table(["data set", "method", "ours", "paper"], rows)]


def format_statistics(cell: dict[str, Any] | None) -> str:
    """Mean and deviation without marks."""
    return MISSING_VALUE if cell is None else format_mean(cell["mean"], cell["std"])
