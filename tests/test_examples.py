"""The gallery: every example runs, says something, and ends in a picture, or a page, of the name that it is given."""

import re
import runpy
from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt

FOLDER = Path(__file__).parent.parent / "examples"
EXAMPLES = sorted(path for path in FOLDER.glob("*.py") if path.stem != "dask_folder")  # that one has tests of its own
MAX_LINES = 60
ENDS = {".png": b"\x89PNG", ".html": b"<!doctype html>"}  # how pictures and pages begin
OF_PAGES = {"reading_a_report"}


@pytest.fixture(autouse=True)
def canvas():
    """No window, and no figure left open."""
    before = mpl.get_backend()
    plt.switch_backend("Agg")
    yield
    plt.close("all")
    plt.switch_backend(before)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_ends_in_a_picture(path, tmp_path, monkeypatch, capsys):
    ending = ".html" if path.stem in OF_PAGES else ".png"
    picture = tmp_path / f"picture{ending}"
    monkeypatch.setattr("sys.argv", [str(path), str(picture)])
    runpy.run_path(str(path), run_name="__main__")
    assert picture.read_bytes().lower().startswith(ENDS[ending].lower())
    assert capsys.readouterr().out


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_is_short(path):
    assert len(path.read_text().splitlines()) < MAX_LINES


def test_page_links_every_example():
    linked = re.findall(r"\]\((\w+\.py)\)", (FOLDER / "README.md").read_text())
    assert sorted(linked) == sorted(path.name for path in FOLDER.glob("*.py"))
