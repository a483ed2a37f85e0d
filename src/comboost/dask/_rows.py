"""Rows on many workers, as the boosting loop sees them. In: its questions. Out: sums over all rows."""

import numpy as np
from numpy.typing import NDArray

from comboost import _core
from comboost._distributed.steps import (
    AdvanceStep,
    ConfusionStep,
    CountStep,
    DivideStep,
    LeafAdvanceStep,
    MeasureStep,
    SplitStep,
    SumLeavesStep,
    TallyStep,
)
from comboost._engine.forest import Forest, Tree
from comboost._engine.formulas import BalancedObjective
from comboost._engine.rows import Ballot, Costs, Counted, LeafPass, LeafVote, Vote, price_leaves, quantise_below
from comboost._types import Floats, Sums
from comboost.dask._shard_group import ShardGroup


class DaskRows:
    """Rows on workers, voted on by trees; see `TreeRows`.

    Every question is one trip to the workers and back, but `advance` and `advance_leaves` two if the costs must be
    quantised once more.

    Parameters
    ----------
    shards : ShardGroup
        The shards that hold the rows.
    n_classes : int
        K.
    """

    def __init__(self, shards: ShardGroup, n_classes: int) -> None:
        self._shards = shards
        self._n_classes = n_classes
        self._n_nodes = 1
        self._told: BalancedObjective | None = None  # what the shards know of votes for every class

    def advance(self, vote: Vote | None, unit: Floats, bound: float, *, with_root: bool) -> Costs:
        """Add the last round's votes, quantise the costs, and start a new tree."""
        root: Sums | None = None
        covers: Sums | None = None

        def quantise(vote: Vote | None, exponent: int) -> tuple[int, float]:
            nonlocal root, covers
            answer = self._shards.ask(AdvanceStep(vote, unit, exponent, with_root))
            root, covers = answer.root, covers if vote is None else answer.covers
            return answer.loss, answer.largest

        exponent, loss, largest = quantise_below(bound, self._n_classes, vote, quantise)
        self._n_nodes = 1
        return Costs(exponent, loss, largest, root, covers=covers)

    def measure(self, ballot: Ballot) -> Sums:
        """Cost sums by (truth, class) that a vote would shrink, grow and leave, (3, K, K)."""
        return self._shards.ask(MeasureStep(ballot))

    def tally(self, ballot: Ballot) -> Sums:
        """Weights by (truth, vote), (K, K)."""
        return self._shards.ask(TallyStep(ballot))

    def split(self, splits: NDArray[np.int32], *, count: bool) -> Counted | None:
        """Apply splits and count the left child of each, if that is asked for."""
        lefts = self._n_nodes + 2 * np.arange(len(splits), dtype=np.int32)
        self._n_nodes += 2 * len(splits)
        if count:
            return Counted(lefts, self._shards.ask(SplitStep(splits)))
        self._shards.ask(DivideStep(splits))
        return None

    def count(self, nodes: NDArray[np.int32]) -> Sums:
        """Histograms of these nodes."""
        return self._shards.ask(CountStep(nodes))

    def grow(
        self, grower: _core.Grower, root: Sums | None, max_depth: int | None, max_leaf_nodes: int | None
    ) -> "DaskRows":
        """Rows are divided by the splits that they are told."""
        return self

    def search(self, grower: _core.Grower) -> bool:
        """Rows do not travel, so a frontier is never searched straight from them."""
        return False

    def advance_leaves(
        self, vote: LeafVote | None, objective: BalancedObjective, bound: float, *, with_root: bool
    ) -> Costs:
        """Add the last round's votes for every class, quantise the costs, and start a new tree."""
        root: Sums | None = None
        covers: Sums | None = None

        def quantise(vote: LeafVote | None, exponent: int) -> LeafPass:
            nonlocal root, covers
            news = None if objective is self._told else objective
            answer = self._shards.ask(LeafAdvanceStep(vote, news, exponent, with_root))
            root, covers = answer.root, covers if vote is None else answer.covers
            self._told = objective
            return LeafPass(answer.loss, answer.largest, answer.log_loss)

        if vote is not None:
            vote = vote._replace(ballot=without_votes(vote.ballot))  # the factors say what these do to rows
        costs = price_leaves(bound, self._n_classes, vote, objective, quantise)
        self._n_nodes = 1
        return costs._replace(root=root, covers=covers)

    def sum_leaves(self, tree: Tree, *, pairs: bool) -> Sums:
        """Cost sums of the leaves by (truth, class), (n_leaves, K, K), or their losses by truth, (n_leaves, K)."""
        return self._shards.ask(SumLeavesStep(without_votes(tree), pairs))

    def confusion(self, forest: Forest) -> Sums:
        """Weights by (truth, prediction of the whole vote), (K, K)."""
        return self._shards.ask(ConfusionStep(forest))

    def close(self) -> None:
        """Let go of the rows on the workers."""
        self._shards.close()


def without_votes(tree: Tree) -> Tree:
    """A tree as it travels to rows that only ask which leaf is theirs."""
    return tree._replace(votes=None)
