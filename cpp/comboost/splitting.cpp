#include "comboost/splitting.hpp"

#include <algorithm>

#include "comboost/categories.hpp"
#include "comboost/kernels.hpp"

namespace comboost {

std::size_t NodeSums::best_class() const {
    return static_cast<std::size_t>(std::min_element(costs.begin(), costs.end()) - costs.begin());
}

Sum NodeSums::best_cost() const { return *std::min_element(costs.begin(), costs.end()); }

NodeSums sum_bins(const Sum* bins, std::size_t n_bins, const Channels& channels) {
    NodeSums sums{std::vector<Sum>(channels.n_classes)};
    Sum& last = sums.costs.back();
    for (std::size_t b = 0; b < n_bins; ++b) {
        const Sum* bin = bins + b * channels.size();
        for (std::size_t j = 0; j + 1 < channels.n_classes; ++j) {
            sums.costs[j] += bin[j];
            last -= bin[j];
        }
        sums.loss += bin[channels.loss()];
        if (channels.counted) sums.count += bin[channels.count()];
    }
    return sums;
}

void add(const NodeSums& part, NodeSums& sums) {
    for (std::size_t j = 0; j < sums.costs.size(); ++j) sums.costs[j] += part.costs[j];
    sums.loss += part.loss;
    sums.count += part.count;
}

NodeSums difference(const NodeSums& whole, const NodeSums& part) {
    NodeSums rest{std::vector<Sum>(whole.costs.size()), whole.loss - part.loss, whole.count - part.count};
    for (std::size_t j = 0; j < whole.costs.size(); ++j) rest.costs[j] = whole.costs[j] - part.costs[j];
    return rest;
}

BestBin find_best_bin(const Sum* bins, std::size_t n_bins, const Channels& channels, const NodeSums& node,
                      const SplitRules& rules) {
    const ScanInput input{bins,      n_bins,     channels,        node.costs.data(),
                          node.loss, node.count, rules.min_count, rules.min_loss};
    if (rules.criterion == Criterion::cost) {
        const auto found = kernels().scan_cost(input);
        return {{found.score, 0.0}, found.bin};
    }
    const auto found = kernels().scan_gini(input);
    return {{0, found.score}, found.bin};
}

namespace {

// With a bin for missing values, which stands first: they are tried on the left, then on the right.
Cut find_cut_with_missing(const Sum* bins, std::size_t n_bins, const Channels& channels, const NodeSums& node,
                          const SplitRules& rules) {
    const BestBin right = find_best_bin(bins + channels.size(), n_bins - 1, channels, node, rules);
    const std::int32_t right_bin = right.bin == kLeaf ? kLeaf : right.bin + 1;
    if (!counts(bins, channels)) return {right.score, right_bin, Side::heavier, {}};
    const BestBin left = find_best_bin(bins, n_bins, channels, node, rules);
    if (right.score > left.score) return {right.score, right_bin, Side::right, {}};
    return {left.score, left.bin, Side::left, {}};
}

}  // namespace

Cut find_best_cut(const Sum* bins, std::size_t n_bins, Kind kind, const Channels& channels, const NodeSums& node,
                  const SplitRules& rules) {
    if (kind == Kind::categories) return find_best_set(bins, n_bins, channels, node, rules);
    if (kind == Kind::missing) return find_cut_with_missing(bins, n_bins, channels, node, rules);
    const BestBin best = find_best_bin(bins, n_bins, channels, node, rules);
    return {best.score, best.bin, Side::heavier, {}};
}

NodeSums sum_left(const Sum* bins, std::size_t n_bins, Kind kind, const Channels& channels, const Cut& cut) {
    const auto n_left = static_cast<std::size_t>(cut.bin) + 1;
    if (kind == Kind::complete || (kind == Kind::missing && cut.missing != Side::right))
        return sum_bins(bins, n_left, channels);
    if (kind == Kind::missing) return sum_bins(bins + channels.size(), n_left - 1, channels);
    NodeSums sums{std::vector<Sum>(channels.n_classes)};
    for (std::size_t code = 0; code < n_bins; ++code)
        if (cut.left.contains(static_cast<Code>(code))) add(sum_bins(bins + code * channels.size(), 1, channels), sums);
    return sums;
}

void complete_cut(const Sum* bins, std::size_t n_bins, Kind kind, const Channels& channels, bool left_is_heavier,
                  Cut& cut) {
    if (kind == Kind::categories) {
        for (std::size_t code = 0; code < n_bins; ++code)
            if (left_is_heavier && !counts(bins + code * channels.size(), channels))
                cut.left.insert(static_cast<Code>(code));
        cut.missing = cut.left.contains(0) ? Side::left : Side::right;
        return;
    }
    if (cut.missing == Side::heavier) cut.missing = left_is_heavier ? Side::left : Side::right;
    if (needs_set(kind, cut))
        for (std::int32_t code = 1; code <= cut.bin; ++code) cut.left.insert(static_cast<Code>(code));
}

}  // namespace comboost
