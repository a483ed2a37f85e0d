"""Laws of votes on new rows: every way to them gives the bits of a walk node by node."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reference import scores_reference

from comboost import _core
from comboost._engine.forest import Forest
from comboost._types import LEAF, NO_SET, NODE_DTYPE

N_FEATURES = 5
CATEGORIES = 3  # the first of the features of categories


def property_test(**strategies):
    """Make a test of a law on some forests; the rows are many, so the examples need not be."""
    return lambda test: settings(max_examples=12)(given(**strategies)(test))


def edges_of(feature, n_bins):
    """Thresholds of a feature; most of them are no float32."""
    return np.cumsum(np.full(n_bins, 0.1 + feature / 7)) - 3.0


def grow(random, n_leaves, leaning):
    """Nodes with features and children; a leaning tree is as deep as it can be."""
    features, lefts, leaves = [LEAF], [LEAF], [0]
    while len(leaves) < n_leaves:
        split = leaves.pop(-1 if random.random() < leaning else random.integers(len(leaves)))
        features[split], lefts[split] = int(random.integers(N_FEATURES)), len(features)
        leaves += [len(features), len(features) + 1]
        features += [LEAF, LEAF]
        lefts += [LEAF, LEAF]
    return np.array(features), np.array(lefts)


def make_forest(seed, n_trees, n_leaves, n_classes, leaning, every_class, n_bins):
    """A forest that no fit has grown, with all kinds of nodes."""
    random = np.random.default_rng(seed)
    trees = [grow(random, int(random.integers(1, n_leaves + 1)), leaning) for _ in range(n_trees)]
    features, lefts = (np.concatenate(parts) for parts in zip(*trees, strict=True))
    nodes = np.zeros(len(features), NODE_DTYPE)
    nodes["feature"], nodes["left"], nodes["set"] = features, lefts, NO_SET
    is_leaf, by_set = features == LEAF, features >= CATEGORIES
    numbers = ~is_leaf & ~by_set
    nodes["bin"][numbers] = random.integers(n_bins, size=numbers.sum())
    for feature in range(CATEGORIES):
        chosen = numbers & (features == feature)
        nodes["threshold"][chosen] = edges_of(feature, n_bins)[nodes["bin"][chosen]]
    nodes["flags"][numbers] = random.integers(2, size=numbers.sum())
    nodes["flags"][by_set] = 2
    sets = distinct_sets(random)[random.integers(5, size=by_set.sum())]  # some are alike
    nodes["set"][by_set] = np.arange(len(sets))
    nodes["label"][is_leaf] = random.integers(n_classes, size=is_leaf.sum())
    votes = None
    if every_class:
        nodes["left"][is_leaf] = np.arange(is_leaf.sum())
        votes = random.normal(size=(is_leaf.sum(), n_classes)).astype(np.float32)
    offsets = np.cumsum([0, *(len(tree[0]) for tree in trees)])
    kinds = np.array([1] * CATEGORIES + [2] * (N_FEATURES - CATEGORIES), np.uint8)
    return Forest(nodes, sets, offsets, random.random(n_trees), kinds, n_classes, votes)


def distinct_sets(random):
    """Five sets of codes, the last four of which differ from the first in codes from 0, 64, 128 or 248 on only."""
    sets = np.repeat(random.integers(256, size=(1, 32), dtype=np.uint8), 5, axis=0)
    for k, first_byte in enumerate((0, 8, 16, 31), start=1):
        sets[k, first_byte:] = ~sets[0, first_byte:]
    return sets


def make_rows(seed, n_samples, n_bins, missing, dtype):
    """Values on, beside and far from the thresholds."""
    random = np.random.default_rng(seed)
    X = np.empty((n_samples, N_FEATURES), dtype)
    for feature in range(CATEGORIES):
        values = random.choice(edges_of(feature, n_bins), n_samples).astype(dtype)
        beside = np.nextafter(values, random.choice([-np.inf, np.inf], n_samples).astype(dtype))
        far = random.normal(0, 1e3, n_samples).astype(dtype)
        X[:, feature] = np.choose(random.integers(3, size=n_samples), [values, beside, far])
    X[:, CATEGORIES:] = random.integers(1, 255, size=(n_samples, N_FEATURES - CATEGORIES))
    X[random.random(X.shape) < missing] = np.nan
    return X


FORESTS = st.builds(
    make_forest,
    seed=st.integers(0, 2**32 - 1),
    n_trees=st.integers(1, 9),
    n_leaves=st.sampled_from([1, 2, 8, 40]),
    n_classes=st.sampled_from([2, 3, 4, 5, 8, 9, 31, 32, 33, 36, 63, 64, 65, 70]),
    leaning=st.sampled_from([0.0, 0.7]),
    every_class=st.booleans(),
    n_bins=st.sampled_from([3, 60, 254]),
)
N_ROWS = st.sampled_from([1, 63, 64, 130])
DEEP = make_forest(0, 3, 130, 5, 0.7, True, 254)


def expected_scores(forest, rows, goes_left):
    scores = [[0.0] * forest.n_classes for _ in rows]
    scores_reference.add_scores(forest, rows.tolist(), goes_left, scores)
    return np.array(scores)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@property_test(
    forest=FORESTS,
    n_samples=N_ROWS,
    missing=st.sampled_from([0.0, 0.3]),
    order=st.sampled_from("CF"),
    wide=st.booleans(),
)
@example(forest=DEEP, n_samples=300, missing=0.3, order="C", wide=True)
def test_votes_are_those_of_a_walk_node_by_node(dtype, forest, n_samples, missing, order, wide):
    X = make_rows(n_samples, n_samples, 254, missing, dtype)
    scores = np.zeros((n_samples, forest.n_classes))
    _core.allow_wide_vectors(wide)
    forest.add_scores(np.asarray(X, order=order), missing > 0, scores, 0, len(forest.weights), 2)
    _core.allow_wide_vectors(True)
    assert scores.tobytes() == expected_scores(forest, X, scores_reference.value_goes_left).tobytes()


@property_test(forest=FORESTS, n_samples=N_ROWS)
def test_votes_of_a_tree_alone_are_those_that_it_has_in_a_forest(forest, n_samples):
    X = make_rows(n_samples, n_samples, 254, 0.1, np.float64)
    together, alone = np.zeros((2, n_samples, forest.n_classes))
    forest.add_scores(X, True, together, 0, len(forest.weights), 1)
    for t, weight in enumerate(forest.weights.tolist()):
        forest.tree(t).add_scores(X, True, weight, alone, 1)
    assert alone.tobytes() == together.tobytes()


@property_test(forest=FORESTS, seed=st.integers(0, 99), wide=st.booleans())
def test_class_elected_of_codes_has_the_most_votes(forest, seed, wide):
    codes = np.random.default_rng(seed).integers(256, size=(N_FEATURES, 130), dtype=np.uint8)
    elected = np.empty(codes.shape[1], np.uint16)
    _core.allow_wide_vectors(wide)
    forest.predict_classes(codes, 2, elected)
    _core.allow_wide_vectors(True)
    votes = expected_scores(forest, codes.T, scores_reference.code_goes_left)
    np.testing.assert_array_equal(elected, votes.argmax(axis=1))


def test_a_long_chain_is_followed_to_its_end():
    forest = make_forest(1, 2, 3000, 3, 1.0, False, 254)
    X = make_rows(0, 6000, 254, 0.0, np.float64)
    scores = np.zeros((len(X), 3))
    forest.add_scores(X, False, scores, 0, 2, 1)
    one_by_one = np.concatenate([votes_of(forest, row) for row in X[:50, np.newaxis]])
    assert scores[:50].tobytes() == one_by_one.tobytes()


def votes_of(forest, row):
    scores = np.zeros((1, forest.n_classes))
    forest.add_scores(row, False, scores, 0, len(forest.weights), 1)
    return scores
