"""``comboost predict``: what a model says of new rows. In: a model file and data. Out: a file of predictions."""

import sys
from dataclasses import asdict
from typing import Annotated

import typer

from comboost.cli._options import DataFile, FileOptions, Json, spread
from comboost.cli._progress import progress_shown
from comboost.cli._showing import Screen, listed_names, print_json


@spread
def predict(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A file of comboost fit.", show_default=False)],
    source: DataFile,
    files: FileOptions,
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="OUT", help="CSV, TSV, Parquet or Arrow; - for standard output.")
    ] = "-",
    proba: Annotated[bool, typer.Option("--proba", help="Add a column for the probability of every class.")] = False,
    keep: Annotated[
        list[str] | None, typer.Option("--keep", metavar="COL", help="Copy a column of DATA; may be repeated.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Predict the class of every row, in the order of the rows; columns are matched by name.

    For example:

      comboost predict wine.comboost new.csv -o predicted.csv

      comboost predict wine.comboost new.parquet -o predicted.parquet --proba --keep id

      zcat new.csv.gz | comboost predict wine.comboost - > predicted.csv
    """
    from rich.console import Console

    from comboost.cli._answers import predict_file
    from comboost.cli._learning import Request

    if as_json and out == "-":
        raise typer.BadParameter("--json and the predictions cannot both go to standard output; give -o OUT, too.")
    request = Request(source, missing=files.missing or (), dialect=files.dialect())
    with progress_shown(wanted=out != "-") as tick:  # the predictions themselves say how far it is
        answer = predict_file(model, request, out, tick, proba=proba, keep=keep or ())
    errors = Screen(Console(file=sys.stderr, highlight=False, soft_wrap=True))
    for note in answer.notes:
        errors.say(f"Note: {note}.")
    if as_json:
        print_json(asdict(answer))
    elif out != "-":
        told = listed_names([f"{name} ({n:,})" for name, n in answer.predicted.items()])
        Screen().say(f"{answer.n_rows:,} rows predicted, {told}.\nSaved {out}.")
