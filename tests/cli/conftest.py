import os

import numpy as np
import pandas as pd
import pytest
from cli.helpers import QUICK
from typer.testing import CliRunner

from comboost import ConfusionBoostingClassifier
from comboost.cli.app import app


@pytest.fixture
def cli(tmp_path, monkeypatch):
    """Runs a command in an empty folder, in this process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("FORCE_COLOR", raising=False)

    def run(*arguments, **options):
        return CliRunner().invoke(app, [str(argument) for argument in arguments], **options)

    yield run
    os.environ.pop("COMBOOST_DEBUG", None)


@pytest.fixture(scope="session")
def frame():
    """Numbers, a category, some of both missing, three classes of different sizes."""
    draw = np.random.default_rng(0)
    y = np.repeat(["fine", "worn", "broken"], [60, 30, 10])
    table = pd.DataFrame(
        {
            "heat": draw.normal(size=100) + (y == "worn"),
            "load": draw.normal(size=100) + 2 * (y == "broken"),
            "maker": draw.choice(["Ada", "Bo", "Cy"], 100),
            "state": y,
        }
    ).sample(frac=1, random_state=0, ignore_index=True)
    table.loc[3, "heat"] = np.nan
    table.loc[5, "maker"] = None
    return table


@pytest.fixture
def rows(cli, frame):
    """A file of the frame."""
    frame.to_csv("rows.csv", index=False)
    return "rows.csv"


@pytest.fixture
def model(cli, rows):
    """A model file that was trained on these rows."""
    assert cli("fit", rows, "-t", "state", "-o", "m.comboost", *QUICK).exit_code == 0
    return "m.comboost"


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """A model file with the features a and b, and the target y."""
    path = tmp_path_factory.mktemp("model") / "model.comboost"
    X = pd.DataFrame({"a": np.arange(40.0), "b": ["u", "v"] * 20})
    model = ConfusionBoostingClassifier(n_estimators=3).fit(X, np.array(["p", "q", "q", "p"] * 10))
    model.target_name_ = "y"
    model.save_model(path)
    return path
