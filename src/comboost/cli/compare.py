"""``comboost compare``: does it help? In: data and a target. Out: our estimators beside balanced ones of others."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from comboost.cli._options import DataFile, DataOptions, EstimatorOptions, Folds, Json, spread
from comboost.cli._progress import progress_shown
from comboost.cli._showing import Screen, print_json

if TYPE_CHECKING:
    from comboost.cli._contest import Contest, Contestant


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
    """Show who reached what, and what that shows."""
    screen.show_lesson(result.lesson)
    first = result.contestants[0].name
    screen.say(f"\nOn the same {result.n_folds * result.n_repeats} folds, with their defaults, balanced", "bold")
    screen.show(
        ["", "‖C‖", "G-mean", "mean\nrecall", f"{first}\nhas more", "s"],
        [
            [
                each.name,
                f"{each.norm:.3f}",
                f"{each.g_mean:.3f}",
                f"{each.mean_recall:.3f}",
                tell_difference(each),
                f"{each.seconds:.1f}",
            ]
            for each in result.contestants
        ],
        right=(1, 2, 3, 4, 5),
    )
    show_recalls(result, screen)
    for name, reason in result.left_out.items():
        screen.say(f"Left out: {name}, since {reason}.")
    for note in result.notes:
        screen.say(f"Note: {note}.")
    screen.say(result.verdict, "bold")


def tell_difference(each: "Contestant") -> str:
    """The difference to the first one, with its limits."""
    if each.difference is None:
        return ""
    return f"{each.difference:+.3f}\n({each.difference_low:+.3f} to {each.difference_high:+.3f})"


def show_recalls(result: "Contest", screen: Screen) -> None:
    """Show the recall of every class, the rarest last."""
    screen.say("Recall per class, the rarest class last", "bold")
    names = [each.name for each in result.contestants]
    heads = [
        name.replace("Boosting", "\nBoosting").replace("Balanced", "Balanced\n").replace("Random", "Random\n")
        for name in names
    ]
    rows = [
        [label, *(f"{each.recalls[label]:.2f}" for each in result.contestants)] for label in result.lesson["classes"]
    ]
    screen.show(["class", *heads], rows, right=range(1, len(names) + 1))
