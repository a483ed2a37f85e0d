"""The samples of a search are the same ones, however they are divided into parts."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import tree_limits

from comboost._distributed.coding import CodedSamples, join_for_search
from comboost._distributed.memory import search_uses
from comboost._engine.memory_plan import FitShape
from comboost._types import CODE, LABEL, WEIGHT


def in_order(samples):
    """The samples as sorted tuples."""
    weights = np.zeros(len(samples.labels)) if samples.weights is None else samples.weights
    return sorted(zip(*samples.codes.tolist(), samples.labels.tolist(), weights.tolist(), strict=True))


def draw_samples(n_samples, weighted, seed):
    """Samples of three classes, many of them equal."""
    random = np.random.default_rng(seed)
    codes = random.integers(3, size=(2, n_samples)).astype(CODE)
    labels = random.integers(3, size=n_samples).astype(LABEL)
    return CodedSamples(codes, labels, random.integers(1, 3, n_samples).astype(WEIGHT) if weighted else None)


def take(samples, indices):
    weights = None if samples.weights is None else samples.weights[indices]
    return CodedSamples(samples.codes[:, indices], samples.labels[indices], weights)


@given(
    n_samples=st.integers(1, 60),
    weighted=st.booleans(),
    n_kept=st.lists(st.integers(0, 12), min_size=3, max_size=3).map(np.array),
    n_parts=st.integers(1, 6),
    seed=st.integers(0, 2**31 - 1),
)
def test_samples_of_a_search_do_not_depend_on_the_parts(n_samples, weighted, n_kept, n_parts, seed):
    samples = draw_samples(n_samples, weighted, seed)
    expected = samples.first_by_content(n_kept, seed)
    sizes = np.bincount(samples.labels, minlength=3)
    assert np.bincount(expected.labels, minlength=3).tolist() == np.minimum(sizes, n_kept).tolist()
    order = np.random.default_rng(seed + 1).permutation(n_samples)
    parts = [take(samples, indices).first_by_content(n_kept, seed) for indices in np.array_split(order, n_parts)]
    found = partial(join_for_search, n_kept=n_kept, seed=seed)(parts)
    assert in_order(found) == in_order(expected)


def test_another_seed_gives_other_samples():
    samples = draw_samples(200, weighted=True, seed=0)
    n_kept = np.array([5, 5, 5])
    assert in_order(samples.first_by_content(n_kept, 1)) != in_order(samples.first_by_content(n_kept, 2))


@pytest.mark.parametrize("n_folds", [1, 5])
@given(
    st.builds(
        FitShape, st.integers(1, 10**5), st.integers(1, 100), st.integers(2, 50), st.integers(2, 5000), tree_limits
    )
)
def test_search_needs_memory_for_the_best_candidate_and_another_one(n_folds, shape):
    one = shape.parts()["samples"]
    assert sum(search_uses(shape, n_folds).values()) >= 2 * n_folds * sum(one.values()) + one["codes"]
