"""``comboost fit``: train on a file and save the model."""

import shlex
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated

import typer

from comboost._stats.formatting import pluralize
from comboost.cli.terminal.options import DataFile, DataOptions, EstimatorOptions, Json, as_typed, with_options
from comboost.cli.terminal.progress import progress_shown
from comboost.cli.terminal.screen import Screen, print_json

if TYPE_CHECKING:
    from comboost.cli.jobs.fit import FitResult

N_WORKERS, MEMORY_LIMIT = 2, "auto"


@with_options
def fit(
    source: DataFile,
    out: Annotated[str, typer.Option("--out", "-o", metavar="MODEL", help="Model file.", show_default=False)],
    data: DataOptions,
    estimator: EstimatorOptions,
    dask: Annotated[
        bool, typer.Option("--dask", help="DATA is a folder of files, which may be larger than memory.")
    ] = False,
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, help="Processes, with --dask.", show_default=str(N_WORKERS))
    ] = None,
    memory_limit: Annotated[
        str | None, typer.Option("--memory-limit", help="Memory of a worker, with --dask.", show_default=MEMORY_LIMIT)
    ] = None,
    as_json: Json = False,
) -> None:
    """Train on a file and save the model.

    For example:

      comboost fit wine.csv --target quality -o wine.comboost

      comboost fit wine.csv -t quality -o wine.comboost --drop id --set smoothing=5

      comboost fit wine.csv -t quality -o wine.comboost --no-search --rounds 500

      zcat rows.csv.gz | comboost fit - -t class -o model.comboost --estimator combo
    """
    from comboost.cli.jobs.fit import fit_file, fit_folder

    for name, value in (("--workers", workers), ("--memory-limit", memory_limit)):
        if value is not None and not dask:
            raise typer.BadParameter(f"{name} requires --dask; give both, or neither.")
    request, settings = data.request(source), estimator.settings()
    with progress_shown() as tick:
        if dask:
            n_workers, memory = workers or N_WORKERS, memory_limit or MEMORY_LIMIT
            result = fit_folder(request, settings, out, tick, n_workers=n_workers, memory_limit=memory)
        else:
            result = fit_file(request, settings, out, tick)
    if as_json:
        print_json(asdict(result))
    else:
        options = [*as_typed(replace(data, target=None)), *as_typed(estimator)]
        show_fit(result, Screen(), None if dask or source == "-" else options)


def show_fit(result: "FitResult", screen: Screen, options: Sequence[str] | None) -> None:
    """Print what was trained on what, and the command to validate it, if the rows can be read again."""
    from comboost.cli.jobs.settings import changed_parameters

    screen.show_data(result.data)
    changed = changed_parameters(result.estimator, result.parameters)
    parameters = ", ".join(f"{name}={value!r}" for name, value in changed.items()) or "default parameters"
    rounds = pluralize(result.n_rounds, "round")
    screen.say(f"{result.estimator} ({parameters}): {rounds}, ‖C‖ = {result.train_norm:.3f} on the training rows.")
    if result.search is not None and result.search["outcome"] != "given":
        screen.say(" ".join(result.search["sentences"][:2]))
    if options is not None:
        words = [result.data["source"], "--target", result.data["target"], *options]
        screen.say(f"To estimate its recall on new rows: comboost cv {shlex.join(words)}", to_copy=True)
    screen.say(f"Saved {result.model} ({result.n_bytes:,} bytes).")
