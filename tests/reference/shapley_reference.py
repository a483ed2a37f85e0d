"""Shapley values of a tree's votes by their definition: over all sets of features that may be known."""

from functools import cache
from itertools import combinations
from math import factorial

from reference.scores_reference import LEAF, value_goes_left


def covers_of(nodes, leaf_covers):
    """The weights of all nodes of a tree, from those of its leaves."""
    given, covers = iter(reversed(leaf_covers)), [0.0] * len(nodes)
    for idx in reversed(range(len(nodes))):
        left = nodes[idx][2]
        covers[idx] = next(given) if nodes[idx][1] == LEAF else covers[left] + covers[left + 1]
    return covers


def expected_vote(nodes, sets, covers, votes, row, known):
    """The mean vote if some features are known: at splits of others both ways are gone, as often as rows went."""

    def below(idx):
        node = nodes[idx]
        if node[1] == LEAF:
            return votes[idx]
        left, right = node[2], node[2] + 1
        if node[1] in known:
            return below(left if value_goes_left(node, row[node[1]], sets) else right)
        return (covers[left] * below(left) + covers[right] * below(right)) / covers[idx]

    return below(0)


def shapley_values(nodes, sets, covers, votes, row, n_features):
    """What every feature adds to the vote, as the mean over all orders in which features become known."""

    @cache
    def vote(known):
        return expected_vote(nodes, sets, covers, votes, row, known)

    found = []
    for feature in range(n_features):
        others = [other for other in range(n_features) if other != feature]
        total = 0.0
        for size in range(n_features):
            weight = factorial(size) * factorial(n_features - size - 1) / factorial(n_features)
            for known in combinations(others, size):
                total += weight * (vote(frozenset({*known, feature})) - vote(frozenset(known)))
        found.append(total)
    return found
