"""comboost predict."""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli.helpers import QUICK, columns_of, json_of, refused

from comboost import ConfusionBoostingClassifier, load_model
from comboost._persistence import model_file
from comboost.cli.jobs.fit import exact_floats


def test_predict_matches_columns_by_name_in_any_order_and_ignores_others(cli, model, frame):
    X, _ = columns_of(frame)
    X.assign(more=1)[["more", "maker", "load", "heat"]].to_parquet("new.parquet")
    result = cli("predict", model, "new.parquet", "-o", "out.csv")
    assert result.exit_code == 0
    assert "ignored 1 column" in result.stderr
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


def test_predict_uses_the_missing_value_markers_of_fit(cli, frame):
    X, _ = columns_of(frame)
    expected = ConfusionBoostingClassifier(n_estimators=5).fit(*columns_of(frame)).predict(X).tolist()
    for mark, written, ending in (("-999", -999.0, "csv"), ("-999.0", -999, "parquet")):
        marked = frame.assign(heat=frame["heat"].fillna(written), maker=frame["maker"].fillna("Unknown"))
        (marked.to_csv if ending == "csv" else marked.to_parquet)(f"rows.{ending}", index=False)
        options = ("--missing", mark, "--missing", "unknown")
        assert cli("fit", f"rows.{ending}", "-t", "state", "-o", "m", *options, *QUICK).exit_code == 0
        assert load_model("m").missing_markers_ == [mark, "unknown"]
        assert cli("predict", "m", f"rows.{ending}").stdout.split()[1:] == expected


def test_markers_that_do_not_occur_are_named(cli, rows, model):
    note = "no cell is '-999', which --missing names"
    assert note in cli("cv", rows, "-t", "state", "--missing", "-999", "--missing", "Bo", *QUICK).stdout
    assert note in cli("predict", model, rows, "--missing", "-999", "-o", "out.csv").stderr


def test_models_without_names_of_columns_take_them_by_position(cli, frame):
    X = frame[["load"]].to_numpy()
    ConfusionBoostingClassifier(n_estimators=3).fit(X, frame["state"].to_numpy().astype(str)).save_model("m")
    frame[["load"]].to_csv("new.csv", index=False)
    assert cli("predict", "m", "new.csv").stdout.split()[1:] == load_model("m").predict(X).tolist()
    frame[["load", "heat"]].to_csv("new.csv", index=False)
    assert "expects 1; new.csv has 2" in cli("predict", "m", "new.csv").stderr


def test_missing_columns_are_named(cli, tmp_path, trained):
    Path("new.csv").write_text("b,c\nu,1\n")
    Path("out.csv").write_text("precious")
    refused(cli("predict", trained, "new.csv", "-o", "out.csv"), "lacks 1 of the 2 columns", "'a'", "add them")
    assert Path("out.csv").read_text() == "precious"


def test_text_where_the_model_expects_numbers_is_named(cli, tmp_path, trained):
    Path("new.csv").write_text("a,b\nmany,u\nfew,v\n")
    refused(cli("predict", trained, "new.csv", "-o", "out.csv"), "'a'", "text", "'many'")
    assert not Path("out.csv").exists()


def test_few_words_among_the_numbers_of_a_feature_are_named(cli, trained):
    Path("new.csv").write_text("a,b\n" + "1,u\n" * 40 + "oops,u\n")
    result = cli("predict", trained, "new.csv", "-o", "out.csv")
    refused(result, "'a'", "'oops' in row 41", "expects a number", "--missing")
    assert "--drop" not in result.stderr  # which there is none of


def test_class_seen_only_in_new_data_is_named(cli, trained):
    Path("new.csv").write_text("a,b,y\n1,u,p\n2,v,new\n")
    result = cli("predict", trained, "new.csv", "-o", "out.csv")
    assert result.exit_code == 0
    assert "'new' in 'y' did not occur in training" in result.stderr
    assert set(pd.read_csv("out.csv")["prediction"]) <= {"p", "q"}


def test_model_of_a_later_format_says_which_version_wrote_it(cli, trained, monkeypatch):
    own = model_file.FORMAT
    monkeypatch.setattr(model_file, "FORMAT", own - 1)  # this file is then of a later one
    Path("new.csv").write_text("a,b\n1,u\n")
    refused(cli("predict", trained, "new.csv"), f"format {own}", "written by comboost", "Update")


def test_damaged_model_is_refused(cli, trained):
    content = bytearray(trained.read_bytes())
    content[len(content) // 2] ^= 1
    Path("bad.comboost").write_bytes(content)
    Path("new.csv").write_text("a,b\n1,u\n")
    refused(cli("predict", "bad.comboost", "new.csv"), "bad.comboost", "damaged")


def test_disk_that_is_full_leaves_the_old_predictions(cli, trained, monkeypatch):
    Path("new.csv").write_text("a,b\n1,u\n")
    Path("out.csv").write_text("precious")
    monkeypatch.setattr("os.fsync", full)
    refused(cli("predict", trained, "new.csv", "-o", "out.csv"), "out.csv", "No space left", "nothing has changed")
    refused(cli("fit", "yeast", "-o", "out.csv", "--rounds", "1"), "No space left", "Nothing has changed")
    assert {path.name for path in Path().iterdir()} == {"new.csv", "out.csv"}
    assert Path("out.csv").read_text() == "precious"


def full(handle):
    raise OSError(28, "No space left on device")


def test_other_separator_and_decimal_comma_are_read_when_they_are_said_or_found(cli, trained):
    Path("new.csv").write_text("b;a\nu;1,5\nv;20,5\n")
    found = cli("predict", trained, "new.csv")
    assert found.exit_code == 0
    Path("new.csv").write_text("b~a\nu~1,5\nv~20,5\n")
    assert cli("predict", trained, "new.csv", "--sep", "~", "--decimal", ",").stdout == found.stdout


FORMULAS = [f"{start}cmd|' /C calc'!A0" for start in ("=", "+", "-", "@", "\t", "\r", "\n")]
HARMLESS = ["a=1", "'=1", "-1.5", "+2", "", " =1"]


@pytest.mark.parametrize("ending", ["csv", "tsv.gz"])
def test_text_that_begins_like_a_formula_is_quoted_if_wanted(cli, ending):
    texts = [*FORMULAS, *HARMLESS]
    table = pd.DataFrame({"a": np.arange(len(texts)) % 4, "=b": texts, "y": (["=1", "\r2", "no", "+3"] * 4)[:13]})
    table.to_parquet("rows.parquet")
    assert cli("fit", "rows.parquet", "-t", "y", "-o", "m", "--set", "min_samples_leaf=1", *QUICK).exit_code == 0
    read = partial(pd.read_csv, sep="\t" if "tsv" in ending else ",", keep_default_na=False, dtype=str)
    outputs = []
    for options in ((), ("--quote-formulas",)):
        said = cli("predict", "m", "rows.parquet", "-o", f"out.{ending}", "--keep", "=b", "--proba", *options)
        assert said.exit_code == 0
        outputs.append(read(f"out.{ending}"))
    plain, quoted = outputs
    names = [f"proba_{label}" for label in load_model("m").classes_]
    assert list(plain) == ["=b", "prediction", *names]
    assert list(quoted) == ["'=b", "prediction", *names]
    assert plain["=b"].tolist() == texts
    assert quoted["'=b"].tolist() == [*(f"'{text}" for text in FORMULAS), *HARMLESS]
    assert set(plain["prediction"]) == {"=1", "\r2", "no", "+3"}
    assert quoted["prediction"].tolist() == plain["prediction"].replace({"=1": "'=1", "\r2": "'\r2"}).tolist()
    assert quoted.iloc[:, 2:].equals(plain.iloc[:, 2:])


def test_formulas_cannot_be_quoted_where_there_are_none(cli, trained):
    Path("new.csv").write_text("a,b\n1,u\n")
    refused(cli("predict", trained, "new.csv", "-o", "out.parquet", "--quote-formulas"), "out.parquet", "leave it out")
    assert not Path("out.parquet").exists()


def test_columns_of_probabilities_are_in_the_order_of_the_classes(cli):
    values = np.tile(np.arange(12), 10)
    pd.DataFrame({"a": values + 0.5, "y": values}).to_csv("rows.csv", index=False)
    assert cli("fit", "rows.csv", "-t", "y", "-o", "m", "-e", "combo", "--rounds", "40").exit_code == 0
    assert cli("predict", "m", "rows.csv", "-o", "out.csv", "--proba").exit_code == 0
    found, fitted = pd.read_csv("out.csv", **exact_floats()), load_model("m")
    assert list(found) == ["prediction", *(f"proba_{k}" for k in range(12))]
    assert np.array_equal(found.iloc[:, 1:].to_numpy(), fitted.predict_proba(pd.DataFrame({"a": values + 0.5})))
    assert (found.iloc[:, 1:].to_numpy().argmax(axis=1) == found["prediction"]).all()
