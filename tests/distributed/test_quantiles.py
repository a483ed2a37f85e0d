"""Exact edges from counts that add up: whatever the cut into parts, those of all rows at once."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from strategies import feature_columns, missing_masks

from comboost import _core
from comboost._data.categories import Categories
from comboost._data.frames import PandasSource
from comboost._data.tables import ArraySource, RawTable
from comboost._distributed import quantiles
from comboost._distributed.quantiles import CELL_DTYPE, EdgeSearch, KeyCounts, count_keys

MOST_PASSES = 26  # the first one leaves 50 bits of a key open, and the others take at least 2 each


def table_of(X):
    return RawTable(ArraySource(X)).encode(Categories())


def ask_all(search, parts):
    """Ask parts, (X, weights), until the search is over; every request with its merged answer."""
    asked = []
    while search.request is not None:
        request = pickle.loads(pickle.dumps(search.request))
        counts = [count_keys(table_of(X), request, weights) for X, weights in parts]
        asked.append((request, KeyCounts.merge([pickle.loads(pickle.dumps(counts)) for counts in counts])))
        search.learn(asked[-1][1])
    return asked


def assert_edges_are_those_of_all_rows(search, X, weights, max_bins):
    for f, (edges, missing, infinite) in enumerate(_core.find_edges(X, weights, max_bins, 1)):
        assert search.edges[f].tobytes() == edges.tobytes()
        assert (search.missing[f], search.infinite[f]) == (missing, infinite)


def is_float32(X):
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        return np.array_equal(X.astype(np.float32).astype(np.float64), X, equal_nan=True)


@st.composite
def cuts(draw, X, weights):
    """Draw parts of rows in any order, in any order in memory, some as float32 if that loses nothing."""
    order = np.random.default_rng(draw(st.integers(0, 9))).permutation(len(X))
    borders = draw(st.lists(st.integers(0, len(X)), max_size=4))
    parts = []
    for rows in np.split(order, sorted(borders)):
        if len(rows) > 0:
            part = X[rows]
            dtype = np.float32 if is_float32(part) and draw(st.booleans()) else np.float64
            part = part.astype(dtype, order=draw(st.sampled_from("CF")))
            parts.append((part, None if weights is None else weights[rows]))
    return parts


SMALL = st.integers(1, 9)
HEAVY = st.sampled_from([1, 2, 3, 1000, 2**16, 2**25])  # those of 100 rows add up to less than 2**32
INFINITIES = st.sampled_from([np.inf, -np.inf])


@st.composite
def weighted_rows(draw):
    """Draw few rows of any doubles, some missing and, seldom, some infinite, with or without weights."""
    n_samples = draw(st.integers(1, 100))
    columns = []
    for _ in range(draw(st.integers(1, 3))):
        column = np.where(draw(missing_masks(n_samples)), np.nan, draw(feature_columns(n_samples)))
        if draw(st.integers(0, 9)) == 9:
            column[draw(st.integers(0, n_samples - 1))] = draw(INFINITIES)
        columns.append(column)
    weights = draw(st.none() | hnp.arrays(np.uint32, n_samples, elements=draw(st.sampled_from([SMALL, HEAVY]))))
    return np.column_stack(columns), weights


@given(data=st.data(), rows=weighted_rows(), max_bins=st.integers(2, 12) | st.integers(13, 255))
def test_edges_are_those_of_all_rows_for_any_cut_into_parts(data, rows, max_bins):
    X, weights = rows
    search = EdgeSearch(range(X.shape[1]), X.shape[1], max_bins, most_keys=data.draw(st.sampled_from([0, 9, 2**19])))
    asked = ask_all(search, data.draw(cuts(X, weights)))
    assert len(asked) <= MOST_PASSES
    assert_edges_are_those_of_all_rows(search, X, weights, max_bins)


def any_bits(random, n):
    return random.integers(0, 2**64, n, dtype=np.uint64).view(np.float64)


def neighbours(random, n):
    return 1.0 + random.integers(0, 300, n) * 2.0**-52


def around_zero(random, n):
    return random.integers(-300, 300, n) * 5e-324


COLUMNS = [
    lambda random, n: random.normal(size=n),
    lambda random, n: random.lognormal(0, 5, n),
    lambda random, n: 1e6 + random.random(n),
    lambda random, n: random.integers(0, 260, n).astype(np.float64),
    lambda random, n: np.round(random.standard_cauchy(n), 2),
    lambda random, n: np.where(random.random(n) < 0.9, 7.0, random.normal(size=n)),
    any_bits,
    neighbours,
    around_zero,
]


@given(
    data=st.data(),
    seed=st.integers(0, 2**32 - 1),
    n_samples=st.integers(200, 3000),
    max_bins=st.integers(2, 255) | st.just(255),
    most_keys=st.sampled_from([0, 300, 3000, 2**19]),
)
def test_edges_of_many_values_are_those_of_all_rows(data, seed, n_samples, max_bins, most_keys):
    random = np.random.default_rng(seed)
    X = np.column_stack([COLUMNS[k](random, n_samples) for k in random.integers(0, len(COLUMNS), 3)])
    weights = random.integers(1, 1000, n_samples).astype(np.uint32) if data.draw(st.booleans()) else None
    search = EdgeSearch(range(3), 3, max_bins, most_keys)
    asked = ask_all(search, data.draw(cuts(X, weights)))
    assert len(asked) <= MOST_PASSES
    assert_edges_are_those_of_all_rows(search, X, weights, max_bins)


@pytest.mark.parametrize("n_values", [254, 255, 256, 257])
def test_up_to_max_bins_values_are_all_parted(n_values):
    X = np.random.default_rng(0).permutation(np.repeat(1.0 + np.arange(n_values) * 2.0**-50, 40)).reshape(-1, 1)
    search = EdgeSearch([0], 1, 255, most_keys=0)
    ask_all(search, [(X[:3000], None), (X[3000:], None)])
    assert_edges_are_those_of_all_rows(search, X, None, 255)
    assert len(search.edges[0]) == n_values - 1 if n_values <= 255 else len(search.edges[0]) < 255


@given(rows=weighted_rows(), max_bins=st.integers(2, 255))
def test_few_rows_take_two_passes(rows, max_bins):
    X, weights = rows
    assert len(ask_all(EdgeSearch(range(X.shape[1]), X.shape[1], max_bins), [(X, weights)])) <= 2


@pytest.mark.parametrize("column", COLUMNS[:2])
def test_smooth_columns_take_three_passes_if_one_key_in_twenty_may_travel(column):
    random = np.random.default_rng(0)
    X = np.column_stack([column(random, 40_000), column(random, 40_000)])
    weights = random.integers(1, 4, 40_000).astype(np.uint32)
    search = EdgeSearch(range(2), 2, 255, most_keys=4_000)
    assert len(ask_all(search, [(X[:37_000], weights[:37_000]), (X[37_000:], weights[37_000:])])) == 3
    assert_edges_are_those_of_all_rows(search, X, weights, 255)


def test_values_that_crowd_ever_closer_take_no_more_passes_than_there_are_bits():
    X = np.repeat(1.0 + 2.0 ** -np.arange(1.0, 53.0), 2).reshape(-1, 1)
    X = np.concatenate([X, -X])
    search = EdgeSearch([0], 1, 3, most_keys=0)
    assert 3 < len(ask_all(search, [(X, None)])) <= MOST_PASSES
    assert_edges_are_those_of_all_rows(search, X, None, 3)


def n_cells_asked(request):
    """Cells of the intervals that are not asked for key by key."""
    is_coarse = request.shifts > 0
    spans = (request.highs - request.lows)[is_coarse] >> request.shifts[is_coarse]
    return int(spans.sum()) + int(is_coarse.sum())


@pytest.mark.parametrize("most_keys", [0, 100, 10_000])
@pytest.mark.parametrize("max_bins", [2, 20, 60])
def test_no_more_cells_travel_than_there_is_room_for(monkeypatch, most_keys, max_bins):
    monkeypatch.setattr(quantiles, "MOST_CELLS", 2**12)
    random = np.random.default_rng(0)
    X = np.column_stack([column(random, 20_000) for column in COLUMNS])
    search = EdgeSearch(range(len(COLUMNS)), len(COLUMNS), max_bins, most_keys)
    first, *later = ask_all(search, [(X[:5_000], None), (X[5_000:], None)])
    assert len(first[1].cells) <= len(COLUMNS) * 2**14
    for request, answer in later:
        assert n_cells_asked(request) <= 2**12
        assert len(answer.cells) <= 2**12 + most_keys
        assert len(request.lows) <= len(COLUMNS) * max_bins
    assert_edges_are_those_of_all_rows(search, X, None, max_bins)


def test_answers_are_the_same_for_any_number_of_threads():
    X = np.random.default_rng(0).normal(size=(20_000, 5))
    search = EdgeSearch(range(5), 5, 255, most_keys=100)
    while search.request is not None:
        one, two = (count_keys(table_of(X), search.request, None, n_threads) for n_threads in (1, 2))
        assert one.cells.tobytes() == two.cells.tobytes()
        search.learn(one)


def test_features_of_categories_are_neither_read_nor_counted():
    frame = pd.DataFrame({"a": [3, 1, 2, 1], "b": list("uvwu"), "c": [0.5, None, 1.5, 2.5]})
    table = RawTable(PandasSource(frame)).encode(Categories({1: ()}))
    search = EdgeSearch([0, 2], 3, 255)
    while search.request is not None:
        search.learn(count_keys(table, search.request, None))
    assert [edges.tolist() for edges in search.edges] == [[1.5, 2.5], [], [1.0, 2.0]]
    assert search.missing.tolist() == [False, False, True]


def test_a_table_without_numbers_is_asked_once_and_has_no_edges():
    search = EdgeSearch([], 2, 255)
    (_, answer), *others = ask_all(search, [(np.zeros((3, 2)), None), (np.zeros((2, 2)), None)])
    assert len(answer.cells) == len(others) == 0
    assert answer.n_samples == 5
    assert [len(edges) for edges in search.edges] == [0, 0]


def test_cells_may_lie_at_any_address():
    X = np.random.default_rng(0).normal(size=(50, 1))
    counts = count_keys(table_of(X), EdgeSearch([0], 1, 255).request, None)
    moved = np.frombuffer(b"." + counts.cells.tobytes(), dtype=CELL_DTYPE, offset=1)
    twice = KeyCounts.merge([KeyCounts(50, moved), counts])
    assert twice.n_samples == 100
    np.testing.assert_array_equal(twice.cells["rows"], 2 * counts.cells["rows"])


@given(rows=weighted_rows())
def test_tally_arrives_as_it_was_sent(rows):
    X, weights = rows
    counts = count_keys(table_of(X), EdgeSearch(range(X.shape[1]), X.shape[1], 255).request, weights)
    arrived = pickle.loads(pickle.dumps(counts))
    assert arrived.n_samples == counts.n_samples
    assert arrived.cells.dtype == CELL_DTYPE
    assert arrived.cells.tobytes() == counts.cells.tobytes()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"starts": [0, 2, 1]}, "ascend"),
        ({"starts": [0, 1, 9]}, "outside"),
        ({"starts": [0, 2]}, "one entry more"),
        ({"lows": [5, 3]}, "before it starts"),
        ({"highs": [4, 9], "starts": [0, 2, 2]}, "disjoint"),
        ({"shifts": [1, 1], "starts": [0, 2, 2]}, "two intervals"),
        ({"shifts": [0, 64]}, "over 63"),
        ({"shifts": [0]}, "low, high and shift"),
    ],
)
def test_intervals_that_the_core_cannot_trust_are_refused(changes, said):
    request = {"lows": [1, 3], "highs": [2, 4], "shifts": [0, 0], "starts": [0, 1, 2]} | changes
    dtypes = {"lows": np.uint64, "highs": np.uint64, "shifts": np.uint8, "starts": np.int64}
    arrays = {name: np.array(values, dtype=dtypes[name]) for name, values in request.items()}
    with pytest.raises(ValueError, match=said):
        _core.count_cells(np.zeros((4, 2)), None, **arrays, n_threads=1)
