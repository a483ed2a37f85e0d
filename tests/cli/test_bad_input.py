"""Bad input ends in one line that names the thing and the way out, and changes no file."""

import gzip
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer

from comboost import ConfusionBoostingClassifier
from comboost._persistence import model_file
from comboost.cli._errors import is_of_typer

CSV = "a,b,y\n1,u,p\n2,v,q\n3,u,p\n4,v,q\n5,u,p\n6,v,q\n"
WIDE = ",".join([f"c{i % 297}" for i in range(300)] + ["y"])
OTHERS = "".join(f"{i},u,{'pq'[i % 2]}\n" for i in range(40))
FIT = ("fit", "rows.csv", "-t", "y", "-o", "model.comboost", "--rounds", "2")


def refused(result, *words, code=1):
    """Whether a command said in one line of stderr what is wrong, and nothing else."""
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("Error: ")
    for word in words:
        assert word in line


def files_of(folder):
    return {path: path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


BAD_FILES = {
    "empty": (b"", ["rows.csv", "is empty"]),
    "blank": (b"\n  \n", ["rows.csv", "is empty"]),
    "header only": (b"a,b,y\n", ["no rows", "a,b,y"]),
    "no such column": (CSV.replace("y", "class").encode(), ["'y'", "--target", "'class'"]),
    "nearly such a column": (CSV.replace("b,y", "yy,b").encode(), ["'y'", "did you mean 'yy'"]),
    "one value": (CSV.replace("q", "p").encode(), ["'y'", "one value only, 'p'", "two classes"]),
    "missing target": (CSV.replace("3,u,p", "3,u,").encode(), ["'y'", "missing in 1 of 6", "row 3"]),
    "target of numbers": (
        ("a,y\n" + "".join(f"{i},{i / 7}\n" for i in range(99))).encode(),
        ["'y'", "99 values in 99 rows", "another --target"],
    ),
    "mixed column": (("a,b,y\n" + OTHERS + "oops,u,p\n").encode(), ["'a'", "'oops'", "row 41", "--missing", "--drop"]),
    "not UTF-8": (b"a,b,y\n1,u,p\n2,\xe4,q\n", ["line 3", "no UTF-8", "--encoding latin-1"]),
    "UTF-16": (CSV.encode("utf-16"), ["UTF-16", "--encoding utf-16"]),
    "duplicates": (
        WIDE.encode() + b"\n" + b"1," * 300 + b"p\n",
        ["301 columns", "3 of their", "'c0'", "own in the first"],
    ),
    "ragged": (CSV.replace("4,v,q", "4,v,q,w").encode(), ["line 5", "4 cells where 3", "--sep"]),
    "short": (CSV.replace("4,v,q", "4,v").encode(), ["line 5", "2 cells where 3", "--sep"]),
    "one column": (b"y\np\nq\np\nq\n", ["no column but the target", "--sep"]),
    "binary": (bytes(range(256)) * 8, ["no text"]),
    "damaged gzip": (b"\x1f\x8b" + b"nothing", ["damaged gzip"]),
    "cut gzip": (gzip.compress(CSV.encode())[:-9], ["damaged gzip", "pack it anew"]),
    "gzip of nothing": (gzip.compress(b""), ["rows.csv", "is empty"]),
    "packed, not UTF-8": (gzip.compress(b"a,b,y\n1,u,p\n2,\xe4,q\n"), ["line 3", "no UTF-8"]),
    "quote without end": (("a,b,y\n" + '1,"u,p\n' + 40_000 * "2,v,q\n").encode(), ["rows.csv", "cannot be read"]),
    "damaged Parquet": (b"PAR1nothing", ["damaged", ".parquet"]),
    "decimal comma": (("a,b,y\n" + '"1,5",u,p\n"2,5",v,q\n' * 9).encode(), ["'a'", "decimal comma", "--decimal"]),
    "thousands": (
        ("a,b,y\n" + '"114,062",0.5,p\n"2,500",1.5,q\n' * 9).encode(),
        ["'a'", "'114,062'", "group thousands", "without commas"],
    ),
    "thousands, or a decimal comma": (
        ("a,b,y\n" + '"114,062",u,p\n"2,500",v,q\n' * 9).encode(),
        ["'a'", "thousands or are decimal", "without them", "--decimal"],
    ),
    "decimal comma among points": (
        ("a,b,y\n" + '"1,5",0.25,p\n"2,5",1.5,q\n' * 9).encode(),
        ["'a'", "'1,5'", "write them with a point"],
    ),
    "point among decimal commas": (
        ("a;y\n" + "1,5;p\n2,5;q\n" * 30 + "1.25;p\n").encode(),
        ["'a'", "'1.25'", "','", "--category"],
    ),
    "unknown separator": (CSV.replace(",", "~").encode(), ["no column 'y'"]),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_file_that_cannot_be_learned_from(cli, tmp_path, case):
    content, words = BAD_FILES[case]
    (tmp_path / "rows.csv").write_bytes(content)
    (tmp_path / "model.comboost").write_bytes(b"precious")
    before = files_of(tmp_path)
    refused(cli(*FIT), *words)
    assert files_of(tmp_path) == before


BAD_OPTIONS = {
    "missing file": (["cv", "nothing.csv"], ["'nothing.csv'", "bundled", "yeast"]),
    "folder": (["cv", "."], ["is a folder", "--dask"]),
    "unknown ending": (["cv", "rows.xlsx", "-t", "y"], [".xlsx", ".csv"]),
    "no target": (["cv", "rows.csv"], ["--target", "'a', 'b', 'y'"]),
    "drop of nothing": (["cv", "rows.csv", "-t", "y", "--drop", "z"], ["'z'", "--drop"]),
    "drop of the target": (["cv", "rows.csv", "-t", "y", "--drop", "y"], ["'y' is the target"]),
    "category of nothing": (["cv", "rows.csv", "-t", "y", "--category", "z"], ["'z'", "--category"]),
    "separator that is not there": (["cv", "rows.csv", "-t", "y", "--sep", ";"], ["';'", "a,b,y", "--sep"]),
    "unknown encoding": (["cv", "rows.csv", "-t", "y", "--encoding", "nope"], ["'nope'", "--encoding"]),
    "too many folds": (["cv", "rows.csv", "-t", "y", "--folds", "9"], ["at most 3 rows", "fewer --folds"]),
    "unknown parameter": (["cv", "rows.csv", "-t", "y", "--set", "nois=1"], ["'nois'", "did you mean 'noise'"]),
    "parameter without value": (["cv", "rows.csv", "-t", "y", "--set", "noise"], ["'noise'", "name=value"]),
    "bad value": (["cv", "yeast", "--set", "noise=-1"], ["noise=-1"]),
    "parameter of objects": (["cv", "rows.csv", "-t", "y", "-e", "combo", "--set", "estimator=tree"], ["objects"]),
    "missing settings": (["cv", "rows.csv", "-t", "y", "--config", "no.toml"], ["no.toml", "TOML"]),
    "settings that are none": (["cv", "rows.csv", "-t", "y", "--config", "rows.csv"], ["rows.csv", "no TOML"]),
    "unknown settings": (["cv", "rows.csv", "-t", "y", "--config", "odd.toml"], ["'rounds'", "[parameters]"]),
    "output in no folder": ([*FIT[:4], "-o", "no/model"], ["no/model", "no folder"]),
    "output that is a folder": ([*FIT[:4], "-o", "."], ["is a folder"]),
    "output that is the data": ([*FIT[:4], "-o", "rows.csv"], ["rows.csv is the data itself"]),
    "output below a file": ([*FIT[:4], "-o", "rows.csv/model"], ["rows.csv/model", "no folder"]),
    "target of a folder": (["fit", "folder", "-t", "z", "-o", "m", "--dask"], ["'z'", "folder", "those there are"]),
    "folder without a target": (["fit", "folder", "-o", "m", "--dask"], ["--target", "'a', 'b', 'y'"]),
    "drop of a folder's target": (["fit", "folder", "-t", "y", "--drop", "y", "-o", "m", "--dask"], ["is the target"]),
    "folder without files": (["fit", "none", "-t", "y", "-o", "m", "--dask"], ["none", "holds no file", ".parquet"]),
    "folder of an empty file": (["fit", "empty", "-t", "y", "-o", "m", "--dask"], ["files of empty", "whole"]),
    "Dask without a folder": ([*FIT, "--dask"], ["no folder", "--dask"]),
    "missing model": (["predict", "no.comboost", "rows.csv"], ["no.comboost", "save_model"]),
    "model that is none": (["predict", "rows.csv", "rows.csv"], ["rows.csv", "save_model"]),
}


@pytest.mark.parametrize("case", ["thousands", "decimal comma among points"])
def test_advice_does_not_break_other_columns(cli, case):
    Path("rows.csv").write_bytes(BAD_FILES[case][0])
    assert "--decimal" not in cli(*FIT).stderr


@pytest.mark.parametrize("case", BAD_OPTIONS)
def test_options_that_do_not_fit(cli, tmp_path, case):
    (tmp_path / "rows.csv").write_text(CSV)
    (tmp_path / "rows.xlsx").write_text(CSV)
    (tmp_path / "odd.toml").write_text("rounds = 3\n")
    for name, content in {"folder": CSV, "none": None, "empty": ""}.items():
        (tmp_path / name).mkdir()
        if content is not None:
            (tmp_path / name / "0.csv").write_text(content)
    before = files_of(tmp_path)
    arguments, words = BAD_OPTIONS[case]
    refused(cli(*arguments), *words)
    assert files_of(tmp_path) == before


@pytest.mark.parametrize(
    "arguments",
    [["fit"], ["fit", "rows.csv"], ["nope"], ["cv", "yeast", "--folds", "1"], ["cv", "yeast", "--sep", "ab"],
     ["predict", "m", "yeast", "--json"], ["cv", "yeast", "--estimator", "tree"], ["cv", "yeast", "--jobs", "0"]],
)  # fmt: skip
def test_usage_errors_have_code_2(cli, arguments):
    assert cli(*arguments).exit_code == 2


def test_errors_of_typer_are_known_by_their_classes_wherever_these_are_defined():
    class Renamed(typer.BadParameter):
        __module__ = "click.exceptions"  # as in versions that do not bring their own

    for error in (Renamed("no"), typer.Exit(), typer.Abort()):
        assert is_of_typer(error)
    assert not is_of_typer(RuntimeError("no"))


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A model of columns a and b, and what it says."""
    path = tmp_path_factory.mktemp("model") / "model.comboost"
    X = pd.DataFrame({"a": np.arange(40.0), "b": ["u", "v"] * 20})
    model = ConfusionBoostingClassifier(n_estimators=3).fit(X, np.array(["p", "q", "q", "p"] * 10))
    model.target_name_ = "y"
    model.save_model(path)
    return path


def test_missing_columns_are_named(cli, tmp_path, trained):
    Path("new.csv").write_text("b,c\nu,1\n")
    Path("out.csv").write_text("precious")
    refused(cli("predict", trained, "new.csv", "-o", "out.csv"), "lacks 1 of the 2 columns", "'a'", "add them")
    assert Path("out.csv").read_text() == "precious"


def test_text_where_the_model_wants_numbers_is_named(cli, tmp_path, trained):
    Path("new.csv").write_text("a,b\nmany,u\nfew,v\n")
    refused(cli("predict", trained, "new.csv", "-o", "out.csv"), "'a'", "text", "'many'")
    assert not Path("out.csv").exists()


def test_few_words_among_the_numbers_that_the_model_wants_are_named(cli, trained):
    Path("new.csv").write_text("a,b\n" + "1,u\n" * 40 + "oops,u\n")
    result = cli("predict", trained, "new.csv", "-o", "out.csv")
    refused(result, "'a'", "'oops' in row 41", "wants a number", "--missing")
    assert "--drop" not in result.stderr  # which there is none of


def test_class_seen_only_in_new_data_is_named(cli, trained):
    Path("new.csv").write_text("a,b,y\n1,u,p\n2,v,new\n")
    result = cli("predict", trained, "new.csv", "-o", "out.csv")
    assert result.exit_code == 0
    assert "'new' in 'y' was in no row of training" in result.stderr
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


def test_folder_that_the_system_forbids_to_write_to(cli, monkeypatch):
    Path("rows.csv").write_text(CSV)
    monkeypatch.setattr("os.access", lambda path, mode: False)
    refused(cli(*FIT), "model.comboost", "read-only", "give another one")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folder_that_cannot_be_written_to(cli, tmp_path):
    Path("rows.csv").write_text(CSV)
    Path("locked").mkdir(mode=0o500)
    refused(cli(*FIT[:4], "-o", "locked/model"), "locked", "read-only")


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


def test_ctrl_c_leaves_the_old_model(cli, monkeypatch):
    Path("model.comboost").write_text("precious")
    monkeypatch.setattr("comboost.cli._fitting.fit_lesson", interrupt)
    result = cli("fit", "yeast", "-o", "model.comboost")
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "Interrupted.\n")
    assert {path.name: path.read_text() for path in Path().iterdir()} == {"model.comboost": "precious"}


def interrupt(*arguments):
    raise KeyboardInterrupt


def test_unexpected_errors_say_where_they_are_from_only_when_asked(cli, monkeypatch):
    monkeypatch.setattr("comboost.cli._folds.make_splits", stumble)
    refused(cli("cv", "yeast"), "ZeroDivisionError: oh", "--debug")
    asked = cli("--debug", "cv", "yeast")
    assert asked.exit_code == 1
    assert "Traceback" in asked.stderr
    assert "stumble" in asked.stderr


def stumble(*arguments):
    raise ZeroDivisionError("oh")


@pytest.mark.parametrize("name", ["pandas", "pyarrow"])
def test_package_that_is_missing_is_named(cli, monkeypatch, name):
    monkeypatch.setitem(__import__("sys").modules, name, None)
    refused(cli("cv", "yeast"), name, 'pip install "comboost[cli]"')


FORMATS = {
    "rows.parquet": ("sep", "decimal", "encoding"),
    "rows.feather": ("sep", "decimal", "encoding"),
    "yeast": ("sep", "decimal", "encoding"),
    "rows.arff": ("sep", "decimal"),
    "folder": ("sep", "decimal", "encoding"),
}
SIGNS = {"sep": ";", "decimal": ",", "encoding": "latin-1"}


@pytest.mark.parametrize(("source", "option"), [(source, each) for source in FORMATS for each in FORMATS[source]])
def test_options_that_a_format_has_no_use_for_are_refused(cli, source, option):
    table = pd.DataFrame({"a": [1.0, 2.0], "y": ["p", "q"]})
    table.to_parquet("rows.parquet")
    table.to_feather("rows.feather")
    Path("rows.arff").write_text("@relation r\n@attribute a real\n@attribute y {p,q}\n@data\n1,p\n2,q\n")
    Path("folder").mkdir()
    table.to_parquet("folder/0.parquet")
    asked = ["--dask"] if source == "folder" else []
    result = cli("fit", source, "-t", "y", "-o", "m", f"--{option}", SIGNS[option], *asked)
    refused(result, f"--{option} cannot be given for", source, "leave it out")
    assert not Path("m").exists()


def no_room(monkeypatch):
    monkeypatch.setattr("comboost._engine.memory.NOT_WORTH_ASKING", 0)
    monkeypatch.setattr("comboost._engine.memory.available_memory", lambda: 10)


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "feather"])
def test_file_larger_than_memory_is_refused_before_it_is_read(cli, frame, monkeypatch, ending):
    write = {"parquet": frame.to_parquet, "feather": frame.to_feather}.get(ending, frame.to_csv)
    write(f"rows.{ending}")
    no_room(monkeypatch)
    monkeypatch.setattr(Path, "read_bytes", stumble)
    said = cli("cv", f"rows.{ending}", "-t", "state")
    refused(said, f"Reading rows.{ending}, a file of 0.0 GiB", "0.0 are free", "comboost fit FOLDER --dask")


def test_stream_larger_than_memory_is_refused_while_it_is_read(cli, monkeypatch):
    no_room(monkeypatch)
    refused(cli("cv", "-", "-t", "y", input=CSV), "Reading standard input", "are free", "comboost fit FOLDER --dask")


def test_standard_input_without_rows_is_named(cli):
    refused(cli("cv", "-", "-t", "y", input=""), "standard input is empty")
    refused(cli("cv", "-", "-t", "y", input="a,b,y\n"), "standard input has no rows")


@pytest.mark.parametrize(
    "case", ["empty", "header only", "not UTF-8", "UTF-16", "duplicates", "ragged", "binary", "cut gzip"]
)
def test_new_rows_that_cannot_be_read_leave_the_old_predictions(cli, trained, case):
    content, words = BAD_FILES[case]
    Path("rows.csv").write_bytes(content)
    Path("out.csv").write_text("precious")
    refused(cli("predict", trained, "rows.csv", "-o", "out.csv"), *words)
    assert Path("out.csv").read_text() == "precious"


def test_other_separator_and_decimal_comma_are_read_when_they_are_said_or_found(cli, trained):
    Path("new.csv").write_text("b;a\nu;1,5\nv;20,5\n")
    found = cli("predict", trained, "new.csv")
    assert found.exit_code == 0
    Path("new.csv").write_text("b~a\nu~1,5\nv~20,5\n")
    assert cli("predict", trained, "new.csv", "--sep", "~", "--decimal", ",").stdout == found.stdout
