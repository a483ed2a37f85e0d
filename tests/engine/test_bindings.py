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
    table = _core.CostTable(LABELS, None, 2, False)
    table.advance(None, 1.0, 1.0, COSTS, 1)
    return table


def count_root(offsets=(0, 2, 4)):
    histogram = np.empty((1, 4, 4), dtype=np.int64)
    partition, root = _core.Partition(4), np.zeros(1, dtype=np.int32)
    bundles = _core.Bundles(encode(), integers(*offsets), 1)
    _core.count_histograms(
        encode(), bundles, make_table(), partition, integers(*offsets), root, 1, _core.RecordPacker(), histogram
    )
    return histogram


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
        grower.share_out(1.0, np.zeros(2))


@pytest.mark.parametrize(("offsets", "words"), [((0, 5, 4), "ascend"), ((-2, 2, 4), "outside")])
def test_histograms_of_bins_that_do_not_fit_are_refused(offsets, words):
    with pytest.raises(ValueError, match=words):
        count_root(offsets)


def test_votes_for_classes_that_are_not_there_are_refused_where_they_enter():
    table = make_table()
    with pytest.raises(ValueError, match="outside"):
        table.advance(np.full(4, 2, dtype=np.uint16), 1.5, 0.7, COSTS, 1)
    with pytest.raises(ValueError, match="outside"):
        table.confusion(np.full(4, 2, dtype=np.uint16), np.empty((2, 2), dtype=np.int64))
    with pytest.raises(ValueError, match="per row"):
        table.measure(np.zeros(3, dtype=np.uint16), 1, np.empty((3, 2, 2), dtype=np.int64))


def test_splits_and_nodes_at_an_unaligned_address_are_refused():
    grower, codes, partition = make_grower(), encode(), _core.Partition(4)
    histogram = count_root()
    grower.plant(histogram[0, :2].sum(axis=0), 0)
    grower.search(0, histogram, 1)
    splits, smaller, votes = grower.branch(), np.empty(1, dtype=np.int32), np.empty(4, dtype=np.uint16)
    with pytest.raises(ValueError, match="pass a copy"):
        partition.split(codes, moved(splits, 2), 1, smaller)
    partition.split(codes, moved(splits, 4), 1, smaller)
    for offset in range(1, 8):
        with pytest.raises(ValueError, match="pass a copy"):
            partition.settle(codes, moved(grower.nodes(), offset), grower.sets(), 1, votes)
    partition.settle(codes, grower.nodes(), moved(grower.sets(), 3), 1, votes)
    assert votes.tolist() == LABELS.tolist()


def test_leaves_that_are_not_there_are_refused_where_they_enter():
    table, leaves = make_table(), np.array([0, 1, 2, 0], dtype=np.uint32)
    factors = np.ones((2, 2))
    with pytest.raises(ValueError, match="stands in no leaf"):
        table.advance_leaves(leaves, factors, factors, COSTS, None, None, 1)
    with pytest.raises(ValueError, match="per row"):
        table.sum_leaves(leaves[:3], 1, np.empty((3, 2, 2), dtype=np.int64))
    with pytest.raises(ValueError, match="stands in no leaf"):
        table.sum_leaf_losses(leaves, 1, np.empty((2, 2), dtype=np.int64))
    with pytest.raises(ValueError, match="one entry per class"):
        table.advance_leaves(None, factors, factors, COSTS, np.ones(3), np.ones(2), 1)


def test_sums_of_leaves_that_do_not_fit_their_votes_are_refused():
    pairs, votes = np.zeros((2, 3, 3), dtype=np.int64), np.empty((2, 3))
    with pytest.raises(ValueError, match="outside the classes"):
        _core.balance_pairs(pairs, np.zeros((3, 3)), np.array([0, 3]), 1, votes)
    with pytest.raises(ValueError, match=r"\(n_leaves, n_classes\)"):
        _core.balance_pairs(pairs, np.zeros((3, 3)), np.array([0, 1]), 1, votes[:1])
    with pytest.raises(ValueError, match="one entry per class"):
        _core.balance_classes(*np.zeros((2, 2, 3), dtype=np.int64), np.zeros(2), 1, votes)
    with pytest.raises(ValueError, match="one entry per leaf"):
        _core.remaining_of_pairs(pairs, votes, votes, 1, np.empty(3))


def grown_tree(field=None, place=0, value=0):
    """A tree of one split, with a number written into a node."""
    grower, histogram = make_grower(), count_root()
    grower.plant(histogram[0, :2].sum(axis=0), 0)
    grower.search(0, histogram, 1)
    grower.branch()
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
    tree, codes, partition = grown_tree(*damage), encode(), _core.Partition(4)
    for settle, dtype in ((partition.settle, np.uint16), (partition.settle_leaves, np.uint32)):
        with pytest.raises(ValueError, match=words):
            settle(codes, tree.nodes, tree.sets, 1, np.empty(4, dtype=dtype))
    with pytest.raises(ValueError, match=words):
        tree.add_votes(X, False, 1.0, np.zeros((4, 2)), 1)


def test_arrays_that_do_not_fit_a_tree_are_refused():
    tree, partition = grown_tree(), _core.Partition(4)
    for rows, scores, words in (
        (X[:, :0], np.zeros((4, 2)), "names feature"),
        (X, np.zeros((3, 2)), "number of rows"),
        (X, np.zeros((4, 1)), "n_classes"),
    ):
        with pytest.raises(ValueError, match=words):
            tree.add_votes(rows, False, 1.0, scores, 1)
    for codes, votes, words in (
        (encode()[:, :3].copy(), 4, "number of rows"),
        (encode(), 3, "number of rows"),
        (encode()[:0], 4, "names feature"),
    ):
        with pytest.raises(ValueError, match=words):
            partition.settle(codes, tree.nodes, tree.sets, 1, np.empty(votes, dtype=np.uint16))
    with pytest.raises(ValueError, match="fewer nodes"):
        partition.settle(encode(), tree.nodes[:0], tree.sets, 1, np.empty(4, dtype=np.uint16))


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
            forest.add_votes(rows, False, given, *rounds, 1)
    with pytest.raises(ValueError, match="differ in their features"):
        forest.elect(encode()[:1], 1, elected)
    with pytest.raises(ValueError, match="per row"):
        forest.elect(encode(), 1, elected[:3])
    forest.elect(encode(), 1, elected)
    assert elected.tolist() == LABELS.tolist()


def test_splits_of_what_is_not_there_are_refused():
    grower, histogram = make_grower(), count_root()
    grower.plant(histogram[0, :2].sum(axis=0), 0)
    grower.search(0, histogram, 1)
    splits, smaller = grower.branch(), np.empty(1, dtype=np.int32)
    for place, value, words in ((0, 1, "names no node"), (0, -1, "names no node"), (1, 2, "names no feature")):
        wrong = splits.copy()
        wrong[0, place] = value
        with pytest.raises(ValueError, match=words):
            _core.Partition(4).split(encode(), wrong, 1, smaller)
    with pytest.raises(ValueError, match="one entry per split"):
        _core.Partition(4).split(encode(), splits, 1, np.empty(2, dtype=np.int32))
    with pytest.raises(ValueError, match="number of rows"):
        _core.Partition(3).split(encode(), splits, 1, smaller)


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
    forest.add_votes(rows, True, expected, 0, 4, 1)
    arrived.add_votes(rows, True, scores, 0, 4, 1)
    for t, weight in enumerate(forest.weights.tolist()):
        nodes, sets, *_ = forest.tree(t)
        Tree(moved(nodes, offset), moved(sets, offset)).add_votes(rows, True, weight, one_by_one, 1)
    assert expected.any()
    np.testing.assert_array_equal(scores, expected)
    np.testing.assert_array_equal(one_by_one, expected)
