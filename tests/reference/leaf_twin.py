"""Votes for every class, slowly and plainly, after docs/decisions/0005-votes-for-every-class.md: rows in, model out.

Weights, bins and trees are those of `quantised_twin`. The sections stand in the order of that page.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from reference.quantised_twin import (
    TOO_COARSE,
    VANISHED_LOSS,
    QuantisedCosts,
    TreeSettings,
    TwinNode,
    add_in_order,
    edge_of,
    error_confusion,
    exponent_for,
    find_leaf,
    grow_tree,
    quantise,
    read,
    read_costs,
    share_out,
    unit_costs,
    weigh,
)

MOST_CLASSES_OF_PAIRS = 128  # up to these a leaf has K² sums, above them 2K
N_SWEEPS = 8
LARGEST_FACTOR = math.sqrt(2.0**31)  # b
SMALLEST_FACTOR = 1.0 / LARGEST_FACTOR
LARGEST_STEP = 0.5 * math.log(2.0**31)
LARGEST_EXCESS = 2.0**960
SMALLEST_EXCESS = 2.0**-960
BITS_OF_LOSS = 51


# Losses


def base_masses(class_weights, balance):
    """Return what stands for M_l in w_i = n_i/M_l."""
    n_classes = len(class_weights)
    if balance == 1:
        return [float(weight) for weight in class_weights]
    if balance == 0:
        return [sum(class_weights) / n_classes] * n_classes
    rest = 1.0 - balance
    scale = add_in_order(math.pow(weight, rest) for weight in class_weights) / n_classes  # κ
    return [math.pow(weight, balance) * scale for weight in class_weights]


class ExponentialLoss:
    """Σ_i w_i Σ_j c(y_i,j)·E(i,j)."""

    most = math.inf  # what a row can cost at all

    def __init__(self, cost_matrix, masses, class_weights):
        self.unit = unit_costs(cost_matrix, masses)
        self.first_bound = max(add_in_order(row) for row in self.unit)
        shares = [weight / mass for weight, mass in zip(class_weights, masses, strict=True)]
        self.start = add_in_order(share * add_in_order(row) for share, row in zip(shares, cost_matrix, strict=True))

    def quantise(self, excess, y, exponent):
        """Make a pass."""
        return quantise(self.unit, excess, y, exponent)

    def measure(self, rows):
        """Return L."""
        return rows.pull

    def rounding(self, rows):
        """Return how far rint may have moved L."""
        return rows.rounding * rows.pull

    @staticmethod
    def lower(bound, rate, promise, pull):
        """Return the bound on the loss after a round."""
        return bound * (1 - rate * (1 - promise))


class LogLoss:
    """Σ_i w_i·c̄·log₂(1 + Σ_j c̃(y_i,j)·E(i,j))."""

    def __init__(self, cost_matrix, masses, class_weights):
        largest = [max(row) for row in cost_matrix]  # c̄
        self.shares = [  # c̃
            [cost / most if most else 0.0 for cost in row] for row, most in zip(cost_matrix, largest, strict=True)
        ]
        self.tops = [most / mass for most, mass in zip(largest, masses, strict=True)]
        self.first_bound = self.most = max(self.tops)
        whole = add_in_order(float(weight) * top for weight, top in zip(class_weights, self.tops, strict=True))
        self.exponent = BITS_OF_LOSS - math.frexp(whole)[1]  # e'
        self.start = add_in_order(
            weight * top * math.log2(1.0 + add_in_order(row))
            for weight, top, row in zip(class_weights, self.tops, self.shares, strict=True)
        )

    def parts(self, excess_row, label):
        """Return c̃·E of a row, 0 for its own class."""
        shares = zip(self.shares[label], excess_row, strict=True)
        return [share * e if share != 0.0 else 0.0 for share, e in shares]

    def quantise(self, excess, y, exponent):
        """Make a pass."""
        units = []
        largest = 0.0
        for label, excess_row in zip(y, excess, strict=True):
            parts = self.parts(excess_row, label)
            z = add_in_order(parts)
            scale = math.ldexp(self.tops[label], exponent) / (1.0 + z)  # s_i
            row = [round(part * scale) for part in parts]
            row[label] = -sum(row)
            units.append(row)
            largest = max(largest, z * scale)
        return QuantisedCosts(units, exponent, math.ldexp(largest, -exponent))

    def measure(self, rows):
        """Return L, which has an exponent of its own."""
        total = 0
        for label, excess_row, n in zip(rows.labels, rows.excess, rows.weights, strict=True):
            z = add_in_order(self.parts(excess_row, label))
            total += n * round(math.ldexp(self.tops[label], self.exponent) * math.log2(1.0 + z))
        return math.ldexp(float(total), -self.exponent)

    def rounding(self, rows):
        """Return how far rint may have moved L."""
        return math.ldexp(sum(rows.weights) / 2, -self.exponent)

    @staticmethod
    def lower(bound, rate, promise, pull):
        """Return the bound on the loss after a round."""
        return bound - rate * pull * (1 - promise) / math.log(2.0)


LOSSES = {"exponential": ExponentialLoss, "log": LogLoss}


# The vote of a leaf


@dataclass
class LeafSums:
    """S_q of a leaf, all of it or only its row sums up_q and column sums down_q, and the leaf's class h."""

    label: int
    up: list[int]
    down: list[int]
    pairs: list[list[int]]  # S_q


def leaf_sums(units, labels, weights, leaves, leaf_labels):
    """Add up the leaves' soft confusion matrices, given each row's leaf."""
    n_classes = len(units[0])
    pairs = [[[0] * n_classes for _ in range(n_classes)] for _ in leaf_labels]
    for row, label, n, leaf in zip(units, labels, weights, leaves, strict=True):
        for j, u in enumerate(row):
            if j != label:
                pairs[leaf][label][j] += n * u
    return [
        LeafSums(label, [sum(row) for row in of_leaf], [sum(column) for column in zip(*of_leaf, strict=True)], of_leaf)
        for label, of_leaf in zip(leaf_labels, pairs, strict=True)
    ]


def smoothing_costs(smoothing, loss, n_leaves, cost_matrix):
    """Return ρ(l,j)."""
    total = add_in_order(cost for row in cost_matrix for cost in row)  # Σc
    scale = smoothing * float(loss) / (n_leaves * total)
    return [[scale * cost for cost in row] for row in cost_matrix]


def centre(logs):
    """Return votes that add up to 0."""
    mean = add_in_order(logs) / len(logs)
    return [value - mean for value in logs]


def balance(matrix, first, n_sweeps=N_SWEEPS):
    """Return the factors x of matrix balancing by Osborne's steps, and their inverses y; ``first`` is h."""
    n_classes = len(matrix)
    x, y = [1.0] * n_classes, [1.0] * n_classes
    order = [*range(first, n_classes), *range(first)]
    for _ in range(n_sweeps):
        for j in order:
            others = [k for k in range(n_classes) if k != j]
            r = add_in_order(matrix[j][k] * x[k] for k in others)
            s = add_in_order(matrix[k][j] * y[k] for k in others)
            x[j] = balancing_factor(r, s)
            y[j] = 1.0 / x[j]
    return x, y


def balancing_factor(r, s):
    """Return x_j = sqrt(r/s) within its limits."""
    if s == 0.0:
        return 1.0 if r == 0.0 else LARGEST_FACTOR
    return min(max(math.sqrt(r / s), SMALLEST_FACTOR), LARGEST_FACTOR)


def vote_by_pairs(sums, rho):
    """Return the vote v of a leaf before the learning rate, and what it promises, p_q."""
    pairs = [[float(value) for value in row] for row in sums.pairs]
    matrix = [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(pairs, rho, strict=True)]  # A
    x, y = balance(matrix, sums.label)
    promise = add_in_order(pairs[k][j] * x[j] * y[k] for k in range(len(x)) for j in range(len(x)) if j != k)
    return centre([math.log(value) for value in x]), promise


def vote_by_classes(sums, rho, learning_rate):
    """Return the vote of a leaf and its promise, for many classes: each class is on its own."""
    logs, promises = [], []
    for k, (up, down) in enumerate(zip(sums.up, sums.down, strict=True)):
        pulls = float(up) + add_in_order(rho[k])
        pushes = float(down) + add_in_order(row[k] for row in rho)
        step = class_step(pulls, pushes)  # t_l
        logs.append(step * (1.0 - learning_rate / 2))
        promises.append(0.5 * (float(down) * math.exp(step) + float(up) * math.exp(-step)))
    return centre(logs), add_in_order(promises)


def class_step(pulls, pushes):
    """Return t_l within its limits."""
    if pulls == 0.0 and pushes == 0.0:
        return 0.0
    if pulls == 0.0 or pushes == 0.0:
        return LARGEST_STEP if pushes == 0.0 else -LARGEST_STEP
    return min(max(0.5 * math.log(pulls / pushes), -LARGEST_STEP), LARGEST_STEP)


def leaf_votes(leaves, rho, learning_rate):
    """Return every leaf's vote, as it is stored, and the sum of what all leaves promise."""
    by_pairs = len(rho) <= MOST_CLASSES_OF_PAIRS
    votes, promises = [], []
    for sums in leaves:
        vote, promise = vote_by_pairs(sums, rho) if by_pairs else vote_by_classes(sums, rho, learning_rate)
        votes.append([float(np.float32(learning_rate * value)) for value in vote])
        promises.append(promise)
    return votes, add_in_order(promises)


# A pass


class Rows:
    """The kept rows: labels, integer weights, excess E, and the quantised costs of the round."""

    def __init__(self, labels, weights, loss):
        self.labels, self.weights, self.loss = labels, weights, loss
        self.n_classes = max(labels) + 1
        self.excess = [[1.0] * self.n_classes for _ in labels]
        self._quantise_within(loss.first_bound)

    def add(self, leaves, sums, votes):
        """Add the votes of a round, given each row's leaf, and quantise anew."""
        grow = [[math.exp(v) for v in vote] for vote in votes]  # G
        shrink = [[math.exp(-v) for v in vote] for vote in votes]  # H
        bound = self._bound(sums, grow, shrink)
        for row, label, leaf in zip(self.excess, self.labels, leaves, strict=True):
            for j in range(self.n_classes):
                if j != label:
                    value = row[j] * (grow[leaf][j] * shrink[leaf][label])
                    row[j] = min(max(value, SMALLEST_EXCESS), LARGEST_EXCESS)
        self._quantise_within(bound)

    def _bound(self, sums, grow, shrink):
        """Return the bound on r after the votes."""
        bound = 0.0
        for q, leaf in enumerate(sums):
            most = max(grow[q])
            for up, factor in zip(leaf.up, shrink[q], strict=True):
                of_class = math.ldexp(float(up + self.n_classes), -self.costs.exponent)
                bound = max(bound, min(self.costs.largest_row, of_class) * (most * factor))
        return min(bound, self.loss.most)

    def _quantise_within(self, bound):
        self._quantise(exponent_for(bound, self.n_classes))
        if math.ldexp(self.costs.largest_row, self.costs.exponent) < TOO_COARSE:
            self._quantise(exponent_for(self.costs.largest_row, self.n_classes))
        self.sums = weigh(self.costs.units, self.labels, self.weights)
        self.total = sum(row.loss for row in self.sums)  # Λ

    def _quantise(self, exponent):
        self.costs = self.loss.quantise(self.excess, self.labels, exponent)

    @property
    def pull(self):
        """Λ in floats: the summed gradient of the loss, and the exponential loss itself."""
        return math.ldexp(float(self.total), -self.costs.exponent)

    @property
    def unit_rounding(self):
        """How far rint may have moved one row's cost of one class, per unit of weight."""
        return math.ldexp(0.5, -self.costs.exponent)

    @property
    def rounding(self):
        """How far rint may have moved Λ, relative."""
        most = sum(self.weights) * (self.n_classes - 1) / 2
        return most / self.total if self.total else math.inf


# Round


@dataclass
class LeafRound:
    """One kept round.

    Attributes
    ----------
    leaves : list of int
        The leaf of every row of X, those of weight 0 too; leaves are numbered in the order of their nodes.
    sums : list of LeafSums
        What the votes were computed from.
    votes : list of list of float, (n_leaves, n_classes)
        What each leaf votes, learning rate included.
    pull, unit_rounding : float
        Before the round: Λ in floats, and how far a cost per unit of weight may be from that in exact arithmetic.
    promise : float
        P, what the leaves leave of Λ at most, as a share.
    loss, bound : float
        L and the bound on it, both after the round.
    loss_rounding : float
        How far L may be from that in exact arithmetic.
    """

    nodes: list[TwinNode]
    leaves: list[int]
    sums: list[LeafSums]
    votes: list[list[float]]
    edge: float
    pull: float
    unit_rounding: float
    promise: float
    loss: float
    bound: float
    importances: list[float]
    loss_rounding: float


@dataclass
class LeafModel:
    """What a fit leaves behind; ``kept`` are the rows of positive integer weight, ``weights`` these weights."""

    n_classes: int
    kept: list[int]
    weights: list[int]
    initial_loss: float
    rounds: list[LeafRound] = field(default_factory=list)
    stop_reason: str = "n_estimators"
    train_confusion: list[list[float]] = field(default_factory=list)

    def scores(self):
        """Return f of every row of X."""
        n_rows = len(self.rounds[0].leaves)
        scores = [[0.0] * self.n_classes for _ in range(n_rows)]
        for one in self.rounds:
            for row, leaf in zip(scores, one.leaves, strict=True):
                for j, v in enumerate(one.votes[leaf]):
                    row[j] += v
        return scores


def add_round(model, rows, nodes, gain, data, settings):
    """Add a tree to the model and its votes to the rows; return the reason to stop, if there is one."""
    edge, is_guessing, _ = edge_of(gain, rows.total)
    if is_guessing and model.rounds:
        return "no_edge"
    at_leaf = [node for node in nodes if node.left == -1]
    number = {id(node): q for q, node in enumerate(at_leaf)}
    leaves = [number[id(find_leaf(nodes, row, data.features))] for row in data.X]
    kept_leaves = [leaves[i] for i in model.kept]
    sums = leaf_sums(rows.costs.units, rows.labels, rows.weights, kept_leaves, [node.label for node in at_leaf])
    rho = smoothing_costs(settings.smoothing, rows.total, len(at_leaf), settings.cost_matrix)
    votes, promised = leaf_votes(sums, rho, settings.learning_rate)
    promise = promised / float(rows.total)  # P
    bound = model.rounds[-1].bound if model.rounds else model.initial_loss
    bound = rows.loss.lower(bound, settings.rate_of_promise, promise, rows.pull)
    before = {"pull": rows.pull, "unit_rounding": rows.unit_rounding, "promise": promise}
    loss_before = model.rounds[-1].loss if model.rounds else rows.loss.measure(rows)
    rows.add(kept_leaves, sums, votes)
    loss = rows.loss.measure(rows)
    drop = max(math.log(loss_before / max(loss, VANISHED_LOSS)), 0.0)
    importances = share_out(drop, nodes, len(data.features))
    rounding = rows.loss.rounding(rows)
    after = {"loss": loss, "bound": bound, "importances": importances, "loss_rounding": rounding}
    model.rounds.append(LeafRound(nodes, leaves, sums, votes, edge, **before, **after))
    if is_guessing:
        return "no_edge"
    if loss < VANISHED_LOSS:
        return "loss_vanished"
    return "rounding" if rows.rounding > 1 / 32 else None


# Fit


@dataclass
class VoteSettings:
    """The parameters of the votes."""

    learning_rate: float
    smoothing: float
    cost_matrix: list[list[float]]

    @property
    def rate_of_promise(self):
        """ν', the share of what the leaves promise that a round keeps."""
        rate = self.learning_rate
        return rate if len(self.cost_matrix) <= MOST_CLASSES_OF_PAIRS else rate * (2 - rate)


def fit(
    X,
    y,
    *,
    n_estimators,
    loss="log",
    learning_rate=1.0,
    smoothing=0.01,
    balance=1.0,
    max_depth=3,
    max_leaf_nodes=None,
    criterion="gini",
    min_samples_leaf=1,
    min_weight_fraction_leaf=0.0,
    max_features=None,
    max_bins=255,
    cost_matrix=None,
    sample_weight=None,
    seed=0,
    categorical=(),
):
    """Fit trees whose leaves vote for every class.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        NaN is a missing value.
    y : array of int
        Classes 0..K−1, all present.
    loss : {"log", "exponential"}
    smoothing, balance : float
        λ and τ.
    cost_matrix : array of shape (n_classes, n_classes), optional
        The diagonal is not read.
    categorical : sequence of int
        The columns of X that hold categories, which are numbers here too.

    Returns
    -------
    LeafModel
    """
    data = read(X, y, sample_weight, max_bins, categorical)
    costs = read_costs(cost_matrix, len(data.class_weights))
    of_tree = TreeSettings(
        max_depth, criterion, min_samples_leaf, min_weight_fraction_leaf, max_features, seed, max_leaf_nodes
    )
    of_votes = VoteSettings(learning_rate, smoothing, costs)
    masses = base_masses(data.class_weights, balance)
    rows = Rows(data.labels, data.weights, LOSSES[loss](costs, masses, data.class_weights))
    model = LeafModel(len(costs), data.kept, data.weights, rows.loss.start)
    for round_idx in range(n_estimators):
        nodes, gain = grow_tree(rows.sums, data.codes, data.features, of_tree, round_idx)
        reason = add_round(model, rows, nodes, gain, data, of_votes)
        if reason is not None:
            model.stop_reason = reason
            break
    scores = model.scores()
    model.train_confusion = error_confusion([scores[i] for i in model.kept], data.labels, data.weights)
    return model
