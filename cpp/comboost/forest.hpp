// Trees in one array, and whether they are what they should be: those who follow them do not look.
#pragma once

#include <span>

#include "comboost/types.hpp"

namespace comboost {

// Trees in one array: tree t owns nodes [offsets[t], offsets[t + 1]); `left` counts from the tree's first node.
struct Forest {
    std::span<const Node> nodes;
    std::span<const CodeSet> sets;
    std::span<const std::int64_t> offsets;
    std::span<const double> weights;
    std::span<const float> votes;  // K per leaf, if leaves vote for every class; `left` of a leaf is the row
};

// What the trees of a forest are for. `kinds` of the features is empty if nobody knows them, as of a tree alone.
struct ForestShape {
    std::size_t n_features;
    std::size_t n_classes;
    std::span<const Kind> kinds;
};

// Throws std::invalid_argument, which says what is wrong, unless rows come to a leaf whichever way they go, and every
// feature and set that a node names is there.
void check_tree(const Tree& tree, std::size_t n_features);

// The same for all trees of a forest, and that classes, votes and weights are there, and thresholds as they are grown.
void check_forest(const Forest& forest, const ForestShape& shape);

}  // namespace comboost
