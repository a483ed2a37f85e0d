"""Exact SHAP values of the scores, and their form for the plots of the ``shap`` package."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from comboost import _core
from comboost._data.tables import Table
from comboost._engine.forest import Forest
from comboost._engine.memory import check_large
from comboost._engine.scores import BLOCK_BYTES, blocks_of, narrowed
from comboost._extras import import_shap
from comboost._types import Floats

NUMBER_BYTES = 8


class Explanation(NamedTuple):
    """SHAP values: what every feature adds to the scores of some samples.

    Attributes
    ----------
    values : ndarray of shape (n_samples, n_features, n_classes)
        SHAP values; classes in the order of ``classes_``.
    base_values : ndarray of shape (n_classes,)
        Mean scores of the training samples, to which the SHAP values are added.
    """

    values: Floats
    base_values: Floats

    @property
    def scores(self) -> Floats:
        """Scores f of every class, (n_samples, n_classes): the base values plus the SHAP values of all features."""
        scores: Floats = self.base_values + self.values.sum(axis=1)
        return scores


@dataclass(frozen=True)
class ShapExplainer:
    """Explains samples with a fitted model, in the form that ``shap.plots`` takes."""

    model: Any

    def __call__(self, X: Any) -> Any:
        """Explain samples.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        shap.Explanation
            Values of shape (n_samples, n_features, n_classes); ``[..., k]`` are those of a class.
        """
        shap = import_shap()
        values, base_values = self.model.explain(X)
        names = getattr(self.model, "feature_names_in_", None)
        return shap.Explanation(
            values=values,
            base_values=np.tile(base_values, (len(values), 1)),
            data=np.asarray(X.toarray() if issparse(X) else X),
            feature_names=[f"x{f}" for f in range(values.shape[1])] if names is None else list(names),
            output_names=[str(label) for label in self.model.classes_],
        )


def contributions(
    table: Table, forest: Forest, n_threads: int, n_classes: int, scored: NDArray[np.intp] | None
) -> Floats:
    """Compute the SHAP values of a table, (n_samples, n_features, n_classes); the trees must have covers.

    ``scored`` are the indices of the classes that have scores, None if all have. The values are 0 for features that no
    tree uses, and for classes without scores.
    """
    n_samples, n_features = table.shape
    features = forest.features()
    check_large(
        f"An explanation of {n_samples} rows with {n_features} features for {n_classes} classes",
        {
            "contributions": NUMBER_BYTES * n_samples * n_features * n_classes,
            "sums of the threads": NUMBER_BYTES * _core.EXPLAINED_ROWS * n_threads * len(features) * n_classes,
        },
        "Give fewer rows at a time.",
    )
    values = np.zeros((n_samples, n_features, n_classes))
    table, trees = narrowed(table, forest)
    if trees is forest:
        features = np.arange(n_features)
    is_direct = trees is forest and scored is None
    classes = np.arange(n_classes) if scored is None else scored
    size = NUMBER_BYTES * len(features) * trees.n_classes  # of a sample
    begin = 0
    for X, _ in blocks_of(table, None if is_direct else max(1, BLOCK_BYTES // size)):
        end = begin + len(X)
        block = values[begin:end] if is_direct else np.zeros((len(X), len(features), trees.n_classes))
        _core.explain(X, trees._native, n_threads, block)
        if not is_direct:
            values[begin:end, features[:, np.newaxis], classes] = block
        begin = end
    return values


def expected_scores(forest: Forest) -> Floats:
    """Compute the mean scores of the training samples, one per class."""
    scores = np.empty(forest.n_classes)
    _core.expected_scores(forest._native, scores)
    return scores
