"""Samples in shards, as boosting sees them. In: its questions. Out: sums over all samples."""

import math
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from comboost import _core
from comboost._distributed.steps import (
    AnswerT,
    ConfusionStep,
    CountStep,
    DivideStep,
    SplitStep,
    Step,
    SumLeavesStep,
    UpdateStep,
)
from comboost._engine.forest import Forest, Tree
from comboost._engine.losses import Loss, exponent_below
from comboost._engine.rows import (
    HISTOGRAM_BUDGET,
    Balanced,
    Costs,
    LeafFactors,
    Learned,
    Smoothing,
    TreeRules,
)
from comboost._types import COARSE_BITS, MAX_PAIRED, Sums


class Shards(Protocol):
    """The shards that hold the samples."""

    def ask(self, step: Step[AnswerT]) -> AnswerT:
        """Take a step in all shards: their answers, added up."""

    def close(self) -> None:
        """Release the samples."""


class DistributedRows:
    """Samples in shards, on which trees grow; see `TreeRows`.

    Every question is one trip to the shards and back, but `update` two if the costs must be quantised once more, and
    `grow` one for every level, or for every split of a tree that grows the best leaf first.

    Parameters
    ----------
    shards : Shards
        The shards that hold the samples.
    loss : Loss
        The loss, which they know.
    grower : Grower
        Grows the trees from the histograms of the shards.
    rules : TreeRules
        How a tree may grow.
    n_threads : int
        Threads of the search for splits.
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
        unit, tops, log_exponent = self._loss
        if tops is not None:
            bound = min(bound, float(tops.max()))
        tree = None if hypothesis is None else hypothesis._replace(leaf_values=None)  # the factors say what these do
        exponent = exponent_below(bound, len(unit))
        answer = self._shards.ask(UpdateStep(tree, factors, exponent, with_root))
        if answer.largest < 2**COARSE_BITS:
            # Nearly every sample was right, so the costs are too coarse.
            exponent = exponent_below(math.ldexp(answer.largest, -exponent), len(unit))
            finer = self._shards.ask(UpdateStep(None, None, exponent, with_root))
            answer = finer._replace(covers=answer.covers)
        self._root, self._n_nodes = answer.root, 1
        log_loss = None if tops is None else math.ldexp(float(answer.log_loss), -log_exponent)
        return Costs(exponent, answer.loss, math.ldexp(answer.largest, -exponent), log_loss, answer.covers)

    def grow(self, round_idx: int, smoothing: float) -> Learned:
        """Grow a tree on the costs, step by step."""
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
        sums = self._shards.ask(SumLeavesStep(learned.hypothesis, by_pairs))
        values, growth, shrink, largest, remaining = _core.balance_leaves(
            sums if by_pairs else None,
            None if by_pairs else sums,
            learned.leaf_costs,
            smoothing.unit,
            smoothing.hidden,
            exponent,
            learning_rate,
            self._n_threads,
        )
        return Balanced(values, LeafFactors(growth, shrink, largest), remaining)

    def sum_losses(self, hypothesis: Tree) -> Sums:
        """Sum up the losses of every leaf by true class, (n_leaves, K)."""
        return self._shards.ask(SumLeavesStep(hypothesis, False))

    def confusion(self, predictor: Forest | Tree) -> Sums:
        """Sum up the weights by (true class, predicted class), (K, K)."""
        return self._shards.ask(ConfusionStep(predictor))

    def close(self) -> None:
        """Release the samples in the shards."""
        self._shards.close()

    def _grow_levels(self) -> None:
        """Divide all nodes of a level, level after level."""
        histograms, depth = self._root, 0
        while True:
            self._search(histograms)
            splits = self._grower.branch()
            depth += 1
            if len(splits) == 0 or depth == self._rules.max_depth:
                return
            histograms = self._descend(histograms, splits)

    def _grow_best_first(self, max_leaf_nodes: int) -> None:
        """Divide the leaf whose split raises the criterion most, again and again."""
        assert self._root is not None
        depths, open_leaves = [0], {0: self._root}  # with their histograms, as far as these fit
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
        """Search the frontier, whose histograms are counted in parts if they are not given."""
        if histograms is not None:
            self._grower.search(0, histograms, self._n_threads)
            return
        assert self._root is not None
        begin, size = self._grower.frontier_begin, self._grower.frontier_size
        step = max(1, HISTOGRAM_BUDGET // self._root.nbytes)
        for first in range(0, size, step):
            nodes = np.arange(begin + first, begin + min(size, first + step), dtype=np.int32)
            self._grower.search(first, self._shards.ask(CountStep(nodes)), self._n_threads)

    def _descend(self, histograms: Sums | None, splits: NDArray[np.int32]) -> Sums | None:
        """Apply splits: the histograms of the new frontier; None if they are too many to be held at once."""
        assert self._root is not None
        lefts = self._n_nodes + 2 * np.arange(len(splits), dtype=np.int32)
        self._n_nodes += 2 * len(splits)
        if histograms is None or 2 * len(splits) * self._root.nbytes > HISTOGRAM_BUDGET:
            self._shards.ask(DivideStep(splits))
            return None
        counted = self._shards.ask(SplitStep(splits))
        children = np.empty((2 * len(splits), *self._root.shape[1:]), dtype=np.int64)
        self._grower.derive(histograms, counted, lefts, self._n_threads, children)
        return children
