"""Weak learners. In: the costs of a round. Out: a hypothesis, its votes, and how much better than guessing it is."""

import math
import numbers
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone

from comboost import _core
from comboost._engine.binning import BinMapper
from comboost._engine.forest import Forest, Tree, with_covers
from comboost._engine.memory import check_room
from comboost._engine.rows import HISTOGRAM_BUDGET, Ballot, Costs, MemoryRows, SteppedRows, TreeRows, empty_histograms
from comboost._types import LABEL, Floats, Labels, Sums

LARGE_TREE = 2**20  # bytes of nodes; to ask the system takes no time beside what it takes to grow so many


class Hypothesis(NamedTuple):
    """h_t: its ballot and A = −Σ_i D(i,h(i)) in the units of the round; of a tree, D of every class in every leaf."""

    ballot: Ballot
    advantage: int
    leaf_costs: Sums | None = None


class Learner(Protocol):
    """The weak learner W of the paper; ``kept`` are its hypotheses, as they vote on new rows."""

    kept: list[Any]

    def learn(self, rows: Any, costs: Costs, round_idx: int) -> Hypothesis:
        """Learn h_t on D_t."""

    def keep(self, ballot: Any, drop: float, covers: Sums | None) -> None:
        """Keep the hypothesis just learned, as it voted.

        ``drop`` is by how much the logarithm of the loss fell, ``covers`` is what the rows of every leaf weigh.
        """

    def past_ballots(self) -> Iterator[Ballot]:
        """What the rounds of an earlier fit voted."""


@dataclass(frozen=True)
class TreeRules:
    """How a tree may grow; see the estimators' parameters."""

    max_depth: int | None
    criterion: str
    min_samples_leaf: int
    min_weight_fraction_leaf: float
    max_features: int
    seed: int
    max_leaf_nodes: int | None = None
    smoothing: float = 0.0  # loss that is added to a leaf's, when the criterion divides by it
    max_thresholds: int | None = None
    noise: float = 0.0


def count_features(max_features: int | float | str | None, n_features: int) -> int:
    """How many features ``max_features`` asks for: at least one."""
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
    """Grows a cost-sensitive tree per round, level by level or the best leaf first.

    Parameters
    ----------
    bins : BinMapper
        The bins of the rows.
    n_classes : int
        K.
    rules : TreeRules
        How a tree may grow.
    n_threads : int
        Threads of the split search.
    past : TreePast, optional
        What an earlier fit kept.

    Attributes
    ----------
    counts_rows : bool
        Whether histograms must count rows.
    kept : list of Tree
        The trees of all rounds.
    """

    def __init__(
        self, bins: BinMapper, n_classes: int, rules: TreeRules, n_threads: int, past: TreePast | None = None
    ) -> None:
        self._grower = _core.Grower(
            bins.bin_offsets,
            bins.kinds,
            bins.flat_edges,
            bins.edge_starts,
            n_classes,
            by_cost=rules.criterion == "cost",
            min_samples_leaf=rules.min_samples_leaf,
            min_weight_fraction_leaf=rules.min_weight_fraction_leaf,
            max_features=rules.max_features,
            seed=rules.seed,
            max_thresholds=rules.max_thresholds or 0,
            noise=rules.noise,
        )
        self.counts_rows = self._grower.counted
        self._kinds = bins.kinds
        self._n_classes = n_classes
        self._max_depth = rules.max_depth
        self._max_leaf_nodes = rules.max_leaf_nodes
        self._smoothing = rules.smoothing
        self._n_threads = n_threads
        self._histogram_bytes = 0
        self._n_first_bins = int(bins.n_bins[0])
        self._past = past or TreePast([], np.zeros(bins.n_features))
        self.kept = list(self._past.trees)
        # Of the rounds learned here:
        self._covers: list[Sums | None] = []
        self._importances: list[tuple[NDArray[np.intp], Floats]] = []  # by feature

    def learn(self, rows: TreeRows, costs: Costs, round_idx: int) -> Hypothesis:
        """Grow a tree on the costs."""
        self._grower.plant(self._totals(costs), round_idx, math.ldexp(self._smoothing, costs.exponent))
        self._histogram_bytes = 0 if costs.root is None else costs.root.nbytes
        stepped = rows.grow(self._grower, costs.root, self._max_depth, self._max_leaf_nodes)
        if stepped is not None:
            self._grow(stepped, costs.root)
        tree = Tree(self._grower.nodes(), self._grower.sets())
        return Hypothesis(tree, self._grower.advantage, self._grower.leaf_costs())

    def _totals(self, costs: Costs) -> Sums:
        """The sums of all rows, which the bins of any feature add up to."""
        totals = costs.totals if costs.root is None else np.add.reduce(costs.root[0, : self._n_first_bins])
        assert totals is not None
        return totals

    def _grow(self, rows: SteppedRows, root: Sums | None) -> None:
        """Grow a tree on rows that are told its splits, step by step."""
        if self._max_leaf_nodes is None:
            self._grow_levels(rows, root)
        else:
            self._grow_best_first(rows, root, self._max_leaf_nodes)

    def _grow_levels(self, rows: SteppedRows, root: Sums | None) -> None:
        """Divide all nodes of a level, level after level."""
        histograms = root
        depth = 0
        while depth != self._max_depth:
            self._search(rows, histograms)
            splits = self._grower.branch()
            depth += 1
            if len(splits) == 0 or depth == self._max_depth:
                break
            histograms = self._descend(rows, histograms, splits)

    def _grow_best_first(self, rows: SteppedRows, root: Sums | None, max_leaf_nodes: int) -> None:
        """Divide the leaf whose split raises the criterion most, again and again."""
        depths = [0]
        open_leaves = {} if root is None else {0: root}  # with their histograms, as far as these fit
        self._search(rows, root)
        for _ in range(2, max_leaf_nodes + 1):
            splits = self._grower.branch_best()
            if len(splits) == 0 or len(depths) // 2 + 2 == max_leaf_nodes:
                return
            parent, first = int(splits[0, 0]), len(depths)
            depths += 2 * [depths[parent] + 1]
            histograms = open_leaves.pop(parent, None)
            if depths[-1] == self._max_depth:
                rows.split(splits, count=False)
                continue
            children = self._descend(rows, histograms, splits)
            self._search(rows, children)
            if children is not None and (len(open_leaves) + 2) * self._histogram_bytes <= HISTOGRAM_BUDGET:
                open_leaves.update({first: children[:1], first + 1: children[1:]})

    def _search(self, rows: SteppedRows, histograms: Sums | None) -> None:
        if histograms is not None:
            self._grower.search(0, histograms, self._n_threads)
            return
        if rows.search(self._grower):
            return
        begin, size = self._grower.frontier_begin, self._grower.frontier_size
        step = max(1, HISTOGRAM_BUDGET // self._histogram_bytes)
        for first in range(0, size, step):
            nodes = np.arange(begin + first, begin + min(size, first + step), dtype=np.int32)
            self._grower.search(first, rows.count(nodes), self._n_threads)

    def _descend(self, rows: SteppedRows, histograms: Sums | None, splits: NDArray[np.int32]) -> Sums | None:
        """Histograms of the new frontier; None if they are too many to be held at once, or not needed."""
        n_nodes = 2 * len(splits)
        fit_in = histograms is not None and n_nodes * self._histogram_bytes <= HISTOGRAM_BUDGET
        counted = rows.split(splits, count=fit_in)
        if histograms is None or counted is None:
            return None
        children = empty_histograms(n_nodes, *counted.histograms.shape[1:])
        self._grower.derive(histograms, counted.histograms, counted.nodes, self._n_threads, children)
        return children

    def keep(self, ballot: Tree, drop: float, covers: Sums | None) -> None:
        """Keep the tree, and give its features their shares of the drop."""
        self.kept.append(ballot)
        self._covers.append(covers)
        if ballot.nodes.nbytes > LARGE_TREE:
            check_kept(self.kept)
        shares = np.zeros(len(self._past.importances))
        self._grower.share_out(max(drop, 0.0), shares)
        features = shares.nonzero()[0]  # the few of what may be very many
        self._importances.append((features, shares[features]))

    def past_ballots(self) -> Iterator[Tree]:
        """The trees that an earlier fit kept."""
        yield from self._past.trees

    def forest(self, alphas: Sequence[float]) -> Forest:
        """As many trees as there are weights."""
        n_past = len(self._past.trees)
        learned = with_covers(self.kept[n_past : len(alphas)], self._covers[: len(alphas) - n_past])
        return Forest.join([*self._past.trees[: len(alphas)], *learned], np.array(alphas), self._kinds, self._n_classes)

    def importances(self, alphas: Sequence[float]) -> Floats:
        """What every feature lowered the loss's logarithm by, in as many rounds as there are weights."""
        total = self._past.importances.copy()
        for features, shares in self._importances[: len(alphas) - len(self._past.trees)]:
            total[features] += shares  # one round after the other, as if an earlier fit had not stopped between them
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
        self._votes: list[Labels] = []

    def learn(self, rows: MemoryRows, costs: Costs, round_idx: int) -> Hypothesis:
        """Fit a clone on the rows weighted by their loss, scaled to mean 1."""
        losses = rows.row_losses()
        seen = rows_that_count(losses, self._labels)
        self._fitted = clone(self._estimator)
        seed_everything(self._fitted, self._seed, round_idx)
        self._fitted.fit(self._X[seen], self._labels[seen], sample_weight=losses[seen] / losses[seen].mean())
        votes = read_votes(self._fitted, self._X, self._n_classes)
        right, wrong, _ = rows.measure(votes)
        return Hypothesis(votes, int(right.sum()) - int(wrong.sum()))

    def keep(self, ballot: Labels, drop: float, covers: Sums | None) -> None:
        """Keep the clone and its votes."""
        assert self._fitted is not None
        self.kept.append(self._fitted)
        self._votes.append(ballot)

    def past_ballots(self) -> Iterator[Labels]:
        """The votes of the clones that an earlier fit kept."""
        for estimator in self.kept[: self._n_past]:
            self._votes.append(read_votes(estimator, self._X, self._n_classes))
            yield self._votes[-1]

    def elected(self, alphas: Sequence[float]) -> Labels:
        """The prediction for every row of as many rounds as there are weights."""
        scores = np.zeros((len(self._labels), self._n_classes))
        for votes, alpha in zip(self._votes, alphas, strict=False):
            scores[np.arange(len(self._labels)), votes] += alpha
        labels: Labels = scores.argmax(axis=1).astype(LABEL)
        return labels

    def importances(self, alphas: Sequence[float]) -> Floats | None:
        """Mean importances of as many clones as there are weights, weighted by them; None if they have none."""
        estimators = self.kept[: len(alphas)]
        if not all(hasattr(estimator, "feature_importances_") for estimator in estimators):
            return None
        importances: Floats = np.average(
            [estimator.feature_importances_ for estimator in estimators], axis=0, weights=alphas
        )
        return importances


class EstimatorAudience:
    """Rows that clones vote on, one after the other; X is a matrix as they take it."""

    def __init__(self, X: Any) -> None:
        self._X = X

    def add_votes(self, estimator: ClassifierMixin, weight: float, scores: Floats) -> None:
        """Add the votes of a clone to the scores, (n_samples, n_classes)."""
        votes = read_votes(estimator, self._X, scores.shape[1])
        scores[np.arange(len(votes)), votes] += weight


def check_kept(trees: Sequence[Tree]) -> None:
    """Raise if there is no room to join all trees, nor for another one: nobody knows beforehand how large they are."""
    check_room(
        f"To join {len(trees)} trees and to grow another one, a fit",
        {"nodes of the trees": sum(tree.nodes.nbytes for tree in trees) + trees[-1].nodes.nbytes},
        "Give smaller trees (max_depth, max_leaf_nodes, min_samples_leaf), or fewer of them (n_estimators).",
    )


def shares_of(importances: Floats) -> Floats:
    """Importances that sum to 1, unless they are all zero."""
    total = importances.sum()
    return importances / total if total > 0 else importances


def rows_that_count(losses: Floats, labels: Labels) -> slice | NDArray[np.bool_]:
    """Rows with a loss: many a learner stumbles over weight zero. All rows if those have a single class."""
    counts = losses > 0
    if counts.all() or len(np.unique(labels[counts])) < 2:
        return slice(None)
    return counts


def read_votes(estimator: ClassifierMixin, X: Any, n_classes: int) -> Labels:
    """Predictions of a weak learner as class indices, checked: it may be anybody's code."""
    votes = np.asarray(estimator.predict(X))
    if votes.shape == (X.shape[0], 1):  # some libraries predict a column
        votes = votes[:, 0]
    is_index = votes.dtype.kind in "iu" and votes.shape == (X.shape[0],)
    if not is_index or (len(votes) > 0 and not 0 <= votes.min() <= votes.max() < n_classes):
        raise ValueError(
            f"{estimator!r} was fitted on the class indices 0 to {n_classes - 1}, but predicts {votes.dtype} of shape "
            f"{votes.shape}: {votes.ravel()[:3].tolist()}...; give an estimator whose predict returns the labels it "
            "was fitted on, one per row."
        )
    labels: Labels = votes.astype(LABEL)
    return labels


def seed_everything(estimator: ClassifierMixin, seed: int, round_idx: int) -> None:
    """Set every ``random_state`` inside an estimator to a number keyed by seed, round and place."""
    names = sorted(name for name in estimator.get_params(deep=True) if name.split("__")[-1] == "random_state")
    states = np.random.SeedSequence([seed, round_idx]).generate_state(max(1, len(names)))
    estimator.set_params(**{name: int(state % 2**31) for name, state in zip(names, states, strict=False)})
