"""The gallery: every example runs, says something, and ends in a picture, or a page, of the name that it is given."""

import re
import runpy
from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt

FOLDER = Path(__file__).parents[2] / "examples"
ALL = sorted(FOLDER.glob("*.py"))
EXAMPLES = [path for path in ALL if path.stem != "dask_folder"]  # that one has tests of its own
MAX_LINES, MAX_BYTES = 60, 60_000
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


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_example_is_short(path):
    assert len(path.read_text().splitlines()) < MAX_LINES


def test_page_links_every_example():
    linked = re.findall(r"\]\((\w+\.py)\)", (FOLDER / "README.md").read_text())
    assert sorted(linked) == [path.name for path in ALL]


def test_page_shows_a_picture_of_every_example():
    shown = re.findall(r'<img src="\.\./docs/pictures/(\w+)\.png"', (FOLDER / "README.md").read_text())
    assert sorted(shown) == [path.stem for path in ALL]


@pytest.mark.parametrize("page", ["README.md", "examples/README.md"])
def test_pictures_of_a_page_are_there_and_small(page):
    path = FOLDER.parent / page
    linked = re.findall(r'!\[.*?\]\(([^)]*)\)|<img src="(.*?)"', path.read_text())
    pictures = [path.parent / (markdown or html) for markdown, html in linked]
    assert pictures
    assert all(0 < picture.stat().st_size <= MAX_BYTES for picture in pictures)
