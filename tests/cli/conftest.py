import os

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from comboost.cli._app import app


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
