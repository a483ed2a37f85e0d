"""Rows of which some are synthetic. In: original rows, draws of others. Out: AdaBoost.M2 by way of AdaBoost.MM's loop.

AdaBoost.M2 keeps a distribution D over the wrong labels of all rows. A weak hypothesis that votes 0 or 1 has the
pseudo-loss ε = ½·Σ D(i,j)·(1 − [h(i)=y_i] + [h(i)=j]); with β = ε/(1−ε) its weight is ln(1/β), and the next D is
D(i,j)·β^{½(1 + [h(i)=y_i] − [h(i)=j])}, normed. In the words of AdaBoost.MM, ε = ½(1−δ), so ln(1/β) = 2α, and the
factors are, √β apart, e^{−α} where h is right, e^{α} for the wrong label that it votes for and 1 for the others: the
update of the excess. So AdaBoost.M2 is AdaBoost.MM with the step of its edge and twice its weights, and trees see
D(i,j) itself.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from comboost._boosting.learners import Hypothesis, TreeLearner
from comboost._engine.forest import Tree
from comboost._engine.formulas import largest_row
from comboost._engine.rows import Ballot, BinnedRows, Costs, Vote, quantise_below
from comboost._types import CODE, Codes, Floats, Labels, Sums
from comboost.baselines._estimator import Problem


class AugmentedRows(BinnedRows):
    """Original rows, which are boosted, followed by synthetic ones, which only trees see, other ones in every round.

    A wrong label of a synthetic row always weighs the mean of the original rows' D, 1/(m(K−1)). Only original rows
    count in losses and advantages.

    Parameters
    ----------
    problem : Problem
        The original rows.
    labels : ndarray of uint16
        The class indices of the synthetic rows.
    draw_codes : callable
        Gives the codes of the synthetic rows of a round, (n_features, n_samples).
    counted : bool
        Whether histograms count rows, too.
    """

    def __init__(
        self, problem: Problem, labels: Labels, draw_codes: Callable[[int], Codes], *, counted: bool = False
    ) -> None:
        assert isinstance(problem.codes, np.ndarray)
        room = np.zeros((len(problem.codes), len(labels)), dtype=CODE)
        self._labels = np.concatenate([problem.labels, labels])
        super().__init__(
            self._labels,
            None,
            problem.n_classes,
            problem.n_threads,
            codes=np.concatenate([problem.codes, room], axis=1),
            bin_offsets=problem.bins.bin_offsets,
            counted=counted,
        )
        self._n_original = len(problem.labels)
        self._draw_codes = draw_codes
        self._n_trees = 0
        self._first_loss = 0.0  # of the original rows, before any vote
        self._level = 1.0  # the excess of the synthetic rows

    def advance(self, vote: Vote | None, unit: Floats, bound: float, *, with_root: bool) -> Costs:
        """Add the last round's votes, bring the synthetic rows to the mean, quantise the costs, start a new tree."""
        exponent, _, largest = quantise_below(bound, self._n_classes, vote, partial(self.quantise, unit))
        costs = Costs(exponent, self._sum_losses(slice(self._n_original)), largest, None)
        if vote is None:
            self._first_loss = costs.real_loss
        elif with_root and self._n_original < self._n_rows:
            costs = self._bring_to_mean(vote, unit, costs)
        return costs._replace(root=self.start_tree(count=with_root))

    def advantage(self, ballot: Ballot) -> int:
        """A = −Σ D(i,h(i)) over the original rows."""
        right, wrong, _ = self.measure(ballot)
        return int(right.sum()) - self._sum_losses(slice(self._n_original, None)) - int(wrong.sum())

    def start_tree(self, *, count: bool) -> Sums | None:
        """Draw the synthetic rows of a new tree, and put all rows into its root."""
        if count:
            self._codes[:, self._n_original :] = self._draw_codes(self._n_trees)
            self.arrange_codes()
            self._n_trees += 1
        return super().start_tree(count=count)

    def _bring_to_mean(self, vote: Vote, unit: Floats, costs: Costs) -> Costs:
        """Give the synthetic rows the mean excess of the original ones.

        A vote for the own class multiplies the excess of a row by any number; one for another class leaves it as it is
        if the factor is 1.
        """
        mean = costs.real_loss / self._first_loss
        ballot = self._labels.copy()
        ballot[: self._n_original] = (ballot[: self._n_original] + 1) % self._n_classes
        lift = Vote(ballot, 1.0, mean / (self._level * vote.down))
        self._level = mean
        bound = max(costs.largest, mean * largest_row(unit))
        exponent, _, largest = quantise_below(bound, self._n_classes, lift, partial(self.quantise, unit))
        return Costs(exponent, self._sum_losses(slice(self._n_original)), largest, None)

    def _sum_losses(self, rows: slice) -> int:
        return int(self.row_losses()[rows].astype(np.int64).sum())

    def votes_of(self, ballot: Ballot) -> Labels:
        """The vote of every row; synthetic ones are counted as right, so that they make no mistakes to measure."""
        if not isinstance(ballot, Tree):
            return ballot
        votes = super().votes_of(ballot)
        votes[self._n_original :] = self._labels[self._n_original :]
        return votes


class AugmentedLearner(TreeLearner):
    """Grows trees on all rows, and judges them by the original ones."""

    def learn(self, rows: Any, costs: Costs, round_idx: int) -> Hypothesis:
        """Grow a tree on the costs, one level at a time."""
        ballot = super().learn(rows, costs, round_idx).ballot
        return Hypothesis(ballot, rows.advantage(ballot))
