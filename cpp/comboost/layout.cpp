#include "comboost/layout.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "comboost/interrupts.hpp"

namespace comboost {
namespace {

constexpr std::size_t kUpdatesPerNode = 8;  // to find the place of its threshold

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
      nodes_(forest.nodes.data() + forest.offsets[first]),
      weights_(forest.weights.subspan(first, last - first)),
      votes_(forest.votes) {
    const auto offsets = forest.offsets.subspan(first, last - first + 1);
    const std::span nodes(nodes_, static_cast<std::size_t>(offsets.back() - offsets.front()));
    same_set_ = find_same_sets(nodes, forest.sets);
    find_columns(nodes);
    collect_thresholds(nodes);
    find_depth(offsets);
    make_room(nodes);
    Lookout lookout;
    for (std::size_t t = 0; t + 1 < offsets.size(); ++t) {
        const Node* root = nodes_ + (offsets[t] - offsets[0]);
        fill_levels(root, *root, t, 0);
        if (is_deep()) fill_stops(root, static_cast<std::size_t>(offsets[t + 1] - offsets[t]), t);
        lookout.after((n_steps() + static_cast<std::size_t>(offsets[t + 1] - offsets[t])) * kUpdatesPerNode);
    }
}

LevelTrees ForestLayout::trees() const {
    return {levels_,
            std::max<std::size_t>(1, n_places_ / std::max<std::size_t>(1, n_trees())),
            steps_.data(),
            is_deep() ? starts_.data() : nullptr,
            stops_.data(),
            weights_.data(),
            width_ == 0 ? nullptr : table_.data(),
            labels_.data(),
            votes_.empty() ? nullptr : rows_.data(),
            votes_.data()};
}

Column ForestLayout::column_of(const Node& node) const {
    const bool by_set = from_ == From::codes ? node.set != kNoSet : node.has(Node::kCategorical);
    if (by_set) return {node.feature, same_set_[static_cast<std::size_t>(node.set)]};
    if (from_ != From::values_with_missing) return {node.feature, Column::kPlain};
    return {node.feature, node.has(Node::kMissingLeft) ? Column::kMissingLeft : Column::kMissingRight};
}

void ForestLayout::find_columns(std::span<const Node> nodes) {
    for (const Node& node : nodes)
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

void ForestLayout::collect_thresholds(std::span<const Node> nodes) {
    if (from_ == From::codes) return;
    for (const Node& node : nodes)
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
void ForestLayout::find_depth(std::span<const std::int64_t> offsets) {
    std::vector<std::uint32_t> above;
    for (std::size_t t = 0; t + 1 < offsets.size(); ++t) {
        const Node* root = nodes_ + (offsets[t] - offsets[0]);
        above.assign(static_cast<std::size_t>(offsets[t + 1] - offsets[t]), 0);
        for (std::size_t k = 0; k < above.size(); ++k) {
            depth_ = std::max<std::size_t>(depth_, above[k]);
            if (root[k].feature == kLeaf) continue;
            const auto left = static_cast<std::size_t>(root[k].left);
            above[left] = above[left + 1] = above[k] + 1;
        }
    }
    levels_ = std::min(depth_, LevelTrees::kMaxDepth);
}

// Votes for few classes are padded in a table, but those of deep trees fill the cache less as they are.
std::size_t ForestLayout::width_of_table() const {
    constexpr std::size_t kMost = LevelTrees::kMaxTabled, kHalf = kMost / 2;
    if (n_classes_ > kMost || (is_deep() && (votes_.empty() || n_classes_ >= kHalf))) return 0;
    return n_classes_ > kHalf ? kMost : kHalf;
}

void ForestLayout::make_room(std::span<const Node> nodes) {
    width_ = width_of_table();
    steps_.resize(n_trees() * n_steps());
    if (is_deep()) {
        starts_.resize(n_trees() << levels_);
        stops_.resize(nodes.size());
    }
    const std::size_t n_places = is_deep() ? (nodes.size() + n_trees()) / 2 : n_trees() << levels_;
    if (width_ > 0)
        table_ = AlignedArray<double>(n_places * width_);
    else if (votes_.empty())
        labels_.resize(n_places);
    else
        rows_.resize(n_places);
    if (!is_deep()) n_places_ = n_places;
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

// Fills the steps below one place of a tree; a leaf that stands too high is at all ends below it.
void ForestLayout::fill_levels(const Node* root, const Node& node, std::size_t tree, std::size_t step) {
    if (step >= n_steps()) {
        const std::size_t end = (tree << levels_) + step - n_steps();
        if (is_deep())
            starts_[end] = static_cast<std::uint32_t>(&node - nodes_);
        else
            fill_leaf(node, tree, end);
        return;
    }
    const bool is_leaf = node.feature == kLeaf;
    steps_[tree * n_steps() + step] = is_leaf ? LevelTrees::Step{0, 0} : step_of(node);
    fill_levels(root, is_leaf ? node : root[node.left], tree, 2 * step + 1);
    fill_levels(root, is_leaf ? node : root[node.left + 1], tree, 2 * step + 2);
}

void ForestLayout::fill_stops(const Node* root, std::size_t n_nodes, std::size_t tree) {
    const auto begin = static_cast<std::uint32_t>(root - nodes_);
    for (std::uint32_t k = 0; k < n_nodes; ++k) {
        if (root[k].feature == kLeaf) {
            stops_[begin + k] = {0, begin + k, LevelTrees::kFirstPlace + static_cast<std::int32_t>(n_places_)};
            fill_leaf(root[k], tree, n_places_++);
        } else {
            const LevelTrees::Step step = step_of(root[k]);
            stops_[begin + k] = {step.column, begin + static_cast<std::uint32_t>(root[k].left), step.least};
        }
    }
}

void ForestLayout::fill_leaf(const Node& leaf, std::size_t tree, std::size_t place) {
    if (width_ == 0) {
        if (votes_.empty())
            labels_[place] = leaf.label;
        else
            rows_[place] = static_cast<std::uint32_t>(leaf.left);
        return;
    }
    double* to = table_.data() + place * width_;
    std::fill_n(to, width_, 0.0);
    if (votes_.empty())
        to[leaf.label] = weights_[tree];
    else
        std::copy_n(votes_.data() + static_cast<std::size_t>(leaf.left) * n_classes_, n_classes_, to);
}

}  // namespace comboost
