"""What features add to votes. In: a table, and trees with covers. Out: exact Shapley values of the votes."""

import numpy as np
from numpy.typing import NDArray

from comboost import _core
from comboost._data.tables import Table
from comboost._engine.forest import Forest
from comboost._engine.memory import check_large
from comboost._engine.scores import BLOCK_BYTES, blocks_of, narrowed
from comboost._types import Floats

NUMBER_BYTES = 8


def contributions(
    table: Table, forest: Forest, n_threads: int, n_classes: int, voted: NDArray[np.intp] | None
) -> Floats:
    """What every feature adds to the votes on every row.

    Parameters
    ----------
    table : Table
        The rows.
    forest : Forest
        Trees with covers.
    n_threads : int
        Threads.
    n_classes : int
        All classes.
    voted : ndarray of int or None
        Which of them the trees vote for; None is all.

    Returns
    -------
    ndarray of shape (n_samples, n_features, n_classes)
        The contributions; 0 for features that no tree looks at, and for classes without votes.
    """
    n_samples, n_features = table.shape
    features = forest.features()
    check_contributions(n_samples, n_features, n_classes, n_threads * len(features))
    found = np.zeros((n_samples, n_features, n_classes))
    table, trees = narrowed(table, forest)
    straight = trees is forest and voted is None
    if trees is forest:
        features = np.arange(n_features)
    size = NUMBER_BYTES * len(features) * trees.n_classes  # of a row
    begin = 0
    for rows, _ in blocks_of(table, None if straight else max(1, BLOCK_BYTES // size)):
        end = begin + len(rows)
        if straight:
            _core.explain(rows, trees._checked, n_threads, found[begin:end])
        else:
            part = np.zeros((len(rows), len(features), trees.n_classes))
            _core.explain(rows, trees._checked, n_threads, part)
            places = np.arange(n_classes) if voted is None else voted
            found[begin:end, features[:, np.newaxis], places] = part
        begin = end
    return found


def expected_votes(forest: Forest) -> Floats:
    """The mean votes for every class on the training rows."""
    votes = np.empty(forest.n_classes)
    _core.expected_scores(forest._checked, votes)
    return votes


def check_contributions(n_samples: int, n_features: int, n_classes: int, n_explained: int) -> None:
    """Raise if contributions would need more memory than there is; threads explain so many features together."""
    check_large(
        f"An explanation of {n_samples} rows with {n_features} features for {n_classes} classes",
        {
            "contributions": NUMBER_BYTES * n_samples * n_features * n_classes,
            "sums of the threads": NUMBER_BYTES * _core.EXPLAINED_ROWS * n_explained * n_classes,
        },
        "Give fewer rows at a time.",
    )
