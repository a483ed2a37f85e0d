"""``comboost report``: a page on a model. In: a model file and rows with their classes. Out: HTML, JSON or Markdown."""

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from comboost.cli._options import DataFile, FileOptions, Json, spread
from comboost.cli._progress import progress_shown
from comboost.cli._showing import Screen, print_json

if TYPE_CHECKING:
    from comboost.cli._reporting import ReportFile


@spread
def report(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A file of comboost fit.", show_default=False)],
    source: DataFile,
    files: FileOptions,
    target: Annotated[
        str | None,
        typer.Option(
            "--target", "-t", metavar="COL", help="The column that holds the class.", show_default="the model's"
        ),
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="REPORT", help="A file that ends with .html, .json or .md.")
    ] = None,
    baseline: Annotated[
        str | None, typer.Option("--baseline", metavar="MODEL2", help="Another model file, to compare with.")
    ] = None,
    confidence: Annotated[float, typer.Option("--confidence", help="Of all intervals, between 0 and 1.")] = 0.95,
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**32 - 1, help="Of the draws behind intervals.")] = 0,
    as_json: Json = False,
) -> None:
    """Report how much of every class a model finds in rows that it has not seen, and whether a baseline finds less.

    For example:

      comboost report wine.comboost new.csv --target quality -o report.html

      comboost report wine.comboost new.csv -o report.md --baseline old.comboost

      comboost report wine.comboost new.csv --json > report.json
    """
    from rich.console import Console

    from comboost.cli._reporting import ReportRequest, report_file

    if out is None and not as_json:
        raise typer.BadParameter("Where to? Give -o report.html (or .json, .md), or --json.")
    request = ReportRequest(
        model=model,
        source=source,
        target=target,
        baseline=baseline,
        missing=tuple(files.missing or ()),
        dialect=files.dialect(),
        confidence=confidence,
        seed=seed,
    )
    with progress_shown() as tick:
        result = report_file(request, out, tick)
    errors = Screen(Console(file=sys.stderr, highlight=False, soft_wrap=True))
    for note in result.notes:
        errors.say(f"Note: {note}.")
    if as_json:
        print_json(result.summary)
    else:
        show_report(result, Screen())


def show_report(result: "ReportFile", screen: Screen) -> None:
    """Show the verdict, what to know first, and where the report is."""
    summary: dict[str, Any] = result.summary
    screen.say(summary["request"]["question"])
    for sentence in summary["verdict"]["sentences"]:
        screen.say(sentence, "bold")
    for note in summary["notes"]:
        screen.say(f"Note: {note}")
    screen.say(f"Saved {result.out} ({result.n_bytes:,} bytes).")
