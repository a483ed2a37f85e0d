"""Rows on many workers, as the boosting loop sees them. In: its questions. Out: sums over all rows."""

import numpy as np
from numpy.typing import NDArray

from comboost import _core
from comboost._dtypes import Floats, Sums
from comboost._rows import Ballot, Costs, Vote, quantise_below
from comboost._tree import Forest
from comboost.dask._crew import Crew
from comboost.dask._shard import Advance, Confusion, Count, Divide, Measure, Pass, Split


class DaskRows:
    """Rows on workers, voted on by trees; see `TreeRows`. Every question is one trip to the workers and back.

    Parameters
    ----------
    crew : Crew
        The shards that hold the rows.
    n_classes : int
        K.
    """

    def __init__(self, crew: Crew, n_classes: int) -> None:
        self._crew = crew
        self._n_classes = n_classes
        self._n_nodes = 1

    def advance(self, vote: Vote | None, unit: Floats, bound: float, *, with_root: bool) -> Costs:
        """Add the last round's votes, quantise the costs, and start a new tree."""
        root: Sums | None = None

        def quantise(vote: Vote | None, exponent: int) -> tuple[int, float]:
            nonlocal root
            found = self._crew.ask(Advance(vote, unit, exponent, with_root))
            assert isinstance(found, Pass)
            root = found.root
            return found.loss, found.largest

        exponent, loss, largest = quantise_below(bound, self._n_classes, vote, quantise)
        self._n_nodes = 1
        return Costs(exponent, loss, largest, root)

    def measure(self, ballot: Ballot) -> Sums:
        """Cost sums by (truth, class) that a vote would shrink, grow and leave, (3, K, K)."""
        return self._crew.ask_sums(Measure(ballot))

    def split(self, splits: NDArray[np.int32]) -> tuple[NDArray[np.int32], Sums]:
        """Apply splits and count the left child of each."""
        return self._add_children(splits), self._crew.ask_sums(Split(splits))

    def divide(self, splits: NDArray[np.int32]) -> NDArray[np.int32]:
        """Apply splits and count nothing: the left child of each."""
        self._crew.ask(Divide(splits))
        return self._add_children(splits)

    def count(self, nodes: NDArray[np.int32]) -> Sums:
        """Histograms of these nodes."""
        return self._crew.ask_sums(Count(nodes))

    def searches(self, n_nodes: int) -> bool:
        """Rows do not travel, so a frontier is never searched straight from them."""
        return False

    def search(self, grower: _core.Grower) -> None:
        """Never asked for, since `searches` says no."""
        raise NotImplementedError

    def confusion(self, forest: Forest) -> Sums:
        """Weights by (truth, prediction of the whole vote), (K, K)."""
        return self._crew.ask_sums(Confusion(forest))

    def _add_children(self, splits: NDArray[np.int32]) -> NDArray[np.int32]:
        lefts = self._n_nodes + 2 * np.arange(len(splits), dtype=np.int32)
        self._n_nodes += 2 * len(splits)
        return lefts
