"""The page: one file, the same for the same summary, in which every name is text and nothing is fetched."""

import copy
import html.parser
import itertools
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report.summaries import ODD_NAMES, class_names, make_summary

from comboost.report._render.markdown import render_markdown
from comboost.report._render.page import render_page
from comboost.report._render.text import brief_names, fraction, number, points, visible

VOID = {"meta", "link", "input", "br", "hr", "img"}
LEFT_OPEN = {"td"}  # end tags that HTML lets us leave out


class Elements(html.parser.HTMLParser):
    """The elements of a page, and the text of each kind of them."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.texts, self.crossed = [], [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in VOID | LEFT_OPEN:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_endtag(self, tag):
        if tag in LEFT_OPEN:
            return
        if not self.open or self.open.pop() != tag:
            self.crossed.append(tag)

    def handle_data(self, data):
        self.texts.append(data)


def elements_of(page):
    parsed = Elements()
    parsed.feed(page)
    parsed.close()
    return parsed


def visible_text(page):
    return "".join(elements_of(page).texts)


@pytest.fixture(scope="module")
def odd_page():
    return render_page(make_summary(ODD_NAMES, features=ODD_NAMES))


def test_every_name_is_text_and_breaks_nothing(odd_page):
    plain = elements_of(render_page(make_summary([f"c{place}" for place in range(10)], features=list("abcdefghij"))))
    odd = elements_of(odd_page)
    assert odd.tags == plain.tags
    assert odd.crossed == odd.open == []
    text = visible_text(odd_page)
    for name in ODD_NAMES:
        assert visible(name) in text


@settings(max_examples=25)
@given(st.lists(st.text(max_size=40), min_size=3, max_size=3, unique=True))
def test_no_name_adds_an_element_or_an_attribute(names):
    plain, odd = (elements_of(render_page(make_summary(each, features=each))) for each in (["a", "b", "c"], names))
    assert odd.tags == plain.tags
    assert [pair[:2] for pair in odd.attributes] == [pair[:2] for pair in plain.attributes]
    assert odd.crossed == odd.open == []


@pytest.mark.parametrize(
    "key", ["title", "request", "verdict", "notes", "bounds", "search", "parameters", "versions", "reproduction"]
)
def test_every_other_text_is_escaped_too(key):
    def spoil(value):
        if isinstance(value, dict):
            return {name: each if name in {"kind", "key"} else spoil(each) for name, each in value.items()}
        if isinstance(value, list):
            return [spoil(each) for each in value]
        return '"><script>alert(1)</script>' if isinstance(value, str) else value

    summary = make_summary(["a", "b"])
    clean = elements_of(render_page(summary))
    spoilt = elements_of(render_page({**summary, key: spoil(summary[key])}))
    assert spoilt.tags == clean.tags


def test_same_summary_gives_same_bytes_and_stays_as_it_is():
    summary = make_summary(class_names(12))
    before = copy.deepcopy(summary)
    first = render_page(summary)
    assert summary == before
    assert render_page(json.loads(json.dumps(summary))) == first


def test_page_can_be_written_as_utf_8(odd_page):
    assert odd_page.encode("utf-8").startswith(b"<!doctype html>")


def test_page_of_twenty_classes_is_small():
    features = [f"feature {number}" for number in range(40)]
    assert len(render_page(make_summary(class_names(20), features=features)).encode()) < 400_000


@pytest.mark.parametrize("n_classes", [100, 1000])
def test_page_of_many_classes_stays_bearable(n_classes):
    page = render_page(make_summary([f"class {place}" for place in range(n_classes)]))
    assert len(page.encode()) < 3_000_000
    assert page.count('class="panel') == (6 if n_classes == 100 else 0)
    assert ("matrices are shown for up" in page) == (n_classes == 1000)


def test_page_names_nothing_outside_of_itself(odd_page):
    for tag, name, value in elements_of(odd_page).attributes:
        if name in {"href", "src", "srcset", "action", "data", "poster", "xlink:href"}:
            assert value.startswith(("#", "data:,")), (tag, name, value)
        assert name != "style"
        assert not name.startswith("on")
    assert "url(" not in odd_page
    assert "@import" not in odd_page


def test_links_and_labels_lead_somewhere(odd_page):
    attributes = elements_of(odd_page).attributes
    ids = [value for _, name, value in attributes if name == "id"]
    assert len(ids) == len(set(ids))
    for _, name, value in attributes:
        if name == "href" and value.startswith("#"):
            assert value[1:] in ids
        if name in {"aria-labelledby", "for", "data-table"}:
            assert value in ids


def test_headings_are_in_order_and_every_table_has_a_caption(odd_page):
    parsed = elements_of(odd_page)
    levels = [int(tag[1]) for tag in parsed.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    assert parsed.tags.count("caption") == parsed.tags.count("table")


@pytest.mark.parametrize("absent", ["curves", "calibration", "importances", "search"])
def test_part_that_is_not_there_says_why(absent):
    page = render_page(
        {**make_summary(["a", "b"]), absent: None, "unavailable": {absent: "There is <none>, since it is not ours."}}
    )
    part = page.split(f'<section id="{absent}"')[1].split("</section>")[0]
    assert "<p><bdi>There is &lt;none&gt;, since it is not ours.</bdi></p>" in part
    assert "<table" not in part


@pytest.mark.parametrize(
    "change",
    [
        {"confused_pairs": []},
        {"notes": []},
        {"parameters": []},
        {"calibration": []},
        {"differences": None},
        {"curves": {"rounds": [], "series": [], "stop_reason": "x", "best_round": None, "subsampled": False}},
        {"curves": {"rounds": [1], "series": [], "stop_reason": "x", "best_round": 1, "subsampled": True}},
        {"search": {"outcome": "given", "sentences": ["Nothing was searched."], "best_params": {}, "candidates": [],
                    "cost": None}},
        {"bounds": {"available": False, "reason": "none of ours", "measure": None, "training_norm": None,
                    "loss": None, "certified": None, "generalization": None, "sentences": []}},
    ],
    ids=lambda change: next(iter(change)),
)  # fmt: skip
def test_page_can_be_made_of_little(change):
    parsed = elements_of(render_page({**make_summary(["a", "b"], baseline=False), **change}))
    assert parsed.crossed == parsed.open == []


def test_the_selected_candidate_alone_is_marked():
    summary = make_summary(["a", "b"])
    part = render_page(summary).split('<section id="search"')[1].split("</section>")[0]
    rows = part.split("<tr")[2:]
    assert len(rows) == len(summary["search"]["candidates"])
    for row, candidate in zip(rows, summary["search"]["candidates"], strict=True):
        is_selected = candidate["outcome"] == "selected"
        assert ('class="selected"' in row) == is_selected
        assert f"<bdi>{candidate['outcome']}</bdi>" in row
    marked = [line for line in render_markdown(summary).splitlines() if line.startswith("| **")]
    assert marked == ["| **30** | **5** | **1.22** | **32** | **1,236** | **2.40** | **selected** |"]


def test_class_unknown_to_both_models_has_a_page():
    summary = make_summary(["a", "b", "new"])
    nothing = dict.fromkeys(["recall", "interval", "precision", "predicted_as", "predicted_as_fraction"])
    summary["classes"][2] |= {"known": False, "n_samples": 0, "difference": None, "models": [nothing, nothing]}
    for model in summary["models"]:
        model["confusion_matrix"][2] = [0, 0, 0]
    assert "(unknown to the model)" in visible_text(render_page(summary))


def test_numbers_are_written_with_their_sign_and_no_false_digits():
    assert [number(each) for each in (0, 0.12345, -0.5, 12345.6, 1e-9, None)] == [
        "0.000", "0.123", "−0.500", "1.23e+04", "1e−09", "–",
    ]  # fmt: skip
    assert [fraction(each) for each in (0, 0.001, 0.714, 0.999, 1, None)] == [
        f"{text}\N{NO-BREAK SPACE}%" for text in ("0", "<1", "71", ">99", "100")
    ] + ["–"]
    assert [points(each) for each in (0.081, -0.02, None)] == ["+8.1", "−2.0", "–"]


@given(st.lists(st.text(), unique=True, max_size=8), st.integers(8, 40))
def test_brief_names_stay_distinct(names, limit):
    brief = brief_names(names, limit)
    assert all(1 <= len(name) <= limit for name in brief)
    assert len(set(brief)) >= len({visible(name) for name in names})
