"""``comboost predict``: a file of predictions by a model file."""

from dataclasses import asdict
from typing import Annotated

import typer

from comboost.cli.terminal.options import DataFile, FileOptions, Json, ModelFile, with_options
from comboost.cli.terminal.progress import progress_shown
from comboost.cli.terminal.screen import Screen, list_names, print_json, stderr_screen


@with_options
def predict(
    model: ModelFile,
    source: DataFile,
    files: FileOptions,
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="OUT", help="CSV, TSV, Parquet or Arrow; - for standard output.")
    ] = "-",
    proba: Annotated[bool, typer.Option("--proba", help="Add a column with the probability of every class.")] = False,
    keep: Annotated[
        list[str] | None, typer.Option("--keep", metavar="COL", help="Copy a column of DATA; may be repeated.")
    ] = None,
    safe: Annotated[
        bool,
        typer.Option("--quote-formulas", help="Put ' before text that begins like a formula of a spreadsheet."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Predict the class of every row, in the order of the rows; columns are matched by name.

    For example:

      comboost predict wine.comboost new.csv -o predicted.csv

      comboost predict wine.comboost new.parquet -o predicted.parquet --proba --keep id

      zcat new.csv.gz | comboost predict wine.comboost - > predicted.csv
    """
    from comboost.cli.jobs.predict import predict_file

    if as_json and out == "-":
        raise typer.BadParameter("--json and the predictions cannot both go to standard output; give -o OUT, too.")
    with progress_shown(wanted=out != "-") as tick:  # on a terminal, the predictions are progress enough
        result = predict_file(model, files.request(source), out, tick, proba=proba, keep=keep or (), safe=safe)
    stderr_screen().note(result.notes)
    if as_json:
        print_json(asdict(result))
    elif out != "-":
        counts = list_names([f"{name} ({n:,})" for name, n in result.predicted.items()])
        Screen().say(f"{result.n_rows:,} rows predicted: {counts}.\nSaved {out}.")
