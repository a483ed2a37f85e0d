"""Trees on weighted rows. In: which rows, how often, and their weights. Out: a tree and its votes."""

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
    """Indices of all rows, and again of rows drawn at random until every class has as many as the largest."""
    sampler = RandomOverSampler(random_state=problem.rules.seed)
    with warnings.catch_warnings():
        # That labels may be no classes if there are many of them: these are indices of classes.
        warnings.filterwarnings("ignore", message="The number of unique classes", category=UserWarning)
        sampler.fit_resample(np.arange(len(problem.labels))[:, np.newaxis], problem.labels)
    indices: NDArray[np.intp] = sampler.sample_indices_.astype(np.intp)
    return indices


class TreeGrower:
    """Grows trees on weighted rows. A weighted tree is a cost-sensitive one in which every mistake costs the weight.

    Parameters
    ----------
    problem : Problem
        The rows.
    indices : ndarray of int
        Which of them to learn from, in which order; some may stand there several times.
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
