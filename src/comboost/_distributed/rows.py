"""Samples in shards, with the interface that boosting uses. Each method runs steps on all shards."""

import math
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from comboost import _core
from comboost._distributed.steps import (
    AddStep,
    ConfusionStep,
    CountStep,
    DivideStep,
    ResultT,
    SplitStep,
    Step,
    SumLeavesStep,
    SumPairsStep,
    UpdateStep,
)
from comboost._engine.forest import Forest, Tree
from comboost._engine.losses import Loss, exponent_below, in_order
from comboost._engine.rows import (
    HISTOGRAM_BUDGET,
    Balanced,
    Costs,
    LeafFactors,
    Learned,
    LossSums,
    Smoothing,
    TreeRules,
    balance_priced,
)
from comboost._types import COARSE_BITS, MAX_PAIRED, Floats, Sums


class Shards(Protocol):
    """The shards that hold the samples."""

    def run(self, step: Step[ResultT]) -> ResultT:
        """Run a step on all shards and add up the results."""

    def close(self) -> None:
        """Release the samples."""


def without_values(tree: Tree | None) -> Tree | None:
    """A tree as steps need it, beside the factors of its leaf values."""
    return None if tree is None else tree._replace(leaf_values=None)


class DistributedRows:
    """Samples in shards on which trees are grown; see `TreeRows`.

    Every method makes one round trip to the shards, with two exceptions. `update` makes two if the costs must be
    quantised again. `grow` makes one for every level, or for every split of a tree that grows best-first.
    """

    def __init__(self, shards: Shards, loss: Loss, grower: _core.Grower, rules: TreeRules, n_threads: int) -> None:
        self._shards = shards
        self._loss = loss
        self._grower = grower
        self._rules = rules
        self._n_threads = n_threads
        self._root: Sums | None = None  # the histogram of all samples
        self._n_nodes = 1

    def update(self, hypothesis: Tree | None, factors: LeafFactors | None, bound: float, *, with_root: bool) -> Costs:
        """Add the last round, quantise the costs, and start a new tree."""
        tops = self._loss.tops
        if tops is not None:
            bound = min(bound, float(tops.max()))
        costs, log_loss = self._quantise(without_values(hypothesis), factors, bound, with_root, None)
        if tops is None:
            return costs
        return costs._replace(objective=math.ldexp(float(log_loss), -self._loss.log_exponent))

    def add(self, hypothesis: Tree | None, factors: LeafFactors | None, bound: float) -> LossSums:
        """Add the last round, and sum up the losses."""
        exponent = self._loss.sum_exponent(bound)
        result = self._shards.run(AddStep(without_values(hypothesis), factors, exponent))
        finer = self._loss.finer_exponent(exponent, result.largest)
        if finer is not None:
            exponent = finer
            result = self._shards.run(AddStep(None, None, exponent))._replace(covers=result.covers)
        return LossSums.of(result.sums, result.largest, exponent, result.covers)

    def price(self, prices: Floats, bound: float, *, with_root: bool) -> Costs:
        """Quantise the costs, each multiplied by its price, and start a new tree."""
        unit, tops, _, is_logistic = self._loss
        if tops is not None:
            bound = min(bound, float((tops * prices).max()))
        elif is_logistic:
            bound = min(bound, float(in_order(unit * prices).max()))
        return self._quantise(None, None, bound, with_root, prices)[0]

    def _quantise(
        self, tree: Tree | None, factors: LeafFactors | None, bound: float, with_root: bool, prices: Floats | None
    ) -> tuple[Costs, int]:
        """Quantise the costs, and start a new tree; the log-loss is in units of its own."""
        n_classes = len(self._loss.unit)
        exponent = exponent_below(bound, n_classes)
        result = self._shards.run(UpdateStep(tree, factors, exponent, with_root, prices))
        if result.largest < 2**COARSE_BITS:
            # Nearly all samples are predicted correctly, so the costs are too coarse.
            exponent = exponent_below(math.ldexp(result.largest, -exponent), n_classes)
            finer = self._shards.run(UpdateStep(None, None, exponent, with_root, prices))
            result = finer._replace(covers=result.covers)
        self._root, self._n_nodes = result.root, 1
        costs = Costs(exponent, result.loss, math.ldexp(result.largest, -exponent), covers=result.covers)
        return costs, result.log_loss

    def grow(self, round_idx: int, smoothing: float) -> Learned:
        """Grow a tree on the costs."""
        assert self._root is not None
        grower = self._grower
        grower.plant(np.add.reduce(self._root[0, : grower.n_first_bins]), round_idx, smoothing)
        if self._rules.max_leaf_nodes is None:
            self._grow_levels()
        else:
            self._grow_best_first(self._rules.max_leaf_nodes)
        grower.finish()
        tree = Tree(grower.nodes(), grower.sets())
        return Learned(tree, grower.advantage, grower.leaf_costs(), grower.gain_fractions())

    def balance(self, learned: Learned, smoothing: Smoothing, exponent: int, learning_rate: float) -> Balanced:
        """Find leaf values that balance the leaves of a tree."""
        assert isinstance(learned.hypothesis, Tree)
        assert learned.leaf_costs is not None
        by_pairs = len(self._loss.unit) <= MAX_PAIRED
        sums = self._shards.run(SumLeavesStep(learned.hypothesis, by_pairs))
        pairs, losses = (sums, None) if by_pairs else (None, sums)
        return Balanced.of(
            *_core.balance_leaves(
                pairs, losses, learned.leaf_costs, *smoothing, exponent, learning_rate, self._n_threads
            )
        )

    def balance_priced(
        self, learned: Learned, pairs: Sums, prices: Floats, smoothing: Smoothing, exponent: int
    ) -> Balanced:
        """Do the same for costs that are multiplied by prices."""
        return balance_priced(learned, pairs, prices, smoothing, exponent, self._n_threads)

    def sum_pairs(self, hypothesis: Tree, exponent: int) -> Sums:
        """Sum up the costs, without prices, of every leaf by (true class, class), (n_leaves, K, K)."""
        return self._shards.run(SumPairsStep(hypothesis, exponent))

    def sum_losses(self, hypothesis: Tree) -> Sums:
        """Sum up the losses of every leaf by true class, (n_leaves, K)."""
        return self._shards.run(SumLeavesStep(hypothesis, False))

    def confusion(self, predictor: Forest | Tree) -> Sums:
        """Sum up the weights by (true class, predicted class), (K, K)."""
        return self._shards.run(ConfusionStep(predictor))

    def close(self) -> None:
        """Release the samples in the shards."""
        self._shards.close()

    def _grow_levels(self) -> None:
        """Split all nodes of a level, level by level."""
        histograms, depth = self._root, 0
        while True:
            self._search(histograms)
            splits = self._grower.branch()
            depth += 1
            if len(splits) == 0 or depth == self._rules.max_depth:
                return
            histograms = self._descend(histograms, splits)

    def _grow_best_first(self, max_leaf_nodes: int) -> None:
        """Split the leaf with the highest gain until there are enough leaves."""
        assert self._root is not None
        depths, open_leaves = [0], {0: self._root}  # and their histograms, as far as memory suffices
        self._search(self._root)
        for _ in range(2, max_leaf_nodes + 1):
            splits = self._grower.branch_best()
            if len(splits) == 0 or len(depths) // 2 + 2 == max_leaf_nodes:
                return
            parent, first = int(splits[0, 0]), len(depths)
            depths += 2 * [depths[parent] + 1]
            histograms = open_leaves.pop(parent, None)
            if depths[-1] == self._rules.max_depth:
                self._descend(None, splits)
                continue
            children = self._descend(histograms, splits)
            self._search(children)
            if children is not None and (len(open_leaves) + 2) * self._root.nbytes <= HISTOGRAM_BUDGET:
                open_leaves.update({first: children[:1], first + 1: children[1:]})

    def _search(self, histograms: Sums | None) -> None:
        """Search the frontier for splits. Histograms that are not given are counted, a part of the nodes at a time."""
        if histograms is not None:
            self._grower.search(0, histograms, self._n_threads)
            return
        assert self._root is not None
        begin, size = self._grower.frontier_begin, self._grower.frontier_size
        step = max(1, HISTOGRAM_BUDGET // self._root.nbytes)
        for first in range(0, size, step):
            nodes = np.arange(begin + first, begin + min(size, first + step), dtype=np.int32)
            self._grower.search(first, self._shards.run(CountStep(nodes)), self._n_threads)

    def _descend(self, histograms: Sums | None, splits: NDArray[np.int32]) -> Sums | None:
        """Apply splits and return the histograms of the new frontier; None if they would take too much memory."""
        assert self._root is not None
        lefts = self._n_nodes + 2 * np.arange(len(splits), dtype=np.int32)
        self._n_nodes += 2 * len(splits)
        if histograms is None or 2 * len(splits) * self._root.nbytes > HISTOGRAM_BUDGET:
            self._shards.run(DivideStep(splits))
            return None
        counted = self._shards.run(SplitStep(splits))
        children = np.empty((2 * len(splits), *self._root.shape[1:]), dtype=np.int64)
        self._grower.derive(histograms, counted, lefts, self._n_threads, children)
        return children
