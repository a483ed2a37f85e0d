"""Losses by class and pair, priced costs, and the sums and forecasts of leaves, against NumPy."""

import math

import numpy as np
import pytest

from comboost import _core
from comboost._engine.binning import BinMapper
from comboost._engine.rows import TreeRules, make_grower
from comboost._types import KIND

KINDS = ["exponential", "logistic", "log"]
LOSS_BITS = 51  # of a single loss
FLOAT_ERROR = 1e-14  # relative, of a few float operations


class Reference:
    """The samples of a drawn problem, their excess in NumPy, and tables of the core."""

    def __init__(self, kind, n_classes, *, weighted=False, n_samples=500, seed=0):
        rng = np.random.default_rng([seed, n_classes, weighted])
        self.kind, self.n_classes, self.rng = kind, n_classes, rng
        self.labels = rng.integers(0, n_classes, n_samples).astype(np.uint16)
        self.labels[:n_classes] = np.arange(n_classes)
        self.weights = rng.integers(1, 2**20, n_samples).astype(np.uint32) if weighted else None
        self.counts = np.ones(n_samples) if self.weights is None else self.weights.astype(float)
        sums = np.bincount(self.labels, self.counts)
        costs = rng.uniform(0.5, 2.0, (n_classes, n_classes)) * (1.0 - np.eye(n_classes))
        tops = costs.max(axis=1)
        self.unit = costs / (tops if kind == "log" else sums)[:, np.newaxis]
        self.tops = tops / sums if kind == "log" else None
        self.excess = np.ones((n_samples, n_classes))

    @property
    def loss(self):
        """What the constructors of the core take."""
        return self.unit, self.tops, 40, self.kind == "logistic"

    def table(self, n_threads=1):
        return _core.CostTable(self.labels, self.weights, *self.loss, n_threads)

    def draw_round(self, *, one_hot):
        """Predicted classes, growth and shrink; the excess follows."""
        n_samples, n_classes = self.excess.shape
        leaves = self.rng.integers(0, n_classes, n_samples).astype(np.uint16)
        if one_hot:
            step = self.rng.uniform(0.1, 2.0)
            values = step * np.eye(n_classes)
            growth, shrink = np.exp([step]), np.exp([-step])
        else:
            values = self.rng.normal(size=(n_classes, n_classes))
            growth, shrink = np.exp(values), np.exp(-values)
        factors = np.exp(values[leaves] - values[leaves, self.labels][:, np.newaxis])
        self.excess *= factors
        return leaves, growth, shrink

    def draw_prices(self):
        shape = self.n_classes if self.kind == "log" else (self.n_classes, self.n_classes)
        return self.rng.uniform(0.0, 3.0, shape)

    def losses(self):
        """The losses of every sample and class per unit of weight; for the log-loss there is one class."""
        unit = self.unit[self.labels]
        if self.kind == "log":
            return (self.tops[self.labels] * np.log2(1.0 + (unit * self.excess).sum(axis=1)))[:, np.newaxis]
        return unit * (self.excess if self.kind == "exponential" else np.log2(1.0 + self.excess))

    def costs(self, prices=None):
        """The costs of every sample and class per unit of weight."""
        unit = self.unit[self.labels]
        if self.kind == "log":
            tops = self.tops if prices is None else self.tops * prices
            sums = (unit * self.excess).sum(axis=1)
            return unit * self.excess * (tops[self.labels] / (1.0 + sums))[:, np.newaxis]
        if prices is not None:
            unit = unit * prices[self.labels]
        return unit * (self.excess if self.kind == "exponential" else self.excess / (1.0 + self.excess))

    def sum_by_class(self, values):
        sums = np.zeros((self.n_classes, values.shape[1]))
        np.add.at(sums, self.labels, self.counts[:, np.newaxis] * values)
        return sums

    def sum_by_leaf(self, leaves, values):
        sums = np.zeros((self.n_classes, self.n_classes, self.n_classes))
        np.add.at(sums, (leaves, self.labels), self.counts[:, np.newaxis] * values)
        return sums

    def loss_exponent(self):
        """Units in which no loss of a sample is above 2^51."""
        return LOSS_BITS - math.frexp(self.losses().max())[1]


def whole(sums):
    """The integers that two words stand for."""
    assert ((sums[1] >= 0) & (sums[1] < 2**32)).all()
    return sums[0].astype(object) * 2**32 + sums[1].astype(object)


@pytest.mark.parametrize("one_hot", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3, 5, 8, 11, 26])
@pytest.mark.parametrize("kind", KINDS)
def test_losses_are_added_up(kind, n_classes, weighted, one_hot):
    reference = Reference(kind, n_classes, weighted=weighted)
    table = reference.table()
    for _ in range(3):
        leaves, growth, shrink = reference.draw_round(one_hot=one_hot)
        table.set_predicted(leaves)
        exponent = reference.loss_exponent()
        sums, largest = table.add(growth, shrink, exponent)
        losses = reference.losses()
        expected = np.ldexp(reference.sum_by_class(losses), exponent)
        rounding = 0.51 * reference.sum_by_class(np.ones_like(losses)) + FLOAT_ERROR * expected
        assert (np.abs(whole(sums).reshape(expected.shape).astype(float) - expected) <= rounding).all()
        assert largest == pytest.approx(reference.costs().sum(axis=1).max(), rel=FLOAT_ERROR)
        if kind != "log":
            assert (sums.diagonal(axis1=1, axis2=2) == 0).all()
    again, same = table.add(None, None, exponent)
    np.testing.assert_array_equal(again, sums)
    assert same == largest


@pytest.mark.parametrize("kind", KINDS)
def test_sums_of_the_largest_weights_are_exact(kind):
    # Before the first round E = 1: losses of one unit or of the bits of K classes, the largest that are allowed.
    labels, weights = np.array([0, 1], dtype=np.uint16), np.array([2**31, 2**31 - 1], dtype=np.uint32)
    tops = np.ones(2) if kind == "log" else None
    table = _core.CostTable(labels, weights, 1.0 - np.eye(2), tops, 0, kind == "logistic", 1)
    sums, _ = table.add(None, None, LOSS_BITS)
    own, other = 2**31 << LOSS_BITS, (2**31 - 1) << LOSS_BITS
    assert whole(sums).tolist() == ([own, other] if kind == "log" else [[0, own], [other, 0]])


@pytest.mark.parametrize("kind", KINDS)
def test_losses_of_any_excess_are_right(kind):
    # Two classes: the factor of a round is the excess itself.
    for power in [*range(-900, 900, 61), -60, -53, -30, -2, -1, 0, 1, 2, 50, 53, 60]:
        excess = math.ldexp(1.37, power)
        tops = np.ones(2) if kind == "log" else None
        labels = np.array([0], dtype=np.uint16)
        table = _core.CostTable(labels, None, 1.0 - np.eye(2), tops, 0, kind == "logistic", 1)
        table.set_predicted(np.array([1], dtype=np.uint16))
        loss = excess if kind == "exponential" else math.log1p(excess) / math.log(2.0)
        exponent = LOSS_BITS - math.frexp(loss)[1]
        sums, largest = table.add(np.array([excess]), np.array([1 / excess]), exponent)
        units = int(whole(sums).sum())
        assert math.ldexp(units, -exponent) == pytest.approx(loss, rel=3e-15)
        assert largest == pytest.approx(excess if kind == "exponential" else excess / (1 + excess), rel=3e-15)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3, 11])
@pytest.mark.parametrize("kind", KINDS)
def test_costs_are_multiplied_by_their_prices(kind, n_classes, weighted):
    reference = Reference(kind, n_classes, weighted=weighted)
    table = reference.table()
    leaves, growth, shrink = reference.draw_round(one_hot=False)
    table.set_predicted(leaves)
    prices = reference.draw_prices()
    costs = reference.costs(prices)
    bound = costs.sum(axis=1).max()
    exponent, loss, largest, log_loss = table.update(growth, shrink, bound, prices)
    assert log_loss is None
    assert largest == pytest.approx(bound, rel=FLOAT_ERROR)
    expected = reference.sum_by_leaf(leaves, costs)
    rounding = 0.51 * reference.sum_by_leaf(leaves, np.ones_like(costs)) + FLOAT_ERROR * np.ldexp(expected, exponent)
    assert (np.abs(table.sum_leaves() - np.ldexp(expected, exponent)) <= rounding).all()
    assert loss == table.sum_leaves().sum()
    quantised = table.quantise(None, None, exponent, prices)
    assert quantised[0] == loss
    assert quantised[2] == 0


@pytest.mark.parametrize("kind", ["logistic", "log"])
def test_costs_are_bounded_whatever_the_excess(kind):
    reference = Reference(kind, 3)
    table, prices = reference.table(), reference.draw_prices()
    most = reference.tops * prices if kind == "log" else (reference.unit * prices).sum(axis=1)
    wide, _, largest, _ = table.update(None, None, 1e9 * most.max(), prices)
    exact, *_ = table.update(None, None, most.max(), prices)
    assert wide == exact
    assert largest <= most.max()


@pytest.mark.parametrize("kind", KINDS)
def test_prices_of_one_change_nothing(kind):
    reference = Reference(kind, 5, weighted=True)
    table = reference.table()
    leaves, growth, shrink = reference.draw_round(one_hot=True)
    table.set_predicted(leaves)
    bound = reference.costs().sum(axis=1).max()
    plain, sums = table.update(growth, shrink, bound), table.sum_leaves()
    priced = table.update(None, None, bound, np.ones_like(reference.draw_prices()))
    assert priced[:3] == plain[:3]
    np.testing.assert_array_equal(table.sum_leaves(), sums)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("n_classes", [2, 4, 11])
@pytest.mark.parametrize("kind", KINDS)
def test_pairs_of_leaves_are_summed_without_prices(kind, n_classes, weighted):
    reference = Reference(kind, n_classes, weighted=weighted)
    table = reference.table()
    leaves, growth, shrink = reference.draw_round(one_hot=False)
    table.set_predicted(leaves)
    bound = reference.costs().sum(axis=1).max()
    exponent, *_ = table.update(growth, shrink, bound)
    plain = table.sum_leaves()
    table.update(None, None, 3 * bound, reference.draw_prices())
    np.testing.assert_array_equal(table.sum_pairs(exponent), plain)
    assert (table.sum_leaves() != plain).any()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_classes", [3, 13])
def test_threads_and_vectors_change_no_bits(kind, n_classes):
    def results(n_threads, *, wide):
        _core.allow_wide_vectors(wide)
        try:
            reference = Reference(kind, n_classes, weighted=True, n_samples=20_000)
            table = reference.table(n_threads)
            leaves, growth, shrink = reference.draw_round(one_hot=False)
            table.set_predicted(leaves)
            sums, largest = table.add(growth, shrink, reference.loss_exponent())
            updated = table.update(None, None, 3 * largest, reference.draw_prices())
            return sums.tolist(), largest, updated, table.sum_pairs(updated[0]).tolist()
        finally:
            _core.allow_wide_vectors(True)

    first = results(1, wide=True)
    for n_threads in (1, 2, 3, 7):
        assert results(n_threads, wide=False) == first
        assert results(n_threads, wide=True) == first


@pytest.mark.parametrize("kind", KINDS)
def test_rounds_of_sparse_rows_are_those_of_binned_rows(kind):
    reference = Reference(kind, 3, weighted=True)
    n_samples = len(reference.labels)
    edges, edge_starts, kinds = np.array([0.5, 0.5]), np.array([0, 1, 2]), np.zeros(2, dtype=KIND)
    codes = (np.random.default_rng(0).random((2, n_samples)) < 0.2).astype(np.uint8)
    rows = [np.flatnonzero(column).astype(np.uint32) for column in codes]
    entries, starts = np.concatenate(rows), np.array([0, len(rows[0]), len(rows[0]) + len(rows[1])])
    sparse_codes = _core.SparseCodes(
        starts, entries, np.ones(len(entries)), n_samples, np.zeros(2), edges, edge_starts, kinds, 1
    )
    bins, rules = BinMapper(edges, edge_starts, kinds), TreeRules(2, "gini", 1, 0.0, 2, 0, one_class=False)
    growers = [make_grower(bins, 3, rules) for _ in range(2)]
    samples = reference.labels, reference.weights, *reference.loss
    both = (
        _core.BinnedRows(*samples, growers[0], codes, 2**20, 1.0, 2**19, 2),
        _core.SparseRows(*samples, growers[1], sparse_codes, 1),
    )
    prices = reference.draw_prices()
    results = []
    for table in both:
        _, start = table.add(None, None, 40)
        costs = table.next_round(None, None, 3 * start, True, prices)
        assert costs[3:] == (None, None)
        table.grow(0, 0.0)
        covers = table.covers()
        values = np.linspace(-1.0, 1.0, 3 * len(covers)).reshape(-1, 3)
        pairs = table.sum_pairs(costs[0])
        sums, largest = table.add(np.exp(values), np.exp(-values), 40)
        np.testing.assert_array_equal(table.covers(), covers)
        following = table.next_round(None, None, 3 * largest, True, prices)
        results.append((costs[:3], pairs.tolist(), sums.tolist(), largest, following[:3], covers.tolist()))
    assert results[0] == results[1]
    assert len(results[0][-1]) == 4


def draw_leaves(n_leaves=7, n_classes=4):
    rng = np.random.default_rng(1)
    pairs = rng.integers(0, 2**40, (n_leaves, n_classes, n_classes)) * (1 - np.eye(n_classes, dtype=np.int64))
    return pairs, rng.normal(size=(n_leaves, n_classes)), rng.uniform(0.0, 2.0, (n_classes, n_classes))


def test_leaves_are_balanced_at_their_prices():
    pairs, _, prices = draw_leaves()
    scaled = np.rint(prices * 16).astype(np.int64)
    costs, square = pairs.sum(axis=1) - pairs.sum(axis=2), np.zeros((4, 4))
    smoothing = 2.0**30 * (1.0 - np.eye(4))
    priced = _core.balance_leaves(pairs, None, costs, smoothing, square, 0, 0.5, 1, scaled.astype(float))
    plain = _core.balance_leaves(pairs * scaled, None, costs, smoothing, square, 0, 0.5, 1)
    for left, right in zip(priced[:3], plain[:3], strict=True):
        np.testing.assert_array_equal(left, right)
    assert priced[3:] == plain[3:]


@pytest.mark.parametrize("step", [0.0, 0.3, 1.0])
def test_forecast_is_the_sum_of_the_leaves_after_a_step(step):
    pairs, values, _ = draw_leaves()
    difference = values[:, np.newaxis, :] - values[:, :, np.newaxis]
    grown = pairs * np.exp(step * difference)
    value, slope = _core.forecast(pairs, values, step)
    np.testing.assert_allclose(value, grown.sum(axis=0), rtol=FLOAT_ERROR)
    np.testing.assert_allclose(slope, (grown * difference).sum(axis=0), rtol=1e-12, atol=2.0**40 * FLOAT_ERROR)


def test_arrays_that_do_not_fit_are_refused():
    pair, log = Reference("logistic", 3).table(), Reference("log", 3).table()
    square, row = np.ones((3, 3)), np.ones(3)
    for table, prices in ((pair, row), (pair, np.ones((2, 2))), (pair, np.ones((3, 3, 1))), (log, square)):
        for change in (table.update, table.quantise):
            with pytest.raises(ValueError, match="prices must be"):
                change(None, None, 1, prices)
    with pytest.raises(ValueError, match="no leaves"):
        pair.sum_pairs(0)
    with pytest.raises(ValueError, match="no leaves"):
        pair.add(row, row, 0)
    with pytest.raises(ValueError, match="tops"):
        _core.CostTable(np.zeros(1, dtype=np.uint16), None, square, row, 0, True, 1)
    pairs, values, prices = draw_leaves()
    with pytest.raises(ValueError, match="pairs must be"):
        _core.forecast(pairs, values[1:], 1.0)
    costs = pairs.sum(axis=1)
    with pytest.raises(ValueError, match="prices must be"):
        _core.balance_leaves(pairs, None, costs, prices, prices, 0, 1.0, 1, square)
    with pytest.raises(ValueError, match="only pairs"):
        _core.balance_leaves(None, costs, costs, prices, prices, 0, 1.0, 1, prices)
