"""Original and synthetic samples, on which AdaBoost.MM's loop computes AdaBoost.M2.

AdaBoost.M2 keeps a distribution D over the wrong labels of all samples. A weak hypothesis that outputs 0 or 1 has the
pseudo-loss ε = ½·Σ D(i,j)·(1 − [h(i)=y_i] + [h(i)=j]); with β = ε/(1−ε) its weight is ln(1/β), and the next D is
D(i,j)·β^{½(1 + [h(i)=y_i] − [h(i)=j])}, normalised. In terms of AdaBoost.MM, ε = ½(1−δ), so ln(1/β) = 2α. Apart from
√β, the factors are e^{−α} where h is right, e^{α} for the wrong label that it predicts and 1 for the others: the update
of the excess. So AdaBoost.M2 is AdaBoost.MM with the step of its edge and twice its weights, and trees see D(i,j)
itself.
"""

from collections.abc import Callable

import numpy as np

from comboost import _core
from comboost._engine.forest import Forest, Tree
from comboost._engine.rows import Costs, LeafFactors, Learned, MemoryRows, make_grower
from comboost._types import CODE, Codes, Floats, Labels, Sums
from comboost.baselines._estimator import Problem


class AugmentedRows(MemoryRows):
    """Original samples, which are boosted, followed by synthetic ones, which only trees see, other ones in every round.

    A wrong label of a synthetic sample always weighs the mean of the original samples' D, 1/(m(K−1)). Only original
    samples count in losses and advantages. ``labels`` are the class indices of the synthetic samples; ``draw_codes``
    returns their codes in a round, (n_features, n_samples).
    """

    _native: _core.BinnedRows

    def __init__(self, problem: Problem, labels: Labels, draw_codes: Callable[[int], Codes]) -> None:
        assert isinstance(problem.codes, np.ndarray)
        empty = np.zeros((len(problem.codes), len(labels)), dtype=CODE)
        self._all_codes = np.concatenate([problem.codes, empty], axis=1)
        self._labels = np.concatenate([problem.labels, labels])
        grower = make_grower(problem.bins, problem.n_classes, problem.rules)
        super().__init__(self._labels, None, problem.objective.loss, self._all_codes, grower, problem.n_threads)
        self._n_classes = problem.n_classes
        self._n_original = len(problem.labels)
        self._largest = problem.objective.largest
        self._draw_codes = draw_codes
        self._n_trees = 0
        self._first_loss = 0.0  # of the original samples, before the first round
        self._level = 1.0  # the excess of the synthetic samples

    def update(self, hypothesis: Tree | None, factors: LeafFactors | None, bound: float, *, with_root: bool) -> Costs:
        """Add the last round, bring the synthetic samples to the mean, quantise the costs, start a new tree."""
        if hypothesis is None or factors is None:
            costs = self._quantise(None, None, bound)
            self._first_loss = costs.real_loss
        else:
            self._native.set_predicted(self.predict(hypothesis))
            costs = self._quantise(factors.growth, factors.shrink, bound)
            if with_root and self._n_original < len(self._labels):
                costs = self._bring_to_mean(float(factors.shrink[0]), costs)
        self._nodes = None
        if with_root:
            self._all_codes[:, self._n_original :] = self._draw_codes(self._n_trees)
            self._native.arrange_codes()
            self._n_trees += 1
            self._native.start_tree(True)
        return costs

    def grow(self, round_idx: int, smoothing: float) -> Learned:
        """Grow a tree on all samples; its advantage is A = −Σ D(i,h(i)) over the original ones."""
        learned = super().grow(round_idx, smoothing)
        assert isinstance(learned.hypothesis, Tree)
        self._native.set_predicted(self.predict(learned.hypothesis))
        self._nodes = None  # the leaves are predicted classes now
        advantage = self._native.advantage - self._sum_losses(slice(self._n_original, None))
        return learned._replace(advantage=advantage)

    def predict(self, tree: Tree) -> Labels:
        """The predicted class of every sample; synthetic ones are right, so that they make no mistakes to count."""
        predicted = super().predict(tree)
        predicted[self._n_original :] = self._labels[self._n_original :]
        return predicted

    def confusion(self, predictor: Forest | Tree) -> Sums:
        """Sum up the weights by (true class, predicted class) of a tree, (K, K)."""
        assert isinstance(predictor, Tree)
        return self._native.confusion(self.predict(predictor))

    def _bring_to_mean(self, shrink: float, costs: Costs) -> Costs:
        """Give the synthetic samples the mean excess of the original ones.

        A right prediction multiplies the excess of a sample by any number; a wrong one leaves it as it is if the factor
        is 1.
        """
        mean = costs.real_loss / self._first_loss
        predicted = self._labels.copy()
        predicted[: self._n_original] = (predicted[: self._n_original] + 1) % self._n_classes
        self._native.set_predicted(predicted)
        lift = np.array([mean / (self._level * shrink)])
        self._level = mean
        return self._quantise(np.ones(1), lift, max(costs.largest, mean * self._largest))

    def _quantise(self, growth: Floats | None, shrink: Floats | None, bound: float) -> Costs:
        exponent, _, largest, *_ = self._native.next_round(growth, shrink, bound, False)
        return Costs(exponent, self._sum_losses(slice(self._n_original)), largest)

    def _sum_losses(self, samples: slice) -> int:
        return int(self._native.row_losses()[samples].astype(np.int64).sum())
