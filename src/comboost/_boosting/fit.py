"""One fit, prepared. In: rows and a weak learner, ready to be boosted. Out: what a model keeps of the rounds."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comboost._boosting.learners import EstimatorAudience, EstimatorLearner, Learner, TreeLearner, shares_of
from comboost._boosting.loop import History
from comboost._boosting.voting import Voting
from comboost._boosting.warm_start import Origin, RowDigest, fingerprints, row_fingerprint
from comboost._cached import cached_property
from comboost._data.categories import Categories
from comboost._data.labels import Candidates
from comboost._data.tables import RawTable
from comboost._engine.binning import BinMapper
from comboost._engine.formulas import error_shares
from comboost._engine.memory_plan import TreeLimits
from comboost._engine.rows import MemoryRows, Rows, TreeRows
from comboost._engine.scores import Audience
from comboost._types import Floats


@dataclass(frozen=True)
class FitPlan:
    """What a fit is to do.

    Attributes
    ----------
    parameters : mapping of str to Any
        The parameters of the estimator.
    voting : Voting
        How rounds vote, and what their votes make small.
    limits : TreeLimits
        How large trees may become.
    candidates : Candidates
        The classes of y, and which of them are voted for.
    by_class : bool
        Whether sample weights only tell classes apart.
    n_samples : int
        Rows of the table that was given.
    seed : int
        Seeds the draws of every round.
    n_threads : int
        Threads of every kernel.
    """

    parameters: Mapping[str, Any]
    voting: Voting
    limits: TreeLimits
    candidates: Candidates
    by_class: bool
    n_samples: int
    seed: int
    n_threads: int

    @property
    def classes(self) -> NDArray[Any]:
        """The classes that are voted for."""
        return self.candidates.classes


@dataclass(frozen=True)
class Fit(ABC):
    """One fit, whatever its weak learner is and wherever its rows are.

    Attributes
    ----------
    plan : FitPlan
        What is to be done.
    learner : Learner
        The weak learner.
    rows : Rows
        The rows that it learns from.
    """

    plan: FitPlan
    learner: Learner
    rows: Rows

    @cached_property
    def origin(self) -> Origin:
        """What the model is learned with, for a warm start."""
        plan = self.plan
        return Origin(fingerprints(plan.parameters), plan.seed, plan.n_samples, plan.classes, self._row_fingerprint())

    def bounds(self, history: History) -> Floats:
        """What the edges of the rounds promise."""
        return self.plan.voting.bounds(history.edges, history.promises)

    def attributes(self, history: History) -> dict[str, Any]:
        """The fitted attributes of the rounds in a history, but those that take a pass over all rows."""
        return {
            "n_iter_": len(history),
            **self.answering(history),
            "edges_": np.array(history.edges),
            "loss_curve_": np.array(history.losses),
            "bound_curve_": self.bounds(history),
            **self._learned(history.alphas),
        }

    def answering(self, history: History) -> dict[str, Any]:
        """Those of them that tell what votes mean."""
        candidates = self.plan.candidates
        kept = self.plan.voting.kept(history.alphas, history.promises)
        if candidates.places is None:
            return {"classes_": candidates.given, **kept}
        kept["class_prior_"] = candidates.spread(kept["class_prior_"], 0.0)
        return {"classes_": candidates.given, "_voted": candidates.places, **kept}

    def finished(self, history: History) -> dict[str, Any]:
        """All fitted attributes of the rounds in a history."""
        model = self.attributes(history)
        confusion = self.plan.candidates.spread_pairs(self._confusion(model))
        return model | {
            "stop_reason_": history.stop_reason,
            "train_confusion_": confusion,
            "_origin": self.origin,
        }

    @abstractmethod
    def audience(self, table: Any) -> Any:
        """Rows that hypotheses vote on, one after the other."""

    @abstractmethod
    def _row_fingerprint(self) -> str:
        """A text that other rows would change."""

    @abstractmethod
    def _learned(self, alphas: Sequence[float]) -> dict[str, Any]:
        """What the model keeps of as many hypotheses as there are weights."""

    @abstractmethod
    def _confusion(self, model: Mapping[str, Any]) -> Floats:
        """C_S of a model, on the rows that are trained on."""


@dataclass(frozen=True)
class TreeFit(Fit):
    """A fit of the built-in trees, wherever the rows are.

    Attributes
    ----------
    categories : Categories
        The values of the categories.
    bins : BinMapper
        The bins of the values.
    row_digest : RowDigest
        Tells the rows apart from others: a warm start may follow.
    """

    learner: TreeLearner
    rows: TreeRows
    categories: Categories
    bins: BinMapper
    row_digest: RowDigest

    def audience(self, table: RawTable) -> Audience:
        """Rows that trees vote on, one after the other."""
        return Audience(table.encode(self.categories), self.plan.n_threads)

    def _row_fingerprint(self) -> str:
        shared = (self.categories.infrequent,) if self.categories.infrequent else ()
        bins = (self.bins.flat_edges, self.bins.edge_starts, self.bins.kinds)
        return row_fingerprint(self.row_digest, *bins, self.categories.values, *shared)

    def _learned(self, alphas: Sequence[float]) -> dict[str, Any]:
        importances = self.learner.importances(alphas)
        return {
            "_forest": self.learner.forest(alphas),
            "_categories": self.categories,
            "_importances": importances,
            "feature_importances_": shares_of(importances),
        }

    def _confusion(self, model: Mapping[str, Any]) -> Floats:
        return error_shares(self.rows.confusion(model["_forest"]))


@dataclass(frozen=True)
class EstimatorFit(Fit):
    """A fit of clones of a scikit-learn classifier; ``row_hash`` tells the rows apart from others."""

    learner: EstimatorLearner
    rows: MemoryRows
    row_hash: str

    def audience(self, table: Any) -> EstimatorAudience:
        """Rows that clones vote on, one after the other."""
        return EstimatorAudience(table)

    def _row_fingerprint(self) -> str:
        return self.row_hash

    def _learned(self, alphas: Sequence[float]) -> dict[str, Any]:
        kept = {"estimators_": self.learner.kept[: len(alphas)]}
        importances = self.learner.importances(alphas)
        return kept if importances is None else {**kept, "feature_importances_": shares_of(importances)}

    def _confusion(self, model: Mapping[str, Any]) -> Floats:
        return error_shares(self.rows.count_elected(self.learner.elected(model["estimator_weights_"])))
