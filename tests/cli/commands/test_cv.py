"""comboost cv."""

import numpy as np
import pytest
from cli.helpers import QUICK, columns_of, json_of
from sklearn.model_selection import RepeatedStratifiedKFold
from typer.testing import CliRunner

from comboost import ConfusionBoostingClassifier
from comboost.cli.app import app
from comboost.cli.commands.cv import describe_bounds
from comboost.cli.jobs.cross_validation import ValidationResult
from comboost.model_selection import cross_validate_confusion


def test_cv_gives_the_metrics_of_cross_validate_confusion(cli, rows, frame):
    said = json_of(cli("cv", rows, "-t", "state", *QUICK, "--json"))
    X, y = columns_of(frame)
    splitter = RepeatedStratifiedKFold(n_splits=5, n_repeats=1, random_state=0)
    found = cross_validate_confusion(ConfusionBoostingClassifier(n_estimators=5), X, y, cv=splitter)
    low, high = found.recall_intervals
    by_name = {each["name"]: each for each in said["classes"]}
    for k, name in enumerate(found.classes):
        each = by_name[name]
        assert (each["recall"], each["recall_low"], each["recall_high"]) == (found.recalls[k], low[k], high[k])
    assert (said["norm"], said["norm_bound"]) == (found.norm, found.norm_bound)
    assert (said["g_mean_bound"], said["mean_recall_bound"]) == (found.geometric_mean_bound, found.mean_recall_bound)
    assert said["confusion"] == found.confusion.tolist()
    assert said["g_mean"] == pytest.approx(np.prod(found.recalls) ** (1 / 3))


@pytest.mark.parametrize(
    ("bounds", "told"),
    [
        (
            (0.9, 0.5, 0.6),
            "on average: ‖C‖ at most 0.900 (never above 1.41), G-mean at least 0.500, mean recall at least",
        ),
        ((0.9, 0.0, 0.6), "mean recall at least 0.600. There are too few rows to bound G-mean on new data."),
        ((2**0.5, 0.0, 0.0), "There are too few rows to bound ‖C‖, G-mean and mean recall on new data."),
    ],
)
def test_bounds_that_say_nothing_are_left_out(bounds, told):
    norm, g_mean, mean_recall = bounds
    result = ValidationResult({}, "", {}, 5, 0.95, [{}] * 3, [], 0.1, norm, 0.9, g_mean, 0.9, mean_recall, [])
    assert told in describe_bounds(result)
    assert ("On new data" in describe_bounds(result)) == (mean_recall > 0)


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("charset", ["utf-8", "ascii"])
def test_cv_is_readable_in_any_width_and_encoding(cli, frame, width, charset):
    frame.to_csv("rows.csv", index=False)
    result = CliRunner(charset=charset).invoke(
        app, ["cv", "rows.csv", "-t", "state", "--rounds", "2", "--folds", "2"],
        env={"COLUMNS": str(width), "NO_COLOR": "1"},
    )  # fmt: skip
    assert (result.exit_code, result.stderr) == (0, "")
    assert "\x1b" not in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= width
    words = result.stdout.split()
    assert {"fine", "worn", "broken"} <= set(words)
    assert ("‖C‖" if charset == "utf-8" else "||C||") in words


def test_classes_with_fewer_rows_than_folds_are_named(cli, frame):
    few = frame[(frame["state"] != "broken") | (frame.groupby("state").cumcount() < 1)]
    few.to_csv("rows.csv", index=False)
    notes = json_of(cli("cv", "rows.csv", "-t", "state", *QUICK, "--json"))["notes"]
    assert notes == [
        "Classes with fewer rows than folds, whose recall is unreliable: broken (1)",
        "A class with a single row cannot be both trained on and tested: broken",
    ]


def test_seed_decides_the_folds(cli, rows):
    first, same, other = (
        json_of(cli("cv", rows, "-t", "state", *QUICK, "--folds", "2", "--seed", seed, "--json")) for seed in (0, 0, 1)
    )
    assert first == same
    assert first["confusion"] != other["confusion"]


def test_classes_that_begin_alike_are_numbered_in_the_matrix(cli, frame):
    names = {"fine": "class_1", "worn": "class_2", "broken": "class_3"}
    frame.replace({"state": names}).to_csv("rows.csv", index=False)
    lines = cli("cv", "rows.csv", "-t", "state", *QUICK, "--folds", "2").stdout.splitlines()
    header = next(idx for idx, line in enumerate(lines) if line.startswith("Confusions")) + 2
    assert lines[header].split() == ["1", "2", "3"]
    assert [line.split()[:2] for line in lines[header + 2 : header + 5]] == [[str(k), f"class_{k}"] for k in (1, 2, 3)]
