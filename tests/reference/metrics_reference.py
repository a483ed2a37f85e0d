"""The metrics, slowly and plainly: labels are 0 to K−1, weights are given, loops go over rows and pairs of rows.

In come lists, out come floats and lists of lists. Nothing of the package is imported.
"""

import math

import numpy as np


def class_weights(y_true, weight, n_classes):
    """Sum the weights of each true class."""
    return [sum(w for y, w in zip(y_true, weight, strict=True) if y == label) for label in range(n_classes)]


def error_confusion(y_true, y_pred, weight, n_classes):
    """C(l, j): share of class l taken for j; zero on the diagonal and in the row of an absent class."""
    totals = class_weights(y_true, weight, n_classes)
    shares = [[0.0] * n_classes for _ in range(n_classes)]
    for y, h, w in zip(y_true, y_pred, weight, strict=True):
        if y != h and totals[y] > 0:
            shares[y][h] += w / totals[y]
    return shares


def confusion_norm(y_true, y_pred, weight, n_classes):
    """‖C‖ as the root of the largest eigenvalue of CᵀC, as the paper writes it."""
    shares = np.array(error_confusion(y_true, y_pred, weight, n_classes))
    return math.sqrt(max(0.0, np.linalg.eigvalsh(shares.T @ shares)[-1]))


def confusion_norm_bound(y_true, y_pred, weight, n_classes, eta):
    """The paper's corollary, with m_k = M_k²/Σn_i² rows in class k."""
    inverse_sizes = 0.0
    for label in range(n_classes):
        of_class = [w for y, w in zip(y_true, weight, strict=True) if y == label]
        if sum(of_class) == 0:
            return math.inf
        inverse_sizes += sum(w * w for w in of_class) / sum(of_class) ** 2
    deviation = math.sqrt(2 * n_classes * inverse_sizes * math.log(n_classes / eta))
    return confusion_norm(y_true, y_pred, weight, n_classes) + deviation


def recalls(y_true, y_pred, weight, n_classes):
    """Return the recalls of the classes that are present."""
    totals = class_weights(y_true, weight, n_classes)
    rows = list(zip(y_true, y_pred, weight, strict=True))
    right = [sum(w for y, h, w in rows if y == h == label) for label in range(n_classes)]
    return [r / t for r, t in zip(right, totals, strict=True) if t > 0]


def expected_cost(y_true, y_pred, weight, costs):
    """Mean cost per unit of weight."""
    rows = zip(y_true, y_pred, weight, strict=True)
    return sum(w * costs[y][h] for y, h, w in rows if y != h) / sum(weight)


def balanced_log_loss(y_true, y_proba, weight, n_classes):
    """Mean over the classes present of the weighted mean of −ln p, p being clipped by the gap above 1."""
    totals = class_weights(y_true, weight, n_classes)
    losses = [0.0] * n_classes
    for y, p, w in zip(y_true, y_proba, weight, strict=True):
        losses[y] += w * -math.log(min(max(p[y], 2.0**-52), 1 - 2.0**-52))
    means = [loss / total for loss, total in zip(losses, totals, strict=True) if total > 0]
    return sum(means) / len(means)


def vote_loss(votes, labels, weight, scale):
    """Balanced log-loss of softmax(scale · votes), the loss of a row rounded to 2⁻²⁵, sums in integers."""
    losses, totals = {}, {}
    for row, y, w in zip(votes, labels, weight, strict=True):
        odds = sum(math.exp(scale * (v - max(row))) for v in row)
        loss = min(52 * math.log(2), math.log(odds) + scale * (max(row) - row[y]))
        losses[y] = losses.get(y, 0) + w * round(loss * 2**25)
        totals[y] = totals.get(y, 0) + w
    means = [losses[y] / totals[y] for y in sorted(totals) if totals[y] > 0]
    return sum(means) / 2**25 / len(means)


def mauc(y_true, y_score, weight, n_classes):
    """Hand and Till's mean of A(j|k), by looking at every pair of rows; nan with fewer than two classes."""
    totals = class_weights(y_true, weight, n_classes)
    present = [label for label in range(n_classes) if totals[label] > 0]
    rows = list(zip(y_true, y_score, weight, strict=True))
    areas = []
    for j in present:
        for k in present:
            if j == k:
                continue
            won = 0.0
            for y, score, w in rows:
                for other_y, other_score, other_w in rows:
                    if y == j and other_y == k:
                        won += w * other_w * ((score[j] > other_score[j]) + (score[j] == other_score[j]) / 2)
            areas.append(won / (totals[j] * totals[k]))
    return sum(areas) / len(areas) if areas else math.nan


def soft_confusion(y_true, scores, weight, n_classes, loss):
    """A(l, j): weighted mean over class l of exp(f_j − f_l) or log2(1 + exp(f_j − f_l)); zero on the diagonal."""
    totals = class_weights(y_true, weight, n_classes)
    means = [[0.0] * n_classes for _ in range(n_classes)]
    for y, f, w in zip(y_true, scores, weight, strict=True):
        for j in range(n_classes):
            if j != y and w > 0:
                ratio = math.exp(f[j] - f[y])
                means[y][j] += w / totals[y] * (ratio if loss == "exponential" else math.log1p(ratio) / math.log(2))
    return means
