"""The ways to start the command line."""

import subprocess
import sys
import sysconfig
from pathlib import Path

SCRIPT = [str(Path(sysconfig.get_path("scripts"), "comboost"))]
MODULE = [sys.executable, "-m", "comboost"]


def run(command, arguments):
    """The exit code, and the words on stdout and stderr, in which the command is called by its name."""
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=200, check=False)
    said = [text.replace("python -m comboost", "comboost").split() for text in (done.stdout, done.stderr)]
    return done.returncode, *said


def test_module_says_what_the_script_says():
    arguments = ["demo", "--no-such-option"]  # answered with the name of the command, the reason and an exit code
    by_module = run(MODULE, arguments)
    assert by_module == run(SCRIPT, arguments)
    assert by_module[0] == 2
    assert {"comboost", "demo"} < set(by_module[2])
