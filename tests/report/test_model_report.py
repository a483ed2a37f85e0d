"""The report that users hold: its forms, its files, its frame in a notebook."""

import html
import json
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from report.oracles import Oracle, table_of

from comboost.report import ModelReport
from comboost.report._render.markdown import escaped, fenced

ODD = ["<script>alert(1)</script>", "a|b", "two\nlines", "*bold* _and_ `code`", "[link](x) #5 $y$", "half \ud800", "\\"]


@pytest.fixture(scope="module")
def report():
    truth = np.array(ODD * 4, dtype=object)
    said = np.array((ODD[1:] + ODD[:1]) * 2 + ODD * 2, dtype=object)
    probabilities = np.full((len(truth), len(ODD)), 1 / len(ODD))
    ours, theirs = Oracle(said, sorted(ODD), probabilities), Oracle(truth, sorted(ODD))
    names = {"name": "<b>ours</b>", "baseline_name": "th|eirs"}
    return ModelReport(ours, table_of(len(truth)), truth, baseline=theirs, **names, target="<t>", source="<s>")


@pytest.mark.parametrize("form", ["html", "json", "markdown"])
@pytest.mark.parametrize("as_path", [str, Path])
def test_save_writes_the_form_that_the_name_ends_with(report, tmp_path, form, as_path):
    path = as_path(tmp_path / f"report.{'md' if form == 'markdown' else form.upper()}")
    report.save(path)
    assert Path(path).read_bytes() == getattr(report, form)().encode()


@pytest.mark.parametrize("name", ["report.pdf", "report", "report.html.gz", ".html"])
def test_other_endings_are_refused_with_those_that_there_are(report, tmp_path, name):
    with pytest.raises(ValueError, match=r"\.html, \.json, \.md"):
        report.save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_report_is_written_whole_or_not_at_all(report, tmp_path, monkeypatch):
    path = tmp_path / "report.json"
    path.write_text("precious")

    def fail(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="Nothing has changed"):
        report.save(path)
    assert [each.read_text() for each in tmp_path.iterdir()] == ["precious"]


def test_paths_that_cannot_be_written_are_named(report, tmp_path):
    (tmp_path / "folder.md").mkdir()
    with pytest.raises(OSError, match="folder"):
        report.save(tmp_path / "folder.md")
    with pytest.raises(OSError, match="report cannot be saved"):
        report.save(tmp_path / "no" / "report.md")
    with pytest.raises(TypeError, match="give a path"):
        report.save(None)


def test_json_is_the_summary(report):
    assert json.loads(report.json()) == report.summary
    assert ModelReport.from_summary(json.loads(report.json())).markdown() == report.markdown()


@pytest.mark.parametrize("other", [{}, {"format": 0}, "text", None])
def test_other_objects_are_refused(other):
    with pytest.raises(ValueError, match="Expected the summary of a report"):
        ModelReport.from_summary(other)


class Frames(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.attributes = [], {}

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes = dict(attrs)


def test_a_notebook_gets_the_page_in_a_frame_of_its_own(report):
    frames = Frames()
    frames.feed(report._repr_html_())
    assert frames.tags == ["iframe"]
    assert frames.attributes["srcdoc"] == report.html()
    assert "allow-same-origin" not in frames.attributes["sandbox"]


def test_names_are_text_in_the_page(report):
    assert "<script>alert(1)" not in report.html()
    assert html.escape("<b>ours</b>") in report.html()


def test_names_are_escaped_in_markdown(report):
    text = report.markdown()
    assert "<script>" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "&lt;b&gt;ours&lt;/b&gt;" in text
    lines = [line for line in text.splitlines() if line.startswith("|")]
    bars = [len(line.replace("\\\\", "").replace("\\|", "").split("|")) for line in lines]
    heads = [place for place, line in enumerate(lines) if set(line) <= set("|-: ")]
    for place in heads:  # every table has as many cells in all of its lines
        assert bars[place - 1] == bars[place] == bars[min(place + 1, len(bars) - 1)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a|b", r"a\|b"),
        ("*a*", r"\*a\*"),
        ("a\nb", "a b"),
        ("a & <b>", "a &amp; &lt;b&gt;"),
        ("\\", r"\\"),
        ("", "(no name)"),
    ],
)
def test_special_characters_of_markdown_are_escaped(text, expected):
    assert escaped(text) == expected


def test_code_with_fences_stays_inside_its_block():
    assert fenced("a\n```\nb").splitlines()[0] == "````"


def test_a_report_says_what_it_is_of(report):
    assert repr(report) == "ModelReport(<b>ours</b> on 28 samples, 7 classes)"
