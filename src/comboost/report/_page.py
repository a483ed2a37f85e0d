"""The report as a page. In: a summary. Out: one HTML file that needs nothing else, and asks nobody for anything."""

import base64
import functools
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from comboost._extras import import_jinja2
from comboost.report._charts import calibration_chart, line_charts, recall_chart
from comboost.report._heat import MAX_MATRIX_CLASSES, N_LEVELS, confusion_matrices, importance_table
from comboost.report._lettering import (
    MAX_NAME_SHOWN,
    brief_name,
    count,
    figure,
    points,
    share,
    signed,
    visible,
    without_controls,
)

TEMPLATE = Path(__file__).parent / "template"
MAX_ROWS_SHOWN = 30  # of a table, beyond which it is scrolled in its box
MAX_CURVE_ROWS = 20  # of the table beside the curves, which people read
SECTIONS = {
    "verdict": "The answer",
    "recalls": "What is found of every class",
    "measures": "The model as a whole",
    "confusions": "What is taken for what",
    "pairs": "The pairs confused most",
    "bounds": "What is guaranteed",
    "curves": "Training",
    "calibration": "How sure, and how often right",
    "importances": "Features that matter",
    "settings": "Settings and versions",
    "reproduce": "How to make this again",
}


def render_page(summary: Mapping[str, Any]) -> str:
    """One HTML page that shows a summary; the same summary gives the same page."""
    style, script = (inline(name) for name in ("style.css", "script.js"))
    names_of_models = [model["name"] for model in summary["models"]]
    context = {
        "summary": summary,
        "sections": SECTIONS,
        "style": style,
        "script": script,
        "policy": policy_of(style, script),
        "called": ["Model", "Baseline"],
        "confidence": f"{100 * summary['asked']['confidence']:g}\N{NO-BREAK SPACE}%",
        "recall_chart": recall_chart(summary["classes"]),
        "measures": measure_rows(summary),
        "matrices": confusion_matrices(summary),
        "curves": curve_view(summary["curves"]),
        "calibration_chart": summary["calibration"] and calibration_chart(summary["calibration"], names_of_models),
        "importance_table": summary["importances"] and importance_table(summary["importances"]),
    }
    return str(page_environment().get_template("page.html.jinja").render(context))


@functools.cache
def page_environment() -> Any:
    """The templates, in which everything is escaped and whatever is misspelt is an error."""
    jinja2 = import_jinja2()
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=without_controls,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    writers = [count, figure, points, share, brief_name, signed, visible]
    environment.filters.update({writer.__name__: writer for writer in writers})
    environment.globals.update(
        max_matrix_classes=MAX_MATRIX_CLASSES, max_name=MAX_NAME_SHOWN, max_rows=MAX_ROWS_SHOWN, n_levels=N_LEVELS
    )
    return environment


def inline(name: str) -> str:
    """A file of the template, whole."""
    return (TEMPLATE / name).read_text(encoding="utf-8")


def policy_of(style: str, script: str) -> str:
    """What the browser may do: run this script, apply this style, and nothing else."""
    hashes = (base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in (style, script))
    style_hash, script_hash = hashes
    return (
        f"default-src 'none'; style-src 'sha256-{style_hash}'; script-src 'sha256-{script_hash}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def measure_rows(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every measure once, with what it is for every model and how these differ."""
    by_model = [{each["key"]: each for each in model["measures"]} for model in summary["models"]]
    differences = {each["key"]: each for each in summary["differences"] or []}
    known: dict[str, Any] = {}
    for measures in by_model:
        known = {**measures, **known}
    return [
        {**measure, "models": [each.get(key) for each in by_model], "difference": differences.get(key)}
        for key, measure in known.items()
    ]


def curve_view(curves: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The charts of training, and a table of a few of their rounds: the first, the last, the best and some between."""
    if curves is None or not curves["rounds"]:
        return None
    rounds, best = curves["rounds"], curves["best_round"]
    step = -(-len(rounds) // MAX_CURVE_ROWS)
    chosen = sorted({*range(0, len(rounds), step), len(rounds) - 1, *([rounds.index(best)] if best in rounds else [])})
    table = [(rounds[place], [each["values"][place] for each in curves["series"]]) for place in chosen]
    return {"charts": line_charts(curves), "table": table, "step": step}
