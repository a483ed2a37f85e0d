"""The quantised twin for many rows: what passes over the rows stands here in NumPy, bit for bit the same.

Bins, candidates, scores and steps are those of `quantised_reference`, which see sums and no rows. Sums over rows are
int64, which hold them: none exceeds 2⁶². Reasons to end a fit are not looked for, so all rounds must have an edge.
"""

import math
from collections import deque
from dataclasses import dataclass, field

import numpy as np

from reference.quantised_reference import (
    MISSING,
    TOO_COARSE,
    Feature,
    Sums,
    TreeSettings,
    TwinNode,
    base_masses,
    best_split,
    draw_features,
    edge_of,
    edge_step,
    exponent_for,
    unit_costs,
    write_split,
)


@dataclass
class ArrayModel:
    """What a fit leaves behind: one entry a round."""

    features: list[Feature]
    n_classes: int
    trees: list[list[TwinNode]] = field(default_factory=list)
    alphas: list[float] = field(default_factory=list)
    edges: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)

    def staged_scores(self, X):
        """Yield the weighted votes f after every round, always the same array."""
        scores = np.zeros((len(X), self.n_classes))
        for nodes, alpha in zip(self.trees, self.alphas, strict=True):
            scores[np.arange(len(X)), vote(nodes, X, self.features)] += alpha
            yield scores

    def scores(self, X):
        """Return the weighted votes f of all rounds."""
        *_, scores = self.staged_scores(X)
        return scores


# Bins


def read_feature(column, weights, max_bins, is_categorical):
    """Return the bins of a column, from its distinct values and their summed weights."""
    values, places = np.unique(column, return_inverse=True)
    of_value = add_up(weights[:, np.newaxis], places, len(values))[:, 0].tolist()
    if is_categorical:
        return Feature.of_categories(values.tolist(), of_value)
    return Feature.of_numbers(values.tolist(), of_value, max_bins)


def encode(feature, column):
    """Return the codes of a column."""
    if feature.categories is not None:
        known = np.array(feature.categories)
        places = np.minimum(np.searchsorted(known, column), len(known) - 1)
        rest = np.where(np.isin(column, list(feature.rest)), len(known) + 1, MISSING)
        return np.where(known[places] == column, places + 1, rest)
    n_below = np.searchsorted(feature.edges, column)
    return np.where(np.isnan(column), MISSING, n_below + 1) if feature.reserves_missing else n_below


# Costs


def add_up(values, places, n_places):
    """Return the sums of the rows of a matrix of integers that have the same place."""
    counts = np.bincount(places, minlength=n_places)
    starts, filled = np.cumsum(counts) - counts, counts > 0
    sums = np.zeros((n_places, values.shape[1]), dtype=np.int64)
    sums[filled] = np.add.reduceat(values[np.argsort(places, kind="stable")], starts[filled], axis=0)
    return sums


class Rows:
    """All rows: labels, integer weights, excess E, and the integers D(0..K−1), Λ and 1 of every row."""

    def __init__(self, y, weights, unit):
        self.y, self.weights, self.unit = y, weights, np.array(unit)
        self.excess = np.ones((len(y), len(unit)))
        self._quantise_within(np.cumsum(self.unit, axis=1)[:, -1].max())

    def add(self, votes, alpha):
        """Add the votes of a round and quantise anew."""
        others = np.arange(len(self.unit)) != self.y[:, np.newaxis]
        is_right = votes == self.y
        self.excess[is_right[:, np.newaxis] & others] *= math.exp(-alpha)
        self.excess[~is_right, votes[~is_right]] *= math.exp(alpha)
        self._quantise_within(math.exp(alpha) * self.largest)

    def _quantise_within(self, bound):
        self._quantise(exponent_for(bound, len(self.unit)))
        if math.ldexp(self.largest, self.exponent) < TOO_COARSE:
            self._quantise(exponent_for(self.largest, len(self.unit)))

    def _quantise(self, exponent):
        n_classes = len(self.unit)
        factor = np.ldexp(self.unit, exponent)[self.y]
        v = np.where(factor == 0.0, 0.0, factor * self.excess)
        u = np.rint(v).astype(np.int64)
        losses = u.sum(axis=1)
        u[np.arange(len(u)), self.y] = -losses
        in_class_order = np.cumsum(v, axis=1)[:, -1]
        self.exponent, self.largest = exponent, math.ldexp(in_class_order.max(), -exponent)
        self.sums = np.empty((len(u), n_classes + 2), dtype=np.int64)
        self.sums[:, :n_classes] = u * self.weights[:, np.newaxis]
        self.sums[:, n_classes] = losses * self.weights
        self.sums[:, n_classes + 1] = 1
        self.loss = int(self.sums[:, n_classes].sum())  # Λ

    @property
    def real_loss(self):
        """L, the loss in floats."""
        return math.ldexp(float(self.loss), -self.exponent)

    def measure(self, votes):
        """Return A₊ and A₋."""
        is_right = votes == self.y
        wrong = np.flatnonzero(~is_right)
        return int(self.sums[is_right, -2].sum()), int(self.sums[wrong, votes[wrong]].sum())


# Tree


def as_sums(totals):
    """Return a row of integers in the words of the quantised twin."""
    *costs, loss, n_samples = totals.tolist()
    return Sums(costs, loss, n_samples)


def grow_tree(sums, codes, features, settings, round_idx):
    """Grow one tree, level by level; see the quantised twin."""
    min_loss = settings.min_weight_fraction_leaf * float(sums[:, -2].sum())
    nodes = [TwinNode()]
    gain = 0
    queue = deque([(0, 0, np.arange(len(sums)))])
    while queue:
        depth, node_idx, rows = queue.popleft()
        node, total = nodes[node_idx], as_sums(sums[rows].sum(axis=0))
        node.label, node.cost = total.label, min(total.costs)
        split = None
        if depth != settings.max_depth and not total.is_settled:
            drawn = draw_features(settings.seed, round_idx, node_idx, len(codes), settings.max_features)
            parts = sums[rows]
            histograms = {
                f: [as_sums(total) for total in add_up(parts, codes[f][rows], features[f].n_codes)] for f in drawn
            }
            split = best_split(
                features,
                histograms,
                total,
                criterion=settings.criterion,
                min_samples_leaf=settings.min_samples_leaf,
                min_loss=min_loss,
            )
        if split is None:
            gain -= node.cost
            continue
        write_split(node, split, features[split.feature])
        node.left = len(nodes)
        nodes += [TwinNode(), TwinNode()]
        is_left = np.isin(codes[split.feature][rows], list(split.left_codes))
        queue.append((depth + 1, node.left, rows[is_left]))
        queue.append((depth + 1, node.left + 1, rows[~is_left]))
    return nodes, gain


def vote(nodes, X, features):
    """Return the class that a tree votes for on every row, given the raw values."""
    place = np.zeros(len(X), dtype=np.intp)
    for node_idx, node in enumerate(nodes):  # children stand behind their parents
        if node.left != -1:
            here = np.flatnonzero(place == node_idx)
            is_left = goes_left(node, X[here, node.feature].astype(np.float64), features[node.feature])
            place[here] = np.where(is_left, node.left, node.left + 1)
    return np.array([node.label for node in nodes])[place]


def goes_left(node, values, feature):
    """Return where raw values go."""
    if node.left_codes is not None:
        return np.isin(encode(feature, values), list(node.left_codes))
    return np.where(np.isnan(values), node.missing_left, values <= node.threshold)


# Fit


def fit(
    X,
    y,
    *,
    n_estimators,
    algorithm="combo",
    learning_rate=1.0,
    max_depth=3,
    criterion="gini",
    min_samples_leaf=1,
    min_weight_fraction_leaf=0.0,
    max_features=None,
    max_bins=255,
    step="edge",
    cost_matrix=None,
    sample_weight=None,
    seed=0,
    categorical=(),
):
    """Fit CoMBo or AdaBoost.MM as the quantised twin does; the weights must be whole numbers above 0.

    They are not scaled to 2³², since a power of two changes no bit.
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    n_classes = int(y.max()) + 1
    weights = np.ones(len(y), dtype=np.int64) if sample_weight is None else np.asarray(sample_weight).astype(np.int64)
    weight_sums = add_up(weights[:, np.newaxis], y, n_classes)[:, 0].tolist()
    costs = np.ones((n_classes, n_classes)) if cost_matrix is None else np.asarray(cost_matrix, dtype=np.float64)

    features = [read_feature(column, weights, max_bins, f in categorical) for f, column in enumerate(X.T)]
    codes = [encode(feature, column).astype(np.uint8) for feature, column in zip(features, X.T, strict=True)]
    settings = TreeSettings(max_depth, criterion, min_samples_leaf, min_weight_fraction_leaf, max_features, seed)
    rows = Rows(y, weights, unit_costs(costs.tolist(), base_masses(weight_sums, algorithm)))
    model = ArrayModel(features, n_classes)
    for round_idx in range(n_estimators):
        nodes, gain = grow_tree(rows.sums, codes, features, settings, round_idx)
        votes = vote(nodes, X, features)
        right, wrong = rows.measure(votes)
        alpha = edge_step(gain, rows.loss) if step == "edge" else 0.5 * math.log(right / wrong)
        model.edges.append(edge_of(gain, rows.loss)[0])
        model.alphas.append(alpha * learning_rate)
        rows.add(votes, model.alphas[-1])
        model.losses.append(rows.real_loss)
        model.trees.append(nodes)
    return model
