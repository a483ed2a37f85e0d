"""One fit, prepared. In: rows and a weak learner, ready to be boosted. Out: what a model keeps of the rounds."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comboost._boosting.learners import EstimatorLearner, EstimatorScorer, Learner, TreeLearner
from comboost._boosting.loop import History
from comboost._boosting.warm_start import FitFingerprint, fingerprints
from comboost._data.categories import Categories
from comboost._data.labels import Candidates
from comboost._data.tables import RawTable
from comboost._engine.forest import Forest
from comboost._engine.leaf_values import LeafValues
from comboost._engine.losses import error_confusion
from comboost._engine.memory_plan import TreeLimits
from comboost._engine.rows import PredictedRows, Rows, TreeRows
from comboost._engine.scores import TableScorer
from comboost._types import Labels


@dataclass(frozen=True)
class FitPlan:
    """What a fit is to do.

    Attributes
    ----------
    parameters : mapping of str to Any
        The parameters of the estimator.
    values : LeafValues
        How leaf values are chosen, and what they minimise.
    limits : TreeLimits
        How large trees may become.
    candidates : Candidates
        The classes of y, and which of them are predicted.
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
    values: LeafValues
    limits: TreeLimits
    candidates: Candidates
    by_class: bool
    n_samples: int
    seed: int
    n_threads: int

    @property
    def classes(self) -> NDArray[Any]:
        """The classes that are predicted."""
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
    row_fingerprint : str
        A text that other rows would change.
    """

    plan: FitPlan
    learner: Learner
    rows: Rows
    row_fingerprint: str

    @property
    def origin(self) -> FitFingerprint:
        """What a warm start compares."""
        plan = self.plan
        return FitFingerprint(
            fingerprints(plan.parameters), plan.seed, plan.n_samples, plan.classes, self.row_fingerprint
        )

    def attributes(self, history: History) -> dict[str, Any]:
        """The fitted attributes of the rounds in a history, but those that take a pass over all rows."""
        model = {
            "n_iter_": len(history),
            **self.decision_attributes(history),
            "edges_": np.array(history.edges),
            "loss_curve_": np.array(history.losses),
            "bound_curve_": self.plan.values.bounds(history.edges, history.decreases),
            **self._learned(history.alphas),
        }
        importances = model.get("feature_importances_")
        if importances is not None and importances.sum() > 0:
            model["feature_importances_"] = importances / importances.sum()
        return model

    def decision_attributes(self, history: History) -> dict[str, Any]:
        """Those of them that say what scores mean."""
        candidates = self.plan.candidates
        kept = self.plan.values.attributes(history.alphas, history.decreases)
        if candidates.indices is None:
            return {"classes_": candidates.given, **kept}
        kept["class_prior_"] = candidates.spread(kept["class_prior_"], 0.0)
        return {"classes_": candidates.given, "_trained_indices": candidates.indices, **kept}

    def finished(self, history: History) -> dict[str, Any]:
        """All fitted attributes of the rounds in a history, except the origin."""
        plan, model = self.plan, self.attributes(history)
        confusion = error_confusion(self.rows.confusion(self._predictor(model)))
        return model | {
            "stop_reason_": history.stop_reason,
            "train_confusion_": plan.candidates.expand_pairs(confusion),
        }

    @abstractmethod
    def table_scorer(self, table: Any) -> Any:
        """Samples that hypotheses predict, one after the other."""

    @abstractmethod
    def _learned(self, alphas: Sequence[float]) -> dict[str, Any]:
        """What the model keeps of as many hypotheses as there are weights."""

    @abstractmethod
    def _predictor(self, model: Mapping[str, Any]) -> Any:
        """What predicts the classes of the rows that are trained on."""


@dataclass(frozen=True)
class TreeFit(Fit):
    """A fit of the built-in trees, wherever the rows are; ``categories`` are the values of the categories."""

    learner: TreeLearner
    rows: TreeRows
    categories: Categories

    def table_scorer(self, table: RawTable) -> TableScorer:
        """Samples that trees predict, one after the other."""
        return TableScorer(table.encode(self.categories), self.plan.n_threads)

    def _learned(self, alphas: Sequence[float]) -> dict[str, Any]:
        importances = self.learner.importances(alphas)
        return {
            "_forest": self.learner.forest(alphas),
            "_categories": self.categories,
            "_importances": importances,
            "feature_importances_": importances,
        }

    def _predictor(self, model: Mapping[str, Any]) -> Forest:
        forest: Forest = model["_forest"]
        return forest


@dataclass(frozen=True)
class EstimatorFit(Fit):
    """A fit of clones of a scikit-learn classifier."""

    learner: EstimatorLearner
    rows: PredictedRows

    def table_scorer(self, table: Any) -> EstimatorScorer:
        """Samples that clones predict, one after the other."""
        return EstimatorScorer(table)

    def _learned(self, alphas: Sequence[float]) -> dict[str, Any]:
        kept = {"estimators_": self.learner.kept[: len(alphas)]}
        importances = self.learner.importances(alphas)
        return kept if importances is None else {**kept, "feature_importances_": importances}

    def _predictor(self, model: Mapping[str, Any]) -> Labels:
        return self.learner.predict(model["estimator_weights_"])
