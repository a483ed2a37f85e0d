"""``comboost compare``: our estimators and those of other libraries on the same folds."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from comboost._stats.formatting import format_interval, format_number
from comboost.cli.terminal.options import DataFile, DataOptions, EstimatorOptions, Folds, Json, with_options
from comboost.cli.terminal.progress import progress_shown
from comboost.cli.terminal.screen import Screen, print_json

if TYPE_CHECKING:
    from comboost.cli.jobs.comparison import ComparisonResult


@with_options
def compare_classifiers(
    source: DataFile,
    data: DataOptions,
    estimator: EstimatorOptions,
    folds: Folds = 5,
    repeats: Annotated[
        int, typer.Option("--repeats", min=1, max=100, help="Repetitions of the folds, with other splits.")
    ] = 1,
    as_json: Json = False,
) -> None:
    """Compare with LightGBM, XGBoost, CatBoost and others, all balanced, on the same folds.

    For example:

      comboost compare satimage

      comboost compare wine.csv --target quality --repeats 3 --jobs -1
    """
    from comboost.cli.jobs.comparison import compare_file

    with progress_shown() as tick:
        result = compare_file(data.request(source), estimator.settings(), folds, repeats, tick)
    if as_json:
        print_json(asdict(result))
    else:
        show_comparison(result, Screen())


def show_comparison(result: "ComparisonResult", screen: Screen) -> None:
    """Print metrics, differences and recalls in tables of at most 60 columns, and the verdict."""
    first, *others = result.classifiers
    screen.show_data(result.data)
    screen.say(f"\nMetrics on the same {result.n_folds * result.n_repeats} folds", "bold")
    screen.show(
        ["", "", "‖C‖", "G-mean", "mean\nrecall", "seconds"],
        [
            [str(number), each.name, *(f"{x:.3f}" for x in (each.norm, each.g_mean, each.mean_recall)),
             f"{each.seconds:.1f}"]
            for number, each in enumerate(result.classifiers, start=1)
        ],
        right=(2, 3, 4, 5),
    )  # fmt: skip
    screen.say(f"Mean recall of {first.name} minus that of the others", "bold")
    screen.show(
        ["", "difference", "95 % interval"],
        [
            [
                each.name,
                format_number(each.difference, signed=True),
                format_interval((each.difference_low, each.difference_high), signed=True),  # type: ignore[arg-type]
            ]
            for each in others
        ],
        right=(1, 2),
    )
    screen.say("Recall per class, the rarest class last; columns are numbered as above", "bold")
    screen.show(
        ["class", *(str(number) for number in range(1, len(result.classifiers) + 1))],
        [[name, *(f"{each.recalls[name]:.2f}" for each in result.classifiers)] for name in result.data["classes"]],
        right=range(1, len(result.classifiers) + 1),
    )
    for name, reason in result.left_out.items():
        screen.say(f"Left out: {name}, since {reason}.")
    screen.note(result.notes)
    screen.say(result.verdict, "bold")
