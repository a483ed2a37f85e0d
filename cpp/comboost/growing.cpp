#include "comboost/growing.hpp"

#include <utility>

#include "comboost/histogram.hpp"
#include "comboost/parallel.hpp"
#include "comboost/random.hpp"

namespace comboost {

Grower::Grower(std::span<const std::int64_t> bin_offsets, std::span<const double> edges, std::size_t n_classes,
               GrowthRules rules)
    : bin_offsets_(bin_offsets.begin(), bin_offsets.end()),
      edges_(edges.begin(), edges.end()),
      // Only a floor above 1 needs the rows counted: a side without rows never scores above the node itself.
      channels_{n_classes, rules.min_samples_leaf > 1},
      rules_(rules) {}

double Grower::threshold(std::size_t feature, std::int32_t bin) const {
    return edges_[layout().begin(feature) - feature + static_cast<std::size_t>(bin)];
}

void Grower::add_node(NodeSums sums) {
    nodes_.push_back({0.0, kLeaf, kLeaf, static_cast<std::int32_t>(sums.best_class()), kLeaf});
    sums_.push_back(std::move(sums));
}

void Grower::plant(std::span<const Sum> root_histogram, std::uint64_t round) {
    round_ = round;
    nodes_.clear();
    sums_.clear();
    add_node(sum_bins(root_histogram.data(), layout().size(0), channels_));
    frontier_begin_ = 0;
    found_.assign(1, Split{0, kLeaf, kLeaf});
    left_sums_.assign(1, NodeSums{});
}

void Grower::search(std::size_t first, const Sum* histograms, std::size_t n_nodes, int n_threads) {
    const std::size_t size = layout().n_bins() * channels_.size();
    const SplitRules rules{rules_.criterion, rules_.min_samples_leaf,
                           rules_.min_weight_fraction_leaf * static_cast<double>(loss())};

    struct Candidate {
        std::size_t place;
        std::size_t feature;
        BestBin best;
    };
    std::vector<Candidate> candidates;
    for (std::size_t place = first; place < first + n_nodes; ++place) {
        const std::size_t node = frontier_begin_ + place;
        if (-sums_[node].best_cost() == sums_[node].loss) continue;  // one class carries all of the loss
        for (const std::size_t f : draw_features(rules_.seed, round_, node, layout().n_features(), rules_.max_features))
            candidates.push_back({place, f, {}});
    }

    for_each_task(candidates.size(), n_nodes * size, n_threads, [&](std::size_t c) {
        Candidate& candidate = candidates[c];
        const Sum* bins =
            histograms + (candidate.place - first) * size + layout().begin(candidate.feature) * channels_.size();
        candidate.best = find_best_bin(bins, layout().size(candidate.feature), channels_,
                                       sums_[frontier_begin_ + candidate.place], rules);
    });

    for (std::size_t c = 0; c < candidates.size();) {
        const std::size_t place = candidates[c].place;
        const Candidate* winner = nullptr;
        for (; c < candidates.size() && candidates[c].place == place; ++c)
            if (candidates[c].best.bin != kLeaf && (winner == nullptr || candidates[c].best.score > winner->best.score))
                winner = &candidates[c];
        if (winner == nullptr) continue;
        const Sum* bins = histograms + (place - first) * size + layout().begin(winner->feature) * channels_.size();
        found_[place].feature = static_cast<std::int32_t>(winner->feature);
        found_[place].bin = winner->best.bin;
        left_sums_[place] = sum_bins(bins, static_cast<std::size_t>(winner->best.bin) + 1, channels_);
    }
}

const std::vector<Split>& Grower::branch() {
    branched_.clear();
    const std::size_t end = nodes_.size();
    for (std::size_t node = frontier_begin_; node < end; ++node) {
        const Split& split = found_[node - frontier_begin_];
        if (split.feature == kLeaf) continue;
        branched_.push_back({static_cast<std::int32_t>(node), split.feature, split.bin});
        nodes_[node].threshold = threshold(static_cast<std::size_t>(split.feature), split.bin);
        nodes_[node].feature = split.feature;
        nodes_[node].bin = split.bin;
        nodes_[node].left = static_cast<std::int32_t>(nodes_.size());
        NodeSums right = difference(sums_[node], left_sums_[node - frontier_begin_]);
        add_node(std::move(left_sums_[node - frontier_begin_]));
        add_node(std::move(right));
    }
    old_frontier_begin_ = std::exchange(frontier_begin_, end);
    found_.assign(frontier_size(), Split{0, kLeaf, kLeaf});
    left_sums_.assign(frontier_size(), NodeSums{});
    return branched_;
}

void Grower::derive(const Sum* old_histograms, const Sum* counted, std::span<const std::int32_t> counted_nodes,
                    int n_threads, Sum* histograms) const {
    const std::size_t size = layout().n_bins() * channels_.size();
    for_each_task(branched_.size(), branched_.size() * size, n_threads, [&](std::size_t k) {
        const Sum* parent = old_histograms + (static_cast<std::size_t>(branched_[k].node) - old_frontier_begin_) * size;
        // The two children of a split stand next to each other, the left one in an even place of the frontier.
        const std::size_t place = static_cast<std::size_t>(counted_nodes[k]) - frontier_begin_;
        subtract_histogram(parent, counted + k * size, size, histograms + place * size,
                           histograms + (place ^ 1) * size);
    });
}

Sum Grower::advantage() const {
    Sum advantage = 0;
    for (std::size_t node = 0; node < nodes_.size(); ++node)
        if (nodes_[node].feature == kLeaf) advantage -= sums_[node].best_cost();
    return advantage;
}

void Grower::share_out(double amount, std::span<double> shares) const {
    const auto saved = [&](std::size_t node) {
        const auto left = static_cast<std::size_t>(nodes_[node].left);
        return sums_[node].best_cost() - sums_[left].best_cost() - sums_[left + 1].best_cost();
    };
    const Sum total = sums_.front().best_cost() + advantage();  // what all splits saved together
    if (total == 0) return;
    for (std::size_t node = 0; node < nodes_.size(); ++node)
        if (nodes_[node].feature != kLeaf)
            shares[static_cast<std::size_t>(nodes_[node].feature)] +=
                amount * (static_cast<double>(saved(node)) / static_cast<double>(total));
}

}  // namespace comboost
