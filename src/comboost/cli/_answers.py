"""What a model says of a file. In: a model file and data. Out: predictions for every row, in its order."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from comboost import load_model
from comboost.cli._columns import frame_of
from comboost.cli._delimited import NAMES_SHOWN
from comboost.cli._errors import CommandError
from comboost.cli._learning import Request, as_labels, check_there
from comboost.cli._marks import Marks
from comboost.cli._outputs import check_apart, check_output, write_frame
from comboost.cli._progress import Tick
from comboost.cli._sources import Rowset, read_rowset

PREDICTION = "prediction"
SHARE_OF = "proba_"
PREDICTED_AT_ONCE = 100_000


@dataclass(frozen=True)
class PredictionResult:
    """What was predicted, and what was noticed on the way."""

    model: str
    source: str
    out: str
    target: str | None
    n_rows: int
    predicted: dict[str, int]  # rows by class
    notes: list[str] = field(default_factory=list)


def predict_file(
    model: str, request: Request, out: str, tick: Tick, *, proba: bool, keep: Sequence[str]
) -> PredictionResult:
    """Write the predictions for all rows of a file; whatever is wrong, no file is touched."""
    check_output(out)
    check_apart(out, {"data": request.source, "model": model})
    tick("reading", 0.0)
    fitted = load_model(model)
    rows = read_rowset(request.source, request.dialect)
    check_there(rows, keep, "--keep")
    names = wanted_columns(fitted, rows)
    target = getattr(fitted, "target_name_", None)
    categories = {names[f]: values for f, values in fitted._categories.values.items()}
    as_text = {name for name, values in categories.items() if all(isinstance(value, str) for value in values)}
    marks = Marks([*getattr(fitted, "missing_marks_", ()), *request.missing])
    as_numbers = set(names) - set(categories)
    frame = frame_of(chosen_rows(rows, names), as_text=as_text, as_numbers=as_numbers, missing=marks)
    X = frame[names] if hasattr(fitted, "feature_names_in_") else frame[names].to_numpy()
    answers = answer(fitted, X, tick, proba=proba)
    kept = frame_of(chosen_rows(rows, keep), as_text=set(keep)) if keep else None
    notes = [
        *marks.tell_unseen(request.missing),
        *note_extra(rows, names, target, keep),
        *note_classes(rows, target, fitted),
    ]
    tick("writing", 1.0)
    write_frame(beside(kept, answers), out)
    counts = answers[PREDICTION].value_counts()
    return PredictionResult(
        model, request.source, out, target, len(answers), {str(k): int(n) for k, n in counts.items()}, notes
    )


def wanted_columns(fitted: Any, rows: Rowset) -> list[str]:
    """The columns that a model wants, by name in its order; by place if it knows no names."""
    there = rows.cells.column_names
    if not hasattr(fitted, "feature_names_in_"):
        if len(there) != fitted.n_features_in_:
            raise CommandError(
                f"The model knows no names of columns and wants {fitted.n_features_in_}; {rows.name} has {len(there)}. "
                "Give these columns alone, in the order of training."
            )
        return list(there)
    wanted = [str(name) for name in fitted.feature_names_in_]
    lacking = [name for name in wanted if name not in there]
    if lacking:
        shown = ", ".join(map(repr, lacking[:NAMES_SHOWN])) + (", ..." if len(lacking) > NAMES_SHOWN else "")
        raise CommandError(
            f"{rows.name} lacks {len(lacking)} of the {len(wanted)} columns that the model was trained on: {shown}; "
            "add them, empty if nothing is known."
        )
    return wanted


def chosen_rows(rows: Rowset, names: Sequence[str]) -> Rowset:
    """The rows with some columns alone."""
    nominal = tuple(name for name in rows.nominal if name in names)
    return Rowset(rows.name, rows.cells.select(list(names)), rows.decimal, nominal)


def answer(fitted: Any, X: Any, tick: Tick, *, proba: bool) -> Any:
    """A data frame of the predictions, and of the probabilities if they are wanted."""
    import pandas

    parts = []
    for begin in range(0, len(X), PREDICTED_AT_ONCE):
        tick("predicting", begin / len(X))
        parts.append(answer_part(fitted, X[begin : begin + PREDICTED_AT_ONCE], proba=proba))
    return pandas.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0]


def answer_part(fitted: Any, X: Any, *, proba: bool) -> Any:
    """The answers for some rows."""
    import pandas

    answers = pandas.DataFrame({PREDICTION: fitted.predict(X)})
    if proba:
        shares = pandas.DataFrame(fitted.predict_proba(X), columns=[f"{SHARE_OF}{label}" for label in fitted.classes_])
        answers = pandas.concat([answers, shares], axis=1)
    return answers


def beside(kept: Any, answers: Any) -> Any:
    """The columns that are kept, and the predictions after them."""
    import pandas

    if kept is None:
        return answers
    twice = [name for name in kept.columns if name in answers.columns]
    if twice:
        raise CommandError(f"The column {twice[0]!r} cannot be kept: the output has one of that name; rename it.")
    return pandas.concat([kept, answers], axis=1)


def note_extra(rows: Rowset, names: Sequence[str], target: str | None, keep: Sequence[str]) -> list[str]:
    """Say which columns are not used."""
    extra = [name for name in rows.cells.column_names if name not in {*names, *keep, target}]
    if not extra:
        return []
    shown = ", ".join(extra[:NAMES_SHOWN]) + (", ..." if len(extra) > NAMES_SHOWN else "")
    return [f"{len(extra)} columns are not used, since the model was not trained on them: {shown}"]


def note_classes(rows: Rowset, target: str | None, fitted: Any) -> list[str]:
    """Say which classes the model cannot predict, if the data say what is true."""
    if target is None or target not in rows.cells.column_names:
        return []
    column = frame_of(chosen_rows(rows, [target]), as_text={target})[target].dropna()
    unknown = sorted(set(map(str, as_labels(column).tolist())) - set(map(str, fitted.classes_.tolist())))
    if not unknown:
        return []
    shown = ", ".join(map(repr, unknown[:NAMES_SHOWN]))
    return [f"{shown} in {target!r} was in no row of training, so no row is taken for it; train with rows of it"]
