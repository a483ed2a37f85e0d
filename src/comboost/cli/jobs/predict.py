"""``comboost predict``: a prediction for every row of a file, in the order of the rows."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from comboost import load_model
from comboost._stats.formatting import pluralize
from comboost.cli.input.cells import MissingMarkers
from comboost.cli.input.columns import to_frame
from comboost.cli.input.sources import RawTable, read_source
from comboost.cli.input.training_table import DataRequest, as_labels, check_columns
from comboost.cli.jobs.outputs import check_is_text, check_output, quote_formulas, write_frame
from comboost.cli.terminal.errors import CommandError, some_names
from comboost.cli.terminal.progress import Tick

PREDICTION = "prediction"
PROBABILITY = "proba_"  # and the name of a class
BATCH_ROWS = 100_000


@dataclass(frozen=True)
class PredictionResult:
    """A summary of the predictions, and notes on the data."""

    model: str
    source: str
    out: str
    target: str | None
    n_rows: int
    predicted: dict[str, int]  # rows by class
    notes: list[str] = field(default_factory=list)


def predict_file(
    model: str, request: DataRequest, out: str, tick: Tick, *, proba: bool, keep: Sequence[str], safe: bool = False
) -> PredictionResult:
    """Write the predictions for all rows of a file; on errors, no file changes. ``safe`` quotes formulas in text."""
    check_output(out, {"data": request.source, "model": model})
    if safe:
        check_is_text(out, "--quote-formulas")
    tick("reading", 0.0)
    fitted = load_model(model)
    table = read_source(request.source, request.dialect)
    check_columns(table, keep, "--keep")
    markers = markers_of(fitted, request.missing)
    X = features_for(fitted, table, markers)
    target = getattr(fitted, "target_name_", None)
    predictions = predict_rows(fitted, X, tick, proba=proba)
    notes = [
        *markers.note_unseen(request.missing),
        *note_unused(fitted, table, [*keep, str(target)]),
        *note_unknown_classes(fitted, table, target),
    ]
    tick("writing", 1.0)
    written = beside(table, keep, predictions)
    write_frame(quote_formulas(written) if safe else written, out)
    counts = {str(label): int(n) for label, n in predictions[PREDICTION].value_counts().items()}
    return PredictionResult(model, request.source, out, target, len(predictions), counts, notes)


def markers_of(fitted: Any, missing: Sequence[str]) -> MissingMarkers:
    """Return the missing-value markers of a model, and more."""
    return MissingMarkers([*getattr(fitted, "missing_markers_", ()), *missing])


def feature_columns(fitted: Any, table: RawTable) -> list[str]:
    """Return the columns that a model was trained on: by name, or all of them if it was trained without names."""
    if not hasattr(fitted, "feature_names_in_"):
        if len(table.columns) != fitted.n_features_in_:
            raise CommandError(
                f"The model was trained without column names and expects {fitted.n_features_in_}; {table.name} has "
                f"{len(table.columns)}. Give exactly these columns, in the order of training."
            )
        return table.columns
    names = [str(name) for name in fitted.feature_names_in_]
    lacking = [name for name in names if name not in table.columns]
    if lacking:
        raise CommandError(
            f"{table.name} lacks {len(lacking)} of the {len(names)} columns that the model was trained on: "
            f"{some_names(lacking)}; add them, empty if the values are unknown."
        )
    return names


def features_for(fitted: Any, table: RawTable, markers: MissingMarkers) -> Any:
    """Return the features that a model expects, as a data frame, or as an array if it was trained without names."""
    names = feature_columns(fitted, table)
    categories = {names[f]: values for f, values in fitted._categories.values.items()}
    as_text = {name for name, values in categories.items() if all(isinstance(value, str) for value in values)}
    as_numbers = set(names) - set(categories)
    frame = to_frame(table.select(names), as_text=as_text, as_numbers=as_numbers, missing=markers)[names]
    return frame if hasattr(fitted, "feature_names_in_") else frame.to_numpy()


def predict_rows(fitted: Any, X: Any, tick: Tick, *, proba: bool) -> Any:
    """Return a data frame of the predictions, and of the probabilities if they are wanted."""
    import pandas

    parts = []
    for start in range(0, len(X), BATCH_ROWS):
        tick("predicting", start / len(X))
        batch = X[start : start + BATCH_ROWS]
        columns = {PREDICTION: fitted.predict(batch)}
        if proba:
            names = [f"{PROBABILITY}{label}" for label in fitted.classes_]
            columns |= dict(zip(names, fitted.predict_proba(batch).T, strict=True))
        parts.append(pandas.DataFrame(columns))
    return pandas.concat(parts, ignore_index=True)


def beside(table: RawTable, keep: Sequence[str], predictions: Any) -> Any:
    """Put the columns that are kept before the predictions."""
    import pandas

    repeated = [name for name in keep if name in predictions.columns]
    if repeated:
        raise CommandError(
            f"The column {repeated[0]!r} cannot be kept: the output has another of that name; rename it."
        )
    kept = [to_frame(table.select(keep), as_text=set(keep))] if keep else []
    return pandas.concat([*kept, predictions], axis=1)


def note_unused(fitted: Any, table: RawTable, others: Sequence[str]) -> list[str]:
    """Note which columns are not used, except some others."""
    unused = table.drop({*feature_columns(fitted, table), *others}).columns
    if not unused:
        return []
    return [f"ignored {pluralize(len(unused), 'column')} that the model was not trained on: {some_names(unused)}"]


def note_unknown_classes(fitted: Any, table: RawTable, target: str | None) -> list[str]:
    """Note which classes the model cannot predict, if the data contain the target."""
    if target is None or target not in table.columns:
        return []
    column = to_frame(table.select([target]), as_text={target})[target].dropna()
    unknown = sorted(set(map(str, as_labels(column).tolist())) - set(map(str, fitted.classes_.tolist())))
    if not unknown:
        return []
    return [
        f"{some_names(unknown)} in {target!r} did not occur in training and is never predicted; train with rows of it"
    ]
