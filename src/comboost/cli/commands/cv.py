"""``comboost cv``: recall of every class, confusions and norm by cross-validation."""

import math
from dataclasses import asdict
from typing import TYPE_CHECKING

from comboost._stats.formatting import format_confidence, format_interval, join_names, percent
from comboost.cli.terminal.options import DataFile, DataOptions, EstimatorOptions, Folds, Json, with_options
from comboost.cli.terminal.progress import progress_shown
from comboost.cli.terminal.screen import Screen, print_json

if TYPE_CHECKING:
    from comboost.cli.jobs.cross_validation import ValidationResult

MAX_CLASSES_IN_MATRIX = 12
HEADER_WIDTH = 4  # characters of a column


@with_options
def cv(
    source: DataFile, data: DataOptions, estimator: EstimatorOptions, folds: Folds = 5, as_json: Json = False
) -> None:
    """Cross-validate: recall of every class on rows that were not trained on.

    For example:

      comboost cv yeast

      comboost cv wine.csv --target quality --folds 10 --drop id

      comboost cv wine.csv --target quality --json > wine.json
    """
    from comboost.cli.jobs.cross_validation import validate_file

    with progress_shown() as tick:
        result = validate_file(data.request(source), estimator.settings(), folds, tick)
    if as_json:
        print_json(asdict(result))
    else:
        show_validation(result, Screen())


def show_validation(result: "ValidationResult", screen: Screen) -> None:
    """Print recalls, confusions and norm."""
    screen.show_data(result.data)
    screen.say(f"\n{result.estimator}, {result.n_folds} folds: recall per class", "bold")
    screen.show(
        ["class", "rows", "recall", "95 % interval", "most often\npredicted as"],
        [
            [
                each["name"],
                f"{each['rows']:,}",
                f"{each['recall']:.3f}",
                format_interval((each["recall_low"], each["recall_high"]), digits=2),
                f"{each['predicted_as']} ({each['predicted_as_fraction']:.0%})" if each["predicted_as"] else "",
            ]
            for each in result.classes
        ],
        right=(1, 2, 3),
    )
    show_confusion(result, screen)
    screen.say(f"‖C‖ = {result.norm:.3f} (norm of all confusions, 0 is best)", "bold")
    screen.say(f"G-mean = {result.g_mean:.3f}, mean recall = {result.mean_recall:.3f} (1 is best)", "bold")
    screen.say(describe_bounds(result))
    screen.note(result.notes)


def describe_bounds(result: "ValidationResult") -> str:
    """State the bounds on new data, and which of them say nothing."""
    maximum = math.sqrt(len(result.classes) - 1)
    told: list[str] = []
    unknown: list[str] = []
    for name, bound, is_known in (
        ("‖C‖", f"‖C‖ at most {result.norm_bound:.3f} (never above {maximum:.3g})", result.norm_bound < maximum),
        ("G-mean", f"G-mean at least {result.g_mean_bound:.3f}", result.g_mean_bound > 0),
        ("mean recall", f"mean recall at least {result.mean_recall_bound:.3f}", result.mean_recall_bound > 0),
    ):
        (told if is_known else unknown).append(bound if is_known else name)
    confidence = format_confidence(result.confidence)
    sentences = []
    if told:
        sentences.append(
            f"On new data, each with {confidence} confidence, for the classifiers of the folds on average: "
            f"{', '.join(told)}."
        )
    if unknown:
        sentences.append(f"There are too few rows to bound {join_names(unknown)} on new data.")
    return " ".join(sentences)


def show_confusion(result: "ValidationResult", screen: Screen) -> None:
    """Print the confusion matrix, if there are not too many classes."""
    names = [each["name"] for each in sorted(result.classes, key=lambda each: each["index"])]
    if len(names) > MAX_CLASSES_IN_MATRIX:
        screen.say(f"The confusion matrix of {len(names)} classes is in --json.")
        return
    screen.say("Confusions: per cent of a class (row) predicted as another (column)", "bold")
    headers = [name[:HEADER_WIDTH] for name in names]
    if len(set(headers)) < len(headers):  # then classes are numbered
        headers = [str(number) for number in range(1, len(names) + 1)]
        names = [f"{number} {name}" for number, name in enumerate(names, start=1)]
    rows = [
        [name, *(percent(fraction) or "." for fraction in line)]
        for name, line in zip(names, result.confusion, strict=True)
    ]
    screen.show(["", *headers], rows, right=range(1, len(names) + 1))
