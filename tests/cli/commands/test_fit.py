"""comboost fit, on files that are sound."""

import shlex
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli.helpers import CSV, QUICK, columns_of, json_of
from distributed import LocalCluster

from comboost import CoMBoClassifier, ConfusionBoostingClassifier, load_model
from comboost.cli.input.training_table import DataRequest
from comboost.cli.jobs.fit import lazy_frame


def test_fit_saves_the_model_that_python_fits(model, frame):
    X, y = columns_of(frame)
    expected, found = ConfusionBoostingClassifier(n_estimators=5).fit(X, y), load_model(model)
    assert (found.decision_function(X) == expected.decision_function(X)).all()
    assert (found.target_name_, list(found.feature_names_in_)) == ("state", list(X.columns))


def test_settings_come_from_options_assignments_and_a_file_in_this_order(cli, rows):
    Path("s.toml").write_text(
        'estimator = "combo"\n[parameters]\nmax_depth = 1\ncriterion = "cost"\nn_estimators = 9\n'
    )
    said = json_of(
        cli("fit", rows, "-t", "state", "-o", "m", "--config", "s.toml", "--set", "n_estimators=8", "--set",
            "max_depth=2", "--depth", "3", "--json")
    )  # fmt: skip
    wanted = {"max_depth": 3, "criterion": "cost", "n_estimators": 8, "random_state": 0}
    stored = load_model("m")
    assert isinstance(stored, CoMBoClassifier)
    assert wanted.items() <= stored.get_params().items()
    assert (said["estimator"], said["parameters"]) == ("CoMBoClassifier", stored.get_params())


def test_fit_shows_columns_and_points_out_those_of_no_use(cli, frame):
    frame.assign(code=[f"c{i}" for i in range(len(frame))], one=1).to_csv("rows.csv", index=False)
    shown = cli("fit", "rows.csv", "-t", "state", "-o", "m", *QUICK).stdout
    assert "100 rows, target 'state' with 3 classes: fine (60), worn (30), broken (10)" in shown
    assert "code: identifier? (100 distinct values); --drop code excludes it" in shown
    assert "one: constant" in shown
    dropped = cli("fit", "rows.csv", "-t", "state", "-o", "m", "--drop", "code", "--drop", "one", *QUICK)
    assert "identifier?" not in dropped.stdout
    assert list(load_model("m").feature_names_in_) == ["heat", "load", "maker"]


def test_rows_come_from_standard_input_too(cli, model, frame):
    content = frame.to_csv(index=False)
    assert cli("fit", "-", "-t", "state", "-o", "other", *QUICK, input=content).exit_code == 0
    assert Path("other").read_bytes() == Path(model).read_bytes()
    by_file, by_input = cli("predict", model, "rows.csv"), cli("predict", model, "-", input=content)
    assert by_file.stdout == by_input.stdout != ""


def test_whole_numbers_are_classes_as_they_are(cli, frame):
    frame.assign(state=frame["state"].map({"fine": 0, "worn": 1, "broken": 10})).to_csv("rows.csv", index=False)
    assert cli("fit", "rows.csv", "-t", "state", "-o", "m", *QUICK).exit_code == 0
    assert load_model("m").classes_.tolist() == [0, 1, 10]


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of Dask's
def test_a_folder_is_fitted_on_a_cluster_as_its_rows_are_without_one(cli, frame, monkeypatch):
    monkeypatch.setattr("distributed.LocalCluster", partial(LocalCluster, processes=False))  # which starts at once
    ticks = []
    monkeypatch.setattr(
        "comboost.cli.commands.fit.progress_shown", lambda: nullcontext(lambda *tick: ticks.append(tick))
    )
    Path("folder").mkdir()
    days = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(len(frame)) % 7, "D")
    dated = frame.assign(day=days.strftime("%Y-%m-%d"), code="2026-01-01")
    for part in range(2):
        dated[part::2].to_parquet(f"folder/{part}.parquet", index=False)
    asked = ("--dask", "--workers", "1", "--category", "code", *QUICK)
    result = cli("fit", "folder", "-t", "state", "-o", "m", *asked)
    assert result.exit_code == 0, result.output
    assert ticks == [
        *((doing, 0.0) for doing in ("first rows", "workers", "reading, searching")),
        *(("boosting", n / 5) for n in range(1, 6)),
    ]
    X, y = columns_of(dated.assign(day=days, code=pd.Categorical(dated["code"])))
    expected, found = ConfusionBoostingClassifier(n_estimators=5).fit(X, y), load_model("m")
    assert (found.decision_function(X) == expected.decision_function(X)).all()
    assert found.target_name_ == "state"


def test_floats_in_a_folder_of_text_are_read_to_the_last_bit(tmp_path):
    written = pd.DataFrame({"a": np.random.default_rng(0).normal(size=1000)})
    written.to_csv(tmp_path / "0.csv", index=False)
    found = lazy_frame([str(tmp_path / "0.csv")], DataRequest("folder")).compute()
    assert found["a"].to_numpy().tobytes() == written["a"].to_numpy().tobytes()


def test_settings_that_estimators_on_a_cluster_lack_are_refused(cli, frame):
    Path("folder").mkdir()
    frame.to_parquet("folder/0.parquet", index=False)
    for setting in ("calibration_folds=3", "validation_fraction=0.3"):
        result = cli("fit", "folder", "-t", "state", "-o", "m", "--dask", "--set", setting)
        assert (result.exit_code, result.stdout) == (1, "")
        assert f"The parameter {setting} cannot be given with --dask" in result.stderr
    marked = cli("fit", "folder", "-t", "state", "-o", "m", "--dask", "--missing", "-999")
    assert (marked.exit_code, "--missing cannot be given" in marked.stderr) == (1, True)
    for option in (("--workers", "2"), ("--memory-limit", "1GB")):
        assert cli("fit", "yeast", "-o", "m", *option).exit_code == 2
    assert not Path("m").exists()


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of Dask's
def test_dates_in_a_folder_that_end_in_other_text_are_named(cli, frame, monkeypatch):
    monkeypatch.setattr("distributed.LocalCluster", partial(LocalCluster, processes=False))
    Path("folder").mkdir()
    for part, day in enumerate(["2026-01-01", "soon"]):
        frame.assign(day=day).to_csv(f"folder/{part}.csv", index=False)
    result = cli("fit", "folder", "-t", "state", "-o", "m", "--dask", "--workers", "1", *QUICK)
    assert (result.exit_code, result.stdout, Path("m").exists()) == (1, "", False)
    assert "Column 'day' contains dates in its first rows, and other text" in result.stderr


def test_fit_says_what_was_selected_and_from_what(cli, rows, frame):
    shown = " ".join(cli("fit", rows, "-t", "state", "-o", "m").stdout.split())
    fitted = load_model("m")
    used = fitted.best_params_
    assert f"smoothing={used['smoothing']:g}, learning_rate={used['learning_rate']:.3g}" in shown
    assert f"max_depth={used['max_depth']} and {used['n_estimators']} rounds" in shown
    assert f"held-out samples from {len(fitted.search_results_)} candidates." in shown
    said = json_of(cli("fit", rows, "-t", "state", "-o", "m", "--json"))["search"]
    assert (said["outcome"], said["best_params"]) == ("selected", used)
    assert [each["loss"] for each in said["candidates"]] == [each["loss"] for each in fitted.search_results_]


def test_fit_says_why_a_tiny_table_is_not_searched(cli):
    Path("rows.csv").write_text(CSV)
    shown = " ".join(cli("fit", "rows.csv", "-t", "y", "-o", "m").stdout.split())
    assert "Not searched: 6 samples are fewer than 30." in shown


def test_no_search_fits_with_fixed_settings_and_says_nothing_of_a_search(cli, rows, frame):
    result = cli("fit", rows, "-t", "state", "-o", "m", "--no-search", "--depth", "2", "--rounds", "4")
    assert "search" not in result.stdout.replace("--no-search", "")
    assert shlex.split(result.stdout.partition("comboost cv")[2])[3:8] == [
        "--rounds", "4", "--depth", "2", "--no-search",
    ]  # fmt: skip
    found = load_model("m")
    assert (found.search_results_, found.get_params()["smoothing"]) == ([], 3.0)
    X, y = columns_of(frame)
    expected = ConfusionBoostingClassifier(smoothing=3, max_depth=2, learning_rate=0.3, n_estimators=4).fit(X, y)
    assert (found.decision_function(X) == expected.decision_function(X)).all()


def test_no_search_contradicts_auto_and_leaves_the_size_of_trees_to_max_leaf_nodes(cli, rows):
    refused = cli("fit", rows, "-t", "state", "-o", "m", "--no-search", "--set", "smoothing=auto")
    assert "--no-search contradicts smoothing=auto" in " ".join(refused.stderr.split())
    cli("fit", rows, "-t", "state", "-o", "m", "--no-search", "--rounds", "2", "--set", "max_leaf_nodes=3")
    assert load_model("m").best_params_["max_depth"] is None


def test_progress_of_a_fit_starts_with_the_search_and_ends_full(cli, rows, monkeypatch):
    ticks = []
    monkeypatch.setattr(
        "comboost.cli.commands.fit.progress_shown", lambda: nullcontext(lambda *tick: ticks.append(tick))
    )
    assert cli("fit", rows, "-t", "state", "-o", "m").exit_code == 0
    assert ticks[:2] == [("reading", 0.0), ("searching for settings", 0.0)]
    assert ticks[-1] == ("boosting", 1.0)
    assert len(ticks) == 2 + load_model("m").n_iter_


def test_next_command_repeats_what_was_typed(cli, frame):
    frame.assign(code=1).to_csv("my rows.tsv", index=False, sep="\t")
    options = ["--sep", "tab", "--decimal", ".", "--missing", "Bo", "--drop", "code", "--category", "maker",
               "--estimator", "combo", "--rounds", "2", "--learning-rate", "0.5", "--depth", "2",
               "--set", "criterion=cost", "--set", "tol=0.001", "--seed", "3", "--jobs", "1"]  # fmt: skip
    shown = cli("fit", "my rows.tsv", "-t", "state", "-o", "m", *options).stdout
    (line,) = [line for line in shown.splitlines() if "comboost cv" in line]
    words = shlex.split(line.partition("comboost ")[2])
    assert words == ["cv", "my rows.tsv", "--target", "state", *options]
    assert cli(*words, "--folds", "2").exit_code == 0


def test_no_next_command_where_rows_cannot_be_read_again(cli, frame):
    result = cli("fit", "-", "-t", "state", "-o", "m", *QUICK, input=frame.to_csv(index=False))
    assert result.exit_code == 0
    assert "comboost cv" not in result.stdout
