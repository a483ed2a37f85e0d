"""The ways to start the command line."""

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

SCRIPT = [str(Path(sysconfig.get_path("scripts"), "comboost"))]
MODULE = [sys.executable, "-m", "comboost"]


def run(command, arguments):
    """The exit code, and the words on stdout and stderr, in which the command is called by its name."""
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=200, check=False)
    said = [text.replace("python -m comboost", "comboost").split() for text in (done.stdout, done.stderr)]
    return done.returncode, *said


@pytest.mark.parametrize("arguments", [["--version"], ["demo", "--help"], ["no-such-command"]])
def test_module_says_what_the_script_says(arguments):
    assert run(MODULE, arguments) == run(SCRIPT, arguments)
