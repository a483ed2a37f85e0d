"""A fit with one kind of weak learner: the built-in tree, or any classifier of scikit-learn.

In: a table and the rows to train on. Out: a learner and rows to boost, votes on validation rows, what the model keeps.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from comboost._binning import BinMapper
from comboost._categories import Categories
from comboost._costs import error_shares
from comboost._dtypes import Floats
from comboost._learners import EstimatorLearner, Learner, TreeLearner, TreePast, TreeRules, read_votes, shares_of
from comboost._memory import check_memory
from comboost._origin import RowDigest, digest, digest_rows
from comboost._rows import BinnedRows, MemoryRows, Rows, TreeRows
from comboost._sources import EVERY_ROW
from comboost._table import RawTable, find_categorical, read_table
from comboost._training_set import TrainingSet
from comboost._voting import Audience


class Fit(Protocol):
    """What a fit asks of its kind of weak learner."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features of the table to train on."""

    def prepare(self, data: Any, seed: int) -> tuple[Learner, Rows]:
        """Make the weak learner, and the rows that it learns from."""

    def fingerprint(self) -> str:
        """A text that other rows would change."""

    def hold_other(self, X: Any) -> tuple[Any, int]:
        """Validate on another table: the table, and its number of rows."""

    def add_votes(self, t: int, alpha: float, scores: Floats) -> None:
        """Add the votes of round t on the validation rows, whose weight is α, to the scores."""

    def attributes(self, alphas: Sequence[float]) -> dict[str, Any]:
        """What the model keeps of as many rounds as there are weights."""

    def confusion(self, alphas: Sequence[float]) -> Floats:
        """C_S of as many rounds as there are weights, on the rows that are trained on."""

    def close(self) -> None:
        """Let go of what is held in other processes."""


class LocalFit(Fit, Protocol):
    """A fit of a table in this process, which can validate on some of its rows."""

    def hold(self, rows: NDArray[np.intp]) -> Any:
        """Validate on some rows of the table, and give them in the sort of container that they came in."""


class TreeFit(ABC):
    """A fit of the built-in trees, wherever the rows are.

    Parameters
    ----------
    booster : VoteBooster
        Whose parameters count.
    n_threads : int
        Threads of every kernel.
    past : TreePast or None
        What an earlier fit kept, to go on from there.
    """

    _rows: TreeRows

    def __init__(self, booster: Any, n_threads: int, past: TreePast | None) -> None:
        self._booster = booster
        self._n_threads = n_threads
        self._past = past
        self._held: RawTable | None = None
        self._audience: Audience | None = None

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Rows and features of the table to train on."""

    def _make_learner(self, bins: BinMapper, n_classes: int, seed: int) -> TreeLearner:
        rules = TreeRules.of(self._booster, self.shape[1], seed)
        return TreeLearner(bins, n_classes, rules, self._n_threads, self._past)

    def _keep(self, bins: BinMapper, categories: Categories, learner: TreeLearner, rows: TreeRows) -> None:
        """Remember what the model will be made of."""
        self._bins, self._categories, self._learner, self._rows = bins, categories, learner, rows

    def fingerprint(self) -> str:
        """Bins and categories, and, where a warm start may follow, the rows, in whatever order they are."""
        bins = self._bins
        values = digest(bins.flat_edges, bins.edge_starts, bins.kinds, self._categories.values)
        return f"{values}{self._digest_rows()}" if self._booster.warm_start else values

    @abstractmethod
    def _digest_rows(self) -> RowDigest: ...

    def hold_other(self, X: Any) -> tuple[Any, int]:
        """Validate on another table."""
        self._held = read_table(self._booster, X, reset=False)
        return X, self._held.shape[0]

    def add_votes(self, t: int, alpha: float, scores: Floats) -> None:
        """Add the votes of round t on the validation rows, whose weight is α, to the scores."""
        if self._audience is None:
            assert self._held is not None
            self._audience = Audience(self._held.encode(self._categories), self._n_threads)
        self._audience.add_votes(self._learner.trees[t], alpha, scores)

    def attributes(self, alphas: Sequence[float]) -> dict[str, Any]:
        """What the model keeps of as many rounds as there are weights."""
        importances = self._learner.importances(len(alphas))
        return {
            "_forest": self._learner.forest(alphas),
            "_categories": self._categories,
            "_kinds": self._bins.kinds,
            "_importances": importances,
            "feature_importances_": shares_of(importances),
        }

    def confusion(self, alphas: Sequence[float]) -> Floats:
        """C_S of as many rounds as there are weights, on the rows that are trained on."""
        return error_shares(self._rows.confusion(self._learner.forest(alphas)))


class TableFit(TreeFit):
    """A fit of the built-in trees on a table in this process's memory; see `TreeFit`. X is the table."""

    def __init__(self, booster: Any, X: Any, n_threads: int, past: TreePast | None) -> None:
        super().__init__(booster, n_threads, past)
        self._raw = read_table(booster, X, reset=past is None)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features of the table to train on."""
        return self._raw.shape

    def prepare(self, data: TrainingSet, seed: int) -> tuple[TreeLearner, BinnedRows]:
        """Make the weak learner, and the rows that it learns from."""
        booster, n_classes, n_threads = self._booster, len(data.classes), self._n_threads
        raw = self._raw if data.rows is None else self._raw.take(data.rows)
        categories, known = Categories.fit(raw, find_categorical(raw, booster.categorical_features))
        table = raw.encode(categories)
        bins = BinMapper.fit(table, categories, data.weights, booster.max_bins, n_threads)
        check_memory(len(data.labels), self.shape[1], n_classes, int(bins.n_bins.sum()), booster.max_depth)
        learner = self._make_learner(bins, n_classes, seed)
        codes = bins.transform(table, n_threads, known)
        rows = BinnedRows(
            data.labels,
            data.weights,
            n_classes,
            n_threads,
            codes=codes,
            bin_offsets=bins.bin_offsets,
            counted=learner.counts_rows,
        )
        self._coded = codes, data.labels, data.weights
        self._keep(bins, categories, learner, rows)
        return learner, rows

    def _digest_rows(self) -> RowDigest:
        return digest_rows(*self._coded)

    def hold(self, rows: NDArray[np.intp]) -> Any:
        """Validate on some rows of the table."""
        self._held = self._raw.take(rows)
        return self._held.part(EVERY_ROW, 0, self.shape[1]).data

    def close(self) -> None:
        """All is in this process."""


class EstimatorFit:
    """A fit of clones of a scikit-learn classifier; see `TableFit`. ``past`` are the clones of an earlier fit."""

    def __init__(self, booster: Any, X: Any, n_threads: int, past: Sequence[ClassifierMixin]) -> None:
        self._booster = booster
        self._n_threads = n_threads
        self._past = past
        self._given = X
        self._X = read_for_estimator(booster, X, reset=not past)
        self._held: Any = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features of the table to train on."""
        n_rows, n_features = self._X.shape
        return n_rows, n_features

    def prepare(self, data: TrainingSet, seed: int) -> tuple[EstimatorLearner, MemoryRows]:
        """Make the weak learner, and the rows that it learns from."""
        self._data = data
        X = self._X if data.rows is None else self._X[data.rows]
        n_classes = len(data.classes)
        self._learner = EstimatorLearner(self._booster.estimator, X, data.labels, n_classes, seed, self._past)
        self._rows = MemoryRows(data.labels, data.weights, n_classes, self._n_threads)
        return self._learner, self._rows

    def fingerprint(self) -> str:
        """The table itself, since nobody knows what its weak learner looks at."""
        X = self._X if issparse(self._X) else np.ascontiguousarray(self._X)
        return str(joblib.hash((X, self._data.labels, self._data.weights)))

    def hold(self, rows: NDArray[np.intp]) -> Any:
        """Validate on some rows of the table."""
        self._held = self._X[rows]
        return read_table(self._booster, self._given, reset=False).take(rows).part(EVERY_ROW, 0, self.shape[1]).data

    def hold_other(self, X: Any) -> tuple[Any, int]:
        """Validate on another table."""
        self._held = read_for_estimator(self._booster, X, reset=False)
        return X, self._held.shape[0]

    def add_votes(self, t: int, alpha: float, scores: Floats) -> None:
        """Add the votes of round t on the validation rows, whose weight is α, to the scores."""
        votes = read_votes(self._learner.estimators[t], self._held, scores.shape[1])
        scores[np.arange(len(votes)), votes] += alpha

    def attributes(self, alphas: Sequence[float]) -> dict[str, Any]:
        """What the model keeps of as many rounds as there are weights."""
        kept = {"estimators_": self._learner.estimators[: len(alphas)]}
        importances = self._learner.importances(alphas)
        return kept if importances is None else {**kept, "feature_importances_": shares_of(importances)}

    def confusion(self, alphas: Sequence[float]) -> Floats:
        """C_S of as many rounds as there are weights, on the rows that are trained on."""
        return error_shares(self._rows.count_elected(self._learner.elected(alphas)))

    def close(self) -> None:
        """All is in this process."""


def read_for_estimator(booster: Any, X: Any, *, reset: bool) -> Any:
    """X as the weak learner takes it: a matrix of floats, sparse or with NaN where it says that it can do with them."""
    tags = get_tags(booster.estimator).input_tags
    # The check for finite values adds them all up, and values near 1e308 may add up to inf - inf.
    with np.errstate(invalid="ignore"):
        return validate_data(
            booster,
            X,
            reset=reset,
            dtype=[np.float64, np.float32],
            accept_sparse=["csr"] if tags.sparse else False,
            ensure_all_finite="allow-nan" if tags.allow_nan else True,
        )
