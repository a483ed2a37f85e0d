#include "comboost/forest.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

namespace comboost {
namespace {

template <class... Words>
[[noreturn]] void refuse(const Words&... words) {
    std::ostringstream text;
    (text << ... << words);
    throw std::invalid_argument(text.str());
}

struct NodePosition {
    std::size_t tree;
    std::size_t node;

    template <class... Words>
    [[noreturn]] void refuse(const Words&... words) const {
        comboost::refuse("tree ", tree, ", node ", node, " ", words...);
    }
};

void check_references(const Node& node, std::size_t n_features, std::size_t n_sets, const NodePosition& at) {
    if (node.feature != kLeaf && (node.feature < 0 || std::cmp_greater_equal(node.feature, n_features)))
        at.refuse("names feature ", node.feature, ", but there are ", n_features, " features");
    if (node.set != kNoSet && (node.set < 0 || std::cmp_greater_equal(node.set, n_sets)))
        at.refuse("needs set ", node.set, ", but there are ", n_sets, " sets");
}

// The parents of one tree after the other. Children follow their parent and have no other, so there are no cycles, and
// a tree of n splits has 2n + 1 nodes.
class Lineage {
  public:
    void begin_tree(std::size_t n_nodes) {
        n_nodes_ = n_nodes;
        n_parents_ = 0;
        has_parent_.assign(n_nodes / 2, false);
    }

    void add_parent(const Node& node, const NodePosition& at) {
        const auto left = static_cast<std::size_t>(node.left);
        if (node.left < 0 || left <= at.node || left + 1 >= n_nodes_ || left % 2 == 0)
            at.refuse("has its children at ", node.left, ", which is not a pair of later nodes");
        if (std::exchange(has_parent_[left / 2], std::uint8_t{true})) at.refuse("has another node's children");
        ++n_parents_;
    }

    void end_tree(std::size_t tree) const {
        if (n_nodes_ != 2 * n_parents_ + 1)
            refuse("tree ", tree, " has ", n_nodes_, " nodes, but ", n_parents_, " of them have children, two each");
    }

  private:
    std::size_t n_nodes_ = 0;
    std::size_t n_parents_ = 0;
    std::vector<std::uint8_t> has_parent_;  // of every pair of children
};

// A leaf has a class, or a row of leaf values, and nothing else.
void check_leaf(const Node& node, std::int64_t row, const NodePosition& at) {
    if (node.left != row && row == kLeaf) at.refuse("is a leaf, but has children at ", node.left);
    if (node.left != row) at.refuse("has the values of row ", node.left, " instead of row ", row);
    if (node.threshold != 0.0 || node.set != kNoSet || node.bin != 0 || node.flags != 0)
        at.refuse("is a leaf, but would divide rows");
}

void check_split(const Node& node, std::span<const Kind> kinds, const NodePosition& at) {
    constexpr std::uint8_t kKnownFlags = Node::kMissingLeft | Node::kCategorical;
    const bool by_category = node.has(Node::kCategorical);
    if ((node.flags & ~kKnownFlags) != 0) at.refuse("has unknown flags");
    if (!kinds.empty() && by_category != (kinds[static_cast<std::size_t>(node.feature)] == Kind::categories))
        at.refuse("treats feature ", node.feature, " as ", by_category ? "categories" : "numbers");
    if (by_category && node.set == kNoSet) at.refuse("has no set of categories");
    if (by_category && (node.threshold != 0.0 || node.bin != 0)) at.refuse("has a threshold of categories");
    const bool parts_missing = node.bin == 0 && node.threshold == -std::numeric_limits<double>::infinity();
    if (!std::isfinite(node.threshold) && !parts_missing) at.refuse("has the threshold ", node.threshold);
    if (node.bin >= kMaxBins) at.refuse("names bin ", int{node.bin}, ", but there are ", kMaxBins, " bins");
}

// The thresholds of the features' bins. They are the same in all trees and ascend: so it makes no difference whether
// values or codes are compared, and no feature has more thresholds than bins.
class Thresholds {
  public:
    explicit Thresholds(std::size_t n_features) : slots_(n_features, kUnused) {}

    void add(const Node& node, const NodePosition& at) {
        Bins& bins = bins_of(static_cast<std::size_t>(node.feature));
        bins.first = std::min(bins.first, node.bin);
        bins.last = std::max(bins.last, node.bin);
        double& known = bins.thresholds[node.bin];
        if (std::isnan(known)) known = node.threshold;
        if (known != node.threshold)
            at.refuse("has the threshold ", node.threshold, " where an earlier node has ", known);
    }

    void check_order() const {
        for (std::size_t f = 0; f < slots_.size(); ++f)
            if (slots_[f] != kUnused && !used_[slots_[f]].ascend())
                refuse("the thresholds of feature ", f, " do not ascend with its bins");
    }

  private:
    static constexpr std::uint32_t kUnused = std::numeric_limits<std::uint32_t>::max();

    struct Bins {
        Code first = std::numeric_limits<Code>::max();
        Code last = 0;
        std::array<double, kMaxBins> thresholds;  // NaN if no node has one

        Bins() { thresholds.fill(std::numeric_limits<double>::quiet_NaN()); }

        bool ascend() const {
            double before = std::numeric_limits<double>::quiet_NaN();
            for (std::size_t bin = first; bin <= last; ++bin) {
                if (thresholds[bin] <= before) return false;  // never true of NaN
                if (!std::isnan(thresholds[bin])) before = thresholds[bin];
            }
            return true;
        }
    };

    Bins& bins_of(std::size_t feature) {
        if (slots_[feature] == kUnused) {
            slots_[feature] = static_cast<std::uint32_t>(used_.size());
            used_.emplace_back();
        }
        return used_[slots_[feature]];
    }

    std::vector<std::uint32_t> slots_;  // indices of the features in used_
    std::vector<Bins> used_;
};

// Whether there is no NaN and no infinity, by the bits: that is many at a time.
template <class Bits, class Float>
bool all_finite(std::span<const Float> values) {
    Bits largest = 0;
    for (const Float value : values)
        largest = std::max(largest, std::bit_cast<Bits>(value) & std::numeric_limits<Bits>::max());
    return largest < std::bit_cast<Bits>(std::numeric_limits<Float>::infinity());
}

void check_sizes(const Forest& forest, std::size_t n_classes) {
    const std::size_t n_trees = forest.n_trees(), n_nodes = forest.nodes.size();
    if (n_trees == 0 || forest.offsets.size() != n_trees + 1)
        refuse("there are ", n_trees, " weights and ", forest.offsets.size(),
               " offsets, but every tree needs a weight");
    if (forest.offsets.front() != 0 || std::cmp_not_equal(forest.offsets.back(), n_nodes) ||
        std::ranges::adjacent_find(forest.offsets, std::greater_equal{}) != forest.offsets.end())
        refuse("the offsets do not divide the ", n_nodes, " nodes into ", n_trees, " trees");
    const std::size_t n_leaves = (n_nodes + n_trees) / 2;  // a tree has one more than it has splits
    if (!forest.leaf_values.empty() && forest.leaf_values.size() != n_leaves * n_classes)
        refuse("there are values of ", forest.leaf_values.size() / n_classes, " leaves, but there are ", n_leaves,
               " leaves");
    if (!all_finite<std::int64_t>(forest.weights)) refuse("a weight is not finite");
    if (!all_finite<std::int32_t>(forest.leaf_values)) refuse("a leaf value is not finite");
    if (!forest.covers.empty() && forest.covers.size() != n_leaves)
        refuse("there are covers of ", forest.covers.size(), " leaves, but there are ", n_leaves, " leaves");
    if (!std::ranges::all_of(forest.covers, [](double cover) { return cover > 0.0 && cover <= 1.0; }))
        refuse("the cover of a leaf is not above 0 and at most 1");
}

}  // namespace

void check_tree(const Tree& tree, std::size_t n_features) {
    Lineage lineage;
    lineage.begin_tree(tree.nodes.size());
    for (std::size_t k = 0; k < tree.nodes.size(); ++k) {
        check_references(tree.nodes[k], n_features, tree.sets.size(), {0, k});
        if (tree.nodes[k].feature != kLeaf) lineage.add_parent(tree.nodes[k], {0, k});
    }
    lineage.end_tree(0);
}

void check_forest(const Forest& forest, const ForestShape& shape) {
    check_sizes(forest, shape.n_classes);
    // A tree alone need not agree with others, and so few nodes cannot have too many thresholds.
    const bool compared = !shape.kinds.empty() || forest.nodes.size() > kMaxBins;
    Thresholds thresholds(compared ? shape.n_features : 0);
    Lineage lineage;
    std::int64_t n_leaves = 0;
    for (std::size_t t = 0; t < forest.n_trees(); ++t) {
        const std::span<const Node> nodes = forest.tree(t);
        lineage.begin_tree(nodes.size());
        for (std::size_t k = 0; k < nodes.size(); ++k) {
            const Node& node = nodes[k];
            const NodePosition at{t, k};
            check_references(node, shape.n_features, forest.sets.size(), at);
            if (node.label >= shape.n_classes)
                at.refuse("predicts class ", node.label, ", but there are ", shape.n_classes, " classes");
            if (node.feature == kLeaf) {
                check_leaf(node, forest.leaf_values.empty() ? kLeaf : n_leaves++, at);
                continue;
            }
            lineage.add_parent(node, at);
            check_split(node, shape.kinds, at);
            if (compared && !node.has(Node::kCategorical)) thresholds.add(node, at);
        }
        lineage.end_tree(t);
    }
    thresholds.check_order();
}

}  // namespace comboost
