"""The border to the core: what does not fit is refused there, and records may lie at any address."""

import numpy as np
import pytest

from comboost import CoMBoClassifier, _core
from comboost._engine.forest import Forest, Tree, as_bytes
from comboost._types import NODE_DTYPE

X = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0], [1.0, 1.0]])
LABELS = np.array([0, 1, 0, 1], dtype=np.uint16)
COSTS = np.array([[0.0, 1000.0], [1000.0, 0.0]])
EDGES, STARTS = np.array([0.5, 0.5]), (0, 1, 2)  # of both features


def integers(*values):
    return np.array(values, dtype=np.int64)


def moved(array, offset):
    """A copy of an array that starts ``offset`` bytes behind a multiple of 8."""
    room = np.empty(array.nbytes + 16, dtype=np.uint8)
    start = -room.ctypes.data % 8 + offset
    copied = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copied[...] = array
    return copied


def encode(starts=STARTS, edges=EDGES):
    codes = np.empty((2, 4), dtype=np.uint8)
    _core.encode(X, edges, integers(*starts), np.zeros(2, dtype=np.uint8), 1, codes)
    return codes


def make_grower(offsets=(0, 2, 4), starts=STARTS, n_classes=2):
    return _core.Grower(
        integers(*offsets),
        np.zeros(2, dtype=np.uint8),
        EDGES,
        integers(*starts),
        n_classes,
        by_cost=False,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=2,
        seed=0,
    )


def make_table():
    table = _core.CostTable(LABELS, None, COSTS, None, 0, False, 1)
    table.quantise(None, None, 0)
    return table


def make_rows(grower=None, codes=None, labels=LABELS, unit=COSTS, tops=None):
    codes = encode() if codes is None else codes
    rows = _core.BinnedRows(labels, None, unit, tops, 0, False, grower or make_grower(), codes, 2**20, 1.0, 2**19, 1)
    rows.quantise(None, None, 0)
    return rows


def count_root():
    histogram = np.empty((1, 4, 4), dtype=np.int64)
    make_rows().count(np.zeros(1, dtype=np.int32), histogram)
    return histogram


def splits_of_root():
    grower, histogram = make_grower(), count_root()
    grower.plant(histogram[0, :2].sum(axis=0), 0)
    grower.search(0, histogram, 1)
    return grower, grower.branch()


def test_edges_of_no_rows_are_refused():
    with pytest.raises(ValueError, match="a row"):
        _core.find_edges(np.zeros((0, 2)), None, 255, 1)


@pytest.mark.parametrize(
    ("starts", "n_edges", "words"),
    [((0, 2, 1), 2, "ascend"), ((0, 1, 3), 2, "outside"), ((-1, 1, 2), 2, "outside"), ((0, 0, 255), 255, "tell apart")],
)
def test_starts_that_do_not_divide_the_edges_are_refused(starts, n_edges, words):
    with pytest.raises(ValueError, match=words):
        encode(starts, np.arange(float(n_edges)))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"offsets": (1, 3, 5)}, "come first"),
        ({"offsets": (0, 3, 5)}, "one edge fewer"),
        ({"starts": (0, 3, 2)}, "ascend"),
        ({"n_classes": 1}, "n_classes"),
    ],
)
def test_grower_of_bins_that_do_not_fit_is_refused(changed, words):
    with pytest.raises(ValueError, match=words):
        make_grower(**changed)


def test_grower_without_a_tree_is_not_searched():
    grower = make_grower()
    with pytest.raises(ValueError, match="plant one"):
        grower.search(0, np.zeros((0, 4, 4), dtype=np.int64), 1)
    with pytest.raises(ValueError, match="plant one"):
        grower.gain_fractions()


def test_rows_that_do_not_fit_each_other_are_refused():
    for changed, words in (
        ({"codes": encode()[:, :3].copy()}, "fit the samples"),
        ({"codes": encode()[:1].copy()}, "fit the samples"),
        ({"labels": LABELS + np.uint16(1)}, "outside the classes"),
        ({"unit": np.zeros((3, 3))}, "n_classes"),
        ({"tops": np.ones(3)}, "one entry per class"),
    ):
        with pytest.raises(ValueError, match=words):
            make_rows(**changed)


def test_nodes_and_histograms_that_do_not_fit_are_refused():
    rows, histogram = make_rows(), np.empty((1, 4, 4), dtype=np.int64)
    with pytest.raises(ValueError, match="no such node"):
        rows.count(np.ones(1, dtype=np.int32), histogram)
    with pytest.raises(ValueError, match="do not fit"):
        rows.count(np.zeros(1, dtype=np.int32), histogram[:, :3].copy())


def test_predicted_classes_that_are_not_there_are_refused_where_they_enter():
    table = make_table()
    with pytest.raises(ValueError, match="outside"):
        table.set_predicted(np.full(4, 2, dtype=np.uint16))
    with pytest.raises(ValueError, match="outside"):
        table.confusion(np.full(4, 2, dtype=np.uint16))
    with pytest.raises(ValueError, match="per sample"):
        table.set_predicted(np.zeros(3, dtype=np.uint16))


def test_splits_and_nodes_at_an_unaligned_address_are_refused():
    (grower, splits), rows = splits_of_root(), make_rows()
    with pytest.raises(ValueError, match="pass a copy"):
        rows.split(moved(splits, 2))
    rows.split(moved(splits, 4))
    for offset in range(1, 8):
        with pytest.raises(ValueError, match="pass a copy"):
            rows.find_leaves(moved(grower.nodes(), offset), grower.sets())
    rows.find_leaves(grower.nodes(), moved(grower.sets(), 3))
    assert rows.leaves().tolist() == LABELS.tolist()
    assert rows.covers().tolist() == [2, 2]


def test_factors_that_do_not_fit_the_leaves_are_refused():
    table, factors = make_table(), np.ones((2, 2))
    with pytest.raises(ValueError, match="no leaves yet"):
        table.update(factors, factors, 1.0)
    table.set_predicted(LABELS)
    for growth, shrink, words in ((factors, None, "together"), (np.ones((3, 2)), np.ones((3, 2)), "n_leaves")):
        with pytest.raises(ValueError, match=words):
            table.quantise(growth, shrink, 0)


@pytest.mark.parametrize(
    "call",
    [
        lambda rows: rows.leaves(),
        lambda rows: rows.advantage,
        lambda rows: rows.sum_leaves(),
        lambda rows: rows.sum_leaf_losses(),
        lambda rows: rows.leaf_values(COSTS, COSTS, 0, 1.0, True),
    ],
)
def test_leaves_are_refused_before_there_are_any(call):
    with pytest.raises(ValueError, match="no leaves yet"):
        call(make_rows())


def test_tree_grows_only_from_a_counted_root():
    rows = make_rows()
    with pytest.raises(ValueError, match="grows from its root"):
        rows.grow(0, 0.0)
    rows.next_round(None, None, 1000.0, True)
    rows.grow(0, 0.0)
    rows.next_round(None, None, 1000.0, False)
    with pytest.raises(ValueError, match="grows from its root"):
        rows.grow(1, 0.0)


def test_leaf_values_of_another_tree_are_refused():
    grower = make_grower()
    rows, others = make_rows(grower), make_rows(grower, labels=np.zeros(4, dtype=np.uint16))
    for grown in (rows, others):
        grown.next_round(None, None, 1000.0, True)
        grown.grow(0, 0.0)
    with pytest.raises(ValueError, match="another tree"):
        rows.leaf_values(COSTS, COSTS, 0, 1.0, True)


def test_sums_of_leaves_that_do_not_fit_are_refused():
    pairs, costs, square = np.zeros((2, 3, 3), dtype=np.int64), np.zeros((2, 3), dtype=np.int64), np.zeros((3, 3))
    for sums, smoothing, words in (
        ((pairs, costs), square, "either"),
        ((pairs[:1], None), square, "pairs must be"),
        ((None, costs[:, :2].copy()), square, "losses must be"),
        ((pairs, None), square[:2], "smoothing must be"),
    ):
        with pytest.raises(ValueError, match=words):
            _core.balance_leaves(*sums, costs, smoothing, square, 0, 1.0, 1)


def grown_tree(field=None, place=0, value=0):
    """A tree of one split, with a number written into a node."""
    grower, _ = splits_of_root()
    nodes = grower.nodes().view(NODE_DTYPE)[:, 0]
    assert nodes["feature"].tolist() == [0, -1, -1]
    if field is not None:
        nodes[field][place] = value
    return Tree(as_bytes(nodes), grower.sets())


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (("feature", 0, 2), "names feature 2, but there are 2 features"),
        (("left", 0, 0), "has its children at 0"),
        (("left", 0, 2), "has its children at 2"),
        (("set", 1, 0), "needs set 0, but there are 0 sets"),
        (("feature", 1, 1), "node 1 has its children at -1"),
        (("feature", 0, -1), "3 nodes, but 0 of them have children|a leaf, but has children"),
    ],
)
def test_tree_that_cannot_be_followed_is_refused_wherever_it_is_used(damage, words):
    tree = grown_tree(*damage)
    with pytest.raises(ValueError, match=words):
        make_rows().find_leaves(tree.nodes, tree.sets)
    with pytest.raises(ValueError, match=words):
        tree.add_scores(X, False, 1.0, np.zeros((4, 2)), 1)


def test_arrays_that_do_not_fit_a_tree_are_refused():
    tree, rows = grown_tree(), make_rows()
    for values, scores, words in (
        (X[:, :0], np.zeros((4, 2)), "names feature"),
        (X, np.zeros((3, 2)), "number of rows"),
        (X, np.zeros((4, 1)), "n_classes"),
    ):
        with pytest.raises(ValueError, match=words):
            tree.add_scores(values, False, 1.0, scores, 1)
    with pytest.raises(ValueError, match=r"fewer nodes|0 of them have children"):
        rows.find_leaves(tree.nodes[:0], tree.sets)
    other_class = grown_tree("label", 1, 2)
    with pytest.raises(ValueError, match="class that is not there"):
        rows.find_leaves(other_class.nodes, other_class.sets)


def test_arrays_that_do_not_fit_a_forest_are_refused():
    forest = Forest.join([grown_tree()], np.ones(1), np.zeros(2, dtype=np.uint8), 2)
    scores, elected = np.zeros((4, 2)), np.empty(4, dtype=np.uint16)
    for rows, given, rounds, words in (
        (X[:, :1], scores, (0, 1), "differ in their features"),
        (X, np.zeros((4, 3)), (0, 1), "differ in their classes"),
        (X, scores[:3], (0, 1), "number of rows"),
        (X, scores, (0, 2), "outside the model"),
        (X, scores, (1, 0), "outside the model"),
    ):
        with pytest.raises(ValueError, match=words):
            forest.add_scores(rows, False, given, *rounds, 1)
    with pytest.raises(ValueError, match="differ in their features"):
        forest.predict_classes(encode()[:1], 1, elected)
    with pytest.raises(ValueError, match="per row"):
        forest.predict_classes(encode(), 1, elected[:3])
    forest.predict_classes(encode(), 1, elected)
    assert elected.tolist() == LABELS.tolist()


def test_splits_of_what_is_not_there_are_refused():
    _, splits = splits_of_root()
    for column, value, words in ((0, 1, "names no node"), (0, -1, "names no node"), (1, 2, "names no feature")):
        wrong = splits.copy()
        wrong[0, column] = value
        with pytest.raises(ValueError, match=words):
            make_rows().split(wrong)


@pytest.mark.parametrize("offset", range(8))
def test_forest_that_came_over_a_wire_votes_as_before(offset):
    random = np.random.default_rng(0)
    rows = np.column_stack([random.normal(size=300), random.integers(0, 9, 300)])
    rows[::7, 0] = np.nan
    model = CoMBoClassifier(n_estimators=4, categorical_features=[1]).fit(rows, random.integers(0, 3, 300))
    forest = model._forest
    assert len(forest.sets) > 0
    nodes, sets = moved(forest.nodes, offset), moved(forest.sets, offset)
    arrived = Forest(nodes, sets, forest.offsets, forest.weights, forest.kinds, forest.n_classes)
    expected, scores, one_by_one = np.zeros((3, 300, 3))
    forest.add_scores(rows, True, expected, 0, 4, 1)
    arrived.add_scores(rows, True, scores, 0, 4, 1)
    for t, weight in enumerate(forest.weights.tolist()):
        nodes, sets, *_ = forest.tree(t)
        Tree(moved(nodes, offset), moved(sets, offset)).add_scores(rows, True, weight, one_by_one, 1)
    assert expected.any()
    np.testing.assert_array_equal(scores, expected)
    np.testing.assert_array_equal(one_by_one, expected)
