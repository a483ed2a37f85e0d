"""Votes of flat trees, row by row and node by node, as plain as can be."""

import math

LEAF, NO_SET = -1, -1
MISSING_LEFT, CATEGORICAL = 1, 2


def contains(codes, code):
    """Whether a set, 32 bytes, holds a code."""
    return bool(codes[code // 8] >> (code % 8) & 1)


def value_goes_left(node, value, sets):
    """Where a value goes; categories are given as their codes."""
    threshold, _, _, place, _, _, flags = node
    if flags & CATEGORICAL:
        return contains(sets[place], 0 if math.isnan(value) else int(value))
    return bool(flags & MISSING_LEFT) if math.isnan(value) else value <= threshold


def code_goes_left(node, code, sets):
    """Where a code of training goes."""
    _, _, _, place, _, last, _ = node
    return contains(sets[place], code) if place != NO_SET else code <= last


def add_scores(forest, rows, goes_left, scores):
    """Add what the trees vote on every row, in their order; `scores` are lists of floats."""
    nodes, sets = forest.nodes.tolist(), forest.sets.tolist()
    for row, total in zip(rows, scores, strict=True):
        for begin, weight in zip(forest.offsets.tolist(), forest.weights.tolist(), strict=False):
            node = nodes[begin]
            while node[1] != LEAF:
                node = nodes[begin + node[2] + (not goes_left(node, row[node[1]], sets))]
            if forest.leaf_values is None:
                total[node[4]] += weight
            else:
                for k, vote in enumerate(forest.leaf_values[node[2]].tolist()):
                    total[k] += vote
