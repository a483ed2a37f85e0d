"""Votes for every class, slowly and plainly, after docs/decisions/0005-votes-for-every-class.md: rows in, model out.

Weights, bins and trees are those of `quantised_reference`. The sections stand in the order of that page.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from reference.quantised_reference import (
    LARGEST_ROUNDING,
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
    plain_masses,
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


def base_masses(class_weights, lifts, balance):
    """Return what stands for M_l in w_i = n_i/M_l."""
    n_classes = len(class_weights)
    if balance == 1:
        return [float(weight) for weight in class_weights]
    weight_sums = plain_masses(class_weights, lifts)
    total = add_in_order(weight_sums)  # N
    if balance == 0:
        return [math.ldexp(total / n_classes, lift) for lift in lifts]
    shares = [mass / total for mass in weight_sums]
    scale = add_in_order(math.pow(share, 1.0 - balance) for share in shares) / n_classes  # κ
    return [
        math.ldexp(total * (math.pow(share, balance) * scale), lift) for share, lift in zip(shares, lifts, strict=True)
    ]


class ExponentialLoss:
    """Σ_i w_i Σ_j c(y_i,j)·E(i,j)."""

    most = math.inf  # what a row can cost at all

    def __init__(self, cost_matrix, weight_sums, class_weights):
        self.unit = unit_costs(cost_matrix, weight_sums)
        self.first_bound = max(add_in_order(row) for row in self.unit)
        shares = [weight / mass for weight, mass in zip(class_weights, weight_sums, strict=True)]
        self.start = add_in_order(share * add_in_order(row) for share, row in zip(shares, cost_matrix, strict=True))

    def quantise(self, excess, y, exponent):
        """Make a pass."""
        return quantise(self.unit, excess, y, exponent)

    def first_costs(self):
        """Return D(i,j) before any vote, per unit of weight, of a row of each class."""
        return self.unit

    def measure(self, rows):
        """Return L."""
        return rows.pull

    def rounding(self, rows):
        """Return how far rint may have moved L."""
        return rows.rounding * rows.pull

    def excuse(self, rows):
        """Return what may be added to any bound."""
        return 0.0

    @staticmethod
    def bound(start, shares, pulls):
        """Return the bound on the loss after rounds that each took a share off ΣD."""
        product = 1.0
        for share in shares:
            product *= 1.0 - share
        return start * product


class LogLoss:
    """Σ_i w_i·c̄·log₂(1 + Σ_j c̃(y_i,j)·E(i,j))."""

    def __init__(self, cost_matrix, weight_sums, class_weights):
        largest = [max(row) for row in cost_matrix]  # c̄
        self.shares = [  # c̃
            [cost / most if most else 0.0 for cost in row] for row, most in zip(cost_matrix, largest, strict=True)
        ]
        self.tops = [most / mass for most, mass in zip(largest, weight_sums, strict=True)]
        self.first_bound = self.most = max(self.tops)
        self.exponent = BITS_OF_LOSS - math.frexp(self.most)[1]  # e'
        self.start = add_in_order(
            weight * top * math.log2(1.0 + add_in_order(row))
            for weight, top, row in zip(class_weights, self.tops, self.shares, strict=True)
        )

    def first_costs(self):
        """Return D(i,j) before any vote, per unit of weight, of a row of each class."""
        scales = [top / (1.0 + add_in_order(row)) for top, row in zip(self.tops, self.shares, strict=True)]
        return [[share * scale for share in row] for row, scale in zip(self.shares, scales, strict=True)]

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

    def excuse(self, rows):
        """Return what may be added to any bound."""
        return self.rounding(rows) + 1e-12 * self.start

    @staticmethod
    def bound(start, shares, pulls):
        """Return the bound on the loss after rounds that each took a share off ΣD."""
        return start - add_in_order(share * pull / math.log(2.0) for share, pull in zip(shares, pulls, strict=True))


LOSSES = {"exponential": ExponentialLoss, "log": LogLoss}


# The vote of a leaf


@dataclass
class LeafSums:
    """S_q of a leaf, its row sums up_q and column sums down_q, and the leaf's class h."""

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
    sums = []
    for label, of_leaf in zip(leaf_labels, pairs, strict=True):
        up, down = ([sum(row) for row in matrix] for matrix in (of_leaf, transpose(of_leaf)))
        sums.append(LeafSums(label, up, down, of_leaf))
    return sums


@dataclass
class Smoothing:
    """What λ rows of weight 1 cost before any vote: taken from l for j and back, on average, and all in all."""

    pairs: list[list[float]]  # λ·d̄(l,j)
    hidden: list[list[float]]  # what ρ is at least
    row: float  # λ·d₀

    @classmethod
    def of(cls, smoothing, loss, weight_shift, lifts, class_weights):
        """Read d off a loss."""
        first = zip(loss.first_costs(), lifts, strict=True)
        costs = [[math.ldexp(cost, weight_shift + lift) for cost in row] for row, lift in first]  # d
        mean = [
            [0.5 * (a + b) for a, b in zip(*rows, strict=True)] for rows in zip(costs, transpose(costs), strict=True)
        ]
        weight_sums = plain_masses(class_weights, lifts)
        total = add_in_order(m * add_in_order(row) for m, row in zip(weight_sums, costs, strict=True))
        hidden = [
            [0.25 * (class_weights[k] + class_weights[j]) if cost > 0 else 0.0 for j, cost in enumerate(row)]
            for k, row in enumerate(mean)
        ]
        row = smoothing * (total / add_in_order(weight_sums))
        return cls([[smoothing * cost for cost in row] for row in mean], hidden, row)

    def in_units(self, exponent):
        """Return ρ."""
        return [
            [max(math.ldexp(cost, exponent), least) for cost, least in zip(*rows, strict=True)]
            for rows in zip(self.pairs, self.hidden, strict=True)
        ]

    def row_in_units(self, exponent):
        """Return R."""
        return math.ldexp(self.row, exponent)


def transpose(matrix):
    """Return the columns."""
    return [list(column) for column in zip(*matrix, strict=True)]


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
    """Return the vote v of a leaf before the learning rate."""
    matrix = [[float(a) + b for a, b in zip(*rows, strict=True)] for rows in zip(sums.pairs, rho, strict=True)]  # A
    x, _ = balance(matrix, sums.label)
    return centre([math.log(value) for value in x])


def vote_by_classes(sums, rho, learning_rate):
    """Return the vote of a leaf if there are many classes: each class is on its own."""
    steps = []
    for up, down, row in zip(sums.up, sums.down, rho, strict=True):
        extra = add_in_order(row)
        steps.append(class_step(float(up) + extra, float(down) + extra))  # t_l
    return centre([step * (1.0 - learning_rate / 2) for step in steps])


def class_step(pulls, pushes):
    """Return t_l within its limits."""
    if pulls == 0.0 and pushes == 0.0:
        return 0.0
    if pulls == 0.0 or pushes == 0.0:
        return LARGEST_STEP if pushes == 0.0 else -LARGEST_STEP
    return min(max(0.5 * math.log(pulls / pushes), -LARGEST_STEP), LARGEST_STEP)


def leaf_vote(sums, rho, learning_rate):
    """Return the vote of a leaf as it is stored."""
    by_pairs = len(rho) <= MOST_CLASSES_OF_PAIRS
    vote = vote_by_pairs(sums, rho) if by_pairs else vote_by_classes(sums, rho, learning_rate)
    return [float(np.float32(learning_rate * value)) for value in vote]


@dataclass
class Factors:
    """What a leaf's vote makes of the excess: G = exp(v) and H = exp(−v)."""

    grow: list[float]
    shrink: list[float]

    @classmethod
    def of(cls, vote):
        """Return the factors of a stored vote."""
        return cls([math.exp(v) for v in vote], [math.exp(-v) for v in vote])


def left_by_pairs(sums, factors):
    """Return p_q, what a vote leaves of the leaf's costs."""
    terms = []
    for row, shrink in zip(sums.pairs, factors.shrink, strict=True):
        terms += [float(value) * (grow * shrink) for value, grow in zip(row, factors.grow, strict=True)]
    return add_in_order(terms)


def left_by_classes(sums, factors):
    """Return p_q if there are many classes: what a vote leaves of the leaf's costs at most."""
    grown = add_in_order(float(down) * (grow * grow) for down, grow in zip(sums.down, factors.grow, strict=True))
    shrunk = add_in_order(float(up) * (shrink * shrink) for up, shrink in zip(sums.up, factors.shrink, strict=True))
    return math.sqrt(grown * shrunk)


def share_taken(leaves, factors, loss):
    """Return P, the share of Λ that the votes of all leaves take off at least."""
    left_by = left_by_pairs if len(leaves[0].up) <= MOST_CLASSES_OF_PAIRS else left_by_classes
    left = add_in_order(left_by(sums, of_leaf) for sums, of_leaf in zip(leaves, factors, strict=True))
    return 1.0 - left / float(loss)


# A pass


class Rows:
    """The kept rows: labels, integer weights, excess E, and the quantised costs of the round."""

    def __init__(self, labels, weights, loss):
        self.labels, self.weights, self.loss = labels, weights, loss
        self.n_classes = max(labels) + 1
        self.excess = [[1.0] * self.n_classes for _ in labels]
        self._quantise_within(loss.first_bound)

    def add(self, leaves, factors):
        """Add the votes of a round, given each row's leaf, and quantise anew."""
        bound = self._bound(factors)
        for row, label, leaf in zip(self.excess, self.labels, leaves, strict=True):
            shrink = factors[leaf].shrink[label]
            for j, grow in enumerate(factors[leaf].grow):
                if j != label:
                    row[j] = min(max(row[j] * (grow * shrink), SMALLEST_EXCESS), LARGEST_EXCESS)
        self._quantise_within(bound)

    def _bound(self, factors):
        """Return the bound on r after the votes."""
        most = max(max(of_leaf.grow) * max(of_leaf.shrink) for of_leaf in factors)
        return min(self.costs.largest_row * most, self.loss.most)

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
    rho : list of list of float
        ρ, in the units of the sums.
    pull, unit_rounding : float
        Before the round: Λ in floats, and how far a cost per unit of weight may be from that in exact arithmetic.
    share : float
        P, the share of Λ that the votes take off at least.
    loss, bound : float
        L and the bound on it, both after the round.
    loss_rounding : float
        How far L may be from that in exact arithmetic.
    """

    nodes: list[TwinNode]
    leaves: list[int]
    sums: list[LeafSums]
    rho: list[list[float]]
    votes: list[list[float]]
    edge: float
    pull: float
    unit_rounding: float
    share: float
    loss: float
    bound: float
    importances: list[float]
    loss_rounding: float


@dataclass
class LeafModel:
    """What a fit leaves behind; ``kept`` are the rows of positive integer weight, ``weights`` these weights.

    ``plain_weights`` are the weights without the lifts of light classes.
    """

    n_classes: int
    kept: list[int]
    weights: list[int]
    plain_weights: list[float]
    initial_loss: float
    rounds: list[LeafRound] = field(default_factory=list)
    stop_reason: str = "n_estimators"
    train_confusion: list[list[float]] = field(default_factory=list)

    def scores(self):
        """Return f of every row of X."""
        n_samples = len(self.rounds[0].leaves)
        scores = [[0.0] * self.n_classes for _ in range(n_samples)]
        for one in self.rounds:
            for row, leaf in zip(scores, one.leaves, strict=True):
                for j, v in enumerate(one.votes[leaf]):
                    row[j] += v
        return scores


def add_round(model, rows, nodes, gain, data, learning_rate, smoothing):
    """Add a tree to the model and its votes to the rows; return the reason to stop, if there is one."""
    edge, is_guessing, _ = edge_of(gain, rows.total)
    is_coarse = rows.rounding > LARGEST_ROUNDING
    if is_guessing and model.rounds:
        return "no_edge"
    at_leaf = [node for node in nodes if node.left == -1]
    number = {id(node): q for q, node in enumerate(at_leaf)}
    leaves = [number[id(find_leaf(nodes, row, data.features))] for row in data.X]
    kept_leaves = [leaves[i] for i in model.kept]
    sums = leaf_sums(rows.costs.units, rows.labels, rows.weights, kept_leaves, [node.label for node in at_leaf])
    rho = smoothing.in_units(rows.costs.exponent)
    votes = [leaf_vote(of_leaf, rho, learning_rate) for of_leaf in sums]
    factors = [Factors.of(vote) for vote in votes]
    share = share_taken(sums, factors, rows.total)
    shares, pulls = ([getattr(one, name) for one in model.rounds] for name in ("share", "pull"))
    bound = rows.loss.bound(model.initial_loss, [*shares, share], [*pulls, rows.pull])
    before = {"pull": rows.pull, "unit_rounding": rows.unit_rounding, "share": share}
    loss_before = model.rounds[-1].loss if model.rounds else rows.loss.measure(rows)
    rows.add(kept_leaves, factors)
    loss = rows.loss.measure(rows)
    is_void = loss - rows.loss.excuse(rows) > bound * (1 + LARGEST_ROUNDING)
    if is_void and model.rounds:
        return "rounding"
    drop = max(math.log(loss_before / max(loss, VANISHED_LOSS)), 0.0)
    importances = share_out(drop, nodes, len(data.features))
    rounding = rows.loss.rounding(rows)
    after = {"loss": loss, "bound": bound, "importances": importances, "loss_rounding": rounding}
    model.rounds.append(LeafRound(nodes, leaves, sums, rho, votes, edge, **before, **after))
    if is_coarse or is_void:
        return "rounding"
    if is_guessing:
        return "no_edge"
    if loss < VANISHED_LOSS:
        return "loss_vanished"
    return "rounding" if rows.rounding > LARGEST_ROUNDING else None


# Fit


def fit(
    X,
    y,
    *,
    n_estimators,
    loss="log",
    learning_rate=1.0,
    smoothing=1.0,
    balance=1.0,
    max_depth=3,
    max_leaf_nodes=None,
    criterion="gini",
    min_samples_leaf=1,
    min_weight_fraction_leaf=0.0,
    max_features=None,
    max_thresholds=None,
    noise=0.0,
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
    max_thresholds : int, optional
        m; every cut is tried without it.
    noise : float
        σ
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
        max_depth,
        criterion,
        min_samples_leaf,
        min_weight_fraction_leaf,
        max_features,
        seed,
        max_leaf_nodes,
        max_thresholds,
        noise,
    )
    weight_sums = base_masses(data.class_weights, data.lifts, balance)
    rows = Rows(data.labels, data.weights, LOSSES[loss](costs, weight_sums, data.class_weights))
    extra = Smoothing.of(smoothing, rows.loss, data.weight_shift, data.lifts, data.class_weights)
    model = LeafModel(len(costs), data.kept, data.weights, data.plain_weights, rows.loss.start)
    for round_idx in range(n_estimators):
        extra_loss = extra.row_in_units(rows.costs.exponent)
        nodes, gain = grow_tree(rows.sums, data.codes, data.features, of_tree, round_idx, extra_loss)
        reason = add_round(model, rows, nodes, gain, data, learning_rate, extra)
        if reason is not None:
            model.stop_reason = reason
            break
    scores = model.scores()
    model.train_confusion = error_confusion([scores[i] for i in model.kept], data.labels, data.weights)
    return model
