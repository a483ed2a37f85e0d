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
    log_loss : float or None
        L, if it is the log-loss: it is not a multiple of Λ.
    covers : ndarray of shape (n_leaves,) or None
        What the samples in every leaf of the last round's tree weigh.
    """

    exponent: int
    loss: int
    largest: float
    log_loss: float | None = None
    covers: Sums | None = None

    @property
    def real_loss(self) -> float:
        """L, as a number."""
        return math.ldexp(float(self.loss), -self.exponent) if self.log_loss is None else self.log_loss


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


class Rows(Protocol):
    """What boosting calls on samples; the hypotheses are those of one kind of weak learner."""

    def update(self, hypothesis: Any, factors: LeafFactors | None, bound: float, *, with_root: bool) -> Costs:
        """Add the last round, quantise the costs, and start a new tree.

        Parameters
        ----------
        hypothesis, factors : Tree or ndarray, LeafFactors; or None
            The last round; None before the first.
        bound : float
            No sample's loss per unit of weight is above this.
        with_root : bool
            Whether another tree will grow.
        """

    def sum_losses(self, hypothesis: Any) -> Sums:
        """Sum up the losses of every leaf by true class, (n_leaves, K)."""

    def confusion(self, predictor: Any) -> Sums:
        """Sum up the weights by (true class, predicted class), (K, K)."""


class TreeRows(Rows, Protocol):
    """What growing trees calls, too."""

    def grow(self, round_idx: int, smoothing: float) -> Learned:
        """Grow a tree on the costs; ``smoothing``, in their units, is added to the losses that gains are divided by."""

    def balance(self, learned: Learned, smoothing: Smoothing, exponent: int, learning_rate: float) -> Balanced:
        """Find leaf values, after which every class of a leaf is confused with others as often as others with it."""


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


class PredictedRows:
    """Samples in this process's memory for which other weak learners than trees predict classes; see `Rows`."""

    def __init__(self, labels: Labels, weights: Weights | None, loss: Loss, n_threads: int) -> None:
        self._native = _core.CostTable(labels, weights, *loss, n_threads)

    def update(self, hypothesis: Labels | None, factors: LeafFactors | None, bound: float, *, with_root: bool) -> Costs:
        """Add the last round and quantise the costs."""
        if hypothesis is None or factors is None:
            return Costs(*self._native.update(None, None, bound))
        self._native.set_predicted(hypothesis)
        return Costs(*self._native.update(factors.growth, factors.shrink, bound))

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
        self._by_pairs = len(loss.unit) <= MAX_PAIRED
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

    def grow(self, round_idx: int, smoothing: float) -> Learned:
        """Grow a tree on the costs."""
        nodes, sets, advantage, leaf_costs, gains = self._native.grow(round_idx, smoothing)
        self._nodes = nodes
        return Learned(Tree(nodes, sets), advantage, leaf_costs, gains)

    def balance(self, learned: Learned, smoothing: Smoothing, exponent: int, learning_rate: float) -> Balanced:
        """Find leaf values that balance the leaves of the tree just grown."""
        values, growth, shrink, largest, remaining = self._native.leaf_values(
            smoothing.unit, smoothing.hidden, exponent, learning_rate, self._by_pairs
        )
        return Balanced(values, LeafFactors(growth, shrink, largest), remaining)

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
        self, hypothesis: Tree | None, factors: LeafFactors | None, exponent: int
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
            return *self._native.quantise(None, None, exponent), None
        self._enter(hypothesis)
        return *self._native.quantise(factors.growth, factors.shrink, exponent), self._native.covers()

    def start_tree(self) -> None:
        """Put all samples into the root again."""
        self._nodes = None
        self._native.start_tree(False)

    def sum_pairs(self, tree: Tree) -> Sums:
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
