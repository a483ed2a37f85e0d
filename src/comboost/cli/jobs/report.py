"""``comboost report``: a report on a model file, from rows with their classes."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from comboost import load_model
from comboost._data.labels import kind_of_labels
from comboost._extras import import_jinja2
from comboost.cli.input.cells import MissingMarkers
from comboost.cli.input.columns import to_frame
from comboost.cli.input.delimited import Dialect
from comboost.cli.input.sources import STANDARD_INPUT, RawTable, read_source
from comboost.cli.input.training_table import WHOLE, as_labels, check_complete, find_target
from comboost.cli.jobs.outputs import check_output
from comboost.cli.jobs.predict import features_for, markers_of, note_unused
from comboost.cli.terminal.errors import CommandError
from comboost.cli.terminal.progress import Tick
from comboost.report import ModelReport
from comboost.report._collect.request import EvaluationRequest
from comboost.report._collect.summary import summarize
from comboost.report._model_report import form_of

READ_FRACTION = 0.1  # of the time, about


@dataclass(frozen=True)
class ReportRequest:
    """Which report to make."""

    model: str
    source: str
    target: str | None = None
    baseline: str | None = None
    missing: Sequence[str] = ()
    dialect: Dialect = field(default_factory=Dialect)
    confidence: float = 0.95
    seed: int = 0


@dataclass(frozen=True)
class ReportResult:
    """The summary, notes on the data, and the file, if one was written."""

    summary: dict[str, Any]
    notes: list[str]
    out: str | None = None
    n_bytes: int = 0


def report_file(request: ReportRequest, out: str | None, tick: Tick) -> ReportResult:
    """Compute a report and write it; on errors, no file changes."""
    baseline = {} if request.baseline is None else {"baseline": request.baseline}
    if out is not None:
        if form_of(out) == "html":
            import_jinja2()  # fail now rather than after the work
        check_output(out, {"data": request.source, "model": request.model, **baseline})
    tick("reading", 0.0)
    model, *others = models = [load_model(path) for path in (request.model, *baseline.values())]
    table = read_source(request.source, request.dialect)
    stored = getattr(model, "target_name_", None)
    target = find_target(table, request.target or (stored if stored in table.columns else None))
    markers = [markers_of(each, request.missing) for each in models]
    y = read_true_classes(table, target, model, markers[0])
    table = table.drop([target])
    paths = [request.model, *baseline.values()]
    X, *X_others = [features_of(*each, table) for each in zip(paths, models, markers, strict=True)]
    evaluation = EvaluationRequest(
        model=model,
        X=X,
        y=y,
        baseline=others[0] if others else None,
        X_baseline=X_others[0] if others else None,
        name=Path(request.model).name,
        baseline_name=Path(request.baseline).name if request.baseline else None,
        target=target,
        source=table.name,
        confidence=request.confidence,
        random_state=request.seed,
        command=typed_command(request, out),
    )
    summary = summarize(evaluation, lambda doing, done: tick(doing, READ_FRACTION + (1 - READ_FRACTION) * done))
    notes = [*markers[0].note_unseen(request.missing), *note_unused(model, table, ())]
    if out is None:
        return ReportResult(summary, notes)
    ModelReport.from_summary(summary).save(out)
    return ReportResult(summary, notes, out, Path(out).stat().st_size)


def read_true_classes(table: RawTable, target: str, model: Any, markers: MissingMarkers) -> Any:
    """Return the class of every row, with the type of the model's classes."""
    column = to_frame(table.select([target]), as_text={target}, missing=markers)[target]
    check_complete(column, target, table.name)
    spelled = {str(label): label for label in model.classes_.tolist()}  # also True and 1.0
    if column.astype(str).isin(list(spelled)).all():
        return np.array([spelled[text] for text in column.astype(str)])
    labels = as_labels(column)
    known = kind_of_labels(model.classes_)
    if known == "text":
        return labels.astype(str)
    if kind_of_labels(labels) != known:
        others = (text for text in map(str, labels) if text not in spelled and not WHOLE.fullmatch(text))
        unlike = next(others, str(labels[0]))
        raise CommandError(
            f"Target column {target!r} of {table.name} contains {unlike!r}, which is neither a class of the model, "
            f"such as {model.classes_[0]}, nor another whole number; correct these rows, or give another --target."
        )
    return labels


def features_of(path: str, model: Any, markers: MissingMarkers, table: RawTable) -> Any:
    """Return the features that a model expects; rows are numbered from 1, as in messages."""
    try:
        X = features_for(model, table, markers)
    except CommandError as error:  # which of two models?
        raise CommandError(f"{error} The model is {path}.") from error
    if hasattr(model, "feature_names_in_"):
        X.index = range(1, len(X) + 1)
    return X


def typed_command(request: ReportRequest, out: str | None) -> str:
    """Return the command that makes the same report, quoted for a shell."""
    options: dict[str, Any] = {
        "--target": request.target,
        "--baseline": request.baseline,
        "--sep": "tab" if request.dialect.sep == "\t" else request.dialect.sep,
        "--decimal": request.dialect.decimal,
        "--encoding": request.dialect.encoding,
    }
    words = ["comboost", "report", request.model, request.source]
    for name, value in options.items():
        words += [] if value is None else [name, value]
    for marker in request.missing:
        words += ["--missing", marker]
    words += ["--confidence", str(request.confidence), "--seed", str(request.seed)]
    words += ["--json"] if out is None else ["--out", out]
    return ("... | " if request.source == STANDARD_INPUT else "") + shlex.join(words)
