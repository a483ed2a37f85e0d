"""Trees as frames and pictures: what they show is what the trees do."""

import matplotlib
import numpy as np
import pandas as pd
import pytest
from inspection.test_explaining import make_table
from matplotlib import pyplot
from models import CLASSIFIERS

from comboost import CoMBoClassifier, ConfusionBoostingClassifier
from comboost._inspection.frame import TreePaths
from comboost._inspection.plot import COLOURS, PLAIN, boxes_of

matplotlib.use("Agg")


def goes_left(node, value):
    """Where a node of a frame sends a value."""
    if value is None or value != value:
        return bool(node["missing_left"])
    if node["categories_left"] is not None:
        return value in node["categories_left"]
    return value <= node["threshold"]


def follow(frame, row, scores, voted):
    """Add the values of all rounds of a frame for a sample, by hand."""
    for _, nodes in frame.groupby("round"):
        nodes = nodes.set_index("node").to_dict("index")
        node = nodes[0]
        while not pd.isna(node["left"]):
            node = nodes[node["left"] if goes_left(node, row[node["feature"]]) else node["right"]]
        for idx, label in enumerate(voted):
            scores[idx] += node["weight"] * (node["class"] == label) if "class" in node else node[f"value_{label}"]


@pytest.mark.parametrize("classifier", CLASSIFIERS.values())
def test_following_the_frame_by_hand_gives_the_scores(classifier):
    frame, y = make_table(120)
    model = classifier(n_estimators=4, max_depth=3).fit(frame, y)
    nodes, scores = model.trees_to_frame(), np.zeros((20, 3))
    for row, own in zip(frame.head(20).to_dict("records"), scores, strict=True):
        follow(nodes, row, own, model.classes_)
    np.testing.assert_allclose(scores, model.decision_function(frame.head(20)), rtol=1e-12, atol=1e-12)


def test_infrequent_categories_are_listed_where_they_go():
    values = np.r_[np.arange(300), np.arange(260)]
    X = pd.DataFrame({"code": pd.Categorical(values)})
    y = (values % 3 == 0).astype(int)
    model = CoMBoClassifier(n_estimators=1, max_depth=1).fit(X, y)
    shared = model.infrequent_categories_[0]
    (left,) = model.trees_to_frame()["categories_left"].dropna()
    assert len(shared) > 0
    assert set(shared) <= set(left) or not set(shared) & set(left)
    assert set(model.predict(X[X["code"].isin(left)])) != set(model.predict(X[~X["code"].isin(left)]))


@pytest.mark.parametrize("classifier", CLASSIFIERS.values())
def test_frame_holds_a_row_for_every_node(classifier):
    frame, y = make_table()
    model = classifier(n_estimators=3, max_depth=3).fit(frame, y)
    nodes = model.trees_to_frame()
    assert len(nodes) == len(model._forest.nodes)
    inner = nodes[nodes["left"].notna()]
    for side in ("left", "right"):
        children = nodes.set_index(["round", "node"]).loc[list(zip(inner["round"], inner[side], strict=True))]
        assert (children["parent"].to_numpy() == inner["node"].to_numpy()).all()
        assert (children["depth"].to_numpy() == inner["depth"].to_numpy() + 1).all()
    below = nodes.groupby(["round", "parent"])["cover"].sum()
    np.testing.assert_allclose(below, inner.set_index(["round", "node"])["cover"].sort_index(), rtol=1e-12)
    assert (nodes.loc[nodes["node"] == 0, "cover"] == 1.0).all()


# Pictures


def full_model(depth):
    """A model whose first tree has nearly 2^depth leaves, with long names."""
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(900, 3)), columns=["a rather long name of a feature", "short", "Länge"])
    y = np.array([f"class number {k}" for k in range(9)])[random.integers(9, size=900)]
    return ConfusionBoostingClassifier(n_estimators=1, max_depth=depth).fit(X, y)


def extents(ax):
    """Where the boxes of a picture are, in pixels; words at lines have no edge."""
    ax.figure.canvas.draw()
    boxes = [text.get_bbox_patch() for text in ax.texts]
    return [box.get_window_extent() for box in boxes if box.get_edgecolor()[:3] != box.get_facecolor()[:3]]


@pytest.mark.parametrize("size", [None, (8, 5)])
def test_boxes_of_a_tree_of_depth_four_do_not_overlap(size):
    ax = None if size is None else pyplot.subplots(figsize=size)[1]
    model = full_model(4)
    drawn = model.plot_tree(0, ax=ax)
    assert ax is None or drawn is ax
    found = extents(drawn)
    assert len(found) == len(model._forest.nodes) >= 21
    assert not any(one.overlaps(other) for i, one in enumerate(found) for other in found[:i])
    area = drawn.figure.bbox
    assert all(area.x0 <= box.x0 and box.x1 <= area.x1 for box in found)
    pyplot.close(drawn.figure)


@pytest.mark.parametrize(("classifier", "words"), [(CoMBoClassifier, "class: "), (ConfusionBoostingClassifier, "+")])
def test_picture_says_what_the_tree_does(classifier, words):
    frame, y = make_table()
    model = classifier(n_estimators=2, max_depth=3).fit(frame, y)
    ax = model.plot_tree(-1)
    nodes = model._forest.tree(1).nodes
    texts = [text.get_text() for text in ax.texts if text.get_text() not in ("yes", "no")]
    assert len(texts) == len(nodes)
    assert sum(words in text for text in texts) >= (len(nodes) + 1) // 2
    assert all(text.endswith(" %") for text in texts)
    shallow = model.plot_tree(-1, max_depth=1)
    assert len([text for text in shallow.texts if text.get_text() not in ("yes", "no")]) == 3
    for picture in (ax, shallow):
        pyplot.close(picture.figure)


def test_colours_are_those_of_the_class_with_the_highest_score():
    frame, y = make_table()
    model = CoMBoClassifier(n_estimators=1, max_depth=2).fit(frame, y)
    forest = model._forest

    class Words:
        def lines(self, idx, node):
            return [str(idx)], COLOURS[node["label"]] if node["feature"] < 0 else PLAIN

    boxes = boxes_of(TreePaths.of(forest), Words(), None)
    assert [box.text for box in boxes] == [str(box.node) for box in boxes]
    assert all(box.parent is None or boxes[box.parent].y == box.y + 1 for box in boxes)
    leaves = [box for box in boxes if box.colour != PLAIN]
    assert [box.x for box in leaves] == list(range(len(leaves)))


def test_bad_questions_for_a_picture_are_refused():
    model = CoMBoClassifier(n_estimators=2).fit([[0.0], [1.0]], [0, 1])
    for ask, words in (
        (lambda: model.plot_tree(2), "There is no round 2; the model has"),
        (lambda: model.plot_tree(0, max_depth=-1), "plot_tree got max_depth=-1"),
        (lambda: model.plot_tree(0, max_depth=1.5), "plot_tree got max_depth=1.5"),
        (lambda: model.plot_tree(0, decimals=-1), "plot_tree got decimals=-1"),
    ):
        with pytest.raises(ValueError, match=words):
            ask()


def test_names_with_dollars_are_shown_as_they_are():
    X = pd.DataFrame({r"$\frac$": [0.0, 1.0, 2.0, 3.0] * 5})
    model = CoMBoClassifier(n_estimators=1, max_depth=1).fit(X, np.array(["$x$", "$x$", "b", "b"] * 5))
    ax = model.plot_tree(0)
    ax.figure.canvas.draw()
    boxes = [text for text in ax.texts if "$" in text.get_text()]
    assert len(boxes) == 2
    assert not any(text.get_parse_math() for text in boxes)
    pyplot.close(ax.figure)
