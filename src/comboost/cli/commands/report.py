"""``comboost report``: an HTML, JSON or Markdown report on a model file."""

import shlex
from typing import TYPE_CHECKING, Annotated, Any

import typer

from comboost.cli.terminal.options import DataFile, FileOptions, Json, ModelFile, as_typed, seed_option, with_options
from comboost.cli.terminal.progress import progress_shown
from comboost.cli.terminal.screen import Screen, print_json, stderr_screen

if TYPE_CHECKING:
    from comboost.cli.jobs.report import ReportResult


@with_options
def report(
    model: ModelFile,
    source: DataFile,
    files: FileOptions,
    target: Annotated[
        str | None,
        typer.Option("--target", "-t", metavar="COL", help="Column with the class labels.", show_default="the model's"),
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="REPORT", help="File that ends with .html, .json or .md.")
    ] = None,
    baseline: Annotated[
        str | None, typer.Option("--baseline", metavar="MODEL2", help="Another model file, to compare with.")
    ] = None,
    confidence: Annotated[
        float, typer.Option("--confidence", help="Confidence level of all intervals, between 0 and 1.")
    ] = 0.95,
    seed: Annotated[int, seed_option(help="Random seed of the bootstrap intervals.")] = 0,
    as_json: Json = False,
) -> None:
    """Report the recall of every class on new rows, and compare it with a baseline.

    For example:

      comboost report wine.comboost new.csv --target quality -o report.html

      comboost report wine.comboost new.csv -o report.md --baseline old.comboost

      comboost report wine.comboost new.csv --json > report.json
    """
    from comboost.cli.jobs.report import report_file

    if out is None and not as_json:
        raise typer.BadParameter("Nothing to write; give -o report.html (or .json, .md), or --json.")
    given = [*(["--target", target] if target else []), *(["--baseline", baseline] if baseline else [])]
    words = ["comboost", "report", model, source, *given, *as_typed(files)]
    words += ["--confidence", str(confidence), "--seed", str(seed), *(["--json"] if out is None else ["--out", out])]
    with progress_shown() as tick:
        result = report_file(
            model,
            files.request(source, target),
            out,
            tick,
            baseline=baseline,
            confidence=confidence,
            seed=seed,
            command=("... | " if source == "-" else "") + shlex.join(words),
        )
    stderr_screen().note(result.notes)
    if as_json:
        print_json(result.summary)
    else:
        show_report(result, Screen())


def show_report(result: "ReportResult", screen: Screen) -> None:
    """Print the question, the verdict, the notes, and the name of the file."""
    summary: dict[str, Any] = result.summary
    screen.say(summary["request"]["question"])
    for sentence in summary["verdict"]["sentences"]:
        screen.say(sentence, "bold")
    for note in summary["notes"]:
        screen.say(f"Note: {note}")
    screen.say(f"Saved {result.out} ({result.n_bytes:,} bytes).")
