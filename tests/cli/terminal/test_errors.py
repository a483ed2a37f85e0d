"""Errors are one line with an exit code, whatever raises them."""

from pathlib import Path

import pytest
import typer
from cli.helpers import refused

from comboost.cli.terminal.errors import is_of_typer


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


def test_ctrl_c_leaves_the_old_model(cli, monkeypatch):
    Path("model.comboost").write_text("precious")
    monkeypatch.setattr("comboost.cli.jobs.fit.report_rounds", interrupt)
    result = cli("fit", "yeast", "-o", "model.comboost")
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "Interrupted.\n")
    assert {path.name: path.read_text() for path in Path().iterdir()} == {"model.comboost": "precious"}


def interrupt(*arguments):
    raise KeyboardInterrupt


def test_unexpected_errors_say_where_they_are_from_only_when_asked(cli, monkeypatch):
    monkeypatch.setattr("comboost.cli.jobs.cross_validation.make_splits", stumble)
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
