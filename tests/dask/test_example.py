"""The example does what it says, as a newcomer would start it: on made-up files, and on a folder of one's own."""

import os
import subprocess
import sys
from pathlib import Path

import joblib
import pandas as pd
import pytest

from comboost import CoMBoClassifier
from comboost.datasets import load_car

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "dask_folder.py"


@pytest.fixture
def example(monkeypatch):
    """The example as a module, which its workers find, too."""
    monkeypatch.syspath_prepend(str(EXAMPLE.parent))
    import dask_folder

    return dask_folder


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """Where temporary files go."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def write_cars(folder, ending):
    """A folder of the user's own: two files, a column of text that is missing here and there, integers as labels."""
    X, y = load_car(return_X_y=True, as_frame=True)
    table = X.astype(str).assign(label=pd.Categorical(y).codes.astype(int))
    table.loc[::10, "safety"] = None
    folder.mkdir()
    for i in range(2):
        getattr(table[i::2], f"to_{ending}")(folder / f"{i}.{ending}", index=False)
    return table


def test_one_command_shows_all_and_leaves_only_the_model(tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    command = [sys.executable, str(EXAMPLE), "--rows", "4000", "--rounds", "3", "--workers", "1", "--compare"]
    ended = subprocess.run(
        command, cwd=tmp_path, env=os.environ | {"TMPDIR": str(scratch)}, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    for word in ("broken", "CoMBo", "AdaBoost.MM", "always fine", "most memory", "combo.joblib"):
        assert word in ended.stdout
    assert not any(scratch.iterdir())
    assert [path.name for path in tmp_path.iterdir() if path != scratch] == ["combo.joblib"]
    assert joblib.load(tmp_path / "combo.joblib").n_iter_ == 3


def test_files_that_are_kept_can_be_read_and_predicted(example, scratch, tmp_path):
    kept, model = tmp_path / "kept", tmp_path / "model"
    arguments = ["--format", "csv", "--rows", "3000", "--rounds", "2", "--workers", "1", "--keep-in", str(kept)]
    assert example.main([*arguments, "--model", str(model)]) == 0
    rows = pd.concat(pd.read_csv(path) for path in sorted(kept.glob("*.csv")))
    assert len(rows) == 3000
    assert set(joblib.load(model).predict(rows.drop(columns="state"))) == {"fine", "worn", "cracked", "broken"}
    assert not any(scratch.iterdir())


def test_folder_of_the_user_is_trained_on_as_it_is(example, scratch, tmp_path):
    table, model = write_cars(tmp_path / "cars", "csv"), tmp_path / "model"
    before = {path: path.read_bytes() for path in (tmp_path / "cars").iterdir()}
    arguments = [str(tmp_path / "cars"), "--label", "label", "--rounds", "5", "--workers", "1", "--drop", "doors"]
    assert example.main([*arguments, "--model", str(model)]) == 0
    local = joblib.load(model)
    assert isinstance(local, CoMBoClassifier)
    assert local.classes_.tolist() == [0, 1, 2, 3]
    assert "doors" not in local.feature_names_in_
    rows = table.drop(columns=["label", "doors"])
    assert (local.predict(rows) == table["label"]).mean() > 0.5
    assert {path: path.read_bytes() for path in (tmp_path / "cars").iterdir()} == before
    assert not any(scratch.iterdir())


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_text_becomes_categories_and_labels_stay_what_they_are(example, tmp_path, ending):
    table = write_cars(tmp_path / "cars", ending)
    opened = example.open_files(example.find_files(tmp_path / "cars"), "label", ["doors"])
    assert list(opened.columns) == [name for name in table.columns if name != "doors"]
    assert {str(dtype) for dtype in opened.drop(columns="label").dtypes} == {"category"}
    assert opened.dtypes["label"] == table.dtypes["label"]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (None, "There is no folder"),
        ([], "0 .csv and 0 .parquet files"),
        (["a.csv", "a.parquet"], "1 .csv and 1 .parquet files"),
    ],
)
def test_folder_without_files_of_one_kind_is_refused(example, scratch, tmp_path, capsys, files, said):
    folder = tmp_path / "folder"
    if files is not None:
        folder.mkdir()
        for name in files:
            (folder / name).touch()
    assert example.main([str(folder), "--label", "label"]) == 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(("label", "dropped"), [("price", []), ("label", ["price"])])
def test_column_that_is_not_there_is_refused_with_those_that_are(example, tmp_path, ending, label, dropped):
    write_cars(tmp_path / "cars", ending)
    files = example.find_files(tmp_path / "cars")
    with pytest.raises(example.MistakeError, match=r"There is no column 'price'; there are buying, .*label"):
        example.open_files(files, label, dropped)


def test_made_up_files_do_not_mix_with_others(example, scratch, tmp_path, capsys):
    (tmp_path / "precious").touch()
    assert example.main(["--keep-in", str(tmp_path), "--rows", "10"]) == 1
    assert "is not empty" in capsys.readouterr().err
    assert (tmp_path / "precious").exists()


@pytest.mark.parametrize("arguments", [["--rows", "0"], ["folder"], ["--label", "y"], ["--model", "no/folder/model"]])
def test_arguments_that_make_no_sense_are_refused_at_once(example, arguments):
    with pytest.raises(SystemExit, match="2"):
        example.main(arguments)
