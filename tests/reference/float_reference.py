"""The formulas of the paper in float64: votes of the weak hypotheses in, edges, round weights, losses and matrices out.

Nothing is quantised and nothing is carried on but the scores: every round computes the costs anew from them, as
Algorithm 1 writes it. ``best_stump`` searches all splits of one level by brute force.
"""

import math
from dataclasses import dataclass

import numpy as np

SMALLEST_EDGE = 2.0**-20
LARGEST_EDGE = 1 - 2.0**-30
LARGEST_ALPHA = 0.5 * math.log(2.0**31)


@dataclass
class Replay:
    """What the votes lead to; the lists have one entry per round.

    Attributes
    ----------
    edges, alphas : list of float
        δ_t as measured, without floor or cap, and α_t, learning rate included.
    losses : list of float
        L_t after the round.
    right, wrong : list of float
        A₊ and A₋.
    initial_loss : float
        L_0.
    scores : array of shape (n_samples, n_classes)
        f after the last round.
    soft_confusion, error_confusion : array of shape (n_classes, n_classes)
        S and C_S after the last round.
    """

    edges: list[float]
    alphas: list[float]
    losses: list[float]
    right: list[float]
    wrong: list[float]
    initial_loss: float
    scores: np.ndarray
    soft_confusion: np.ndarray
    error_confusion: np.ndarray


def base_weights(y, sample_weight, n_classes, algorithm):
    """Return w_i: n_i/M_{y_i} for CoMBo, K·n_i/Σn for AdaBoost.MM."""
    if algorithm == "mm":
        return n_classes * sample_weight / sample_weight.sum()
    class_weights = np.bincount(y, weights=sample_weight, minlength=n_classes)
    return sample_weight / class_weights[y]


def soft_errors(scores, y, base_weight, cost_matrix):
    """Return w_i·c(y_i,j)·exp(f(i,j) − f(i,y_i)), zero for j = y_i."""
    rows = np.arange(len(y))
    with np.errstate(over="ignore", invalid="ignore"):
        excess = np.exp(scores - scores[rows, y][:, None])  # E
        errors = base_weight[:, None] * cost_matrix[y] * excess
    errors[cost_matrix[y] == 0] = 0.0
    errors[base_weight == 0] = 0.0
    errors[rows, y] = 0.0
    return errors


def cost_rows(errors, y):
    """Return D: the soft errors, and minus their sum for the row's own class."""
    costs = errors.copy()
    costs[np.arange(len(y)), y] = -errors.sum(axis=1)
    return costs


def first_costs(y, algorithm):
    """Return D of the first round, where all rows weigh and all errors cost the same."""
    n_classes = int(y.max()) + 1
    weight = base_weights(y, np.ones(len(y)), n_classes, algorithm)
    errors = soft_errors(np.zeros((len(y), n_classes)), y, weight, np.ones((n_classes, n_classes)))
    return cost_rows(errors, y)


def soft_confusion_matrix(errors, y, n_classes):
    """Return S(l,j), the soft errors added up per class."""
    return np.array([errors[y == label].sum(axis=0) for label in range(n_classes)])


def error_confusion_matrix(predictions, y, sample_weight, n_classes):
    """Return C_S(l,j), the share of class l predicted as j, zero diagonal."""
    matrix = np.zeros((n_classes, n_classes))
    np.add.at(matrix, (y, predictions), sample_weight)
    matrix /= matrix.sum(axis=1, keepdims=True)
    np.fill_diagonal(matrix, 0.0)
    return matrix


def edge_step(edge):
    """Return α = ½·ln((1+δ)/(1−δ)), with δ kept within its limits."""
    edge = min(max(edge, SMALLEST_EDGE), LARGEST_EDGE)
    return 0.5 * math.log((1 + edge) / (1 - edge))


def exact_step(right, wrong):
    """Return α = ½·ln(A₊/A₋), kept within its limit."""
    if wrong == 0:
        return LARGEST_ALPHA
    return min(0.5 * math.log(right / wrong), LARGEST_ALPHA)


def replay(
    votes_per_round,
    y,
    *,
    algorithm,
    cost_matrix=None,
    sample_weight=None,
    step="edge",
    learning_rate=1.0,
    alphas=None,
    n_classes=None,
):
    """Boost with given weak hypotheses.

    Parameters
    ----------
    votes_per_round : sequence of arrays of shape (n_samples,)
        h_t(i).
    y : array of int
        Classes 0..K−1, all present.
    algorithm : {"combo", "mm"}
    cost_matrix : array of shape (n_classes, n_classes), optional
    sample_weight : array of shape (n_samples,), optional
    step : {"edge", "exact"}
    learning_rate : float
    alphas : sequence of float, optional
        Round weights, learning rate included, to add to the scores instead of those computed here, so that rounding
        does not accumulate. What is returned are still those computed here.
    n_classes : int, optional

    Returns
    -------
    Replay
    """
    y = np.asarray(y)
    n_classes = int(y.max()) + 1 if n_classes is None else n_classes
    sample_weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    cost_matrix = np.ones((n_classes, n_classes)) if cost_matrix is None else np.asarray(cost_matrix, dtype=np.float64)
    base_weight = base_weights(y, sample_weight, n_classes, algorithm)
    rows = np.arange(len(y))
    scores = np.zeros((len(y), n_classes))
    errors = soft_errors(scores, y, base_weight, cost_matrix)
    result = Replay([], [], [], [], [], float(errors.sum()), scores, None, None)

    for t, votes in enumerate(np.asarray(votes_per_round)):
        costs = cost_rows(errors, y)  # D_t
        edge = float(-costs[rows, votes].sum() / errors.sum())  # δ_t
        is_right = votes == y
        right = float(errors[is_right].sum())  # A₊
        wrong = float(errors[rows, votes][~is_right].sum())  # A₋
        use_edge = step == "edge" or edge <= SMALLEST_EDGE
        alpha = learning_rate * (edge_step(edge) if use_edge else exact_step(right, wrong))
        scores[rows, votes] += alpha if alphas is None else alphas[t]
        errors = soft_errors(scores, y, base_weight, cost_matrix)
        result.edges.append(edge)
        result.alphas.append(alpha)
        result.losses.append(float(errors.sum()))
        result.right.append(right)
        result.wrong.append(wrong)

    result.soft_confusion = soft_confusion_matrix(errors, y, n_classes)
    result.error_confusion = error_confusion_matrix(scores.argmax(axis=1), y, sample_weight, n_classes)
    return result


@dataclass
class Stump:
    """A split of all rows in two, at most one threshold: its score and, where there is one, the split and the votes."""

    score: float
    feature: int = -1
    threshold: float = 0.0
    labels: tuple[int, int] = (-1, -1)


def leaf_score(costs, criterion):
    """Return the best class's cost of a leaf, negated, or ‖ΣD‖²/Σloss."""
    summed = costs.sum(axis=0)
    if criterion == "cost":
        return float(max(-summed[label] for label in range(len(summed))))
    loss = np.clip(costs, 0.0, None).sum()  # the row's own class is the only negative cost
    return float((summed**2).sum() / loss) if loss > 0 else 0.0


def split_score(goes_left, costs, criterion):
    """Return the score of a split, given which rows go left."""
    return leaf_score(costs[goes_left], criterion) + leaf_score(costs[~goes_left], criterion)


def best_stump(X, costs, criterion="cost"):
    """Search all thresholds between raw values of all features, and all pairs of votes.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    costs : array of shape (n_samples, n_classes)
        D, negative for the row's own class; ``replay`` and the package's own costs both will do.
    criterion : {"cost", "gini"}

    Returns
    -------
    Stump
        The first one of the highest score; feature -1 where no split is above all rows in one leaf.
    """
    X = np.asarray(X, dtype=np.float64)
    costs = np.asarray(costs, dtype=np.float64)
    best = Stump(leaf_score(costs, criterion))
    for feature in range(X.shape[1]):
        for value in np.unique(X[:, feature])[:-1]:
            goes_left = X[:, feature] <= value
            score = split_score(goes_left, costs, criterion)
            if score > best.score:
                labels = best_votes(goes_left, costs)
                best = Stump(score, feature, float(value), labels)
    return best


def best_votes(goes_left, costs):
    """Return the pair of votes, left and right, of the smallest summed cost, trying all pairs."""
    n_classes = costs.shape[1]
    pairs = [(a, b) for a in range(n_classes) for b in range(n_classes)]
    return min(pairs, key=lambda pair: costs[goes_left, pair[0]].sum() + costs[~goes_left, pair[1]].sum())
