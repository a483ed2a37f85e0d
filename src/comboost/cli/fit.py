"""``comboost fit``: a model of a file. In: data, a target, an estimator. Out: a model file, and what it was made of."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from comboost.cli._options import DataFile, DataOptions, EstimatorOptions, Json, spread
from comboost.cli._progress import progress_shown
from comboost.cli._showing import Screen, print_json, quoted

if TYPE_CHECKING:
    from comboost.cli._fitting import FitResult


@spread
def fit(
    source: DataFile,
    out: Annotated[str, typer.Option("--out", "-o", metavar="MODEL", help="The model file.", show_default=False)],
    data: DataOptions,
    estimator: EstimatorOptions,
    dask: Annotated[bool, typer.Option("--dask", help="DATA is a folder of files that memory may not hold.")] = False,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Processes, with --dask.")] = 2,
    memory_limit: Annotated[str, typer.Option("--memory-limit", help="Of a worker, with --dask.")] = "auto",
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

    request, recipe = data.request(source), estimator.recipe()
    if dask:
        result = fit_folder(request, recipe, out, n_workers=workers, memory_limit=memory_limit)
    else:
        with progress_shown() as tick:
            result = fit_file(request, recipe, out, tick)
    if as_json:
        print_json(asdict(result))
    else:
        show_fit(result, Screen())


def show_fit(result: "FitResult", screen: Screen) -> None:
    """Show what was learned, from what, and what to do next."""
    from comboost.cli._settings import changed_settings

    screen.show_lesson(result.lesson)
    changed = changed_settings(result.estimator, result.parameters)
    told = ", ".join(f"{name}={value!r}" for name, value in changed.items()) or "defaults"
    rounds = "1 round" if result.n_rounds == 1 else f"{result.n_rounds} rounds"
    screen.say(f"{result.estimator} ({told}): {rounds}, ‖C‖ = {result.train_norm:.3f} on these rows.")
    source, target = (quoted(result.lesson[name]) for name in ("source", "target"))
    screen.say(f"What to expect on new ones, ask: comboost cv {source} --target {target}")
    screen.say(f"Saved {result.model} ({result.n_bytes:,} bytes).")
