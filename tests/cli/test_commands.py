"""fit, predict, cv, compare and datasets, on data that is sound."""

import json
import shlex
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import fields, replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from distributed import LocalCluster
from rich.console import Console
from sklearn.model_selection import RepeatedStratifiedKFold
from threadpoolctl import threadpool_info
from typer.testing import CliRunner

from comboost import CoMBoClassifier, ConfusionBoostingClassifier, load_model
from comboost._estimators.parameters import n_threads_of
from comboost.cli import _contest
from comboost.cli._answers import PredictionResult
from comboost.cli._app import app
from comboost.cli._contest import Contest, Contestant, paired_interval, tell_differences
from comboost.cli._fitting import FitResult
from comboost.cli._folders import exact_floats, lazy_frame
from comboost.cli._folds import ValidationResult
from comboost.cli._learning import Request
from comboost.cli._showing import Screen
from comboost.cli.compare import show_contest
from comboost.cli.datasets import DatasetLine, list_datasets
from comboost.model_selection import cross_validate_confusion

QUICK = ("--rounds", "5")


@pytest.fixture
def rows(cli, frame):
    frame.to_csv("rows.csv", index=False)
    return "rows.csv"


@pytest.fixture
def model(cli, rows):
    assert cli("fit", rows, "-t", "state", "-o", "m.comboost", *QUICK).exit_code == 0
    return "m.comboost"


def columns_of(frame):
    return frame.drop(columns="state"), frame["state"].to_numpy().astype(str)


def json_of(result):
    assert (result.exit_code, result.stderr) == (0, "")
    return json.loads(result.stdout)


# fit


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
    assert "code: identifier? (100 different values); --drop code leaves it out" in shown
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
    monkeypatch.setattr("comboost.cli.fit.progress_shown", lambda: nullcontext(lambda *tick: ticks.append(tick)))
    Path("folder").mkdir()
    days = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(len(frame)) % 7, "D")
    dated = frame.assign(day=days.strftime("%Y-%m-%d"), code="2026-01-01")
    for part in range(2):
        dated[part::2].to_parquet(f"folder/{part}.parquet", index=False)
    asked = ("--dask", "--workers", "1", "--category", "code", *QUICK)
    result = cli("fit", "folder", "-t", "state", "-o", "m", *asked)
    assert result.exit_code == 0, result.output
    assert ticks == [
        *((doing, 0.0) for doing in ("first rows", "workers", "reading")),
        *(("boosting", n / 5) for n in range(1, 6)),
    ]
    X, y = columns_of(dated.assign(day=days, code=pd.Categorical(dated["code"])))
    expected, found = ConfusionBoostingClassifier(n_estimators=5).fit(X, y), load_model("m")
    assert (found.decision_function(X) == expected.decision_function(X)).all()
    assert found.target_name_ == "state"


def test_floats_in_a_folder_of_text_are_read_to_the_last_bit(tmp_path):
    written = pd.DataFrame({"a": np.random.default_rng(0).normal(size=1000)})
    written.to_csv(tmp_path / "0.csv", index=False)
    found = lazy_frame([str(tmp_path / "0.csv")], Request("folder")).compute()
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
    assert "Column 'day' holds dates in its first rows, and other text" in result.stderr


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


# predict


def test_predict_matches_columns_by_name_in_any_order_and_ignores_others(cli, model, frame):
    X, _ = columns_of(frame)
    X.assign(more=1)[["more", "maker", "load", "heat"]].to_parquet("new.parquet")
    result = cli("predict", model, "new.parquet", "-o", "out.csv")
    assert result.exit_code == 0
    assert "1 columns are not used" in result.stderr
    assert "more" in result.stderr
    assert pd.read_csv("out.csv")["prediction"].tolist() == load_model(model).predict(X).tolist()


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet", "feather"])
def test_probabilities_and_kept_columns_stand_beside_the_predictions(cli, model, rows, frame, ending):
    said = json_of(cli("predict", model, rows, "-o", f"out.{ending}", "--proba", "--keep", "maker", "--json"))
    read_text = partial(pd.read_csv, sep="\t" if ending == "tsv" else ",", **exact_floats())
    found = {"parquet": pd.read_parquet, "feather": pd.read_feather}.get(ending, read_text)(f"out.{ending}")
    assert list(found) == ["maker", "prediction", "proba_broken", "proba_fine", "proba_worn"]
    expected = load_model(model).predict_proba(columns_of(frame)[0])
    assert np.array_equal(found.iloc[:, 2:].to_numpy(), expected)
    assert said["predicted"] == found["prediction"].value_counts().to_dict()


def test_categories_that_spell_numbers_are_still_categories_when_few_are_left(cli):
    table = pd.DataFrame({"a": ["1", "2", "x"] * 20, "y": ["p", "q", "r"] * 20})
    table.to_csv("rows.csv", index=False)
    assert cli("fit", "rows.csv", "-t", "y", "-o", "m", *QUICK).exit_code == 0
    table[table["a"] != "x"].to_csv("few.csv", index=False)
    said = cli("predict", "m", "few.csv").stdout.split()
    assert said == ["prediction", *["p", "q"] * 20]


def test_predict_knows_the_marks_of_missing_values_that_fit_was_told(cli, frame):
    X, _ = columns_of(frame)
    expected = ConfusionBoostingClassifier(n_estimators=5).fit(*columns_of(frame)).predict(X).tolist()
    for mark, written, ending in (("-999", -999.0, "csv"), ("-999.0", -999, "parquet")):
        marked = frame.assign(heat=frame["heat"].fillna(written), maker=frame["maker"].fillna("Unknown"))
        (marked.to_csv if ending == "csv" else marked.to_parquet)(f"rows.{ending}", index=False)
        options = ("--missing", mark, "--missing", "unknown")
        assert cli("fit", f"rows.{ending}", "-t", "state", "-o", "m", *options, *QUICK).exit_code == 0
        assert load_model("m").missing_marks_ == [mark, "unknown"]
        assert cli("predict", "m", f"rows.{ending}").stdout.split()[1:] == expected


def test_marks_that_no_cell_matches_are_named(cli, rows, model):
    note = "no cell is '-999', which --missing names"
    assert note in cli("cv", rows, "-t", "state", "--missing", "-999", "--missing", "Bo", *QUICK).stdout
    assert note in cli("predict", model, rows, "--missing", "-999", "-o", "out.csv").stderr


def test_models_without_names_of_columns_take_them_by_place(cli, frame):
    X = frame[["load"]].to_numpy()
    ConfusionBoostingClassifier(n_estimators=3).fit(X, frame["state"].to_numpy().astype(str)).save_model("m")
    frame[["load"]].to_csv("new.csv", index=False)
    assert cli("predict", "m", "new.csv").stdout.split()[1:] == load_model("m").predict(X).tolist()
    frame[["load", "heat"]].to_csv("new.csv", index=False)
    assert "wants 1; new.csv has 2" in cli("predict", "m", "new.csv").stderr


# cv


def test_cv_gives_the_figures_of_cross_validate_confusion(cli, rows, frame):
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
    assert said["confusion"] == found.confusion.tolist()
    assert said["g_mean"] == pytest.approx(np.prod(found.recalls) ** (1 / 3))


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
        "Classes with fewer rows than folds, whose recall says little: broken (1)",
        "A class with one row cannot be learned and tested: broken",
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
    heads = next(place for place, line in enumerate(lines) if line.startswith("Per cent")) + 2
    assert lines[heads].split() == ["1", "2", "3"]
    assert [line.split()[:2] for line in lines[heads + 2 : heads + 5]] == [[str(k), f"class_{k}"] for k in (1, 2, 3)]


# compare


def test_peer_that_fails_is_named_and_left_out_and_an_error_of_ours_is_one(cli, rows, monkeypatch):
    def fail(n_threads, X):
        raise RuntimeError("no\nroom.")

    kinds = {"Bad": _contest.PeerKind("sklearn", fail)}
    monkeypatch.setattr(_contest, "PEER_KINDS", kinds)
    options = ("-t", "state", *QUICK, "--folds", "2")
    said = json_of(cli("compare", rows, *options, "--json"))
    assert said["left_out"] == {"Bad": "it fails: RuntimeError: no room"}
    assert len(said["contestants"]) == 3
    assert cli("compare", rows, *options, "--set", "noise=-1").exit_code == 1


def test_hist_gradient_boosting_takes_any_number_of_categories():
    X = pd.DataFrame({"code": pd.Categorical(np.arange(600) % 300), "few": pd.Categorical(np.arange(600) % 3)})
    y = np.arange(600) % 2
    rows = _contest.plain_columns(X)
    peer = _contest.Peer("HistGradientBoosting").fit(rows, y)
    assert set(peer.predict(rows)) <= {0, 1}
    assert peer.model_.is_categorical_.tolist() == [False, True]


def test_peers_see_names_of_columns_that_all_take():
    table = pd.DataFrame([[1.0, 2.0, 3.0]], columns=["heat", "load [%]", "load {%}"])
    assert list(_contest.plain_columns(table)) == ["heat", "load_", "load__3"]


def test_compare_puts_all_on_the_same_folds_and_names_those_that_are_missing(cli, rows, frame, monkeypatch):
    monkeypatch.setattr(_contest, "PEER_KINDS", {name: _contest.PEER_KINDS[name] for name in ("LightGBM", "XGBoost")})
    monkeypatch.setattr(_contest, "is_installed", lambda kind: kind.module == "lightgbm")
    said = json_of(cli("compare", rows, "-t", "state", *QUICK, "--folds", "3", "--jobs", "1", "--json"))
    assert said["left_out"] == {"XGBoost": "xgboost is not installed"}
    by_name = {each["name"]: each for each in said["contestants"]}
    assert list(by_name) == ["ConfusionBoosting", "CoMBo", "AdaBoost.MM", "LightGBM"]
    X, y = columns_of(frame)
    splitter = RepeatedStratifiedKFold(n_splits=3, n_repeats=1, random_state=0)
    ours, theirs = (
        cross_validate_confusion(make(random_state=0, **settings), X, y, cv=splitter)
        for make, settings in ((ConfusionBoostingClassifier, {"n_estimators": 5}), (CoMBoClassifier, {}))
    )
    assert by_name["CoMBo"]["norm"] == theirs.norm
    differences = ours.fold_recalls.mean(axis=1) - theirs.fold_recalls.mean(axis=1)
    assert by_name["CoMBo"]["difference"] == pytest.approx(differences.mean())
    assert said["verdict"].startswith("In mean recall, ConfusionBoosting ")


FEW_ROUNDS = {
    "LightGBM": {"n_estimators": 3},
    "XGBoost": {"n_estimators": 3},
    "CatBoost": {"iterations": 3},
    "HistGradientBoosting": {"max_iter": 3},
    "BalancedRandomForest": {"balancedrandomforestclassifier__n_estimators": 3},
}


class ThreadCounter:
    """A model that only looks how many threads of OpenMP and of linear algebra there are."""

    def fit(self, X, y):
        self.seen = {pool["num_threads"] for pool in threadpool_info()}

    def predict(self, X):
        self.fit(X, None)
        return np.zeros(len(X))


@pytest.mark.parametrize("n_jobs", [1, None, 2])
def test_peers_get_the_threads_that_are_asked_for(frame, monkeypatch, n_jobs):
    asked = []
    kind = _contest.PeerKind("sklearn", lambda n_threads, X: asked.append(n_threads) or ThreadCounter())
    monkeypatch.setattr(_contest, "PEER_KINDS", {"It": kind})
    X, y = columns_of(frame)
    before = threadpool_info()
    peer = _contest.Peer("It", n_jobs).fit(X, y)
    wanted = n_threads_of(n_jobs)
    assert (asked, peer.model_.seen) == ([wanted], {wanted})
    peer.predict(X)
    assert peer.model_.seen == {wanted}
    assert threadpool_info() == before


@pytest.mark.parametrize("name", _contest.PEER_KINDS)
def test_peers_take_categories_dates_and_missing_values(frame, name, monkeypatch):
    kind = _contest.PEER_KINDS[name]
    pytest.importorskip(kind.module, reason=f"{kind.module} is not installed")
    few = replace(kind, make=lambda n_threads, X: kind.make(n_threads, X).set_params(**FEW_ROUNDS[name]))
    monkeypatch.setitem(_contest.PEER_KINDS, name, few)
    X, y = columns_of(frame)
    X = X.assign(day=pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(len(X)), "D"))
    X.loc[7, "day"] = pd.NaT
    peer = _contest.Peer(name).fit(_contest.plain_columns(X), y)
    assert set(peer.predict(_contest.plain_columns(X))) <= set(y)


def contestant_with(name, verdict):
    return Contestant(name, {}, 0.0, 0.0, 0.0, 0.0, verdict=verdict)


def test_verdict_follows_from_the_intervals():
    said = tell_differences(
        [contestant_with("A", None), contestant_with("B", "better"), contestant_with("C", "open")], 5
    )
    assert "A finds more than B; is not shown to differ from C" in said
    assert "less" not in said
    assert "finds less than D, E" in tell_differences(
        [contestant_with("A", None), *(contestant_with(n, "worse") for n in "DE")], 5
    )


def test_paired_interval_is_wider_than_that_of_independent_folds():
    differences = np.random.default_rng(0).normal(size=10)
    middle, low, high = paired_interval(differences, 1 / 9)
    plain = paired_interval(differences, 0.0)
    assert middle == plain[0] == pytest.approx(differences.mean())
    assert (high - low) / (plain[2] - plain[1]) == pytest.approx(np.sqrt(1 + 10 / 9))
    assert plain[2] - plain[0] == pytest.approx(2.262157 * differences.std(ddof=1) / np.sqrt(10))


# all


def test_datasets_lists_what_is_bundled(cli, monkeypatch):
    lines = list_datasets()
    monkeypatch.setattr("comboost.cli.datasets.list_datasets", lambda: lines)
    listed = {line["name"]: line for line in json_of(cli("datasets", "--json"))}
    assert listed["yeast"] == {
        "name": "yeast", "n_rows": 1484, "n_features": 8, "n_classes": 10, "smallest_class": 5, "largest_class": 463
    }  # fmt: skip
    assert all(name in cli("datasets").stdout for name in listed)


@pytest.mark.parametrize("command", ["fit", "predict", "cv", "compare", "datasets", "demo", "reproduce"])
def test_help_of_every_command_has_an_example(cli, command):
    result = cli(command, "--help")
    assert result.exit_code == 0
    assert f"comboost {command}" in result.stdout


def test_help_imports_nothing_heavy(cli):
    code = "import sys\nfrom comboost.cli import main\ntry: main()\nfinally: print(*sys.modules)"
    said = subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=True).stdout
    loaded = set(said.splitlines()[-1].split())
    assert "typer" in loaded
    assert not loaded & {
        "rich.console",
        "importlib.metadata",
        "numpy",
        "scipy",
        "sklearn",
        "pandas",
        "pyarrow",
        "joblib",
        "comboost._core",
        "dask",
    }


def test_completion_is_there_for_shells(cli):
    result = cli(env={"_COMBOOST_COMPLETE": "complete_bash", "COMP_WORDS": "comboost co", "COMP_CWORD": "1"})
    assert result.stdout.split() == ["compare"]


@pytest.mark.parametrize("kind", [FitResult, PredictionResult, ValidationResult, Contest, Contestant, DatasetLine])
def test_every_key_of_the_json_is_documented(kind):
    page = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text()
    assert all(f"`{each.name}`" in page for each in fields(kind))


def test_comparison_fits_sixty_columns_with_every_name_whole(capsys):
    names = [*_contest.OURS.values(), *_contest.PEER_KINDS]
    figures = ({"one": 0.5, "other": 1.0}, 0.61, 0.55, 0.6, 12.3)
    found = [Contestant(names[0], *figures), *(Contestant(n, *figures, 0.01, -0.02, 0.04, "open") for n in names[1:])]
    lesson = {"source": "it", "target": "y", "n_rows": 9, "classes": {"one": 5, "other": 4}, "columns": [], "notes": []}
    contest = Contest(lesson, 5, 1, 0.95, found, {}, tell_differences(found, 5), [])
    show_contest(contest, Screen(Console(width=60, highlight=False)))
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 60
    assert all(name in shown.split() for name in names)
