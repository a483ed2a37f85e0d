"""Rows with a planted truth, chunk by chunk. In: a shape. Out: the same rows on a cluster or in memory.

A chunk depends on its number alone, so that it can be drawn wherever it is needed, as often as it is needed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._lib.problems import SEED

if TYPE_CHECKING:
    from distributed import Client

N_CLUSTERS = 2  # of every class
SPREAD = 0.5  # of the clusters' centres, where rows spread by 1 around them
NOISE = 0.02  # of the rows have a class that is drawn at random: nothing can learn them all


@dataclass(frozen=True)
class Rows:
    """A shape in equal chunks. Each class is half as frequent as the one before; half of the features tell of it."""

    n_samples: int
    n_features: int
    n_classes: int
    n_chunks: int
    dtype: str = "float64"

    @property
    def name(self) -> str:
        """The shape in words."""
        shape = f"{self.n_samples:_} × {self.n_features} {self.dtype}, {self.n_classes} classes".replace("_", " ")
        return f"{shape}, {self.n_chunks} chunks"

    @property
    def n_bytes(self) -> int:
        """Bytes of X."""
        return self.n_samples * self.n_features * np.dtype(self.dtype).itemsize

    def scaled(self, share: float) -> "Rows":
        """The same with fewer rows."""
        return replace(self, n_samples=int(self.n_samples * share))

    def sizes(self) -> tuple[int, ...]:
        """Rows of each chunk."""
        ends = [k * self.n_samples // self.n_chunks for k in range(self.n_chunks + 1)]
        return tuple(np.diff(ends).tolist())

    def draw_truth(self, chunk: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Classes that the rows of a chunk were drawn from, and those that they are said to have."""
        random = np.random.default_rng([SEED, chunk, 0])
        priors = 0.5 ** np.arange(self.n_classes)
        drawn = random.choice(self.n_classes, self.sizes()[chunk], p=priors / priors.sum())
        said = np.where(random.random(len(drawn)) < NOISE, random.integers(self.n_classes, size=len(drawn)), drawn)
        return drawn, said

    def draw_classes(self, chunk: int) -> NDArray[np.int64]:
        """Classes of a chunk."""
        return self.draw_truth(chunk)[1]

    def draw_values(self, chunk: int) -> NDArray[Any]:
        """Features of a chunk."""
        random = np.random.default_rng([SEED, chunk, 1])
        drawn, _ = self.draw_truth(chunk)
        cluster = drawn * N_CLUSTERS + random.integers(N_CLUSTERS, size=len(drawn))
        X = random.standard_normal((len(drawn), self.n_features), dtype=self.dtype)
        for f, centres in enumerate(self.centres().T):  # at once they would take half of the memory of X
            X[:, f] += centres[cluster]
        return X

    def centres(self) -> NDArray[Any]:
        """Where the clusters are, the same for every chunk."""
        shape = self.n_classes * N_CLUSTERS, self.n_features // 2
        return (SPREAD * np.random.default_rng(SEED).standard_normal(shape)).astype(self.dtype)

    def load(self) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """All rows, in memory."""
        X = np.empty((self.n_samples, self.n_features), self.dtype)
        start = 0
        for chunk, size in enumerate(self.sizes()):
            X[start : start + size] = self.draw_values(chunk)
            start += size
        return X, np.concatenate([self.draw_classes(chunk) for chunk in range(self.n_chunks)])

    def lazy(self) -> tuple[Any, Any]:
        """X and y as Dask arrays: every chunk is drawn on the worker that asks for it."""
        import dask.array as da

        sizes, dtype = self.sizes(), np.dtype(self.dtype)
        X = da.map_blocks(
            draw_values, rows=self, chunks=(sizes, (self.n_features,)), dtype=dtype, meta=np.empty((0, 0), dtype)
        )
        y = da.map_blocks(draw_classes, rows=self, chunks=(sizes,), dtype=np.int64, meta=np.empty(0, np.int64))
        return X, y

    def persisted(self, client: "Client") -> tuple[Any, Any]:
        """X and y as Dask arrays that lie on the workers, on all of them alike."""
        import dask
        from distributed import wait

        addresses = sorted(client.nthreads())
        with dask.annotate(workers=lambda key: [addresses[key[1] % len(addresses)]]):
            X, y = client.persist(self.lazy())
        wait([X, y])
        return X, y


def draw_values(rows: Rows, block_id: Sequence[int]) -> NDArray[Any]:
    return rows.draw_values(block_id[0])


def draw_classes(rows: Rows, block_id: Sequence[int]) -> NDArray[np.int64]:
    return rows.draw_classes(block_id[0])
