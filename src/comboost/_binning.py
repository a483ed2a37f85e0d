"""Values to bins. In: a matrix of finite floats and integer weights. Out: bin edges, and codes feature by feature."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from comboost import _core
from comboost._dtypes import CODE, Codes, Floats, Weights


@dataclass(frozen=True)
class BinMapper:
    """Bin edges of every feature: a value's code is the number of edges below it.

    Parameters
    ----------
    edges : list of ndarray
        Ascending edges of every feature. A feature with k edges has k + 1 bins.
    """

    edges: list[Floats]

    @classmethod
    def fit(cls, X: NDArray[np.floating], weights: Weights | None, max_bins: int, n_threads: int = 1) -> "BinMapper":
        """Find edges at exact quantiles of the integer weights; a bin for every value where there are few."""
        return cls(_core.find_edges(X, weights, max_bins, n_threads))

    @property
    def n_bins(self) -> NDArray[np.int64]:
        """Bins of every feature."""
        return np.array([len(edges) + 1 for edges in self.edges], dtype=np.int64)

    @property
    def bin_offsets(self) -> NDArray[np.int64]:
        """Where the bins of every feature start in a histogram, and where the last ones end."""
        return np.concatenate(([0], np.cumsum(self.n_bins)))

    @property
    def flat_edges(self) -> Floats:
        """The edges of all features, one after the other."""
        return np.concatenate(self.edges)

    def transform(self, X: NDArray[np.floating], n_threads: int = 1) -> Codes:
        """Codes of the values, (n_features, n_samples)."""
        codes = np.empty(X.shape[::-1], dtype=CODE)
        starts = self.bin_offsets - np.arange(len(self.edges) + 1)
        _core.encode(X, self.flat_edges, starts, n_threads, codes)
        return codes
