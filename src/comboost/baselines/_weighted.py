"""Trees on weighted samples, and random oversampling."""

import warnings
from collections.abc import Sequence

import numpy as np
from imblearn.over_sampling import RandomOverSampler
from numpy.typing import NDArray

from comboost._data.sample_weights import integer_weights
from comboost._engine.forest import Forest, Tree
from comboost._engine.rows import MemoryRows, make_grower
from comboost._types import Floats, Labels
from comboost.baselines._estimator import Problem


def oversample(problem: Problem) -> NDArray[np.intp]:
    """Indices of all samples, and again of samples drawn at random until every class has as many as the largest."""
    sampler = RandomOverSampler(random_state=problem.rules.seed)
    with warnings.catch_warnings():
        # It warns that many distinct labels may not be classes. These are indices of classes.
        warnings.filterwarnings("ignore", message="The number of unique classes", category=UserWarning)
        sampler.fit_resample(np.arange(len(problem.labels))[:, np.newaxis], problem.labels)
    indices: NDArray[np.intp] = sampler.sample_indices_.astype(np.intp)
    return indices


class TreeGrower:
    """Grows trees on weighted samples of a problem, given by their indices, which may repeat.

    A weighted tree is a cost-sensitive one in which every mistake costs the weight.
    """

    def __init__(self, problem: Problem, indices: NDArray[np.intp]) -> None:
        self._problem = problem
        self._codes = problem.codes_of(indices)
        self._objective = problem.objective
        self.labels = problem.labels[indices]
        self.n_classes = problem.n_classes

    def grow(self, weights: Floats, round_idx: int) -> tuple[Tree, Labels]:
        """A tree for these weights, one per sample, and the classes that it predicts."""
        problem, objective = self._problem, self._objective
        grower = make_grower(problem.bins, self.n_classes, problem.rules)
        rows = MemoryRows(self.labels, integer_weights(weights), objective.loss, self._codes, grower, problem.n_threads)
        rows.update(None, None, objective.largest, with_root=True)
        tree = rows.grow(round_idx, 0.0).hypothesis
        assert isinstance(tree, Tree)
        return tree, rows.predict(tree)

    def join(self, trees: Sequence[Tree], alphas: Sequence[float]) -> Forest:
        """Weighted trees as a forest."""
        return Forest.join(trees, np.array(alphas), self._problem.bins.kinds, self.n_classes)
