"""A report on a model file. In: a model file, data with its classes, a baseline. Out: the summary, and a file of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from comboost import load_model
from comboost._data.labels import kind_of_labels
from comboost._extras import import_jinja2
from comboost.cli._answers import chosen_rows, note_extra, wanted_columns
from comboost.cli._columns import frame_of
from comboost.cli._delimited import Dialect
from comboost.cli._errors import CommandError
from comboost.cli._learning import WHOLE, as_labels, check_none_lacking, find_target, kept_rows
from comboost.cli._marks import Marks
from comboost.cli._outputs import check_apart, check_output
from comboost.cli._progress import Tick
from comboost.cli._showing import quoted
from comboost.cli._sources import STANDARD_INPUT, Rowset, read_rowset
from comboost.report import ModelReport
from comboost.report._collect.request import EvaluationRequest
from comboost.report._collect.summary import summarize
from comboost.report._model_report import form_of

READ_SHARE = 0.1  # of the time, about


@dataclass(frozen=True)
class ReportRequest:
    """What is typed about a report."""

    model: str
    source: str
    target: str | None = None
    baseline: str | None = None
    missing: Sequence[str] = ()
    dialect: Dialect = field(default_factory=Dialect)
    confidence: float = 0.95
    seed: int = 0


@dataclass(frozen=True)
class ReportFile:
    """The summary, what was noticed about the data, and where the report is, if it was written."""

    summary: dict[str, Any]
    notes: list[str]
    out: str | None = None
    n_bytes: int = 0


def report_file(request: ReportRequest, out: str | None, tick: Tick) -> ReportFile:
    """Compute a report and write it; whatever is wrong, no file is touched."""
    if out is not None:
        check_writable(out, request)
    tick("reading", 0.0)
    files = [request.model, *([] if request.baseline is None else [request.baseline])]
    models = [load_model(path) for path in files]
    rows = read_rowset(request.source, request.dialect)
    target = find_target(rows, own_target(request, models[0], rows))
    marks = [Marks([*getattr(model, "missing_marks_", ()), *request.missing]) for model in models]
    y = read_truth(rows, target, models[0], marks[0])
    others = kept_rows(rows, [target])
    tables = [rows_as_wanted(*each, others) for each in zip(files, models, marks, strict=True)]
    notes = [*marks[0].tell_unseen(request.missing), *note_extra(others, wanted_columns(models[0], others), None, ())]
    evaluation = EvaluationRequest(
        model=models[0],
        X=tables[0],
        y=y,
        baseline=models[1] if request.baseline is not None else None,
        X_baseline=tables[1] if request.baseline is not None else None,
        name=Path(request.model).name,
        baseline_name=None if request.baseline is None else Path(request.baseline).name,
        target=target,
        source=rows.name,
        confidence=request.confidence,
        random_state=request.seed,
        command=typed_command(request, out),
    )
    summary = summarize(evaluation, lambda doing, done: tick(doing, READ_SHARE + (1 - READ_SHARE) * done))
    if out is None:
        return ReportFile(summary, notes)
    ModelReport.from_summary(summary).save(out)
    return ReportFile(summary, notes, out, Path(out).stat().st_size)


def check_writable(out: str, request: ReportRequest) -> None:
    """Raise if the report can most likely not be written."""
    if form_of(out) == "html":
        import_jinja2()  # rather now than after the work
    check_output(out)
    inputs = {"data": request.source, "model": request.model}
    check_apart(out, inputs | ({} if request.baseline is None else {"baseline": request.baseline}))


def own_target(request: ReportRequest, model: Any, rows: Rowset) -> str | None:
    """The target that is typed, or else the model's own, if the rows have it."""
    stored = getattr(model, "target_name_", None)
    return request.target or (stored if stored in rows.cells.column_names else None)


def read_truth(rows: Rowset, target: str, model: Any, marks: Marks) -> Any:
    """The classes of all rows, of the kind that the model's are."""
    column = frame_of(chosen_rows(rows, [target]), as_text={target}, missing=marks)[target]
    check_none_lacking(column, target, rows.name)
    spelled = {str(label): label for label in model.classes_.tolist()}  # True and 1.0, too, are written so
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
            f"The target {target!r} of {rows.name} holds {unlike!r}, which is neither a class of the model, such as "
            f"{model.classes_[0]}, nor another whole number; mend these rows, or give another --target."
        )
    return labels


def rows_as_wanted(path: str, model: Any, marks: Marks, rows: Rowset) -> Any:
    """The rows as a model wants them: its columns by name, text where it knows text; counted from 1, as in errors."""
    try:
        names = wanted_columns(model, rows)
    except CommandError as error:  # which of two models?
        raise CommandError(f"{error} The model is {path}.") from error
    as_text = {names[f] for f, values in model._categories.values.items() if all(isinstance(v, str) for v in values)}
    frame = frame_of(chosen_rows(rows, names), as_text=as_text, missing=marks)[names]
    frame.index = range(1, len(frame) + 1)
    return frame if hasattr(model, "feature_names_in_") else frame.to_numpy()


def typed_command(request: ReportRequest, out: str | None) -> str:
    """The command that makes the same report, as a shell takes it."""
    words = ["comboost", "report", request.model, request.source]
    options: dict[str, Any] = {
        "--target": request.target,
        "--baseline": request.baseline,
        "--sep": "tab" if request.dialect.sep == "\t" else request.dialect.sep,
        "--decimal": request.dialect.decimal,
        "--encoding": request.dialect.encoding,
    }
    for name, value in options.items():
        words += [] if value is None else [name, value]
    for mark in request.missing:
        words += ["--missing", mark]
    words += ["--confidence", str(request.confidence), "--seed", str(request.seed)]
    words += ["--json"] if out is None else ["--out", out]
    piped = "... | " if request.source == STANDARD_INPUT else ""
    return piped + " ".join(map(quoted, words))
