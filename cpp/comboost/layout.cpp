#include "comboost/layout.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "comboost/interrupts.hpp"

namespace comboost {
namespace {

constexpr std::size_t kUpdatesPerNode = 8;  // to find the index of its threshold

// Of the sets that nodes need, the first that equals each of them; sets that other trees need have no part in it.
std::vector<std::int32_t> find_same_sets(std::span<const Node> nodes, std::span<const CodeSet> sets) {
    std::vector<std::int32_t> needed, first(sets.size());
    for (const Node& node : nodes)
        if (node.set != kNoSet) needed.push_back(node.set);
    const auto compare = [&](std::int32_t a, std::int32_t b) {
        return std::memcmp(&sets[static_cast<std::size_t>(a)], &sets[static_cast<std::size_t>(b)], sizeof(CodeSet));
    };
    std::sort(needed.begin(), needed.end(), [&](std::int32_t a, std::int32_t b) {
        const int difference = compare(a, b);
        return difference != 0 ? difference < 0 : a < b;
    });
    for (std::size_t k = 0; k < needed.size(); ++k) {
        const bool is_new = k == 0 || compare(needed[k], needed[k - 1]) != 0;
        first[static_cast<std::size_t>(needed[k])] =
            is_new ? needed[k] : first[static_cast<std::size_t>(needed[k - 1])];
    }
    return first;
}

}  // namespace

ForestLayout::ForestLayout(const Forest& forest, std::size_t first, std::size_t last, std::size_t n_classes, From from)
    : from_(from),
      n_classes_(n_classes),
      offsets_(forest.offsets.subspan(first, last - first + 1)),
      nodes_(forest.nodes.subspan(static_cast<std::size_t>(offsets_.front()),
                                  static_cast<std::size_t>(offsets_.back() - offsets_.front()))),
      weights_(forest.weights.subspan(first, last - first)),
      leaf_values_(forest.leaf_values),
      same_set_(find_same_sets(nodes_, forest.sets)) {
    find_columns();
    collect_thresholds();
    find_depth();
    allocate();
    InterruptPoll poll;
    for (std::size_t t = 0; t < n_trees(); ++t) {
        fill_levels(tree(t), 0, t, 0);
        if (is_deep()) fill_stops(tree(t), t);
        poll.after((n_steps() + tree(t).size()) * kUpdatesPerNode);
    }
}

std::span<const Node> ForestLayout::tree(std::size_t t) const {
    return nodes_.subspan(root_of(t), static_cast<std::size_t>(offsets_[t + 1] - offsets_[t]));
}

LevelTrees ForestLayout::trees() const {
    return {.depth = levels_,
            .leaves_per_tree = std::max<std::size_t>(1, n_leaves_ / std::max<std::size_t>(1, n_trees())),
            .steps = steps_,
            .starts = starts_,
            .stops = stops_,
            .weights = weights_,
            .table = table_.span(),
            .labels = labels_,
            .value_rows = value_rows_,
            .leaf_values = leaf_values_};
}

Column ForestLayout::column_of(const Node& node) const {
    const bool by_set = from_ == From::codes ? node.set != kNoSet : node.has(Node::kCategorical);
    if (by_set) return {node.feature, same_set_[static_cast<std::size_t>(node.set)]};
    if (from_ != From::values_with_missing) return {node.feature, Column::kPlain};
    return {node.feature, node.has(Node::kMissingLeft) ? Column::kMissingLeft : Column::kMissingRight};
}

void ForestLayout::find_columns() {
    for (const Node& node : nodes_)
        if (node.feature != kLeaf) columns_.push_back(column_of(node));
    std::sort(columns_.begin(), columns_.end());
    columns_.erase(std::unique(columns_.begin(), columns_.end()), columns_.end());
    std::uint32_t group = 0;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        if (c > 0 && columns_[c].feature != columns_[c - 1].feature) ++group;
        group_of_.push_back(group);
    }
    thresholds_.resize(columns_.empty() ? 0 : group + 1);
}

void ForestLayout::collect_thresholds() {
    if (from_ == From::codes) return;
    for (const Node& node : nodes_)
        if (node.feature != kLeaf && !node.has(Node::kCategorical))
            thresholds_[group_of_[index_of(column_of(node))]].push_back(node.threshold);
    for (auto& ascending : thresholds_) {
        std::sort(ascending.begin(), ascending.end());
        ascending.erase(std::unique(ascending.begin(), ascending.end()), ascending.end());
    }
}

std::size_t ForestLayout::index_of(const Column& column) const {
    return static_cast<std::size_t>(std::lower_bound(columns_.begin(), columns_.end(), column) - columns_.begin());
}

// Children follow their parents, so that one pass is enough.
void ForestLayout::find_depth() {
    std::vector<std::uint32_t> above;
    for (std::size_t t = 0; t < n_trees(); ++t) {
        const std::span<const Node> nodes = tree(t);
        above.assign(nodes.size(), 0);
        for (std::size_t k = 0; k < nodes.size(); ++k) {
            depth_ = std::max<std::size_t>(depth_, above[k]);
            if (nodes[k].feature == kLeaf) continue;
            const auto left = static_cast<std::size_t>(nodes[k].left);
            above[left] = above[left + 1] = above[k] + 1;
        }
    }
    levels_ = std::min(depth_, LevelTrees::kMaxDepth);
}

// Leaf values of few classes are padded in a table, but those of deep trees fill the cache less as they are.
std::size_t ForestLayout::width_of_table() const {
    constexpr std::size_t kMost = LevelTrees::kMaxTabled, kHalf = kMost / 2;
    if (n_classes_ > kMost || (is_deep() && (leaf_values_.empty() || n_classes_ >= kHalf))) return 0;
    return n_classes_ > kHalf ? kMost : kHalf;
}

void ForestLayout::allocate() {
    width_ = width_of_table();
    steps_.resize(n_trees() * n_steps());
    if (is_deep()) {
        starts_.resize(n_trees() << levels_);
        stops_.resize(nodes_.size());
    }
    const std::size_t n_leaves = is_deep() ? (nodes_.size() + n_trees()) / 2 : n_trees() << levels_;
    if (width_ > 0)
        table_ = AlignedArray<double>(n_leaves * width_);
    else if (leaf_values_.empty())
        labels_.resize(n_leaves);
    else
        value_rows_.resize(n_leaves);
    if (!is_deep()) n_leaves_ = n_leaves;
}

LevelTrees::Step ForestLayout::step_of(const Node& node) const {
    const std::size_t column = index_of(column_of(node));
    const auto begin = static_cast<std::uint32_t>(column * CodeBlock::kRows);
    if (columns_[column].by_set()) return {begin, 1};
    const std::vector<double>& ascending = thresholds_[group_of_[column]];
    const std::ptrdiff_t bin =
        from_ == From::codes ? node.bin
                             : std::lower_bound(ascending.begin(), ascending.end(), node.threshold) - ascending.begin();
    return {begin, static_cast<CodeBlock::Signed>(bin + 1 - CodeBlock::kOffset)};
}

// Fills the steps below one step of a tree; a leaf that stands too high is at all ends below it.
void ForestLayout::fill_levels(std::span<const Node> nodes, std::size_t node, std::size_t tree, std::size_t step) {
    if (step >= n_steps()) {
        const std::size_t end = (tree << levels_) + step - n_steps();
        if (is_deep())
            starts_[end] = root_of(tree) + static_cast<std::uint32_t>(node);
        else
            fill_leaf(nodes[node], tree, end);
        return;
    }
    const bool is_leaf = nodes[node].feature == kLeaf;
    const std::size_t left = is_leaf ? node : static_cast<std::size_t>(nodes[node].left);
    steps_[tree * n_steps() + step] = is_leaf ? LevelTrees::Step{0, 0} : step_of(nodes[node]);
    fill_levels(nodes, left, tree, 2 * step + 1);
    fill_levels(nodes, is_leaf ? node : left + 1, tree, 2 * step + 2);
}

void ForestLayout::fill_stops(std::span<const Node> nodes, std::size_t tree) {
    const std::uint32_t begin = root_of(tree);
    for (std::uint32_t k = 0; k < nodes.size(); ++k) {
        if (nodes[k].feature == kLeaf) {
            stops_[begin + k] = {0, begin + k, LevelTrees::kFirstLeaf + static_cast<std::int32_t>(n_leaves_)};
            fill_leaf(nodes[k], tree, n_leaves_++);
        } else {
            const LevelTrees::Step step = step_of(nodes[k]);
            stops_[begin + k] = {step.column, begin + static_cast<std::uint32_t>(nodes[k].left), step.least};
        }
    }
}

void ForestLayout::fill_leaf(const Node& leaf, std::size_t tree, std::size_t index) {
    const auto row = static_cast<std::size_t>(leaf.left);
    if (width_ == 0) {
        if (leaf_values_.empty())
            labels_[index] = leaf.label;
        else
            value_rows_[index] = static_cast<std::uint32_t>(row);
        return;
    }
    const auto to = table_.span().subspan(index * width_, width_);
    std::ranges::fill(to, 0.0);
    if (leaf_values_.empty())
        to[leaf.label] = weights_[tree];
    else
        std::ranges::copy(leaf_values_.subspan(row * n_classes_, n_classes_), to.begin());
}

}  // namespace comboost
