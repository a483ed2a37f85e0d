// Trees in one array, and the checks that allow prediction to follow them without any.
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
    std::span<const float> leaf_values;  // K per leaf, in row `left` of the leaf; empty if leaves predict one class
    std::span<const double> covers;      // training weights of the leaves, in the order of their nodes; may be empty

    std::size_t n_trees() const { return weights.size(); }
    std::span<const Node> tree(std::size_t t) const {
        return nodes.subspan(static_cast<std::size_t>(offsets[t]),
                             static_cast<std::size_t>(offsets[t + 1] - offsets[t]));
    }
    std::span<const float> values_of(const Node& leaf, std::size_t n_classes) const {
        return leaf_values.subspan(static_cast<std::size_t>(leaf.left) * n_classes, n_classes);
    }
};

// Number of features and classes, and kinds of the features; `kinds` is empty if they are not known.
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

// Whether a node sends a value to its left child.
inline bool goes_left(double value, const Node& node, std::span<const CodeSet> sets) {
    if (node.has(Node::kCategorical)) return sets[static_cast<std::size_t>(node.set)].contains(category_code(value));
    return std::isnan(value) ? node.has(Node::kMissingLeft) : value <= node.threshold;
}

// Throws std::invalid_argument unless every path ends in a leaf and every feature and set that a node names exists.
void check_tree(const Tree& tree, std::size_t n_features);

// The same for all trees of a forest; also checks classes, leaf values, weights and the order of the thresholds.
void check_forest(const Forest& forest, const ForestShape& shape);

}  // namespace comboost
