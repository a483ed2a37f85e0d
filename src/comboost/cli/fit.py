"""``comboost fit``: a model of a file. In: data, a target, an estimator. Out: a model file, and what it was made of."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated

import typer

from comboost.cli._options import DataFile, DataOptions, EstimatorOptions, Json, spread, typed_again
from comboost.cli._progress import progress_shown
from comboost.cli._showing import Screen, print_json, quoted

if TYPE_CHECKING:
    from comboost.cli._fitting import FitResult

N_WORKERS, MEMORY_LIMIT = 2, "auto"


@spread
def fit(
    source: DataFile,
    out: Annotated[str, typer.Option("--out", "-o", metavar="MODEL", help="The model file.", show_default=False)],
    data: DataOptions,
    estimator: EstimatorOptions,
    dask: Annotated[bool, typer.Option("--dask", help="DATA is a folder of files that memory may not hold.")] = False,
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, help="Processes, with --dask.", show_default=str(N_WORKERS))
    ] = None,
    memory_limit: Annotated[
        str | None, typer.Option("--memory-limit", help="Of a worker, with --dask.", show_default=MEMORY_LIMIT)
    ] = None,
    as_json: Json = False,
) -> None:
    """Learn from a file and save the model.

    For example:

      comboost fit wine.csv --target quality -o wine.comboost

      comboost fit wine.csv -t quality -o wine.comboost --drop id --rounds 500 --set smoothing=5

      zcat rows.csv.gz | comboost fit - -t class -o model.comboost --estimator combo
    """
    from comboost.cli._fitting import fit_file
    from comboost.cli._folders import fit_folder

    for name, value in (("--workers", workers), ("--memory-limit", memory_limit)):
        if value is not None and not dask:
            raise typer.BadParameter(f"{name} is for --dask, which is not given; give both, or neither.")
    request, recipe = data.request(source), estimator.recipe()
    with progress_shown() as tick:
        if dask:
            n_workers, memory = workers or N_WORKERS, memory_limit or MEMORY_LIMIT
            result = fit_folder(request, recipe, out, tick, n_workers=n_workers, memory_limit=memory)
        else:
            result = fit_file(request, recipe, out, tick)
    if as_json:
        print_json(asdict(result))
    else:
        options = [*typed_again(replace(data, target=None)), *typed_again(estimator)]
        show_fit(result, Screen(), None if dask or source == "-" else options)


def show_fit(result: "FitResult", screen: Screen, options: Sequence[str] | None) -> None:
    """Show what was learned, from what, and what to do next with the same options, if rows can be read again."""
    from comboost.cli._settings import changed_settings

    screen.show_lesson(result.lesson)
    changed = changed_settings(result.estimator, result.parameters)
    told = ", ".join(f"{name}={value!r}" for name, value in changed.items()) or "defaults"
    rounds = "1 round" if result.n_rounds == 1 else f"{result.n_rounds} rounds"
    screen.say(f"{result.estimator} ({told}): {rounds}, ‖C‖ = {result.train_norm:.3f} on these rows.")
    if options is not None:
        words = map(quoted, [result.lesson["source"], "--target", result.lesson["target"], *options])
        screen.say(f"What to expect on new ones, ask: comboost cv {' '.join(words)}", to_copy=True)
    screen.say(f"Saved {result.model} ({result.n_bytes:,} bytes).")
