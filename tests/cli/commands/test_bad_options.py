"""Options that do not fit the data: one line with what is wrong and what to do, and no file changes."""

import os
from pathlib import Path

import pandas as pd
import pytest
from cli.helpers import CSV, files_of, refused

FIT = ("fit", "rows.csv", "-t", "y", "-o", "model.comboost", "--rounds", "2")


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
    "settings that are not TOML": (
        ["cv", "rows.csv", "-t", "y", "--config", "rows.csv"],
        ["rows.csv", "not valid TOML"],
    ),
    "unknown settings": (["cv", "rows.csv", "-t", "y", "--config", "odd.toml"], ["'rounds'", "[parameters]"]),
    "output in no folder": ([*FIT[:4], "-o", "no/model"], ["no/model", "no folder"]),
    "output that is a folder": ([*FIT[:4], "-o", "."], ["is a folder"]),
    "output that is the data": ([*FIT[:4], "-o", "rows.csv"], ["rows.csv is the data itself"]),
    "output below a file": ([*FIT[:4], "-o", "rows.csv/model"], ["rows.csv/model", "no folder"]),
    "target of a folder": (
        ["fit", "folder", "-t", "z", "-o", "m", "--dask"],
        ["'z'", "folder", "their columns are 'a'"],
    ),
    "folder without a target": (["fit", "folder", "-o", "m", "--dask"], ["--target", "'a', 'b', 'y'"]),
    "drop of a folder's target": (["fit", "folder", "-t", "y", "--drop", "y", "-o", "m", "--dask"], ["is the target"]),
    "folder without files": (["fit", "none", "-t", "y", "-o", "m", "--dask"], ["none", "contains no file", ".parquet"]),
    "folder of an empty file": (["fit", "empty", "-t", "y", "-o", "m", "--dask"], ["files of empty", "complete"]),
    "Dask without a folder": ([*FIT, "--dask"], ["not a folder", "--dask"]),
    "missing model": (["predict", "no.comboost", "rows.csv"], ["no.comboost", "save_model"]),
    "model that is none": (["predict", "rows.csv", "rows.csv"], ["rows.csv", "save_model"]),
}


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


def test_folder_that_the_system_forbids_to_write_to(cli, monkeypatch):
    Path("rows.csv").write_text(CSV)
    monkeypatch.setattr("os.access", lambda path, mode: False)
    refused(cli(*FIT), "model.comboost", "read-only", "give another one")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folder_that_cannot_be_written_to(cli, tmp_path):
    Path("rows.csv").write_text(CSV)
    Path("locked").mkdir(mode=0o500)
    refused(cli(*FIT[:4], "-o", "locked/model"), "locked", "read-only")


FORMATS = {
    "rows.parquet": ("sep", "decimal", "encoding"),
    "rows.feather": ("sep", "decimal", "encoding"),
    "yeast": ("sep", "decimal", "encoding"),
    "rows.arff": ("sep", "decimal"),
    "folder": ("sep", "decimal", "encoding"),
}
VALUES = {"sep": ";", "decimal": ",", "encoding": "latin-1"}


@pytest.mark.parametrize(("source", "option"), [(source, each) for source in FORMATS for each in FORMATS[source]])
def test_options_without_meaning_for_a_format_are_refused(cli, source, option):
    table = pd.DataFrame({"a": [1.0, 2.0], "y": ["p", "q"]})
    table.to_parquet("rows.parquet")
    table.to_feather("rows.feather")
    Path("rows.arff").write_text("@relation r\n@attribute a real\n@attribute y {p,q}\n@data\n1,p\n2,q\n")
    Path("folder").mkdir()
    table.to_parquet("folder/0.parquet")
    asked = ["--dask"] if source == "folder" else []
    result = cli("fit", source, "-t", "y", "-o", "m", f"--{option}", VALUES[option], *asked)
    refused(result, f"--{option} cannot be given for", source, "leave it out")
    assert not Path("m").exists()
