"""``comboost cv``: what to expect on new rows. In: data, a target, an estimator. Out: recalls, confusions, norms."""

from dataclasses import asdict
from typing import TYPE_CHECKING

from comboost.cli._options import DataFile, DataOptions, EstimatorOptions, Folds, Json, spread
from comboost.cli._progress import progress_shown
from comboost.cli._showing import Screen, print_json

if TYPE_CHECKING:
    from comboost.cli._folds import ValidationResult

MOST_CLASSES_IN_MATRIX = 12
LONGEST_HEAD = 4  # characters of a column


@spread
def cv(
    source: DataFile,
    data: DataOptions,
    estimator: EstimatorOptions,
    folds: Folds = 5,
    as_json: Json = False,
) -> None:
    """Cross-validate: how much of every class is found in rows that were not trained on.

    For example:

      comboost cv yeast

      comboost cv wine.csv --target quality --folds 10 --drop id

      comboost cv wine.csv --target quality --json > wine.json
    """
    from comboost.cli._folds import validate_file

    with progress_shown() as tick:
        result = validate_file(data.request(source), estimator.recipe(), folds, tick)
    if as_json:
        print_json(asdict(result))
    else:
        show_validation(result, Screen())


def show_validation(result: "ValidationResult", screen: Screen) -> None:
    """Show what was found."""
    screen.show_lesson(result.lesson)
    screen.say(f"\n{result.estimator}, {result.n_folds} folds: recall per class, with intervals of 95 %", "bold")
    screen.show(
        ["class", "rows", "recall", "from", "to", "most taken for"],
        [
            [
                each["name"],
                f"{each['rows']:,}",
                f"{each['recall']:.3f}",
                f"{each['recall_low']:.2f}",
                f"{each['recall_high']:.2f}",
                f"{each['taken_for']} ({each['taken_for_share']:.0%})" if each["taken_for"] is not None else "",
            ]
            for each in result.classes
        ],
        right=(1, 2, 3, 4),
    )
    show_confusion(result, screen)
    screen.say(f"‖C‖ = {result.norm:.3f} (confusions of all classes, 0 is best)", "bold")
    screen.say(f"G-mean = {result.g_mean:.3f}, mean recall = {result.mean_recall:.3f} (1 is best)", "bold")
    for note in result.notes:
        screen.say(f"Note: {note}.")


def show_confusion(result: "ValidationResult", screen: Screen) -> None:
    """Show who is taken for whom, if there are not too many classes."""
    names = [each["name"] for each in sorted(result.classes, key=lambda each: each["place"])]
    if len(names) > MOST_CLASSES_IN_MATRIX:
        screen.say(f"The confusions of {len(names)} classes are in --json.")
        return
    screen.say("Per cent of a class (row) that is taken for another one (column)", "bold")
    heads = [name[:LONGEST_HEAD] for name in names]
    if len(set(heads)) < len(heads):  # then classes are numbered
        heads = [str(place) for place in range(1, len(names) + 1)]
        names = [f"{place} {name}" for place, name in enumerate(names, start=1)]
    rows = [
        [name, *(f"{100 * share:.0f}" if share else "." for share in line)]
        for name, line in zip(names, result.confusion, strict=True)
    ]
    screen.show(["", *heads], rows, right=range(1, len(names) + 1))
