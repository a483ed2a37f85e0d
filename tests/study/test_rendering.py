import csv
import io
import json
import re

import pytest

from comboost.study import Study, make_report, render_files
from comboost.study._rendering import escape_latex, render_csv, render_latex, render_markdown, render_summary
from comboost.study._report import count_verdicts


@pytest.fixture
def report(make_results, noisy):
    folds = [
        *make_results("balance", "CoMBo", g_mean=noisy(0.7, 1), confusion_norm=noisy(0.3, 1), setting={"max_depth": 2}),
        *make_results("balance", "AdaBoost.MM", g_mean=noisy(0.5, 2), confusion_norm=noisy(0.5, 2)),
        *make_results("balance", "AdaBoost.NC", g_mean=noisy(0.6, 3)),
        *make_results("balance", "SMOTEBoost", g_mean=noisy(0.4, 4)),
        *make_results("connect-4", "CoMBo"),
    ]
    return make_report(folds, Study(), datasets=["balance", "connect-4"], n_runs=2, left_out={"car": "It is gone."})


def test_every_table_is_rendered_in_three_forms_and_nothing_else(report):
    files = render_files(report)
    tables = ["distributions", "baselines", "mm", "connect", "settings", "recalls", "confusions"]
    stems = [*(f"table-{place}-{name}" for place, name in enumerate(tables, 1)), "times"]
    names = {f"{stem}.{ending}" for stem in stems for ending in ("md", "csv", "tex")}
    assert set(files) == names | {"summary.md", "report.json"}
    assert json.loads(files["report.json"]) == report


def test_markdown_shows_ours_then_the_papers_with_marks(report):
    page = render_markdown(report["tables"]["baselines"])
    cell = report["tables"]["baselines"]["blocks"][0]["rows"][0]["cells"][0]
    assert f"| balance | **{cell['mean']:.3f}** ± {cell['std']:.3f} ° | **0.675** ± 0.088 |" in page
    assert page.startswith("# Against the baselines\n")


def test_markdown_tables_have_the_same_number_of_columns_in_every_line(report):
    for table in (*report["tables"].values(), report["times"]):
        for part in render_markdown(table).split("\n\n"):
            if part.startswith("|"):
                assert len({line.count("|") for line in part.strip().splitlines()}) == 1


def test_csv_has_a_line_per_cell_with_full_precision(report):
    rows = list(csv.DictReader(io.StringIO(render_csv(report["tables"]["mm"]))))
    (row,) = (row for row in rows if (row["block"], row["row"], row["column"]) == ("‖C‖", "balance", "CoMBo"))
    cell = report["tables"]["mm"]["blocks"][0]["rows"][0]["cells"][0]
    assert (float(row["mean"]), float(row["std"]), int(row["n"])) == (cell["mean"], cell["std"], 10)
    assert (row["best"], row["paper_mean"], row["paper_std"], row["paper_bold"]) == ("True", "0.46", "0.097", "True")


def test_latex_is_balanced_and_escaped(report):
    for table in (*report["tables"].values(), report["times"]):
        text = render_latex(table)
        assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") > 0
        for line in text.splitlines():
            if not line.startswith("%"):
                assert line.count("$") % 2 == 0
                assert not re.search(r"(?<!\\)[_#%]", re.sub(r"\$.*?\$", "", line))
                assert line.isascii(), line
    assert r"$\mathbf{0.460} \pm 0.097$" in render_latex(report["tables"]["mm"])


def test_latex_shows_every_sign_as_it_is():
    assert escape_latex(r"\^~") == r"\textbackslash{}\textasciicircum{}\textasciitilde{}"
    assert escape_latex("&%$#_{}") == r"\&\%\$\#\_\{\}"
    assert escape_latex("a<b>c|d") == r"a\textless{}b\textgreater{}c\textbar{}d"
    assert escape_latex("two\n\nlines") == "two lines"
    assert escape_latex(r"\_") == r"\textbackslash{}\_"


def test_latex_comments_end_with_their_line(report):
    table = report["tables"]["mm"] | {"title": "one\ntwo", "notes": ["three\n\n\\input{four}"]}
    assert render_latex(table).startswith("% one two\n% three \\input{four}\n")


def test_latex_rows_have_as_many_cells_as_columns(report):
    for table in report["tables"].values():
        for columns, body in re.findall(r"\\begin\{tabular\}\{(\w+)\}(.*?)\\end", render_latex(table), re.DOTALL):
            for line in body.splitlines():
                if line.endswith(r"\\"):
                    assert len(re.findall(r"(?<!\\)&", line)) == len(columns) - 1


def test_summary_says_what_was_left_out_and_counts_the_cells(report):
    page, counts = render_summary(report), count_verdicts(report)
    assert "Left out: car. It is gone." in page
    assert sum(counts.values()) == 30
    assert f"30 cells: {counts['at least as good']} at least as good" in page
    assert "| against AdaBoost.MM | ‖C‖ | balance | CoMBo is best | holds | holds |" in page
