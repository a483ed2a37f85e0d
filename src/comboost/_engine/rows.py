"""The seam between boosting and the samples, wherever these are.

In: codes, labels, weights. Out: sums over samples, all of them integers.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from comboost import _core
from comboost._engine.binning import BinMapper
from comboost._engine.forest import Forest, Tree
from comboost._engine.losses import Loss
from comboost._types import LABEL, MAX_PAIRED, MAX_ROWS, Codes, Floats, Labels, LeafValueArray, Sums, Weights

HISTOGRAM_BUDGET = 2**28  # bytes for the histograms of a level; a wider level is searched in parts
SMALL_SHARE = 1.0  # a node with fewer samples than this times the bins of a feature is searched by its samples
PACKED_BYTES = 2**19  # of a node's records that a thread copies together; larger nodes are counted by all threads

#: h_t: a tree, or the class that another weak learner predicts for every sample. It sends every sample to a leaf; of
#: predicted classes, each is a leaf.
Hypothesis = Tree | Labels


class Costs(NamedTuple):
    """The costs D of the next round, as far as boosting sees them.

    Attributes
    ----------
    exponent : int
        Sums are in units of 2^-exponent.
    loss : int
        Λ, the summed loss.
    largest : float
        r, the largest loss of a sample per unit of weight, not scaled.
    objective : float or None
        What boosting minimises, if it is not a multiple of Λ: the log-loss, or the norm of the losses.
    covers : ndarray of shape (n_leaves,) or None
        What the samples in every leaf of the last round's tree weigh.
    losses, prices : ndarray of float64, or None
        With a norm: the losses whose norm it is, and what the costs are multiplied by; see `Objective`.
    """

    exponent: int
    loss: int
    largest: float
    objective: float | None = None
    covers: Sums | None = None
    losses: Floats | None = None
    prices: Floats | None = None

    @property
    def real_loss(self) -> float:
        """L, as a number."""
        return math.ldexp(float(self.loss), -self.exponent) if self.objective is None else self.objective


class LossSums(NamedTuple):
    """The losses of all samples.

    Attributes
    ----------
    losses : ndarray of float64
        A, (K, K): by true class and class that it is confused with. With the log-loss, r, (K,): by true class.
    largest : float
        The largest cost of a sample per unit of weight, not multiplied by prices.
    covers : ndarray of shape (n_leaves,) or None
        What the samples in every leaf of the last round's tree weigh.
    """

    losses: Floats
    largest: float
    covers: Sums | None = None

    @classmethod
    def of(cls, sums: Sums, largest: float, exponent: int, covers: Sums | None = None) -> "LossSums":
        """Read exact sums, ``sums[0]``·2³² + ``sums[1]``, in units of 2^-exponent."""
        high, low = sums[0] + (sums[1] >> 32), sums[1] & (2**32 - 1)
        return cls(np.ldexp(np.ldexp(high.astype(np.float64), 32) + low, -exponent), largest, covers)


class Learned(NamedTuple):
    """What a weak learner has learned.

    Attributes
    ----------
    hypothesis : Tree or ndarray of uint16
        h_t.
    advantage : int
        A = −Σ_i D(i,h(i)), in the units of the round.
    leaf_costs : ndarray of int64, (n_leaves, K), or None
        D of every class in every leaf of a tree.
    gains : ndarray of float64, (n_splits,), or None
        Of the cost that all splits of a tree save, the fraction of each, in the order of the nodes.
    """

    hypothesis: Hypothesis
    advantage: int
    leaf_costs: Sums | None = None
    gains: Floats | None = None


class LeafFactors(NamedTuple):
    """What a round multiplies the excess by: growth(q,j)·shrink(q,y_i) for sample i in leaf q.

    Attributes
    ----------
    growth, shrink : ndarray of float64
        exp(v) and exp(−v) of the leaf values v, (n_leaves, K); one number each, e^α and e^-α, if a leaf has the value
        α·onehot(its class).
    largest : float
        The excess of no sample grows by more than this.
    """

    growth: Floats
    shrink: Floats
    largest: float


class Smoothing(NamedTuple):
    """What is added to the costs of every pair of classes in a leaf, (K, K) each.

    Attributes
    ----------
    unit : ndarray of float64
        The costs that smoothing adds.
    hidden : ndarray of float64
        The least that is added: what rounding may hide, in units of any round.
    """

    unit: Floats
    hidden: Floats


class Balanced(NamedTuple):
    """Leaf values that balance the leaves: these, their factors, and the cost that they leave at most."""

    values: LeafValueArray
    factors: LeafFactors
    remaining: float

    @classmethod
    def of(cls, values: LeafValueArray, growth: Floats, shrink: Floats, largest: float, remaining: float) -> "Balanced":
        """Read what the core returns."""
        return cls(values, LeafFactors(growth, shrink, largest), remaining)


class Rows(Protocol):
    """What boosting calls on samples; the hypotheses are those of one kind of weak learner."""

    def update(self, hypothesis: Any, factors: LeafFactors | None, bound: float, *, with_root: bool) -> Costs:
        """Add the last round, quantise the costs, and start a new tree.

        Parameters
        ----------
        hypothesis, factors : Tree or ndarray, LeafFactors; or None
            The last round; None if there is none to add.
        bound : float
            No sample's loss per unit of weight is above this.
        with_root : bool
            Whether another tree will grow.
        """

    def add(self, hypothesis: Any, factors: LeafFactors | None, bound: float) -> LossSums:
        """Add the last round, and sum up the losses; `price` follows."""

    def price(self, prices: Floats, bound: float, *, with_root: bool) -> Costs:
        """Quantise the costs, each multiplied by its price, and start a new tree.

        Prices are (K, K), or (K,) with the log-loss; no priced cost of a sample per unit of weight is above ``bound``.
        """

    def sum_losses(self, hypothesis: Any) -> Sums:
        """Sum up the losses of every leaf by true class, (n_leaves, K)."""

    def sum_pairs(self, hypothesis: Any, exponent: int) -> Sums:
        """Sum up the costs, without prices, of every leaf by (true class, class), in units of 2^-exponent."""

    def confusion(self, predictor: Any) -> Sums:
        """Sum up the weights by (true class, predicted class), (K, K)."""


class TreeRows(Rows, Protocol):
    """What growing trees calls, too."""

    def grow(self, round_idx: int, smoothing: float) -> Learned:
        """Grow a tree on the costs; ``smoothing``, in their units, is added to the losses that gains are divided by."""

    def balance(self, learned: Learned, smoothing: Smoothing, exponent: int, learning_rate: float) -> Balanced:
        """Find leaf values, after which every class of a leaf is confused with others as often as others with it."""

    def balance_priced(
        self, learned: Learned, pairs: Sums, prices: Floats, smoothing: Smoothing, exponent: int
    ) -> Balanced:
        """Do the same, with a learning rate of 1, for the costs of `sum_pairs`, each multiplied by its price."""


@dataclass(frozen=True)
class TreeRules:
    """How a tree may grow; see the estimators' parameters."""

    max_depth: int | None
    criterion: str
    min_samples_leaf: int
    min_weight_fraction_leaf: float
    max_features: int
    seed: int
    max_leaf_nodes: int | None = None
    smoothing: float = 0.0  # loss that is added to a leaf's, when the criterion divides by it
    max_thresholds: int | None = None
    noise: float = 0.0
    one_class: bool = True  # whether a leaf predicts one class, or has a value for every class


def make_grower(bins: BinMapper, n_classes: int, rules: TreeRules) -> _core.Grower:
    """What grows a tree on such bins."""
    return _core.Grower(
        bins.bin_offsets,
        bins.kinds,
        bins.flat_edges,
        bins.edge_starts,
        n_classes,
        by_cost=rules.criterion == "cost",
        min_samples_leaf=rules.min_samples_leaf,
        min_weight_fraction_leaf=rules.min_weight_fraction_leaf,
        max_features=rules.max_features,
        seed=rules.seed,
        max_thresholds=rules.max_thresholds or 0,
        noise=rules.noise,
        max_depth=None if rules.max_depth is None else min(int(rules.max_depth), MAX_ROWS),
        max_leaf_nodes=None if rules.max_leaf_nodes is None else min(int(rules.max_leaf_nodes), MAX_ROWS),
        numbers_leaves=not rules.one_class,
    )


def balance_priced(
    learned: Learned, pairs: Sums, prices: Floats, smoothing: Smoothing, exponent: int, n_threads: int
) -> Balanced:
    """Find leaf values that balance the costs of the leaves, each multiplied by its price."""
    assert learned.leaf_costs is not None
    return Balanced.of(
        *_core.balance_leaves(pairs, None, learned.leaf_costs, *smoothing, exponent, 1.0, n_threads, prices)
    )


def sum_up(native: Any, loss: Loss, bound: float, factors: LeafFactors | None = None) -> LossSums:
    """Add a round, if there is one, and sum up the losses; in two passes, if the bound is far above all costs."""
    exponent = loss.sum_exponent(bound)
    growth, shrink = (None, None) if factors is None else factors[:2]
    sums, largest = native.add(growth, shrink, exponent)
    finer = loss.finer_exponent(exponent, largest)
    if finer is not None:
        exponent = finer
        sums, largest = native.add(None, None, exponent)
    return LossSums.of(sums, largest, exponent)


class PredictedRows:
    """Samples in this process's memory for which other weak learners than trees predict classes; see `Rows`."""

    def __init__(self, labels: Labels, weights: Weights | None, loss: Loss, n_threads: int) -> None:
        self._native = _core.CostTable(labels, weights, *loss, n_threads)
        self._loss = loss

    def update(self, hypothesis: Labels | None, factors: LeafFactors | None, bound: float, *, with_root: bool) -> Costs:
        """Add the last round and quantise the costs."""
        if hypothesis is None or factors is None:
            return Costs(*self._native.update(None, None, bound))
        self._native.set_predicted(hypothesis)
        return Costs(*self._native.update(factors.growth, factors.shrink, bound))

    def price(self, prices: Floats, bound: float, *, with_root: bool) -> Costs:
        """Quantise the costs, each multiplied by its price."""
        return Costs(*self._native.update(None, None, bound, prices))

    def add(self, hypothesis: Labels | None, factors: LeafFactors | None, bound: float) -> LossSums:
        """Add the last round, and sum up the losses."""
        if hypothesis is None or factors is None:
            return sum_up(self._native, self._loss, bound)
        self._native.set_predicted(hypothesis)
        return sum_up(self._native, self._loss, bound, factors)

    def sum_pairs(self, hypothesis: Labels, exponent: int) -> Sums:
        """Sum up the costs by (predicted class, true class, class), (K, K, K)."""
        self._native.set_predicted(hypothesis)
        return self._native.sum_pairs(exponent)

    def sum_losses(self, hypothesis: Labels) -> Sums:
        """Sum up the losses by (predicted class, true class), (K, K)."""
        self._native.set_predicted(hypothesis)
        return self._native.sum_leaf_losses()

    def confusion(self, predictor: Labels) -> Sums:
        """Sum up the weights by (true class, predicted class), (K, K)."""
        return self._native.confusion(predictor)

    def advantage(self, hypothesis: Labels) -> int:
        """A = −Σ_i D(i,h(i))."""
        self._native.set_predicted(hypothesis)
        return self._native.advantage

    def sample_losses(self) -> Floats:
        """−D(i,y_i) of every sample, in units of the round: the sample weights of a weak learner."""
        return self._native.row_losses()


class MemoryRows:
    """Samples in this process's memory that trees grow on; see `TreeRows`.

    Parameters
    ----------
    labels : ndarray of uint16
        The class index of every sample.
    weights : ndarray of uint32 or None
        Integer weights; None if every sample weighs 1.
    loss : Loss
        The loss.
    codes : ndarray of uint8, (n_features, n_samples), or SparseCodes
        The binned values.
    grower : Grower
        Grows the trees.
    n_threads : int
        Threads of every kernel.
    """

    def __init__(
        self,
        labels: Labels,
        weights: Weights | None,
        loss: Loss,
        codes: Codes | _core.SparseCodes,
        grower: _core.Grower,
        n_threads: int,
    ) -> None:
        self._native: _core.BinnedRows | _core.SparseRows
        if isinstance(codes, _core.SparseCodes):
            self._native = _core.SparseRows(labels, weights, *loss, grower, codes, n_threads)
        else:
            limits = HISTOGRAM_BUDGET, SMALL_SHARE, PACKED_BYTES
            self._native = _core.BinnedRows(labels, weights, *loss, grower, codes, *limits, n_threads)
        self._loss = loss
        self._codes = codes
        self._n_threads = n_threads
        self._nodes: object = None  # of the tree whose leaves the core knows

    def update(self, hypothesis: Tree | None, factors: LeafFactors | None, bound: float, *, with_root: bool) -> Costs:
        """Add the last round, quantise the costs, and start a new tree."""
        if hypothesis is None or factors is None:
            return Costs(*self._native.next_round(None, None, bound, with_root))
        if self._nodes is not hypothesis.nodes:
            self._enter(hypothesis)
        costs = Costs(*self._native.next_round(factors.growth, factors.shrink, bound, with_root))
        self._nodes = None
        return costs

    def price(self, prices: Floats, bound: float, *, with_root: bool) -> Costs:
        """Quantise the costs, each multiplied by its price, and start a new tree."""
        self._nodes = None
        return Costs(*self._native.next_round(None, None, bound, with_root, prices))

    def add(self, hypothesis: Tree | None, factors: LeafFactors | None, bound: float) -> LossSums:
        """Add the last round, and sum up the losses."""
        if hypothesis is None or factors is None:
            return sum_up(self._native, self._loss, bound)
        if self._nodes is not hypothesis.nodes:
            self._enter(hypothesis)
        return sum_up(self._native, self._loss, bound, factors)._replace(covers=self._native.covers())

    def grow(self, round_idx: int, smoothing: float) -> Learned:
        """Grow a tree on the costs."""
        nodes, sets, advantage, leaf_costs, gains = self._native.grow(round_idx, smoothing)
        self._nodes = nodes
        return Learned(Tree(nodes, sets), advantage, leaf_costs, gains)

    def balance(self, learned: Learned, smoothing: Smoothing, exponent: int, learning_rate: float) -> Balanced:
        """Find leaf values that balance the leaves of the tree just grown."""
        by_pairs = len(self._loss.unit) <= MAX_PAIRED
        return Balanced.of(*self._native.leaf_values(*smoothing, exponent, learning_rate, by_pairs))

    def balance_priced(
        self, learned: Learned, pairs: Sums, prices: Floats, smoothing: Smoothing, exponent: int
    ) -> Balanced:
        """Do the same for costs that are multiplied by prices."""
        return balance_priced(learned, pairs, prices, smoothing, exponent, self._n_threads)

    def sum_pairs(self, hypothesis: Tree, exponent: int) -> Sums:
        """Sum up the costs, without prices, of every leaf by (true class, class), (n_leaves, K, K)."""
        if self._nodes is not hypothesis.nodes:
            self._enter(hypothesis)
        return self._native.sum_pairs(exponent)

    def sum_losses(self, hypothesis: Tree) -> Sums:
        """Sum up the losses of every leaf by true class, (n_leaves, K)."""
        if self._nodes is not hypothesis.nodes:
            self._enter(hypothesis)
        return self._native.sum_leaf_losses()

    def confusion(self, predictor: Forest | Tree) -> Sums:
        """Sum up the weights by (true class, predicted class), (K, K)."""
        if isinstance(predictor, Tree):
            return self._native.confusion(self.predict(predictor))
        if isinstance(self._codes, np.ndarray):
            predicted = np.empty(self._codes.shape[1], dtype=LABEL)
            predictor.predict_classes(self._codes, self._n_threads, predicted)
            return self._native.confusion(predicted)
        scores = np.zeros((self._codes.n_rows, predictor.n_classes))
        self._native.start_tree(False)  # the last tree may have divided the samples and not been kept
        for t, weight in enumerate(predictor.weights.tolist()):
            tree = predictor.tree(t)
            if tree.leaf_values is None:
                scores[np.arange(len(scores)), self.predict(tree)] += weight
            else:
                self._enter(tree)
                scores += tree.leaf_values[self._native.leaves()]
        return self._native.confusion(scores.argmax(axis=1).astype(LABEL))

    def predict(self, tree: Tree) -> Labels:
        """The class that a tree predicts for every sample."""
        self._enter(tree)
        classes: Labels = tree.leaf_classes[self._native.leaves()]
        return classes

    def _enter(self, tree: Tree) -> None:
        """Send the samples to the leaves of a tree."""
        self._native.find_leaves(tree.node_bytes, tree.sets)
        self._nodes = tree.nodes


class ShardRows(MemoryRows):
    """Samples of one shard, whose trees grow elsewhere: nodes are divided and counted on request.

    Nodes are numbered as the tree's: the children of a level's k-th split are the level's new nodes 2k and 2k + 1.
    """

    _native: _core.BinnedRows

    def __init__(
        self,
        labels: Labels,
        weights: Weights | None,
        loss: Loss,
        codes: Codes,
        grower: _core.Grower,
        n_threads: int,
    ) -> None:
        super().__init__(labels, weights, loss, codes, grower, n_threads)
        self._histogram_shape = grower.n_bins, grower.n_channels

    def quantise(
        self, hypothesis: Tree | None, factors: LeafFactors | None, exponent: int, prices: Floats | None = None
    ) -> tuple[int, float, int, Sums | None]:
        """Add a round and quantise the costs to units of 2^-exponent.

        Returns
        -------
        loss, largest, log_loss
            In these units; the log-loss in units of its own, 0 if it is not the loss.
        covers
            What the samples in every leaf of the tree weigh, if there is one.
        """
        if hypothesis is None or factors is None:
            return *self._native.quantise(None, None, exponent, prices), None
        self._enter(hypothesis)
        return *self._native.quantise(factors.growth, factors.shrink, exponent, prices), self._native.covers()

    def add_to(
        self, hypothesis: Tree | None, factors: LeafFactors | None, exponent: int
    ) -> tuple[Sums, float, Sums | None]:
        """Add a round, and sum up the losses in units of 2^-exponent; see `LossSums`."""
        if hypothesis is None or factors is None:
            return *self._native.add(None, None, exponent), None
        self._enter(hypothesis)
        return *self._native.add(factors.growth, factors.shrink, exponent), self._native.covers()

    def start_tree(self) -> None:
        """Put all samples into the root again."""
        self._nodes = None
        self._native.start_tree(False)

    def sum_leaves(self, tree: Tree) -> Sums:
        """Sum up the costs of every leaf by (true class, class), (n_leaves, K, K)."""
        self._enter(tree)
        return self._native.sum_leaves()

    def split(self, splits: NDArray[np.int32]) -> NDArray[np.int32]:
        """Apply splits: the smaller child of each."""
        return self._native.split(splits)

    def count(self, nodes: NDArray[np.int32]) -> Sums:
        """Count the histograms of these nodes."""
        histograms = np.empty((len(nodes), *self._histogram_shape), dtype=np.int64)
        self._native.count(nodes, histograms)
        return histograms
