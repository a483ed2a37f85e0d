"""Trees as text: every kind of split to the letter, and following the rules gives what the nodes give."""

import math
import re
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory import peak_of

from comboost import CoMBoClassifier
from comboost._engine import memory
from comboost._inspection.text import export_tree
from comboost._types import NODE_DTYPE


def leaf(label):
    return (0.0, -1, -1, -1, label, 0, 0)


def split(feature, threshold, left, *, missing_left=False):
    return (threshold, feature, left, -1, 0, 0, int(missing_left))


def category_split(feature, set_idx, left, *, missing_left=False):
    return (0.0, feature, left, set_idx, 0, 0, 2 | int(missing_left))


def tree(*nodes):
    return np.array(list(nodes), dtype=NODE_DTYPE)


def sets_of(*sets):
    bits = np.zeros((len(sets), 256), dtype=np.uint8)
    for row, codes in zip(bits, sets, strict=True):
        row[list(codes)] = 1
    return np.packbits(bits, axis=1, bitorder="little")


def stump(threshold, **kwargs):
    return export_tree(tree(split(0, threshold, 1), leaf(0), leaf(1)), **kwargs).splitlines()


def test_tree_of_all_kinds_of_splits():
    nodes = tree(
        category_split(2, 0, 1),
        split(0, 41.5, 3, missing_left=True),
        split(1, -np.inf, 5, missing_left=True),
        leaf(0),
        leaf(2),
        leaf(1),
        split(1, 0.4754321, 7),
        leaf(2),
        leaf(0),
    )
    text = export_tree(
        nodes,
        sets=sets_of({1, 3}),
        feature_names=["age", "a feature with a rather long name", "colour"],
        class_names=np.array(["CYT", "MIT", "NUC"]),
        categories={2: np.array(["blue", "green", "red"])},
    )
    assert text == (
        "|--- colour in {blue, red}\n"
        "|   |--- age <= 41.5 or missing\n"
        "|   |   |--- class: CYT\n"
        "|   |--- age > 41.5\n"
        "|   |   |--- class: NUC\n"
        "|--- colour in {green} or missing\n"
        "|   |--- a feature with a rather long name is missing\n"
        "|   |   |--- class: MIT\n"
        "|   |--- a feature with a rather long name is not missing\n"
        "|   |   |--- a feature with a rather long name <= 0.475\n"
        "|   |   |   |--- class: NUC\n"
        "|   |   |--- a feature with a rather long name > 0.475 or missing\n"
        "|   |   |   |--- class: CYT"
    )


def test_names_default_to_numbers():
    assert export_tree(tree(split(7, 2.0, 1, missing_left=True), leaf(3), leaf(0))) == (
        "|--- x7 <= 2 or missing\n|   |--- class: 3\n|--- x7 > 2\n|   |--- class: 0"
    )


def test_tree_without_a_split_is_its_class():
    assert export_tree(tree(leaf(1)), class_names=["no", "yes"], feature_names=[]) == "|--- class: yes"


def test_missing_values_are_said_only_of_the_features_asked_for():
    nodes = tree(split(0, 1.0, 1), category_split(1, 0, 3, missing_left=True), leaf(0), leaf(0), leaf(1))
    text = export_tree(nodes, sets=sets_of({0, 1}), categories={1: ["a", "b"]}, missing=())
    assert "missing" not in text
    assert export_tree(nodes, sets=sets_of({0, 1}), categories={1: ["a", "b"]}, missing={1}).splitlines() == [
        "|--- x0 <= 1",
        "|   |--- x1 in {a} or missing",
        "|   |   |--- class: 0",
        "|   |--- x1 in {b}",
        "|   |   |--- class: 1",
        "|--- x0 > 1",
        "|   |--- class: 0",
    ]


@pytest.mark.parametrize("missing", [None, ()])
def test_missing_ones_alone_on_a_side_are_always_said(missing):
    categories = {0: ["a", "b"]}
    nodes = tree(category_split(0, 0, 1), leaf(0), leaf(1))
    alone = export_tree(nodes, sets=sets_of({0}), categories=categories, missing=missing)
    assert alone.splitlines()[::2] == ["|--- x0 is missing", "|--- x0 in {a, b}"]
    others = export_tree(nodes, sets=sets_of({1, 2}), categories=categories, missing=missing)
    assert others.splitlines()[::2] == ["|--- x0 in {a, b}", "|--- x0 is missing"]
    numeric = export_tree(tree(split(0, -np.inf, 1, missing_left=True), leaf(0), leaf(1)), missing=missing)
    assert numeric.splitlines()[::2] == ["|--- x0 is missing", "|--- x0 is not missing"]


def test_long_lists_of_categories_are_shortened():
    values = [f"v{code:03}" for code in range(1, 255)]
    nodes = tree(category_split(0, 0, 1), leaf(0), leaf(1))
    text = export_tree(nodes, sets=sets_of(range(7, 255)), categories={0: values}, missing=())
    assert text.splitlines()[::2] == [
        "|--- x0 in {v007, v008, v009, ... 245 more}",
        "|--- x0 in {v001, v002, v003, v004, v005, v006}",
    ]


@pytest.mark.parametrize("name", ["two\nlines", "bell\a", "tab\tstop", "\x1b[31mred", "line\u2028end", "carriage\r"])
def test_every_rule_is_one_line_whatever_the_names_are(name):
    X = pd.DataFrame({name: pd.Categorical([name, "b", "c", "b"]), "x": [0.0, 1.0, 2.0, 3.0]})
    model = CoMBoClassifier(n_estimators=1).fit(X, [name, "b", "c", "c"])
    text = model.export_text(0)
    assert all(line.isprintable() and line.lstrip("| ").startswith("--- ") for line in text.split("\n"))
    assert f"class: {name!r}" in text
    assert f"{name!r} in {{" in text


def test_names_that_can_be_printed_stay_as_they_are():
    X = pd.DataFrame({"größe ☃ \\n": [0.0, 1.0]})
    assert "größe ☃ \\n <= 0.5" in CoMBoClassifier(n_estimators=1).fit(X, ["a", "b"]).export_text(0)


def test_categories_of_any_type_can_be_told_apart():
    nodes = tree(category_split(0, 0, 1), leaf(0), leaf(1))
    text = export_tree(nodes, sets=sets_of({1, 2, 3}), categories={0: ["", "a, b", "{c}", "it's", 3, 4.5]}, missing=())
    assert text.splitlines()[::2] == ["|--- x0 in {'', 'a, b', '{c}'}", "|--- x0 in {it's, 3, 4.5}"]


@pytest.mark.parametrize(
    ("threshold", "decimals", "text"),
    [
        (41.5, 3, "41.5"),
        (41.0, 3, "41"),
        (1234567.891, 3, "1234567.891"),
        (1234567.891, 1, "1234567.9"),
        (1234567.891, 0, "1234568"),
        (0.04751, 3, "0.0475"),
        (-0.00004751, 3, "-4.75e-05"),
        (-0.0, 3, "0"),
        (0.1 + 0.2, 3, "0.3"),
        (0.1 + 0.2, None, "0.30000000000000004"),
        (1e300, 3, "1e+300"),
    ],
)
def test_thresholds_are_rounded_to_decimals_and_small_ones_to_digits(threshold, decimals, text):
    assert stump(threshold, decimals=decimals)[0] == f"|--- x0 <= {text}"


def test_deep_trees_do_not_reach_the_limit_of_recursion():
    depth = 3000
    nodes = [split(0, 0.0, 1)]
    for level in range(1, depth):
        nodes += [split(0, -float(level), 2 * level + 1), leaf(0)]
    nodes += [leaf(1), leaf(0)]
    assert len(export_tree(tree(*nodes)).splitlines()) == 2 * depth + depth + 1


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"feature_names": ["a"]}, "feature_names has 1 names, but the tree uses feature 1"),
        ({"class_names": ["a", "b"]}, "class_names has 2 names, but the tree uses class 2"),
    ],
)
def test_too_few_names_are_refused(names, message):
    with pytest.raises(ValueError, match=message):
        export_tree(tree(split(1, 0.0, 1), leaf(2), leaf(0)), **names)


@st.composite
def trees(draw):
    """Random trees on two numeric features and one of five categories, with sets, breadth first as the core grows."""
    nodes, sets, open_nodes = [None], [{0}], [0]
    n_splits = draw(st.integers(0, 6))
    while open_nodes:
        idx = open_nodes.pop(0)
        if n_splits == 0:
            nodes[idx] = leaf(draw(st.integers(0, 3)))
            continue
        n_splits -= 1
        feature, left, missing_left = draw(st.integers(0, 2)), len(nodes), draw(st.booleans())
        if feature == 2:
            sets.append(draw(st.sets(st.integers(0, 5), min_size=1, max_size=5)))
            nodes[idx] = category_split(feature, len(sets) - 1, left, missing_left=0 in sets[-1])
        else:
            threshold = draw(st.sampled_from([-1.5, 0.1 + 0.2, 1 / 3, 2.0]))
            threshold = -math.inf if missing_left and draw(st.booleans()) else threshold
            nodes[idx] = split(feature, threshold, left, missing_left=missing_left)
        nodes += [None, None]
        open_nodes += [left, left + 1]
    return tree(*nodes), sets


CATEGORIES = ["a", "b", "c", "d", "e"]
VALUE = st.sampled_from([None, -2.0, -1.5, 0.1 + 0.2, 0.3, 1 / 3, 1.0, 2.0, 3.0])
ROW = st.tuples(VALUE, VALUE, st.sampled_from([None, *CATEGORIES]))


def follow_nodes(nodes, sets, row):
    """The label of a row by the definition of the record."""
    idx = 0
    while (node := nodes[idx])["feature"] != -1:
        value = row[node["feature"]]
        if node["flags"] & 2:
            goes_left = (0 if value is None else 1 + CATEGORIES.index(value)) in sets[node["set"]]
        else:
            goes_left = bool(node["flags"] & 1) if value is None else value <= node["threshold"]
        idx = node["left"] + (0 if goes_left else 1)
    return int(node["label"])


def holds(rule, row):
    """Whether a rule, as a reader understands it, holds for a row."""
    name, condition = re.fullmatch(r"(x\d) (.*)", rule).groups()
    value = row[int(name[1])]
    if condition.startswith("is "):
        return (value is None) == (condition == "is missing")
    if value is None:
        return condition.endswith(" or missing")
    sign, operand = re.fullmatch(r"(<=|>|in) (.*?)(?: or missing)?", condition).groups()
    if sign == "in":
        return value in operand.strip("{}").split(", ")
    return value <= float(operand) if sign == "<=" else value > float(operand)


def follow_text(text, row):
    """The label that a reader finds, who goes down under the rules that hold."""
    depth, labels = 0, []
    for line in text.splitlines():
        bars, rule = re.fullmatch(r"((?:\|   )*)\|--- (.*)", line).groups()
        level = len(bars) // 4
        if level > depth:
            continue
        depth = level
        if rule.startswith("class: "):
            labels.append(int(rule.removeprefix("class: ")))
        elif holds(rule, row):
            depth += 1
    return labels


@given(tree_and_sets=trees(), row=ROW)
def test_following_the_rules_gives_what_the_nodes_give(tree_and_sets, row):
    nodes, sets = tree_and_sets
    text = export_tree(nodes, sets=sets_of(*sets), categories={2: CATEGORIES}, decimals=None)
    assert follow_text(text, row) == [follow_nodes(nodes, sets, row)]


def chain(n_splits):
    """A tree whose right children are divided again and again, by thresholds from 0 to 8."""
    nodes = np.zeros(2 * n_splits + 1, dtype=NODE_DTYPE)
    nodes["feature"] = nodes["left"] = -1
    inner = slice(0, 2 * n_splits, 2)
    nodes["feature"][inner] = 0
    nodes["threshold"][inner] = np.arange(n_splits) % 9
    nodes["left"][inner] = np.arange(1, 2 * n_splits, 2)
    return nodes


@pytest.mark.parametrize("n_splits", [1, 63, 64, 65, 200])
def test_every_level_is_indented_by_four_characters(n_splits):
    expected = []
    for depth in range(n_splits):
        bars = "|   " * depth
        expected += [f"{bars}|--- x0 <= {depth % 9}", f"{bars}|   |--- class: 0", f"{bars}|--- x0 > {depth % 9}"]
    expected.append("|   " * n_splits + "|--- class: 0")
    assert export_tree(chain(n_splits), missing=()).splitlines() == expected


def test_text_of_a_deep_tree_takes_little_more_than_its_characters():
    nodes = chain(2000)
    text = export_tree(nodes, missing=())
    assert len(text) > 2000**2 * 4
    assert peak_of(lambda: export_tree(nodes, missing=())) <= 1.2 * len(text)


@pytest.mark.parametrize(("name", "n_bytes"), [("x", 1), ("ÿ", 1), ("λ", 2), ("𝜆", 4)])
def test_text_that_does_not_fit_into_memory_is_refused_with_its_size(name, n_bytes, monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 10**6)
    for module in (memory, sys.modules[export_tree.__module__]):
        monkeypatch.setattr(module, "NOT_WORTH_ASKING", 0)
    planned = []
    monkeypatch.setattr(memory, "shortage", lambda needed, available: planned.append(sum(needed.values())))
    with pytest.raises(MemoryError, match=r"The text of this tree .* Use trees_to_frame"):
        export_tree(chain(2000), missing=(), feature_names=[name])
    monkeypatch.undo()
    assert planned == [n_bytes * (len(export_tree(chain(2000), missing=(), feature_names=[name])) + 1)]
