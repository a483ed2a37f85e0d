"""comboost report: the metrics of ModelReport, in a file that is whole or not there."""

import json
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli.helpers import QUICK, refused

from comboost import ConfusionBoostingClassifier, load_model
from comboost.report import ModelReport


@pytest.fixture
def rows(cli, frame):
    frame[:60].to_csv("train.csv", index=False)
    frame[60:].to_csv("new.csv", index=False)
    return "new.csv"


@pytest.fixture
def model(cli, rows):
    assert cli("fit", "train.csv", "-t", "state", "-o", "m.comboost", *QUICK).exit_code == 0
    return "m.comboost"


@pytest.fixture
def other(cli, rows):
    fitted = cli("fit", "train.csv", "-t", "state", "-o", "other.comboost", "--drop", "heat", "-e", "combo", *QUICK)
    assert fitted.exit_code == 0
    return "other.comboost"


def test_report_has_the_metrics_of_python(cli, model, rows, frame):
    result = cli("report", model, rows, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    said = json.loads(result.stdout)
    new = frame[60:].reset_index(drop=True)
    expected = ModelReport(load_model(model), new.drop(columns="state"), new["state"].astype(str)).summary
    assert (said["classes"], said["bounds"]) == (expected["classes"], expected["bounds"])
    assert [each["metrics"] for each in said["models"]] == [each["metrics"] for each in expected["models"]]
    assert (said["request"]["source"], said["request"]["target"], said["request"]["model"]) == (rows, "state", model)
    stored = {each["name"]: each["value"] for each in said["parameters"] if each["changed"]}
    assert stored == {"n_estimators": "5", "n_jobs": "-1", "target column": "'state'"}


def test_a_baseline_takes_its_own_columns(cli, model, other, rows, frame):
    said = json.loads(cli("report", model, rows, "--baseline", other, "--json").stdout)
    new = frame[60:].reset_index(drop=True)
    fitted = load_model(other)
    expected = (fitted.predict(new[["load", "maker"]]) == new["state"]).mean()
    measures = {each["key"]: each["value"] for each in said["models"][1]["metrics"]}
    assert measures["accuracy"] == pytest.approx(expected)
    assert [each["name"] for each in said["models"]] == [model, other]
    assert said["verdict"]["kind"] in {"better", "worse", "mixed", "not_significant"}


@pytest.mark.parametrize("ending", ["html", "json", "md"])
def test_the_ending_decides_the_form_and_the_command_makes_the_same_bytes(cli, model, other, rows, ending):
    out = f"my report.{ending}"
    result = cli(
        "report", model, rows, "-t", "state", "-o", out, "--baseline", other, "--confidence", "0.9", "--seed", "3"
    )
    assert (result.exit_code, result.stderr) == (0, "")
    content = Path(out).read_bytes()
    assert f"Saved {out} ({len(content):,} bytes)." in result.stdout
    summary = json.loads(cli("report", model, rows, "-o", "summary.json", "--json").stdout)
    for sentence in summary["verdict"]["sentences"]:
        assert sentence
    if ending == "json":
        words = shlex.split(json.loads(content)["reproduction"]["code"])
        assert words[0] == "comboost"
        Path(out).unlink()
        assert cli(*words[1:]).exit_code == 0
        assert Path(out).read_bytes() == content


def test_verdict_and_notes_are_shown(cli, model, rows):
    shown = " ".join(cli("report", model, rows, "-o", "r.md").stdout.split())
    summary = json.loads(cli("report", model, rows, "--json").stdout)
    for sentence in [*summary["verdict"]["sentences"], *summary["notes"]]:
        assert " ".join(sentence.split()) in shown


def test_rows_come_from_standard_input_too(cli, model, rows):
    by_file, by_input = (
        json.loads(cli("report", model, source, "--json", input=Path(rows).read_text()).stdout)
        for source in (rows, "-")
    )
    assert by_file["classes"] == by_input["classes"]


def test_extra_columns_and_unseen_markers_are_noted(cli, model, frame):
    frame.assign(more=1).to_csv("new.csv", index=False)
    result = cli("report", model, "new.csv", "-o", "r.md", "--missing", "-999")
    assert result.exit_code == 0
    assert "more" in result.stderr
    assert "'-999'" in result.stderr


def test_classes_are_of_the_kind_that_the_model_knows(cli):
    table = pd.DataFrame({"a": np.arange(60.0), "y": np.repeat(["1", "2", "x"], 20)})
    table.to_csv("train.csv", index=False)
    assert cli("fit", "train.csv", "-t", "y", "-o", "text", *QUICK).exit_code == 0
    table[:40].to_csv("few.csv", index=False)  # whose classes all spell numbers
    said = json.loads(cli("report", "text", "few.csv", "--json").stdout)
    assert [(each["name"], each["n_samples"]) for each in said["classes"]] == [("1", 20), ("2", 20), ("x", 0)]
    assert cli("fit", "few.csv", "-t", "y", "-o", "numbers", *QUICK).exit_code == 0
    refused(cli("report", "numbers", "train.csv", "--json"), "'y'", "'x'", "whole number", "--target")
    table[:40].assign(y=["0.0", "1.0"] * 20).to_csv("points.csv", index=False)
    refused(cli("report", "numbers", "points.csv", "--json"), "'0.0'", "such as 1", "whole number")


@pytest.mark.parametrize("kind", [bool, float, int, str])
def test_classes_are_read_as_the_model_spells_them(cli, kind):
    table, y = pd.DataFrame({"a": np.arange(60.0)}), np.repeat([0, 1], 30).astype(kind)
    ConfusionBoostingClassifier(n_estimators=3).fit(table, y).save_model("m.comboost")
    table.assign(y=y)[20:].to_csv("new.csv", index=False)
    said = json.loads(cli("report", "m.comboost", "new.csv", "-t", "y", "--json").stdout)
    assert [(each["name"], each["n_samples"]) for each in said["classes"]] == [(str(y[0]), 10), (str(y[-1]), 30)]


def test_a_class_seen_only_in_new_data_is_noted(cli, model, frame):
    frame.assign(state=frame["state"].replace("broken", "lost")).to_csv("new.csv", index=False)
    said = json.loads(cli("report", model, "new.csv", "--json").stdout)
    assert any("does not know lost" in note for note in said["notes"])
    assert [each["known"] for each in said["classes"]] == [True, True, True, False]


def test_one_class_and_one_row_are_reported(cli, model, frame):
    frame[:1].to_csv("one.csv", index=False)
    assert cli("report", model, "one.csv", "-o", "r.html").exit_code == 0


BAD = {
    "another ending": (["m.comboost", "new.csv", "-o", "r.pdf"], ["r.pdf", ".html, .json, .md"]),
    "no such folder": (["m.comboost", "new.csv", "-o", "no/r.html"], ["no/r.html", "no folder"]),
    "the model itself": (["m.comboost", "new.csv", "-o", "new.html", "--baseline", "new.html"], ["new.html"]),
    "no such model": (["no.comboost", "new.csv", "-o", "r.html"], ["no.comboost", "save_model"]),
    "a model that is none": (["new.csv", "new.csv", "-o", "r.html"], ["new.csv", "save_model"]),
    "no such data": (["m.comboost", "no.csv", "-o", "r.html"], ["'no.csv'", "bundled"]),
    "no such target": (["m.comboost", "new.csv", "-t", "stat", "-o", "r.html"], ["'stat'", "did you mean 'state'"]),
    "no target": (["m.comboost", "bare.csv", "-o", "r.html"], ["bare.csv", "--target"]),
    "no columns": (["m.comboost", "alone.csv", "-o", "r.html"], ["lacks 3 of the 3 columns"]),
    "no columns of the baseline": (
        ["m.comboost", "new.csv", "-o", "r.html", "--baseline", "m2.comboost"],
        ["lacks 1 of the 4", "m2.comboost"],
    ),
    "a class is missing": (["m.comboost", "gaps.csv", "-o", "r.html"], ["'state'", "missing in 1 of 40", "row 1"]),
    "no such confidence": (["m.comboost", "new.csv", "-o", "r.html", "--confidence", "95"], ["confidence=95"]),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_ends_in_one_line_and_changes_nothing(cli, model, rows, frame, case, tmp_path):
    new = frame[60:].reset_index(drop=True)
    new.drop(columns="state").to_csv("bare.csv", index=False)
    new[["state"]].to_csv("alone.csv", index=False)
    frame.assign(more=np.arange(len(frame))).to_csv("more.csv", index=False)
    assert cli("fit", "more.csv", "-t", "state", "-o", "m2.comboost", *QUICK).exit_code == 0
    new.assign(state=new["state"].where(new.index > 0)).to_csv("gaps.csv", index=False)
    for name in ("r.html", "new.html"):
        Path(name).write_text("precious")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    arguments, words = BAD[case]
    refused(cli("report", *arguments), *words)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_neither_file_nor_json_is_a_usage_error(cli, model, rows):
    assert cli("report", model, rows).exit_code == 2


def test_models_without_names_of_columns_take_them_by_position(cli, frame):
    X = frame[["load"]].to_numpy()
    ConfusionBoostingClassifier(n_estimators=3).fit(X, frame["state"].to_numpy().astype(str)).save_model("m")
    frame[["load", "state"]].to_csv("new.csv", index=False)
    assert cli("report", "m", "new.csv", "-t", "state", "-o", "r.md").exit_code == 0


def test_example_rows_are_counted_from_1(cli, model, rows):
    said = json.loads(cli("report", model, rows, "--json").stdout)
    new = pd.read_csv(rows)
    assert said["confused_pairs"]
    for pair in said["confused_pairs"]:
        assert {new["state"][row["index"] - 1] for row in pair["examples"]["samples"]} == {pair["true_class"]}
