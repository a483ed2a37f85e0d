"""``comboost compare``: does it help? In: data and a target. Out: our estimators beside balanced ones of others."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from comboost.cli._options import DataFile, DataOptions, EstimatorOptions, Folds, Json, spread
from comboost.cli._progress import progress_shown
from comboost.cli._showing import Screen, print_json

if TYPE_CHECKING:
    from comboost.cli._contest import Contest


@spread
def compare_estimators(
    source: DataFile,
    data: DataOptions,
    estimator: EstimatorOptions,
    folds: Folds = 5,
    repeats: Annotated[int, typer.Option("--repeats", min=1, max=100, help="Of all folds, on other parts.")] = 1,
    as_json: Json = False,
) -> None:
    """Compare with LightGBM, XGBoost, CatBoost and others, all balanced, on the same folds.

    For example:

      comboost compare satimage

      comboost compare wine.csv --target quality --repeats 3 --jobs -1
    """
    from comboost.cli._contest import compare_file

    with progress_shown() as tick:
        result = compare_file(data.request(source), estimator.recipe(), folds, repeats, tick)
    if as_json:
        print_json(asdict(result))
    else:
        show_contest(result, Screen())


def show_contest(result: "Contest", screen: Screen) -> None:
    """Show who reached what, and what that shows; tables are narrow enough for 60 characters in a line."""
    screen.show_lesson(result.lesson)
    screen.say(f"\nOn the same {result.n_folds * result.n_repeats} folds; peers balanced, with their defaults", "bold")
    screen.show(
        ["", "", "‖C‖", "G-mean", "mean\nrecall", "seconds"],
        [
            [
                str(n),
                each.name,
                f"{each.norm:.3f}",
                f"{each.g_mean:.3f}",
                f"{each.mean_recall:.3f}",
                f"{each.seconds:.1f}",
            ]
            for n, each in enumerate(result.contestants, start=1)
        ],
        right=(2, 3, 4, 5),
    )
    show_differences(result, screen)
    show_recalls(result, screen)
    for name, reason in result.left_out.items():
        screen.say(f"Left out: {name}, since {reason}.")
    for note in result.notes:
        screen.say(f"Note: {note}.")
    screen.say(result.verdict, "bold")


def show_differences(result: "Contest", screen: Screen) -> None:
    """Show by how much the first one differs from the others, with limits."""
    first, *others = result.contestants
    screen.say(f"How much more mean recall {first.name} has, with intervals of 95 %", "bold")
    rows = [
        [f"than {each.name}", *(f"{x:+.3f}" for x in (each.difference, each.difference_low, each.difference_high))]
        for each in others
    ]
    screen.show(["", "more", "from", "to"], rows, right=(1, 2, 3))


def show_recalls(result: "Contest", screen: Screen) -> None:
    """Show the recall of every class; the heads are the numbers of the first table."""
    screen.say("Recall per class, the rarest class last, by the numbers above", "bold")
    numbers = [str(n) for n in range(1, len(result.contestants) + 1)]
    rows = [
        [label, *(f"{each.recalls[label]:.2f}" for each in result.contestants)] for label in result.lesson["classes"]
    ]
    screen.show(["class", *numbers], rows, right=range(1, len(numbers) + 1))
