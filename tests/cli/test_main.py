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


@pytest.mark.parametrize("module", ["typer", "comboost.cli.reproduce"])
def test_interrupted_while_it_is_imported_it_ends_with_a_word_and_the_code_that_says_so(module):
    command = [sys.executable, "-c", INTERRUPTED_IMPORT, module]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "Interrupted.\n")


def test_module_says_what_the_script_says():
    arguments = ["demo", "--no-such-option"]  # answered with the name of the command, the reason and an exit code
    by_module = run(MODULE, arguments)
    assert by_module == run(SCRIPT, arguments)
    assert by_module[0] == 2
    assert {"comboost", "demo"} < set(by_module[2])
