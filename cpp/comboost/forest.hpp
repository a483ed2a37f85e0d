// Trees in one array, and whether they are what they should be: those who follow them do not look.
#pragma once

#include <cmath>
#include <span>

#include "comboost/types.hpp"

namespace comboost {

// Trees in one array: tree t owns nodes [offsets[t], offsets[t + 1]); `left` counts from the tree's first node.
struct Forest {
    std::span<const Node> nodes;
    std::span<const CodeSet> sets;
    std::span<const std::int64_t> offsets;
    std::span<const double> weights;
    std::span<const float> votes;    // K per leaf, if leaves vote for every class; `left` of a leaf is the row
    std::span<const double> covers;  // of the leaves, in the order of their nodes: what their rows weigh; may be empty
};

// What the trees of a forest are for. `kinds` of the features is empty if nobody knows them, as of a tree alone.
struct ForestShape {
    std::size_t n_features;
    std::size_t n_classes;
    std::span<const Kind> kinds;
};

// The code of a category, which is given as a number.
template <class T>
Code category_code(T value) {
    return std::isnan(value) ? Code{0} : static_cast<Code>(value);
}

// Where a node sends a value.
inline bool goes_left(double value, const Node& node, std::span<const CodeSet> sets) {
    if (node.has(Node::kCategorical)) return sets[static_cast<std::size_t>(node.set)].contains(category_code(value));
    return std::isnan(value) ? node.has(Node::kMissingLeft) : value <= node.threshold;
}

// Throws std::invalid_argument, which says what is wrong, unless rows come to a leaf whichever way they go, and every
// feature and set that a node names is there.
void check_tree(const Tree& tree, std::size_t n_features);

// The same for all trees of a forest, and that classes, votes and weights are there, and thresholds as they are grown.
void check_forest(const Forest& forest, const ForestShape& shape);

}  // namespace comboost
