"""The whole fit, slowly and plainly, after docs/decisions/0001-exact-arithmetic.md: rows in, model out, bit for bit.

The sections stand in the order of that page. Sums over rows are Python integers. Sums of floats are written as loops:
the built-in ``sum`` compensates floats since Python 3.12, and numpy adds pairwise, so both round otherwise.
"""

import math
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import pairwise

import numpy as np

LIMIT_OF_WEIGHTS = 2**32
LARGEST_LIFT = 300
LIMIT_OF_ROW = 2**30
TOO_COARSE = 2.0**27
SMALLEST_EDGE = 2.0**-20
LARGEST_EDGE = 1 - 2.0**-30
LARGEST_ALPHA = 0.5 * math.log(2.0**31)
VANISHED_LOSS = 1e-200
LARGEST_ROUNDING = 1 / 32
MISSING = 0  # the code reserved for missing values
MAX_CATEGORIES = 254
MOST_ITEMS_IN_ALL_SETS = 8
POWER_STEPS = 16


@dataclass
class TwinNode:
    """One node; a leaf has feature, bin and left -1. The right child is ``left + 1``.

    Attributes
    ----------
    bin : int
        The last code that goes left; -1 where categories are split.
    threshold : float
        The edge of the bin; -inf where missing values are parted from all others, 0 where categories are split.
    missing_left : bool
        Whether missing values go left.
    left_codes : frozenset of int or None
        Only where categories are split: every code that goes left, that of missing ones too.
    cost : int
        The smallest D of its rows, that of its label.
    """

    feature: int = -1
    bin: int = -1
    threshold: float = 0.0
    left: int = -1
    label: int = 0
    missing_left: bool = False
    left_codes: frozenset[int] | None = None
    cost: int = 0


@dataclass
class TwinRound:
    """One kept round.

    Attributes
    ----------
    loss, bound : float
        L and the bound on it, both after the round.
    votes : list of int
        h(i) for every row of X, those of weight 0 too.
    importances : list of float
        What each feature lowered the logarithm of L by.
    edge_rounding : float
        How far the quantised edge may be from the one in exact arithmetic.
    loss_rounding : float
        The same for the loss, relative.
    """

    nodes: list[TwinNode]
    alpha: float
    edge: float
    loss: float
    bound: float
    votes: list[int]
    importances: list[float]
    edge_rounding: float
    loss_rounding: float


@dataclass
class TwinModel:
    """What a fit leaves behind; ``kept`` are the rows of positive integer weight, ``weights`` these weights.

    ``plain_weights`` are the weights without the lifts of light classes.
    """

    features: "list[Feature]"
    kept: list[int]
    weights: list[int]
    plain_weights: list[float]
    initial_loss: float
    rounds: list[TwinRound] = field(default_factory=list)
    stop_reason: str = "n_estimators"
    train_confusion: list[list[float]] = field(default_factory=list)


def add_in_order(values):
    """Add floats one after the other, each sum rounded once."""
    total = 0.0
    for value in values:
        total += value
    return total


# Weights


def integer_weights(sample_weight, labels=None):
    """Turn the sample weights s into integers n; rows with n = 0 are to be dropped. Without labels, of one class."""
    labels = [0] * len(sample_weight) if labels is None else labels
    shift, lifts = weight_shift(sample_weight, labels)
    return [
        round(Fraction(float(s)) * Fraction(2) ** (shift + lifts.get(label, 0)))
        for s, label in zip(sample_weight, labels, strict=True)
    ]


def weight_shift(sample_weight, labels):
    """Return k, by which the weights are scaled, and t_l of every class with weight."""
    bounds, heaviest = {}, {}  # B_l and X_l
    for s, label in zip(sample_weight, labels, strict=True):
        if s > 0:
            exponent = math.frexp(float(s))[1]
            bounds[label] = bounds.get(label, Fraction(0)) + Fraction(2) ** exponent
            heaviest[label] = max(heaviest.get(label, exponent), exponent)
    total = sum(bounds.values())  # B
    shift = largest_power(total, LIMIT_OF_WEIGHTS)
    lifts = dict.fromkeys(bounds, 0)
    for label, bound in bounds.items():
        has_few_bits = heaviest[label] < max(heaviest.values()) and Fraction(2) ** (heaviest[label] + shift) < 2**4
        if bound * 2**20 < total or has_few_bits:
            lift = max(0, largest_power(len(bounds) * bound, total))
            lifts[label] = lift if lift <= LARGEST_LIFT else 0
    return largest_power(sum(bound * 2 ** lifts[label] for label, bound in bounds.items()), LIMIT_OF_WEIGHTS), lifts


def largest_power(value, limit):
    """Return the largest integer k with value·2^k ≤ limit."""
    ratio = Fraction(limit) / value
    power = ratio.numerator.bit_length() - ratio.denominator.bit_length()
    return power if Fraction(2) ** power <= ratio else power - 1


# Bins


def bin_edges(values, weights, max_bins):
    """Return the edges between the bins of one feature, from its values on the kept rows and their integer weights."""
    weight_of = {}
    for value, n in zip(values, weights, strict=True):
        if not math.isnan(value):
            weight_of[value + 0.0] = weight_of.get(value + 0.0, 0) + n  # makes 0 of -0
    distinct = sorted(weight_of)
    total = sum(weight_of.values())
    edges = []
    cumulated = 0  # W
    for a, b in pairwise(distinct):
        before, cumulated = cumulated, cumulated + weight_of[a]
        middles = (before + cumulated, cumulated + cumulated + weight_of[b])  # twice the middle rank of a and of b
        quantile_of_a, quantile_of_b = (middle * max_bins // (2 * total) for middle in middles)
        if len(distinct) <= max_bins or quantile_of_b > quantile_of_a:
            edges.append(_edge_between(a, b))
    return edges


def _edge_between(a, b):
    middle = a / 2 + b / 2
    return middle if a <= middle < b else a


def encode(x, edges):
    """Return the code of x, the number of edges below it, where no code is reserved."""
    return bisect_left(edges, x)


@dataclass
class Feature:
    """How the values of one feature turn into codes; ``categories`` is None for a numeric one.

    The values in ``rest`` are categories that share a code.
    """

    edges: list[float]
    categories: list[float] | None
    reserves_missing: bool
    rest: frozenset[float] = frozenset()

    @classmethod
    def of_numbers(cls, values, weights, max_bins):
        """Read the bins off the kept rows."""
        return cls(bin_edges(values, weights, max_bins), None, any(math.isnan(x) for x in values))

    @classmethod
    def of_categories(cls, values, weights):
        """Read the categories off the kept rows."""
        totals = Counter()
        for x, n in zip(values, weights, strict=True):
            if not math.isnan(x):
                totals[x] += n
        by_weight = sorted(totals, key=lambda x: (-totals[x], x))
        return cls([], sorted(by_weight[:MAX_CATEGORIES]), True, frozenset(by_weight[MAX_CATEGORIES:]))

    @property
    def n_codes(self):
        """The number of codes, the reserved one included."""
        n_values = len(self.edges) + 1 if self.categories is None else len(self.categories) + bool(self.rest)
        return n_values + self.reserves_missing

    def encode(self, x):
        """Return the code of x; a category that no kept row has is a missing one."""
        if x in self.rest:
            return len(self.categories) + 1
        if self.categories is not None:
            return self.categories.index(x) + 1 if x in self.categories else MISSING
        if not self.reserves_missing:
            return encode(x, self.edges)
        return MISSING if math.isnan(x) else encode(x, self.edges) + 1

    def threshold(self, bin_idx):
        """Return the edge above a bin of numbers; nothing is below -inf, so that only missing values go left of it."""
        if not self.reserves_missing:
            return self.edges[bin_idx]
        return -math.inf if bin_idx == MISSING else self.edges[bin_idx - 1]


# Costs


def base_masses(class_weights, algorithm, lifts=None):
    """Return M_l: the weight of the class for CoMBo, the mean of all classes for AdaBoost.MM."""
    if algorithm == "combo":
        return [float(weight) for weight in class_weights]
    lifts = lifts or [0] * len(class_weights)
    mean = add_in_order(plain_masses(class_weights, lifts)) / len(class_weights)
    return [math.ldexp(mean, lift) for lift in lifts]


def plain_masses(class_weights, lifts):
    """Return the weights of the classes as if none were lifted."""
    return [math.ldexp(float(weight), -lift) for weight, lift in zip(class_weights, lifts, strict=True)]


def unit_costs(cost_matrix, weight_sums):
    """Return unit(l,j) = c(l,j) / M_l."""
    units = []
    for true_class, mass in enumerate(weight_sums):
        row = [float(cost) / mass for cost in cost_matrix[true_class]]
        row[true_class] = 0.0
        units.append(row)
    return units


def exponent_for(bound, n_classes):
    """Return the exponent e that keeps rows of at most this unit loss within 2³⁰."""
    exponent = 30 - math.frexp(bound)[1]
    if math.ldexp(bound, exponent) > LIMIT_OF_ROW - n_classes:
        exponent -= 1
    return exponent


@dataclass
class QuantisedCosts:
    """One pass: u(i,j), the row's own class included, the exponent e and the largest unit row loss r."""

    units: list[list[int]]
    exponent: int
    largest_row: float


def quantise(unit, excess, y, exponent):
    """Round the costs per unit of weight to integers.

    Parameters
    ----------
    unit : list of list of float, (n_classes, n_classes)
    excess : list of list of float, (n_samples, n_classes)
        E; the entry of the row's own class is not read.
    y : list of int
    exponent : int
        e

    Returns
    -------
    QuantisedCosts
    """
    factor = [[math.ldexp(value, exponent) for value in row] for row in unit]
    units = []
    largest = 0.0
    for label, excess_row in zip(y, excess, strict=True):
        values = [f * e if f != 0.0 else 0.0 for f, e in zip(factor[label], excess_row, strict=True)]  # v(i,j)
        row = [round(value) for value in values]
        row[label] = -sum(row)
        units.append(row)
        largest = max(largest, add_in_order(values))  # the own class adds 0
    return QuantisedCosts(units, exponent, math.ldexp(largest, -exponent))


def quantise_within(unit, excess, y, bound):
    """Make a pass for a bound on r, and another where that bound was far too wide."""
    n_classes = len(unit)
    costs = quantise(unit, excess, y, exponent_for(bound, n_classes))
    if math.ldexp(costs.largest_row, costs.exponent) < TOO_COARSE:
        costs = quantise(unit, excess, y, exponent_for(costs.largest_row, n_classes))
    return costs


def add_scores(excess, y, votes, alpha):
    """Multiply the excess E by the exponential of the round's votes, in place."""
    shrink, grow = math.exp(-alpha), math.exp(alpha)
    for row, label, vote in zip(excess, y, votes, strict=True):
        if vote != label:
            row[vote] *= grow
            continue
        for j in range(len(row)):
            if j != label:
                row[j] *= shrink


# Tree


@dataclass
class Sums:
    """The integers of a set of rows: D(0..K−1), Λ and the number of rows."""

    costs: list[int]
    loss: int = 0
    n_samples: int = 0

    @classmethod
    def empty(cls, n_classes):
        """Return the sums of no rows."""
        return cls([0] * n_classes)

    def add(self, other):
        """Add the sums of other rows, in place."""
        self.costs = [a + b for a, b in zip(self.costs, other.costs, strict=True)]
        self.loss += other.loss
        self.n_samples += other.n_samples

    def without(self, other):
        """Return the sums without a part of the rows."""
        costs = [a - b for a, b in zip(self.costs, other.costs, strict=True)]
        return Sums(costs, self.loss - other.loss, self.n_samples - other.n_samples)

    @property
    def label(self):
        """The lowest class of the smallest cost."""
        return self.costs.index(min(self.costs))

    @property
    def is_settled(self):
        """Whether one class carries all of the loss."""
        return min(self.costs) == -self.loss


def weigh(units, y, weights):
    """Return each row's sums n·u."""
    rows = []
    for row, label, n in zip(units, y, weights, strict=True):
        rows.append(Sums([n * u for u in row], -n * row[label], 1))
    return rows


def add_up(parts, which, n_classes):
    """Return the sums of some of the parts: of a set of rows, or of a set of codes."""
    total = Sums.empty(n_classes)
    for i in which:
        if parts[i].n_samples:
            total.add(parts[i])
    return total


def histogram(row_sums, rows, codes, n_bins, n_classes):
    """Return the sums per bin of one feature, given each row's code."""
    bins = [Sums.empty(n_classes) for _ in range(n_bins)]
    for i in rows:
        bins[codes[i]].add(row_sums[i])
    return bins


def score_by_cost(sums):
    """Return the smallest cost that one class leaves, negated."""
    return -min(sums.costs)


def score_by_gini(sums, extra_loss=0.0):
    """Return q = Σ D(l)² / Λ in floats, of a Λ that is as much larger as asked for."""
    if sums.loss == 0:
        return 0.0
    squares = [float(cost) * float(cost) for cost in sums.costs]
    return add_in_order(squares) / (float(sums.loss) + extra_loss)


# The candidates of a feature: pairs of a bin, -1 for categories, and the set of codes that go to the left.


def candidates(feature, bins, node, floors, max_thresholds=None, key=0):
    """Return the allowed candidates of a feature in a node, in the order in which ties are decided; ``key`` is h."""
    items = [code for code, part in enumerate(bins) if counts(part, floors.n_samples)]
    if len(items) < 2:
        return []
    if feature.categories is None:
        lists = numeric_lists(items, feature.reserves_missing)
    elif len(items) <= MOST_ITEMS_IN_ALL_SETS:
        return [cut for cut in gray_candidates(items) if floors.allow(bins, cut[1], node)]
    else:
        lists = [list(prefix_candidates(order_by_direction(items, bins, node)))]
    allowed = [[cut for cut in cuts if floors.allow(bins, cut[1], node)] for cuts in lists]
    return [cut for cuts in allowed for cut in draw_cuts(cuts, max_thresholds, key)]


@dataclass
class Floors:
    """Rows and Λ that each side of a split must keep."""

    n_samples: int
    loss: float

    def allow(self, bins, left_codes, node):
        """Return whether both sides keep them."""
        left = add_up(bins, left_codes, len(node.costs))
        return all(
            side.n_samples >= self.n_samples and float(side.loss) >= self.loss for side in (left, node.without(left))
        )


def counts(part, min_samples_leaf):
    """Return whether a code with these sums counts in a node."""
    return part.loss != 0 or (min_samples_leaf > 1 and part.n_samples > 0)


def numeric_lists(items, reserves_missing):
    """Return the lists of cuts of a numeric feature: with missing values to the left, if any count, and without them.

    There is a cut after each bin that counts but the last: after any other it splits as after the bin before, and loses
    the tie.
    """
    first = int(reserves_missing)  # the lowest code of a value
    values = [code for code in items if code >= first]
    without_missing = [(b, frozenset(range(first, b + 1))) for b in values[:-1]]
    if len(values) == len(items):
        return [without_missing]
    return [[(b, frozenset(range(b + 1))) for b in items[:-1]], without_missing]


def draw_cuts(cuts, max_thresholds, key):
    """Return all cuts of a short list, and of a longer one as many as asked for, each from a stretch of its own."""
    n, m = len(cuts), max_thresholds
    if m is None or n <= m:
        return cuts
    drawn = []
    for r in range(m):
        begin, end = r * n // m, (r + 1) * n // m
        drawn.append(cuts[begin + (mix(key ^ (r + 2)) >> 32) * (end - begin) // 2**32])
    return drawn


def gray_candidates(items):
    """Yield every set of items without the last one, each a single move away from the one before."""
    left = frozenset()
    for k in range(1, 2 ** (len(items) - 1)):
        trailing_zeros = (k & -k).bit_length() - 1
        left ^= {items[trailing_zeros]}
        yield -1, left


def prefix_candidates(items):
    """Yield the first item, the first two and so on."""
    for k in range(1, len(items)):
        yield -1, frozenset(items[:k])


def order_by_direction(items, bins, node):
    """Sort categories along the first principal direction of their cost vectors."""
    centre = [float(cost) / float(node.loss) for cost in node.costs]
    vectors, shares = [], []  # x_c and p_c
    for code in items:
        part = bins[code]
        means = [float(cost) / float(part.loss) if part.loss else 0.0 for cost in part.costs]
        vectors.append([a - b for a, b in zip(means, centre, strict=True)])
        shares.append(float(part.loss) / float(node.loss))
    direction = principal_direction(vectors, shares)
    key_of = {code: dot(x, direction) for code, x in zip(items, vectors, strict=True)}
    return sorted(items, key=lambda code: (key_of[code], code))


def principal_direction(vectors, shares):
    """Return v after 16 steps of the power method, from the vector that weighs most."""
    spreads = [p * dot(x, x) for x, p in zip(vectors, shares, strict=True)]
    v = vectors[spreads.index(max(spreads))]
    for _ in range(POWER_STEPS):
        pulls = [p * dot(x, v) for x, p in zip(vectors, shares, strict=True)]  # p_c·s_c
        new = [add_in_order(pull * x[j] for pull, x in zip(pulls, vectors, strict=True)) for j in range(len(v))]
        largest = max(abs(value) for value in new)  # g
        if largest == 0.0:
            break
        v = [value / largest for value in new]
    return v


def dot(a, b):
    """Add the products in class order."""
    return add_in_order(x * y for x, y in zip(a, b, strict=True))


@dataclass
class Split:
    """A split of a node.

    Attributes
    ----------
    bin : int
        The last code that goes left; -1 where categories are split.
    left_codes : frozenset of int
        All codes that go left.
    rest_left : bool
        Whether the left side is the one for what does not count.
    drop : int or float
        By how much its score is above the node's, without noise.
    """

    feature: int
    bin: int
    left_codes: frozenset[int]
    rest_left: bool
    drop: float


def best_split(
    features,
    histograms,
    node,
    *,
    criterion="gini",
    min_samples_leaf=1,
    min_loss=0.0,
    extra_loss=0.0,
    max_thresholds=None,
    noise=0.0,
    node_key=0,
):
    """Find the best allowed split of a node.

    Parameters
    ----------
    features : list of Feature
    histograms : dict of int to list of Sums
        The sums per code of each feature to search.
    node : Sums
    criterion : {"gini", "cost"}
    min_samples_leaf : int
        Rows that each side must keep.
    min_loss : float
        Λ that each side must keep.
    extra_loss : float
        What ``"gini"`` adds to every Λ.
    max_thresholds : int or None
        Cuts to try of a list, drawn where it has more.
    noise : float
        σ
    node_key : int
        What the random numbers of the node's features come from; only read with ``max_thresholds`` or ``noise``.

    Returns
    -------
    Split or None
        None where no split is allowed.
    """
    score_of = score_by_cost if criterion == "cost" else partial(score_by_gini, extra_loss=extra_loss)
    floors = Floors(min_samples_leaf, min_loss)
    node_score = score_of(node)
    best = best_merit = None
    for f in sorted(histograms):
        bins = histograms[f]
        key = mix(node_key ^ f)  # h
        score, split = node_score, None  # of the feature's best cut
        for bin_idx, left_codes in candidates(features[f], bins, node, floors, max_thresholds, key):
            left = add_up(bins, left_codes, len(node.costs))
            right = node.without(left)
            new_score = score_of(left) + score_of(right)
            if new_score > score:
                rest_left = left.loss >= right.loss
                score, split = new_score, Split(f, bin_idx, left_codes, rest_left, new_score - node_score)
        if split is None:
            continue
        merit = split.drop * noise_factor(noise, key) if noise > 0 else score  # scores may differ where drops do not
        if best is None or merit > best_merit:
            best, best_merit = split, merit
    if best is not None and best.rest_left:
        best.left_codes |= codes_without_say(features[best.feature], histograms[best.feature], min_samples_leaf)
    return best


def noise_factor(noise, key):
    """Return what the drop of a feature is multiplied by before features are compared."""
    uniform = (mix(key ^ 1) >> 11) * 2.0**-53  # U
    return math.exp(noise * (2 * uniform - 1))


def codes_without_say(feature, bins, min_samples_leaf):
    """Return the codes that follow the larger Λ: categories that do not count, but of numbers only missing ones."""
    codes = range(len(bins)) if feature.categories is not None else range(feature.reserves_missing)
    return {code for code in codes if not counts(bins[code], min_samples_leaf)}


def mix(z):
    """Take one SplitMix64 step, modulo 2⁶⁴."""
    mask = 2**64 - 1
    z = (z + 0x9E3779B97F4A7C15) & mask
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & mask
    return z ^ z >> 31


def key_of_node(seed, round_idx, node_idx):
    """Return what the random numbers of a node come from."""
    return mix(mix(mix(seed) ^ round_idx) ^ node_idx)


def draw_features(seed, round_idx, node_idx, n_features, max_features):
    """Return the features that a node searches, in rising order."""
    if max_features is None or max_features >= n_features:
        return list(range(n_features))
    node_key = key_of_node(seed, round_idx, node_idx)
    by_key = sorted(range(n_features), key=lambda feature: mix(node_key ^ feature))
    return sorted(by_key[:max_features])


@dataclass
class TreeSettings:
    """The parameters that shape a tree; one without ``max_leaf_nodes`` grows level by level.

    Without ``max_thresholds`` every cut is tried.
    """

    max_depth: int | None
    criterion: str
    min_samples_leaf: int
    min_weight_fraction_leaf: float
    max_features: int | None
    seed: int
    max_leaf_nodes: int | None = None
    max_thresholds: int | None = None
    noise: float = 0.0


@dataclass
class OpenLeaf:
    """A leaf that has a split."""

    node_idx: int
    depth: int
    rows: list[int]
    split: Split


def next_to_split(open_leaves, best_first):
    """Return the leaf of the lowest number or, best first, of the largest drop, the lowest of these on ties."""
    return max(open_leaves, key=lambda leaf: (leaf.split.drop if best_first else 0, -leaf.node_idx))


def grow_tree(row_sums, codes, features, settings, round_idx, extra_loss=0.0):
    """Grow one tree, level by level or best first.

    Parameters
    ----------
    row_sums : list of Sums
    codes : list of list of int, (n_features, n_samples)
    features : list of Feature
    settings : TreeSettings
    round_idx : int
    extra_loss : float
        See `best_split`.

    Returns
    -------
    nodes : list of TwinNode
    gain : int
        A = −Σ D(leaf's class) over the leaves.
    """
    n_classes = len(row_sums[0].costs)
    all_rows = range(len(row_sums))
    min_loss = settings.min_weight_fraction_leaf * float(add_up(row_sums, all_rows, n_classes).loss)

    def find_split(node_idx, rows, sums):
        histograms = {}
        for f in draw_features(settings.seed, round_idx, node_idx, len(codes), settings.max_features):
            histograms[f] = histogram(row_sums, rows, codes[f], features[f].n_codes, n_classes)
        return best_split(
            features,
            histograms,
            sums,
            criterion=settings.criterion,
            min_samples_leaf=settings.min_samples_leaf,
            min_loss=min_loss,
            extra_loss=extra_loss,
            max_thresholds=settings.max_thresholds,
            noise=settings.noise,
            node_key=key_of_node(settings.seed, round_idx, node_idx),
        )

    nodes = []
    open_leaves = []

    def add_leaf(depth, rows):
        sums = add_up(row_sums, rows, n_classes)
        node_idx = len(nodes)
        nodes.append(TwinNode(label=sums.label, cost=min(sums.costs)))
        may_split = depth != settings.max_depth and not sums.is_settled
        split = find_split(node_idx, rows, sums) if may_split else None
        if split is not None:
            open_leaves.append(OpenLeaf(node_idx, depth, rows, split))

    add_leaf(0, all_rows)
    while open_leaves and (len(nodes) + 1) // 2 != settings.max_leaf_nodes:  # a split adds a leaf and two nodes
        leaf = next_to_split(open_leaves, best_first=settings.max_leaf_nodes is not None)
        open_leaves.remove(leaf)
        node = nodes[leaf.node_idx]
        write_split(node, leaf.split, features[leaf.split.feature])
        node.left = len(nodes)
        column = codes[node.feature]
        add_leaf(leaf.depth + 1, [i for i in leaf.rows if column[i] in leaf.split.left_codes])
        add_leaf(leaf.depth + 1, [i for i in leaf.rows if column[i] not in leaf.split.left_codes])
    return nodes, -sum(node.cost for node in nodes if node.left == -1)


def write_split(node, split, feature):
    """Write a split into its node."""
    node.feature, node.bin = split.feature, split.bin
    node.missing_left = MISSING in split.left_codes if feature.reserves_missing else split.rest_left
    if feature.categories is None:
        node.threshold = feature.threshold(split.bin)
    else:
        node.left_codes = split.left_codes


def goes_left(node, x, feature):
    """Return where a raw value goes."""
    if node.left_codes is not None:
        return feature.encode(x) in node.left_codes
    return node.missing_left if math.isnan(x) else x <= node.threshold


def find_leaf(nodes, row, features):
    """Return the leaf that a row falls into, given its raw values."""
    node = nodes[0]
    while node.left != -1:
        is_left = goes_left(node, row[node.feature], features[node.feature])
        node = nodes[node.left if is_left else node.left + 1]
    return node


def vote(nodes, row, features):
    """Return the class that a tree votes for, given the raw values of a row."""
    return find_leaf(nodes, row, features).label


# Round


def edge_of(gain, loss):
    """Return δ, whether A is too small for a vote, and whether δ was set or capped."""
    if gain * 2**20 <= loss:
        return SMALLEST_EDGE, True, True
    if (loss - gain) * 2**30 <= loss:
        return LARGEST_EDGE, False, True
    return gain / loss, False, False


def edge_step(gain, loss):
    """Return α = ½·log((Λ+A)/(Λ−A)), or that of the edge where it was set or capped."""
    edge, _, is_forced = edge_of(gain, loss)
    ratio = (1 + edge) / (1 - edge) if is_forced else (loss + gain) / (loss - gain)
    return 0.5 * math.log(ratio)


def exact_step(row_sums, y, votes):
    """Return α = ½·log(A₊/A₋), the minimiser of the loss along the votes."""
    right = 0  # A₊
    wrong = 0  # A₋
    for sums, label, h in zip(row_sums, y, votes, strict=True):
        if h == label:
            right += sums.loss
        else:
            wrong += sums.costs[h]
    if wrong == 0:
        return LARGEST_ALPHA
    return min(0.5 * math.log(right / wrong), LARGEST_ALPHA)


def share_out(drop, nodes, n_features):
    """Share out a fall of the loss's logarithm among the features, in proportion to the cost that their splits save."""
    saved = [0] * n_features
    for node in nodes:
        if node.left != -1:
            saved[node.feature] += node.cost - nodes[node.left].cost - nodes[node.left + 1].cost
    return [drop * part / sum(saved) if any(saved) else 0.0 for part in saved]


def starting_loss(cost_matrix, weight_sums, algorithm):
    """Return L_0: Σ c(l,j) for CoMBo, K·Σ p_l·c(l,j) for AdaBoost.MM, with unscaled class weight sums."""
    n_classes = len(weight_sums)
    total = 0.0
    for label, costs in enumerate(cost_matrix):
        share = 1.0 if algorithm == "combo" else n_classes * weight_sums[label] / add_in_order(weight_sums)
        total += share * add_in_order(cost for j, cost in enumerate(costs) if j != label)
    return total


def weighted_votes(rounds, i, n_classes):
    """Return f of a row."""
    scores = [0.0] * n_classes
    for one in rounds:
        scores[one.votes[i]] += one.alpha
    return scores


def error_confusion(scores, y, weights):
    """Return C_S of the scores f on the kept rows."""
    n_classes = len(scores[0])
    wrong = [[0] * n_classes for _ in range(n_classes)]
    class_weights = [0] * n_classes
    for row, label, n in zip(scores, y, weights, strict=True):
        prediction = row.index(max(row))
        class_weights[label] += n
        if prediction != label:
            wrong[label][prediction] += n
    return [[count / mass for count in row] for row, mass in zip(wrong, class_weights, strict=True)]


# Fit


class Rows:
    """The kept rows: labels, integer weights, excess E, and the quantised costs of the round."""

    def __init__(self, labels, weights, cost_matrix, weight_sums):
        self.labels = labels
        self.weights = weights
        self.unit = unit_costs(cost_matrix, weight_sums)
        self.excess = [[1.0] * len(weight_sums) for _ in labels]
        self._quantise(max(add_in_order(row) for row in self.unit))

    def add(self, votes, alpha):
        """Add the votes of a round and quantise anew."""
        add_scores(self.excess, self.labels, votes, alpha)
        self._quantise(math.exp(alpha) * self.costs.largest_row)

    def _quantise(self, bound):
        self.costs = quantise_within(self.unit, self.excess, self.labels, bound)
        self.sums = weigh(self.costs.units, self.labels, self.weights)
        self.loss = sum(row.loss for row in self.sums)  # Λ

    @property
    def real_loss(self):
        """L, the loss in floats."""
        return math.ldexp(float(self.loss), -self.costs.exponent)

    @property
    def rounding(self):
        """How far rint may have moved Λ, relative; δ moves by twice that at most."""
        most = sum(self.weights) * (len(self.unit) - 1) / 2
        return most / self.loss if self.loss else math.inf


def fit(
    X,
    y,
    *,
    algorithm="combo",
    n_estimators,
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
    """Fit CoMBo or AdaBoost.MM.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        NaN is a missing value.
    y : array of int
        Classes 0..K−1, all present.
    algorithm : {"combo", "mm"}
    cost_matrix : array of shape (n_classes, n_classes), optional
        The diagonal is not read.
    categorical : sequence of int
        The columns of X that hold categories, which are numbers here too.

    Returns
    -------
    TwinModel
    """
    data = read(X, y, sample_weight, max_bins, categorical)
    n_classes = len(data.class_weights)
    costs = read_costs(cost_matrix, n_classes)
    settings = TreeSettings(max_depth, criterion, min_samples_leaf, min_weight_fraction_leaf, max_features, seed)
    rows = Rows(data.labels, data.weights, costs, base_masses(data.class_weights, algorithm, data.lifts))
    initial_loss = starting_loss(costs, plain_masses(data.class_weights, data.lifts), algorithm)
    model = TwinModel(data.features, data.kept, data.weights, data.plain_weights, initial_loss)
    for round_idx in range(n_estimators):
        nodes, gain = grow_tree(rows.sums, data.codes, data.features, settings, round_idx)
        reason = add_round(model, rows, nodes, gain, data.X, step, learning_rate)
        if reason is not None:
            model.stop_reason = reason
            break
    scores = [weighted_votes(model.rounds, i, n_classes) for i in data.kept]
    model.train_confusion = error_confusion(scores, data.labels, data.weights)
    return model


@dataclass
class TrainingData:
    """All rows of X, and of the kept ones the labels, the integer weights and the codes, feature by feature.

    ``weight_shift`` is k and ``lifts`` t_l: a row of weight 1 of class l has the integer 2^(k + t_l).
    """

    X: list[list[float]]
    kept: list[int]
    labels: list[int]
    weights: list[int]
    weight_shift: int
    lifts: list[int]
    class_weights: list[int]
    features: list[Feature]
    codes: list[list[int]]

    @property
    def plain_weights(self):
        """The weights without the lifts."""
        rows = zip(self.labels, self.weights, strict=True)
        return [math.ldexp(float(n), -self.lifts[label]) for label, n in rows]


def read(X, y, sample_weight, max_bins, categorical):
    """Drop the rows of weight 0 and bin the others."""
    X = np.asarray(X, dtype=np.float64).tolist()
    y = np.asarray(y).tolist()
    if sample_weight is None:
        all_weights, shift, lift_of = [1] * len(y), 0, {}
    else:
        given = np.asarray(sample_weight).tolist()
        all_weights, (shift, lift_of) = integer_weights(given, y), weight_shift(given, y)
    kept = [i for i, n in enumerate(all_weights) if n > 0]
    labels = [y[i] for i in kept]
    weights = [all_weights[i] for i in kept]
    columns = [[X[i][f] for i in kept] for f in range(len(X[0]))]
    features = [
        Feature.of_categories(column, weights) if f in categorical else Feature.of_numbers(column, weights, max_bins)
        for f, column in enumerate(columns)
    ]
    codes = [[feature.encode(x) for x in column] for feature, column in zip(features, columns, strict=True)]
    class_weights = add_up_classes(labels, weights, max(y) + 1)
    lifts = [lift_of.get(label, 0) for label in range(len(class_weights))]
    return TrainingData(X, kept, labels, weights, shift, lifts, class_weights, features, codes)


def read_costs(cost_matrix, n_classes):
    """Return c(l,j), 1 where none is given, with a zero diagonal."""
    costs = np.ones((n_classes, n_classes)) if cost_matrix is None else np.array(cost_matrix, dtype=np.float64)
    np.fill_diagonal(costs, 0.0)
    return costs.tolist()


def add_up_classes(labels, weights, n_classes):
    """Return Σ n_i over each class."""
    class_weights = [0] * n_classes
    for label, n in zip(labels, weights, strict=True):
        class_weights[label] += n
    if 0 in class_weights:
        raise ValueError(f"no row of positive integer weight is left of class {class_weights.index(0)}")
    return class_weights


def add_round(model, rows, nodes, gain, X, step, learning_rate):
    """Add a tree to the model and its votes to the rows; return the reason to stop, if there is one."""
    edge, is_guessing, _ = edge_of(gain, rows.loss)
    is_coarse = rows.rounding > LARGEST_ROUNDING
    if is_guessing and model.rounds:
        return "no_edge"
    votes = [vote(nodes, row, model.features) for row in X]
    kept_votes = [votes[i] for i in model.kept]
    mistakes = [rows.unit[label][h] > 0 for label, h in zip(rows.labels, kept_votes, strict=True)]
    is_perfect = gain == rows.loss and not any(mistakes)
    if step == "edge" or is_guessing:
        alpha = edge_step(gain, rows.loss)
    else:
        alpha = exact_step(rows.sums, rows.labels, kept_votes)
    alpha *= learning_rate
    bound = model.rounds[-1].bound if model.rounds else model.initial_loss
    bound *= 1 - learning_rate * (1 - math.sqrt(1 - edge * edge))
    edge_rounding, loss_before = 2 * rows.rounding, rows.real_loss
    rows.add(kept_votes, alpha)
    loss = rows.real_loss
    is_void = loss > bound * (1 + LARGEST_ROUNDING)
    if is_void and model.rounds:
        return "rounding"
    drop = max(math.log(loss_before / max(loss, VANISHED_LOSS)), 0.0)
    importances = share_out(drop, nodes, len(model.features))
    model.rounds.append(TwinRound(nodes, alpha, edge, loss, bound, votes, importances, edge_rounding, rows.rounding))
    if is_coarse or is_void:
        return "rounding"
    if is_guessing:
        return "no_edge"
    if is_perfect:
        return "perfect_learner"
    if loss < VANISHED_LOSS:
        return "loss_vanished"
    return "rounding" if rows.rounding > LARGEST_ROUNDING else None
