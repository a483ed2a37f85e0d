"""Reading takes time in proportion to the characters: no input makes a regular expression try all ways to match."""

import pkgutil
import re
import signal
import sys
from contextlib import contextmanager
from importlib import import_module

import pytest

import comboost
from comboost._data.text import is_numeric
from comboost.cli.input.arff import ATTRIBUTE, split_row, unquote
from comboost.cli.input.cells import is_number
from comboost.cli.input.sources import RELATION, is_arff

N = 1_000_000  # quadratic time would be hours, linear time is a fraction of a second
PATIENCE = 100  # seconds, in place of these hours
PACKAGES = ("_data", "_export", "_persistence", "_stats", "cli.input", "report")
CHARACTERS = (" ", "\n", "\t", "1", ".", ",", "a", "'", '"', "\\", "''", "1,", ",'", "'' ", "@", "1.", "-", "`")
ENDS = ("'", "!", "x")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no alarm")


@contextmanager
def no_patience_beyond(seconds):
    def give_up(number, frame):
        raise TimeoutError(f"not done after {seconds} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(
    "row",
    [" " * N + "'", "1," + " " * N + '"', "a" + " " * N + "'", "'a'" + " " * N + "'", "'" + "''" * N, "'" + "\\'" * N],
    ids=["blanks", "blanks after a comma", "blanks after text", "blanks after quotes", "quotes", "escapes"],
)
def test_rows_of_arff_are_split_in_linear_time(row):
    with no_patience_beyond(PATIENCE):
        assert split_row(row) is None or row[0] == "a"
        assert unquote(row) == row


@pytest.mark.parametrize("head", [b"\n", b" ", b"\t\n", b"% a\n", b"@relation"])
def test_beginning_of_arff_is_found_in_linear_time(head, monkeypatch):
    monkeypatch.setattr("comboost.cli.input.sources.HEADER_BYTES", 20 * N)
    with no_patience_beyond(PATIENCE):
        assert not is_arff(head * N, "")
        assert is_arff(head * N + b"\n @Relation x\n", "")


@pytest.mark.parametrize("text", [" " * N + "x", "1" * N + "x", "1," * N + "x", "1.234" * N])
def test_numbers_are_known_in_linear_time(text):
    with no_patience_beyond(PATIENCE):
        assert not is_numeric(text)
        assert not is_number(text, ",")
        assert ATTRIBUTE.match(f"@attribute{text}") is None or text[0] == " "


def patterns():
    """All compiled patterns of the packages that read what users write."""
    found = {}
    for package in PACKAGES:
        top = import_module(f"comboost.{package}")
        modules = [top, *(import_module(each.name) for each in pkgutil.walk_packages(top.__path__, f"{top.__name__}."))]
        for module in modules:
            own = {f"{module.__name__}.{name}": value for name, value in vars(module).items()}
            found |= {name: value for name, value in own.items() if isinstance(value, re.Pattern)}
    return found


def test_no_pattern_backtracks_over_repeated_characters():
    found = patterns()
    assert {f"{comboost.__name__}.cli.input.arff.CELL", "comboost._data.text.NUMBER_START"} <= found.keys()
    with no_patience_beyond(PATIENCE):
        for pattern in found.values():
            for character in CHARACTERS:
                for end in ENDS:
                    text = character * 100_000 + end
                    matches = pattern.search if pattern is RELATION else pattern.match
                    matches(text.encode() if isinstance(pattern.pattern, bytes) else text)
