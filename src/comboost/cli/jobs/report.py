"""``comboost report``: a report on a model file, from rows with their classes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from comboost import load_model
from comboost._data.labels import kind_of_labels
from comboost._extras import import_jinja2
from comboost.cli.input.cells import MissingMarkers
from comboost.cli.input.columns import to_frame
from comboost.cli.input.sources import RawTable, read_source
from comboost.cli.input.training_table import WHOLE, DataRequest, as_labels, check_complete, find_target
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
class ReportResult:
    """The summary, notes on the data, and the file, if one was written."""

    summary: dict[str, Any]
    notes: list[str]
    out: str | None = None
    n_bytes: int = 0


def report_file(
    model: str,
    request: DataRequest,
    out: str | None,
    tick: Tick,
    *,
    baseline: str | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    command: str | None = None,
) -> ReportResult:
    """Compute a report and write it; on errors, no file changes."""
    paths = [model] if baseline is None else [model, baseline]
    if out is not None:
        if form_of(out) == "html":
            import_jinja2()  # fail now rather than after the work
        check_output(out, {"data": request.source, **dict(zip(("model", "baseline"), paths, strict=False))})
    tick("reading", 0.0)
    models = [load_model(path) for path in paths]
    table = read_source(request.source, request.dialect)
    stored = getattr(models[0], "target_name_", None)
    target = find_target(table, request.target or (stored if stored in table.columns else None))
    markers = [markers_of(each, request.missing) for each in models]
    y = read_true_classes(table, target, models[0], markers[0])
    table = table.drop([target])
    tables = [features_of(*each, table) for each in zip(paths, models, markers, strict=True)]
    evaluation = EvaluationRequest(
        model=models[0],
        X=tables[0],
        y=y,
        baseline=None if baseline is None else models[1],
        X_baseline=None if baseline is None else tables[1],
        name=Path(model).name,
        baseline_name=None if baseline is None else Path(baseline).name,
        target=target,
        source=table.name,
        confidence=confidence,
        random_state=seed,
        command=command,
    )
    summary = summarize(evaluation, lambda doing, done: tick(doing, READ_FRACTION + (1 - READ_FRACTION) * done))
    notes = [*markers[0].note_unseen(request.missing), *note_unused(models[0], table, ())]
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
