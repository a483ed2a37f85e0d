"""Synthetic problems. In: a shape. Out: float32 rows in C order and their classes, the same for every run.

Generating a million rows takes longer than boosting them, so problems are kept as .npy files in a temporary folder.
"""

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SCRATCH = Path(tempfile.gettempdir()) / "comboost-benchmarks"
SEED = 20131


@dataclass(frozen=True)
class Problem:
    """A shape, and the share of rows whose class is drawn at random."""

    n_samples: int
    n_features: int
    n_classes: int
    noise: float = 0.02

    @property
    def name(self) -> str:
        """The shape in words."""
        return f"{self.n_samples:_} × {self.n_features}, {self.n_classes} classes".replace("_", " ")

    def scaled(self, share: float) -> "Problem":
        """The same with fewer rows."""
        return Problem(int(self.n_samples * share), self.n_features, self.n_classes, self.noise)

    def paths(self) -> tuple[Path, Path]:
        """Where X and y are; they are generated if they are not there yet."""
        stem = f"{self.n_samples}x{self.n_features}x{self.n_classes}-noise{self.noise}-seed{SEED}"
        paths = SCRATCH / f"{stem}-X.npy", SCRATCH / f"{stem}-y.npy"
        if not all(path.exists() for path in paths):
            for path, array in zip(paths, generate(self), strict=True):
                save(path, array)
        return paths

    def load(self) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
        """X and y, in memory."""
        X, y = (np.load(path) for path in self.paths())
        return X, y


def generate(problem: Problem) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """Classes as clusters in half of the features; a few of the others are their mixtures, the rest is noise."""
    from sklearn.datasets import make_classification  # slow to import, and seldom needed

    X, y = make_classification(
        problem.n_samples,
        problem.n_features,
        n_informative=max(3, problem.n_features // 2),
        n_redundant=problem.n_features // 10,
        n_classes=problem.n_classes,
        n_clusters_per_class=2 if problem.n_features >= 10 else 1,
        flip_y=problem.noise,
        random_state=SEED,
    )
    return np.ascontiguousarray(X, dtype=np.float32), y.astype(np.int32)


def save(path: Path, array: NDArray[np.generic]) -> None:
    """Write a file that is either whole or not there: a run that is stopped leaves no half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}.npy")
    np.save(unfinished, array)
    unfinished.replace(path)
