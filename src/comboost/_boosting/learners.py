"""Weak learners, and the fit that boosts each kind of them: what it needs, and which attributes the model keeps."""

import math
import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone

from comboost._boosting.loop import History, Learner
from comboost._boosting.warm_start import FitFingerprint, fingerprints
from comboost._data.categories import Categories
from comboost._data.labels import Candidates
from comboost._data.tables import RawTable
from comboost._engine.forest import Forest, Tree, with_covers
from comboost._engine.leaf_values import LeafValues
from comboost._engine.losses import error_confusion
from comboost._engine.memory import check_room
from comboost._engine.memory_plan import TreeLimits
from comboost._engine.rows import Costs, Learned, PredictedRows, Rows, TreeRows
from comboost._engine.scores import TableScorer
from comboost._types import LABEL, LEAF, NODE_DTYPE, Floats, Kinds, Labels, Sums

LARGE_TREE = 2**20  # bytes of nodes; to ask the system takes no time beside what it takes to grow so many


def count_features(max_features: int | float | str | None, n_features: int) -> int:
    """Number of features that ``max_features`` requests: at least one."""
    if max_features is None:
        return n_features
    if max_features == "sqrt":
        return max(1, math.isqrt(n_features))
    if max_features == "log2":
        return max(1, int(math.log2(n_features)))
    if not isinstance(max_features, numbers.Integral):
        return max(1, int(float(max_features) * n_features))
    n_drawn = int(max_features)
    if n_drawn > n_features:
        raise ValueError(
            f"max_features={n_drawn}, but X has {n_features} features; give at most that many, or None for all."
        )
    return n_drawn


class TreePast(NamedTuple):
    """What an earlier fit kept: its trees, and what every feature lowered the loss's logarithm by."""

    trees: list[Tree]
    importances: Floats


class TreeLearner:
    """Grows a cost-sensitive tree per round.

    Parameters
    ----------
    kinds : ndarray of uint8
        What every feature is.
    n_classes : int
        K.
    smoothing : float
        Loss that is added to a leaf's, when the criterion divides by it.
    past : TreePast, optional
        What an earlier fit kept.

    Attributes
    ----------
    kept : list of Tree
        The trees of all rounds.
    """

    def __init__(self, kinds: Kinds, n_classes: int, smoothing: float, past: TreePast | None = None) -> None:
        self._kinds = kinds
        self._n_classes = n_classes
        self._smoothing = smoothing
        self._past = past or TreePast([], np.zeros(len(kinds)))
        self.kept = list(self._past.trees)
        # Of the rounds learned here:
        self._covers: list[Sums] = []
        self._importances: list[tuple[NDArray[np.intp], Floats]] = []  # by feature

    def learn(self, rows: TreeRows, costs: Costs, round_idx: int) -> Learned:
        """Grow a tree on the costs."""
        return rows.grow(round_idx, math.ldexp(self._smoothing, costs.exponent))

    def keep(self, learned: Learned, hypothesis: Tree, drop: float, covers: Sums | None) -> None:
        """Keep the tree, and give its features their fractions of the drop."""
        self.kept.append(hypothesis)
        if covers is not None:
            self._covers.append(covers)
        if hypothesis.nodes.nbytes > LARGE_TREE:
            check_kept(self.kept)
        features = hypothesis.nodes.view(NODE_DTYPE)["feature"][:, 0]
        assert learned.gains is not None
        gained = np.asarray(np.bincount(features[features != LEAF], max(drop, 0.0) * learned.gains), dtype=np.float64)
        used = gained.nonzero()[0]  # the few of what may be very many
        self._importances.append((used, gained[used]))

    def past_hypotheses(self) -> Iterator[Tree]:
        """The trees that an earlier fit kept."""
        yield from self._past.trees

    def forest(self, alphas: Sequence[float]) -> Forest:
        """As many trees as there are weights."""
        n_past = len(self._past.trees)
        learned = self.kept[n_past : len(alphas)]
        if learned and self._covers:  # all trees have them, or none
            learned = with_covers(learned, self._covers[: len(learned)])
        return Forest.join([*self._past.trees[: len(alphas)], *learned], np.array(alphas), self._kinds, self._n_classes)

    def importances(self, alphas: Sequence[float]) -> Floats:
        """What every feature lowered the loss's logarithm by, in as many rounds as there are weights."""
        total = self._past.importances.copy()
        for features, decreases in self._importances[: len(alphas) - len(self._past.trees)]:
            total[features] += decreases  # one round after the other, as if an earlier fit had not stopped between them
        return total


class EstimatorLearner:
    """Fits a clone of a scikit-learn classifier per round, with the rows' losses as sample weights.

    Parameters
    ----------
    estimator : classifier
        The classifier to clone.
    X : array-like
        The rows, as the classifier takes them.
    labels : ndarray of uint16
        The class index of every row.
    n_classes : int
        K.
    seed : int
        Seeds the clones' ``random_state``, a new one each round.
    past : list of classifiers
        The clones that an earlier fit kept.
    """

    def __init__(
        self,
        estimator: ClassifierMixin,
        X: Any,
        labels: Labels,
        n_classes: int,
        seed: int,
        past: Sequence[ClassifierMixin] = (),
    ) -> None:
        self._estimator = estimator
        self._X = X
        self._labels = labels
        self._seed = seed
        self._n_classes = n_classes
        self._fitted: ClassifierMixin | None = None
        self._n_past = len(past)
        self.kept = list(past)
        self._predicted: list[Labels] = []

    def learn(self, rows: PredictedRows, costs: Costs, round_idx: int) -> Learned:
        """Fit a clone on the rows weighted by their loss, scaled to mean 1."""
        losses = rows.sample_losses()
        seen = rows_that_count(losses, self._labels)
        self._fitted = clone(self._estimator)
        seed_everything(self._fitted, self._seed, round_idx)
        self._fitted.fit(self._X[seen], self._labels[seen], sample_weight=losses[seen] / losses[seen].mean())
        predicted = read_predictions(self._fitted, self._X, self._n_classes)
        return Learned(predicted, rows.advantage(predicted))

    def keep(self, learned: Learned, hypothesis: Labels, drop: float, covers: Sums | None) -> None:
        """Keep the clone and the classes that it predicts."""
        assert self._fitted is not None
        self.kept.append(self._fitted)
        self._predicted.append(hypothesis)

    def past_hypotheses(self) -> Iterator[Labels]:
        """The classes that the clones of an earlier fit predict."""
        for estimator in self.kept[: self._n_past]:
            self._predicted.append(read_predictions(estimator, self._X, self._n_classes))
            yield self._predicted[-1]

    def predict(self, alphas: Sequence[float]) -> Labels:
        """Predict the class of every sample with as many rounds as there are weights."""
        scores = np.zeros((len(self._labels), self._n_classes))
        for predicted, alpha in zip(self._predicted, alphas, strict=False):
            scores[np.arange(len(self._labels)), predicted] += alpha
        labels: Labels = scores.argmax(axis=1).astype(LABEL)
        return labels

    def importances(self, alphas: Sequence[float]) -> Floats | None:
        """Mean importances of as many clones as there are weights, weighted by them; None if they have none."""
        estimators = self.kept[: len(alphas)]
        if not all(hasattr(estimator, "feature_importances_") for estimator in estimators):
            return None
        weights = alphas if any(alphas) else None  # a tiny learning rate may leave only zeros
        importances: Floats = np.average(
            [estimator.feature_importances_ for estimator in estimators], axis=0, weights=weights
        )
        return importances


class EstimatorScorer:
    """Samples that clones predict, one after the other; X is a matrix as they take it."""

    def __init__(self, X: Any) -> None:
        self._X = X

    def add_scores(self, estimator: ClassifierMixin, weight: float, scores: Floats) -> None:
        """Add the predictions of a clone to the scores, (n_samples, n_classes)."""
        predicted = read_predictions(estimator, self._X, scores.shape[1])
        scores[np.arange(len(predicted)), predicted] += weight


def check_kept(trees: Sequence[Tree]) -> None:
    """Raise if memory is too small to join all trees, or for another one; their size is not known beforehand."""
    check_room(
        f"To join {len(trees)} trees and to grow another one, a fit",
        {"nodes of the trees": sum(tree.nodes.nbytes for tree in trees) + trees[-1].nodes.nbytes},
        "Give smaller trees (max_depth, max_leaf_nodes, min_samples_leaf), or fewer of them (n_estimators).",
    )


def rows_that_count(losses: Floats, labels: Labels) -> slice | NDArray[np.bool_]:
    """Samples with a loss, since many learners fail with weight zero; all samples if those have a single class."""
    counts = losses > 0
    if counts.all() or len(np.unique(labels[counts])) < 2:
        return slice(None)
    return counts


def read_predictions(estimator: ClassifierMixin, X: Any, n_classes: int) -> Labels:
    """Predictions of a weak learner as class indices, checked: it may be third-party code."""
    predicted = np.asarray(estimator.predict(X))
    if predicted.shape == (X.shape[0], 1):  # some libraries predict a column
        predicted = predicted[:, 0]
    is_index = predicted.dtype.kind in "iu" and predicted.shape == (X.shape[0],)
    if not is_index or (len(predicted) > 0 and not 0 <= predicted.min() <= predicted.max() < n_classes):
        raise ValueError(
            f"{estimator!r} was fitted on the class indices 0 to {n_classes - 1}, but predicts {predicted.dtype} "
            f"of shape {predicted.shape}: {predicted.ravel()[:3].tolist()}...; give an estimator whose predict returns "
            "the labels it was fitted on, one per row."
        )
    labels: Labels = predicted.astype(LABEL)
    return labels


def seed_everything(estimator: ClassifierMixin, seed: int, round_idx: int) -> None:
    """Set every ``random_state`` inside an estimator to a number keyed by seed, round and name."""
    names = sorted(name for name in estimator.get_params(deep=True) if name.split("__")[-1] == "random_state")
    states = np.random.SeedSequence([seed, round_idx]).generate_state(max(1, len(names)))
    estimator.set_params(**{name: int(state % 2**31) for name, state in zip(names, states, strict=False)})


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
        Whether sample weights only differ between classes.
    n_samples : int
        Rows of the table that was given.
    seed : int
        Seeds the draws of every round.
    n_threads : int
        Threads of every kernel.
    selected : mapping of str to Any
        Fitted attributes that describe how the parameters were selected.
    """

    parameters: Mapping[str, Any]
    values: LeafValues
    limits: TreeLimits
    candidates: Candidates
    by_class: bool
    n_samples: int
    seed: int
    n_threads: int
    selected: Mapping[str, Any] = field(default_factory=dict)


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
            fingerprints(plan.parameters), plan.seed, plan.n_samples, plan.candidates.classes, self.row_fingerprint
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
            **self.plan.selected,
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
