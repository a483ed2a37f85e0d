#include "comboost/growing.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "comboost/histogram.hpp"
#include "comboost/limits.hpp"
#include "comboost/parallel.hpp"

namespace comboost {

Grower::Grower(std::span<const std::int64_t> bin_offsets, std::span<const Kind> kinds, std::span<const double> edges,
               std::span<const std::int64_t> edge_starts, std::size_t n_classes, GrowthRules rules)
    : bin_offsets_(bin_offsets.begin(), bin_offsets.end()),
      kinds_(kinds.begin(), kinds.end()),
      edges_(edges.begin(), edges.end()),
      edge_starts_(edge_starts.begin(), edge_starts.end()),
      // Only a floor above 1 needs the rows counted: a side without rows never scores above the node itself.
      channels_{n_classes, rules.min_samples_leaf > 1},
      rules_(rules) {}

double Grower::threshold(std::size_t feature, std::int32_t bin) const {
    if (kinds_[feature] == Kind::categories) return 0.0;
    if (kinds_[feature] == Kind::missing && --bin < 0) return -std::numeric_limits<double>::infinity();
    return edges_[static_cast<std::size_t>(edge_starts_[feature]) + static_cast<std::size_t>(bin)];
}

void Grower::add_node(NodeSums sums) {
    nodes_.push_back({0.0, kLeaf, kLeaf, kNoSet, static_cast<Label>(sums.best_class()), 0, 0});
    sums_.push_back(std::move(sums));
    found_.emplace_back();
}

void Grower::plant(std::span<const Sum> totals, std::uint64_t round, double smoothing) {
    round_ = round;
    smoothing_ = smoothing;
    nodes_.clear();
    sets_.clear();
    sums_.clear();
    branched_.clear();
    found_.clear();
    open_.clear();
    add_node(sum_bins(totals.data(), 1, channels_));
    begin_frontier(0, 0, 0);
}

void Grower::begin_frontier(std::size_t begin, std::size_t old_begin, std::size_t old_size) {
    frontier_begin_ = begin;
    old_frontier_begin_ = old_begin;
    old_frontier_size_ = old_size;
}

SplitRules Grower::split_rules() const {
    return {rules_.criterion, rules_.min_samples_leaf, rules_.min_weight_fraction_leaf * static_cast<double>(loss()),
            smoothing_};
}

std::vector<Grower::Candidate> Grower::candidates(std::span<const std::size_t> indices) const {
    std::vector<Candidate> candidates;
    InterruptPoll poll;
    for (const std::size_t index : indices) {
        poll.after(layout().n_features());
        const std::size_t node = frontier_begin_ + index;
        if (is_pure(node)) continue;
        for (const std::size_t f : draw_features(node_key(node), layout().n_features(), rules_.max_features))
            candidates.push_back({index, f, {}});
    }
    return candidates;
}

template <class WithBins>
void Grower::search_bins(std::span<const std::size_t> indices, std::size_t work, int n_threads, WithBins&& with_bins) {
    // A wide level of a deep tree is searched in parts: its candidates would take more memory than its rows.
    const std::size_t at_once =
        std::max<std::size_t>(1, kMaxCandidates / std::max<std::size_t>(1, rules_.max_features));
    for (std::size_t begin = 0; begin < indices.size(); begin += at_once) {
        const std::size_t size = std::min(at_once, indices.size() - begin);
        search_some(indices.subspan(begin, size), work / indices.size() * size, n_threads, with_bins);
    }
}

template <class WithBins>
void Grower::search_some(std::span<const std::size_t> indices, std::size_t work, int n_threads, WithBins&& with_bins) {
    std::vector<Candidate> candidates = this->candidates(indices);
    for_each_task(candidates.size(), work, n_threads, [&](std::size_t c) {
        with_bins(candidates[c].index, candidates[c].feature, [&](const BinView& bins) { judge(candidates[c], bins); });
    });
    const std::size_t updates = work / std::max<std::size_t>(1, candidates.size());
    InterruptPoll poll;
    for (std::size_t c = 0; c < candidates.size();) {
        poll.after(updates);
        const std::size_t index = candidates[c].index;
        const Candidate* winner = nullptr;
        for (; c < candidates.size() && candidates[c].index == index; ++c)
            if (candidates[c].found() && (winner == nullptr || beats(candidates[c], *winner))) winner = &candidates[c];
        if (winner == nullptr) continue;
        with_bins(index, winner->feature, [&](const BinView& bins) { keep(*winner, bins); });
    }
}

void Grower::judge(Candidate& candidate, const BinView& bins) const {
    const std::size_t node = frontier_begin_ + candidate.index;
    const SplitRules rules = split_rules();
    const std::uint64_t key = feature_key(node_key(node), candidate.feature);
    candidate.best =
        find_best_cut(bins, kinds_[candidate.feature], channels_, sums_[node], rules, {rules_.max_thresholds, key});
    if (rules_.noise > 0.0)
        candidate.appeal = candidate.best.score.above(score_of(sums_[node], rules)) * noise_factor(key, rules_.noise);
}

bool Grower::beats(const Candidate& candidate, const Candidate& other) const {
    return rules_.noise > 0.0 ? candidate.appeal > other.appeal : candidate.best.score > other.best.score;
}

void Grower::keep(const Candidate& winner, const BinView& bins) {
    const Kind kind = kinds_[winner.feature];
    const NodeSums& node = sums_[frontier_begin_ + winner.index];
    Found& found = found_[frontier_begin_ + winner.index];
    found = {static_cast<std::int32_t>(winner.feature), winner.best, sum_left(bins, kind, channels_, winner.best),
             winner.best.score.above(score_of(node, split_rules()))};
    const bool left_is_heavier = found.left.loss >= node.loss - found.left.loss;
    complete_cut(bins, layout().size(winner.feature), kind, channels_, left_is_heavier, found.cut);
}

void Grower::search(std::size_t first, const Sum* histograms, std::size_t n_nodes, int n_threads) {
    const std::size_t size = layout().n_bins() * channels_.size();
    std::vector<std::size_t> indices(n_nodes);
    std::iota(indices.begin(), indices.end(), first);
    search_bins(indices, n_nodes * size, n_threads, [&](std::size_t index, std::size_t feature, auto&& use) {
        use(BinView{histograms + (index - first) * size + layout().begin(feature) * channels_.size(),
                    layout().size(feature), nullptr});
    });
}

bool Grower::may_split(std::size_t node, std::size_t n_rows) const {
    const auto least = static_cast<std::size_t>(std::max<Sum>(1, rules_.min_samples_leaf));
    return n_rows / 2 >= least && !is_pure(node);
}

DrawnFeatures Grower::draw(std::size_t node) const {
    if (rules_.max_features >= layout().n_features()) return {};
    return DrawnFeatures(draw_features(node_key(node), layout().n_features(), rules_.max_features));
}

void Grower::consider(std::size_t node, std::size_t feature, const BinView& bins, Candidate& best) const {
    Candidate candidate{node - frontier_begin_, feature, {}};
    judge(candidate, bins);
    prefer(candidate, best);
}

void Grower::prefer(const Candidate& candidate, Candidate& best) const {
    if (candidate.found() && (!best.found() || beats(candidate, best))) best = candidate;
}

const std::vector<Split>& Grower::branch() {
    branched_.clear();
    const std::size_t begin = frontier_begin_;
    const std::size_t end = nodes_.size();
    for (std::size_t node = begin; node < end; ++node)
        if (found_[node].feature != kLeaf) divide(node);
    begin_frontier(end, begin, end - begin);
    return branched_;
}

const std::vector<Split>& Grower::branch_best() {
    branched_.clear();
    const std::size_t end = nodes_.size();
    for (std::size_t node = frontier_begin_; node < end; ++node) {
        if (!has_split(node)) continue;
        open_.push_back({found_[node].gain, node});
        std::push_heap(open_.begin(), open_.end());
    }
    std::size_t best = end;
    if (!open_.empty()) {
        std::pop_heap(open_.begin(), open_.end());
        best = open_.back().node;
        open_.pop_back();
        divide(best);
    }
    begin_frontier(end, best, 1);
    return branched_;
}

void Grower::divide(std::size_t node) {
    Found found = std::move(found_[node]);
    describe(node, found);
    NodeSums right = difference(sums_[node], found.left);
    add_node(std::move(found.left));
    add_node(std::move(right));
}

void Grower::describe(std::size_t index, const Found& found) {
    const auto feature = static_cast<std::size_t>(found.feature);
    const bool by_set = needs_set(kinds_[feature], found.cut);
    const bool categorical = kinds_[feature] == Kind::categories;
    branched_.push_back(
        {static_cast<std::int32_t>(index), found.feature, by_set ? kBySet : found.cut.bin, found.cut.left});
    Node& node = nodes_[index];
    node.threshold = threshold(feature, found.cut.bin);
    node.feature = found.feature;
    node.left = static_cast<std::int32_t>(nodes_.size());
    node.bin = categorical ? Code{0} : static_cast<Code>(found.cut.bin);
    if (found.cut.missing == Side::left) node.flags |= Node::kMissingLeft;
    if (categorical) node.flags |= Node::kCategorical;
    if (!by_set) return;
    node.set = static_cast<std::int32_t>(sets_.size());
    sets_.push_back(found.cut.left);
}

void Grower::derive(const Sum* old_histograms, const Sum* counted, std::span<const std::int32_t> counted_nodes,
                    int n_threads, Sum* histograms) const {
    const std::size_t size = layout().n_bins() * channels_.size();
    for_each_task(branched_.size(), branched_.size() * size, n_threads, [&](std::size_t k) {
        const Sum* parent = old_histograms + (static_cast<std::size_t>(branched_[k].node) - old_frontier_begin_) * size;
        // The two children of a split stand next to each other, the left one in an even index of the frontier.
        const std::size_t index = static_cast<std::size_t>(counted_nodes[k]) - frontier_begin_;
        for_each_stretch(0, size, 2, [&](std::size_t from, std::size_t to) {
            subtract_histogram(parent + from, counted + k * size + from, to - from, histograms + index * size + from,
                               histograms + (index ^ 1) * size + from);
        });
    });
}

std::vector<Sum> Grower::leaf_costs() const {
    std::vector<Sum> costs;
    for (std::size_t node = 0; node < nodes_.size(); ++node)
        if (nodes_[node].feature == kLeaf)
            costs.insert(costs.end(), sums_[node].costs.begin(), sums_[node].costs.end());
    return costs;
}

Sum Grower::advantage() const {
    Sum advantage = 0;
    for (std::size_t node = 0; node < nodes_.size(); ++node)
        if (nodes_[node].feature == kLeaf) advantage -= sums_[node].best_cost();
    return advantage;
}

std::vector<double> Grower::gain_fractions() const {
    const auto saved = [&](std::size_t node) {
        const auto left = static_cast<std::size_t>(nodes_[node].left);
        return sums_[node].best_cost() - sums_[left].best_cost() - sums_[left + 1].best_cost();
    };
    const Sum total = sums_.front().best_cost() + advantage();  // what all splits saved together
    std::vector<double> fractions;
    for (std::size_t node = 0; node < nodes_.size(); ++node)
        if (nodes_[node].feature != kLeaf)
            fractions.push_back(total == 0 ? 0.0 : static_cast<double>(saved(node)) / static_cast<double>(total));
    return fractions;
}

void Grower::finish() {
    if (!rules_.numbers_leaves) return;
    std::int32_t next = 0;
    for (Node& node : nodes_)
        if (node.feature == kLeaf) node.left = next++;
}

}  // namespace comboost
