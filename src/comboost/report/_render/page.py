"""The HTML page: one file without external resources."""

import base64
import functools
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from comboost._extras import import_jinja2
from comboost._stats.formatting import format_confidence
from comboost.report._render import text
from comboost.report._render.charts import calibration_chart, line_charts, position, recall_chart
from comboost.report._render.heatmaps import MAX_MATRIX_CLASSES, N_LEVELS, confusion_matrices, importance_table

TEMPLATE = Path(__file__).parent / "template"
MAX_TABLE_ROWS = 30  # longer tables scroll
MAX_CURVE_ROWS = 20  # of the table beside the curves
SECTIONS = {
    "verdict": "Summary",
    "recalls": "Per-class recall",
    "metrics": "Overall metrics",
    "confusions": "Confusion matrix",
    "pairs": "Most confused pairs",
    "bounds": "Bounds on new and training data",
    "curves": "Training",
    "calibration": "Calibration",
    "importances": "Feature importances",
    "search": "Selected settings",
    "settings": "Settings and versions",
    "reproduction": "Reproduction",
}


def render_page(summary: Mapping[str, Any]) -> str:
    """Render a summary as one HTML page; the same summary gives the same page."""
    style, script = ((TEMPLATE / name).read_text(encoding="utf-8") for name in ("style.css", "script.js"))
    model_names = [model["name"] for model in summary["models"]]
    context = {
        "summary": summary,
        "sections": SECTIONS,
        "style": style,
        "script": script,
        "policy": content_policy(style, script),
        "roles": ["Model", "Baseline"],
        "confidence": format_confidence(summary["request"]["confidence"]).replace(" ", text.NO_BREAK),
        "recall_chart": recall_chart(summary["classes"]),
        "metrics": metric_rows(summary),
        "matrices": confusion_matrices(summary),
        "curves": curve_view(summary["curves"]),
        "calibration_chart": summary["calibration"] and calibration_chart(summary["calibration"], model_names),
        "importance_table": summary["importances"] and importance_table(summary["importances"]),
    }
    return str(page_environment().get_template("page.html.jinja").render(context))


@functools.cache
def page_environment() -> Any:
    """The templates; all values are escaped, and undefined names are errors."""
    jinja2 = import_jinja2()
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=text.without_controls,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = [
        text.brief_name,
        text.candidate_cells,
        text.count,
        text.fraction,
        text.number,
        text.points,
        text.signed,
        text.visible,
        position,
    ]
    environment.filters.update({each.__name__: each for each in filters})
    environment.globals.update(
        candidate_headers=text.CANDIDATE_HEADERS,
        max_matrix_classes=MAX_MATRIX_CLASSES,
        max_name=text.MAX_NAME,
        max_rows=MAX_TABLE_ROWS,
        n_levels=N_LEVELS,
    )
    return environment


def content_policy(style: str, script: str) -> str:
    """Content security policy: only this script and this style may run."""
    style_hash, script_hash = (
        base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in (style, script)
    )
    return (
        f"default-src 'none'; style-src 'sha256-{style_hash}'; script-src 'sha256-{script_hash}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def metric_rows(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every metric once, with its entries for all models and their difference."""
    by_model = [{each["key"]: each for each in model["metrics"]} for model in summary["models"]]
    differences = {each["key"]: each for each in summary["differences"] or []}
    known: dict[str, Any] = {}
    for metrics in by_model:
        known = {**metrics, **known}
    return [
        {**metric, "models": [each.get(key) for each in by_model], "difference": differences.get(key)}
        for key, metric in known.items()
    ]


def curve_view(curves: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The charts of training, and a table of some rounds with the first, the last and the best."""
    if curves is None or not curves["rounds"]:
        return None
    rounds, best = curves["rounds"], curves["best_round"]
    step = -(-len(rounds) // MAX_CURVE_ROWS)
    chosen = sorted({*range(0, len(rounds), step), len(rounds) - 1, *([rounds.index(best)] if best in rounds else [])})
    table = [(rounds[i], [each["values"][i] for each in curves["series"]]) for i in chosen]
    return {"charts": line_charts(curves), "table": table, "step": step}
