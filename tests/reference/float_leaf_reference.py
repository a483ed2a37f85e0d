"""Votes for every class in floats, with NumPy: the mathematics without its rounding. In: leaves and votes. Out: losses.

Nothing is quantised, no sum has an order, and excess is exp(f) itself.
"""

from dataclasses import dataclass

import numpy as np


def base_weights(y, sample_weight, n_classes, balance):
    """Return w_i = n_i/M_l^τ, scaled so that they add up to K."""
    weight_sums = np.bincount(y, weights=sample_weight, minlength=n_classes)
    weights = sample_weight / weight_sums[y] ** balance
    return weights * n_classes / weights.sum()


# Losses


def excess(scores, y):
    """Return E(i,j) = exp(f(i,j) − f(i,y_i))."""
    return np.exp(scores - scores[np.arange(len(y)), y][:, np.newaxis])


def loss_of(scores, y, base_weight, cost_matrix, loss):
    """Return L; the diagonal of the costs is 0."""
    if loss == "exponential":
        return float((base_weight[:, np.newaxis] * cost_matrix[y] * excess(scores, y)).sum())
    largest = cost_matrix.max(axis=1)[y]
    shares = cost_matrix[y] / np.where(largest == 0, 1.0, largest)[:, np.newaxis]
    return float((base_weight * largest * np.log1p((shares * excess(scores, y)).sum(axis=1))).sum() / np.log(2.0))


def pulls_of(scores, y, base_weight, cost_matrix, loss):
    """Return D(i,j) for j ≠ y_i and 0 for y_i: the gradient of the loss, in nats if it is a logarithm."""
    errors = base_weight[:, np.newaxis] * cost_matrix[y] * excess(scores, y)
    if loss == "exponential":
        return errors
    largest = cost_matrix.max(axis=1)[y]
    shares = cost_matrix[y] / np.where(largest == 0, 1.0, largest)[:, np.newaxis]
    return errors / (1.0 + (shares * excess(scores, y)).sum(axis=1))[:, np.newaxis]


# The vote of a leaf


def leaf_matrices(pulls, y, leaves, n_leaves):
    """Return S_q(l,j) of every leaf."""
    n_classes = pulls.shape[1]
    matrices = np.zeros((n_leaves, n_classes, n_classes))
    np.add.at(matrices, (leaves, y), pulls)
    return matrices


def scale(matrix, vote):
    """Return A(l,j)·exp(v_j − v_l)."""
    return matrix * np.exp(vote - vote[:, np.newaxis])


def imbalance(matrix):
    """Return row sums less column sums."""
    return matrix.sum(axis=1) - matrix.sum(axis=0)


def balance(matrix, n_sweeps, first=0):
    """Return the vote after some sweeps of Osborne's steps without limits; every class must have both sums above 0."""
    vote = np.zeros(len(matrix))
    for _ in range(n_sweeps):
        for j in np.roll(np.arange(len(matrix)), -first):
            scaled = scale(matrix, vote)
            vote[j] += 0.5 * np.log(scaled[j].sum() / scaled[:, j].sum())
    return vote - vote.mean()


# Rounds


@dataclass
class PlayedRound:
    """What a round is without rounding, its votes being given.

    Attributes
    ----------
    matrices : array of shape (n_leaves, n_classes, n_classes)
        S_q before the round.
    loss_before, loss : float
        L before and after the round.
    edge : float
        δ of the leaves' best classes.
    """

    matrices: np.ndarray
    loss_before: float
    loss: float
    edge: float

    @property
    def pull(self):
        """ΣD before the round."""
        return float(self.matrices.sum())


def replay(leaves_per_round, votes_per_round, y, *, base_weight, cost_matrix, loss):
    """Add given votes, round by round.

    Parameters
    ----------
    leaves_per_round : sequence of arrays of int, (n_samples,)
    votes_per_round : sequence of arrays of shape (n_leaves, n_classes)
    y : array of int
    base_weight : array of shape (n_samples,)
    cost_matrix : array of shape (n_classes, n_classes)
        Zero diagonal.
    loss : {"exponential", "log"}

    Returns
    -------
    rounds : list of PlayedRound
    scores : array of shape (n_samples, n_classes)
    """
    scores = np.zeros((len(y), len(cost_matrix)))
    rounds = []
    for leaves, votes in zip(leaves_per_round, votes_per_round, strict=True):
        problem = y, base_weight, cost_matrix, loss
        matrices = leaf_matrices(pulls_of(scores, *problem), y, leaves, len(votes))
        before = loss_of(scores, *problem)
        scores += np.asarray(votes)[leaves]
        rounds.append(PlayedRound(matrices, before, loss_of(scores, *problem), edge_of(matrices)))
    return rounds, scores


def edge_of(matrices):
    """Return δ of the class votes of the same leaves."""
    advantages = matrices.sum(axis=2) - matrices.sum(axis=1)  # what pulls a class up less what pushes it down
    return float(advantages.max(axis=1).sum() / matrices.sum())
