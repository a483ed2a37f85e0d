"""AdaBoost.NC, AdaBoost.M2 and SMOTE after the formulas of their papers, slowly: votes and draws in, numbers out.

Nothing is quantised. Sums run over rows and labels as the papers write them; the trees that voted are given, and
``best_score`` says how good the best stump would have been.
"""

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

from reference.float_reference import cost_rows, split_score

SMALLEST_EDGE = 2.0**-20
LARGEST_EDGE = 1 - 2.0**-30
LARGEST_ALPHA = 0.5 * math.log(2.0**31)


# AdaBoost.NC


@dataclass
class NCRound:
    """One round: D_t, p_t, the sums of D·p^λ over right and wrong rows, and α_t without floor or cap."""

    distribution: list[float]
    penalties: list[float]
    right: float
    wrong: float

    @property
    def alpha(self):
        """½·ln(right/wrong)."""
        return 0.5 * math.log(self.right / self.wrong) if self.wrong else math.inf


def majority(votes, n_classes):
    """Return the class with the most of some votes, the lowest of them in a tie."""
    counts = [list(votes).count(label) for label in range(n_classes)]
    return counts.index(max(counts))


def replay_nc(votes_per_round, y, strength, alphas):
    """Boost with given hypotheses on rows that are oversampled already.

    Parameters
    ----------
    votes_per_round : sequence of sequences of int
        h_t(i).
    y : sequence of int
    strength : float
        λ.
    alphas : sequence of float
        The α_t to go on with, so that rounding does not accumulate. Those of the rounds are computed here.

    Returns
    -------
    list of NCRound
    """
    n_samples, n_classes = len(y), max(y) + 1
    distribution = [1 / n_samples] * n_samples
    rounds = []
    for t, (votes, alpha) in enumerate(zip(votes_per_round, alphas, strict=True), start=1):
        penalties = []
        for i in range(n_samples):
            elected = majority([votes_per_round[s][i] for s in range(t)], n_classes)  # H_t(i)
            ambiguity = sum((elected == y[i]) - (votes_per_round[s][i] == y[i]) for s in range(t)) / t
            penalties.append(1 - abs(ambiguity))
        penalised = [d * p**strength for d, p in zip(distribution, penalties, strict=True)]
        right = math.fsum(penalised[i] for i in range(n_samples) if votes[i] == y[i])
        wrong = math.fsum(penalised[i] for i in range(n_samples) if votes[i] != y[i])
        rounds.append(NCRound(distribution, penalties, right, wrong))
        grown = [penalised[i] * math.exp(-alpha * (votes[i] == y[i])) for i in range(n_samples)]
        distribution = [weight / math.fsum(grown) for weight in grown]
    return rounds


def weighted_costs(distribution, y, n_classes):
    """Return the costs of a weighted tree: D(i) for every wrong class."""
    errors = np.repeat(np.array(distribution)[:, None], n_classes, axis=1)
    errors[np.arange(len(y)), y] = 0.0
    return cost_rows(errors, np.asarray(y))


# AdaBoost.M2


@dataclass
class M2Round:
    """One round: D_t(i,j) as a matrix that is 0 at the true labels, and ε_t."""

    distribution: np.ndarray
    pseudo_loss: float

    @property
    def weight(self):
        """ln(1/β), β = ε/(1−ε), within the limits of an edge δ = 1−2ε."""
        edge = min(max(1 - 2 * self.pseudo_loss, SMALLEST_EDGE), LARGEST_EDGE)
        loss = (1 - edge) / 2
        return math.log((1 - loss) / loss)


def replay_m2(votes_per_round, y, weights):
    """Boost with given hypotheses, h(i,j) being 1 where j is voted for and 0 elsewhere.

    Parameters
    ----------
    votes_per_round : sequence of sequences of int
    y : sequence of int
    weights : sequence of float
        The ln(1/β_t) to go on with. Those of the rounds are computed here.

    Returns
    -------
    list of M2Round
    """
    n_samples, n_classes = len(y), max(y) + 1
    mislabels = [(i, j) for i in range(n_samples) for j in range(n_classes) if j != y[i]]  # B
    distribution = dict.fromkeys(mislabels, 1 / len(mislabels))
    rounds = []
    for votes, weight in zip(votes_per_round, weights, strict=True):
        beta = math.exp(-weight)
        terms, grown = [], {}
        for (i, j), d in distribution.items():
            h_true, h_other = float(votes[i] == y[i]), float(votes[i] == j)
            terms.append(d * (1 - h_true + h_other))
            grown[i, j] = d * beta ** (0.5 * (1 + h_true - h_other))
        matrix = np.zeros((n_samples, n_classes))
        for (i, j), d in distribution.items():
            matrix[i, j] = d
        rounds.append(M2Round(matrix, 0.5 * math.fsum(terms)))
        total = math.fsum(grown.values())
        distribution = {pair: d / total for pair, d in grown.items()}
    return rounds


def augmented_costs(distribution, y, synthetic_y):
    """Return the costs of original and synthetic rows; a wrong label of a synthetic row weighs the mean of D."""
    n_samples, n_classes = distribution.shape
    errors = np.full((n_samples + len(synthetic_y), n_classes), 1 / (n_samples * (n_classes - 1)))
    errors[:n_samples] = distribution
    labels = np.concatenate([y, synthetic_y])
    errors[np.arange(len(labels)), labels] = 0.0
    return cost_rows(errors, labels)


# Trees


def best_score(X, costs, thresholds, criterion):
    """Return the highest score of all stumps, the thresholds being given feature by feature."""
    scores = [split_score(np.ones(len(X), dtype=bool), costs, criterion)]
    for feature, candidates in enumerate(thresholds):
        scores += [split_score(X[:, feature] <= threshold, costs, criterion) for threshold in candidates]
    return max(scores)


# SMOTE


def value_difference(v, w, values, y):
    """Return Σ_c |P(c|v) − P(c|w)|, given the values and classes of all rows; NaN is a value of its own."""
    total = 0.0
    for label in set(y):
        shares = []
        for value in (v, w):
            classes = [c for u, c in zip(values, y, strict=True) if same(u, value)]
            shares.append(classes.count(label) / len(classes))
        total += abs(shares[0] - shares[1])
    return total


def same(v, w):
    """Return whether two categories are equal, two missing ones included."""
    return v == w or (math.isnan(v) and math.isnan(w))


def squared_distance(a, b, categorical, X, y):
    """Return the squared distance of two rows of X; numbers that one of them lacks count as the mean of the rest."""
    total, n_shared = 0.0, 0
    for f, (v, w) in enumerate(zip(a, b, strict=True)):
        if f in categorical:
            total += value_difference(v, w, [row[f] for row in X], y) ** 2
        elif math.isnan(v) or math.isnan(w):
            continue
        else:
            total += (v - w) ** 2
        n_shared += 1
    return total * len(a) / n_shared if n_shared else math.inf


def neighbours(X, y, label, k, categorical=()):
    """Return, for every row of a class, its k nearest others within the class, as numbers within the class."""
    rows = [row for row, c in zip(X, y, strict=True) if c == label]
    if len(rows) == 1:
        return [[0]]
    found = []
    for i, a in enumerate(rows):
        others = [j for j in range(len(rows)) if j != i]
        distances = {j: squared_distance(a, rows[j], categorical, X, y) for j in others}
        found.append(sorted(others, key=lambda j, near=distances: (round(near[j], 7), j))[:k])
    return found


def synthetic_row(rows, near, pick, step, categorical=()):
    """Return the row of a draw: ``pick`` numbers the pairs of a row and a neighbour, ``step`` lies in [0, 1)."""
    i, place = divmod(int(pick), len(near[0]))
    j = near[i][place]
    new = []
    for f in range(len(rows[0])):
        if f in categorical:
            values = [rows[n][f] for n in near[i]]
            counts = Counter("missing" if math.isnan(v) else v for v in values)
            new.append(next(v for v in values if counts["missing" if math.isnan(v) else v] == max(counts.values())))
        else:
            new.append(rows[i][f] + step * (rows[j][f] - rows[i][f]))
    return new
