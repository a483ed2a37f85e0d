"""Help, version, completion, and the ways to start the command line."""

import signal
import subprocess
import sys
import sysconfig
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path

import pytest
from cli.helpers import json_of
from typer.testing import CliRunner

import comboost
from comboost.cli import main
from comboost.cli.app import app
from comboost.cli.commands.datasets import DatasetSummary, list_datasets
from comboost.cli.jobs.comparison import ComparedClassifier, ComparisonResult
from comboost.cli.jobs.cross_validation import ValidationResult
from comboost.cli.jobs.fit import FitResult
from comboost.cli.jobs.predict import PredictionResult

SCRIPT = [str(Path(sysconfig.get_path("scripts"), "comboost"))]
MODULE = [sys.executable, "-m", "comboost"]
RESULTS = [FitResult, PredictionResult, ValidationResult, ComparisonResult, ComparedClassifier, DatasetSummary]


def run(command, arguments):
    """The exit code, and the words on stdout and stderr, in which the command is called by its name."""
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=200, check=False)
    said = [text.replace("python -m comboost", "comboost").split() for text in (done.stdout, done.stderr)]
    return done.returncode, *said


INTERRUPTED_IMPORT = """
import os, signal, sys

class Interrupter:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupter())
from comboost.cli import main
main()
"""


@pytest.mark.parametrize(
    "module", ["comboost.cli.terminal", "comboost.cli.terminal.errors", "typer", "comboost.cli.commands.reproduce"]
)
def test_interrupted_while_it_is_imported_it_ends_with_a_word_and_the_code_that_says_so(module):
    command = [sys.executable, "-c", INTERRUPTED_IMPORT, module]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "Interrupted.\n")


def test_nothing_is_imported_before_interrupts_are_handled():
    root = str(Path(comboost.__file__).parents[1])
    code = (
        f"import sys; n = len(sys.modules); sys.path.append({root!r}); import comboost.cli; print(*[*sys.modules][n:])"
    )
    said = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True).stdout
    assert set(said.split()) == {"comboost", "comboost.cli", "__future__"}


def test_module_says_what_the_script_says():
    arguments = ["demo", "--no-such-option"]  # answered with the name of the command, the reason and an exit code
    by_module = run(MODULE, arguments)
    assert by_module == run(SCRIPT, arguments)
    assert by_module[0] == 2
    assert {"comboost", "demo"} < set(by_module[2])


def test_datasets_lists_what_is_bundled(cli, monkeypatch):
    lines = list_datasets()
    monkeypatch.setattr("comboost.cli.commands.datasets.list_datasets", lambda: lines)
    listed = {line["name"]: line for line in json_of(cli("datasets", "--json"))}
    assert listed["yeast"] == {
        "name": "yeast", "n_rows": 1484, "n_features": 8, "n_classes": 10, "smallest_class": 5, "largest_class": 463
    }  # fmt: skip
    assert all(name in cli("datasets").stdout for name in listed)


@pytest.mark.parametrize("command", ["fit", "predict", "cv", "compare", "report", "datasets", "demo", "reproduce"])
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


@pytest.mark.parametrize("kind", RESULTS)
def test_every_key_of_the_json_is_documented(kind):
    page = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text()
    assert all(f"`{each.name}`" in page for each in fields(kind))


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_help_lists_the_commands(arguments):
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0
    assert "demo" in result.stdout


def test_version_is_the_installed_one():
    result = CliRunner().invoke(app, ["--version"])
    assert (result.exit_code, result.stdout) == (0, f"comboost {version('comboost')}\n")


@pytest.mark.parametrize("module", ["typer", "rich"])
def test_missing_extra_is_named(monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(SystemExit, match=rf'needs {module}, .*pip install "comboost\[cli\]"'):
        main()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler  # as it was before
